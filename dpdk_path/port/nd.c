// SPDX-License-Identifier: BSD-2-Clause
/* Neighbour solicitations and advertisements (RFC 4861 4.3, 4.4, 7.1, 7.2). */
#include "icmp6.h"

#define ND_SOLICIT   135
#define ND_ADVERTISE 136
#define ND_HOPS	     255 /* no router lets a packet through with that */
#define ND_SIZE	     24	 /* of a message without options */
#define ND_OPTION    8	 /* unit of an option's length */
#define ND_FRAME     (ICMP6_MSG + ND_SIZE + ND_OPTION)

#define ND_OPT_SOURCE_MAC 1
#define ND_OPT_TARGET_MAC 2

#define ND_SOLICITED 0x40
#define ND_OVERRIDE  0x20

/* Offsets in a frame. */
enum {
	N_CODE = ICMP6_MSG + 1,
	N_SUM = ICMP6_MSG + 2,
	N_FLAGS = ICMP6_MSG + 4,
	N_TARGET = ICMP6_MSG + 8,
	N_OPTIONS = ICMP6_MSG + ND_SIZE,
};
_Static_assert(ND_FRAME <= NEIGHBOUR_FRAME, "frame size");

static const uint8_t nobody[GID_SIZE];

static bool is_group(const uint8_t *gid)
{
	return gid[0] == 0xff;
}

/* A promiscuous port brings what is meant for others too. */
static bool for_us(const struct family_self *self, const uint8_t *dst)
{
	uint8_t group[GID_SIZE];

	icmp6_solicited_node(group, self->gid);
	return gid_equal(dst, self->gid) || gid_equal(dst, group) ||
	       gid_equal(dst, icmp6_all_nodes);
}

/* The link-layer address that the message carries, if it does. */
static bool options(const uint8_t *p, uint32_t n, uint8_t wanted,
		    struct family_word *w)
{
	uint32_t len;

	for (; n; p += len, n -= len) {
		if (n < 2)
			return false;
		len = p[1] * ND_OPTION;
		if (!len || len > n)
			return false;
		if (p[0] != wanted)
			continue;
		if (len != ND_OPTION || !family_mac_ok(p + 2))
			return false;
		memcpy(w->mac, p + 2, 6);
		w->has_mac = true;
	}
	return true;
}

static bool take_solicit(const uint8_t *f, uint32_t n, struct family_word *w)
{
	const uint8_t *src = f + ICMP6_SRC, *dst = f + ICMP6_DST;

	if (!options(f + N_OPTIONS, n, ND_OPT_SOURCE_MAC, w) || is_group(src))
		return false;
	w->asks = true;
	w->override = true;
	w->nobody = gid_equal(src, nobody);
	memcpy(w->gid, src, GID_SIZE);
	/* A probe has no answer to send to, and comes by the group only. */
	return !w->nobody || (!w->has_mac && is_group(dst) &&
			      !gid_equal(dst, icmp6_all_nodes));
}

static bool take_advertise(const uint8_t *f, uint32_t n, struct family_word *w)
{
	const uint8_t *src = f + ICMP6_SRC, *dst = f + ICMP6_DST;

	if (!options(f + N_OPTIONS, n, ND_OPT_TARGET_MAC, w))
		return false;
	if (is_group(dst) && f[N_FLAGS] & ND_SOLICITED)
		return false;
	w->override = f[N_FLAGS] & ND_OVERRIDE;
	memcpy(w->gid, f + N_TARGET, GID_SIZE);
	return !is_group(src) && !gid_equal(src, nobody);
}

/* RFC 4861 7.1.1, 7.1.2; n: length of the message, ND_SIZE or more. */
static enum family_verdict check(const uint8_t *f, uint32_t n,
				 struct family_word *w)
{
	bool good;

	if (f[ICMP6_HOPS] != ND_HOPS)
		return FAMILY_HOP_LIMIT;
	if (icmp6_checksum(f, f + ICMP6_MSG, n))
		return FAMILY_CHECKSUM;
	if (f[N_CODE] || is_group(f + N_TARGET) ||
	    !family_mac_ok(f + ICMP6_MAC_SRC))
		return FAMILY_BAD;
	memcpy(w->target, f + N_TARGET, GID_SIZE);
	memcpy(w->from, f + ICMP6_MAC_SRC, 6);
	good = f[ICMP6_MSG] == ND_SOLICIT ? take_solicit(f, n - ND_SIZE, w)
					  : take_advertise(f, n - ND_SIZE, w);
	return good ? FAMILY_SAYS : FAMILY_BAD;
}

/*
 * A fragment or another extension header is no neighbour's message: RFC 6980
 * forbids the first and nobody sends the second.
 */
static enum family_verdict nd_parse(const struct family_self *self,
				    const uint8_t *f, uint32_t len,
				    struct family_word *w)
{
	uint32_t n;

	if (len <= ICMP6_MSG || icmp6_get16(f + ICMP6_ETHERTYPE) != 0x86dd ||
	    f[ICMP6_IP] >> 4 != 6)
		return FAMILY_OTHER;
	if (f[ICMP6_NEXT] == ICMP6_HOP_BY_HOP)
		return mld_parse(self, f, len, w);
	if (f[ICMP6_NEXT] != ICMP6_PROTO ||
	    (f[ICMP6_MSG] != ND_SOLICIT && f[ICMP6_MSG] != ND_ADVERTISE) ||
	    !for_us(self, f + ICMP6_DST))
		return FAMILY_OTHER;
	n = icmp6_get16(f + ICMP6_LEN);
	if (n > len - ICMP6_MSG || n < ND_SIZE)
		return FAMILY_BAD;
	return check(f, n, w);
}

static uint32_t build(const struct family_self *self, uint8_t *f,
		      const uint8_t *dst, const uint8_t *dst_mac, uint8_t type)
{
	const struct icmp6_head h = {
		.src = self->gid,
		.dst = dst,
		.next = ICMP6_PROTO,
		.hops = ND_HOPS,
		.payload = ND_SIZE + ND_OPTION,
	};

	memset(f, 0, ND_FRAME);
	icmp6_head(f, &h, self->mac, dst_mac);
	f[ICMP6_MSG] = type;
	f[N_OPTIONS] = type == ND_SOLICIT ? ND_OPT_SOURCE_MAC
					  : ND_OPT_TARGET_MAC;
	f[N_OPTIONS + 1] = 1;
	memcpy(f + N_OPTIONS + 2, self->mac, 6);
	return ND_FRAME;
}

static uint32_t seal(uint8_t *f)
{
	icmp6_put16(f + N_SUM,
		    icmp6_checksum(f, f + ICMP6_MSG, ND_SIZE + ND_OPTION));
	return ND_FRAME;
}

static uint32_t nd_ask(const struct family_self *self, uint8_t *f,
		       const uint8_t gid[GID_SIZE])
{
	uint8_t group[GID_SIZE];

	icmp6_solicited_node(group, gid);
	build(self, f, group, NULL, ND_SOLICIT);
	memcpy(f + N_TARGET, gid, GID_SIZE);
	return seal(f);
}

static uint32_t nd_tell(const struct family_self *self, uint8_t *f,
			const struct family_word *w)
{
	if (!w || w->nobody)
		build(self, f, icmp6_all_nodes, NULL, ND_ADVERTISE);
	else
		build(self, f, w->gid, w->has_mac ? w->mac : w->from,
		      ND_ADVERTISE);
	f[N_FLAGS] = !w || w->nobody ? ND_OVERRIDE : ND_SOLICITED | ND_OVERRIDE;
	memcpy(f + N_TARGET, self->gid, GID_SIZE);
	return seal(f);
}

const struct family family_nd = {
	.parse = nd_parse,
	.ask = nd_ask,
	.tell = nd_tell,
	.report = mld_report,
	.counter = {
		[NEIGHBOUR_C_RX] = "nd_rx",
		[NEIGHBOUR_C_BAD] = "nd_bad",
		[NEIGHBOUR_C_HOP_LIMIT] = "nd_bad_hop_limit",
		[NEIGHBOUR_C_CHECKSUM] = "nd_bad_checksum",
		[NEIGHBOUR_C_ASK_TX] = "nd_solicit_tx",
		[NEIGHBOUR_C_TELL_TX] = "nd_advertise_tx",
		[NEIGHBOUR_C_REPORT_TX] = "nd_group_report_tx",
		[NEIGHBOUR_C_CONFLICT] = "nd_conflict",
		[NEIGHBOUR_C_FULL] = "nd_table_full",
	},
};
