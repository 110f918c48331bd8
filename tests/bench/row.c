// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double row_median(const double *v, unsigned n)
{
	double sorted[ROW_ROUNDS];

	if (!n || n > ROW_ROUNDS)
		abort();
	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), compare);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

void row_measured(struct row *row, const double *value, const double *base,
		  unsigned n)
{
	double figure[ROW_ROUNDS];

	row->value = row_median(value, n);
	row->has_base = base;
	row->base = base ? row_median(base, n) : 0;
	for (unsigned i = 0; i < n; i++) {
		figure[i] = base ? value[i] / base[i] : value[i];
		if (!i || figure[i] < row->min)
			row->min = figure[i];
		if (!i || figure[i] > row->max)
			row->max = figure[i];
	}
	row->figure = row_median(figure, n);
}

static bool holds(const struct row *r)
{
	return r->better == ROW_HIGHER ? r->figure >= r->must
				       : r->figure <= r->must;
}

static void print(const struct row *r)
{
	const char *than = r->better == ROW_HIGHER ? ">=" : "<=";

	printf("%-4s %-46s ", r->id, r->what);
	if (r->reason) {
		printf("no value: %s\n", r->reason);
		return;
	}
	printf("%9.3f %-16s", r->value, r->unit);
	if (r->has_base)
		printf(" base %9.3f", r->base);
	printf(" figure %.3f [%.3f..%.3f] must %s %g strive %g  %s\n",
	       r->figure, r->min, r->max, than, r->must, r->strive,
	       holds(r) ? "ok" : "MISSED");
}

static void json_number(FILE *f, const char *name, bool there, double v)
{
	if (there)
		fprintf(f, ", \"%s\": %.6g", name, v);
	else
		fprintf(f, ", \"%s\": null", name);
}

static void json(FILE *f, const struct row *r)
{
	bool there = !r->reason;

	fprintf(f, "{\"id\": \"%s\", \"what\": \"%s\", \"unit\": \"%s\"", r->id,
		r->what, r->unit);
	fprintf(f, ", \"better\": \"%s\"",
		r->better == ROW_HIGHER ? "higher" : "lower");
	json_number(f, "value", there, r->value);
	json_number(f, "base", there && r->has_base, r->base);
	json_number(f, "ratio", there, r->figure);
	json_number(f, "min", there, r->min);
	json_number(f, "max", there, r->max);
	json_number(f, "must", true, r->must);
	json_number(f, "strive", true, r->strive);
	if (there)
		fprintf(f, ", \"ok\": %s}\n", holds(r) ? "true" : "false");
	else
		fprintf(f, ", \"ok\": null, \"reason\": \"%s\"}\n", r->reason);
}

bool row_tell(const struct row *r)
{
	const char *path = getenv("WBELL_BENCH_ROWS");
	FILE *f;

	print(r);
	fflush(stdout);
	if (!path)
		return r->reason || holds(r);
	f = fopen(path, "a");
	if (!f) {
		fprintf(stderr,
			"bench: adding a row to %s failed: %s: give "
			"WBELL_BENCH_ROWS a path that can be written\n",
			path, strerror(errno));
		exit(2);
	}
	json(f, r);
	fclose(f);
	return r->reason || holds(r);
}
