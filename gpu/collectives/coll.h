/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collectives, host side: a team of ranks, and the kernel that works for it.
 *
 * Calls return 0, -errno or, where they report a kernel's end, a device
 * status; the reason goes into the caller's text.  A team belongs to one
 * thread.  How ranks find each other is the caller's: coll_gather_fn.
 */
#ifndef WBELL_COLLECTIVES_COLL_H
#define WBELL_COLLECTIVES_COLL_H

#include "wbell/wbell.h"
#include "work.h"

struct coll_team;

/* "what failed: the fact seen: the mend" */
struct coll_text {
	char s[512];
};

/* All ranks give size bytes and get all of them in order of rank. */
typedef int (*coll_gather_fn)(void *arg, const void *mine, void *all,
			      uint32_t size);

struct coll_team_attr {
	const char *wire;
	uint32_t rank, ranks; /* 2..COLL_RANKS_MAX */
	uint32_t channels;    /* 1..COLL_CHANNELS_MAX, alike on all ranks */
	uint32_t timeout_ms;  /* longest wait without progress */
	uint64_t user_size;   /* of the window, alike on all ranks */
	coll_gather_fn gather;
	void *gather_arg;
};

/* why is empty when gather failed: it has its own words. */
int coll_team_open(const struct coll_team_attr *attr, struct coll_text *why,
		   struct coll_team **team);
/* All ranks must have finished: a NIC that is gone answers nobody. */
void coll_team_close(struct coll_team *team);
/* The user part of the window; kernels and peers' NICs reach it. */
void *coll_team_user(struct coll_team *team);
struct wbell_ctx *coll_team_ctx(struct coll_team *team);
const struct coll_team_view *coll_team_view(const struct coll_team *team);

/* ---- work ---- */

/* Start the kernel that stays: threads per channel. */
int coll_start(struct coll_team *team, uint32_t threads, struct coll_text *why);

/*
 * Give it a descriptor, which is copied; *posted stays valid until
 * COLL_WORKS more were posted.  -EAGAIN: the ring is full.
 */
int coll_post(struct coll_team *team, const struct coll_work *work,
	      const struct coll_work **posted);

/*
 * Asked a few times a second while a wait lasts; anything but 0 ends all
 * waits of the kernel and is what coll_wait() returns.
 */
typedef int (*coll_watch_fn)(void *arg);

/*
 * Until all that was posted is done.  Not 0: the kernel has ended, and why
 * names operation, step and rank.
 */
int coll_wait(struct coll_team *team, coll_watch_fn watch, void *arg,
	      struct coll_text *why);

/* End the kernel. */
int coll_stop(struct coll_team *team, struct coll_text *why);

const char *coll_op_text(uint32_t op);	   /* "all-reduce, ring" */
const char *coll_type_text(uint32_t type); /* "fp32" */

#endif /* WBELL_COLLECTIVES_COLL_H */
