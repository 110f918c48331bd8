// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "row.h"

#define ROWS 32

static struct row rows[ROWS];
static unsigned nrows;

void row_add(const struct row *row)
{
	if (nrows < ROWS)
		rows[nrows++] = *row;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double row_median(const double *v, unsigned n)
{
	double sorted[64];

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), compare);
	return sorted[n / 2];
}

static void print(const struct row *r)
{
	printf("%-4s %-44s %9.2f %-17s base %9.2f  ratio %.3f  must %.2f  "
	       "strive %.2f  %s\n",
	       r->id, r->what, r->value, r->unit, r->base, r->ratio, r->must,
	       r->strive, r->ratio >= r->must ? "ok" : "MISSED");
}

static void json(FILE *f, const struct row *r, const char *end)
{
	fprintf(f,
		"  {\"id\": \"%s\", \"what\": \"%s\", \"value\": %.4f, "
		"\"unit\": \"%s\", \"base\": %.4f, \"ratio\": %.4f, "
		"\"must\": %.4f, \"strive\": %.4f, \"ok\": %s}%s\n",
		r->id, r->what, r->value, r->unit, r->base, r->ratio, r->must,
		r->strive, r->ratio >= r->must ? "true" : "false", end);
}

int row_write(const char *area)
{
	char path[128];
	int missed = 0;
	FILE *f;

	mkdir("build", 0777);
	mkdir("build/bench", 0777);
	snprintf(path, sizeof(path), "build/bench/%s.json", area);
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr,
			"bench: cannot write %s: %s: run it in the "
			"project's top folder\n",
			path, strerror(errno));
		return 2;
	}
	fputs("[\n", f);
	for (unsigned i = 0; i < nrows; i++) {
		print(&rows[i]);
		json(f, &rows[i], i + 1 < nrows ? "," : "");
		missed |= rows[i].ratio < rows[i].must;
	}
	fputs("]\n", f);
	fclose(f);
	printf("written to %s\n", path);
	return missed;
}
