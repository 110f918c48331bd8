// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a message costs when it is the turn of another queue each time (G11):
 * two software NICs on this one thread, 8 B WRITEs, the same number on one
 * queue in turn.
 */
#include <stdio.h>
#include <stdlib.h>

#include "nicpair.h"
#include "place.h"
#include "row.h"

#define ROUNDS	 5
#define MESSAGES 1048576U

struct figure {
	unsigned queues, visit; /* messages on a queue before the next */
	double must, strive;
};

static struct nicpair pair[3];

/* ns of CPU time per message. */
static double run(struct nicpair *p, unsigned visit)
{
	double start = place_cpu();

	for (uint32_t m = 0; m < MESSAGES; m += NICPAIR_BURST) {
		uint32_t done = 0;

		for (uint32_t i = 0; i < NICPAIR_BURST; i++)
			nicpair_post(p, (m + i) / visit % p->queues);
		for (int turn = 0; done < NICPAIR_BURST; turn++) {
			if (turn == 100000) {
				fprintf(stderr,
					"bench: WRITEs on %u queues "
					"do not complete\n",
					p->queues);
				exit(1);
			}
			nicpair_turn(p);
			for (uint32_t i = 0; i < NICPAIR_BURST; i += visit)
				done += nicpair_reap(p, (m + i) / visit %
								p->queues);
		}
	}
	return (place_cpu() - start) * 1e9 / MESSAGES;
}

static bool measure(struct nicpair *many, const struct figure *f)
{
	double one[ROUNDS], all[ROUNDS];
	char what[64];
	struct row r = { .id = "G11",
			 .what = what,
			 .unit = "ns a message",
			 .better = ROW_LOWER,
			 .must = f->must,
			 .strive = f->strive };

	snprintf(what, sizeof(what), "%u queues in turn, %u WRITE%s each / one",
		 f->queues, f->visit, f->visit > 1 ? "s" : "");
	run(many, f->visit);
	for (int i = 0; i < ROUNDS; i++) {
		one[i] = run(&pair[0], NICPAIR_BURST);
		all[i] = run(many, f->visit);
	}
	row_measured(&r, all, one, ROUNDS);
	return row_tell(&r);
}

int main(void)
{
	static const struct figure figures[] = {
		{ 1024, NICPAIR_BURST, 1.25, 1.1 },
		{ 1024, 1, 1.25, 1.1 },
		{ 16384, NICPAIR_BURST, 2, 1.5 },
		{ 16384, 1, 2, 1.5 },
	};
	bool ok = true;

	place_pin(0);
	nicpair_open(&pair[0], 1);
	nicpair_open(&pair[1], 1024);
	nicpair_open(&pair[2], 16384);
	for (unsigned i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		ok &= measure(&pair[1 + (figures[i].queues > 1024)],
			      &figures[i]);
	for (int i = 0; i < 3; i++)
		nicpair_close(&pair[i]);
	return !ok;
}
