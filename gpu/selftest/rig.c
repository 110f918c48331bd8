// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../dpdk_path/nic/nic.h"
#include "../launch.h"
#include "rig.h"

#define FRAMES	   32
#define FRAME_ROOM 4608 /* bytes; path MTU 4096 and headers */
#define ASKED	   1	/* to be silent */
#define SILENT	   2
#define IDLE_TURNS 256 /* before the thread lets others on its CPU */

/* Of one queue, at its index in the side; kernels and NIC share it. */
struct rig_words {
	struct wbell_dqueue dq;
	struct wbell_error_record error;
	struct wbell_dbrec dbrec;
	struct wbell_cq_dbrec cq_dbrec, rcq_dbrec;
	uint64_t uar; /* memory in a doorbell register's place */
	uint64_t sink;
	struct wbell_cqe rcq[RIG_RECVS];
	uint8_t rq[RIG_RECVS][WBELL_SEG_SIZE];
} __attribute__((aligned(64)));

struct rig_shared {
	uint64_t doorbells[2][RIG_QUEUES_MAX] __attribute__((aligned(64)));
	uint32_t abort __attribute__((aligned(64)));
	struct rig_words words[2][RIG_QUEUES_MAX];
	uint8_t payload[2][RIG_PAYLOAD] __attribute__((aligned(4096)));
	/* then rings: sq, cq of each queue */
};

struct rig_side {
	struct nic *nic;
	struct nic_queue *q[RIG_QUEUES_MAX];
	uint32_t key;
	uint64_t rung[RIG_QUEUES_MAX]; /* UAR: last value seen */
};

struct rig {
	struct rig_attr attr;
	struct rig_side side[2];
	struct rig_shared *shared;
	size_t size;
	int mapped, started;
	pthread_t thread;
	int stop, silent; /* atomic */
	uint8_t frames[FRAMES][FRAME_ROOM];
};

static size_t ring_bytes(const struct rig *r)
{
	return (size_t)WBELL_BB_SIZE << r->attr.log_depth;
}

/* Send ring, or with cq the CQ behind it. */
static void *ring_of(struct rig *r, int side, uint32_t i, int cq)
{
	size_t n = ((size_t)side * r->attr.queues + i) * 2 + (size_t)cq;

	return (uint8_t *)(r->shared + 1) + n * ring_bytes(r);
}

/* ---- the thread ---- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* What hardware does when its register is written: look at the record. */
static void hear_register(struct rig *r, int side, uint32_t i)
{
	struct rig_words *w = &r->shared->words[side][i];
	uint64_t *bell = &r->shared->doorbells[side][i];
	uint64_t uar = __atomic_load_n(&w->uar, __ATOMIC_ACQUIRE);
	uint32_t send;

	if (uar == r->side[side].rung[i])
		return;
	r->side[side].rung[i] = uar;
	send = __builtin_bswap32(
		__atomic_load_n(&w->dbrec.send, __ATOMIC_ACQUIRE));
	*bell += (uint16_t)(send - (uint32_t)*bell);
}

static unsigned turn(struct rig *r, int side)
{
	struct rig_side *s = &r->side[side];
	struct roce_frame f[FRAMES];
	uint64_t now = now_ns();
	unsigned i, n;

	if (r->attr.db_kind == WBELL_DB_UAR)
		for (i = 0; i < r->attr.queues; i++)
			hear_register(r, side, i);
	n = nic_doorbells(s->nic, now);
	for (i = 0; i < FRAMES; i++) {
		f[i].data = r->frames[i];
		f[i].len = 0;
		f[i].room = FRAME_ROOM;
	}
	i = nic_tx(s->nic, now, f, FRAMES);
	if (i)
		nic_rx(r->side[!side].nic, now, f, i);
	return n + i;
}

static void *run(void *arg)
{
	struct rig *r = arg;
	unsigned idle = 0;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&r->silent, __ATOMIC_ACQUIRE)) {
			__atomic_store_n(&r->silent, SILENT, __ATOMIC_RELEASE);
			sched_yield();
		} else if (turn(r, 0) + turn(r, 1)) {
			idle = 0;
		} else if (++idle > IDLE_TURNS) {
			sched_yield();
		}
	}
	return NULL;
}

/* ---- set-up ---- */

static uint64_t address(const void *p)
{
	return (uintptr_t)p;
}

static void cq_init(struct wbell_cqe *cq, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		cq[i].op_own = WBELL_CQE_INVALID << 4 | WBELL_CQE_OWNER;
}

static void fill_send(struct rig *r, int side, uint32_t i)
{
	struct rig_words *w = &r->shared->words[side][i];
	const struct rig_attr *a = &r->attr;
	struct wbell_dqueue *dq = &w->dq;

	dq->sq = address(ring_of(r, side, i, 0));
	dq->cq = address(ring_of(r, side, i, 1));
	dq->db = address(a->db_kind == WBELL_DB_UAR
				 ? &w->uar
				 : &r->shared->doorbells[side][i]);
	dq->db_kind = (uint8_t)a->db_kind;
	dq->flags = (uint8_t)a->flags;
	dq->log_depth = dq->log_cq = (uint8_t)a->log_depth;
	dq->cq_dbrec = a->cq_record ? address(&w->cq_dbrec) : 0;
	dq->reserved = dq->ready = a->first_index;
	dq->cq_state = a->first_index << WBELL_CQ_CI_BITS;
	dq->max_inline = 64;
	dq->max_sge = 4;
	r->shared->doorbells[side][i] = a->first_index;
	w->dbrec.send = __builtin_bswap32((uint32_t)a->first_index & 0xffff);
	cq_init(ring_of(r, side, i, 1), 1U << a->log_depth);
}

static void fill_queue(struct rig *r, int side, uint32_t i)
{
	struct rig_words *w = &r->shared->words[side][i];
	struct wbell_dqueue *dq = &w->dq;

	dq->magic = WBELL_DQUEUE_MAGIC;
	dq->dbrec = address(&w->dbrec);
	dq->abort = address(&r->shared->abort);
	dq->error = address(&w->error);
	dq->sink = address(&w->sink);
	dq->sink_lkey = r->side[side].key;
	dq->rq = address(w->rq);
	dq->rcq = address(w->rcq);
	dq->rcq_dbrec = r->attr.cq_record ? address(&w->rcq_dbrec) : 0;
	dq->log_rq = dq->log_rcq = (uint8_t)__builtin_ctz(RIG_RECVS);
	dq->log_rq_stride = (uint8_t)__builtin_ctz(WBELL_SEG_SIZE);
	cq_init(w->rcq, RIG_RECVS);
	fill_send(r, side, i);
}

static int make_queue(struct rig *r, int side, uint32_t i)
{
	struct rig_words *w = &r->shared->words[side][i];
	struct wbell_prov_queue a;
	struct wbell_err err;
	uint32_t qpn;
	int rc;

	memset(&a, 0, sizeof(a));
	a.index = i;
	a.depth = 1U << r->attr.log_depth;
	a.log_cq = r->attr.log_depth;
	a.recv_depth = RIG_RECVS;
	a.recv_stride = WBELL_SEG_SIZE;
	a.log_rcq = (uint32_t)__builtin_ctz(RIG_RECVS);
	a.sq = ring_of(r, side, i, 0);
	a.cq = ring_of(r, side, i, 1);
	a.rq = w->rq;
	a.rcq = w->rcq;
	a.dbrec = &w->dbrec;
	a.first_index = r->attr.first_index;
	a.attr.timeout = 16; /* 268 ms: a CPU of others may be slow */
	a.attr.retry_cnt = a.attr.rnr_retry = 7;
	a.attr.min_rnr_timer = 1;
	a.attr.max_rd_atomic = 16;
	fill_queue(r, side, i);
	rc = nic_queue_create(r->side[side].nic, &a, &r->side[side].q[i], &qpn,
			      &err);
	w->dq.qpn_ds = qpn << 8;
	return rc;
}

static int make_side(struct rig *r, int side)
{
	struct rig_side *s = &r->side[side];
	struct nic_attr a;
	struct wbell_err err;
	uint32_t i;
	int rc;

	memset(&a, 0, sizeof(a));
	a.max_queues = RIG_QUEUES_MAX;
	a.doorbells = r->shared->doorbells[side];
	memcpy(a.gid, (uint8_t[]){ GID_IPV4(192, 0, 2, (uint8_t)(1 + side)) },
	       GID_SIZE);
	memcpy(a.mac, (uint8_t[]){ 2, 0, 0, 0, 0, (uint8_t)(1 + side) }, 6);
	a.path_mtu = 4096;
	a.seed = 1 + (uint64_t)side;
	rc = nic_create(&a, &s->nic);
	if (rc)
		return rc;
	rc = nic_mem_register(s->nic, r->shared, r->size,
			      WBELL_LOCAL_WRITE | WBELL_REMOTE_WRITE |
				      WBELL_REMOTE_READ | WBELL_REMOTE_ATOMIC,
			      &s->key, &err);
	for (i = 0; i < r->attr.queues && !rc; i++)
		rc = make_queue(r, side, i);
	return rc;
}

static int join(struct rig *r, int side)
{
	uint8_t gid[GID_SIZE] = { GID_IPV4(192, 0, 2, (uint8_t)(2 - side)) };
	uint8_t mac[6] = { 2, 0, 0, 0, 0, (uint8_t)(2 - side) };
	struct wbell_address a;
	struct wbell_err err;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < r->attr.queues && !rc; i++) {
		rc = nic_queue_address(r->side[!side].q[i], &a);
		if (!rc)
			rc = nic_queue_connect(
				r->side[side].q[i], &a,
				&r->shared->words[side][i].dq.peer_qpn, &err);
	}
	nic_resolved(r->side[side].nic, gid, mac);
	return rc;
}

static int map(struct rig *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t rings = ring_bytes(r) * r->attr.queues * 4;
	void *mem;
	int rc;

	r->size = (sizeof(*r->shared) + rings + page - 1) / page * page;
	rc = posix_memalign(&mem, page, r->size);
	if (rc)
		return -rc;
	memset(mem, 0, r->size);
	r->shared = mem;
	rc = wbell_launch_map(mem, r->size);
	r->mapped = !rc;
	return rc;
}

static int connect_all(struct rig *r)
{
	int rc = map(r);
	int i;

	for (i = 0; i < 2 && !rc; i++)
		rc = make_side(r, i);
	for (i = 0; i < 2 && !rc; i++)
		rc = join(r, i);
	if (!rc)
		rc = -pthread_create(&r->thread, NULL, run, r);
	r->started = !rc;
	return rc;
}

int rig_open(const struct rig_attr *attr, struct rig **out)
{
	struct rig *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return -ENOMEM;
	r->attr = *attr;
	if (!r->attr.queues)
		r->attr.queues = 1;
	rc = connect_all(r);
	if (rc)
		rig_close(r);
	else
		*out = r;
	return rc;
}

void rig_close(struct rig *r)
{
	int i;

	if (!r)
		return;
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	if (r->started)
		pthread_join(r->thread, NULL);
	for (i = 0; i < 2; i++)
		if (r->side[i].nic)
			nic_destroy(r->side[i].nic);
	if (r->mapped)
		wbell_launch_unmap(r->shared);
	free(r->shared);
	free(r);
}

/* ---- what is where ---- */

struct wbell_dqueue *rig_queue(struct rig *r, int side, uint32_t i)
{
	return &r->shared->words[side][i].dq;
}

const struct wbell_error_record *rig_error(struct rig *r, int side, uint32_t i)
{
	return &r->shared->words[side][i].error;
}

uint8_t *rig_payload(struct rig *r, int side)
{
	return r->shared->payload[side];
}

uint32_t rig_key(struct rig *r, int side)
{
	return r->side[side].key;
}

void rig_silence(struct rig *r)
{
	__atomic_store_n(&r->silent, ASKED, __ATOMIC_RELEASE);
	while (__atomic_load_n(&r->silent, __ATOMIC_ACQUIRE) != SILENT)
		sched_yield(); /* the thread is alive: a turn at most */
}

void rig_abort(struct rig *r)
{
	__atomic_store_n(&r->shared->abort, 1, __ATOMIC_RELEASE);
}
