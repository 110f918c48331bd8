/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least an RC WRITE path can cost: both ends on one thread, a WQE in, a
 * packet built and sealed, handed over by pointer, parsed, checked, copied,
 * acknowledged, a CQE out.  No NIC, no timers, no loss state.  A floor, not
 * an implementation: what the transport is measured against.
 */
#ifndef TESTS_BENCH_FLOOR_H
#define TESTS_BENCH_FLOOR_H

#include <stdbool.h>
#include <stdint.h>

struct floor_attr {
	uint32_t size;	    /* bytes of a message */
	uint32_t ack_every; /* messages */
	uint32_t span;	    /* bytes of each user buffer */
	uint64_t messages;
};

/* Messages per second of this thread's CPU time; aborts on a wrong byte. */
double floor_run(const struct floor_attr *attr);

#endif /* TESTS_BENCH_FLOOR_H */
