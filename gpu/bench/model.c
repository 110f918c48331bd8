// SPDX-License-Identifier: BSD-2-Clause
/*
 * warpbell-bench model: a LogGP-like cost model, fitted from some points of a
 * run and held against the others.
 *
 * A window of D puts of n bytes, then a wait for the last:
 *	o + L + n Gl + (D - 1) (g + n G)
 * o: a post, on this kind of doorbell; L: from post to completion; g and G:
 * what each further message and byte adds once the pipe is full; Gl: what a
 * byte adds to a lone message.
 *
 * A message with signal to the next rank, while all do the same:
 *	s + n S
 * Collectives are made of such steps.  All ranks measure at once, so that
 * what they share, wire or CPUs, is in the figures.  Points are gone through
 * several times and each keeps its best, so that a machine that is busy for a
 * while does not set apart those that are fitted and those that are held.
 */
#include <math.h>
#include <string.h>

#include "model.h"

#define ROUNDS 7	      /* of a point in a pass: its median counts */
#define ENOUGH 30000000000ULL /* ns: no further pass begins after this */

/* ---- points ---- */

static void add(struct model *m, uint32_t op, uint32_t depth, uint64_t size,
		int fitted)
{
	struct point *p = &m->point[m->points++];

	p->op = op;
	p->depth = depth;
	p->size = size;
	p->fitted = fitted;
	p->us = INFINITY;
	p->post_us = INFINITY;
}

static void add_windows(struct model *m)
{
	static const uint32_t depths[] = { 1, 4, 8, 16, 32, 64 };
	static const uint64_t fit[] = { 8, 4096, 65536 };
	static const uint64_t hold[] = { 64, 1024, 16384, 131072 };
	uint32_t d, s;

	for (d = 0; d < 6; d++) {
		for (s = 0; s < 3; s++)
			if (depths[d] == 1 || depths[d] == 8 || depths[d] == 32)
				add(m, COLL_PUTS, depths[d], fit[s], 1);
		for (s = 0; s < 4; s++)
			if (depths[d] != 8 && depths[d] != 32)
				add(m, COLL_PUTS, depths[d], hold[s], 0);
	}
}

static void add_steps(struct model *m)
{
	static const uint64_t sizes[] = { 8,	 512,	4096,  16384,
					  32768, 65536, 131072 };
	uint32_t s;

	/* every other one is fitted, the first and the last among them */
	for (s = 0; s < 7; s++)
		add(m, COLL_SHIFT, 1, sizes[s], !(s & 1));
}

static void add_colls(struct model *m)
{
	static const uint64_t sizes[] = { 1024, 65536, 524288 };
	uint32_t op, s;

	add(m, COLL_BARRIER, 1, 0, 0);
	for (op = COLL_ALL_GATHER; op <= COLL_ALL_REDUCE_TREE; op++)
		for (s = 0; s < 3; s++)
			add(m, op, 1, sizes[s], 0);
}

/* ---- measure ---- */

static uint32_t times_of(uint64_t bytes)
{
	return bytes <= 65536 ? 20 : 4;
}

static void describe(const struct model *m, const struct point *p,
		     struct coll_work *w)
{
	memset(w, 0, sizeof(*w));
	w->op = p->op;
	w->type = COLL_F32;
	w->recv_at = m->rank->recv_at;
	w->times = 1;
	if (p->op == COLL_PUTS || p->op == COLL_SHIFT) {
		w->count = p->size;
		w->depth = p->depth;
		w->times = times_of(p->size * p->depth);
		return;
	}
	w->count = p->size / 4;
	if (p->op == COLL_ALL_GATHER || p->op == COLL_REDUCE_SCATTER)
		w->count /= m->ranks;
}

/* The slowest rank's median: all ranks know the same. */
static int measure(struct model *m, struct point *p)
{
	double mine[2], all[COLL_RANKS_MAX][2], us = 0, post = 0;
	struct coll_work w;
	struct repeat rep;
	uint32_t r;
	int rc;

	describe(m, p, &w);
	rc = rank_repeat(m->rank, &w, ROUNDS, &rep);
	if (rc)
		return rc;
	mine[0] = (double)rep.median_ns / 1e3 / w.times;
	mine[1] = (double)rep.post_ns / 1e3 / w.times / p->depth;
	rc = rank_gather(m->rank, mine, all, sizeof(mine));
	for (r = 0; r < m->ranks && !rc; r++) {
		us = fmax(us, all[r][0]);
		post += all[r][1] / m->ranks;
	}
	if (rc)
		return rc;
	p->us = fmin(p->us, us);
	p->post_us = fmin(p->post_us, post);
	return BENCH_GOOD;
}

/* Rank 0's clock decides for all. */
static int is_enough(struct model *m, uint64_t start, int *enough)
{
	uint64_t mine = wbell_host_now() - start, all[COLL_RANKS_MAX];
	int rc = rank_gather(m->rank, &mine, all, sizeof(mine));

	*enough = !rc && all[0] >= ENOUGH;
	return rc;
}

static int measure_all(struct model *m)
{
	uint64_t start = wbell_host_now();
	uint32_t pass, i;
	int rc = 0, enough = 0;

	for (pass = 0; pass < m->rank->opt->iters && !rc && !enough; pass++) {
		for (i = 0; i < m->points && !rc; i++)
			rc = measure(m, &m->point[i]);
		if (!rc)
			rc = is_enough(m, start, &enough);
	}
	return rc;
}

/* ---- fit ---- */

static void window_terms(uint32_t depth, uint64_t n, double x[FIT_MAX])
{
	x[0] = 1;
	x[1] = (double)n;
	x[2] = depth - 1.0;
	x[3] = (depth - 1.0) * (double)n;
}

static int fit(struct model *m)
{
	double x[FIT_MAX];
	uint32_t i;

	fit_init(&m->window, 4);
	fit_init(&m->step, 2);
	m->post_us = INFINITY;
	for (i = 0; i < m->points; i++) {
		const struct point *p = &m->point[i];

		if (!p->fitted)
			continue;
		window_terms(p->depth, p->size, x);
		fit_add(p->op == COLL_PUTS ? &m->window : &m->step, x, p->us);
		if (p->op == COLL_PUTS)
			m->post_us = fmin(m->post_us, p->post_us);
	}
	return fit_solve(&m->window) || fit_solve(&m->step) ? -1 : 0;
}

/* ---- predict ---- */

static double step_us(const struct model *m, double n)
{
	double x[FIT_MAX] = { 1, n };

	return fit_predict(&m->step, x);
}

/* Pieces behind each other on the same way: the first, then a gap each. */
static double pipe_us(const struct model *m, double steps, double n)
{
	double piece = fmin(n, COLL_SLOT_SIZE);

	return steps * step_us(m, piece) + (n - piece) * m->step.c[1];
}

/* A kernel ends when its last post has completed; that began a step ago. */
static double end_us(const struct model *m)
{
	return fmax(0, m->window.c[0] - m->step.c[0]);
}

/* Each loop moves a chunk of one FIFO slot at most to the next rank. */
static double chunks_us(const struct model *m, double hops, double n)
{
	double chunk = n / m->ranks;
	double loops = ceil(chunk / COLL_SLOT_SIZE);

	return loops * hops * step_us(m, chunk / loops);
}

static double gather_us(const struct model *m, double n)
{
	double hops = m->ranks - 1.0, block = n / m->ranks;
	double more = fmax(0, block - COLL_SLOT_SIZE) * m->step.c[1];

	/* a permission first; all blocks pass each link */
	return step_us(m, 0) + pipe_us(m, hops, block) + (hops - 1) * more +
	       end_us(m);
}

/* Half of a tree sends while the other half receives: half a byte's cost. */
static double tree_us(const struct model *m, double n)
{
	double piece = fmin(n, COLL_SLOT_SIZE), byte = m->step.c[1] / 2;
	double levels = floor(log2((double)m->ranks));

	return 2 * (levels * (m->step.c[0] + piece * byte) +
		    (n - piece) * byte) +
	       end_us(m);
}

static double predict_coll(const struct model *m, uint32_t op, uint64_t size)
{
	double n = (double)size, hops = m->ranks - 1.0;

	switch (op) {
	case COLL_BARRIER:
		return ceil(log2((double)m->ranks)) * step_us(m, 0) + end_us(m);
	case COLL_ALL_GATHER:
		return gather_us(m, n);
	case COLL_REDUCE_SCATTER: /* its last post, a credit, comes last */
		return chunks_us(m, hops, n) + m->window.c[0];
	case COLL_ALL_REDUCE_RING:
		return chunks_us(m, 2 * hops, n) + end_us(m);
	default:
		return tree_us(m, n);
	}
}

static double predict(const struct model *m, const struct point *p)
{
	double x[FIT_MAX];

	if (p->op == COLL_SHIFT)
		return step_us(m, (double)p->size);
	if (p->op != COLL_PUTS)
		return predict_coll(m, p->op, p->size);
	window_terms(p->depth, p->size, x);
	return fit_predict(&m->window, x);
}

int bench_model(struct rank *k)
{
	struct model m = { .rank = k, .ranks = k->opt->ranks };
	uint32_t i;
	int rc;

	if (k->opt->channels != 1 || k->opt->launch)
		return bench_fail(k->opt, BENCH_CANNOT,
				  "model: --channels or --launch given: it "
				  "measures one channel of a kernel that "
				  "stays: leave them out");
	add_windows(&m);
	add_steps(&m);
	add_colls(&m);
	rc = measure_all(&m);
	if (!rc && fit(&m))
		rc = bench_fail(k->opt, BENCH_FAILED,
				"model: the points measured do not tell its "
				"parameters: run it on a quieter machine");
	for (i = 0; i < m.points && !rc; i++)
		m.point[i].predicted_us = predict(&m, &m.point[i]);
	if (!rc && !k->opt->rank)
		model_print(&m);
	return rc;
}
