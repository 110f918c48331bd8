// SPDX-License-Identifier: GPL-2.0-only
/* Allocator of mmap offsets: see offset.h. */
#include <linux/errno.h>
#include "offset.h"

static struct wbell_span *span_of(struct rb_node *node)
{
	return node ? rb_entry(node, struct wbell_span, node) : NULL;
}

void wbell_offsets_init(struct wbell_offsets *offsets, unsigned long first,
			unsigned long end)
{
	offsets->root = RB_ROOT;
	offsets->first = first;
	offsets->end = end;
	offsets->next = first;
}

/* The first span that ends behind page. */
static struct wbell_span *span_behind(const struct wbell_offsets *offsets,
				      unsigned long page)
{
	struct rb_node *node = offsets->root.rb_node;
	struct wbell_span *span, *found = NULL;

	while (node) {
		span = span_of(node);
		if (span->start + span->pages > page) {
			found = span;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

struct wbell_span *wbell_offsets_find(const struct wbell_offsets *offsets,
				      unsigned long page)
{
	struct wbell_span *span = span_behind(offsets, page);

	return span && span->start <= page ? span : NULL;
}

/* Start of a gap of that many pages in [from, end), or 0. */
static unsigned long gap_find(const struct wbell_offsets *offsets,
			      unsigned long from, unsigned long pages)
{
	struct wbell_span *span = span_behind(offsets, from);
	unsigned long at = from;

	for (; span; span = span_of(rb_next(&span->node))) {
		if (span->start > at && span->start - at >= pages)
			return at;
		at = span->start + span->pages;
	}
	return at <= offsets->end && offsets->end - at >= pages ? at : 0;
}

static void span_insert(struct wbell_offsets *offsets, struct wbell_span *span)
{
	struct rb_node **link = &offsets->root.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		if (span->start < span_of(parent)->start)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&span->node, parent, link);
	rb_insert_color(&span->node, &offsets->root);
}

int wbell_offsets_add(struct wbell_offsets *offsets, struct wbell_span *span,
		      unsigned long pages)
{
	unsigned long start;

	if (!pages)
		return -EINVAL;
	start = gap_find(offsets, offsets->next, pages);
	if (!start)
		start = gap_find(offsets, offsets->first, pages);
	if (!start)
		return -ENOSPC;
	span->start = start;
	span->pages = pages;
	span_insert(offsets, span);
	offsets->next = start + pages;
	return 0;
}

void wbell_offsets_remove(struct wbell_offsets *offsets,
			  struct wbell_span *span)
{
	rb_erase(&span->node, &offsets->root);
	RB_CLEAR_NODE(&span->node);
}
