/* SPDX-License-Identifier: BSD-2-Clause */
/* A team's insides. */
#ifndef WBELL_COLLECTIVES_PRIV_H
#define WBELL_COLLECTIVES_PRIV_H

#include "coll.h"

/* Pages that kernels were let into. */
struct coll_span {
	uintptr_t start, end;
};

struct coll_team {
	struct wbell_ctx *ctx;
	struct wbell_mem *mem;
	struct wbell_queue *queue[COLL_CHANNELS_MAX][COLL_RANKS_MAX];
	struct coll_team_view *view;
	void *window;
	struct coll_span *span;
	uint32_t spans;
	/* the kernel that stays */
	struct coll_ring *ring;
	struct coll_args *args;
	struct wbell_launch *launch;
	uint64_t posted;
};

int coll_fail(struct coll_text *why, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Lets kernels reach the queues' memory, where that needs leave. */
int coll_map(struct coll_team *team, struct coll_text *why);
void coll_unmap(struct coll_team *team);

#endif /* WBELL_COLLECTIVES_PRIV_H */
