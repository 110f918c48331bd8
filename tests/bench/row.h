/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a bench: a table for people, build/bench/<area>.json for tools. */
#ifndef TESTS_BENCH_ROW_H
#define TESTS_BENCH_ROW_H

struct row {
	const char *id, *what, *unit;
	double value, base;
	double ratio; /* value / base, median of the pairs */
	double must, strive;
};

void row_add(const struct row *row);
double row_median(const double *v, unsigned n);
/* Print and write; 0, 1 where a row misses its must, 2 no file. */
int row_write(const char *area);

#endif /* TESTS_BENCH_ROW_H */
