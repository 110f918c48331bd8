// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "pair.h"

uint64_t pair_random(struct pair *p)
{
	uint64_t z = p->rng += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static int chance(struct pair *p, unsigned per_10000)
{
	return per_10000 && pair_random(p) % 10000 < per_10000;
}

static void make_end(struct pair *p, int i, const struct pair_attr *a)
{
	struct pair_end *e = &p->end[i];
	struct roce_dev_attr dev = {
		.max_qp = 4,
		.max_mr = 15,
		.ip = { 192, 0, 2, (uint8_t)(1 + i) },
		.ip6 = { 0x20, 1, 0xd, 0xb8, [15] = (uint8_t)(1 + i) },
		.mac = { 2, 0, 0, 0, 0, (uint8_t)(1 + i) },
		.max_ah = 4,
		.seed = pair_random(p),
	};
	struct roce_qp_attr qp = {
		.user = e,
		.type = a->type,
		.qkey = a->qkey,
		.keep_nothing = a->keep_nothing,
		.cc = a->cc,
		.depth = a->depth ? a->depth : 128,
		.recv_depth = a->recv_depth,
		.recv_sge = 1,
		.sq_psn = a->psn,
		.timeout = a->timeout ? a->timeout : 14,
		.retry_cnt = a->retry_cnt ? a->retry_cnt : 7,
		.rnr_retry = a->rnr_retry ? a->rnr_retry : 7,
		.min_rnr_timer = a->min_rnr_timer ? a->min_rnr_timer : 12,
		.max_rd_atomic = a->max_rd_atomic ? a->max_rd_atomic : 16,
	};

	if (roce_dev_create(&dev, &e->dev))
		abort();
	if (i == 1 && a->srq) {
		if (roce_srq_create(e->dev, a->srq, &p->srq))
			abort();
		qp.srq = p->srq;
	}
	if (roce_qp_create(e->dev, &qp, &e->qp))
		abort();
	e->mem = aligned_alloc(4096, PAIR_MEM);
	memset(e->mem, 0, PAIR_MEM);
	if (roce_mr_add(e->dev,
			&(struct roce_mr_attr){ (uintptr_t)e->mem, e->mem,
						PAIR_MEM, 0xf, 0 },
			&e->key))
		abort();
}

struct pair *pair_new(const struct pair_attr *a, uint64_t seed)
{
	struct pair *p = calloc(1, sizeof(*p));

	p->rng = seed;
	p->now = 1000000000;
	for (int i = 0; i < 2; i++)
		for (unsigned k = 0; k < PAIR_WIRE; k++)
			p->wire[i][k].data = malloc(PAIR_FRAME);
	for (int i = 0; i < 2; i++)
		make_end(p, i, a);
	for (int i = 0; i < 2; i++) {
		struct roce_peer peer = {
			.ip = { 192, 0, 2, (uint8_t)(2 - i) },
			.ip6 = { 0x20, 1, 0xd, 0xb8, [15] = (uint8_t)(2 - i) },
			.v6 = a->v6,
			.vlan = a->vlan,
			.pcp = 3,
			.mac = { 2, 0, 0, 0, 0, (uint8_t)(2 - i) },
			.has_mac = true,
			.holes = a->holes,
			.qpn = roce_qp_num(p->end[!i].qp),
			.rq_psn = a->psn,
			.path_mtu = a->mtu ? a->mtu : 1024,
			.max_rd_atomic = a->max_rd_atomic ? a->max_rd_atomic
							  : 16,
		};

		if (roce_qp_connect(p->end[i].qp, &peer, p->now))
			abort();
	}
	return p;
}

void pair_free(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		roce_dev_destroy(p->end[i].dev);
		free(p->end[i].mem);
		for (unsigned k = 0; k < PAIR_WIRE; k++)
			free(p->wire[i][k].data);
	}
	if (p->srq)
		roce_srq_destroy(p->srq);
	free(p);
}

/* ---- the wire ---- */

static void put(struct pair *p, int to, const uint8_t *data, uint32_t len)
{
	struct roce_frame *f;

	if (p->tail[to] - p->head[to] == PAIR_WIRE) {
		p->dropped++; /* as a switch would */
		return;
	}
	f = &p->wire[to][p->tail[to]++ % PAIR_WIRE];
	memcpy(f->data, data, len);
	f->len = len;
}

static void swap_last(struct pair *p, int to)
{
	unsigned span = p->tail[to] - p->head[to];
	struct roce_frame *a, *b, t;

	if (span < 2)
		return;
	a = &p->wire[to][(p->tail[to] - 1) % PAIR_WIRE];
	b = &p->wire[to][(p->tail[to] - 2 - pair_random(p) % (span - 1)) %
			 PAIR_WIRE];
	t = *a;
	*a = *b;
	*b = t;
}

static void cross(struct pair *p, int from, struct roce_frame *f)
{
	const struct pair_faults *x = &p->faults;

	p->frames++;
	if ((x->filter && x->filter(x->arg, from, f->data, f->len)) ||
	    chance(p, x->drop)) {
		p->dropped++;
		return;
	}
	if (chance(p, x->corrupt))
		f->data[14 + pair_random(p) % (f->len - 14)] ^=
			1 << pair_random(p) % 8;
	put(p, !from, f->data, f->len);
	if (chance(p, x->dup))
		put(p, !from, f->data, f->len);
	if (chance(p, x->reorder))
		swap_last(p, !from);
}

static void receive(struct pair *p, int e)
{
	struct roce_frame f[32];
	unsigned n = 0;

	while (n < 32 && p->head[e] != p->tail[e])
		f[n++] = p->wire[e][p->head[e]++ % PAIR_WIRE];
	roce_rx(p->end[e].dev, p->now, f, n);
}

static void transmit(struct pair *p, int e)
{
	static uint8_t buf[32][PAIR_FRAME];
	struct roce_frame f[32];
	unsigned n;

	for (unsigned i = 0; i < 32; i++) {
		f[i].data = buf[i];
		f[i].room = PAIR_FRAME;
	}
	n = roce_tx(p->end[e].dev, p->now, f, 32);
	for (unsigned i = 0; i < n; i++)
		cross(p, e, &f[i]);
}

void pair_turn(struct pair *p, uint64_t ns)
{
	for (int e = 0; e < 2; e++) {
		struct pair_end *end = &p->end[e];

		receive(p, e);
		transmit(p, e);
		end->ncomp += roce_comp(end->dev, end->comp + end->ncomp,
					8192 - end->ncomp);
	}
	p->now += ns;
}

static int busy(struct pair *p)
{
	for (int e = 0; e < 2; e++)
		if (p->head[e] != p->tail[e] ||
		    roce_tx_pending(p->end[e].dev) ||
		    roce_deadline(p->end[e].dev) != ~0ULL)
			return 1;
	return 0;
}

void pair_run(struct pair *p, uint64_t ns)
{
	uint64_t end = p->now + ns;

	do {
		pair_turn(p, 10000);
	} while (busy(p) && p->now < end);
	pair_turn(p, 0);
}

/* ---- posting ---- */

struct roce_wr *pair_wr(struct pair *p, int e, uint8_t op, uint8_t opcode)
{
	struct roce_wr *wr = roce_wr_next(p->end[e].qp);

	if (!wr)
		return NULL;
	memset(wr, 0, sizeof(*wr));
	wr->op = op;
	wr->wqe_opcode = opcode;
	wr->flags = ROCE_WR_SIGNALLED;
	wr->index = p->end[e].index;
	wr->nsge = 1;
	wr->rkey = p->end[!e].key;
	wr->sge.lkey = p->end[e].key;
	return wr;
}

void pair_post(struct pair *p, int e, struct roce_wr *wr)
{
	p->end[e].index++;
	roce_wr_post(p->end[e].qp, wr);
}

static void post_data(struct pair *p, int e, struct roce_wr *wr, uint64_t local,
		      uint64_t remote, uint32_t n)
{
	if (!wr)
		abort();
	wr->len = n;
	wr->sge.addr = (uintptr_t)p->end[e].mem + local;
	wr->sge.len = n;
	wr->raddr = (uintptr_t)p->end[!e].mem + remote;
	pair_post(p, e, wr);
}

void pair_write(struct pair *p, int e, uint64_t src, uint64_t dst, uint32_t n)
{
	post_data(p, e, pair_wr(p, e, ROCE_OP_WRITE, WBELL_OP_WRITE), src, dst,
		  n);
}

void pair_read(struct pair *p, int e, uint64_t dst, uint64_t src, uint32_t n)
{
	post_data(p, e, pair_wr(p, e, ROCE_OP_READ, WBELL_OP_READ), dst, src,
		  n);
}

static void post_atomic(struct pair *p, int e, uint8_t op, uint64_t result,
			uint64_t at, const uint64_t operand[2])
{
	struct roce_wr *wr =
		pair_wr(p, e, op, op == ROCE_OP_FA ? WBELL_OP_FA : WBELL_OP_CS);

	memcpy(roce_wr_store(p->end[e].qp, wr->index), operand, 16);
	post_data(p, e, wr, result, at, 8);
}

void pair_add(struct pair *p, int e, uint64_t result, uint64_t at, uint64_t add)
{
	uint64_t operand[2] = { add, 0 };

	post_atomic(p, e, ROCE_OP_FA, result, at, operand);
}

void pair_cas(struct pair *p, int e, uint64_t result, uint64_t at,
	      uint64_t compare, uint64_t swap)
{
	uint64_t operand[2] = { swap, compare };

	post_atomic(p, e, ROCE_OP_CS, result, at, operand);
}

void pair_send(struct pair *p, int e, uint64_t src, uint32_t n, int imm)
{
	struct roce_wr *wr = pair_wr(p, e, ROCE_OP_SEND,
				     imm ? WBELL_OP_SEND_IMM : WBELL_OP_SEND);

	if (imm) {
		wr->flags |= ROCE_WR_IMM;
		wr->imm = imm;
	}
	post_data(p, e, wr, src, 0, n);
}

int pair_recv(struct pair *p, int e, uint64_t dst, uint32_t n)
{
	static uint16_t index;
	struct roce_sge sge = { (uintptr_t)p->end[e].mem + dst, n,
				p->end[e].key };

	return roce_recv_post(p->end[e].qp, index++, &sge, 1);
}
