// SPDX-License-Identifier: GPL-2.0-only
/* Objects: handles, references, and the way from live to dead. */
#include <linux/slab.h>
#include "trace.h"
#include "warpbell.h"

int wbell_obj_init(struct wbell_obj *obj, struct wbell_ctx *ctx,
		   enum wbell_type type, const struct wbell_obj_ops *ops)
{
	int rc;

	rc = wbell_charge(ctx->acct, WBELL_COUNT_OBJECTS, 1);
	if (rc)
		return rc;
	/*
	 * No entry yet: the handle is taken, but nobody finds an object.  A
	 * number comes back late, so that a stale handle misses.
	 */
	rc = xa_alloc_cyclic(&ctx->objs, &obj->handle, NULL, xa_limit_31b,
			     &ctx->next, GFP_KERNEL);
	if (rc < 0) {
		wbell_uncharge(ctx->acct, WBELL_COUNT_OBJECTS, 1);
		return rc == -EBUSY ? -EDQUOT : rc;
	}
	kref_init(&obj->ref);
	obj->type = type;
	obj->ops = ops;
	obj->ctx = wbell_ctx_get(ctx);
	obj->memtype = WBELL_MEMTYPE_WB;
	spin_lock_init(&obj->lock);
	INIT_LIST_HEAD(&obj->maps);
	INIT_LIST_HEAD(&obj->uses);
	init_completion(&obj->unmapped);
	init_completion(&obj->dead);
	return 0;
}

/*
 * Needs no memory: the place is reserved.  The last look at the object: once
 * it is found, another thread may end it.
 */
void wbell_obj_finalize(struct wbell_obj *obj)
{
	void *old;

	trace_wbell_object(obj->type, obj->handle, WBELL_LIVE, 0);
	old = xa_store(&obj->ctx->objs, obj->handle, obj, GFP_KERNEL);
	WARN_ON(xa_is_err(old));
}

void wbell_obj_abort(struct wbell_obj *obj)
{
	xa_erase(&obj->ctx->objs, obj->handle);
	wbell_obj_end(obj, WBELL_REASON_DESTROY);
	wbell_obj_put(obj);
}

struct wbell_obj *wbell_obj_find(struct wbell_ctx *ctx, u32 handle,
				 unsigned int types)
{
	struct wbell_obj *obj;

	xa_lock(&ctx->objs);
	obj = xa_load(&ctx->objs, handle);
	if (obj && types & BIT(obj->type))
		kref_get(&obj->ref);
	else
		obj = ERR_PTR(-ENOENT);
	xa_unlock(&ctx->objs);
	if (!IS_ERR(obj) && READ_ONCE(obj->state) != WBELL_LIVE) {
		wbell_obj_put(obj);
		return ERR_PTR(-ESTALE);
	}
	return obj;
}

void wbell_obj_get(struct wbell_obj *obj)
{
	kref_get(&obj->ref);
}

static void obj_free(struct kref *ref)
{
	struct wbell_obj *obj = container_of(ref, struct wbell_obj, ref);
	struct wbell_ctx *ctx = obj->ctx;

	obj->ops->free(obj);
	wbell_uncharge(ctx->acct, WBELL_COUNT_OBJECTS, 1);
	wbell_ctx_put(ctx);
}

void wbell_obj_put(struct wbell_obj *obj)
{
	kref_put(&obj->ref, obj_free);
}

/* ---- the end ---- */

static struct wbell_use *use_first(struct wbell_obj *obj)
{
	struct wbell_use *use;

	spin_lock(&obj->lock);
	use = list_first_entry_or_null(&obj->uses, struct wbell_use, link);
	if (use) {
		/* its user has not removed it, so it is there still */
		list_del_init(&use->link);
		use->ops->get(use);
	}
	spin_unlock(&obj->lock);
	return use;
}

static void uses_tell(struct wbell_obj *obj, u32 reason)
{
	struct wbell_use *use;

	while ((use = use_first(obj))) {
		use->ops->lost(use, reason);
		use->ops->put(use);
	}
}

static bool state_set(struct wbell_obj *obj, enum wbell_state state, u32 reason)
{
	bool may;

	spin_lock(&obj->lock);
	may = wbell_state_may(obj->state, state);
	if (may)
		WRITE_ONCE(obj->state, state);
	spin_unlock(&obj->lock);
	if (may)
		trace_wbell_object(obj->type, obj->handle, state, reason);
	return may;
}

/* False: another has begun. */
static bool obj_end(struct wbell_obj *obj, u32 reason)
{
	if (!state_set(obj, WBELL_REVOKING, reason))
		return false;
	wbell_map_end(obj);
	uses_tell(obj, reason);
	complete_all(&obj->unmapped);
	if (obj->ops->end)
		obj->ops->end(obj, reason);
	state_set(obj, WBELL_DEAD, reason);
	complete_all(&obj->dead);
	return true;
}

bool wbell_obj_end(struct wbell_obj *obj, u32 reason)
{
	if (obj_end(obj, reason))
		return true;
	wait_for_completion(&obj->dead);
	return false;
}

void wbell_obj_revoke(struct wbell_obj *obj, u32 reason)
{
	struct wbell_u_event ev = {
		.type = WBELL_EVENT_REVOKED,
		.handle = obj->handle,
		.reason = reason,
	};

	if (!obj_end(obj, reason)) {
		wait_for_completion(&obj->unmapped);
		return;
	}
	wbell_counter_add(WBELL_COUNT_REVOKED, 1);
	wbell_event(&obj->ctx->events, &ev);
}

/* Erases a handle that has an object; one that is being made stays. */
static struct wbell_obj *handle_take(struct wbell_ctx *ctx, u32 handle)
{
	struct wbell_obj *obj;

	xa_lock(&ctx->objs);
	obj = xa_load(&ctx->objs, handle);
	if (obj)
		__xa_erase(&ctx->objs, handle);
	xa_unlock(&ctx->objs);
	return obj;
}

int wbell_obj_destroy(struct wbell_ctx *ctx, u32 handle)
{
	struct wbell_obj *obj = handle_take(ctx, handle);

	if (!obj)
		return -ENOENT;
	wbell_obj_end(obj, WBELL_REASON_DESTROY);
	wbell_obj_put(obj);
	return 0;
}

/* No ioctl of ctx runs any more: its file is being released. */
void wbell_obj_destroy_all(struct wbell_ctx *ctx)
{
	struct wbell_obj *obj;
	unsigned long handle;
	int type;

	/* Users first: they end for this reason, not for want of memory. */
	for (type = WBELL_TYPES - 1; type >= 0; type--) {
		xa_for_each(&ctx->objs, handle, obj)
		{
			if (obj->type != type)
				continue;
			handle_take(ctx, handle);
			wbell_obj_end(obj, WBELL_REASON_APP_GONE);
			wbell_obj_put(obj);
		}
	}
}

/* ---- uses ---- */

int wbell_use_add(struct wbell_obj *obj, struct wbell_use *use,
		  const struct wbell_use_ops *ops)
{
	int rc = -ESTALE;

	use->ops = ops;
	spin_lock(&obj->lock);
	if (obj->state == WBELL_LIVE) {
		list_add_tail(&use->link, &obj->uses);
		rc = 0;
	}
	spin_unlock(&obj->lock);
	return rc;
}

void wbell_use_remove(struct wbell_obj *obj, struct wbell_use *use)
{
	spin_lock(&obj->lock);
	list_del_init(&use->link);
	spin_unlock(&obj->lock);
}
