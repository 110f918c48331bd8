// SPDX-License-Identifier: BSD-2-Clause
/*
 * UD queues (IBTA 9.8.3): datagrams to any queue of any node, by address
 * handles.  The judge knows which receive each datagram that arrives must go
 * into, or why it must not: the list of what is due has no slack.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define DGRAMS_MAX 14
#define NBB	   2 /* basic blocks of each: up to 6 pieces or 92 bytes */
#define INLINE_MAX 92

static void fail(struct ud *u, const char *what, unsigned which)
{
	queue_fail(&u->q, what, which);
}

/* ---- making ---- */

static void region_make(struct ud *u, struct region *r, uint32_t access,
			unsigned which)
{
	struct roce_mr_attr a = { .access = access };

	r->iova = a.iova = (uint64_t)(u->q.node->id + 1) << 48 | 1ULL << 46 |
			   (uint64_t)(u->id * 2 + which) << 32;
	r->size = r->used + 8;
	r->mem = a.base = calloc(1, r->size);
	a.len = r->size;
	if (!r->mem)
		abort();
	if (roce_mr_add(u->q.node->dev, &a, &r->key))
		fail(u, "no memory key", which);
}

/* Offsets, until the region has its place. */
static unsigned pieces(struct ud *u, struct region *r, struct roce_sge *sge,
		       unsigned most, uint32_t len)
{
	unsigned n = (unsigned)pick(&u->q.rng, 1, most);

	for (unsigned i = 0; i < n; i++) {
		sge[i].len = i + 1 == n ? len
					: (uint32_t)pick(&u->q.rng, 0, len);
		sge[i].addr = r->used;
		r->used += sge[i].len + (uint32_t)pick(&u->q.rng, 0, 3);
		len -= sge[i].len;
	}
	return n;
}

static void make_dgram(struct ud *u, unsigned i)
{
	struct dgram *d = &u->dg[i];
	struct rng *r = &u->q.rng;

	d->id = 0x40000000 | u->id << 16 | i;
	d->len = (uint32_t)pick(r, 0, chance(r, 5000) ? u->mtu : 64);
	if (chance(r, 1000))
		d->len = u->mtu;
	if (i == u->n * 2 / 3 && u->q.w->plan.faults & F_BAD)
		d->bad = (uint8_t[]){ GOOD, BAD_AH, BAD_LKEY,
				      BAD_LONG }[pick(r, 0, 3)];
	if (d->bad == BAD_LONG)
		d->len = u->mtu + (uint32_t)pick(r, 1, 300);
	else if (d->bad == BAD_LKEY)
		d->len += !d->len;
	if (chance(r, 3000)) {
		d->flags |= ROCE_WR_IMM;
		d->imm = (uint32_t)rnd(r);
	}
	if (chance(r, 2000))
		d->flags |= ROCE_WR_SOLICITED;
	if (chance(r, 4000) || i + 1 == u->n || i % 4 == 3)
		d->flags |= ROCE_WR_SIGNALLED;
	if (d->len <= INLINE_MAX && d->bad == GOOD && chance(r, 3000))
		d->flags |= ROCE_WR_INLINE;
	else
		d->nsge = (uint8_t)pieces(u, &u->src, d->sge, SGE_MAX, d->len);
}

static void make_rcv(struct ud *u, unsigned i)
{
	struct rcv *v = &u->q.own.rcv[i];
	struct rng *r = &u->q.rng;

	v->index = (uint16_t)(65520 + i);
	v->room = GRH + u->mtu;
	if (chance(r, 1500)) /* less, and maybe too little for the GRH */
		v->room = (uint32_t)pick(r, 0, GRH + u->mtu);
	v->bad = u->q.w->plan.faults & F_BAD && chance(r, 200);
	v->nsge = (uint8_t)pieces(u, &u->mem, v->sge, 3, v->room);
}

static void make_work(struct ud *u)
{
	struct rng *r = &u->q.rng;

	u->n = (unsigned)pick(r, 0, DGRAMS_MAX);
	u->dg = calloc(u->n + 1, sizeof(*u->dg));
	u->q.own.n = (unsigned)pick(r, 4, 3 * DGRAMS_MAX);
	u->q.own.rcv = calloc(u->q.own.n, sizeof(*u->q.own.rcv));
	u->due = calloc(UDS_MAX * DGRAMS_MAX * 3, sizeof(*u->due));
	if (!u->dg || !u->q.own.rcv || !u->due)
		abort();
	for (unsigned i = 0; i < u->n; i++)
		make_dgram(u, i);
	region_make(u, &u->src, 0, 0);
	for (unsigned i = 0; i < u->n; i++) {
		uint32_t at = 0;

		for (unsigned k = 0; k < u->dg[i].nsge; k++) {
			struct roce_sge *sge = &u->dg[i].sge[k];

			for (uint32_t b = 0; b < sge->len; b++)
				u->src.mem[sge->addr + b] =
					pattern(u->dg[i].id, at++);
			sge->addr += u->src.iova;
		}
	}
	for (unsigned i = 0; i < u->q.own.n; i++)
		make_rcv(u, i);
	region_make(u, &u->mem, ROCE_ACCESS_LOCAL_WRITE, 1);
	for (unsigned i = 0; i < u->q.own.n; i++)
		for (unsigned k = 0; k < u->q.own.rcv[i].nsge; k++)
			u->q.own.rcv[i].sge[k].addr += u->mem.iova;
}

static void make_queue(struct ud *u)
{
	struct roce_peer peer = { .path_mtu = u->mtu };
	struct roce_qp_attr a = {
		.user = &u->q,
		.type = ROCE_UD,
		.qkey = u->qkey,
		.depth = u->depth,
		.sq_psn = u->q.sq_psn,
		.max_rd_atomic = 1,
	};

	if (u->q.rq->share) {
		a.srq = u->q.rq->share->srq;
		u->q.rq->share->wants += 3 * UDS_MAX * DGRAMS_MAX;
	} else {
		a.recv_depth = u->q.own.depth;
		a.recv_sge = 4;
	}
	if (roce_qp_create(u->q.node->dev, &a, &u->q.qp) ||
	    roce_qp_connect(u->q.qp, &peer, u->q.w->now))
		fail(u, "a UD queue is refused", 0);
	else
		u->q.qpn = roce_qp_num(u->q.qp);
}

void ud_make(struct world *w, unsigned node)
{
	struct ud *u;

	if (w->nud == UDS_MAX)
		return;
	u = calloc(1, sizeof(*u));
	if (!u)
		abort();
	u->id = w->nud;
	w->ud[w->nud++] = u;
	u->q.is_ud = true;
	u->q.w = w;
	u->q.node = &w->node[node];
	u->q.rng = fork_rng(w->plan.seed, 1500 + u->id);
	u->qkey = (uint32_t)rnd(&u->q.rng) & 0x7fffffff;
	u->mtu = 256U << pick(&u->q.rng, 0, 4);
	u->depth = 1U << pick(&u->q.rng, 1, 4);
	u->q.sq_psn = chance(&u->q.rng, 5000) ? 0xfffffa
					      : rnd(&u->q.rng) & 0xffffff;
	u->bb_pi = u->bb_ci = chance(&u->q.rng, 5000) ? 65530 : 0;
	u->post_gap = pick(&u->q.rng, 1 * US, w->plan.calm / 8);
	u->q.own.gap = pick(&u->q.rng, 1 * US, 100 * US);
	u->cur = NONE;
	if (share_open(u->q.node) && chance(&u->q.rng, 6000))
		u->q.rq = &u->q.node->share->rq;
	rcvs_own(&u->q, &u->mem, 1U << pick(&u->q.rng, 0, 4));
	make_work(u);
	make_queue(u);
	if (!u->q.rq->share)
		heap_add(w, (struct event){ .t = w->now,
					    .kind = EV_RECV,
					    .what = &u->q.own });
	heap_add(w,
		 (struct event){ .t = w->now + pick(&u->q.rng, 0, u->post_gap),
				 .kind = EV_DGRAM,
				 .what = u });
}

void ud_free(struct ud *u)
{
	free(u->dg);
	free(u->q.own.rcv);
	free(u->due);
	free(u->src.mem);
	free(u->mem.mem);
	free(u);
}

struct ud *ud_find(struct world *w, unsigned node, uint32_t qpn)
{
	for (unsigned i = 0; i < w->nud; i++)
		if (w->ud[i]->q.node->id == node && w->ud[i]->q.qpn == qpn &&
		    w->ud[i]->q.qp)
			return w->ud[i];
	return NULL;
}

/* ---- posting ---- */

/* One for each node and version of IP, made when it is first needed. */
static uint32_t handle(struct ud *u, const struct ud *to, bool v6)
{
	uint32_t *ah = &u->q.node->ah[to->q.node->id][v6];
	struct roce_peer peer = { .v6 = v6,
				  .flow_label = rnd(&u->q.rng) & 0xfffff };

	if (chance(&u->q.rng, 3000))
		peer.vlan = (uint16_t)pick(&u->q.rng, 1, 4094);
	node_addresses(to->q.node->id, &peer);
	if (!*ah && roce_ah_add(u->q.node->dev, &peer, ah))
		fail(u, "an address handle is refused", to->id);
	return *ah;
}

static const struct ud *choose_peer(struct ud *u)
{
	const struct world *w = u->q.w;
	unsigned from = (unsigned)pick(&u->q.rng, 0, w->nud - 1);

	for (unsigned i = 0; i < w->nud; i++) {
		const struct ud *to = w->ud[(from + i) % w->nud];

		if (to->q.node != u->q.node)
			return to;
	}
	return NULL;
}

static void fill(struct ud *u, struct dgram *d, struct roce_wr *wr)
{
	uint8_t *store = roce_wr_store(u->q.qp, d->index);
	bool own = chance(&u->q.rng, 1000), wrong = chance(&u->q.rng, 1000);

	memset(wr, 0, sizeof(*wr));
	wr->op = ROCE_OP_SEND;
	wr->wqe_opcode = WBELL_OP_SEND;
	wr->flags = d->flags;
	wr->index = d->index;
	wr->nsge = d->nsge;
	wr->len = d->len;
	wr->imm = d->imm;
	wr->raddr = d->to->q.qpn;
	wr->ah = d->bad == BAD_AH ? 8
				  : handle(u, d->to, chance(&u->q.rng, 3000));
	d->qkey = own ? u->qkey : d->to->qkey ^ wrong;
	/* the high bit asks for the sender's own */
	wr->rkey = own ? 0x80000000 | d->id : d->qkey;
	if (d->flags & ROCE_WR_INLINE)
		for (uint32_t i = 0; i < d->len; i++)
			store[i] = pattern(d->id, i);
	for (unsigned i = 0; i < d->nsge; i++) {
		struct roce_sge sge = d->sge[i];

		sge.lkey = d->bad == BAD_LKEY ? u->src.key ^ 0x33 : u->src.key;
		if (i)
			((struct roce_sge *)store)[i - 1] = sge;
		else
			wr->sge = sge;
	}
}

static bool post_one(struct ud *u)
{
	struct dgram *d = &u->dg[u->posted];
	struct roce_wr *wr;

	d->to = choose_peer(u);
	if (!d->to || u->bb_pi - u->bb_ci + NBB > u->depth)
		return false;
	wr = roce_wr_next(u->q.qp);
	if (!wr) {
		fail(u, "no place for a work request", u->posted);
		return false;
	}
	d->index = (uint16_t)u->bb_pi;
	u->bb_pi += NBB;
	if (u->bb_pi - u->bb_ci + NBB > u->depth)
		d->flags |=
			ROCE_WR_SIGNALLED; /* the ring is given back by it */
	fill(u, d, wr);
	world_say(u->q.w, "UD %u posts %u: %u bytes to UD %u, bad %u", u->id,
		  u->posted, d->len, d->to->id, d->bad);
	u->posted++;
	roce_wr_post(u->q.qp, wr);
	return true;
}

void ud_post(struct ud *u, unsigned n)
{
	while (n-- && u->posted < u->n && !u->q.w->lost)
		if (!post_one(u))
			return;
}

/* ---- frames ---- */

static struct ud *sender(struct world *w, unsigned node, uint32_t qpn)
{
	for (unsigned i = 0; i < w->nud; i++)
		if (w->ud[i]->q.node->id == node && w->ud[i]->q.qpn == qpn)
			return w->ud[i];
	return NULL;
}

static bool carries(const struct dgram *d, const struct seen *s)
{
	bool imm = s->opcode == ROCE_UD_SEND_ONLY_IMM;

	if (s->qpn != d->to->q.qpn || s->qkey != d->qkey || s->len != d->len ||
	    imm != !!(d->flags & ROCE_WR_IMM) || (imm && s->imm != d->imm) ||
	    s->solicited != !!(d->flags & ROCE_WR_SOLICITED))
		return false;
	for (uint32_t i = 0; i < d->len; i++)
		if (s->payload[i] != pattern(d->id, i))
			return false;
	return true;
}

/* Each once, in order, and as it was posted. */
void ud_sends(struct world *w, unsigned from, unsigned to, const struct seen *s)
{
	struct ud *u = sender(w, from, s->src_qpn);

	if (!u || !u->q.qp) {
		world_fail(w, "node %u: a datagram of queue %06x", from,
			   s->src_qpn);
		return;
	}
	world_say(w, "node %u UD %u sends %u", from, u->id, u->sent);
	if (u->sent == u->posted ||
	    count_from(s->psn, u->q.sq_psn) != (int32_t)u->sent ||
	    u->dg[u->sent].bad != GOOD || u->dg[u->sent].to->q.node->id != to ||
	    !carries(&u->dg[u->sent], s))
		fail(u, "a datagram is not what was posted", u->sent);
	u->sent++;
}

static void due(struct ud *u, const struct dgram *d, uint8_t syndrome)
{
	u->due[u->q.rcv_due++] = (struct ud_due){ u->cur, d, syndrome };
	u->cur = NONE;
}

void ud_takes(struct ud *u, const struct seen *s)
{
	const struct dgram *d = NULL;
	const struct rcv *v;

	for (unsigned i = 0; i < u->q.w->nud && !d; i++) {
		const struct ud *p = u->q.w->ud[i];

		if (p->q.node != u->q.node && p->q.qpn == s->src_qpn)
			d = &p->dg[count_from(s->psn, p->q.sq_psn)];
	}
	if (u->dead || !d)
		return;
	world_say(u->q.w, "UD %u takes %08x", u->id, d->id);
	if (s->qkey != u->qkey) {
		u->q.node->wrong_qkey++;
		return;
	}
	if (d->len > u->mtu) {
		u->q.node->too_long++;
		return;
	}
	if (u->cur == NONE)
		u->cur = rcvs_take(&u->q);
	v = u->cur == NONE ? NULL : &u->q.rq->rcv[u->cur];
	if (!v || v->room < GRH + d->len) {
		u->q.node->no_recv++;
		/* class E: others may have had it; class D: it stays */
		if (v && u->q.rq->share)
			due(u, d, WBELL_SYND_LOCAL_LENGTH);
	} else if (v->bad) { /* class A */
		due(u, d, WBELL_SYND_LOCAL_PROT);
		u->dead = true;
	} else {
		due(u, d, 0);
	}
}

/* ---- completions ---- */

static bool may_end_so(const struct ud *u, const struct dgram *d, uint8_t synd)
{
	switch (synd) {
	case WBELL_SYND_LOCAL_QP_OP:
		return d->bad == BAD_AH;
	case WBELL_SYND_LOCAL_PROT:
		return d->bad == BAD_LKEY;
	case WBELL_SYND_LOCAL_LENGTH:
		return d->bad == BAD_LONG;
	case WBELL_SYND_WR_FLUSH:
		return u->q.hand || u->dead;
	default:
		return false;
	}
}

static void send_comp(struct ud *u, const struct roce_comp *c)
{
	unsigned i = u->resolved;
	const struct dgram *d;

	while (i < u->posted && u->dg[i].index != c->index &&
	       !(u->dg[i].flags & ROCE_WR_SIGNALLED) && !u->failed)
		i++;
	if (i == u->posted || u->dg[i].index != c->index) {
		fail(u, "a completion out of order", c->index);
		return;
	}
	d = &u->dg[i];
	if (!c->syndrome && (u->failed || u->sent <= i))
		fail(u, "complete, but not sent", i);
	else if (c->syndrome && !u->failed && !may_end_so(u, d, c->syndrome))
		fail(u, "a datagram ends without a reason", c->syndrome);
	else if (u->failed && c->syndrome != WBELL_SYND_WR_FLUSH)
		fail(u, "a second error", c->syndrome);
	u->failed |= !!c->syndrome;
	u->resolved = i + 1;
	u->bb_ci = u->bb_pi - (u->posted - u->resolved) * NBB;
}

/* IPv6 whole, or IPv4 in the last 20 bytes (RoCEv2, annex A17). */
static bool grh_is(struct ud *u, const struct rcv *v, const struct ud *from)
{
	struct roce_peer me = { 0 }, peer = { 0 };
	uint8_t b[GRH];

	for (unsigned i = 0; i < GRH; i++)
		b[i] = *rcv_byte(u->q.rq, v, i);
	node_addresses(u->q.node->id, &me);
	node_addresses(from->q.node->id, &peer);
	if (b[0] >> 4 == 6)
		return !memcmp(b + 8, peer.ip6, 16) &&
		       !memcmp(b + 24, me.ip6, 16);
	for (unsigned i = 0; i < 20; i++)
		if (b[i])
			return false;
	return b[20] == 0x45 && !memcmp(b + 32, peer.ip, 4) &&
	       !memcmp(b + 36, me.ip, 4);
}

static void recv_good(struct ud *u, const struct ud_due *x,
		      const struct roce_comp *c)
{
	const struct rcv *v = &u->q.rq->rcv[x->rcv];
	const struct ud *from = u->q.w->ud[x->d->id >> 16 & 0xff];
	const struct dgram *d = x->d;
	uint8_t flags = d->flags & (ROCE_WR_IMM | ROCE_WR_SOLICITED);

	if (c->len != GRH + d->len || c->flags != flags ||
	    (flags & ROCE_WR_IMM && c->imm != d->imm) ||
	    c->src_qpn != from->q.qpn)
		fail(u, "a receive says wrong length, flags or sender", c->len);
	if (!grh_is(u, v, from))
		fail(u, "the GRH area is not the sender's header", x->rcv);
	for (uint32_t i = 0; i < d->len; i++)
		if (*rcv_byte(u->q.rq, v, GRH + i) != pattern(d->id, i)) {
			fail(u, "a wrong byte", i);
			return;
		}
}

static void recv_comp(struct ud *u, const struct roce_comp *c)
{
	unsigned n = u->q.rcv_done;
	bool flushed = c->syndrome == WBELL_SYND_WR_FLUSH;
	const struct ud_due *x = n < u->q.rcv_due ? &u->due[n] : NULL;
	unsigned at = x ? x->rcv : u->cur != NONE ? u->cur : n;

	if (!x && !(flushed && roce_qp_state(u->q.qp) == ROCE_ERR)) {
		fail(u, "a receive completes for no datagram", c->index);
		return;
	}
	if (!x && u->q.rq->share && u->cur == NONE) {
		fail(u, "a shared receive is flushed", c->index);
		return;
	}
	if (x && c->syndrome != x->syndrome)
		fail(u, "a receive ends as it should not", c->syndrome);
	else if (x && !c->syndrome)
		recv_good(u, x, c);
	rcvs_done(&u->q, at, c->index, !c->syndrome, x ? GRH + x->d->len : 0);
	if (!x)
		u->q.rcv_due++, u->cur = NONE;
}

void ud_comp(struct ud *u, const struct roce_comp *c)
{
	world_say(u->q.w, "UD %u completes %s %u: %02x", u->id,
		  c->recv ? "recv" : "send", c->index, c->syndrome);
	world_hash(u->q.w, (uint64_t)u->id << 48 | 1ULL << 40 |
				   (uint64_t)c->recv << 32 | c->syndrome << 16 |
				   c->index);
	if (c->recv)
		recv_comp(u, c);
	else
		send_comp(u, c);
}

/* ---- at the end ---- */

void ud_end(struct ud *u)
{
	if (!u->q.rq->share)
		rcvs_judge(u->q.rq, "a UD queue");
	if (!u->q.qp)
		return;
	if (u->resolved != u->posted || (u->posted != u->n && choose_peer(u)))
		fail(u, "waits for ever; resolved", u->resolved);
	if (u->q.rcv_done != u->q.rcv_due)
		fail(u, "datagrams that arrived were not delivered, from",
		     u->q.rcv_done);
	if (u->dead && roce_qp_state(u->q.qp) != ROCE_ERR)
		fail(u, "lives with a receive that it may not write", 0);
	if (roce_qp_state(u->q.qp) != ROCE_ERR)
		return;
	if (u->q.rq->share ? u->cur != NONE : u->q.rcv_done != u->q.own.posted)
		fail(u, "receives are not flushed, from", u->q.rcv_done);
}
