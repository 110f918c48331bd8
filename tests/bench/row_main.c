// SPDX-License-Identifier: BSD-2-Clause
/*
 * One row from a script: rounds come by stdin, "value" or "value base" a line.
 *	row ID WHAT UNIT higher|lower MUST STRIVE [REASON]
 * REASON, where given, says why there is no value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

/* How many rounds; 0 where a line is not of the same kind as the first. */
static unsigned take(double *value, double *base, bool *has_base)
{
	char line[256];
	unsigned n = 0;
	int k;

	while (n < ROW_ROUNDS && fgets(line, sizeof(line), stdin)) {
		k = sscanf(line, "%lf %lf", &value[n], &base[n]);
		if (k < 1 || (n && *has_base != (k == 2)) ||
		    (k == 2 && !(base[n] > 0)))
			return 0;
		*has_base = k == 2;
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	double value[ROW_ROUNDS], base[ROW_ROUNDS];
	bool has_base = false;
	struct row r = { 0 };
	unsigned n;

	if (argc < 7 || argc > 8) {
		fprintf(stderr,
			"row: %d arguments: give ID WHAT UNIT "
			"higher|lower MUST STRIVE [REASON]\n",
			argc - 1);
		return 2;
	}
	r = (struct row){ .id = argv[1],
			  .what = argv[2],
			  .unit = argv[3],
			  .better = strcmp(argv[4], "lower") ? ROW_HIGHER
							     : ROW_LOWER,
			  .must = atof(argv[5]),
			  .strive = atof(argv[6]),
			  .reason = argc == 8 ? argv[7] : NULL };
	if (!r.reason) {
		n = take(value, base, &has_base);
		if (n)
			row_measured(&r, value, has_base ? base : NULL, n);
		else
			r.reason = "no round gave a number";
	}
	return !row_tell(&r);
}
