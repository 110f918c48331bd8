/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reduce-scatter, all-gather and all-reduce around a ring.
 *
 * Sums go from FIFO slot to FIFO slot, so their size is bounded and the
 * receiver's own buffers are not touched.  Finished chunks are put right
 * where they belong: a chunk of an all-reduce holds every rank's part, so
 * every rank has entered the operation; an all-gather asks for permission.
 */
#ifndef WBELL_COLLECTIVES_RING_H
#define WBELL_COLLECTIVES_RING_H

#include "reduce.h"

/* Chunk j: stride apart, len each, none of it behind end.  Bytes. */
struct coll_ring_span {
	uint64_t send, recv; /* of chunk 0, offsets into the window */
	uint64_t stride, len, end;
	uint32_t type;
	uint32_t place; /* stride of chunks where sums go; 0: one chunk */
};

WBELL_FN uint64_t coll_chunk(const struct coll_ring_span *s, uint32_t j)
{
	uint64_t at = s->stride * j;

	return at < s->end ? coll_least(s->len, s->end - at) : 0;
}

/* Take chunk j's partial sum, add this rank's part; the last one stays. */
WBELL_FN int coll_ring_sum(struct coll_me *me, const struct coll_ring_span *s,
			   uint32_t j, int last)
{
	uint32_t prev = coll_prev(me, 1), next = coll_next(me, 1);
	struct coll_sum sum;
	int rc = 0;

	sum.n = coll_chunk(s, j);
	if (!sum.n)
		return 0;
	if (!me->thread) {
		rc = coll_await_data(me, prev);
		if (!rc && !last)
			rc = coll_stage_wait(me);
	}
	rc = coll_agree(me, rc);
	if (rc)
		return rc;
	sum.a = coll_slot(me, prev);
	sum.b = coll_here(me, s->send + s->stride * j);
	sum.dst = coll_here(me, last ? s->recv + (s->place ? s->stride * j : 0)
				     : coll_stage_at(me, me->ch->staged));
	sum.type = s->type;
	coll_add(me, &sum);
	wbell_block_sync();
	if (!me->thread) {
		rc = coll_free_slot(me, prev);
		if (!rc && !last)
			rc = coll_put_stage(me, next, sum.n);
	}
	return coll_agree(me, rc);
}

/* Afterwards chunk number rank of the sum lies at this rank. */
WBELL_FN int coll_ring_scatter(struct coll_me *me,
			       const struct coll_ring_span *s)
{
	uint32_t n = me->team->ranks, first = coll_prev(me, 1);
	uint32_t step;
	int rc = 0;

	if (!me->thread && coll_chunk(s, first))
		rc = coll_put_slot(me, coll_next(me, 1),
				   s->send + s->stride * first,
				   coll_chunk(s, first));
	rc = coll_agree(me, rc);
	for (step = 1; step < n && !rc; step++)
		rc = coll_ring_sum(me, s, coll_prev(me, step + 1),
				   step == n - 1);
	return rc;
}

/* From chunk number rank here to all chunks here; the leader alone. */
WBELL_FN int coll_ring_spread(struct coll_me *me,
			      const struct coll_ring_span *s)
{
	uint32_t n = me->team->ranks;
	uint32_t step, j;
	uint64_t at;
	int rc = 0;

	for (step = 0; step < n - 1 && !rc; step++) {
		j = coll_prev(me, step);
		at = s->recv + s->stride * j;
		if (coll_chunk(s, j))
			rc = coll_put(me, coll_next(me, 1), at, at,
				      coll_chunk(s, j), COLL_WORD(data));
		if (!rc && coll_chunk(s, coll_prev(me, step + 1)))
			rc = coll_await_data(me, coll_prev(me, 1));
	}
	return rc;
}

WBELL_FN int coll_all_reduce_ring(struct coll_me *me, const struct coll_work *w)
{
	uint32_t size = coll_type_size(w->type), n = me->team->ranks;
	uint64_t at = coll_cut(me, w->count, me->channel);
	uint64_t end = coll_cut(me, w->count, me->channel + 1);
	uint64_t slot = COLL_SLOT_SIZE / size, len;
	struct coll_ring_span s;
	int rc = 0;

	s.type = w->type;
	s.place = 1;
	for (; at < end && !rc; at += len * n) {
		len = coll_least(slot, (end - at + n - 1) / n);
		s.send = coll_user(me, w->send_at + at * size);
		s.recv = coll_user(me, w->recv_at + at * size);
		s.stride = len * size;
		s.len = len * size;
		s.end = (end - at) * size;
		rc = coll_ring_scatter(me, &s);
		if (!rc && !me->thread)
			rc = coll_ring_spread(me, &s);
		rc = coll_agree(me, rc);
	}
	return rc;
}

WBELL_FN int coll_reduce_scatter(struct coll_me *me, const struct coll_work *w)
{
	uint32_t size = coll_type_size(w->type);
	uint64_t at = coll_cut(me, w->count, me->channel);
	uint64_t end = coll_cut(me, w->count, me->channel + 1);
	struct coll_ring_span s;
	int rc = 0;

	s.type = w->type;
	s.place = 0;
	s.stride = w->count * size;
	s.end = ~0ULL;
	for (; at < end && !rc; at += COLL_SLOT_SIZE / size) {
		s.send = coll_user(me, w->send_at + at * size);
		s.recv = coll_user(me, w->recv_at + at * size);
		s.len = coll_least(COLL_SLOT_SIZE, (end - at) * size);
		rc = coll_ring_scatter(me, &s);
	}
	return rc;
}

/* A piece goes on as soon as it is here: block j, [at, at + n) of it. */
WBELL_FN int coll_gather_piece(struct coll_me *me, const struct coll_work *w,
			       uint32_t step, uint64_t at, uint64_t n)
{
	uint64_t block = w->count * coll_type_size(w->type);
	uint64_t place =
		coll_user(me, w->recv_at + block * coll_prev(me, step) + at);
	int rc = 0;

	if (step)
		rc = coll_await_data(me, coll_prev(me, 1));
	if (!rc && step < me->team->ranks - 1)
		rc = coll_put(me, coll_next(me, 1), place, place, n,
			      COLL_WORD(data));
	return rc;
}

WBELL_FN int coll_gather_ring(struct coll_me *me, const struct coll_work *w,
			      uint64_t at, uint64_t end)
{
	uint64_t piece;
	uint32_t step;
	int rc;

	rc = coll_tell(me, coll_prev(me, 1), COLL_WORD(ready));
	if (!rc)
		rc = coll_await_ready(me, coll_next(me, 1));
	for (step = 0; step < me->team->ranks && !rc; step++)
		for (piece = at; piece < end && !rc; piece += COLL_SLOT_SIZE)
			rc = coll_gather_piece(
				me, w, step, piece,
				coll_least(COLL_SLOT_SIZE, end - piece));
	return rc;
}

WBELL_FN int coll_all_gather(struct coll_me *me, const struct coll_work *w)
{
	uint32_t size = coll_type_size(w->type);
	uint64_t at = coll_cut(me, w->count, me->channel) * size;
	uint64_t end = coll_cut(me, w->count, me->channel + 1) * size;
	uint64_t own = w->recv_at + w->count * size * me->team->rank;
	int rc = 0;

	coll_copy(me, coll_here(me, coll_user(me, own + at)),
		  coll_here(me, coll_user(me, w->send_at + at)), end - at);
	wbell_block_sync();
	if (!me->thread)
		rc = coll_gather_ring(me, w, at, end);
	return coll_agree(me, rc);
}

#endif /* WBELL_COLLECTIVES_RING_H */
