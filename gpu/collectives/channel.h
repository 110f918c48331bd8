/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A channel: one block of threads, its queues, its place in every window.
 *
 * The first thread, the leader, posts and waits; all threads copy and add.
 * coll_agree() hands the leader's status to all, so a block leaves an
 * operation as one.  Each wait ends by status, deadline or abort.
 */
#ifndef WBELL_COLLECTIVES_CHANNEL_H
#define WBELL_COLLECTIVES_CHANNEL_H

#include "work.h"

struct coll_me {
	struct coll_team_view *team;
	struct coll_channel *ch;
	uint32_t channel, thread, threads;
};

#define COLL_WORD(field) \
	((uint64_t) __builtin_offsetof(struct coll_words, field))

/* ---- places ---- */

WBELL_FN uint64_t coll_pair(const struct coll_me *me, uint32_t peer)
{
	return (uint64_t)me->channel * me->team->ranks + peer;
}

/* Words that peer changes here, as an offset into a window. */
WBELL_FN uint64_t coll_words_at(const struct coll_me *me, uint32_t peer)
{
	return me->team->at.words +
	       coll_pair(me, peer) * sizeof(struct coll_words);
}

WBELL_FN uint64_t coll_fifo_at(const struct coll_me *me, uint32_t peer,
			       uint32_t slot)
{
	return me->team->at.fifo +
	       (coll_pair(me, peer) * COLL_SLOTS + slot % COLL_SLOTS) *
		       COLL_SLOT_SIZE;
}

WBELL_FN uint64_t coll_stage_at(const struct coll_me *me, uint32_t slot)
{
	return me->team->at.stage +
	       ((uint64_t)me->channel * COLL_SLOTS + slot % COLL_SLOTS) *
		       COLL_SLOT_SIZE;
}

/* Address here of an offset into the window. */
WBELL_FN uint64_t coll_here(const struct coll_me *me, uint64_t at)
{
	return me->team->window + at;
}

WBELL_FN uint64_t coll_user(const struct coll_me *me, uint64_t at)
{
	return me->team->at.user + at;
}

WBELL_FN uint32_t coll_next(const struct coll_me *me, uint32_t by)
{
	return (me->team->rank + by) % me->team->ranks;
}

WBELL_FN uint32_t coll_prev(const struct coll_me *me, uint32_t by)
{
	return (me->team->rank + me->team->ranks - by) % me->team->ranks;
}

WBELL_FN uint64_t coll_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* This channel's part of n units: [n c / C, n (c + 1) / C). */
WBELL_FN uint64_t coll_cut(const struct coll_me *me, uint64_t n, uint32_t c)
{
	return n / me->team->channels * c +
	       n % me->team->channels * c / me->team->channels;
}

/* ---- all threads ---- */

WBELL_FN int coll_agree(struct coll_me *me, int rc)
{
	if (!me->thread)
		me->ch->status = rc;
	wbell_block_sync();
	rc = me->ch->status;
	wbell_block_sync(); /* all have read before the next one writes */
	return rc;
}

/* Words where both ends allow it; the rest by one thread. */
WBELL_FN void coll_copy(const struct coll_me *me, uint64_t dst, uint64_t src,
			uint64_t n)
{
	uint64_t words = (dst | src) & 3 ? 0 : n / 4;
	uint64_t i;

	if (dst == src)
		return;
	for (i = me->thread; i < words; i += me->threads)
		((uint32_t *)(uintptr_t)dst)[i] =
			((const uint32_t *)(uintptr_t)src)[i];
	for (i = words * 4 + me->thread; i < n; i += me->threads)
		((uint8_t *)(uintptr_t)dst)[i] =
			((const uint8_t *)(uintptr_t)src)[i];
}

/* ---- the leader alone ---- */

#define COLL_RETRY(rc, q, deadline, call)            \
	while (((rc) = (call)) == WBELL_EAGAIN) {    \
		(rc) = wbell_pause((q), (deadline)); \
		if (rc)                              \
			break;                       \
	}

WBELL_FN void coll_at_step(struct coll_me *me, uint32_t peer)
{
	me->ch->peer = peer;
	me->ch->step++;
}

/* Put n bytes of this window into peer's, and count one arrival there. */
WBELL_SLOW int coll_put(struct coll_me *me, uint32_t peer, uint64_t src,
			uint64_t dst, uint64_t n, uint64_t word)
{
	struct coll_link *l = &me->ch->link[peer];
	uint64_t deadline = wbell_deadline_us(me->team->timeout_us);
	int rc;

	me->ch->peer = peer;
	COLL_RETRY(rc, l->q, deadline,
		   wbell_put_signal(
			   l->q, coll_here(me, src), me->team->lkey,
			   l->window + dst, l->rkey, n,
			   l->window + coll_words_at(me, me->team->rank) + word,
			   l->rkey, 1, WBELL_ORDER_NIC, &l->last));
	l->posted |= !rc;
	return rc;
}

/* Add 1 to one of the words at peer that are this rank's. */
WBELL_SLOW int coll_tell(struct coll_me *me, uint32_t peer, uint64_t word)
{
	struct coll_link *l = &me->ch->link[peer];
	uint64_t deadline = wbell_deadline_us(me->team->timeout_us);
	int rc;

	me->ch->peer = peer;
	COLL_RETRY(rc, l->q, deadline,
		   wbell_fetch_add(
			   l->q, 0, 0,
			   l->window + coll_words_at(me, me->team->rank) + word,
			   l->rkey, 1, &l->last));
	l->posted |= !rc;
	return rc;
}

/* Wait until a word that peer changes here has reached goal. */
WBELL_SLOW int coll_await(struct coll_me *me, uint32_t peer, uint64_t word,
			  uint32_t goal)
{
	uint64_t addr = coll_here(me, coll_words_at(me, peer) + word);
	uint64_t deadline = 0;
	int rc = 0;

	me->ch->peer = peer;
	while ((int32_t)(wbell_ld_acquire32_sys(addr) - goal) < 0 && !rc) {
		if (!deadline)
			deadline = wbell_deadline_us(me->team->timeout_us);
		rc = wbell_pause(me->ch->link[peer].q, deadline);
	}
	return rc;
}

WBELL_FN int coll_await_data(struct coll_me *me, uint32_t peer)
{
	coll_at_step(me, peer);
	return coll_await(me, peer, COLL_WORD(data), ++me->ch->link[peer].data);
}

WBELL_FN int coll_await_ready(struct coll_me *me, uint32_t peer)
{
	return coll_await(me, peer, COLL_WORD(ready),
			  ++me->ch->link[peer].ready);
}

/* Into the next slot of the FIFO at peer, when it is empty. */
WBELL_FN int coll_put_slot(struct coll_me *me, uint32_t peer, uint64_t src,
			   uint64_t n)
{
	struct coll_link *l = &me->ch->link[peer];
	uint64_t slot = coll_fifo_at(me, me->team->rank, l->slot_out);
	int rc;

	rc = coll_await(me, peer, COLL_WORD(credit),
			l->slot_out + 1 - COLL_SLOTS);
	if (rc)
		return rc;
	l->slot_out++;
	return coll_put(me, peer, src, slot, n, COLL_WORD(data));
}

/* The oldest full slot from peer; give it back with coll_free_slot(). */
WBELL_FN uint64_t coll_slot(const struct coll_me *me, uint32_t peer)
{
	return coll_here(me,
			 coll_fifo_at(me, peer, me->ch->link[peer].slot_in));
}

WBELL_FN int coll_free_slot(struct coll_me *me, uint32_t peer)
{
	me->ch->link[peer].slot_in++;
	return coll_tell(me, peer, COLL_WORD(credit));
}

/* Wait until the NIC has read what lay in the next stage slot. */
WBELL_FN int coll_stage_wait(struct coll_me *me)
{
	uint32_t s = me->ch->staged % COLL_SLOTS;

	if (me->ch->staged < COLL_SLOTS)
		return 0;
	return wbell_wait(me->ch->link[me->ch->stage_peer[s]].q,
			  me->ch->stage_last[s],
			  wbell_deadline_us(me->team->timeout_us));
}

/* The stage slot just filled goes to peer's FIFO. */
WBELL_FN int coll_put_stage(struct coll_me *me, uint32_t peer, uint64_t n)
{
	uint32_t s = me->ch->staged % COLL_SLOTS;
	int rc = coll_put_slot(me, peer, coll_stage_at(me, s), n);

	me->ch->stage_peer[s] = peer;
	me->ch->stage_last[s] = me->ch->link[peer].last;
	/* stays at or above COLL_SLOTS once it was there */
	me->ch->staged = me->ch->staged + 1 < 2 * COLL_SLOTS
				 ? me->ch->staged + 1
				 : COLL_SLOTS;
	return rc;
}

/* All that was posted has completed: sources may change. */
WBELL_SLOW int coll_flush(struct coll_me *me)
{
	struct coll_link *l;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < me->team->ranks && !rc; i++) {
		l = &me->ch->link[i];
		if (!l->posted)
			continue;
		l->posted = 0;
		me->ch->peer = i;
		rc = wbell_wait(l->q, l->last,
				wbell_deadline_us(me->team->timeout_us));
	}
	return rc;
}

#endif /* WBELL_COLLECTIVES_CHANNEL_H */
