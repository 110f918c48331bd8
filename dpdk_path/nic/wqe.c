// SPDX-License-Identifier: BSD-2-Clause
/*
 * mlx5 WQEs into work requests of the transport.  A WQE is copied once and
 * judged on the copy: its author may be hostile and may still be writing.
 * A bad one becomes a work request that fails in its turn.
 */
#include "priv.h"

#define WQE_BYTES_MAX (64 * WBELL_SEG_SIZE)
#define OP_DUMP	      0x23 /* a local read that orders: only late posters */

/* How long a late poster's WQE is looked at, ns. */
#define LATE_NS	 1000000000ULL	/* rung, and not there in whole */
#define DOUBT_NS 1000000ULL	/* there, but some bytes read as poison */
#define WAIT_NS	 30000000000ULL /* a WAIT for what does not complete */

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
		return 0;
	case WBELL_OP_WAIT: /* its wait is over */
		return q->late && w->ds == 2 ? 0 : WBELL_SYND_LOCAL_QP_OP;
	case OP_DUMP: /* a READ's bytes are there before its CQE as it is */
		return q->late && w->ds == 2 ? 0 : WBELL_SYND_LOCAL_QP_OP;
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
	wr->vendor = NIC_VENDOR_BAD_WQE;
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

static unsigned blocks(const struct wqe *w)
{
	return (w->ds + WBELL_SEGS_PER_BB - 1) / WBELL_SEGS_PER_BB;
}

static void judge(struct nic_queue *q, struct roce_wr *wr, const struct wqe *w)
{
	uint8_t bad = take_ctrl(q, wr, w);

	if (!bad)
		bad = take_op(q, wr, w);
	if (bad)
		fail_wr(q, wr, bad);
}

/* One WQE at q->fetched; its basic blocks. */
static unsigned take_one(struct nic_queue *q, struct roce_wr *wr, uint64_t left)
{
	uint8_t copy[WQE_BYTES_MAX] __attribute__((aligned(64)));
	struct wqe w = { .p = copy };
	unsigned nbb;

	start_wr(q, wr);
	copy_blocks(q, copy, 1);
	w.opcode = copy[3];
	w.ds = copy[7] & WBELL_DS_MAX;
	wr->wqe_opcode = w.opcode;
	nbb = blocks(&w);
	if (!nbb || nbb > left) {
		fail_wr(q, wr, WBELL_SYND_LOCAL_QP_OP);
		return 1;
	}
	if (nbb > 1) /* ds stays as first read, whatever the copy says now */
		copy_blocks(q, copy, nbb);
	judge(q, wr, &w);
	return nbb;
}

/*
 * The commonest WQE by far: a WRITE of one range of memory, in one basic
 * block.  Each word is loaded once, so what is judged is what is used; false:
 * another one, or one that is not right, to be taken the long way.
 */
static inline bool take_plain(struct nic_queue *q, struct roce_wr *wr)
{
	const uint64_t *p =
		(const uint64_t *)(q->sq + (q->fetched & q->depth_mask) *
						   WBELL_BB_SIZE);
	uint64_t index = (uint16_t)q->fetched, w[6];
	uint32_t len, flags;

#pragma GCC unroll 6
	for (unsigned i = 0; i < 6; i++)
		w[i] = __builtin_bswap64(
			__atomic_load_n(&p[i], __ATOMIC_RELAXED));
	len = w[4] >> 32;
	flags = w[1] >> 32 & 0xff;
	if (w[0] != (index << 40 | (uint64_t)WBELL_OP_WRITE << 32 |
		     (uint64_t)q->qpn << 8 | 3) ||
	    flags & ~WBELL_CTRL_CQ_UPDATE || !len || len > WBELL_MSG_MAX)
		return false;
	*wr = (struct roce_wr){
		.op = ROCE_OP_WRITE,
		.flags = flags ? ROCE_WR_SIGNALLED : 0,
		.index = index,
		.nsge = 1,
		.wqe_opcode = WBELL_OP_WRITE,
		.len = len,
		.raddr = w[2],
		.rkey = w[3] >> 32,
		.sge = { w[5], len, (uint32_t)w[4] },
	};
	return true;
}

/* ---- late posters ----
 *
 * Device code whose fences end at the GPU rings before the CPU can see all
 * of the WQE: its 8-byte stores (4-byte ones of inline data) show in any
 * order.  So slots are filled with poison when they are consumed, before the
 * CQE that gives them back, and a WQE is taken when none of its words is
 * poison any more.
 *
 * The poison's bytes are ff xx xx ff yy yy yy yy, xx and yy by chance, none
 * of them ff.  No word that a NIC acts on can be that: it would be an opmod
 * of 0xff, reserved bits in fm_ce_se, an address near the end of 64 bits, a
 * length of 2 GB inline, a CQ number above 24 bits.  A peer's rkey can, when
 * the reserved word behind it is by chance so too (once in 2^64).  Operands
 * of atomics and inline data may be anything, so one of 2^32 values reads as
 * poison: such a WQE is taken a little later, when its bytes have had time to
 * change.  All that a poster writes is waited for, used or not: what showed
 * after the slot was filled again would pass for part of the next WQE.
 */

enum sight {
	SIGHT_WHOLE,
	SIGHT_DOUBT, /* but for words that may be anything */
	SIGHT_TORN,
	SIGHT_WAITS, /* whole, a WAIT that is not over */
};

enum seg_kind {
	SEG_FIXED,
	SEG_OPERANDS,
	SEG_DATA,
	SEG_WAIT, /* its first word is whatever the poster had */
};

static enum seg_kind kind_of(uint8_t opcode, unsigned seg)
{
	switch (opcode) {
	case WBELL_OP_CS:
	case WBELL_OP_FA:
		return seg == 2 ? SEG_OPERANDS : SEG_FIXED;
	case WBELL_OP_WRITE:
	case WBELL_OP_WRITE_IMM:
	case WBELL_OP_READ:
		return seg > 1 ? SEG_DATA : SEG_FIXED;
	case WBELL_OP_SEND:
	case WBELL_OP_SEND_IMM:
	case WBELL_OP_SEND_INVAL:
		return SEG_DATA;
	case WBELL_OP_WAIT:
		return SEG_WAIT;
	default:
		return SEG_FIXED;
	}
}

static bool is_poison(const struct nic_queue *q, const uint8_t *word)
{
	return !memcmp(word, &q->poison, 8);
}

/* n bytes (at most 4) at `at`, the start of half a word. */
static bool is_poison_half(const struct nic_queue *q, const struct wqe *w,
			   unsigned at, unsigned n)
{
	return !memcmp(w->p + at, (const uint8_t *)&q->poison + (at & 4), n);
}

static enum sight see_inline(const struct nic_queue *q, const struct wqe *w,
			     unsigned at)
{
	uint32_t n = get32(w->p + at) & ~WBELL_INLINE;

	if (n > w->ds * WBELL_SEG_SIZE - at - 4)
		return SIGHT_WHOLE; /* so that it is refused */
	for (at += 4; n; at += 4) {
		unsigned here = n < 4 ? n : 4;

		if (is_poison_half(q, w, at, here))
			return SIGHT_DOUBT;
		n -= here;
	}
	return SIGHT_WHOLE;
}

static enum sight see_words(const struct nic_queue *q, const uint8_t *p,
			    enum sight poisoned)
{
	return is_poison(q, p) || is_poison(q, p + 8) ? poisoned : SIGHT_WHOLE;
}

static bool is_inline(const struct nic_queue *q, const struct wqe *w,
		      unsigned seg)
{
	unsigned at = seg * WBELL_SEG_SIZE;

	return kind_of(w->opcode, seg) == SEG_DATA &&
	       !is_poison_half(q, w, at, 4) && w->p[at] & 0x80;
}

static enum sight see_segment(const struct nic_queue *q, const struct wqe *w,
			      unsigned seg)
{
	const uint8_t *p = w->p + seg * WBELL_SEG_SIZE;

	switch (seg ? kind_of(w->opcode, seg) : SEG_FIXED) {
	case SEG_OPERANDS:
		return see_words(q, p, SIGHT_DOUBT);
	case SEG_DATA: /* may be inline: then its length is a store apart */
		if (is_poison_half(q, w, seg * WBELL_SEG_SIZE, 4))
			return SIGHT_TORN;
		return see_words(q, p, SIGHT_TORN);
	case SEG_WAIT:
		if (is_poison(q, p + 8))
			return SIGHT_TORN;
		return is_poison(q, p) ? SIGHT_DOUBT : SIGHT_WHOLE;
	default:
		return see_words(q, p, SIGHT_TORN);
	}
}

static enum sight see(const struct nic_queue *q, const struct wqe *w)
{
	enum sight all = SIGHT_WHOLE, one;

	for (unsigned seg = 0; seg < w->ds && all != SIGHT_TORN; seg++) {
		if (seg && is_inline(q, w, seg)) {
			one = see_inline(q, w, seg * WBELL_SEG_SIZE);
			return one > all ? one : all; /* nothing follows it */
		}
		one = see_segment(q, w, seg);
		if (one > all)
			all = one;
	}
	return all;
}

static uint64_t *late_word(struct nic_queue *q, unsigned i)
{
	uint64_t slot = (q->fetched + i / 8) & q->depth_mask;

	return (uint64_t *)(q->sq + slot * WBELL_BB_SIZE) + i % 8;
}

/* Acquire, word by word: what the WQE points at is read after it. */
static void late_copy(struct nic_queue *q, uint8_t *to, unsigned nbb)
{
	for (unsigned i = 0; i < nbb * 8; i++) {
		uint64_t v = __atomic_load_n(late_word(q, i), __ATOMIC_ACQUIRE);

		memcpy(to + i * 8, &v, 8);
	}
}

static void late_poison(struct nic_queue *q, unsigned nbb)
{
	for (unsigned i = 0; i < nbb * 8; i++)
		__atomic_store_n(late_word(q, i), q->poison, __ATOMIC_RELAXED);
}

/* Index, ds and opcode are one word: it is there as a whole or not at all. */
static enum sight late_look(struct nic_queue *q, struct wqe *w, uint8_t *copy,
			    uint64_t left)
{
	enum sight sight = SIGHT_WHOLE;

	late_copy(q, copy, 1);
	if (is_poison(q, copy) ||
	    (get32(copy) >> 8 & 0xffff) != (q->fetched & 0xffff)) {
		w->ds = 1;
		return SIGHT_TORN;
	}
	w->opcode = copy[3];
	w->ds = copy[7] & WBELL_DS_MAX;
	if (blocks(w) && blocks(w) <= left) {
		if (blocks(w) > 1)
			late_copy(q, copy, blocks(w));
		sight = see(q, w);
	}
	return sight;
}

/* Has the WQE at the head been found so, at each look, for long enough? */
static bool stalled(struct nic_queue *q, enum sight sight, uint64_t now)
{
	static const uint64_t most[] = {
		[SIGHT_DOUBT] = DOUBT_NS,
		[SIGHT_TORN] = LATE_NS,
		[SIGHT_WAITS] = WAIT_NS,
	};

	if (q->stalled != sight) {
		q->stalled = sight;
		q->since = now;
	}
	return now - q->since >= most[sight];
}

static void refuse_late(struct nic_queue *q, struct roce_wr *wr,
			uint8_t syndrome, uint8_t vendor)
{
	fail_wr(q, wr, syndrome);
	wr->vendor = vendor;
}

/*
 * A WAIT: is CQE number max_index of that CQ there?  CQs go by the number of
 * their queue.  False: look again later; else the WAIT is over or has failed.
 */
static bool late_wait(struct nic_queue *q, struct roce_wr *wr,
		      const struct wqe *w, uint64_t now)
{
	uint32_t index = get32(w->p + 24);
	struct roce_qp *qp = roce_qp_find(q->nic->dev, get32(w->p + 28));
	const struct nic_queue *on = qp ? roce_qp_user(qp) : NULL;

	if (!on)
		fail_wr(q, wr, WBELL_SYND_LOCAL_QP_OP);
	else if (on->cq_failed && (int32_t)(index - on->cq_bad) >= 0)
		refuse_late(q, wr, WBELL_SYND_WR_FLUSH, NIC_VENDOR_WAIT);
	else if ((int32_t)(on->cq_pi - index) > 0)
		return true;
	else if (stalled(q, SIGHT_WAITS, now))
		refuse_late(q, wr, WBELL_SYND_LOCAL_QP_OP, NIC_VENDOR_WAIT_END);
	else
		return false;
	return true;
}

/*
 * One WQE at q->fetched; its basic blocks, 0: not now.  Out of line: queues
 * of our own posters pay a test of q->late and no more.
 */
static __attribute__((noinline)) unsigned
late_one(struct nic_queue *q, struct roce_wr *wr, uint64_t left, uint64_t now)
{
	uint8_t copy[WQE_BYTES_MAX] __attribute__((aligned(64)));
	struct wqe w = { .p = copy };
	enum sight sight = late_look(q, &w, copy, left);
	unsigned nbb = blocks(&w);

	/* a queue in error flushes what it is told of, seen or not */
	if (sight && !q->failed && !stalled(q, sight, now))
		return 0;
	start_wr(q, wr);
	wr->wqe_opcode = w.opcode;
	if (!nbb || nbb > left) {
		fail_wr(q, wr, WBELL_SYND_LOCAL_QP_OP);
		nbb = 1;
	} else if (sight == SIGHT_TORN) {
		if (!q->failed)
			refuse_late(q, wr, WBELL_SYND_LOCAL_QP_OP,
				    NIC_VENDOR_LATE);
	} else {
		judge(q, wr, &w);
		if (w.opcode == WBELL_OP_WAIT && !wr->syndrome && !q->failed &&
		    !late_wait(q, wr, &w, now))
			return 0;
	}
	q->stalled = SIGHT_WHOLE;
	late_poison(q, nbb);
	return nbb;
}

void wqe_late(struct nic_queue *q, uint64_t seed)
{
	uint8_t *byte = (uint8_t *)&q->poison;

	for (unsigned i = 0; i < 8; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		byte[i] = 0x80 | (seed >> 57) % 0x7f; /* 0x80..0xfe */
	}
	byte[0] = byte[3] = 0xff;
	late_poison(q, q->depth_mask + 1);
	q->cq_pi = q->fetched; /* CQE n answers WQE n */
	q->late = true;
}

/* ---- take ---- */

unsigned wqe_take(struct nic_queue *q, uint64_t pi, uint64_t now)
{
	unsigned n = 0;

	while (q->fetched != pi) {
		struct roce_wr *wr = roce_wr_next(q->qp);
		uint64_t left = pi - q->fetched;
		unsigned nbb;

		if (!wr)
			break; /* completions not reported yet hold the ring */
		if (left > q->depth_mask + 1)
			return n + refuse_ring(q, wr, pi);
		if (__builtin_expect(q->late, 0))
			nbb = late_one(q, wr, left, now);
		else
			nbb = take_plain(q, wr) ? 1 : take_one(q, wr, left);
		if (!nbb)
			break;
		q->fetched += nbb;
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
