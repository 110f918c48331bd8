// SPDX-License-Identifier: BSD-2-Clause
/*
 * The requester's sending half (IBTA 9.7.2-9.7.5).
 *
 * Work requests get their PSNs when they are first reached.  A cursor
 * (wr_tx, tx_pkt, psn_next) walks over them; going back is moving the
 * cursor, so first sending and sending again are one path.
 */
#include "priv.h"

/* ---- posting ---- */

struct roce_wr *roce_wr_next(struct roce_qp *qp)
{
	if (qp->wr_pi - qp->wr_rep > qp->wr_mask)
		return NULL;
	return &qp->wr[qp->wr_pi & qp->wr_mask];
}

uint8_t *roce_wr_store(struct roce_qp *qp, uint16_t index)
{
	return qp->store + (size_t)(index & qp->wr_mask) * WBELL_BB_SIZE;
}

void roce_wr_post(struct roce_qp *qp, struct roce_wr *wr)
{
	qp->wr_pi++;
	if (qp->state == ROCE_RTS)
		tx_want(qp);
	else if (qp->state == ROCE_ERR)
		comp_want(qp);
}

/* ---- memory of a work request ---- */

static const struct roce_sge *more_sges(struct roce_qp *qp,
					const struct roce_wr *wr)
{
	return (const struct roce_sge *)roce_wr_store(qp, wr->index);
}

bool req_scatter(struct roce_qp *qp, struct roce_wr *wr, uint64_t off,
		 const uint8_t *from, uint32_t n)
{
	uint32_t here = 0;

	if (off < wr->sge.len) {
		here = wr->sge.len - off < n ? wr->sge.len - (uint32_t)off : n;
		if (!sge_scatter(qp->dev, &wr->sge, 1, off, from, here))
			return false;
		off = wr->sge.len;
	}
	if (here == n)
		return true;
	return wr->nsge > 1 &&
	       sge_scatter(qp->dev, more_sges(qp, wr), wr->nsge - 1,
			   off - wr->sge.len, from + here, n - here);
}

bool req_gather(struct roce_qp *qp, struct roce_wr *wr, uint64_t off,
		uint8_t *to, uint32_t n)
{
	uint32_t here = 0;

	if (wr->flags & ROCE_WR_INLINE) {
		memcpy(to, roce_wr_store(qp, wr->index) + off, n);
		return true;
	}

	if (off < wr->sge.len) {
		here = wr->sge.len - off < n ? wr->sge.len - (uint32_t)off : n;
		if (!sge_gather(qp->dev, &wr->sge, 1, off, to, here))
			return false;
		off = wr->sge.len;
	}
	if (here == n || wr->nsge < 2)
		return here == n;
	return sge_gather(qp->dev, more_sges(qp, wr), wr->nsge - 1,
			  off - wr->sge.len, to + here, n - here);
}

static bool covered(struct roce_dev *dev, const struct roce_sge *sge,
		    uint32_t access)
{
	return !sge->len || mr_ptr(dev, sge->lkey, sge->addr, sge->len, access);
}

/* All of the list, before the peer does any of the work. */
static bool may_use(struct roce_qp *qp, const struct roce_wr *wr,
		    uint32_t access)
{
	if (wr->nsge && !covered(qp->dev, &wr->sge, access))
		return false;
	for (unsigned i = 1; i < wr->nsge; i++)
		if (!covered(qp->dev, more_sges(qp, wr) + i - 1, access))
			return false;
	return true;
}

/* ---- packets ---- */

static unsigned put_reth(uint8_t *p, uint64_t va, uint32_t rkey, uint32_t len)
{
	put64(p, va);
	put32(p + 8, rkey);
	put32(p + 12, len);
	return sizeof(struct roce_reth);
}

/* The local fault of wr ends the queue once all before it are complete. */
bool req_fault(struct roce_wr *wr, uint8_t syndrome, uint8_t vendor)
{
	wr->syndrome = syndrome;
	wr->vendor = vendor;
	return false;
}

static void advance(struct roce_qp *qp, struct roce_wr *wr, uint32_t npkt)
{
	qp->psn_next = psn_add(qp->psn_next, npkt);
	if (psn_diff(qp->psn_next, qp->psn_max) > 0)
		qp->psn_max = qp->psn_next;
	qp->tx_pkt += npkt;
	if (qp->tx_pkt == wr->npkt) {
		qp->wr_tx++;
		qp->tx_pkt = 0;
	}
}

static bool send_read(struct roce_qp *qp, struct roce_wr *wr,
		      struct roce_frame *f)
{
	uint32_t k = qp->tx_pkt;
	uint32_t npkt = READ_CHUNK - k % READ_CHUNK;
	uint64_t off = (uint64_t)k << qp->log_mtu;
	uint32_t len = wr->len - (uint32_t)off;
	unsigned ext;

	if (!k && !may_use(qp, wr, ROCE_ACCESS_LOCAL_WRITE))
		return req_fault(wr, WBELL_SYND_LOCAL_PROT, 0x52);
	if (npkt >= wr->npkt - k)
		npkt = wr->npkt - k;
	else
		len = npkt << qp->log_mtu;
	ext = put_reth(frame_ext(&qp->path, f), wr->raddr + off, wr->rkey, len);
	frame_finish(&qp->path, f,
		     (struct head){ qp->psn_next | ROCE_BTH_ACKREQ,
				    ROCE_RC_READ_REQ, ext },
		     NULL, 0);
	qp->rd_out++;
	qp->since_ackreq = 0;
	advance(qp, wr, npkt);
	return true;
}

static bool send_atomic(struct roce_qp *qp, struct roce_wr *wr,
			struct roce_frame *f)
{
	const uint64_t *operand =
		(const uint64_t *)roce_wr_store(qp, wr->index);
	uint8_t *p = frame_ext(&qp->path, f);
	uint8_t opcode = wr->op == ROCE_OP_CS ? ROCE_RC_CMP_SWAP
					      : ROCE_RC_FETCH_ADD;

	if (!may_use(qp, wr, ROCE_ACCESS_LOCAL_WRITE))
		return req_fault(wr, WBELL_SYND_LOCAL_PROT, 0x52);
	put64(p, wr->raddr);
	put32(p + 8, wr->rkey);
	put64(p + 12, operand[0]);
	put64(p + 20, wr->op == ROCE_OP_CS ? operand[1] : 0);
	frame_finish(&qp->path, f,
		     (struct head){ qp->psn_next | ROCE_BTH_ACKREQ, opcode,
				    sizeof(struct roce_atomic_eth) },
		     NULL, 0);
	qp->rd_out++;
	qp->since_ackreq = 0;
	advance(qp, wr, 1);
	return true;
}

/* Opcode of packet k of a SEND or WRITE. */
static unsigned data_opcode(const struct roce_wr *wr, bool first, bool last)
{
	bool send = wr->op == ROCE_OP_SEND;

	if (!last) {
		if (first)
			return send ? ROCE_RC_SEND_FIRST : ROCE_RC_WRITE_FIRST;
		return send ? ROCE_RC_SEND_MIDDLE : ROCE_RC_WRITE_MIDDLE;
	}
	if (send && wr->flags & ROCE_WR_INV)
		return first ? ROCE_RC_SEND_ONLY_INV : ROCE_RC_SEND_LAST_INV;
	if (first)
		return (send ? ROCE_RC_SEND_ONLY : ROCE_RC_WRITE_ONLY) +
		       !!(wr->flags & ROCE_WR_IMM);
	return (send ? ROCE_RC_SEND_LAST : ROCE_RC_WRITE_LAST) +
	       !!(wr->flags & ROCE_WR_IMM);
}

/* The acknowledge of psn tells the round trip, unless one is timed already. */
void req_time(struct roce_qp *qp, uint32_t psn)
{
	if (qp->rtt_sent || psn_diff(qp->psn_una, qp->recover_psn) < 0)
		return;
	qp->rtt_sent = qp->dev->now;
	qp->rtt_psn = psn;
}

/*
 * An acknowledge is asked for where the queue runs dry or stops, and often
 * enough that the window never closes unasked.
 */
static uint32_t want_ack(struct roce_qp *qp, bool last)
{
	struct roce_wr *next = &qp->wr[(qp->wr_tx + 1) & qp->wr_mask];
	bool dry = last && (qp->wr_tx + 1 == qp->wr_pi || is_silent(next));

	if (!dry && ++qp->since_ackreq < ack_every(qp) &&
	    psn_diff(qp->psn_next, qp->psn_una) + 1 < qp->window)
		return 0;
	qp->since_ackreq = 0;
	if (qp->psn_next == qp->psn_max)
		req_time(qp, qp->psn_next);
	return ROCE_BTH_ACKREQ;
}

static bool put_payload(struct roce_qp *qp, struct roce_wr *wr,
			struct roce_frame *f, struct head h)
{
	uint64_t off = (uint64_t)qp->tx_pkt << qp->log_mtu;
	uint32_t left = wr->len - (uint32_t)off;
	uint32_t n = left < qp->mtu ? left : qp->mtu;
	const uint8_t *src = NULL;

	if (wr->flags & ROCE_WR_INLINE)
		src = roce_wr_store(qp, wr->index) + off;
	else if (wr->nsge == 1 && n)
		src = mr_ptr(qp->dev, wr->sge.lkey, wr->sge.addr + off,
			     qp->tx_pkt ? n : wr->len, 0);
	if (!src && n) {
		if (wr->nsge < 2 || (!qp->tx_pkt && !may_use(qp, wr, 0)) ||
		    !req_gather(qp, wr, off, frame_ext(&qp->path, f) + h.ext,
				n))
			return req_fault(wr, WBELL_SYND_LOCAL_PROT, 0x52);
		h.apsn |= want_ack(qp, qp->tx_pkt + 1 == wr->npkt);
		frame_finish_in_place(&qp->path, f, h, n);
		return true;
	}
	h.apsn |= want_ack(qp, qp->tx_pkt + 1 == wr->npkt);
	frame_finish(&qp->path, f, h, src, n);
	return true;
}

static bool send_data(struct roce_qp *qp, struct roce_wr *wr,
		      struct roce_frame *f)
{
	bool first = !qp->tx_pkt;
	bool last = qp->tx_pkt + 1 == wr->npkt;
	struct head h = { qp->psn_next, data_opcode(wr, first, last), 0 };

	if (qp->type == ROCE_UC)
		h.opcode += ROCE_UC_SEND_FIRST;
	if (first && wr->op == ROCE_OP_WRITE)
		h.ext = put_reth(frame_ext(&qp->path, f), wr->raddr, wr->rkey,
				 wr->len);
	if (last && wr->flags & (ROCE_WR_IMM | ROCE_WR_INV)) {
		memcpy(frame_ext(&qp->path, f) + h.ext, &wr->imm, 4);
		h.ext += 4;
	}
	if (last && wr->flags & ROCE_WR_SOLICITED)
		h.opcode |= HEAD_SE;
	if (!put_payload(qp, wr, f, h))
		return false;
	advance(qp, wr, 1);
	return true;
}

/* UC and UD complete what they have sent. */
static bool send_unacked(struct roce_qp *qp, struct roce_wr *wr,
			 struct roce_frame *f)
{
	bool last = qp->tx_pkt + 1 == wr->npkt;

	if (qp->type == ROCE_UD) {
		if (!ud_send(qp, wr, f))
			return false;
		advance(qp, wr, 1);
	} else if (op_is_rd(wr->op)) {
		return req_fault(wr, WBELL_SYND_LOCAL_QP_OP, 0x68);
	} else if (!send_data(qp, wr, f)) {
		return false;
	}
	qp->psn_una = qp->psn_next;
	if (last) {
		qp->wr_ci++;
		if (wr->flags & ROCE_WR_SIGNALLED)
			comp_want(qp);
	}
	return true;
}

static bool send_one(struct roce_qp *qp, struct roce_wr *wr,
		     struct roce_frame *f)
{
	if (__builtin_expect(qp->type != ROCE_RC, 0))
		return send_unacked(qp, wr, f);
	switch (wr->op) {
	case ROCE_OP_READ:
		return send_read(qp, wr, f);
	case ROCE_OP_CS:
	case ROCE_OP_FA:
		return send_atomic(qp, wr, f);
	default:
		return send_data(qp, wr, f);
	}
}

/* ---- the cursor ---- */

static bool req_may_go_on(const struct roce_qp *qp, uint64_t now)
{
	const struct roce_wr *wr = &qp->wr[qp->wr_tx & qp->wr_mask];

	if (qp->wr_tx == qp->wr_pi || qp->state != ROCE_RTS ||
	    !qp->path.has_mac)
		return false;
	if (wr->syndrome || qp->hold > now || cc_holds(qp, now))
		return false;
	if (psn_diff(qp->psn_next, qp->psn_una) >= qp->window)
		return false;
	if (wr->flags & ROCE_WR_FENCE && qp->rd_out && !qp->tx_pkt)
		return false;
	return !op_is_rd(wr->op) || qp->rd_out < qp->rd_max;
}

bool req_has_work(const struct roce_qp *qp, uint64_t now)
{
	if (__builtin_expect(!psn_ring_empty(&qp->again), 0) &&
	    qp->state == ROCE_RTS && qp->hold <= now && qp->path.has_mac)
		return true;
	return req_may_go_on(qp, now);
}

static uint32_t psns_of(const struct roce_qp *qp, const struct roce_wr *wr)
{
	if (wr->syndrome)
		return 0;
	switch (wr->op) {
	case ROCE_OP_NOP:
	case ROCE_OP_LOCAL_INV:
		return 0;
	case ROCE_OP_CS:
	case ROCE_OP_FA:
		return 1;
	default:
		return qp->type == ROCE_UD ? 1 : packets(qp, wr->len);
	}
}

static void assign(struct roce_qp *qp, struct roce_wr *wr)
{
	wr->psn = qp->psn_next;
	wr->npkt = psns_of(qp, wr);
	qp->wr_asg++;
	if (wr->op == ROCE_OP_LOCAL_INV && roce_mr_del(qp->dev, wr->rkey))
		req_fault(wr, WBELL_SYND_MW_BIND, 0x59);
}

/* Work waits without an address or an answer: time it. */
static void start_clock(struct roce_qp *qp, uint64_t now)
{
	if (qp->deadline != NO_DEADLINE)
		return;
	qp->progress = now;
	timer_set(qp, now + qp->rto);
}

/* ---- single packets again ---- */

/* The WR whose PSNs hold psn: they are in order from wr_ci to wr_asg. */
static uint32_t wr_of(const struct roce_qp *qp, uint32_t psn)
{
	uint32_t low = qp->wr_ci, high = qp->wr_asg;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (psn_diff(qp->wr[mid & qp->wr_mask].psn, psn) <= 0)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static bool outstanding(const struct roce_qp *qp, uint32_t psn)
{
	return psn_diff(psn, qp->psn_una) >= 0 &&
	       psn_diff(psn, qp->psn_next) < 0;
}

/*
 * The PSNs of a lost READ request are so many holes to the peer: the first
 * of them has the request sent again.
 */
static bool same_request(const struct roce_qp *qp, uint32_t psn)
{
	const struct roce_wr *wr = &qp->wr[wr_of(qp, psn) & qp->wr_mask];
	uint32_t k = (psn - wr->psn) & ROCE_PSN_MASK;
	int32_t behind = psn_diff(psn, qp->last_again);

	return wr->op == ROCE_OP_READ && behind > 0 &&
	       (uint32_t)behind <= k % READ_CHUNK;
}

/* Sent again so lately that a report of its lack is of the time before. */
bool req_again_is_under_way(const struct roce_qp *qp, uint32_t psn,
			    uint64_t now)
{
	uint32_t at = psn % HOLES;

	return qp->again_at[at].psn == psn && qp->again_at[at].time &&
	       now - qp->again_at[at].time < qp->srtt - qp->srtt / 4;
}

void req_again(struct roce_qp *qp, uint32_t psn)
{
	if (!outstanding(qp, psn) || same_request(qp, psn) ||
	    !psn_push(&qp->again, qp->again_psn, psn))
		return;
	qp->last_again = psn;
	qp->again_at[psn % HOLES].psn = psn;
	qp->again_at[psn % HOLES].time = qp->dev->now;
	qp->retries++;
	qp->rtt_sent = 0; /* its answer would tell of the wrong packet */
	qp->recover_psn = qp->psn_max;
	count(qp->dev, ROCE_C_RETRY);
	tx_want(qp);
}

/* By the one way that packets are sent, with the cursor put there. */
static bool send_again(struct roce_qp *qp, struct roce_frame *f)
{
	uint32_t psn = qp->again_psn[qp->again.ci++ % HOLES];
	uint32_t wr_tx = qp->wr_tx, tx_pkt = qp->tx_pkt;
	uint32_t next = qp->psn_next;
	uint8_t rd_out = qp->rd_out;
	struct roce_wr *wr;
	bool sent = false;

	if (!outstanding(qp, psn))
		return false;
	qp->wr_tx = wr_of(qp, psn);
	wr = &qp->wr[qp->wr_tx & qp->wr_mask];
	qp->tx_pkt = (psn - wr->psn) & ROCE_PSN_MASK;
	if (!wr->syndrome && qp->tx_pkt < wr->npkt) {
		qp->psn_next = psn;
		qp->since_ackreq = ACK_EVERY;
		sent = send_one(qp, wr, f);
	}
	qp->wr_tx = wr_tx;
	qp->tx_pkt = tx_pkt;
	qp->psn_next = next;
	qp->rd_out = rd_out;
	return sent;
}

static unsigned send_all_again(struct roce_qp *qp, uint64_t now,
			       struct roce_frame *f, unsigned n)
{
	unsigned k = 0;

	if (qp->hold > now || !qp->path.has_mac)
		return 0;
	while (k < n && !psn_ring_empty(&qp->again))
		k += send_again(qp, &f[k]);
	return k;
}

unsigned req_tx(struct roce_qp *qp, uint64_t now, struct roce_frame *f,
		unsigned n)
{
	unsigned k = 0;

	if (qp->state != ROCE_RTS)
		return 0;
	if (__builtin_expect(!psn_ring_empty(&qp->again), 0))
		k = send_all_again(qp, now, f, n);
	while (k < n && req_may_go_on(qp, now)) {
		struct roce_wr *wr;

		k += plain_tx(qp, f + k, n - k);
		if (k == n || !req_may_go_on(qp, now))
			break;
		wr = &qp->wr[qp->wr_tx & qp->wr_mask];
		if (qp->wr_tx == qp->wr_asg)
			assign(qp, wr);
		if (!wr->npkt) {
			qp->wr_tx++;
			req_head(qp); /* UC and UD complete right behind it */
			continue;
		}
		if (!send_one(qp, wr, &f[k]))
			break;
		if (qp->cc.on)
			cc_sent(qp, f[k].len, now);
		k++;
	}
	if (cc_holds(qp, now) && qp->wr_tx != qp->wr_pi)
		timer_soon(qp, qp->cc.pace_at);
	qp->packets_tx += k;
	if ((k && qp->type == ROCE_RC) ||
	    (!qp->path.has_mac && qp->wr_tx != qp->wr_pi))
		start_clock(qp, now);
	req_head(qp);
	return k;
}

/* Complete or fail what stands at the head and needs no answer. */
void req_head(struct roce_qp *qp)
{
	while (qp->wr_ci != qp->wr_pi) {
		struct roce_wr *wr = &qp->wr[qp->wr_ci & qp->wr_mask];

		if (wr->syndrome) {
			if (qp->state == ROCE_RTS)
				qp_fail(qp, wr->syndrome, wr->vendor);
			return;
		}
		if ((int32_t)(qp->wr_ci - qp->wr_tx) >= 0 || wr->npkt)
			return;
		qp->wr_ci++; /* a NOP */
		comp_want(qp);
	}
}

void req_cursor_to_una(struct roce_qp *qp)
{
	struct roce_wr *wr = &qp->wr[qp->wr_ci & qp->wr_mask];

	qp->psn_next = qp->psn_una;
	qp->wr_tx = qp->wr_ci;
	qp->tx_pkt = 0;
	if (qp->wr_ci != qp->wr_asg && wr->npkt)
		qp->tx_pkt = (qp->psn_una - wr->psn) & ROCE_PSN_MASK;
}

void req_back(struct roce_qp *qp)
{
	qp->retries++;
	count(qp->dev, ROCE_C_RETRY);
	req_cursor_to_una(qp);
	qp->rd_out = 0;
	qp->rtt_sent = 0;
	qp->probing = 0;
	qp->recover_psn = qp->psn_max;
	qp->again.ci = qp->again.pi;
	qp->since_ackreq = ACK_EVERY; /* the first again asks at once */
	tx_want(qp);
}
