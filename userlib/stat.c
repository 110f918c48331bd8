// SPDX-License-Identifier: BSD-2-Clause
/* What a queue tells of itself, by its memory and by its provider. */
#include <errno.h>
#include <string.h>

#include "internal.h"

#define DONE_BITS (64 - WBELL_CQ_CI_BITS)

static uint64_t load(const void *p)
{
	return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
}

/* cq_state keeps 40 bits of done; it never runs ahead of ready. */
static uint64_t widen_done(uint64_t cq_state, uint64_t ready)
{
	uint64_t mask = (1ULL << DONE_BITS) - 1;
	uint64_t behind = (ready - (cq_state >> WBELL_CQ_CI_BITS)) & mask;

	return ready - behind;
}

static void copy_error(const struct chunk *c, struct wbell_error_record *rec)
{
	if (__atomic_load_n(&c->error.state, __ATOMIC_ACQUIRE) ==
	    WBELL_ERR_WHOLE)
		*rec = c->error;
	else
		memset(rec, 0, sizeof(*rec));
}

/*
 * Counters move while they are read.  done first, so that it is never seen
 * ahead of ready, nor ready ahead of reserved.
 */
void chunk_stat(const struct chunk *c, uint64_t doorbell,
		struct wbell_queue_stat *stat)
{
	uint64_t cq_state = load(&c->dq.cq_state);

	memset(stat, 0, sizeof(*stat));
	stat->ready = load(&c->dq.ready);
	stat->reserved = load(&c->dq.reserved);
	stat->doorbell = doorbell;
	stat->done = widen_done(cq_state, stat->ready);
	stat->qpn = c->qpn;
	stat->peer_qpn = c->peer_qpn;
	stat->state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
	stat->depth = c->depth;
	stat->path_mtu = c->path_mtu;
	stat->db_kind = c->dq.db_kind;
	copy_error(c, &stat->error);
	memcpy(stat->peer_address, c->peer_address,
	       sizeof(stat->peer_address) - 1);
}

bool chunk_oldest(const struct chunk *c, const struct wbell_queue_stat *stat,
		  size_t *at)
{
	/* ready - done > depth: not a queue that works; show nothing. */
	if (stat->ready == stat->done || stat->ready - stat->done > c->depth)
		return false;
	*at = c->sq_at + ((stat->done & (c->depth - 1)) << WBELL_BB_SHIFT);
	return true;
}

static void merge(struct wbell_queue_stat *stat,
		  const struct wbell_prov_stat *p)
{
	if (stat->state != WBELL_QUEUE_ERR)
		stat->state = p->state;
	if (p->peer_qpn)
		stat->peer_qpn = p->peer_qpn;
	if (p->path_mtu)
		stat->path_mtu = p->path_mtu;
	stat->fetched = p->fetched;
	stat->retries = p->retries;
	stat->rnr_naks = p->rnr_naks;
	stat->timeouts = p->timeouts;
	stat->packets_tx = p->packets_tx;
	stat->packets_rx = p->packets_rx;
	if (p->peer_address[0])
		memcpy(stat->peer_address, p->peer_address,
		       sizeof(stat->peer_address) - 1);
}

static int stat_locked(struct wbell_queue *q, struct wbell_queue_stat *stat)
{
	struct wbell_prov_stat p = { 0 };
	size_t at;
	int rc;

	rc = q->ctx->ops->queue_stat(q->prov, &p);
	if (rc)
		return error_set(&q->ctx->error, rc,
				 "cannot read the state of queue 0x%x: %s from "
				 "provider %s: see its log",
				 q->qpn, error_name(rc), q->ctx->ops->name);
	if (p.state == WBELL_QUEUE_ERR)
		queue_set_state(q->chunk, WBELL_QUEUE_ERR);
	chunk_stat(q->chunk, load(&q->ctx->ring.doorbells[q->index]), stat);
	merge(stat, &p);
	if (chunk_oldest(q->chunk, stat, &at))
		memcpy(stat->oldest, (char *)q->chunk + at, WBELL_BB_SIZE);
	return 0;
}

int wbell_queue_stat(struct wbell_queue *q, struct wbell_queue_stat *stat)
{
	errno_kept();
	int rc;

	if (!q || !stat)
		return error_no_object("wbell_queue_stat",
				       q ? "result" : "queue");
	memset(stat, 0, sizeof(*stat));
	pthread_mutex_lock(&q->ctx->lock);
	rc = stat_locked(q, stat);
	pthread_mutex_unlock(&q->ctx->lock);
	return rc;
}

int wbell_queue_error(struct wbell_queue *q, struct wbell_error_record *rec)
{
	if (!q || !rec)
		return error_no_object("wbell_queue_error",
				       q ? "result" : "queue");
	copy_error(q->chunk, rec);
	return rec->state == WBELL_ERR_WHOLE ? 0 : -ENOENT;
}
