// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages of SEND and WRITE, packet by packet: what RC and UC share.  Here
 * is told what is wrong; whether that is answered is the caller's.
 */
#include "priv.h"

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

const struct shape *msg_shape(uint8_t opcode)
{
	return &shapes[opcode];
}

/* ImmDt or IETH is the last of the extension headers. */
static uint32_t imm_of(const struct roce_pkt *pkt, const struct shape *s)
{
	uint32_t imm = 0;

	if (s->flags)
		memcpy(&imm, pkt->payload - 4, 4);
	return imm;
}

static void complete(struct roce_qp *qp, const struct roce_pkt *pkt,
		     const struct shape *s, uint32_t len)
{
	struct recv_comp c = {
		.len = len,
		.imm = imm_of(pkt, s),
		.flags = s->flags,
	};

	if (pkt->flags & ROCE_BTH_SE)
		c.flags |= ROCE_WR_SOLICITED;
	if (s->kind == MSG_WRITE)
		c.flags |= ROCE_COMP_WRITE;
	recv_done(qp, &c);
}

/* ---- WRITE ---- */

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

/*
 * Of a long message all but the last packet goes past the cache.  The last is
 * stored when they are there: who polls for the last byte finds the others.
 */
static void place(const struct roce_qp *qp, const struct shape *s, uint8_t *to,
		  const uint8_t *from, uint32_t n)
{
	bool is_long = __builtin_expect(qp->cur_total >= LONG_MESSAGE, 0);

	if (is_long && !s->last) {
		copy_past_cache(to, from, n);
		return;
	}
	if (is_long)
		copy_settle();
	memcpy(to, from, n);
}

static uint8_t rx_write(struct roce_qp *qp, const struct roce_pkt *pkt,
			const struct shape *s)
{
	uint32_t n = pkt->payload_len;
	uint8_t bad = s->first ? write_open(qp, pkt) : 0;
	uint8_t *to = NULL;

	if (bad)
		return bad;
	if (!write_length_ok(qp, s, n))
		return ROCE_NAK_INVAL_REQ;
	if (n) {
		to = mr_ptr(qp->dev, qp->cur_rkey, qp->cur_va, n,
			    ROCE_ACCESS_REMOTE_WRITE);
		if (!to)
			return ROCE_NAK_REM_ACCESS;
	}
	if (s->flags && !recv_take(qp))
		return ROCE_AETH_TYPE_RNR;
	if (n)
		place(qp, s, to, pkt->payload, n);
	qp->cur_va += n;
	qp->cur_left -= n;
	if (s->last && s->flags)
		complete(qp, pkt, s, qp->cur_total);
	return 0;
}

/* ---- SEND ---- */

static bool send_length_ok(const struct roce_qp *qp, const struct shape *s,
			   uint32_t n)
{
	if (s->last)
		return n <= qp->mtu && (s->first || n);
	return n == qp->mtu;
}

/*
 * Longer than the receive: RC tells both ends, of a shared queue the receive
 * ends in error, and UC's own waits for the next message (IBTA 9.9.3, classes
 * C, E and D).
 */
static uint8_t too_long(struct roce_qp *qp)
{
	struct recv_comp c = { .syndrome = WBELL_SYND_LOCAL_LENGTH };

	if (qp->type == ROCE_RC || qp->srq)
		recv_done(qp, &c);
	return ROCE_NAK_INVAL_REQ;
}

/* IBTA 9.9.6.3: only keys that were made for it may be taken away. */
static bool invalidate(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t key = get32(pkt->payload - 4);
	struct mr *mr = mr_find(qp->dev, key);

	return mr && mr->access & ROCE_ACCESS_REMOTE_INVAL &&
	       !roce_mr_del(qp->dev, key);
}

static uint8_t rx_send(struct roce_qp *qp, const struct roce_pkt *pkt,
		       const struct shape *s)
{
	uint32_t n = pkt->payload_len;

	if (!send_length_ok(qp, s, n))
		return ROCE_NAK_INVAL_REQ;
	if (s->first) {
		if (!recv_take(qp))
			return ROCE_AETH_TYPE_RNR;
		qp->cur_left = 0;
	}
	if ((uint64_t)qp->cur_left + n > sge_total(qp->cur_sge, qp->cur.nsge))
		return too_long(qp);
	if (!sge_scatter(qp->dev, qp->cur_sge, qp->cur.nsge, qp->cur_left,
			 pkt->payload, n)) {
		recv_unusable(qp);
		return ROCE_NAK_REM_OP;
	}
	if (s->flags & ROCE_WR_INV && !invalidate(qp, pkt))
		return ROCE_NAK_REM_ACCESS;
	qp->cur_left += n;
	if (s->last)
		complete(qp, pkt, s, qp->cur_left);
	return 0;
}

/* ---- entry ---- */

bool msg_in_order(const struct roce_qp *qp, const struct shape *s)
{
	return s->first || !s->kind ? qp->in_msg == MSG_NONE
				    : qp->in_msg == s->kind;
}

uint8_t msg_rx(struct roce_qp *qp, const struct roce_pkt *pkt,
	       const struct shape *s)
{
	uint8_t bad = s->kind == MSG_WRITE ? rx_write(qp, pkt, s)
					   : rx_send(qp, pkt, s);

	if (bad)
		return bad;
	qp->in_msg = s->last ? MSG_NONE : s->kind;
	qp->msn += s->last;
	return 0;
}
