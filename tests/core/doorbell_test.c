// SPDX-License-Identifier: BSD-2-Clause
/*
 * Doorbell words of many queues: a busy NIC does not look at all of them in
 * every turn, but it finds each that moved, soon; an idle one at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../dpdk_path/nic/nic.h"

#define QUEUES 3000
#define DEPTH  4
#define SOON   (QUEUES / 64) /* turns */

struct queue {
	struct nic_queue *q;
	uint8_t *sq;
	struct wbell_cqe *cq;
	uint64_t pi;
	uint32_t qpn;
};

static struct nic *nic;
static uint64_t doorbells[QUEUES], now = 1000000000;
static struct queue queue[QUEUES];

static void make_queue(uint32_t i)
{
	struct queue *q = &queue[i];
	struct wbell_prov_queue a = { .index = i,
				      .depth = DEPTH,
				      .log_cq = 2,
				      .attr = { .timeout = 14,
						.retry_cnt = 7,
						.rnr_retry = 7,
						.max_rd_atomic = 1 } };
	struct wbell_err err = { "" };

	a.sq = q->sq = aligned_alloc(64, DEPTH * 64);
	a.cq = q->cq = aligned_alloc(64, DEPTH * 64);
	memset(q->sq, 0, DEPTH * 64);
	memset(q->cq, 0xf1, DEPTH * 64);
	q->pi = 0;
	assert_int_equal(nic_queue_create(nic, &a, &q->q, &q->qpn, &err), 0);
}

/* Each with its neighbour, within the NIC: no wire. */
static void connect_queue(uint32_t i)
{
	struct wbell_err err = { "" };
	struct wbell_address a;
	uint32_t peer;

	nic_queue_address(queue[i ^ 1].q, &a);
	assert_int_equal(nic_queue_connect(queue[i].q, &a, &peer, &err), 0);
}

static int setup(void **state)
{
	struct nic_attr a = { .max_queues = QUEUES,
			      .doorbells = doorbells,
			      .gid = { GID_IPV4(192, 0, 2, 1) },
			      .mac = { 2, 0, 0, 0, 0, 1 },
			      .path_mtu = 1024 };

	memset(doorbells, 0, sizeof(doorbells));
	assert_int_equal(nic_create(&a, &nic), 0);
	for (uint32_t i = 0; i < QUEUES; i++)
		make_queue(i);
	for (uint32_t i = 0; i < QUEUES; i++)
		connect_queue(i);
	return 0;
}

static int teardown(void **state)
{
	nic_destroy(nic);
	for (uint32_t i = 0; i < QUEUES; i++) {
		free(queue[i].sq);
		free(queue[i].cq);
	}
	return 0;
}

/* A NOP: taken, it completes by itself. */
static void ring(uint32_t i)
{
	struct queue *q = &queue[i];
	uint64_t *w = (uint64_t *)(q->sq + q->pi % DEPTH * 64);

	w[0] = __builtin_bswap64((q->pi & 0xffff) << 40 | q->qpn << 8 | 1);
	w[1] = __builtin_bswap64(8ULL << 32);
	__atomic_store_n(&doorbells[i], ++q->pi, __ATOMIC_RELEASE);
}

static unsigned turn(void)
{
	struct roce_frame f[4];
	uint8_t room[4][256];
	unsigned n;

	for (unsigned i = 0; i < 4; i++)
		f[i] = (struct roce_frame){ .data = room[i], .room = 256 };
	now += 1000;
	n = nic_doorbells(nic, now);
	nic_tx(nic, now, f, 4);
	return n;
}

/* Its last WQE has completed. */
static bool is_heard(uint32_t i)
{
	uint64_t last = queue[i].pi - 1;
	uint8_t own = queue[i].cq[last % DEPTH].op_own;

	return own >> 4 == WBELL_CQE_REQ && (own & 1) == (last / DEPTH & 1);
}

/* Queue `busy` rings in every turn; how many until `i` is heard. */
static unsigned turns_until(uint32_t i, uint32_t busy)
{
	unsigned n = 0;

	ring(i);
	ring(busy);
	do {
		if (is_heard(busy))
			ring(busy);
		turn();
		n++;
	} while (!is_heard(i) && n < 10 * SOON);
	while (turn())
		;
	return n;
}

static void test_doorbell_beside_a_busy_one(void **state)
{
	for (uint32_t i = 1; i < QUEUES; i += 7) {
		unsigned n = turns_until(i, 0);

		if (n > SOON)
			fail_msg("word %u was heard after %u turns", i, n);
	}
	for (uint32_t i = 0; i + 1 < QUEUES; i += 13) {
		unsigned n = turns_until(i, QUEUES - 1);

		if (n > SOON)
			fail_msg("word %u was heard after %u turns", i, n);
	}
}

static void test_doorbells_that_all_move(void **state)
{
	unsigned taken = 0;

	for (uint32_t i = 0; i < QUEUES; i++)
		ring(i);
	for (unsigned n = 0; n < SOON; n++)
		taken += turn();
	assert_int_equal(taken, QUEUES);
}

/* An engine that rests between its turns must not need many of them. */
static void test_doorbell_of_an_idle_nic_in_one_turn(void **state)
{
	for (unsigned n = 0; n < 10 * SOON; n++)
		assert_int_equal(turn(), 0);
	for (uint32_t i = 0; i < QUEUES; i += 101) {
		ring(i);
		assert_int_equal(turn(), 1);
		for (unsigned n = 0; n < 10 * SOON; n++)
			turn();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doorbell_beside_a_busy_one),
		cmocka_unit_test(test_doorbells_that_all_move),
		cmocka_unit_test(test_doorbell_of_an_idle_nic_in_one_turn),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("doorbells", tests, setup, teardown);
}
