// SPDX-License-Identifier: BSD-2-Clause
/*
 * One figure of the whole stack, for a script that alternates it with a peer:
 *	figure rate A B SIZE MESSAGES	messages per CPU-second of both ends
 *	figure idle A B			percent of a core per engine, 5 x 5 s
 *	figure memory A B		MiB resident of one engine, 1,024 queues
 * A and B are wire specs, each perhaps with NAMESPACE@ before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "place.h"
#include "stack.h"

#define SPAN	(1U << 20)
#define HOT	(1U << 18)
#define QUEUES	1024
#define DEPTH	128
#define WINDOWS 5

static void die(const char *what, const struct wbell_ctx *ctx)
{
	fprintf(stderr, "figure: %s: %s\n", what, wbell_error(ctx));
	exit(1);
}

/* ---- rate ---- */

static int rate(const char *a, const char *b, uint32_t size, uint64_t n)
{
	struct stack_job job = { .size = size,
				 .span = HOT,
				 .messages = n / 10 + 1,
				 .window = STACK_DEPTH };
	struct stack s;

	stack_open(&s, a, b, SPAN);
	stack_put(&s, &job);
	job.messages = n;
	printf("%.6g\n", n / stack_put(&s, &job));
	stack_close(&s);
	return 0;
}

/* ---- idle ---- */

static double process_cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void open_ctx(struct wbell_ctx **ctx, const char *wire, uint32_t flags)
{
	struct wbell_open_attr oa = { .wire = place_enter(wire),
				      .provider = "engine",
				      .flags = flags };

	if (wbell_open(&oa, ctx))
		die("open", NULL);
}

/* Two engines with threads; quiet begins when they are open. */
static int idle(const char *a, const char *b)
{
	struct wbell_ctx *ctx[2];
	uint64_t wall;
	double cpu;

	open_ctx(&ctx[0], a, 0);
	open_ctx(&ctx[1], b, 0);
	sleep(3);
	for (int i = 0; i < WINDOWS; i++) {
		cpu = process_cpu();
		wall = place_ns();
		sleep(5);
		cpu = process_cpu() - cpu;
		wall = place_ns() - wall;
		printf("%.4f\n", cpu / (wall * 1e-9) * 100 / 2);
	}
	wbell_close(ctx[0]);
	wbell_close(ctx[1]);
	return 0;
}

/* ---- memory ---- */

/* Resident, without hugepages: the kernel does not count those here. */
static double resident(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	double kib = 0;

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %lf", &kib) == 1)
			break;
	fclose(f);
	return kib / 1024;
}

static void make_queues(struct wbell_ctx *ctx, struct wbell_queue **q)
{
	struct wbell_queue_attr qa = { .depth = DEPTH,
				       .flags = WBELL_QUEUE_EXCLUSIVE };

	for (int i = 0; i < QUEUES; i++)
		if (wbell_queue_create(ctx, &qa, &q[i]))
			die("queue", ctx);
}

static void join(struct wbell_queue *a, struct wbell_queue *b)
{
	struct wbell_address at[2];

	wbell_queue_address(a, &at[0]);
	wbell_queue_address(b, &at[1]);
	if (wbell_queue_connect(a, &at[1]) || wbell_queue_connect(b, &at[0]))
		die("connect", NULL);
}

/* Every slot of a queue's rings, by empty WRITEs. */
static void use(struct wbell_ctx *const *ctx, struct wbell_queue *q)
{
	uint64_t limit = wbell_deadline_us(5000000);
	struct wbell_dqueue *dq;
	struct wbell_ticket t;
	int rc = 0;

	wbell_queue_device(q, &dq);
	for (int i = 0; i < DEPTH && !rc; i++)
		rc = wbell_put(dq, 0, 0, 0, 0, 0, &t);
	while (!rc && (rc = wbell_test(dq, t)) == WBELL_EAGAIN) {
		wbell_poll(ctx[0]);
		wbell_poll(ctx[1]);
		rc = wbell_deadline_us(0) > limit ? WBELL_ETIMEDOUT : 0;
	}
	if (rc)
		die(wbell_status_text(rc), ctx[0]);
}

/*
 * Both ends live in this process: one end's share of the queues, on top of
 * what the process had with one context.
 */
static int memory(const char *a, const char *b)
{
	static struct wbell_queue *q[2][QUEUES];
	struct wbell_ctx *ctx[2];
	double one, two;

	open_ctx(&ctx[0], a, WBELL_OPEN_POLLED);
	one = resident();
	open_ctx(&ctx[1], b, WBELL_OPEN_POLLED);
	two = resident();
	make_queues(ctx[0], q[0]);
	make_queues(ctx[1], q[1]);
	for (int i = 0; i < QUEUES; i++)
		join(q[0][i], q[1][i]);
	for (int i = 0; i < QUEUES; i++)
		use(ctx, q[0][i]);
	printf("%.2f\n", one + (resident() - two) / 2);
	for (int e = 0; e < 2; e++)
		for (int i = 0; i < QUEUES; i++)
			wbell_queue_destroy(q[e][i]);
	wbell_close(ctx[0]);
	wbell_close(ctx[1]);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "idle") && argc == 4)
		return idle(argv[2], argv[3]);
	place_pin(0);
	if (!strcmp(what, "rate") && argc == 6)
		return rate(argv[2], argv[3], atoi(argv[4]), atoll(argv[5]));
	if (!strcmp(what, "memory") && argc == 4)
		return memory(argv[2], argv[3]);
	fprintf(stderr, "usage: figure rate A B SIZE MESSAGES | idle A B | "
			"memory A B\n");
	return 2;
}
