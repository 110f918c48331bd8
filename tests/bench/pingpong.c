// SPDX-License-Identifier: BSD-2-Clause
/*
 * Half a round trip of an 8 B WRITE that the other end polls for, p50 in
 * microseconds, a line for each batch; two threads, each on its own CPU:
 *	pingpong A B BATCHES [RAW_A RAW_B]
 * With RAW_A and RAW_B, ports of the same kind, batches alternate with bare
 * frames on those, and a line is "ours raw".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "place.h"
#include "raw.h"
#include "stack.h"

#define SPAN	 4096
#define ROUNDS	 10000 /* of a batch; the first tenth warms up */
#define LIMIT_NS 10000000000ULL
/* Lets the last acknowledge of a batch out. */
#define AFTER 2000

static struct {
	struct stack stack;
	struct raw_end *raw[2];
	bool has_raw;
	int batches;
	uint64_t word[2]; /* each thread's own count */
} court;

static void die(const char *what, const struct wbell_ctx *ctx)
{
	fprintf(stderr, "pingpong: %s: %s\n", what, wbell_error(ctx));
	exit(1);
}

static void send_word(int me)
{
	struct stack_end *a = &court.stack.end[me];
	struct stack_end *b = &court.stack.end[!me];
	uint64_t *src = (uint64_t *)(void *)(a->bytes + 64);
	struct wbell_ticket t;
	int rc;

	*src = court.word[me];
	rc = wbell_put(a->dq, (uintptr_t)src, wbell_mem_lkey(a->mem),
		       (uintptr_t)b->bytes, wbell_mem_rkey(b->mem), 8, &t);
	if (rc)
		die(wbell_status_text(rc), a->ctx);
	/* One look, so that CQEs are consumed. */
	wbell_test(a->dq, t);
}

static void await_word(int me)
{
	struct stack_end *e = &court.stack.end[me];
	_Atomic uint64_t *word = (_Atomic uint64_t *)(void *)e->bytes;
	uint64_t want = court.word[me], limit = 0;
	unsigned spins = 0;

	while (atomic_load_explicit(word, memory_order_acquire) != want) {
		wbell_poll(e->ctx);
		if (++spins % 4096)
			continue;
		if (!limit)
			limit = place_ns() + LIMIT_NS;
		if (place_ns() > limit)
			die("no answer for 10 s", e->ctx);
	}
}

static void serve(int me, bool raw)
{
	if (raw)
		raw_send(court.raw[me]);
	else
		send_word(me);
}

static void await(int me, bool raw)
{
	if (raw)
		raw_await(court.raw[me]);
	else
		await_word(me);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* p50 of half a round trip, us, as end 0 sees it. */
static double batch(int me, bool raw)
{
	static uint64_t ns[ROUNDS];
	uint64_t start;

	for (int i = 0; i < ROUNDS; i++) {
		court.word[me]++;
		if (me) {
			await(1, raw);
			serve(1, raw);
			continue;
		}
		start = place_ns();
		serve(0, raw);
		await(0, raw);
		ns[i] = place_ns() - start;
	}
	for (int i = 0; i < AFTER && !raw; i++)
		wbell_poll(court.stack.end[me].ctx);
	if (me)
		return 0;
	qsort(ns + ROUNDS / 10, ROUNDS - ROUNDS / 10, sizeof(*ns), compare);
	return ns[ROUNDS / 10 + (ROUNDS - ROUNDS / 10) / 2] / 2e3;
}

/* Both threads go through the same sequence. */
static void play(int me)
{
	double ours, raw = 0;

	for (int i = 0; i < court.batches; i++) {
		if (court.has_raw)
			raw = batch(me, true);
		ours = batch(me, false);
		if (me || !i)
			continue;
		if (court.has_raw)
			printf("%.4f %.4f\n", ours, raw);
		else
			printf("%.4f\n", ours);
	}
}

static void *answer(void *arg)
{
	place_pin(1);
	/* An lcore number: mempools without one take a slow path. */
	rte_thread_register();
	play(1);
	rte_thread_unregister();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc != 4 && argc != 6) {
		fprintf(stderr, "usage: pingpong A B BATCHES [RAW_A RAW_B]\n");
		return 2;
	}
	place_pin(0);
	stack_open(&court.stack, argv[1], argv[2], SPAN);
	memset(court.stack.end[0].bytes, 0, SPAN);
	memset(court.stack.end[1].bytes, 0, SPAN);
	court.batches = atoi(argv[3]) + 1; /* the first is for the caches */
	court.has_raw = argc == 6;
	if (court.has_raw)
		raw_open(court.raw, argv[4], argv[5]);
	if (pthread_create(&t, NULL, answer, NULL))
		die("no thread", NULL);
	play(0);
	pthread_join(t, NULL);
	if (court.has_raw)
		raw_close(court.raw);
	stack_close(&court.stack);
	return 0;
}
