// SPDX-License-Identifier: BSD-2-Clause
/*
 * The responder (IBTA 9.7.4): sequence, rights, execution.  It answers by
 * noting what to answer; reply.c sends it in order.
 */
#include "priv.h"

/* ---- answers ---- */

static void rnr(struct roce_qp *qp)
{
	qp->rnr_sent = 1; /* what follows in flight is dropped unanswered */
	hold_clear(qp);
	qp->held_high = qp->epsn;
	qp->nak_pending = ROCE_AETH_TYPE_RNR | qp->min_rnr_timer;
	qp->nak_psn = qp->epsn;
}

static void refuse(struct roce_qp *qp, uint8_t syndrome)
{
	reply_nak(qp, syndrome, qp->epsn);
}

static void accept(struct roce_qp *qp, const struct roce_pkt *pkt,
		   uint32_t npkt)
{
	if (__builtin_expect(qp->nheld && npkt > 1, 0))
		hold_forget(qp, npkt);
	if (__builtin_expect(qp->nak_pending, 0)) {
		qp->nak_pending = 0; /* mended before it was told */
		qp->ack_pending = 1;
	}
	qp->epsn = psn_add(qp->epsn, npkt);
	qp->nak_sent = 0;
	qp->rnr_sent = 0;
	if (pkt->ackreq)
		qp->ack_pending = 1;
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
static uint64_t execute_atomic(uint8_t opcode, uint64_t *word,
			       uint64_t swap_add, uint64_t compare)
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
	op.va = execute_atomic(pkt->opcode, (uint64_t *)word,
			       get64(pkt->ext + 12), get64(pkt->ext + 20));
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
	reply_push_again(qp, &op);
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
		reply_push_again(qp, op);
	else
		read_again(qp, pkt, op);
}

/* ---- entry ---- */

/* A report of each PSN in [from, to), where both ends speak of holes. */
static void report_holes(struct roce_qp *qp, uint32_t from, uint32_t to)
{
	for (; psn_diff(to, from) > 0; from = psn_add(from, 1))
		if (!psn_push(&qp->report, qp->report_psn, from))
			return; /* the peer's timer finds the rest */
}

/*
 * What is newly missing, each once.  The oldest also whenever the sender
 * asks for an answer: it knows when it sent that packet again.
 */
static void tell_holes(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t from = psn_diff(qp->held_high, qp->epsn) > 0 ? qp->held_high
							      : qp->epsn;

	report_holes(qp, from, pkt->psn);
	if (psn_diff(pkt->psn, from) >= 0)
		qp->held_high = psn_add(pkt->psn, 1);
	if (pkt->ackreq && from != qp->epsn)
		report_holes(qp, qp->epsn, psn_add(qp->epsn, 1));
}

/* One NAK per gap (IBTA 9.7.5.1.2), unless both ends speak of holes. */
static void out_of_sequence(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	count(qp->dev, ROCE_C_OOS_RX);
	/* after an RNR NAK what is in flight comes again: nothing is kept */
	if (qp->rnr_sent)
		return;
	if (!qp->keep_nothing && hold_put(qp, pkt) && qp->holes) {
		tell_holes(qp, pkt);
		return;
	}
	if (qp->nak_sent || qp->holes)
		return;
	qp->nak_sent = 1;
	reply_nak(qp, ROCE_NAK_PSN_SEQ, qp->epsn);
}

static void rx_message(struct roce_qp *qp, const struct roce_pkt *pkt,
		       const struct shape *s)
{
	uint8_t bad = msg_rx(qp, pkt, s);

	if ((bad & ROCE_AETH_TYPE_MASK) == ROCE_AETH_TYPE_RNR)
		rnr(qp);
	else if (bad)
		refuse(qp, bad);
	else
		accept(qp, pkt, 1);
}

static void execute(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct shape *s = msg_shape(pkt->opcode);

	if (!msg_in_order(qp, s))
		refuse(qp, ROCE_NAK_INVAL_REQ);
	else if (s->kind)
		rx_message(qp, pkt, s);
	else if (pkt->opcode == ROCE_RC_READ_REQ)
		rx_read(qp, pkt);
	else
		rx_atomic(qp, pkt);
}

/* A gap has filled: what waited behind it has its turn. */
static void execute_held(struct roce_qp *qp)
{
	struct held *h;

	while (qp->state != ROCE_ERR && !qp->rnr_sent && (h = hold_next(qp))) {
		execute(qp, &h->pkt);
		hold_drop(qp, h);
	}
	if (qp->nheld && !qp->holes && !qp->nak_sent && qp->state != ROCE_ERR) {
		qp->nak_sent = 1; /* the next gap is known already */
		reply_nak(qp, ROCE_NAK_PSN_SEQ, qp->epsn);
	}
}

void resp_rx(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	int32_t ahead = psn_diff(pkt->psn, qp->epsn);

	if (ahead > 0) {
		out_of_sequence(qp, pkt);
	} else if (ahead < 0) {
		duplicate(qp, pkt);
	} else {
		execute(qp, pkt);
		if (__builtin_expect(qp->nheld, 0))
			execute_held(qp);
	}
}
