// SPDX-License-Identifier: BSD-2-Clause
/*
 * The messages' layouts are tables, and one pair of functions reads and
 * writes them all: what is written is what is read.
 */
#include <errno.h>
#include <string.h>

#include "mad.h"

/* width bits of the message from bit `at` on, counted as IBTA's tables do:
 * from the first byte behind the MAD header, most significant bit first.
 */
struct field {
	uint16_t at;
	uint16_t width;
	uint16_t member; /* where in struct cm_msg */
	uint8_t size;	 /* of it; more than 8: plain bytes */
};

#define FIELD(byte, bit, bits, m)                                     \
	{                                                             \
		(byte) * 8 + (bit), bits, offsetof(struct cm_msg, m), \
			sizeof(((struct cm_msg *)0)->m)               \
	}
#define END                \
	{                  \
		.width = 0 \
	}

static const struct field req[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(8, 0, 64, req.service_id),
	FIELD(16, 0, 64, req.ca_guid),
	FIELD(28, 0, 32, req.qkey),
	FIELD(32, 0, 24, req.qpn),
	FIELD(35, 0, 8, req.responder_resources),
	FIELD(39, 0, 8, req.initiator_depth),
	FIELD(43, 0, 5, req.remote_response_timeout),
	FIELD(43, 5, 2, req.transport),
	FIELD(43, 7, 1, req.flow_control),
	FIELD(44, 0, 24, req.psn),
	FIELD(47, 0, 5, req.local_response_timeout),
	FIELD(47, 5, 3, req.retry_cnt),
	FIELD(48, 0, 16, req.pkey),
	FIELD(50, 0, 4, req.mtu),
	FIELD(50, 5, 3, req.rnr_retry),
	FIELD(51, 0, 4, req.max_retries),
	FIELD(51, 4, 1, req.srq),
	FIELD(51, 5, 3, req.extended_transport),
	FIELD(52, 0, 16, req.path.local_lid),
	FIELD(54, 0, 16, req.path.remote_lid),
	FIELD(56, 0, 128, req.path.local_gid),
	FIELD(72, 0, 128, req.path.remote_gid),
	FIELD(88, 0, 20, req.path.flow_label),
	FIELD(91, 2, 6, req.path.packet_rate),
	FIELD(92, 0, 8, req.path.traffic_class),
	FIELD(93, 0, 8, req.path.hop_limit),
	FIELD(94, 0, 4, req.path.sl),
	FIELD(94, 4, 1, req.path.subnet_local),
	FIELD(95, 0, 5, req.path.ack_timeout),
	FIELD(100, 0, 128, req.alt_gid),
	END,
};

static const struct field mra[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 2, mra.about),
	FIELD(9, 0, 5, mra.service_timeout),
	END,
};

static const struct field rej[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 2, rej.about),
	FIELD(9, 0, 7, rej.ari_len),
	FIELD(10, 0, 16, rej.reason),
	FIELD(12, 0, CM_ARI_MAX * 8, rej.ari),
	END,
};

static const struct field rep[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 32, rep.qkey),
	FIELD(12, 0, 24, rep.qpn),
	FIELD(20, 0, 24, rep.psn),
	FIELD(24, 0, 8, rep.responder_resources),
	FIELD(25, 0, 8, rep.initiator_depth),
	FIELD(26, 0, 5, rep.target_ack_delay),
	FIELD(26, 5, 2, rep.failover),
	FIELD(26, 7, 1, rep.flow_control),
	FIELD(27, 0, 3, rep.rnr_retry),
	FIELD(27, 3, 1, rep.srq),
	FIELD(28, 0, 64, rep.ca_guid),
	END,
};

/* RTU and DREP: nothing but who and to whom */
static const struct field ids[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	END,
};

static const struct field dreq[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 24, qpn),
	END,
};

static const struct field sidr_req[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(8, 0, 64, sidr_service_id),
	END,
};

static const struct field sidr_rep[] = {
	FIELD(0, 0, 32, local_id),	 FIELD(4, 0, 8, sidr_rep.status),
	FIELD(8, 0, 24, sidr_rep.qpn),	 FIELD(12, 0, 64, sidr_rep.service_id),
	FIELD(20, 0, 32, sidr_rep.qkey), END,
};

/* Of the path in it nothing is read: it is always refused. */
static const struct field lap[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(12, 0, 24, qpn),
	END,
};

static const struct field apr[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(9, 0, 8, ap_status),
	END,
};

/* Private data lies behind the last field and fills the MAD. */
static const struct layout {
	const struct field *field;
	uint8_t data_at;
	const char *name;
} layouts[CM_KIND_END - CM_REQ] = {
	[CM_REQ - CM_REQ] = { req, 140, "REQ" },
	[CM_MRA - CM_REQ] = { mra, 10, "MRA" },
	[CM_REJ - CM_REQ] = { rej, 84, "REJ" },
	[CM_REP - CM_REQ] = { rep, 36, "REP" },
	[CM_RTU - CM_REQ] = { ids, 8, "RTU" },
	[CM_DREQ - CM_REQ] = { dreq, 12, "DREQ" },
	[CM_DREP - CM_REQ] = { ids, 8, "DREP" },
	[CM_SIDR_REQ - CM_REQ] = { sidr_req, 16, "SIDR_REQ" },
	[CM_SIDR_REP - CM_REQ] = { sidr_rep, 96, "SIDR_REP" },
	[CM_LAP - CM_REQ] = { lap, 64, "LAP" },
	[CM_APR - CM_REQ] = { apr, 84, "APR" },
};

static const struct layout *layout_of(unsigned kind)
{
	return kind >= CM_REQ && kind < CM_KIND_END ? &layouts[kind - CM_REQ]
						    : NULL;
}

uint8_t cm_data_max(uint8_t kind)
{
	const struct layout *l = layout_of(kind);

	return l ? MAD_SIZE - MAD_HDR - l->data_at : 0;
}

const char *cm_kind_name(uint8_t kind)
{
	const struct layout *l = layout_of(kind);

	return l ? l->name : "unknown";
}

/* ---- bits and bytes, most significant first ---- */

static uint64_t get_bits(const uint8_t *p, unsigned at, unsigned width)
{
	uint64_t v = 0;

	for (; width; at++, width--)
		v = v << 1 | (p[at / 8] >> (7 - at % 8) & 1);
	return v;
}

static void put_bits(uint8_t *p, unsigned at, unsigned width, uint64_t v)
{
	while (width--) {
		p[at / 8] |= (v >> width & 1) << (7 - at % 8);
		at++;
	}
}

static void store(void *to, unsigned size, uint64_t v)
{
	uint32_t v4 = v;
	uint16_t v2 = v;
	uint8_t v1 = v;

	memcpy(to,
	       size == 8   ? (void *)&v
	       : size == 4 ? (void *)&v4
	       : size == 2 ? (void *)&v2
			   : (void *)&v1,
	       size);
}

static uint64_t load(const void *from, unsigned size)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (size) {
	case 8:
		memcpy(&v8, from, 8);
		return v8;
	case 4:
		memcpy(&v4, from, 4);
		return v4;
	case 2:
		memcpy(&v2, from, 2);
		return v2;
	default:
		return *(const uint8_t *)from;
	}
}

/* ---- the header ---- */

int mad_hdr_get(const uint8_t *mad, uint32_t len, struct mad_hdr *h)
{
	if (len != MAD_SIZE)
		return -EMSGSIZE;
	h->base_version = mad[0];
	h->mgmt_class = mad[1];
	h->class_version = mad[2];
	h->method = mad[3];
	h->status = get_bits(mad, 4 * 8, 16);
	h->tid = get_bits(mad, 8 * 8, 64);
	h->attr = get_bits(mad, 16 * 8, 16);
	h->modifier = get_bits(mad, 20 * 8, 32);
	return 0;
}

void mad_hdr_put(uint8_t mad[MAD_SIZE], const struct mad_hdr *h)
{
	memset(mad, 0, MAD_HDR);
	mad[0] = h->base_version;
	mad[1] = h->mgmt_class;
	mad[2] = h->class_version;
	mad[3] = h->method;
	put_bits(mad, 4 * 8, 16, h->status);
	put_bits(mad, 8 * 8, 64, h->tid);
	put_bits(mad, 16 * 8, 16, h->attr);
	put_bits(mad, 20 * 8, 32, h->modifier);
}

/* ---- a message ---- */

int cm_msg_get(const uint8_t mad[MAD_SIZE], struct cm_msg *m)
{
	const uint8_t *body = mad + MAD_HDR;
	const struct layout *l;
	struct mad_hdr h;

	mad_hdr_get(mad, MAD_SIZE, &h);
	l = layout_of(h.attr);
	if (!l)
		return -ENOTSUP;
	memset(m, 0, sizeof(*m));
	m->kind = h.attr;
	m->tid = h.tid;
	for (const struct field *f = l->field; f->width; f++) {
		uint8_t *to = (uint8_t *)m + f->member;

		if (f->size > 8)
			memcpy(to, body + f->at / 8, f->size);
		else
			store(to, f->size, get_bits(body, f->at, f->width));
	}
	m->data_len = cm_data_max(m->kind);
	memcpy(m->data, body + l->data_at, m->data_len);
	return 0;
}

void cm_msg_put(uint8_t mad[MAD_SIZE], const struct cm_msg *m)
{
	const struct mad_hdr h = {
		.base_version = MAD_BASE_VERSION,
		.mgmt_class = MAD_CLASS_CM,
		.class_version = MAD_CM_VERSION,
		.method = MAD_SEND,
		.tid = m->tid,
		.attr = m->kind,
	};
	const struct layout *l = layout_of(m->kind);
	uint8_t *body = mad + MAD_HDR;
	unsigned max = cm_data_max(m->kind);

	memset(mad, 0, MAD_SIZE);
	mad_hdr_put(mad, &h);
	for (const struct field *f = l->field; f->width; f++) {
		const uint8_t *from = (const uint8_t *)m + f->member;

		if (f->size > 8)
			memcpy(body + f->at / 8, from, f->size);
		else
			put_bits(body, f->at, f->width, load(from, f->size));
	}
	memcpy(body + l->data_at, m->data,
	       m->data_len < max ? m->data_len : max);
}

/* ---- IP addresses ---- */

/* IPv4 lies in the last 4 of 16 bytes, behind anything. */
static void get_address(uint8_t gid[16], const uint8_t *p, unsigned version)
{
	if (version == 4)
		gid_set_ipv4(gid, p + 12);
	else
		memcpy(gid, p, 16);
}

int cm_ip_get(const uint8_t data[CM_IP_HDR], struct cm_ip *ip)
{
	unsigned version = data[1] >> 4;

	if (data[0] || (version != 4 && version != 6))
		return -EPROTO;
	ip->sport = get_bits(data, 2 * 8, 16);
	get_address(ip->src, data + 4, version);
	get_address(ip->dst, data + 20, version);
	return 0;
}

void cm_ip_put(uint8_t data[CM_IP_HDR], const struct cm_ip *ip)
{
	bool v4 = gid_is_ipv4(ip->dst);
	unsigned skip = v4 ? 12 : 0;

	memset(data, 0, CM_IP_HDR);
	data[1] = (v4 ? 4 : 6) << 4;
	put_bits(data, 2 * 8, 16, ip->sport);
	memcpy(data + 4 + skip, ip->src + skip, 16 - skip);
	memcpy(data + 20 + skip, ip->dst + skip, 16 - skip);
}
