// SPDX-License-Identifier: BSD-2-Clause
/* The manager: what came goes to its message's rule, what is due is sent. */
#include <stdlib.h>

#include "priv.h"

static bool is_zero(const uint8_t gid[16])
{
	static const uint8_t zero[16];

	return !memcmp(gid, zero, 16);
}

static bool attr_ok(const struct cm_attr *a)
{
	return a->max_conn && a->max_conn <= 1 << 16 && a->path_mtu >= 256 &&
	       a->path_mtu <= 4096 && !(a->path_mtu & (a->path_mtu - 1)) &&
	       a->max_retries <= 15 &&
	       (!a->response_timeout ||
		clamp(a->response_timeout, RESPONSE_MIN, RESPONSE_MAX) ==
			a->response_timeout) &&
	       (is_zero(a->gid) || gid_is_ipv4(a->gid)) &&
	       !gid_is_ipv4(a->gid6);
}

int cm_create(const struct cm_attr *attr, struct cm **out)
{
	uint32_t places = 1;
	struct cm *cm;

	if (!attr_ok(attr))
		return -EINVAL;
	while (places < attr->max_conn)
		places <<= 1;
	cm = calloc(1, sizeof(*cm));
	if (!cm)
		return -ENOMEM;
	cm->attr = *attr;
	if (!cm->attr.response_timeout)
		cm->attr.response_timeout = 18;
	if (!cm->attr.max_retries)
		cm->attr.max_retries = 15;
	cm->random = attr->seed;
	cm->tid = next_random(cm) << 32;
	cm->next = NO_DEADLINE;
	cm->mask = places - 1;
	cm->conn = calloc(places, sizeof(*cm->conn));
	cm->by_id = calloc(places, sizeof(struct conn *));
	cm->by_qpn = calloc(places, sizeof(struct conn *));
	if (!cm->conn || !cm->by_id || !cm->by_qpn) {
		cm_destroy(cm);
		return -ENOMEM;
	}
	*out = cm;
	return 0;
}

void cm_destroy(struct cm *cm)
{
	free(cm->by_qpn);
	free(cm->by_id);
	free(cm->conn);
	free(cm);
}

const uint8_t *our_gid(const struct cm *cm, const uint8_t peer[16])
{
	return gid_is_ipv4(peer) ? cm->attr.gid : cm->attr.gid6;
}

/* ---- listeners ---- */

static struct listener *listener_of(struct cm *cm, uint16_t port)
{
	for (unsigned i = 0; i < CM_LISTEN_MAX; i++)
		if (cm->listener[i].port == port)
			return &cm->listener[i];
	return NULL;
}

int cm_listen(struct cm *cm, uint16_t port, unsigned backlog, void *user)
{
	struct listener *l;

	if (!port || !backlog)
		return -EINVAL;
	if (listener_of(cm, port))
		return -EADDRINUSE;
	/* one whose last requests still wait is not free yet */
	for (l = cm->listener; l->port || l->waiting; l++)
		if (l == &cm->listener[CM_LISTEN_MAX - 1])
			return -ENOSPC;
	l->port = port;
	l->backlog = backlog;
	l->user = user;
	return 0;
}

int cm_unlisten(struct cm *cm, uint16_t port)
{
	struct listener *l = port ? listener_of(cm, port) : NULL;

	if (!l)
		return -ENOENT;
	l->port = 0;
	return 0;
}

/* ---- events ---- */

void conn_tell(struct cm *cm, struct conn *c, enum cm_event_type type,
	       const struct cm_msg *about)
{
	c->pending |= 1 << type;
	if (about) {
		c->data_of = type;
		c->data_len = about->data_len;
		memcpy(c->data, about->data, about->data_len);
	}
	if (c->in_events)
		return;
	c->in_events = true;
	c->events_next = NULL;
	if (cm->events.head)
		cm->events.tail->events_next = c;
	else
		cm->events.head = c;
	cm->events.tail = c;
}

static void events_pop(struct cm *cm)
{
	cm->events.head->in_events = false;
	cm->events.head = cm->events.head->events_next;
}

bool cm_event(struct cm *cm, struct cm_event *ev)
{
	struct conn *c;

	/* a request may be gone before anybody heard of it */
	while ((c = cm->events.head) && !c->pending)
		events_pop(cm);
	if (!c)
		return false;
	ev->type = __builtin_ctz(c->pending);
	c->pending &= ~(1 << ev->type);
	ev->id = c->id;
	ev->user = c->user;
	ev->port = c->port;
	ev->reason = c->reason;
	ev->peer = c->peer;
	ev->data_len = c->data_of == ev->type ? c->data_len : 0;
	memcpy(ev->data, c->data, ev->data_len);
	c->seen = true;
	if (!c->pending)
		events_pop(cm);
	if (ev->type == CM_EV_GONE)
		conn_free(cm, c);
	return true;
}

/* ---- receiving ---- */

struct conn *conn_of(struct cm *cm, const uint8_t from[16],
		     const struct cm_msg *m)
{
	struct conn *c = conn_find(cm, m->remote_id);

	if (c && !memcmp(c->peer.gid, from, 16) && c->state != REQ_SENT &&
	    c->remote_id == m->local_id)
		return c;
	count(cm, CM_C_STRANGER);
	return NULL;
}

/* Alternate paths: there is one link, so none is taken (12.6.12 status 2). */
static void lap_rx(struct cm *cm, const uint8_t from[16],
		   const struct cm_msg *m)
{
	struct cm_msg apr = {
		.kind = CM_APR,
		.tid = m->tid,
		.local_id = m->remote_id,
		.remote_id = m->local_id,
		.ap_status = conn_of(cm, from, m) ? 2 : 1,
	};

	reply(cm, from, &apr);
}

/* No service is offered by datagrams (12.11.2 status 1). */
static void sidr_rx(struct cm *cm, const uint8_t from[16],
		    const struct cm_msg *m)
{
	struct cm_msg rep = {
		.kind = CM_SIDR_REP,
		.tid = m->tid,
		.local_id = m->local_id,
		.sidr_rep = { .status = 1, .service_id = m->sidr_service_id },
	};

	reply(cm, from, &rep);
}

static void dispatch(struct cm *cm, uint64_t now, const uint8_t from[16],
		     const uint8_t to[16], const struct cm_msg *m)
{
	switch (m->kind) {
	case CM_REQ:
		req_rx(cm, now, from, to, m);
		break;
	case CM_MRA:
		mra_rx(cm, now, from, m);
		break;
	case CM_REJ:
		rej_rx(cm, now, from, m);
		break;
	case CM_REP:
		rep_rx(cm, now, from, m);
		break;
	case CM_RTU:
		rtu_rx(cm, from, m);
		break;
	case CM_DREQ:
		dreq_rx(cm, from, m);
		break;
	case CM_DREP:
		drep_rx(cm, now, from, m);
		break;
	case CM_LAP:
		lap_rx(cm, from, m);
		break;
	case CM_SIDR_REQ:
		sidr_rx(cm, from, m);
		break;
	default: /* answers to what we never ask */
		count(cm, CM_C_STATE);
	}
}

/* IBTA 13.5.3: who asks for what is not there hears so.  Subnet management
 * has no business at this queue pair.
 */
static void unsupported(struct cm *cm, const uint8_t from[16],
			const uint8_t *mad, struct mad_hdr *h)
{
	uint8_t answer[MAD_SIZE];

	count(cm, CM_C_UNSUPPORTED);
	if ((h->method != MAD_GET && h->method != MAD_SET) ||
	    h->mgmt_class == 0x01 || h->mgmt_class == 0x81)
		return;
	memcpy(answer, mad, MAD_SIZE);
	h->method = MAD_GET_RESP;
	h->status = MAD_STATUS_UNSUPPORTED;
	mad_hdr_put(answer, h);
	reply_raw(cm, from, answer);
}

void cm_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	   const uint8_t to[16], const uint8_t *mad, uint32_t len)
{
	static const uint8_t version = MAD_CM_VERSION;
	struct mad_hdr h;
	struct cm_msg m;

	count(cm, CM_C_RX);
	if (mad_hdr_get(mad, len, &h) || h.base_version != MAD_BASE_VERSION ||
	    h.method & 0x80 || is_zero(to) ||
	    memcmp(to, our_gid(cm, from), 16)) {
		count(cm, CM_C_BAD);
		return;
	}
	if (h.mgmt_class != MAD_CLASS_CM || h.method != MAD_SEND ||
	    cm_msg_get(mad, &m)) {
		unsupported(cm, from, mad, &h);
		return;
	}
	if (h.class_version == MAD_CM_VERSION) {
		dispatch(cm, now, from, to, &m);
		return;
	}
	count(cm, CM_C_BAD);
	if (m.kind == CM_REQ)
		reject_message(cm, from, &m, CM_REASON_CLASS_VERSION, &version,
			       1);
}

/* ---- sending ---- */

void conn_send(struct cm *cm, struct conn *c)
{
	if (c->in_tx)
		return;
	c->in_tx = true;
	c->tx_next = NULL;
	if (cm->tx.head)
		cm->tx.tail->tx_next = c;
	else
		cm->tx.head = c;
	cm->tx.tail = c;
}

void reply_raw(struct cm *cm, const uint8_t to[16], const uint8_t mad[MAD_SIZE])
{
	struct cm_mad *r = &cm->reply[cm->reply_pi % REPLIES];

	if (cm->reply_pi - cm->reply_ci == REPLIES) {
		count(cm, CM_C_REPLY_LOST);
		return;
	}
	memcpy(r->gid, to, 16);
	memcpy(r->mad, mad, MAD_SIZE);
	cm->reply_pi++;
}

void reply(struct cm *cm, const uint8_t to[16], const struct cm_msg *m)
{
	uint8_t mad[MAD_SIZE];

	cm_msg_put(mad, m);
	reply_raw(cm, to, mad);
}

void put_off(struct cm *cm, struct conn *c, enum cm_about about)
{
	struct cm_msg mra = {
		.kind = CM_MRA,
		.tid = c->tid,
		.local_id = c->id,
		.remote_id = c->remote_id,
		.mra = { .about = about,
			 .service_timeout = cm->attr.response_timeout },
	};

	reply(cm, c->peer.gid, &mra);
}

void conn_deadline(struct cm *cm, struct conn *c, uint64_t at)
{
	c->deadline = at;
	if (at < cm->next)
		cm->next = at;
}

static void expire_due(struct cm *cm, uint64_t now)
{
	if (now < cm->next)
		return;
	cm->next = NO_DEADLINE;
	for (uint32_t i = 0; i <= cm->mask; i++) {
		struct conn *c = &cm->conn[i];

		if (c->state == IDLE)
			continue;
		if (c->deadline <= now) {
			c->deadline = NO_DEADLINE;
			conn_expire(cm, c, now);
		}
		if (c->deadline < cm->next)
			cm->next = c->deadline;
	}
}

static void sent(struct cm *cm, struct conn *c, uint64_t now)
{
	switch (c->state) {
	case REQ_SENT:
	case REP_SENT:
	case DREQ_SENT:
		if (c->tries-- <= c->retries)
			count(cm, CM_C_RETRY);
		conn_deadline(cm, c, now + c->wait);
		break;
	case TIMEWAIT:
		conn_deadline(cm, c, now + c->wait);
		break;
	}
}

bool cm_tx(struct cm *cm, uint64_t now, struct cm_mad *out)
{
	struct conn *c;

	expire_due(cm, now);
	if (cm->reply_ci != cm->reply_pi) {
		*out = cm->reply[cm->reply_ci++ % REPLIES];
		count(cm, CM_C_TX);
		return true;
	}
	c = cm->tx.head;
	if (!c)
		return false;
	cm->tx.head = c->tx_next;
	c->in_tx = false;
	memcpy(out->gid, c->peer.gid, 16);
	memcpy(out->mad, c->mad, MAD_SIZE);
	sent(cm, c, now);
	count(cm, CM_C_TX);
	return true;
}

uint64_t cm_deadline(const struct cm *cm)
{
	return cm->tx.head || cm->reply_ci != cm->reply_pi ? 0 : cm->next;
}

/* ---- counters ---- */

uint64_t cm_counter(const struct cm *cm, enum cm_counter c)
{
	return c < CM_C_MAX ? cm->counter[c] : 0;
}

const char *cm_counter_name(enum cm_counter c)
{
	static const char *const name[CM_C_MAX] = {
		[CM_C_RX] = "cm_rx",
		[CM_C_TX] = "cm_tx",
		[CM_C_BAD] = "cm_bad_header",
		[CM_C_UNSUPPORTED] = "cm_unsupported",
		[CM_C_DUPLICATE] = "cm_duplicate",
		[CM_C_STRANGER] = "cm_stranger",
		[CM_C_STATE] = "cm_wrong_state",
		[CM_C_REJ_RX] = "cm_rej_rx",
		[CM_C_REJ_TX] = "cm_rej_tx",
		[CM_C_REPLY_LOST] = "cm_reply_lost",
		[CM_C_RETRY] = "cm_retry",
		[CM_C_TIMEOUT] = "cm_timeout",
	};

	return c < CM_C_MAX ? name[c] : NULL;
}

uint32_t cm_connections(const struct cm *cm)
{
	return cm->used;
}
