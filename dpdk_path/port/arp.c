// SPDX-License-Identifier: BSD-2-Clause
/* ARP (RFC 826, RFC 5227) for Ethernet and IPv4. */
#include "family.h"

#define ARP_SIZE       42
#define ARP_FRAME      60 /* the least an Ethernet frame has, without FCS */
#define ARP_OP_REQUEST 1
#define ARP_OP_REPLY   2

/* Offsets in a frame. */
enum {
	A_DST = 0,
	A_SRC = 6,
	A_HEAD = 12, /* EtherType, types and lengths: always these bytes */
	A_OP = 20,
	A_SHA = 22,
	A_SPA = 28,
	A_THA = 32,
	A_TPA = 38,
};
static const uint8_t head[8] = { 0x08, 0x06, 0, 1, 0x08, 0, 6, 4 };

static void build(const struct family_self *self, uint8_t *out, uint8_t op,
		  const uint8_t tha[6], const uint8_t tpa[4])
{
	memset(out, 0, ARP_FRAME);
	memcpy(out + A_SRC, self->mac, 6);
	memcpy(out + A_HEAD, head, sizeof(head));
	out[A_OP + 1] = op;
	memcpy(out + A_SHA, self->mac, 6);
	memcpy(out + A_SPA, gid_ipv4(self->gid), 4);
	memcpy(out + A_TPA, tpa, 4);
	if (tha) {
		memcpy(out + A_DST, tha, 6);
		memcpy(out + A_THA, tha, 6);
	} else {
		memset(out + A_DST, 0xff, 6);
	}
}

static uint32_t arp_ask(const struct family_self *self, uint8_t *out,
			const uint8_t gid[GID_SIZE])
{
	build(self, out, ARP_OP_REQUEST, NULL, gid_ipv4(gid));
	return ARP_FRAME;
}

static uint32_t arp_tell(const struct family_self *self, uint8_t *out,
			 const struct family_word *word)
{
	if (word)
		build(self, out, ARP_OP_REPLY, word->mac, gid_ipv4(word->gid));
	else
		build(self, out, ARP_OP_REQUEST, NULL, gid_ipv4(self->gid));
	return ARP_FRAME;
}

/* A sender must be one host: no group MAC, no zero or group IP. */
static bool sane(const uint8_t *f, uint32_t len)
{
	if (len < ARP_SIZE || memcmp(f + A_HEAD, head, sizeof(head)))
		return false;
	if (f[A_OP] ||
	    (f[A_OP + 1] != ARP_OP_REQUEST && f[A_OP + 1] != ARP_OP_REPLY))
		return false;
	return family_mac_ok(f + A_SHA) && f[A_SPA] < 224;
}

static enum family_verdict arp_parse(const struct family_self *self,
				     const uint8_t *f, uint32_t len,
				     struct family_word *w)
{
	static const uint8_t zero[4];

	if (len < A_HEAD + 2 || memcmp(f + A_HEAD, head, 2))
		return FAMILY_OTHER;
	if (!sane(f, len))
		return FAMILY_BAD;
	gid_set_ipv4(w->gid, f + A_SPA);
	gid_set_ipv4(w->target, f + A_TPA);
	memcpy(w->mac, f + A_SHA, 6);
	memcpy(w->from, f + A_SHA, 6);
	w->has_mac = true;
	w->override = true;
	w->asks = f[A_OP + 1] == ARP_OP_REQUEST;
	/* A zero sender address is a probe (RFC 5227): it is answered too. */
	w->nobody = !memcmp(f + A_SPA, zero, 4);
	return FAMILY_SAYS;
}

const struct family family_arp = {
	.parse = arp_parse,
	.ask = arp_ask,
	.tell = arp_tell,
	.counter = {
		[NEIGHBOUR_C_RX] = "arp_rx",
		[NEIGHBOUR_C_BAD] = "arp_bad",
		[NEIGHBOUR_C_ASK_TX] = "arp_request_tx",
		[NEIGHBOUR_C_TELL_TX] = "arp_reply_tx",
		[NEIGHBOUR_C_CONFLICT] = "arp_conflict",
		[NEIGHBOUR_C_FULL] = "arp_table_full",
	},
};
