/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the ways of computing an ICRC share.
 *
 * The eight bytes of ones in front leave a CRC register of ICRC_SEED, and a
 * register before the data is the same as that value XORed into the first
 * four bytes.  So the message is (l3 | mask) ^ seed, the register starts at
 * 0, and any number of zero bytes may stand in front: blocks are aligned to
 * the end of the message, and only the first is partial.
 *
 * Polynomials lie bit-reversed, as CRC-32 has them: in a word of n bits, bit
 * i is the coefficient of x^(n-1-i).  The carry-less product of two words of
 * 64 bits is then the product times x, read as a word of 128.
 */
#ifndef ROCE_ICRC_PRIV_H
#define ROCE_ICRC_PRIV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "icrc.h"

#define ICRC_POLY 0xedb88320u
#define ICRC_SEED 0xdebb20e3u

/*
 * Both rows have l3 at ICRC_L3, and zeros before and behind, so that a block
 * that starts before l3 finds its bytes at the same offset.
 */
#define ICRC_L3	 64
#define ICRC_ROW 192

/* Bytes of l3, from its start, that may hold a variant field. */
#define ICRC_VARIANT 64

enum icrc_l3 { ICRC_IPV4, ICRC_IPV6, ICRC_GRH, ICRC_L3_MAX };

extern const uint8_t roce_icrc_mask[ICRC_L3_MAX][ICRC_ROW];
extern const uint8_t roce_icrc_seed[ICRC_ROW];

/* x^n mod P, a word of 32 bits. */
uint32_t roce_icrc_xpow(unsigned n);

/*
 * Barrett's factor floor(x^96 / P) without its last coefficient: bit i is the
 * coefficient of x^(64-i).
 */
uint64_t roce_icrc_mu(void);

/* Each needs its CPU flags, and its init first. */
void roce_icrc_pclmul_init(void);
uint32_t roce_icrc_pclmul(const uint8_t *l3, size_t len, enum icrc_l3 kind);
uint32_t roce_icrc_pclmul_tail(uint32_t reg, const uint8_t *p, size_t n);

void roce_icrc_vpclmul_init(void);
uint32_t roce_icrc_vpclmul(const uint8_t *l3, size_t len, enum icrc_l3 kind);
uint32_t roce_icrc_vpclmul_tail(uint32_t reg, const uint8_t *p, size_t n);
void roce_icrc_vpclmul_put(const struct roce_icrc_part *part, unsigned count);
/* hdr <= 64, n >= 1; as roce_icrc_copy_ipv4(). */
uint32_t roce_icrc_vpclmul_copy(uint8_t *l3, size_t hdr, const uint8_t *payload,
				size_t n);

#endif /* ROCE_ICRC_PRIV_H */
