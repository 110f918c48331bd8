// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completions into CQEs.  The last four bytes carry the owner bit and are
 * stored with release, after everything else of the CQE and of the payload.
 */
#include "priv.h"

static uint32_t be32(uint32_t v)
{
	return __builtin_bswap32(v);
}

static void publish(struct wbell_cqe *cqe, uint16_t counter, uint8_t op_own)
{
	uint32_t last = be32((uint32_t)counter << 16 | op_own);

	__atomic_store_n((uint32_t *)&cqe->wqe_counter, last, __ATOMIC_RELEASE);
}

static uint8_t recv_opcode(const struct roce_comp *c)
{
	if (c->flags & ROCE_COMP_WRITE)
		return WBELL_CQE_RESP_WR_IMM;
	if (c->flags & ROCE_WR_IMM)
		return WBELL_CQE_RESP_SEND_IMM;
	return c->flags & ROCE_WR_INV ? WBELL_CQE_RESP_SEND_INV
				      : WBELL_CQE_RESP_SEND;
}

static inline void fill_good(struct nic_queue *q, struct wbell_cqe *cqe,
			     uint8_t op, uint32_t len, uint32_t imm)
{
	cqe->imm_inval_pkey = imm;
	cqe->byte_cnt = be32(len);
	cqe->sop_drop_qpn = be32((uint32_t)op << 24 | q->qpn);
}

static void fill_error(struct nic_queue *q, struct wbell_cqe *cqe,
		       const struct roce_comp *c)
{
	struct wbell_err_cqe *e = (struct wbell_err_cqe *)cqe;

	memset(e->rsvd36, 0, sizeof(e->rsvd36));
	e->hw_err_synd = 0;
	e->hw_synd_type = 0;
	e->vendor_err_synd = c->vendor;
	e->syndrome = c->syndrome;
	e->s_wqe_opcode_qpn = be32((uint32_t)c->op << 24 | q->qpn);
}

/* A WAIT for this CQE or a later one must not pass. */
static void note_bad(struct nic_queue *q)
{
	if (q->cq_failed)
		return;
	q->cq_failed = true;
	q->cq_bad = q->cq_pi;
}

/* A receive, or work that failed. */
static void write_comp(struct nic_queue *q, const struct roce_comp *c)
{
	uint32_t *pi = c->recv ? &q->rcq_pi : &q->cq_pi;
	uint8_t log = c->recv ? q->log_rcq : q->log_cq;
	struct wbell_cqe *ring = c->recv ? q->rcq : q->cq;
	struct wbell_cqe *cqe = &ring[*pi & ((1U << log) - 1)];
	uint8_t owner = *pi >> log & 1;
	uint8_t opcode;

	if (c->syndrome) {
		if (!c->recv)
			note_bad(q);
		fill_error(q, cqe, c);
		opcode = c->recv ? WBELL_CQE_RESP_ERR : WBELL_CQE_REQ_ERR;
	} else {
		fill_good(q, cqe, c->op, c->len, c->imm);
		opcode = recv_opcode(c);
	}
	if (c->flags & ROCE_WR_SOLICITED && c->recv)
		owner |= 0x2;
	(*pi)++;
	publish(cqe, c->index, opcode << 4 | owner);
}

/* Of work that was sent and went well. */
static inline void write_sent(struct nic_queue *q, const struct roce_wr *wr)
{
	uint32_t pi = q->cq_pi++;
	struct wbell_cqe *cqe = &q->cq[pi & ((1U << q->log_cq) - 1)];

	fill_good(q, cqe, wr->wqe_opcode, wr->len, 0);
	publish(cqe, wr->index, WBELL_CQE_REQ << 4 | (pi >> q->log_cq & 1));
}

void cqe_flush(struct nic *nic)
{
	const struct roce_wr *wr;
	struct roce_comp c[16];
	struct roce_qp *qp;
	unsigned n;

	while ((qp = roce_comp_qp(nic->dev))) {
		struct nic_queue *q = roce_qp_user(qp);

		while ((wr = roce_sent(qp)))
			write_sent(q, wr);
		n = roce_qp_comp(qp, c, 16);
		for (unsigned i = 0; i < n; i++)
			write_comp(q, &c[i]);
	}
}
