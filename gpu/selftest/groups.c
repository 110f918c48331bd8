// SPDX-License-Identifier: BSD-2-Clause
/*
 * The forms of the calls for groups of threads.  A status is the same for all
 * of a group, so all leave together; what one thread alone finds is noted,
 * and the thread stays with its group.
 */
#define SELF_FILE 1
#include "self.h"

#define WARP  0
#define BLOCK 1

#define TRIES 4000000 /* of a full ring, by a group: bounded alike for all */

/* Each lane its own, some of them not in each round. */
WBELL_KERNEL(self_lanes, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_ticket t = { 0 };
	uint32_t r;

	for (r = 0; r < a->each; r++) {
		if (r + 1 < a->each && (s.index + r) % 3 == 0)
			continue;
		self_fill(s.local, s.index, r, 1000);
		POST(s, wbell_put_lanes(s.q, s.local, a->lkey, s.remote,
					a->rkey, 1000, &t));
		WAIT(s, t);
	}
	POST(s, wbell_get_lanes(s.q, s.local + 2048, a->lkey, s.remote, a->rkey,
				1000, &t));
	WAIT(s, t);
	EXPECT(s, self_differs(s.local + 2048, s.index, a->each - 1, 1000), 0);
	POST(s, wbell_put_inline_lanes(s.q, self_bytes(s.local), SELF_SHARE,
				       s.remote + 1024, a->rkey, &t));
	POST(s, wbell_fetch_add_lanes(s.q, 0, 0, a->remote, a->rkey, 1, &t));
	POST(s, wbell_put_signal_lanes(s.q, s.local, a->lkey, s.remote, a->rkey,
				       1000, a->remote + 16, a->rkey, 1,
				       WBELL_ORDER_NIC, &t));
	WAIT(s, t);
}

/* ---- warp and block ---- */

struct group {
	int form;
	uint32_t rank, leader; /* in the group; index of its first thread */
	uint32_t n;	       /* bytes of its message */
	uint64_t local, remote;
};

WBELL_FN struct group group_of(const struct self *s, int form)
{
	struct wbell_thread t = wbell_thread();
	struct group g;

	g.form = form;
	g.rank = form == WARP ? t.lane : t.thread;
	g.leader = s->index - g.rank;
	g.n = SELF_SHARE * (form == WARP ? t.lanes : t.threads);
	g.local = s->local - (uint64_t)SELF_PART * g.rank;
	g.remote = s->remote - (uint64_t)SELF_PART * g.rank;
	return g;
}

#define OF(g, call, ...)                                     \
	((g).form == WARP ? wbell_##call##_warp(__VA_ARGS__) \
			  : wbell_##call##_block(__VA_ARGS__))

#define GROUP_POST(s, g, call, ...)                        \
	do {                                               \
		uint32_t tries_ = TRIES;                   \
		int rc_;                                   \
                                                           \
		do {                                       \
			rc_ = OF(g, call, __VA_ARGS__);    \
			if (rc_ == WBELL_EAGAIN)           \
				wbell_relax();             \
		} while (rc_ == WBELL_EAGAIN && --tries_); \
		EXPECT(s, rc_, 0);                         \
	} while (0)

WBELL_FN void group_fill(const struct group *g, uint32_t round)
{
	uint32_t i;

	for (i = g->rank * SELF_SHARE; i < (g->rank + 1) * SELF_SHARE; i++)
		self_bytes(g->local)[i] = SELF_BYTE(g->leader, round, i);
}

/* A thread looks at its neighbour's share, too: all see what the NIC wrote. */
WBELL_FN void group_look(const struct self *s, const struct group *g,
			 uint64_t at, uint32_t round)
{
	int bad = self_differs(at, g->leader, round, g->n);

	if (bad && !s->lane->line)
		self_note(s->lane, __LINE__, bad, 0);
}

WBELL_FN void group_moves(struct self *s, const struct group *g)
{
	const struct self_args *a = s->a;
	struct wbell_ticket t = { 0 };
	uint32_t r;

	for (r = 0; r < a->each; r++) {
		group_fill(g, r);
		GROUP_POST(*s, *g, put, s->q, g->local, a->lkey, g->remote,
			   a->rkey, g->n, &t);
		EXPECT(*s, OF(*g, wait, s->q, t, s->deadline), 0);
		GROUP_POST(*s, *g, get, s->q, g->local + 4096 - g->n, a->lkey,
			   g->remote, a->rkey, g->n, &t);
		EXPECT(*s, OF(*g, wait, s->q, t, s->deadline), 0);
		group_look(s, g, g->local + 4096 - g->n, r);
	}
}

WBELL_FN void group_rest(struct self *s, const struct group *g)
{
	const struct self_args *a = s->a;
	struct wbell_ticket t = { 0 };

	GROUP_POST(*s, *g, put_inline, s->q, self_bytes(g->local), SELF_SHARE,
		   g->remote + SELF_PART - SELF_SHARE, a->rkey, &t);
	GROUP_POST(*s, *g, fetch_add, s->q, 0, 0, a->remote, a->rkey, 1, &t);
	GROUP_POST(*s, *g, compare_swap, s->q, 0, 0, a->remote + 8, a->rkey, 0,
		   7, &t);
	GROUP_POST(*s, *g, put_signal, s->q, g->local, a->lkey, g->remote,
		   a->rkey, g->n, a->remote + 16, a->rkey, 1, WBELL_ORDER_FENCE,
		   &t);
	GROUP_POST(*s, *g, flush, s->q);
	EXPECT(*s, OF(*g, wait, s->q, t, s->deadline), 0);
	EXPECT(*s, OF(*g, test, s->q, t), 0);
	EXPECT(*s, OF(*g, quiet, s->q, s->deadline), 0);
}

WBELL_KERNEL(self_warp, struct self_args, a)
{
	struct self s = self_start(a);
	struct group g = group_of(&s, WARP);

	group_moves(&s, &g);
	group_rest(&s, &g);
}

WBELL_KERNEL(self_block, struct self_args, a)
{
	struct self s = self_start(a);
	struct group g = group_of(&s, BLOCK);

	group_moves(&s, &g);
	group_rest(&s, &g);
}
