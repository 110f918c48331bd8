/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * wbell_post(): any work request that mlx5 knows and this project serves,
 * with a list of segments, at the price of a general builder.  Included by
 * device.h.
 */
#ifndef WBELL_DEVICE_POST_H
#define WBELL_DEVICE_POST_H

#include "device_slot.h"

/* struct wbell_wr.flags */
#define WBELL_POST_UNSIGNALLED 0x01
#define WBELL_POST_INLINE      0x02
#define WBELL_POST_FENCE       0x04
#define WBELL_POST_SOLICITED   0x08
#define WBELL_POST_MORE	       0x10
#define WBELL_POST_ALL	       0x1f

struct wbell_sge {
	__u64 addr;
	__u32 len;
	__u32 lkey;
};

struct wbell_wr {
	__u8 opcode; /* WBELL_OP_*, but WAIT */
	__u8 num_sge;
	__u16 flags; /* WBELL_POST_* */
	__u32 imm;   /* immediate, or rkey to invalidate */
	__u64 raddr;
	__u32 rkey;
	__u32 rsvd;
	__u64 swap_add;
	__u64 compare;
	const struct wbell_sge *sge; /* inline: what addr points at is copied */
};

/* Segments before the data, or 0: no such operation. */
WBELL_FN __u32 wbell_wr_head(__u32 opcode)
{
	switch (opcode) {
	case WBELL_OP_NOP:
	case WBELL_OP_SEND:
	case WBELL_OP_SEND_IMM:
	case WBELL_OP_SEND_INVAL:
		return 1;
	case WBELL_OP_WRITE:
	case WBELL_OP_WRITE_IMM:
	case WBELL_OP_READ:
		return 2;
	case WBELL_OP_CS:
	case WBELL_OP_FA:
		return 3;
	default:
		return 0;
	}
}

/* Sum of the list in 64 bits; data segments it needs in *segs. */
WBELL_FN __u64 wbell_wr_total(const struct wbell_wr *wr, __u32 *segs)
{
	__u64 total = 0;
	__u32 i;

	*segs = 0;
	for (i = 0; i < wr->num_sge; i++) {
		total += wr->sge[i].len;
		*segs += wr->sge[i].len != 0;
	}
	return total;
}

/* Rules of one opcode about its list. */
WBELL_FN int wbell_wr_fits(const struct wbell_wr *wr, __u64 total, __u32 segs)
{
	switch (wr->opcode) {
	case WBELL_OP_NOP:
		return !wr->num_sge;
	case WBELL_OP_READ:
		return !(wr->flags & WBELL_POST_INLINE);
	case WBELL_OP_CS:
	case WBELL_OP_FA:
		if (wr->flags & WBELL_POST_INLINE || wr->raddr & 7)
			return 0;
		return !wr->num_sge || (segs == 1 && total == 8);
	default:
		return 1;
	}
}

/* Check all of wr before anything is written; 16-byte segments in *ds. */
WBELL_SLOW int wbell_wr_size(const struct wbell_dqueue *q,
			     const struct wbell_wr *wr, __u32 *ds)
{
	__u32 head = wbell_wr_head(wr->opcode);
	__u64 total;
	__u32 segs;

	if (!head || wr->flags & ~WBELL_POST_ALL || wr->num_sge > q->max_sge ||
	    (wr->num_sge && !wr->sge))
		return WBELL_EINVAL;
	total = wbell_wr_total(wr, &segs);
	if (total > WBELL_MSG_MAX || !wbell_wr_fits(wr, total, segs))
		return WBELL_EINVAL;
	if (wr->flags & WBELL_POST_INLINE) {
		if (total > q->max_inline)
			return WBELL_EINVAL;
		segs = total ? ((__u32)total + 4 + 15) >> 4 : 0;
	} else if (head == 3) {
		segs = 1;
	}
	*ds = head + segs;
	return *ds > WBELL_DS_MAX ? WBELL_EINVAL : 0;
}

/* Segment s of a WQE; the ring goes on at slot 0. */
WBELL_FN __u64 wbell_seg(const struct wbell_dqueue *q, __u64 index, __u32 s)
{
	return wbell_slot(q, index + (s >> 2)) + ((s & 3) << 4);
}

/* A place in a list of segments. */
struct wbell_cursor {
	const struct wbell_sge *sge;
	__u32 at;   /* bytes of *sge taken */
	__u32 left; /* bytes of the list not taken */
};

WBELL_FN __u32 wbell_cursor_word(struct wbell_cursor *c)
{
	__u32 w = 0, i;

	for (i = 0; i < 4 && c->left; i++, c->at++, c->left--) {
		while (c->at == c->sge->len) {
			c->sge++;
			c->at = 0;
		}
		w |= (__u32)((const __u8 *)(__UINTPTR_TYPE__)
				     c->sge->addr)[c->at]
		     << (8 * i);
	}
	return w;
}

WBELL_FN void wbell_wr_inline(const struct wbell_dqueue *q,
			      const struct wbell_wr *wr, __u64 index, __u32 s,
			      __u32 ds)
{
	struct wbell_cursor c;
	__u32 segs, w, x, y;

	c.sge = wr->sge;
	c.at = 0;
	c.left = (__u32)wbell_wr_total(wr, &segs);
	w = wbell_swap32(c.left | WBELL_INLINE);
	for (; s < ds; s++) {
		x = wbell_cursor_word(&c);
		y = wbell_cursor_word(&c);
		wbell_seg_store(wbell_seg(q, index, s), w, x, y,
				wbell_cursor_word(&c));
		w = wbell_cursor_word(&c);
	}
}

WBELL_FN void wbell_wr_list(const struct wbell_dqueue *q,
			    const struct wbell_wr *wr, __u64 index, __u32 s)
{
	const struct wbell_sge *sge = wr->sge;
	__u32 i;

	for (i = 0; i < wr->num_sge; i++, sge++) {
		if (!sge->len)
			continue;
		wbell_wqe_data(wbell_seg(q, index, s++), sge->addr, sge->lkey,
			       sge->len);
	}
	if (!wr->num_sge && wbell_wr_head(wr->opcode) == 3)
		wbell_wqe_data(wbell_seg(q, index, s), q->sink, q->sink_lkey,
			       8);
}

/* Writes all of it, returns the doorbell value. */
WBELL_SLOW __u64 wbell_wr_build(const struct wbell_dqueue *q,
				const struct wbell_wr *wr, __u64 index,
				__u32 ds)
{
	__u32 head = wbell_wr_head(wr->opcode);
	__u32 flags = WBELL_CTRL_CQ_UPDATE;

	if (wr->flags & WBELL_POST_UNSIGNALLED)
		flags = 0;
	if (wr->flags & WBELL_POST_FENCE)
		flags |= WBELL_CTRL_FENCE;
	if (wr->flags & WBELL_POST_SOLICITED)
		flags |= WBELL_CTRL_SOLICITED;
	if (head > 1)
		wbell_wqe_raddr(wbell_seg(q, index, 1), wr->raddr, wr->rkey);
	if (head > 2)
		wbell_wqe_atomic(wbell_seg(q, index, 2), wr->swap_add,
				 wr->compare);
	if (wr->flags & WBELL_POST_INLINE)
		wbell_wr_inline(q, wr, index, head, ds);
	else
		wbell_wr_list(q, wr, index, head);
	return wbell_wqe_ctrl(q, index, wr->opcode, ds, flags, wr->imm);
}

/*
 * Post one work request.  WBELL_EINVAL: opcode, flags, more than max_sge
 * segments or max_inline bytes, more than 2^31 bytes in all, an atomic that
 * is not 8 aligned bytes; no byte of the queue was changed.  Empty segments
 * are left out; an atomic without a segment answers into the sink.
 */
WBELL_FN int wbell_post(struct wbell_dqueue *q, const struct wbell_wr *wr,
			struct wbell_ticket *t)
{
	int rc = wbell_check(q);
	__u64 index, bell;
	__u32 ds, nbb;

	if (rc)
		return rc;
	if (!wr || wbell_wr_size(q, wr, &ds))
		return WBELL_REFUSE(WBELL_EINVAL,
				    "a request has a known opcode and flags, "
				    "and fits max_sge and max_inline");
	nbb = (ds + 3) >> 2;
	index = wbell_take(q, nbb);
	if (index & WBELL_NO_SLOT)
		return wbell_no_slot(index);
#ifndef WBELL_MUTANT_PLAIN
	/* seen by whoever sees the CQE, for the doorbell releases it */
	if (nbb > 1)
		wbell_st_relaxed32_sys(wbell_plain_addr(q), WBELL_PLAIN_NO);
#endif
	bell = wbell_wr_build(q, wr, index, ds);
	if (t)
		t->index = index;
	return wbell_submit(q, index, nbb, bell,
			    wr->flags & WBELL_POST_MORE ? WBELL_MORE : 0);
}

#endif /* WBELL_DEVICE_POST_H */
