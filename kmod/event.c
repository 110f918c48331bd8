// SPDX-License-Identifier: GPL-2.0-only
/* Events of a context or an endpoint: read() and poll(). */
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include "warpbell.h"

void wbell_events_init(struct wbell_events *events)
{
	spin_lock_init(&events->lock);
	mutex_init(&events->reader);
	init_waitqueue_head(&events->wait);
}

void wbell_event(struct wbell_events *events, const struct wbell_u_event *ev)
{
	bool kept;

	spin_lock(&events->lock);
	kept = wbell_evq_push(&events->q, ev);
	spin_unlock(&events->lock);
	if (!kept)
		wbell_counter_add(WBELL_COUNT_LOST, 1);
	wake_up_interruptible(&events->wait);
}

void wbell_events_gone(struct wbell_events *events)
{
	spin_lock(&events->lock);
	events->gone = true;
	spin_unlock(&events->lock);
	wake_up_interruptible(&events->wait);
}

static bool ready(struct wbell_events *events)
{
	bool yes;

	spin_lock(&events->lock);
	yes = !wbell_evq_empty(&events->q) || events->gone;
	spin_unlock(&events->lock);
	return yes;
}

/* 1: gave one; 0: none waits.  A record is dropped once it has been copied. */
static int read_one(struct wbell_events *events, char __user *buf)
{
	struct wbell_u_event ev;
	bool some;
	int rc = 0;

	mutex_lock(&events->reader);
	spin_lock(&events->lock);
	some = wbell_evq_peek(&events->q, &ev);
	spin_unlock(&events->lock);
	if (!some)
		goto out;
	rc = -EFAULT;
	if (copy_to_user(buf, &ev, sizeof(ev)))
		goto out;
	spin_lock(&events->lock);
	wbell_evq_drop(&events->q, &ev);
	spin_unlock(&events->lock);
	rc = 1;
out:
	mutex_unlock(&events->reader);
	return rc;
}

ssize_t wbell_events_read(struct wbell_events *events, struct file *file,
			  char __user *buf, size_t len)
{
	size_t done = 0;
	int rc;

	if (len < sizeof(struct wbell_u_event))
		return -EINVAL;
	while (len - done >= sizeof(struct wbell_u_event)) {
		rc = read_one(events, buf + done);
		if (rc < 0)
			return done ? done : rc;
		if (rc) {
			done += sizeof(struct wbell_u_event);
			continue;
		}
		if (done || READ_ONCE(events->gone))
			break;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(events->wait, ready(events)))
			return -ERESTARTSYS;
	}
	return done;
}

__poll_t wbell_events_poll(struct wbell_events *events, struct file *file,
			   struct poll_table_struct *wait)
{
	__poll_t mask = 0;

	poll_wait(file, &events->wait, wait);
	spin_lock(&events->lock);
	if (!wbell_evq_empty(&events->q))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (wbell_evq_error(&events->q))
		mask |= EPOLLERR;
	if (events->gone)
		mask |= EPOLLHUP;
	spin_unlock(&events->lock);
	return mask;
}
