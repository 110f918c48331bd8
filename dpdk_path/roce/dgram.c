// SPDX-License-Identifier: BSD-2-Clause
/* Unacknowledged transports: UC (IBTA 9.8.2) and UD (9.8.3, 11.2.4). */
#include "priv.h"

/* ---- UC: messages, of which what has a gap is dropped ---- */

void uc_rx(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct shape *s = msg_shape(pkt->opcode - ROCE_UC_SEND_FIRST);
	bool gap = pkt->psn != qp->epsn;

	qp->epsn = psn_add(pkt->psn, 1);
	if (gap)
		count(qp->dev, ROCE_C_OOS_RX);
	/* a message that began is lost; the next begins afresh */
	if (s->first)
		qp->in_msg = MSG_NONE;
	else if (gap)
		qp->in_msg = MSG_SKIP;
	if (!msg_in_order(qp, s) || msg_rx(qp, pkt, s))
		qp->in_msg = MSG_SKIP;
}

/* ---- UD ---- */

/* What stands for the GRH: IPv6 whole, IPv4 in the last 20 bytes. */
static void grh_area(const struct roce_pkt *pkt, uint8_t grh[GRH_SIZE])
{
	memset(grh, 0, GRH_SIZE);
	if (pkt->encap == ROCE_V2_IPV6)
		memcpy(grh, pkt->l3, 40);
	else
		memcpy(grh + 20, pkt->l3, 20);
}

static bool ud_place(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint8_t grh[GRH_SIZE];

	grh_area(pkt, grh);
	return sge_scatter(qp->dev, qp->cur_sge, qp->cur.nsge, 0, grh,
			   GRH_SIZE) &&
	       sge_scatter(qp->dev, qp->cur_sge, qp->cur.nsge, GRH_SIZE,
			   pkt->payload, pkt->payload_len);
}

/*
 * A receive that is too short: the queue's own stays for the next datagram
 * (IBTA 9.9.3, class D); of a shared queue others might have had it, so it
 * ends here (class E).
 */
static bool ud_fits(struct roce_qp *qp, uint32_t len)
{
	struct recv_comp c = { .syndrome = WBELL_SYND_LOCAL_LENGTH };

	if (sge_total(qp->cur_sge, qp->cur.nsge) >= len)
		return true;
	if (qp->srq)
		recv_done(qp, &c);
	return false;
}

void ud_rx(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct recv_comp c = {
		.len = GRH_SIZE + pkt->payload_len,
		.src_qpn = get32(pkt->ext + 4) & ROCE_QPN_MASK,
	};

	if (get32(pkt->ext) != qp->qkey) {
		count(qp->dev, ROCE_DROP_QKEY);
		return;
	}
	if (pkt->payload_len > qp->mtu) {
		count(qp->dev, ROCE_DROP_LENGTH);
		return;
	}
	if (!recv_take(qp) || !ud_fits(qp, c.len)) {
		count(qp->dev, ROCE_DROP_NO_RECV);
		return;
	}
	if (!ud_place(qp, pkt)) {
		recv_unusable(qp);
		return;
	}
	if (pkt->opcode == ROCE_UD_SEND_ONLY_IMM) {
		memcpy(&c.imm, pkt->ext + sizeof(struct roce_deth), 4);
		c.flags |= ROCE_WR_IMM;
	}
	if (pkt->flags & ROCE_BTH_SE)
		c.flags |= ROCE_WR_SOLICITED;
	recv_done(qp, &c);
}

bool ud_send(struct roce_qp *qp, struct roce_wr *wr, struct roce_frame *f)
{
	struct path *path = path_of_ah(qp->dev, wr->ah);
	struct head h = { qp->psn_next, ROCE_UD_SEND_ONLY,
			  sizeof(struct roce_deth) };
	/* IBTA 10.2.5: the high bit asks for the QP's own key */
	uint32_t qkey = wr->rkey >> 31 ? qp->qkey : wr->rkey;
	uint8_t *ext;

	if (!path || wr->op != ROCE_OP_SEND)
		return req_fault(wr, WBELL_SYND_LOCAL_QP_OP, 0x68);
	if (wr->len > qp->mtu)
		return req_fault(wr, WBELL_SYND_LOCAL_LENGTH, 0x68);
	ext = frame_ext(path, f);
	put32(ext, qkey);
	put32(ext + 4, qp->qpn);
	if (wr->flags & ROCE_WR_IMM) {
		h.opcode = ROCE_UD_SEND_ONLY_IMM;
		memcpy(ext + 8, &wr->imm, 4);
		h.ext += 4;
	}
	if (wr->flags & ROCE_WR_SOLICITED)
		h.opcode |= HEAD_SE;
	if (!req_gather(qp, wr, 0, ext + h.ext, wr->len))
		return req_fault(wr, WBELL_SYND_LOCAL_PROT, 0x52);
	path_qpn(path, wr->raddr);
	frame_finish_in_place(path, f, h, wr->len);
	return true;
}
