/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Slots of the send ring, from reserve to doorbell: reserve, build, publish.
 * Included by device.h.
 */
#ifndef WBELL_DEVICE_SLOT_H
#define WBELL_DEVICE_SLOT_H

#include "device_queue.h"

/* wbell_publish(): leave the doorbell to a later post or wbell_flush(). */
#define WBELL_MORE 0x1

/* ---- reserve ---- */

#define WBELL_RULE_FITS "a reserve is of 1 block to the ring's depth"

#define WBELL_NO_SLOT (1ULL << 63)

/* Never 0, and compilers shall know: tickets are set or the call failed. */
WBELL_FN int wbell_no_slot(__u64 index)
{
	if (!(int)index)
		__builtin_unreachable();
	return (int)index;
}

WBELL_FN int wbell_slots_free(const struct wbell_dqueue *q, __u64 state,
			      __u64 at, __u32 nbb)
{
	__u32 used = (__u32)at - (__u32)(state >> WBELL_CQ_CI_BITS);

	return (used + nbb - 1) >> q->log_depth == 0;
}

/* One try; 0: another was faster. */
WBELL_FN int wbell_slots_claim(struct wbell_dqueue *q, __u64 at, __u32 nbb)
{
	if (wbell_exclusive(q)) {
		wbell_st_relaxed(WBELL_ADDR(&q->reserved), at + nbb);
		return 1;
	}
	return wbell_cas_relaxed(WBELL_ADDR(&q->reserved), at, at + nbb) == at;
}

/* Whole reserve, for when the first try did not do. */
WBELL_SLOW __u64 wbell_take_again(struct wbell_dqueue *q, __u32 nbb)
{
	int rc = wbell_check(q);
	__u64 state, at;

	if (!rc && nbb - 1 >= wbell_depth(q))
		rc = WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_FITS);
	while (!rc) {
		state = wbell_ld_acquire(WBELL_ADDR(&q->cq_state));
		at = wbell_ld_relaxed(WBELL_ADDR(&q->reserved));
		if (wbell_has_failed(q))
			rc = wbell_error_status(q);
		else if (!wbell_slots_free(q, state, at, nbb))
			rc = wbell_cq_step(q, state) ? 0 : WBELL_EAGAIN;
		else if (wbell_slots_claim(q, at, nbb))
			return at;
	}
	return WBELL_NO_SLOT | (__u32)rc;
}

/* An index, or WBELL_NO_SLOT with a status below; q is checked here. */
WBELL_FN __u64 wbell_take(struct wbell_dqueue *q, __u32 nbb)
{
	__u64 state, at;

	if (wbell_is_ours(q)) {
		/* in this order: reserved is never behind done */
		state = wbell_ld_acquire(WBELL_ADDR(&q->cq_state));
		at = wbell_ld_relaxed(WBELL_ADDR(&q->reserved));
		if (((!wbell_has_failed(q)) &
		     wbell_slots_free(q, state, at, nbb)) &&
		    wbell_slots_claim(q, at, nbb))
			return at;
	}
	return wbell_take_again(q, nbb);
}

/*
 * Take nbb basic blocks.  WBELL_EAGAIN: full, even after a look at the CQ;
 * nothing was changed.  > 0: the queue has failed.  A thread that got slots
 * must write and publish them: those behind it wait for it.
 */
WBELL_FN int wbell_reserve(struct wbell_dqueue *q, __u32 nbb, __u64 *index)
{
	__u64 at;

	if (nbb - 1 >= WBELL_DEPTH_MAX || !index)
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_FITS);
	at = wbell_take(q, nbb);
	if (at & WBELL_NO_SLOT)
		return wbell_no_slot(at);
	*index = at;
	return 0;
}

/* ---- build ---- */

/* As wbell_wqe_ctrl(), with the immediate as it goes out. */
WBELL_FN __u64 wbell_wqe_ctrl_be(const struct wbell_dqueue *q, __u64 index,
				 __u32 opcode, __u32 ds, __u32 flags,
				 __u32 imm_be)
{
	__u32 a = wbell_ctrl_word((__u32)index, opcode);
	__u32 b = wbell_swap32(q->qpn_ds | ds);

	wbell_ctrl_store(wbell_slot(q, index), a, b, flags << 24, imm_be);
	return (__u64)b << 32 | a;
}

/*
 * First segment of a WQE; flags is fm_ce_se.  Returns the doorbell value:
 * the segment's first 8 bytes as they lie.
 */
WBELL_FN __u64 wbell_wqe_ctrl(const struct wbell_dqueue *q, __u64 index,
			      __u32 opcode, __u32 ds, __u32 flags, __u32 imm)
{
	return wbell_wqe_ctrl_be(q, index, opcode, ds, flags,
				 wbell_swap32(imm));
}

WBELL_FN void wbell_wqe_raddr(__u64 seg, __u64 raddr, __u32 rkey)
{
	wbell_seg_store(seg, wbell_swap32((__u32)(raddr >> 32)),
			wbell_swap32((__u32)raddr), wbell_swap32(rkey), 0);
}

/* len 1..2^31; the longest is written as 0. */
WBELL_FN void wbell_wqe_data(__u64 seg, __u64 addr, __u32 lkey, __u32 len)
{
	wbell_seg_store(seg, wbell_swap32(len & ~WBELL_INLINE),
			wbell_swap32(lkey), wbell_swap32((__u32)(addr >> 32)),
			wbell_swap32((__u32)addr));
}

WBELL_FN void wbell_wqe_atomic(__u64 seg, __u64 swap_add, __u64 compare)
{
	wbell_seg_store(seg, wbell_swap32((__u32)(swap_add >> 32)),
			wbell_swap32((__u32)swap_add),
			wbell_swap32((__u32)(compare >> 32)),
			wbell_swap32((__u32)compare));
}

/* ---- publish ---- */

/* Behind others' slots: until they publish, fail, or are given up. */
WBELL_SLOW int wbell_await_turn(struct wbell_dqueue *q, __u64 index)
{
	__u64 deadline = wbell_deadline_us(WBELL_TURN_WAIT_US);
	int rc = 0;

	while (wbell_ld_acquire(WBELL_ADDR(&q->ready)) != index && !rc) {
		rc = wbell_error_status(q);
		if (rc <= 0)
			rc = wbell_pause(q, deadline);
	}
	return rc;
}

/* The turn ends when the doorbell is rung, so that it never goes back. */
WBELL_FN void wbell_ring_uar(struct wbell_dqueue *q, __u64 end, __u64 bell)
{
	wbell_st_release32_sys(q->dbrec + 4, wbell_be_low16((__u32)end));
	wbell_fence_sys();
	wbell_st_mmio(q->db, bell);
}

WBELL_FN void wbell_ring_word(struct wbell_dqueue *q, __u64 end)
{
	if (wbell_exclusive(q))
		wbell_st_release_sys(q->db, end);
	else
		wbell_max_release_sys(q->db, end);
}

/* bell: the doorbell value of the last WQE in [index, index + nbb). */
WBELL_FN int wbell_submit(struct wbell_dqueue *q, __u64 index, __u32 nbb,
			  __u64 bell, __u32 flags)
{
	__u64 end = index + nbb;
	int rc;

#ifndef WBELL_MUTANT_NO_TURN
	if (!wbell_exclusive(q) &&
	    wbell_ld_acquire(WBELL_ADDR(&q->ready)) != index) {
		rc = wbell_await_turn(q, index);
		if (rc)
			return rc;
	}
#endif
	if (wbell_db_kind(q) == WBELL_DB_UAR && !(flags & WBELL_MORE))
		wbell_ring_uar(q, end, bell);
	if (wbell_exclusive(q))
		wbell_st_relaxed(WBELL_ADDR(&q->ready), end);
	else
		wbell_st_release(WBELL_ADDR(&q->ready), end);
	if (wbell_db_kind(q) != WBELL_DB_UAR && !(flags & WBELL_MORE))
		wbell_ring_word(q, end);
	return 0;
}

/* Doorbell value of the last WQE of a run of written ones. */
WBELL_SLOW __u64 wbell_last_bell(const struct wbell_dqueue *q, __u64 index,
				 __u32 nbb)
{
	__u32 at = 0, n, last = 0;
	__u64 ctrl;

	for (; at < nbb; at += n ? n : 1) {
		last = at;
		ctrl = wbell_ld_relaxed(wbell_slot(q, index + at));
		n = ((__u32)(ctrl >> 56 & 0x3f) + 3) >> 2;
	}
	return wbell_ld_relaxed(wbell_slot(q, index + last));
}

/*
 * Give written slots to the NIC.  Waits for those reserved before (< 0:
 * WBELL_ECANCELED, WBELL_ETIMEDOUT; > 0: the queue failed meanwhile); then
 * the slots are lost and so is the queue.
 */
WBELL_FN int wbell_publish(struct wbell_dqueue *q, __u64 index, __u32 nbb,
			   __u32 flags)
{
	int rc = wbell_check(q);
	__u64 bell = 0;

	if (rc)
		return rc;
	if (!nbb || nbb > wbell_depth(q))
		return WBELL_REFUSE(WBELL_EINVAL, WBELL_RULE_FITS);
	if (wbell_db_kind(q) == WBELL_DB_UAR)
		bell = wbell_last_bell(q, index, nbb);
	/* the caller may have built one WQE of them: waits must look */
	if (nbb > 1)
		wbell_st_relaxed32_sys(wbell_plain_addr(q), WBELL_PLAIN_NO);
	return wbell_submit(q, index, nbb, bell, flags);
}

#endif /* WBELL_DEVICE_SLOT_H */
