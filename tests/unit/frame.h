/* SPDX-License-Identifier: BSD-2-Clause */
/* Build frames for the parser's tests. */
#ifndef FRAME_H
#define FRAME_H

#include <endian.h>
#include <string.h>

#include "icrc.h"
#include "pkt.h"

#define FRAME_L3   14
#define FRAME_UDP4 (FRAME_L3 + 20)
#define FRAME_BTH4 (FRAME_UDP4 + 8)
#define FRAME_UDP6 (FRAME_L3 + 40)
#define FRAME_BTH6 (FRAME_UDP6 + 8)

static inline void frame_put16(uint8_t *p, unsigned v)
{
	p[0] = v >> 8;
	p[1] = v;
}

/* Make the header checksum of the IPv4 header at ip right. */
static inline void frame_csum(uint8_t *ip)
{
	uint32_t sum = 0;

	frame_put16(ip + 10, 0);
	for (unsigned i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	frame_put16(ip + 10, ~sum);
}

static inline void frame_icrc(uint8_t *at, uint32_t icrc)
{
	icrc = htole32(icrc);
	memcpy(at, &icrc, 4);
}

/* Headers around n bytes of UDP payload, which is there; gives the length. */
static inline uint32_t frame_udp4(uint8_t *f, uint32_t n)
{
	static const uint8_t
		l2_ip
			[FRAME_UDP4] = {
				2,    0, 0,   0, 0, 2, 2,    0, 0,  0,
				0,    1, 8,   0, /* Ethernet */
				0x45, 0, 0,   0, 0, 0, 0x40, 0, 64, 17,
				0,    0, 192, 0, 2, 1, 192,  0, 2,  2,
			};

	memcpy(f, l2_ip, sizeof(l2_ip));
	frame_put16(f + FRAME_L3 + 2, 28 + n);
	frame_csum(f + FRAME_L3);
	frame_put16(f + FRAME_UDP4, 0xc000);
	frame_put16(f + FRAME_UDP4 + 2, 4791);
	frame_put16(f + FRAME_UDP4 + 4, 8 + n);
	frame_put16(f + FRAME_UDP4 + 6, 0);
	return FRAME_BTH4 + n;
}

static inline uint32_t frame_udp6(uint8_t *f, uint32_t n)
{
	static const uint8_t l2[FRAME_L3] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd,
	};

	memcpy(f, l2, sizeof(l2));
	memset(f + FRAME_L3, 0, 40);
	f[FRAME_L3] = 0x60;
	frame_put16(f + FRAME_L3 + 4, 8 + n);
	f[FRAME_L3 + 6] = 17;
	f[FRAME_L3 + 7] = 64;
	f[FRAME_L3 + 23] = 1;
	f[FRAME_L3 + 39] = 2;
	frame_put16(f + FRAME_UDP6, 0xc000);
	frame_put16(f + FRAME_UDP6 + 2, 4791);
	frame_put16(f + FRAME_UDP6 + 4, 8 + n);
	frame_put16(f + FRAME_UDP6 + 6, 0);
	return FRAME_BTH6 + n;
}

/* Where l3 starts in a frame with one VLAN tag or none. */
static inline const uint8_t *frame_l3(const uint8_t *f)
{
	return f + (f[12] == 0x81 ? FRAME_L3 + 4 : FRAME_L3);
}

#endif /* FRAME_H */
