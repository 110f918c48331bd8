/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One frame from the wire: find the headers, check every length against the
 * bytes there are, check the ICRC.  Trusts nothing.
 */
#ifndef ROCE_PKT_H
#define ROCE_PKT_H

#include <stdint.h>

#include <wbell/roce.h>

enum roce_encap { ROCE_V2_IPV4, ROCE_V2_IPV6, ROCE_V1 };

/* Why a frame was dropped; each has a counter of this name. */
enum roce_drop {
	ROCE_OK,
	ROCE_DROP_NOT_ROCE, /* another EtherType, protocol or port */
	ROCE_DROP_SHORT, /* truncated before the BTH, or a length that lies */
	ROCE_DROP_FRAGMENT,
	ROCE_DROP_IP, /* IHL, version or header checksum */
	ROCE_DROP_TVER,
	ROCE_DROP_OPCODE, /* undefined opcode */
	ROCE_DROP_LENGTH, /* no room for extension headers, pad and ICRC */
	ROCE_DROP_ICRC,
	ROCE_DROP_PKEY, /* (the rest are the device's, not the parser's) */
	ROCE_DROP_QPN,
	ROCE_DROP_STATE,   /* the QP does not receive now */
	ROCE_DROP_ADDRESS, /* not from the QP's peer, or not to us */
	ROCE_DROP_PSN,	   /* response outside what was asked */
	ROCE_DROP_QKEY,
	ROCE_DROP_NO_RECV, /* UD: none posted, or too short */
	ROCE_DROP_MAX
};
const char *roce_drop_name(enum roce_drop drop); /* "bad_icrc" */

struct roce_pkt {
	const uint8_t *l3;
	const uint8_t *ext;	/* behind the BTH */
	const uint8_t *payload; /* behind the extension headers */
	uint32_t payload_len;	/* without pad and ICRC */
	uint32_t psn;
	uint32_t qpn;
	uint16_t pkey;
	uint8_t opcode;
	uint8_t flags; /* of the BTH */
	uint8_t ackreq;
	uint8_t encap;	/* enum roce_encap */
	uint8_t ecn_ce; /* ECN bits are CE */
};

/* Bytes of extension headers behind the BTH, or -1: undefined opcode. */
int roce_ext_len(uint8_t opcode);

/* frame: from the destination MAC on, without FCS. */
enum roce_drop roce_parse(const uint8_t *frame, uint32_t len,
			  struct roce_pkt *pkt);

#endif /* ROCE_PKT_H */
