// SPDX-License-Identifier: GPL-2.0-only
/* Doorbell pages and their quarantine: see quarantine.h. */
#include <linux/errno.h>
#include "quarantine.h"

static void page_free(struct wbell_pages *pages, struct wbell_page *page)
{
	if (page->state == WBELL_PAGE_QUARANTINED)
		pages->quarantined--;
	else if (page->state == WBELL_PAGE_OWNED)
		pages->owned--;
	if (page->owner)
		pages->ops->put(page->owner);
	page->owner = NULL;
	page->state = WBELL_PAGE_FREE;
	page->queue = 0;
	page->gone = false;
}

/* The grace runs from when the end of the owner was seen first. */
u32 wbell_pages_age(struct wbell_pages *pages, u64 now)
{
	struct wbell_page *page;
	u32 i, freed = 0;

	for (i = 0; i < pages->count; i++) {
		page = &pages->page[i];
		if (page->state != WBELL_PAGE_QUARANTINED)
			continue;
		if (!page->gone && pages->ops->gone(page->owner)) {
			page->gone = true;
			page->since = now;
		}
		if (page->gone && now - page->since >= pages->grace) {
			page_free(pages, page);
			freed++;
		}
	}
	return freed;
}

/* own: in quarantine and owner's; else: free */
static bool page_fits(const struct wbell_pages *pages,
		      const struct wbell_page *page, void *owner, bool own)
{
	if (!own)
		return page->state == WBELL_PAGE_FREE;
	return page->state == WBELL_PAGE_QUARANTINED &&
	       pages->ops->same(page->owner, owner);
}

static int run_find(const struct wbell_pages *pages, u32 n, void *owner,
		    bool own, u32 *first)
{
	u32 i, run = 0;

	if (!n)
		return -EINVAL;
	for (i = 0; i < pages->count; i++) {
		if (page_fits(pages, &pages->page[i], owner, own))
			run++;
		else
			run = 0;
		if (run == n) {
			*first = i + 1 - n;
			return 0;
		}
	}
	return -ENOSPC;
}

int wbell_pages_retake(struct wbell_pages *pages, u32 n, void *owner,
		       u32 *first)
{
	int rc = run_find(pages, n, owner, true, first);
	u32 i;

	if (rc)
		return rc;
	for (i = *first; i < *first + n; i++)
		pages->page[i].state = WBELL_PAGE_OWNED;
	pages->quarantined -= n;
	pages->owned += n;
	return 0;
}

int wbell_pages_take(struct wbell_pages *pages, u32 n, void *owner, u64 now,
		     u32 *first)
{
	struct wbell_page *page;
	int rc;
	u32 i;

	wbell_pages_age(pages, now);
	rc = run_find(pages, n, owner, false, first);
	if (rc)
		return rc;
	for (i = *first; i < *first + n; i++) {
		page = &pages->page[i];
		page->state = WBELL_PAGE_OWNED;
		page->owner = pages->ops->get(owner);
		page->queue = 0;
	}
	pages->owned += n;
	return 0;
}

void wbell_pages_give(struct wbell_pages *pages, u32 first, u32 n, u64 now)
{
	struct wbell_page *page;
	u32 i;

	for (i = first; i < first + n; i++) {
		page = &pages->page[i];
		if (page->state != WBELL_PAGE_OWNED)
			continue; /* dropped meanwhile */
		page->state = WBELL_PAGE_QUARANTINED;
		page->queue = 0;
		page->since = now;
		page->gone = false;
		pages->owned--;
		pages->quarantined++;
	}
}

void wbell_pages_drop(struct wbell_pages *pages)
{
	u32 i;

	for (i = 0; i < pages->count; i++)
		page_free(pages, &pages->page[i]);
}

int wbell_pages_claim(struct wbell_pages *pages, u32 i, u32 queue)
{
	if (pages->page[i].queue)
		return -EBUSY;
	pages->page[i].queue = queue;
	return 0;
}

void wbell_pages_unclaim(struct wbell_pages *pages, u32 i, u32 queue)
{
	if (pages->page[i].queue == queue)
		pages->page[i].queue = 0;
}
