// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events of a context: a bounded ring and an eventfd that is readable while
 * the ring is not empty.  The provider pushes from its own thread, so
 * nothing here is done under the lock but copying.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

int events_open(struct events *ev)
{
	memset(ev, 0, sizeof(*ev));
	ev->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ev->fd < 0)
		return -errno;
	pthread_mutex_init(&ev->lock, NULL);
	return 0;
}

void events_close(struct events *ev)
{
	pthread_mutex_destroy(&ev->lock);
	close(ev->fd);
}

/* Caller holds the lock. */
bool events_push(struct events *ev, const struct wbell_event *event)
{
	if (ev->head - ev->tail == EVENT_RING) {
		ev->lost++;
		return false;
	}
	ev->ring[ev->head++ % EVENT_RING] = *event;
	if (ev->head - ev->tail == 1)
		eventfd_write(ev->fd, 1);
	return true;
}

static int events_pop(struct events *ev, struct wbell_event *event)
{
	eventfd_t count;

	if (ev->head == ev->tail)
		return -EAGAIN;
	*event = ev->ring[ev->tail++ % EVENT_RING];
	if (ev->head == ev->tail)
		eventfd_read(ev->fd, &count);
	return 0;
}

int wbell_event_fd(struct wbell_ctx *ctx, int *fd)
{
	if (!ctx || !fd)
		return error_no_object("wbell_event_fd",
				       ctx ? "result" : "context");
	*fd = ctx->events.fd;
	return 0;
}

int wbell_event_next(struct wbell_ctx *ctx, struct wbell_event *event)
{
	errno_kept();
	int rc;

	if (!ctx || !event)
		return error_no_object("wbell_event_next",
				       ctx ? "result" : "context");
	pthread_mutex_lock(&ctx->events.lock);
	rc = events_pop(&ctx->events, event);
	pthread_mutex_unlock(&ctx->events.lock);
	return rc;
}
