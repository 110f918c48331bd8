/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A descriptor against the window, before anything is posted.  Sizes are
 * compared so that no sum or product can wrap.
 */
#ifndef WBELL_COLLECTIVES_CHECK_H
#define WBELL_COLLECTIVES_CHECK_H

#include "reduce.h"

/* Do n units of size bytes fit at offset at of the user part? */
WBELL_FN int coll_fits(const struct coll_team_view *t, uint64_t at, uint64_t n,
		       uint64_t size)
{
	return at <= t->user_size && (!size || n <= (t->user_size - at) / size);
}

WBELL_FN int coll_check_blocks(const struct coll_team_view *t,
			       const struct coll_work *w)
{
	const struct coll_blocks *b = w->blocks;
	uint32_t i;

	if (!b || !coll_fits(t, w->recv_at, t->ranks, w->count))
		return WBELL_EINVAL;
	for (i = 0; i < t->ranks; i++)
		if (b->send_n[i] > w->count || b->send_n[i] > WBELL_MSG_MAX ||
		    !coll_fits(t, b->send_at[i], b->send_n[i], 1))
			return WBELL_EINVAL;
	return 0;
}

WBELL_FN int coll_check_moe(const struct coll_team_view *t,
			    const struct coll_moe *m)
{
	uint64_t row = m ? (uint64_t)m->hidden * 4 : 0;
	uint64_t rows;

	if (!row || !m->k || !m->route || !m->weight || !m->place ||
	    m->k > COLL_RANKS_MAX || m->tokens > 0xffffffffU / m->k ||
	    m->room > WBELL_MSG_MAX / row)
		return WBELL_EINVAL;
	rows = (uint64_t)t->channels * t->ranks * m->room;
	if (!coll_fits(t, m->token_at, m->tokens, row) ||
	    !coll_fits(t, m->out_at, m->tokens, row) ||
	    !coll_fits(t, m->sent_at, rows, row) ||
	    !coll_fits(t, m->recv_at, rows, row) ||
	    !coll_fits(t, m->back_at, rows, row))
		return WBELL_EINVAL;
	return 0;
}

WBELL_FN int coll_check_list(const struct coll_team_view *t,
			     const struct coll_pages *p, uint32_t peer,
			     const uint64_t *at, uint32_t n)
{
	uint32_t i;

	if (peer == COLL_NOBODY)
		return 0;
	if (peer >= t->ranks || peer == t->rank ||
	    n > COLL_PAGES_MAX * t->channels || (n && !at))
		return WBELL_EINVAL;
	for (i = 0; i < n; i++)
		if (!coll_fits(t, at[i], 1, p->page))
			return WBELL_EINVAL;
	return 0;
}

WBELL_FN int coll_check_pages(const struct coll_team_view *t,
			      const struct coll_pages *p)
{
	int rc;

	if (!p || p->page > WBELL_MSG_MAX)
		return WBELL_EINVAL;
	rc = coll_check_list(t, p, p->to, p->to_at, p->to_n);
	return rc ? rc : coll_check_list(t, p, p->from, p->from_at, p->from_n);
}

/* send_blocks and recv_blocks of count elements each. */
WBELL_FN int coll_check_plain(const struct coll_team_view *t,
			      const struct coll_work *w, uint32_t send_blocks,
			      uint32_t recv_blocks)
{
	uint32_t size = coll_type_size(w->type);

	if (w->type >= COLL_TYPES || w->send_at & (size - 1) ||
	    w->recv_at & (size - 1))
		return WBELL_EINVAL;
	if (!coll_fits(t, w->send_at, w->count, size * send_blocks) ||
	    !coll_fits(t, w->recv_at, w->count, size * recv_blocks))
		return WBELL_EINVAL;
	return 0;
}

WBELL_SLOW int coll_check(const struct coll_team_view *t,
			  const struct coll_work *w)
{
	switch (w->op) {
	case COLL_BARRIER:
		return 0;
	case COLL_ALL_GATHER:
		return coll_check_plain(t, w, 1, t->ranks);
	case COLL_REDUCE_SCATTER:
		return coll_check_plain(t, w, t->ranks, 1);
	case COLL_ALL_REDUCE_RING:
	case COLL_ALL_REDUCE_TREE:
		return coll_check_plain(t, w, 1, 1);
	case COLL_ALL_TO_ALL:
		return coll_check_blocks(t, w);
	case COLL_DISPATCH:
	case COLL_COMBINE:
		return coll_check_moe(t, w->moe);
	case COLL_PAGES:
		return coll_check_pages(t, w->pages);
	case COLL_SHIFT:
	case COLL_PUTS:
		if (w->count > WBELL_MSG_MAX ||
		    !coll_fits(t, w->send_at, w->count, 1) ||
		    !coll_fits(t, w->recv_at, w->count, 1))
			return WBELL_EINVAL;
		return 0;
	default:
		return WBELL_EINVAL;
	}
}

#endif /* WBELL_COLLECTIVES_CHECK_H */
