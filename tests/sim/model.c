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

enum got {
	GOT = 1,
	HELD = 2, /* a packet of its own that waits */
	ASKS = 4, /* for an acknowledge */
};

static void fail(struct end *e, const char *what, int32_t psn)
{
	world_fail(e->w, "link %u.%u: %s PSN +%d, +%u is expected", e->link->id,
		   e->side, what, psn, e->epsn);
}

static bool lives(const struct end *e)
{
	return e->qp && roce_qp_state(e->qp) == ROCE_RTS;
}

/* ---- receives ---- */

/* The device had none: did it find one when it asked? */
static void hear(struct rcvs *q, struct end *e)
{
	if (q->heard == q->nasked) {
		if (lives(e))
			fail(e, "takes a receive that nobody posted, for",
			     (int32_t)e->epsn);
		return;
	}
	q->avail = q->asked[q->heard++];
}

static bool take(struct end *e)
{
	struct rcvs *q = &e->rq;

	if (q->taken == q->avail)
		hear(q, e);
	if (q->taken == q->avail)
		return false;
	q->taken++;
	return true;
}

void model_heard(struct rcvs *q, struct end *e)
{
	if (q->heard != q->nasked && lives(e))
		fail(e, "asks for a receive that it needs not, at",
		     (int32_t)e->epsn);
	q->heard = q->nasked = 0;
}

/* ---- execution ---- */

static void drop_held(struct end *e)
{
	memset(e->got + e->epsn, 0, e->npsn - e->epsn);
	e->high = e->epsn;
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
	return e->rq.rcv[m->rcv].room / e->link->mtu;
}

/* The packet at epsn; false: it is not executed. */
static bool execute(struct end *e, bool asks)
{
	const struct msg *m = msg_of(e->peer, e->epsn);
	uint32_t k = e->epsn - m->psn;
	bool opens = m->op == ROCE_OP_SEND ? !k : k + 1 == m->npkt;

	if (m->bad == BAD_RKEY) {
		e->dead = true;
		return false;
	}
	if (m->rcv != NONE && opens && !take(e)) {
		refuse(e);
		return false;
	}
	if (m->bad == BAD_LONG && k == packet_too_long(e, m)) {
		e->dead = true;
		return false;
	}
	e->epsn++;
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

			if (e->node == n && lives(e) && !e->dead)
				sum += e->nheld;
		}
	return sum;
}

static void early(struct end *e, uint32_t psn, uint32_t n, bool asks)
{
	if (e->rnr)
		return;
	/* a new gap; of many holes at once a device may keep no account */
	if (e->link->mode == M_HOLES ? e->high <= e->epsn : !e->gap_told)
		e->owes_nak = true;
	if (e->link->mode == M_BACK_N || psn - e->epsn >= HELD_WINDOW ||
	    e->got[psn] & HELD || held_by(e->node) == HELD_POOL)
		return;
	mark(e, psn, n);
	e->got[psn] |= HELD | (asks ? ASKS : 0);
	e->nheld++;
	if (e->high < psn + n)
		e->high = psn + n;
}

void model_rx(struct end *e, const struct seen *s)
{
	int32_t psn = count_from(s->psn, e->peer->sq_psn);
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
	    (psn > (int32_t)e->epsn || lives(e) || e->dead))
		fail(e, what, psn);
}

static void tx_rnr(struct end *e, int32_t psn)
{
	if (lives(e) && !e->owes_rnr)
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
	int32_t psn = count_from(s->psn, e->peer->sq_psn);
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

	if (lives(e) && e->dead)
		fail(e, "work that must be refused is not, at",
		     (int32_t)e->epsn);
	if (lives(e) && (e->owes_rnr || e->owes_nak || e->owes_ack))
		fail(e, what, (int32_t)e->epsn);
	e->owes_nak = e->owes_ack = e->owes_rnr = false;
}
