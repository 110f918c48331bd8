/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Invariant CRC of RoCE (IBTA 7.8.1, A17.3.3): CRC-32 over 8 bytes of ones,
 * the IP header with its variant fields as ones, UDP with its checksum as
 * ones, BTH with byte 4 as ones, and the rest up to the ICRC, pad included.
 *
 * One pass in registers; the way is chosen once by CPU flags and is a switch
 * here, not a pointer.  Pure functions: any thread, no state but the choice.
 */
#ifndef ROCE_ICRC_H
#define ROCE_ICRC_H

#include <stddef.h>
#include <stdint.h>

enum roce_icrc_way {
	ROCE_ICRC_TABLE,
	ROCE_ICRC_PCLMUL,  /* SSE4.1 + PCLMULQDQ */
	ROCE_ICRC_VPCLMUL, /* AVX512BW/VL + VPCLMULQDQ */
};

/* Choose the fastest way the CPU has; call before the first ICRC. */
void roce_icrc_init(void);
/* Force one (tests, benches); -ENOTSUP where the CPU lacks it. */
int roce_icrc_use(enum roce_icrc_way way);
enum roce_icrc_way roce_icrc_way(void);
const char *roce_icrc_name(void);

/*
 * l3: the IPv4 header (IHL 5), IPv6 header or GRH; len: bytes from there up
 * to the ICRC, at least the headers and a BTH.  Nothing outside [l3, l3+len)
 * is read.  The value is stored little-endian.
 */
uint32_t roce_icrc_ipv4(const uint8_t *l3, size_t len);
uint32_t roce_icrc_ipv6(const uint8_t *l3, size_t len);
uint32_t roce_icrc_v1(const uint8_t *grh, size_t len);

/*
 * Build: copy n bytes of payload behind the hdr bytes of headers at l3 (they
 * are final), zero the pad up to 4, and give the ICRC over all of it, in one
 * pass where the way allows.  Writes up to l3 + hdr + n + pad.
 */
uint32_t roce_icrc_copy_ipv4(uint8_t *l3, size_t hdr, const void *payload,
			     size_t n);

/*
 * The same in two parts, for packets that begin alike.
 *
 * prefix: the register behind the first len bytes at l3, which go up to the
 * last word of the BTH, the PSN.
 * tail: the ICRC of a message with that prefix and the n bytes at p behind it,
 * n a multiple of 4 and at least 4.  p is preceded by the prefix: a load may
 * begin there, but its bytes do not count again.
 */
enum roce_icrc_l3 { ROCE_ICRC_IPV4, ROCE_ICRC_IPV6 };
uint32_t roce_icrc_prefix(const uint8_t *l3, size_t len,
			  enum roce_icrc_l3 kind);
uint32_t roce_icrc_tail(uint32_t reg, const uint8_t *p, size_t n);

/* Many tails, each ICRC put behind its n bytes. */
struct roce_icrc_part {
	uint8_t *p;
	uint32_t n;
	uint32_t reg;
};
void roce_icrc_put(const struct roce_icrc_part *part, unsigned count);

#endif /* ROCE_ICRC_H */
