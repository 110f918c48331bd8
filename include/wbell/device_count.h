/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Local completion of many posts by one word.  A queue completes in order,
 * so how far it is done is a counter by itself: no second queue and no WQE
 * that adds, as other interfaces need.  Included by device.h.
 */
#ifndef WBELL_DEVICE_COUNT_H
#define WBELL_DEVICE_COUNT_H

#include "device_queue.h"

/* Posts to one queue, of one thread; starts as { 0 }. */
struct wbell_count {
	__u64 end;    /* behind the last of them */
	__u64 posted; /* how many */
};

WBELL_FN void wbell_count_add(struct wbell_count *c, struct wbell_ticket t)
{
	if (!c->posted || (__s64)(t.index + 1 - c->end) > 0)
		c->end = t.index + 1;
	c->posted++;
}

/* As wbell_test() and wbell_wait() of all that was added; none is done. */
WBELL_FN int wbell_count_test(struct wbell_dqueue *q,
			      const struct wbell_count *c)
{
	struct wbell_ticket t;

	t.index = c->end - 1;
	return c->posted ? wbell_test(q, t) : wbell_check(q);
}

WBELL_FN int wbell_count_wait(struct wbell_dqueue *q,
			      const struct wbell_count *c, __u64 deadline_ns)
{
	struct wbell_ticket t;

	t.index = c->end - 1;
	return c->posted ? wbell_wait(q, t, deadline_ns) : wbell_check(q);
}

/*
 * Blocks of q that have completed since it was made, all before index: what
 * a thread compares with tickets of others.  It moves when somebody tests or
 * waits.
 */
WBELL_FN int wbell_count_done(struct wbell_dqueue *q, __u64 *index)
{
	int rc = wbell_check(q);
	__u64 state, at;

	if (rc)
		return rc;
	if (!index)
		return WBELL_REFUSE(WBELL_EINVAL, "an index has a place");
	state = wbell_ld_acquire(WBELL_ADDR(&q->cq_state));
	at = wbell_ld_relaxed(WBELL_ADDR(&q->reserved));
	/* cq_state has 40 bits of the index; reserved has them all */
	*index = at - ((at - (state >> WBELL_CQ_CI_BITS)) &
		       (~0ULL >> WBELL_CQ_CI_BITS));
	return 0;
}

#endif /* WBELL_DEVICE_COUNT_H */
