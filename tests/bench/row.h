/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a bench: a line for people on stdout, a line of JSON for tools in
 * the file that WBELL_BENCH_ROWS names.  run.sh makes one array of them.
 */
#ifndef TESTS_BENCH_ROW_H
#define TESTS_BENCH_ROW_H

#include <stdbool.h>

#define ROW_ROUNDS 64 /* at most */

enum row_better { ROW_HIGHER, ROW_LOWER };

struct row {
	const char *id, *what, *unit;
	enum row_better better;
	double must, strive; /* of the figure */
	const char *reason;  /* not NULL: there is no value, and this is why */
	/* What row_measured() fills; medians but for min and max. */
	double value;
	bool has_base;
	double base;
	double figure, min, max; /* value / base, or value where no base */
};

/* Of n rounds; base NULL: must and strive are held against the value. */
void row_measured(struct row *row, const double *value, const double *base,
		  unsigned n);
/* Tells a row; false where it misses its must. */
bool row_tell(const struct row *row);
double row_median(const double *v, unsigned n);

#endif /* TESTS_BENCH_ROW_H */
