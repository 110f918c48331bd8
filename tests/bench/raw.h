/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bare frames on the engine's own DPDK ports, opened as the engine opens
 * them, with nothing between the caller and rx_burst and tx_burst.
 */
#ifndef TESTS_BENCH_RAW_H
#define TESTS_BENCH_RAW_H

#include <stdbool.h>

struct raw_end;

/* Specs as stack.h's.  Failure of any of these ends the program. */
void raw_open(struct raw_end *ends[2], const char *a, const char *b);
void raw_close(struct raw_end *ends[2]);
/* One frame of the length of an 8 B WRITE: the one received last, or new. */
void raw_send(struct raw_end *e);
void raw_await(struct raw_end *e);

#endif /* TESTS_BENCH_RAW_H */
