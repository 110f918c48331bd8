// SPDX-License-Identifier: BSD-2-Clause
/* Devices and the connections between them. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

void node_addresses(unsigned id, struct roce_peer *to)
{
	const uint8_t ip[4] = { 192, 0, 2, (uint8_t)(1 + id) };
	const uint8_t ip6[16] = { 0xfd, [15] = (uint8_t)(1 + id) };
	const uint8_t mac[6] = { 2, 0, 0, 0, 0, (uint8_t)(1 + id) };

	memcpy(to->ip, ip, 4);
	memcpy(to->ip6, ip6, 16);
	memcpy(to->mac, mac, 6);
	to->has_mac = true;
}

void node_start(struct world *w, unsigned id)
{
	struct node *n = &w->node[id];
	struct roce_dev_attr a = { .max_qp = 32, .max_mr = 255, .max_ah = 8 };
	struct roce_peer me = { 0 };

	n->w = w;
	n->id = id;
	n->rng = fork_rng(w->plan.seed, 200 + id * 16 + n->life);
	node_addresses(id, &me);
	memcpy(a.ip, me.ip, sizeof(a.ip));
	memcpy(a.ip6, me.ip6, sizeof(a.ip6));
	memcpy(a.mac, me.mac, sizeof(a.mac));
	a.seed = rnd(&n->rng);
	a.refill = rcvs_refill;
	n->given = n->taken = n->errors = 0;
	memset(n->said, 0, sizeof(n->said));
	memset(n->ah, 0, sizeof(n->ah));
	n->wrong_qkey = n->no_recv = n->too_long = 0;
	n->nadds = 0;
	n->word = 0;
	n->wake = ~0ULL;
	n->alive = !roce_dev_create(&a, &n->dev);
	if (!n->alive || roce_mr_add(n->dev,
				     &(struct roce_mr_attr){
					     (uint64_t)(id + 1) << 48, &n->word,
					     8, ROCE_ACCESS_REMOTE_ATOMIC, 0 },
				     &n->word_key))
		world_fail(w, "node %u does not start", id);
	else if (w->plan.faults & F_SRQ)
		share_make(n);
}

void node_stop(struct node *n)
{
	if (n->dev)
		roce_dev_destroy(n->dev);
	if (n->share)
		roce_srq_destroy(n->share->srq);
	if (n->share)
		n->share->srq = NULL;
	n->share = NULL;
	n->dev = NULL;
	n->alive = false;
	for (unsigned i = 0; i < n->w->nud; i++)
		if (n->w->ud[i]->q.node == n)
			n->w->ud[i]->q.qp = NULL;
	for (unsigned i = 0; i < n->w->nlink; i++)
		for (unsigned k = 0; k < 2; k++) {
			struct end *e = &n->w->link[i]->end[k];

			if (e->q.node == n && e->q.qp) {
				e->q.qp = NULL;
				e->link->cut = true;
			}
		}
}

/* ---- ends ---- */

static const uint32_t rights[REGIONS] = {
	[R_DST] = ROCE_ACCESS_REMOTE_WRITE | ROCE_ACCESS_REMOTE_READ,
	[R_LIB] = ROCE_ACCESS_REMOTE_READ,
	[R_GET] = ROCE_ACCESS_LOCAL_WRITE,
	[R_RCV] = ROCE_ACCESS_LOCAL_WRITE,
	[R_WORD] = ROCE_ACCESS_REMOTE_ATOMIC,
};

uint8_t *region_ptr(struct region *r, uint64_t iova)
{
	return r->mem + (iova - r->iova);
}

/* What WQEs call memory has nothing to do with where it lies. */
static void name_regions(struct end *e)
{
	for (unsigned k = 0; k < REGIONS; k++)
		e->r[k].iova = (uint64_t)(e->q.node->id + 1) << 48 |
			       (uint64_t)(e->link->id + 1) << 40 |
			       (uint64_t)(k + 1) << 32;
}

static bool register_regions(struct end *e)
{
	for (unsigned k = 0; k < REGIONS; k++) {
		struct region *r = &e->r[k];
		struct roce_mr_attr a = { r->iova, NULL, 0, rights[k], 0 };

		r->size = (r->used + 15) & ~7U;
		r->mem = a.base = calloc(1, r->size);
		a.len = r->size;
		if (!r->mem || roce_mr_add(e->q.node->dev, &a, &r->key))
			return false;
	}
	return true;
}

static void choose_attr(struct end *e)
{
	struct roce_qp_attr *a = &e->attr;
	struct rng *r = &e->q.rng;

	a->user = &e->q;
	a->type = e->link->type;
	a->depth = 1U << pick(r, 4, 7);
	a->recv_depth = 1U << pick(r, 1, 5);
	a->recv_sge = 4;
	rcvs_own(&e->q, &e->r[R_RCV], a->recv_depth);
	if (e->q.rq->share) {
		a->srq = e->q.rq->share->srq;
		a->recv_depth = 0;
	}
	/* close to the wrap in one of two */
	a->sq_psn = (uint32_t)(chance(r, 5000) ? 0xffffff - pick(r, 0, 40)
					       : rnd(r) & 0xffffff);
	a->timeout = (uint8_t)pick(r, 8, 13);
	a->retry_cnt = (uint8_t)(chance(r, 7000) ? 7 : pick(r, 0, 6));
	a->rnr_retry = (uint8_t)(chance(r, 8000) ? 7 : pick(r, 1, 6));
	a->min_rnr_timer = (uint8_t)pick(r, 1, 16);
	a->max_rd_atomic = (uint8_t)pick(r, 1, 16);
	a->window = (uint16_t)(chance(r, 5000) ? 0 : pick(r, 8, 200));
	a->keep_nothing = e->link->mode == M_BACK_N;
	e->q.sq_psn = a->sq_psn;
}

static void end_init(struct link *l, unsigned side, struct node *n)
{
	struct end *e = &l->end[side];

	e->q.w = n->w;
	e->q.node = n;
	e->link = l;
	e->side = side;
	e->peer = &l->end[!side];
	e->q.rng = fork_rng(n->w->plan.seed, 1000 + l->id * 2 + side);
	e->bb_pi = e->bb_ci = e->bb_asked =
		chance(&e->q.rng, 5000)
			? 65500 + (uint32_t)pick(&e->q.rng, 0, 35)
			: (uint32_t)pick(&e->q.rng, 0, 65535);
	e->post_gap = pick(&e->q.rng, 1 * US, n->w->plan.calm / 16);
	e->q.own.gap = n->w->plan.faults & F_RNR
			       ? pick(&e->q.rng, 1 * US, 2 * MS)
			       : 1 * US;
	e->q.vague = l->type == ROCE_UC;
	if (l->type == ROCE_RC && share_open(n) && chance(&e->q.rng, 7000))
		e->q.rq = &n->share->rq;
	choose_attr(e);
	name_regions(e);
}

static bool connect_end(struct end *e)
{
	struct roce_peer peer = {
		.qpn = e->peer->q.qpn,
		.rq_psn = e->peer->q.sq_psn,
		.path_mtu = e->link->mtu,
		.max_rd_atomic = e->peer->attr.max_rd_atomic,
		.flow_label = e->q.qpn & 0xfffff,
		.holes = e->link->mode == M_HOLES,
	};

	node_addresses(e->peer->q.node->id, &peer);
	peer.v6 = e->link->v6;
	peer.vlan = e->link->vlan;
	return !roce_qp_connect(e->q.qp, &peer, e->q.w->now);
}

static bool make_queues(struct link *l)
{
	for (unsigned k = 0; k < 2; k++) {
		struct end *e = &l->end[k];

		if (!register_regions(e) ||
		    roce_qp_create(e->q.node->dev, &e->attr, &e->q.qp))
			return false;
		e->q.qpn = roce_qp_num(e->q.qp);
	}
	for (unsigned k = 0; k < 2; k++) {
		work_memory(&l->end[k]);
		if (!connect_end(&l->end[k]))
			return false;
	}
	return true;
}

bool link_make(struct world *w, unsigned id, unsigned a, unsigned b)
{
	struct link *l;
	struct rng r;

	if (w->nlink == LINKS_MAX)
		return true;
	l = calloc(1, sizeof(*l));
	if (!l)
		abort();
	l->id = id; /* the same whichever others are left out */
	w->link[w->nlink++] = l;
	r = fork_rng(w->plan.seed, 500 + l->id);
	l->mtu = 256U << pick(&r, 0, 4);
	l->mode = (uint8_t)pick(&r, 0, MODES - 1);
	l->type = chance(&r, 1200) ? ROCE_UC : ROCE_RC;
	l->v6 = chance(&r, 2500);
	l->vlan = chance(&r, 2000) ? (uint16_t)pick(&r, 1, 4094) : 0;
	end_init(l, 0, &w->node[a]);
	end_init(l, 1, &w->node[b]);
	work_make(&l->end[0]);
	work_make(&l->end[1]);
	if (!make_queues(l)) {
		world_fail(w, "connection %u is refused", l->id);
		return false;
	}
	for (unsigned k = 0; k < 2; k++) {
		struct end *e = &l->end[k];

		heap_add(w, (struct event){ .t = w->now,
					    .kind = EV_RECV,
					    .what = &e->q.own });
		heap_add(w, (struct event){ .t = w->now + pick(&e->q.rng, 0,
							       e->post_gap),
					    .kind = EV_POST,
					    .what = e });
	}
	return true;
}

void link_free(struct link *l)
{
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned i = 0; i < REGIONS; i++)
			free(l->end[k].r[i].mem);
		free(l->end[k].msg);
		free(l->end[k].q.own.rcv);
		free(l->end[k].got);
	}
	free(l);
}

struct end *end_find(struct world *w, unsigned node, uint32_t qpn)
{
	for (unsigned i = 0; i < w->nlink; i++)
		for (unsigned k = 0; k < 2; k++) {
			struct end *e = &w->link[i]->end[k];

			if (e->q.node->id == node && e->q.qpn == qpn && e->q.qp)
				return e;
		}
	return NULL;
}
