/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the cost model is fitted from: messages to the next rank, by all
 * ranks at once, so that what they share (wire, CPUs) is in the figures.
 */
#ifndef WBELL_COLLECTIVES_PROBE_H
#define WBELL_COLLECTIVES_PROBE_H

#include "channel.h"

/* times rounds of: signal count bytes to the next, wait for the previous. */
WBELL_FN int coll_shift(struct coll_me *me, struct coll_work *w)
{
	uint64_t from = coll_user(me, w->send_at);
	uint64_t to = coll_user(me, w->recv_at);
	uint64_t start;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < w->times && !rc; i++) {
		start = wbell_now_ns();
		rc = coll_put(me, coll_next(me, 1), from, to, w->count,
			      COLL_WORD(data));
		w->post_ns[me->channel] += wbell_now_ns() - start;
		if (!rc)
			rc = coll_await_data(me, coll_prev(me, 1));
	}
	return rc;
}

/* A window of depth puts, then a wait for its last, times times. */
WBELL_FN int coll_puts(struct coll_me *me, struct coll_work *w)
{
	struct coll_link *l = &me->ch->link[coll_next(me, 1)];
	uint64_t from = coll_here(me, coll_user(me, w->send_at));
	uint64_t to = l->window + coll_user(me, w->recv_at);
	uint64_t deadline, start;
	uint32_t t, i;
	int rc = 0;

	for (t = 0; t < w->times && !rc; t++) {
		coll_at_step(me, coll_next(me, 1));
		deadline = wbell_deadline_us(me->team->timeout_us);
		start = wbell_now_ns();
		for (i = 0; i < w->depth && !rc; i++)
			COLL_RETRY(rc, l->q, deadline,
				   wbell_put(l->q, from, me->team->lkey, to,
					     l->rkey, w->count, &l->last));
		w->post_ns[me->channel] += wbell_now_ns() - start;
		if (!rc)
			rc = wbell_wait(l->q, l->last, deadline);
	}
	return rc;
}

WBELL_FN int coll_probe(struct coll_me *me, struct coll_work *w)
{
	int rc = 0;

	if (!me->thread) {
		w->post_ns[me->channel] = 0;
		rc = w->op == COLL_SHIFT ? coll_shift(me, w) : coll_puts(me, w);
	}
	return coll_agree(me, rc);
}

#endif /* WBELL_COLLECTIVES_PROBE_H */
