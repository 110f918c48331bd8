// SPDX-License-Identifier: BSD-2-Clause
/*
 * Self test of device code: every operation, on every kind of queue, against
 * two software NICs in memory.  TAP on standard output.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cases.h"

#define NO_GPU	 "no usable GPU" /* wbell_launch_device() */
#define GRID_GPU 4, 64		 /* blocks, threads */
#define GRID_CPU 2, 16

struct kind {
	const char *name;
	struct rig_attr rig;
};

/* A small ring, and an index that wraps on the wire at once. */
#define SMALL .log_depth = 5, .first_index = 65534

static const struct kind kinds[] = {
	{ "word", { SMALL, .db_kind = WBELL_DB_WORD } },
	{ "proxy", { SMALL, .db_kind = WBELL_DB_PROXY, .cq_record = 1 } },
	{ "uar", { SMALL, .db_kind = WBELL_DB_UAR, .cq_record = 1 } },
	{ "word, exclusive",
	  { SMALL, .db_kind = WBELL_DB_WORD, .flags = WBELL_DQ_EXCLUSIVE } },
	{ "uar, exclusive",
	  { SMALL, .db_kind = WBELL_DB_UAR, .flags = WBELL_DQ_EXCLUSIVE } },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct options {
	uint32_t blocks, threads;
	unsigned kinds;
	int quick, bench;
};

static void usage(FILE *to)
{
	fprintf(to,
		"usage: selftest [--grid BLOCKSxTHREADS] [--quick] "
		"[--bench]\n"
		"  --grid   threads of a shared queue (at most %u)\n"
		"  --quick  one kind of queue, for slow tools, which may\n"
		"           also hold the host while a kernel runs\n"
		"  --bench  measure instead of testing\n"
		"  --device only tell where kernels would run\n",
		SELF_LANES);
}

static int parse_grid(struct options *o, const char *text)
{
	char rest;

	return sscanf(text, "%ux%u%c", &o->blocks, &o->threads, &rest) == 2 &&
			       o->blocks && o->threads &&
			       o->blocks <= SELF_LANES &&
			       o->threads <= SELF_LANES / o->blocks
		       ? 0
		       : -1;
}

static void bad_grid(const char *text)
{
	fprintf(stderr,
		"selftest: --grid: '%s' is no grid of 1..%u threads: "
		"give one like 2x16\n",
		text, SELF_LANES);
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "grid", required_argument, NULL, 'g' },
		{ "quick", no_argument, NULL, 'q' },
		{ "bench", no_argument, NULL, 'b' },
		{ "device", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'g' && parse_grid(o, optarg)) {
			bad_grid(optarg);
			return 2;
		} else if (c == 'q') {
			o->kinds = 1;
			o->quick = 1;
		} else if (c == 'b') {
			o->bench = 1;
		} else if (c == 'd') {
			puts(wbell_launch_device());
			return 0;
		} else if (c != 'g') {
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind == argc)
		return -1;
	usage(stderr);
	return 2;
}

static int test_one(const struct options *o, const struct kind *kind,
		    const struct self_case *c, unsigned number)
{
	int alone = kind->rig.flags & WBELL_DQ_EXCLUSIVE;
	struct run run;
	int rc;

	if (o->quick && c->during) {
		printf("ok %u - %s (%s) # SKIP needs the host meanwhile\n",
		       number, c->name, kind->name);
		return 0;
	}
	rc = self_case_run(c, &kind->rig, alone ? 1 : o->blocks,
			   alone ? 1 : o->threads, &run);

	printf("%sok %u - %s (%s)\n", rc ? "not " : "", number, c->name,
	       kind->name);
	if (rc)
		printf("# %s\n", run.why);
	fflush(stdout);
	return rc != 0;
}

static int test_all(const struct options *o)
{
	unsigned i, k, number = 0;
	int failed = 0;

	printf("1..%u\n# kernels on %s, %u x %u threads\n",
	       self_cases_count * o->kinds, wbell_launch_device(), o->blocks,
	       o->threads);
	for (k = 0; k < o->kinds; k++)
		for (i = 0; i < self_cases_count; i++)
			failed |= test_one(o, &kinds[k], &self_cases[i],
					   ++number);
	return failed;
}

int main(int argc, char **argv)
{
	static const uint32_t gpu[] = { GRID_GPU }, cpu[] = { GRID_CPU };
	const uint32_t *grid = run_on_cpu() ? cpu : gpu;
	struct options o = { grid[0], grid[1], KINDS, 0, 0 };
	int rc = parse(&o, argc, argv);

	if (rc >= 0)
		return rc;
	if (!strcmp(wbell_launch_device(), NO_GPU)) {
		printf("1..1\nok 1 - selftest # SKIP no GPU answers\n");
		return 0;
	}
	return o.bench ? bench_all() : test_all(&o);
}
