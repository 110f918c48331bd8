/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * RoCEv2 on the wire (IBTA Architecture vol. 1, sections 9.2-9.4, Annex A17).
 * Every field is big-endian and every struct is made of bytes that may lie
 * at any address of a frame: the structs are packed.
 */
#ifndef WBELL_ROCE_H
#define WBELL_ROCE_H

#include <linux/types.h>

#define ROCE_UDP_PORT	    4791
#define ROCE_SPORT_BASE	    0xc000 /* source ports 0xc000..0xffff */
#define ROCE_ETHERTYPE_IPV4 0x0800
#define ROCE_ETHERTYPE_ARP  0x0806
#define ROCE_ETHERTYPE_VLAN 0x8100
#define ROCE_ETHERTYPE_QINQ 0x88a8
#define ROCE_ETHERTYPE_IPV6 0x86dd
#define ROCE_ETHERTYPE_V1   0x8915 /* RoCE v1: GRH, no UDP */
#define ROCE_IPPROTO_UDP    17
#define ROCE_NEXTHDR_IBA    0x1b
#define ROCE_ICRC_SIZE	    4
#define ROCE_PSN_MASK	    0xffffffU
#define ROCE_QPN_MASK	    0xffffffU
#define ROCE_QPN_MULTICAST  0xffffffU
#define ROCE_PKEY_DEFAULT   0xffff

struct roce_eth {
	__u8 dst[6];
	__u8 src[6];
	__be16 type;
} __attribute__((packed));

struct roce_ipv4 {
	__u8 ver_ihl;
	__u8 tos;
	__be16 total_len;
	__be16 id;
	__be16 frag;
	__u8 ttl;
	__u8 proto;
	__be16 csum;
	__u8 src[4];
	__u8 dst[4];
} __attribute__((packed));

struct roce_ipv6 { /* a GRH has the same shape */
	__be32 ver_tc_fl;
	__be16 payload_len;
	__u8 next_hdr;
	__u8 hop_limit;
	__u8 src[16];
	__u8 dst[16];
} __attribute__((packed));

struct roce_udp {
	__be16 sport;
	__be16 dport;
	__be16 len;
	__be16 csum;
} __attribute__((packed));

struct roce_bth {
	__u8 opcode;
	__u8 flags; /* ROCE_BTH_* | pad << 4 | TVer */
	__be16 pkey;
	__be32 qpn;  /* FECN, BECN, rsvd 6 | destination QP 24 */
	__be32 apsn; /* AckReq, rsvd 7 | PSN 24 */
} __attribute__((packed));

#define ROCE_BTH_SE	   0x80
#define ROCE_BTH_MIGREQ	   0x40
#define ROCE_BTH_PAD_SHIFT 4
#define ROCE_BTH_PAD_MASK  0x30
#define ROCE_BTH_TVER_MASK 0x0f
#define ROCE_BTH_ACKREQ	   0x80000000U

struct roce_reth {
	__be64 va;
	__be32 rkey;
	__be32 len;
} __attribute__((packed));

struct roce_atomic_eth {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;
	__be64 compare;
} __attribute__((packed));

struct roce_aeth {
	__be32 syndrome_msn; /* syndrome 8 | MSN 24 */
} __attribute__((packed));

struct roce_deth {
	__be32 qkey;
	__be32 src_qpn;
} __attribute__((packed));

/* RC opcodes (UC: + 0x20, UD: 0x64, 0x65). */
#define ROCE_RC_SEND_FIRST	 0x00
#define ROCE_RC_SEND_MIDDLE	 0x01
#define ROCE_RC_SEND_LAST	 0x02
#define ROCE_RC_SEND_LAST_IMM	 0x03
#define ROCE_RC_SEND_ONLY	 0x04
#define ROCE_RC_SEND_ONLY_IMM	 0x05
#define ROCE_RC_WRITE_FIRST	 0x06
#define ROCE_RC_WRITE_MIDDLE	 0x07
#define ROCE_RC_WRITE_LAST	 0x08
#define ROCE_RC_WRITE_LAST_IMM	 0x09
#define ROCE_RC_WRITE_ONLY	 0x0a
#define ROCE_RC_WRITE_ONLY_IMM	 0x0b
#define ROCE_RC_READ_REQ	 0x0c
#define ROCE_RC_READ_RESP_FIRST	 0x0d
#define ROCE_RC_READ_RESP_MIDDLE 0x0e
#define ROCE_RC_READ_RESP_LAST	 0x0f
#define ROCE_RC_READ_RESP_ONLY	 0x10
#define ROCE_RC_ACK		 0x11
#define ROCE_RC_ATOMIC_ACK	 0x12
#define ROCE_RC_CMP_SWAP	 0x13
#define ROCE_RC_FETCH_ADD	 0x14
#define ROCE_RC_SEND_LAST_INV	 0x16
#define ROCE_RC_SEND_ONLY_INV	 0x17
#define ROCE_UC_SEND_FIRST	 0x20
#define ROCE_UC_SEND_ONLY	 0x24
#define ROCE_UC_WRITE_ONLY_IMM	 0x2b
#define ROCE_UD_SEND_ONLY	 0x64
#define ROCE_UD_SEND_ONLY_IMM	 0x65
#define ROCE_CNP		 0x81

/* AETH syndromes. */
#define ROCE_AETH_ACK_UNLIMITED 0x1f
#define ROCE_AETH_TYPE_MASK	0x60
#define ROCE_AETH_TYPE_ACK	0x00
#define ROCE_AETH_TYPE_RNR	0x20
#define ROCE_AETH_TYPE_NAK	0x60
#define ROCE_AETH_VALUE_MASK	0x1f
#define ROCE_NAK_PSN_SEQ	0x60
#define ROCE_NAK_INVAL_REQ	0x61
#define ROCE_NAK_REM_ACCESS	0x62
#define ROCE_NAK_REM_OP		0x63
#define ROCE_NAK_INVAL_RD	0x64

/* Most over a path MTU: Ethernet, VLAN, IPv6, UDP, BTH, AtomicETH, ICRC */
#define ROCE_OVERHEAD (14 + 4 + 40 + 8 + 12 + 28 + 4)
#define ROCE_MTU_MIN  256
#define ROCE_MTU_MAX  4096

#endif /* WBELL_ROCE_H */
