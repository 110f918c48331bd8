// SPDX-License-Identifier: BSD-2-Clause
/* One rank: meets the others, runs descriptors, says why it ends. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define ALIGN	  4096
#define MODEL_MAX (1ULL << 20)

#define COMPUTE_ROUNDS 20000
#define COMPUTE_US     60000000

int bench_fail(const struct bench_options *opt, int code, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fflush(stdout);
	if (opt->ranks)
		fprintf(stderr, "warpbell-bench: rank %u: %s\n", opt->rank,
			text);
	else
		fprintf(stderr, "warpbell-bench: %s\n", text);
	return code;
}

/* %d and %r of the wire; nothing else is special. */
static int wire_of(const struct bench_options *opt, char *out, size_t size)
{
	const char *s = opt->wire;
	size_t n = 0;
	int len;

	while (*s && n < size) {
		if (s[0] == '%' && s[1] == 'd')
			len = snprintf(out + n, size - n, "%u", opt->rank);
		else if (s[0] == '%' && s[1] == 'r')
			len = snprintf(out + n, size - n, "%s",
				       opt->rank ? "client" : "server");
		else
			len = snprintf(out + n, size - n, "%c", *s);
		s += s[0] == '%' && (s[1] == 'd' || s[1] == 'r') ? 2 : 1;
		n += (size_t)len;
	}
	return n < size ? 0 : -ENAMETOOLONG;
}

static uint64_t align(uint64_t v)
{
	return (v + ALIGN - 1) / ALIGN * ALIGN;
}

/* The send buffer, the receive buffer, what single operations need more. */
static void plan(struct rank *k)
{
	const struct bench_options *opt = k->opt;
	uint64_t most = strcmp(opt->verb, "model") ? 64 : MODEL_MAX;
	uint64_t more = 0, n;
	uint32_t i, op;

	for (i = 0; i < opt->sizes; i++) {
		if (opt->size[i] > most)
			most = opt->size[i];
		for (op = 0; op < COLL_OPS; op++) {
			n = opt->ops & 1U << op
				    ? trial_more(opt, op, opt->size[i])
				    : 0;
			more = n > more ? n : more;
		}
	}
	k->recv_at = align(most + ALIGN);
	k->more_at = 2 * k->recv_at;
	k->user_size = k->more_at + align(more);
}

int rank_open(struct rank *k)
{
	const struct bench_options *opt = k->opt;
	struct coll_team_attr attr = {
		.wire = k->wire,
		.rank = opt->rank,
		.ranks = opt->ranks,
		.channels = opt->channels,
		.timeout_ms = opt->timeout_ms,
		.gather = boot_gather,
		.gather_arg = k->boot,
	};

	if (wire_of(opt, k->wire, sizeof(k->wire)))
		return bench_fail(opt, BENCH_CANNOT,
				  "wire: longer than %zu bytes: shorten it",
				  sizeof(k->wire));
	plan(k);
	attr.user_size = k->user_size;
	if (coll_team_open(&attr, &k->why, &k->team))
		return *k->why.s ? bench_fail(opt, BENCH_CANNOT, "%s", k->why.s)
				 : BENCH_FAILED;
	k->user = coll_team_user(k->team);
	if ((!opt->launch || !strcmp(opt->verb, "model")) &&
	    coll_start(k->team, opt->threads, &k->why))
		return bench_fail(opt, BENCH_CANNOT, "%s", k->why.s);
	return BENCH_GOOD;
}

/* Good ranks leave together: a NIC that is gone answers no retry. */
void rank_close(struct rank *k, int code)
{
	uint32_t ok = 1, oks[COLL_RANKS_MAX];

	if (k->team && coll_stop(k->team, &k->why) && !code)
		bench_fail(k->opt, BENCH_FAILED, "%s", k->why.s);
	if (!code && k->boot)
		boot_gather(k->boot, &ok, oks, sizeof(ok));
	coll_team_close(k->team);
	k->team = NULL;
}

/* Whether, and which, rank has gone: others need time to find out. */
static int ask_gone(struct rank *k)
{
	int gone = 0, i;

	for (i = 0; i < 100 && !gone; i++) {
		gone = boot_gone(k->boot);
		if (!gone)
			usleep(20000);
	}
	return gone;
}

/* What ended a wait: another rank's end explains more than a deadline. */
static int ended(struct rank *k, int rc)
{
	const struct coll_team_view *v = coll_team_view(k->team);
	uint32_t c = 0, i;
	int gone;

	for (i = 0; i < v->channels; i++)
		if (v->channel[i].peer != COLL_NOBODY)
			c = i;
	/* a descriptor that is refused is nobody else's fault */
	boot_leave(k->boot,
		   rc == WBELL_EINVAL ? COLL_NOBODY : v->channel[c].peer);
	gone = rc == WBELL_EINVAL ? 0 : ask_gone(k);
	if (!gone || gone == 1 + (int)k->opt->rank)
		return bench_fail(k->opt, BENCH_FAILED, "%s", k->why.s);
	return bench_fail(k->opt, BENCH_FAILED,
			  "rank %d gone: %s, channel %u, step %u: see its own "
			  "output, then start all ranks again",
			  gone - 1, coll_op_text(v->channel[c].op), c,
			  v->channel[c].step);
}

static uint64_t slowest(const struct rank *k, const struct coll_work *w)
{
	uint64_t most = 0;
	uint32_t c;

	for (c = 0; c < k->opt->channels; c++)
		most = w->took_ns[c] > most ? w->took_ns[c] : most;
	return most;
}

/* A kernel that computes while the one that stays moves data. */
static int compute_beside(struct rank *k)
{
	struct wbell_grid grid = { .blocks = 1, .threads = 32 };
	struct coll_compute *c = wbell_launch_alloc(sizeof(*c));
	struct wbell_launch *launch;
	int rc = -ENOMEM;

	if (!c)
		return rc;
	c->values = wbell_launch_alloc(grid.threads * sizeof(*c->values));
	c->rounds = COMPUTE_ROUNDS;
	if (c->values)
		rc = wbell_launch(&grid, coll_compute, c, &launch);
	if (!rc)
		rc = wbell_launch_wait(launch, COMPUTE_US);
	if (rc == -ETIMEDOUT)
		return rc; /* it still runs on this memory */
	/* from 0 towards 1: the kernel has run */
	if (!rc && !(c->values[0] > 0.5f && c->values[0] < 1.5f))
		rc = -EIO;
	wbell_launch_free(c->values);
	wbell_launch_free(c);
	return rc;
}

int rank_run(struct rank *k, const struct coll_work *w,
	     const struct coll_work **done, uint64_t *took_ns)
{
	const struct coll_work *posted = NULL;
	int rc;

	if (k->opt->launch && coll_start(k->team, k->opt->threads, &k->why))
		return bench_fail(k->opt, BENCH_CANNOT, "%s", k->why.s);
	rc = coll_post(k->team, w, &posted);
	if (rc)
		return bench_fail(k->opt, BENCH_FAILED, "descriptor: %s: %s",
				  strerror(-rc), "wait for earlier ones");
	rc = k->opt->overlap ? compute_beside(k) : 0;
	if (rc)
		return bench_fail(k->opt, BENCH_FAILED,
				  "compute kernel: %s: leave out --overlap",
				  strerror(-rc));
	rc = coll_wait(k->team, boot_gone, k->boot, &k->why);
	if (rc)
		return ended(k, rc);
	if (k->opt->launch && coll_stop(k->team, &k->why))
		return bench_fail(k->opt, BENCH_FAILED, "%s", k->why.s);
	*took_ns = slowest(k, posted);
	if (done)
		*done = posted;
	return BENCH_GOOD;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int rank_repeat(struct rank *k, const struct coll_work *w, uint32_t n,
		struct repeat *out)
{
	const struct coll_work *posted[COLL_WORKS];
	uint64_t took[COLL_WORKS];
	uint32_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = coll_post(k->team, w, &posted[i]);
	if (rc)
		return bench_fail(k->opt, BENCH_FAILED,
				  "%u descriptors: %s: post fewer at once", n,
				  strerror(-rc));
	rc = coll_wait(k->team, boot_gone, k->boot, &k->why);
	if (rc)
		return ended(k, rc);
	for (i = 0, out->sum_ns = 0; i < n; i++) {
		took[i] = slowest(k, posted[i]);
		out->sum_ns += took[i];
	}
	out->post_ns = posted[n - 1]->post_ns[0];
	qsort(took, n, sizeof(*took), by_value);
	out->median_ns = took[n / 2];
	return BENCH_GOOD;
}

int rank_gather(struct rank *k, const void *mine, void *all, uint32_t size)
{
	return boot_gather(k->boot, mine, all, size) ? BENCH_FAILED
						     : BENCH_GOOD;
}

int bench_rank(const struct bench_options *given)
{
	struct bench_options opt = *given;
	struct rank k = { .opt = &opt };
	int rc = boot_open(&opt, &k.boot);

	if (rc)
		return rc;
	rc = rank_open(&k);
	if (!rc)
		rc = strcmp(opt.verb, "model") ? bench_coll(&k)
					       : bench_model(&k);
	if (rc)
		boot_leave(k.boot, COLL_NOBODY);
	rank_close(&k, rc);
	boot_close(k.boot);
	return rc;
}
