// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bootstrap over MPI: rank, number of ranks and addresses come from mpirun
 * and MPI_Iallgather.  MPI has no word for a rank that is gone: mpirun ends
 * the others.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>

#include "bench.h"

#define PATIENCE_NS 120000000000ULL

struct boot {
	const struct bench_options *opt;
};

/* Called once, before anything else: MPI may look at the environment. */
int boot_launched(struct bench_options *opt)
{
	int rank, ranks, level;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) ||
	    MPI_Comm_rank(MPI_COMM_WORLD, &rank) ||
	    MPI_Comm_size(MPI_COMM_WORLD, &ranks))
		return 0;
	opt->rank = (uint32_t)rank;
	opt->ranks = (uint32_t)ranks;
	return 1;
}

int boot_open(struct bench_options *opt, struct boot **out)
{
	struct boot *b = calloc(1, sizeof(*b));

	if (!b)
		return bench_fail(opt, BENCH_CANNOT,
				  "bootstrap: no memory: free some");
	b->opt = opt;
	*out = b;
	return BENCH_GOOD;
}

int boot_gather(void *boot, const void *mine, void *all, uint32_t size)
{
	uint64_t deadline = wbell_host_now() + PATIENCE_NS;
	struct boot *b = boot;
	MPI_Request request;
	int done = 0, rc;

	rc = MPI_Iallgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE,
			    MPI_COMM_WORLD, &request);
	while (!rc && !done && wbell_host_now() < deadline) {
		rc = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		if (!rc && !done)
			usleep(100);
	}
	if (!rc && done)
		return 0;
	bench_fail(b->opt, BENCH_FAILED,
		   "meeting the other ranks: %s: see mpirun's output",
		   rc ? "MPI failed" : "not all came in time");
	return rc ? -EIO : -ETIMEDOUT;
}

int boot_gone(void *boot)
{
	return 0;
}

/* Ranks that wait for this one in MPI would wait for ever. */
void boot_leave(struct boot *b, uint32_t blame)
{
	b->opt = NULL;
}

void boot_close(struct boot *b)
{
	int failed = b && !b->opt;

	free(b);
	if (failed)
		MPI_Abort(MPI_COMM_WORLD, BENCH_FAILED);
	MPI_Finalize();
}
