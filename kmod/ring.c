// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: zeroed host memory in real pages, that a GPU driver can pin without
 * privilege, and that lives on while such a pin does.
 */
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "range.h"
#include "warpbell.h"

static struct wbell_ring *ring_of(struct wbell_obj *obj)
{
	return container_of(obj, struct wbell_ring, obj);
}

static struct page **ring_pages(struct wbell_obj *obj, unsigned long first)
{
	return ring_of(obj)->page + first;
}

static void pages_free(struct page **page, unsigned long n)
{
	while (n)
		__free_page(page[--n]);
	kvfree(page);
}

static void ring_free(struct wbell_obj *obj)
{
	struct wbell_ring *ring = ring_of(obj);

	if (ring->map)
		wbell_map_forget(ring->map);
	if (ring->pages) {
		pages_free(ring->page, ring->pages);
		wbell_memunlock(obj->ctx->acct, ring->pages);
		wbell_uncharge(obj->ctx->acct, WBELL_COUNT_RING_PAGES,
			       ring->pages);
	}
	kfree(ring);
}

static void ring_show(struct wbell_obj *obj, struct seq_file *file)
{
	seq_printf(file, " pages %lu", ring_of(obj)->pages);
}

static const struct wbell_obj_ops ring_ops = {
	.free = ring_free,
	.pages = ring_pages,
	.show = ring_show,
};

/* One at a time: there may be many, and a killed caller shall not go on. */
static int pages_alloc(struct wbell_ring *ring, unsigned long n)
{
	unsigned long i;

	ring->page = kvmalloc_array(n, sizeof(*ring->page), GFP_KERNEL_ACCOUNT);
	if (!ring->page)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (fatal_signal_pending(current))
			goto free;
		ring->page[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!ring->page[i])
			goto free;
		cond_resched();
	}
	return 0;

free:
	pages_free(ring->page, i);
	return fatal_signal_pending(current) ? -EINTR : -ENOMEM;
}

/* On success ring->pages says that there is something to give back. */
static int ring_fill(struct wbell_call *call, struct wbell_ring *ring,
		     unsigned long n)
{
	struct wbell_account *acct = ring->obj.ctx->acct;
	int rc;

	rc = wbell_charge(acct, WBELL_COUNT_RING_PAGES, n);
	if (rc)
		return wbell_fail(call, rc,
				  "ring: %lu pages pass max_ring_pages: ask "
				  "for less or raise it",
				  n);
	rc = wbell_memlock(acct, n);
	if (rc) {
		wbell_fail(call, rc,
			   "ring: %lu pages pass RLIMIT_MEMLOCK: raise it "
			   "(ulimit -l)",
			   n);
		goto uncharge;
	}
	rc = pages_alloc(ring, n);
	if (rc)
		goto unlock;
	ring->pages = n;
	ring->obj.bytes = (u64)n << PAGE_SHIFT;
	return 0;

unlock:
	wbell_memunlock(acct, n);
uncharge:
	wbell_uncharge(acct, WBELL_COUNT_RING_PAGES, n);
	return rc;
}

int wbell_ioctl_ring_alloc(struct wbell_call *call)
{
	struct wbell_u_ring_alloc *arg = &call->arg.ring_alloc;
	struct wbell_ctx *ctx = call->owner;
	struct wbell_ring *ring;
	struct wbell_map *map;
	unsigned long n;
	int rc;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	rc = wbell_range_round(arg->bytes, &n);
	if (rc)
		return wbell_fail(call, rc, "bytes: %llu: from 1 on",
				  arg->bytes);
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return -ENOMEM;
	rc = wbell_obj_init(&ring->obj, ctx, WBELL_RING, &ring_ops);
	if (rc) {
		kfree(ring);
		return rc;
	}
	rc = ring_fill(call, ring, n);
	if (rc)
		goto abort;
	map = wbell_map_create(&ctx->view, &ring->obj, 0, ring->obj.bytes,
			       WBELL_MAP_WRITE);
	rc = PTR_ERR_OR_ZERO(map);
	if (rc)
		goto abort;
	ring->map = map;
	arg->handle = ring->obj.handle;
	arg->cookie = wbell_map_cookie(map);
	arg->map_len = wbell_map_len(map);
	rc = wbell_reply(call);
	if (rc)
		goto abort;
	wbell_obj_finalize(&ring->obj);
	return 0;

abort:
	wbell_obj_abort(&ring->obj);
	return rc;
}
