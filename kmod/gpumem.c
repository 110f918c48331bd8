// SPDX-License-Identifier: GPL-2.0-only
/* GPU memory: pinned by a provider, mapped, and given back. */
#include <linux/capability.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "range.h"
#include "warpbell.h"

static struct wbell_gpumem *mem_of(struct wbell_obj *obj)
{
	return container_of(obj, struct wbell_gpumem, obj);
}

static int mem_pfn(struct wbell_obj *obj, unsigned long first,
		   unsigned long *pfn, unsigned long *run)
{
	const struct wbell_gpu_pages *pages = &mem_of(obj)->pages;
	unsigned long n;
	u32 i;

	for (i = 0; i < pages->segs; i++) {
		n = pages->seg[i].len >> PAGE_SHIFT;
		if (first < n) {
			*pfn = PHYS_PFN(pages->seg[i].addr) + first;
			*run = n - first;
			return 0;
		}
		first -= n;
	}
	return -EINVAL;
}

/*
 * One memory type for a range, whoever maps it and how: mappings made by
 * faults look it up here.
 */
static int type_reserve(struct wbell_gpu_pages *pages)
{
	u32 i;
	int rc;

	if (pages->memtype != WBELL_MEMTYPE_WC)
		return 0;
	for (i = 0; i < pages->segs; i++) {
		rc = arch_io_reserve_memtype_wc(pages->seg[i].addr,
						pages->seg[i].len);
		if (rc)
			goto release;
	}
	return 0;

release:
	while (i--)
		arch_io_free_memtype_wc(pages->seg[i].addr, pages->seg[i].len);
	return rc;
}

static void type_release(struct wbell_gpu_pages *pages)
{
	u32 i;

	if (pages->memtype != WBELL_MEMTYPE_WC)
		return;
	for (i = 0; i < pages->segs; i++)
		arch_io_free_memtype_wc(pages->seg[i].addr, pages->seg[i].len);
}

void wbell_gpumem_unpin(struct wbell_gpumem *mem)
{
	struct wbell_provider *prov = mem->prov;
	bool mine;

	spin_lock(&prov->lock);
	mine = mem->pinned;
	mem->pinned = false;
	spin_unlock(&prov->lock);
	if (!mine)
		return;
	type_release(&mem->pages);
	prov->attr.ops->unpin(prov->attr.data, mem, &mem->pages);
	module_put(prov->attr.ops->owner);
	spin_lock(&prov->lock);
	list_del_init(&mem->link);
	spin_unlock(&prov->lock);
	wake_up_all(&prov->idle);
}

/*
 * Memory that its provider takes back is not unpinned here: the provider may
 * be in its own callback.  Its handle, or the provider's end, does it.
 */
static void mem_end(struct wbell_obj *obj, u32 reason)
{
	struct wbell_gpumem *mem = mem_of(obj);

	if (reason == WBELL_REASON_DESTROY || reason == WBELL_REASON_APP_GONE)
		wbell_gpumem_unpin(mem);
}

static void mem_free(struct wbell_obj *obj)
{
	struct wbell_gpumem *mem = mem_of(obj);

	wbell_gpumem_unpin(mem);
	if (mem->map)
		wbell_map_forget(mem->map);
	kvfree(mem->pages.seg);
	wbell_uncharge(obj->ctx->acct, WBELL_COUNT_GPU_PAGES, mem->charged);
	wbell_provider_put(mem->prov);
	kfree(mem);
}

static void mem_show(struct wbell_obj *obj, struct seq_file *file)
{
	struct wbell_gpumem *mem = mem_of(obj);

	seq_printf(file, " provider %u segments %u pinned %d", mem->prov->id,
		   mem->pages.segs, READ_ONCE(mem->pinned));
}

static const struct wbell_obj_ops mem_ops = {
	.end = mem_end,
	.free = mem_free,
	.pfn = mem_pfn,
	.show = mem_show,
};

/* ---- making one ---- */

/* What a provider gave is looked at before it is believed. */
static int pages_check(const struct wbell_gpu_pages *pages, u64 len)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < pages->segs; i++) {
		if (!pages->seg[i].len || !PAGE_ALIGNED(pages->seg[i].len) ||
		    !PAGE_ALIGNED(pages->seg[i].addr))
			return -EIO;
		sum += pages->seg[i].len;
	}
	return sum == len && pages->offset < len ? 0 : -EIO;
}

/* prov->use is held for reading. */
static int mem_pin(struct wbell_call *call, struct wbell_gpumem *mem,
		   const struct wbell_gpu_want *want, u64 len)
{
	const struct wbell_provider_ops *ops = mem->prov->attr.ops;
	int rc;

	if (mem->prov->gone || !try_module_get(ops->owner))
		return -ENODEV;
	rc = ops->pin(mem->prov->attr.data, mem, want, &mem->pages, call->err);
	if (rc)
		goto put_module;
	mem->obj.bytes = len;
	mem->obj.memtype = mem->pages.memtype;
	rc = pages_check(&mem->pages, len);
	if (!rc)
		rc = type_reserve(&mem->pages);
	if (rc)
		goto unpin;
	spin_lock(&mem->prov->lock);
	mem->pinned = true;
	list_add_tail(&mem->link, &mem->prov->mems);
	spin_unlock(&mem->prov->lock);
	return 0;

unpin:
	ops->unpin(mem->prov->attr.data, mem, &mem->pages);
put_module:
	module_put(ops->owner);
	return rc;
}

static int want_check(struct wbell_call *call,
		      const struct wbell_provider *prov,
		      struct wbell_wide *wide)
{
	struct wbell_u_gpu_pin *arg = &call->arg.gpu_pin;
	int rc;

	if (prov->attr.ops->kind != WBELL_PROVIDER_GPU)
		return wbell_fail(call, -EINVAL, "provider: %s is no GPU",
				  prov->name);
	if (arg->flags & WBELL_GPU_KEEP && !capable(CAP_SYS_RAWIO))
		return wbell_fail(call, -EPERM,
				  "flags: KEEP needs CAP_SYS_RAWIO");
	rc = wbell_range_widen(arg->addr, arg->len, prov->attr.page_size, wide);
	if (!rc && !(prov->attr.caps & WBELL_CAP_VA))
		rc = wbell_range_check(wide->start, wide->len, prov->attr.len);
	if (rc)
		wbell_fail(call, rc,
			   "addr, len: not within the %llu bytes of %s",
			   prov->attr.len, prov->name);
	return rc;
}

static struct wbell_gpumem *mem_alloc(struct wbell_call *call,
				      struct wbell_provider *prov, u64 len)
{
	struct wbell_ctx *ctx = call->owner;
	struct wbell_gpumem *mem;
	int rc;

	rc = wbell_charge(ctx->acct, WBELL_COUNT_GPU_PAGES, len >> PAGE_SHIFT);
	if (rc) {
		wbell_fail(call, rc, "len: passes max_gpu_pages: ask for less");
		return ERR_PTR(rc);
	}
	rc = -ENOMEM;
	mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	if (!mem)
		goto uncharge;
	INIT_LIST_HEAD(&mem->link);
	mem->charged = len >> PAGE_SHIFT;
	mem->prov = wbell_provider_get(prov);
	rc = wbell_obj_init(&mem->obj, ctx, WBELL_GPUMEM, &mem_ops);
	if (!rc)
		return mem;
	wbell_provider_put(prov);
	kfree(mem);
uncharge:
	wbell_uncharge(ctx->acct, WBELL_COUNT_GPU_PAGES, len >> PAGE_SHIFT);
	return ERR_PTR(rc);
}

static int mem_reply(struct wbell_call *call, struct wbell_gpumem *mem)
{
	struct wbell_u_gpu_pin *arg = &call->arg.gpu_pin;
	struct wbell_ctx *ctx = call->owner;
	struct wbell_map *map;

	map = wbell_map_create(&ctx->view, &mem->obj, 0, mem->obj.bytes,
			       WBELL_MAP_WRITE);
	if (IS_ERR(map))
		return PTR_ERR(map);
	mem->map = map;
	arg->handle = mem->obj.handle;
	arg->cookie = wbell_map_cookie(map);
	arg->map_len = wbell_map_len(map);
	arg->map_offset = mem->pages.offset;
	arg->page_size = mem->pages.page_size;
	arg->segments = mem->pages.segs;
	arg->memtype = mem->pages.memtype;
	return wbell_reply(call);
}

static int mem_make(struct wbell_call *call, struct wbell_provider *prov)
{
	struct wbell_u_gpu_pin *arg = &call->arg.gpu_pin;
	struct wbell_gpu_want want = {
		.addr = arg->addr,
		.len = arg->len,
		.flags = arg->flags,
	};
	struct wbell_gpumem *mem;
	struct wbell_wide wide;
	int rc;

	rc = want_check(call, prov, &wide);
	if (rc)
		return rc;
	mem = mem_alloc(call, prov, wide.len);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	down_read(&prov->use);
	rc = mem_pin(call, mem, &want, wide.len);
	up_read(&prov->use);
	if (!rc)
		rc = mem_reply(call, mem);
	if (rc)
		wbell_obj_abort(&mem->obj);
	else
		wbell_obj_finalize(&mem->obj);
	return rc;
}

int wbell_ioctl_gpu_pin(struct wbell_call *call)
{
	struct wbell_u_gpu_pin *arg = &call->arg.gpu_pin;
	struct wbell_provider *prov;
	int rc;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	prov = wbell_provider_find(call, arg->provider);
	if (IS_ERR(prov))
		return PTR_ERR(prov);
	rc = mem_make(call, prov);
	wbell_provider_put(prov);
	return rc;
}
