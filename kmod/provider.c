// SPDX-License-Identifier: GPL-2.0-only
/* Providers: who knows GPU memory and doorbells.  See provider.h. */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "trace.h"
#include "warpbell.h"

static unsigned int quarantine_ms = 1000;
module_param(quarantine_ms, uint, 0644);
MODULE_PARM_DESC(quarantine_ms, "time that a doorbell page rests after its "
				"last owner's process has ended");

static DEFINE_MUTEX(providers_lock); /* names are unique */
static DEFINE_XARRAY_ALLOC1(providers);
static u32 providers_next;

/* ---- references ---- */

struct wbell_provider *wbell_provider_get(struct wbell_provider *prov)
{
	kref_get(&prov->ref);
	return prov;
}

static void provider_free(struct kref *ref)
{
	struct wbell_provider *prov =
		container_of(ref, struct wbell_provider, ref);

	kvfree(prov->pages.page);
	kfree(prov);
}

void wbell_provider_put(struct wbell_provider *prov)
{
	kref_put(&prov->ref, provider_free);
}

struct wbell_provider *wbell_provider_find(struct wbell_call *call, u32 id)
{
	struct wbell_provider *prov;

	xa_lock(&providers);
	prov = xa_load(&providers, id);
	if (prov)
		kref_get(&prov->ref);
	xa_unlock(&providers);
	if (!prov)
		return ERR_PTR(wbell_fail(call, -ENOENT,
					  "provider: none has id %u: see "
					  "PROVIDER_QUERY",
					  id));
	return prov;
}

static struct wbell_provider *provider_at(u32 index)
{
	struct wbell_provider *prov, *found = NULL;
	unsigned long id;

	xa_lock(&providers);
	xa_for_each(&providers, id, prov)
	{
		if (index--)
			continue;
		kref_get(&prov->ref);
		found = prov;
		break;
	}
	xa_unlock(&providers);
	return found;
}

/* ---- coming and going ---- */

static int pages_setup(struct wbell_provider *prov)
{
	struct wbell_pages *pages = &prov->pages;
	u64 n = prov->attr.len >> PAGE_SHIFT;

	if (prov->attr.ops->kind != WBELL_PROVIDER_NIC)
		return 0;
	if (!n || n > U32_MAX || !PAGE_ALIGNED(prov->attr.len) ||
	    !PAGE_ALIGNED(prov->attr.base))
		return -EINVAL;
	pages->page = kvcalloc(n, sizeof(*pages->page), GFP_KERNEL);
	if (!pages->page)
		return -ENOMEM;
	pages->count = n;
	pages->ops = &wbell_window_page_ops;
	return 0;
}

static int provider_add(struct wbell_provider *prov)
{
	struct wbell_provider *other;
	unsigned long id;
	int rc;

	mutex_lock(&providers_lock);
	xa_for_each(&providers, id, other)
	{
		if (!strcmp(other->name, prov->name)) {
			mutex_unlock(&providers_lock);
			return -EEXIST;
		}
	}
	rc = xa_alloc_cyclic(&providers, &prov->id, prov, xa_limit_31b,
			     &providers_next, GFP_KERNEL);
	mutex_unlock(&providers_lock);
	return rc < 0 ? rc : 0;
}

struct wbell_provider *
wbell_provider_register(const struct wbell_provider_attr *attr)
{
	struct wbell_provider *prov;
	int rc;

	if (strlen(attr->name) >= WBELL_NAME_MAX ||
	    attr->page_size < PAGE_SIZE ||
	    attr->page_size & (attr->page_size - 1))
		return ERR_PTR(-EINVAL);
	prov = kzalloc(sizeof(*prov), GFP_KERNEL);
	if (!prov)
		return ERR_PTR(-ENOMEM);
	kref_init(&prov->ref);
	prov->attr = *attr;
	strscpy(prov->name, attr->name, sizeof(prov->name));
	init_rwsem(&prov->use);
	spin_lock_init(&prov->lock);
	INIT_LIST_HEAD(&prov->mems);
	INIT_LIST_HEAD(&prov->windows);
	init_waitqueue_head(&prov->idle);
	rc = pages_setup(prov);
	if (!rc)
		rc = provider_add(prov);
	if (rc) {
		wbell_provider_put(prov);
		return ERR_PTR(rc);
	}
	pr_info("warpbell: provider %s\n", prov->name);
	return prov;
}
EXPORT_SYMBOL_GPL(wbell_provider_register);

/*
 * One that is live, or pinned still, with a reference; who is being freed
 * leaves the list by itself.
 */
static struct wbell_gpumem *mem_next(struct wbell_provider *prov, bool live)
{
	struct wbell_gpumem *mem, *found = NULL;

	spin_lock(&prov->lock);
	list_for_each_entry(mem, &prov->mems, link)
	{
		if (live ? READ_ONCE(mem->obj.state) != WBELL_LIVE
			 : !mem->pinned)
			continue;
		if (kref_get_unless_zero(&mem->obj.ref)) {
			found = mem;
			break;
		}
	}
	spin_unlock(&prov->lock);
	return found;
}

static struct wbell_window *window_next(struct wbell_provider *prov)
{
	struct wbell_window *window, *found = NULL;

	spin_lock(&prov->lock);
	list_for_each_entry(window, &prov->windows, link)
	{
		if (READ_ONCE(window->obj.state) == WBELL_LIVE &&
		    kref_get_unless_zero(&window->obj.ref)) {
			found = window;
			break;
		}
	}
	spin_unlock(&prov->lock);
	return found;
}

void wbell_provider_revoke(struct wbell_provider *prov, u32 reason)
{
	struct wbell_window *window;
	struct wbell_gpumem *mem;

	while ((mem = mem_next(prov, true))) {
		wbell_obj_revoke(&mem->obj, reason);
		wbell_obj_put(&mem->obj);
	}
	while ((window = window_next(prov))) {
		wbell_obj_revoke(&window->obj, reason);
		wbell_obj_put(&window->obj);
	}
}
EXPORT_SYMBOL_GPL(wbell_provider_revoke);

static bool is_idle(struct wbell_provider *prov)
{
	bool idle;

	spin_lock(&prov->lock);
	idle = list_empty(&prov->mems) && list_empty(&prov->windows);
	spin_unlock(&prov->lock);
	return idle;
}

void wbell_provider_unregister(struct wbell_provider *prov, u32 reason)
{
	struct wbell_gpumem *mem;

	mutex_lock(&providers_lock);
	xa_erase(&providers, prov->id);
	mutex_unlock(&providers_lock);
	down_write(&prov->use);
	prov->gone = true;
	up_write(&prov->use);
	wbell_provider_revoke(prov, reason);
	while ((mem = mem_next(prov, false))) {
		wbell_gpumem_unpin(mem);
		wbell_obj_put(&mem->obj);
	}
	/* others that are unpinning, or ending a window, get done */
	wait_event(prov->idle, is_idle(prov));
	spin_lock(&prov->lock);
	wbell_pages_drop(&prov->pages);
	spin_unlock(&prov->lock);
	pr_info("warpbell: provider %s is gone\n", prov->name);
	wbell_provider_put(prov);
}
EXPORT_SYMBOL_GPL(wbell_provider_unregister);

void wbell_gpu_revoke(struct wbell_gpumem *mem, u32 reason)
{
	wbell_obj_revoke(&mem->obj, reason);
}
EXPORT_SYMBOL_GPL(wbell_gpu_revoke);

/* ---- what is asked about them ---- */

u64 wbell_provider_grace(void)
{
	return msecs_to_jiffies(READ_ONCE(quarantine_ms));
}

static u32 provider_quarantined(struct wbell_provider *prov)
{
	u32 n, freed;

	spin_lock(&prov->lock);
	prov->pages.grace = wbell_provider_grace();
	freed = wbell_pages_age(&prov->pages, get_jiffies_64());
	n = prov->pages.quarantined;
	spin_unlock(&prov->lock);
	if (freed)
		trace_wbell_quarantine(prov->id, freed, false, n);
	return n;
}

u64 wbell_provider_quarantined(void)
{
	struct wbell_provider *prov;
	unsigned long id;
	u64 sum = 0;

	mutex_lock(&providers_lock);
	xa_for_each(&providers, id, prov) sum += provider_quarantined(prov);
	mutex_unlock(&providers_lock);
	return sum;
}

int wbell_ioctl_provider_query(struct wbell_call *call)
{
	struct wbell_u_provider_query *arg = &call->arg.provider_query;
	struct wbell_provider *prov;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	prov = provider_at(arg->index);
	if (!prov)
		return -ENOENT;
	memset(arg->name, 0, sizeof(arg->name));
	memset(arg->text, 0, sizeof(arg->text));
	arg->id = prov->id;
	arg->kind = prov->attr.ops->kind;
	arg->caps = prov->attr.caps;
	arg->len = prov->attr.len;
	arg->page_size = prov->attr.page_size;
	strscpy(arg->name, prov->name, sizeof(arg->name));
	arg->state = -ENODEV;
	down_read(&prov->use);
	if (!prov->gone)
		arg->state = prov->attr.ops->status(prov->attr.data, arg->text,
						    sizeof(arg->text));
	up_read(&prov->use);
	wbell_provider_put(prov);
	return wbell_reply(call);
}
