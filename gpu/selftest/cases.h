/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of the self test: a kernel, and what must be so when it has ended. */
#ifndef WBELL_SELFTEST_CASES_H
#define WBELL_SELFTEST_CASES_H

#include "run.h"

struct self_case {
	const char *name;
	wbell_kernel_fn kernel;
	int alone;     /* one thread */
	int silent;    /* the NICs do nothing */
	uint32_t each; /* rounds; see the kernel */
	void (*prepare)(struct run *run);
	void (*during)(struct run *run);
	int (*check)(struct run *run);
};

extern const struct self_case self_cases[];
extern const unsigned self_cases_count;

/* Runs one on a new rig; 0, or why has the text. */
int self_case_run(const struct self_case *c, const struct rig_attr *rig,
		  uint32_t blocks, uint32_t threads, struct run *run);

#endif /* WBELL_SELFTEST_CASES_H */
