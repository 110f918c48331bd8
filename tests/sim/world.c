// SPDX-License-Identifier: BSD-2-Clause
/* The event loop: time moves from event to event, and every turn is judged. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define PATIENCE   (4000 * MS) /* of the clock, once the wire is good */
#define EVENTS_MAX 3000000

/* ---- saying ---- */

void world_say(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->trace)
		return;
	printf("%12llu ", (unsigned long long)w->now);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void world_fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->lost)
		return;
	w->lost = true;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
	world_say(w, "FAILED: %s", w->why);
}

void world_hash(struct world *w, uint64_t v)
{
	w->hash = (w->hash ^ v ^ w->now) * 0x100000001b3ULL;
	w->hash ^= w->hash >> 29;
}

static void hash_frame(struct world *w, const struct roce_frame *f)
{
	uint32_t icrc, apsn;

	/* the ICRC stands for all the rest */
	memcpy(&icrc, f->data + f->len - 4, 4);
	memcpy(&apsn, f->data + 50, 4);
	world_hash(w, (uint64_t)icrc << 32 | f->len);
	world_hash(w, apsn);
}

/* ---- a turn of a node ---- */

static void send_all(struct node *n, unsigned count)
{
	struct world *w = n->w;

	for (unsigned i = 0; i < count; i++) {
		unsigned to = w->tx[i].data[5] - 1U;

		if (to >= w->nnode || to == n->id) {
			world_fail(w, "node %u sends to nobody", n->id);
			return;
		}
		hash_frame(w, &w->tx[i]);
		watch_tx(w, n->id, to, &w->tx[i]);
		wire_send(w, n->id, to, &w->tx[i]);
	}
}

static void come_back(struct node *n, uint64_t t)
{
	if (t <= n->w->now)
		t = n->w->now + 1;
	if (t >= n->wake)
		return;
	n->wake = t;
	heap_add(n->w, (struct event){
			       .t = t, .kind = EV_WAKE, .to = (uint8_t)n->id });
}

static void transmit(struct node *n)
{
	struct world *w = n->w;
	bool slow = w->plan.faults & F_SLOW && w->now < w->plan.calm;
	unsigned most = slow ? (unsigned)pick(&n->rng, 1, 4) : BURST;
	unsigned k;

	do {
		for (unsigned i = 0; i < most; i++)
			w->tx[i].room = FRAME_ROOM;
		k = roce_tx(n->dev, w->now, w->tx, most);
		n->taken += k;
		send_all(n, k);
	} while (k == most && !slow && !w->lost);
	if (k == most)
		come_back(n, w->now + 300);
	else
		watch_quiet(w, n);
}

static void complete(struct node *n)
{
	struct roce_comp c[16];
	unsigned k;

	if (n->w->plan.faults & F_SLOW && n->w->now < n->w->plan.calm &&
	    chance(&n->rng, 6000)) {
		come_back(n, n->w->now + pick(&n->rng, 1, 60 * US));
		return;
	}
	do {
		k = roce_comp(n->dev, c, 16);
		for (unsigned i = 0; i < k; i++)
			oracle_comp(n, &c[i]);
	} while (k == 16);
}

static void node_turn(struct node *n)
{
	if (!n->alive || n->w->lost)
		return;
	transmit(n);
	while (roce_failed(n->dev))
		n->errors++;
	complete(n);
	if (roce_deadline(n->dev) != ~0ULL)
		come_back(n, roce_deadline(n->dev));
}

/* ---- frames ---- */

static bool more_for(struct world *w, const struct event *first)
{
	const struct event *e = w->heap;

	return w->nheap && e->kind == EV_FRAME && e->to == first->to &&
	       e->t <= first->t + 2 * US;
}

static void look(struct world *w, const struct event *e)
{
	uint32_t qpn;
	struct end *end;

	if (e->bad)
		return;
	qpn = watch_qpn(e->data, e->len);
	end = end_find(w, e->to, qpn);
	if (end)
		oracle_look(end, chance(&w->rng, 100));
}

/* One device call for a burst; the reader looks behind it. */
static void burst(struct node *to, const struct event *e, unsigned n)
{
	struct world *w = to->w;
	struct roce_frame f[BURST];

	w->bursts++;
	for (unsigned i = 0; i < n; i++) {
		f[i] = (struct roce_frame){ e[i].data, e[i].len, e[i].len };
		to->given++;
		to->got_bad |= e[i].bad;
		if (!e[i].bad)
			watch_rx(w, e->to, e[i].data, e[i].len);
	}
	roce_rx(to->dev, w->now, f, n);
	watch_took(w);
	for (unsigned i = 0; i < n; i++)
		look(w, &e[i]);
}

/*
 * Where queues share receives it takes frame by frame to know whose message
 * had which; the device answers behind the last of the burst in any case.
 */
static void receive(struct world *w, const struct event *e, unsigned n)
{
	unsigned step = w->plan.faults & F_SRQ ? 1 : n;

	for (unsigned i = 0; i < n && !w->lost; i += step)
		burst(&w->node[e->to], e + i, step);
}

static void on_frame(struct world *w, struct event first)
{
	struct event e[BURST] = { first };
	unsigned most = (unsigned)pick(&w->rng, 1, 12), n = 1;

	if (chance(&w->rng, 5000))
		most = 1;
	while (n < most && more_for(w, &first))
		heap_pop(w, &e[n++]);
	w->now = e[n - 1].t;
	for (unsigned i = 0; i < n; i++)
		w->path[e[i].from][e[i].to].queued--;
	if (w->node[first.to].alive) {
		receive(w, e, n);
		node_turn(&w->node[first.to]);
	}
	for (unsigned i = 0; i < n; i++)
		free(e[i].data);
}

/* ---- the rest of the events ---- */

static void on_post(struct end *e)
{
	if (!e->q.qp)
		return;
	work_post(e, (unsigned)pick(&e->q.rng, 1, 8));
	if (e->posted < e->nmsg)
		heap_add(e->q.w,
			 (struct event){ .t = e->q.w->now + 20 * US +
					      pick(&e->q.rng, 0, e->post_gap),
					 .kind = EV_POST,
					 .what = e });
	node_turn(e->q.node);
}

static void on_recv(struct rcvs *r)
{
	if (!rcvs_more(r))
		return;
	rcvs_post(r, (unsigned)pick(&r->w->rng, 1, 6));
	if (r->share)
		share_rearm(r->share);
	heap_add(r->w, (struct event){
			       .t = rcvs_next(r), .kind = EV_RECV, .what = r });
	node_turn(r->node);
}

static void on_dgram(struct ud *u)
{
	if (!u->q.qp)
		return;
	ud_post(u, (unsigned)pick(&u->q.rng, 1, 4));
	if (u->posted < u->n)
		heap_add(u->q.w,
			 (struct event){ .t = u->q.w->now + 5 * US +
					      pick(&u->q.rng, 0, u->post_gap),
					 .kind = EV_DGRAM,
					 .what = u });
	node_turn(u->q.node);
}

/* Who shares is known: so many receives there will be. */
static void plan_shares(struct world *w)
{
	for (unsigned i = 0; i < w->nshare && !w->lost; i++)
		if (w->share[i]->srq && !w->share[i]->rq.rcv)
			share_plan(w->share[i]);
}

static void on_restart(struct world *w, struct node *n)
{
	unsigned links = w->nlink;

	node_stop(n);
	n->life++;
	node_start(w, n->id);
	for (unsigned i = 0; i < links && !w->lost; i++) {
		struct end *e = w->link[i]->end;

		if (e[0].q.node == n || e[1].q.node == n)
			link_make(w, w->link[i]->id + 8, e[0].q.node->id,
				  e[1].q.node->id);
	}
	if (w->plan.faults & F_UD)
		ud_make(w, n->id);
	plan_shares(w);
}

static void on_hand(struct queue *q)
{
	if (!q->qp)
		return;
	q->hand = true;
	roce_qp_fail(q->qp);
	node_turn(q->node);
}

static void on_wake(struct world *w, const struct event *e)
{
	struct node *n = &w->node[e->to];

	if (e->t == n->wake)
		n->wake = ~0ULL;
	node_turn(n);
}

static void handle(struct world *w, struct event e)
{
	w->now = e.t;
	switch (e.kind) {
	case EV_FRAME:
		on_frame(w, e);
		break;
	case EV_WAKE:
		on_wake(w, &e);
		break;
	case EV_POST:
		on_post(e.what);
		break;
	case EV_RECV:
		on_recv(e.what);
		break;
	case EV_DGRAM:
		on_dgram(e.what);
		break;
	case EV_HAND:
		on_hand(e.what);
		break;
	case EV_DEATH:
		world_say(w, "node %u dies", e.to);
		node_stop(&w->node[e.to]);
		break;
	case EV_RESTART:
		world_say(w, "node %u restarts", e.to);
		on_restart(w, &w->node[e.to]);
		break;
	}
}

/* ---- beginning and end ---- */

static void plan_events(struct world *w)
{
	struct rng r = fork_rng(w->plan.seed, 3);
	uint64_t calm = w->plan.calm;
	unsigned link = (unsigned)pick(&r, 0, w->plan.links - 1);
	struct event e = { .to = (uint8_t)pick(&r, 0, w->nnode - 1),
			   .t = pick(&r, 1, calm),
			   .kind = w->plan.faults & F_DEATH ? EV_DEATH
							    : EV_RESTART };

	if (w->plan.faults & (F_DEATH | F_RESTART))
		heap_add(w, e);
	if (w->plan.faults & F_HAND && link < w->nlink) {
		e.kind = EV_HAND;
		e.t = pick(&r, 1, calm);
		e.what = &w->link[link]->end[pick(&r, 0, 1)].q;
		if (w->nud && chance(&r, 5000))
			e.what = &w->ud[pick(&r, 0, w->nud - 1)]->q;
		heap_add(w, e);
	}
}

static void make_uds(struct world *w)
{
	struct rng r = fork_rng(w->plan.seed, 7);

	for (unsigned i = 0; i < w->nnode && !w->lost; i++)
		for (unsigned n = (unsigned)pick(&r, 1, 2); n; n--)
			ud_make(w, i);
}

static void make_links(struct world *w)
{
	for (unsigned i = 0; i < w->plan.links && !w->lost; i++) {
		struct rng r = fork_rng(w->plan.seed, 300 + i);
		unsigned a = (unsigned)pick(&r, 0, w->nnode - 1);
		unsigned b = (unsigned)pick(&r, 1, w->nnode - 1);

		if (w->plan.links_mask & 1U << i)
			link_make(w, i, a, (a + b) % w->nnode);
	}
}

static struct world *world_new(const struct plan *p, bool trace)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	w->plan = *p;
	w->trace = trace;
	w->wire = fork_rng(p->seed, 4);
	w->rng = fork_rng(p->seed, 5);
	w->nnode = p->nodes;
	for (unsigned i = 0; i < 32; i++) {
		w->tx[i].data = malloc(FRAME_ROOM);
		if (!w->tx[i].data)
			abort();
	}
	for (unsigned i = 0; i < w->nnode; i++)
		node_start(w, i);
	wire_plan(w);
	make_links(w);
	if (w->plan.faults & F_UD)
		make_uds(w);
	plan_shares(w);
	plan_events(w);
	return w;
}

static void world_free(struct world *w)
{
	for (unsigned i = 0; i < w->nheap; i++)
		if (w->heap[i].kind == EV_FRAME)
			free(w->heap[i].data);
	for (unsigned i = 0; i < w->nnode; i++)
		node_stop(&w->node[i]);
	for (unsigned i = 0; i < w->nlink; i++)
		link_free(w->link[i]);
	for (unsigned i = 0; i < w->nud; i++)
		ud_free(w->ud[i]);
	for (unsigned i = 0; i < w->nshare; i++)
		share_free(w->share[i]);
	for (unsigned i = 0; i < 32; i++)
		free(w->tx[i].data);
	free(w->heap);
	free(w);
}

void world_run(const struct plan *p, bool trace, struct verdict *v)
{
	struct world *w = world_new(p, trace);
	unsigned events = 0;
	struct event e;

	while (!w->lost && w->nheap && w->heap[0].t < p->calm + PATIENCE) {
		heap_pop(w, &e);
		handle(w, e);
		if (++events == EVENTS_MAX)
			world_fail(w, "no end after %u events", events);
	}
	if (!w->lost)
		oracle_end(w);
	v->failed = w->lost;
	v->hash = w->hash;
	v->frames = w->frames;
	v->ns = w->now;
	memcpy(v->why, w->why, sizeof(v->why));
	world_free(w);
}
