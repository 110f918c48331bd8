// SPDX-License-Identifier: BSD-2-Clause
/*
 * mlx5 WQEs into work requests of the transport.  A WQE is copied once and
 * judged on the copy: its author may be hostile and may still be writing.
 * A bad one becomes a work request that fails in its turn.
 */
#include "priv.h"

#define WQE_BYTES_MAX (64 * WBELL_SEG_SIZE)

struct wqe {
	const uint8_t *p; /* the copy, contiguous */
	unsigned ds;	  /* segments */
	uint8_t opcode;
};

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return __builtin_bswap32(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return __builtin_bswap64(v);
}

/* ---- data segments ---- */

static uint8_t take_inline(struct nic_queue *q, struct roce_wr *wr,
			   const struct wqe *w, unsigned at)
{
	uint32_t n = get32(w->p + at) & ~WBELL_INLINE;

	if (n > w->ds * WBELL_SEG_SIZE - at - 4)
		return WBELL_SYND_LOCAL_QP_OP;
	/* the last segment is the inline one: nothing may follow it */
	if (((at + 4 + n + 15) & ~15U) != w->ds * WBELL_SEG_SIZE)
		return WBELL_SYND_LOCAL_QP_OP;
	memcpy(roce_wr_store(q->qp, wr->index), w->p + at + 4, n);
	wr->flags |= ROCE_WR_INLINE;
	wr->len = n;
	return 0;
}

static void take_sge(struct nic_queue *q, struct roce_wr *wr,
		     const struct roce_sge *sge)
{
	struct roce_sge *more;

	if (!wr->nsge) {
		wr->sge = *sge;
	} else {
		more = (struct roce_sge *)roce_wr_store(q->qp, wr->index);
		more[wr->nsge - 1] = *sge;
	}
	wr->nsge++;
}

static uint8_t take_data(struct nic_queue *q, struct roce_wr *wr,
			 const struct wqe *w, unsigned seg, bool may_inline)
{
	uint64_t total = 0;

	for (; seg < w->ds; seg++) {
		const uint8_t *p = w->p + seg * WBELL_SEG_SIZE;
		struct roce_sge sge = { get64(p + 8), get32(p), get32(p + 4) };

		if (sge.len & WBELL_INLINE) {
			if (!may_inline || wr->nsge)
				return WBELL_SYND_LOCAL_QP_OP;
			return take_inline(q, wr, w, seg * WBELL_SEG_SIZE);
		}
		if (!sge.len)
			sge.len = WBELL_MSG_MAX;
		total += sge.len;
		take_sge(q, wr, &sge);
	}
	if (total > WBELL_MSG_MAX)
		return WBELL_SYND_LOCAL_LENGTH;
	wr->len = total;
	return 0;
}

static uint8_t take_raddr(struct roce_wr *wr, const struct wqe *w)
{
	if (w->ds < 2)
		return WBELL_SYND_LOCAL_QP_OP;
	wr->raddr = get64(w->p + 16);
	wr->rkey = get32(w->p + 24);
	return 0;
}

static uint8_t take_atomic(struct nic_queue *q, struct roce_wr *wr,
			   const struct wqe *w)
{
	struct roce_sge sge;
	uint64_t *operand = (uint64_t *)roce_wr_store(q->qp, wr->index);

	if (w->ds != 4)
		return WBELL_SYND_LOCAL_QP_OP;
	operand[0] = get64(w->p + 32);
	operand[1] = get64(w->p + 40);
	sge.len = get32(w->p + 48);
	sge.lkey = get32(w->p + 52);
	sge.addr = get64(w->p + 56);
	if (sge.len != 8)
		return WBELL_SYND_LOCAL_LENGTH;
	wr->sge = sge;
	wr->nsge = 1;
	wr->len = 8;
	return 0;
}

/* ---- operations ---- */

static uint8_t take_op(struct nic_queue *q, struct roce_wr *wr,
		       const struct wqe *w)
{
	uint8_t bad;

	switch (w->opcode) {
	case WBELL_OP_NOP:
		wr->op = ROCE_OP_NOP;
		return 0;
	case WBELL_OP_SEND_INVAL:
		wr->flags |= ROCE_WR_INV;
		wr->op = ROCE_OP_SEND;
		return take_data(q, wr, w, 1, true);
	case WBELL_OP_SEND_IMM:
		wr->flags |= ROCE_WR_IMM;
		/* fallthrough */
	case WBELL_OP_SEND:
		wr->op = ROCE_OP_SEND;
		return take_data(q, wr, w, 1, true);
	case WBELL_OP_WRITE_IMM:
		wr->flags |= ROCE_WR_IMM;
		/* fallthrough */
	case WBELL_OP_WRITE:
		wr->op = ROCE_OP_WRITE;
		bad = take_raddr(wr, w);
		return bad ? bad : take_data(q, wr, w, 2, true);
	case WBELL_OP_READ:
		wr->op = ROCE_OP_READ;
		bad = take_raddr(wr, w);
		return bad ? bad : take_data(q, wr, w, 2, false);
	case WBELL_OP_CS:
	case WBELL_OP_FA:
		wr->op = w->opcode == WBELL_OP_CS ? ROCE_OP_CS : ROCE_OP_FA;
		bad = take_raddr(wr, w);
		return bad ? bad : take_atomic(q, wr, w);
	default:
		return WBELL_SYND_LOCAL_QP_OP;
	}
}

static uint8_t take_ctrl(struct nic_queue *q, struct roce_wr *wr,
			 const struct wqe *w)
{
	uint32_t first = get32(w->p);
	uint8_t fm_ce_se = w->p[11];

	wr->flags = (fm_ce_se & WBELL_CTRL_CQ_UPDATE ? ROCE_WR_SIGNALLED : 0) |
		    (fm_ce_se & 0xe0 ? ROCE_WR_FENCE : 0) |
		    (fm_ce_se & WBELL_CTRL_SOLICITED ? ROCE_WR_SOLICITED : 0);
	memcpy(&wr->imm, w->p + 12, 4);
	if (first >> 24 || (first >> 8 & 0xffff) != wr->index ||
	    get32(w->p + 4) >> 8 != q->qpn)
		return WBELL_SYND_LOCAL_QP_OP;
	return 0;
}

static void fail_wr(struct nic_queue *q, struct roce_wr *wr, uint8_t syndrome)
{
	wr->syndrome = syndrome;
	wr->vendor = 0x68;
	wr->flags |= ROCE_WR_SIGNALLED;
	q->nic->bad_wqe++;
}

static void start_wr(struct nic_queue *q, struct roce_wr *wr)
{
	wr->op = ROCE_OP_NOP;
	wr->flags = 0;
	wr->syndrome = 0;
	wr->vendor = 0;
	wr->index = (uint16_t)q->fetched;
	wr->nsge = 0;
	wr->wqe_opcode = 0;
	wr->len = 0;
	wr->sge.len = 0;
	wr->npkt = 0;
}

/* The producer lied: what it announces cannot lie in the ring. */
static unsigned refuse_ring(struct nic_queue *q, struct roce_wr *wr,
			    uint64_t pi)
{
	start_wr(q, wr);
	fail_wr(q, wr, WBELL_SYND_LOCAL_QP_OP);
	roce_wr_post(q->qp, wr);
	q->fetched = pi;
	return 1;
}

static void copy_blocks(struct nic_queue *q, uint8_t *to, unsigned nbb)
{
	for (unsigned i = 0; i < nbb; i++)
		memcpy(to + i * WBELL_BB_SIZE,
		       q->sq + ((q->fetched + i) & q->depth_mask) *
				       WBELL_BB_SIZE,
		       WBELL_BB_SIZE);
}

/* One WQE at q->fetched; its basic blocks. */
static unsigned take_one(struct nic_queue *q, struct roce_wr *wr, uint64_t left)
{
	uint8_t copy[WQE_BYTES_MAX] __attribute__((aligned(64)));
	struct wqe w = { .p = copy };
	unsigned nbb;
	uint8_t bad;

	start_wr(q, wr);
	copy_blocks(q, copy, 1);
	w.opcode = copy[3];
	w.ds = copy[7] & WBELL_DS_MAX;
	wr->wqe_opcode = w.opcode;
	nbb = (w.ds + WBELL_SEGS_PER_BB - 1) / WBELL_SEGS_PER_BB;
	if (!nbb || nbb > left) {
		fail_wr(q, wr, WBELL_SYND_LOCAL_QP_OP);
		return 1;
	}
	if (nbb > 1) /* ds stays as first read, whatever the copy says now */
		copy_blocks(q, copy, nbb);
	bad = take_ctrl(q, wr, &w);
	if (!bad)
		bad = take_op(q, wr, &w);
	if (bad)
		fail_wr(q, wr, bad);
	return nbb;
}

unsigned wqe_take(struct nic_queue *q, uint64_t pi)
{
	unsigned n = 0;

	while (q->fetched != pi) {
		struct roce_wr *wr = roce_wr_next(q->qp);

		if (!wr)
			break; /* completions not reported yet hold the ring */
		if (pi - q->fetched > q->depth_mask + 1)
			return n + refuse_ring(q, wr, pi);
		q->fetched += take_one(q, wr, pi - q->fetched);
		roce_wr_post(q->qp, wr);
		n++;
	}
	return n;
}

/* ---- receive ---- */

static unsigned recv_sges(const struct nic_queue *q, const uint8_t *wqe,
			  struct roce_sge *sge)
{
	unsigned max = q->rq_stride / WBELL_SEG_SIZE;
	unsigned n = 0;

	for (unsigned i = 0; i < max; i++) {
		const uint8_t *p = wqe + i * WBELL_SEG_SIZE;

		sge[n].len = get32(p);
		sge[n].lkey = get32(p + 4);
		sge[n].addr = get64(p + 8);
		if (sge[n].lkey == WBELL_LKEY_INVALID)
			break;
		if (!sge[n].len)
			sge[n].len = WBELL_MSG_MAX; /* as in a send WQE */
		n++;
	}
	return n;
}

void wqe_take_recv(struct nic_queue *q)
{
	struct roce_sge sge[4];
	uint8_t copy[4 * WBELL_SEG_SIZE];
	uint16_t pi, n;

	if (!q->rq)
		return;
	pi = __builtin_bswap32(
		__atomic_load_n(&q->dbrec->recv, __ATOMIC_ACQUIRE));
	n = pi - q->rq_fetched;
	if (n > q->rq_mask + 1) /* a lie: take what the ring can hold */
		n = q->rq_mask + 1;
	for (; n; n--, q->rq_fetched++) {
		memcpy(copy,
		       q->rq + (q->rq_fetched & q->rq_mask) * q->rq_stride,
		       q->rq_stride);
		if (roce_recv_post(q->qp, q->rq_fetched, sge,
				   recv_sges(q, copy, sge)))
			return;
	}
}
