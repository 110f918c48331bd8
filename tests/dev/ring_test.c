// SPDX-License-Identifier: BSD-2-Clause
/* Send ring: full, wrap, depths, doorbells of each kind, bad arguments. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nic_model.h"
#include "wbell/device.h"

static int put(struct nic *n, struct wbell_ticket *t)
{
	return wbell_put(n->q, 0x1000, 1, 0x2000, 2, 64, t);
}

/* All of n's memory that a refused call must leave as it is. */
static uint32_t digest(const struct nic *n)
{
	const uint8_t *b = n->sq;
	size_t len = ((size_t)WBELL_BB_SIZE << n->q->log_depth) + 64, i;
	uint32_t h = 2166136261u;

	for (i = 0; i < len; i++)
		h = (h ^ b[i]) * 16777619u;
	b = (const uint8_t *)n->q;
	for (i = 0; i < sizeof(*n->q); i++)
		h = (h ^ b[i]) * 16777619u;
	return h ^ n->dbrec.send ^ n->dbrec.recv ^ (uint32_t)n->bell;
}

static struct wbell_wr two_blocks(const struct wbell_sge *sge)
{
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE,
			       .num_sge = 3,
			       .sge = sge };

	return wr;
}

static void test_o12_ring_overflow_is_refused(void **state)
{
	const struct wbell_sge sge[3] = { { 1, 8, 1 },
					  { 2, 8, 1 },
					  { 3, 8, 1 } };
	struct wbell_wr wr = two_blocks(sge);
	struct nic_attr a = { .log_depth = 7, .db_kind = WBELL_DB_UAR };
	uint32_t before;
	struct nic n;
	int i;

	nic_init(&n, &a);
	for (i = 0; i < 127; i++)
		assert_int_equal(put(&n, NULL), 0);
	before = digest(&n);
	assert_int_equal(wbell_post(n.q, &wr, NULL), WBELL_EAGAIN);
	assert_int_equal(digest(&n), before);
	assert_int_equal(put(&n, NULL), 0);
	before = digest(&n);
	assert_int_equal(put(&n, NULL), WBELL_EAGAIN);
	assert_int_equal(digest(&n), before);
	assert_int_equal(be32toh(n.dbrec.send), 128);

	nic_complete(&n, 127);
	for (i = 0; i < 64; i++)
		assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	assert_int_equal(wbell_post(n.q, &wr, NULL), WBELL_EAGAIN);
	nic_free(&n);
}

/* Two blocks behind a put, by a wait: the queue is plain only until then. */
static void test_wait_frees_all_blocks_of_a_wqe(void **state)
{
	const struct wbell_sge sge[3] = { { 1, 8, 1 },
					  { 2, 8, 1 },
					  { 3, 8, 1 } };
	struct wbell_wr wr = two_blocks(sge);
	struct nic_attr a = { .log_depth = 2, .first_index = 65534 };
	struct wbell_ticket t;
	struct nic n;
	int i;

	nic_init(&n, &a);
	for (i = 0; i < 9; i++) {
		assert_int_equal(i % 3 ? wbell_post(n.q, &wr, &t) : put(&n, &t),
				 0);
		assert_int_equal(nic_step(&n), 1);
		assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(1000000)),
				 0);
		assert_int_equal(n.q->cq_state >> WBELL_CQ_CI_BITS,
				 n.q->reserved);
	}
	nic_free(&n);
}

/* The same built by hand: the queue cannot see what was written. */
static void test_wait_frees_all_blocks_of_a_wqe_built_by_hand(void **state)
{
	struct nic_attr a = { .log_depth = 2 };
	struct wbell_ticket t;
	struct nic n;
	__u64 index;
	int i;

	nic_init(&n, &a);
	assert_int_equal(put(&n, &t), 0);
	assert_int_equal(nic_step(&n), 1);
	assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(1000000)), 0);
	for (i = 0; i < 6; i++) {
		assert_int_equal(wbell_reserve(n.q, 2, &index), 0);
		wbell_wqe_raddr(wbell_slot(n.q, index) + 16, 0x1000, 1);
		wbell_wqe_data(wbell_slot(n.q, index) + 32, 0x2000, 1, 8);
		wbell_wqe_data(wbell_slot(n.q, index) + 48, 0x3000, 1, 8);
		wbell_wqe_data(wbell_slot(n.q, index + 1), 0x4000, 1, 8);
		wbell_wqe_ctrl(n.q, index, WBELL_OP_WRITE, 5,
			       WBELL_CTRL_CQ_UPDATE, 0);
		assert_int_equal(wbell_publish(n.q, index, 2, 0), 0);
		assert_int_equal(nic_step(&n), 1);
		t.index = index;
		assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(1000000)),
				 0);
		assert_int_equal(n.q->cq_state >> WBELL_CQ_CI_BITS,
				 n.q->reserved);
	}
	nic_free(&n);
}

static void test_o12_indices_go_on_beyond_65535(void **state)
{
	struct nic_attr a = { .log_depth = 7, .db_kind = WBELL_DB_UAR };
	struct wbell_ticket t;
	struct nic n;
	int i;

	nic_init(&n, &a);
	for (i = 0; i < 70000; i++) {
		assert_int_equal(put(&n, &t), 0);
		assert_int_equal(t.index, i);
		assert_int_equal(be32toh(n.dbrec.send), (i + 1) & 0xffff);
		nic_step(&n);
		if (i % 3 == 0)
			assert_int_equal(wbell_test(n.q, t), 0);
	}
	assert_int_equal(n.malformed, 0);
	assert_int_equal(wbell_quiet(n.q, wbell_deadline_us(1000000)), 0);
	assert_int_equal(n.q->cq_state >> WBELL_CQ_CI_BITS, 70000);
	nic_free(&n);
}

static void wrap_at(unsigned log_depth, unsigned kind, uint64_t first)
{
	struct nic_attr a = { .log_depth = log_depth,
			      .db_kind = kind,
			      .first_index = first };
	uint64_t i, count = (2ULL << log_depth) + 5;
	struct wbell_ticket t;
	struct nic n;

	nic_init(&n, &a);
	for (i = 0; i < count; i++) {
		while (put(&n, &t) == WBELL_EAGAIN)
			assert_true(nic_step(&n));
		assert_int_equal(t.index, first + i);
	}
	nic_step(&n);
	assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(1000000)), 0);
	assert_int_equal(n.fetched, first + count);
	assert_int_equal(n.malformed, 0);
	assert_true(nic_canary_whole(&n));
	nic_free(&n);
}

static void test_every_depth_from_index_65534(void **state)
{
	unsigned log_depth;

	for (log_depth = 0; log_depth <= WBELL_LOG_DEPTH_MAX; log_depth++) {
		wrap_at(log_depth, WBELL_DB_WORD, 65534);
		wrap_at(log_depth, WBELL_DB_UAR, 65534);
	}
}

/* The 40 bits of done end after 2^40 blocks: a few hours of small puts. */
static void test_index_past_40_bits(void **state)
{
	wrap_at(3, WBELL_DB_WORD, (1ULL << 40) - 3);
	wrap_at(3, WBELL_DB_UAR, (1ULL << 41) - 3);
}

static void exclusive(unsigned kind)
{
	struct nic_attr a = { .log_depth = 3,
			      .db_kind = kind,
			      .flags = WBELL_DQ_EXCLUSIVE,
			      .first_index = 65530 };
	struct wbell_ticket t;
	struct nic n;
	int i;

	nic_init(&n, &a);
	for (i = 0; i < 100; i++) {
		assert_int_equal(put(&n, &t), 0);
		assert_int_equal(n.q->ready, 65531 + i);
		assert_int_equal(nic_producer(&n), 65531 + i);
		nic_step(&n);
		assert_int_equal(wbell_test(n.q, t), 0);
	}
	assert_int_equal(n.malformed, 0);
	nic_free(&n);
}

static void test_exclusive_queue(void **state)
{
	exclusive(WBELL_DB_WORD);
	exclusive(WBELL_DB_PROXY);
	exclusive(WBELL_DB_UAR);
}

static void test_uar_bell_is_last_ctrl(void **state)
{
	struct nic_attr a = { .log_depth = 4, .db_kind = WBELL_DB_UAR };
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(wbell_put_signal(n.q, 1, 1, 8, 1, 8, 8, 1, 1,
					  WBELL_ORDER_NIC, NULL),
			 0);
	assert_memory_equal(&n.bell, nic_slot(&n, 1), 8);
	assert_int_equal(be32toh(n.dbrec.send), 2);
	nic_free(&n);
}

static void more_then_flush(unsigned kind)
{
	const struct wbell_sge sge = { 0x1000, 8, 1 };
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE,
			       .num_sge = 1,
			       .flags = WBELL_POST_MORE,
			       .sge = &sge };
	struct nic_attr a = { .log_depth = 4, .db_kind = kind };
	struct wbell_ticket t;
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	assert_int_equal(wbell_post(n.q, &wr, &t), 0);
	assert_int_equal(nic_step(&n), 0);
	assert_int_equal(n.dbrec.send, 0);
	assert_int_equal(n.bell, 0);
	assert_int_equal(wbell_flush(n.q), 0);
	assert_in_range(nic_step(&n), 2, 3);
	assert_int_equal(wbell_test(n.q, t), 0);
	assert_int_equal(n.malformed, 0);
	nic_free(&n);
}

static void test_more_rings_by_flush(void **state)
{
	more_then_flush(WBELL_DB_WORD);
	more_then_flush(WBELL_DB_UAR);
}

static void test_low_level_reserve_build_publish(void **state)
{
	struct nic_attr a = { .log_depth = 4, .db_kind = WBELL_DB_UAR };
	__u64 at;
	struct nic n;
	int i;

	nic_init(&n, &a);
	assert_int_equal(wbell_reserve(n.q, 3, &at), 0);
	for (i = 0; i < 3; i++)
		wbell_wqe_ctrl(n.q, at + i, WBELL_OP_NOP, 1,
			       WBELL_CTRL_CQ_UPDATE, 0);
	assert_int_equal(wbell_publish(n.q, at, 3, 0), 0);
	assert_memory_equal(&n.bell, nic_slot(&n, 2), 8);
	assert_int_equal(nic_step(&n), 3);
	assert_int_equal(wbell_quiet(n.q, wbell_deadline_us(100000)), 0);
	assert_int_equal(wbell_reserve(n.q, 17, &at), WBELL_EINVAL);
	assert_int_equal(wbell_reserve(n.q, 0, &at), WBELL_EINVAL);
	assert_int_equal(wbell_reserve(n.q, 0xffffffff, &at), WBELL_EINVAL);
	assert_int_equal(wbell_reserve(n.q, 1, NULL), WBELL_EINVAL);
	assert_int_equal(wbell_publish(n.q, 3, 0, 0), WBELL_EINVAL);
	assert_int_equal(wbell_publish(n.q, 3, 17, 0), WBELL_EINVAL);
	nic_free(&n);
}

static void test_bad_arguments_change_nothing(void **state)
{
	struct nic_attr a = { .log_depth = 4 };
	struct wbell_ticket t = { 0 };
	uint32_t before;
	struct nic n;

	nic_init(&n, &a);
	before = digest(&n);
	assert_int_equal(wbell_put(n.q, 1, 1, 1, 1, 1ULL << 40, &t),
			 WBELL_EINVAL);
	assert_int_equal(wbell_put_inline(n.q, &t, 0, 1, 1, &t), WBELL_EINVAL);
	assert_int_equal(wbell_put_inline(n.q, &t, 29, 1, 1, &t), WBELL_EINVAL);
	assert_int_equal(wbell_put_inline(n.q, NULL, 4, 1, 1, &t),
			 WBELL_EINVAL);
	assert_int_equal(wbell_fetch_add(n.q, 0, 0, 4, 1, 1, &t), WBELL_EINVAL);
	assert_int_equal(wbell_fetch_add(n.q, 4, 0, 8, 1, 1, &t), WBELL_EINVAL);
	assert_int_equal(wbell_put_signal(n.q, 1, 1, 1, 1, 8, 8, 1, 1, 3, &t),
			 WBELL_EINVAL);
	assert_int_equal(wbell_put_signal(n.q, 1, 1, 1, 1, 8, 9, 1, 1, 0, &t),
			 WBELL_EINVAL);
	assert_int_equal(wbell_send(n.q, 1, 1, 1ULL << 32, &t), WBELL_EINVAL);
	assert_int_equal(wbell_recv(n.q, 1, 1, 1), WBELL_EINVAL);
	assert_int_equal(wbell_recv_test(n.q, NULL), WBELL_EINVAL);
	assert_int_equal(wbell_post(n.q, NULL, &t), WBELL_EINVAL);
	assert_int_equal(digest(&n), before);
	nic_free(&n);
}

static void test_foreign_queue_is_refused(void **state)
{
	struct nic_attr a = { .log_depth = 4 };
	struct wbell_dqueue *volatile none = NULL;
	struct wbell_recv_done done;
	struct wbell_ticket t = { 0 };
	__u64 at;
	struct nic n;

	nic_init(&n, &a);
	n.q->magic += 1ULL << 32; /* of the next version */
	assert_int_equal(put(&n, &t), WBELL_EPROTO);
	assert_int_equal(wbell_get(n.q, 1, 1, 1, 1, 1, &t), WBELL_EPROTO);
	assert_int_equal(wbell_send(n.q, 1, 1, 1, &t), WBELL_EPROTO);
	assert_int_equal(wbell_fetch_add(n.q, 0, 0, 8, 1, 1, &t), WBELL_EPROTO);
	assert_int_equal(wbell_reserve(n.q, 1, &at), WBELL_EPROTO);
	assert_int_equal(wbell_publish(n.q, 0, 1, 0), WBELL_EPROTO);
	assert_int_equal(wbell_test(n.q, t), WBELL_EPROTO);
	assert_int_equal(wbell_wait(n.q, t, 0), WBELL_EPROTO);
	assert_int_equal(wbell_quiet(n.q, 0), WBELL_EPROTO);
	assert_int_equal(wbell_flush(n.q), WBELL_EPROTO);
	assert_int_equal(wbell_recv(n.q, 1, 1, 1), WBELL_EPROTO);
	assert_int_equal(wbell_recv_test(n.q, &done), WBELL_EPROTO);
	nic_free(&n);
	assert_int_equal(wbell_put(none, 1, 1, 1, 1, 1, &t), WBELL_EINVAL);
	assert_int_equal(wbell_wait(none, t, 0), WBELL_EINVAL);
	assert_int_equal(wbell_flush(none), WBELL_EINVAL);
}

static void test_cq_doorbell_record_follows(void **state)
{
	struct nic_attr a = { .log_depth = 2, .cq_dbrec = 1 };
	struct wbell_ticket t;
	struct nic n;
	int i;

	nic_init(&n, &a);
	for (i = 1; i < 20; i++) {
		assert_int_equal(put(&n, &t), 0);
		nic_step(&n);
		assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(10000)),
				 0);
		assert_int_equal(be32toh(n.cq_dbrec.ci), i);
	}
	nic_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_wait_frees_all_blocks_of_a_wqe_built_by_hand),
		cmocka_unit_test(test_o12_ring_overflow_is_refused),
		cmocka_unit_test(test_wait_frees_all_blocks_of_a_wqe),
		cmocka_unit_test(test_o12_indices_go_on_beyond_65535),
		cmocka_unit_test(test_every_depth_from_index_65534),
		cmocka_unit_test(test_index_past_40_bits),
		cmocka_unit_test(test_exclusive_queue),
		cmocka_unit_test(test_uar_bell_is_last_ctrl),
		cmocka_unit_test(test_more_rings_by_flush),
		cmocka_unit_test(test_low_level_reserve_build_publish),
		cmocka_unit_test(test_bad_arguments_change_nothing),
		cmocka_unit_test(test_foreign_queue_is_refused),
		cmocka_unit_test(test_cq_doorbell_record_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
