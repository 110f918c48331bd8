// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "bench.h"
#include "run.h"

struct bench {
	const char *name;
	wbell_kernel_fn kernel;
	uint32_t queues, blocks, threads;
	uint32_t flags; /* WBELL_DQ_* */
	uint32_t each, size, window;
};

/* Windows of all threads of a queue together fit its ring. */
#define LOG_DEPTH 10

static const struct bench benches[] = {
	{ "latency, put_inline and wait", self_latency, 1, 1, 1, 0, 2000, 8,
	  1 },
	{ "the same, exclusive queue", self_latency, 1, 1, 1,
	  WBELL_DQ_EXCLUSIVE, 2000, 8, 1 },
	{ "rate, 1 thread", self_rate, 1, 1, 1, 0, 20000, 8, 64 },
	{ "the same, exclusive queue", self_rate, 1, 1, 1, WBELL_DQ_EXCLUSIVE,
	  20000, 8, 64 },
	{ "rate, 32 threads of a queue", self_rate, 1, 1, 32, 0, 1000, 8, 16 },
	{ "rate, 256 threads of 8 queues", self_rate, 8, 8, 32, 0, 200, 8, 16 },
	{ "bandwidth, puts of 4 KiB", self_rate, 1, 1, 1, 0, 4000, 4096, 32 },
	{ "bandwidth, puts of 64 KiB", self_rate, 4, 4, 1, 0, 500, 65536, 8 },
	{ "bandwidth, puts of 1 MiB", self_rate, 4, 4, 1, 0, 50, 1U << 20, 2 },
};

/* All of the grid: operations of all threads over the longest of them. */
static void print_row(const struct bench *b, const struct run *run)
{
	uint64_t ops = 0, ns = 1;
	uint32_t i;

	for (i = 0; i < run->lanes; i++) {
		ops += run->args->lane[i].ops;
		if (run->args->lane[i].ns > ns)
			ns = run->args->lane[i].ns;
	}
	printf("# %-32s %8llu %12.2f %10.4f %10.4f\n", b->name,
	       (unsigned long long)b->size,
	       (double)ns * run->lanes / (double)ops / 1000,
	       (double)ops * 1000 / (double)ns,
	       (double)ops * b->size / (double)ns);
}

static int bench_one(const struct bench *b)
{
	struct rig_attr rig = { .queues = b->queues,
				.log_depth = LOG_DEPTH,
				.flags = b->flags };
	struct run run;
	int rc = run_open(&run, &rig, b->blocks, b->threads);

	if (!rc) {
		run.args->each = b->each;
		run.args->size = b->size;
		run.args->window = b->window;
		rc = run_kernel(&run, b->kernel, NULL);
	}
	if (rc)
		printf("# %-32s not measured: %s\n", b->name, run.why);
	else
		print_row(b, &run);
	run_close(&run);
	return rc != 0;
}

int bench_all(void)
{
	unsigned i;
	int failed = 0;

	printf("# on %s, NICs in memory run by one CPU thread\n",
	       wbell_launch_device());
	printf("# %-32s %8s %12s %10s %10s\n", "", "bytes", "us/op/thread",
	       "Mop/s", "GB/s");
	for (i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		failed |= bench_one(&benches[i]);
	return failed;
}
