// SPDX-License-Identifier: BSD-2-Clause
/*
 * The requester's receiving half: acknowledges, responses, time-outs
 * (IBTA 9.7.5, 9.9).  psn_una moves here and nowhere else.
 */
#include "priv.h"

/* IBTA table 45, microseconds */
static const uint32_t rnr_usec[32] = {
	655360, 10,    20,    30,     40,     60,     80,     120,
	160,	240,   320,   480,    640,    960,    1280,   1920,
	2560,	3840,  5120,  7680,   10240,  15360,  20480,  30720,
	40960,	61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

/* One packet more for each window that arrives whole. */
static void grow(struct roce_qp *qp, uint32_t packets_acked)
{
	qp->window_acc += packets_acked;
	if (qp->window_acc < qp->window)
		return;
	qp->window_acc = 0;
	if (qp->window < qp->window_max)
		qp->window++;
}

static void set_window(struct roce_qp *qp, unsigned window, unsigned least)
{
	qp->window_acc = 0;
	if (window < least)
		window = least;
	qp->window = window < qp->window_max ? window : qp->window_max;
}

/*
 * Toward a peer that drops what comes early, each packet in flight behind a
 * loss is sent twice: halve.  One that holds it loses nothing by a loss:
 * give way a little, once a round trip, in case a queue overflowed.
 */
static void shrink(struct roce_qp *qp)
{
	if (qp->peer_mode != PEER_HOLDS) {
		set_window(qp, qp->window / 2, WINDOW_MIN);
		return;
	}
	if (psn_diff(qp->psn_una, qp->shrunk_at) < 0)
		return;
	qp->shrunk_at = qp->psn_max;
	set_window(qp, qp->window - qp->window / 16, WINDOW_HOLDS);
}

/* RFC 6298, in nanoseconds; never above the time-out of the verbs. */
static void measure(struct roce_qp *qp, uint64_t now)
{
	uint64_t rtt, off;

	if (!qp->rtt_sent || psn_diff(qp->psn_una, qp->rtt_psn) <= 0)
		return;
	rtt = now - qp->rtt_sent + 1; /* 0 is no measure, even within a turn */
	qp->rtt_sent = 0;
	if (!qp->srtt) {
		qp->srtt = rtt;
		qp->rttvar = rtt / 2;
		return;
	}
	off = rtt > qp->srtt ? rtt - qp->srtt : qp->srtt - rtt;
	qp->rttvar += (off >> 2) - (qp->rttvar >> 2);
	qp->srtt += (rtt >> 3) - (qp->srtt >> 3);
}

static uint64_t rto_of(const struct roce_qp *qp)
{
	uint64_t rto = RTO_START_NS;

	if (qp->srtt)
		rto = qp->srtt + 4 * qp->rttvar;
	if (rto < RTO_MIN_NS)
		rto = RTO_MIN_NS;
	return qp->timeout && rto > qp->timeout ? qp->timeout : rto;
}

static void progress(struct roce_qp *qp, uint32_t was, uint64_t now)
{
	grow(qp, (qp->psn_una - was) & ROCE_PSN_MASK);
	measure(qp, now);
	qp->progress = now;
	qp->hold = 0; /* what was refused for want of a receive is taken */
	qp->rto = rto_of(qp);
	qp->timeouts = 0;
	qp->rnr_left = qp->rnr_retry;
	qp->recovering = 0;
	qp->tail_probed = 0;
	if (psn_diff(qp->psn_una, qp->psn_next) > 0)
		req_cursor_to_una(qp);
	timer_set(qp, qp->psn_una == qp->psn_max ? NO_DEADLINE : now + qp->rto);
}

/* Once per gap: more answers about it are of packets sent before. */
static void recover(struct roce_qp *qp)
{
	if (qp->recovering)
		return;
	qp->recovering = 1;
	qp->probing = 0;
	shrink(qp);
	req_back(qp);
}

/*
 * Learn what the peer does with packets behind a gap: send the missing one
 * alone.  An acknowledge that leaps past it proves that they were held; a
 * NAK of the very next says they were not (or that two in a row were lost,
 * so it takes two such).
 */
static void learn(struct roce_qp *qp, uint32_t psn)
{
	if (qp->probing && psn == psn_add(qp->probe, 1)) {
		qp->probing = 0;
		if (++qp->hints >= 2)
			qp->peer_mode = PEER_BACK_N;
		recover(qp);
		return;
	}
	/* with nothing behind it in flight, its answer teaches nothing */
	qp->probing = psn_diff(qp->psn_max, psn) > 1;
	qp->probe = psn;
	req_again(qp, psn);
}

static void learnt(struct roce_qp *qp)
{
	if (!qp->probing || psn_diff(qp->psn_una, qp->probe) <= 1)
		return;
	qp->peer_mode = PEER_HOLDS;
	qp->probing = 0;
}

/*
 * A peer that was taken for one that holds lacks one packet after the other:
 * it does not.  Never where both ends agreed.
 */
static bool holds_after_all(struct roce_qp *qp, uint32_t psn)
{
	if (qp->holes || psn != psn_add(qp->last_again, 1)) {
		qp->hints = 0;
		return true;
	}
	if (++qp->hints < NOT_HELD)
		return true;
	qp->peer_mode = PEER_BACK_N;
	return false;
}

/* The peer lacks psn, and holds what came behind it or does not. */
static void sequence_nak(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	struct roce_wr *wr = &qp->wr[qp->wr_ci & qp->wr_mask];

	switch (qp->peer_mode) {
	case PEER_HOLDS:
		if (!holds_after_all(qp, psn)) {
			recover(qp);
			break;
		}
		if (req_again_is_under_way(qp, psn, now))
			break;
		shrink(qp);
		req_again(qp, psn);
		break;
	case PEER_UNKNOWN:
		/* not where a response is awaited: it comes by itself or not */
		if (qp->wr_ci != qp->wr_asg && !op_is_rd(wr->op)) {
			learn(qp, psn);
			break;
		}
		/* fallthrough */
	default:
		recover(qp);
	}
}

static inline void wr_done(struct roce_qp *qp, const struct roce_wr *wr)
{
	qp->wr_ci++;
	if (wr->flags & ROCE_WR_SIGNALLED)
		comp_want(qp);
}

/* As ack_to(), as far as requests of one packet go. */
static void ack_singles(struct roce_qp *qp, uint32_t psn)
{
	uint32_t ci = qp->wr_ci, end = qp->wr_asg, last = qp->psn_una;
	uint8_t flags = 0;

	for (; ci != end; ci++) {
		const struct roce_wr *wr = &qp->wr[ci & qp->wr_mask];

		if (wr->npkt != 1 || wr->syndrome || op_is_rd(wr->op) ||
		    psn_diff(psn, wr->psn) < 0)
			break;
		last = psn_add(wr->psn, 1);
		flags |= wr->flags;
	}
	qp->wr_ci = ci;
	qp->psn_una = last;
	if (flags & ROCE_WR_SIGNALLED)
		comp_want(qp);
}

/*
 * All up to and with psn is acknowledged.  Stops at a READ or atomic, which
 * only its response completes, and then returns false.
 */
static bool ack_to(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	uint32_t was = qp->psn_una;
	bool all = true;

	ack_singles(qp, psn);
	while (qp->wr_ci != qp->wr_asg) {
		struct roce_wr *wr = &qp->wr[qp->wr_ci & qp->wr_mask];
		uint32_t last;

		if (wr->npkt) {
			if (psn_diff(psn, wr->psn) < 0)
				break;
			if (op_is_rd(wr->op)) {
				all = false;
				break;
			}
			last = psn_add(wr->psn, wr->npkt - 1);
			if (wr->syndrome || psn_diff(psn, last) < 0) {
				if (psn_diff(psn, qp->psn_una) >= 0)
					qp->psn_una = psn_add(psn, 1);
				break;
			}
			qp->psn_una = psn_add(last, 1);
		} else if (wr->syndrome) {
			break;
		}
		wr_done(qp, wr);
	}
	/* the cursor may stand on a NOP that has just completed */
	if ((int32_t)(qp->wr_ci - qp->wr_tx) > 0)
		req_cursor_to_una(qp);
	if (qp->psn_una != was) {
		learnt(qp);
		progress(qp, was, now);
	}
	return all;
}

/*
 * The peer, or its silence, is about the first packet that is out: what needs
 * none and stands before it is done, wherever the cursor went back to.
 */
static void fail_first(struct roce_qp *qp, uint8_t syndrome, uint8_t vendor)
{
	while (qp->wr_ci != qp->wr_asg) {
		struct roce_wr *wr = &qp->wr[qp->wr_ci & qp->wr_mask];

		if (wr->npkt || wr->syndrome)
			break;
		wr_done(qp, wr);
	}
	qp_fail(qp, syndrome, vendor);
}

static void wait_rnr(struct roce_qp *qp, uint8_t code, uint64_t now)
{
	qp->hold = now + rnr_usec[code] * 1000ULL;
	timer_set(qp, qp->hold);
}

static void rnr_nak(struct roce_qp *qp, uint8_t code, uint64_t now)
{
	count(qp->dev, ROCE_C_RNR_RX);
	/* a copy, for nothing was sent since: no try is spent, a few times */
	if (qp->hold > now && ++qp->rnr_copies < RNR_COPIES) {
		wait_rnr(qp, code, now);
		return;
	}
	qp->rnr_copies = 0;
	qp->rnr_naks++;
	if (qp->rnr_retry != 7 && !qp->rnr_left) {
		fail_first(qp, WBELL_SYND_RNR_EXC, 0x87);
		return;
	}
	if (qp->rnr_retry != 7)
		qp->rnr_left--;
	qp->progress = now; /* the peer lives */
	qp->timeouts = 0;
	req_back(qp);
	wait_rnr(qp, code, now);
}

static void fatal_nak(struct roce_qp *qp, uint8_t syndrome)
{
	switch (syndrome) {
	case ROCE_NAK_INVAL_REQ:
	case ROCE_NAK_INVAL_RD:
		fail_first(qp, WBELL_SYND_REMOTE_INVAL_REQ, 0x89);
		break;
	case ROCE_NAK_REM_ACCESS:
		fail_first(qp, WBELL_SYND_REMOTE_ACCESS, 0x88);
		break;
	default:
		fail_first(qp, WBELL_SYND_REMOTE_OP, 0x8a);
	}
}

static void nak(struct roce_qp *qp, uint8_t syndrome, uint32_t psn,
		uint64_t now)
{
	uint32_t before = (psn - 1) & ROCE_PSN_MASK;

	if (qp->holes && syndrome == ROCE_NAK_PSN_SEQ) {
		count(qp->dev, ROCE_C_NAK_RX);
		sequence_nak(qp, psn, now);
		return;
	}
	/* it acknowledges all before psn */
	if (psn_diff(before, qp->psn_una) >= 0 && !ack_to(qp, before, now)) {
		recover(qp); /* a response before it was lost */
		if ((syndrome & ROCE_AETH_TYPE_MASK) == ROCE_AETH_TYPE_RNR)
			wait_rnr(qp, syndrome & ROCE_AETH_VALUE_MASK, now);
		return;
	}
	if ((syndrome & ROCE_AETH_TYPE_MASK) == ROCE_AETH_TYPE_RNR) {
		rnr_nak(qp, syndrome & ROCE_AETH_VALUE_MASK, now);
		return;
	}
	count(qp->dev, ROCE_C_NAK_RX);
	if (syndrome == ROCE_NAK_PSN_SEQ)
		sequence_nak(qp, psn, now);
	else
		fatal_nak(qp, syndrome);
}

static void ack_packet(struct roce_qp *qp, const struct roce_pkt *pkt,
		       uint64_t now)
{
	uint8_t syndrome = pkt->ext[0];
	uint8_t type = syndrome & ROCE_AETH_TYPE_MASK;

	if (type == ROCE_AETH_TYPE_ACK) {
		count(qp->dev, ROCE_C_ACK_RX);
		if (!ack_to(qp, pkt->psn, now))
			recover(qp);
	} else if (type == ROCE_AETH_TYPE_RNR || type == ROCE_AETH_TYPE_NAK) {
		nak(qp, syndrome, pkt->psn, now);
	} else {
		count(qp->dev, ROCE_DROP_OPCODE); /* reserved syndrome */
	}
}

/* The READ or atomic that response psn is next for, or NULL. */
static struct roce_wr *awaited(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	struct roce_wr *wr = &qp->wr[qp->wr_ci & qp->wr_mask];

	/* what was sent before the request is acknowledged by its response */
	if (ack_to(qp, psn, now)) {
		count(qp->dev, ROCE_DROP_PSN);
		return NULL;
	}
	wr = &qp->wr[qp->wr_ci & qp->wr_mask];
	if (psn == qp->psn_una)
		return wr;
	recover(qp); /* psn is ahead: one before it was lost */
	return NULL;
}

static void rd_progress(struct roce_qp *qp, struct roce_wr *wr, bool end,
			uint64_t now)
{
	uint32_t psn = qp->psn_una;

	/* only while the cursor has not gone back before the request */
	if (end && qp->rd_out && psn_diff(qp->psn_next, psn) > 0)
		qp->rd_out--;
	qp->psn_una = psn_add(psn, 1);
	if (qp->psn_una == psn_add(wr->psn, wr->npkt))
		wr_done(qp, wr);
	progress(qp, psn, now);
	req_head(qp);
}

static bool fits(struct roce_qp *qp, const struct roce_wr *wr, uint32_t k,
		 bool end, const struct roce_pkt *pkt)
{
	uint32_t left = wr->len - (k << qp->log_mtu);
	bool closes = pkt->opcode == ROCE_RC_READ_RESP_LAST ||
		      pkt->opcode == ROCE_RC_READ_RESP_ONLY;

	return wr->op == ROCE_OP_READ && closes == end &&
	       pkt->payload_len == (left < qp->mtu ? left : qp->mtu);
}

static void read_response(struct roce_qp *qp, const struct roce_pkt *pkt,
			  uint64_t now)
{
	struct roce_wr *wr = awaited(qp, pkt->psn, now);
	uint32_t k;
	bool end;

	if (!wr)
		return;
	k = (pkt->psn - wr->psn) & ROCE_PSN_MASK;
	end = k + 1 == wr->npkt || k % READ_CHUNK == READ_CHUNK - 1;
	if (!fits(qp, wr, k, end, pkt)) {
		qp_fail(qp, WBELL_SYND_BAD_RESP, 0x8c);
		return;
	}
	if (!req_scatter(qp, wr, (uint64_t)k << qp->log_mtu, pkt->payload,
			 pkt->payload_len)) {
		qp_fail(qp, WBELL_SYND_LOCAL_PROT, 0x52);
		return;
	}
	rd_progress(qp, wr, end, now);
}

static void atomic_response(struct roce_qp *qp, const struct roce_pkt *pkt,
			    uint64_t now)
{
	struct roce_wr *wr = awaited(qp, pkt->psn, now);
	uint64_t orig;

	if (!wr)
		return;
	if (wr->op == ROCE_OP_READ || pkt->payload_len) {
		qp_fail(qp, WBELL_SYND_BAD_RESP, 0x8c);
		return;
	}
	orig = get64(pkt->ext + sizeof(struct roce_aeth));
	if (!req_scatter(qp, wr, 0, (uint8_t *)&orig, sizeof(orig))) {
		qp_fail(qp, WBELL_SYND_LOCAL_PROT, 0x52);
		return;
	}
	rd_progress(qp, wr, true, now);
}

void ack_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now)
{
	if (qp->state != ROCE_RTS)
		return;
	if (psn_diff(pkt->psn, qp->psn_max) >= 0) {
		count(qp->dev, ROCE_DROP_PSN); /* of what was never sent */
		return;
	}
	if (psn_diff(pkt->psn, qp->psn_una) < 0) {
		count(qp->dev, ROCE_C_DUP_RX);
		return;
	}
	if (pkt->opcode == ROCE_RC_ACK)
		ack_packet(qp, pkt, now);
	else if (pkt->opcode == ROCE_RC_ATOMIC_ACK)
		atomic_response(qp, pkt, now);
	else
		read_response(qp, pkt, now);
	req_head(qp);
}

/*
 * Nothing was heard in time.  Where an acknowledge or the tail was lost, one
 * packet is enough to learn it: the missing one toward a peer that holds, the
 * newest toward others, once, before all is sent again.
 */
static void retransmit(struct roce_qp *qp)
{
	struct roce_wr *wr = &qp->wr[qp->wr_ci & qp->wr_mask];
	bool one = qp->path.has_mac && qp->wr_ci != qp->wr_asg &&
		   !op_is_rd(wr->op) && qp->psn_next == qp->psn_max;

	qp->recovering = 0;
	qp->probing = 0;
	if (one && qp->peer_mode == PEER_HOLDS &&
	    (qp->holes || !qp->tail_probed)) {
		qp->tail_probed = 1;
		req_again(qp, qp->psn_una);
	} else if (one && !qp->tail_probed) {
		qp->tail_probed = 1;
		req_again(qp, psn_add(qp->psn_max, ROCE_PSN_MASK));
	} else {
		shrink(qp);
		req_back(qp);
	}
}

/*
 * A short timer goes back on its own; retry_cnt counts only where the
 * configured time-out has passed without progress (IBTA 9.9.2.1).
 */
void ack_timeout(struct roce_qp *qp, uint64_t now)
{
	bool waits = qp->psn_una != qp->psn_max ||
		     (!qp->path.has_mac && qp->wr_tx != qp->wr_pi);

	qp->deadline = NO_DEADLINE;
	if (qp->state != ROCE_RTS)
		return;
	if (qp->hold > now) {
		timer_set(qp, qp->hold);
		return;
	}
	if (qp->hold) { /* the receiver has had its time */
		qp->hold = 0;
		tx_want(qp);
		timer_set(qp, now + qp->rto);
		return;
	}
	if (!waits)
		return;
	if (qp->timeout &&
	    now - qp->progress >= qp->timeout * (qp->timeouts + 1ULL)) {
		qp->n_timeouts++;
		count(qp->dev, ROCE_C_TIMEOUT);
		if (++qp->timeouts > qp->retry_cnt) {
			fail_first(qp, WBELL_SYND_RETRY_EXC, 0x81);
			return;
		}
	}
	retransmit(qp);
	qp->rto = qp->rto * 2;
	if (qp->timeout && qp->rto > qp->timeout)
		qp->rto = qp->timeout;
	timer_set(qp, now + qp->rto);
}
