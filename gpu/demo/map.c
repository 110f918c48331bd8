// SPDX-License-Identifier: BSD-2-Clause
/*
 * A GPU reaches a queue's rings and words only where their pages have been
 * mapped for it, each page once: spans are gathered, sorted and joined first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo.h"

#define SPANS_OF_QUEUE 9

static void add(struct nic *nic, uint64_t addr, size_t size)
{
	uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	struct span *s = &nic->span[nic->spans];

	if (!addr)
		return;
	s->start = addr & ~mask;
	s->end = (addr + size + mask) & ~mask;
	nic->spans++;
}

static void add_queue(struct nic *nic, const struct wbell_dqueue *q)
{
	add(nic, (uintptr_t)q, sizeof(*q));
	add(nic, q->sq, (size_t)WBELL_BB_SIZE << q->log_depth);
	add(nic, q->cq, sizeof(struct wbell_cqe) << q->log_cq);
	add(nic, q->db, sizeof(uint64_t));
	add(nic, q->dbrec, sizeof(struct wbell_dbrec));
	add(nic, q->abort, sizeof(uint32_t));
	add(nic, q->error, sizeof(struct wbell_error_record));
	add(nic, q->sink, sizeof(uint64_t));
	add(nic, q->cq_dbrec, sizeof(struct wbell_cq_dbrec));
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void join(struct nic *nic)
{
	uint32_t i, last = 0;

	qsort(nic->span, nic->spans, sizeof(*nic->span), by_start);
	for (i = 1; i < nic->spans; i++) {
		if (nic->span[i].start > nic->span[last].end)
			nic->span[++last] = nic->span[i];
		else if (nic->span[i].end > nic->span[last].end)
			nic->span[last].end = nic->span[i].end;
	}
	nic->spans = last + 1;
}

int nic_map_views(struct nic *nic)
{
	uint32_t i, spans;
	int rc = 0;

	nic->span = calloc(nic->queues * SPANS_OF_QUEUE, sizeof(*nic->span));
	if (!nic->span)
		return demo_fail(DEMO_CANNOT, "queues", strerror(ENOMEM),
				 "free some memory");
	for (i = 0; i < nic->queues; i++)
		add_queue(nic, nic->view->dq[i]);
	join(nic);
	spans = nic->spans;
	for (nic->spans = 0; nic->spans < spans && !rc;) {
		struct span *s = &nic->span[nic->spans];

		rc = wbell_launch_map((void *)s->start, s->end - s->start);
		if (!rc)
			nic->spans++;
	}
	if (!rc)
		return DEMO_GOOD;
	return demo_fail(DEMO_CANNOT, "queues for the GPU", strerror(-rc),
			 "use warpbell-demo, which runs on CPU threads");
}

void nic_unmap_views(struct nic *nic)
{
	while (nic->spans)
		wbell_launch_unmap((void *)nic->span[--nic->spans].start);
	free(nic->span);
	nic->span = NULL;
}
