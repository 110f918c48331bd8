/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ICMPv6 (RFC 4443) in Ethernet frames without tags: where things lie, the
 * checksum, and the groups that a host listens to (RFC 4291 2.7.1).
 */
#ifndef WBELL_ICMP6_H
#define WBELL_ICMP6_H

#include "family.h"

#define ICMP6_HOP_BY_HOP 0 /* next header values */
#define ICMP6_PROTO	 58

/* Offsets in a frame; ICMP: where no extension header precedes it. */
enum {
	ICMP6_MAC_DST = 0,
	ICMP6_MAC_SRC = 6,
	ICMP6_ETHERTYPE = 12,
	ICMP6_IP = 14,
	ICMP6_LEN = 18,
	ICMP6_NEXT = 20,
	ICMP6_HOPS = 21,
	ICMP6_SRC = 22,
	ICMP6_DST = 38,
	ICMP6_MSG = 54,
};

static inline uint32_t icmp6_get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static inline void icmp6_put16(uint8_t *p, uint32_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

/* Over addresses, n, the protocol and n bytes of msg; 0 over a good one. */
uint16_t icmp6_checksum(const uint8_t *frame, const uint8_t *msg, uint32_t n);

/* Everything of the IPv6 header; payload: bytes behind it. */
struct icmp6_head {
	const uint8_t *src, *dst;
	uint8_t next, hops;
	uint16_t payload;
};
/* dst_mac NULL: dst is a group, whose MAC it names (RFC 2464 7). */
void icmp6_head(uint8_t *frame, const struct icmp6_head *h,
		const uint8_t src_mac[6], const uint8_t *dst_mac);

extern const uint8_t icmp6_all_nodes[GID_SIZE]; /* ff02::1 */
void icmp6_solicited_node(uint8_t group[GID_SIZE], const uint8_t gid[GID_SIZE]);

/* mld.c: listener reports (RFC 2710, which RFC 3810's routers take too). */
enum family_verdict mld_parse(const struct family_self *self,
			      const uint8_t *frame, uint32_t len,
			      struct family_word *word);
uint32_t mld_report(const struct family_self *self, uint8_t *out);

#endif /* WBELL_ICMP6_H */
