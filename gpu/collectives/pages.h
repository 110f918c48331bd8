/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paged key-value blocks.  The receiver sends its page list to the sender,
 * which is the permission; the sender puts page by page, right into place,
 * and signals with the last.  Page i goes on channel i % channels.
 */
#ifndef WBELL_COLLECTIVES_PAGES_H
#define WBELL_COLLECTIVES_PAGES_H

#include "channel.h"

WBELL_FN struct coll_list *coll_list(const struct coll_me *me, uint64_t at)
{
	return (struct coll_list *)(uintptr_t)coll_here(me, at);
}

WBELL_FN uint64_t coll_table_at(const struct coll_me *me, uint32_t peer)
{
	return me->team->at.tables +
	       coll_pair(me, peer) * sizeof(struct coll_list);
}

/* The receiver's list to the sender. */
WBELL_FN int coll_pages_offer(struct coll_me *me, const struct coll_pages *p)
{
	uint64_t at =
		me->team->at.lists + me->channel * sizeof(struct coll_list);
	struct coll_list *list = coll_list(me, at);
	uint32_t i;

	list->n = 0;
	for (i = me->channel; i < p->from_n; i += me->team->channels)
		list->at[list->n++] = p->from_at[i];
	return coll_put(me, p->from, at, coll_table_at(me, me->team->rank),
			8 + list->n * 8, COLL_WORD(ready));
}

/* The list came over the wire: each place is checked before it is used. */
WBELL_FN int coll_page_put(struct coll_me *me, const struct coll_pages *p,
			   const struct coll_list *list, uint32_t i)
{
	uint64_t from = p->to_at[me->channel + i * me->team->channels];
	uint64_t to = list->at[i];
	struct coll_link *l = &me->ch->link[p->to];
	uint64_t deadline = wbell_deadline_us(me->team->timeout_us);
	int rc;

	if (to > me->team->user_size || p->page > me->team->user_size - to)
		return WBELL_EINVAL;
	from = coll_user(me, from);
	to = coll_user(me, to);
	me->ch->step++;
	if (i + 1 == list->n)
		return coll_put(me, p->to, from, to, p->page, COLL_WORD(data));
	COLL_RETRY(rc, l->q, deadline,
		   wbell_put(l->q, coll_here(me, from), me->team->lkey,
			     l->window + to, l->rkey, p->page, &l->last));
	l->posted |= !rc;
	return rc;
}

WBELL_FN int coll_pages_put(struct coll_me *me, const struct coll_pages *p)
{
	const struct coll_list *list = coll_list(me, coll_table_at(me, p->to));
	uint64_t own = (p->to_n + me->team->channels - 1 - me->channel) /
		       me->team->channels;
	uint32_t i;
	int rc;

	rc = coll_await_ready(me, p->to);
	if (!rc && list->n != own)
		rc = WBELL_EINVAL; /* the two ends disagree on how many */
	for (i = 0; i < own && !rc; i++)
		rc = coll_page_put(me, p, list, i);
	return rc;
}

WBELL_FN int coll_pages_leader(struct coll_me *me, const struct coll_pages *p)
{
	int rc = 0;

	if (p->from != COLL_NOBODY)
		rc = coll_pages_offer(me, p);
	if (!rc && p->to != COLL_NOBODY)
		rc = coll_pages_put(me, p);
	if (!rc && p->from != COLL_NOBODY && me->channel < p->from_n)
		rc = coll_await_data(me, p->from);
	return rc;
}

WBELL_FN int coll_pages(struct coll_me *me, const struct coll_work *w)
{
	int rc = 0;

	if (!me->thread)
		rc = coll_pages_leader(me, w->pages);
	return coll_agree(me, rc);
}

#endif /* WBELL_COLLECTIVES_PAGES_H */
