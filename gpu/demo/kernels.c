// SPDX-License-Identifier: BSD-2-Clause
/*
 * The demo's kernels: one text for nvcc and for gcc.
 *
 * Every thread keeps to one queue, and takes every n-th chunk or operation
 * of n threads.  Each wait ends by status, by deadline or by the context's
 * abort word; a thread that fails leaves its status and stops.
 */
#include "kernels.h"

struct demo_self {
	struct wbell_dqueue *q;
	struct demo_lane *lane;
	uint32_t index, count;
	uint32_t timeout_us;
};

WBELL_FN struct demo_self demo_self(const struct demo_queues *queues,
				    struct demo_lane *lanes)
{
	struct wbell_thread t = wbell_thread();
	struct demo_self me;

	me.index = t.block * t.threads + t.thread;
	me.count = t.blocks * t.threads;
	me.lane = &lanes[me.index];
	me.lane->queue = me.index % queues->n;
	me.q = queues->dq[me.lane->queue];
	me.timeout_us = queues->timeout_us;
	return me;
}

WBELL_FN void demo_advance(struct demo_lane *lane, uint64_t by)
{
	wbell_st_relaxed(WBELL_ADDR(&lane->done), lane->done + by);
}

/* The bucket of ns: its highest bit, then the DEMO_BUCKET_BITS behind it. */
WBELL_FN void demo_record(struct demo_lane *lane, uint64_t ns)
{
	uint32_t shift = 0;
	uint32_t at;

	while (ns >> shift >= 2U << DEMO_BUCKET_BITS)
		shift++;
	at = (shift << DEMO_BUCKET_BITS) + (uint32_t)(ns >> shift);
	if (at >= DEMO_BUCKETS)
		at = DEMO_BUCKETS - 1;
	lane->bucket[at]++;
}

/* A full ring is tried again until deadline or abort. */
#define DEMO_RETRY(rc, q, deadline, call)            \
	while (((rc) = (call)) == WBELL_EAGAIN) {    \
		(rc) = wbell_pause((q), (deadline)); \
		if (rc)                              \
			break;                       \
	}

/* One completion's worth of work: timed from its first post to its CQE. */
struct demo_turn {
	uint64_t deadline, start; /* ns */
	struct wbell_ticket t;
};

WBELL_FN struct demo_turn demo_begin(const struct demo_self *me)
{
	struct demo_turn turn = { 0 };

	turn.deadline = wbell_deadline_us(me->timeout_us);
	turn.start = wbell_now_ns();
	return turn;
}

/* rc: of the posts; by: what the lane is further when all went well. */
WBELL_FN int demo_end(struct demo_self *me, const struct demo_turn *turn,
		      int rc, uint64_t by)
{
	if (!rc)
		rc = wbell_wait(me->q, turn->t, turn->deadline);
	if (rc)
		return rc;
	demo_record(me->lane, wbell_now_ns() - turn->start);
	demo_advance(me->lane, by);
	return 0;
}

WBELL_FN uint64_t demo_chunk(const struct demo_copy *a, uint64_t at)
{
	return a->size - at < a->chunk ? a->size - at : a->chunk;
}

WBELL_FN int demo_push_one(const struct demo_copy *a, struct demo_self *me,
			   uint64_t at)
{
	uint64_t n = demo_chunk(a, at);
	struct demo_turn turn = demo_begin(me);
	int rc;

	DEMO_RETRY(rc, me->q, turn.deadline,
		   wbell_put_signal(me->q, a->local + at, a->lkey,
				    a->remote + at, a->rkey, n, a->signal,
				    a->signal_rkey, 1, WBELL_ORDER_NIC,
				    &turn.t));
	return demo_end(me, &turn, rc, n);
}

WBELL_KERNEL(demo_push, struct demo_copy, a)
{
	struct demo_self me = demo_self(a->queues, a->lanes);
	uint64_t step = (uint64_t)me.count * a->chunk;
	uint64_t at;
	int rc = 0;

	for (at = (uint64_t)me.index * a->chunk; at < a->size && !rc;
	     at += step)
		rc = demo_push_one(a, &me, at);
	me.lane->status = rc;
}

WBELL_FN int demo_pull_one(const struct demo_copy *a, struct demo_self *me,
			   uint64_t at)
{
	uint64_t n = demo_chunk(a, at);
	struct demo_turn turn = demo_begin(me);
	int rc;

	DEMO_RETRY(rc, me->q, turn.deadline,
		   wbell_get(me->q, a->local + at, a->lkey, a->remote + at,
			     a->rkey, n, &turn.t));
	return demo_end(me, &turn, rc, n);
}

WBELL_KERNEL(demo_pull, struct demo_copy, a)
{
	struct demo_self me = demo_self(a->queues, a->lanes);
	uint64_t step = (uint64_t)me.count * a->chunk;
	uint64_t at;
	int rc = 0;

	for (at = (uint64_t)me.index * a->chunk; at < a->size && !rc;
	     at += step)
		rc = demo_pull_one(a, &me, at);
	me.lane->status = rc;
}

WBELL_FN int demo_count_one(const struct demo_small *a, struct demo_self *me,
			    uint64_t *result)
{
	struct demo_turn turn = demo_begin(me);
	int rc;

	DEMO_RETRY(rc, me->q, turn.deadline,
		   wbell_fetch_add(me->q, WBELL_ADDR(result), a->result_lkey,
				   a->remote, a->rkey, 1, &turn.t));
	return demo_end(me, &turn, rc, 1);
}

WBELL_KERNEL(demo_count, struct demo_small, a)
{
	struct demo_self me = demo_self(a->queues, a->lanes);
	uint64_t *mine = a->result + (uint64_t)me.index * a->each;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < a->each && !rc; i++)
		rc = demo_count_one(a, &me, &mine[i]);
	me.lane->status = rc;
}

/* No zero in the low half: dissectors guess at payloads, and would take small
 * numbers for an EtherType.
 */
#define DEMO_TAG 0xffffffffULL

/* Posts up to a window of puts; the last one's completion stands for all. */
WBELL_FN int demo_spray_window(const struct demo_small *a, struct demo_self *me,
			       uint32_t n)
{
	struct demo_turn turn = demo_begin(me);
	uint64_t count = me->lane->done;
	uint64_t value;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		value = ++count << 32 | DEMO_TAG;
		DEMO_RETRY(rc, me->q, turn.deadline,
			   wbell_put_inline(me->q, &value, sizeof(value),
					    a->remote + 8 * me->index, a->rkey,
					    &turn.t));
	}
	return demo_end(me, &turn, rc, n);
}

WBELL_KERNEL(demo_spray, struct demo_small, a)
{
	struct demo_self me = demo_self(a->queues, a->lanes);
	uint32_t left = a->each;
	uint32_t n;
	int rc = 0;

	while (left && !rc) {
		n = left < a->window ? left : a->window;
		rc = demo_spray_window(a, &me, n);
		left -= n;
	}
	me.lane->status = rc;
}

/*
 * Waits until the signal word says that all chunks are whole.  Each step of
 * the word moves the deadline.  The low half tells: chunks fit 32 bits.
 */
WBELL_KERNEL(demo_await, struct demo_await, a)
{
	struct demo_self me = demo_self(a->queues, a->lanes);
	uint64_t deadline = wbell_deadline_us(me.timeout_us);
	uint32_t seen = 0;
	uint32_t now = 0;
	int rc = 0;

	while (seen < a->goal && !rc) {
		now = wbell_ld_acquire32_sys(WBELL_ADDR(a->signal));
		if (now != seen) {
			demo_advance(me.lane, now - seen);
			seen = now;
			deadline = wbell_deadline_us(me.timeout_us);
		} else {
			rc = wbell_pause(me.q, deadline);
		}
	}
	me.lane->status = rc;
}
