// SPDX-License-Identifier: BSD-2-Clause
/*
 * The frame parser.  A layer's own length is believed over the frame's, which
 * may have Ethernet padding, once it is seen to fit.
 */
#include <endian.h>
#include <string.h>

#include "icrc.h"
#include "pkt.h"

#define VLAN_TAGS_MAX	  2
#define VLAN_TAG_SIZE	  4
#define IPV6_NEXTHDR_FRAG 44
#define IPV4_FRAG_MASK	  0x3fff /* MF and offset */
#define ECN_CE		  3

#define SEEN(ext)      ((ext) + 1) /* so that what the table leaves out is -1 */
#define RC_UC(op, ext) [op] = SEEN(ext), [(op) + 0x20] = SEEN(ext)

/* IBTA 9.2.1, table 38: RETH 16, AtomicETH 28, AETH 4, AtomicAckETH 8, ... */
static const uint8_t ext_len[256] = {
	RC_UC(ROCE_RC_SEND_FIRST, 0),
	RC_UC(ROCE_RC_SEND_MIDDLE, 0),
	RC_UC(ROCE_RC_SEND_LAST, 0),
	RC_UC(ROCE_RC_SEND_LAST_IMM, 4),
	RC_UC(ROCE_RC_SEND_ONLY, 0),
	RC_UC(ROCE_RC_SEND_ONLY_IMM, 4),
	RC_UC(ROCE_RC_WRITE_FIRST, 16),
	RC_UC(ROCE_RC_WRITE_MIDDLE, 0),
	RC_UC(ROCE_RC_WRITE_LAST, 0),
	RC_UC(ROCE_RC_WRITE_LAST_IMM, 4),
	RC_UC(ROCE_RC_WRITE_ONLY, 16),
	RC_UC(ROCE_RC_WRITE_ONLY_IMM, 20),
	[ROCE_RC_READ_REQ] = SEEN(16),
	[ROCE_RC_READ_RESP_FIRST] = SEEN(4),
	[ROCE_RC_READ_RESP_MIDDLE] = SEEN(0),
	[ROCE_RC_READ_RESP_LAST] = SEEN(4),
	[ROCE_RC_READ_RESP_ONLY] = SEEN(4),
	[ROCE_RC_ACK] = SEEN(4),
	[ROCE_RC_ATOMIC_ACK] = SEEN(12),
	[ROCE_RC_CMP_SWAP] = SEEN(28),
	[ROCE_RC_FETCH_ADD] = SEEN(28),
	[ROCE_RC_SEND_LAST_INV] = SEEN(4),
	[ROCE_RC_SEND_ONLY_INV] = SEEN(4),
	[ROCE_UD_SEND_ONLY] = SEEN(8),
	[ROCE_UD_SEND_ONLY_IMM] = SEEN(12),
	[ROCE_CNP] = SEEN(16),
};

static const char *const drop_names[ROCE_DROP_MAX] = {
	[ROCE_OK] = "ok",
	[ROCE_DROP_NOT_ROCE] = "not_roce",
	[ROCE_DROP_SHORT] = "short",
	[ROCE_DROP_FRAGMENT] = "fragment",
	[ROCE_DROP_IP] = "bad_ip",
	[ROCE_DROP_TVER] = "bad_tver",
	[ROCE_DROP_OPCODE] = "bad_opcode",
	[ROCE_DROP_LENGTH] = "bad_length",
	[ROCE_DROP_ICRC] = "bad_icrc",
	[ROCE_DROP_PKEY] = "bad_pkey",
	[ROCE_DROP_QPN] = "bad_qpn",
	[ROCE_DROP_STATE] = "bad_state",
	[ROCE_DROP_ADDRESS] = "bad_address",
	[ROCE_DROP_PSN] = "bad_psn",
	[ROCE_DROP_QKEY] = "bad_qkey",
	[ROCE_DROP_NO_RECV] = "no_recv",
};

const char *roce_drop_name(enum roce_drop drop)
{
	return (unsigned)drop < ROCE_DROP_MAX ? drop_names[drop] : "unknown";
}

int roce_ext_len(uint8_t opcode)
{
	return ext_len[opcode] - 1;
}

static inline uint32_t icrc_of(const uint8_t *l3, size_t len, unsigned encap)
{
	switch (encap) {
	case ROCE_V2_IPV4:
		return roce_icrc_ipv4(l3, len);
	case ROCE_V2_IPV6:
		return roce_icrc_ipv6(l3, len);
	default:
		return roce_icrc_v1(l3, len);
	}
}

/* p: the BTH, with n bytes up to the end of the ICRC; pkt->l3 and encap set. */
static inline enum roce_drop parse_bth(const uint8_t *p, uint32_t n,
				       struct roce_pkt *pkt)
{
	const struct roce_bth *bth = (const void *)p;
	const uint8_t *icrc;
	uint32_t pad, want;
	int ext;

	if (n < sizeof(*bth))
		return ROCE_DROP_SHORT;
	if (bth->flags & ROCE_BTH_TVER_MASK)
		return ROCE_DROP_TVER;
	ext = ext_len[bth->opcode] - 1;
	if (ext < 0)
		return ROCE_DROP_OPCODE;
	pad = (bth->flags & ROCE_BTH_PAD_MASK) >> ROCE_BTH_PAD_SHIFT;
	if (n < sizeof(*bth) + ext + pad + ROCE_ICRC_SIZE)
		return ROCE_DROP_LENGTH;
	icrc = p + n - ROCE_ICRC_SIZE;
	memcpy(&want, icrc, sizeof(want));
	if (icrc_of(pkt->l3, icrc - pkt->l3, pkt->encap) != le32toh(want))
		return ROCE_DROP_ICRC;

	pkt->ext = p + sizeof(*bth);
	pkt->payload = pkt->ext + ext;
	pkt->payload_len = icrc - pkt->payload - pad;
	pkt->psn = be32toh(bth->apsn) & ROCE_PSN_MASK;
	pkt->qpn = be32toh(bth->qpn) & ROCE_QPN_MASK;
	pkt->pkey = be16toh(bth->pkey);
	pkt->opcode = bth->opcode;
	pkt->flags = bth->flags;
	pkt->ackreq = !!(be32toh(bth->apsn) & ROCE_BTH_ACKREQ);
	return ROCE_OK;
}

/*
 * The one's complement sum over a good header is all ones (RFC 1071).  Read
 * as two words of 8 bytes and one of 4: the order of the words is free.
 */
static inline int csum_ok(const uint8_t *p)
{
	uint64_t a, b, sum;
	uint32_t c;

	memcpy(&a, p, sizeof(a));
	memcpy(&b, p + 8, sizeof(b));
	memcpy(&c, p + 16, sizeof(c));
	sum = (a >> 32) + (uint32_t)a + (b >> 32) + (uint32_t)b + c;
	sum = (sum >> 32) + (uint32_t)sum;
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return sum == 0xffff;
}

static inline int port_is_roce(const uint8_t *p)
{
	const struct roce_udp *udp = (const void *)p;

	return udp->dport == htobe16(ROCE_UDP_PORT);
}

/* p: the UDP header; n: what IP says is there. */
static inline enum roce_drop parse_udp(const uint8_t *p, uint32_t n,
				       struct roce_pkt *pkt)
{
	const struct roce_udp *udp = (const void *)p;

	if (be16toh(udp->len) != n)
		return ROCE_DROP_SHORT;
	return parse_bth(p + sizeof(*udp), n - sizeof(*udp), pkt);
}

static inline enum roce_drop parse_ipv4(const uint8_t *p, uint32_t room,
					struct roce_pkt *pkt)
{
	const struct roce_ipv4 *ip = (const void *)p;
	uint32_t total;

	if (room < sizeof(*ip))
		return ROCE_DROP_SHORT;
	if (ip->ver_ihl >> 4 != 4)
		return ROCE_DROP_IP;
	if (ip->proto != ROCE_IPPROTO_UDP)
		return ROCE_DROP_NOT_ROCE;
	if (ip->frag & htobe16(IPV4_FRAG_MASK))
		return ROCE_DROP_FRAGMENT;
	if (ip->ver_ihl != 0x45)
		return ROCE_DROP_IP;
	total = be16toh(ip->total_len);
	if (total > room || total < sizeof(*ip) + sizeof(struct roce_udp))
		return ROCE_DROP_SHORT;
	if (!port_is_roce(p + sizeof(*ip)))
		return ROCE_DROP_NOT_ROCE;
	if (!csum_ok(p))
		return ROCE_DROP_IP;
	pkt->l3 = p;
	pkt->encap = ROCE_V2_IPV4;
	pkt->ecn_ce = (ip->tos & ECN_CE) == ECN_CE;
	return parse_udp(p + sizeof(*ip), total - sizeof(*ip), pkt);
}

/* An IPv6 header, or the GRH of RoCE v1, which has the same shape. */
static enum roce_drop parse_ipv6(const uint8_t *p, uint32_t room, int v1,
				 struct roce_pkt *pkt)
{
	const uint8_t *next = p + sizeof(struct roce_ipv6);
	const struct roce_ipv6 *ip = (const void *)p;
	uint32_t n;

	if (room < sizeof(*ip))
		return ROCE_DROP_SHORT;
	if (p[0] >> 4 != 6)
		return ROCE_DROP_IP;
	if (!v1 && ip->next_hdr == IPV6_NEXTHDR_FRAG)
		return ROCE_DROP_FRAGMENT;
	if (ip->next_hdr != (v1 ? ROCE_NEXTHDR_IBA : ROCE_IPPROTO_UDP))
		return ROCE_DROP_NOT_ROCE;
	n = be16toh(ip->payload_len);
	if (n > room - sizeof(*ip))
		return ROCE_DROP_SHORT;
	pkt->l3 = p;
	pkt->ecn_ce = !v1 && (p[1] >> 4 & ECN_CE) == ECN_CE;
	if (v1) {
		pkt->encap = ROCE_V1;
		return parse_bth(next, n, pkt);
	}
	if (n < sizeof(struct roce_udp))
		return ROCE_DROP_SHORT;
	if (!port_is_roce(next))
		return ROCE_DROP_NOT_ROCE;
	pkt->encap = ROCE_V2_IPV6;
	return parse_udp(next, n, pkt);
}

static uint16_t type_at(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static enum roce_drop parse_any(const uint8_t *frame, uint32_t len,
				struct roce_pkt *pkt)
{
	uint32_t at = sizeof(struct roce_eth);
	uint16_t type;

	if (len < at)
		return ROCE_DROP_SHORT;
	type = type_at(frame + at - 2);
	for (unsigned i = 0; i < VLAN_TAGS_MAX; i++) {
		if (type != ROCE_ETHERTYPE_VLAN && type != ROCE_ETHERTYPE_QINQ)
			break;
		at += VLAN_TAG_SIZE;
		if (len < at)
			return ROCE_DROP_SHORT;
		type = type_at(frame + at - 2);
	}
	switch (type) {
	case ROCE_ETHERTYPE_IPV4:
		return parse_ipv4(frame + at, len - at, pkt);
	case ROCE_ETHERTYPE_IPV6:
		return parse_ipv6(frame + at, len - at, 0, pkt);
	case ROCE_ETHERTYPE_V1:
		return parse_ipv6(frame + at, len - at, 1, pkt);
	default:
		return ROCE_DROP_NOT_ROCE;
	}
}

enum roce_drop roce_parse(const uint8_t *frame, uint32_t len,
			  struct roce_pkt *pkt)
{
	const uint32_t at = sizeof(struct roce_eth);

	if (__builtin_expect(len >= at && type_at(frame + at - 2) ==
						  ROCE_ETHERTYPE_IPV4,
			     1))
		return parse_ipv4(frame + at, len - at, pkt);
	return parse_any(frame, len, pkt);
}
