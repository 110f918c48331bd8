// SPDX-License-Identifier: BSD-2-Clause
#include "icmp6.h"

const uint8_t icmp6_all_nodes[GID_SIZE] = { 0xff, 2, 0, 0, 0, 0, 0, 0,
					    0,	  0, 0, 0, 0, 0, 0, 1 };

void icmp6_solicited_node(uint8_t group[GID_SIZE], const uint8_t gid[GID_SIZE])
{
	static const uint8_t head[13] = { 0xff, 2, 0, 0, 0, 0,	 0,
					  0,	0, 0, 0, 1, 0xff };

	memcpy(group, head, sizeof(head));
	memcpy(group + 13, gid + 13, 3);
}

static uint32_t sum16(const uint8_t *p, uint32_t n)
{
	uint32_t i, sum = 0;

	for (i = 0; i + 1 < n; i += 2)
		sum += icmp6_get16(p + i);
	return n & 1 ? sum + (p[n - 1] << 8) : sum;
}

uint16_t icmp6_checksum(const uint8_t *frame, const uint8_t *msg, uint32_t n)
{
	/* n is a 16-bit length: neither sum runs over. */
	uint32_t sum = n + ICMP6_PROTO;

	sum += sum16(frame + ICMP6_SRC, 2 * GID_SIZE) + sum16(msg, n);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

void icmp6_head(uint8_t *f, const struct icmp6_head *h,
		const uint8_t src_mac[6], const uint8_t *dst_mac)
{
	if (dst_mac) {
		memcpy(f + ICMP6_MAC_DST, dst_mac, 6);
	} else {
		f[0] = f[1] = 0x33;
		memcpy(f + 2, h->dst + 12, 4);
	}
	memcpy(f + ICMP6_MAC_SRC, src_mac, 6);
	icmp6_put16(f + ICMP6_ETHERTYPE, 0x86dd);
	memset(f + ICMP6_IP, 0, 4);
	f[ICMP6_IP] = 6 << 4;
	icmp6_put16(f + ICMP6_LEN, h->payload);
	f[ICMP6_NEXT] = h->next;
	f[ICMP6_HOPS] = h->hops;
	memcpy(f + ICMP6_SRC, h->src, GID_SIZE);
	memcpy(f + ICMP6_DST, h->dst, GID_SIZE);
}
