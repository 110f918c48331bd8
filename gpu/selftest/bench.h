/* SPDX-License-Identifier: BSD-2-Clause */
/* Message rate, latency and bandwidth of this machine, as a table. */
#ifndef WBELL_SELFTEST_BENCH_H
#define WBELL_SELFTEST_BENCH_H

/* Prints rows as TAP comments; 0, or 1 when one could not be measured. */
int bench_all(void);

#endif /* WBELL_SELFTEST_BENCH_H */
