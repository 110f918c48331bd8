/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All-reduce up and down a binary tree: rank r's children are 2r + 1 and
 * 2r + 2.  Sums go up through FIFO slots, a piece behind the other; the
 * root's results go down right to where they belong (all have entered then).
 */
#ifndef WBELL_COLLECTIVES_TREE_H
#define WBELL_COLLECTIVES_TREE_H

#include "reduce.h"

struct coll_tree {
	uint32_t parent, child[2], children;
	uint64_t send, recv; /* offsets into the window */
	uint64_t n;	     /* bytes */
	uint32_t type;
};

WBELL_FN void coll_tree_init(const struct coll_me *me,
			     const struct coll_work *w, struct coll_tree *t)
{
	uint32_t size = coll_type_size(w->type), rank = me->team->rank;
	uint64_t at = coll_cut(me, w->count, me->channel);

	t->parent = rank ? (rank - 1) / 2 : COLL_NOBODY;
	t->child[0] = 2 * rank + 1;
	t->child[1] = 2 * rank + 2;
	t->children = (t->child[0] < me->team->ranks) +
		      (t->child[1] < me->team->ranks);
	t->send = coll_user(me, w->send_at + at * size);
	t->recv = coll_user(me, w->recv_at + at * size);
	t->n = (coll_cut(me, w->count, me->channel + 1) - at) * size;
	t->type = w->type;
}

/* dst = a + the piece that child sent. */
WBELL_FN int coll_tree_add(struct coll_me *me, struct coll_sum *sum,
			   uint32_t child)
{
	int rc = 0;

	if (!me->thread)
		rc = coll_await_data(me, child);
	rc = coll_agree(me, rc);
	if (rc)
		return rc;
	sum->b = coll_slot(me, child);
	coll_add(me, sum);
	wbell_block_sync();
	if (!me->thread)
		rc = coll_free_slot(me, child);
	return coll_agree(me, rc);
}

WBELL_FN int coll_tree_down(struct coll_me *me, const struct coll_tree *t,
			    uint64_t at, uint64_t n)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < t->children && !rc; i++)
		rc = coll_put(me, t->child[i], t->recv + at, t->recv + at, n,
			      COLL_WORD(data));
	return rc;
}

WBELL_FN int coll_tree_pass(struct coll_me *me, const struct coll_tree *t,
			    uint64_t at, uint64_t n)
{
	if (t->parent == COLL_NOBODY)
		return coll_tree_down(me, t, at, n);
	if (!t->children)
		return coll_put_slot(me, t->parent, t->send + at, n);
	return coll_put_stage(me, t->parent, n);
}

WBELL_FN int coll_tree_up(struct coll_me *me, const struct coll_tree *t,
			  uint64_t at, uint64_t n)
{
	struct coll_sum sum;
	uint32_t i;
	int rc = 0;

	if (!me->thread && t->children && t->parent != COLL_NOBODY)
		rc = coll_stage_wait(me);
	rc = coll_agree(me, rc);
	sum.type = t->type;
	sum.n = n;
	sum.a = coll_here(me, t->send + at);
	sum.dst = coll_here(me, t->parent == COLL_NOBODY
					? t->recv + at
					: coll_stage_at(me, me->ch->staged));
	for (i = 0; i < t->children && !rc; i++) {
		rc = coll_tree_add(me, &sum, t->child[i]);
		sum.a = sum.dst;
	}
	if (!rc && !me->thread)
		rc = coll_tree_pass(me, t, at, n);
	return coll_agree(me, rc);
}

/* Non-roots: results come down, and go on down. */
WBELL_FN int coll_tree_take(struct coll_me *me, const struct coll_tree *t)
{
	uint64_t at;
	int rc = 0;

	for (at = 0; at < t->n && !rc; at += COLL_SLOT_SIZE) {
		rc = coll_await_data(me, t->parent);
		if (!rc)
			rc = coll_tree_down(
				me, t, at,
				coll_least(COLL_SLOT_SIZE, t->n - at));
	}
	return rc;
}

WBELL_FN int coll_all_reduce_tree(struct coll_me *me, const struct coll_work *w)
{
	struct coll_tree t;
	uint64_t at;
	int rc = 0;

	coll_tree_init(me, w, &t);
	for (at = 0; at < t.n && !rc; at += COLL_SLOT_SIZE)
		rc = coll_tree_up(me, &t, at,
				  coll_least(COLL_SLOT_SIZE, t.n - at));
	if (!rc && !me->thread && t.parent != COLL_NOBODY)
		rc = coll_tree_take(me, &t);
	return coll_agree(me, rc);
}

#endif /* WBELL_COLLECTIVES_TREE_H */
