// SPDX-License-Identifier: BSD-2-Clause
/*
 * The responder that IBTA 9.7.4 and 9.7.5 ask for, one for each reliable end.
 * It takes the frames that its device took, in that order, and so knows at any
 * time what the device has executed, what it holds and what it must answer.
 *
 * One thing frames do not tell: whether there was a receive.  Of that the
 * device asks for more, and what came of it is kept for the model to hear.
 */
#include <string.h>

#include "sim.h"

#define HELD_POOL   512 /* packets of one device, docs/transport.md */
#define HELD_WINDOW 256 /* PSNs ahead of the expected */
#define REPORTS	    64	/* holes that wait to be told */

enum got {
	GOT = 1,
	HELD = 2, /* a packet of its own that waits */
	ASKS = 4, /* for an acknowledge */
};

static void fail(struct end *e, const char *what, int32_t psn)
{
	world_fail(e->q.w, "link %u.%u: %s PSN +%d, +%u is expected",
		   e->link->id, e->side, what, psn, e->epsn);
}

/* ---- receives ---- */

/* Of a shared queue it is known only now into which a message goes. */
static void meet(struct msg *m, const struct rcv *v, uint32_t mtu)
{
	if (m->op != ROCE_OP_SEND || !m->len)
		return;
	if (m->len > v->room && (!v->bad || v->room < mtu))
		m->bad = BAD_LONG;
	else if (v->bad)
		m->bad = BAD_RCV;
}

static bool take(struct end *e, struct msg *m)
{
	unsigned at = rcvs_take(&e->q);

	if (at == NONE)
		return false;
	m->rcv = at;
	if (e->q.rq->share)
		meet(m, &e->q.rq->rcv[at], e->link->mtu);
	return true;
}

/* ---- execution ---- */

static void drop_held(struct end *e)
{
	memset(e->got + e->epsn, 0, e->npsn - e->epsn);
	e->told = e->epsn;
	e->nheld = 0;
}

/* No receive: all that waits is dropped, for the peer sends it again. */
static void refuse(struct end *e)
{
	drop_held(e);
	e->rnr = e->owes_rnr = true;
	e->owes_nak = false;
}

/* The packet of a message that no receive has room for. */
static uint32_t packet_too_long(const struct end *e, const struct msg *m)
{
	return e->q.rq->rcv[m->rcv].room / e->link->mtu;
}

/* The packet at epsn; false: it is not executed. */
static bool execute(struct end *e, bool asks)
{
	struct msg *m = msg_of(e->peer, e->epsn);
	uint32_t k = e->epsn - m->psn;
	bool opens = m->op == ROCE_OP_SEND ? !k : k + 1 == m->npkt;

	if (m->bad == BAD_RKEY) {
		e->dead = true;
		return false;
	}
	if (m->wants && opens && !take(e, m)) {
		refuse(e);
		return false;
	}
	if (m->bad == BAD_RCV ||
	    (m->bad == BAD_LONG && k == packet_too_long(e, m))) {
		e->dead = true;
		return false;
	}
	e->epsn++;
	e->q.rcv_due += m->wants && k + 1 == m->npkt;
	e->owes_ack |= asks;
	e->rnr = e->owes_rnr = e->gap_told = e->owes_nak = false;
	return true;
}

static void execute_held(struct end *e)
{
	while (e->epsn < e->npsn && e->got[e->epsn]) {
		uint8_t got = e->got[e->epsn];

		if (got & HELD)
			e->nheld--;
		if (!execute(e, got & ASKS))
			return;
	}
	/* the next gap is known already */
	if (e->nheld && e->link->mode == M_HOLDS && !e->gap_told)
		e->owes_nak = true;
}

/* ---- requests ---- */

static uint32_t takes(const struct end *e, const struct seen *s)
{
	uint32_t n = (s->len + e->link->mtu - 1) / e->link->mtu;

	return n ? n : 1;
}

/* Of a READ that was asked for again, a part may wait behind the whole. */
static void mark(struct end *e, uint32_t psn, uint32_t n)
{
	while (n--)
		e->got[psn++] |= GOT;
}

static unsigned held_by(const struct node *n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n->w->nlink; i++)
		for (unsigned k = 0; k < 2; k++) {
			const struct end *e = &n->w->link[i]->end[k];

			if (e->q.node == n && queue_lives(&e->q) && !e->dead)
				sum += e->nheld;
		}
	return sum;
}

/* Of so many holes a device keeps account at once, and no more. */
static void owe_holes(struct end *e, uint32_t psn)
{
	uint32_t from = e->told > e->epsn ? e->told : e->epsn;

	if (from == e->epsn && e->nreports < REPORTS)
		e->owes_nak = true;
	/* and the oldest once more, where an acknowledge is asked for */
	e->nreports += psn > from ? psn - from : 1;
	if (psn >= from)
		e->told = psn + 1;
}

static void early(struct end *e, uint32_t psn, uint32_t n, bool asks)
{
	bool room = e->link->mode != M_BACK_N && psn - e->epsn < HELD_WINDOW &&
		    (e->got[psn] & HELD || held_by(e->q.node) < HELD_POOL);

	if (e->rnr)
		return;
	if (e->link->mode != M_HOLES && !e->gap_told)
		e->owes_nak = true;
	if (!room)
		return;
	if (e->link->mode == M_HOLES)
		owe_holes(e, psn);
	if (e->got[psn] & HELD)
		return;
	mark(e, psn, n);
	e->got[psn] |= HELD | (asks ? ASKS : 0);
	e->nheld++;
}

void model_rx(struct end *e, const struct seen *s)
{
	int32_t psn = count_from(s->psn, e->peer->q.sq_psn);
	uint32_t n = takes(e, s);
	bool data = s->opcode < ROCE_RC_READ_REQ;

	if (e->dead || psn < 0 || (uint32_t)psn + n > e->npsn)
		return;
	if ((uint32_t)psn > e->epsn) {
		early(e, psn, n, data && s->ackreq);
	} else if ((uint32_t)psn < e->epsn) {
		/* a duplicate is answered whatever it asked */
		e->owes_ack |= data;
	} else {
		mark(e, psn, n);
		if (execute(e, data && s->ackreq))
			execute_held(e);
	}
}

/* ---- answers ---- */

/* What it says it expects is what it expects; in error it may be less. */
static void judge_expected(struct end *e, const char *what, int32_t psn)
{
	if (psn != (int32_t)e->epsn &&
	    (psn > (int32_t)e->epsn || queue_lives(&e->q) || e->dead))
		fail(e, what, psn);
}

static void tx_rnr(struct end *e, int32_t psn)
{
	if (queue_lives(&e->q) && !e->owes_rnr)
		fail(e, "a refusal without a reason of", psn);
	judge_expected(e, "a refusal of", psn);
	e->owes_nak = e->owes_ack = e->owes_rnr = false;
}

static void tx_nak(struct end *e, const struct seen *s, int32_t psn)
{
	bool hole = e->link->mode == M_HOLES && s->syndrome == ROCE_NAK_PSN_SEQ;

	e->owes_nak = false;
	if (hole) /* it says what is missing and nothing more */
		return;
	e->owes_ack = false;
	judge_expected(e, "a NAK says", psn);
	if (s->syndrome == ROCE_NAK_PSN_SEQ)
		e->gap_told = true;
	else if (!e->dead)
		fail(e, "good work is refused at", psn);
}

void model_tx(struct end *e, const struct seen *s)
{
	int32_t psn = count_from(s->psn, e->peer->q.sq_psn);
	uint8_t type = s->syndrome & ROCE_AETH_TYPE_MASK;

	if (s->opcode != ROCE_RC_ACK) {
		/* a response may be of an older request */
		if (psn >= (int32_t)e->epsn)
			fail(e, "responds to", psn);
		e->owes_ack = false;
	} else if (type == ROCE_AETH_TYPE_RNR) {
		tx_rnr(e, psn);
	} else if (type == ROCE_AETH_TYPE_NAK) {
		tx_nak(e, s, psn);
	} else {
		judge_expected(e, "an acknowledge says", psn + 1);
		e->owes_ack = false;
	}
}

void model_quiet(struct end *e)
{
	const char *what = e->owes_rnr	 ? "no refusal for want of a receive at"
			   : e->owes_nak ? "no NAK of a gap at"
					 : "no acknowledge at";

	if (queue_lives(&e->q) && e->dead)
		fail(e, "work that must be refused is not, at",
		     (int32_t)e->epsn);
	if (queue_lives(&e->q) && (e->owes_rnr || e->owes_nak || e->owes_ack))
		fail(e, what, (int32_t)e->epsn);
	e->owes_nak = e->owes_ack = e->owes_rnr = false;
	e->nreports = 0;
}
