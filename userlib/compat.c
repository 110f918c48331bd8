// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compatibility views.  What the NIC does for such a queue can be seen in
 * the ring: it fills it with one 8-byte word that starts with 0xff, which no
 * WQE's control segment does, and so marks what nobody has written yet.
 */
#include <endian.h>
#include <string.h>

#include "internal.h"

#pragma GCC visibility push(default)
#include <wbell/compat.h>
#pragma GCC visibility pop

static const struct {
	const char *name;
	size_t size;
} kinds[] = {
	[WBELL_COMPAT_DOCA_V1] = { "DOCA v1", sizeof(struct wbell_doca_qp_v1) },
	[WBELL_COMPAT_DOCA_V2] = { "DOCA v2", sizeof(struct wbell_doca_qp_v2) },
};
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

/* ---- the views ---- */

static void fill_ds(uint32_t *be, unsigned n, uint32_t qpn_ds)
{
	for (unsigned i = 0; i < n; i++)
		be[i] = htobe32(qpn_ds | (i + 1));
}

static void fill_cq_v1(const struct wbell_queue *q, struct wbell_doca_cq_v1 *cq)
{
	const struct wbell_dqueue *dq = &q->chunk->dq;

	cq->cqe = dq->cq;
	cq->cqn = q->qpn;
	cq->cqe_num = 1U << dq->log_cq;
	cq->dbrec = (uintptr_t)&q->chunk->cq_dbrec.ci;
	cq->ci = cq->reserved = dq->reserved;
	cq->cqe_mask = cq->cqe_num - 1;
	cq->cqe_size = sizeof(struct wbell_cqe);
	cq->mem_type = WBELL_DOCA_MEM_HOST;
}

static void fill_receive_v1(const struct wbell_queue *q,
			    struct wbell_doca_qp_v1 *v)
{
	const struct wbell_dqueue *dq = &q->chunk->dq;
	struct wbell_doca_cq_v1 *cq = &v->cq_rq;

	if (dq->log_rq == 0xff)
		return;
	v->rq_num = q->qpn;
	v->rq_wqe_num = 1U << dq->log_rq;
	v->rq_wqe_mask = v->rq_wqe_num - 1;
	v->rq = dq->rq;
	v->rq_dbrec = (uintptr_t)&q->chunk->dbrec.recv;
	v->rq_wqe_size = 1U << dq->log_rq_stride;
	cq->cqe = dq->rcq;
	cq->cqn = q->qpn;
	cq->cqe_num = 1U << dq->log_rcq;
	cq->dbrec = (uintptr_t)&q->chunk->rcq_dbrec.ci;
	cq->cqe_mask = cq->cqe_num - 1;
	cq->cqe_size = sizeof(struct wbell_cqe);
	cq->mem_type = WBELL_DOCA_MEM_HOST;
}

static void fill_v1(const struct wbell_queue *q, struct wbell_doca_qp_v1 *v)
{
	const struct wbell_dqueue *dq = &q->chunk->dq;

	v->sq_reserved = v->sq_ready = v->sq_pi = dq->reserved;
	v->qpn = q->qpn;
	v->qpn_shift8 = q->qpn << 8;
	v->qpn_shift8_be = htobe32(v->qpn_shift8);
	fill_ds(v->qpn_ds_be, 4, v->qpn_shift8);
	v->sq_num = 1U << dq->log_depth;
	v->sq_mask = v->sq_num - 1;
	v->sq = dq->sq;
	v->sq_dbrec = dq->dbrec + offsetof(struct wbell_dbrec, send);
	v->sq_db = dq->db;
	fill_receive_v1(q, v);
	fill_cq_v1(q, &v->cq_sq);
	v->nic_handler = WBELL_DOCA_CPU_PROXY;
	v->mem_type = WBELL_DOCA_MEM_HOST;
}

/* From v1: what moved is a word for 5 segments, and a larger CQ. */
static void fill_v2(const struct wbell_queue *q, struct wbell_doca_qp_v2 *v)
{
	struct wbell_doca_qp_v1 v1 = { 0 };

	fill_v1(q, &v1);
	memcpy(v, &v1, offsetof(struct wbell_doca_qp_v1, qpn_ds_be));
	fill_ds(v->qpn_ds_be, 5, v1.qpn_shift8);
	v->sq_num = v1.sq_num;
	v->sq_mask = v1.sq_mask;
	v->sq = v1.sq;
	v->sq_dbrec = v1.sq_dbrec;
	v->sq_db = v1.sq_db;
	memcpy(&v->cq_sq, &v1.cq_sq,
	       offsetof(struct wbell_doca_cq_v1, mem_type));
	v->cq_sq.mem_type = v1.cq_sq.mem_type;
	v->nic_handler = v1.nic_handler;
	v->mem_type = v1.mem_type;
}

/* ---- may it be shown? ---- */

static int check_args(struct wbell_queue *q, unsigned kind, size_t size)
{
	if (!kind || kind >= NKINDS)
		return error_set(&q->ctx->error, -EINVAL,
				 "view of queue 0x%x: kind %u is not known: "
				 "use WBELL_COMPAT_DOCA_V1 or _V2",
				 q->qpn, kind);
	if (size != kinds[kind].size)
		return error_set(&q->ctx->error, -EINVAL,
				 "view of queue 0x%x: %zu bytes given, %s has "
				 "%zu: give the struct of that kind",
				 q->qpn, size, kinds[kind].name,
				 kinds[kind].size);
	return 0;
}

/*
 * The word that marks what nobody has written, or 0: this NIC marks nothing.
 * It is read where a poster comes last.
 */
static uint64_t mark_of(const struct wbell_dqueue *dq)
{
	uint64_t slot = (dq->reserved - 1) & ((1ULL << dq->log_depth) - 1);
	const uint8_t *at = (const uint8_t *)(uintptr_t)dq->sq +
			    (slot + 1) * WBELL_BB_SIZE - sizeof(uint64_t);
	uint64_t mark;

	memcpy(&mark, at, sizeof(mark));
	return at[0] == 0xff ? mark : 0;
}

static bool untouched(const struct wbell_dqueue *dq, uint64_t mark)
{
	const uint64_t *word = (const uint64_t *)(uintptr_t)dq->sq;
	size_t n = (size_t)WBELL_BB_SIZE / sizeof(*word) << dq->log_depth;

	for (size_t i = 0; i < n; i++)
		if (word[i] != mark)
			return false;
	return __atomic_load_n((uint64_t *)(uintptr_t)dq->db,
			       __ATOMIC_RELAXED) == dq->reserved;
}

static int check_queue(struct wbell_queue *q)
{
	const struct wbell_dqueue *dq = &q->chunk->dq;
	uint64_t mark = mark_of(dq);

	if (!mark || dq->db_kind != WBELL_DB_WORD)
		return error_set(&q->ctx->error, -EOPNOTSUPP,
				 "view of queue 0x%x: its NIC takes WQEs "
				 "unseen: create the queue with "
				 "WBELL_QUEUE_COMPAT on the software NIC",
				 q->qpn);
	if (!untouched(dq, mark))
		return error_set(&q->ctx->error, -EBUSY,
				 "view of queue 0x%x: something has been "
				 "posted: take the view right after create",
				 q->qpn);
	return 0;
}

/*
 * CQE n answers WQE n, and that code looks at the owner bit alone: give each
 * the other one of its first lap, wherever the index starts.
 */
static void turn_owners(const struct wbell_dqueue *dq)
{
	struct wbell_cqe *cq = (struct wbell_cqe *)(uintptr_t)dq->cq;
	uint64_t n = 1ULL << dq->log_cq;

	for (uint64_t i = dq->reserved; i < dq->reserved + n; i++)
		cq[i & (n - 1)].op_own = WBELL_CQE_INVALID << 4 |
					 !(i >> dq->log_cq & 1);
}

static int view_locked(struct wbell_queue *q, unsigned kind, void *out,
		       size_t size)
{
	int rc = check_args(q, kind, size);

	if (!rc)
		rc = check_queue(q);
	if (rc)
		return rc;
	turn_owners(&q->chunk->dq);
	memset(out, 0, size);
	if (kind == WBELL_COMPAT_DOCA_V1)
		fill_v1(q, out);
	else
		fill_v2(q, out);
	return 0;
}

int wbell_queue_compat(struct wbell_queue *q, unsigned kind, void *out,
		       size_t size)
{
	errno_kept();
	int rc;

	if (!q || !out)
		return error_no_object("wbell_queue_compat",
				       q ? "result" : "queue");
	pthread_mutex_lock(&q->ctx->lock);
	rc = view_locked(q, kind, out, size);
	pthread_mutex_unlock(&q->ctx->lock);
	return rc;
}
