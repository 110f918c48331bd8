// SPDX-License-Identifier: BSD-2-Clause
/* One operation of one size with a known answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define SPOILED 0xa5

static uint32_t size_of(uint32_t type)
{
	return type == COLL_BF16 ? 2 : 4;
}

static uint32_t self(const struct trial *t)
{
	return t->rank->opt->rank;
}

static uint32_t ranks(const struct trial *t)
{
	return t->rank->opt->ranks;
}

/* ---- all-to-all: how much goes from rank to rank, none now and then ---- */

static uint64_t amount(const struct trial *t, uint32_t from, uint32_t to)
{
	uint64_t room = t->work.count;

	if ((from * 3 + to) % 5 == 4)
		return 0;
	return room - (from * 7 + to * 13) % 8 * room / 16;
}

static uint8_t byte_of(uint32_t from, uint32_t to, uint64_t i)
{
	return (uint8_t)(value_of(from * 31 + to, i) + 16);
}

static int blocks_init(struct trial *t)
{
	uint32_t r;

	t->blocks = wbell_launch_alloc(sizeof(*t->blocks));
	if (!t->blocks)
		return -ENOMEM;
	t->work.blocks = t->blocks;
	for (r = 0; r < ranks(t); r++) {
		t->blocks->send_at[r] = t->work.send_at + r * t->work.count;
		t->blocks->send_n[r] = amount(t, self(t), r);
	}
	return 0;
}

static void blocks_fill(struct trial *t)
{
	uint64_t i;
	uint32_t r;

	for (r = 0; r < ranks(t); r++)
		for (i = 0; i < t->blocks->send_n[r]; i++)
			t->rank->user[t->blocks->send_at[r] + i] =
				(char)byte_of(self(t), r, i);
}

static uint64_t blocks_wrong(const struct trial *t)
{
	const char *in = t->rank->user + t->work.recv_at;
	uint64_t i, n, came, wrong = 0;
	uint32_t r, c;

	for (r = 0; r < ranks(t); r++, in += t->work.count) {
		n = amount(t, r, self(t));
		for (c = 0, came = 0; c < t->rank->opt->channels; c++)
			came += t->blocks->recv_n[c][r];
		wrong += came != n;
		for (i = 0; i < n; i++)
			wrong += (uint8_t)in[i] != byte_of(r, self(t), i);
		/* and not a byte more than that */
		for (; i < t->work.count; i++)
			wrong += (uint8_t)in[i] != SPOILED;
	}
	return wrong;
}

/* ---- sums and gathers ---- */

static uint64_t blocks_of(uint32_t op, int sent, uint32_t n)
{
	if (op == COLL_ALL_GATHER)
		return sent ? 1 : n;
	if (op == COLL_REDUCE_SCATTER)
		return sent ? n : 1;
	return op == COLL_BARRIER ? 0 : 1;
}

static void plain_init(struct trial *t)
{
	uint32_t op = t->work.op;

	t->work.count = t->size / size_of(t->work.type);
	if (op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER)
		t->work.count /= ranks(t);
	if (!t->rank->opt->in_place)
		return;
	if (op == COLL_ALL_REDUCE_RING || op == COLL_ALL_REDUCE_TREE)
		t->work.send_at = t->work.recv_at;
	if (op == COLL_ALL_GATHER)
		t->work.send_at =
			t->work.recv_at +
			t->work.count * self(t) * size_of(t->work.type);
}

static void plain_fill(struct trial *t)
{
	uint64_t n = t->work.count * blocks_of(t->work.op, 1, ranks(t));
	char *out = t->rank->user + t->work.send_at;
	uint64_t i;

	for (i = 0; i < n; i++)
		value_put(out, t->work.type, i, value_of(self(t), i));
}

static int answer(const struct trial *t, uint64_t i)
{
	uint64_t count = t->work.count;
	uint32_t r;
	int sum = 0;

	if (t->work.op == COLL_ALL_GATHER)
		return value_of((uint32_t)(i / count), i % count);
	if (t->work.op == COLL_REDUCE_SCATTER)
		i += count * self(t);
	for (r = 0; r < ranks(t); r++)
		sum += value_of(r, i);
	return sum;
}

static uint64_t plain_wrong(const struct trial *t)
{
	uint64_t n = t->work.count * blocks_of(t->work.op, 0, ranks(t));
	const char *in = t->rank->user + t->work.recv_at;
	uint64_t i, wrong = 0;

	for (i = 0; i < n; i++)
		wrong += !value_is(in, t->work.type, i, answer(t, i));
	n *= size_of(t->work.type);
	for (i = n; i < n + 64 && t->work.recv_at + i < t->rank->more_at; i++)
		wrong += (uint8_t)in[i] != SPOILED;
	return wrong;
}

/* ---- barrier: nobody leaves before the last one has entered ---- */

static void barrier_fill(const struct trial *t)
{
	usleep(self(t) % 3 * 20000);
}

static int barrier_run(struct trial *t, uint64_t *took_ns)
{
	int rc;

	t->enter_ns = wbell_host_now();
	rc = rank_run(t->rank, &t->work, NULL, took_ns);
	t->leave_ns = wbell_host_now();
	return rc;
}

/* Only ranks of one machine have one clock. */
static uint64_t barrier_wrong(const struct trial *t)
{
	uint64_t all[COLL_RANKS_MAX], wrong = 0;
	uint32_t r;

	if (!t->rank->opt->local)
		return 0;
	if (rank_gather(t->rank, &t->enter_ns, all, sizeof(*all)))
		return 1;
	for (r = 0; r < ranks(t); r++)
		wrong += all[r] > t->leave_ns;
	return wrong;
}

/* ---- all of them ---- */

uint64_t trial_more(const struct bench_options *opt, uint32_t op, uint64_t size)
{
	return op == COLL_DISPATCH ? moe_more(opt, size) : 0;
}

int trial_init(struct trial *t, struct rank *k, uint32_t op, uint32_t type,
	       uint64_t size)
{
	memset(t, 0, sizeof(*t));
	t->rank = k;
	t->size = size;
	t->work.op = op;
	t->work.type = type;
	t->work.recv_at = k->recv_at;
	switch (op) {
	case COLL_ALL_TO_ALL:
		t->work.count = size / k->opt->ranks;
		return blocks_init(t);
	case COLL_DISPATCH:
		return moe_init(t);
	case COLL_PAGES:
		return pages_init(t);
	default:
		plain_init(t);
		return 0;
	}
}

void trial_free(struct trial *t)
{
	wbell_launch_free(t->blocks);
	wbell_launch_free(t->moe);
	wbell_launch_free(t->pages);
	wbell_launch_free(t->extra);
	memset(t, 0, sizeof(*t));
}

void trial_fill(struct trial *t)
{
	uint64_t room = t->rank->more_at - t->rank->recv_at;

	memset(t->rank->user + t->rank->recv_at, SPOILED,
	       room < t->size + 4096 ? room : t->size + 4096);
	switch (t->work.op) {
	case COLL_ALL_TO_ALL:
		blocks_fill(t);
		break;
	case COLL_DISPATCH:
		moe_fill(t);
		break;
	case COLL_PAGES:
		pages_fill(t);
		break;
	case COLL_BARRIER:
		barrier_fill(t);
		break;
	default:
		plain_fill(t);
		break;
	}
}

int trial_run(struct trial *t, uint64_t *took_ns)
{
	if (t->work.op == COLL_DISPATCH)
		return moe_run(t, took_ns);
	if (t->work.op == COLL_BARRIER)
		return barrier_run(t, took_ns);
	return rank_run(t->rank, &t->work, NULL, took_ns);
}

uint64_t trial_wrong(const struct trial *t)
{
	switch (t->work.op) {
	case COLL_ALL_TO_ALL:
		return blocks_wrong(t);
	case COLL_DISPATCH:
		return moe_wrong(t);
	case COLL_PAGES:
		return pages_wrong(t);
	case COLL_BARRIER:
		return barrier_wrong(t);
	default:
		return plain_wrong(t);
	}
}
