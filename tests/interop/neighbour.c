// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "neighbour.h"

/* Offsets in a frame with IPv6 and no extension header. */
enum {
	N_SRC_MAC = 6,
	N_TYPE = 12,
	N_LEN = 18,
	N_NEXT = 20,
	N_HOPS = 21,
	N_SRC = 22,
	N_DST = 38,
	N_ICMP = 54,
	N_FLAGS = 58,
	N_TARGET = 62,
	N_OPTION = 78,
};

#define SOLICIT		   135
#define ADVERTISE	   136
#define ICMPV6		   58
#define ICMP_LEN	   32
#define SOLICITED_OVERRIDE 0x60

static bool asks(const uint8_t *f, uint32_t len, const uint8_t ip6[16])
{
	return len >= N_OPTION && f[N_TYPE] == 0x86 && f[N_TYPE + 1] == 0xdd &&
	       f[N_NEXT] == ICMPV6 && f[N_HOPS] == 255 &&
	       f[N_ICMP] == SOLICIT && !memcmp(f + N_TARGET, ip6, 16);
}

/* RFC 4443 2.3: addresses, length and next header count too. */
static void set_checksum(uint8_t *f)
{
	uint32_t sum = ICMP_LEN + ICMPV6;
	int i;

	for (i = N_SRC; i < NEIGHBOUR_FRAME; i += 2)
		sum += f[i] << 8 | f[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16)) & 0xffff;
	f[N_ICMP + 2] = sum >> 8;
	f[N_ICMP + 3] = sum;
}

bool neighbour_reply(const uint8_t *f, uint32_t len, const struct link_attr *us,
		     uint8_t out[NEIGHBOUR_FRAME])
{
	if (!asks(f, len, us->ip6))
		return false;
	memset(out, 0, NEIGHBOUR_FRAME);
	memcpy(out, f + N_SRC_MAC, 6);
	memcpy(out + N_SRC_MAC, us->mac, 6);
	out[N_TYPE] = 0x86;
	out[N_TYPE + 1] = 0xdd;
	out[N_TYPE + 2] = 0x60;
	out[N_LEN + 1] = ICMP_LEN;
	out[N_NEXT] = ICMPV6;
	out[N_HOPS] = 255;
	memcpy(out + N_SRC, us->ip6, 16);
	memcpy(out + N_DST, f + N_SRC, 16);
	out[N_ICMP] = ADVERTISE;
	out[N_FLAGS] = SOLICITED_OVERRIDE;
	memcpy(out + N_TARGET, us->ip6, 16);
	/* option: target link-layer address, of one unit of 8 bytes */
	out[N_OPTION] = 2;
	out[N_OPTION + 1] = 1;
	memcpy(out + N_OPTION + 2, us->mac, 6);
	set_checksum(out);
	return true;
}
