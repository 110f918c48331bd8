/* SPDX-License-Identifier: BSD-2-Clause */
/* The cost model's points and parameters, and how they are printed. */
#ifndef WBELL_BENCH_MODEL_H
#define WBELL_BENCH_MODEL_H

#include "bench.h"

#define POINTS_MAX 64

struct point {
	uint32_t op, depth; /* COLL_PUTS has windows of depth, others 1 */
	uint64_t size;
	int fitted;	    /* the fit has seen it */
	double us, post_us; /* measured: the whole window, one post */
	double predicted_us;
};

struct model {
	struct rank *rank;
	uint32_t ranks;
	struct fit window, step;
	double post_us; /* o */
	struct point point[POINTS_MAX];
	uint32_t points;
};

void model_print(const struct model *m);

#endif /* WBELL_BENCH_MODEL_H */
