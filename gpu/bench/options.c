// SPDX-License-Identifier: BSD-2-Clause
/* What the command line says. */
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define MODEL_PASSES 5

enum {
	RANK = 256,
	RANKS,
	BOOT,
	LOCAL,
	CHANNELS,
	THREADS,
	ITERS,
	TIMEOUT,
	OPS,
	TYPES,
	SIZES,
	LAUNCH,
	IN_PLACE,
	OVERLAP
};

static const struct option options[] = {
	{ "wire", required_argument, NULL, 'w' },
	{ "local", required_argument, NULL, LOCAL },
	{ "rank", required_argument, NULL, RANK },
	{ "ranks", required_argument, NULL, RANKS },
	{ "boot", required_argument, NULL, BOOT },
	{ "ops", required_argument, NULL, OPS },
	{ "types", required_argument, NULL, TYPES },
	{ "sizes", required_argument, NULL, SIZES },
	{ "channels", required_argument, NULL, CHANNELS },
	{ "threads", required_argument, NULL, THREADS },
	{ "iters", required_argument, NULL, ITERS },
	{ "timeout-ms", required_argument, NULL, TIMEOUT },
	{ "launch", no_argument, NULL, LAUNCH },
	{ "in-place", no_argument, NULL, IN_PLACE },
	{ "overlap", no_argument, NULL, OVERLAP },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void help(void)
{
	printf("usage: warpbell-bench coll|model --wire WIRE "
	       "{--local N | --rank R --ranks N --boot HOST:PORT} [OPTION "
	       "...]\n"
	       "\n"
	       "coll   runs collectives over N ranks and checks every result\n"
	       "model  fits a cost model to the wire; predicted beside "
	       "measured\n"
	       "\n"
	       "  -w, --wire WIRE     as in wbell.h; %%d is the rank, %%r is "
	       "server or client\n"
	       "  --local N           start ranks 0..N-1 here\n"
	       "  --rank R --ranks N  be one of them (mpirun says so to "
	       "warpbell-bench-mpi)\n"
	       "  --boot HOST:PORT    where rank 0 listens\n"
	       "  --ops LIST          barrier,all-gather,reduce-scatter,"
	       "all-reduce-ring,\n"
	       "                      all-reduce-tree,all-to-all,moe-dispatch,"
	       "kv-pages (all)\n"
	       "  --types LIST        fp32,bf16,int32 (all)\n"
	       "  --sizes LIST        bytes, K, M or G behind (0,4,1000,64K,"
	       "1M)\n"
	       "  --channels N        blocks, queues to each rank (1)\n"
	       "  --threads N         threads of a block (1)\n"
	       "  --iters N           timed rounds (1); passes of the model "
	       "(5)\n"
	       "  --timeout-ms N      longest wait without progress (10000)\n"
	       "  --launch            a kernel each instead of one that stays\n"
	       "  --in-place          send and receive buffer are one\n"
	       "  --overlap           a compute kernel runs beside each\n"
	       "  -j, --json          an object a line\n"
	       "\n"
	       "Exit status: 0 good, 1 a check failed or a rank went, 2 usage "
	       "or cannot run.\n"
	       "\n"
	       "example: warpbell-bench coll --local 4 "
	       "--wire af_packet:r%%d\n");
}

static int bad(const char *what, const char *fact, const char *mend)
{
	fprintf(stderr, "warpbell-bench: %s: %s: %s\n", what, fact, mend);
	return BENCH_CANNOT;
}

/* Digits, then K, M or G where units is not 0; ends at a comma or the end. */
static int number(const char *s, uint64_t most, int units, uint64_t *v)
{
	static const char letters[] = "KMG";
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)*s) || strcspn(s, ",") > 12)
		return -1;
	*v = strtoull(s, &end, 10);
	unit = *end && units ? strchr(letters, *end) : NULL;
	if (unit) {
		*v <<= 10 * (unit - letters + 1);
		end++;
	}
	return (*end && *end != ',') || *v > most ? -1 : 0;
}

static int take_number(const char *name, const char *s, uint32_t least,
		       uint32_t most, uint32_t *out)
{
	char mend[64];
	uint64_t v;

	if (!strchr(s, ',') && !number(s, most, 0, &v) && v >= least) {
		*out = (uint32_t)v;
		return 0;
	}
	snprintf(mend, sizeof(mend), "give %u to %u", least, most);
	return bad(name, s, mend);
}

static int take_sizes(const char *list, struct bench_options *opt)
{
	const char *s = list;

	opt->sizes = 0;
	for (;;) {
		if (opt->sizes == BENCH_SIZES_MAX ||
		    number(s, BENCH_SIZE_MAX, 1, &opt->size[opt->sizes]))
			return bad("--sizes", list,
				   "give at most 32, of 0 to 1G each, like "
				   "4,64K,1M");
		opt->sizes++;
		s = strchr(s, ',');
		if (!s)
			return 0;
		s++;
	}
}

/* Names, comma between, to a set of bits; text gives the name of each bit. */
static int take_names(const char *name, const char *s,
		      const char *(*text)(uint32_t), uint32_t from, uint32_t to,
		      uint32_t *set)
{
	const char *list = s;
	size_t len;
	uint32_t i;

	*set = 0;
	for (;; s += len + 1) {
		len = strcspn(s, ",");
		for (i = from; i < to; i++)
			if (strlen(text(i)) == len && !strncmp(text(i), s, len))
				break;
		if (i == to)
			return bad(name, list,
				   "warpbell-bench --help lists them");
		*set |= 1U << i;
		if (!s[len])
			return 0;
	}
}

static int take_ops(const char *s, struct bench_options *opt)
{
	int rc = take_names("--ops", s, coll_op_text, COLL_BARRIER, COLL_SHIFT,
			    &opt->ops);

	if (opt->ops & 1U << COLL_COMBINE)
		opt->ops |= 1U << COLL_DISPATCH; /* one after the other */
	opt->ops &= ~(1U << COLL_COMBINE);
	return rc;
}

static int take_set(int c, const char *arg, struct bench_options *opt)
{
	switch (c) {
	case OPS:
		return take_ops(arg, opt);
	case TYPES:
		return take_names("--types", arg, coll_type_text, 0, COLL_TYPES,
				  &opt->types);
	case SIZES:
		return take_sizes(arg, opt);
	case 'w':
		opt->wire = arg;
		return 0;
	case BOOT:
		opt->boot = arg;
		return 0;
	case LAUNCH:
		opt->launch = 1;
		return 0;
	case IN_PLACE:
		opt->in_place = 1;
		return 0;
	case OVERLAP:
		opt->overlap = 1;
		return 0;
	case 'j':
		opt->json = 1;
		return 0;
	default:
		return BENCH_CANNOT;
	}
}

static int take(int c, const char *arg, struct bench_options *opt)
{
	switch (c) {
	case RANK:
		return take_number("--rank", arg, 0, COLL_RANKS_MAX - 1,
				   &opt->rank);
	case RANKS:
		return take_number("--ranks", arg, 2, COLL_RANKS_MAX,
				   &opt->ranks);
	case LOCAL:
		return take_number("--local", arg, 2, COLL_RANKS_MAX,
				   &opt->local);
	case CHANNELS:
		return take_number("--channels", arg, 1, COLL_CHANNELS_MAX,
				   &opt->channels);
	case THREADS:
		return take_number("--threads", arg, 1, 1024, &opt->threads);
	case ITERS:
		return take_number("--iters", arg, 1, 1000000, &opt->iters);
	case TIMEOUT:
		return take_number("--timeout-ms", arg, 10, 600000,
				   &opt->timeout_ms);
	default:
		return take_set(c, arg, opt);
	}
}

static int judge(const struct bench_options *opt)
{
	if (strcmp(opt->verb, "coll") && strcmp(opt->verb, "model"))
		return bad(opt->verb, "no such verb", "give coll or model");
	if (!opt->wire)
		return bad("--wire", "not given",
			   "give one like ring:x or af_packet:r%d");
	if (!opt->local && !opt->ranks)
		return bad("ranks", "none given",
			   "give --local N, or --rank, --ranks and --boot");
	if (opt->local && opt->ranks)
		return bad("--local", "given beside --ranks or mpirun",
			   "give one of them");
	if (!opt->local && opt->rank >= opt->ranks)
		return bad("--rank", "not below --ranks", "count from 0");
	if (!strncmp(opt->wire, "ring:", 5) && opt->local != 2)
		return bad(opt->wire, "a ring joins two ends of one process",
			   "give --local 2, or another wire");
	return 0;
}

int bench_options(int argc, char **argv, struct bench_options *opt)
{
	int c, rc = 0;

	while (!rc &&
	       (c = getopt_long(argc, argv, "w:jh", options, NULL)) != -1) {
		if (c == 'h') {
			help();
			exit(BENCH_GOOD);
		}
		rc = take(c, optarg, opt);
	}
	if (rc)
		return rc;
	if (optind == argc)
		return bad("verb", "none given", "give coll or model");
	if (optind + 1 < argc)
		return bad(argv[optind + 1], "one argument too many",
			   "warpbell-bench --help shows what there is");
	opt->verb = argv[optind];
	if (!opt->iters)
		opt->iters = strcmp(opt->verb, "model") ? 1 : MODEL_PASSES;
	return judge(opt);
}
