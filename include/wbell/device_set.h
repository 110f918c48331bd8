/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Queues that stand for each other: to spread posters over several, to reach
 * several peers, and to go on when one of them is dead.  Included by
 * device.h.
 *
 * A set lies in memory that host and device share.  A queue whose bit in live
 * is 0 gets no post.  Whoever meets its error clears the bit; the host makes
 * and connects another queue meanwhile, stores its address and sets the bit
 * again.  Tickets belong to the queue that gave them, not to its place here.
 */
#ifndef WBELL_DEVICE_SET_H
#define WBELL_DEVICE_SET_H

#include "device_queue.h"
#include "device_arch_group.h"

#define WBELL_SET_MAX 64

#define WBELL_ENOTCONN (-107) /* no queue of the set is live */

struct wbell_dset {
	__u64 magic; /* WBELL_DSET_MAGIC */
	__u64 live;  /* bit n: queue[n] may be posted to */
	__u32 count; /* 1..WBELL_SET_MAX */
	__u32 rsvd;
	__u64 queue[WBELL_SET_MAX]; /* struct wbell_dqueue */
};

/* Size, version and layout hash as in WBELL_DQUEUE_MAGIC. */
#define WBELL_DSET_MAGIC (536ULL << 48 | 1ULL << 32 | 0x57e15e01ULL)

WBELL_FN int wbell_set_check(const struct wbell_dset *s)
{
	if (!s)
		return WBELL_REFUSE(WBELL_EINVAL, "a set is not NULL");
	if (s->magic != WBELL_DSET_MAGIC)
		return WBELL_REFUSE(WBELL_EPROTO,
				    "a set is of this header's version");
	if (s->count - 1 >= WBELL_SET_MAX)
		return WBELL_REFUSE(WBELL_EINVAL, "a set has 1 to 64 queues");
	return 0;
}

/* Keys: what is to meet in one queue has one key. */
WBELL_FN __u32 wbell_key_block(void)
{
	return wbell_block_in_grid();
}

WBELL_FN __u32 wbell_key_warp(void)
{
	return wbell_block_in_grid() * 32 + wbell_thread_in_block() / 32;
}

/* Any number, such as an address or a peer: near ones fall apart. */
WBELL_FN __u32 wbell_key_hash(__u64 v)
{
	v *= 0x9e3779b97f4a7c15ULL;
	return (__u32)(v >> 32);
}

/* Place of the first live queue from key on, or WBELL_SET_MAX. */
WBELL_FN __u32 wbell_set_place(__u64 live, __u32 count, __u32 key)
{
	__u32 n = key % count, i;

	for (i = 0; i < count; i++) {
		if (live >> n & 1)
			return n;
		n = n + 1 == count ? 0 : n + 1;
	}
	return WBELL_SET_MAX;
}

/* Same key, same live queues: same queue. */
WBELL_FN int wbell_set_pick(const struct wbell_dset *s, __u32 key,
			    struct wbell_dqueue **q)
{
	int rc = wbell_set_check(s);
	__u64 live;
	__u32 n;

	if (rc)
		return rc;
	if (!q)
		return WBELL_REFUSE(WBELL_EINVAL, "a pick has a place");
	/* with acquire: the address was stored before the bit was set */
	live = wbell_ld_acquire_sys(WBELL_ADDR(&s->live));
	n = wbell_set_place(live, s->count, key);
	if (n == WBELL_SET_MAX)
		return WBELL_ENOTCONN;
	*q = (struct wbell_dqueue *)(__UINTPTR_TYPE__)wbell_ld_relaxed(
		WBELL_ADDR(&s->queue[n]));
	return 0;
}

/* No more posts to q, wherever it is in the set; 1: it was there and live. */
WBELL_FN int wbell_set_mask(struct wbell_dset *s, const struct wbell_dqueue *q)
{
	int rc = wbell_set_check(s);
	__u64 live;
	__u32 n;

	if (rc)
		return rc;
	live = wbell_ld_acquire_sys(WBELL_ADDR(&s->live));
	for (n = 0; n < s->count; n++) {
		if (!(live >> n & 1) ||
		    wbell_ld_relaxed(WBELL_ADDR(&s->queue[n])) != WBELL_ADDR(q))
			continue;
		wbell_and_relaxed_sys(WBELL_ADDR(&s->live), ~(1ULL << n));
		return 1;
	}
	return 0;
}

/*
 * Put q, connected anew, into place n, which is masked.  The host does the
 * same when it stores queue[n], then sets the bit with release.
 */
WBELL_FN int wbell_set_renew(struct wbell_dset *s, __u32 n,
			     struct wbell_dqueue *q)
{
	int rc = wbell_set_check(s);

	if (!rc)
		rc = wbell_check(q);
	if (rc)
		return rc;
	if (n >= s->count ||
	    wbell_ld_acquire_sys(WBELL_ADDR(&s->live)) >> n & 1)
		return WBELL_REFUSE(WBELL_EINVAL,
				    "a queue is renewed in a masked place");
	wbell_st_relaxed(WBELL_ADDR(&s->queue[n]), WBELL_ADDR(q));
	wbell_or_release_sys(WBELL_ADDR(&s->live), 1ULL << n);
	return 0;
}

#endif /* WBELL_DEVICE_SET_H */
