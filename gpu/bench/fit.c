// SPDX-License-Identifier: BSD-2-Clause
/*
 * Linear least squares of relative errors: each equation is divided by what
 * was measured, so that microseconds count as much as milliseconds.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "bench.h"

void fit_init(struct fit *f, uint32_t n)
{
	memset(f, 0, sizeof(*f));
	f->n = n;
}

void fit_add(struct fit *f, const double *x, double y)
{
	uint32_t i, j;

	if (y <= 0)
		return;
	for (i = 0; i < f->n; i++) {
		for (j = 0; j < f->n; j++)
			f->a[i][j] += x[i] * x[j] / (y * y);
		f->b[i] += x[i] / y;
	}
}

static void swap_rows(double m[FIT_MAX][FIT_MAX + 1], uint32_t a, uint32_t b)
{
	double row[FIT_MAX + 1];

	memcpy(row, m[a], sizeof(row));
	memcpy(m[a], m[b], sizeof(row));
	memcpy(m[b], row, sizeof(row));
}

/* Gauss-Jordan on the coefficients that are in the set; others are 0. */
static int solve(struct fit *f, uint32_t set)
{
	double m[FIT_MAX][FIT_MAX + 1] = { { 0 } };
	uint32_t at[FIT_MAX], n = 0, i, j, r, best;
	double by;

	for (i = 0; i < f->n; i++)
		if (set & 1U << i)
			at[n++] = i;
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++)
			m[i][j] = f->a[at[i]][at[j]];
		m[i][n] = f->b[at[i]];
	}
	for (i = 0; i < n; i++) {
		for (best = i, r = i + 1; r < n; r++)
			if (fabs(m[r][i]) > fabs(m[best][i]))
				best = r;
		/* relative to the diagonal that was there before */
		if (fabs(m[best][i]) <= 1e-12 * f->a[at[i]][at[i]])
			return -EDOM;
		swap_rows(m, i, best);
		for (r = 0; r < n; r++) {
			by = r == i ? 0 : m[r][i] / m[i][i];
			for (j = i; by != 0 && j <= n; j++)
				m[r][j] -= by * m[i][j];
		}
	}
	memset(f->c, 0, sizeof(f->c));
	for (i = 0; i < n; i++)
		f->c[at[i]] = m[i][n] / m[i][i];
	return 0;
}

/* A cost below 0 is noise: the worst such is taken as 0, and once more. */
int fit_solve(struct fit *f)
{
	uint32_t set = (1U << f->n) - 1, i, worst;
	double least;
	int rc;

	while (set) {
		rc = solve(f, set);
		if (rc)
			return rc;
		least = 0;
		worst = f->n;
		for (i = 0; i < f->n; i++) {
			if (f->c[i] * sqrt(f->a[i][i]) < least) {
				least = f->c[i] * sqrt(f->a[i][i]);
				worst = i;
			}
		}
		if (worst == f->n)
			return 0;
		set &= ~(1U << worst);
	}
	return -EDOM;
}

double fit_predict(const struct fit *f, const double *x)
{
	double y = 0;
	uint32_t i;

	for (i = 0; i < f->n; i++)
		y += f->c[i] * x[i];
	return y;
}
