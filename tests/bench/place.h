/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a thread of a bench runs, and the clocks it is measured by. */
#ifndef TESTS_BENCH_PLACE_H
#define TESTS_BENCH_PLACE_H

#include <stdint.h>

/* The calling thread to the nth CPU it may run on, modulo their number. */
void place_pin(unsigned nth);
/* "NAME@REST": the calling thread enters network namespace NAME; REST. */
const char *place_enter(const char *spec);
double place_cpu(void); /* seconds of this thread's CPU time */
uint64_t place_ns(void);

#endif /* TESTS_BENCH_PLACE_H */
