// SPDX-License-Identifier: BSD-2-Clause
/*
 * The receiving end: a kernel waits on the signal word while the peer's NIC
 * writes; then the host hashes and keeps what came.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "demo.h"

struct receiver {
	const struct demo_options *opt;
	struct nic nic;
	struct boot boot;
	uint64_t size, chunks;
	uint32_t queues;
	struct wbell_address peer[DEMO_QUEUES_MAX];
	void *data;
	struct demo_words *words;
	struct wbell_mem *data_mem, *words_mem;
	struct demo_lane *lane;
	struct demo_await *args;
	char sha[DEMO_SHA_SIZE];
};

static uint64_t memory_size(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		return 0;
	return (uint64_t)info.totalram * info.mem_unit;
}

static int refuse(const struct receiver *r, const char *fact, uint64_t value)
{
	char what[128], text[128];

	snprintf(what, sizeof(what), "offer of peer %s", r->boot.peer);
	snprintf(text, sizeof(text), fact, (unsigned long long)value);
	return demo_fail(DEMO_FAILED, what, text,
			 "send a smaller file, or mend the sender");
}

/* The peer is a stranger: nothing it says is used unchecked. */
static int take_hello(struct receiver *r)
{
	struct boot_hello hello;
	uint32_t chunk;
	int rc;

	rc = boot_recv(&r->boot, BOOT_HELLO, &hello, sizeof(hello));
	if (rc)
		return rc;
	r->size = be64toh(hello.size);
	r->queues = be32toh(hello.queues);
	chunk = be32toh(hello.chunk);
	if (!r->size || r->size > memory_size() / 2)
		return refuse(r, "a file of %llu bytes", r->size);
	if (!r->queues || r->queues > DEMO_QUEUES_MAX)
		return refuse(r, "%llu queues", r->queues);
	if (!chunk || (r->size - 1) / chunk + 1 > UINT32_MAX)
		return refuse(r, "chunks of %llu bytes", chunk);
	r->chunks = (r->size - 1) / chunk + 1;
	memcpy(r->peer, hello.address, sizeof(r->peer));
	return DEMO_GOOD;
}

static int prepare(struct receiver *r)
{
	int rc;

	r->data = demo_map(r->size);
	r->words = wbell_launch_alloc(sizeof(*r->words));
	r->lane = wbell_launch_alloc(sizeof(*r->lane));
	r->args = wbell_launch_alloc(sizeof(*r->args));
	if (!r->data || !r->words || !r->lane || !r->args)
		return demo_fail(DEMO_CANNOT, "memory for the file",
				 strerror(ENOMEM), "free some memory");
	rc = nic_register(&r->nic, r->data, r->size,
			  WBELL_REMOTE_WRITE | WBELL_REMOTE_READ, &r->data_mem);
	if (!rc)
		rc = nic_register(&r->nic, r->words, sizeof(*r->words),
				  WBELL_REMOTE_WRITE | WBELL_REMOTE_ATOMIC,
				  &r->words_mem);
	if (!rc)
		rc = nic_queues(&r->nic, r->queues);
	return rc;
}

static int meet(struct receiver *r)
{
	struct boot_offer offer = {
		.data = htobe64((uintptr_t)r->data),
		.words = htobe64((uintptr_t)r->words),
		.data_rkey = htobe32(wbell_mem_rkey(r->data_mem)),
		.words_rkey = htobe32(wbell_mem_rkey(r->words_mem)),
	};
	int rc;

	rc = nic_addresses(&r->nic, offer.address);
	if (!rc)
		rc = nic_connect(&r->nic, r->peer);
	if (!rc)
		rc = boot_send(&r->boot, BOOT_OFFER, &offer, sizeof(offer));
	if (!rc)
		rc = boot_send(&r->boot, BOOT_READY, NULL, 0);
	return rc;
}

static int await_data(struct receiver *r)
{
	struct job job = {
		.nic = &r->nic,
		.boot = &r->boot,
		.doing = "receiving",
		.goal = r->chunks,
		.blocks = 1,
		.threads = 1,
		.lanes = r->lane,
	};

	r->args->queues = r->nic.view;
	r->args->lanes = r->lane;
	r->args->signal = &r->words->signal;
	r->args->goal = r->chunks;
	return job_run(&job, demo_await, r->args);
}

static int settle(struct receiver *r)
{
	struct boot_result result = { 0 };
	struct boot_done done;
	int rc;

	rc = boot_recv(&r->boot, BOOT_DONE, &done, sizeof(done));
	if (!rc)
		rc = demo_sha256(r->data, r->size, &r->boot, r->sha);
	if (!rc)
		rc = demo_store(r->opt->path, r->data, r->size, &r->boot);
	if (rc)
		return rc;
	result.chunks = htobe64(r->words->signal);
	result.adds = htobe64(r->words->counter);
	memcpy(result.sha, r->sha, sizeof(result.sha));
	rc = boot_send(&r->boot, BOOT_RESULT, &result, sizeof(result));
	if (rc)
		return rc;
	if (memcmp(done.sha, r->sha, sizeof(r->sha)))
		return demo_fail(DEMO_FAILED, r->opt->path,
				 "its SHA-256 differs from the sender's",
				 "keep the capture and report it");
	printf("received %llu bytes in %s\nSHA-256 %s match\n",
	       (unsigned long long)r->size, r->opt->path, r->sha);
	return DEMO_GOOD;
}

static void clean_up(struct receiver *r)
{
	boot_close(&r->boot);
	if (r->words_mem)
		wbell_mem_deregister(r->words_mem);
	if (r->data_mem)
		wbell_mem_deregister(r->data_mem);
	nic_close(&r->nic);
	wbell_launch_free(r->args);
	wbell_launch_free(r->lane);
	wbell_launch_free(r->words);
	demo_unmap(r->data, r->size);
}

int demo_recv(const struct demo_options *opt)
{
	struct receiver r = { .opt = opt, .boot.fd = -1 };
	int rc;

	rc = nic_open(&r.nic, opt);
	if (!rc && !opt->json)
		report_paths(&r.nic);
	if (!rc)
		rc = boot_accept(&r.boot, opt->where, opt->timeout_ms);
	if (!rc)
		rc = take_hello(&r);
	if (!rc)
		rc = prepare(&r);
	if (!rc)
		rc = meet(&r);
	if (!rc)
		rc = await_data(&r);
	if (!rc)
		rc = settle(&r);
	clean_up(&r);
	return rc;
}
