// SPDX-License-Identifier: BSD-2-Clause
/* warpbell-bench coll: each operation, type and size, checked and timed. */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"

#define MOE_MAX (16ULL << 20) /* its buffers take a dozen times the size */

struct row {
	uint64_t wrong, took_ns;
};

/* Share of the bytes that cross a link, as nccl-tests count bus bandwidth. */
static double bus_factor(uint32_t op, uint32_t ranks)
{
	double n = ranks;

	switch (op) {
	case COLL_ALL_REDUCE_RING:
	case COLL_ALL_REDUCE_TREE:
		return 2 * (n - 1) / n;
	case COLL_ALL_GATHER:
	case COLL_REDUCE_SCATTER:
	case COLL_ALL_TO_ALL:
		return (n - 1) / n;
	default:
		return 1;
	}
}

static int typed(uint32_t op)
{
	return op >= COLL_ALL_GATHER && op <= COLL_ALL_REDUCE_TREE;
}

static void print_row(const struct rank *k, const struct trial *t,
		      const struct row *row)
{
	double us = (double)row->took_ns / 1e3;
	double gbps = row->took_ns ? (double)t->size / row->took_ns : 0;
	double bus = gbps * bus_factor(t->work.op, k->opt->ranks);
	const char *type = typed(t->work.op) ? coll_type_text(t->work.type)
					     : "-";

	if (k->opt->json)
		printf("{\"version\": 1, \"op\": \"%s\", \"type\": \"%s\", "
		       "\"ranks\": %u, \"size_bytes\": %" PRIu64 ", "
		       "\"time_us\": %.1f, \"algbw_GBps\": %.4f, "
		       "\"busbw_GBps\": %.4f, \"wrong\": %" PRIu64 "}\n",
		       coll_op_text(t->work.op), type, k->opt->ranks, t->size,
		       us, gbps, bus, row->wrong);
	else
		printf("%-16s %-6s %12" PRIu64 " %12.1f %10.4f %10.4f %8" PRIu64
		       "\n",
		       coll_op_text(t->work.op), type, t->size, us, gbps, bus,
		       row->wrong);
	fflush(stdout);
}

/* One round: filled before and checked after, but for those between. */
static int round_one(struct trial *t, int checked, struct row *mine)
{
	uint64_t took;
	int rc;

	if (checked || t->rank->opt->in_place)
		trial_fill(t);
	rc = trial_run(t, &took);
	if (rc)
		return rc;
	mine->took_ns += took;
	if (checked)
		mine->wrong += trial_wrong(t);
	return BENCH_GOOD;
}

/* Rounds that need no host between. */
static int round_many(struct trial *t, uint32_t n, struct row *mine)
{
	struct repeat r;
	int rc = rank_repeat(t->rank, &t->work, n, &r);

	mine->took_ns += r.sum_ns;
	return rc;
}

/* The first round is checked and not timed; the last is checked too. */
static int measure(struct trial *t, struct row *mine)
{
	const struct bench_options *opt = t->rank->opt;
	int alone = opt->launch || opt->in_place || opt->overlap ||
		    t->work.op == COLL_DISPATCH;
	uint32_t left = opt->iters, n;
	int rc = round_one(t, 1, mine);

	mine->took_ns = 0;
	for (; left && !rc; left -= n) {
		n = alone || left == 1	    ? 1
		    : left > COLL_WORKS / 2 ? COLL_WORKS / 2
					    : left - 1;
		rc = n > 1 ? round_many(t, n, mine)
			   : round_one(t, left == 1, mine);
	}
	mine->took_ns /= opt->iters;
	return rc;
}

static int one(struct rank *k, uint32_t op, uint32_t type, uint64_t size)
{
	struct row mine = { 0 }, all[COLL_RANKS_MAX], sum = { 0 };
	struct trial t;
	uint32_t r;
	int rc = 0;

	if (trial_init(&t, k, op, type, size))
		rc = bench_fail(k->opt, BENCH_CANNOT,
				"%s of %" PRIu64 " bytes: no memory: free some",
				coll_op_text(op), size);
	if (!rc)
		rc = measure(&t, &mine);
	if (!rc)
		rc = rank_gather(k, &mine, all, sizeof(mine));
	for (r = 0; r < k->opt->ranks && !rc; r++) {
		sum.wrong += all[r].wrong;
		if (all[r].took_ns > sum.took_ns)
			sum.took_ns = all[r].took_ns;
	}
	if (!rc && !k->opt->rank)
		print_row(k, &t, &sum);
	trial_free(&t);
	if (!rc && mine.wrong)
		rc = bench_fail(k->opt, BENCH_FAILED,
				"%s of %" PRIu64 " bytes: %" PRIu64
				" elements are wrong: this is a defect: report "
				"it with these arguments",
				coll_op_text(op), size, mine.wrong);
	/* all end where one found it wrong, not in the next operation */
	return !rc && sum.wrong ? BENCH_FAILED : rc;
}

static int each_type(struct rank *k, uint32_t op, uint64_t size)
{
	uint32_t type;
	int rc = 0;

	for (type = 0; type < COLL_TYPES && !rc; type++)
		if (k->opt->types & 1U << type)
			rc = one(k, op, type, size);
	return rc;
}

static int each_size(struct rank *k, uint32_t op)
{
	uint32_t i;
	int rc = 0;

	if (op == COLL_BARRIER)
		return one(k, op, 0, 0);
	for (i = 0; i < k->opt->sizes && !rc; i++) {
		if (op == COLL_DISPATCH && k->opt->size[i] > MOE_MAX)
			continue;
		rc = typed(op) ? each_type(k, op, k->opt->size[i])
			       : one(k, op, 0, k->opt->size[i]);
	}
	return rc;
}

int bench_coll(struct rank *k)
{
	uint32_t op;
	int rc = 0;

	if (!k->opt->rank && !k->opt->json)
		printf("# %u ranks, %u channels of %u threads on %s, %s\n"
		       "%-16s %-6s %12s %12s %10s %10s %8s\n",
		       k->opt->ranks, k->opt->channels, k->opt->threads,
		       wbell_launch_device(),
		       k->opt->launch ? "a launch each" : "a kernel that stays",
		       "# operation", "type", "bytes", "time_us", "alg_GB/s",
		       "bus_GB/s", "wrong");
	fflush(stdout);
	for (op = 0; op < COLL_OPS && !rc; op++)
		if (k->opt->ops & 1U << op)
			rc = each_size(k, op);
	return rc;
}
