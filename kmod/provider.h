/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a module that knows a GPU, or a NIC's doorbells, serves warpbell.ko.
 *
 * Life of pinned memory, as a provider sees it:
 *
 *   pin()   in the ioctl of the process that owns the memory, so `current` is
 *           that process; mem is valid from here until unpin() has returned,
 *           or pin() has failed.  May sleep; is killable.
 *   wbell_gpu_revoke(mem, reason)
 *           the provider says that the memory is being taken back.  When it
 *           returns, no CPU mapping reaches the pages and no importer uses
 *           them.  Any number of times, from pin() on, even before pin() has
 *           returned, and while unpin() runs; the provider makes sure that no
 *           such call is under way or to come when unpin() returns.  It takes
 *           the object's own locks and the mmap_lock of the process that
 *           mapped it, never a lock that is held around pin() or unpin().
 *   unpin() exactly once for each pin() that gave 0, revoked or not, by any
 *           task: `current` means nothing.  Whether pages must be put, or have
 *           been freed by the provider's callback already, is the provider's
 *           to know.
 *
 * A provider is registered as soon as its module is there.  Whether it can be
 * used is a state that status() tells at any time, not a failure to load.
 */
#ifndef WBELL_KMOD_PROVIDER_H
#define WBELL_KMOD_PROVIDER_H

#include <linux/types.h>
#include <linux/pci.h>
#include "../include/wbell/uapi.h"

struct module;
struct wbell_gpumem;
struct wbell_provider;

/* A physically contiguous part; a multiple of PAGE_SIZE at such an address. */
struct wbell_seg {
	phys_addr_t addr;
	u64 len;
};

/* What pin() is asked for. */
struct wbell_gpu_want {
	u64 addr;  /* GPU address, or offset into the memory */
	u64 len;   /* bytes; not 0, does not wrap */
	u32 flags; /* WBELL_GPU_*; rights are checked already */
};

/*
 * What pin() gives.  The segments cover the range widened to page_size, in
 * order; offset is where the byte asked for lies in them.  seg comes from
 * kvmalloc() and is the core's to free.
 */
struct wbell_gpu_pages {
	struct wbell_seg *seg;
	u32 segs;
	u32 page_size;
	u64 offset;
	u32 memtype; /* WBELL_MEMTYPE_*: the only one for these pages */
	void *priv;  /* comes back in unpin() */
	/* What a dma-buf of these pages is made from; pdev NULL: nothing. */
	struct pci_dev *pdev;
	int bar;
};

struct wbell_provider_ops {
	struct module *owner; /* kept while memory is pinned */
	u32 kind;	      /* WBELL_PROVIDER_* */

	/*
	 * 0 or -errno, with a text of why not, and what can be done about it.
	 * Does not sleep long.
	 */
	int (*status)(void *data, char *text, size_t size);

	/* err, of WBELL_ERR_TEXT bytes, takes a text when it fails. */
	int (*pin)(void *data, struct wbell_gpumem *mem,
		   const struct wbell_gpu_want *want,
		   struct wbell_gpu_pages *pages, char *err);
	void (*unpin)(void *data, struct wbell_gpumem *mem,
		      struct wbell_gpu_pages *pages);
};

struct wbell_provider_attr {
	const char *name; /* < WBELL_NAME_MAX bytes; copied */
	const struct wbell_provider_ops *ops;
	void *data; /* first argument of the calls */
	u64 caps;   /* WBELL_CAP_* */
	u64 len;    /* bytes of memory, 0: unknown */
	u32 page_size;
	/* WBELL_PROVIDER_NIC: doorbell pages, one contiguous range */
	phys_addr_t base;
};

/*
 * Makes a provider known, returns it or ERR_PTR.
 * Errors: EINVAL, EEXIST the name is taken, ENOMEM.
 */
struct wbell_provider *
wbell_provider_register(const struct wbell_provider_attr *attr);

/*
 * Ends it: everything that came from it is revoked with reason and unpinned.
 * When this returns no call of ops is running and none will come.  Not from
 * within pin() or unpin().
 */
void wbell_provider_unregister(struct wbell_provider *prov, u32 reason);

/* The device had an error: revokes all, but the provider stays known. */
void wbell_provider_revoke(struct wbell_provider *prov, u32 reason);

void wbell_gpu_revoke(struct wbell_gpumem *mem, u32 reason);

#endif /* WBELL_KMOD_PROVIDER_H */
