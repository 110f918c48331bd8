// SPDX-License-Identifier: BSD-2-Clause
/* Sets of queues, local counters, and handles that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/launch.h"
#include "nic_model.h"

#define QUEUES 4

struct bundle {
	struct nic nic[QUEUES + 1];
	struct wbell_dset set;
};

static void bundle_init(struct bundle *b)
{
	struct nic_attr a = { .log_depth = 3, .log_rq = 1, .log_rq_stride = 4 };
	unsigned i;

	memset(b, 0, sizeof(*b));
	for (i = 0; i <= QUEUES; i++)
		nic_init(&b->nic[i], &a);
	b->set.magic = WBELL_DSET_MAGIC;
	b->set.count = QUEUES;
	b->set.live = (1 << QUEUES) - 1;
	for (i = 0; i < QUEUES; i++)
		b->set.queue[i] = (uintptr_t)b->nic[i].q;
}

static void bundle_free(struct bundle *b)
{
	unsigned i;

	for (i = 0; i <= QUEUES; i++)
		nic_free(&b->nic[i]);
}

static int picked(const struct bundle *b, uint32_t key)
{
	struct wbell_dqueue *q = NULL;
	int i;

	assert_int_equal(wbell_set_pick(&b->set, key, &q), 0);
	for (i = 0; i <= QUEUES; i++)
		if (b->nic[i].q == q)
			return i;
	return -1;
}

static void test_keys_choose_queues(void **state)
{
	unsigned hits[QUEUES] = { 0 }, i;
	struct bundle b;

	_Static_assert(sizeof(struct wbell_dset) == WBELL_DSET_MAGIC >> 48,
		       "the magic has the size");
	bundle_init(&b);
	for (i = 0; i < 3 * QUEUES; i++)
		assert_int_equal(picked(&b, i), i % QUEUES);
	for (i = 0; i < 4000; i++)
		hits[picked(&b, wbell_key_hash(i * 4096ULL))]++;
	for (i = 0; i < QUEUES; i++)
		assert_in_range(hits[i], 800, 1200);
	assert_int_equal(wbell_key_block(), 0);
	assert_int_equal(wbell_key_warp(), 0);
	bundle_free(&b);
}

struct keys {
	uint32_t block[3 * 64], warp[3 * 64];
};

WBELL_KERNEL(take_keys, struct keys, k)
{
	struct wbell_thread me = wbell_thread();
	uint32_t i = me.block * 64 + me.thread;

	k->block[i] = wbell_key_block();
	k->warp[i] = wbell_key_warp();
}

static void test_keys_of_warps_and_blocks(void **state)
{
	struct wbell_grid grid = { .blocks = 3, .threads = 64 };
	struct wbell_launch *launch;
	static struct keys k;
	unsigned i;

	assert_int_equal(wbell_launch(&grid, take_keys, &k, &launch), 0);
	assert_int_equal(wbell_launch_wait(launch, 10000000), 0);
	for (i = 0; i < 3 * 64; i++) {
		assert_int_equal(k.block[i], i / 64);
		assert_int_equal(k.warp[i], i / 64 * 32 + i / 32 % 2);
	}
}

/* A peer dies, the rest goes on, its place gets a new queue. */
static void test_dead_queue_is_masked_and_renewed(void **state)
{
	struct wbell_dqueue *q;
	struct wbell_ticket t;
	struct bundle b;
	uint64_t end = wbell_deadline_us(1000000);

	bundle_init(&b);
	assert_int_equal(wbell_set_pick(&b.set, 1, &q), 0);
	assert_int_equal(wbell_put(q, 0, 1, 0, 2, 8, &t), 0);
	nic_fail(&b.nic[1], 0, WBELL_OP_WRITE, WBELL_SYND_RETRY_EXC, 0x81);
	assert_int_equal(wbell_wait(q, t, end), WBELL_WC_RETRY_EXC_ERR);
	assert_int_equal(wbell_set_mask(&b.set, q), 1);
	assert_int_equal(wbell_set_mask(&b.set, q), 0);
	assert_int_equal(picked(&b, 1), 2);
	assert_int_equal(picked(&b, 0), 0);

	assert_int_equal(wbell_set_renew(&b.set, 0, q), WBELL_EINVAL);
	assert_int_equal(wbell_set_renew(&b.set, 1, b.nic[QUEUES].q), 0);
	assert_int_equal(picked(&b, 1), QUEUES);
	assert_int_equal(wbell_set_pick(&b.set, 1, &q), 0);
	assert_int_equal(wbell_put(q, 0, 1, 0, 2, 8, &t), 0);
	assert_int_equal(nic_step(&b.nic[QUEUES]), 1);
	assert_int_equal(wbell_wait(q, t, end), 0);
	bundle_free(&b);
}

static void test_sets_that_are_none(void **state)
{
	struct wbell_dqueue *q = NULL;
	struct bundle b;

	bundle_init(&b);
	assert_int_equal(wbell_set_pick(NULL, 0, &q), WBELL_EINVAL);
	assert_int_equal(wbell_set_pick(&b.set, 0, NULL), WBELL_EINVAL);
	b.set.live = 1ULL << QUEUES; /* beyond count */
	assert_int_equal(wbell_set_pick(&b.set, 0, &q), WBELL_ENOTCONN);
	b.set.count = 0;
	assert_int_equal(wbell_set_pick(&b.set, 0, &q), WBELL_EINVAL);
	b.set.count = WBELL_SET_MAX + 1;
	assert_int_equal(wbell_set_mask(&b.set, b.nic[0].q), WBELL_EINVAL);
	b.set.magic++;
	assert_int_equal(wbell_set_pick(&b.set, 0, &q), WBELL_EPROTO);
	assert_int_equal(wbell_set_renew(&b.set, 0, b.nic[0].q), WBELL_EPROTO);
	assert_null(q);
	bundle_free(&b);
}

static void test_count_of_many_posts(void **state)
{
	struct nic_attr a = { .log_depth = 3, .first_index = (1ULL << 40) - 2 };
	struct wbell_count c = { 0 };
	struct wbell_ticket t;
	__u64 done;
	struct nic n;
	int i;

	nic_init(&n, &a);
	assert_int_equal(wbell_count_test(n.q, &c), 0);
	for (i = 0; i < 5; i++) {
		assert_int_equal(wbell_put(n.q, 0, 1, 0, 2, 8, &t), 0);
		wbell_count_add(&c, t);
	}
	assert_int_equal(c.posted, 5);
	assert_int_equal(wbell_count_test(n.q, &c), WBELL_EAGAIN);
	assert_int_equal(wbell_count_done(n.q, &done), 0);
	assert_int_equal(done, a.first_index);
	nic_step(&n);
	assert_int_equal(wbell_count_wait(n.q, &c, wbell_deadline_us(1000000)),
			 0);
	assert_int_equal(wbell_count_done(n.q, &done), 0);
	assert_int_equal(done, a.first_index + 5);
	assert_int_equal(wbell_count_done(n.q, NULL), WBELL_EINVAL);
	nic_free(&n);
}

/* ---- every call, with queues that are none ---- */

static const struct wbell_ticket ticket = { 0 };
static struct wbell_dqueue *volatile none; /* that compilers may not know */

static int call(struct wbell_dqueue *q, int which)
{
	const struct wbell_wr wr = { .opcode = WBELL_OP_NOP };
	struct wbell_recv_done got;
	struct wbell_count c = { 1, 1 };
	__u64 at;

	switch (which) {
	case 0:
		return wbell_put(q, 0, 1, 0, 2, 8, NULL);
	case 1:
		return wbell_put_imm(q, 0, 1, 0, 2, 8, 1, NULL);
	case 2:
		return wbell_put_inline(q, "a", 1, 0, 2, NULL);
	case 3:
		return wbell_put_signal(q, 0, 1, 0, 2, 8, 0, 2, 1, 0, NULL);
	case 4:
		return wbell_get(q, 0, 1, 0, 2, 8, NULL);
	case 5:
		return wbell_fetch_add(q, 0, 1, 0, 2, 1, NULL);
	case 6:
		return wbell_compare_swap(q, 0, 1, 0, 2, 1, 2, NULL);
	case 7:
		return wbell_send(q, 0, 1, 8, NULL);
	case 8:
		return wbell_send_imm(q, 0, 1, 8, 1, NULL);
	case 9:
		return wbell_recv(q, 0, 1, 8);
	case 10:
		return wbell_recv_test(q, &got);
	case 11:
		return wbell_recv_wait(q, &got, 0);
	case 12:
		return wbell_test(q, ticket);
	case 13:
		return wbell_wait(q, ticket, 0);
	case 14:
		return wbell_flush(q);
	case 15:
		return wbell_quiet(q, 0);
	case 16:
		return wbell_reserve(q, 1, &at);
	case 17:
		return wbell_publish(q, 0, 1, 0);
	case 18:
		return wbell_post(q, &wr, NULL);
	case 19:
		return wbell_put_lanes(q, 0, 1, 0, 2, 8, NULL);
	case 20:
		return wbell_put_signal_lanes(q, 0, 1, 0, 2, 8, 0, 2, 1, 0,
					      NULL);
	case 21:
		return wbell_put_warp(q, 0, 1, 0, 2, 8, NULL);
	case 22:
		return wbell_put_block(q, 0, 1, 0, 2, 8, NULL);
	case 23:
		return wbell_wait_block(q, ticket, 0);
	case 24:
		return wbell_count_wait(q, &c, 0);
	default:
		return wbell_count_done(q, &at);
	}
}

#define CALLS 26

/* All of it that a call could have written. */
static void keep(const struct nic *n, struct nic *copy, uint8_t *ring,
		 struct wbell_dqueue *q)
{
	*copy = *n;
	memcpy(ring, n->sq, (size_t)WBELL_BB_SIZE << n->q->log_depth);
	memcpy(q, n->q, sizeof(*q));
}

static void refused_with(uint64_t magic)
{
	uint8_t ring[WBELL_BB_SIZE * 8];
	struct nic_attr a = { .log_depth = 3, .log_rq = 1, .log_rq_stride = 4 };
	struct wbell_dqueue q;
	struct nic n, copy;
	int i;

	nic_init(&n, &a);
	n.q->magic = magic;
	keep(&n, &copy, ring, &q);
	for (i = 0; i < CALLS; i++) {
		if (call(n.q, i) != WBELL_EPROTO)
			fail_msg("call %d with magic %llx", i,
				 (unsigned long long)magic);
		assert_memory_equal(&n, &copy, sizeof(n));
		assert_memory_equal(n.sq, ring, sizeof(ring));
		assert_memory_equal(n.q, &q, sizeof(q));
	}
	nic_free(&n);
}

static void test_queues_that_are_none(void **state)
{
	int i;

	for (i = 0; i < CALLS; i++)
		assert_int_equal(call(none, i), WBELL_EINVAL);
	refused_with(0);				  /* freed */
	refused_with(WBELL_DQUEUE_MAGIC + (1ULL << 32));  /* version */
	refused_with(WBELL_DQUEUE_MAGIC - (64ULL << 48)); /* size */
	refused_with(WBELL_DQUEUE_MAGIC ^ 1);		  /* layout */
	refused_with(0x5a5a5a5a5a5a5a5aULL);		  /* another's */
	refused_with(WBELL_DSET_MAGIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_choose_queues),
		cmocka_unit_test(test_keys_of_warps_and_blocks),
		cmocka_unit_test(test_dead_queue_is_masked_and_renewed),
		cmocka_unit_test(test_sets_that_are_none),
		cmocka_unit_test(test_count_of_many_posts),
		cmocka_unit_test(test_queues_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
