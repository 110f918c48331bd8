// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grants: registered memory that the daemon of one queue may map.
 *
 * A grant is the queue's, by its index, until somebody takes it out of there
 * under the queue's lock; who does so ends it.
 */
#include <linux/slab.h>
#include "warpbell.h"

static struct wbell_grant *grant_of(struct wbell_use *use)
{
	return container_of(use, struct wbell_grant, use);
}

static void grant_free(struct kref *ref)
{
	struct wbell_grant *grant = container_of(ref, struct wbell_grant, ref);

	wbell_obj_put(&grant->mreg->obj);
	wbell_obj_put(&grant->queue->obj);
	kfree(grant);
}

static void grant_get(struct wbell_use *use)
{
	kref_get(&grant_of(use)->ref);
}

static void grant_put(struct wbell_use *use)
{
	kref_put(&grant_of(use)->ref, grant_free);
}

static void endpoint_tell(struct wbell_queue *queue, u32 type, u32 index)
{
	struct wbell_u_event ev = {
		.type = type,
		.handle = index,
		.user = queue->id,
	};

	if (queue->ep)
		wbell_event(&queue->ep->events, &ev);
}

/* Takes it out of its queue; false: somebody has.  lock is held. */
static bool grant_take(struct wbell_grant *grant)
{
	struct wbell_queue *queue = grant->queue;

	if (xa_load(&queue->grants, grant->index) != grant)
		return false;
	xa_erase(&queue->grants, grant->index);
	endpoint_tell(queue, WBELL_EVENT_EP_UNGRANT, grant->index);
	return true;
}

/* Of one that was taken out; no lock is held. */
static void grant_end(struct wbell_grant *grant)
{
	wbell_use_remove(&grant->mreg->obj, &grant->use);
	if (grant->map)
		wbell_map_drop(grant->map);
	grant_put(&grant->use);
}

static void grant_lost(struct wbell_use *use, u32 reason)
{
	struct wbell_grant *grant = grant_of(use);
	bool taken;

	mutex_lock(grant->queue->lock);
	taken = grant_take(grant);
	mutex_unlock(grant->queue->lock);
	if (taken)
		grant_end(grant);
}

static const struct wbell_use_ops grant_ops = {
	.get = grant_get,
	.put = grant_put,
	.lost = grant_lost,
};

static struct wbell_grant *grant_find(struct wbell_queue *queue,
				      const struct wbell_mreg *mreg)
{
	struct wbell_grant *grant;
	unsigned long index;

	xa_for_each(&queue->grants, index,
		    grant) if (grant->mreg == mreg) return grant;
	return NULL;
}

/* lock is held */
static int grant_store(struct wbell_queue *queue, struct wbell_grant *grant)
{
	int rc;

	/* Memory that ends later finds the grant here, in grant_lost(). */
	if (READ_ONCE(queue->obj.state) != WBELL_LIVE ||
	    READ_ONCE(grant->mreg->obj.state) != WBELL_LIVE)
		return -ESTALE;
	if (grant_find(queue, grant->mreg))
		return -EEXIST;
	rc = xa_alloc(&queue->grants, &grant->index, grant,
		      XA_LIMIT(0, WBELL_GRANTS_MAX - 1), GFP_KERNEL);
	if (rc)
		return rc == -EBUSY ? -EDQUOT : rc;
	queue->grants_end = max(queue->grants_end, grant->index + 1);
	endpoint_tell(queue, WBELL_EVENT_EP_GRANT, grant->index);
	return 0;
}

int wbell_grant_add(struct wbell_queue *queue, struct wbell_mreg *mreg)
{
	struct wbell_grant *grant = kzalloc(sizeof(*grant), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!grant)
		return -ENOMEM;
	kref_init(&grant->ref);
	INIT_LIST_HEAD(&grant->use.link);
	grant->queue = queue;
	grant->mreg = mreg;
	wbell_obj_get(&queue->obj);
	wbell_obj_get(&mreg->obj);
	rc = wbell_use_add(&mreg->obj, &grant->use, &grant_ops);
	if (rc)
		goto put;
	mutex_lock(queue->lock);
	rc = grant_store(queue, grant);
	mutex_unlock(queue->lock);
	if (!rc)
		return 0;
	wbell_use_remove(&mreg->obj, &grant->use);
put:
	grant_put(&grant->use);
	return rc;
}

int wbell_grant_remove(struct wbell_queue *queue, struct wbell_mreg *mreg)
{
	struct wbell_grant *grant;

	mutex_lock(queue->lock);
	grant = grant_find(queue, mreg);
	if (grant)
		grant_take(grant);
	mutex_unlock(queue->lock);
	if (!grant)
		return -ENOENT;
	grant_end(grant);
	return 0;
}

void wbell_grants_end(struct wbell_queue *queue)
{
	struct wbell_grant *grant;
	unsigned long index;

	/* none is added any more: the queue is not live */
	for (;;) {
		index = 0;
		mutex_lock(queue->lock);
		grant = xa_find(&queue->grants, &index, ULONG_MAX, XA_PRESENT);
		if (grant)
			grant_take(grant);
		mutex_unlock(queue->lock);
		if (!grant)
			return;
		grant_end(grant);
	}
}

static struct wbell_map *map_take(struct wbell_queue *queue)
{
	struct wbell_map *map = NULL;
	struct wbell_grant *grant;
	unsigned long index;

	mutex_lock(queue->lock);
	xa_for_each(&queue->grants, index, grant)
	{
		map = grant->map;
		grant->map = NULL;
		if (map)
			break;
	}
	mutex_unlock(queue->lock);
	return map;
}

void wbell_grants_unmap(struct wbell_queue *queue)
{
	struct wbell_map *map;

	while ((map = map_take(queue)))
		wbell_map_drop(map);
}

struct wbell_map *wbell_grant_map(struct wbell_grant *grant,
				  struct wbell_endpoint *ep)
{
	const u32 write = WBELL_ACCESS_LOCAL_WRITE | WBELL_ACCESS_REMOTE_WRITE |
			  WBELL_ACCESS_REMOTE_ATOMIC;
	struct wbell_mreg *mreg = grant->mreg;
	u32 flags = WBELL_MAP_LAZY;
	struct wbell_map *map;

	if (grant->map)
		return grant->map;
	if (mreg->access & write)
		flags |= WBELL_MAP_WRITE;
	if (ep->flags & WBELL_ACCEPT_DUMMY)
		flags |= WBELL_MAP_DUMMY;
	map = wbell_map_create(&ep->view, mreg->base ?: &mreg->obj,
			       mreg->offset, mreg->len, flags);
	if (!IS_ERR(map))
		grant->map = map;
	return map;
}
