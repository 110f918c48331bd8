// SPDX-License-Identifier: BSD-2-Clause
/* Callers' structs: sizes, defaults and limits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_QUEUES_DEFAULT 1024
#define MAX_QUEUES_LIMIT   16384
#define DEPTH_DEFAULT	   128
#define TIMEOUT_DEFAULT	   14 /* 67 ms */
#define RETRY_DEFAULT	   (1 + 7)
#define RNR_RETRY_DEFAULT  (1 + 6) /* seven tries; value 7 is endless */
#define RNR_TIMER_DEFAULT  12	   /* 0.64 ms */
#define RD_ATOMIC_DEFAULT  16

int attr_take(void *dst, size_t known, size_t least, const void *src,
	      const char *what, struct error_text *e)
{
	const unsigned char *tail;
	size_t size, i;

	memset(dst, 0, known);
	if (!src)
		return 0;
	memcpy(&size, src, sizeof(size));
	if (!size)
		size = least;
	if (size < least)
		return error_set(e, -EINVAL,
				 "%s: size %zu is below release 0.1's %zu: set "
				 "size to sizeof the struct, or 0",
				 what, size, least);
	tail = src;
	for (i = known; i < size; i++)
		if (tail[i])
			return error_set(e, -E2BIG,
					 "%s: byte %zu is set but this library "
					 "(%s) knows %zu: install a newer "
					 "libwarpbell or leave the field zero",
					 what, i, wbell_version(), known);
	memcpy(dst, src, size < known ? size : known);
	return 0;
}

int attr_open(struct wbell_open_attr *a, struct error_text *e)
{
	uint32_t known = WBELL_OPEN_POLLED | WBELL_OPEN_NO_HUGE;

	if (a->flags & ~known)
		return error_set(e, -EINVAL,
				 "open flags 0x%x: 0x%x is not known: use "
				 "WBELL_OPEN_POLLED, WBELL_OPEN_NO_HUGE",
				 a->flags, a->flags & ~known);
	if (a->rsvd)
		return error_set(e, -EINVAL,
				 "open attribute rsvd: it is %u: set it to 0",
				 a->rsvd);
	if (!a->max_queues)
		a->max_queues = MAX_QUEUES_DEFAULT;
	if (a->max_queues > MAX_QUEUES_LIMIT)
		return error_set(e, -EINVAL,
				 "max_queues %u: above the limit: use at most "
				 "%u",
				 a->max_queues, MAX_QUEUES_LIMIT);
	return 0;
}

static int check_power(const char *what, uint32_t v, uint32_t max,
		       struct error_text *e)
{
	uint32_t below;

	if (v > max)
		return error_set(e, -EINVAL,
				 "%s %u: above the limit: use at most %u", what,
				 v, max);
	if (!(v & (v - 1)))
		return 0;
	below = 1U << (31 - __builtin_clz(v));
	return error_set(e, -EINVAL, "%s %u: not a power of two: use %u or %u",
			 what, v, below, below * 2);
}

static int check_range(const char *what, uint32_t v, uint32_t min, uint32_t max,
		       struct error_text *e)
{
	if (v >= min && v <= max)
		return 0;
	return error_set(e, -EINVAL, "%s %u: out of range: use %u to %u", what,
			 v, min, max);
}

static void fill_defaults(struct wbell_queue_attr *a)
{
	a->depth = a->depth ? a->depth : DEPTH_DEFAULT;
	a->timeout = a->timeout ? a->timeout : TIMEOUT_DEFAULT;
	a->retry_cnt = a->retry_cnt ? a->retry_cnt : RETRY_DEFAULT;
	a->rnr_retry = a->rnr_retry ? a->rnr_retry : RNR_RETRY_DEFAULT;
	a->min_rnr_timer = a->min_rnr_timer ? a->min_rnr_timer
					    : RNR_TIMER_DEFAULT;
	a->max_rd_atomic = a->max_rd_atomic ? a->max_rd_atomic
					    : RD_ATOMIC_DEFAULT;
	a->recv_sge = a->recv_sge ? a->recv_sge : 1;
}

static int check_sizes(const struct wbell_queue_attr *a, struct error_text *e)
{
	int rc;

	rc = check_power("queue depth", a->depth, WBELL_DEPTH_MAX, e);
	if (!rc && a->recv_depth)
		rc = check_power("queue recv_depth", a->recv_depth,
				 WBELL_DEPTH_MAX, e);
	if (!rc)
		rc = check_power("queue recv_sge", a->recv_sge, 4, e);
	if (!rc && a->path_mtu)
		rc = check_range("queue path_mtu", a->path_mtu, 256, 4096, e);
	if (!rc && a->path_mtu)
		rc = check_power("queue path_mtu", a->path_mtu, 4096, e);
	return rc;
}

static int check_transport(const struct wbell_queue_attr *a,
			   struct error_text *e)
{
	int rc;

	rc = check_range("queue timeout", a->timeout, 1, 31, e);
	if (!rc)
		rc = check_range("queue retry_cnt (1 + retries)", a->retry_cnt,
				 1, 8, e);
	if (!rc)
		rc = check_range("queue rnr_retry (1 + retries)", a->rnr_retry,
				 1, 8, e);
	if (!rc)
		rc = check_range("queue min_rnr_timer", a->min_rnr_timer, 0, 31,
				 e);
	if (!rc)
		rc = check_range("queue max_rd_atomic", a->max_rd_atomic, 1,
				 128, e);
	return rc;
}

int attr_queue(struct wbell_queue_attr *a, struct error_text *e)
{
	int rc;

	uint32_t known = WBELL_QUEUE_EXCLUSIVE | WBELL_QUEUE_COMPAT;

	if (a->flags & ~known)
		return error_set(e, -EINVAL,
				 "queue flags 0x%x: 0x%x is not known: use "
				 "WBELL_QUEUE_EXCLUSIVE or _COMPAT",
				 a->flags, a->flags & ~known);
	if (a->rsvd || a->rsvd2)
		return error_set(e, -EINVAL,
				 "queue attribute rsvd: it is %u, rsvd2 %u: "
				 "set both to 0",
				 a->rsvd, a->rsvd2);
	fill_defaults(a);
	rc = check_sizes(a, e);
	return rc ? rc : check_transport(a, e);
}
