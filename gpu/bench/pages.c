// SPDX-License-Identifier: BSD-2-Clause
/* Pages to the next rank from the previous one, scattered at both ends. */
#include <errno.h>
#include <string.h>

#include "bench.h"

#define PAGE_SIZE 16384
#define SHUFFLE	  7 /* no divisor of what counts are made odd for */

static uint32_t count_of(uint64_t size, uint32_t channels)
{
	uint64_t n = (size + PAGE_SIZE - 1) / PAGE_SIZE;
	uint64_t most = (uint64_t)COLL_PAGES_MAX * channels;

	return (uint32_t)(n < most ? n : most);
}

/* A permutation of 0..n-1, another one at each end. */
static uint64_t spot(uint32_t i, uint32_t n, int received)
{
	if (received)
		return n - 1 - i;
	return n % SHUFFLE ? (uint64_t)i * SHUFFLE % n : i;
}

int pages_init(struct trial *t)
{
	const struct bench_options *opt = t->rank->opt;
	uint32_t n = count_of(t->size, opt->channels), i;
	uint64_t *at;

	t->pages = wbell_launch_alloc(sizeof(*t->pages));
	t->extra = wbell_launch_alloc((uint64_t)n * 16 + 16);
	if (!t->pages || !t->extra)
		return -ENOMEM;
	at = t->extra;
	t->pages->page = n ? t->size / n : 0;
	for (i = 0; i < n; i++) {
		at[i] = spot(i, n, 0) * t->pages->page;
		at[n + i] = t->rank->recv_at + spot(i, n, 1) * t->pages->page;
	}
	t->pages->to = (opt->rank + 1) % opt->ranks;
	t->pages->from = (opt->rank + opt->ranks - 1) % opt->ranks;
	t->pages->to_n = n;
	t->pages->from_n = n;
	t->pages->to_at = at;
	t->pages->from_at = at + n;
	t->work.pages = t->pages;
	return 0;
}

static uint8_t byte_of(uint32_t rank, uint32_t page, uint64_t i)
{
	return (uint8_t)(value_of(rank + page * 16, i) + 100);
}

void pages_fill(struct trial *t)
{
	const struct coll_pages *p = t->pages;
	uint64_t i;
	uint32_t n;

	for (n = 0; n < p->to_n; n++)
		for (i = 0; i < p->page; i++)
			t->rank->user[p->to_at[n] + i] =
				(char)byte_of(t->rank->opt->rank, n, i);
}

uint64_t pages_wrong(const struct trial *t)
{
	const struct coll_pages *p = t->pages;
	uint64_t i, wrong = 0;
	uint32_t n;

	for (n = 0; n < p->from_n; n++)
		for (i = 0; i < p->page; i++)
			wrong += (uint8_t)t->rank->user[p->from_at[n] + i] !=
				 byte_of(p->from, n, i);
	return wrong;
}
