/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic on ranges that user space names.  Pure: no locks, no state.
 * Nothing here wraps; a range that would is -EOVERFLOW.
 */
#ifndef WBELL_KMOD_RANGE_H
#define WBELL_KMOD_RANGE_H

#include <linux/align.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/types.h>

/* Is [offset, offset + len) not empty and within [0, limit)? */
static inline int wbell_range_check(u64 offset, u64 len, u64 limit)
{
	u64 end;

	if (!len)
		return -EINVAL;
	if (check_add_overflow(offset, len, &end))
		return -EOVERFLOW;
	return end > limit ? -EINVAL : 0;
}

/* The same for whole pages. */
static inline int wbell_range_pages(u64 offset, u64 len, u64 limit)
{
	int rc = wbell_range_check(offset, len, limit);

	if (rc)
		return rc;
	return PAGE_ALIGNED(offset) && PAGE_ALIGNED(len) ? 0 : -EINVAL;
}

/* Pages that bytes need; at least one, and as a byte count no wrap. */
static inline int wbell_range_round(u64 bytes, unsigned long *pages)
{
	u64 up;

	if (!bytes)
		return -EINVAL;
	if (check_add_overflow(bytes, (u64)PAGE_SIZE - 1, &up))
		return -EOVERFLOW;
	up >>= PAGE_SHIFT;
	if (up > ULONG_MAX >> PAGE_SHIFT)
		return -EOVERFLOW;
	*pages = up;
	return 0;
}

struct wbell_wide {
	u64 start, len; /* multiples of the unit */
	u64 offset;	/* of the byte asked for, within them */
};

/* Widens [addr, addr + len) to unit, a power of two. */
static inline int wbell_range_widen(u64 addr, u64 len, u64 unit,
				    struct wbell_wide *wide)
{
	u64 end;

	if (!len || !unit || unit & (unit - 1))
		return -EINVAL;
	if (check_add_overflow(addr, len, &end) ||
	    check_add_overflow(end, unit - 1, &end))
		return -EOVERFLOW;
	wide->start = addr & ~(unit - 1);
	wide->len = (end & ~(unit - 1)) - wide->start;
	wide->offset = addr - wide->start;
	return 0;
}

/* Both are checked: neither end wraps. */
static inline bool wbell_range_overlap(u64 a, u64 alen, u64 b, u64 blen)
{
	return a < b + blen && b < a + alen;
}

#endif /* WBELL_KMOD_RANGE_H */
