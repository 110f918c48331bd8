// SPDX-License-Identifier: BSD-2-Clause
/* Work for the kernel that stays, and what it says when it ends. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "priv.h"

#define POLL_NS	 50000
#define WATCH_NS 100000000ULL
#define IDLE_US	 3600000000ULL /* a host may think for an hour */
#define GRACE_US 10000000ULL   /* past the longest wait of a kernel */

static const char *const ops[COLL_OPS] = {
	[COLL_QUIT] = "idle",
	[COLL_BARRIER] = "barrier",
	[COLL_ALL_GATHER] = "all-gather",
	[COLL_REDUCE_SCATTER] = "reduce-scatter",
	[COLL_ALL_REDUCE_RING] = "all-reduce-ring",
	[COLL_ALL_REDUCE_TREE] = "all-reduce-tree",
	[COLL_ALL_TO_ALL] = "all-to-all",
	[COLL_DISPATCH] = "moe-dispatch",
	[COLL_COMBINE] = "moe-combine",
	[COLL_PAGES] = "kv-pages",
	[COLL_SHIFT] = "shift",
	[COLL_PUTS] = "puts",
};

const char *coll_op_text(uint32_t op)
{
	return op < COLL_OPS ? ops[op] : "unknown";
}

const char *coll_type_text(uint32_t type)
{
	static const char *const types[COLL_TYPES] = {
		[COLL_F32] = "fp32",
		[COLL_BF16] = "bf16",
		[COLL_I32] = "int32",
	};

	return type < COLL_TYPES ? types[type] : "unknown";
}

int coll_start(struct coll_team *team, uint32_t threads, struct coll_text *why)
{
	struct wbell_grid grid = { .blocks = team->view->channels,
				   .threads = threads,
				   .workers = team->view->channels };
	int rc;

	if (team->launch)
		return coll_fail(
			why, -EBUSY,
			"start: the team's kernel runs: stop it first");
	memset(team->ring, 0, sizeof(*team->ring));
	team->ring->idle_us = IDLE_US;
	team->posted = 0;
	team->args->team = team->view;
	team->args->ring = team->ring;
	rc = wbell_launch(&grid, coll_stay, team->args, &team->launch);
	if (rc)
		return coll_fail(why, rc,
				 "start of %u channels of %u threads: %s: use "
				 "fewer",
				 grid.blocks, threads, strerror(-rc));
	return 0;
}

static uint64_t done_by_all(const struct coll_team *team)
{
	uint64_t done, least = team->posted;
	uint32_t c;

	for (c = 0; c < team->view->channels; c++) {
		done = __atomic_load_n(&team->ring->channel[c].done,
				       __ATOMIC_ACQUIRE);
		if (done < least)
			least = done;
	}
	return least;
}

int coll_post(struct coll_team *team, const struct coll_work *work,
	      const struct coll_work **posted)
{
	struct coll_work *w = &team->ring->work[team->posted % COLL_WORKS];

	if (team->posted - done_by_all(team) == COLL_WORKS)
		return -EAGAIN;
	*w = *work;
	if (posted)
		*posted = w;
	__atomic_store_n(&team->ring->posted, ++team->posted, __ATOMIC_RELEASE);
	return 0;
}

static int failed(const struct coll_team *team, uint32_t *channel)
{
	uint32_t c;
	int rc, any = 0;

	/* a cancelled channel only follows another's failure */
	for (c = 0; c < team->view->channels; c++) {
		rc = __atomic_load_n(&team->ring->channel[c].status,
				     __ATOMIC_ACQUIRE);
		if (!rc || (any && rc == WBELL_ECANCELED))
			continue;
		any = rc;
		*channel = c;
	}
	return any;
}

/* The record of the queue toward the peer, if that has failed. */
static int record_text(const struct coll_team *team, uint32_t c, uint32_t peer,
		       char *text, size_t size)
{
	struct wbell_error_record rec;

	if (peer >= team->view->ranks || peer == team->view->rank ||
	    wbell_queue_error(team->queue[c][peer], &rec))
		return -ENOENT;
	return wbell_error_record_text(&rec, text, size);
}

static const char *mend(int status)
{
	if (status == WBELL_EINVAL)
		return "give every rank the same, within its window";
	return "see that rank's own output, or raise --timeout-ms";
}

static int describe(const struct coll_team *team, uint32_t c, int status,
		    struct coll_text *why)
{
	const struct coll_channel *ch = &team->view->channel[c];
	char cause[256], where[64] = "";

	if (record_text(team, c, ch->peer, cause, sizeof(cause)) < 0)
		snprintf(cause, sizeof(cause), "%s", wbell_status_text(status));
	if (ch->peer != COLL_NOBODY)
		snprintf(where, sizeof(where), ", waiting for rank %u",
			 ch->peer);
	return coll_fail(why, status, "%s, channel %u, step %u%s: %s: %s",
			 coll_op_text(ch->op), c, ch->step, where, cause,
			 mend(status));
}

/* After a failure: every channel ends, soon. */
static int end_all(struct coll_team *team)
{
	int rc;

	wbell_abort(team->ctx);
	rc = wbell_launch_wait(team->launch, team->view->timeout_us + GRACE_US);
	if (rc != -ETIMEDOUT)
		team->launch = NULL;
	return rc;
}

static int give_up(struct coll_team *team, int watched, struct coll_text *why)
{
	uint32_t c = 0;
	int rc;

	if (!watched) {
		rc = failed(team, &c);
		describe(team, c, rc, why);
		end_all(team);
		return rc;
	}
	end_all(team);
	rc = failed(team, &c);
	if (rc)
		describe(team, c, rc, why);
	return watched;
}

int coll_wait(struct coll_team *team, coll_watch_fn watch, void *arg,
	      struct coll_text *why)
{
	const struct timespec nap = { .tv_nsec = POLL_NS };
	uint64_t last = wbell_host_now();
	uint32_t c = 0;
	int watched = 0;

	*why->s = '\0';
	if (!team->launch)
		return coll_fail(why, -EINVAL,
				 "wait: no kernel runs: start it first");
	while (done_by_all(team) < team->posted) {
		if (watched || failed(team, &c))
			return give_up(team, watched, why);
		nanosleep(&nap, NULL);
		if (watch && wbell_host_now() - last >= WATCH_NS) {
			watched = watch(arg);
			last = wbell_host_now();
		}
	}
	return 0;
}

int coll_stop(struct coll_team *team, struct coll_text *why)
{
	struct coll_work quit = { .op = COLL_QUIT };
	int rc;

	if (!team->launch)
		return 0;
	/* a full ring means that the kernel does not get on */
	if (coll_post(team, &quit, NULL))
		wbell_abort(team->ctx);
	rc = wbell_launch_wait(team->launch, team->view->timeout_us + GRACE_US);
	if (rc == -ETIMEDOUT)
		rc = end_all(team);
	if (rc)
		return coll_fail(why, rc, "stop: %s: see the GPU's log",
				 strerror(-rc));
	team->launch = NULL;
	return 0;
}
