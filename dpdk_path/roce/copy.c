// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies past the cache.  The bytes of a long message find none of their lines
 * there, and would throw out all others: store them without fetching the lines
 * first.  Such stores are seen in any order, until copy_settle().
 */
#include "priv.h"

#if defined(__x86_64__)

#include <emmintrin.h>

#define LINE 64

void copy_past_cache(uint8_t *to, const uint8_t *from, uint32_t n)
{
	uint32_t head = -(uintptr_t)to & (LINE - 1);

	if (head > n)
		head = n;
	memcpy(to, from, head);
	to += head;
	from += head;
	for (n -= head; n >= LINE; n -= LINE, to += LINE, from += LINE)
		for (unsigned i = 0; i < LINE; i += 16)
			_mm_stream_si128(
				(__m128i *)(to + i),
				_mm_loadu_si128((const __m128i *)(from + i)));
	memcpy(to, from, n);
}

void copy_settle(void)
{
	_mm_sfence();
}

#else

void copy_past_cache(uint8_t *to, const uint8_t *from, uint32_t n)
{
	memcpy(to, from, n);
}

void copy_settle(void)
{
}

#endif
