/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Device API: what kernels call to drive a NIC by themselves.
 *
 * The calls below are of one thread; device_group.h has them for the lanes of
 * a warp, each its own transfer, and for a warp or a block that makes one.
 * device_set.h chooses among queues, device_count.h waits for many posts.
 *
 * Every call returns 0, a WBELL_WC_* (> 0: the NIC failed a WQE of this
 * queue, the queue's error record says which and why) or a WBELL_E* (< 0: a
 * local condition; the NIC saw nothing, unless the call says otherwise).
 * Keys and immediates are in host order, addresses are virtual.
 *
 * A post that must give up its turn returns WBELL_ECANCELED or
 * WBELL_ETIMEDOUT; its slots are never published, and the queue is lost.
 *
 * A thread that posts reserves slots, writes WQEs into them, then publishes
 * in turn, so the doorbell never passes an unwritten WQE.  Anyone who tests
 * or waits consumes CQEs for all.  Data written before a post is seen by the
 * NIC; data the NIC wrote is seen after test or wait gave 0.
 *
 * A build may fix what is else read from the queue at each call:
 *	WBELL_FIX_DB_KIND	one of WBELL_DB_*
 *	WBELL_FIX_EXCLUSIVE	0 or 1
 * With WBELL_DEBUG, a call that breaks a rule stops there and cites it.
 */
#ifndef WBELL_DEVICE_H
#define WBELL_DEVICE_H

#include "queue.h"
#include "device_arch.h"
#include "device_queue.h"
#include "device_slot.h"
#include "device_post.h"
#include "device_turn.h"

/* How put_signal keeps the signal behind the data. */
#define WBELL_ORDER_NIC	  0 /* RC order: the responder executes in order */
#define WBELL_ORDER_FENCE 1 /* fence bit on the atomic */
#define WBELL_ORDER_WAIT  2 /* atomic posted after the data has completed */

/* Longest wait inside put_signal with WBELL_ORDER_WAIT. */
#ifndef WBELL_SIGNAL_WAIT_US
#define WBELL_SIGNAL_WAIT_US 1000000ULL
#endif

/* Rules that more than one call keeps, as a debug build cites them. */
#define WBELL_RULE_LENGTH   "a message has at most 2^31 bytes"
#define WBELL_RULE_ALIGNED  "an atomic is at a multiple of 8"
#define WBELL_RULE_RECEIVES "the queue has a receive ring, the result a place"

struct wbell_recv_done {
	__u64 index; /* of the receive WQE, counted from 0 */
	__u32 len;   /* bytes */
	__u32 imm;   /* immediate, or invalidated rkey */
	__u8 opcode; /* WBELL_CQE_RESP_* */
	__u8 syndrome;
	__u8 vendor_syndrome;
	__u8 rsvd[5];
};

/* ---- one-sided operations ---- */

struct wbell_move {
	__u64 local, remote, n;
	__u32 lkey, rkey;
};

/* ctrl, raddr, and data unless empty: byte_count 0 would mean 2^31. */
WBELL_FN __u64 wbell_wqe_move(const struct wbell_dqueue *q, __u64 index,
			      __u32 opcode, __u32 flags, __u32 imm_be,
			      const struct wbell_move *m)
{
	__u64 slot = wbell_slot(q, index);

	wbell_wqe_raddr(slot + 16, m->remote, m->rkey);
	if ((__u32)m->n)
		wbell_wqe_data(slot + 32, m->local, m->lkey, (__u32)m->n);
	return wbell_wqe_ctrl_be(q, index, opcode, (__u32)m->n ? 3 : 2, flags,
				 imm_be);
}

WBELL_FN struct wbell_move wbell_move_of(__u64 local, __u32 lkey, __u64 remote,
					 __u32 rkey, __u64 n)
{
	struct wbell_move m;

	m.local = local;
	m.remote = remote;
	m.n = n;
	m.lkey = lkey;
	m.rkey = rkey;
	return m;
}

WBELL_FN int wbell_move_post(struct wbell_dqueue *q, __u32 opcode, __u32 imm_be,
			     const struct wbell_move *m, int together,
			     struct wbell_ticket *t)
{
	struct wbell_turn w;
	__u64 bell;

	if (m->n > WBELL_MSG_MAX)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_LENGTH);
	if (wbell_turn_begin(q, 1, together, &w) & WBELL_NO_SLOT)
		return wbell_no_slot(w.index);
	if (t)
		t->index = w.index;
	bell = wbell_wqe_move(q, w.index, opcode, w.flags, imm_be, m);
	return wbell_turn_end(q, 1, together, &w, bell);
}

/* RDMA WRITE of n bytes, 0..2^31. */
WBELL_FN int wbell_put(struct wbell_dqueue *q, __u64 src, __u32 lkey, __u64 dst,
		       __u32 rkey, __u64 n, struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, dst, rkey, n);

	return wbell_move_post(q, WBELL_OP_WRITE, 0, &m, WBELL_ALONE, t);
}

/* As put, and takes a receive WQE at the peer, which gets imm. */
WBELL_FN int wbell_put_imm(struct wbell_dqueue *q, __u64 src, __u32 lkey,
			   __u64 dst, __u32 rkey, __u64 n, __u32 imm,
			   struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, dst, rkey, n);

	return wbell_move_post(q, WBELL_OP_WRITE_IMM, wbell_swap32(imm), &m,
			       WBELL_ALONE, t);
}

/* RDMA READ of n bytes, 0..2^31. */
WBELL_FN int wbell_get(struct wbell_dqueue *q, __u64 dst_local, __u32 lkey,
		       __u64 src_remote, __u32 rkey, __u64 n,
		       struct wbell_ticket *t)
{
	struct wbell_move m =
		wbell_move_of(dst_local, lkey, src_remote, rkey, n);

	return wbell_move_post(q, WBELL_OP_READ, 0, &m, WBELL_ALONE, t);
}

/* Bytes [at, at + 4) of the n at data, as a word in memory order. */
WBELL_FN __u32 wbell_word(const void *data, __u32 at, __u32 n)
{
	const __u8 *b = (const __u8 *)data;
	__u32 w = 0, i;

	for (i = 0; i < 4; i++)
		if (at + i < n)
			w |= (__u32)b[at + i] << (8 * i);
	return w;
}

/* Inline data of a WRITE, n 1..28 bytes; returns the doorbell value. */
WBELL_FN __u64 wbell_wqe_inline(const struct wbell_dqueue *q, __u64 index,
				__u32 flags, const void *data, __u32 n)
{
	__u64 slot = wbell_slot(q, index);
	__u32 w[7];
	__u32 i;

	for (i = 0; i < 7; i++)
		w[i] = wbell_word(data, i * 4, n);
	wbell_seg_store(slot + 32, wbell_swap32(n | WBELL_INLINE), w[0], w[1],
			w[2]);
	if (n > 12)
		wbell_seg_store(slot + 48, w[3], w[4], w[5], w[6]);
	return wbell_wqe_ctrl_be(q, index, WBELL_OP_WRITE, n > 12 ? 4 : 3,
				 flags, 0);
}

WBELL_FN int wbell_put_words(struct wbell_dqueue *q, const void *data, __u32 n,
			     __u64 dst, __u32 rkey, int together,
			     struct wbell_ticket *t)
{
	struct wbell_turn w;
	__u64 bell;

	if (!data || n - 1 >= WBELL_INLINE_ONE_BB)
		return WBELL_REFUSE(WBELL_EINVAL,
				    "inline data has 1 to 28 bytes");
	if (wbell_turn_begin(q, 1, together, &w) & WBELL_NO_SLOT)
		return wbell_no_slot(w.index);
	if (t)
		t->index = w.index;
	wbell_wqe_raddr(wbell_slot(q, w.index) + 16, dst, rkey);
	bell = wbell_wqe_inline(q, w.index, w.flags, data, n);
	return wbell_turn_end(q, 1, together, &w, bell);
}

/*
 * RDMA WRITE of 1..28 bytes that lie in the WQE: data may be reused at once,
 * and may be in any memory the thread can read.
 */
WBELL_FN int wbell_put_inline(struct wbell_dqueue *q, const void *data, __u32 n,
			      __u64 dst, __u32 rkey, struct wbell_ticket *t)
{
	return wbell_put_words(q, data, n, dst, rkey, WBELL_ALONE, t);
}

/* ---- atomics, 8 bytes at an address that is a multiple of 8 ---- */

struct wbell_amo {
	__u64 result, remote, swap_add, compare;
	__u32 lkey, rkey;
};

/* The old value goes to result, or to the queue's sink when that is 0. */
WBELL_FN __u64 wbell_wqe_amo(const struct wbell_dqueue *q, __u64 index,
			     __u32 opcode, __u32 flags,
			     const struct wbell_amo *a)
{
	__u64 slot = wbell_slot(q, index);

	wbell_wqe_raddr(slot + 16, a->remote, a->rkey);
	wbell_wqe_atomic(slot + 32, a->swap_add, a->compare);
	wbell_wqe_data(slot + 48, a->result ? a->result : q->sink,
		       a->result ? a->lkey : q->sink_lkey, 8);
	return wbell_wqe_ctrl_be(q, index, opcode, 4, flags, 0);
}

WBELL_FN struct wbell_amo wbell_amo_of(__u64 result, __u32 lkey, __u64 remote,
				       __u32 rkey, __u64 compare,
				       __u64 swap_add)
{
	struct wbell_amo a;

	a.result = result;
	a.remote = remote;
	a.swap_add = swap_add;
	a.compare = compare;
	a.lkey = lkey;
	a.rkey = rkey;
	return a;
}

WBELL_FN int wbell_amo_post(struct wbell_dqueue *q, __u32 opcode,
			    const struct wbell_amo *a, int together,
			    struct wbell_ticket *t)
{
	struct wbell_turn w;
	__u64 bell;

	if ((a->remote | a->result) & 7)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_ALIGNED);
	if (wbell_turn_begin(q, 1, together, &w) & WBELL_NO_SLOT)
		return wbell_no_slot(w.index);
	if (t)
		t->index = w.index;
	bell = wbell_wqe_amo(q, w.index, opcode, w.flags, a);
	return wbell_turn_end(q, 1, together, &w, bell);
}

WBELL_FN int wbell_fetch_add(struct wbell_dqueue *q, __u64 result, __u32 lkey,
			     __u64 raddr, __u32 rkey, __u64 add,
			     struct wbell_ticket *t)
{
	struct wbell_amo a = wbell_amo_of(result, lkey, raddr, rkey, 0, add);

	return wbell_amo_post(q, WBELL_OP_FA, &a, WBELL_ALONE, t);
}

/* Stores swap when the old value is compare. */
WBELL_FN int wbell_compare_swap(struct wbell_dqueue *q, __u64 result,
				__u32 lkey, __u64 raddr, __u32 rkey,
				__u64 compare, __u64 swap,
				struct wbell_ticket *t)
{
	struct wbell_amo a =
		wbell_amo_of(result, lkey, raddr, rkey, compare, swap);

	return wbell_amo_post(q, WBELL_OP_CS, &a, WBELL_ALONE, t);
}

/* ---- put, then add to a remote counter ---- */

WBELL_SLOW int wbell_signal_late(struct wbell_dqueue *q,
				 const struct wbell_move *m,
				 const struct wbell_amo *a,
				 struct wbell_ticket *t)
{
	struct wbell_ticket data;
	int rc = wbell_move_post(q, WBELL_OP_WRITE, 0, m, WBELL_ALONE, &data);

	if (!rc)
		rc = wbell_wait(q, data,
				wbell_deadline_us(WBELL_SIGNAL_WAIT_US));
	return rc ? rc : wbell_amo_post(q, WBELL_OP_FA, a, WBELL_ALONE, t);
}

/* Both WQEs by one reserve and one doorbell; the ticket is the atomic's. */
WBELL_FN int wbell_signal_behind(struct wbell_dqueue *q,
				 const struct wbell_move *m,
				 const struct wbell_amo *a, int order,
				 int together, struct wbell_ticket *t)
{
	struct wbell_turn w;
	__u64 bell;

	if (wbell_turn_begin(q, 2, together, &w) & WBELL_NO_SLOT)
		return wbell_no_slot(w.index);
	if (t)
		t->index = w.index + 1;
	wbell_wqe_move(q, w.index, WBELL_OP_WRITE, 0, 0, m);
	if (order == WBELL_ORDER_FENCE)
		w.flags |= WBELL_CTRL_FENCE;
	bell = wbell_wqe_amo(q, w.index + 1, WBELL_OP_FA, w.flags, a);
	return wbell_turn_end(q, 2, together, &w, bell);
}

/* sig: the atomic that adds; its operand is add. */
WBELL_FN int wbell_signal(struct wbell_dqueue *q, const struct wbell_move *m,
			  const struct wbell_amo *sig, int order, int together,
			  struct wbell_ticket *t)
{
	if (m->n > WBELL_MSG_MAX)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_LENGTH);
	if (sig->remote & 7)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_ALIGNED);
	if ((__u32)order > WBELL_ORDER_WAIT)
		return WBELL_REFUSE(WBELL_EINVAL,
				    "an order is one of WBELL_ORDER_*");
	if (order == WBELL_ORDER_WAIT)
		return wbell_signal_late(q, m, sig, t);
	return wbell_signal_behind(q, m, sig, order, together, t);
}

/*
 * RDMA WRITE of n bytes, then add to the 8 bytes at sig_addr, in an order
 * that WBELL_ORDER_* names.  Takes two slots.  When the write fails, the
 * ticket reports a flush: the record has the cause.  With WBELL_ORDER_WAIT a
 * negative status does not mean that the data was not written.
 */
WBELL_FN int wbell_put_signal(struct wbell_dqueue *q, __u64 src, __u32 lkey,
			      __u64 dst, __u32 rkey, __u64 n, __u64 sig_addr,
			      __u32 sig_rkey, __u64 add, int order,
			      struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, dst, rkey, n);
	struct wbell_amo a = wbell_amo_of(0, 0, sig_addr, sig_rkey, 0, add);

	return wbell_signal(q, &m, &a, order, WBELL_ALONE, t);
}

/* ---- two-sided ---- */

WBELL_FN int wbell_send_op(struct wbell_dqueue *q, __u32 opcode, __u32 imm,
			   const struct wbell_move *m, int together,
			   struct wbell_ticket *t)
{
	struct wbell_turn w;
	__u64 bell;

	if (m->n > WBELL_MSG_MAX)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_LENGTH);
	if (wbell_turn_begin(q, 1, together, &w) & WBELL_NO_SLOT)
		return wbell_no_slot(w.index);
	if (t)
		t->index = w.index;
	if ((__u32)m->n)
		wbell_wqe_data(wbell_slot(q, w.index) + 16, m->local, m->lkey,
			       (__u32)m->n);
	bell = wbell_wqe_ctrl(q, w.index, opcode, (__u32)m->n ? 2 : 1, w.flags,
			      imm);
	return wbell_turn_end(q, 1, together, &w, bell);
}

WBELL_FN int wbell_send(struct wbell_dqueue *q, __u64 src, __u32 lkey, __u64 n,
			struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, 0, 0, n);

	return wbell_send_op(q, WBELL_OP_SEND, 0, &m, WBELL_ALONE, t);
}

WBELL_FN int wbell_send_imm(struct wbell_dqueue *q, __u64 src, __u32 lkey,
			    __u64 n, __u32 imm, struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, 0, 0, n);

	return wbell_send_op(q, WBELL_OP_SEND_IMM, imm, &m, WBELL_ALONE, t);
}

/*
 * Post one receive buffer of n bytes.  One thread at a time posts, one at a
 * time tests.  WBELL_EAGAIN: all receive WQEs are out.
 */
WBELL_FN int wbell_recv(struct wbell_dqueue *q, __u64 addr, __u32 lkey, __u32 n)
{
	int rc = wbell_check(q);
	__u64 pi, wqe;

	if (rc)
		return rc;
	if (q->log_rq == 0xff)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_RECEIVES);
	if (n > WBELL_MSG_MAX)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_LENGTH);
	pi = wbell_ld_relaxed(WBELL_ADDR(&q->rq_pi));
	if ((pi - wbell_ld_acquire(WBELL_ADDR(&q->rcq_ci))) >> q->log_rq)
		return WBELL_EAGAIN;
	wqe = q->rq + ((pi & ((1U << q->log_rq) - 1)) << q->log_rq_stride);
	if (n)
		wbell_wqe_data(wqe, addr, lkey, n);
	else
		wbell_wqe_data(wqe, 0, WBELL_LKEY_INVALID, 0);
	/* the invalid key ends a list that is shorter than its room */
	if (q->log_rq_stride > 4)
		wbell_wqe_data(wqe + 16, 0, WBELL_LKEY_INVALID, 0);
	wbell_st_relaxed(WBELL_ADDR(&q->rq_pi), pi + 1);
	wbell_st_release32_sys(q->dbrec, wbell_be_low16((__u32)pi + 1));
	return 0;
}

/* What a receive CQE says; returns its status. */
WBELL_SLOW int wbell_recv_take(const struct wbell_dqueue *q, __u64 cqe,
			       struct wbell_recv_done *out)
{
	const struct wbell_cqe *c =
		(const struct wbell_cqe *)(__UINTPTR_TYPE__)cqe;
	__u64 last = wbell_ld_relaxed(WBELL_ADDR(&q->rq_pi)) - 1;
	__u32 counter = wbell_swap32(c->wqe_counter) >> 16;
	struct wbell_error_record rec;

	out->index = last - (__u16)((__u32)last - counter);
	out->len = wbell_swap32(c->byte_cnt);
	out->imm = wbell_swap32(c->imm_inval_pkey);
	out->opcode = c->op_own >> 4;
	out->syndrome = 0;
	out->vendor_syndrome = 0;
	if (out->opcode >= WBELL_CQE_RESP_WR_IMM &&
	    out->opcode <= WBELL_CQE_RESP_SEND_INV)
		return 0;
	wbell_cqe_decode(cqe, &rec);
	out->len = 0;
	out->syndrome = rec.syndrome;
	out->vendor_syndrome = rec.vendor_syndrome;
	return rec.status;
}

/*
 * 0: one receive WQE was consumed and out says how; WBELL_EAGAIN: none;
 * > 0: one was consumed by an error (out has index and syndromes).  The
 * error record is of sends and stays as it is.
 */
WBELL_FN int wbell_recv_test(struct wbell_dqueue *q,
			     struct wbell_recv_done *out)
{
	int rc = wbell_check(q);
	__u64 ci, cqe;
	__u32 tail;

	if (rc)
		return rc;
	if (!out || q->log_rq == 0xff)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_RECEIVES);
	ci = wbell_ld_relaxed(WBELL_ADDR(&q->rcq_ci));
	cqe = q->rcq + ((ci & ((1U << q->log_rcq) - 1)) << WBELL_BB_SHIFT);
	tail = wbell_ld_acquire32_sys(cqe + 60);
	if (((tail >> 24) ^ (__u32)(ci >> q->log_rcq)) & WBELL_CQE_OWNER ||
	    tail >> 28 == WBELL_CQE_INVALID)
		return WBELL_EAGAIN;
	rc = wbell_recv_take(q, cqe, out);
	wbell_st_release(WBELL_ADDR(&q->rcq_ci), ci + 1);
	if (q->rcq_dbrec)
		wbell_st_release32_sys(
			q->rcq_dbrec,
			wbell_swap32((__u32)(ci + 1) & WBELL_CQ_CI_MASK));
	return rc;
}

/* As recv_test, until the deadline or an abort. */
WBELL_FN int wbell_recv_wait(struct wbell_dqueue *q,
			     struct wbell_recv_done *out, __u64 deadline_ns)
{
	int rc;

	for (;;) {
		rc = wbell_recv_test(q, out);
		if (rc != WBELL_EAGAIN)
			return rc;
		rc = wbell_pause(q, deadline_ns);
		if (rc)
			return rc;
	}
}

/*
 * Ring for what was published with WBELL_MORE.  A doorbell register wants
 * the last WQE's own words, so there a NOP is posted behind it, which takes
 * a slot (WBELL_EAGAIN: there is none; the WQEs wait for a later post).
 */
WBELL_FN int wbell_flush(struct wbell_dqueue *q)
{
	int rc = wbell_check(q);
	__u64 index, bell;

	if (rc)
		return rc;
	if (wbell_db_kind(q) != WBELL_DB_UAR) {
		wbell_ring_word(q, wbell_ld_acquire(WBELL_ADDR(&q->ready)));
		return 0;
	}
	index = wbell_take(q, 1);
	if (index & WBELL_NO_SLOT)
		return wbell_no_slot(index);
	bell = wbell_wqe_ctrl(q, index, WBELL_OP_NOP, 1, WBELL_CTRL_CQ_UPDATE,
			      0);
	return wbell_submit(q, index, 1, bell, 0);
}

#include "device_count.h"
#include "device_group.h"
#include "device_set.h"

#endif /* WBELL_DEVICE_H */
