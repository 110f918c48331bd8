// SPDX-License-Identifier: GPL-2.0-only
/* Arithmetic on ranges. */
#include "../range.h"
#include "logic.h"

static void check(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wbell_range_check(0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, wbell_range_check(0, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, wbell_range_check(1, 1, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, wbell_range_check(0, 2, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, wbell_range_check(U64_MAX, 1, U64_MAX),
			-EOVERFLOW);
	KUNIT_EXPECT_EQ(test, wbell_range_check(1, U64_MAX, U64_MAX),
			-EOVERFLOW);
	KUNIT_EXPECT_EQ(test, wbell_range_check(U64_MAX - 1, 1, U64_MAX), 0);
}

static void pages(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wbell_range_pages(0, PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, wbell_range_pages(1, PAGE_SIZE, 9 * PAGE_SIZE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, wbell_range_pages(0, PAGE_SIZE - 1, PAGE_SIZE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test,
			wbell_range_pages(-(u64)PAGE_SIZE, PAGE_SIZE, U64_MAX),
			-EOVERFLOW);
}

static void rounding(struct kunit *test)
{
	unsigned long n = 0;

	KUNIT_EXPECT_EQ(test, wbell_range_round(0, &n), -EINVAL);
	KUNIT_EXPECT_EQ(test, wbell_range_round(1, &n), 0);
	KUNIT_EXPECT_EQ(test, n, 1UL);
	KUNIT_EXPECT_EQ(test, wbell_range_round(PAGE_SIZE, &n), 0);
	KUNIT_EXPECT_EQ(test, n, 1UL);
	KUNIT_EXPECT_EQ(test, wbell_range_round(PAGE_SIZE + 1, &n), 0);
	KUNIT_EXPECT_EQ(test, n, 2UL);
	KUNIT_EXPECT_EQ(test, wbell_range_round(U64_MAX, &n), -EOVERFLOW);
	KUNIT_EXPECT_EQ(test, n, 2UL);
}

static void widening(struct kunit *test)
{
	struct wbell_wide w;

	KUNIT_EXPECT_EQ(test, wbell_range_widen(0x7f0a26800200, 552, 65536, &w),
			0);
	KUNIT_EXPECT_EQ(test, w.start, 0x7f0a26800000ULL);
	KUNIT_EXPECT_EQ(test, w.len, 65536ULL);
	KUNIT_EXPECT_EQ(test, w.offset, 0x200ULL);
	KUNIT_EXPECT_EQ(test, wbell_range_widen(65535, 2, 65536, &w), 0);
	KUNIT_EXPECT_EQ(test, w.start, 0ULL);
	KUNIT_EXPECT_EQ(test, w.len, 131072ULL);
	KUNIT_EXPECT_EQ(test, wbell_range_widen(0, 0, 4096, &w), -EINVAL);
	KUNIT_EXPECT_EQ(test, wbell_range_widen(0, 1, 0, &w), -EINVAL);
	KUNIT_EXPECT_EQ(test, wbell_range_widen(0, 1, 4097, &w), -EINVAL);
	KUNIT_EXPECT_EQ(test, wbell_range_widen(U64_MAX, 1, 4096, &w),
			-EOVERFLOW);
	KUNIT_EXPECT_EQ(test, wbell_range_widen(U64_MAX - 4096, 1, 65536, &w),
			-EOVERFLOW);
}

static void overlap(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, wbell_range_overlap(0, 2, 1, 2));
	KUNIT_EXPECT_TRUE(test, wbell_range_overlap(1, 2, 0, 2));
	KUNIT_EXPECT_TRUE(test, wbell_range_overlap(0, 9, 3, 1));
	KUNIT_EXPECT_FALSE(test, wbell_range_overlap(0, 1, 1, 1));
	KUNIT_EXPECT_FALSE(test, wbell_range_overlap(1, 1, 0, 1));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(check),    KUNIT_CASE(pages),   KUNIT_CASE(rounding),
	KUNIT_CASE(widening), KUNIT_CASE(overlap), {},
};

struct kunit_suite range_suite = {
	.name = "wbell_range",
	.test_cases = cases,
};
