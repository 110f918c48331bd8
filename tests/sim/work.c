// SPDX-License-Identifier: BSD-2-Clause
/*
 * The work of an end, made whole before its first packet: every message has
 * bytes and a place of its own, so that the oracle knows at any time what may
 * lie where.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

uint32_t packets_of(const struct link *l, const struct msg *m)
{
	if (m->op == ROCE_OP_NOP)
		return 0;
	if (m->op == ROCE_OP_CS || m->op == ROCE_OP_FA || !m->len)
		return 1;
	return (m->len + l->mtu - 1) / l->mtu;
}

static uint32_t choose_len(struct rng *r, uint32_t mtu)
{
	switch (pick(r, 0, 9)) {
	case 0:
		return mtu - 1;
	case 1:
		return mtu;
	case 2:
		return mtu + 1;
	case 3:
		return 3 * mtu + 1;
	case 4:
		return (uint32_t)pick(r, 0, 4 * mtu);
	case 5: /* more packets than one READ request asks for */
		return (uint32_t)pick(r, mtu, mtu > 512 ? 4 * mtu : 70 * mtu);
	case 6:
		return (uint32_t)pick(r, 0, 3);
	default:
		return (uint32_t)pick(r, 0, mtu < 300 ? mtu : 300);
	}
}

/* ---- memory ---- */

static uint64_t take(struct region *r, uint32_t len)
{
	uint64_t at = r->iova + r->used;

	r->used += len;
	return at;
}

/* len bytes of a region in n pieces with holes between them. */
static void take_sges(struct end *e, struct region *r, struct roce_sge *sge,
		      unsigned n, uint32_t len)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t part = i + 1 == n ? len
					   : (uint32_t)pick(&e->q.rng, 0, len);

		r->used += (uint32_t)pick(&e->q.rng, 0, 3);
		sge[i].addr = take(r, part);
		sge[i].len = part;
		len -= part;
	}
}

/* ---- one message ---- */

static void make_recv(struct end *e, struct msg *m)
{
	struct end *p = e->peer;
	struct rcv *v = &p->q.own.rcv[p->q.own.n];
	uint32_t room = m->op == ROCE_OP_SEND ? m->len : 0;

	m->wants = true;
	p->wants++;
	if (p->q.rq->share) { /* it is known when it is taken */
		p->q.rq->share->wants++;
		return;
	}
	m->rcv = p->q.own.n++;
	v->index = (uint16_t)(65530 + m->rcv);
	v->nsge = (uint8_t)pick(&e->q.rng, 1, 3);
	v->bad = m->bad == BAD_RCV;
	if (m->bad == BAD_LONG)
		room = m->len - (uint32_t)pick(&e->q.rng, 1, m->len);
	else if (chance(&e->q.rng, 5000))
		room += (uint32_t)pick(&e->q.rng, 0, 40);
	if (e->link->type == ROCE_UC) { /* any message may come into it */
		room = 70 * e->link->mtu;
		if (v->bad)
			m->bad = GOOD; /* the sender never learns */
	}
	v->room = room;
	take_sges(e, &p->r[R_RCV], v->sge, v->nsge, room);
}

static void make_data(struct end *e, struct msg *m)
{
	struct rng *r = &e->q.rng;

	m->len = choose_len(r, e->link->mtu);
	if (chance(r, 2000)) {
		m->flags |= ROCE_WR_INLINE;
		m->len = (uint32_t)pick(r, 0, m->nbb * 64 - 36);
	} else {
		m->nsge = (uint8_t)pick(r, 1, m->nbb == 1 ? 2 : SGE_MAX);
	}
	if (m->op == ROCE_OP_SEND && e->peer->q.rq->share && m->len > 4096)
		m->len = 4096;
	if ((m->bad == BAD_LONG || m->bad == BAD_RCV) && !m->len)
		m->bad = GOOD;
	if (chance(r, 3000)) {
		m->flags |= ROCE_WR_IMM;
		m->imm = (uint32_t)rnd(r);
	}
	if (chance(r, 2000))
		m->flags |= ROCE_WR_SOLICITED;
	take_sges(e, &e->r[R_SRC], m->sge, m->nsge, m->len);
	if (m->op == ROCE_OP_WRITE) {
		e->peer->r[R_DST].used += (uint32_t)pick(r, 0, 3);
		m->raddr = take(&e->peer->r[R_DST], m->len);
	}
	if (m->op == ROCE_OP_SEND || m->flags & ROCE_WR_IMM)
		make_recv(e, m);
}

/* From what is always there, or from what an earlier WRITE brought. */
static void make_read(struct end *e, struct msg *m, unsigned at)
{
	struct rng *r = &e->q.rng;
	unsigned from = at ? (unsigned)pick(r, 0, at - 1) : 0;
	const struct msg *was = &e->msg[from];

	m->len = choose_len(r, e->link->mtu);
	if (at && was->op == ROCE_OP_WRITE && was->bad == GOOD) {
		m->from = from;
		m->raddr = was->raddr;
		if (m->len > was->len)
			m->len = was->len;
	} else {
		m->raddr = take(&e->peer->r[R_LIB], m->len);
	}
	m->nsge = (uint8_t)pick(r, 1, m->nbb == 1 ? 2 : SGE_MAX);
	take_sges(e, &e->r[R_GET], m->sge, m->nsge, m->len);
}

static void make_atomic(struct end *e, struct msg *m, uint64_t *word)
{
	struct rng *r = &e->q.rng;
	uint64_t v = rnd(r);

	m->len = 8;
	m->nsge = 1;
	m->shared = m->op == ROCE_OP_FA && chance(r, 3000);
	take_sges(e, &e->r[R_GET], m->sge, 1, 8);
	m->raddr = m->shared ? (uint64_t)(e->peer->q.node->id + 1) << 48
			     : e->peer->r[R_WORD].iova;
	m->expect = m->after = *word;
	m->operand[0] = m->shared ? 1 : v;
	if (m->op == ROCE_OP_FA) {
		m->after = m->shared ? *word : *word + v;
	} else {
		bool hit = chance(r, 7000);

		m->operand[1] = hit ? *word : *word + 1;
		m->after = hit ? v : *word;
	}
	m->changes = m->after != m->expect;
	*word = m->after;
}

/* Rarely one that must fail, and then not early. */
static uint8_t choose_bad(struct end *e, const struct msg *m, unsigned at)
{
	bool data = m->op == ROCE_OP_SEND || m->op == ROCE_OP_WRITE;

	if (!(e->q.w->plan.faults & F_BAD) || e->side || at != e->nmsg * 2 / 3)
		return GOOD;
	if (m->op == ROCE_OP_NOP)
		return GOOD;
	if (e->link->type == ROCE_UC) /* the receiver is silent */
		return m->op == ROCE_OP_SEND && chance(&e->q.rng, 5000)
			       ? BAD_RCV
			       : BAD_LKEY;
	if (m->op == ROCE_OP_SEND && !e->peer->q.rq->share)
		return (uint8_t[]){ BAD_LONG, BAD_LKEY,
				    BAD_RCV }[pick(&e->q.rng, 0, 2)];
	if (m->op == ROCE_OP_SEND)
		return BAD_LKEY;
	return !data || chance(&e->q.rng, 5000) ? BAD_RKEY : BAD_LKEY;
}

static void make_msg(struct end *e, unsigned at, uint64_t *word)
{
	static const uint8_t ops[] = {
		ROCE_OP_WRITE, ROCE_OP_WRITE, ROCE_OP_WRITE, ROCE_OP_WRITE,
		ROCE_OP_SEND,  ROCE_OP_SEND,  ROCE_OP_READ,  ROCE_OP_READ,
		ROCE_OP_CS,    ROCE_OP_FA,    ROCE_OP_FA,    ROCE_OP_NOP,
	};
	struct msg *m = &e->msg[at];
	struct rng *r = &e->q.rng;

	m->op = ops[pick(r, 0, sizeof(ops) - 1)];
	if (e->link->type == ROCE_UC && m->op >= ROCE_OP_READ)
		m->op = ROCE_OP_SEND;
	m->nbb = (uint8_t)(chance(r, 6000) ? 1 : pick(r, 2, 4));
	m->id = e->link->id << 16 | e->side << 15 | at;
	m->rcv = m->from = NONE;
	m->bad = choose_bad(e, m, at);
	if (chance(r, 4000) || at + 1 == e->nmsg)
		m->flags |= ROCE_WR_SIGNALLED;
	if (chance(r, 1500))
		m->flags |= ROCE_WR_FENCE;
	if (m->op == ROCE_OP_READ)
		make_read(e, m, at);
	else if (m->op == ROCE_OP_CS || m->op == ROCE_OP_FA)
		make_atomic(e, m, word);
	else if (m->op != ROCE_OP_NOP)
		make_data(e, m);
	if (m->bad == BAD_LKEY && (m->flags & ROCE_WR_INLINE || !m->len))
		m->bad = GOOD;
	if (m->bad == BAD_RKEY && !m->len)
		m->bad = GOOD;
	m->psn = at ? m[-1].psn + m[-1].npkt : 0;
	m->npkt = packets_of(e->link, m);
}

void work_make(struct end *e)
{
	uint64_t word = 0;

	e->nmsg = (unsigned)pick(&e->q.rng, e->side ? 0 : 1, e->q.w->plan.msgs);
	e->msg = calloc(e->nmsg + 1, sizeof(*e->msg));
	e->peer->q.own.rcv = calloc(e->nmsg + 1, sizeof(struct rcv));
	if (!e->msg || !e->peer->q.own.rcv)
		abort();
	for (unsigned i = 0; i < e->nmsg; i++)
		make_msg(e, i, &word);
	e->peer->npsn =
		e->nmsg ? e->msg[e->nmsg - 1].psn + e->msg[e->nmsg - 1].npkt
			: 0;
	e->peer->got = calloc(1, e->peer->npsn + 1);
	if (!e->peer->got)
		abort();
}

void work_memory(struct end *e)
{
	struct region *lib = &e->r[R_LIB];

	for (uint32_t i = 0; i < lib->size; i++)
		lib->mem[i] = pattern(e->link->id, i);
	for (unsigned i = 0; i < e->nmsg; i++) {
		struct msg *m = &e->msg[i];
		uint32_t at = 0;

		if (m->op == ROCE_OP_READ || m->op > ROCE_OP_READ)
			continue;
		for (unsigned k = 0; k < m->nsge; k++) {
			uint8_t *p = region_ptr(&e->r[R_SRC], m->sge[k].addr);

			for (uint32_t n = 0; n < m->sge[k].len; n++)
				p[n] = pattern(m->id, at++);
		}
	}
}

/* ---- posting ---- */

static const uint8_t wqe_opcode[] = {
	[ROCE_OP_NOP] = WBELL_OP_NOP,	  [ROCE_OP_SEND] = WBELL_OP_SEND,
	[ROCE_OP_WRITE] = WBELL_OP_WRITE, [ROCE_OP_READ] = WBELL_OP_READ,
	[ROCE_OP_CS] = WBELL_OP_CS,	  [ROCE_OP_FA] = WBELL_OP_FA,
};

static uint32_t rkey_of(const struct end *e, const struct msg *m)
{
	const struct end *p = e->peer;
	uint32_t key = p->r[R_DST].key;

	if (m->op == ROCE_OP_READ)
		key = m->from == NONE ? p->r[R_LIB].key : p->r[R_DST].key;
	if (m->op == ROCE_OP_CS || m->op == ROCE_OP_FA)
		key = m->shared ? p->q.node->word_key : p->r[R_WORD].key;
	/* a generation that is not, or a right that is missing */
	return m->bad != BAD_RKEY ? key
	       : m->index & 1	  ? key ^ 0x55
				  : p->r[R_GET].key;
}

static void fill_store(struct end *e, const struct msg *m, struct roce_wr *wr)
{
	uint8_t *store = roce_wr_store(e->q.qp, m->index);

	if (m->flags & ROCE_WR_INLINE)
		for (uint32_t i = 0; i < m->len; i++)
			store[i] = pattern(m->id, i);
	else if (m->op == ROCE_OP_CS || m->op == ROCE_OP_FA)
		memcpy(store, m->operand, sizeof(m->operand));
	for (unsigned i = 0; i < m->nsge; i++) {
		bool get = m->op >= ROCE_OP_READ;
		struct roce_sge sge = m->sge[i];

		sge.lkey = e->r[get ? R_GET : R_SRC].key;
		if (m->bad == BAD_LKEY && sge.len)
			sge.lkey ^= 0x33;
		if (!i)
			wr->sge = sge;
		else
			((struct roce_sge *)store)[i - 1] = sge;
	}
}

static bool post_one(struct end *e)
{
	struct msg *m = &e->msg[e->posted];
	struct roce_wr *wr;

	if (e->bb_pi - e->bb_ci + m->nbb > e->attr.depth)
		return false;
	wr = roce_wr_next(e->q.qp);
	if (!wr) {
		world_fail(e->q.w,
			   "link %u.%u: no place for a work request, "
			   "%u of %u blocks in use",
			   e->link->id, e->side, e->bb_pi - e->bb_ci,
			   e->attr.depth);
		return false;
	}
	m->index = (uint16_t)e->bb_pi;
	e->bb_pi += m->nbb;
	m->last_bb = e->bb_pi;
	/* the ring is given back by completions alone */
	if (e->bb_pi - e->bb_asked >= e->attr.depth / 2)
		m->flags |= ROCE_WR_SIGNALLED;
	if (m->flags & ROCE_WR_SIGNALLED)
		e->bb_asked = e->bb_pi;
	memset(wr, 0, sizeof(*wr));
	wr->op = m->op;
	wr->flags = m->flags;
	wr->index = m->index;
	wr->nsge = m->nsge;
	wr->wqe_opcode = wqe_opcode[m->op];
	wr->len = m->len;
	wr->imm = m->imm;
	wr->raddr = m->raddr;
	wr->rkey = rkey_of(e, m);
	fill_store(e, m, wr);
	world_say(e->q.w,
		  "link %u.%u posts %u: op %u, index %u, PSN +%u..+%u, "
		  "%u bytes in %u, flags %02x, bad %u",
		  e->link->id, e->side, e->posted, m->op, m->index, m->psn,
		  m->psn + m->npkt, m->len, m->nsge, m->flags, m->bad);
	e->posted++;
	roce_wr_post(e->q.qp, wr);
	return true;
}

void work_post(struct end *e, unsigned n)
{
	while (n-- && e->posted < e->nmsg && !e->q.w->lost)
		if (!post_one(e))
			return;
}
