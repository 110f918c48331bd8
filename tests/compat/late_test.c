// SPDX-License-Identifier: BSD-2-Clause
/*
 * The software NIC under a poster whose WQEs show after their doorbell, in
 * pieces and in any order.  One thread; a seed is a schedule.
 */
#include <endian.h>

#include "poster.h"

#define OPS	 300
#define DEPTH	 16
#define AT_VALUE 0x10000 /* where the kinds of results lie, both ends */
#define AT_SUM	 0x20000
#define AT_CONST 0x30000
#define AT_COUNT 0x40000
#define AT_SINK	 0x50000

static struct poster main_q, side_q;
static unsigned wrong;
static uint64_t seen[2]; /* CQEs looked at, of main and side */

static struct poster_addr at(unsigned end, uint64_t off)
{
	return (struct poster_addr){ (uintptr_t)rig_end[end].mem + off,
				     rig_end[end].key };
}

static uint64_t *cell(unsigned end, uint64_t off)
{
	return (uint64_t *)(rig_end[end].mem + off);
}

static uint64_t tag(unsigned i)
{
	return 0x1234567800000000ULL + i * 0x9e3779b1ULL;
}

/* ---- a schedule ---- */

/* A CQE before the last byte of its WQE has shown is wrong. */
static void look(struct poster *p, uint64_t *next)
{
	while (*next < *p->reserved) {
		int rc = poster_poll(p, *next);

		if (rc == -EBUSY)
			return;
		if (rc || rig_hidden(poster_slot(p, *next))) {
			wrong++;
			poster_stop = true;
			return;
		}
		(*next)++;
	}
}

static void watched_turn(void)
{
	rig_turn();
	look(&main_q, &seen[0]);
	look(&side_q, &seen[1]);
}

static void open_both(const struct rig_attr *a, unsigned kind)
{
	rig_open(a);
	memset(&main_q, 0, sizeof(main_q));
	memset(&side_q, 0, sizeof(side_q));
	poster_open(&main_q, rig_end[0].q[0], kind);
	poster_open(&side_q, rig_end[0].q[1], kind);
	seen[0] = seen[1] = a->first_index;
	wrong = 0;
	poster_stop = false;
	poster_relax = watched_turn;
	rig_late(true);
	for (unsigned i = 0; i < OPS; i++) {
		*cell(0, i * 8) = tag(i);
		*cell(1, AT_CONST + i * 8) = tag(i + 7);
	}
}

static void close_both(void)
{
	rig_late(false);
	rig_close();
}

struct op {
	unsigned kind, len;
	uint64_t value;
};

static int post(struct op *op, unsigned i)
{
	uint64_t t, o = i * 8;
	struct poster_addr sink = at(0, AT_SINK);
	struct poster_counted counted;

	switch (op->kind) {
	case 0:
		return poster_put(&main_q, at(1, o), at(0, o), op->len, &t);
	case 1:
		return poster_put_value(&main_q, at(1, AT_VALUE + o),
					&op->value, op->len, &t);
	case 2:
		return poster_add(&main_q, at(1, AT_SUM + o), sink, op->value,
				  &t);
	case 3:
		return poster_get(&main_q, at(1, AT_CONST + o),
				  at(0, AT_CONST + o), op->len, &t);
	default:
		counted = (struct poster_counted){ at(1, o), at(0, o), op->len,
						   at(1, AT_COUNT), sink };
		return poster_put_counter(&main_q, &side_q, &counted, &t);
	}
}

static struct op draw(unsigned i)
{
	struct op op = { rig_random() % 5, 8, rig_random() };

	if (op.kind == 1)
		op.len = 1U << rig_random() % 4;
	else if (op.kind == 0 && rig_random() % 4 == 0)
		op.len = 0;
	return op;
}

static uint64_t low(uint64_t v, unsigned len)
{
	return len == 8 ? v : v & ((1ULL << len * 8) - 1);
}

/* What op did, once and only it. */
static bool is_done(const struct op *op, unsigned i)
{
	uint64_t o = i * 8;

	return *cell(1, o) ==
		       ((!op->kind && op->len) || op->kind == 4 ? tag(i) : 0) &&
	       *cell(1, AT_VALUE + o) ==
		       (op->kind == 1 ? low(op->value, op->len) : 0) &&
	       *cell(1, AT_SUM + o) == (op->kind == 2 ? op->value : 0) &&
	       *cell(0, AT_CONST + o) == (op->kind == 3 ? tag(i + 7) : 0);
}

/* How much went wrong. */
static unsigned schedule(const struct rig_attr *a, unsigned kind, uint64_t seed)
{
	static struct op ops[OPS];
	uint64_t counted = 0;

	rig_seed(seed);
	open_both(a, kind);
	for (unsigned i = 0; i < OPS && !wrong; i++) {
		ops[i] = draw(i);
		counted += ops[i].kind == 4;
		if (post(&ops[i], i))
			wrong++;
		for (unsigned n = rig_random() % 4; n; n--)
			watched_turn();
	}
	if (!wrong && (poster_wait(&main_q, *main_q.reserved - 1) ||
		       (counted && poster_wait(&side_q, *side_q.reserved - 1))))
		wrong++;
	for (unsigned i = 0; i < OPS && !wrong; i++)
		wrong += !is_done(&ops[i], i);
	if (!wrong && *cell(1, AT_COUNT) != counted)
		wrong++;
	close_both();
	return wrong;
}

static void test_every_wqe_once_and_whole(void **state)
{
	static const uint32_t firsts[] = { 0, 65534, 0xfffffff0 };

	for (unsigned i = 0; i < 300; i++) {
		struct rig_attr a = { .depth = i % 4 ? DEPTH : 64,
				      .first_index = firsts[i % 3] };
		unsigned kind = i & 1 ? WBELL_COMPAT_DOCA_V2
				      : WBELL_COMPAT_DOCA_V1;

		if (schedule(&a, kind, i))
			fail_msg("seed %u: an operation was not done right", i);
	}
}

/* The same schedules when the NIC trusts the doorbell. */
static void test_unchecked_nic_takes_torn_wqes(void **state)
{
	for (unsigned i = 0; i < 10; i++) {
		struct rig_attr a = { .depth = DEPTH, .unchecked = true };

		assert_true(schedule(&a, WBELL_COMPAT_DOCA_V1, i));
	}
}

/* ---- bounds and values ---- */

static void open_one(unsigned depth)
{
	struct rig_attr a = { .depth = depth };

	rig_seed(1);
	open_both(&a, WBELL_COMPAT_DOCA_V1);
	poster_relax = rig_turn;
	rig_late(false);
}

static void turns(unsigned n)
{
	while (n--)
		rig_turn();
}

static void assert_failed(struct poster *p, uint64_t index, uint8_t syndrome,
			  uint8_t vendor)
{
	const struct wbell_err_cqe *e =
		(const void *)(p->cqe + (index & (p->cqe_num - 1)) * 64);

	assert_int_equal(poster_wait(p, index), -EIO);
	assert_int_equal(e->syndrome, syndrome);
	assert_int_equal(e->vendor_err_synd, vendor);
	assert_int_equal(be16toh(e->wqe_counter), index & 0xffff);
}

static void test_wqe_that_never_shows(void **state)
{
	uint64_t i, k;

	open_one(DEPTH);
	assert_int_equal(poster_reserve(&main_q, 1, &i), 0);
	assert_int_equal(poster_submit(&main_q, i, i + 1), 0);
	turns(10);
	rig_now += 990000000;
	turns(10);
	assert_int_equal(poster_poll(&main_q, i), -EBUSY);
	rig_now += 20000000;
	assert_failed(&main_q, i, WBELL_SYND_LOCAL_QP_OP, 0x69);
	/* the queue is in error: what is rung now is flushed, seen or not */
	assert_int_equal(poster_put(&main_q, at(1, 0), at(0, 0), 8, &k), 0);
	assert_failed(&main_q, k, WBELL_SYND_WR_FLUSH, 0xf9);
	assert_int_equal(poster_reserve(&main_q, 1, &k), 0);
	assert_int_equal(poster_submit(&main_q, k, k + 1), 0);
	assert_failed(&main_q, k, WBELL_SYND_WR_FLUSH, 0xf9);
	assert_int_equal(*cell(1, 0), 0);
	close_both();
}

/* The last piece shows just before the bound: nothing is lost. */
static void test_wqe_that_shows_at_last(void **state)
{
	uint64_t i;

	open_one(DEPTH);
	assert_int_equal(poster_reserve(&main_q, 1, &i), 0);
	assert_int_equal(poster_submit(&main_q, i, i + 1), 0);
	turns(10);
	rig_now += 990000000;
	poster_ctrl(&main_q, i, WBELL_OP_NOP, 1);
	assert_int_equal(poster_wait(&main_q, i), 0);
	close_both();
}

/* Data that cannot be told from what has not been written. */
static void test_values_that_read_as_poison(void **state)
{
	uint64_t poison, t;
	uint32_t half;

	open_one(DEPTH);
	memcpy(&poison, main_q.sq, 8);
	half = poison >> 32; /* what stands behind the length */
	assert_int_equal(poster_put_value(&main_q, at(1, 0), &half, 4, &t), 0);
	turns(100);
	assert_int_equal(poster_poll(&main_q, t), -EBUSY);
	assert_int_equal(poster_wait(&main_q, t), 0);
	assert_int_equal(*cell(1, 0), half);
	assert_int_equal(poster_add(&main_q, at(1, 8), at(0, AT_SINK),
				    be64toh(poison), &t),
			 0);
	assert_int_equal(poster_wait(&main_q, t), 0);
	assert_int_equal(*cell(1, 8), be64toh(poison));
	assert_true(rig_now < 1005000000);
	close_both();
}

/* Torn for long, then in doubt: the time in doubt counts alone. */
static void test_doubt_starts_when_the_rest_is_there(void **state)
{
	uint64_t i, value = 0x0102030405060708;
	uint8_t *wqe;

	open_one(DEPTH);
	assert_int_equal(poster_reserve(&main_q, 1, &i), 0);
	assert_int_equal(poster_submit(&main_q, i, i + 1), 0);
	turns(100);
	rig_now += 500000000;
	wqe = poster_slot(&main_q, i);
	poster_ctrl(&main_q, i, WBELL_OP_WRITE, 3);
	poster_seg(&main_q, i, 1, htobe64(at(1, 0).addr), at(1, 0).key);
	rig_store(wqe + 32, htobe32(8 | WBELL_INLINE), 4);
	rig_store(wqe + 36, value, 4);
	turns(500);
	rig_store(wqe + 40, value >> 32, 4);
	assert_int_equal(poster_wait(&main_q, i), 0);
	assert_int_equal(*cell(1, 0), value);
	close_both();
}

/* ---- operations ---- */

static uint64_t post_wait(uint32_t index, uint32_t cqn)
{
	uint64_t i;

	assert_int_equal(poster_reserve(&side_q, 1, &i), 0);
	poster_ctrl(&side_q, i, WBELL_OP_WAIT, 2);
	poster_seg(&side_q, i, 1, 0,
		   (uint64_t)htobe32(cqn) << 32 | htobe32(index));
	assert_int_equal(poster_submit(&side_q, i, i + 1), 0);
	return i;
}

static void test_wait_for_a_cqe_to_come(void **state)
{
	uint64_t w, k, t;

	open_one(DEPTH);
	w = post_wait(1, main_q.cqn);
	assert_int_equal(poster_add(&side_q, at(1, 0), at(0, AT_SINK), 1, &k),
			 0);
	assert_int_equal(poster_put(&main_q, at(1, 8), at(0, 8), 8, &t), 0);
	turns(200);
	assert_int_equal(poster_poll(&main_q, 0), 0);
	assert_int_equal(poster_poll(&side_q, w), -EBUSY);
	assert_int_equal(*cell(1, 0), 0);
	assert_int_equal(poster_put(&main_q, at(1, 8), at(0, 8), 8, &t), 0);
	assert_int_equal(poster_wait(&side_q, k), 0);
	assert_int_equal(*cell(1, 0), 1);
	assert_int_equal(poster_wait(&side_q, post_wait(0, main_q.cqn)), 0);
	close_both();
}

static void test_wait_for_what_failed(void **state)
{
	struct poster_addr bad = { 16, 0 };
	uint64_t t;

	open_one(DEPTH);
	assert_int_equal(poster_put(&main_q, at(1, 8), at(0, 8), 8, &t), 0);
	assert_int_equal(poster_put(&main_q, bad, at(0, 8), 8, &t), 0);
	assert_int_equal(poster_wait(&main_q, t), -EIO);
	assert_int_equal(poster_wait(&side_q, post_wait(0, main_q.cqn)), 0);
	assert_failed(&side_q, post_wait(1, main_q.cqn), WBELL_SYND_WR_FLUSH,
		      0x6a);
	close_both();
}

static void test_wait_on_no_cq(void **state)
{
	open_one(DEPTH);
	assert_failed(&side_q, post_wait(0, main_q.cqn ^ 0x800000),
		      WBELL_SYND_LOCAL_QP_OP, 0x68);
	close_both();
}

static void test_wait_ends(void **state)
{
	uint64_t w;

	open_one(DEPTH);
	w = post_wait(5, main_q.cqn);
	turns(10);
	rig_now += 29900000000;
	turns(10);
	assert_int_equal(poster_poll(&side_q, w), -EBUSY);
	rig_now += 200000000;
	assert_failed(&side_q, w, WBELL_SYND_LOCAL_QP_OP, 0x6b);
	close_both();
}

static void test_masked_atomics_are_refused(void **state)
{
	static const struct {
		uint8_t opcode, ds;
	} ops[] = { { 0x14, 4 }, { 0x15, 4 }, { 0x14, 5 }, { 0x15, 5 } };

	for (unsigned n = 0; n < 4; n++) {
		unsigned nbb = ops[n].ds > 4 ? 2 : 1;
		uint64_t i;

		open_one(DEPTH);
		assert_int_equal(poster_reserve(&main_q, nbb, &i), 0);
		poster_ctrl(&main_q, i, ops[n].opcode, ops[n].ds);
		for (unsigned s = 1; s < ops[n].ds; s++)
			poster_seg(&main_q, i, s, 8, 8);
		assert_int_equal(poster_submit(&main_q, i, i + nbb), 0);
		assert_failed(&main_q, i, WBELL_SYND_LOCAL_QP_OP, 0x68);
		assert_int_equal(*cell(1, 0), 0);
		close_both();
	}
}

/* NCCL 2.30 reads its own memory behind a READ, to order it. */
static void test_dump_after_read(void **state)
{
	uint64_t t, i;

	open_one(DEPTH);
	assert_int_equal(
		poster_get(&main_q, at(1, AT_CONST), at(0, AT_CONST), 8, &t),
		0);
	assert_int_equal(poster_reserve(&main_q, 1, &i), 0);
	poster_ctrl(&main_q, i, 0x23, 2);
	poster_seg(&main_q, i, 1, (uint64_t)at(0, 0).key << 32 | htobe32(1),
		   htobe64(at(0, 0).addr));
	assert_int_equal(poster_submit(&main_q, i, i + 1), 0);
	assert_int_equal(poster_wait(&main_q, i), 0);
	assert_int_equal(*cell(0, AT_CONST), tag(7));
	close_both();
}

static void test_send(void **state)
{
	struct rig_attr a = { .depth = DEPTH, .recv_depth = 4 };
	struct wbell_dqueue *dq;
	struct wbell_data_seg *rq;
	uint64_t i;

	rig_seed(3);
	open_both(&a, WBELL_COMPAT_DOCA_V2);
	wbell_queue_device(rig_end[1].q[0], &dq);
	rq = (void *)(uintptr_t)dq->rq;
	rq->byte_count = htobe32(64);
	rq->lkey = rig_end[1].key;
	rq->addr = htobe64(at(1, 64).addr);
	((struct wbell_dbrec *)(uintptr_t)dq->dbrec)->recv = htobe32(1);
	assert_int_equal(poster_reserve(&main_q, 1, &i), 0);
	poster_ctrl(&main_q, i, WBELL_OP_SEND, 2);
	poster_seg(&main_q, i, 1, (uint64_t)at(0, 0).key << 32 | htobe32(8),
		   htobe64(at(0, 0).addr));
	assert_int_equal(poster_submit(&main_q, i, i + 1), 0);
	assert_int_equal(poster_wait(&main_q, i), 0);
	assert_int_equal(*cell(1, 64), tag(0));
	assert_int_equal(wrong, 0);
	close_both();
}

/* Any bytes at all, in any pieces: each doorbell ends in a CQE. */
static void test_hostile_wqes(void **state)
{
	static const uint8_t ops[] = { 0,    1,	   8,	 9,    0xa,  0xf,
				       0x10, 0x11, 0x12, 0x14, 0x23, 0x25 };

	for (unsigned run = 0; run < 300; run++) {
		uint64_t i;

		open_one(DEPTH);
		rig_seed(run);
		assert_int_equal(poster_reserve(&main_q, 2, &i), 0);
		for (unsigned s = 0; s < 8; s++)
			poster_seg(&main_q, i, s, rig_random(), rig_random());
		poster_ctrl(&main_q, i, ops[rig_random() % sizeof(ops)],
			    1 + rig_random() % 9);
		assert_int_equal(poster_submit(&main_q, i, i + 2), 0);
		for (unsigned n = 0; n < 40; n++) {
			turns(5);
			rig_now += 1000000000;
		}
		assert_int_not_equal(poster_poll(&main_q, i), -EBUSY);
		close_both();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_wqe_once_and_whole),
		cmocka_unit_test(test_unchecked_nic_takes_torn_wqes),
		cmocka_unit_test(test_wqe_that_never_shows),
		cmocka_unit_test(test_wqe_that_shows_at_last),
		cmocka_unit_test(test_values_that_read_as_poison),
		cmocka_unit_test(test_doubt_starts_when_the_rest_is_there),
		cmocka_unit_test(test_wait_for_a_cqe_to_come),
		cmocka_unit_test(test_wait_for_what_failed),
		cmocka_unit_test(test_wait_on_no_cq),
		cmocka_unit_test(test_wait_ends),
		cmocka_unit_test(test_masked_atomics_are_refused),
		cmocka_unit_test(test_dump_after_read),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_hostile_wqes),
	};

	return cmocka_run_group_tests_name("late posters", tests, NULL, NULL);
}
