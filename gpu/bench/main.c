// SPDX-License-Identifier: BSD-2-Clause
/* warpbell-bench coll|model */
#include <signal.h>
#include <stdio.h>

#include "bench.h"

#define BIT(n) (1U << (n))

int main(int argc, char **argv)
{
	struct bench_options opt = {
		.listen_fd = -1,
		.channels = 1,
		.threads = 1,
		.timeout_ms = 10000,
		.types = BIT(COLL_TYPES) - 1,
		.ops = BIT(COLL_BARRIER) | BIT(COLL_ALL_GATHER) |
		       BIT(COLL_REDUCE_SCATTER) | BIT(COLL_ALL_REDUCE_RING) |
		       BIT(COLL_ALL_REDUCE_TREE) | BIT(COLL_ALL_TO_ALL) |
		       BIT(COLL_DISPATCH) | BIT(COLL_PAGES),
		.size = { 0, 4, 1000, 64 << 10, 1 << 20 },
		.sizes = 5,
	};
	int rc;

	signal(SIGPIPE, SIG_IGN);
	boot_launched(&opt);
	rc = bench_options(argc, argv, &opt);
	if (!rc)
		rc = opt.local ? bench_local(&opt) : bench_rank(&opt);
	/* a full disk behind stdout is no success */
	if (fflush(stdout) || ferror(stdout)) {
		perror("warpbell-bench: cannot write");
		return BENCH_CANNOT;
	}
	return rc;
}
