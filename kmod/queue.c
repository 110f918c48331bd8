// SPDX-License-Identifier: GPL-2.0-only
/* Queues, as their app sees them. */
#include <linux/eventfd.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "api.h"
#include "desc.h"
#include "range.h"
#include "trace.h"
#include "warpbell.h"

static DEFINE_XARRAY_ALLOC1(ids);
static u32 ids_next;

static struct wbell_queue *queue_of(struct wbell_obj *obj)
{
	return container_of(obj, struct wbell_queue, obj);
}

/* ---- state ---- */

void wbell_queue_wake(struct wbell_queue *queue, u32 type)
{
	struct wbell_u_event ev = {
		.type = type,
		.handle = queue->obj.handle,
		.reason = queue->reason,
		.data = queue->code,
		.user = queue->user,
	};

	wbell_event(&queue->obj.ctx->events, &ev);
	if (!queue->cq_eventfd)
		return;
#if WBELL_API_EVENTFD_SIGNAL == 2
	eventfd_signal(queue->cq_eventfd);
#else
	eventfd_signal(queue->cq_eventfd, 1);
#endif
}

bool wbell_queue_set(struct wbell_queue *queue, u32 state, u32 reason, u32 code)
{
	struct wbell_u_event ev = {
		.type = WBELL_EVENT_EP_ERROR,
		.reason = reason,
		.user = queue->id,
	};

	if (!wbell_queue_may(queue->state, state))
		return false;
	queue->state = state;
	queue->reason = reason;
	queue->code = code;
	trace_wbell_queue(queue->id, state, reason, code);
	if (state == WBELL_QUEUE_READY) {
		wbell_queue_wake(queue, WBELL_EVENT_QUEUE_READY);
		return true;
	}
	list_del_init(&queue->link); /* it waits for a daemon no more */
	if (queue->ep)
		wbell_event(&queue->ep->events, &ev);
	if (reason != WBELL_REASON_DESTROY && reason != WBELL_REASON_APP_GONE)
		wbell_queue_wake(queue, WBELL_EVENT_QUEUE_ERROR);
	return true;
}

static void queue_error(struct wbell_queue *queue, u32 reason)
{
	mutex_lock(queue->lock);
	wbell_queue_set(queue, WBELL_QUEUE_ERR, reason, 0);
	mutex_unlock(queue->lock);
}

/* ---- what it uses ---- */

static struct wbell_queue *region_queue(struct wbell_use *use)
{
	return container_of(use, struct wbell_region, use)->queue;
}

static void region_get(struct wbell_use *use)
{
	wbell_obj_get(&region_queue(use)->obj);
}

static void region_put(struct wbell_use *use)
{
	wbell_obj_put(&region_queue(use)->obj);
}

static void region_lost(struct wbell_use *use, u32 reason)
{
	queue_error(region_queue(use), WBELL_REASON_MEMORY);
}

static const struct wbell_use_ops region_ops = {
	.get = region_get,
	.put = region_put,
	.lost = region_lost,
};

static struct wbell_queue *window_queue(struct wbell_use *use)
{
	return container_of(use, struct wbell_queue, window_use);
}

static void window_get(struct wbell_use *use)
{
	wbell_obj_get(&window_queue(use)->obj);
}

static void window_put(struct wbell_use *use)
{
	wbell_obj_put(&window_queue(use)->obj);
}

static void window_lost(struct wbell_use *use, u32 reason)
{
	queue_error(window_queue(use), WBELL_REASON_MEMORY);
}

static const struct wbell_use_ops window_ops = {
	.get = window_get,
	.put = window_put,
	.lost = window_lost,
};

/* ---- the end ---- */

static void uses_remove(struct wbell_queue *queue)
{
	struct wbell_region *region;
	int i;

	for (i = 0; i < WBELL_REGION_COUNT; i++) {
		region = &queue->region[i];
		if (region->obj)
			wbell_use_remove(region->obj, &region->use);
	}
	if (queue->window) {
		wbell_use_remove(&queue->window->obj, &queue->window_use);
		wbell_window_unclaim(queue->window, queue->slot, queue->id);
	}
}

static void queue_end(struct wbell_obj *obj, u32 reason)
{
	struct wbell_queue *queue = queue_of(obj);
	struct wbell_endpoint *ep;

	mutex_lock(queue->lock);
	wbell_queue_set(queue, WBELL_QUEUE_ERR, reason, 0);
	ep = wbell_endpoint_detach(queue, reason);
	if (queue->nic)
		wbell_nic_detach(queue->nic, queue);
	mutex_unlock(queue->lock);
	wbell_endpoint_kill(ep);
	wbell_grants_end(queue);
	uses_remove(queue);
	if (queue->id)
		xa_erase(&ids, queue->id);
	wbell_uncharge(obj->ctx->acct, WBELL_COUNT_QUEUES, 1);
}

static void queue_free(struct wbell_obj *obj)
{
	struct wbell_queue *queue = queue_of(obj);
	int i;

	for (i = 0; i < WBELL_REGION_COUNT; i++)
		if (queue->region[i].obj)
			wbell_obj_put(queue->region[i].obj);
	if (queue->window)
		wbell_obj_put(&queue->window->obj);
	if (queue->cq_eventfd)
		eventfd_ctx_put(queue->cq_eventfd);
	if (queue->nic)
		wbell_obj_put(&queue->nic->obj);
	xa_destroy(&queue->grants);
	kfree(queue);
}

static void queue_show(struct wbell_obj *obj, struct seq_file *file)
{
	static const char *const names[] = { "reset", "ready", "error" };
	struct wbell_queue *queue = queue_of(obj);

	seq_printf(file, " id %u nic %u depth %u state %s reason %u kicks %llu",
		   queue->id, queue->nic ? queue->nic->id : 0, queue->depth,
		   names[READ_ONCE(queue->state)], READ_ONCE(queue->reason),
		   READ_ONCE(queue->kicks));
}

static const struct wbell_obj_ops queue_ops = {
	.end = queue_end,
	.free = queue_free,
	.show = queue_show,
};

/* ---- making one ---- */

static struct wbell_queue *queue_alloc(struct wbell_ctx *ctx)
{
	struct wbell_queue *queue;
	int i, rc;

	rc = wbell_charge(ctx->acct, WBELL_COUNT_QUEUES, 1);
	if (rc)
		return ERR_PTR(rc);
	rc = -ENOMEM;
	queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	if (!queue)
		goto uncharge;
	mutex_init(&queue->own);
	queue->lock = &queue->own;
	INIT_LIST_HEAD(&queue->link);
	INIT_LIST_HEAD(&queue->nic_link);
	INIT_LIST_HEAD(&queue->window_use.link);
	xa_init_flags(&queue->grants, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	for (i = 0; i < WBELL_REGION_COUNT; i++) {
		queue->region[i].queue = queue;
		INIT_LIST_HEAD(&queue->region[i].use.link);
	}
	rc = wbell_obj_init(&queue->obj, ctx, WBELL_QUEUE, &queue_ops);
	if (!rc)
		return queue;
	kfree(queue);
uncharge:
	wbell_uncharge(ctx->acct, WBELL_COUNT_QUEUES, 1);
	return ERR_PTR(rc);
}

/* After this the queue is undone by ending it, whatever fails. */
static int region_set(struct wbell_queue *queue, int i,
		      const struct wbell_u_range *range)
{
	struct wbell_region *region = &queue->region[i];
	struct wbell_obj *obj;
	int rc;

	if (!range->object)
		return 0;
	obj = wbell_obj_find(queue->obj.ctx, range->object,
			     BIT(WBELL_RING) | BIT(WBELL_GPUMEM));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	region->obj = obj; /* put by queue_free() */
	region->offset = range->offset;
	region->len = range->len;
	rc = wbell_range_pages(range->offset, range->len, obj->bytes);
	return rc ?: wbell_use_add(obj, &region->use, &region_ops);
}

static int window_set(struct wbell_queue *queue, u32 handle, u32 slot)
{
	struct wbell_window *window;
	struct wbell_obj *obj;
	int rc;

	if (!handle)
		return 0;
	obj = wbell_obj_find(queue->obj.ctx, handle, BIT(WBELL_WINDOW));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	window = container_of(obj, struct wbell_window, obj);
	rc = wbell_window_claim(window, slot, queue->id);
	if (rc) {
		wbell_obj_put(obj);
		return rc;
	}
	queue->slot = slot;
	queue->window = window;
	return wbell_use_add(obj, &queue->window_use, &window_ops);
}

static int eventfd_set(struct wbell_queue *queue, int fd)
{
	struct eventfd_ctx *ctx;

	if (fd < 0)
		return 0;
	ctx = eventfd_ctx_fdget(fd);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	queue->cq_eventfd = ctx;
	return 0;
}

static int queue_fill(struct wbell_call *call, struct wbell_queue *queue)
{
	static const char *const names[] = { "sq", "cq", "db" };
	struct wbell_u_queue_create *arg = &call->arg.queue_create;
	int i, rc;

	queue->depth = arg->depth;
	queue->user = arg->user;
	if (arg->nic) {
		queue->nic = wbell_nic_find(arg->nic);
		if (!queue->nic)
			return wbell_fail(call, -ENOENT,
					  "nic: no NIC has id %u: see "
					  "NIC_QUERY",
					  arg->nic);
		queue->lock = &queue->nic->lock;
	}
	rc = xa_alloc_cyclic(&ids, &queue->id, queue, xa_limit_31b, &ids_next,
			     GFP_KERNEL);
	if (rc < 0) {
		queue->id = 0;
		return rc;
	}
	for (i = 0; i < WBELL_REGION_COUNT; i++) {
		rc = region_set(queue, i, &arg->region[i]);
		if (rc)
			return wbell_fail(call, rc,
					  "%s: no such range of a live ring "
					  "or GPU memory",
					  names[i]);
	}
	rc = window_set(queue, arg->window, arg->slot);
	if (rc)
		return wbell_fail(call, rc, "window: %u has no free page %u",
				  arg->window, arg->slot);
	return eventfd_set(queue, arg->cq_eventfd);
}

/* What the hardware serves is ready at once. */
static int queue_start(struct wbell_queue *queue)
{
	if (queue->nic)
		return wbell_nic_attach(queue->nic, queue);
	mutex_lock(queue->lock);
	wbell_queue_set(queue, WBELL_QUEUE_READY, WBELL_REASON_NONE, 0);
	mutex_unlock(queue->lock);
	return 0;
}

int wbell_ioctl_queue_create(struct wbell_call *call)
{
	struct wbell_u_queue_create *arg = &call->arg.queue_create;
	struct wbell_desc_fault fault;
	struct wbell_queue *queue;
	int rc;

	rc = wbell_desc_check(arg, &fault);
	if (rc)
		return wbell_fail(call, rc, "%s: must be: %s", fault.member,
				  fault.want);
	queue = queue_alloc(call->owner);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	rc = queue_fill(call, queue);
	if (rc)
		goto abort;
	arg->handle = queue->obj.handle;
	arg->id = queue->id;
	rc = wbell_reply(call);
	if (rc)
		goto abort;
	rc = queue_start(queue);
	if (rc) {
		wbell_fail(call, rc, "nic: %s",
			   rc == -EDQUOT ? "it has max_queues"
					 : "its daemon has gone");
		goto abort;
	}
	wbell_obj_finalize(&queue->obj);
	return 0;

abort:
	wbell_obj_abort(&queue->obj);
	return rc;
}

/* ---- the rest ---- */

static struct wbell_queue *queue_find(struct wbell_call *call, u32 handle)
{
	struct wbell_obj *obj;

	obj = wbell_obj_find(call->owner, handle, BIT(WBELL_QUEUE));
	return IS_ERR(obj) ? ERR_CAST(obj) : queue_of(obj);
}

int wbell_ioctl_queue_grant(struct wbell_call *call)
{
	struct wbell_u_queue_grant *arg = &call->arg.queue_grant;
	struct wbell_queue *queue;
	struct wbell_mreg *mreg;
	struct wbell_obj *obj;
	int rc;

	queue = queue_find(call, arg->queue);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	obj = wbell_obj_find(call->owner, arg->mreg, BIT(WBELL_MREG));
	rc = PTR_ERR_OR_ZERO(obj);
	if (rc)
		goto put_queue;
	mreg = container_of(obj, struct wbell_mreg, obj);
	if (arg->flags & WBELL_GRANT_REMOVE)
		rc = wbell_grant_remove(queue, mreg);
	else
		rc = wbell_grant_add(queue, mreg);
	wbell_obj_put(obj);
put_queue:
	wbell_obj_put(&queue->obj);
	return rc;
}

int wbell_ioctl_queue_modify(struct wbell_call *call)
{
	struct wbell_u_queue_modify *arg = &call->arg.queue_modify;
	struct wbell_queue *queue;
	bool done;

	if (arg->state != WBELL_QUEUE_ERR)
		return wbell_fail(call, -EINVAL,
				  "state: %u: only %u (error) can be asked for",
				  arg->state, WBELL_QUEUE_ERR);
	queue = queue_find(call, arg->queue);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	mutex_lock(queue->lock);
	done = wbell_queue_set(queue, WBELL_QUEUE_ERR, WBELL_REASON_MODIFY, 0);
	mutex_unlock(queue->lock);
	wbell_obj_put(&queue->obj);
	return done ? 0
		    : wbell_fail(call, -EINVAL,
				 "state: the queue is in error already");
}

int wbell_ioctl_queue_query(struct wbell_call *call)
{
	struct wbell_u_queue_query *arg = &call->arg.queue_query;
	struct wbell_queue *queue = queue_find(call, arg->queue);
	struct wbell_grant *grant;
	unsigned long index;

	if (IS_ERR(queue))
		return PTR_ERR(queue);
	mutex_lock(queue->lock);
	arg->state = queue->state;
	arg->reason = queue->reason;
	arg->id = queue->id;
	arg->nic = queue->nic ? queue->nic->id : 0;
	arg->kicks = queue->kicks;
	arg->grants = 0;
	xa_for_each(&queue->grants, index, grant) arg->grants++;
	mutex_unlock(queue->lock);
	wbell_obj_put(&queue->obj);
	return wbell_reply(call);
}

int wbell_ioctl_queue_kick(struct wbell_call *call)
{
	struct wbell_u_queue_kick *arg = &call->arg.queue_kick;
	struct wbell_u_event ev = { .type = WBELL_EVENT_EP_KICK };
	struct wbell_queue *queue;
	int rc = 0;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	queue = queue_find(call, arg->queue);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	mutex_lock(queue->lock);
	if (queue->state != WBELL_QUEUE_READY || !queue->ep) {
		rc = -ESTALE;
	} else {
		queue->kicks++;
		ev.user = queue->id;
		wbell_event(&queue->ep->events, &ev);
	}
	mutex_unlock(queue->lock);
	wbell_obj_put(&queue->obj);
	return rc;
}
