// SPDX-License-Identifier: GPL-2.0-only
/* Checks of what user space says about a queue: see desc.h. */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include "../include/wbell/queue.h"
#include "desc.h"
#include "range.h"

static const char *const names[WBELL_REGION_COUNT] = { "sq", "cq", "db" };

static int bad(struct wbell_desc_fault *fault, const char *member,
	       const char *want, int rc)
{
	fault->member = member;
	fault->want = want;
	return rc;
}

/* least: bytes it must hold; 0: it may be absent */
static int region_check(const struct wbell_u_range *r, u64 least,
			const char *name, struct wbell_desc_fault *fault)
{
	int rc;

	if (r->rsvd)
		return bad(fault, name, "rsvd 0", -EINVAL);
	if (!r->object) {
		if (r->offset || r->len)
			return bad(fault, name, "an object", -EINVAL);
		if (least)
			return bad(fault, name, "to be there", -EINVAL);
		return 0;
	}
	rc = wbell_range_pages(r->offset, r->len, U64_MAX);
	if (rc == -EOVERFLOW)
		return bad(fault, name, "no wrap", rc);
	if (rc)
		return bad(fault, name, "whole pages", rc);
	if (r->len < least)
		return bad(fault, name, "depth * 64 bytes, a page", -EINVAL);
	return 0;
}

static int overlap_check(const struct wbell_u_range *r,
			 struct wbell_desc_fault *fault)
{
	int i, j;

	for (i = 0; i < WBELL_REGION_COUNT; i++)
		for (j = 0; j < i; j++)
			if (r[i].object && r[i].object == r[j].object &&
			    wbell_range_overlap(r[i].offset, r[i].len,
						r[j].offset, r[j].len))
				return bad(fault, names[i], "no overlap",
					   -EINVAL);
	return 0;
}

int wbell_desc_check(const struct wbell_u_queue_create *desc,
		     struct wbell_desc_fault *fault)
{
	bool served = desc->nic;
	u64 ring = (u64)desc->depth << WBELL_BB_SHIFT;
	u64 least[WBELL_REGION_COUNT] = { ring, ring, PAGE_SIZE };
	int i, rc;

	if (desc->rsvd)
		return bad(fault, "rsvd", "0", -EINVAL);
	if (!is_power_of_2(desc->depth) || desc->depth > WBELL_DEPTH_MAX)
		return bad(fault, "depth", "a power of two <= 32768", -EINVAL);
	if (desc->cq_eventfd < -1)
		return bad(fault, "cq_eventfd", "-1 or an fd", -EINVAL);
	if (!desc->nic && !desc->window)
		return bad(fault, "nic", "a nic or a window", -EINVAL);
	if (!desc->window && desc->slot)
		return bad(fault, "slot", "a window", -EINVAL);
	for (i = 0; i < WBELL_REGION_COUNT; i++) {
		rc = region_check(&desc->region[i], served ? least[i] : 0,
				  names[i], fault);
		if (rc)
			return rc;
	}
	return overlap_check(desc->region, fault);
}

int wbell_desc_name(const char name[WBELL_NAME_MAX])
{
	bool end = false;
	int i;

	for (i = 0; i < WBELL_NAME_MAX; i++) {
		char c = name[i];

		if (!c) {
			end = true;
			continue;
		}
		if (end || !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			     c == '.' || c == '_' || c == '-'))
			return -EINVAL;
	}
	return name[0] && end ? 0 : -EINVAL;
}
