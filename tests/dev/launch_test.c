// SPDX-License-Identifier: BSD-2-Clause
/* The runtime that runs kernels on CPU threads. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/launch.h"
#include "wbell/wbell.h"

#define WAIT_US 20000000

struct sums {
	uint32_t block[8];
	uint32_t value[8][64];
	uint32_t order[64];
	uint32_t turns;
	uint32_t hits[288];
	int stop;
	int stopped;
};

/* Every thread writes, then one of its block reads all: twice. */
WBELL_KERNEL(sum_blocks, struct sums, s)
{
	struct wbell_thread me = wbell_thread();
	uint32_t round, i;

	for (round = 1; round <= 2; round++) {
		s->value[me.block][me.thread] = round * (me.thread + 1);
		wbell_block_sync();
		for (i = 0; me.thread == round && i < me.threads; i++)
			s->block[me.block] += s->value[me.block][i];
		wbell_block_sync();
	}
}

/* A leader counts for its warp and every lane learns its place: twice. */
WBELL_KERNEL(count_by_warp, struct sums, s)
{
	struct wbell_thread me = wbell_thread();
	uint64_t base = 0;

	for (uint32_t round = 0; round < 2; round++) {
		if (me.lane == 1)
			base = __atomic_fetch_add(&s->turns, me.lanes,
						  __ATOMIC_RELAXED);
		base = wbell_warp_read(base, 1);
		__atomic_fetch_add(&s->hits[base + me.lane], 1,
				   __ATOMIC_RELAXED);
		wbell_warp_sync();
	}
}

WBELL_KERNEL(note_order, struct sums, s)
{
	uint32_t i;

	for (i = 0; i < 8; i++) {
		s->order[s->turns++] = wbell_thread().thread;
		wbell_host_relax();
	}
}

WBELL_KERNEL(until_stopped, struct sums, s)
{
	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE))
		wbell_host_relax();
	__atomic_fetch_add(&s->stopped, 1, __ATOMIC_RELAXED);
}

static int run(struct wbell_grid grid, wbell_kernel_fn kernel, struct sums *s)
{
	struct wbell_launch *launch;
	int rc = wbell_launch(&grid, kernel, s, &launch);

	return rc ? rc : wbell_launch_wait(launch, WAIT_US);
}

static void test_blocks_and_workers(void **state)
{
	struct sums *s;
	uint32_t workers, b;

	for (workers = 0; workers <= 3; workers++) {
		s = wbell_launch_alloc(sizeof(*s));
		assert_non_null(s);
		assert_int_equal(run((struct wbell_grid){ .blocks = 8,
							  .threads = 64,
							  .workers = workers,
							  .seed = workers },
				     sum_blocks, s),
				 0);
		for (b = 0; b < 8; b++)
			assert_int_equal(s->block[b], 3 * 64 * 65 / 2);
		wbell_launch_free(s);
	}
}

/* 72 threads of 2 blocks: warps of 32, 32 and 8 lanes. */
static void test_warps_read_what_their_leader_shows(void **state)
{
	for (uint64_t seed = 0; seed < 3; seed++) {
		struct sums *s = wbell_launch_alloc(sizeof(*s));

		assert_non_null(s);
		assert_int_equal(run((struct wbell_grid){ .blocks = 2,
							  .threads = 72,
							  .workers = 2,
							  .seed = seed },
				     count_by_warp, s),
				 0);
		assert_int_equal(s->turns, 288);
		for (uint32_t i = 0; i < 288; i++)
			assert_int_equal(s->hits[i], 1);
		wbell_launch_free(s);
	}
}

#ifndef __SANITIZE_THREAD__
static void order_of(uint64_t seed, struct sums *s)
{
	memset(s, 0, sizeof(*s));
	assert_int_equal(run((struct wbell_grid){ .blocks = 1,
						  .threads = 8,
						  .seed = seed },
			     note_order, s),
			 0);
}

static void test_seed_replays_the_order(void **state)
{
	static struct sums a, b, c;
	uint32_t i;

	order_of(0, &a);
	for (i = 0; i < 8; i++)
		assert_int_equal(a.order[i], i);
	order_of(7, &a);
	order_of(7, &b);
	order_of(8, &c);
	assert_memory_equal(a.order, b.order, sizeof(a.order));
	assert_memory_not_equal(a.order, c.order, sizeof(a.order));
}
#endif

static void test_wait_ends_while_the_kernel_runs(void **state)
{
	struct wbell_grid grid = { .blocks = 3, .threads = 5, .workers = 2 };
	struct wbell_launch *launch;
	struct sums *s = wbell_launch_alloc(sizeof(*s));

	assert_int_equal(wbell_launch(&grid, until_stopped, s, &launch), 0);
	assert_int_equal(wbell_launch_wait(launch, 1000), -ETIMEDOUT);
	__atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
	assert_int_equal(wbell_launch_wait(launch, WAIT_US), 0);
	assert_int_equal(s->stopped, 15);
	wbell_launch_free(s);
}

static void test_grids_that_are_none_are_refused(void **state)
{
	struct wbell_launch *launch;
	struct wbell_grid g = { .blocks = 1, .threads = 1 };

	assert_int_equal(wbell_launch(NULL, until_stopped, NULL, &launch),
			 -EINVAL);
	assert_int_equal(wbell_launch(&g, NULL, NULL, &launch), -EINVAL);
	assert_int_equal(wbell_launch(&g, until_stopped, NULL, NULL), -EINVAL);
	g.threads = 0;
	assert_int_equal(wbell_launch(&g, until_stopped, NULL, &launch),
			 -EINVAL);
	g.threads = 1025;
	assert_int_equal(wbell_launch(&g, until_stopped, NULL, &launch),
			 -EINVAL);
	g = (struct wbell_grid){ .blocks = 65535, .threads = 1024 };
	assert_int_equal(wbell_launch(&g, until_stopped, NULL, &launch),
			 -ENOMEM);
	g = (struct wbell_grid){ .blocks = 1, .threads = 1, .workers = 65 };
	assert_int_equal(wbell_launch(&g, until_stopped, NULL, &launch),
			 -EINVAL);
	assert_int_equal(wbell_launch_wait(NULL, 1), -EINVAL);
	assert_null(wbell_launch_alloc(0));
	assert_null(wbell_launch_alloc(SIZE_MAX));
	wbell_launch_free(NULL);
}

static void test_thread_outside_a_kernel(void **state)
{
	struct wbell_thread me = wbell_thread();

	assert_int_equal(me.thread, 0);
	assert_int_equal(me.threads, 1);
	assert_int_equal(me.blocks, 1);
	wbell_block_sync();
}

static void count_relax(void *arg)
{
	++*(int *)arg;
}

static void test_relax_hook(void **state)
{
	int count = 0;

	wbell_host_set_relax(count_relax, &count);
	wbell_host_relax();
	wbell_host_relax();
	wbell_host_set_relax(NULL, NULL);
	wbell_host_relax();
	assert_int_equal(count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_warps_read_what_their_leader_shows),
		cmocka_unit_test(test_blocks_and_workers),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(test_seed_replays_the_order),
#endif
		cmocka_unit_test(test_wait_ends_while_the_kernel_runs),
		cmocka_unit_test(test_grids_that_are_none_are_refused),
		cmocka_unit_test(test_thread_outside_a_kernel),
		cmocka_unit_test(test_relax_hook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
