// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nicpair.h"

#define MEM   65536
#define FRAME 256

static void must(int rc, const char *what, const struct wbell_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "bench: %s: %s: %s\n", what, strerror(-rc),
		err ? err->text : "");
	exit(1);
}

static void *zeroed(size_t n)
{
	void *p = aligned_alloc(64, (n + 63) & ~(size_t)63);

	must(p ? 0 : -ENOMEM, "memory", NULL);
	return memset(p, 0, n);
}

static void ignore(void *arg, const struct wbell_event *e)
{
}

static void make_side(struct nicpair_side *s, unsigned queues, uint8_t n)
{
	struct nic_attr a = { .max_queues = queues,
			      .gid = { GID_IPV4(192, 0, 2, n) },
			      .mac = { 2, 0, 0, 0, 0, n },
			      .path_mtu = 1024,
			      .event = ignore,
			      .seed = n };
	struct wbell_err err = { "" };

	a.doorbells = s->doorbells = zeroed(queues * sizeof(*s->doorbells));
	s->queue = zeroed(queues * sizeof(*s->queue));
	s->mem = zeroed(MEM);
	s->frames = zeroed(NICPAIR_BURST * FRAME);
	for (unsigned i = 0; i < NICPAIR_BURST; i++) {
		s->frame[i].data = s->frames + i * FRAME;
		s->frame[i].room = FRAME;
	}
	must(nic_create(&a, &s->nic), "making a NIC", NULL);
	must(nic_mem_register(s->nic, s->mem, MEM, 0xf, &s->key, &err),
	     "registering memory", &err);
}

static void make_queue(struct nicpair_side *s, unsigned i)
{
	struct nicpair_queue *q = &s->queue[i];
	struct wbell_prov_queue a = { .index = i,
				      .depth = NICPAIR_DEPTH,
				      .log_cq = NICPAIR_LOG,
				      .dbrec = &q->dbrec,
				      .attr = { .timeout = 14,
						.retry_cnt = 7,
						.rnr_retry = 7,
						.min_rnr_timer = 12,
						.max_rd_atomic = 4 } };
	struct wbell_err err = { "" };

	a.sq = q->sq = zeroed(NICPAIR_DEPTH * WBELL_BB_SIZE);
	a.cq = q->cq = zeroed(NICPAIR_DEPTH * sizeof(*q->cq));
	memset(q->cq, 0xf1, NICPAIR_DEPTH * sizeof(*q->cq));
	must(nic_queue_create(s->nic, &a, &q->q, &q->qpn, &err), "queue", &err);
}

static void join(struct nicpair *p, unsigned i)
{
	struct wbell_err err = { "" };
	struct wbell_address a;
	uint32_t peer;

	for (int e = 0; e < 2; e++) {
		nic_queue_address(p->side[!e].queue[i].q, &a);
		must(nic_queue_connect(p->side[e].queue[i].q, &a, &peer, &err),
		     "connect", &err);
	}
}

static void resolve(struct nicpair *p)
{
	for (int e = 0; e < 2; e++) {
		uint8_t gid[GID_SIZE] = { GID_IPV4(192, 0, 2, 2 - e) };
		uint8_t mac[6] = { 2, 0, 0, 0, 0, (uint8_t)(2 - e) };

		nic_resolved(p->side[e].nic, gid, mac);
	}
}

void nicpair_open(struct nicpair *p, unsigned queues)
{
	memset(p, 0, sizeof(*p));
	p->queues = queues;
	p->now = 1000000000;
	for (int e = 0; e < 2; e++) {
		make_side(&p->side[e], queues, 1 + e);
		for (unsigned i = 0; i < queues; i++)
			make_queue(&p->side[e], i);
	}
	for (unsigned i = 0; i < queues; i++)
		join(p, i);
	resolve(p);
}

void nicpair_close(struct nicpair *p)
{
	for (int e = 0; e < 2; e++) {
		struct nicpair_side *s = &p->side[e];

		nic_destroy(s->nic);
		for (unsigned i = 0; i < p->queues; i++) {
			free(s->queue[i].sq);
			free(s->queue[i].cq);
		}
		free(s->queue);
		free(s->doorbells);
		free(s->mem);
		free(s->frames);
	}
}

void nicpair_post(struct nicpair *p, unsigned queue)
{
	struct nicpair_side *s = &p->side[0];
	struct nicpair_queue *q = &s->queue[queue];
	uint64_t *w = (uint64_t *)(void *)(q->sq + (q->pi % NICPAIR_DEPTH) *
							   WBELL_BB_SIZE);
	uint64_t off = (q->pi & 255) * 64;

	w[0] = __builtin_bswap64((q->pi & 0xffff) << 40 |
				 (uint64_t)WBELL_OP_WRITE << 32 | q->qpn << 8 |
				 3);
	w[1] = __builtin_bswap64((uint64_t)WBELL_CTRL_CQ_UPDATE << 32);
	w[2] = __builtin_bswap64((uintptr_t)p->side[1].mem + off);
	w[3] = __builtin_bswap64((uint64_t)p->side[1].key << 32);
	w[4] = __builtin_bswap64(8ULL << 32 | s->key);
	w[5] = __builtin_bswap64((uintptr_t)s->mem + off);
	__atomic_store_n(&s->doorbells[queue], ++q->pi, __ATOMIC_RELEASE);
}

unsigned nicpair_reap(struct nicpair *p, unsigned queue)
{
	struct nicpair_queue *q = &p->side[0].queue[queue];
	unsigned n = 0;

	for (;; n++, q->ci++) {
		const struct wbell_cqe *c = &q->cq[q->ci % NICPAIR_DEPTH];
		uint8_t own = __atomic_load_n(&c->op_own, __ATOMIC_ACQUIRE);

		if (own >> 4 == WBELL_CQE_INVALID ||
		    (own & 1) != (q->ci >> NICPAIR_LOG & 1))
			return n;
		if (own >> 4 != WBELL_CQE_REQ)
			must(-EIO, "a WRITE failed", NULL);
	}
}

__attribute__((noipa)) void nicpair_half(struct nicpair *p, int from)
{
	struct nicpair_side *s = &p->side[from];
	unsigned n;

	nic_doorbells(s->nic, p->now);
	n = nic_tx(s->nic, p->now, s->frame, NICPAIR_BURST);
	if (n)
		nic_rx(p->side[!from].nic, p->now, s->frame, n);
}
