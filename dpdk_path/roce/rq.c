// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receives: posted to a QP or to a shared queue, taken when the first packet
 * of a message needs one, completed on the QP.
 */
#include <stdlib.h>

#include "priv.h"

int rq_init(struct rq *rq, uint32_t depth, uint32_t max_sge)
{
	rq->mask = depth - 1;
	rq->max_sge = max_sge;
	rq->wr = calloc(depth, sizeof(*rq->wr));
	rq->sge = calloc((size_t)depth * max_sge, sizeof(*rq->sge));
	return rq->wr && rq->sge ? 0 : -ENOMEM;
}

void rq_free(struct rq *rq)
{
	free(rq->wr);
	free(rq->sge);
}

static void post(struct rq *rq, uint16_t index, const struct roce_sge *sge,
		 unsigned n)
{
	uint32_t at = rq->pi++ & rq->mask;

	rq->wr[at].index = index;
	rq->wr[at].nsge = n;
	memcpy(&rq->sge[(size_t)at * rq->max_sge], sge, n * sizeof(*sge));
}

int roce_recv_post(struct roce_qp *qp, uint16_t index,
		   const struct roce_sge *sge, unsigned n)
{
	struct rq *rq = &qp->own;

	if (qp->rq != rq || n > rq->max_sge)
		return -EINVAL;
	/* a place in rcomp is kept for each, so completions never overrun */
	if (rq->pi - qp->rcomp_ci > rq->mask)
		return -ENOSPC;
	post(rq, index, sge, n);
	if (qp->state == ROCE_ERR)
		recv_flush(qp);
	return 0;
}

bool recv_take(struct roce_qp *qp)
{
	struct rq *rq = qp->rq;
	uint32_t at;

	if (qp->has_cur)
		return true; /* the message it was taken for was lost */
	if (!rq)
		return false;
	if (rq->ci == rq->pi && qp->dev->refill)
		qp->dev->refill(qp);
	if (rq->ci == rq->pi || qp->rcomp_pi - qp->rcomp_ci > qp->rcomp_mask)
		return false;
	at = rq->ci++ & rq->mask;
	qp->cur = rq->wr[at];
	memcpy(qp->cur_sge, &rq->sge[(size_t)at * rq->max_sge],
	       qp->cur.nsge * sizeof(*qp->cur_sge));
	qp->has_cur = 1;
	if (qp->srq && rq->pi - rq->ci < qp->srq->limit) {
		qp->srq->limit = 0; /* told once; armed again by the user */
		qp->srq->low(qp->srq->user);
	}
	return true;
}

void recv_done(struct roce_qp *qp, const struct recv_comp *c)
{
	struct recv_comp *to = &qp->rcomp[qp->rcomp_pi++ & qp->rcomp_mask];

	*to = *c;
	to->index = qp->cur.index;
	qp->has_cur = 0;
	comp_want(qp);
}

void recv_unusable(struct roce_qp *qp)
{
	struct recv_comp c = { .syndrome = WBELL_SYND_LOCAL_PROT };

	recv_done(qp, &c);
	qp_fail(qp, 0, 0);
}

/* A shared queue's receives stay with it, but for the one taken. */
void recv_flush(struct roce_qp *qp)
{
	static const struct recv_comp flushed = {
		.syndrome = WBELL_SYND_WR_FLUSH,
	};

	if (qp->has_cur)
		recv_done(qp, &flushed);
	if (!qp->rq || qp->srq)
		return;
	for (; qp->own.ci != qp->own.pi; qp->own.ci++) {
		qp->cur = qp->own.wr[qp->own.ci & qp->own.mask];
		recv_done(qp, &flushed);
	}
}

/* ---- shared ---- */

int roce_srq_create(struct roce_dev *dev, const struct roce_srq_attr *attr,
		    struct roce_srq **out)
{
	struct roce_srq *srq;

	if (!attr->depth || attr->depth & (attr->depth - 1) ||
	    attr->depth > WBELL_DEPTH_MAX || !attr->sge || attr->sge > 64 ||
	    (attr->limit && !attr->low))
		return -EINVAL;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	srq->dev = dev;
	srq->limit = attr->limit;
	srq->user = attr->user;
	srq->low = attr->low;
	if (rq_init(&srq->rq, attr->depth, attr->sge)) {
		roce_srq_destroy(srq);
		return -ENOMEM;
	}
	*out = srq;
	return 0;
}

void roce_srq_destroy(struct roce_srq *srq)
{
	rq_free(&srq->rq);
	free(srq);
}

int roce_srq_post(struct roce_srq *srq, uint16_t index,
		  const struct roce_sge *sge, unsigned n)
{
	if (n > srq->rq.max_sge)
		return -EINVAL;
	if (srq->rq.pi - srq->rq.ci > srq->rq.mask)
		return -ENOSPC;
	post(&srq->rq, index, sge, n);
	return 0;
}

void roce_srq_limit(struct roce_srq *srq, uint32_t limit)
{
	srq->limit = srq->low ? limit : 0;
}
