// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "place.h"
#include "stack.h"

#define POSTS	 32 /* at most, between two polls */
#define LIMIT_US 20000000

static void die(const char *what, const struct wbell_ctx *ctx)
{
	fprintf(stderr, "bench: %s: %s\n", what, wbell_error(ctx));
	exit(1);
}

void stack_open_end(struct stack_end *e, const char *wire, size_t span)
{
	struct wbell_open_attr oa = { .wire = place_enter(wire),
				      .provider = "engine",
				      .flags = WBELL_OPEN_POLLED };
	struct wbell_queue_attr qa = { .depth = STACK_DEPTH,
				       .flags = WBELL_QUEUE_EXCLUSIVE };

	if (wbell_open(&oa, &e->ctx))
		die("open", NULL);
	e->span = span;
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

void stack_connect(struct stack *s)
{
	struct wbell_address a[2];
	uint64_t limit = wbell_deadline_us(2000000);
	struct wbell_ticket t;
	struct stack_end *e = s->end;

	for (int i = 0; i < 2; i++)
		wbell_queue_address(e[i].queue, &a[i]);
	for (int i = 0; i < 2; i++)
		if (wbell_queue_connect(e[i].queue, &a[!i]))
			die("connect", e[i].ctx);
	if (wbell_put(e[0].dq, 0, 0, 0, 0, 0, &t))
		die("first put", e[0].ctx);
	while (wbell_test(e[0].dq, t) == WBELL_EAGAIN) {
		wbell_poll(e[0].ctx);
		wbell_poll(e[1].ctx);
		if (wbell_deadline_us(0) > limit)
			die("first put did not complete in 2 s", e[0].ctx);
	}
}

void stack_open(struct stack *s, const char *a, const char *b, size_t span)
{
	stack_open_end(&s->end[0], a, span);
	stack_open_end(&s->end[1], b, span);
	stack_connect(s);
}

void stack_close(struct stack *s)
{
	for (int i = 0; i < 2; i++) {
		struct stack_end *e = &s->end[i];

		wbell_queue_destroy(e->queue);
		wbell_mem_deregister(e->mem);
		wbell_close(e->ctx);
		munmap(e->bytes, e->span);
	}
}

static uint64_t done(const struct stack_end *e)
{
	return e->dq->cq_state >> WBELL_CQ_CI_BITS;
}

struct walk {
	uint64_t posted, done, base;
	size_t off;
	struct wbell_ticket last;
};

static void post_some(struct stack *s, const struct stack_job *j,
		      struct walk *w)
{
	struct stack_end *a = &s->end[0], *b = &s->end[1];
	uint32_t lkey = wbell_mem_lkey(a->mem), rkey = wbell_mem_rkey(b->mem);

	for (int i = 0; i < POSTS && w->posted < j->messages; i++) {
		if (w->posted - w->done >= j->window ||
		    wbell_put(a->dq, (uintptr_t)a->bytes + w->off, lkey,
			      (uintptr_t)b->bytes + w->off, rkey, j->size,
			      &w->last))
			return;
		w->posted++;
		w->off += ((size_t)j->size + 63) & ~(size_t)63;
		if (w->off + j->size > j->span)
			w->off = 0;
	}
}

double stack_put(struct stack *s, const struct stack_job *j)
{
	struct walk w = { .base = done(&s->end[0]) };
	uint64_t limit = wbell_deadline_us(LIMIT_US);
	double start = place_cpu();

	for (unsigned turn = 1; w.done < j->messages; turn++) {
		post_some(s, j, &w);
		wbell_poll(s->end[0].ctx);
		wbell_poll(s->end[1].ctx);
		/* a deadline in the past: take what is there, by the loop of wait */
		if (wbell_wait(s->end[0].dq, w.last, 0) > 0)
			die("a put failed", s->end[0].ctx);
		w.done = done(&s->end[0]) - w.base;
		if (!(turn % 65536) && wbell_deadline_us(0) > limit)
			die("puts were not done in 20 s", s->end[0].ctx);
	}
	return place_cpu() - start;
}
