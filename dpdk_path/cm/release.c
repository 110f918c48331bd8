// SPDX-License-Identifier: BSD-2-Clause
/* Ends: refusal, release, patience that ran out, time wait. */
#include "priv.h"

/* What a caller that comes at the wrong time hears. */
int stands(const struct conn *c)
{
	switch (c->state) {
	case ESTABLISHED:
		return -EISCONN;
	case DREQ_SENT:
	case TIMEWAIT:
		return -EALREADY;
	default:
		return -ENOTCONN;
	}
}

/*
 * IBTA 12.9.8.4: long enough that no packet of this connection is under way
 * any more.  The acknowledge time-out is twice the life of a packet and more.
 */
static void enter(struct cm *cm, struct conn *c, bool whole)
{
	uint8_t exponent = clamp(c->peer.ack_timeout, 1, TIMEWAIT_MAX);

	if (!c->seen)
		c->pending = 0; /* nobody has heard of it, nobody will */
	conn_set(cm, c, TIMEWAIT);
	c->wait = whole ? timeout_ns(exponent) : 0;
}

void timewait_now(struct cm *cm, struct conn *c, uint64_t now, bool whole)
{
	enter(cm, c, whole);
	conn_deadline(cm, c, now + c->wait);
}

void timewait_sent(struct cm *cm, struct conn *c, bool whole)
{
	enter(cm, c, whole);
	conn_send(cm, c);
}

/* ---- refusal ---- */

static uint8_t about(uint8_t kind)
{
	return kind == CM_REQ	? CM_ABOUT_REQ
	       : kind == CM_REP ? CM_ABOUT_REP
				: CM_ABOUT_OTHER;
}

void reject_message(struct cm *cm, const uint8_t to[16], const struct cm_msg *m,
		    uint16_t reason, const void *ari, uint8_t ari_len)
{
	struct cm_msg rej = {
		.kind = CM_REJ,
		.tid = m->tid,
		.local_id = m->remote_id,
		.remote_id = m->local_id,
		.rej = { .about = about(m->kind),
			 .reason = reason,
			 .ari_len = ari_len },
	};

	if (ari_len)
		memcpy(rej.rej.ari, ari, ari_len);
	count(cm, CM_C_REJ_TX);
	reply(cm, to, &rej);
}

/*
 * Of one that refuses because no answer came the peer may know nothing but
 * who we are: the GUID says it (12.6.7.2, reason 4).
 */
static void put_rej(struct cm *cm, struct conn *c, struct cm_msg *rej)
{
	uint64_t guid = cm->attr.ca_guid;

	rej->kind = CM_REJ;
	rej->tid = c->tid;
	rej->local_id = c->id;
	rej->remote_id = c->remote_id;
	rej->rej.about = c->state == REQ_RCVD	? CM_ABOUT_REQ
			 : c->state == REP_RCVD ? CM_ABOUT_REP
						: CM_ABOUT_OTHER;
	if (rej->rej.reason == CM_REASON_TIMEOUT) {
		rej->rej.ari_len = 8;
		for (int i = 7; i >= 0; i--, guid >>= 8)
			rej->rej.ari[i] = guid;
	}
	count(cm, CM_C_REJ_TX);
	cm_msg_put(c->mad, rej);
}

void reject_conn(struct cm *cm, struct conn *c, uint16_t reason)
{
	struct cm_msg rej = { .rej = { .reason = reason } };
	bool was_known = c->state == REP_SENT || c->state == REP_RCVD;

	put_rej(cm, c, &rej);
	timewait_sent(cm, c, was_known);
}

int cm_reject(struct cm *cm, uint32_t id, uint16_t reason, const void *data,
	      uint8_t data_len)
{
	struct conn *c = conn_find(cm, id);
	struct cm_msg rej = { .rej = { .reason = reason } };

	if (!c)
		return -ENOENT;
	if (data_len > cm_data_max(CM_REJ) || (data_len && !data))
		return -EINVAL;
	if (c->state >= ESTABLISHED)
		return stands(c);
	if (c->state == REQ_SENT) /* it knows us by our GUID only */
		rej.rej.reason = CM_REASON_TIMEOUT;
	if (data_len)
		memcpy(rej.data, data, data_len);
	rej.data_len = data_len;
	put_rej(cm, c, &rej);
	timewait_sent(cm, c, c->state == REP_SENT || c->state == REP_RCVD);
	return 0;
}

/*
 * By our ID, or, where the peer never heard it, by its own and its GUID.
 * Whoever refuses a request has no ID of his own yet.
 */
static struct conn *rejected(struct cm *cm, const uint8_t from[16],
			     const struct cm_msg *m)
{
	struct conn *c = conn_find(cm, m->remote_id);
	uint64_t guid = 0;

	if (c && !memcmp(c->peer.gid, from, 16) &&
	    (c->state == REQ_SENT ? m->rej.about == CM_ABOUT_REQ
				  : m->local_id == c->remote_id))
		return c;
	if (m->rej.reason != CM_REASON_TIMEOUT || m->rej.ari_len < 8)
		return NULL;
	for (int i = 0; i < 8; i++)
		guid = guid << 8 | m->rej.ari[i];
	return conn_by_remote(cm, from, guid, m->local_id);
}

void rej_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	    const struct cm_msg *m)
{
	struct conn *c = rejected(cm, from, m);

	count(cm, CM_C_REJ_RX);
	if (!c) {
		count(cm, CM_C_STRANGER);
		return;
	}
	switch (c->state) {
	case REQ_SENT:
	case REQ_RCVD:
	case REP_RCVD:
	case REP_SENT:
		c->reason = m->rej.reason;
		conn_tell(cm, c, CM_EV_REJECTED, m);
		timewait_now(cm, c, now,
			     c->state == REP_RCVD ||
				     c->reason == CM_REASON_STALE);
		break;
	case ESTABLISHED:
	case DREQ_SENT:
		c->reason = CM_END_STALE;
		conn_tell(cm, c, CM_EV_DISCONNECTED, m);
		timewait_now(cm, c, now, true);
		break;
	default:
		count(cm, CM_C_STATE);
	}
}

/* ---- release ---- */

void dreq_send(struct cm *cm, struct conn *c)
{
	struct cm_msg dreq = {
		.kind = CM_DREQ,
		.tid = cm->tid++,
		.local_id = c->id,
		.remote_id = c->remote_id,
		.qpn = c->peer.qpn,
	};

	conn_set(cm, c, DREQ_SENT);
	c->tid = dreq.tid;
	c->wait = timeout_ns(cm->attr.response_timeout);
	cm_msg_put(c->mad, &dreq);
	conn_send(cm, c);
}

int cm_disconnect(struct cm *cm, uint32_t id)
{
	struct conn *c = conn_find(cm, id);

	if (!c)
		return -ENOENT;
	if (c->state != ESTABLISHED)
		return stands(c);
	dreq_send(cm, c);
	return 0;
}

static void put_drep(uint8_t mad[MAD_SIZE], const struct cm_msg *dreq)
{
	struct cm_msg drep = {
		.kind = CM_DREP,
		.tid = dreq->tid,
		.local_id = dreq->remote_id,
		.remote_id = dreq->local_id,
	};

	cm_msg_put(mad, &drep);
}

/* Who asks for the end of what is not there has it (12.9.8.3.2). */
void dreq_rx(struct cm *cm, const uint8_t from[16], const struct cm_msg *m)
{
	struct conn *c = conn_of(cm, from, m);
	uint8_t drep[MAD_SIZE];

	put_drep(drep, m);
	if (!c || c->state == TIMEWAIT) {
		if (c)
			count(cm, CM_C_DUPLICATE);
		reply_raw(cm, from, drep);
		return;
	}
	if (m->qpn != c->qpn || c->state == REQ_RCVD) {
		count(cm, CM_C_STATE);
		return;
	}
	c->reason = c->state == DREQ_SENT ? CM_END_ANSWER : CM_END_PEER;
	conn_tell(cm, c, CM_EV_DISCONNECTED, m);
	memcpy(c->mad, drep, MAD_SIZE);
	timewait_sent(cm, c, true);
}

void drep_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	     const struct cm_msg *m)
{
	struct conn *c = conn_of(cm, from, m);

	if (!c)
		return;
	if (c->state != DREQ_SENT) {
		count(cm, CM_C_STATE);
		return;
	}
	c->reason = CM_END_ANSWER;
	conn_tell(cm, c, CM_EV_DISCONNECTED, m);
	timewait_now(cm, c, now, true);
}

/* ---- patience ---- */

void mra_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	    const struct cm_msg *m)
{
	struct conn *c = conn_find(cm, m->remote_id);
	uint8_t exponent = clamp(m->mra.service_timeout, 0, RESPONSE_MAX);

	if (!c || memcmp(c->peer.gid, from, 16) ||
	    (c->state != REQ_SENT && c->remote_id != m->local_id)) {
		count(cm, CM_C_STRANGER);
		return;
	}
	if ((c->state != REQ_SENT || m->mra.about != CM_ABOUT_REQ) &&
	    (c->state != REP_SENT || m->mra.about != CM_ABOUT_REP)) {
		count(cm, CM_C_STATE);
		return;
	}
	if (c->mra_seen) {
		count(cm, CM_C_DUPLICATE);
		return;
	}
	c->mra_seen = true;
	conn_deadline(cm, c, now + timeout_ns(exponent) + c->wait);
}

static void give_up(struct cm *cm, struct conn *c)
{
	c->reason = CM_REASON_TIMEOUT;
	conn_tell(cm, c, CM_EV_UNREACHABLE, NULL);
	reject_conn(cm, c, CM_REASON_TIMEOUT);
}

void conn_expire(struct cm *cm, struct conn *c, uint64_t now)
{
	if (c->state == TIMEWAIT) {
		if (c->seen)
			conn_tell(cm, c, CM_EV_GONE, NULL);
		else
			conn_free(cm, c);
		return;
	}
	if (c->tries && c->state != REP_RCVD && c->state != REQ_RCVD) {
		conn_send(cm, c);
		return;
	}
	count(cm, CM_C_TIMEOUT);
	if (c->state != DREQ_SENT) {
		give_up(cm, c);
		return;
	}
	c->reason = CM_END_SILENT;
	conn_tell(cm, c, CM_EV_DISCONNECTED, NULL);
	timewait_now(cm, c, now, true);
}
