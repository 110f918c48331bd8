// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hostile poster: bytes of rings, doorbell words and doorbell records
 * against the software NIC, with a peer that answers.  Nothing it writes may
 * touch memory beside what is registered, or keep the other queue from work.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "fuzz.h"
#include "../../dpdk_path/nic/nic.h"

#define DEPTH 16
#define RECVS 8
#define MEM   16384

struct side {
	struct nic *nic;
	struct nic_queue *q[2]; /* hostile, honest */
	uint64_t doorbells[2];
	uint8_t *sq[2], *rq;
	struct wbell_cqe *cq[2], *rcq;
	struct wbell_dbrec dbrec[2];
	uint32_t qpn[2], key;
	uint8_t *mem;
};

struct duo {
	struct side side[2];
	uint64_t now;
	uint8_t *frame[8];
};

static void make_queue(struct side *s, unsigned i, uint64_t first)
{
	struct wbell_prov_queue a = {
		.index = i,
		.depth = DEPTH,
		.log_cq = 4,
		.recv_depth = i ? 0 : RECVS,
		.recv_stride = 32,
		.log_rcq = 3,
		.sq = s->sq[i],
		.cq = s->cq[i],
		.rq = s->rq,
		.rcq = s->rcq,
		.dbrec = &s->dbrec[i],
		.first_index = first,
		.attr = { .timeout = 8,
			  .retry_cnt = 2,
			  .rnr_retry = 2,
			  .min_rnr_timer = 1,
			  .max_rd_atomic = 4 },
	};
	struct wbell_err err;

	s->doorbells[i] = first;
	must(!nic_queue_create(s->nic, &a, &s->q[i], &s->qpn[i], &err));
}

static void *ring(size_t n)
{
	void *p = aligned_alloc(64, n);

	must(p);
	memset(p, 0, n);
	return p;
}

static void make_side(struct side *s, uint8_t n, uint64_t first)
{
	struct nic_attr a = {
		.max_queues = 2,
		.doorbells = s->doorbells,
		.gid = { GID_IPV4(192, 0, 2, n) },
		.mac = { 2, 0, 0, 0, 0, n },
		.path_mtu = 1024,
		.seed = n,
	};
	struct wbell_err err;

	s->mem = ring(MEM);
	s->rq = ring(RECVS * 32);
	s->rcq = ring(RECVS * 64);
	must(!nic_create(&a, &s->nic));
	must(!nic_mem_register(s->nic, s->mem, MEM, 0xf, &s->key, &err));
	for (unsigned i = 0; i < 2; i++) {
		s->sq[i] = ring(DEPTH * 64);
		s->cq[i] = ring(DEPTH * 64);
		make_queue(s, i, first);
	}
}

static void join(struct duo *d)
{
	for (unsigned k = 0; k < 4; k++) {
		struct side *s = &d->side[k & 1], *peer = &d->side[!(k & 1)];
		const uint8_t n = (uint8_t)(2 - (k & 1));
		const uint8_t gid[GID_SIZE] = { GID_IPV4(192, 0, 2, n) };
		const uint8_t mac[6] = { 2, 0, 0, 0, 0, n };
		struct wbell_address a;
		struct wbell_err err;
		uint32_t qpn;

		must(!nic_queue_address(peer->q[k / 2], &a));
		must(!nic_queue_connect(s->q[k / 2], &a, &qpn, &err));
		nic_resolved(s->nic, gid, mac);
	}
}

static void free_side(struct side *s)
{
	nic_destroy(s->nic);
	for (unsigned i = 0; i < 2; i++) {
		free(s->sq[i]);
		free(s->cq[i]);
	}
	free(s->rq);
	free(s->rcq);
	free(s->mem);
}

static void turn(struct duo *d)
{
	struct roce_frame f[8];

	for (unsigned i = 0; i < 2; i++) {
		unsigned n;

		nic_doorbells(d->side[i].nic, d->now);
		for (unsigned k = 0; k < 8; k++)
			f[k] = (struct roce_frame){ d->frame[k], 0,
						    ROCE_FRAME_MAX(1024) };
		n = nic_tx(d->side[i].nic, d->now, f, 8);
		for (unsigned k = 0; k < n; k++)
			must(f[k].len <= ROCE_FRAME_MAX(1024));
		nic_rx(d->side[!i].nic, d->now, f, n);
	}
}

/* ---- what the input decides ---- */

static void be32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, 4);
}

/* Bytes anywhere in a ring. */
static void scribble(struct input *in, uint8_t *to, uint32_t size)
{
	uint32_t at = (uint32_t)take(in, 2) % size;
	uint32_t n = (uint32_t)take(in, 1);

	take_bytes(in, to + at, n < size - at ? n : size - at);
}

/* A WQE that passes for one: its control segment and its keys are right. */
static void wqe(struct side *s, struct input *in, uint64_t *pi)
{
	uint8_t *p = s->sq[0] + (*pi % DEPTH) * 64;
	uint64_t near = (uintptr_t)s->mem + take(in, 2) % (MEM + 64);
	unsigned how = (unsigned)take(in, 1), at = 16 + (how & 48);

	memset(p, 0, 64);
	take_bytes(in, p, 64);
	be32(p, (uint32_t)(*pi & 0xffff) << 8 | p[3]);
	be32(p + 4, s->qpn[0] << 8 | (p[7] & 0x3f));
	if (how & 1 && at < 64) {
		be32(p + at + 4, s->key);
		be32(p + at + 8, (uint32_t)(near >> 32));
		be32(p + at + 12, (uint32_t)near);
	}
	if (how & 2) {
		be32(p + 16, (uint32_t)(near >> 32));
		be32(p + 20, (uint32_t)near);
		be32(p + 24, s->key);
	}
	*pi += how & 4 ? (uint64_t)take(in, 1) : 1;
	s->doorbells[0] = *pi;
}

static void one(struct duo *d, struct input *in, uint64_t *pi)
{
	struct side *s = &d->side[0];

	switch (take(in, 1) % 8) {
	case 0:
		scribble(in, s->sq[0], DEPTH * 64);
		break;
	case 1:
		scribble(in, s->rq, RECVS * 32);
		break;
	case 2:
		s->dbrec[0].recv = (uint32_t)take(in, 4);
		break;
	case 3: /* a jump, also backward */
		*pi += take(in, 1) - 8;
		s->doorbells[0] = *pi;
		break;
	case 4:
		s->doorbells[0] = *pi = take(in, 8);
		break;
	case 5:
		d->now += take(in, 2) * 1000;
		turn(d);
		break;
	default:
		wqe(s, in, pi);
	}
}

/* The honest queue of the same NIC still writes, and is told so. */
static void check_honest(struct duo *d, uint64_t first)
{
	struct side *s = &d->side[0];
	uint8_t *p = s->sq[1] + (first % DEPTH) * 64;
	uint64_t to = (uintptr_t)d->side[1].mem;

	memset(p, 0, 64);
	be32(p, (uint32_t)(first & 0xffff) << 8 | WBELL_OP_WRITE);
	be32(p + 4, s->qpn[1] << 8 | 3);
	p[11] = WBELL_CTRL_CQ_UPDATE;
	be32(p + 16, (uint32_t)(to >> 32));
	be32(p + 20, (uint32_t)to);
	be32(p + 24, d->side[1].key);
	be32(p + 32, WBELL_INLINE | 4);
	memcpy(p + 36, "good", 4);
	s->doorbells[1] = first + 1;
	for (unsigned i = 0; i < 40; i++) {
		d->now += 1000000;
		turn(d);
	}
	must(!memcmp(d->side[1].mem, "good", 4));
	must(s->cq[1][0].op_own >> 4 == WBELL_CQE_REQ);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct duo d = { .now = 1000000000 };
	uint64_t first = take(&in, 1) & 1 ? 0xfff8 : 0, pi = first;

	for (unsigned i = 0; i < 8; i++)
		must((d.frame[i] = malloc(ROCE_FRAME_MAX(1024))));
	make_side(&d.side[0], 1, first);
	make_side(&d.side[1], 2, first);
	join(&d);
	for (unsigned i = 0; in.n && i < 100; i++)
		one(&d, &in, &pi);
	check_honest(&d, first);
	free_side(&d.side[0]);
	free_side(&d.side[1]);
	for (unsigned i = 0; i < 8; i++)
		free(d.frame[i]);
	return 0;
}
