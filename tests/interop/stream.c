// SPDX-License-Identifier: BSD-2-Clause
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "link.h"
#include "stream.h"

/* A guest's clock may go wrong by seconds; a tool may wait for its peer. */
#define OLDEST 60
#define NEWEST 5
#define SEEDS  (OLDEST + NEWEST)

/* A byte or two fit several seeds; each check leaves fewer. */
static struct {
	uint8_t *bytes; /* of the one seed that is left */
	size_t len;
	unsigned left;
	unsigned seed[SEEDS];
} stream;

void stream_open(size_t len)
{
	unsigned i, now = time(NULL);

	stream.bytes = calloc(1, len);
	if (!stream.bytes)
		die("no memory: %zu bytes", len);
	stream.len = len;
	stream.left = SEEDS;
	for (i = 0; i < SEEDS; i++)
		stream.seed[i] = now + 2 * NEWEST - i;
}

void stream_close(void)
{
	free(stream.bytes);
	stream.bytes = NULL;
}

static bool gives(unsigned seed, const uint8_t *bytes, size_t len, size_t off)
{
	size_t i;

	srand(seed);
	for (i = 0; i < off; i++)
		(void)rand();
	for (i = 0; i < len; i++)
		if (bytes[i] != (uint8_t)rand())
			return false;
	return true;
}

static void narrow(const uint8_t *bytes, size_t len, size_t off)
{
	unsigned i, n = 0;

	for (i = 0; i < stream.left; i++)
		if (gives(stream.seed[i], bytes, len, off))
			stream.seed[n++] = stream.seed[i];
	stream.left = n;
	if (n != 1)
		return;
	srand(stream.seed[0]);
	for (i = 0; i < stream.len; i++)
		stream.bytes[i] = rand();
}

void stream_check(const uint8_t *bytes, size_t len, size_t off)
{
	size_t i;

	if (stream.left > 1) {
		narrow(bytes, len, off);
		if (!stream.left)
			die("%zu bytes from %zu on fit no seed of the last"
			    " minute",
			    len, off);
		return;
	}
	for (i = 0; i < len; i++)
		if (bytes[i] != stream.bytes[off + i])
			die("byte %zu of the peer's buffer is 0x%02x, not"
			    " 0x%02x",
			    off + i, bytes[i], stream.bytes[off + i]);
}
