// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel that stays: each block is a channel, takes every descriptor in
 * turn and says when it is done with it.  After an error a channel does no
 * more work, for its counters and its peers' no longer agree.
 */
#include "barrier.h"
#include "check.h"
#include "moe.h"
#include "pages.h"
#include "probe.h"
#include "ring.h"
#include "tree.h"

WBELL_SLOW int coll_switch(struct coll_me *me, struct coll_work *w)
{
	switch (w->op) {
	case COLL_BARRIER:
		return coll_barrier(me);
	case COLL_ALL_GATHER:
		return coll_all_gather(me, w);
	case COLL_REDUCE_SCATTER:
		return coll_reduce_scatter(me, w);
	case COLL_ALL_REDUCE_RING:
		return coll_all_reduce_ring(me, w);
	case COLL_ALL_REDUCE_TREE:
		return coll_all_reduce_tree(me, w);
	case COLL_ALL_TO_ALL:
		return coll_all_to_all(me, w);
	case COLL_DISPATCH:
		return coll_dispatch(me, w);
	case COLL_COMBINE:
		return coll_combine(me, w);
	case COLL_PAGES:
		return coll_pages(me, w);
	default:
		return coll_probe(me, w);
	}
}

/* Checks, runs, waits until all that was posted has completed. */
WBELL_FN int coll_run(struct coll_me *me, struct coll_work *w)
{
	uint64_t start = wbell_now_ns();
	int rc = 0;

	if (!me->thread) {
		me->ch->op = w->op;
		me->ch->step = 0;
		me->ch->peer = COLL_NOBODY;
		rc = coll_check(me->team, w);
	}
	rc = coll_agree(me, rc);
	if (!rc)
		rc = coll_switch(me, w);
	if (!rc && !me->thread) {
		rc = coll_flush(me);
		w->took_ns[me->channel] = wbell_now_ns() - start;
	}
	return coll_agree(me, rc);
}

/* Waits for descriptor number at. */
WBELL_FN int coll_work_await(struct coll_me *me, struct coll_ring *ring,
			     uint32_t at)
{
	uint64_t deadline = wbell_deadline_us(ring->idle_us);
	const struct wbell_dqueue *q = me->ch->link[coll_next(me, 1)].q;
	int rc = 0;

	me->ch->op = COLL_QUIT;
	while ((int32_t)(wbell_ld_acquire32_sys(WBELL_ADDR(&ring->posted)) -
			 at) <= 0 &&
	       !rc)
		rc = wbell_pause(q, deadline);
	return rc;
}

WBELL_KERNEL(coll_stay, struct coll_args, a)
{
	struct wbell_thread t = wbell_thread();
	struct coll_ring *ring = a->ring;
	struct coll_work *w;
	struct coll_me me;
	uint32_t at;
	int rc = 0;

	me.team = a->team;
	me.channel = t.block;
	me.ch = &a->team->channel[t.block];
	me.thread = t.thread;
	me.threads = t.threads;
	for (at = 0; !rc; at++) {
		if (!me.thread)
			rc = coll_work_await(&me, ring, at);
		rc = coll_agree(&me, rc);
		w = &ring->work[at % COLL_WORKS];
		if (rc || w->op == COLL_QUIT)
			break;
		rc = coll_run(&me, w);
		if (!rc && !me.thread)
			wbell_st_release_sys(
				WBELL_ADDR(&ring->channel[t.block].done),
				at + 1);
	}
	if (!me.thread)
		wbell_st_release32_sys(
			WBELL_ADDR(&ring->channel[t.block].status), (__u32)rc);
}

/* Stands for a model's own work beside the collectives. */
WBELL_KERNEL(coll_compute, struct coll_compute, c)
{
	struct wbell_thread t = wbell_thread();
	float v = c->values[t.block * t.threads + t.thread];
	uint32_t i;

	for (i = 0; i < c->rounds; i++)
		v = v * 0.999f + 0.001f;
	c->values[t.block * t.threads + t.thread] = v;
}
