// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the transport costs over net_ring, both ends on this one thread, per
 * second of its CPU time: the 8 B message rate (G1) and hot 64 KiB bandwidth
 * (G3) beside the floor program in turn, cold buffers (G5) beside the floor
 * program and beside an application that stages by memcpy.
 *
 *	transport	every row, judged by the goals of docs/benchmarks.md
 *	transport first	G1 and G3, judged by what has been reached
 */
#include <stdio.h>
#include <string.h>

#include "../../dpdk_path/roce/icrc.h"
#include "floor.h"
#include "place.h"
#include "row.h"
#include "stack.h"

#define ROUNDS	 5
#define COLD	 (256UL << 20)
#define STAGED	 (256U << 10)
#define CHUNK	 65536
#define GB(n, s) ((n)*8e-9 / (s))

struct figure {
	const char *id, *what;
	uint32_t size, span, floor_acks;
	uint64_t messages;
	double first, must, strive, scale;
	const char *unit;
};

static const struct figure figures[] = {
	{ "G1", "8 B WRITE, net_ring, both ends / floor", 8, 1 << 18, 32,
	  2000000, 0.45, 0.50, 0.70, 1e-6, "M messages/CPU-s" },
	{ "G3", "64 KiB WRITE, net_ring, both ends / floor", 65536, 1 << 18, 1,
	  20000, 0.72, 0.72, 0.88, 65536 * 8e-9, "Gb/CPU-s" },
};

static bool hot(const struct figure *f, struct stack *s, bool first)
{
	struct floor_attr fa = { f->size, f->floor_acks, f->span, f->messages };
	struct stack_job job = { .size = f->size,
				 .span = f->span,
				 .messages = f->messages,
				 .window = STACK_DEPTH };
	struct row r = { .id = f->id,
			 .what = f->what,
			 .unit = f->unit,
			 .must = first ? f->first : f->must,
			 .strive = f->strive };
	double ours[ROUNDS], base[ROUNDS];

	stack_put(s, &job);
	for (int i = 0; i < ROUNDS; i++) {
		base[i] = floor_run(&fa) * f->scale;
		ours[i] = f->messages / stack_put(s, &job) * f->scale;
	}
	row_measured(&r, ours, base, ROUNDS);
	return row_tell(&r);
}

/* Through the first STAGED bytes of each end, which stay in cache. */
static double staged(struct stack *s, uint8_t *src, uint8_t *dst)
{
	struct stack_job job = {
		.size = STAGED, .span = STAGED, .messages = 1, .window = 1
	};
	double start = place_cpu();

	for (size_t off = 0; off < COLD; off += STAGED) {
		memcpy(s->end[0].bytes, src + off, STAGED);
		stack_put(s, &job);
		memcpy(dst + off, s->end[1].bytes, STAGED);
	}
	return place_cpu() - start;
}

static bool cold_row(const char *what, const double *ours, const double *base)
{
	struct row r = { .id = "G5",
			 .what = what,
			 .unit = "Gb/CPU-s",
			 .must = 1.3,
			 .strive = 1.5 };

	row_measured(&r, ours, base, ROUNDS);
	return row_tell(&r);
}

/* Both ways go through the same 2 x 256 MiB; the stage has its own stack. */
static bool cold(void)
{
	struct floor_attr fa = { CHUNK, 1, COLD, COLD / CHUNK };
	struct stack_job job = { .size = 1 << 20,
				 .span = COLD,
				 .messages = COLD >> 20,
				 .window = 4 };
	double ours[ROUNDS], floor[ROUNDS], stage[ROUNDS];
	struct stack big, small;
	bool ok;

	stack_open(&big, "ring:cold,mtu=4200", "ring:cold,mtu=4200", COLD);
	stack_open(&small, "ring:stage,mtu=4200", "ring:stage,mtu=4200",
		   STAGED);
	memset(big.end[0].bytes, 7, COLD);
	for (int i = 0; i < ROUNDS; i++) {
		floor[i] = GB((double)CHUNK, 1 / floor_run(&fa));
		stage[i] = GB((double)COLD, staged(&small, big.end[0].bytes,
						   big.end[1].bytes));
		ours[i] = GB((double)COLD, stack_put(&big, &job));
	}
	stack_close(&small);
	stack_close(&big);
	ok = cold_row("cold 256 MiB / floor: memcpy, ICRC, send", ours, floor);
	return cold_row("cold 256 MiB / staged by memcpy at both ends", ours,
			stage) &&
	       ok;
}

int main(int argc, char **argv)
{
	bool first = argc > 1 && !strcmp(argv[1], "first");
	struct stack s;
	bool ok = true;

	place_pin(0);
	roce_icrc_init();
	stack_open(&s, "ring:bench,mtu=4200", "ring:bench,mtu=4200", 1 << 20);
	for (unsigned i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		ok &= hot(&figures[i], &s, first);
	stack_close(&s);
	if (!first)
		ok &= cold();
	return !ok;
}
