/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that wait to be read: a ring of fixed size that counts what did not
 * fit.  Pure: the caller locks.
 */
#ifndef WBELL_KMOD_EVQ_H
#define WBELL_KMOD_EVQ_H

#include <linux/types.h>
#include "../include/wbell/uapi.h"

#define WBELL_EVQ_DEPTH 256 /* a power of two */

struct wbell_evq {
	struct wbell_u_event ring[WBELL_EVQ_DEPTH];
	u32 head, tail; /* read at tail, written at head; they wrap */
	u32 seq;
	u64 lost;   /* since the last OVERFLOW record */
	u32 errors; /* that wait, and tell of an error */
};

/*
 * Takes a record; its seq is filled in.  A kick of a handle whose kick waits
 * already is swallowed.  False: the ring was full, it is counted as lost.
 */
bool wbell_evq_push(struct wbell_evq *q, const struct wbell_u_event *ev);

/* The oldest record, then the one that tells of lost ones; false: none. */
bool wbell_evq_peek(struct wbell_evq *q, struct wbell_u_event *ev);
/* Removes what peek gave, if no other reader has. */
void wbell_evq_drop(struct wbell_evq *q, const struct wbell_u_event *ev);

static inline bool wbell_evq_empty(const struct wbell_evq *q)
{
	return q->head == q->tail && !q->lost;
}

/* Does one that waits tell of an error?  A lost one may have. */
static inline bool wbell_evq_error(const struct wbell_evq *q)
{
	return q->errors || q->lost;
}

#endif /* WBELL_KMOD_EVQ_H */
