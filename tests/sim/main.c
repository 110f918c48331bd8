// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many seeds, in children of their own so that a crash is a verdict too; a
 * seed that fails is replayed smaller and smaller until all that is left is
 * needed.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define CHUNK	     250 /* seeds of one child */
#define TWICE_EVERY  50	 /* seeds of which one runs twice */
#define CHILD_LIMIT  240 /* seconds of a child */
#define SHRINK_LIMIT 20
#define JOBS_MAX     16

struct options {
	uint64_t seed, count, seconds;
	unsigned jobs;
	bool trace, no_shrink;
	struct limits limits;
	const char *name;
};

/* Shared with the children. */
struct board {
	struct {
		uint64_t seed;
		struct verdict v;
	} child[JOBS_MAX];
};

struct totals {
	uint64_t frames, ns;
};

static struct board *board;

static void run_one(const struct options *o, uint64_t seed, struct verdict *v)
{
	struct plan p;

	plan_make(&p, seed, &o->limits);
	world_run(&p, o->trace, v);
}

/* ---- a child ---- */

static bool check_twice(const struct options *o, uint64_t seed,
			struct verdict *v)
{
	struct verdict again;

	run_one(o, seed, &again);
	if (again.hash == v->hash)
		return true;
	v->failed = true;
	snprintf(v->why, sizeof(v->why), "two runs differ: %016llx, %016llx",
		 (unsigned long long)v->hash, (unsigned long long)again.hash);
	return false;
}

static int child(const struct options *o, unsigned slot, uint64_t from,
		 uint64_t count)
{
	struct verdict *v = &board->child[slot].v;
	uint64_t frames = 0, ns = 0;

	alarm(CHILD_LIMIT);
	for (uint64_t s = from; s < from + count; s++) {
		board->child[slot].seed = s;
		strcpy(v->why, "it crashed or hung");
		run_one(o, s, v);
		if (v->failed ||
		    (s % TWICE_EVERY == 0 && !check_twice(o, s, v)))
			return 1;
		frames += v->frames;
		ns += v->ns;
	}
	strcpy(v->why, "something was left behind at the end");
	v->frames = frames;
	v->ns = ns;
	return 0;
}

static pid_t start(const struct options *o, unsigned slot, uint64_t from,
		   uint64_t count)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		exit(child(o, slot, from, count)); /* leaks are found by exit */
	if (pid < 0) {
		perror("sim: fork");
		exit(2);
	}
	return pid;
}

/* ---- shrinking ---- */

static bool still_fails(const struct options *o, const struct limits *l,
			uint64_t seed)
{
	struct options t = *o;
	int status = 0;
	pid_t pid;

	t.limits = *l;
	t.trace = false;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct verdict v;

		alarm(SHRINK_LIMIT);
		if (!freopen("/dev/null", "w", stderr))
			_exit(0);
		run_one(&t, seed, &v);
		_exit(v.failed);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	return status != 0;
}

static bool try_limits(const struct options *o, struct limits *best,
		       struct limits l, uint64_t seed)
{
	if (!memcmp(best, &l, sizeof(l)) || !still_fails(o, &l, seed))
		return false;
	*best = l;
	return true;
}

static bool shrink_masks(const struct options *o, struct limits *l,
			 uint64_t seed)
{
	bool any = false;

	for (unsigned i = 0; i < LINKS_MAX; i++) {
		struct limits t = *l;

		t.links_mask &= ~(1U << i);
		if (t.links_mask)
			any |= try_limits(o, l, t, seed);
	}
	for (unsigned i = 0; i < F_BITS; i++) {
		struct limits t = *l;

		t.faults &= ~(1U << i);
		any |= try_limits(o, l, t, seed);
	}
	return any;
}

static bool shrink_msgs(const struct options *o, struct limits *l,
			uint64_t seed)
{
	bool any = false;

	for (unsigned step = l->msgs / 2; step; step /= 2)
		while (l->msgs > step) {
			struct limits t = *l;

			t.msgs -= step;
			if (!try_limits(o, l, t, seed))
				break;
			any = true;
		}
	return any;
}

static struct limits shrink(const struct options *o, uint64_t seed)
{
	struct limits l = o->limits;
	struct plan p;

	plan_make(&p, seed, &l);
	l.faults = p.faults;
	l.links_mask = p.links_mask;
	l.msgs = p.msgs;
	if (!still_fails(o, &l, seed))
		return o->limits; /* not of one seed alone */
	for (unsigned i = 0; i < 4; i++)
		if (!(shrink_masks(o, &l, seed) | shrink_msgs(o, &l, seed)))
			break;
	return l;
}

static void report(const struct options *o, unsigned slot)
{
	uint64_t seed = board->child[slot].seed;
	struct limits l = o->no_shrink ? o->limits : shrink(o, seed);
	struct plan p;
	char text[160];

	printf("# seed %llu: %s\n", (unsigned long long)seed,
	       board->child[slot].v.why);
	plan_make(&p, seed, &o->limits);
	plan_text(&p, text, sizeof(text));
	printf("# replay: %s %s --trace\n", o->name, text);
	plan_make(&p, seed, &l);
	plan_text(&p, text, sizeof(text));
	printf("# small:  %s %s --trace\n", o->name, text);
}

/* ---- the run ---- */

static time_t seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static unsigned slot_of(const pid_t *pid, unsigned n, pid_t who)
{
	unsigned i = 0;

	while (i < n && pid[i] != who)
		i++;
	return i;
}

/* Seeds that failed; it stops at the first. */
static unsigned run_all(const struct options *o, struct totals *t)
{
	pid_t pid[JOBS_MAX] = { 0 };
	uint64_t next = o->seed, end = o->seed + o->count;
	time_t until = seconds() + (time_t)o->seconds;
	unsigned busy = 0, failed = 0;

	for (;;) {
		unsigned i = slot_of(pid, o->jobs, 0);
		bool more = o->seconds ? seconds() < until : next < end;
		int status;

		if (i < o->jobs && more && !failed) {
			uint64_t n = o->seconds || end - next > CHUNK
					     ? CHUNK
					     : end - next;

			pid[i] = start(o, i, next, n);
			next += n;
			busy++;
			continue;
		}
		if (!busy)
			break;
		i = slot_of(pid, o->jobs, wait(&status));
		if (i == o->jobs)
			continue;
		pid[i] = 0;
		busy--;
		if (status) {
			failed++;
			report(o, i);
		}
		t->frames += board->child[i].v.frames;
		t->ns += board->child[i].v.ns;
	}
	printf("# %llu schedules from seed %llu\n",
	       (unsigned long long)(next - o->seed),
	       (unsigned long long)o->seed);
	return failed;
}

static int run_single(const struct options *o)
{
	struct verdict v;

	run_one(o, o->seed, &v);
	printf("%s: %llu frames, %llu ns, hash %016llx%s%s\n",
	       v.failed ? "FAILED" : "good", (unsigned long long)v.frames,
	       (unsigned long long)v.ns, (unsigned long long)v.hash,
	       v.failed ? ": " : "", v.failed ? v.why : "");
	return v.failed;
}

static int run_many(const struct options *o)
{
	struct totals t = { 0, 0 };
	unsigned failed = run_all(o, &t);

	printf("1..1\n# %llu frames, %llu s of the simulated clock\n",
	       (unsigned long long)t.frames,
	       (unsigned long long)(t.ns / 1000000000));
	printf("%s 1 - sim_every_schedule_holds\n", failed ? "not ok" : "ok");
	return failed != 0;
}

/* ---- options ---- */

static const char usage[] =
	"usage: %s [--seed=N] [--count=N | --seconds=N] [--jobs=N]\n"
	"	[--faults=MASK] [--links=MASK] [--msgs=N] [--trace] "
	"[--no-shrink]\n"
	"--seed alone runs that one; else TAP over many.\n";

static const struct option longs[] = {
	{ "seed", 1, NULL, 's' },      { "count", 1, NULL, 'c' },
	{ "seconds", 1, NULL, 't' },   { "jobs", 1, NULL, 'j' },
	{ "faults", 1, NULL, 'f' },    { "links", 1, NULL, 'l' },
	{ "msgs", 1, NULL, 'm' },      { "trace", 0, NULL, 'v' },
	{ "no-shrink", 0, NULL, 'n' }, { NULL, 0, NULL, 0 },
};

static bool take_option(struct options *o, int c)
{
	uint64_t v = optarg ? strtoull(optarg, NULL, 0) : 0;

	switch (c) {
	case 's':
		o->seed = v;
		return true;
	case 'c':
		o->count = v;
		return true;
	case 't':
		o->seconds = v;
		return true;
	case 'j':
		o->jobs = (unsigned)v;
		return v >= 1 && v <= JOBS_MAX;
	case 'f':
		o->limits.faults = (uint32_t)v;
		return true;
	case 'l':
		o->limits.links_mask = (uint32_t)v;
		return v != 0;
	case 'm':
		o->limits.msgs = (unsigned)v;
		return v >= 1 && v <= MSGS_MAX;
	case 'v':
		o->trace = true;
		return true;
	case 'n':
		o->no_shrink = true;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	struct options o = {
		.jobs = 1,
		.limits = { F_ALL, ~0U, MSGS_MAX },
		.name = argv[0],
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1)
		if (!take_option(&o, c)) {
			fprintf(stderr, usage, argv[0]);
			return 2;
		}
	if (!o.count && !o.seconds)
		return run_single(&o);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED) {
		perror("sim: mmap");
		return 2;
	}
	return run_many(&o);
}
