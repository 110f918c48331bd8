// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receives, of one queue or shared by many: posting, what the model takes of
 * them, and what must have become of each.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define SHARE_ROOM 4200 /* bytes; no SEND to a shared queue is longer */

void queue_fail(struct queue *q, const char *what, unsigned at)
{
	if (q->is_ud)
		world_fail(q->w, "UD %u: %s (%u)", ((struct ud *)q)->id, what,
			   at);
	else
		world_fail(q->w, "link %u.%u: %s (%u)",
			   ((struct end *)q)->link->id, ((struct end *)q)->side,
			   what, at);
}

/* ---- posting ---- */

static unsigned outstanding(const struct rcvs *r)
{
	return r->posted - (r->share ? r->taken : r->done);
}

void rcvs_post(struct rcvs *r, unsigned n)
{
	while (n-- && r->posted < r->n) {
		struct rcv *v = &r->rcv[r->posted];
		int rc;

		for (unsigned i = 0; i < v->nsge; i++)
			v->sge[i].lkey = v->bad ? r->in->key ^ 0x33
						: r->in->key;
		rc = r->share ? roce_srq_post(r->share->srq, v->index, v->sge,
					      v->nsge)
			      : roce_recv_post(*r->qp, v->index, v->sge,
					       v->nsge);
		if (rc && outstanding(r) < r->depth)
			world_fail(r->w, "receive %u is refused: %d", r->posted,
				   rc);
		if (rc)
			return;
		r->posted++;
	}
}

void rcvs_refill(struct roce_qp *qp)
{
	struct queue *q = queue_of(qp);
	struct rcvs *r = q->rq;

	if (q->w->plan.refill && chance(&q->rng, 5000))
		rcvs_post(r, 1);
	if (q->vague)
		return;
	/* it may have found none; the model hears of it in any case */
	if (r->nasked < REFILLS_MAX)
		r->asked[r->nasked++] = r->posted;
	else
		queue_fail(q, "asks for receives again and again", r->posted);
}

void rcvs_own(struct queue *q, struct region *in, uint32_t depth)
{
	q->own.w = q->w;
	q->own.node = q->node;
	q->own.qp = &q->qp;
	q->own.in = in;
	q->own.depth = depth;
	if (!q->rq)
		q->rq = &q->own;
}

/* Unreliable peers' messages may never come to take the rest. */
bool rcvs_more(struct rcvs *r)
{
	const struct world *w = r->w;

	if (r->posted == r->n || !(r->share ? !!r->share->srq : !!*r->qp))
		return false;
	if (w->now < w->plan.calm + 5 * MS)
		return true;
	for (unsigned i = 0; i < w->nlink; i++)
		for (unsigned k = 0; k < 2; k++) {
			const struct end *e = &w->link[i]->end[k];

			if (e->q.rq == r && e->link->type == ROCE_RC &&
			    !e->link->cut && e->q.rcv_done < e->wants &&
			    queue_lives(&e->q) && queue_lives(&e->peer->q))
				return true;
		}
	return false;
}

uint64_t rcvs_next(const struct rcvs *r)
{
	uint64_t full = outstanding(r) == r->depth ? 200 * US : 0;

	return r->w->now + 10 * US + full + pick(&r->w->rng, 0, r->gap);
}

/* ---- the model ---- */

void rcvs_begin(struct rcvs *r)
{
	r->avail = r->posted; /* until the device asks for more */
}

/* The device had none: did it find one when it asked? */
static void hear(struct queue *q)
{
	struct rcvs *r = q->rq;

	if (r->heard < r->nasked)
		r->avail = r->asked[r->heard++];
	else if (queue_lives(q))
		queue_fail(q, "takes a receive that nobody posted", r->taken);
}

static void watch_limit(struct share *s)
{
	if (s->rq.avail - s->rq.taken >= s->limit)
		return;
	s->limit = 0;
	s->low++;
}

unsigned rcvs_take(struct queue *q)
{
	struct rcvs *r = q->rq;

	if (r->taken == r->avail)
		hear(q);
	/* of a shared queue: no more than it has places for completions */
	if (r->taken == r->avail ||
	    (r->share && q->rcv_due - q->rcv_done >= r->depth))
		return NONE;
	r->rcv[r->taken].taken = true;
	r->taken++;
	if (r->share)
		watch_limit(r->share);
	return r->taken - 1;
}

void rcvs_end(struct queue *q)
{
	struct rcvs *r = q->rq;

	if (r->heard != r->nasked && queue_lives(q))
		queue_fail(q, "asks for a receive that it needs not", r->taken);
	r->heard = r->nasked = 0;
	if (r->share && r->share->low != r->share->told)
		queue_fail(q, "limit events are due, and were not told, up to",
			   r->share->low);
	if (r->share)
		r->share->low = r->share->told;
}

/* ---- what has become of them ---- */

uint8_t *rcv_byte(struct rcvs *r, const struct rcv *v, uint32_t at)
{
	for (unsigned i = 0; i < v->nsge; i++) {
		if (at < v->sge[i].len)
			return region_ptr(r->in, v->sge[i].addr) + at;
		at -= v->sge[i].len;
	}
	return NULL;
}

void rcvs_done(struct queue *q, unsigned at, uint16_t index, bool good,
	       uint32_t filled)
{
	struct rcvs *r = q->rq;
	struct rcv *v = &r->rcv[at];

	if (at >= r->posted || v->index != index) {
		queue_fail(q, "a receive completion out of order", index);
		return;
	}
	if (v->done)
		queue_fail(q, "a receive completes twice", at);
	v->done = true;
	v->filled = good ? filled : v->room;
	if (!r->share)
		r->done++;
	q->rcv_done++;
}

/* Nothing lies behind what came, and nothing in what was not taken. */
void rcvs_judge(struct rcvs *r, const char *whose)
{
	for (unsigned i = 0; i < r->posted; i++) {
		const struct rcv *v = &r->rcv[i];
		uint32_t from = !v->taken ? 0 : v->done ? v->filled : v->room;

		for (uint32_t at = from; at < v->room; at++)
			if (*rcv_byte(r, v, at)) {
				world_fail(r->w,
					   "%s: receive %u has a byte at %u, "
					   "%u were put",
					   whose, i, at, from);
				return;
			}
	}
}

/* ---- shared ---- */

static void low(void *user)
{
	struct share *s = user;

	s->told++;
}

bool share_open(const struct node *n)
{
	return n->share && !n->share->rq.rcv;
}

void share_make(struct node *n)
{
	struct world *w = n->w;
	struct share *s = calloc(1, sizeof(*s));
	struct roce_srq_attr a = { .sge = 4, .user = s, .low = low };

	if (!s)
		abort();
	s->node = n;
	s->rng = fork_rng(w->plan.seed, 1200 + n->id * 16 + n->life);
	s->rq.w = w;
	s->rq.node = n;
	s->rq.share = s;
	s->rq.in = &s->mem;
	s->rq.depth = a.depth = 1U << pick(&s->rng, 1, 5);
	s->rq.gap = w->plan.faults & F_RNR ? pick(&s->rng, 1 * US, 300 * US)
					   : 1 * US;
	s->limit = a.limit = (uint32_t)pick(&s->rng, 0, a.depth);
	w->share[w->nshare++] = s;
	n->share = s;
	if (roce_srq_create(n->dev, &a, &s->srq))
		world_fail(w, "node %u: no shared queue", n->id);
}

static void make_receive(struct share *s, unsigned i)
{
	struct rcv *v = &s->rq.rcv[i];
	bool odd = s->node->w->plan.faults & F_BAD;
	uint32_t left;

	v->index = (uint16_t)(65500 + i);
	v->room = odd && chance(&s->rng, 200) ? (uint32_t)pick(&s->rng, 0, 600)
					      : SHARE_ROOM;
	v->bad = odd && chance(&s->rng, 100);
	v->nsge = (uint8_t)pick(&s->rng, 1, 3);
	left = v->room;
	for (unsigned k = 0; k < v->nsge; k++) {
		v->sge[k].len = k + 1U == v->nsge
					? left
					: (uint32_t)pick(&s->rng, 0, left);
		v->sge[k].addr = s->mem.iova + s->mem.used;
		s->mem.used += v->sge[k].len + 1;
		left -= v->sge[k].len;
	}
}

void share_plan(struct share *s)
{
	struct roce_mr_attr a = { .access = ROCE_ACCESS_LOCAL_WRITE };
	struct world *w = s->node->w;

	s->rq.n = s->wants;
	s->rq.rcv = calloc(s->rq.n + 1, sizeof(*s->rq.rcv));
	if (!s->rq.rcv)
		abort();
	s->mem.iova = a.iova = (uint64_t)(s->node->id + 1) << 48 | 1ULL << 47;
	for (unsigned i = 0; i < s->rq.n; i++)
		make_receive(s, i);
	s->mem.size = s->mem.used + 8;
	a.base = s->mem.mem = calloc(1, s->mem.size);
	a.len = s->mem.size;
	if (!a.base)
		abort();
	if (roce_mr_add(s->node->dev, &a, &s->mem.key))
		world_fail(w, "node %u: no key for shared receives",
			   s->node->id);
	heap_add(w, (struct event){
			    .t = w->now, .kind = EV_RECV, .what = &s->rq });
}

/* What the queue has left is what was never taken, in its own count too. */
static void count_left(struct share *s)
{
	unsigned n = 0, left = s->rq.posted - s->rq.taken;
	const struct roce_sge none = { 0 };

	while (!roce_srq_post(s->srq, 0, &none, 0))
		n++;
	if (n + left != s->rq.depth)
		world_fail(s->node->w,
			   "node %u: %u receives are left in a shared queue of "
			   "%u, %u more found room",
			   s->node->id, left, s->rq.depth, n);
}

void share_judge(struct share *s)
{
	rcvs_judge(&s->rq, "a shared queue");
	if (s->srq)
		count_left(s);
}

void share_rearm(struct share *s)
{
	if (!chance(&s->rng, 1500))
		return;
	s->limit = (uint32_t)pick(&s->rng, 0, s->rq.depth);
	roce_srq_limit(s->srq, s->limit);
}

void share_free(struct share *s)
{
	free(s->rq.rcv);
	free(s->mem.mem);
	free(s);
}
