/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocator of mmap offsets, in pages.  One for the whole device, so that a
 * range of offsets names one object in every process and taking its mappings
 * away hits no other.  Pure: the caller locks.
 *
 * An offset is handed out again as late as can be: allocation goes on behind
 * the last one and comes back to the start at the end.  So a stale cookie
 * misses rather than meets a stranger.
 */
#ifndef WBELL_KMOD_OFFSET_H
#define WBELL_KMOD_OFFSET_H

#include <linux/rbtree.h>
#include <linux/types.h>

struct wbell_span {
	struct rb_node node;
	unsigned long start, pages;
};

struct wbell_offsets {
	struct rb_root root;
	unsigned long first, end; /* [first, end) is handed out */
	unsigned long next;	  /* where to go on */
};

/* first is not 0: cookie 0 means none. */
void wbell_offsets_init(struct wbell_offsets *offsets, unsigned long first,
			unsigned long end);

/* Errors: EINVAL no page asked for; ENOSPC no gap is large enough. */
int wbell_offsets_add(struct wbell_offsets *offsets, struct wbell_span *span,
		      unsigned long pages);
void wbell_offsets_remove(struct wbell_offsets *offsets,
			  struct wbell_span *span);

/* The span that page lies in, or NULL. */
struct wbell_span *wbell_offsets_find(const struct wbell_offsets *offsets,
				      unsigned long page);

#endif /* WBELL_KMOD_OFFSET_H */
