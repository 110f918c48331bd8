/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * The queue under the operations of device.h: consume CQEs, test, wait; the
 * error record.  device_slot.h has the other end.
 *
 * Who may touch what: slots [done, reserved) of the ring belong to posters
 * until they publish, then to the NIC; cq_state moves by whoever finds the
 * next CQE; ready moves by the poster whose turn it is.
 */
#ifndef WBELL_DEVICE_QUEUE_H
#define WBELL_DEVICE_QUEUE_H

#include "queue.h"
#include "device_arch.h"

#define WBELL_EAGAIN	(-11)  /* ring full, or not completed yet */
#define WBELL_EINVAL	(-22)  /* bad argument; nothing was done */
#define WBELL_EPROTO	(-71)  /* queue of another version */
#define WBELL_ETIMEDOUT (-110) /* deadline */
#define WBELL_ECANCELED (-125) /* the context's abort word is set */

/* Longest wait for posters that reserved before this one. */
#ifndef WBELL_TURN_WAIT_US
#define WBELL_TURN_WAIT_US 5000000ULL
#endif
#define WBELL_DEADLINE_MAX_US 86400000000ULL /* a day */

/* ---- small parts ---- */

#define WBELL_ADDR(p) ((__u64)(__UINTPTR_TYPE__)(p))

WBELL_FN int wbell_check(const struct wbell_dqueue *q)
{
	if (!q)
		return WBELL_REFUSE(WBELL_EINVAL, "a queue is not NULL");
	if (q->magic == WBELL_DQUEUE_MAGIC)
		return 0;
	return WBELL_REFUSE(WBELL_EPROTO,
			    "a queue is alive, and of this header's version");
}

/* The same question where only the answer yes matters. */
WBELL_FN int wbell_is_ours(const struct wbell_dqueue *q)
{
	return q && q->magic == WBELL_DQUEUE_MAGIC;
}

WBELL_FN int wbell_db_kind(const struct wbell_dqueue *q)
{
#ifdef WBELL_FIX_DB_KIND
	return WBELL_FIX_DB_KIND;
#else
	return q->db_kind;
#endif
}

WBELL_FN int wbell_exclusive(const struct wbell_dqueue *q)
{
#ifdef WBELL_FIX_EXCLUSIVE
	return WBELL_FIX_EXCLUSIVE;
#else
	return q->flags & WBELL_DQ_EXCLUSIVE;
#endif
}

/* Depth of the send ring, basic blocks. */
WBELL_FN __u32 wbell_depth(const struct wbell_dqueue *q)
{
	return 1U << q->log_depth;
}

WBELL_FN __u64 wbell_slot(const struct wbell_dqueue *q, __u64 index)
{
	__u32 at = wbell_low_bits((__u32)index, q->log_depth);

	return q->sq + ((__u64)at << WBELL_BB_SHIFT);
}

/*
 * Has all below end completed?  done has 40 bits: the difference is taken in
 * them, at the top of the word; the CQE index below never carries.
 */
WBELL_FN int wbell_is_done(__u64 cq_state, __u64 end)
{
	return (__s64)(cq_state - (end << WBELL_CQ_CI_BITS)) >= 0;
}

WBELL_FN int wbell_is_past(__u64 cq_state, __u64 index)
{
	return (__s32)((__u32)(cq_state >> WBELL_CQ_CI_BITS) - (__u32)index) >
	       0;
}

WBELL_FN __u64 wbell_deadline_us(__u64 us)
{
	if (us > WBELL_DEADLINE_MAX_US)
		us = WBELL_DEADLINE_MAX_US;
	return wbell_now_ns() + us * 1000;
}

/*
 * The record may lie in host memory, a PCIe round trip away; what every post
 * asks is a word next to cq_state, which it has just read.  A hint: whoever
 * goes on to the record looks there with acquire.
 */
WBELL_FN __u64 wbell_failed_addr(const struct wbell_dqueue *q)
{
	return WBELL_ADDR(&q->failed);
}

WBELL_FN int wbell_has_failed(const struct wbell_dqueue *q)
{
	return wbell_ld_relaxed32_sys(wbell_failed_addr(q)) != 0;
}

/*
 * A plain queue has no CQ doorbell record, and no WQE of more than one block
 * was ever posted: then a CQE alone tells what it frees, and the WQE, which
 * may lie in host memory, need not be read again.
 */
#define WBELL_PLAIN_UNKNOWN 0
#define WBELL_PLAIN_YES	    1
#define WBELL_PLAIN_NO	    2

WBELL_FN __u64 wbell_plain_addr(const struct wbell_dqueue *q)
{
	return WBELL_ADDR(&q->plain);
}

WBELL_FN __u32 wbell_plain(const struct wbell_dqueue *q)
{
	return wbell_ld_relaxed32_sys(wbell_plain_addr(q));
}

/* ---- errors, all out of line ---- */

/* One round of a wait: 0 to look again, or why it ends here. */
WBELL_SLOW int wbell_pause(const struct wbell_dqueue *q, __u64 deadline_ns)
{
	if (q->abort && wbell_ld_relaxed32_sys(q->abort))
		return WBELL_ECANCELED;
	if (wbell_now_ns() >= deadline_ns)
		return WBELL_ETIMEDOUT;
	wbell_relax();
	return 0;
}

WBELL_FN int wbell_syndrome_status(__u32 syndrome)
{
	if (syndrome >= WBELL_SYND_BAD_RESP && syndrome <= WBELL_SYND_RNR_EXC)
		return (int)(syndrome - WBELL_SYND_BAD_RESP +
			     WBELL_WC_BAD_RESP_ERR);
	/* the local ones are numbered alike, and 3 is none */
	if (syndrome >= WBELL_SYND_LOCAL_LENGTH &&
	    syndrome <= WBELL_SYND_MW_BIND && syndrome != 3)
		return (int)syndrome;
	return syndrome == WBELL_SYND_REMOTE_ABORTED ? WBELL_WC_REM_ABORT_ERR
						     : WBELL_WC_GENERAL_ERR;
}

/* Everything the 64 bytes say; state, index and cq_index are the caller's. */
WBELL_FN void wbell_cqe_decode(__u64 cqe, struct wbell_error_record *rec)
{
	const struct wbell_err_cqe *e =
		(const struct wbell_err_cqe *)(__UINTPTR_TYPE__)cqe;
	__u32 opcode_qpn = wbell_swap32(e->s_wqe_opcode_qpn);

	rec->qpn = opcode_qpn & 0xffffff;
	rec->wqe_counter = (__u16)(wbell_swap32(e->wqe_counter) >> 16);
	rec->cqe_opcode = e->op_own >> 4;
	rec->wqe_opcode = 0;
	rec->syndrome = 0;
	rec->vendor_syndrome = 0;
	rec->status = WBELL_WC_GENERAL_ERR;
	if (rec->cqe_opcode == WBELL_CQE_REQ_ERR)
		rec->wqe_opcode = (__u8)(opcode_qpn >> 24);
	else if (rec->cqe_opcode != WBELL_CQE_RESP_ERR)
		return;
	rec->syndrome = e->syndrome;
	rec->vendor_syndrome = e->vendor_err_synd;
	rec->status = (__u8)wbell_syndrome_status(e->syndrome);
}

/* Status of the queue's first error; WBELL_EAGAIN while it is written. */
WBELL_FN int wbell_error_status(const struct wbell_dqueue *q)
{
	const struct wbell_error_record *rec =
		(const struct wbell_error_record *)(__UINTPTR_TYPE__)q->error;

	if (!wbell_has_failed(q))
		return 0;
	if (wbell_ld_acquire32_sys(q->error) != WBELL_ERR_WHOLE)
		return WBELL_EAGAIN;
	return rec->status;
}

/* How a completed ticket of a failed queue fared. */
WBELL_SLOW int wbell_verdict(const struct wbell_dqueue *q, __u64 index)
{
	const struct wbell_error_record *rec =
		(const struct wbell_error_record *)(__UINTPTR_TYPE__)q->error;
	int status = wbell_error_status(q);

	if (status <= 0 || index == rec->index)
		return status;
	return (__s64)(index - rec->index) < 0 ? 0 : WBELL_WC_WR_FLUSH_ERR;
}

/* ---- completion queue ---- */

/*
 * Tell the NIC how far CQEs are consumed.  Whoever stores last looks last,
 * so the newest value stays; this needs store before load, hence the fences.
 */
WBELL_SLOW void wbell_cq_ring(struct wbell_dqueue *q)
{
	__u64 state = wbell_ld_relaxed(WBELL_ADDR(&q->cq_state));
	__u64 told;

	do {
		told = state;
		wbell_st_release32_sys(q->cq_dbrec,
				       wbell_swap32(told & WBELL_CQ_CI_MASK));
		wbell_fence_sys();
		state = wbell_ld_relaxed(WBELL_ADDR(&q->cq_state));
	} while (state != told);
}

/* How far a CQE's WQE is behind done, in blocks: less than a ring. */
WBELL_FN __u32 wbell_cq_ahead(__u64 cq_state, __u32 tail)
{
	__u32 done = (__u32)(cq_state >> WBELL_CQ_CI_BITS);

	return (wbell_tail_counter(tail) - done) & 0xffff;
}

WBELL_FN __u64 wbell_cqe_addr(const struct wbell_dqueue *q, __u64 cq_state)
{
	__u32 at = wbell_low_bits((__u32)cq_state, q->log_cq);

	return q->cq + ((__u64)at << WBELL_BB_SHIFT);
}

/* cq_state after a CQE that completes the blocks below done + past. */
WBELL_FN __u64 wbell_cq_next(__u64 state, __u32 past)
{
	__u64 next = wbell_mad_wide(past, 1U << WBELL_CQ_CI_BITS, state);

	/* the index below done counts in its own 24 bits */
	return next >> 32 << 32 |
	       wbell_select(WBELL_CQ_CI_MASK, (__u32)state + 1, (__u32)next);
}

/* Returns 0 when another was faster. */
WBELL_FN int wbell_cq_move(struct wbell_dqueue *q, __u64 state, __u64 next)
{
	if (wbell_exclusive(q)) {
		wbell_st_release(WBELL_ADDR(&q->cq_state), next);
		return 1;
	}
	return wbell_cas_release(WBELL_ADDR(&q->cq_state), state, next) ==
	       state;
}

/*
 * Move cq_state past the CQE whose last four bytes are tail: counter,
 * signature, op_own, which the NIC writes last.  The slot of its WQE is
 * nobody's until cq_state moves, so ds there tells how much that frees.
 */
WBELL_FN int wbell_cq_pass(struct wbell_dqueue *q, __u64 state, __u32 tail)
{
	__u64 slot = wbell_slot(q, wbell_tail_counter(tail));
	__u32 nbb = (wbell_ld_relaxed8(slot + 7) + 3) >> 2;

	return wbell_cq_move(
		q, state,
		wbell_cq_next(state, wbell_cq_ahead(state, tail) + nbb));
}

/* As wbell_cq_pass() in a plain queue: no look at the WQE. */
WBELL_FN void wbell_cq_pass_plain(struct wbell_dqueue *q, __u64 state,
				  __u32 tail)
{
	__u32 done = (__u32)(state >> WBELL_CQ_CI_BITS);
	__u32 past = wbell_tail_counter(tail) + 1 - done;

	wbell_cq_move(q, state, wbell_cq_next(state, past & 0xffff));
}

WBELL_FN __u32 wbell_cq_tail(const struct wbell_dqueue *q, __u64 state)
{
	return wbell_ld_acquire32_sys(wbell_cqe_addr(q, state) +
				      (WBELL_BB_SIZE - 4));
}

/* op_own of tail with the owner bit as it should be turned to 0. */
WBELL_FN __u32 wbell_cq_own(const struct wbell_dqueue *q, __u64 state,
			    __u32 tail)
{
	return tail >> 24 ^ ((__u32)state >> q->log_cq & WBELL_CQE_OWNER);
}

/*
 * Leave the record of the first error.  Nobody moves cq_state past an error
 * CQE without a look at the record's state, so whoever finds it empty still
 * has the first one under his hands.
 */
WBELL_FN void wbell_error_keep(struct wbell_dqueue *q, __u64 cq_state)
{
	struct wbell_error_record *rec =
		(struct wbell_error_record *)(__UINTPTR_TYPE__)q->error;
	__u64 first, at;

	/* slept through rings of CQEs?  Then this one is not ours to tell. */
	if (wbell_ld_acquire(WBELL_ADDR(&q->cq_state)) != cq_state)
		return;
	/* before cq_state moves, whoever writes the record */
	wbell_st_relaxed32_sys(wbell_failed_addr(q), 1);
	if (wbell_cas32_sys(q->error, WBELL_ERR_NONE, WBELL_ERR_WRITING))
		return;
	wbell_cqe_decode(wbell_cqe_addr(q, cq_state), rec);
	rec->peer_qpn = q->peer_qpn;
	rec->cq_index = (__u32)(cq_state & WBELL_CQ_CI_MASK);
	/* cq_state has 40 bits of the index; reserved has them all */
	first = (cq_state >> WBELL_CQ_CI_BITS) +
		wbell_cq_ahead(cq_state, wbell_cq_tail(q, cq_state));
	at = wbell_ld_relaxed(WBELL_ADDR(&q->reserved));
	rec->index = at - ((at - first) & (~0ULL >> WBELL_CQ_CI_BITS));
	wbell_st_release32_sys(q->error, WBELL_ERR_WHOLE);
}

/* An error CQE: keep it, then go past it. */
WBELL_SLOW int wbell_error_pass(struct wbell_dqueue *q, __u64 cq_state)
{
	wbell_error_keep(q, cq_state);
	if (wbell_cq_pass(q, cq_state, wbell_cq_tail(q, cq_state)) &&
	    q->cq_dbrec)
		wbell_cq_ring(q);
	return 1;
}

/*
 * Look at one CQE of any kind, the one cq_state names.  1: cq_state moved,
 * by us or by another; 0: nothing there.
 */
WBELL_SLOW int wbell_cq_step(struct wbell_dqueue *q, __u64 state)
{
	__u32 tail = wbell_cq_tail(q, state);
	__u32 own = wbell_cq_own(q, state, tail);

	if (own & WBELL_CQE_OWNER || own >> 4 == WBELL_CQE_INVALID)
		return 0;
	if (own >> 4)
		return wbell_error_pass(q, state);
	if (wbell_cq_pass(q, state, tail) && q->cq_dbrec)
		wbell_cq_ring(q);
	return 1;
}

/* 0 done, WBELL_EAGAIN not yet, > 0 failed. */
WBELL_FN int wbell_test(struct wbell_dqueue *q, struct wbell_ticket t)
{
	int rc = wbell_check(q);
	__u64 state;

	if (rc)
		return rc;
	do {
		state = wbell_ld_acquire(WBELL_ADDR(&q->cq_state));
		if (wbell_is_done(state, t.index + 1))
			return wbell_has_failed(q) ? wbell_verdict(q, t.index)
						   : 0;
	} while (wbell_cq_step(q, state));
	return WBELL_EAGAIN;
}

/*
 * A round of wait that its loop has no answer to: the queue is not ours, not
 * plain or failed, the CQE is an error, or nothing came.  WBELL_EAGAIN: look
 * again.
 */
WBELL_SLOW int wbell_wait_else(struct wbell_dqueue *q, __u64 index,
			       __u64 deadline_ns)
{
	int rc = wbell_check(q);
	__u64 state;

	if (rc)
		return rc;
	if (wbell_plain(q) == WBELL_PLAIN_UNKNOWN)
		wbell_cas32_sys(wbell_plain_addr(q), WBELL_PLAIN_UNKNOWN,
				q->cq_dbrec ? WBELL_PLAIN_NO : WBELL_PLAIN_YES);
	state = wbell_ld_acquire(WBELL_ADDR(&q->cq_state));
	if (wbell_is_done(state, index + 1)) {
		rc = wbell_verdict(q, index);
		if (rc != WBELL_EAGAIN)
			return rc;
	} else if (wbell_cq_step(q, state)) {
		return WBELL_EAGAIN;
	}
	rc = wbell_pause(q, deadline_ns);
	return rc ? rc : WBELL_EAGAIN;
}

/*
 * The CQE that cq_state names, where all is as usual: it is there, it is
 * good, the queue is plain.  0: it is not so; 1: cq_state moved.  The look at
 * plain comes after the one at the CQE, for then whoever posted its WQE has
 * said that it is not.
 */
WBELL_FN int wbell_cq_step_plain(struct wbell_dqueue *q, __u64 state)
{
	__u32 tail = wbell_cq_tail(q, state);
	__u32 owner = (__u32)state >> q->log_cq & WBELL_CQE_OWNER;

	if ((wbell_plain(q) != WBELL_PLAIN_YES) | (tail >> 24 != owner))
		return 0;
	wbell_cq_pass_plain(q, state, tail);
	return 1;
}

/*
 * As test, until the deadline (wbell_deadline_us()) or an abort.  The
 * comparison in the loop is of 32 bits: it takes a ticket of the distant past
 * for one that is still out, and leaves that to wbell_wait_else().
 */
WBELL_FN int wbell_wait(struct wbell_dqueue *q, struct wbell_ticket t,
			__u64 deadline_ns)
{
	int ours = wbell_is_ours(q), rc;
	__u64 state;

	do {
		if (ours) {
			state = wbell_ld_acquire(WBELL_ADDR(&q->cq_state));
			if (wbell_is_past(state, t.index) &
			    !wbell_has_failed(q))
				return 0;
			if (wbell_cq_step_plain(q, state))
				continue;
		}
		rc = wbell_wait_else(q, t.index, deadline_ns);
		if (rc != WBELL_EAGAIN)
			return rc;
	} while (1);
}

/*
 * Wait until all that was reserved before has completed; in a failed queue,
 * all that was published, for the rest never will be.  Returns the first
 * error of the queue.
 */
WBELL_FN int wbell_quiet(struct wbell_dqueue *q, __u64 deadline_ns)
{
	int rc = wbell_check(q);
	__u64 end, state;
	int status;

	if (rc)
		return rc;
	end = wbell_ld_relaxed(WBELL_ADDR(&q->reserved));
	do {
		state = wbell_ld_acquire(WBELL_ADDR(&q->cq_state));
		status = wbell_error_status(q);
		if (status > 0)
			end = wbell_ld_relaxed(WBELL_ADDR(&q->ready));
		if (status != WBELL_EAGAIN && wbell_is_done(state, end))
			return status;
		if (!wbell_cq_step(q, state))
			rc = wbell_pause(q, deadline_ns);
	} while (!rc);
	return status > 0 ? status : rc;
}

#endif /* WBELL_DEVICE_QUEUE_H */
