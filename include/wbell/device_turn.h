/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * A post from the first slot to the doorbell, by a thread alone or by the
 * lanes of a warp together: these take their slots by one reserve and ring
 * once.  Included by device.h.
 *
 * The last lane of those together, the one with the last slots, reserves and
 * rings for all, for it has the WQE that the doorbell wants; and its WQE
 * alone asks for a CQE, which completes those before it too.
 */
#ifndef WBELL_DEVICE_TURN_H
#define WBELL_DEVICE_TURN_H

#include "device_slot.h"
#include "device_arch_group.h"

/* Constants where they are used: what does not apply is not compiled. */
#define WBELL_ALONE    0
#define WBELL_TOGETHER 1

struct wbell_turn {
	__u64 index; /* of our first slot */
	__u64 first; /* of all of us */
	__u32 nbb;   /* slots of all of us */
	__u32 mask;  /* lanes */
	__u32 flags; /* of our WQE, or of its last */
	int last;    /* we reserve and ring */
};

WBELL_FN __u32 wbell_lane_of(__u32 mask)
{
	return wbell_popcount(mask & ((1U << wbell_lane()) - 1));
}

/* More lanes than slots?  Each for itself, then. */
WBELL_FN void wbell_turn_meet(struct wbell_dqueue *q, __u32 nbb,
			      struct wbell_turn *w)
{
	w->mask = wbell_lanes_alike(WBELL_ADDR(q) + nbb);
	w->nbb = wbell_popcount(w->mask) * nbb;
	if (w->nbb > wbell_depth(q)) {
		w->mask = 1U << wbell_lane();
		w->nbb = nbb;
	}
}

WBELL_FN __u64 wbell_turn_share(struct wbell_dqueue *q, __u32 nbb,
				struct wbell_turn *w)
{
	__u32 leader;
	__u64 at = 0;

	if (!wbell_is_ours(q))
		return WBELL_NO_SLOT | (__u32)wbell_check(q);
	wbell_turn_meet(q, nbb, w);
	leader = wbell_top_bit(w->mask);
	w->last = wbell_lane() == leader;
	w->flags = w->last ? WBELL_CTRL_CQ_UPDATE : 0;
	if (w->last)
		at = wbell_take(q, w->nbb);
	w->first = wbell_lanes_read(w->mask, at, leader);
	if (w->first & WBELL_NO_SLOT)
		return w->first;
	return w->first + wbell_lane_of(w->mask) * nbb;
}

/* Take nbb slots: an index, or WBELL_NO_SLOT as wbell_take(). */
WBELL_FN __u64 wbell_turn_begin(struct wbell_dqueue *q, __u32 nbb, int together,
				struct wbell_turn *w)
{
	w->flags = WBELL_CTRL_CQ_UPDATE;
	return w->index = together ? wbell_turn_share(q, nbb, w)
				   : wbell_take(q, nbb);
}

/* Give them to the NIC; bell is the doorbell value of our last WQE. */
WBELL_FN int wbell_turn_end(struct wbell_dqueue *q, __u32 nbb, int together,
			    const struct wbell_turn *w, __u64 bell)
{
	int rc = 0;

	if (!together)
		return wbell_submit(q, w->index, nbb, bell, 0);
#ifndef WBELL_MUTANT_NO_LANE_SYNC
	/* all WQEs are written before the one who rings goes on */
	wbell_lanes_sync(w->mask);
#endif
	if (w->last)
		rc = wbell_submit(q, w->first, w->nbb, bell, 0);
	return (int)wbell_lanes_read32(w->mask, (__u32)rc,
				       wbell_top_bit(w->mask));
}

#endif /* WBELL_DEVICE_TURN_H */
