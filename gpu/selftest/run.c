// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

#define TIMEOUT_US 20000000U /* of one wait in a kernel */
#define JOIN_US	   60000000U
#define WORKERS	   2 /* OS threads for a grid on CPU threads */

int run_fail(struct run *run, const char *text, ...)
{
	va_list ap;

	if (run->why[0])
		return -1;
	va_start(ap, text);
	vsnprintf(run->why, sizeof(run->why), text, ap);
	va_end(ap);
	return -1;
}

int run_on_cpu(void)
{
	return !strcmp(wbell_launch_device(), "CPU threads");
}

static void fill_args(struct run *run, uint32_t queues)
{
	struct self_args *a = run->args;
	uint32_t i;

	for (i = 0; i < queues; i++)
		a->q[i] = rig_queue(run->rig, 0, i);
	a->peer = rig_queue(run->rig, 1, 0);
	a->queues = queues;
	a->lkey = rig_key(run->rig, 0);
	a->rkey = a->peer_key = rig_key(run->rig, 1);
	a->local = (uintptr_t)rig_payload(run->rig, 0);
	a->remote = (uintptr_t)rig_payload(run->rig, 1);
	a->timeout_us = TIMEOUT_US;
}

int run_open(struct run *run, const struct rig_attr *rig, uint32_t blocks,
	     uint32_t threads)
{
	int rc;

	memset(run, 0, sizeof(*run));
	run->grid.blocks = blocks;
	run->grid.threads = threads;
	run->grid.workers = WORKERS;
	run->lanes = blocks * threads;
	if (run->lanes > SELF_LANES)
		return run_fail(run, "grid: %u threads: at most %u", run->lanes,
				SELF_LANES);
	run->args = wbell_launch_alloc(sizeof(*run->args));
	if (!run->args)
		return run_fail(run, "arguments: no memory that %s shares",
				wbell_launch_device());
	rc = rig_open(rig, &run->rig);
	if (rc)
		return run_fail(run, "software NICs for %s: %s",
				wbell_launch_device(), strerror(-rc));
	fill_args(run, rig->queues ? rig->queues : 1);
	return 0;
}

void run_close(struct run *run)
{
	rig_close(run->rig);
	wbell_launch_free(run->args);
}

static int judge_lanes(struct run *run)
{
	uint32_t i;

	for (i = 0; i < run->lanes; i++) {
		const struct self_lane *l = &run->args->lane[i];

		if (l->line)
			return run_fail(run,
					"thread %u of %u, %s.c:%d: "
					"got %d, expected %d",
					i, run->lanes,
					l->file ? "groups" : "kernels", l->line,
					l->got, l->want);
	}
	return 0;
}

static int join(struct run *run, struct wbell_launch *launch)
{
	int rc = wbell_launch_wait(launch, JOIN_US);

	if (rc == -ETIMEDOUT) {
		run_fail(run, "kernel: still runs after %u s",
			 JOIN_US / 1000000);
		rig_abort(run->rig);
		rc = wbell_launch_wait(launch, JOIN_US);
	}
	if (rc == -ETIMEDOUT) { /* its memory must stay: leave all of it */
		run->rig = NULL;
		run->args = NULL;
		return run_fail(run, "kernel: runs on in spite of the abort");
	}
	return rc ? run_fail(run, "kernel on %s: %s", wbell_launch_device(),
			     strerror(-rc))
		  : 0;
}

int run_kernel(struct run *run, wbell_kernel_fn kernel,
	       void (*during)(struct run *run))
{
	struct wbell_launch *launch;
	int rc = wbell_launch(&run->grid, kernel, run->args, &launch);

	if (rc)
		return run_fail(run, "launch on %s: %s", wbell_launch_device(),
				strerror(-rc));
	if (during)
		during(run);
	if (join(run, launch) || run->why[0])
		return -1;
	return judge_lanes(run);
}
