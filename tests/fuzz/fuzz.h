/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fuzzers share: reading an input as a list of small decisions. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *p;
	size_t n;
};

/* Behind the end all is 0: every prefix of an input is an input. */
static inline uint64_t take(struct input *in, size_t bytes)
{
	uint64_t v = 0;

	if (bytes > in->n)
		bytes = in->n;
	memcpy(&v, in->p, bytes);
	in->p += bytes;
	in->n -= bytes;
	return v;
}

static inline uint32_t take_bytes(struct input *in, uint8_t *to, uint32_t n)
{
	if (n > in->n)
		n = (uint32_t)in->n;
	memcpy(to, in->p, n);
	in->p += n;
	in->n -= n;
	return n;
}

/* A broken promise is a crash, so that it is kept as one. */
#define must(cond)                        \
	do {                              \
		if (!(cond))              \
			__builtin_trap(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* TESTS_FUZZ_H */
