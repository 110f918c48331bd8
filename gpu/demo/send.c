// SPDX-License-Identifier: BSD-2-Clause
/*
 * The sending end: the file by put_signal, a part of it back by get, a
 * counter by fetch_add, then 8-byte puts one by one and in a spray.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define PULL_MAX (16U << 20) /* bytes read back */
#define ADDS	 64	     /* fetch_adds of each thread */
#define PINGS	 1000	     /* 8-byte puts, one at a time */
#define WINDOW	 8	     /* 8-byte puts a thread has on their way */

struct sender {
	const struct demo_options *opt;
	struct nic nic;
	struct boot boot;
	struct boot_offer offer;
	void *data, *back;
	size_t size, back_size;
	struct wbell_mem *data_mem, *back_mem, *result_mem;
	struct demo_lane *lanes;
	uint64_t *result;
	uint32_t adds;
	union {
		struct demo_copy copy;
		struct demo_small small;
	} * args;
	struct report report;
};

static int prepare(struct sender *s)
{
	const struct demo_options *opt = s->opt;
	int rc;

	rc = demo_load(opt->path, &s->data, &s->size);
	if (!rc)
		rc = demo_sha256(s->data, s->size, NULL, s->report.sha);
	if (!rc)
		rc = nic_open(&s->nic, opt);
	if (!rc)
		rc = nic_queues(&s->nic, opt->queues);
	if (rc)
		return rc;
	s->adds = opt->threads * ADDS;
	s->back_size = s->size < PULL_MAX ? s->size : PULL_MAX;
	s->back = demo_map(s->back_size);
	s->lanes = wbell_launch_alloc(opt->threads * sizeof(*s->lanes));
	s->result = wbell_launch_alloc(s->adds * sizeof(*s->result));
	s->args = wbell_launch_alloc(sizeof(*s->args));
	if (!s->back || !s->lanes || !s->result || !s->args)
		return demo_fail(DEMO_CANNOT, "memory for kernels",
				 strerror(ENOMEM), "use fewer threads");
	return DEMO_GOOD;
}

static int register_all(struct sender *s)
{
	int rc;

	rc = nic_register(&s->nic, s->data, s->size, 0, &s->data_mem);
	if (!rc)
		rc = nic_register(&s->nic, s->back, s->back_size,
				  WBELL_LOCAL_WRITE, &s->back_mem);
	if (!rc)
		rc = nic_register(&s->nic, s->result,
				  s->adds * sizeof(*s->result),
				  WBELL_LOCAL_WRITE, &s->result_mem);
	return rc;
}

/* HELLO out, OFFER in, connect, READY in. */
static int meet(struct sender *s)
{
	struct boot_hello hello = {
		.size = htobe64(s->size),
		.messages = htobe64(s->opt->messages),
		.chunk = htobe32(s->opt->chunk),
		.queues = htobe32(s->opt->queues),
	};
	int rc;

	rc = nic_addresses(&s->nic, hello.address);
	if (!rc)
		rc = boot_connect(&s->boot, s->opt->where, s->opt->timeout_ms);
	if (!rc)
		rc = boot_send(&s->boot, BOOT_HELLO, &hello, sizeof(hello));
	if (!rc)
		rc = boot_recv(&s->boot, BOOT_OFFER, &s->offer,
			       sizeof(s->offer));
	if (!rc)
		rc = nic_connect(&s->nic, s->offer.address);
	if (!rc)
		rc = boot_recv(&s->boot, BOOT_READY, NULL, 0);
	return rc;
}

static int run(struct sender *s, struct job *job, wbell_kernel_fn kernel)
{
	job->nic = &s->nic;
	job->boot = &s->boot;
	job->lanes = s->lanes;
	job->blocks = 1;
	if (!job->threads)
		job->threads = s->opt->threads;
	return job_run(job, kernel, s->args);
}

static uint64_t chunks_of(const struct sender *s, uint64_t size)
{
	return (size + s->opt->chunk - 1) / s->opt->chunk;
}

static int push(struct sender *s)
{
	struct job job = { .doing = "sending", .goal = s->size };
	struct demo_copy *a = &s->args->copy;
	int rc;

	memset(a, 0, sizeof(*a));
	a->queues = s->nic.view;
	a->lanes = s->lanes;
	a->local = (uintptr_t)s->data;
	a->lkey = wbell_mem_lkey(s->data_mem);
	a->remote = be64toh(s->offer.data);
	a->rkey = be32toh(s->offer.data_rkey);
	a->size = s->size;
	a->signal =
		be64toh(s->offer.words) + offsetof(struct demo_words, signal);
	a->signal_rkey = be32toh(s->offer.words_rkey);
	a->chunk = s->opt->chunk;
	rc = run(s, &job, demo_push);
	if (!rc)
		phase_take(&s->report.phase[PHASE_PUSH], &job,
			   chunks_of(s, s->size), s->size);
	return rc;
}

static int pull(struct sender *s)
{
	struct job job = { .doing = "reading back", .goal = s->back_size };
	struct demo_copy *a = &s->args->copy;
	int rc;

	a->local = (uintptr_t)s->back;
	a->lkey = wbell_mem_lkey(s->back_mem);
	a->size = s->back_size;
	rc = run(s, &job, demo_pull);
	if (rc)
		return rc;
	if (memcmp(s->back, s->data, s->back_size))
		return demo_fail(DEMO_FAILED, "reading back",
				 "the bytes differ from those sent",
				 "keep the capture and report it");
	phase_take(&s->report.phase[PHASE_PULL], &job,
		   chunks_of(s, s->back_size), s->back_size);
	return DEMO_GOOD;
}

static void small_args(struct sender *s, size_t offset, uint32_t each,
		       uint32_t window)
{
	struct demo_small *a = &s->args->small;

	memset(s->args, 0, sizeof(*s->args));
	a->queues = s->nic.view;
	a->lanes = s->lanes;
	a->remote = be64toh(s->offer.words) + offset;
	a->rkey = be32toh(s->offer.words_rkey);
	a->each = each;
	a->window = window;
}

/* Every value from 0 on must have been returned, and just once. */
static int check_results(const struct sender *s)
{
	unsigned char *seen = calloc(1, s->adds);
	uint32_t i, good = 0;
	char fact[80];

	if (!seen)
		return demo_fail(DEMO_CANNOT, "counting", strerror(ENOMEM),
				 "use fewer threads");
	for (i = 0; i < s->adds; i++)
		if (s->result[i] < s->adds && !seen[s->result[i]]++)
			good++;
	free(seen);
	if (good == s->adds)
		return DEMO_GOOD;
	snprintf(fact, sizeof(fact), "%u of %u fetch_adds gave a new value",
		 good, s->adds);
	return demo_fail(DEMO_FAILED, "counting", fact,
			 "keep the capture and report it");
}

static int count(struct sender *s)
{
	struct job job = { .doing = "counting", .goal = s->adds };
	int rc;

	small_args(s, offsetof(struct demo_words, counter), ADDS, 1);
	s->args->small.result = s->result;
	s->args->small.result_lkey = wbell_mem_lkey(s->result_mem);
	rc = run(s, &job, demo_count);
	if (!rc)
		rc = check_results(s);
	if (!rc)
		phase_take(&s->report.phase[PHASE_COUNT], &job, s->adds,
			   8ULL * s->adds);
	return rc;
}

static int spray(struct sender *s, int phase, uint32_t threads, uint32_t each,
		 uint32_t window)
{
	struct job job = { .doing = "small puts", .threads = threads };
	int rc;

	job.goal = (uint64_t)threads * each;
	small_args(s, offsetof(struct demo_words, slot), each, window);
	rc = run(s, &job, demo_spray);
	if (!rc)
		phase_take(&s->report.phase[phase], &job, job.goal,
			   8 * job.goal);
	return rc;
}

static int run_phases(struct sender *s)
{
	uint32_t each = s->opt->messages / s->opt->threads;
	int rc;

	rc = push(s);
	if (!rc)
		rc = pull(s);
	if (!rc)
		rc = count(s);
	if (!rc)
		rc = spray(s, PHASE_PING, 1, PINGS, 1);
	if (!rc)
		rc = spray(s, PHASE_SPRAY, s->opt->threads, each ? each : 1,
			   WINDOW);
	return rc;
}

/* Tells what was sent, hears what came, and compares. */
static int settle(struct sender *s)
{
	struct boot_done done = {
		.chunks = htobe64(chunks_of(s, s->size)),
		.adds = htobe64(s->adds),
	};
	struct boot_result result;
	int rc;

	memcpy(done.sha, s->report.sha, sizeof(done.sha));
	rc = boot_send(&s->boot, BOOT_DONE, &done, sizeof(done));
	if (!rc)
		rc = boot_recv(&s->boot, BOOT_RESULT, &result, sizeof(result));
	if (rc)
		return rc;
	s->report.match = !memcmp(result.sha, done.sha, sizeof(done.sha));
	s->report.size = s->size;
	report_print(&s->report);
	if (!s->report.match)
		return demo_fail(DEMO_FAILED, s->opt->path,
				 "its SHA-256 differs at the receiver",
				 "keep the capture and report it");
	if (result.chunks == done.chunks && result.adds == done.adds)
		return DEMO_GOOD;
	return demo_fail(DEMO_FAILED, "counters of the receiver",
			 "not the number of signals and adds sent",
			 "keep the capture and report it");
}

static void deregister(struct wbell_mem *mem)
{
	if (mem)
		wbell_mem_deregister(mem);
}

static void clean_up(struct sender *s)
{
	boot_close(&s->boot);
	deregister(s->result_mem);
	deregister(s->back_mem);
	deregister(s->data_mem);
	nic_close(&s->nic);
	wbell_launch_free(s->args);
	wbell_launch_free(s->result);
	wbell_launch_free(s->lanes);
	demo_unmap(s->back, s->back_size);
	demo_unmap(s->data, s->size);
}

static const char *const phase_names[PHASES] = { "put_signal", "get",
						 "fetch_add", "put one",
						 "put many" };

int demo_send(const struct demo_options *opt)
{
	struct sender s = { .opt = opt, .boot.fd = -1 };
	int rc, i;

	s.report.opt = opt;
	s.report.nic = &s.nic;
	for (i = 0; i < PHASES; i++)
		s.report.phase[i].name = phase_names[i];
	rc = prepare(&s);
	if (!rc)
		rc = register_all(&s);
	if (!rc && !opt->json)
		report_paths(&s.nic);
	if (!rc)
		rc = meet(&s);
	if (!rc)
		rc = run_phases(&s);
	if (!rc)
		rc = settle(&s);
	clean_up(&s);
	return rc;
}
