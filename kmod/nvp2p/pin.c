// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned memory of an NVIDIA GPU.
 *
 * The driver's callback may come at any time from the call of get_pages on,
 * from any task, while the driver holds its own locks.  So it takes pin->lock
 * and what wbell_gpu_revoke() takes, never waits for a get_pages or put_pages,
 * and calls neither.  It is given a number, not a pointer: one that comes when
 * the pin is gone finds nothing instead of freed memory.
 */
#include <linux/completion.h>
#include <linux/io.h>
#include <linux/kref.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "nvp2p.h"

static bool persistent = true;
module_param(persistent, bool, 0644);
MODULE_PARM_DESC(persistent, "ask for pages that stay until they are given "
			     "back; 0: pages that the driver takes back when "
			     "they are freed");

struct nvp2p_pin {
	struct kref ref; /* unpin()'s, and a callback's while it runs */
	struct completion done;
	struct wbell_gpumem *mem;
	struct nvp2p_bind bind;
	u32 id;
	u64 start, len; /* bytes, multiples of NVP2P_ALIGN */

	struct mutex lock; /* guards the rest, and the table's life */
	struct nvidia_p2p_page_table *table;
	bool freed; /* the callback came: table is the driver's */
};

static DEFINE_XARRAY_ALLOC1(pins);
static u32 pins_next;

/* ---- the driver's callback ---- */

static struct nvp2p_pin *pin_find(unsigned long id)
{
	struct nvp2p_pin *pin;

	xa_lock(&pins);
	pin = xa_load(&pins, id);
	if (pin)
		kref_get(&pin->ref);
	xa_unlock(&pins);
	return pin;
}

static void pin_done(struct kref *ref)
{
	complete(&container_of(ref, struct nvp2p_pin, ref)->done);
}

static void pages_freed(void *data)
{
	struct nvp2p_pin *pin = pin_find((unsigned long)data);

	if (!pin)
		return;
	/* whoever reads the table gets done with it first */
	mutex_lock(&pin->lock);
	pin->freed = true;
	mutex_unlock(&pin->lock);
	wbell_gpu_revoke(pin->mem, WBELL_REASON_PROVIDER);
	kref_put(&pin->ref, pin_done);
}

/* ---- the life of a pin ---- */

static struct nvp2p_pin *pin_alloc(struct wbell_gpumem *mem,
				   const struct wbell_gpu_want *want)
{
	struct nvp2p_pin *pin;
	u64 end;
	int rc;

	if (check_add_overflow(want->addr, want->len, &end) ||
	    check_add_overflow(end, (u64)NVP2P_ALIGN - 1, &end))
		return ERR_PTR(-EOVERFLOW);
	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return ERR_PTR(-ENOMEM);
	kref_init(&pin->ref);
	init_completion(&pin->done);
	mutex_init(&pin->lock);
	pin->mem = mem;
	pin->start = ALIGN_DOWN(want->addr, NVP2P_ALIGN);
	pin->len = ALIGN_DOWN(end, NVP2P_ALIGN) - pin->start;
	rc = xa_alloc_cyclic(&pins, &pin->id, pin, xa_limit_32b, &pins_next,
			     GFP_KERNEL_ACCOUNT);
	if (rc >= 0)
		return pin;
	kfree(pin);
	return ERR_PTR(rc);
}

/* No callback finds it any more; one that has is waited for. */
static void pin_free(struct nvp2p_pin *pin)
{
	xa_erase(&pins, pin->id);
	kref_put(&pin->ref, pin_done);
	wait_for_completion(&pin->done);
	kfree(pin);
}

/* By the API that is bound, which ends with a failure. */
static int pages_ask(struct nvp2p_pin *pin)
{
	const struct nvp2p_bind *bind = &pin->bind;
	struct nvidia_p2p_page_table *table = NULL;
	int rc;

	if (bind->persistent)
		rc = bind->get_persistent(pin->start, pin->len, &table, 0);
	else
		rc = bind->get(0, 0, pin->start, pin->len, &table, pages_freed,
			       (void *)(unsigned long)pin->id);
	if (rc) {
		nvp2p_unbind(bind);
		return rc;
	}
	mutex_lock(&pin->lock);
	pin->table = table;
	mutex_unlock(&pin->lock);
	return 0;
}

/* MIG and vGPU have no pages that stay (nv-p2p.h). */
static int pages_get(struct nvp2p_pin *pin, char *err)
{
	int rc = -ENOTSUPP;

	if (READ_ONCE(persistent) && !nvp2p_bind(&pin->bind, true)) {
		rc = pages_ask(pin);
		if (rc == -ENOTSUPP)
			pr_info_once("warpbell_nvp2p: no persistent pages: "
				     "asking for those with a callback\n");
	}
	if (rc == -ENOTSUPP) {
		if (nvp2p_bind(&pin->bind, false)) {
			strscpy(err,
				"provider: no nvidia.ko that serves GPL "
				"modules: load the one of NVIDIA's open "
				"kernel modules",
				WBELL_ERR_TEXT);
			return -ENODEV;
		}
		rc = pages_ask(pin);
	}
	if (rc)
		snprintf(err, WBELL_ERR_TEXT,
			 "addr, len: nvidia.ko refused 0x%llx+0x%llx (%d): is "
			 "it memory of cudaMalloc in this process?",
			 pin->start, pin->len, rc);
	return rc == -ENOTSUPP ? -EOPNOTSUPP : rc;
}

static void pages_put(struct nvp2p_pin *pin)
{
	bool freed;
	int rc = 0;

	mutex_lock(&pin->lock);
	freed = pin->freed;
	mutex_unlock(&pin->lock);
	/*
	 * A callback that comes now has the driver answer 0 to put_pages; not
	 * under pin->lock, which it takes.
	 */
	if (pin->bind.persistent)
		rc = pin->bind.put_persistent(pin->start, pin->table, 0);
	else if (!freed)
		rc = pin->bind.put(0, 0, pin->start, pin->table);
	if (rc)
		pr_warn("warpbell_nvp2p: nvidia.ko kept 0x%llx+0x%llx: error "
			"%d\n",
			pin->start, pin->len, rc);
	nvp2p_unbind(&pin->bind);
}

/* ---- from page table to segments ---- */

static int table_check(const struct nvp2p_pin *pin, u64 *bytes, char *err)
{
	const struct nvidia_p2p_page_table *table = pin->table;
	u64 unit;

	if (table->version >> 16 != NVP2P_TABLE_MAJOR ||
	    (table->version & 0xffff) < NVP2P_TABLE_MINOR) {
		snprintf(err, WBELL_ERR_TEXT,
			 "provider: page table version %u.%u, not %u.%u or "
			 "later: take nvidia.ko 535 to 575",
			 table->version >> 16, table->version & 0xffff,
			 NVP2P_TABLE_MAJOR, NVP2P_TABLE_MINOR);
		return -EOPNOTSUPP;
	}
	/* with starts at multiples of 64 KiB there are no smaller pages */
	unit = table->page_size == NVP2P_PAGE_128K ? 2 * NVP2P_ALIGN
						   : NVP2P_ALIGN;
	if (table->page_size < NVP2P_PAGE_64K ||
	    table->page_size > NVP2P_PAGE_128K ||
	    table->entries * unit != pin->len) {
		snprintf(err, WBELL_ERR_TEXT,
			 "provider: nvidia.ko gave %u pages of kind %u for "
			 "0x%llx bytes",
			 table->entries, table->page_size, pin->len);
		return -EIO;
	}
	*bytes = unit;
	return 0;
}

/* Neighbours become one segment.  seg has room for one of each page. */
static int table_read(const struct nvp2p_pin *pin, u64 unit,
		      struct wbell_gpu_pages *pages)
{
	struct wbell_seg *seg = pages->seg;
	u64 addr;
	u32 i, n = 0;

	for (i = 0; i < pin->table->entries; i++) {
		addr = pin->table->pages[i]->physical_address;
		/* RAM is cached everywhere: WC would be a second type */
		if (!PAGE_ALIGNED(addr) || page_is_ram(PHYS_PFN(addr)))
			return -EIO;
		if (n && seg[n - 1].addr + seg[n - 1].len == addr) {
			seg[n - 1].len += unit;
			continue;
		}
		seg[n].addr = addr;
		seg[n++].len = unit;
	}
	pages->segs = n;
	return 0;
}

/* The callback waits meanwhile, so the table does not go. */
static int pages_read(struct nvp2p_pin *pin, struct wbell_gpu_pages *pages,
		      char *err)
{
	u64 unit;
	int rc;

	mutex_lock(&pin->lock);
	if (pin->freed) {
		strscpy(err, "addr: freed while it was pinned", WBELL_ERR_TEXT);
		rc = -ESTALE;
		goto unlock;
	}
	rc = table_check(pin, &unit, err);
	if (rc)
		goto unlock;
	rc = table_read(pin, unit, pages);
	if (rc)
		strscpy(err,
			"provider: nvidia.ko gave pages of system memory or "
			"unaligned ones: not served",
			WBELL_ERR_TEXT);
unlock:
	mutex_unlock(&pin->lock);
	return rc;
}

int nvp2p_pin(void *data, struct wbell_gpumem *mem,
	      const struct wbell_gpu_want *want, struct wbell_gpu_pages *pages,
	      char *err)
{
	struct nvp2p_pin *pin = pin_alloc(mem, want);
	struct wbell_gpu_pages got = {
		.page_size = NVP2P_ALIGN,
		.memtype = WBELL_MEMTYPE_WC,
		.priv = pin,
	};
	int rc;

	if (IS_ERR(pin))
		return PTR_ERR(pin);
	got.offset = want->addr - pin->start;
	rc = -ENOMEM;
	got.seg = kvcalloc(pin->len / NVP2P_ALIGN, sizeof(*got.seg),
			   GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!got.seg)
		goto free_pin;
	rc = pages_get(pin, err);
	if (rc)
		goto free_seg;
	rc = pages_read(pin, &got, err);
	if (rc)
		goto put_pages;
	*pages = got;
	return 0;

put_pages:
	pages_put(pin);
free_seg:
	kvfree(got.seg);
free_pin:
	pin_free(pin);
	return rc;
}

void nvp2p_unpin(void *data, struct wbell_gpumem *mem,
		 struct wbell_gpu_pages *pages)
{
	struct nvp2p_pin *pin = pages->priv;

	pages_put(pin);
	pin_free(pin);
}
