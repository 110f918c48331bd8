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

#endif /* ROCE_ICRC_H */
