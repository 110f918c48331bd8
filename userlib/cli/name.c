// SPDX-License-Identifier: BSD-2-Clause
/* The name that was meant. */
#include <string.h>

#include "cli.h"

#define NAME_MAX_LEN 15

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* Levenshtein: letters to change, add or take away. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LEN + 1], before, cost, i, k;
	size_t na = strlen(a), nb = strlen(b);

	if (na > NAME_MAX_LEN || nb > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (k = 0; k <= nb; k++)
		row[k] = k;
	for (i = 1; i <= na; i++) {
		before = row[0];
		row[0] = i;
		for (k = 1; k <= nb; k++) {
			cost = before + (a[i - 1] != b[k - 1]);
			before = row[k];
			row[k] = least(row[k] + 1, row[k - 1] + 1, cost);
		}
	}
	return row[nb];
}

const char *cli_nearest(const char *name, const char *object)
{
	unsigned best = 3, d;
	const char *near = NULL, *to;
	size_t i;

	for (i = 0; i < commands_count; i++) {
		if (object && strcmp(commands[i].object, object))
			continue;
		to = object ? commands[i].verb : commands[i].object;
		d = to ? distance(name, to) : best;
		if (d < best) {
			best = d;
			near = to;
		}
	}
	return near;
}
