// SPDX-License-Identifier: BSD-2-Clause
/* A NIC in a process: see nicd.h. */
#include <arpa/inet.h>
#include <endian.h>
#include <poll.h>
#include <stdatomic.h>

#include "nicd.h"

#define QUEUES 8
#define GRANTS 16

struct grant {
	struct wbell_u_ep_grant about;
	char *at;
};

struct served {
	int ep; /* -1: none */
	uint32_t depth;
	uint64_t done, ready;
	const char *sq;
	char *cq;
	const _Atomic uint64_t *db;
	struct grant grant[GRANTS];
};

static struct served queues[QUEUES];

static void *part(int ep, const struct wbell_u_map *m)
{
	void *at = map(ep, m->cookie, m->map_len,
		       m->write ? PROT_READ | PROT_WRITE : PROT_READ);

	must(at);
	return at;
}

static void grants_read(struct served *q)
{
	struct wbell_u_ep_grant *g;
	uint32_t i;

	for (i = 0; i < GRANTS; i++) {
		g = &q->grant[i].about;
		memset(g, 0, sizeof(*g));
		g->index = i;
		if (call(q->ep, WBELL_IOC_EP_GRANT, g))
			g->len = 0;
		else
			q->grant[i].at = part(q->ep, &g->map);
	}
}

static void queue_begin(int ep)
{
	struct wbell_u_ep_info info = {};
	struct served *q;

	for (q = queues; q->ep >= 0; q++)
		must(q < queues + QUEUES - 1);
	must(!call(ep, WBELL_IOC_EP_INFO, &info));
	memset(q, 0, sizeof(*q));
	q->ep = ep;
	q->depth = info.depth;
	q->sq = part(ep, &info.region[WBELL_REGION_SQ]);
	q->cq = part(ep, &info.region[WBELL_REGION_CQ]);
	q->db = part(ep, &info.region[WBELL_REGION_DB]);
	grants_read(q); /* those made before raise no event */
}

/* Where [addr, addr + len) lies, if key and access allow it. */
static char *memory(struct served *q, uint32_t key, uint64_t addr, uint64_t len,
		    uint32_t access)
{
	int i;

	for (i = 0; i < GRANTS; i++) {
		struct wbell_u_ep_grant *g = &q->grant[i].about;

		if (!g->len || g->key != key || (g->access & access) != access)
			continue;
		if (addr < g->iova || len > g->len ||
		    addr - g->iova > g->len - len)
			return NULL;
		return q->grant[i].at + (addr - g->iova);
	}
	return NULL;
}

/* The remote key may be of any queue. */
static char *remote(uint32_t key, uint64_t addr, uint64_t len)
{
	char *at = NULL;
	int i;

	for (i = 0; i < QUEUES && !at; i++)
		if (queues[i].ep >= 0)
			at = memory(&queues[i], key, addr, len,
				    WBELL_ACCESS_REMOTE_WRITE);
	return at;
}

struct wqe {
	struct wbell_ctrl_seg ctrl;
	struct wbell_raddr_seg raddr;
	struct wbell_data_seg data;
	char rest[16];
};

static uint8_t carry(struct served *q, const struct wqe *w)
{
	uint32_t len = ntohl(w->data.byte_count);
	char *from, *to;

	if ((ntohl(w->ctrl.opmod_idx_opcode) & 0xff) != WBELL_OP_WRITE ||
	    (ntohl(w->ctrl.qpn_ds) & 0x3f) != 3)
		return WBELL_SYND_LOCAL_QP_OP;
	from = memory(q, ntohl(w->data.lkey), be64toh(w->data.addr), len, 0);
	if (!from)
		return WBELL_SYND_LOCAL_PROT;
	to = remote(ntohl(w->raddr.rkey), be64toh(w->raddr.raddr), len);
	if (!to)
		return WBELL_SYND_REMOTE_ACCESS;
	memcpy(to, from, len);
	return 0;
}

static void complete(struct served *q, uint32_t index, uint8_t syndrome)
{
	struct wbell_err_cqe *cqe =
		(void *)(q->cq + index % q->depth * sizeof(*cqe));
	uint8_t owner = index / q->depth & 1;
	uint8_t op = syndrome ? WBELL_CQE_REQ_ERR : WBELL_CQE_REQ;

	cqe->wqe_counter = htons(index);
	cqe->syndrome = syndrome;
	atomic_store_explicit((_Atomic uint8_t *)&cqe->op_own, op << 4 | owner,
			      memory_order_release);
}

/* A doorbell that jumps too far is an error of the queue, not of ours. */
static bool queue_serve(struct served *q)
{
	struct wbell_u_ep_error bad = { .code = 1 };
	struct wbell_u_ep_kick kick = {};
	struct wqe w;

	if (q->ready == q->done)
		return false;
	if (q->ready - q->done > q->depth) {
		call(q->ep, WBELL_IOC_EP_ERROR, &bad);
		return false;
	}
	for (; q->done != q->ready; q->done++) {
		/* once, so that it cannot change under the checks */
		memcpy(&w, q->sq + q->done % q->depth * sizeof(w), sizeof(w));
		complete(q, q->done, carry(q, &w));
	}
	call(q->ep, WBELL_IOC_EP_KICK, &kick);
	return true;
}

static void queue_event(struct served *q)
{
	struct wbell_u_event ev = event_get(q->ep);

	if (ev.type == WBELL_EVENT_EP_GRANT) {
		grants_read(q);
	} else if (ev.type == WBELL_EVENT_EP_GONE) {
		close(q->ep); /* mappings stay: they are dummies now */
		q->ep = -1;
	}
}

/*
 * Doorbells are read first, then events, then requests are served: what a
 * request names was granted before its doorbell was rung.
 */
static bool turn(void)
{
	struct served *q;
	bool busy = false;

	for (q = queues; q < queues + QUEUES; q++)
		if (q->ep >= 0)
			q->ready = atomic_load_explicit(q->db,
							memory_order_acquire);
	for (q = queues; q < queues + QUEUES; q++)
		while (q->ep >= 0 && poll_now(q->ep))
			queue_event(q);
	for (q = queues; q < queues + QUEUES; q++)
		if (q->ep >= 0)
			busy |= queue_serve(q);
	return busy;
}

int nicd(void *arg)
{
	int ctx = open(WBELL_DEVICE, O_RDWR | O_CLOEXEC), i, ep;
	uint32_t handle;

	must(ctx >= 0);
	for (i = 0; i < QUEUES; i++)
		queues[i].ep = -1;
	handle = nic(ctx, NICD_NAME, QUEUES, NULL);
	must(write(*(int *)arg, "x", 1) == 1);
	for (;;) { /* until it is killed, at the latest with its parent */
		while (poll_now(ctx))
			event_get(ctx);
		ep = accept_queue(ctx, handle, WBELL_ACCEPT_DUMMY);
		if (ep >= 0)
			queue_begin(ep);
		if (!turn())
			usleep(100);
	}
}
