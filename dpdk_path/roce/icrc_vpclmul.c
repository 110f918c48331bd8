// SPDX-License-Identifier: BSD-2-Clause
/*
 * ICRC by VPCLMULQDQ: blocks of 64 bytes.
 *
 * The last two blocks are not folded into each other: each of their words is
 * multiplied by its own power of x, which is one step whatever the length,
 * and the sum has 96 bits.  So up to 128 bytes cost three products in a row.
 */
#if defined(__x86_64__)

#include <immintrin.h>

#include "icrc_priv.h"

#define TARGET                                                               \
	__attribute__((target("avx512f,avx512bw,avx512vl,vpclmulqdq,pclmul," \
			      "sse4.1")))
#define VPCLMUL static inline __attribute__((always_inline)) TARGET

static struct {
	/* Word i of a block with 4 d bytes behind it. */
	uint64_t last[17][8];
	/* All four lanes over 4 d bytes; d = 0 is not used. */
	uint64_t by[17][2];
	uint64_t by192[2], by256[2];
	uint64_t barrett[2]; /* mu, P */
} k __attribute__((aligned(64)));

static void fold_by(uint64_t c[2], unsigned bytes)
{
	c[0] = (uint64_t)roce_icrc_xpow(8 * bytes + 63) << 32;
	c[1] = (uint64_t)roce_icrc_xpow(8 * bytes - 1) << 32;
}

void roce_icrc_vpclmul_init(void)
{
	for (unsigned d = 0; d <= 16; d++)
		for (unsigned i = 0; i < 8; i++)
			k.last[d][i] =
				roce_icrc_xpow(64 * (7 - i) + 31 + 32 * d);
	for (unsigned d = 1; d <= 16; d++)
		fold_by(k.by[d], 4 * d);
	fold_by(k.by192, 192);
	fold_by(k.by256, 256);
	k.barrett[0] = roce_icrc_mu();
	k.barrett[1] = (uint64_t)ICRC_POLY << 1;
}

VPCLMUL __m512i load(const void *p)
{
	return _mm512_loadu_si512(p);
}

VPCLMUL __m512i spread(const uint64_t c[2])
{
	return _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)c));
}

VPCLMUL __m512i xor3(__m512i a, __m512i b, __m512i c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

VPCLMUL __m512i fold(__m512i x, __m512i c, __m512i next)
{
	return xor3(_mm512_clmulepi64_epi128(x, c, 0x00),
		    _mm512_clmulepi64_epi128(x, c, 0x11), next);
}

/* (x | mask) ^ seed */
VPCLMUL __m512i masked(__m512i x, const uint8_t *mask, size_t at)
{
	return _mm512_ternarylogic_epi64(x, load(mask + at),
					 load(roce_icrc_seed + at), 0x56);
}

VPCLMUL __m512i last(__m512i x, unsigned d)
{
	return fold(x, load(k.last[d]), _mm512_setzero_si512());
}

VPCLMUL uint32_t barrett(__m128i t)
{
	__m128i c = _mm_load_si128((const __m128i *)k.barrett), q;

	q = _mm_clmulepi64_si128(t, c, 0x00);
	q = _mm_clmulepi64_si128(q, c, 0x10);
	return ~(uint32_t)_mm_extract_epi32(_mm_xor_si128(t, q), 2);
}

VPCLMUL uint32_t finish(__m512i x)
{
	__m256i y = _mm256_xor_si256(_mm512_castsi512_si256(x),
				     _mm512_extracti64x4_epi64(x, 1));
	__m128i t = _mm_xor_si128(_mm256_castsi256_si128(y),
				  _mm256_extracti128_si256(y, 1));

	return barrett(t);
}

/* The first n (1..64) bytes of a message that go before its whole blocks. */
VPCLMUL __m512i first(const uint8_t *l3, size_t n, const uint8_t *mask)
{
	__mmask64 in = ~0ull << (64 - n);
	__m512i x = _mm512_maskz_loadu_epi8(in, l3 + n - 64);

	return masked(x, mask, ICRC_L3 - 64 + n);
}

/* Load a block; where there is a place for it, store it too. */
VPCLMUL __m512i take(const uint8_t *p, uint8_t *to, size_t at)
{
	__m512i x = load(p + at);

	if (to)
		_mm512_storeu_si512(to + at, x);
	return x;
}

/*
 * Fold x over the blocks of p[0..n), n a multiple of 64; four registers side
 * by side from 256 bytes on.
 */
VPCLMUL __m512i bulk(__m512i x, const uint8_t *p, uint8_t *to, size_t n)
{
	const __m512i by64 = spread(k.by[16]), by256 = spread(k.by256);
	size_t at = 0;

	if (n >= 448) {
		__m512i x1 = take(p, to, 0), x2 = take(p, to, 64),
			x3 = take(p, to, 128);

		for (at = 192; n - at >= 256; at += 256) {
			x = fold(x, by256, take(p, to, at));
			x1 = fold(x1, by256, take(p, to, at + 64));
			x2 = fold(x2, by256, take(p, to, at + 128));
			x3 = fold(x3, by256, take(p, to, at + 192));
		}
		x3 = fold(x, spread(k.by192), x3);
		x2 = fold(x1, by64, x2);
		x = fold(x2, by64, x3);
	}
	for (; at < n; at += 64)
		x = fold(x, by64, take(p, to, at));
	return x;
}

TARGET uint32_t roce_icrc_vpclmul(const uint8_t *l3, size_t len,
				  enum icrc_l3 kind)
{
	const uint8_t *mask = roce_icrc_mask[kind];
	size_t n = (len - 1) % 64 + 1;
	__m512i x = first(l3, n, mask), y;

	if (len <= 64)
		return finish(last(x, 0));
	y = masked(load(l3 + n), mask, ICRC_L3 + n);
	if (len > 128) {
		x = fold(x, spread(k.by[16]), y);
		x = bulk(x, l3 + n + 64, NULL, len - n - 128);
		y = load(l3 + len - 64);
	}
	return finish(_mm512_xor_si512(last(x, 16), last(y, 0)));
}

/* Up to 32 bytes: the words that count are the last four. */
VPCLMUL uint32_t short_tail(uint32_t reg, const uint8_t *p, size_t n)
{
	__m256i c = _mm256_load_si256((const __m256i *)&k.last[0][4]);
	__m256i x = _mm256_maskz_loadu_epi8(~0u << (32 - n), p + n - 32);

	x = _mm256_xor_si256(x,
			     _mm256_maskz_set1_epi32(1u << (8 - n / 4), reg));
	x = _mm256_xor_si256(_mm256_clmulepi64_epi128(x, c, 0x00),
			     _mm256_clmulepi64_epi128(x, c, 0x11));
	return barrett(_mm_xor_si128(_mm256_castsi256_si128(x),
				     _mm256_extracti128_si256(x, 1)));
}

VPCLMUL uint32_t long_tail(uint32_t reg, const uint8_t *p, size_t n)
{
	size_t part = (n - 1) % 64 + 1;
	__m512i x =
		_mm512_maskz_loadu_epi8(~0ull << (64 - part), p + part - 64);
	__m512i y;

	x = _mm512_xor_si512(
		x, _mm512_maskz_set1_epi32(1u << (16 - part / 4), reg));
	if (n <= 64)
		return finish(last(x, 0));
	if (n > 128)
		x = bulk(x, p + part, NULL, n - part - 64);
	y = load(p + n - 64);
	return finish(_mm512_xor_si512(last(x, 16), last(y, 0)));
}

/* A message of which the prefix has left reg: as if it began here. */
TARGET uint32_t roce_icrc_vpclmul_tail(uint32_t reg, const uint8_t *p, size_t n)
{
	return n <= 32 ? short_tail(reg, p, n) : long_tail(reg, p, n);
}

/* In one loop, where the products of several overlap. */
TARGET void roce_icrc_vpclmul_put(const struct roce_icrc_part *part,
				  unsigned count)
{
	for (; count--; part++) {
		uint32_t icrc =
			part->n <= 32 ? short_tail(part->reg, part->p, part->n)
				      : long_tail(part->reg, part->p, part->n);

		memcpy(part->p + part->n, &icrc, sizeof(icrc));
	}
}

/* Move the first 4 d (4..64) bytes of x to its end, zeros before. */
VPCLMUL __m512i to_end(__m512i x, unsigned d)
{
	const __m512i up = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
					     11, 12, 13, 14, 15);
	__m512i from = _mm512_sub_epi32(up, _mm512_set1_epi32(16 - d));

	return _mm512_maskz_permutexvar_epi32(0xffffu << (16 - d), from, x);
}

/*
 * The headers are one block that ends where the payload starts, and the
 * payload is blocks that end at its end: nothing that this call stores is
 * loaded again.  The payload is read from its start on: a masked load that
 * reaches into an unmapped page is right but takes a slow way in the CPU,
 * and buffers start at a page more often than they end at one.
 */
TARGET uint32_t roce_icrc_vpclmul_copy(uint8_t *l3, size_t hdr,
				       const uint8_t *payload, size_t n)
{
	size_t pad = -n & 3, len = n + pad, part = (len - 1) % 64 + 1;
	__m512i x = first(l3, hdr, roce_icrc_mask[ICRC_IPV4]), y;
	uint8_t *to = l3 + hdr;
	unsigned d = part / 4;

	if (len <= 64) {
		y = _mm512_maskz_loadu_epi8(~0ull >> (64 - n), payload);
		_mm512_mask_storeu_epi8(to, ~0ull >> (64 - len), y);
		x = last(x, d);
		return finish(_mm512_xor_si512(x, last(to_end(y, d), 0)));
	}
	x = fold(x, spread(k.by[d]), to_end(take(payload, to, 0), d));
	x = bulk(x, payload + part, to + part, len - part - 64);
	y = _mm512_maskz_loadu_epi8(~0ull >> pad, payload + len - 64);
	_mm512_storeu_si512(to + len - 64, y);
	return finish(_mm512_xor_si512(last(x, 16), last(y, 0)));
}

#else
typedef int icrc_vpclmul_is_empty;
#endif
