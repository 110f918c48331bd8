// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the transport costs: 8 B message rate and 64 KiB bandwidth over
 * net_ring, both ends on this one thread, per second of its CPU time, beside
 * the floor program in turn.  Prints a table, writes build/bench/transport.json.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <wbell/device.h>
#include <wbell/wbell.h>

#include "../../dpdk_path/roce/icrc.h"
#include "floor.h"
#include "row.h"

#define ROUNDS 5
#define DEPTH  256
#define POSTS  32 /* at most, between two polls */

struct end {
	struct wbell_ctx *ctx;
	struct wbell_queue *queue;
	struct wbell_dqueue *dq;
	struct wbell_mem *mem;
	uint8_t *bytes;
};

static struct end ends[2];

static void die(const char *what, const struct wbell_ctx *ctx)
{
	fprintf(stderr, "bench: %s: %s\n", what, wbell_error(ctx));
	exit(1);
}

static void open_end(struct end *e, const char *wire, size_t span)
{
	struct wbell_open_attr oa = { .wire = wire,
				      .provider = "engine",
				      .flags = WBELL_OPEN_POLLED };
	struct wbell_queue_attr qa = { .depth = DEPTH,
				       .flags = WBELL_QUEUE_EXCLUSIVE };

	if (wbell_open(&oa, &e->ctx))
		die("open", NULL);
	e->bytes = mmap(NULL, span, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (e->bytes == MAP_FAILED)
		die("memory", NULL);
	if (wbell_mem_register(e->ctx, e->bytes, span, WBELL_REMOTE_WRITE,
			       &e->mem) ||
	    wbell_queue_create(e->ctx, &qa, &e->queue) ||
	    wbell_queue_device(e->queue, &e->dq))
		die("queue", e->ctx);
}

static void connect_ends(void)
{
	struct wbell_address a[2];
	uint64_t end = wbell_deadline_us(2000000);
	struct wbell_ticket t;

	for (int i = 0; i < 2; i++)
		wbell_queue_address(ends[i].queue, &a[i]);
	for (int i = 0; i < 2; i++)
		if (wbell_queue_connect(ends[i].queue, &a[!i]))
			die("connect", ends[i].ctx);
	/* until addresses are resolved */
	if (wbell_put(ends[0].dq, 0, 0, 0, 0, 0, &t))
		die("first put", ends[0].ctx);
	while (wbell_test(ends[0].dq, t) == WBELL_EAGAIN) {
		wbell_poll(ends[0].ctx);
		wbell_poll(ends[1].ctx);
		if (wbell_deadline_us(0) > end)
			die("first put did not complete in 2 s", ends[0].ctx);
	}
}

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static uint64_t done(const struct end *e)
{
	return e->dq->cq_state >> WBELL_CQ_CI_BITS;
}

/* Post what fits, poll both ends, consume: until all is done. */
static double run(uint32_t size, uint32_t span, uint64_t messages)
{
	uint32_t lkey = wbell_mem_lkey(ends[0].mem);
	uint32_t rkey = wbell_mem_rkey(ends[1].mem);
	uint64_t src = (uintptr_t)ends[0].bytes;
	uint64_t dst = (uintptr_t)ends[1].bytes;
	uint64_t base = done(&ends[0]), posted = 0;
	struct wbell_ticket t = { 0 };
	uint32_t off = 0;
	double start = cpu_now();

	while (done(&ends[0]) - base < messages) {
		for (int i = 0; i < POSTS && posted < messages; i++) {
			if (wbell_put(ends[0].dq, src + off, lkey, dst + off,
				      rkey, size, &t))
				break;
			posted++;
			off += (size + 63) & ~63U;
			if (off + size > span)
				off = 0;
		}
		wbell_poll(ends[0].ctx);
		wbell_poll(ends[1].ctx);
		if (wbell_test(ends[0].dq, t) > 0)
			die("a put failed", ends[0].ctx);
	}
	return messages / (cpu_now() - start);
}

struct figure {
	const char *id, *what;
	uint32_t size, span, floor_acks;
	uint64_t messages;
	double must, strive, scale;
	const char *unit;
};

static void measure(const struct figure *f)
{
	struct floor_attr fa = { f->size, f->floor_acks, f->span, f->messages };
	double ours[ROUNDS], base[ROUNDS], ratio[ROUNDS];

	run(f->size, f->span, f->messages / 10 + 1);
	for (int i = 0; i < ROUNDS; i++) {
		base[i] = floor_run(&fa) * f->scale;
		ours[i] = run(f->size, f->span, f->messages) * f->scale;
		ratio[i] = ours[i] / base[i];
	}
	row_add(&(struct row){ .id = f->id,
			       .what = f->what,
			       .value = row_median(ours, ROUNDS),
			       .base = row_median(base, ROUNDS),
			       .ratio = row_median(ratio, ROUNDS),
			       .unit = f->unit,
			       .must = f->must,
			       .strive = f->strive });
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(void)
{
	static const struct figure figures[] = {
		{ "G1", "8 B WRITE, net_ring, both ends / floor", 8, 1 << 18,
		  32, 2000000, 0.30, 0.70, 1e-6, "M messages/CPU-s" },
		{ "G3", "64 KiB WRITE, net_ring, both ends / floor", 65536,
		  1 << 18, 1, 20000, 0.55, 0.88, 65536 * 8e-9, "Gb/CPU-s" },
	};

	pin();
	roce_icrc_init();
	open_end(&ends[0], "ring:bench,mtu=4200", 1 << 20);
	open_end(&ends[1], "ring:bench,mtu=4200", 1 << 20);
	connect_ends();
	for (unsigned i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		measure(&figures[i]);
	for (int i = 0; i < 2; i++) {
		wbell_queue_destroy(ends[i].queue);
		wbell_mem_deregister(ends[i].mem);
		wbell_close(ends[i].ctx);
		munmap(ends[i].bytes, 1 << 20);
	}
	return row_write("transport");
}
