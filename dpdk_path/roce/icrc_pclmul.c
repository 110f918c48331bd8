// SPDX-License-Identifier: BSD-2-Clause
/* ICRC by PCLMULQDQ: blocks of 16 bytes. */
#if defined(__x86_64__)

#include <immintrin.h>

#include "icrc_priv.h"

#define PCLMUL static inline __attribute__((target("pclmul,sse4.1")))

/* Masked blocks behind the partial one: offsets below ICRC_VARIANT. */
#define HEAD_BLOCKS 4

/* Constants to fold a block over so many bytes, and to finish. */
static struct {
	uint64_t by16[2], by32[2], by48[2], by64[2];
	uint64_t last[2];
	uint64_t barrett[2]; /* mu, P */
} k __attribute__((aligned(16)));

/* Bytes s.. of this move the first s bytes of a register to its end. */
static const uint8_t to_end[32] __attribute__((aligned(16))) = {
	[0 ... 15] = 0x80, /* zero */
	[17] = 1,	   [18] = 2,  [19] = 3,	 [20] = 4,  [21] = 5,
	[22] = 6,	   [23] = 7,  [24] = 8,	 [25] = 9,  [26] = 10,
	[27] = 11,	   [28] = 12, [29] = 13, [30] = 14, [31] = 15,
};

/* Bytes s.. of this keep the last s bytes of a register. */
static const uint8_t keep_end[32] = { [16 ... 31] = 0xff };

static void fold_by(uint64_t c[2], unsigned bytes)
{
	c[0] = (uint64_t)roce_icrc_xpow(8 * bytes + 63) << 32;
	c[1] = (uint64_t)roce_icrc_xpow(8 * bytes - 1) << 32;
}

void roce_icrc_pclmul_init(void)
{
	fold_by(k.by16, 16);
	fold_by(k.by32, 32);
	fold_by(k.by48, 48);
	fold_by(k.by64, 64);
	k.last[0] = roce_icrc_xpow(95);
	k.last[1] = roce_icrc_xpow(31);
	k.barrett[0] = roce_icrc_mu();
	k.barrett[1] = (uint64_t)ICRC_POLY << 1;
}

PCLMUL __m128i load(const void *p)
{
	return _mm_loadu_si128(p);
}

PCLMUL __m128i mul(__m128i x, const uint64_t c[2])
{
	__m128i y = load(c);

	return _mm_xor_si128(_mm_clmulepi64_si128(x, y, 0x00),
			     _mm_clmulepi64_si128(x, y, 0x11));
}

PCLMUL __m128i fold(__m128i x, const uint64_t c[2], __m128i next)
{
	return _mm_xor_si128(mul(x, c), next);
}

PCLMUL __m128i masked(__m128i x, const uint8_t *mask, size_t at)
{
	x = _mm_or_si128(x, load(mask + at));
	return _mm_xor_si128(x, load(roce_icrc_seed + at));
}

/* The partial block and those that hold variant fields; *p moves on. */
PCLMUL __m128i head(const uint8_t **p, size_t len, const uint8_t *mask)
{
	size_t s = len % 16, n = len / 16;
	__m128i x = _mm_shuffle_epi8(load(*p), load(to_end + s));

	x = masked(x, mask, ICRC_L3 - 16 + s);
	*p += s;
	if (n > HEAD_BLOCKS)
		n = HEAD_BLOCKS;
	for (size_t i = 0; i < n; i++, *p += 16)
		x = fold(x, k.by16,
			 masked(load(*p), mask, ICRC_L3 + s + 16 * i));
	return x;
}

/* Four registers side by side; x is the block before *p. */
PCLMUL __m128i bulk(__m128i x, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;
	__m128i x1 = load(p), x2 = load(p + 16), x3 = load(p + 32);

	for (p += 48; end - p >= 64; p += 64) {
		x = fold(x, k.by64, load(p));
		x1 = fold(x1, k.by64, load(p + 16));
		x2 = fold(x2, k.by64, load(p + 32));
		x3 = fold(x3, k.by64, load(p + 48));
	}
	*at = p;
	x3 = fold(x, k.by48, x3);
	x1 = mul(x1, k.by32);
	return _mm_xor_si128(fold(x2, k.by16, x3), x1);
}

/* 128 bits times x^32 modulo P: to 96 bits, then Barrett's two products. */
PCLMUL uint32_t finish(__m128i x)
{
	__m128i c = load(k.barrett), t = mul(x, k.last), q;

	q = _mm_clmulepi64_si128(t, c, 0x00);
	q = _mm_clmulepi64_si128(q, c, 0x10);
	return ~(uint32_t)_mm_extract_epi32(_mm_xor_si128(t, q), 2);
}

__attribute__((target("pclmul,sse4.1"))) uint32_t
roce_icrc_pclmul(const uint8_t *l3, size_t len, enum icrc_l3 kind)
{
	const uint8_t *p = l3, *end = l3 + len;
	__m128i x = head(&p, len, roce_icrc_mask[kind]);

	if (end - p >= 7 * 16)
		x = bulk(x, &p, end);
	for (; p < end; p += 16)
		x = fold(x, k.by16, load(p));
	return finish(x);
}

/*
 * A message of which the prefix has left reg: as if it began here.  The first
 * block is loaded by its end, and what lies before the message is cleared.
 */
__attribute__((target("pclmul,sse4.1"))) uint32_t
roce_icrc_pclmul_tail(uint32_t reg, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	size_t part = (n - 1) % 16 + 1;
	__m128i r =
		_mm_shuffle_epi8(_mm_cvtsi32_si128(reg), load(to_end + part));
	__m128i x = _mm_and_si128(load(p + part - 16), load(keep_end + part));

	x = _mm_xor_si128(x, r);
	p += part;
	if (end - p >= 7 * 16)
		x = bulk(x, &p, end);
	for (; p < end; p += 16)
		x = fold(x, k.by16, load(p));
	return finish(x);
}

#else
typedef int icrc_pclmul_is_empty;
#endif
