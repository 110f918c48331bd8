// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queues' rings and words for kernels on a GPU: whole pages, each once, so
 * ranges are sorted and joined before they are mapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "priv.h"

#define PARTS 9 /* of a queue */

static void note(struct coll_team *team, uint64_t addr, uint64_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct coll_span *s = &team->span[team->spans];

	if (!addr || !size)
		return;
	s->start = addr / page * page;
	s->end = (addr + size + page - 1) / page * page;
	team->spans++;
}

static void note_queue(struct coll_team *team, const struct wbell_dqueue *q)
{
	note(team, (uintptr_t)q, sizeof(*q));
	note(team, q->sq, (uint64_t)WBELL_BB_SIZE << q->log_depth);
	note(team, q->cq, sizeof(struct wbell_cqe) << q->log_cq);
	note(team, q->db, sizeof(uint64_t));
	note(team, q->dbrec, sizeof(struct wbell_dbrec));
	note(team, q->abort, sizeof(uint32_t));
	note(team, q->error, sizeof(struct wbell_error_record));
	note(team, q->sink, sizeof(uint64_t));
	note(team, q->cq_dbrec, sizeof(struct wbell_cq_dbrec));
}

static int compare(const void *a, const void *b)
{
	const struct coll_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static uint32_t join(struct coll_span *s, uint32_t n)
{
	uint32_t i, kept = 0;

	qsort(s, n, sizeof(*s), compare);
	for (i = 1; i < n; i++) {
		if (s[i].start > s[kept].end)
			s[++kept] = s[i];
		else if (s[i].end > s[kept].end)
			s[kept].end = s[i].end;
	}
	return n ? kept + 1 : 0;
}

int coll_map(struct coll_team *team, struct coll_text *why)
{
	const struct coll_team_view *v = team->view;
	uint32_t c, r, n;
	int rc = 0;

	team->span = calloc((size_t)v->channels * v->ranks * PARTS,
			    sizeof(*team->span));
	if (!team->span)
		return coll_fail(why, -ENOMEM,
				 "queues for kernels: no memory: free some");
	for (c = 0; c < v->channels; c++)
		for (r = 0; r < v->ranks; r++)
			if (r != v->rank)
				note_queue(team, v->channel[c].link[r].q);
	n = join(team->span, team->spans);
	for (team->spans = 0; team->spans < n && !rc;) {
		struct coll_span *s = &team->span[team->spans];

		rc = wbell_launch_map((void *)s->start, s->end - s->start);
		team->spans += !rc;
	}
	if (!rc)
		return 0;
	return coll_fail(why, rc,
			 "queues for kernels: %s: use the build that runs "
			 "kernels on CPU threads",
			 strerror(-rc));
}

void coll_unmap(struct coll_team *team)
{
	while (team->spans)
		wbell_launch_unmap((void *)team->span[--team->spans].start);
	free(team->span);
	team->span = NULL;
}
