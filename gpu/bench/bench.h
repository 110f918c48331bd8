/* SPDX-License-Identifier: BSD-2-Clause */
/* warpbell-bench: collectives over N ranks, and the cost model. */
#ifndef WBELL_BENCH_H
#define WBELL_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "../collectives/coll.h"

/* Exit codes: good, check failed or rank gone, usage or cannot run. */
#define BENCH_GOOD   0
#define BENCH_FAILED 1
#define BENCH_CANNOT 2

#define BENCH_SIZES_MAX 32
#define BENCH_SIZE_MAX	(1ULL << 30)

struct bench_options {
	const char *verb; /* "coll" or "model" */
	const char *wire; /* %d: rank; %r: server at rank 0, else client */
	const char *boot; /* HOST:PORT of rank 0 */
	int listen_fd;	  /* of rank 0, already listening; or -1 */
	uint32_t rank, ranks;
	uint32_t local; /* start so many ranks here */
	uint32_t channels, threads, iters, timeout_ms;
	uint32_t ops, types; /* sets of bits */
	uint64_t size[BENCH_SIZES_MAX];
	uint32_t sizes;
	int json, launch, in_place, overlap;
};

/* "warpbell-bench: rank N: text" on stderr; returns code. */
int bench_fail(const struct bench_options *opt, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

int bench_options(int argc, char **argv, struct bench_options *opt);
/* All of one rank; local.c starts several. */
int bench_rank(const struct bench_options *opt);
int bench_local(const struct bench_options *opt);

/* ---- how ranks meet: boot_tcp.c or boot_mpi.c ---- */

struct boot;

int boot_open(struct bench_options *opt, struct boot **b);
/* coll_gather_fn; says on stderr why it failed. */
int boot_gather(void *boot, const void *mine, void *all, uint32_t size);
/* coll_watch_fn: 1 + the rank that has gone, or 0. */
int boot_gone(void *boot);
/* Goes on purpose: blame is the rank this one waited for, or COLL_NOBODY. */
void boot_leave(struct boot *b, uint32_t blame);
void boot_close(struct boot *b);
/* Whether the launcher has made this process a rank. */
int boot_launched(struct bench_options *opt);

/* ---- one rank at work ---- */

struct rank {
	const struct bench_options *opt;
	struct boot *boot;
	struct coll_team *team;
	char *user; /* the window's user part */
	uint64_t recv_at, more_at, user_size;
	char wire[512];
	struct coll_text why;
};

int rank_open(struct rank *k);
void rank_close(struct rank *k, int code);
/* Runs one descriptor on all channels; the slowest's time.  BENCH_*. */
int rank_run(struct rank *k, const struct coll_work *w,
	     const struct coll_work **done, uint64_t *took_ns);
/*
 * The same n times, n at most COLL_WORKS, with no host between: ranks that
 * begin apart are together after the first.
 */
struct repeat {
	uint64_t sum_ns, median_ns;
	uint64_t post_ns; /* of a probe's last round */
};
int rank_repeat(struct rank *k, const struct coll_work *w, uint32_t n,
		struct repeat *out);
int rank_gather(struct rank *k, const void *mine, void *all, uint32_t size);

int bench_coll(struct rank *k);
int bench_model(struct rank *k);

/* ---- fit.c: least squares of relative errors, no coefficient below 0 ---- */

#define FIT_MAX 4

struct fit {
	uint32_t n; /* coefficients */
	double a[FIT_MAX][FIT_MAX], b[FIT_MAX];
	double c[FIT_MAX]; /* the result */
};

void fit_init(struct fit *f, uint32_t n);
void fit_add(struct fit *f, const double *x, double y);
/* -EDOM: what was added does not tell all coefficients. */
int fit_solve(struct fit *f);
double fit_predict(const struct fit *f, const double *x);

/* ---- operations with known answers: verify.c, moe.c, pages.c ---- */

struct trial {
	struct rank *rank;
	struct coll_work work;
	uint64_t size; /* bytes, as nccl-tests count them */
	struct coll_blocks *blocks;
	struct coll_moe *moe;
	struct coll_pages *pages;
	void *extra;
	uint64_t enter_ns, leave_ns; /* of a barrier */
};

/* Bytes behind the receive buffer that op needs for a message of size. */
uint64_t trial_more(const struct bench_options *opt, uint32_t op,
		    uint64_t size);
int trial_init(struct trial *t, struct rank *k, uint32_t op, uint32_t type,
	       uint64_t size);
void trial_free(struct trial *t);
/* Fills what goes out, spoils what comes in. */
void trial_fill(struct trial *t);
int trial_run(struct trial *t, uint64_t *took_ns);
/* How many elements (bytes, where there is no type) are wrong. */
uint64_t trial_wrong(const struct trial *t);

int value_of(uint32_t rank, uint64_t i); /* -15..15: sums are exact */
void value_put(void *buf, uint32_t type, uint64_t i, int v);
int value_is(const void *buf, uint32_t type, uint64_t i, int v);

int moe_init(struct trial *t);
void moe_fill(struct trial *t);
int moe_run(struct trial *t, uint64_t *took_ns);
uint64_t moe_wrong(const struct trial *t);
uint64_t moe_more(const struct bench_options *opt, uint64_t size);

int pages_init(struct trial *t);
void pages_fill(struct trial *t);
uint64_t pages_wrong(const struct trial *t);

#endif /* WBELL_BENCH_H */
