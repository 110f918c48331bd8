// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads frames.  Judges requesters by what those that left and those that
 * reached them prove; what responders do is for the model.
 */
#include <string.h>

#include "sim.h"

/* IBTA table 45, microseconds */
static const uint32_t rnr_us[32] = {
	655360, 10,    20,    30,     40,     60,     80,     120,
	160,	240,   320,   480,    640,    960,    1280,   1920,
	2560,	3840,  5120,  7680,   10240,  15360,  20480,  30720,
	40960,	61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

static uint32_t be32_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static bool is_datagram(uint8_t opcode)
{
	return opcode == ROCE_UD_SEND_ONLY || opcode == ROCE_UD_SEND_ONLY_IMM;
}

/* DETH, immediate and what lies between them and the ICRC. */
static void see_datagram(const uint8_t *bth, const uint8_t *end, struct seen *s)
{
	const uint8_t *p = bth + 20;

	s->qkey = be32_at(bth + 12);
	s->src_qpn = be32_at(bth + 16) & 0xffffff;
	if (s->opcode == ROCE_UD_SEND_ONLY_IMM) {
		memcpy(&s->imm, p, 4);
		p += 4;
	}
	s->payload = p;
	s->len = (uint32_t)(end - 4 - p) - (bth[1] >> 4 & 3);
}

static void see(const uint8_t *p, uint32_t len, struct seen *s)
{
	const uint8_t *bth = p + 14;

	memset(s, 0, sizeof(*s));
	if (p[12] == 0x81) /* a VLAN tag */
		bth += 4;
	bth += (bth[-2] == 0x86 ? 40 : 20) + 8;
	s->opcode = bth[0];
	s->solicited = bth[1] & 0x80;
	s->qpn = be32_at(bth + 4) & 0xffffff;
	s->psn = be32_at(bth + 8) & 0xffffff;
	s->ackreq = bth[8] & 0x80;
	s->syndrome = bth[12];
	if (is_datagram(s->opcode))
		see_datagram(bth, p + len, s);
	else if (s->opcode == ROCE_RC_READ_REQ)
		s->len = be32_at(bth + 24);
}

uint32_t watch_qpn(const uint8_t *p, uint32_t len)
{
	struct seen s;

	see(p, len, &s);
	return s.qpn;
}

static bool is_response(uint8_t opcode)
{
	return opcode >= ROCE_RC_READ_RESP_FIRST &&
	       opcode <= ROCE_RC_ATOMIC_ACK;
}

struct msg *msg_of(const struct end *e, uint32_t psn)
{
	for (unsigned i = 0; i < e->posted; i++)
		if (psn - e->msg[i].psn < e->msg[i].npkt)
			return &e->msg[i];
	return NULL;
}

static bool is_rd(const struct msg *m)
{
	return m->op == ROCE_OP_READ || m->op == ROCE_OP_CS ||
	       m->op == ROCE_OP_FA;
}

/* ---- requests on their way out ---- */

/* Fenced work starts when the results of all before it are in memory. */
static bool results_are_in(struct end *e, const struct msg *m)
{
	for (const struct msg *k = e->msg; k < m; k++)
		if (is_rd(k) && k->npkt && e->una < k->psn + k->npkt)
			return false;
	return true;
}

static void tx_request(struct world *w, struct end *e, const struct seen *s)
{
	int32_t psn = count_from(s->psn, e->q.sq_psn);
	const struct msg *m = psn < 0 ? NULL : msg_of(e, psn);
	uint32_t window = e->attr.window ? e->attr.window : 256;

	if (!m) {
		world_fail(w, "link %u.%u: a request of PSN +%d, no work is it",
			   e->link->id, e->side, psn);
		return;
	}
	if (e->una == e->sent)
		e->progress = w->now;
	/* what was sent before may be sent again at any time */
	if ((uint32_t)psn >= e->sent && (uint32_t)psn >= e->una_max + window)
		world_fail(w,
			   "link %u.%u: PSN +%d, acknowledged below +%u, "
			   "window %u",
			   e->link->id, e->side, psn, e->una_max, window);
	if (w->now < e->hold && e->una_max <= e->hold_psn &&
	    (uint32_t)psn >= e->hold_psn)
		world_fail(w,
			   "link %u.%u: sends %llu ns before the end of the "
			   "receiver's RNR time",
			   e->link->id, e->side,
			   (unsigned long long)(e->hold - w->now));
	if (m->flags & ROCE_WR_FENCE && (uint32_t)psn == m->psn &&
	    !results_are_in(e, m))
		world_fail(w, "link %u.%u: fenced message %u starts early",
			   e->link->id, e->side, (unsigned)(m - e->msg));
	if (is_rd(m))
		psn = (int32_t)(m->psn + m->npkt - 1);
	if ((uint32_t)psn >= e->sent)
		e->sent = psn + 1;
}

/* UC: each packet once, in order. */
static void tx_unacked(struct world *w, struct end *e, const struct seen *s)
{
	int32_t psn = count_from(s->psn, e->q.sq_psn);

	if (psn != (int32_t)e->sent || !msg_of(e, psn) ||
	    s->opcode < ROCE_UC_SEND_FIRST ||
	    s->opcode > ROCE_UC_WRITE_ONLY_IMM)
		world_fail(w, "link %u.%u: sends %02x of PSN +%d, +%u is next",
			   e->link->id, e->side, s->opcode, psn, e->sent);
	e->sent++;
}

static void say_frame(struct world *w, const char *what, unsigned node,
		      const struct end *e, const struct seen *s)
{
	uint32_t first = !e			  ? 0
			 : is_response(s->opcode) ? e->peer->q.sq_psn
						  : e->q.sq_psn;

	world_say(w, "node %u link %u.%u %s %02x +%d%s %02x", node,
		  e ? e->link->id : 99, e ? e->side : 9, what, s->opcode,
		  count_from(s->psn, first), s->ackreq ? " A" : "",
		  s->opcode == ROCE_RC_ACK ? s->syndrome : 0);
}

void watch_tx(struct world *w, unsigned from, unsigned to,
	      const struct roce_frame *f)
{
	struct seen s;
	struct end *to_end, *e = NULL;

	see(f->data, f->len, &s);
	if (is_datagram(s.opcode)) {
		ud_sends(w, from, to, &s);
		return;
	}
	if (s.opcode == ROCE_RC_ACK)
		w->node[from].said[s.syndrome >> 5 & 3]++;
	/* the peer may be gone: then the link tells whose frame it is */
	for (unsigned i = 0; i < w->nlink && !e; i++)
		for (unsigned k = 0; k < 2; k++) {
			to_end = &w->link[i]->end[k];
			if (to_end->q.node->id == to &&
			    to_end->q.qpn == s.qpn &&
			    to_end->peer->q.node->id == from &&
			    to_end->peer->q.qp)
				e = to_end->peer;
		}
	say_frame(w, "sends", from, e, &s);
	if (!e)
		world_fail(w, "node %u: a frame to queue %06x of node %u", from,
			   s.qpn, to);
	else if (e->link->type == ROCE_UC)
		tx_unacked(w, e, &s);
	else if (is_response(s.opcode))
		model_tx(e, &s);
	else
		tx_request(w, e, &s);
}

void watch_quiet(struct world *w, struct node *n)
{
	for (unsigned i = 0; i < w->nlink; i++)
		for (unsigned k = 0; k < 2; k++) {
			struct end *e = &w->link[i]->end[k];

			if (e->q.node == n && e->q.qp)
				model_quiet(e);
		}
}

/* ---- answers that arrive ---- */

/* The first PSN that only a response can acknowledge. */
static uint32_t next_rd(const struct end *e)
{
	for (unsigned i = 0; i < e->posted; i++)
		if (is_rd(&e->msg[i]) &&
		    e->una < e->msg[i].psn + e->msg[i].npkt)
			return e->una > e->msg[i].psn ? e->una : e->msg[i].psn;
	return NONE;
}

static void advance(struct world *w, struct end *e, uint32_t una)
{
	uint32_t limit = next_rd(e);

	if (una > limit)
		una = limit;
	if (una <= e->una)
		return;
	e->una = una;
	e->progress = w->now;
	e->rnrs = 0;
}

static void rx_rnr(struct world *w, struct end *e, uint8_t code, uint32_t psn)
{
	e->progress = w->now;
	e->rnrs++;
	if (e->most_rnrs < e->rnrs)
		e->most_rnrs = e->rnrs;
	if (psn < e->una_max)
		return;
	e->hold_psn = psn;
	e->hold = w->now + rnr_us[code] * US;
}

static void rx_answer(struct world *w, struct end *e, const struct seen *s)
{
	int32_t psn = count_from(s->psn, e->q.sq_psn);
	uint8_t type = s->syndrome & ROCE_AETH_TYPE_MASK;
	bool nak = s->opcode == ROCE_RC_ACK && type != ROCE_AETH_TYPE_ACK;

	if (e->burst != w->bursts)
		e->most_rnrs = e->rnrs;
	e->burst = w->bursts;
	if (psn < 0 || (uint32_t)psn >= e->sent)
		return;
	if (nak && e->link->mode == M_HOLES && s->syndrome == ROCE_NAK_PSN_SEQ)
		return; /* it says what is missing and nothing more */
	advance(w, e, nak || s->opcode != ROCE_RC_ACK ? psn : psn + 1);
	if (nak && type == ROCE_AETH_TYPE_RNR && (uint32_t)psn == e->una)
		rx_rnr(w, e, s->syndrome & 0x1f, psn);
	if (s->opcode != ROCE_RC_ACK && (uint32_t)psn == e->una) {
		e->una = psn + 1;
		e->progress = w->now;
		e->rnrs = 0;
	}
	if ((uint32_t)psn + !nak > e->una_max)
		e->una_max = psn + !nak;
}

static void note(struct world *w, struct queue *q, const struct seen *s)
{
	rcvs_begin(q->rq);
	w->req[w->nreq].q = q;
	w->req[w->nreq++].seen = *s;
}

void watch_rx(struct world *w, unsigned to, const uint8_t *p, uint32_t len)
{
	struct seen s;
	struct end *e;
	struct ud *u;

	see(p, len, &s);
	e = end_find(w, to, s.qpn);
	u = ud_find(w, to, s.qpn);
	if (e)
		say_frame(w, "takes", to, e->peer, &s);
	if (u && queue_lives(&u->q) && is_datagram(s.opcode))
		note(w, &u->q, &s);
	if (!e || !queue_lives(&e->q) || s.opcode >= ROCE_UC_SEND_FIRST)
		return;
	if (is_response(s.opcode))
		rx_answer(w, e, &s);
	else
		note(w, &e->q, &s);
}

void watch_took(struct world *w)
{
	for (unsigned i = 0; i < w->nreq; i++) {
		struct queue *q = w->req[i].q;

		if (q->is_ud)
			ud_takes((struct ud *)q, &w->req[i].seen);
		else
			model_rx((struct end *)q, &w->req[i].seen);
	}
	for (unsigned i = 0; i < w->nreq; i++)
		rcvs_end(w->req[i].q);
	w->nreq = 0;
}
