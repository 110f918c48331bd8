/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Doorbell pages of a NIC: who has which, and which may be handed on.
 *
 * A GPU driver may keep a mapping of a doorbell page that no one can take away
 * (NVIDIA's IOMEMORY registration holds neither a reference nor a notifier).
 * So a freed page waits in quarantine, counted as its last owner's, until
 * that owner's process is gone and a grace has passed.  The owner itself may
 * have it back at once, and should, before a page that others could have.  Pure: the caller locks and tells the time.
 */
#ifndef WBELL_KMOD_QUARANTINE_H
#define WBELL_KMOD_QUARANTINE_H

#include <linux/types.h>

enum wbell_page_state {
	WBELL_PAGE_FREE,
	WBELL_PAGE_OWNED,
	WBELL_PAGE_QUARANTINED,
};

struct wbell_page {
	enum wbell_page_state state;
	u32 queue;   /* id of the one queue that rings it; 0: none */
	void *owner; /* not FREE: opaque, counted by get() and put() */
	u64 since;   /* QUARANTINED: time of the free, or of the owner's end */
	bool gone;   /* QUARANTINED: the owner's end was seen, at since */
};

struct wbell_page_ops {
	bool (*gone)(void *owner); /* has its process ended? */
	bool (*same)(void *a, void *b);
	void *(*get)(void *owner);
	void (*put)(void *owner);
};

struct wbell_pages {
	struct wbell_page *page;
	u32 count, quarantined, owned;
	u64 grace; /* in units of now */
	const struct wbell_page_ops *ops;
};

/*
 * A run of n pages that wait in quarantine and were owner's: they are its own
 * again, and counted already.  Errors: EINVAL n is 0; ENOSPC no such run.
 */
int wbell_pages_retake(struct wbell_pages *pages, u32 n, void *owner,
		       u32 *first);

/* A run of n free pages, after those that may leave quarantine have. */
int wbell_pages_take(struct wbell_pages *pages, u32 n, void *owner, u64 now,
		     u32 *first);

/* Owned pages go into quarantine. */
void wbell_pages_give(struct wbell_pages *pages, u32 first, u32 n, u64 now);

/* Frees those whose owner is gone for the grace; says how many. */
u32 wbell_pages_age(struct wbell_pages *pages, u64 now);

/* All of it, whatever the owners do: the device is gone or was reset. */
void wbell_pages_drop(struct wbell_pages *pages);

/* One queue per page.  Errors: EBUSY it has another. */
int wbell_pages_claim(struct wbell_pages *pages, u32 i, u32 queue);
void wbell_pages_unclaim(struct wbell_pages *pages, u32 i, u32 queue);

#endif /* WBELL_KMOD_QUARANTINE_H */
