// SPDX-License-Identifier: BSD-2-Clause
/* Every way a connection ends, and in what order its work is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"

static void assert_comp(struct pair *p, int e, unsigned i, uint8_t syndrome)
{
	assert_true(i < p->end[e].ncomp);
	assert_int_equal(p->end[e].comp[i].syndrome, syndrome);
}

static void assert_state(struct pair *p, int e, enum roce_state s)
{
	assert_int_equal(roce_qp_state(p->end[e].qp), s);
}

/* First the cause, even unsignalled; then all the rest flushed, in order. */
static void assert_flushed(struct pair *p, unsigned from, unsigned n,
			   uint8_t cause)
{
	assert_int_equal(p->end[0].ncomp, n);
	for (unsigned i = 0; i < n; i++) {
		assert_comp(p, 0, i,
			    i < from	? 0
			    : i == from ? cause
					: WBELL_SYND_WR_FLUSH);
		assert_int_equal(p->end[0].comp[i].index, i);
	}
	assert_state(p, 0, ROCE_ERR);
	assert_ptr_equal(roce_failed(p->end[0].dev), p->end[0].qp);
	assert_null(roce_failed(p->end[0].dev));
}

static int all(void *arg, int from, uint8_t *frame, uint32_t len)
{
	return 1;
}

static void test_silent_peer_exhausts_retries(void **state)
{
	struct pair_attr a = { .timeout = 12, .retry_cnt = 3 };
	struct pair *p = pair_new(&a, 1);
	uint64_t start = p->now, took;

	p->faults.filter = all;
	for (unsigned i = 0; i < 5; i++)
		pair_write(p, 0, 0, 0, 8);
	pair_run(p, 10000000000ULL);
	took = p->now - start;
	assert_flushed(p, 0, 5, WBELL_SYND_RETRY_EXC);
	/* four time-outs of 16.8 ms; never before the third is over */
	assert_in_range(took, 50000000, 200000000);
	/* work posted later is flushed too */
	pair_write(p, 0, 0, 0, 8);
	pair_turn(p, 0);
	assert_comp(p, 0, 5, WBELL_SYND_WR_FLUSH);
	pair_free(p);
}

static void test_unresolved_peer_exhausts_retries(void **state)
{
	struct roce_dev_attr da = { .max_qp = 2, .max_mr = 3 };
	struct roce_qp_attr qa = {
		.depth = 8, .timeout = 10, .retry_cnt = 2, .max_rd_atomic = 1
	};
	struct roce_peer peer = { .qpn = 77,
				  .path_mtu = 1024,
				  .max_rd_atomic = 1 };
	struct roce_dev *dev;
	struct roce_qp *qp;
	struct roce_frame f[4] = { 0 };
	struct roce_comp c[4];
	struct roce_wr *wr;
	uint64_t now = 1000000;

	assert_int_equal(roce_dev_create(&da, &dev), 0);
	assert_int_equal(roce_qp_create(dev, &qa, &qp), 0);
	assert_int_equal(roce_qp_connect(qp, &peer, now), 0);
	wr = roce_wr_next(qp);
	memset(wr, 0, sizeof(*wr));
	wr->op = ROCE_OP_WRITE;
	roce_wr_post(qp, wr);
	for (unsigned i = 0; i < 1000; i++, now += 100000)
		assert_int_equal(roce_tx(dev, now, f, 4), 0);
	assert_int_equal(roce_comp(dev, c, 4), 1);
	assert_int_equal(c[0].syndrome, WBELL_SYND_RETRY_EXC);
	roce_dev_destroy(dev);
}

static void test_dead_peer_after_good_work(void **state)
{
	struct pair_attr a = { .timeout = 10, .retry_cnt = 1 };
	struct pair *p = pair_new(&a, 1);

	for (unsigned i = 0; i < 3; i++)
		pair_write(p, 0, 0, 0, 8);
	pair_run(p, 1000000000);
	p->faults.filter = all;
	for (unsigned i = 0; i < 4; i++)
		pair_write(p, 0, 0, 0, 8);
	pair_run(p, 10000000000ULL);
	assert_flushed(p, 3, 7, WBELL_SYND_RETRY_EXC);
	pair_free(p);
}

static void test_remote_access_error(void **state)
{
	static const uint8_t op[] = { ROCE_OP_WRITE, ROCE_OP_READ, ROCE_OP_FA };

	for (unsigned i = 0; i < 3; i++) {
		struct pair_attr a = { .recv_depth = 2 };
		struct pair *p = pair_new(&a, 1);
		struct roce_wr *wr;

		pair_recv(p, 1, 0, 64);
		pair_write(p, 0, 0, 0, 8);
		wr = pair_wr(p, 0, op[i], WBELL_OP_WRITE);
		wr->rkey ^= 1;
		wr->len = wr->sge.len = 8;
		wr->flags = 0;
		wr->sge.addr = (uintptr_t)p->end[0].mem;
		wr->raddr = (uintptr_t)p->end[1].mem;
		pair_post(p, 0, wr);
		pair_write(p, 0, 0, 8, 8);
		pair_run(p, 1000000000);
		assert_flushed(p, 1, 3, WBELL_SYND_REMOTE_ACCESS);
		assert_state(p, 1, ROCE_ERR);
		/* the responder's receives are flushed too */
		assert_int_equal(p->end[1].ncomp, 1);
		assert_comp(p, 1, 0, WBELL_SYND_WR_FLUSH);
		pair_free(p);
	}
}

static void test_local_protection_error_in_turn(void **state)
{
	struct pair_attr a = { .mtu = 256 };
	struct pair *p = pair_new(&a, 1);
	struct roce_wr *wr;

	pair_write(p, 0, 0, 0, 5000);
	wr = pair_wr(p, 0, ROCE_OP_WRITE, WBELL_OP_WRITE);
	wr->len = wr->sge.len = 4096;
	/* its second half lies past the registered memory */
	wr->sge.addr = (uintptr_t)p->end[0].mem + PAIR_MEM - 2048;
	wr->raddr = (uintptr_t)p->end[1].mem;
	pair_post(p, 0, wr);
	pair_write(p, 0, 0, 0, 8);
	pair_run(p, 1000000000);
	assert_flushed(p, 1, 3, WBELL_SYND_LOCAL_PROT);
	pair_free(p);
}

static void test_read_into_unregistered_memory(void **state)
{
	struct pair_attr a = { 0 };
	struct pair *p = pair_new(&a, 1);

	pair_read(p, 0, PAIR_MEM - 4, 0, 8);
	pair_run(p, 1000000000);
	assert_flushed(p, 0, 1, WBELL_SYND_LOCAL_PROT);
	/* nothing was asked of the peer */
	assert_int_equal(roce_counter(p->end[1].dev, ROCE_C_RX), 0);
	pair_free(p);
}

static void test_bad_wqe_fails_in_its_turn(void **state)
{
	struct pair_attr a = { 0 };
	struct pair *p = pair_new(&a, 1);
	struct roce_wr *wr;

	pair_write(p, 0, 0, 0, 8);
	wr = pair_wr(p, 0, ROCE_OP_NOP, 0x3f);
	wr->syndrome = WBELL_SYND_LOCAL_QP_OP;
	pair_post(p, 0, wr);
	pair_write(p, 0, 0, 0, 8);
	pair_run(p, 1000000000);
	assert_flushed(p, 1, 3, WBELL_SYND_LOCAL_QP_OP);
	assert_int_equal(p->end[0].comp[1].op, 0x3f);
	pair_free(p);
}

static void test_rnr_waits_then_goes_on(void **state)
{
	struct pair_attr a = { .recv_depth = 4, .min_rnr_timer = 12 };
	struct pair *p = pair_new(&a, 1);
	struct roce_qp_stat st;

	pair_send(p, 0, 0, 100, 0);
	for (unsigned i = 0; i < 300; i++)
		pair_turn(p, 10000); /* 3 ms: several RNR NAKs of 0.64 ms */
	roce_qp_stat(p->end[0].qp, &st);
	assert_in_range(st.rnr_naks, 2, 6);
	assert_int_equal(p->end[0].ncomp, 0);
	pair_recv(p, 1, 0, 100);
	pair_run(p, 1000000000);
	assert_int_equal(p->end[0].ncomp, 1);
	assert_comp(p, 0, 0, 0);
	pair_free(p);
}

static void test_rnr_retries_run_out(void **state)
{
	struct pair_attr a = { .recv_depth = 4,
			       .rnr_retry = 2,
			       .min_rnr_timer = 1 };
	struct pair *p = pair_new(&a, 1);

	pair_send(p, 0, 0, 100, 0);
	pair_run(p, 10000000000ULL);
	assert_flushed(p, 0, 1, WBELL_SYND_RNR_EXC);
	assert_int_equal(roce_counter(p->end[0].dev, ROCE_C_RNR_RX), 3);
	pair_free(p);
}

static void test_rnr_seven_is_endless(void **state)
{
	struct pair_attr a = { .recv_depth = 4,
			       .rnr_retry = 7,
			       .min_rnr_timer = 1 };
	struct pair *p = pair_new(&a, 1);

	pair_send(p, 0, 0, 100, 0);
	pair_run(p, 1000000000);
	assert_state(p, 0, ROCE_RTS);
	assert_true(roce_counter(p->end[0].dev, ROCE_C_RNR_RX) > 50);
	pair_free(p);
}

static void test_send_longer_than_the_receive(void **state)
{
	struct pair_attr a = { .recv_depth = 4, .mtu = 256 };
	struct pair *p = pair_new(&a, 1);

	pair_recv(p, 1, 0, 300);
	pair_send(p, 0, 0, 600, 0);
	pair_run(p, 1000000000);
	assert_flushed(p, 0, 1, WBELL_SYND_REMOTE_INVAL_REQ);
	assert_comp(p, 1, 0, WBELL_SYND_LOCAL_LENGTH);
	pair_free(p);
}

static void test_deregistered_in_the_middle(void **state)
{
	struct pair_attr a = { .mtu = 256 };
	struct pair *p = pair_new(&a, 1);

	pair_write(p, 0, 0, 0, 1 << 20);
	for (unsigned i = 0; i < 10; i++)
		pair_turn(p, 1000);
	assert_int_equal(roce_mr_del(p->end[1].dev, p->end[1].key), 0);
	memset(p->end[1].mem, 0x5a, PAIR_MEM);
	pair_run(p, 1000000000);
	assert_flushed(p, 0, 1, WBELL_SYND_REMOTE_ACCESS);
	for (unsigned i = 0; i < PAIR_MEM; i++)
		assert_int_equal(p->end[1].mem[i], 0x5a);
	pair_free(p);
}

static int drop_responses(void *arg, int from, uint8_t *frame, uint32_t len)
{
	unsigned *left = arg;

	return from == 1 && *left && (*left)--;
}

static void test_lost_read_response_is_asked_again(void **state)
{
	struct pair_attr a = { .mtu = 256 };
	struct pair *p = pair_new(&a, 1);
	unsigned left = 3;

	memset(p->end[1].mem, 0x77, 20000);
	p->faults.filter = drop_responses;
	p->faults.arg = &left;
	pair_read(p, 0, 0, 0, 20000);
	pair_run(p, 1000000000);
	assert_int_equal(p->end[0].ncomp, 1);
	assert_comp(p, 0, 0, 0);
	assert_memory_equal(p->end[0].mem, p->end[1].mem, 20000);
	pair_free(p);
}

static void test_fence_waits_for_reads(void **state)
{
	struct pair_attr a = { 0 };
	struct pair *p = pair_new(&a, 1);
	struct roce_wr *wr;
	unsigned left = 1;

	/* READ a word into the place the fenced WRITE sends from */
	p->faults.filter = drop_responses;
	p->faults.arg = &left;
	p->end[1].mem[0] = 0x42;
	pair_read(p, 0, 0, 0, 8);
	wr = pair_wr(p, 0, ROCE_OP_WRITE, WBELL_OP_WRITE);
	wr->flags |= ROCE_WR_FENCE;
	wr->len = wr->sge.len = 8;
	wr->sge.addr = (uintptr_t)p->end[0].mem;
	wr->raddr = (uintptr_t)p->end[1].mem + 64;
	pair_post(p, 0, wr);
	pair_run(p, 1000000000);
	assert_int_equal(p->end[0].ncomp, 2);
	assert_int_equal(p->end[1].mem[64], 0x42);
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent_peer_exhausts_retries),
		cmocka_unit_test(test_unresolved_peer_exhausts_retries),
		cmocka_unit_test(test_dead_peer_after_good_work),
		cmocka_unit_test(test_remote_access_error),
		cmocka_unit_test(test_local_protection_error_in_turn),
		cmocka_unit_test(test_read_into_unregistered_memory),
		cmocka_unit_test(test_bad_wqe_fails_in_its_turn),
		cmocka_unit_test(test_rnr_waits_then_goes_on),
		cmocka_unit_test(test_rnr_retries_run_out),
		cmocka_unit_test(test_rnr_seven_is_endless),
		cmocka_unit_test(test_send_longer_than_the_receive),
		cmocka_unit_test(test_deregistered_in_the_middle),
		cmocka_unit_test(test_lost_read_response_is_asked_again),
		cmocka_unit_test(test_fence_waits_for_reads),
	};

	return cmocka_run_group_tests_name("core errors", tests, NULL, NULL);
}
