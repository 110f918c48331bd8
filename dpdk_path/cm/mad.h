/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Management datagrams of the communication manager, 256 bytes each (IBTA
 * vol. 1: 13.4.2 the header, 12.6 the messages, annex A11 the IP addresses
 * that RDMA-CM puts in front of a REQ's private data).
 *
 * Pure: bytes in, fields out and back.  Every field is as wide as the wire's,
 * so a received MAD can hold any value of it; who reads decides what is good.
 */
#ifndef CM_MAD_H
#define CM_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../nic/gid.h"

#define MAD_SIZE	 256
#define MAD_HDR		 24
#define MAD_BASE_VERSION 1
#define MAD_CLASS_CM	 0x07
#define MAD_CM_VERSION	 2

enum mad_method {
	MAD_GET = 0x01,
	MAD_SET = 0x02,
	MAD_SEND = 0x03,
	MAD_GET_RESP = 0x81,
};

/* IBTA 13.4.7: the method is known, but not for this attribute */
#define MAD_STATUS_UNSUPPORTED 0x000c

/* Attribute IDs of the class: IBTA 12.6. */
enum cm_kind {
	CM_REQ = 0x10,
	CM_MRA,
	CM_REJ,
	CM_REP,
	CM_RTU,
	CM_DREQ,
	CM_DREP,
	CM_SIDR_REQ,
	CM_SIDR_REP,
	CM_LAP,
	CM_APR,
	CM_KIND_END
};

struct mad_hdr {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;
	uint64_t tid;
	uint16_t attr;
	uint32_t modifier;
};

/* The primary path of a REQ; LIDs are 0xffff where there are none (RoCE). */
struct cm_path {
	uint8_t local_gid[16], remote_gid[16];
	uint16_t local_lid, remote_lid;
	uint32_t flow_label;
	uint8_t packet_rate, traffic_class, hop_limit;
	uint8_t sl, subnet_local;
	uint8_t ack_timeout; /* 4.096 us << it */
};

struct cm_req {
	uint64_t service_id;
	uint64_t ca_guid;
	uint32_t qkey, qpn, psn;
	uint8_t responder_resources, initiator_depth;
	uint8_t remote_response_timeout; /* 4.096 us << it, as all time-outs */
	uint8_t local_response_timeout;
	uint8_t transport, extended_transport; /* 0, 0: RC */
	uint8_t flow_control, retry_cnt, rnr_retry, max_retries, srq;
	uint16_t pkey;
	uint8_t mtu; /* 1: 256 bytes ... 5: 4096 */
	struct cm_path path;
	uint8_t alt_gid[16]; /* all 0: no alternate path */
};

struct cm_rep {
	uint64_t ca_guid;
	uint32_t qkey, qpn, psn;
	uint8_t responder_resources, initiator_depth;
	uint8_t target_ack_delay, failover, flow_control, rnr_retry, srq;
};

/* What a REJ or an MRA is about. */
enum cm_about { CM_ABOUT_REQ, CM_ABOUT_REP, CM_ABOUT_OTHER };

#define CM_ARI_MAX 72

struct cm_rej {
	uint8_t about;
	uint8_t ari_len; /* as received: up to 127, of which 72 can be there */
	uint16_t reason;
	uint8_t ari[CM_ARI_MAX];
};

struct cm_mra {
	uint8_t about;
	uint8_t service_timeout;
};

struct cm_sidr_rep {
	uint8_t status;
	uint32_t qpn, qkey;
	uint64_t service_id;
};

#define CM_DATA_MAX 224 /* private data: the most of any message */

struct cm_msg {
	uint8_t kind; /* enum cm_kind */
	uint64_t tid;
	uint32_t local_id;  /* of who sends it; SIDR: the request's number */
	uint32_t remote_id; /* of who receives it */
	union {
		struct cm_req req;
		struct cm_rep rep;
		struct cm_rej rej;
		struct cm_mra mra;
		struct cm_sidr_rep sidr_rep;
		uint64_t sidr_service_id;
		uint32_t qpn;	   /* DREQ, LAP: the receiver's */
		uint8_t ap_status; /* APR */
	};
	uint8_t data[CM_DATA_MAX];
	uint8_t data_len; /* put: up to cm_data_max(); get: that */
};

/* -EMSGSIZE: not the size of a MAD. */
int mad_hdr_get(const uint8_t *mad, uint32_t len, struct mad_hdr *h);
void mad_hdr_put(uint8_t mad[MAD_SIZE], const struct mad_hdr *h);

/*
 * A message of the class whose header is good in all but perhaps its version.
 * -ENOTSUP: no kind that is known.  m is whole otherwise.
 */
int cm_msg_get(const uint8_t mad[MAD_SIZE], struct cm_msg *m);
/* All of mad is written; what has no field is 0. */
void cm_msg_put(uint8_t mad[MAD_SIZE], const struct cm_msg *m);

/* Bytes of private data that a kind carries; 0: no such kind. */
uint8_t cm_data_max(uint8_t kind);
const char *cm_kind_name(uint8_t kind);

/* ---- RDMA-CM's use of a REQ (annex A11) ---- */

#define CM_SERVICE_TCP	0x0000000001060000ULL /* | port */
#define CM_SERVICE_MASK (~0xffffULL)
#define CM_IP_HDR	36
#define CM_REQ_DATA	92
#define CM_REQ_USER_MAX (CM_REQ_DATA - CM_IP_HDR)

/* Addresses are GIDs: IPv6, or IPv4 mapped into it (::ffff:a.b.c.d). */
struct cm_ip {
	uint16_t sport;
	uint8_t src[16], dst[16];
};

/* -EPROTO: of another version, or neither IPv4 nor IPv6. */
int cm_ip_get(const uint8_t data[CM_IP_HDR], struct cm_ip *ip);
/* Both addresses are of one family: dst's. */
void cm_ip_put(uint8_t data[CM_IP_HDR], const struct cm_ip *ip);

#endif /* CM_MAD_H */
