// SPDX-License-Identifier: BSD-2-Clause
/* Values whose sums over all ranks are exact in every type, bf16 too. */
#include <string.h>

#include "bench.h"

int value_of(uint32_t rank, uint64_t i)
{
	uint64_t z = i * 2654435761ULL + rank * 0x9e3779b1ULL;

	return (int)((z ^ z >> 15) >> 7 & 0xffff) % 31 - 15;
}

static uint32_t bits_of(uint32_t type, int v)
{
	float f = (float)v;
	uint32_t u = (uint32_t)v;

	if (type != COLL_I32)
		memcpy(&u, &f, sizeof(u));
	return type == COLL_BF16 ? u >> 16 : u;
}

void value_put(void *buf, uint32_t type, uint64_t i, int v)
{
	if (type == COLL_BF16)
		((uint16_t *)buf)[i] = (uint16_t)bits_of(type, v);
	else
		((uint32_t *)buf)[i] = bits_of(type, v);
}

/* Bit by bit, but for the sign of zero. */
int value_is(const void *buf, uint32_t type, uint64_t i, int v)
{
	uint32_t sign = type == COLL_BF16 ? 0x8000 : 0x80000000U;
	uint32_t is = type == COLL_BF16 ? ((const uint16_t *)buf)[i]
					: ((const uint32_t *)buf)[i];

	return is == bits_of(type, v) || (!v && type != COLL_I32 && is == sign);
}
