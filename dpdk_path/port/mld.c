// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast listener discovery, as much as a switch that snoops needs to send
 * us the solicitations of our address: a report of their group, at start and
 * whenever one asks (RFC 2710, RFC 4862 5.4.2).
 */
#include "icmp6.h"

#define MLD_QUERY  130
#define MLD_REPORT 131
#define MLD_SIZE   24
#define MLD_HOPS   1
#define MLD_ALERT  5 /* the option router alert (RFC 2711), value 0 */
#define MLD_OPTION 8 /* hop-by-hop header with it */
#define MLD_FRAME  (ICMP6_MSG + MLD_OPTION + MLD_SIZE)
_Static_assert(MLD_FRAME <= NEIGHBOUR_FRAME, "frame size");

/* Offsets in the message. */
enum { M_TYPE = 0, M_SUM = 2, M_DELAY = 4, M_GROUP = 8 };

static const uint8_t nobody[GID_SIZE];

/* p: n bytes of options of a hop-by-hop header. */
static bool has_alert(const uint8_t *p, uint32_t n)
{
	uint32_t len;

	for (; n; p += len, n -= len) {
		len = !p[0] ? 1 : n < 2 ? ~0U : p[1] + 2U; /* 0: Pad1 */
		if (len > n)
			return false;
		if (p[0] == MLD_ALERT)
			return len == 4 && !p[2] && !p[3];
	}
	return false;
}

/* Of all groups, or of ours. */
static bool about_us(const struct family_self *self, const uint8_t *dst,
		     const uint8_t *asked)
{
	uint8_t group[GID_SIZE];

	icmp6_solicited_node(group, self->gid);
	if (gid_equal(asked, nobody))
		return gid_equal(dst, icmp6_all_nodes);
	return gid_equal(asked, group) && gid_equal(dst, group);
}

enum family_verdict mld_parse(const struct family_self *self, const uint8_t *f,
			      uint32_t len, struct family_word *w)
{
	const uint8_t *msg, *options = f + ICMP6_MSG;
	uint32_t n = icmp6_get16(f + ICMP6_LEN), skip;

	if (n > len - ICMP6_MSG || n < MLD_OPTION || options[0] != ICMP6_PROTO)
		return FAMILY_OTHER;
	skip = (options[1] + 1U) * 8;
	if (n < skip + MLD_SIZE)
		return FAMILY_OTHER;
	msg = options + skip;
	n -= skip;
	if (msg[M_TYPE] != MLD_QUERY ||
	    !about_us(self, f + ICMP6_DST, msg + M_GROUP))
		return FAMILY_OTHER;
	if (f[ICMP6_HOPS] != MLD_HOPS)
		return FAMILY_HOP_LIMIT;
	if (icmp6_checksum(f, msg, n))
		return FAMILY_CHECKSUM;
	if (!gid_is_link_local(f + ICMP6_SRC) ||
	    !has_alert(options + 2, skip - 2))
		return FAMILY_BAD;
	w->delay_ms = icmp6_get16(msg + M_DELAY);
	return FAMILY_QUERY;
}

uint32_t mld_report(const struct family_self *self, uint8_t *f)
{
	static const uint8_t alert[MLD_OPTION] = {
		ICMP6_PROTO, 0, MLD_ALERT, 2, 0, 0, 1, 0 /* PadN */
	};
	uint8_t group[GID_SIZE];
	uint8_t *msg = f + ICMP6_MSG + MLD_OPTION;
	/* Only a link-local sender is due; who has none says nobody (RFC 3590). */
	const struct icmp6_head h = {
		.src = gid_is_link_local(self->gid) ? self->gid : nobody,
		.dst = group,
		.next = ICMP6_HOP_BY_HOP,
		.hops = MLD_HOPS,
		.payload = MLD_OPTION + MLD_SIZE,
	};

	icmp6_solicited_node(group, self->gid);
	memset(f, 0, MLD_FRAME);
	icmp6_head(f, &h, self->mac, NULL);
	memcpy(f + ICMP6_MSG, alert, MLD_OPTION);
	msg[M_TYPE] = MLD_REPORT;
	memcpy(msg + M_GROUP, group, GID_SIZE);
	icmp6_put16(msg + M_SUM, icmp6_checksum(f, msg, MLD_SIZE));
	return MLD_FRAME;
}
