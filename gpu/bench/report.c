// SPDX-License-Identifier: BSD-2-Clause
/* The cost model, predicted beside measured, as a table or as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "model.h"

static const char *name_of(const struct point *p)
{
	if (p->op == COLL_PUTS)
		return "put";
	return p->op == COLL_SHIFT ? "put-signal" : coll_op_text(p->op);
}

static const char *doorbell(const struct model *m)
{
	const struct coll_team_view *v = coll_team_view(m->rank->team);

	switch (v->channel[0].link[v->rank ? 0 : 1].q->db_kind) {
	case WBELL_DB_WORD:
		return "word";
	case WBELL_DB_PROXY:
		return "proxy";
	default:
		return "uar";
	}
}

static double error_of(const struct point *p)
{
	return 100 * (p->predicted_us / p->us - 1);
}

/* Of the points that the fit has not seen. */
static double mean_error(const struct model *m)
{
	double sum = 0, n = 0;
	uint32_t i;

	for (i = 0; i < m->points; i++) {
		if (m->point[i].fitted)
			continue;
		sum += fabs(error_of(&m->point[i]));
		n++;
	}
	return sum / n;
}

/* Bytes of a window over its time; the same figure as MB/s. */
static double rate(const struct point *p, double us)
{
	return (double)p->size * p->depth / us;
}

static void print_text(const struct model *m)
{
	const struct bench_options *opt = m->rank->opt;
	const double *c = m->window.c;
	const struct point *p;
	uint32_t i;

	printf("# %u ranks on %s, doorbell %s, kernels on %s\n"
	       "# o %.3f us  L %.2f us  g %.3f us  G %.3f ns/B  Gl %.3f ns/B  "
	       "s %.2f us  S %.3f ns/B\n"
	       "%-16s %5s %8s %12s %12s %9s %9s %7s\n",
	       opt->ranks, opt->wire, doorbell(m), wbell_launch_device(),
	       m->post_us, fmax(0, c[0] - m->post_us), c[2], c[3] * 1e3,
	       c[1] * 1e3, m->step.c[0], m->step.c[1] * 1e3, "# operation",
	       "depth", "bytes", "predicted_us", "measured_us", "pred_MB/s",
	       "meas_MB/s", "error_%");
	for (i = 0; i < m->points; i++) {
		p = &m->point[i];
		printf("%-16s %5u %8" PRIu64
		       " %12.2f %12.2f %9.1f %9.1f %+7.0f%s\n",
		       name_of(p), p->depth, p->size, p->predicted_us, p->us,
		       rate(p, p->predicted_us), rate(p, p->us), error_of(p),
		       p->fitted ? " fitted" : "");
	}
	printf("# mean error of points that were not fitted, sign apart: "
	       "%.0f %%\n",
	       mean_error(m));
}

static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
			printf("\\u%04x", (unsigned char)*s);
		else if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void print_point(const struct point *p)
{
	printf("{\"op\": \"%s\", \"depth\": %u, \"size_bytes\": %" PRIu64
	       ", \"fitted\": %s, \"predicted_us\": %.3f, \"measured_us\": "
	       "%.3f, \"predicted_MBps\": %.3f, \"measured_MBps\": %.3f, "
	       "\"error_percent\": %.1f}",
	       name_of(p), p->depth, p->size, p->fitted ? "true" : "false",
	       p->predicted_us, p->us, rate(p, p->predicted_us), rate(p, p->us),
	       error_of(p));
}

static void print_json(const struct model *m)
{
	const double *c = m->window.c;
	uint32_t i;

	printf("{\"version\": 1, \"wire\": ");
	print_string(m->rank->opt->wire);
	printf(", \"ranks\": %u, \"doorbell\": \"%s\", \"model\": "
	       "{\"o_us\": %.4f, \"L_us\": %.4f, \"g_us\": %.4f, "
	       "\"G_ns_per_byte\": %.5f, \"Gl_ns_per_byte\": %.5f, "
	       "\"s_us\": %.4f, \"S_ns_per_byte\": %.5f}, \"rows\": [",
	       m->ranks, doorbell(m), m->post_us, fmax(0, c[0] - m->post_us),
	       c[2], c[3] * 1e3, c[1] * 1e3, m->step.c[0], m->step.c[1] * 1e3);
	for (i = 0; i < m->points; i++) {
		if (i)
			printf(", ");
		print_point(&m->point[i]);
	}
	printf("], \"mean_error_percent\": %.1f}\n", mean_error(m));
}

void model_print(const struct model *m)
{
	if (m->rank->opt->json)
		print_json(m);
	else
		print_text(m);
}
