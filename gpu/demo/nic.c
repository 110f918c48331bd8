// SPDX-License-Identifier: BSD-2-Clause
/*
 * One end's context, queues and kernels.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#include "demo.h"

#define TICK_US 100000 /* how often the host looks after a kernel */
#define DEPTH	256

static int fail_ctx(const struct nic *nic, int code)
{
	fprintf(stderr, "warpbell-demo: %s\n", wbell_error(nic->ctx));
	return code;
}

int nic_open(struct nic *nic, const struct demo_options *opt)
{
	struct wbell_open_attr attr = { .size = sizeof(attr),
					.wire = opt->wire };

	if (!strcmp(wbell_launch_device(), "no usable GPU"))
		return demo_fail(DEMO_CANNOT, "kernels", "no usable GPU",
				 "run warpbell-demo, which uses CPU threads");
	if (wbell_open(&attr, &nic->ctx))
		return fail_ctx(nic, DEMO_CANNOT);
	nic->view = wbell_launch_alloc(sizeof(*nic->view));
	if (!nic->view)
		return demo_fail(DEMO_CANNOT, "memory for kernels",
				 strerror(ENOMEM), "free some memory");
	nic->view->timeout_us = opt->timeout_ms * 1000;
	if (wbell_info(nic->ctx, &nic->info))
		return fail_ctx(nic, DEMO_CANNOT);
	return DEMO_GOOD;
}

int nic_queues(struct nic *nic, uint32_t queues)
{
	struct wbell_queue_attr attr = { .size = sizeof(attr), .depth = DEPTH };
	uint32_t i;

	for (i = 0; i < queues; i++) {
		if (wbell_queue_create(nic->ctx, &attr, &nic->queue[i]))
			return fail_ctx(nic, DEMO_CANNOT);
		nic->queues = i + 1;
		if (wbell_queue_device(nic->queue[i], &nic->view->dq[i]))
			return fail_ctx(nic, DEMO_CANNOT);
	}
	nic->view->n = queues;
	return nic_map_views(nic);
}

int nic_addresses(struct nic *nic, struct wbell_address *address)
{
	uint32_t i;

	for (i = 0; i < nic->queues; i++)
		if (wbell_queue_address(nic->queue[i], &address[i]))
			return fail_ctx(nic, DEMO_CANNOT);
	return DEMO_GOOD;
}

int nic_connect(struct nic *nic, const struct wbell_address *peer)
{
	uint32_t i;

	for (i = 0; i < nic->queues; i++)
		if (wbell_queue_connect(nic->queue[i], &peer[i]))
			return fail_ctx(nic, DEMO_FAILED);
	return DEMO_GOOD;
}

int nic_register(struct nic *nic, void *addr, size_t len, uint32_t access,
		 struct wbell_mem **mem)
{
	if (wbell_mem_register(nic->ctx, addr, len, access, mem))
		return fail_ctx(nic, DEMO_CANNOT);
	return DEMO_GOOD;
}

int nic_report(struct nic *nic)
{
	struct wbell_error_record rec;
	char text[256];
	uint32_t i;

	for (i = 0; i < nic->queues; i++) {
		if (wbell_queue_error(nic->queue[i], &rec))
			continue;
		wbell_error_record_text(&rec, text, sizeof(text));
		return demo_fail(DEMO_FAILED, text, nic->info.nic,
				 "see whether the peer and the wire are up");
	}
	return -ENOENT;
}

void nic_close(struct nic *nic)
{
	nic_unmap_views(nic);
	while (nic->queues)
		wbell_queue_destroy(nic->queue[--nic->queues]);
	if (nic->ctx)
		wbell_close(nic->ctx);
	wbell_launch_free(nic->view);
	memset(nic, 0, sizeof(*nic));
}

static uint64_t done_of(const struct job *job)
{
	uint64_t done = 0;
	uint32_t i;

	for (i = 0; i < job->blocks * job->threads; i++)
		done += __atomic_load_n(&job->lanes[i].done, __ATOMIC_RELAXED);
	return done;
}

static void show(const struct job *job, int last)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (last)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\r%s %3.0f %%", job->doing,
			100.0 * done_of(job) / job->goal);
}

/* Waits for the grid, and for it still after the peer went. */
static int wait_grid(struct job *job, struct wbell_launch *launch, int *gone)
{
	int rc;

	*gone = 0;
	do {
		rc = wbell_launch_wait(launch, TICK_US);
		if (*gone || rc != -ETIMEDOUT)
			continue;
		show(job, 0);
		boot_alive(job->boot);
		*gone = boot_gone(job->boot);
		if (*gone)
			wbell_abort(job->nic->ctx);
	} while (rc == -ETIMEDOUT);
	show(job, 1);
	return rc;
}

/* The first lane that failed says why, better still its queue's record. */
static int fail_lane(const struct job *job, const struct demo_lane *lane)
{
	char what[64];
	int rc;

	rc = nic_report(job->nic);
	if (rc != -ENOENT)
		return rc;
	snprintf(what, sizeof(what), "%s on queue %u", job->doing, lane->queue);
	return demo_fail(DEMO_FAILED, what, wbell_status_text(lane->status),
			 "see whether the peer is up, or raise --timeout-ms");
}

static int judge(const struct job *job, int gone)
{
	uint32_t i;

	for (i = 0; i < job->blocks * job->threads; i++) {
		if (!job->lanes[i].status)
			continue;
		/* a dead peer fails queues too: its going is the cause */
		if (!gone)
			usleep(TICK_US);
		gone = gone ? gone : boot_gone(job->boot);
		if (gone)
			return boot_fail_gone(job->boot, gone, job->doing);
		return fail_lane(job, &job->lanes[i]);
	}
	return DEMO_GOOD;
}

int job_run(struct job *job, wbell_kernel_fn kernel, void *args)
{
	struct wbell_grid grid = { .blocks = job->blocks,
				   .threads = job->threads };
	struct wbell_launch *launch;
	uint64_t start;
	int rc, gone;

	memset(job->lanes, 0, sizeof(*job->lanes) * job->blocks * job->threads);
	start = wbell_host_now();
	rc = wbell_launch(&grid, kernel, args, &launch);
	if (rc)
		return demo_fail(DEMO_CANNOT, job->doing, strerror(-rc),
				 "use fewer threads");
	rc = wait_grid(job, launch, &gone);
	job->elapsed_ns = wbell_host_now() - start;
	if (rc)
		return demo_fail(DEMO_FAILED, job->doing, strerror(-rc),
				 "see the GPU's log");
	return judge(job, gone);
}
