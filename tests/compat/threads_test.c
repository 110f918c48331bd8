// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that post on one view at once, as a GPU's do: every WQE shows late
 * and in pieces, each is done once.  The NIC and the memory are this thread.
 */
#include <pthread.h>
#include <sched.h>

#include "poster.h"

#define THREADS 4
#define OPS	1500
#define TURNS	16 /* between two chances for the others */
#define CELLS	(THREADS * OPS * 8)
#define AT_SUM	CELLS
#define AT_SRC	(2 * CELLS)
#define AT_VAL	(3 * CELLS)
#define AT_ADD	(4 * CELLS)
#define AT_SINK (4 * CELLS + 64)
_Static_assert(AT_SINK + 8 <= RIG_MEM, "the cells lie in memory");

static struct poster main_q, side_q;
static unsigned running;

struct worker {
	pthread_t thread;
	unsigned n;
	int rc;
	uint64_t last, last_side; /* tickets */
	bool has_side;
};

static struct poster_addr at(unsigned end, uint64_t off)
{
	return (struct poster_addr){ (uintptr_t)rig_end[end].mem + off,
				     rig_end[end].key };
}

static uint64_t cell(unsigned end, uint64_t off)
{
	uint64_t v;

	memcpy(&v, rig_end[end].mem + off, 8);
	return v;
}

static uint64_t tag(unsigned id)
{
	return 0x5a5a000000000000ULL + id * 0x9e3779b97f4aULL;
}

static int post(struct worker *w, unsigned i)
{
	unsigned id = w->n * OPS + i;
	uint64_t o = id * 8, value = tag(id);
	struct poster_addr sink = at(0, AT_SINK), from = at(0, AT_SRC + o);
	struct poster_counted counted;

	switch (id % 4) {
	case 0:
		return poster_put(&main_q, at(1, o), from, 8, &w->last);
	case 1:
		return poster_put_value(&main_q, at(1, AT_VAL + o), &value, 8,
					&w->last);
	case 2:
		return poster_add(&main_q, at(1, AT_SUM + o), sink, value,
				  &w->last);
	default:
		w->has_side = true;
		counted = (struct poster_counted){ at(1, o), from, 8,
						   at(1, AT_ADD), sink };
		return poster_put_counter(&main_q, &side_q, &counted,
					  &w->last_side);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 0; i < OPS && !w->rc; i++)
		w->rc = post(w, i);
	if (!w->rc)
		w->rc = poster_wait(&main_q, w->last);
	if (!w->rc && w->has_side)
		w->rc = poster_wait(&side_q, w->last_side);
	if (w->rc)
		__atomic_store_n(&poster_stop, true, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void yield(void)
{
	sched_yield();
}

static bool is_done(unsigned id)
{
	uint64_t o = id * 8, t = tag(id);

	return cell(1, o) == (id % 4 == 0 || id % 4 == 3 ? t : 0) &&
	       cell(1, AT_VAL + o) == (id % 4 == 1 ? t : 0) &&
	       cell(1, AT_SUM + o) == (id % 4 == 2 ? t : 0);
}

/* Operations that were not done right, or a wait that did not end well. */
static unsigned run(const struct rig_attr *a, unsigned kind)
{
	struct worker w[THREADS] = { 0 };
	unsigned wrong = 0;

	rig_seed(kind);
	rig_open(a);
	poster_open(&main_q, rig_end[0].q[0], kind);
	poster_open(&side_q, rig_end[0].q[1], kind);
	for (unsigned id = 0; id < THREADS * OPS; id++) {
		uint64_t t = tag(id);

		memcpy(rig_end[0].mem + AT_SRC + id * 8, &t, 8);
	}
	rig_late(true);
	poster_stop = false;
	poster_relax = yield;
	running = THREADS;
	for (unsigned i = 0; i < THREADS; i++) {
		w[i].n = i;
		assert_int_equal(
			pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
		for (unsigned i = 0; i < TURNS; i++)
			rig_turn();
		sched_yield();
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		wrong += !!w[i].rc;
	}
	for (unsigned id = 0; id < THREADS * OPS && !wrong; id++)
		wrong += !is_done(id);
	if (!wrong)
		wrong += cell(1, AT_ADD) != THREADS * OPS / 4;
	rig_late(false);
	rig_close();
	return wrong;
}

static void test_threads_on_one_view(void **state)
{
	struct rig_attr a = { .depth = 64, .first_index = 65500 };

	assert_int_equal(run(&a, WBELL_COMPAT_DOCA_V1), 0);
	assert_int_equal(run(&a, WBELL_COMPAT_DOCA_V2), 0);
}

static void test_threads_and_a_nic_that_does_not_check(void **state)
{
	struct rig_attr a = { .depth = 64, .unchecked = true };

	assert_int_not_equal(run(&a, WBELL_COMPAT_DOCA_V1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_on_one_view),
		cmocka_unit_test(test_threads_and_a_nic_that_does_not_check),
	};

	return cmocka_run_group_tests_name("threads on a view", tests, NULL,
					   NULL);
}
