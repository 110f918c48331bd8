// SPDX-License-Identifier: BSD-2-Clause
/* ICRC: the choice of the way, and the way by tables. */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "icrc.h"
#include "icrc_priv.h"

/* IBTA 7.8.1 and A17.3.3: the fields that count as ones. */
const uint8_t roce_icrc_mask[ICRC_L3_MAX][ICRC_ROW]
	__attribute__((aligned(64))) = {
	[ICRC_IPV4] = {
		[ICRC_L3 + 1] = 0xff,			/* TOS */
		[ICRC_L3 + 8] = 0xff,			/* TTL */
		[ICRC_L3 + 10 ... ICRC_L3 + 11] = 0xff,	/* checksum */
		[ICRC_L3 + 26 ... ICRC_L3 + 27] = 0xff,	/* UDP checksum */
		[ICRC_L3 + 32] = 0xff,			/* BTH byte 4 */
	},
	[ICRC_IPV6] = {
		[ICRC_L3] = 0x0f,			/* traffic class */
		[ICRC_L3 + 1 ... ICRC_L3 + 3] = 0xff,	/* and flow label */
		[ICRC_L3 + 7] = 0xff,			/* hop limit */
		[ICRC_L3 + 46 ... ICRC_L3 + 47] = 0xff,	/* UDP checksum */
		[ICRC_L3 + 52] = 0xff,			/* BTH byte 4 */
	},
	[ICRC_GRH] = {
		[ICRC_L3] = 0x0f,
		[ICRC_L3 + 1 ... ICRC_L3 + 3] = 0xff,
		[ICRC_L3 + 7] = 0xff,
		[ICRC_L3 + 44] = 0xff,			/* BTH byte 4 */
	},
};

const uint8_t roce_icrc_seed[ICRC_ROW] __attribute__((aligned(64))) = {
	[ICRC_L3] = ICRC_SEED & 0xff,
	[ICRC_L3 + 1] = ICRC_SEED >> 8 & 0xff,
	[ICRC_L3 + 2] = ICRC_SEED >> 16 & 0xff,
	[ICRC_L3 + 3] = ICRC_SEED >> 24,
};

static uint32_t table[8][256];
static enum roce_icrc_way way;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t times_x(uint32_t r)
{
	return r >> 1 ^ (r & 1 ? ICRC_POLY : 0);
}

uint32_t roce_icrc_xpow(unsigned n)
{
	uint32_t r = 0x80000000u;

	while (n--)
		r = times_x(r);
	return r;
}

uint64_t roce_icrc_mu(void)
{
	uint64_t mu = 0;
	uint32_t r = 1; /* x^31: long division, one coefficient a step */

	for (unsigned i = 0; i < 64; i++) {
		mu |= (uint64_t)(r & 1) << i;
		r = times_x(r);
	}
	return mu;
}

/* table[k][b]: byte b with k zero bytes behind it. */
static void table_init(void)
{
	for (unsigned b = 0; b < 256; b++) {
		uint32_t r = b;

		for (unsigned i = 0; i < 8; i++)
			r = times_x(r);
		table[0][b] = r;
	}
	for (unsigned k = 1; k < 8; k++)
		for (unsigned b = 0; b < 256; b++) {
			uint32_t r = table[k - 1][b];

			table[k][b] = r >> 8 ^ table[0][r & 0xff];
		}
}

static uint32_t table_run(uint32_t crc, const uint8_t *p, size_t n)
{
	uint64_t w;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		w = le64toh(w) ^ crc;
		crc = table[7][w & 0xff] ^ table[6][w >> 8 & 0xff] ^
		      table[5][w >> 16 & 0xff] ^ table[4][w >> 24 & 0xff] ^
		      table[3][w >> 32 & 0xff] ^ table[2][w >> 40 & 0xff] ^
		      table[1][w >> 48 & 0xff] ^ table[0][w >> 56];
	}
	while (n--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}

/* The register behind len bytes, not inverted. */
static uint32_t table_reg(const uint8_t *l3, size_t len, enum icrc_l3 kind)
{
	uint8_t head[ICRC_VARIANT];
	size_t n = sizeof(head);
	uint32_t crc;

	if (n > len)
		n = len;
	memcpy(head, l3, n);
	for (size_t i = 0; i < n; i++)
		head[i] |= roce_icrc_mask[kind][ICRC_L3 + i];
	crc = table_run(ICRC_SEED, head, n);
	return table_run(crc, l3 + n, len - n);
}

static int has_way(enum roce_icrc_way w)
{
	switch (w) {
	case ROCE_ICRC_TABLE:
		return 1;
#if defined(__x86_64__)
	case ROCE_ICRC_PCLMUL:
		return __builtin_cpu_supports("pclmul") &&
		       __builtin_cpu_supports("sse4.1");
	case ROCE_ICRC_VPCLMUL:
		return __builtin_cpu_supports("vpclmulqdq") &&
		       __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512bw");
#endif
	default:
		return 0;
	}
}

static void init_once(void)
{
	table_init();
#if defined(__x86_64__)
	if (has_way(ROCE_ICRC_PCLMUL)) {
		roce_icrc_pclmul_init();
		way = ROCE_ICRC_PCLMUL;
	}
	if (has_way(ROCE_ICRC_VPCLMUL)) {
		roce_icrc_vpclmul_init();
		way = ROCE_ICRC_VPCLMUL;
	}
#endif
}

void roce_icrc_init(void)
{
	pthread_once(&once, init_once);
}

int roce_icrc_use(enum roce_icrc_way w)
{
	roce_icrc_init();
	if (!has_way(w))
		return -ENOTSUP;
	way = w;
	return 0;
}

enum roce_icrc_way roce_icrc_way(void)
{
	return way;
}

const char *roce_icrc_name(void)
{
	switch (way) {
	case ROCE_ICRC_VPCLMUL:
		return "vpclmul";
	case ROCE_ICRC_PCLMUL:
		return "pclmul";
	default:
		return "table";
	}
}

static inline uint32_t icrc(const uint8_t *l3, size_t len, enum icrc_l3 kind)
{
#if defined(__x86_64__)
	if (__builtin_expect(way == ROCE_ICRC_VPCLMUL, 1))
		return roce_icrc_vpclmul(l3, len, kind);
	if (way == ROCE_ICRC_PCLMUL)
		return roce_icrc_pclmul(l3, len, kind);
#endif
	return ~table_reg(l3, len, kind);
}

uint32_t roce_icrc_ipv4(const uint8_t *l3, size_t len)
{
	return icrc(l3, len, ICRC_IPV4);
}

uint32_t roce_icrc_ipv6(const uint8_t *l3, size_t len)
{
	return icrc(l3, len, ICRC_IPV6);
}

uint32_t roce_icrc_v1(const uint8_t *grh, size_t len)
{
	return icrc(grh, len, ICRC_GRH);
}

uint32_t roce_icrc_copy_ipv4(uint8_t *l3, size_t hdr, const void *payload,
			     size_t n)
{
	size_t pad = -n & 3;

	if (!n)
		return icrc(l3, hdr, ICRC_IPV4);
#if defined(__x86_64__)
	if (__builtin_expect(way == ROCE_ICRC_VPCLMUL && hdr <= 64, 1))
		return roce_icrc_vpclmul_copy(l3, hdr, payload, n);
#endif
	memcpy(l3 + hdr, payload, n);
	memset(l3 + hdr + n, 0, pad);
	return icrc(l3, hdr + n + pad, ICRC_IPV4);
}

uint32_t roce_icrc_prefix(const uint8_t *l3, size_t len, enum roce_icrc_l3 kind)
{
	return table_reg(l3, len,
			 kind == ROCE_ICRC_IPV6 ? ICRC_IPV6 : ICRC_IPV4);
}

uint32_t roce_icrc_tail(uint32_t reg, const uint8_t *p, size_t n)
{
#if defined(__x86_64__)
	if (__builtin_expect(way == ROCE_ICRC_VPCLMUL, 1))
		return roce_icrc_vpclmul_tail(reg, p, n);
	if (way == ROCE_ICRC_PCLMUL)
		return roce_icrc_pclmul_tail(reg, p, n);
#endif
	return ~table_run(reg, p, n);
}

static void put_one(const struct roce_icrc_part *part)
{
	uint32_t icrc = htole32(roce_icrc_tail(part->reg, part->p, part->n));

	memcpy(part->p + part->n, &icrc, sizeof(icrc));
}

void roce_icrc_put(const struct roce_icrc_part *part, unsigned count)
{
#if defined(__x86_64__)
	if (__builtin_expect(way == ROCE_ICRC_VPCLMUL, 1)) {
		roce_icrc_vpclmul_put(part, count);
		return;
	}
#endif
	for (unsigned i = 0; i < count; i++)
		put_one(&part[i]);
}
