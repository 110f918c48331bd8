/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * The calls of device.h for groups of threads.  Included by device.h.
 *
 * wbell_<call>_lanes	each thread its own transfer.  Those lanes of a warp
 *			that arrive together at the same queue, all or some,
 *			take slots at once, ring once and get one CQE: the
 *			tickets of all complete with the last lane's.  Who
 *			gets WBELL_EAGAIN has company.  Needs no convergence:
 *			lanes that come apart post apart.
 * wbell_<call>_warp	the warp makes one transfer, with the arguments of its
 *			first lane; all lanes it has must come.
 * wbell_<call>_block	the same for a block: all its threads must come.
 *
 * In the last two, what any thread of the group wrote before is seen by the
 * NIC; all get the status and the ticket; and after test, wait, quiet or
 * flush gave 0, all see what the NIC wrote.  A block's last warp may be short
 * of lanes.
 */
#ifndef WBELL_DEVICE_GROUP_H
#define WBELL_DEVICE_GROUP_H

#include "device.h"

/* ---- each lane its own ---- */

WBELL_FN int wbell_put_lanes(struct wbell_dqueue *q, __u64 src, __u32 lkey,
			     __u64 dst, __u32 rkey, __u64 n,
			     struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, dst, rkey, n);

	return wbell_move_post(q, WBELL_OP_WRITE, 0, &m, WBELL_TOGETHER, t);
}

WBELL_FN int wbell_put_imm_lanes(struct wbell_dqueue *q, __u64 src, __u32 lkey,
				 __u64 dst, __u32 rkey, __u64 n, __u32 imm,
				 struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, dst, rkey, n);

	return wbell_move_post(q, WBELL_OP_WRITE_IMM, wbell_swap32(imm), &m,
			       WBELL_TOGETHER, t);
}

WBELL_FN int wbell_get_lanes(struct wbell_dqueue *q, __u64 dst_local,
			     __u32 lkey, __u64 src_remote, __u32 rkey, __u64 n,
			     struct wbell_ticket *t)
{
	struct wbell_move m =
		wbell_move_of(dst_local, lkey, src_remote, rkey, n);

	return wbell_move_post(q, WBELL_OP_READ, 0, &m, WBELL_TOGETHER, t);
}

WBELL_FN int wbell_put_inline_lanes(struct wbell_dqueue *q, const void *data,
				    __u32 n, __u64 dst, __u32 rkey,
				    struct wbell_ticket *t)
{
	return wbell_put_words(q, data, n, dst, rkey, WBELL_TOGETHER, t);
}

WBELL_FN int wbell_fetch_add_lanes(struct wbell_dqueue *q, __u64 result,
				   __u32 lkey, __u64 raddr, __u32 rkey,
				   __u64 add, struct wbell_ticket *t)
{
	struct wbell_amo a = wbell_amo_of(result, lkey, raddr, rkey, 0, add);

	return wbell_amo_post(q, WBELL_OP_FA, &a, WBELL_TOGETHER, t);
}

WBELL_FN int wbell_compare_swap_lanes(struct wbell_dqueue *q, __u64 result,
				      __u32 lkey, __u64 raddr, __u32 rkey,
				      __u64 compare, __u64 swap,
				      struct wbell_ticket *t)
{
	struct wbell_amo a =
		wbell_amo_of(result, lkey, raddr, rkey, compare, swap);

	return wbell_amo_post(q, WBELL_OP_CS, &a, WBELL_TOGETHER, t);
}

/* With WBELL_ORDER_WAIT each lane posts for itself: it waits in between. */
WBELL_FN int wbell_put_signal_lanes(struct wbell_dqueue *q, __u64 src,
				    __u32 lkey, __u64 dst, __u32 rkey, __u64 n,
				    __u64 sig_addr, __u32 sig_rkey, __u64 add,
				    int order, struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, dst, rkey, n);
	struct wbell_amo a = wbell_amo_of(0, 0, sig_addr, sig_rkey, 0, add);

	return wbell_signal(q, &m, &a, order, WBELL_TOGETHER, t);
}

WBELL_FN int wbell_send_lanes(struct wbell_dqueue *q, __u64 src, __u32 lkey,
			      __u64 n, struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, 0, 0, n);

	return wbell_send_op(q, WBELL_OP_SEND, 0, &m, WBELL_TOGETHER, t);
}

WBELL_FN int wbell_send_imm_lanes(struct wbell_dqueue *q, __u64 src, __u32 lkey,
				  __u64 n, __u32 imm, struct wbell_ticket *t)
{
	struct wbell_move m = wbell_move_of(src, lkey, 0, 0, n);

	return wbell_send_op(q, WBELL_OP_SEND_IMM, imm, &m, WBELL_TOGETHER, t);
}

/* ---- one for the warp ---- */

/* 1 in the lane that acts; all have come, and their stores with them. */
WBELL_FN int wbell_warp_enter(void)
{
	wbell_lanes_sync(wbell_lanes_all());
	return !wbell_lane();
}

/* Status and ticket of the lane that acted, for all. */
WBELL_FN int wbell_warp_leave(int rc, struct wbell_ticket got,
			      struct wbell_ticket *t)
{
	__u32 all = wbell_lanes_all();

	rc = (int)wbell_lanes_read32(all, (__u32)rc, 0);
	got.index = wbell_lanes_read(all, got.index, 0);
	if (t && !rc)
		*t = got;
	return rc;
}

WBELL_FN int wbell_warp_status(int rc)
{
	rc = (int)wbell_lanes_read32(wbell_lanes_all(), (__u32)rc, 0);
	/* a read passes a value; this passes on what was seen before it */
	wbell_lanes_sync(wbell_lanes_all());
	return rc;
}

/* ---- one for the block ---- */

WBELL_FN int wbell_block_enter(void)
{
	wbell_block_barrier();
	return !wbell_thread_in_block();
}

/* The room is free again when the next call's first barrier is passed. */
WBELL_FN int wbell_block_leave(int rc, struct wbell_ticket got,
			       struct wbell_ticket *t)
{
	__u64 *room = wbell_block_room();

	if (room && !wbell_thread_in_block()) {
		room[0] = (__u32)rc;
		room[1] = got.index;
	}
	wbell_block_barrier();
	if (room) {
		rc = (int)(__u32)room[0];
		got.index = room[1];
	}
	if (t && !rc)
		*t = got;
	return rc;
}

WBELL_FN int wbell_block_status(int rc)
{
	struct wbell_ticket none;

	none.index = 0;
	return wbell_block_leave(rc, none, 0);
}

/* Both forms of a post whose last argument is its ticket. */
#define WBELL_GROUP_POST(call, params, args)                          \
	WBELL_FN int wbell_##call##_warp params                       \
	{                                                             \
		struct wbell_ticket got = { 0 };                      \
		int rc = wbell_warp_enter() ? wbell_##call args : 0;  \
                                                                      \
		return wbell_warp_leave(rc, got, t);                  \
	}                                                             \
	WBELL_FN int wbell_##call##_block params                      \
	{                                                             \
		struct wbell_ticket got = { 0 };                      \
		int rc = wbell_block_enter() ? wbell_##call args : 0; \
                                                                      \
		return wbell_block_leave(rc, got, t);                 \
	}

/* Both forms of a call that gives a status alone. */
#define WBELL_GROUP_CALL(call, params, args)                          \
	WBELL_FN int wbell_##call##_warp params                       \
	{                                                             \
		return wbell_warp_status(                             \
			wbell_warp_enter() ? wbell_##call args : 0);  \
	}                                                             \
	WBELL_FN int wbell_##call##_block params                      \
	{                                                             \
		return wbell_block_status(                            \
			wbell_block_enter() ? wbell_##call args : 0); \
	}

WBELL_GROUP_POST(put,
		 (struct wbell_dqueue * q, __u64 src, __u32 lkey, __u64 dst,
		  __u32 rkey, __u64 n, struct wbell_ticket *t),
		 (q, src, lkey, dst, rkey, n, &got))
WBELL_GROUP_POST(put_imm,
		 (struct wbell_dqueue * q, __u64 src, __u32 lkey, __u64 dst,
		  __u32 rkey, __u64 n, __u32 imm, struct wbell_ticket *t),
		 (q, src, lkey, dst, rkey, n, imm, &got))
WBELL_GROUP_POST(put_inline,
		 (struct wbell_dqueue * q, const void *data, __u32 n, __u64 dst,
		  __u32 rkey, struct wbell_ticket *t),
		 (q, data, n, dst, rkey, &got))
WBELL_GROUP_POST(put_signal,
		 (struct wbell_dqueue * q, __u64 src, __u32 lkey, __u64 dst,
		  __u32 rkey, __u64 n, __u64 sig_addr, __u32 sig_rkey,
		  __u64 add, int order, struct wbell_ticket *t),
		 (q, src, lkey, dst, rkey, n, sig_addr, sig_rkey, add, order,
		  &got))
WBELL_GROUP_POST(get,
		 (struct wbell_dqueue * q, __u64 dst_local, __u32 lkey,
		  __u64 src_remote, __u32 rkey, __u64 n,
		  struct wbell_ticket *t),
		 (q, dst_local, lkey, src_remote, rkey, n, &got))
WBELL_GROUP_POST(fetch_add,
		 (struct wbell_dqueue * q, __u64 result, __u32 lkey,
		  __u64 raddr, __u32 rkey, __u64 add, struct wbell_ticket *t),
		 (q, result, lkey, raddr, rkey, add, &got))
WBELL_GROUP_POST(compare_swap,
		 (struct wbell_dqueue * q, __u64 result, __u32 lkey,
		  __u64 raddr, __u32 rkey, __u64 compare, __u64 swap,
		  struct wbell_ticket *t),
		 (q, result, lkey, raddr, rkey, compare, swap, &got))
WBELL_GROUP_POST(send,
		 (struct wbell_dqueue * q, __u64 src, __u32 lkey, __u64 n,
		  struct wbell_ticket *t),
		 (q, src, lkey, n, &got))
WBELL_GROUP_POST(send_imm,
		 (struct wbell_dqueue * q, __u64 src, __u32 lkey, __u64 n,
		  __u32 imm, struct wbell_ticket *t),
		 (q, src, lkey, n, imm, &got))
WBELL_GROUP_CALL(recv,
		 (struct wbell_dqueue * q, __u64 addr, __u32 lkey, __u32 n),
		 (q, addr, lkey, n))
WBELL_GROUP_CALL(test, (struct wbell_dqueue * q, struct wbell_ticket t), (q, t))
WBELL_GROUP_CALL(wait,
		 (struct wbell_dqueue * q, struct wbell_ticket t,
		  __u64 deadline_ns),
		 (q, t, deadline_ns))
WBELL_GROUP_CALL(quiet, (struct wbell_dqueue * q, __u64 deadline_ns),
		 (q, deadline_ns))
WBELL_GROUP_CALL(flush, (struct wbell_dqueue * q), (q))

#undef WBELL_GROUP_POST
#undef WBELL_GROUP_CALL

#endif /* WBELL_DEVICE_GROUP_H */
