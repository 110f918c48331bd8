// SPDX-License-Identifier: BSD-2-Clause
/* wbell_post(): sums and bounds of segment lists, blocks across the end. */
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

static void setup(struct nic *n, uint64_t first)
{
	struct nic_attr a = { .log_depth = 2, .first_index = first };

	nic_init(n, &a);
}

/* A refused request: no byte of the ring changed, nothing was reserved. */
static void refuse(const struct wbell_wr *wr)
{
	uint8_t before[4 * 64];
	struct nic n;

	setup(&n, 0);
	memset(n.sq, 0x5a, sizeof(before));
	memcpy(before, n.sq, sizeof(before));
	assert_int_equal(wbell_post(n.q, wr, NULL), WBELL_EINVAL);
	assert_memory_equal(n.sq, before, sizeof(before));
	assert_true(nic_canary_whole(&n));
	assert_int_equal(n.q->reserved, 0);
	assert_int_equal(n.bell, 0);
	nic_free(&n);
}

static void test_o15_lists_too_long_are_refused(void **state)
{
	static uint8_t data[100];
	const struct wbell_sge thrice[] = { { (uintptr_t)data, 100, 1 },
					    { (uintptr_t)data, 100, 1 },
					    { (uintptr_t)data, 100, 1 } };
	const struct wbell_sge wraps[] = { { (uintptr_t)data, 0x80000000, 1 },
					   { (uintptr_t)data, 0x80000000, 1 },
					   { (uintptr_t)data, 16, 1 } };
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE,
			       .num_sge = 3,
			       .flags = WBELL_POST_INLINE,
			       .sge = thrice };

	refuse(&wr);
	wr.sge = wraps;
	refuse(&wr);
	wr.flags = 0;
	refuse(&wr);
}

static void test_o15_inline_40_40(void **state)
{
	uint8_t data[80], got[80];
	const struct wbell_sge sge[] = { { (uintptr_t)data, 40, 1 },
					 { (uintptr_t)data + 40, 40, 1 } };
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE,
			       .num_sge = 2,
			       .flags = WBELL_POST_INLINE,
			       .sge = sge };
	unsigned i;
	struct nic n;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	/* from slot 3 of 4: the second block is slot 0 */
	setup(&n, 3);
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	assert_int_equal(n.bell, 5);
	assert_int_equal(n.sq[3 * 64 + 7], 8);
	assert_int_equal(be32toh(*(uint32_t *)(n.sq + 3 * 64 + 32)),
			 0x80000050);
	memcpy(got, n.sq + 3 * 64 + 36, 28);
	memcpy(got + 28, n.sq, 52);
	assert_memory_equal(got, data, 80);
	assert_true(nic_canary_whole(&n));
	assert_int_equal(nic_step(&n), 1);
	assert_int_equal(n.malformed, 0);
	assert_int_equal(wbell_quiet(n.q, wbell_deadline_us(100000)), 0);
	nic_free(&n);
}

static void test_o15_three_segments(void **state)
{
	static const uint32_t len[] = { 8, 16, 32 };
	struct wbell_sge sge[3];
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE,
			       .num_sge = 3,
			       .raddr = 0x9000,
			       .rkey = 9,
			       .sge = sge };
	const struct wbell_data_seg *seg;
	uint32_t i, total = 0;
	struct nic n;

	for (i = 0; i < 3; i++)
		sge[i] = (struct wbell_sge){ 0x1000 * (i + 1), len[i], i + 1 };
	setup(&n, 3);
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	assert_int_equal(n.sq[3 * 64 + 7], 5);
	for (i = 0; i < 3; i++) {
		seg = (const void *)(i < 2 ? n.sq + 3 * 64 + 32 + 16 * i
					   : n.sq);
		assert_int_equal(be32toh(seg->byte_count), len[i]);
		assert_int_equal(be32toh(seg->lkey), i + 1);
		assert_int_equal(be64toh(seg->addr), 0x1000 * (i + 1));
		total += be32toh(seg->byte_count);
	}
	assert_int_equal(total, 56);
	assert_true(nic_canary_whole(&n));
	nic_free(&n);
}

static void test_o15_no_segment_is_an_empty_write(void **state)
{
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE };
	struct nic n;

	setup(&n, 0);
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	assert_int_equal(n.sq[7], 2);
	wr.flags = WBELL_POST_INLINE;
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	assert_int_equal(n.sq[64 + 7], 2);
	nic_free(&n);
}

static void o15_inline(uint32_t len, uint8_t first, const uint8_t *want)
{
	uint8_t data[16];
	const struct wbell_sge sge = { (uintptr_t)data, len, 1 };
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE,
			       .num_sge = 1,
			       .flags = WBELL_POST_INLINE,
			       .raddr = 0x1122334455667788,
			       .rkey = 0x99aabbcc,
			       .sge = &sge };
	struct nic n;
	uint32_t i;

	if (len == 13)
		wr.flags |= WBELL_POST_UNSIGNALLED;
	for (i = 0; i < len; i++)
		data[i] = (uint8_t)(first + i);
	setup(&n, len == 13 ? 2 : 1);
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	assert_memory_equal(nic_slot(&n, len == 13 ? 2 : 1), want, 64);
	nic_free(&n);
}

static void test_o15_inline_equals_golden(void **state)
{
	size_t i;
	int found = 0;

	for (i = 0; i < VEC_COUNT(vec_wqes); i++) {
		if (!strcmp(vec_wqes[i].id, "wqe-rdma_write_inline13_ds4"))
			o15_inline(13, 0xa0, vec_wqes[i].wqe);
		else if (!strcmp(vec_wqes[i].id, "wqe-rdma_write_inline8"))
			o15_inline(8, 1, vec_wqes[i].wqe);
		else
			continue;
		found++;
	}
	assert_int_equal(found, 2);
}

static void test_requests_that_are_none_are_refused(void **state)
{
	const struct wbell_sge sge[] = { { 0x1000, 8, 1 }, { 0x1000, 8, 1 } };
	struct wbell_wr good = {
		.opcode = WBELL_OP_FA, .num_sge = 1, .raddr = 8, .sge = sge
	};
	struct wbell_wr wr;

	wr = good, wr.opcode = WBELL_OP_WAIT, refuse(&wr);
	wr = good, wr.opcode = 0xff, refuse(&wr);
	wr = good, wr.flags = 0x8000, refuse(&wr);
	wr = good, wr.raddr = 12, refuse(&wr);
	wr = good, wr.num_sge = 2, refuse(&wr);
	wr = good, wr.sge = NULL, refuse(&wr);
	wr = good, wr.flags = WBELL_POST_INLINE, refuse(&wr);
	wr = good, wr.opcode = WBELL_OP_NOP, refuse(&wr);
	wr = good, wr.opcode = WBELL_OP_READ, wr.flags = WBELL_POST_INLINE;
	refuse(&wr);
	wr = good, wr.opcode = WBELL_OP_WRITE, wr.num_sge = 9, refuse(&wr);
}

static void test_largest_wqe_fits_or_is_refused(void **state)
{
	struct wbell_sge sge[255];
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE, .sge = sge };
	struct nic_attr a = { .log_depth = 4, .first_index = 13 };
	struct nic n;
	int i;

	for (i = 0; i < 255; i++)
		sge[i] = (struct wbell_sge){ 0x1000, 8, 1 };
	nic_init(&n, &a);
	n.q->max_sge = 255;
	wr.num_sge = 62; /* ds 64 */
	assert_int_equal(wbell_post(n.q, &wr, NULL), WBELL_EINVAL);
	wr.num_sge = 61;
	assert_int_equal(wbell_post(n.q, &wr, NULL), 0);
	assert_int_equal(n.bell, 13 + 16);
	assert_int_equal(nic_step(&n), 1);
	assert_int_equal(n.malformed, 0);
	assert_int_equal(wbell_quiet(n.q, wbell_deadline_us(100000)), 0);
	assert_true(nic_canary_whole(&n));
	nic_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o15_lists_too_long_are_refused),
		cmocka_unit_test(test_o15_inline_40_40),
		cmocka_unit_test(test_o15_three_segments),
		cmocka_unit_test(test_o15_no_segment_is_an_empty_write),
		cmocka_unit_test(test_o15_inline_equals_golden),
		cmocka_unit_test(test_requests_that_are_none_are_refused),
		cmocka_unit_test(test_largest_wqe_fits_or_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
