// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mixture of experts with a known answer: the expert at rank e multiplies a
 * row by e + 1; weights are small integers, so sums are exact.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define HIDDEN 64
#define CHOICE 2 /* experts of a token */

static uint32_t tokens_of(uint64_t size)
{
	return (uint32_t)(size / (HIDDEN * 4));
}

static uint32_t route_of(uint32_t ranks, uint32_t rank, uint32_t at)
{
	return (uint32_t)(value_of(rank, at * 7ULL) + 15) % ranks;
}

/* Rows of a block: all of a channel's tokens could go to one rank. */
static uint32_t room_of(const struct bench_options *opt, uint64_t size)
{
	uint64_t each = CHOICE * (uint64_t)tokens_of(size) / opt->channels;
	uint64_t even = each / opt->ranks;

	/* small ones may, large ones are even but for chance */
	return (uint32_t)(each < 256 ? each + CHOICE : even * 2 + 256);
}

static uint64_t rows_size(const struct bench_options *opt, uint64_t size)
{
	return (uint64_t)opt->channels * opt->ranks * room_of(opt, size) *
	       HIDDEN * 4;
}

uint64_t moe_more(const struct bench_options *opt, uint64_t size)
{
	return 3 * rows_size(opt, size);
}

int moe_init(struct trial *t)
{
	const struct bench_options *opt = t->rank->opt;
	uint64_t rows = rows_size(opt, t->size), n;
	uint32_t *words;
	uint32_t i;

	t->moe = wbell_launch_alloc(sizeof(*t->moe));
	n = (uint64_t)tokens_of(t->size) * CHOICE;
	t->extra = wbell_launch_alloc(n * 12 + 12);
	if (!t->moe || !t->extra)
		return -ENOMEM;
	words = t->extra;
	for (i = 0; i < n; i++) {
		float w = (float)(1 + i % 3);

		words[i] = route_of(opt->ranks, opt->rank, i);
		memcpy(&words[n + i], &w, sizeof(w));
	}
	t->moe->tokens = tokens_of(t->size);
	t->moe->hidden = HIDDEN;
	t->moe->k = CHOICE;
	t->moe->room = room_of(opt, t->size);
	t->moe->route = words;
	t->moe->weight = (const float *)(const void *)(words + n);
	t->moe->place = words + 2 * n;
	t->moe->out_at = t->rank->recv_at;
	t->moe->sent_at = t->rank->more_at;
	t->moe->recv_at = t->rank->more_at + rows;
	t->moe->back_at = t->rank->more_at + 2 * rows;
	t->work.moe = t->moe;
	return 0;
}

void moe_fill(struct trial *t)
{
	float *out = (float *)(void *)(t->rank->user + t->moe->token_at);
	uint64_t n = (uint64_t)t->moe->tokens * HIDDEN, i;

	for (i = 0; i < n; i++)
		out[i] = (float)value_of(t->rank->opt->rank, i);
}

/* What came to this rank, as an expert would find it. */
static void work_on(struct trial *t)
{
	const struct bench_options *opt = t->rank->opt;
	uint64_t block = (uint64_t)t->moe->room * HIDDEN, i, n;
	float *in = (float *)(void *)(t->rank->user + t->moe->recv_at);
	uint32_t c, r;

	for (c = 0; c < opt->channels; c++) {
		for (r = 0; r < opt->ranks; r++, in += block) {
			n = (uint64_t)t->moe->in_n[c][r] * HIDDEN;
			for (i = 0; i < n; i++)
				in[i] *= (float)(opt->rank + 1);
		}
	}
}

int moe_run(struct trial *t, uint64_t *took_ns)
{
	struct coll_work combine = t->work;
	uint64_t took = 0;
	int rc = rank_run(t->rank, &t->work, NULL, took_ns);

	if (rc)
		return rc;
	work_on(t);
	combine.op = COLL_COMBINE;
	rc = rank_run(t->rank, &combine, NULL, &took);
	*took_ns += took;
	return rc;
}

uint64_t moe_wrong(const struct trial *t)
{
	const float *in =
		(const float *)(void *)(t->rank->user + t->moe->out_at);
	uint32_t self = t->rank->opt->rank, token, h, i, at;
	uint64_t wrong = 0;
	int factor;

	for (token = 0; token < t->moe->tokens; token++) {
		for (i = 0, factor = 0; i < CHOICE; i++) {
			at = token * CHOICE + i;
			factor += (int)(1 + at % 3) *
				  (int)(t->moe->route[at] + 1);
		}
		for (h = 0; h < HIDDEN; h++, in++)
			wrong +=
				*in !=
				(float)(factor *
					value_of(self,
						 (uint64_t)token * HIDDEN + h));
	}
	return wrong;
}
