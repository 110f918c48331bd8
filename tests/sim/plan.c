// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a seed means.  Each concern draws from a stream of its own, so that
 * taking one fault away leaves the rest of the world as it was.
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

/* Not every world has every fault: most have a few. */
static uint32_t choose_faults(struct rng *r)
{
	uint32_t all = 0;
	unsigned n;

	if (chance(r, 300))
		return 0;
	n = (unsigned)pick(r, 1, 4);
	while (n--)
		all |= 1U << pick(r, 0, 15);
	if (chance(r, 5000))
		all |= F_LOSS;
	return all;
}

/* What is there beside connections with receives of their own. */
static uint32_t choose_parts(uint64_t seed)
{
	struct rng r = fork_rng(seed, 6);

	return (chance(&r, 2500) ? F_SRQ : 0) | (chance(&r, 3000) ? F_UD : 0);
}

static unsigned rate(struct rng *r, unsigned small, unsigned large)
{
	return (unsigned)(chance(r, 7000) ? pick(r, 1, small)
					  : pick(r, small, large));
}

static void choose_wire(struct plan *p)
{
	struct rng r = fork_rng(p->seed, 2);

	p->latency = chance(&r, 500) ? pick(&r, 1 * MS, 4 * MS)
				     : pick(&r, 1 * US, 40 * US);
	p->jitter = chance(&r, 5000) ? 0 : pick(&r, 1, 2 * US);
	p->spread = pick(&r, 1 * US, 60 * US);
	p->bits_per_ns = (unsigned)pick(&r, 1, 100);
	p->queue = chance(&r, 2000) ? (unsigned)pick(&r, 20, 80) : 4096;
	p->calm = chance(&r, 2000) ? pick(&r, 20 * MS, 100 * MS)
				   : pick(&r, 1 * MS, 10 * MS);
	p->loss = rate(&r, 300, 3000);
	p->burst = rate(&r, 30, 200);
	p->dup = rate(&r, 300, 3000);
	p->reorder = rate(&r, 500, 5000);
	p->corrupt = rate(&r, 200, 2000);
	p->late = rate(&r, 50, 500);
	p->refill = chance(&r, 3000);
}

void plan_make(struct plan *p, uint64_t seed, const struct limits *l)
{
	struct rng r = fork_rng(seed, 1);

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->faults = (choose_faults(&r) | choose_parts(seed)) & l->faults;
	p->nodes = chance(&r, 6000) ? 2 : (unsigned)pick(&r, 3, NODES_MAX);
	p->links = chance(&r, 5000) ? 1 : (unsigned)pick(&r, 2, 5);
	p->msgs = (unsigned)(chance(&r, 8000) ? pick(&r, 1, 14)
					      : pick(&r, 14, MSGS_MAX));
	if (p->msgs > l->msgs)
		p->msgs = l->msgs;
	p->links_mask = l->links_mask & ((1U << p->links) - 1);
	choose_wire(p);
}

int plan_text(const struct plan *p, char *to, unsigned size)
{
	return snprintf(
		to, size, "--seed=%llu --faults=0x%x --links=0x%x --msgs=%u",
		(unsigned long long)p->seed, p->faults, p->links_mask, p->msgs);
}
