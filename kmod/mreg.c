// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registered memory: what work requests may name, and a daemon may be granted.
 * Either pages of the caller, pinned, or a part of a ring or of GPU memory.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "range.h"
#include "warpbell.h"

#define ACCESS_ALL                                              \
	(WBELL_ACCESS_LOCAL_WRITE | WBELL_ACCESS_REMOTE_WRITE | \
	 WBELL_ACCESS_REMOTE_READ | WBELL_ACCESS_REMOTE_ATOMIC)

/*
 * Key: 24 bits of index and 8 of generation.  It starts at random, so that a
 * stale or a guessed key most likely names nothing.
 */
static DEFINE_XARRAY_ALLOC(keys);
static u32 key_next;

static int mkey_alloc(struct wbell_mreg *mreg)
{
	u32 index;
	int rc;

	xa_lock(&keys);
	rc = __xa_alloc_cyclic(&keys, &index, mreg, XA_LIMIT(1, 0xffffff),
			       &key_next, GFP_KERNEL_ACCOUNT);
	xa_unlock(&keys);
	if (rc < 0)
		return rc == -EBUSY ? -EDQUOT : rc;
	mreg->key = index << 8 | (get_random_u32() & 0xff);
	return 0;
}

static void mkey_free(struct wbell_mreg *mreg)
{
	if (mreg->key)
		xa_erase(&keys, mreg->key >> 8);
}

static struct wbell_mreg *mreg_of(struct wbell_obj *obj)
{
	return container_of(obj, struct wbell_mreg, obj);
}

static int mreg_pfn(struct wbell_obj *obj, unsigned long first,
		    unsigned long *pfn, unsigned long *run)
{
	struct wbell_mreg *mreg = mreg_of(obj);

	if (!mreg->page || first >= mreg->pages)
		return -EINVAL;
	*pfn = page_to_pfn(mreg->page[first]);
	*run = 1;
	return 0;
}

static void mreg_end(struct wbell_obj *obj, u32 reason)
{
	struct wbell_mreg *mreg = mreg_of(obj);

	if (mreg->base)
		wbell_use_remove(mreg->base, &mreg->use);
	mkey_free(mreg);
}

static void host_free(struct wbell_mreg *mreg)
{
	struct wbell_ctx *ctx = mreg->obj.ctx;

	unpin_user_pages_dirty_lock(mreg->page, mreg->pages, true);
	kvfree(mreg->page);
	atomic64_sub(mreg->pages, &ctx->view.mm->pinned_vm);
	wbell_memunlock(ctx->acct, mreg->pages);
	wbell_uncharge(ctx->acct, WBELL_COUNT_PINNED_PAGES, mreg->pages);
}

static void mreg_free(struct wbell_obj *obj)
{
	struct wbell_mreg *mreg = mreg_of(obj);

	if (mreg->pages)
		host_free(mreg);
	if (mreg->base)
		wbell_obj_put(mreg->base);
	kfree(mreg);
}

static void mreg_show(struct wbell_obj *obj, struct seq_file *file)
{
	struct wbell_mreg *mreg = mreg_of(obj);

	seq_printf(file, " len %llu access 0x%x pinned %lu", mreg->len,
		   mreg->access, mreg->pages);
}

static const struct wbell_obj_ops mreg_ops = {
	.end = mreg_end,
	.free = mreg_free,
	.pfn = mreg_pfn,
	.show = mreg_show,
};

/* ---- making one ---- */

static int access_check(struct wbell_call *call, u32 access, u64 iova, u64 len)
{
	u64 end;

	if (access & ~ACCESS_ALL)
		return wbell_fail(call, -EINVAL,
				  "access: 0x%x unknown: clear it",
				  access & ~ACCESS_ALL);
	if (check_add_overflow(iova, len, &end))
		return wbell_fail(call, -EOVERFLOW,
				  "iova: iova + len wraps: lower it");
	return 0;
}

/*
 * Pins n pages from addr on.  For writing, whatever the access: a read-only
 * pin of a private page need not be the page that the process writes later.
 */
static int pages_pin(struct wbell_mreg *mreg, unsigned long addr,
		     unsigned long n)
{
	unsigned long done = 0;
	long got;
	int rc;

	mreg->page = kvmalloc_array(n, sizeof(*mreg->page), GFP_KERNEL_ACCOUNT);
	if (!mreg->page)
		return -ENOMEM;
	while (done < n) {
		rc = -EINTR;
		if (fatal_signal_pending(current))
			goto unpin;
		got = pin_user_pages_fast(
			addr + (done << PAGE_SHIFT), min(n - done, 512UL),
			FOLL_WRITE | FOLL_LONGTERM, mreg->page + done);
		rc = got ? got : -EFAULT;
		if (got <= 0)
			goto unpin;
		done += got;
		cond_resched();
	}
	return 0;

unpin:
	if (done)
		unpin_user_pages(mreg->page, done);
	kvfree(mreg->page);
	mreg->page = NULL;
	return rc;
}

static int host_fill(struct wbell_call *call, struct wbell_mreg *mreg, u64 addr,
		     unsigned long n)
{
	struct wbell_ctx *ctx = mreg->obj.ctx;
	int rc;

	rc = wbell_charge(ctx->acct, WBELL_COUNT_PINNED_PAGES, n);
	if (rc)
		return wbell_fail(call, rc,
				  "len: %lu pages pass max_pinned_pages: ask "
				  "for less or raise it",
				  n);
	rc = wbell_memlock(ctx->acct, n);
	if (rc) {
		wbell_fail(call, rc,
			   "len: %lu pages pass RLIMIT_MEMLOCK: raise it "
			   "(ulimit -l)",
			   n);
		goto uncharge;
	}
	rc = pages_pin(mreg, addr, n);
	if (rc) {
		wbell_fail(call, rc,
			   "addr: cannot pin all of it: it must be mapped "
			   "and writable memory, no device's");
		goto unlock;
	}
	atomic64_add(n, &ctx->view.mm->pinned_vm);
	mreg->pages = n;
	mreg->obj.bytes = (u64)n << PAGE_SHIFT;
	return 0;

unlock:
	wbell_memunlock(ctx->acct, n);
uncharge:
	wbell_uncharge(ctx->acct, WBELL_COUNT_PINNED_PAGES, n);
	return rc;
}

static struct wbell_mreg *mreg_alloc(struct wbell_ctx *ctx, u64 iova, u64 len,
				     u32 access)
{
	struct wbell_mreg *mreg = kzalloc(sizeof(*mreg), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!mreg)
		return ERR_PTR(-ENOMEM);
	mreg->iova = iova;
	mreg->len = len;
	mreg->access = access;
	INIT_LIST_HEAD(&mreg->use.link);
	rc = wbell_obj_init(&mreg->obj, ctx, WBELL_MREG, &mreg_ops);
	if (rc) {
		kfree(mreg);
		return ERR_PTR(rc);
	}
	return mreg;
}

int wbell_ioctl_mreg_host(struct wbell_call *call)
{
	struct wbell_u_mreg_host *arg = &call->arg.mreg_host;
	struct wbell_mreg *mreg;
	int rc;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	rc = wbell_range_pages(arg->addr, arg->len, TASK_SIZE);
	if (rc)
		return wbell_fail(call, rc,
				  "addr, len: no whole pages of this address "
				  "space: align both to %lu",
				  PAGE_SIZE);
	rc = access_check(call, arg->access, arg->iova, arg->len);
	if (rc)
		return rc;
	mreg = mreg_alloc(call->owner, arg->iova, arg->len, arg->access);
	if (IS_ERR(mreg))
		return PTR_ERR(mreg);
	rc = host_fill(call, mreg, arg->addr, arg->len >> PAGE_SHIFT);
	if (!rc)
		rc = mkey_alloc(mreg);
	if (rc)
		goto abort;
	arg->handle = mreg->obj.handle;
	arg->key = mreg->key;
	rc = wbell_reply(call);
	if (rc)
		goto abort;
	wbell_obj_finalize(&mreg->obj);
	return 0;

abort:
	wbell_obj_abort(&mreg->obj);
	return rc;
}

static struct wbell_mreg *use_mreg(struct wbell_use *use)
{
	return container_of(use, struct wbell_mreg, use);
}

static void base_get(struct wbell_use *use)
{
	wbell_obj_get(&use_mreg(use)->obj);
}

static void base_put(struct wbell_use *use)
{
	wbell_obj_put(&use_mreg(use)->obj);
}

/* The memory below is gone: so is this. */
static void base_lost(struct wbell_use *use, u32 reason)
{
	wbell_obj_end(&use_mreg(use)->obj, WBELL_REASON_MEMORY);
}

static const struct wbell_use_ops base_ops = {
	.get = base_get,
	.put = base_put,
	.lost = base_lost,
};

static int base_attach(struct wbell_call *call, struct wbell_mreg *mreg,
		       struct wbell_obj *base)
{
	struct wbell_u_mreg_object *arg = &call->arg.mreg_object;
	int rc;

	rc = wbell_range_pages(arg->offset, arg->len, base->bytes);
	if (rc)
		return wbell_fail(call, rc,
				  "offset, len: no whole pages of the "
				  "object's %llu bytes",
				  base->bytes);
	wbell_obj_get(base);
	mreg->base = base;
	mreg->offset = arg->offset;
	rc = mkey_alloc(mreg);
	/* last: from here on, the end of base ends this, key and all */
	return rc ? rc : wbell_use_add(base, &mreg->use, &base_ops);
}

int wbell_ioctl_mreg_object(struct wbell_call *call)
{
	struct wbell_u_mreg_object *arg = &call->arg.mreg_object;
	struct wbell_mreg *mreg;
	struct wbell_obj *base;
	int rc;

	rc = access_check(call, arg->access, arg->iova, arg->len);
	if (rc)
		return rc;
	base = wbell_obj_find(call->owner, arg->object,
			      BIT(WBELL_RING) | BIT(WBELL_GPUMEM));
	if (IS_ERR(base))
		return wbell_fail(call, PTR_ERR(base),
				  "object: %u is no live ring or GPU memory",
				  arg->object);
	mreg = mreg_alloc(call->owner, arg->iova, arg->len, arg->access);
	rc = PTR_ERR_OR_ZERO(mreg);
	if (rc)
		goto put_base;
	rc = base_attach(call, mreg, base);
	if (rc)
		goto abort;
	arg->handle = mreg->obj.handle;
	arg->key = mreg->key;
	rc = wbell_reply(call);
	if (rc)
		goto abort;
	wbell_obj_finalize(&mreg->obj);
	wbell_obj_put(base);
	return 0;

abort:
	wbell_obj_abort(&mreg->obj);
put_base:
	wbell_obj_put(base);
	return rc;
}
