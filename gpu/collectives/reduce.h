/* SPDX-License-Identifier: BSD-2-Clause */
/* Element-wise sums; bf16 is added as float and rounded to nearest even. */
#ifndef WBELL_COLLECTIVES_REDUCE_H
#define WBELL_COLLECTIVES_REDUCE_H

#include "channel.h"

WBELL_FN uint32_t coll_type_size(uint32_t type)
{
	return type == COLL_BF16 ? 2 : 4;
}

WBELL_FN float coll_from_bf16(uint16_t v)
{
	union {
		uint32_t u;
		float f;
	} x;

	x.u = (uint32_t)v << 16;
	return x.f;
}

WBELL_FN uint16_t coll_to_bf16(float v)
{
	union {
		uint32_t u;
		float f;
	} x;

	x.f = v;
	/* rounding could carry a NaN's mantissa away: keep it quiet */
	if ((x.u & 0x7fffffffU) > 0x7f800000U)
		return (uint16_t)(x.u >> 16 | 0x40);
	return (uint16_t)((x.u + 0x7fffU + (x.u >> 16 & 1)) >> 16);
}

WBELL_FN void coll_add_f32(const struct coll_me *me, float *dst, const float *a,
			   const float *b, uint64_t n)
{
	uint64_t i;

	for (i = me->thread; i < n; i += me->threads)
		dst[i] = a[i] + b[i];
}

/* Unsigned: a sum that overflows wraps. */
WBELL_FN void coll_add_i32(const struct coll_me *me, uint32_t *dst,
			   const uint32_t *a, const uint32_t *b, uint64_t n)
{
	uint64_t i;

	for (i = me->thread; i < n; i += me->threads)
		dst[i] = a[i] + b[i];
}

WBELL_FN void coll_add_bf16(const struct coll_me *me, uint16_t *dst,
			    const uint16_t *a, const uint16_t *b, uint64_t n)
{
	uint64_t i;

	for (i = me->thread; i < n; i += me->threads)
		dst[i] = coll_to_bf16(coll_from_bf16(a[i]) +
				      coll_from_bf16(b[i]));
}

struct coll_sum {
	uint64_t dst, a, b; /* addresses; dst may be a or b */
	uint64_t n;	    /* bytes */
	uint32_t type;
};

WBELL_SLOW void coll_add(const struct coll_me *me, const struct coll_sum *s)
{
	uintptr_t dst = (uintptr_t)s->dst;
	uintptr_t a = (uintptr_t)s->a;
	uintptr_t b = (uintptr_t)s->b;

	switch (s->type) {
	case COLL_F32:
		coll_add_f32(me, (float *)dst, (const float *)a,
			     (const float *)b, s->n / 4);
		break;
	case COLL_BF16:
		coll_add_bf16(me, (uint16_t *)dst, (const uint16_t *)a,
			      (const uint16_t *)b, s->n / 2);
		break;
	default:
		coll_add_i32(me, (uint32_t *)dst, (const uint32_t *)a,
			     (const uint32_t *)b, s->n / 4);
		break;
	}
}

#endif /* WBELL_COLLECTIVES_REDUCE_H */
