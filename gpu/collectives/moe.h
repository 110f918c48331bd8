/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mixture of experts.  Dispatch packs each token's row for the ranks it is
 * routed to and swaps; combine swaps the rows back and sums them up by
 * weight.  Channel c of C has the tokens t with t % C == c, and row buffers
 * of its own, so channels never meet.
 */
#ifndef WBELL_COLLECTIVES_MOE_H
#define WBELL_COLLECTIVES_MOE_H

#include "swap.h"

/* Row number row of the block of peer in a buffer of rows. */
WBELL_FN uint64_t coll_row(const struct coll_me *me, const struct coll_moe *m,
			   uint64_t buffer, uint32_t peer, uint32_t row)
{
	return coll_user(me, buffer + (coll_pair(me, peer) * m->room + row) *
					      m->hidden * 4);
}

/* The leader gives every (token, choice) its row; a full block is an error. */
WBELL_FN int coll_moe_place(struct coll_me *me, struct coll_moe *m)
{
	uint32_t *n = m->out_n[me->channel];
	uint32_t t, i, to;

	for (i = 0; i < me->team->ranks; i++)
		n[i] = 0;
	for (t = me->channel; t < m->tokens; t += me->team->channels) {
		for (i = 0; i < m->k; i++) {
			to = m->route[t * m->k + i];
			if (to >= me->team->ranks || n[to] >= m->room)
				return WBELL_EINVAL;
			m->place[t * m->k + i] = n[to]++;
		}
	}
	return 0;
}

WBELL_FN void coll_moe_pack(struct coll_me *me, const struct coll_moe *m)
{
	uint64_t row = (uint64_t)m->hidden * 4;
	uint32_t t, i, at;

	for (t = me->channel; t < m->tokens; t += me->team->channels) {
		for (i = 0; i < m->k; i++) {
			at = t * m->k + i;
			coll_copy(me,
				  coll_here(me, coll_row(me, m, m->sent_at,
							 m->route[at],
							 m->place[at])),
				  coll_here(me, coll_user(me, m->token_at) +
							t * row),
				  row);
		}
	}
}

/* From the blocks of one buffer to those of another, rows[peer] each. */
WBELL_FN void coll_moe_swap(struct coll_me *me, const struct coll_moe *m,
			    uint64_t from, uint64_t to, const uint32_t *rows)
{
	struct coll_swap *s = &me->ch->swap;
	uint32_t i;

	s->room = (uint64_t)m->room * m->hidden * 4;
	for (i = 0; i < me->team->ranks; i++) {
		s->send_at[i] = coll_row(me, m, from, i, 0);
		s->send_n[i] = (uint64_t)rows[i] * m->hidden * 4;
		s->put_at[i] = coll_row(me, m, to, me->team->rank, 0);
	}
}

WBELL_FN int coll_dispatch(struct coll_me *me, const struct coll_work *w)
{
	struct coll_moe *m = w->moe;
	uint32_t i;
	int rc = 0;

	if (!me->thread)
		rc = coll_moe_place(me, m);
	rc = coll_agree(me, rc);
	if (rc)
		return rc;
	coll_moe_pack(me, m);
	if (!me->thread)
		coll_moe_swap(me, m, m->sent_at, m->recv_at,
			      m->out_n[me->channel]);
	rc = coll_swap(me);
	for (i = 0; i < me->team->ranks && !me->thread && !rc; i++)
		m->in_n[me->channel][i] =
			(uint32_t)(me->ch->swap.recv_n[i] / m->hidden / 4);
	return rc;
}

WBELL_FN void coll_moe_sum(struct coll_me *me, const struct coll_moe *m,
			   uint32_t t)
{
	float *out = (float *)(uintptr_t)coll_here(
		me, coll_user(me, m->out_at) + (uint64_t)t * m->hidden * 4);
	const float *row;
	uint32_t i, h, at;
	float sum;

	for (h = me->thread; h < m->hidden; h += me->threads) {
		sum = 0;
		for (i = 0; i < m->k; i++) {
			at = t * m->k + i;
			row = (const float *)(uintptr_t)coll_here(
				me, coll_row(me, m, m->back_at, m->route[at],
					     m->place[at]));
			sum += m->weight[at] * row[h];
		}
		out[h] = sum;
	}
}

WBELL_FN int coll_combine(struct coll_me *me, const struct coll_work *w)
{
	struct coll_moe *m = w->moe;
	uint32_t t, i;
	int rc;

	if (!me->thread)
		coll_moe_swap(me, m, m->recv_at, m->back_at,
			      m->in_n[me->channel]);
	rc = coll_swap(me);
	/* as many rows as went out, or places point at what is not there */
	for (i = 0; i < me->team->ranks && !rc; i++)
		if (me->ch->swap.recv_n[i] !=
		    (uint64_t)m->out_n[me->channel][i] * m->hidden * 4)
			rc = WBELL_EINVAL;
	for (t = me->channel; t < m->tokens && !rc; t += me->team->channels)
		coll_moe_sum(me, m, t);
	return coll_agree(me, rc);
}

#endif /* WBELL_COLLECTIVES_MOE_H */
