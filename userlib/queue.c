// SPDX-License-Identifier: BSD-2-Clause
/* Queues: made, connected, destroyed. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_INLINE_BYTES 220 /* four basic blocks: 256 - 16 - 16 - 4 */
#define MAX_SGE		 30

/* RTR is passed through inside connect; an error is for ever. */
static const bool may_go[WBELL_QUEUE_ERR + 1][WBELL_QUEUE_ERR + 1] = {
	[WBELL_QUEUE_RESET] = { [WBELL_QUEUE_INIT] = true },
	[WBELL_QUEUE_INIT] = { [WBELL_QUEUE_RTS] = true,
			       [WBELL_QUEUE_ERR] = true },
	[WBELL_QUEUE_RTS] = { [WBELL_QUEUE_ERR] = true },
};

bool queue_may_go(unsigned from, unsigned to)
{
	return from <= WBELL_QUEUE_ERR && to <= WBELL_QUEUE_ERR &&
	       may_go[from][to];
}

/* connect (context's lock) and an error event (event lock) may race here. */
int queue_set_state(struct chunk *chunk, unsigned state)
{
	uint32_t from = __atomic_load_n(&chunk->state, __ATOMIC_RELAXED);

	do {
		if (!queue_may_go(from, state))
			return -EINVAL;
	} while (!__atomic_compare_exchange_n(&chunk->state, &from, state,
					      false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
	return 0;
}

/* QPNs may come in a row or at random: both spread over the low bits. */
static struct wbell_queue **hash_head(struct wbell_ctx *ctx, uint32_t qpn)
{
	return &ctx->hash[qpn % QUEUE_HASH];
}

static void hash_add(struct wbell_ctx *ctx, struct wbell_queue *q)
{
	struct wbell_queue **head = hash_head(ctx, q->qpn);

	pthread_mutex_lock(&ctx->events.lock);
	q->next = *head;
	*head = q;
	pthread_mutex_unlock(&ctx->events.lock);
}

static void hash_del(struct wbell_ctx *ctx, struct wbell_queue *q)
{
	struct wbell_queue **p = hash_head(ctx, q->qpn);

	pthread_mutex_lock(&ctx->events.lock);
	while (*p != q)
		p = &(*p)->next;
	*p = q->next;
	pthread_mutex_unlock(&ctx->events.lock);
}

void queue_event_error(struct wbell_ctx *ctx, uint32_t qpn)
{
	struct wbell_queue *q;

	for (q = *hash_head(ctx, qpn); q; q = q->next)
		if (q->qpn == qpn)
			queue_set_state(q->chunk, WBELL_QUEUE_ERR);
}

struct layout {
	size_t sq, cq, rq, rcq, size; /* bytes from the chunk's start */
	uint8_t log_depth, log_recv, log_stride;
};

static uint8_t log2_of(uint32_t power)
{
	return __builtin_ctz(power);
}

static void lay_out(const struct ring *r, const struct wbell_queue_attr *a,
		    struct layout *l)
{
	size_t recv = a->recv_depth;

	l->log_depth = log2_of(a->depth);
	l->log_recv = recv ? log2_of(recv) : 0;
	l->log_stride = 4 + log2_of(a->recv_sge);
	l->sq = ring_round(r, sizeof(struct chunk));
	l->cq = ring_round(r, l->sq + ((size_t)a->depth << WBELL_BB_SHIFT));
	l->rq = ring_round(r, l->cq + a->depth * sizeof(struct wbell_cqe));
	l->rcq = ring_round(r, l->rq + (recv << l->log_stride));
	l->size = ring_round(r, l->rcq + recv * sizeof(struct wbell_cqe));
}

/*
 * Opcode INVALID with the owner bit of the lap before: neither test of a
 * poller takes it for a completion.
 */
static void cq_init(struct wbell_cqe *cq, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		cq[i].op_own = WBELL_CQE_INVALID << 4 | WBELL_CQE_OWNER;
}

static uint64_t address(const void *p)
{
	return (uintptr_t)p;
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void fill_limits(struct wbell_dqueue *dq, uint32_t depth)
{
	/* ctrl and raddr take two segments; the inline header four bytes. */
	uint32_t segs = at_most(depth * WBELL_SEGS_PER_BB, WBELL_DS_MAX) - 2;

	dq->max_inline = at_most(segs * WBELL_SEG_SIZE - 4, MAX_INLINE_BYTES);
	dq->max_sge = at_most(segs, MAX_SGE);
}

static void fill_receive(struct wbell_dqueue *dq, struct chunk *c,
			 const struct layout *l, bool has_rq)
{
	dq->log_rq = 0xff;
	if (!has_rq)
		return;
	dq->log_rq = l->log_recv;
	dq->log_rq_stride = l->log_stride;
	dq->log_rcq = l->log_recv;
	dq->rq = address(c) + l->rq;
	dq->rcq = address(c) + l->rcq;
}

static void fill_dqueue(struct wbell_queue *q, const struct layout *l,
			const struct wbell_queue_attr *a)
{
	struct ring *r = &q->ctx->ring;
	struct chunk *c = q->chunk;
	struct wbell_dqueue *dq = &c->dq;

	dq->sq = address(c) + l->sq;
	/* CQs as deep as their rings never overrun: no CQ doorbell records */
	dq->cq = address(c) + l->cq;
	dq->db = address(&r->doorbells[q->index]);
	dq->dbrec = address(&c->dbrec);
	dq->abort = address(&r->head->abort);
	dq->error = address(&c->error);
	dq->sink = address(&r->head->sink);
	dq->sink_lkey = q->ctx->sink_key;
	dq->db_kind = WBELL_DB_WORD;
	dq->log_depth = l->log_depth;
	dq->log_cq = l->log_depth;
	if (a->flags & WBELL_QUEUE_EXCLUSIVE)
		dq->flags |= WBELL_DQ_EXCLUSIVE;
	fill_limits(dq, a->depth);
	fill_receive(dq, c, l, a->recv_depth);
	dq->reserved = dq->ready = a->first_index;
	dq->cq_state = (uint64_t)a->first_index << WBELL_CQ_CI_BITS;
}

static void fill_chunk(struct wbell_queue *q, const struct layout *l,
		       const struct wbell_queue_attr *a)
{
	struct chunk *c = q->chunk;

	c->depth = a->depth;
	c->path_mtu = a->path_mtu;
	c->sq_at = l->sq;
	c->dbrec.send = htobe32(a->first_index & 0xffff);
	cq_init((void *)((char *)c + l->cq), a->depth);
	cq_init((void *)((char *)c + l->rcq), a->recv_depth);
	fill_dqueue(q, l, a);
	__atomic_store_n(&q->ctx->ring.doorbells[q->index], a->first_index,
			 __ATOMIC_RELEASE);
}

static int nic_create(struct wbell_queue *q, const struct layout *l,
		      const struct wbell_queue_attr *a)
{
	char *base = (char *)q->chunk;
	struct wbell_prov_queue pq = {
		.index = q->index,
		.depth = a->depth,
		.log_cq = l->log_depth,
		.recv_depth = a->recv_depth,
		.recv_stride = a->recv_depth ? 1U << l->log_stride : 0,
		.log_rcq = l->log_recv,
		.sq = base + l->sq,
		.cq = (void *)(base + l->cq),
		.rq = a->recv_depth ? base + l->rq : NULL,
		.rcq = a->recv_depth ? (void *)(base + l->rcq) : NULL,
		.dbrec = &q->chunk->dbrec,
		.first_index = a->first_index,
		.attr = *a,
	};
	struct wbell_ctx *ctx = q->ctx;
	struct wbell_err err = { "" };
	int rc;

	rc = ctx->ops->queue_create(ctx->nic, &pq, &q->prov, &q->qpn, &err);
	if (!rc)
		return 0;
	err.text[sizeof(err.text) - 1] = '\0';
	return error_set(&ctx->error, rc,
			 "cannot create queue of depth %u: %s%s%s", a->depth,
			 error_name(rc), err.text[0] ? ": " : "", err.text);
}

/* Results nobody asked for need a key; made with the first queue. */
static int sink_get(struct wbell_ctx *ctx)
{
	int rc;

	if (ctx->has_sink)
		return 0;
	rc = mem_register_locked(ctx, &ctx->ring.head->sink,
				 sizeof(ctx->ring.head->sink),
				 WBELL_LOCAL_WRITE, &ctx->sink_key);
	ctx->has_sink = !rc;
	return rc;
}

static int chunk_get(struct wbell_queue *q, size_t size)
{
	struct wbell_ctx *ctx = q->ctx;
	int rc;

	rc = ring_slot_get(&ctx->ring, &q->index);
	if (rc)
		return error_set(&ctx->error, rc,
				 "cannot create queue: all %u of the context "
				 "are in use: raise max_queues at wbell_open()",
				 ctx->ring.head->max_queues);
	rc = ring_chunk_get(&ctx->ring, size, &q->span);
	if (rc) {
		ring_slot_put(&ctx->ring, q->index);
		return error_set(&ctx->error, rc,
				 "cannot create queue: %zu bytes of shared "
				 "memory: %s: free memory or lower the depth",
				 size, error_name(rc));
	}
	q->chunk = q->span.map;
	return 0;
}

static void chunk_put(struct wbell_queue *q)
{
	__atomic_store_n(&q->ctx->ring.doorbells[q->index], 0,
			 __ATOMIC_RELEASE);
	ring_chunk_put(&q->ctx->ring, &q->span);
	ring_slot_put(&q->ctx->ring, q->index);
}

/* The magics come last: device code and onlookers test them first. */
static void make_public(struct wbell_queue *q)
{
	struct chunk *c = q->chunk;

	c->qpn = q->qpn;
	c->dq.qpn_ds = q->qpn << 8;
	queue_set_state(c, WBELL_QUEUE_INIT);
	__atomic_store_n(&c->dq.magic, WBELL_DQUEUE_MAGIC, __ATOMIC_RELEASE);
	__atomic_store_n(&c->magic, WBELL_DQUEUE_MAGIC, __ATOMIC_RELEASE);
	hash_add(q->ctx, q);
	ring_chunk_show(&q->ctx->ring, q->index, &q->span);
	q->ctx->queues++;
}

static int create_locked(struct wbell_queue *q,
			 const struct wbell_queue_attr *attr)
{
	struct error_text *e = &q->ctx->error;
	struct wbell_queue_attr a;
	struct layout l;
	int rc;

	rc = attr_take(&a, sizeof(a), sizeof(a), attr, "queue attribute", e);
	if (!rc)
		rc = attr_queue(&a, e);
	if (!rc)
		rc = sink_get(q->ctx);
	if (rc)
		return rc;
	lay_out(&q->ctx->ring, &a, &l);
	rc = chunk_get(q, l.size);
	if (rc)
		return rc;
	fill_chunk(q, &l, &a);
	rc = nic_create(q, &l, &a);
	if (rc)
		goto err_chunk;
	make_public(q);
	return 0;

err_chunk:
	chunk_put(q);
	return rc;
}

int wbell_queue_create(struct wbell_ctx *ctx,
		       const struct wbell_queue_attr *attr,
		       struct wbell_queue **out)
{
	errno_kept();
	struct wbell_queue *q;
	int rc;

	if (!ctx || !out)
		return error_no_object("wbell_queue_create",
				       ctx ? "result" : "context");
	*out = NULL;
	q = calloc(1, sizeof(*q));
	pthread_mutex_lock(&ctx->lock);
	if (q) {
		q->ctx = ctx;
		rc = create_locked(q, attr);
	} else {
		rc = error_set(&ctx->error, -ENOMEM,
			       "cannot create queue: no memory for its handle: "
			       "free some");
	}
	pthread_mutex_unlock(&ctx->lock);
	if (rc)
		free(q);
	else
		*out = q;
	return rc;
}

int wbell_queue_destroy(struct wbell_queue *q)
{
	errno_kept();
	struct wbell_ctx *ctx;

	if (!q)
		return error_no_object("wbell_queue_destroy", "queue");
	ctx = q->ctx;
	pthread_mutex_lock(&ctx->lock);
	ring_chunk_hide(&ctx->ring, q->index);
	/* a kernel that still has the view is refused, not let in */
	__atomic_store_n(&q->chunk->dq.magic, 0, __ATOMIC_RELEASE);
	ctx->ops->queue_destroy(q->prov);
	hash_del(ctx, q);
	chunk_put(q);
	ctx->queues--;
	pthread_mutex_unlock(&ctx->lock);
	free(q);
	return 0;
}

int wbell_queue_address(struct wbell_queue *q, struct wbell_address *addr)
{
	errno_kept();
	int rc;

	if (!q || !addr)
		return error_no_object("wbell_queue_address",
				       q ? "result" : "queue");
	memset(addr, 0, sizeof(*addr));
	pthread_mutex_lock(&q->ctx->lock);
	rc = q->ctx->ops->queue_address(q->prov, addr);
	if (rc)
		error_set(&q->ctx->error, rc,
			  "cannot tell the address of queue 0x%x: %s: see the "
			  "provider's log",
			  q->qpn, error_name(rc));
	pthread_mutex_unlock(&q->ctx->lock);
	return rc;
}

/* What onlookers cannot ask the provider for. */
static void note_peer(struct wbell_queue *q, uint32_t peer_qpn)
{
	struct wbell_prov_stat st = { 0 };
	struct chunk *c = q->chunk;

	c->peer_qpn = peer_qpn;
	c->dq.peer_qpn = peer_qpn;
	if (q->ctx->ops->queue_stat(q->prov, &st))
		return;
	c->path_mtu = st.path_mtu;
	memcpy(c->peer_address, st.peer_address, sizeof(c->peer_address) - 1);
}

static int connect_locked(struct wbell_queue *q,
			  const struct wbell_address *peer)
{
	struct wbell_ctx *ctx = q->ctx;
	struct wbell_err err = { "" };
	uint32_t peer_qpn = 0;
	int rc;

	if (q->connected)
		return error_set(&ctx->error, -EISCONN,
				 "cannot connect queue 0x%x: it has peer 0x%x: "
				 "create a new queue for another peer",
				 q->qpn, q->chunk->peer_qpn);
	rc = ctx->ops->queue_connect(q->prov, peer, &peer_qpn, &err);
	if (rc) {
		err.text[sizeof(err.text) - 1] = '\0';
		return error_set(&ctx->error, rc,
				 "cannot connect queue 0x%x: %s%s%s", q->qpn,
				 error_name(rc), err.text[0] ? ": " : "",
				 err.text);
	}
	q->connected = true;
	note_peer(q, peer_qpn);
	/* An error that came at once stays: the event has been given. */
	queue_set_state(q->chunk, WBELL_QUEUE_RTS);
	return 0;
}

int wbell_queue_connect(struct wbell_queue *q, const struct wbell_address *peer)
{
	errno_kept();
	int rc;

	if (!q || !peer)
		return error_no_object("wbell_queue_connect",
				       q ? "address" : "queue");
	pthread_mutex_lock(&q->ctx->lock);
	rc = connect_locked(q, peer);
	pthread_mutex_unlock(&q->ctx->lock);
	return rc;
}

int wbell_queue_device(struct wbell_queue *q, struct wbell_dqueue **dq)
{
	if (!q || !dq)
		return error_no_object("wbell_queue_device",
				       q ? "result" : "queue");
	*dq = &q->chunk->dq;
	return 0;
}
