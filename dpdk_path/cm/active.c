// SPDX-License-Identifier: BSD-2-Clause
/* The end that asks: REQ goes out, REP comes back, RTU says go. */
#include "priv.h"

#define PKEY	     0xffff
#define RATE_10_GBPS 3 /* IBTA 12.6.11: nobody looks at it on Ethernet */

static bool param_ok(const struct cm_param *p)
{
	return p->qpn >= QPN_FIRST && p->qpn <= QPN_LAST &&
	       p->psn <= PSN_MASK && p->retry_cnt <= 7 && p->rnr_retry <= 7 &&
	       p->ack_timeout <= 31 && p->flow_label <= 0xfffff &&
	       p->data_len <= CM_REQ_USER_MAX && (p->data || !p->data_len);
}

static bool mtu_ok(const struct cm *cm, uint32_t mtu)
{
	return mtu >= 256 && mtu <= cm->attr.path_mtu && !(mtu & (mtu - 1));
}

static void put_ip(struct cm *cm, struct cm_msg *m, const struct cm_param *p)
{
	struct cm_ip ip = { .sport = 0xc000 | (next_random(cm) & 0x3fff) };

	memcpy(ip.src, m->req.path.local_gid, 16);
	memcpy(ip.dst, m->req.path.remote_gid, 16);
	cm_ip_put(m->data, &ip);
	if (p->data_len)
		memcpy(m->data + CM_IP_HDR, p->data, p->data_len);
	m->data_len = CM_REQ_DATA;
}

static void put_req(struct cm *cm, struct conn *c, const struct cm_param *p)
{
	struct cm_msg m = {
		.kind = CM_REQ,
		.tid = c->tid,
		.local_id = c->id,
		.req = {
			.service_id = CM_SERVICE_TCP | c->port,
			.ca_guid = cm->attr.ca_guid,
			.qpn = p->qpn,
			.psn = p->psn,
			.responder_resources = p->rd_in,
			.initiator_depth = p->rd_out,
			.remote_response_timeout = cm->attr.response_timeout,
			.local_response_timeout = cm->attr.response_timeout,
			.retry_cnt = p->retry_cnt,
			.rnr_retry = p->rnr_retry,
			.max_retries = cm->attr.max_retries,
			.srq = p->srq,
			.pkey = PKEY,
			.mtu = __builtin_ctz(p->path_mtu) - 7,
			.path = {
				.local_lid = 0xffff,
				.remote_lid = 0xffff,
				.flow_label = p->flow_label,
				.packet_rate = RATE_10_GBPS,
				.traffic_class = p->traffic_class,
				.hop_limit = p->hop_limit ? p->hop_limit : 64,
				.ack_timeout = p->ack_timeout,
			},
		},
	};

	memcpy(m.req.path.local_gid, our_gid(cm, c->peer.gid), 16);
	memcpy(m.req.path.remote_gid, c->peer.gid, 16);
	put_ip(cm, &m, p);
	cm_msg_put(c->mad, &m);
}

int cm_connect(struct cm *cm, const uint8_t dst[16], uint16_t port,
	       const struct cm_param *p, void *user, uint32_t *id)
{
	static const uint8_t zero[16];
	struct conn *c;

	if (!param_ok(p) || !mtu_ok(cm, p->path_mtu) || !port ||
	    !memcmp(our_gid(cm, dst), zero, 16) || !memcmp(dst, zero, 16))
		return -EINVAL;
	c = conn_new(cm);
	if (!c)
		return -ENOSPC;
	conn_set(cm, c, REQ_SENT);
	c->active = true;
	c->seen = true;
	c->user = user;
	c->port = port;
	c->tid = cm->tid++;
	c->qpn = p->qpn;
	c->rd_in = p->rd_in;
	c->rd_out = p->rd_out;
	c->wait = timeout_ns(cm->attr.response_timeout);
	memcpy(c->peer.gid, dst, 16);
	c->peer.path_mtu = p->path_mtu;
	c->peer.flow_label = p->flow_label;
	c->peer.traffic_class = p->traffic_class;
	c->peer.hop_limit = p->hop_limit ? p->hop_limit : 64;
	c->peer.retry_cnt = p->retry_cnt;
	c->peer.ack_timeout = p->ack_timeout;
	put_req(cm, c, p);
	conn_send(cm, c);
	*id = c->id;
	return 0;
}

/* ---- the answer ---- */

static void take_rep(struct cm *cm, struct conn *c, const struct cm_msg *m)
{
	const struct cm_rep *rep = &m->rep;

	c->remote_id = m->local_id;
	c->remote_guid = rep->ca_guid;
	c->peer.qpn = rep->qpn;
	c->peer.psn = rep->psn;
	c->peer.rd_out = least(c->rd_out, rep->responder_resources);
	c->peer.rd_in = least(c->rd_in, rep->initiator_depth);
	c->peer.rnr_retry = rep->rnr_retry;
	/* IBTA 12.7.26: what the peer needs before it acknowledges is on top */
	if (c->peer.ack_timeout && c->peer.ack_timeout <= rep->target_ack_delay)
		c->peer.ack_timeout = least(rep->target_ack_delay + 1, 31);
	conn_known(cm, c);
}

/* Of another connection of ours, which the peer has forgotten then. */
static bool stale(struct cm *cm, const uint8_t from[16], const struct cm_msg *m)
{
	struct conn *old = conn_by_qpn(cm, from, m->rep.qpn);

	if (old && old->state == ESTABLISHED)
		dreq_send(cm, old);
	return old || conn_by_remote(cm, from, m->rep.ca_guid, m->local_id);
}

static void rep_first(struct cm *cm, struct conn *c, uint64_t now,
		      const uint8_t from[16], const struct cm_msg *m)
{
	c->reason = 0;
	if (m->rep.qpn < QPN_FIRST || m->rep.qpn > QPN_LAST)
		c->reason = CM_REASON_UNSUPPORTED;
	else if (stale(cm, from, m))
		c->reason = CM_REASON_STALE;
	if (c->reason) {
		reject_message(cm, from, m, c->reason, NULL, 0);
		conn_tell(cm, c, CM_EV_REJECTED, NULL);
		timewait_now(cm, c, now, false);
		return;
	}
	take_rep(cm, c, m);
	conn_set(cm, c, REP_RCVD);
	conn_deadline(cm, c, now + c->wait * (cm->attr.max_retries + 1));
	conn_tell(cm, c, CM_EV_REP, m);
}

static void rep_again(struct cm *cm, struct conn *c)
{
	count(cm, CM_C_DUPLICATE);
	if (c->state == REP_RCVD)
		put_off(cm, c, CM_ABOUT_REP);
	else if (c->state == ESTABLISHED)
		reply_raw(cm, c->peer.gid, c->mad); /* our RTU was lost */
}

void rep_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	    const struct cm_msg *m)
{
	struct conn *c = conn_find(cm, m->remote_id);

	if (!c || memcmp(c->peer.gid, from, 16)) {
		count(cm, CM_C_STRANGER);
		reject_message(cm, from, m, CM_REASON_COMM_ID, NULL, 0);
	} else if (c->state == REQ_SENT) {
		rep_first(cm, c, now, from, m);
	} else if (c->active && c->remote_id == m->local_id) {
		rep_again(cm, c);
	} else {
		count(cm, CM_C_STATE);
	}
}

int cm_ready(struct cm *cm, uint32_t id)
{
	struct conn *c = conn_find(cm, id);
	struct cm_msg rtu = { .kind = CM_RTU };

	if (!c)
		return -ENOENT;
	if (c->state != REP_RCVD)
		return stands(c);
	rtu.tid = c->tid;
	rtu.local_id = c->id;
	rtu.remote_id = c->remote_id;
	conn_set(cm, c, ESTABLISHED);
	cm_msg_put(c->mad, &rtu);
	conn_send(cm, c);
	return 0;
}
