// SPDX-License-Identifier: BSD-2-Clause
/* Waits end: by an error completion, a deadline, an abort; and say why. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nic_model.h"
#include "vectors.h"
#include "wbell/device.h"

#define SECOND_NS 1000000000ULL

static int put(struct nic *n, struct wbell_ticket *t)
{
	return wbell_put(n->q, 0x1000, 1, 0x2000, 2, 64, t);
}

static const void *cqe(const char *id)
{
	size_t i;

	for (i = 0; i < VEC_COUNT(vec_cqes); i++)
		if (!strcmp(vec_cqes[i].id, id))
			return vec_cqes[i].cqe;
	fail_msg("no vector %s", id);
	return NULL;
}

static void check_record(const struct wbell_error_record *rec)
{
	assert_int_equal(rec->state, WBELL_ERR_WHOLE);
	assert_int_equal(rec->status, WBELL_WC_RETRY_EXC_ERR);
	assert_int_equal(rec->syndrome, 0x15);
	assert_int_equal(rec->vendor_syndrome, 0x83);
	assert_int_equal(rec->qpn, 0xabc);
	assert_int_equal(rec->peer_qpn, NIC_PEER_QPN);
	assert_int_equal(rec->wqe_counter, 16);
	assert_int_equal(rec->index, 16);
	assert_int_equal(rec->wqe_opcode, WBELL_OP_WRITE);
	assert_int_equal(rec->cqe_opcode, WBELL_CQE_REQ_ERR);
}

static void test_o13_error_ends_the_wait(void **state)
{
	struct nic_attr a = { .log_depth = 2, .first_index = 16 };
	uint64_t start = wbell_now_ns();
	struct wbell_error_record flush;
	struct wbell_ticket t[2];
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(put(&n, &t[0]), 0);
	assert_int_equal(put(&n, &t[1]), 0);
	nic_cqe_raw(&n, cqe("cqe-09"));
	assert_int_equal(wbell_wait(n.q, t[0], wbell_deadline_us(900000)), 12);
	check_record(&n.error);
	assert_int_equal(wbell_test(n.q, t[1]), WBELL_EAGAIN);
	nic_cqe_raw(&n, cqe("cqe-10"));
	assert_int_equal(wbell_wait(n.q, t[1], wbell_deadline_us(900000)), 5);
	assert_int_equal(wbell_quiet(n.q, wbell_deadline_us(900000)), 12);
	check_record(&n.error);
	wbell_cqe_decode(n.q->cq + 64, &flush);
	assert_int_equal(flush.status, 5);
	assert_int_equal(flush.syndrome, 0x05);
	assert_int_equal(flush.vendor_syndrome, 0xf9);
	assert_int_equal(flush.wqe_counter, 17);
	assert_int_equal(n.q->cq_state & WBELL_CQ_CI_MASK, 2);
	assert_true(wbell_now_ns() - start < SECOND_NS);
	nic_free(&n);
}

static void test_failed_queue_refuses_posts(void **state)
{
	struct nic_attr a = { .log_depth = 4 };
	struct wbell_ticket t, late = { 99 };
	__u64 at;
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(put(&n, &t), 0);
	nic_fail(&n, 0, WBELL_OP_WRITE, WBELL_SYND_REMOTE_ACCESS, 0x88);
	assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(100000)), 10);
	assert_int_equal(put(&n, &late), 10);
	assert_int_equal(late.index, 99);
	assert_int_equal(wbell_reserve(n.q, 1, &at), 10);
	assert_int_equal(wbell_put_signal(n.q, 1, 1, 1, 1, 8, 8, 1, 1,
					  WBELL_ORDER_WAIT, NULL),
			 10);
	assert_int_equal(n.q->reserved, 1);
	assert_int_equal(n.bell, 1);
	/* sticky, also when asked again */
	assert_int_equal(wbell_test(n.q, t), 10);
	assert_int_equal(wbell_quiet(n.q, wbell_deadline_us(100000)), 10);
	nic_free(&n);
}

static void test_tickets_before_and_behind_the_failed_one(void **state)
{
	struct nic_attr a = { .log_depth = 4, .first_index = 65535 };
	struct wbell_ticket t[3];
	struct nic n;
	int i;

	nic_init(&n, &a);
	for (i = 0; i < 3; i++)
		assert_int_equal(put(&n, &t[i]), 0);
	nic_complete(&n, 65535);
	nic_fail(&n, 0, WBELL_OP_WRITE, WBELL_SYND_RNR_EXC, 0);
	nic_fail(&n, 1, WBELL_OP_WRITE, WBELL_SYND_WR_FLUSH, 0xf9);
	assert_int_equal(wbell_wait(n.q, t[2], wbell_deadline_us(100000)), 5);
	assert_int_equal(wbell_test(n.q, t[1]), 13);
	assert_int_equal(wbell_test(n.q, t[0]), 0);
	assert_int_equal(n.error.index, 65536);
	assert_int_equal(n.error.cq_index, 1);
	nic_free(&n);
}

/* The unsignalled write in front fails: its slots are freed, all is told. */
static void test_put_signal_whose_write_fails(void **state)
{
	struct nic_attr a = { .log_depth = 4 };
	struct wbell_ticket t;
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(wbell_put_signal(n.q, 1, 1, 1, 1, 8, 8, 1, 1,
					  WBELL_ORDER_FENCE, &t),
			 0);
	nic_fail(&n, 0, WBELL_OP_WRITE, WBELL_SYND_REMOTE_ACCESS, 0x88);
	nic_fail(&n, 1, WBELL_OP_FA, WBELL_SYND_WR_FLUSH, 0xf9);
	assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(100000)), 5);
	assert_int_equal(n.error.status, 10);
	assert_int_equal(n.error.index, 0);
	nic_free(&n);
}

/* Fails the WQE at bad, completes those before, flushes those behind. */
static void fail_at(struct nic *n, uint64_t bad)
{
	uint64_t end = nic_producer(n);
	const struct wbell_ctrl_seg *ctrl;
	uint8_t opcode;

	for (; n->fetched != end; n->fetched++) {
		ctrl = nic_slot(n, n->fetched);
		opcode = be32toh(ctrl->opmod_idx_opcode) & 0xff;
		if (n->fetched >= bad)
			nic_fail(n, (uint16_t)n->fetched, opcode,
				 n->fetched == bad ? WBELL_SYND_REMOTE_ACCESS
						   : WBELL_SYND_WR_FLUSH,
				 0x88);
		else if (ctrl->fm_ce_se & WBELL_CTRL_CQ_UPDATE)
			nic_complete(n, (uint16_t)n->fetched);
	}
}

static int fate(uint64_t index, uint64_t bad)
{
	if (index == bad)
		return WBELL_WC_REM_ACCESS_ERR;
	return index < bad ? 0 : WBELL_WC_WR_FLUSH_ERR;
}

/* A full ring of puts and puts with signal, of which one WQE fails. */
static void error_at(unsigned log_depth, unsigned kind, unsigned where)
{
	struct nic_attr a = { .log_depth = log_depth,
			      .db_kind = kind,
			      .first_index = 65534 };
	uint64_t bad = a.first_index + where, end = wbell_deadline_us(1000000);
	struct wbell_ticket t[256];
	unsigned count = 0, i;
	struct nic n;
	int rc;

	nic_init(&n, &a);
	do {
		if (count % 3 == 2)
			rc = wbell_put_signal(n.q, 0, 1, 0, 2, 8, 0, 2, 1, 0,
					      &t[count]);
		else
			rc = wbell_put(n.q, 0, 1, 0, 2, 8, &t[count]);
		count += !rc;
	} while (!rc);
	assert_int_equal(rc, WBELL_EAGAIN);
	fail_at(&n, bad);
	/* the last first, so that one wait goes past all of it */
	for (i = count; i--;)
		assert_int_equal(wbell_wait(n.q, t[i], end),
				 fate(t[i].index, bad));
	assert_int_equal(n.error.index, bad);
	assert_int_equal(n.error.vendor_syndrome, 0x88);
	assert_int_equal(wbell_quiet(n.q, end), WBELL_WC_REM_ACCESS_ERR);
	nic_free(&n);
}

static void test_error_at_every_position(void **state)
{
	unsigned log_depth, where;

	for (log_depth = 0; log_depth <= 7; log_depth++) {
		for (where = 0; where + 1 < 1U << log_depth; where++) {
			error_at(log_depth, WBELL_DB_WORD, where);
			error_at(log_depth, WBELL_DB_UAR, where);
		}
	}
}

static void test_every_syndrome_has_its_status(void **state)
{
	static const uint8_t map[][2] = {
		{ 0x01, 1 },  { 0x02, 2 },  { 0x04, 4 },  { 0x05, 5 },
		{ 0x06, 6 },  { 0x10, 7 },  { 0x11, 8 },  { 0x12, 9 },
		{ 0x13, 10 }, { 0x14, 11 }, { 0x15, 12 }, { 0x16, 13 },
		{ 0x22, 16 },
	};
	unsigned s, i, want;

	for (s = 0; s < 256; s++) {
		want = WBELL_WC_GENERAL_ERR;
		for (i = 0; i < sizeof(map) / sizeof(map[0]); i++)
			if (map[i][0] == s)
				want = map[i][1];
		assert_int_equal(wbell_syndrome_status(s), want);
	}
}

static void test_wait_ends_by_deadline(void **state)
{
	struct nic_attr a = { .log_depth = 4 };
	struct wbell_ticket t;
	uint64_t start;
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(put(&n, &t), 0);
	start = wbell_now_ns();
	assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(2000)),
			 WBELL_ETIMEDOUT);
	assert_true(wbell_now_ns() - start >= 2000000);
	assert_int_equal(wbell_quiet(n.q, wbell_deadline_us(100)),
			 WBELL_ETIMEDOUT);
	assert_int_equal(wbell_wait(n.q, t, 0), WBELL_ETIMEDOUT);
	/* the ticket is as good as before */
	nic_step(&n);
	assert_int_equal(wbell_wait(n.q, t, 0), 0);
	nic_free(&n);
}

static void test_abort_ends_every_wait(void **state)
{
	struct nic_attr a = { .log_depth = 4, .log_rq = 2, .log_rq_stride = 4 };
	__u64 far = wbell_deadline_us(~0ULL), at;
	struct wbell_recv_done done;
	struct wbell_ticket t;
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(put(&n, &t), 0);
	n.abort = 1;
	assert_int_equal(wbell_wait(n.q, t, far), WBELL_ECANCELED);
	assert_int_equal(wbell_quiet(n.q, far), WBELL_ECANCELED);
	assert_int_equal(wbell_recv_wait(n.q, &done, far), WBELL_ECANCELED);
	/* and the wait for one's turn behind a poster that never comes */
	assert_int_equal(wbell_reserve(n.q, 1, &at), 0);
	assert_int_equal(put(&n, &t), WBELL_ECANCELED);
	assert_int_equal(put(&n, &t), WBELL_ECANCELED);
	assert_int_equal(n.bell, 1);
	nic_free(&n);
}

static void test_error_ends_the_wait_for_ones_turn(void **state)
{
	struct nic_attr a = { .log_depth = 4 };
	struct wbell_ticket t;
	__u64 at, mine;
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(put(&n, &t), 0);
	assert_int_equal(wbell_reserve(n.q, 1, &at), 0);
	assert_int_equal(wbell_reserve(n.q, 1, &mine), 0);
	nic_fail(&n, 0, WBELL_OP_WRITE, WBELL_SYND_RETRY_EXC, 0x83);
	assert_int_equal(wbell_wait(n.q, t, wbell_deadline_us(100000)), 12);
	assert_int_equal(wbell_publish(n.q, mine, 1, 0), 12);
	/* quiet does not wait for what was never published */
	assert_int_equal(wbell_quiet(n.q, wbell_deadline_us(5000000)), 12);
	nic_free(&n);
}

static void test_cqe_of_unknown_opcode_is_an_error(void **state)
{
	struct nic_attr a = { .log_depth = 4 };
	struct wbell_cqe c;
	struct wbell_ticket t;
	struct nic n;

	nic_init(&n, &a);
	assert_int_equal(put(&n, &t), 0);
	memset(&c, 0, sizeof(c));
	c.op_own = 0x7 << 4;
	nic_cqe_raw(&n, &c);
	assert_int_equal(wbell_test(n.q, t), WBELL_WC_GENERAL_ERR);
	assert_int_equal(n.error.cqe_opcode, 7);
	nic_free(&n);
}

static void recv_cqe(struct nic *n, uint8_t opcode, uint16_t counter,
		     uint32_t len, uint32_t imm)
{
	struct wbell_cqe c;

	memset(&c, 0, sizeof(c));
	c.op_own = (uint8_t)(opcode << 4);
	c.wqe_counter = htobe16(counter);
	c.byte_cnt = htobe32(len);
	c.imm_inval_pkey = htobe32(imm);
	nic_recv_cqe(n, &c);
}

static void test_recv_posts_and_tests(void **state)
{
	struct nic_attr a = {
		.log_depth = 4, .log_rq = 2, .log_rq_stride = 5, .cq_dbrec = 1
	};
	const struct wbell_data_seg *seg;
	struct wbell_recv_done done;
	struct nic n;
	int i;

	nic_init(&n, &a);
	for (i = 0; i < 4; i++)
		assert_int_equal(wbell_recv(n.q, 0x1000 + i, 7, 256), 0);
	assert_int_equal(wbell_recv(n.q, 0, 7, 256), WBELL_EAGAIN);
	assert_int_equal(be32toh(n.dbrec.recv), 4);
	seg = (const void *)(n.rq + 32);
	assert_int_equal(be64toh(seg->addr), 0x1001);
	assert_int_equal(be32toh(seg->byte_count), 256);
	assert_int_equal(be32toh(seg[1].lkey), WBELL_LKEY_INVALID);
	assert_int_equal(wbell_recv_test(n.q, &done), WBELL_EAGAIN);
	recv_cqe(&n, WBELL_CQE_RESP_WR_IMM, 0, 9, 0xaabbccdd);
	assert_int_equal(wbell_recv_test(n.q, &done), 0);
	assert_int_equal(done.index, 0);
	assert_int_equal(done.len, 9);
	assert_int_equal(done.imm, 0xaabbccdd);
	assert_int_equal(done.opcode, WBELL_CQE_RESP_WR_IMM);
	assert_int_equal(be32toh(n.rcq_dbrec.ci), 1);
	assert_int_equal(wbell_recv(n.q, 0, 7, 0), 0);
	nic_free(&n);
}

static void test_recv_many_and_error(void **state)
{
	struct nic_attr a = { .log_depth = 4, .log_rq = 2, .log_rq_stride = 4 };
	struct wbell_recv_done done;
	struct wbell_cqe c;
	struct nic n;
	int i;

	nic_init(&n, &a);
	for (i = 0; i < 70000; i++) {
		assert_int_equal(wbell_recv(n.q, 0x1000, 7, 8), 0);
		recv_cqe(&n, WBELL_CQE_RESP_SEND, (uint16_t)i, 8, 0);
		assert_int_equal(wbell_recv_test(n.q, &done), 0);
		assert_int_equal(done.index, i);
	}
	assert_int_equal(wbell_recv(n.q, 0x1000, 7, 8), 0);
	memcpy(&c, cqe("cqe-07"), sizeof(c));
	c.wqe_counter = htobe16(70000 & 0xffff);
	nic_recv_cqe(&n, &c);
	assert_int_equal(wbell_recv_wait(n.q, &done, wbell_deadline_us(1000)),
			 4);
	assert_int_equal(done.index, 70000);
	assert_int_equal(done.syndrome, 4);
	assert_int_equal(done.vendor_syndrome, 0x56);
	nic_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o13_error_ends_the_wait),
		cmocka_unit_test(test_failed_queue_refuses_posts),
		cmocka_unit_test(test_tickets_before_and_behind_the_failed_one),
		cmocka_unit_test(test_put_signal_whose_write_fails),
		cmocka_unit_test(test_error_at_every_position),
		cmocka_unit_test(test_every_syndrome_has_its_status),
		cmocka_unit_test(test_wait_ends_by_deadline),
		cmocka_unit_test(test_abort_ends_every_wait),
		cmocka_unit_test(test_error_ends_the_wait_for_ones_turn),
		cmocka_unit_test(test_cqe_of_unknown_opcode_is_an_error),
		cmocka_unit_test(test_recv_posts_and_tests),
		cmocka_unit_test(test_recv_many_and_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
