// SPDX-License-Identifier: GPL-2.0-only
/* Records that wait to be read: see evq.h. */
#include <linux/string.h>
#include "evq.h"

static bool is_error(const struct wbell_u_event *ev)
{
	return ev->type == WBELL_EVENT_REVOKED ||
	       ev->type == WBELL_EVENT_QUEUE_ERROR ||
	       ev->type == WBELL_EVENT_EP_GONE;
}

static bool is_kick(const struct wbell_u_event *ev)
{
	return ev->type == WBELL_EVENT_QUEUE_KICK ||
	       ev->type == WBELL_EVENT_EP_KICK;
}

static struct wbell_u_event *at(struct wbell_evq *q, u32 i)
{
	return &q->ring[i & (WBELL_EVQ_DEPTH - 1)];
}

static bool waits(struct wbell_evq *q, const struct wbell_u_event *ev)
{
	u32 i;

	for (i = q->tail; i != q->head; i++)
		if (at(q, i)->type == ev->type &&
		    at(q, i)->handle == ev->handle)
			return true;
	return false;
}

bool wbell_evq_push(struct wbell_evq *q, const struct wbell_u_event *ev)
{
	if (is_kick(ev) && waits(q, ev))
		return true;
	q->seq++;
	/* Once one is lost all are, until the reader knows: order stays. */
	if (q->head - q->tail == WBELL_EVQ_DEPTH || q->lost) {
		q->lost++;
		return false;
	}
	*at(q, q->head) = *ev;
	at(q, q->head)->seq = q->seq;
	q->head++;
	q->errors += is_error(ev);
	return true;
}

bool wbell_evq_peek(struct wbell_evq *q, struct wbell_u_event *ev)
{
	if (q->head != q->tail) {
		*ev = *at(q, q->tail);
		return true;
	}
	if (!q->lost)
		return false;
	memset(ev, 0, sizeof(*ev));
	ev->type = WBELL_EVENT_OVERFLOW;
	ev->seq = q->seq;
	ev->data = q->lost;
	return true;
}

void wbell_evq_drop(struct wbell_evq *q, const struct wbell_u_event *ev)
{
	if (ev->type == WBELL_EVENT_OVERFLOW) {
		q->lost -= ev->data; /* more may have been lost since */
	} else if (q->head != q->tail) {
		q->errors -= is_error(at(q, q->tail));
		q->tail++;
	}
}
