// SPDX-License-Identifier: BSD-2-Clause
/* The end that is asked: REQ comes in, REP goes back, RTU says go. */
#include "priv.h"

#define FAILOVER_NONE 1 /* REP: alternate paths are not supported */

/* ---- is the request one that can be? ---- */

struct refusal {
	uint16_t reason; /* 0: none */
	uint8_t ari[16], ari_len;
};

static uint8_t mtu_number(uint32_t bytes)
{
	return __builtin_ctz(bytes) - 7;
}

/* Where packets of the connection go is where the MAD came from: a request
 * cannot turn our traffic on a third.
 */
static bool check_path(const struct cm_req *req, const uint8_t from[16],
		       const uint8_t to[16], struct refusal *r)
{
	if (!memcmp(req->path.local_gid, from, 16) &&
	    !memcmp(req->path.remote_gid, to, 16))
		return true;
	r->reason = CM_REASON_GID;
	r->ari_len = 16;
	memcpy(r->ari, to, 16);
	return false;
}

static bool check_fields(const struct cm *cm, const struct cm_req *req,
			 struct refusal *r)
{
	uint8_t most = mtu_number(cm->attr.path_mtu);

	if (req->transport || req->extended_transport) {
		r->reason = CM_REASON_TRANSPORT;
		return false;
	}
	if (req->qpn < QPN_FIRST || req->qpn > QPN_LAST ||
	    (req->pkey & 0x7fff) != 0x7fff) {
		r->reason = CM_REASON_UNSUPPORTED;
		return false;
	}
	if (!req->mtu || req->mtu > most) {
		r->reason = CM_REASON_MTU;
		r->ari_len = 1;
		r->ari[0] = most << 4; /* as the field lies in the REQ */
		return false;
	}
	return true;
}

static bool check_ip(const struct cm_msg *m, const uint8_t from[16],
		     const uint8_t to[16], struct refusal *r)
{
	struct cm_ip ip;

	if (!cm_ip_get(m->data, &ip) && !memcmp(ip.src, from, 16) &&
	    !memcmp(ip.dst, to, 16))
		return true;
	r->reason = CM_REASON_CONSUMER;
	return false;
}

static struct listener *listener_for(struct cm *cm, uint64_t service_id)
{
	uint16_t port = service_id & 0xffff;

	if ((service_id & CM_SERVICE_MASK) != CM_SERVICE_TCP || !port)
		return NULL;
	for (unsigned i = 0; i < CM_LISTEN_MAX; i++)
		if (cm->listener[i].port == port)
			return &cm->listener[i];
	return NULL;
}

/* ---- a request that is known ---- */

static void req_again(struct cm *cm, struct conn *c, const struct cm_msg *m)
{
	bool same = m->req.qpn == c->peer.qpn && m->req.psn == c->peer.psn;

	count(cm, CM_C_DUPLICATE);
	if (c->state == TIMEWAIT)
		reject_message(cm, c->peer.gid, m, CM_REASON_STALE, NULL, 0);
	else if (!same)
		reject_message(cm, c->peer.gid, m, CM_REASON_DUPLICATE_ID, NULL,
			       0);
	else if (c->state == REQ_RCVD)
		put_off(cm, c, CM_ABOUT_REQ);
	else if (c->state == REP_SENT)
		reply_raw(cm, c->peer.gid, c->mad);
}

/*
 * IBTA 12.9.8.3.1: one queue pair is in one connection.  Who asks anew has
 * forgotten the old one, which ends.
 */
static bool stale(struct cm *cm, const uint8_t from[16], const struct cm_msg *m)
{
	struct conn *old = conn_by_qpn(cm, from, m->req.qpn);

	if (!old)
		return false;
	reject_message(cm, from, m, CM_REASON_STALE, NULL, 0);
	if (old->state == ESTABLISHED)
		dreq_send(cm, old);
	return true;
}

/* ---- a new one ---- */

static bool has_alternate(const struct cm_req *req)
{
	static const uint8_t none[16];

	return memcmp(req->alt_gid, none, 16);
}

static void take_req(struct cm *cm, struct conn *c, const uint8_t from[16],
		     const struct cm_msg *m)
{
	const struct cm_req *req = &m->req;

	c->remote_id = m->local_id;
	c->remote_guid = req->ca_guid;
	c->tid = m->tid;
	c->port = req->service_id & 0xffff;
	c->wait = timeout_ns(
		clamp(req->local_response_timeout, RESPONSE_MIN, RESPONSE_MAX));
	c->retries = least(c->retries, req->max_retries);
	c->alternate = has_alternate(req);
	c->peer = (struct cm_peer){
		.qpn = req->qpn,
		.psn = req->psn,
		.path_mtu = 128U << req->mtu,
		.flow_label = req->path.flow_label,
		.rd_out = req->responder_resources,
		.rd_in = req->initiator_depth,
		.retry_cnt = req->retry_cnt,
		.rnr_retry = req->rnr_retry,
		.ack_timeout = req->path.ack_timeout,
		.traffic_class = req->path.traffic_class,
		.hop_limit = req->path.hop_limit ? req->path.hop_limit : 64,
	};
	memcpy(c->peer.gid, from, 16);
	conn_known(cm, c);
}

/* The caller sees what is behind the addresses, which are RDMA-CM's own. */
static void tell_req(struct cm *cm, struct conn *c, const struct cm_msg *m)
{
	struct cm_msg user = { .data_len = CM_REQ_USER_MAX };

	memcpy(user.data, m->data + CM_IP_HDR, CM_REQ_USER_MAX);
	conn_tell(cm, c, CM_EV_REQ, &user);
}

static void req_new(struct cm *cm, uint64_t now, const uint8_t from[16],
		    const struct cm_msg *m)
{
	struct listener *l = listener_for(cm, m->req.service_id);
	struct conn *c = NULL;

	if (!l) {
		reject_message(cm, from, m, CM_REASON_SERVICE_ID, NULL, 0);
		return;
	}
	if (l->waiting < l->backlog)
		c = conn_new(cm);
	if (!c) {
		reject_message(cm, from, m, CM_REASON_NO_RESOURCES, NULL, 0);
		return;
	}
	conn_set(cm, c, REQ_RCVD);
	take_req(cm, c, from, m);
	c->backlog = l - cm->listener + 1;
	c->user = l->user;
	l->waiting++;
	conn_deadline(cm, c,
		      now + timeout_ns(cm->attr.response_timeout) *
				      (cm->attr.max_retries + 1));
	tell_req(cm, c, m);
}

void req_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	    const uint8_t to[16], const struct cm_msg *m)
{
	struct conn *c;
	struct refusal r = { 0 };

	if (!check_path(&m->req, from, to, &r) ||
	    !check_fields(cm, &m->req, &r)) {
		reject_message(cm, from, m, r.reason, r.ari, r.ari_len);
		return;
	}
	c = conn_by_remote(cm, from, m->req.ca_guid, m->local_id);
	if (c) {
		req_again(cm, c, m);
		return;
	}
	if (stale(cm, from, m))
		return;
	if (listener_for(cm, m->req.service_id) && !check_ip(m, from, to, &r)) {
		reject_message(cm, from, m, r.reason, NULL, 0);
		return;
	}
	req_new(cm, now, from, m);
}

/* ---- the caller's answer ---- */

static void put_rep(struct cm *cm, struct conn *c, const struct cm_param *p)
{
	struct cm_msg m = {
		.kind = CM_REP,
		.tid = c->tid,
		.local_id = c->id,
		.remote_id = c->remote_id,
		.rep = {
			.ca_guid = cm->attr.ca_guid,
			.qpn = p->qpn,
			.psn = p->psn,
			.responder_resources = p->rd_in,
			.initiator_depth = c->peer.rd_out,			.failover = c->alternate ? FAILOVER_NONE : 0,
			.rnr_retry = p->rnr_retry,
			.srq = p->srq,
		},
		.data_len = p->data_len,
	};

	if (p->data_len)
		memcpy(m.data, p->data, p->data_len);
	cm_msg_put(c->mad, &m);
}

int cm_accept(struct cm *cm, uint32_t id, const struct cm_param *p)
{
	struct conn *c = conn_find(cm, id);

	if (!c)
		return -ENOENT;
	if (p->qpn < QPN_FIRST || p->qpn > QPN_LAST || p->psn > PSN_MASK ||
	    p->rnr_retry > 7 || p->data_len > cm_data_max(CM_REP) ||
	    (p->data_len && !p->data))
		return -EINVAL;
	if (c->state != REQ_RCVD)
		return stands(c);
	c->qpn = p->qpn;
	c->peer.rd_out = least(c->peer.rd_out, p->rd_out);
	c->peer.rd_in = least(c->peer.rd_in, p->rd_in);
	conn_set(cm, c, REP_SENT);
	put_rep(cm, c, p);
	conn_send(cm, c);
	return 0;
}

int cm_established(struct cm *cm, uint32_t id)
{
	struct conn *c = conn_find(cm, id);

	if (!c)
		return -ENOENT;
	if (c->state == REP_SENT) {
		conn_set(cm, c, ESTABLISHED);
		conn_tell(cm, c, CM_EV_ESTABLISHED, NULL);
	}
	return c->state == ESTABLISHED ? 0 : stands(c);
}

void rtu_rx(struct cm *cm, const uint8_t from[16], const struct cm_msg *m)
{
	struct conn *c = conn_of(cm, from, m);

	if (!c)
		return;
	if (c->state == REP_SENT) {
		conn_set(cm, c, ESTABLISHED);
		conn_tell(cm, c, CM_EV_ESTABLISHED, m);
	} else if (c->state == ESTABLISHED && !c->active) {
		count(cm, CM_C_DUPLICATE);
	} else {
		count(cm, CM_C_STATE);
	}
}
