// SPDX-License-Identifier: BSD-2-Clause
/*
 * The responder (IBTA 9.7.4): sequence, rights, execution.  It answers by
 * noting what to answer; reply.c sends it in order.
 */
#include "priv.h"

/* ---- receive queue ---- */

int roce_recv_post(struct roce_qp *qp, uint16_t index,
		   const struct roce_sge *sge, unsigned n)
{
	struct recv_wr *wr;

	if (!qp->rq || n > qp->recv_sge)
		return -EINVAL;
	/* a place in rcomp is kept for each, so completions never overrun */
	if (qp->rq_pi - qp->rcomp_ci > qp->rq_mask)
		return -ENOSPC;
	wr = &qp->rq[qp->rq_pi & qp->rq_mask];
	wr->index = index;
	wr->nsge = n;
	memcpy(&qp->rq_sge[(size_t)(qp->rq_pi & qp->rq_mask) * qp->recv_sge],
	       sge, n * sizeof(*sge));
	qp->rq_pi++;
	if (qp->state == ROCE_ERR)
		recv_flush(qp);
	return 0;
}

static struct recv_wr *recv_head(struct roce_qp *qp)
{
	if (qp->rq_ci == qp->rq_pi && qp->rq && qp->dev->refill)
		qp->dev->refill(qp);
	if (qp->rq_ci == qp->rq_pi)
		return NULL;
	return &qp->rq[qp->rq_ci & qp->rq_mask];
}

static const struct roce_sge *recv_sges(struct roce_qp *qp)
{
	return &qp->rq_sge[(size_t)(qp->rq_ci & qp->rq_mask) * qp->recv_sge];
}

static void recv_done(struct roce_qp *qp, uint32_t len, uint8_t flags,
		      uint32_t imm, uint8_t syndrome)
{
	struct recv_comp *c = &qp->rcomp[qp->rcomp_pi++ & qp->rq_mask];

	c->index = qp->rq[qp->rq_ci & qp->rq_mask].index;
	c->len = len;
	c->flags = flags;
	c->imm = imm;
	c->syndrome = syndrome;
	qp->rq_ci++;
	comp_want(qp);
}

void recv_flush(struct roce_qp *qp)
{
	while (qp->rq_ci != qp->rq_pi)
		recv_done(qp, 0, 0, 0, WBELL_SYND_WR_FLUSH);
}

/* ---- answers ---- */

static void rnr(struct roce_qp *qp)
{
	qp->nak_sent = 1; /* what follows in flight is dropped unanswered */
	qp->nak_pending = ROCE_AETH_TYPE_RNR | qp->min_rnr_timer;
	qp->nak_psn = qp->epsn;
	count(qp->dev, ROCE_C_RNR_TX);
}

static void refuse(struct roce_qp *qp, uint8_t syndrome)
{
	reply_nak(qp, syndrome, qp->epsn);
}

static void accept(struct roce_qp *qp, const struct roce_pkt *pkt,
		   uint32_t npkt)
{
	qp->epsn = psn_add(qp->epsn, npkt);
	qp->nak_sent = 0;
	if (pkt->ackreq)
		qp->ack_pending = 1;
}

/* ---- SEND and WRITE ---- */

struct shape {
	uint8_t kind; /* enum in_msg; MSG_NONE: not a SEND or WRITE */
	uint8_t first, last;
	uint8_t flags; /* ROCE_WR_IMM, ROCE_WR_INV */
};

static const struct shape shapes[ROCE_RC_SEND_ONLY_INV + 1] = {
	[ROCE_RC_SEND_FIRST] = { MSG_SEND, 1, 0, 0 },
	[ROCE_RC_SEND_MIDDLE] = { MSG_SEND, 0, 0, 0 },
	[ROCE_RC_SEND_LAST] = { MSG_SEND, 0, 1, 0 },
	[ROCE_RC_SEND_LAST_IMM] = { MSG_SEND, 0, 1, ROCE_WR_IMM },
	[ROCE_RC_SEND_ONLY] = { MSG_SEND, 1, 1, 0 },
	[ROCE_RC_SEND_ONLY_IMM] = { MSG_SEND, 1, 1, ROCE_WR_IMM },
	[ROCE_RC_WRITE_FIRST] = { MSG_WRITE, 1, 0, 0 },
	[ROCE_RC_WRITE_MIDDLE] = { MSG_WRITE, 0, 0, 0 },
	[ROCE_RC_WRITE_LAST] = { MSG_WRITE, 0, 1, 0 },
	[ROCE_RC_WRITE_LAST_IMM] = { MSG_WRITE, 0, 1, ROCE_WR_IMM },
	[ROCE_RC_WRITE_ONLY] = { MSG_WRITE, 1, 1, 0 },
	[ROCE_RC_WRITE_ONLY_IMM] = { MSG_WRITE, 1, 1, ROCE_WR_IMM },
	[ROCE_RC_SEND_LAST_INV] = { MSG_SEND, 0, 1, ROCE_WR_INV },
	[ROCE_RC_SEND_ONLY_INV] = { MSG_SEND, 1, 1, ROCE_WR_INV },
};

/* ImmDt or IETH is the last of the extension headers. */
static uint32_t imm_of(const struct roce_pkt *pkt, const struct shape *s)
{
	uint32_t imm = 0;

	if (s->flags)
		memcpy(&imm, pkt->payload - 4, 4);
	return imm;
}

static uint8_t comp_flags(const struct roce_pkt *pkt, const struct shape *s)
{
	return s->flags | (pkt->flags & ROCE_BTH_SE ? ROCE_WR_SOLICITED : 0);
}

/* 0, or the syndrome of the NAK it earns */
static uint8_t write_open(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint64_t va = get64(pkt->ext);
	uint32_t rkey = get32(pkt->ext + 8);
	uint32_t len = get32(pkt->ext + 12);

	if (len > WBELL_MSG_MAX)
		return ROCE_NAK_INVAL_REQ;
	if (len && !mr_ptr(qp->dev, rkey, va, len, ROCE_ACCESS_REMOTE_WRITE))
		return ROCE_NAK_REM_ACCESS;
	qp->cur_va = va;
	qp->cur_rkey = rkey;
	qp->cur_left = qp->cur_total = len;
	return 0;
}

static bool write_length_ok(const struct roce_qp *qp, const struct shape *s,
			    uint32_t n)
{
	if (s->last)
		return n == qp->cur_left && n <= qp->mtu && (s->first || n);
	return n == qp->mtu && qp->cur_left > n;
}

static void rx_write(struct roce_qp *qp, const struct roce_pkt *pkt,
		     const struct shape *s)
{
	uint32_t n = pkt->payload_len;
	uint8_t bad = s->first ? write_open(qp, pkt) : 0;
	uint8_t *to = NULL;

	if (!bad && !write_length_ok(qp, s, n))
		bad = ROCE_NAK_INVAL_REQ;
	if (!bad && n) {
		to = mr_ptr(qp->dev, qp->cur_rkey, qp->cur_va, n,
			    ROCE_ACCESS_REMOTE_WRITE);
		if (!to)
			bad = ROCE_NAK_REM_ACCESS;
	}
	if (bad) {
		refuse(qp, bad);
		return;
	}
	if (s->flags && !recv_head(qp)) {
		rnr(qp);
		return;
	}
	if (n)
		memcpy(to, pkt->payload, n);
	qp->cur_va += n;
	qp->cur_left -= n;
	qp->in_msg = s->last ? MSG_NONE : MSG_WRITE;
	accept(qp, pkt, 1);
	if (!s->last)
		return;
	qp->msn++;
	if (s->flags)
		recv_done(qp, qp->cur_total,
			  comp_flags(pkt, s) | ROCE_COMP_WRITE, imm_of(pkt, s),
			  0);
}

static bool send_length_ok(const struct roce_qp *qp, const struct shape *s,
			   uint32_t n)
{
	if (s->last)
		return n <= qp->mtu && (s->first || n);
	return n == qp->mtu;
}

/* The message does not go into the receive: both ends learn it. */
static void recv_fault(struct roce_qp *qp, uint8_t nak, uint8_t syndrome)
{
	recv_done(qp, 0, 0, 0, syndrome);
	refuse(qp, nak);
}

static void rx_send(struct roce_qp *qp, const struct roce_pkt *pkt,
		    const struct shape *s)
{
	struct recv_wr *wr = recv_head(qp);
	uint32_t n = pkt->payload_len;

	if (!wr) {
		rnr(qp);
		return;
	}
	if (!send_length_ok(qp, s, n)) {
		refuse(qp, ROCE_NAK_INVAL_REQ);
		return;
	}
	if (s->first)
		qp->cur_left = 0;
	if ((uint64_t)qp->cur_left + n > sge_total(recv_sges(qp), wr->nsge)) {
		recv_fault(qp, ROCE_NAK_INVAL_REQ, WBELL_SYND_LOCAL_LENGTH);
		return;
	}
	if (!sge_scatter(qp->dev, recv_sges(qp), wr->nsge, qp->cur_left,
			 pkt->payload, n)) {
		recv_fault(qp, ROCE_NAK_REM_OP, WBELL_SYND_LOCAL_PROT);
		return;
	}
	qp->cur_left += n;
	qp->in_msg = s->last ? MSG_NONE : MSG_SEND;
	accept(qp, pkt, 1);
	if (!s->last)
		return;
	qp->msn++;
	recv_done(qp, qp->cur_left, comp_flags(pkt, s), imm_of(pkt, s), 0);
}

/* ---- READ and atomics ---- */

static void remember(struct roce_qp *qp, const struct rd_op *op)
{
	qp->hist[qp->hist_pi++ & qp->hist_mask] = *op;
}

static void rx_read(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct rd_op op = {
		.va = get64(pkt->ext),
		.rkey = get32(pkt->ext + 8),
		.len = get32(pkt->ext + 12),
		.psn = pkt->psn,
		.first = 1,
	};

	if (op.len > WBELL_MSG_MAX || pkt->payload_len) {
		refuse(qp, ROCE_NAK_INVAL_REQ);
		return;
	}
	if (op.len &&
	    !mr_ptr(qp->dev, op.rkey, op.va, op.len, ROCE_ACCESS_REMOTE_READ)) {
		refuse(qp, ROCE_NAK_REM_ACCESS);
		return;
	}
	op.npkt = packets(qp, op.len);
	op.msn = (qp->msn + 1) & 0xffffff;
	if (!reply_push(qp, &op)) {
		refuse(qp, ROCE_NAK_INVAL_REQ);
		return;
	}
	qp->msn++;
	remember(qp, &op);
	accept(qp, pkt, op.npkt);
	qp->ack_pending = 0; /* the response acknowledges */
}

/* Against CPUs and GPUs that share the word, so in one bus access. */
static uint64_t execute(uint8_t opcode, uint64_t *word, uint64_t swap_add,
			uint64_t compare)
{
	if (opcode == ROCE_RC_FETCH_ADD)
		return __atomic_fetch_add(word, swap_add, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(word, &compare, swap_add, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return compare;
}

static void rx_atomic(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint64_t va = get64(pkt->ext);
	struct rd_op op = { .psn = pkt->psn, .npkt = 1, .atomic = 1 };
	uint8_t *word;

	if (va & 7 || pkt->payload_len) {
		refuse(qp, ROCE_NAK_INVAL_REQ);
		return;
	}
	word = mr_ptr(qp->dev, get32(pkt->ext + 8), va, 8,
		      ROCE_ACCESS_REMOTE_ATOMIC);
	if (!word || (uintptr_t)word & 7) {
		refuse(qp, ROCE_NAK_REM_ACCESS);
		return;
	}
	op.msn = (qp->msn + 1) & 0xffffff;
	op.rkey = get32(pkt->ext + 8);
	if (!reply_push(qp, &op)) {
		refuse(qp, ROCE_NAK_INVAL_REQ);
		return;
	}
	op.va = execute(pkt->opcode, (uint64_t *)word, get64(pkt->ext + 12),
			get64(pkt->ext + 20));
	qp->out[(qp->out_pi - 1) & qp->out_mask].va = op.va;
	qp->msn++;
	remember(qp, &op);
	accept(qp, pkt, 1);
	qp->ack_pending = 0;
}

/* ---- duplicates (IBTA 9.7.5.1.1: done once, answered again) ---- */

static const struct rd_op *recall(struct roce_qp *qp, uint32_t psn)
{
	for (unsigned i = 0; i <= qp->hist_mask; i++) {
		const struct rd_op *op = &qp->hist[i];
		int32_t d = psn_diff(psn, op->psn);

		if (op->npkt && d >= 0 && (uint32_t)d < op->npkt)
			return op;
	}
	return NULL;
}

static bool answering(const struct roce_qp *qp, uint32_t psn)
{
	for (uint16_t i = qp->out_ci; i != qp->out_pi; i++)
		if (qp->out[i & qp->out_mask].psn == psn)
			return true;
	return false;
}

static void read_again(struct roce_qp *qp, const struct roce_pkt *pkt,
		       const struct rd_op *was)
{
	uint64_t off = (uint64_t)((pkt->psn - was->psn) & ROCE_PSN_MASK)
		       << qp->log_mtu;
	struct rd_op op = *was;

	op.psn = pkt->psn;
	op.va = get64(pkt->ext);
	op.len = get32(pkt->ext + 12);
	if (get32(pkt->ext + 8) != was->rkey || op.va != was->va + off ||
	    op.len > was->len - off)
		return;
	op.npkt = packets(qp, op.len);
	reply_push(qp, &op);
}

static void duplicate(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct rd_op *op;
	bool atomic = pkt->opcode == ROCE_RC_CMP_SWAP ||
		      pkt->opcode == ROCE_RC_FETCH_ADD;

	count(qp->dev, ROCE_C_DUP_RX);
	if (!atomic && pkt->opcode != ROCE_RC_READ_REQ) {
		qp->ack_pending = 1;
		return;
	}
	op = recall(qp, pkt->psn);
	/* older than we remember, or another request: silence */
	if (!op || op->atomic != atomic || answering(qp, pkt->psn))
		return;
	if (atomic)
		reply_push(qp, op);
	else
		read_again(qp, pkt, op);
}

/* ---- entry ---- */

static void out_of_sequence(struct roce_qp *qp)
{
	count(qp->dev, ROCE_C_OOS_RX);
	if (qp->nak_sent)
		return;
	qp->nak_sent = 1;
	reply_nak(qp, ROCE_NAK_PSN_SEQ, qp->epsn);
}

void resp_rx(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct shape *s = &shapes[pkt->opcode];
	int32_t ahead = psn_diff(pkt->psn, qp->epsn);

	if (ahead > 0) {
		out_of_sequence(qp);
		return;
	}
	if (ahead < 0) {
		duplicate(qp, pkt);
		return;
	}
	if (s->first || !s->kind ? qp->in_msg != MSG_NONE
				 : qp->in_msg != s->kind) {
		refuse(qp, ROCE_NAK_INVAL_REQ);
		return;
	}
	if (s->kind == MSG_WRITE)
		rx_write(qp, pkt, s);
	else if (s->kind == MSG_SEND)
		rx_send(qp, pkt, s);
	else if (pkt->opcode == ROCE_RC_READ_REQ)
		rx_read(qp, pkt);
	else
		rx_atomic(qp, pkt);
}
