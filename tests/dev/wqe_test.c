// SPDX-License-Identifier: BSD-2-Clause
/* Bytes that device code writes and reads, against vectors from outside. */
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
#include "wbell/layout.h"

static const uint8_t *vector(const char *id)
{
	size_t i;

	for (i = 0; i < VEC_COUNT(vec_wqes); i++)
		if (!strcmp(vec_wqes[i].id, id))
			return vec_wqes[i].wqe;
	fail_msg("no vector %s", id);
	return NULL;
}

static void setup(struct nic *n, uint64_t index, uint32_t qpn)
{
	struct nic_attr a = { .log_depth = 4, .first_index = index };

	nic_init(n, &a);
	n->q->qpn_ds = qpn << 8;
}

static void expect(struct nic *n, uint64_t index, const char *id)
{
	assert_memory_equal(nic_slot(n, index), vector(id), 64);
	nic_free(n);
}

static void test_put_equals_golden(void **state)
{
	struct wbell_ticket t;
	struct nic n;

	setup(&n, 5, 0x1542);
	t.index = 0;
	assert_int_equal(wbell_put(n.q, 0x7f00aabbc000, 0x12300, 0x7f0012345678,
				   0x180ead, 4096, &t),
			 0);
	assert_int_equal(t.index, 5);
	expect(&n, 5, "wqe-rdma_write_1sge");
}

static void test_put_imm_solicited_equals_golden(void **state)
{
	struct wbell_sge sge = { 0x2000, 8, 2 };
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE_IMM,
			       .num_sge = 1,
			       .flags = WBELL_POST_SOLICITED,
			       .imm = 0xdeadbeef,
			       .raddr = 0x1000,
			       .rkey = 1,
			       .sge = &sge };
	struct nic n;

	setup(&n, 0xffff, 0xabcdef);
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	expect(&n, 0xffff, "wqe-rdma_write_imm_pi_ffff");
}

/* Same WQE but for the solicited bit, which put_imm does not set. */
static void test_put_imm_equals_golden_unsolicited(void **state)
{
	uint8_t want[64];
	struct nic n;

	setup(&n, 0xffff, 0xabcdef);
	memcpy(want, vector("wqe-rdma_write_imm_pi_ffff"), 64);
	want[11] = WBELL_CTRL_CQ_UPDATE;
	assert_int_equal(
		wbell_put_imm(n.q, 0x2000, 2, 0x1000, 1, 8, 0xdeadbeef, NULL),
		0);
	assert_memory_equal(nic_slot(&n, 0xffff), want, 64);
	nic_free(&n);
}

static void test_put_inline_equals_golden(void **state)
{
	static const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct nic n;

	setup(&n, 1, 0x1542);
	assert_int_equal(wbell_put_inline(n.q, data, 8, 0x1122334455667788,
					  0x99aabbcc, NULL),
			 0);
	expect(&n, 1, "wqe-rdma_write_inline8");
}

static void test_put_inline_of_every_size(void **state)
{
	uint8_t data[28], want[32];
	struct nic n;
	uint32_t i, len;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(0xa0 + i);
	for (len = 1; len <= sizeof(data); len++) {
		setup(&n, 0, 0x1542);
		assert_int_equal(wbell_put_inline(n.q, data, len, 8, 9, NULL),
				 0);
		memset(want, 0, sizeof(want));
		want[0] = 0x80;
		want[3] = (uint8_t)len;
		memcpy(want + 4, data, len);
		assert_memory_equal(n.sq + 32, want, 32);
		assert_int_equal(n.sq[7], 2 + (len + 4 + 15) / 16);
		nic_free(&n);
	}
}

static void test_fetch_add_equals_golden(void **state)
{
	struct nic n;

	setup(&n, 7, 0x18b2);
	assert_int_equal(wbell_fetch_add(n.q, 0x7f0000002000, 0x5678,
					 0x7f0000001000, 0x1234, 1, NULL),
			 0);
	expect(&n, 7, "wqe-atomic_fa");
}

static void test_nop_unsignalled_equals_golden(void **state)
{
	struct wbell_wr wr = { .opcode = WBELL_OP_NOP,
			       .flags = WBELL_POST_UNSIGNALLED };
	struct nic n;

	setup(&n, 0x100, 0x2a);
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	expect(&n, 0x100, "wqe-nop");
}

static void test_read_fence_equals_golden(void **state)
{
	const uint8_t *want = vector("wqe-rdma_read_fence_1GiB");
	struct wbell_sge sge = { 0, 0x40000000, 0 };
	struct wbell_wr wr = { .opcode = WBELL_OP_READ,
			       .num_sge = 1,
			       .flags = WBELL_POST_FENCE,
			       .sge = &sge };
	uint64_t qword;
	uint32_t word;
	struct nic n;

	memcpy(&qword, want + 16, 8);
	wr.raddr = be64toh(qword);
	memcpy(&word, want + 24, 4);
	wr.rkey = be32toh(word);
	memcpy(&word, want + 36, 4);
	sge.lkey = be32toh(word);
	memcpy(&qword, want + 40, 8);
	sge.addr = be64toh(qword);
	setup(&n, 9, 0x12abe);
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	expect(&n, 9, "wqe-rdma_read_fence_1GiB");
}

static void test_compare_swap_into_sink(void **state)
{
	const struct wbell_atomic_seg *amo;
	const struct wbell_data_seg *data;
	const struct wbell_ctrl_seg *ctrl;
	struct nic n;

	setup(&n, 0, 0x1542);
	assert_int_equal(
		wbell_compare_swap(n.q, 0, 0, 0x1000, 7, 0x1122, 0x3344, NULL),
		0);
	ctrl = nic_slot(&n, 0);
	amo = (const void *)(n.sq + 32);
	data = (const void *)(n.sq + 48);
	assert_int_equal(be32toh(ctrl->opmod_idx_opcode), WBELL_OP_CS);
	assert_int_equal(be32toh(ctrl->qpn_ds) & 0x3f, 4);
	assert_int_equal(be64toh(amo->swap_add), 0x3344);
	assert_int_equal(be64toh(amo->compare), 0x1122);
	assert_int_equal(be32toh(data->byte_count), 8);
	assert_int_equal(be32toh(data->lkey), NIC_SINK_LKEY);
	assert_int_equal(be64toh(data->addr), n.q->sink);
	nic_free(&n);
}

static void signal_wqes(int order, uint8_t want_flags)
{
	const struct wbell_ctrl_seg *data, *add;
	struct wbell_ticket t;
	struct nic n;

	setup(&n, 15, 0x1542);
	t.index = 0;
	assert_int_equal(wbell_put_signal(n.q, 0x100, 1, 0x200, 2, 64, 0x1008,
					  3, 5, order, &t),
			 0);
	assert_int_equal(t.index, 16);
	data = nic_slot(&n, 15);
	add = nic_slot(&n, 16);
	assert_ptr_equal(add, n.sq); /* the second one wrapped */
	assert_int_equal(be32toh(data->opmod_idx_opcode),
			 15 << 8 | WBELL_OP_WRITE);
	assert_int_equal(data->fm_ce_se, 0);
	assert_int_equal(be32toh(add->opmod_idx_opcode), 16 << 8 | WBELL_OP_FA);
	assert_int_equal(add->fm_ce_se, want_flags);
	assert_int_equal(be32toh(add->qpn_ds) & 0x3f, 4);
	assert_int_equal(n.bell, 17);
	assert_true(nic_canary_whole(&n));
	nic_free(&n);
}

static void test_put_signal_wqes(void **state)
{
	signal_wqes(WBELL_ORDER_NIC, WBELL_CTRL_CQ_UPDATE);
	signal_wqes(WBELL_ORDER_FENCE, WBELL_CTRL_CQ_UPDATE | WBELL_CTRL_FENCE);
}

static void test_empty_put_has_no_data_segment(void **state)
{
	static const uint8_t zero[32];
	struct nic n;

	setup(&n, 0, 0x1542);
	assert_int_equal(wbell_put(n.q, 1, 2, 3, 4, 0, NULL), 0);
	assert_int_equal(n.sq[7], 2);
	assert_memory_equal(n.sq + 32, zero, 32);
	nic_free(&n);
}

static void test_longest_put_is_written_as_zero(void **state)
{
	struct wbell_data_seg *data;
	struct nic n;

	setup(&n, 0, 0x1542);
	data = (void *)(n.sq + 32);
	assert_int_equal(wbell_put(n.q, 1, 2, 3, 4, 0x80000000, NULL), 0);
	assert_int_equal(n.sq[7], 3);
	assert_int_equal(data->byte_count, 0);
	assert_int_equal(be32toh(data->lkey), 2);
	assert_int_equal(wbell_put(n.q, 1, 2, 3, 4, 0x80000001, NULL),
			 WBELL_EINVAL);
	nic_free(&n);
}

/* o14: every published dump, with junk in the reserved bytes and all. */
static void test_o14_error_cqes_decode(void **state)
{
	struct wbell_error_record rec;
	const struct vec_cqe *v;
	size_t i;

	for (i = 0; i < VEC_COUNT(vec_cqes); i++) {
		v = &vec_cqes[i];
		memset(&rec, 0, sizeof(rec));
		wbell_cqe_decode((uintptr_t)v->cqe, &rec);
		assert_int_equal(rec.cqe_opcode, v->opcode);
		assert_int_equal(rec.syndrome, v->syndrome);
		assert_int_equal(rec.vendor_syndrome, v->vendor_syndrome);
		assert_int_equal(rec.status, v->wc_status);
		assert_int_equal(rec.wqe_opcode, v->wqe_opcode);
		assert_int_equal(rec.qpn, v->qpn);
		assert_int_equal(rec.wqe_counter, v->wqe_counter);
	}
}

static void test_send_wqes(void **state)
{
	const struct wbell_ctrl_seg *ctrl;
	const struct wbell_data_seg *data;
	struct nic n;

	setup(&n, 0, 0x1542);
	ctrl = nic_slot(&n, 0);
	data = (const void *)(n.sq + 16);
	assert_int_equal(wbell_send_imm(n.q, 0x100, 1, 9, 0xaabbccdd, NULL), 0);
	assert_int_equal(be32toh(ctrl->opmod_idx_opcode), WBELL_OP_SEND_IMM);
	assert_int_equal(be32toh(ctrl->qpn_ds) & 0x3f, 2);
	assert_int_equal(be32toh(ctrl->imm), 0xaabbccdd);
	assert_int_equal(be32toh(data->byte_count), 9);
	assert_int_equal(wbell_send(n.q, 0, 0, 0, NULL), 0);
	ctrl = nic_slot(&n, 1);
	assert_int_equal(be32toh(ctrl->qpn_ds) & 0x3f, 1);
	nic_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_equals_golden),
		cmocka_unit_test(test_put_imm_solicited_equals_golden),
		cmocka_unit_test(test_put_imm_equals_golden_unsolicited),
		cmocka_unit_test(test_put_inline_equals_golden),
		cmocka_unit_test(test_put_inline_of_every_size),
		cmocka_unit_test(test_fetch_add_equals_golden),
		cmocka_unit_test(test_nop_unsignalled_equals_golden),
		cmocka_unit_test(test_read_fence_equals_golden),
		cmocka_unit_test(test_compare_swap_into_sink),
		cmocka_unit_test(test_put_signal_wqes),
		cmocka_unit_test(test_empty_put_has_no_data_segment),
		cmocka_unit_test(test_longest_put_is_written_as_zero),
		cmocka_unit_test(test_o14_error_cqes_decode),
		cmocka_unit_test(test_send_wqes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
