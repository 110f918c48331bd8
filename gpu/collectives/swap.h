/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All-to-all with variable counts.  A receiver need not know what comes: it
 * gives permission and room; the count arrives first, then the block.
 */
#ifndef WBELL_COLLECTIVES_SWAP_H
#define WBELL_COLLECTIVES_SWAP_H

#include "channel.h"

/* Count, then block, to one peer, once it has given permission. */
WBELL_FN int coll_swap_put(struct coll_me *me, uint32_t peer)
{
	struct coll_swap *s = &me->ch->swap;
	uint64_t out = me->team->at.outs + coll_pair(me, peer) * 8;
	uint64_t word = coll_words_at(me, me->team->rank) + COLL_WORD(count);
	int rc;

	*(uint64_t *)(uintptr_t)coll_here(me, out) = s->send_n[peer];
	rc = coll_await_ready(me, peer);
	if (!rc)
		rc = coll_put(me, peer, out, word, 8, COLL_WORD(data));
	if (!rc && s->send_n[peer])
		rc = coll_put(me, peer, s->send_at[peer], s->put_at[peer],
			      s->send_n[peer], COLL_WORD(data));
	return rc;
}

WBELL_FN int coll_swap_take(struct coll_me *me, uint32_t peer)
{
	struct coll_swap *s = &me->ch->swap;
	uint64_t word = coll_words_at(me, peer) + COLL_WORD(count);
	int rc = coll_await_data(me, peer);

	if (rc)
		return rc;
	s->recv_n[peer] = *(volatile uint64_t *)(uintptr_t)coll_here(me, word);
	/* a peer that breaks the rules must not lead readers astray */
	if (s->recv_n[peer] > s->room)
		return WBELL_EINVAL;
	return s->recv_n[peer] ? coll_await_data(me, peer) : 0;
}

/* The leader alone, over ch->swap; all but the own block. */
WBELL_FN int coll_swap_peers(struct coll_me *me)
{
	uint32_t i;
	int rc = 0;

	for (i = 1; i < me->team->ranks && !rc; i++)
		rc = coll_tell(me, coll_prev(me, i), COLL_WORD(ready));
	for (i = 1; i < me->team->ranks && !rc; i++)
		rc = coll_swap_put(me, coll_next(me, i));
	for (i = 1; i < me->team->ranks && !rc; i++)
		rc = coll_swap_take(me, coll_prev(me, i));
	return rc ? rc : coll_flush(me);
}

/* All threads, over ch->swap that the leader has filled. */
WBELL_SLOW int coll_swap(struct coll_me *me)
{
	struct coll_swap *s = &me->ch->swap;
	uint32_t r = me->team->rank;
	int rc = 0;

	wbell_block_sync();
	coll_copy(me, coll_here(me, s->put_at[r]), coll_here(me, s->send_at[r]),
		  s->send_n[r]);
	if (!me->thread) {
		s->recv_n[r] = s->send_n[r];
		rc = coll_swap_peers(me);
	}
	return coll_agree(me, rc);
}

/* A block is cut among the channels; each part goes where it would anyway. */
WBELL_FN void coll_blocks_cut(struct coll_me *me, const struct coll_work *w)
{
	struct coll_swap *s = &me->ch->swap;
	uint64_t n, at;
	uint32_t i;

	s->room = w->count;
	for (i = 0; i < me->team->ranks; i++) {
		n = w->blocks->send_n[i];
		at = coll_cut(me, n, me->channel);
		s->send_n[i] = coll_cut(me, n, me->channel + 1) - at;
		s->send_at[i] = coll_user(me, w->blocks->send_at[i] + at);
		s->put_at[i] = coll_user(
			me, w->recv_at + w->count * me->team->rank + at);
	}
}

WBELL_FN int coll_all_to_all(struct coll_me *me, const struct coll_work *w)
{
	uint32_t i;
	int rc;

	if (!me->thread)
		coll_blocks_cut(me, w);
	rc = coll_swap(me);
	for (i = 0; i < me->team->ranks && !me->thread && !rc; i++)
		w->blocks->recv_n[me->channel][i] = me->ch->swap.recv_n[i];
	return rc;
}

#endif /* WBELL_COLLECTIVES_SWAP_H */
