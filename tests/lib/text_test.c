// SPDX-License-Identifier: BSD-2-Clause
/* Numbers to words, against the golden vectors where they have them. */
#include <vectors.h>

#include "lib_test.h"

static void test_syndrome_of_golden_cqes(void **state)
{
	size_t i;

	for (i = 0; i < VEC_COUNT(vec_cqes); i++)
		assert_int_equal(wbell_syndrome_wc(vec_cqes[i].syndrome),
				 vec_cqes[i].wc_status);
}

/* Every one of the 256: those that have a status of their own, and the rest. */
static void test_syndrome_whole_range(void **state)
{
	static const uint8_t known[][2] = {
		{ 0x01, 1 },  { 0x02, 2 },  { 0x04, 4 },  { 0x05, 5 },
		{ 0x06, 6 },  { 0x10, 7 },  { 0x11, 8 },  { 0x12, 9 },
		{ 0x13, 10 }, { 0x14, 11 }, { 0x15, 12 }, { 0x16, 13 },
		{ 0x22, 16 },
	};
	unsigned synd, i;
	int want;

	for (synd = 0; synd < 256; synd++) {
		want = WBELL_WC_GENERAL_ERR;
		for (i = 0; i < VEC_COUNT(known); i++)
			if (known[i][0] == synd)
				want = known[i][1];
		assert_int_equal(wbell_syndrome_wc(synd), want);
	}
}

static void test_opcode_of_golden_cqes(void **state)
{
	size_t i;

	for (i = 0; i < VEC_COUNT(vec_cqes); i++)
		if (vec_cqes[i].wqe_opcode_name)
			assert_string_equal(
				wbell_opcode_text(vec_cqes[i].wqe_opcode),
				vec_cqes[i].wqe_opcode_name);
	assert_string_equal(wbell_opcode_text(0xff), "unknown opcode");
}

static void test_status_texts(void **state)
{
	int status;

	assert_string_equal(wbell_wc_text(0), "success");
	assert_string_equal(wbell_wc_text(12),
			    "transport retry counter exceeded");
	assert_string_equal(wbell_wc_text(-1), "unknown status");
	assert_string_equal(wbell_wc_text(24), "unknown status");
	for (status = -200; status < 300; status++)
		assert_true(wbell_status_text(status)[0]);
	assert_has(wbell_status_text(-ETIMEDOUT), "deadline");
	assert_has(wbell_status_text(-ECANCELED), "abort");
	assert_string_equal(wbell_status_text(12), wbell_wc_text(12));
}

static void test_version(void **state)
{
	char want[32];

	snprintf(want, sizeof(want), "%d.%d.%d", WBELL_VERSION_MAJOR,
		 WBELL_VERSION_MINOR, WBELL_VERSION_PATCH);
	assert_string_equal(wbell_version(), want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syndrome_of_golden_cqes),
		cmocka_unit_test(test_syndrome_whole_range),
		cmocka_unit_test(test_opcode_of_golden_cqes),
		cmocka_unit_test(test_status_texts),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
