/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory with unmapped pages on both sides: a stray access faults. */
#ifndef GUARD_H
#define GUARD_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GUARD_PAGE 4096
#define GUARD_SIZE (2 * GUARD_PAGE)

struct guard {
	uint8_t *start;
	uint8_t *end;
};

static inline struct guard guard_new(void)
{
	uint8_t *p = mmap(NULL, GUARD_SIZE + 2 * GUARD_PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED ||
	    mprotect(p + GUARD_PAGE, GUARD_SIZE, PROT_READ | PROT_WRITE))
		abort();
	return (struct guard){ p + GUARD_PAGE, p + GUARD_PAGE + GUARD_SIZE };
}

static inline void guard_free(struct guard g)
{
	munmap(g.start - GUARD_PAGE, GUARD_SIZE + 2 * GUARD_PAGE);
}

#endif /* GUARD_H */
