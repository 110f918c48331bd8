// SPDX-License-Identifier: BSD-2-Clause
/*
 * The responder's answers, in the order of the requests: responses of READs
 * and atomics, then a NAK or one acknowledge for all the rest.
 */
#include "priv.h"

bool reply_push(struct roce_qp *qp, const struct rd_op *op)
{
	if ((uint16_t)(qp->out_pi - qp->out_ci) > qp->out_mask)
		return false;
	qp->out[qp->out_pi++ & qp->out_mask] = *op;
	return true;
}

bool reply_push_again(struct roce_qp *qp, const struct rd_op *op)
{
	if ((uint16_t)(qp->out_pi - qp->out_ci) > qp->out_mask / 2)
		return false;
	return reply_push(qp, op);
}

void reply_nak(struct roce_qp *qp, uint8_t syndrome, uint32_t psn)
{
	qp->nak_pending = syndrome;
	qp->nak_psn = psn;
	if (syndrome != ROCE_NAK_PSN_SEQ)
		qp_fail(qp, 0, 0);
}

static void put_aeth(struct roce_qp *qp, struct roce_frame *f, uint8_t syndrome,
		     uint32_t msn)
{
	put32(frame_ext(&qp->path, f),
	      (uint32_t)syndrome << 24 | (msn & 0xffffff));
}

static void send_aeth(struct roce_qp *qp, struct roce_frame *f,
		      uint8_t syndrome, uint32_t psn)
{
	put_aeth(qp, f, syndrome, qp->msn);
	frame_finish(
		&qp->path, f,
		(struct head){ psn, ROCE_RC_ACK, sizeof(struct roce_aeth) },
		NULL, 0);
}

static void send_atomic_ack(struct roce_qp *qp, struct roce_frame *f,
			    const struct rd_op *op)
{
	put_aeth(qp, f, ROCE_AETH_ACK_UNLIMITED, op->msn);
	put64(frame_ext(&qp->path, f) + sizeof(struct roce_aeth), op->va);
	frame_finish(&qp->path, f,
		     (struct head){ op->psn, ROCE_RC_ATOMIC_ACK,
				    sizeof(struct roce_aeth) + 8 },
		     NULL, 0);
	qp->out_ci++;
}

/* The next packet of a READ response; false: the memory went away. */
static bool send_read_data(struct roce_qp *qp, struct roce_frame *f,
			   struct rd_op *op)
{
	uint32_t n = op->len < qp->mtu ? op->len : qp->mtu;
	bool last = op->npkt == 1;
	unsigned opcode = op->first ? (last ? ROCE_RC_READ_RESP_ONLY
					    : ROCE_RC_READ_RESP_FIRST)
			  : last    ? ROCE_RC_READ_RESP_LAST
				    : ROCE_RC_READ_RESP_MIDDLE;
	unsigned ext = 0;
	uint8_t *src = NULL;

	if (n) {
		src = mr_ptr(qp->dev, op->rkey, op->va, n,
			     ROCE_ACCESS_REMOTE_READ);
		if (!src)
			return false;
	}
	if (opcode != ROCE_RC_READ_RESP_MIDDLE) {
		put_aeth(qp, f, ROCE_AETH_ACK_UNLIMITED, op->msn);
		ext = sizeof(struct roce_aeth);
	}
	frame_finish(&qp->path, f, (struct head){ op->psn, opcode, ext }, src,
		     n);
	op->psn = psn_add(op->psn, 1);
	op->va += n;
	op->len -= n;
	op->first = 0;
	if (!--op->npkt)
		qp->out_ci++;
	return true;
}

static bool send_out(struct roce_qp *qp, struct roce_frame *f)
{
	struct rd_op *op = &qp->out[qp->out_ci & qp->out_mask];

	if (op->atomic) {
		send_atomic_ack(qp, f, op);
		return true;
	}
	if (send_read_data(qp, f, op))
		return true;
	qp->out_ci = qp->out_pi;
	reply_nak(qp, ROCE_NAK_REM_ACCESS, op->psn);
	return false;
}

/* What mends or replaces it in the burst it is of leaves no trace. */
static void send_nak(struct roce_qp *qp, struct roce_frame *f)
{
	bool rnr = (qp->nak_pending & ROCE_AETH_TYPE_MASK) ==
		   ROCE_AETH_TYPE_RNR;

	send_aeth(qp, f, qp->nak_pending, qp->nak_psn);
	qp->nak_pending = qp->ack_pending = 0;
	count(qp->dev, rnr ? ROCE_C_RNR_TX : ROCE_C_NAK_TX);
}

/* A NAK, or one acknowledge, and the holes that are to be told. */
static unsigned send_status(struct roce_qp *qp, struct roce_frame *f,
			    unsigned n)
{
	unsigned k = 0;

	if (n && qp->cc.cnp_pending)
		cc_send_cnp(qp, &f[k++]);
	if (k < n && qp->nak_pending) {
		send_nak(qp, &f[k++]);
	} else if (k < n && qp->ack_pending) {
		send_aeth(qp, &f[k++], ROCE_AETH_ACK_UNLIMITED,
			  psn_add(qp->epsn, ROCE_PSN_MASK));
		qp->ack_pending = 0;
		count(qp->dev, ROCE_C_ACK_TX);
	}
	while (k < n && !psn_ring_empty(&qp->report)) {
		uint32_t psn = qp->report_psn[qp->report.ci++ % HOLES];

		if (psn_diff(psn, qp->epsn) < 0)
			continue; /* filled meanwhile */
		send_aeth(qp, &f[k++], ROCE_NAK_PSN_SEQ, psn);
		count(qp->dev, ROCE_C_NAK_TX);
	}
	return k;
}

unsigned reply_tx(struct roce_qp *qp, struct roce_frame *f, unsigned n)
{
	unsigned k = 0;

	if (!qp->path.has_mac)
		return 0;
	while (k < n && qp->out_ci != qp->out_pi)
		if (send_out(qp, &f[k]))
			k++;
	if (k < n)
		k += send_status(qp, f + k, n - k);
	qp->packets_tx += k;
	return k;
}
