/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two contexts of the whole stack in one process, each with a queue and
 * memory, driven by whoever calls: wire specs, device calls, polling.
 */
#ifndef TESTS_BENCH_STACK_H
#define TESTS_BENCH_STACK_H

#include <stddef.h>
#include <stdint.h>

#include <wbell/device.h>
#include <wbell/wbell.h>

#define STACK_DEPTH 256

struct stack_end {
	struct wbell_ctx *ctx;
	struct wbell_queue *queue;
	struct wbell_dqueue *dq;
	struct wbell_mem *mem;
	uint8_t *bytes;
	size_t span;
};

struct stack {
	struct stack_end end[2];
};

/* Failures of these end the program with a text. */
void stack_open_end(struct stack_end *e, const char *wire, size_t span);
/* Also waits until addresses are resolved. */
void stack_connect(struct stack *s);
void stack_open(struct stack *s, const char *a, const char *b, size_t span);
void stack_close(struct stack *s);

/* Messages that walk through the spans of both ends. */
struct stack_job {
	uint32_t size;
	size_t span;
	uint64_t messages;
	unsigned window; /* posted and not done, at most */
};
/* Seconds of this thread's CPU time until all of end 0's puts are done. */
double stack_put(struct stack *s, const struct stack_job *job);

#endif /* TESTS_BENCH_STACK_H */
