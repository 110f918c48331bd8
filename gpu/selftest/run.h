/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of a kernel on a rig of its own. */
#ifndef WBELL_SELFTEST_RUN_H
#define WBELL_SELFTEST_RUN_H

#include "kernels.h"
#include "rig.h"

struct run {
	struct rig *rig;
	struct self_args *args;
	struct wbell_grid grid;
	uint32_t lanes;
	char why[200]; /* why it failed; "" while it has not */
};

/* Fills args from the rig.  0, or a text in why. */
int run_open(struct run *run, const struct rig_attr *rig, uint32_t blocks,
	     uint32_t threads);
void run_close(struct run *run);

/*
 * Starts the kernel, calls during (may be NULL), joins.  A kernel that does
 * not end by itself is ended by the abort word.
 */
int run_kernel(struct run *run, wbell_kernel_fn kernel,
	       void (*during)(struct run *run));

/* Notes the first failure; returns -1 for the caller to return. */
__attribute__((format(printf, 2, 3))) int run_fail(struct run *run,
						   const char *text, ...);

/* True where kernels run on CPU threads. */
int run_on_cpu(void);

#endif /* WBELL_SELFTEST_RUN_H */
