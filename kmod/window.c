// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows: doorbell pages of a NIC, for one context.  When a window ends its
 * pages go into quarantine: see quarantine.h.
 */
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "trace.h"
#include "warpbell.h"

/* Who had pages; outlives its context, and keeps no page of its memory. */
struct owner {
	struct kref ref;
	struct mm_struct *mm; /* grabbed */
	struct pid *pid;
	struct wbell_account *acct;
	struct work_struct work;
};

static struct owner *owner_alloc(struct wbell_ctx *ctx)
{
	struct owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);

	if (!owner)
		return NULL;
	kref_init(&owner->ref);
	owner->mm = ctx->view.mm;
	mmgrab(owner->mm);
	owner->pid = get_pid(ctx->pid);
	owner->acct = wbell_account_ref(ctx->acct);
	return owner;
}

static void owner_free_work(struct work_struct *work)
{
	struct owner *owner = container_of(work, struct owner, work);

	mmdrop(owner->mm);
	put_pid(owner->pid);
	wbell_account_put(owner->acct);
	kfree(owner);
}

/* Under a provider's spinlock: what may sleep is done later. */
static void owner_free(struct kref *ref)
{
	struct owner *owner = container_of(ref, struct owner, ref);

	INIT_WORK(&owner->work, owner_free_work);
	queue_work(wbell_wq, &owner->work);
}

/*
 * Gone is the process that opened the context and, should others share its
 * address space, that too.
 */
static bool page_gone(void *arg)
{
	struct owner *owner = arg;
	bool there;

	rcu_read_lock();
	there = pid_task(owner->pid, PIDTYPE_TGID);
	rcu_read_unlock();
	return !there && !atomic_read(&owner->mm->mm_users);
}

static bool page_same(void *a, void *b)
{
	return ((struct owner *)a)->mm == ((struct owner *)b)->mm;
}

static void *page_get(void *arg)
{
	kref_get(&((struct owner *)arg)->ref);
	return arg;
}

static void page_put(void *arg)
{
	struct owner *owner = arg;

	wbell_uncharge(owner->acct, WBELL_COUNT_WINDOW_PAGES, 1);
	kref_put(&owner->ref, owner_free);
}

const struct wbell_page_ops wbell_window_page_ops = {
	.gone = page_gone,
	.same = page_same,
	.get = page_get,
	.put = page_put,
};

/* ---- the object ---- */

static struct wbell_window *window_of(struct wbell_obj *obj)
{
	return container_of(obj, struct wbell_window, obj);
}

static phys_addr_t window_base(const struct wbell_window *window)
{
	return window->prov->attr.base + ((u64)window->first << PAGE_SHIFT);
}

static int window_pfn(struct wbell_obj *obj, unsigned long first,
		      unsigned long *pfn, unsigned long *run)
{
	struct wbell_window *window = window_of(obj);

	*pfn = PHYS_PFN(window_base(window)) + first;
	*run = window->pages - first;
	return 0;
}

static void window_end(struct wbell_obj *obj, u32 reason)
{
	struct wbell_window *window = window_of(obj);
	struct wbell_provider *prov = window->prov;
	u32 now;

	spin_lock(&prov->lock);
	wbell_pages_give(&prov->pages, window->first, window->pages,
			 get_jiffies_64());
	now = prov->pages.quarantined;
	list_del_init(&window->link);
	spin_unlock(&prov->lock);
	trace_wbell_quarantine(prov->id, window->pages, true, now);
	wake_up_all(&prov->idle);
}

static void window_free(struct wbell_obj *obj)
{
	struct wbell_window *window = window_of(obj);

	if (window->map)
		wbell_map_forget(window->map);
	if (obj->memtype == WBELL_MEMTYPE_WC)
		arch_io_free_memtype_wc(window_base(window), obj->bytes);
	wbell_provider_put(window->prov);
	kfree(window);
}

static void window_show(struct wbell_obj *obj, struct seq_file *file)
{
	struct wbell_window *window = window_of(obj);

	seq_printf(file, " provider %u first %u pages %u", window->prov->id,
		   window->first, window->pages);
}

static const struct wbell_obj_ops window_ops = {
	.end = window_end,
	.free = window_free,
	.pfn = window_pfn,
	.show = window_show,
};

int wbell_window_claim(struct wbell_window *window, u32 slot, u32 queue)
{
	int rc;

	if (slot >= window->pages)
		return -EINVAL;
	spin_lock(&window->prov->lock);
	rc = wbell_pages_claim(&window->prov->pages, window->first + slot,
			       queue);
	spin_unlock(&window->prov->lock);
	return rc;
}

void wbell_window_unclaim(struct wbell_window *window, u32 slot, u32 queue)
{
	spin_lock(&window->prov->lock);
	wbell_pages_unclaim(&window->prov->pages, window->first + slot, queue);
	spin_unlock(&window->prov->lock);
}

/* ---- making one ---- */

/* The owner's own pages first: they count already. */
static int pages_retake(struct wbell_window *window, struct owner *owner)
{
	struct wbell_provider *prov = window->prov;
	int rc;

	spin_lock(&prov->lock);
	rc = wbell_pages_retake(&prov->pages, window->pages, owner,
				&window->first);
	if (!rc)
		list_add_tail(&window->link, &prov->windows);
	spin_unlock(&prov->lock);
	return rc;
}

static int pages_take(struct wbell_window *window, struct owner *owner)
{
	struct wbell_provider *prov = window->prov;
	int rc;

	rc = wbell_charge(owner->acct, WBELL_COUNT_WINDOW_PAGES, window->pages);
	if (rc)
		return rc;
	spin_lock(&prov->lock);
	prov->pages.grace = wbell_provider_grace();
	rc = wbell_pages_take(&prov->pages, window->pages, owner,
			      get_jiffies_64(), &window->first);
	if (!rc)
		list_add_tail(&window->link, &prov->windows);
	spin_unlock(&prov->lock);
	if (rc)
		wbell_uncharge(owner->acct, WBELL_COUNT_WINDOW_PAGES,
			       window->pages);
	return rc;
}

/* Once it has pages the object can be ended, and gives them back. */
static struct wbell_window *window_alloc(struct wbell_ctx *ctx,
					 struct wbell_provider *prov, u32 pages)
{
	struct owner *owner = owner_alloc(ctx);
	struct wbell_window *window;
	int rc = -ENOMEM;

	if (!owner)
		return ERR_PTR(rc);
	window = kzalloc(sizeof(*window), GFP_KERNEL_ACCOUNT);
	if (!window)
		goto put_owner;
	window->prov = wbell_provider_get(prov);
	window->pages = pages;
	INIT_LIST_HEAD(&window->link);
	rc = wbell_obj_init(&window->obj, ctx, WBELL_WINDOW, &window_ops);
	if (rc)
		goto free;
	down_read(&prov->use);
	rc = prov->gone ? -ENODEV : pages_retake(window, owner);
	if (rc == -ENOSPC)
		rc = pages_take(window, owner);
	up_read(&prov->use);
	kref_put(&owner->ref, owner_free);
	if (!rc)
		return window;
	window->pages = 0;
	wbell_obj_abort(&window->obj);
	return ERR_PTR(rc);

free:
	wbell_provider_put(prov);
	kfree(window);
put_owner:
	kref_put(&owner->ref, owner_free);
	return ERR_PTR(rc);
}

static int want_check(struct wbell_call *call,
		      const struct wbell_provider *prov)
{
	struct wbell_u_window_alloc *arg = &call->arg.window_alloc;
	u64 need = 0;

	if (prov->attr.ops->kind != WBELL_PROVIDER_NIC)
		return wbell_fail(call, -EINVAL, "provider: %s is no NIC",
				  prov->name);
	if (!arg->pages || arg->pages > prov->pages.count)
		return wbell_fail(call, -EINVAL, "pages: %u: 1 to %u",
				  arg->pages, prov->pages.count);
	if (arg->memtype == WBELL_MEMTYPE_NC)
		need = WBELL_CAP_NC;
	else if (arg->memtype == WBELL_MEMTYPE_WC)
		need = WBELL_CAP_WC;
	if (!need || !(prov->attr.caps & need))
		return wbell_fail(call, -EINVAL,
				  "memtype: %u: %s cannot: see caps",
				  arg->memtype, prov->name);
	return 0;
}

static int window_reply(struct wbell_call *call, struct wbell_window *window)
{
	struct wbell_u_window_alloc *arg = &call->arg.window_alloc;
	struct wbell_ctx *ctx = call->owner;
	struct wbell_map *map;
	int rc;

	window->obj.bytes = (u64)window->pages << PAGE_SHIFT;
	if (arg->memtype == WBELL_MEMTYPE_WC) {
		rc = arch_io_reserve_memtype_wc(window_base(window),
						window->obj.bytes);
		if (rc)
			return rc;
	}
	window->obj.memtype = arg->memtype;
	map = wbell_map_create(&ctx->view, &window->obj, 0, window->obj.bytes,
			       WBELL_MAP_WRITE);
	if (IS_ERR(map))
		return PTR_ERR(map);
	window->map = map;
	arg->handle = window->obj.handle;
	arg->cookie = wbell_map_cookie(map);
	arg->map_len = wbell_map_len(map);
	return wbell_reply(call);
}

static int window_make(struct wbell_call *call, struct wbell_provider *prov)
{
	struct wbell_window *window;
	int rc;

	rc = want_check(call, prov);
	if (rc)
		return rc;
	window = window_alloc(call->owner, prov, call->arg.window_alloc.pages);
	rc = PTR_ERR_OR_ZERO(window);
	if (rc)
		return wbell_fail(call, rc,
				  "window: no run of %u pages is free, or "
				  "max_window_pages is passed",
				  call->arg.window_alloc.pages);
	rc = window_reply(call, window);
	if (rc)
		wbell_obj_abort(&window->obj);
	else
		wbell_obj_finalize(&window->obj);
	return rc;
}

int wbell_ioctl_window_alloc(struct wbell_call *call)
{
	struct wbell_u_window_alloc *arg = &call->arg.window_alloc;
	struct wbell_provider *prov;
	int rc;

	prov = wbell_provider_find(call, arg->provider);
	if (IS_ERR(prov))
		return PTR_ERR(prov);
	rc = window_make(call, prov);
	wbell_provider_put(prov);
	return rc;
}
