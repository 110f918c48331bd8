// SPDX-License-Identifier: GPL-2.0-only
/* The allocator of mmap offsets. */
#include <linux/slab.h>
#include "../offset.c"
#include "logic.h"

static void one_after_the_other(struct kunit *test)
{
	struct wbell_offsets o;
	struct wbell_span a, b;

	wbell_offsets_init(&o, 1, 100);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &a, 3), 0);
	KUNIT_EXPECT_EQ(test, a.start, 1UL);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &b, 1), 0);
	KUNIT_EXPECT_EQ(test, b.start, 4UL);
	KUNIT_EXPECT_PTR_EQ(test, wbell_offsets_find(&o, 0), NULL);
	KUNIT_EXPECT_PTR_EQ(test, wbell_offsets_find(&o, 1), &a);
	KUNIT_EXPECT_PTR_EQ(test, wbell_offsets_find(&o, 3), &a);
	KUNIT_EXPECT_PTR_EQ(test, wbell_offsets_find(&o, 4), &b);
	KUNIT_EXPECT_PTR_EQ(test, wbell_offsets_find(&o, 5), NULL);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &b, 0), -EINVAL);
}

/* What was freed is not handed out before all else has been. */
static void reuse_is_late(struct kunit *test)
{
	struct wbell_offsets o;
	struct wbell_span s;
	unsigned long last = 0;
	int i;

	wbell_offsets_init(&o, 1, 11);
	for (i = 0; i < 10; i++) {
		KUNIT_ASSERT_EQ(test, wbell_offsets_add(&o, &s, 1), 0);
		KUNIT_EXPECT_EQ(test, s.start, last + 1);
		last = s.start;
		wbell_offsets_remove(&o, &s);
	}
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &s, 1), 0);
	KUNIT_EXPECT_EQ(test, s.start, 1UL);
}

static void full_to_the_last_page(struct kunit *test)
{
	struct wbell_offsets o;
	struct wbell_span s[10], more;
	int i;

	wbell_offsets_init(&o, 1, 11);
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, wbell_offsets_add(&o, &s[i], 1), 0);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &more, 1), -ENOSPC);
	wbell_offsets_remove(&o, &s[4]);
	wbell_offsets_remove(&o, &s[6]);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &more, 2), -ENOSPC);
	wbell_offsets_remove(&o, &s[5]);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &more, 4), -ENOSPC);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &more, 3), 0);
	KUNIT_EXPECT_EQ(test, more.start, s[4].start);
}

static void sizes_at_the_edge(struct kunit *test)
{
	unsigned long end = (unsigned long)U32_MAX + 1;
	struct wbell_offsets o;
	struct wbell_span all, s;

	wbell_offsets_init(&o, 1, end);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &s, ULONG_MAX), -ENOSPC);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &s, end), -ENOSPC);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &all, end - 1), 0);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &s, 1), -ENOSPC);
	KUNIT_EXPECT_PTR_EQ(test, wbell_offsets_find(&o, end - 1), &all);
	KUNIT_EXPECT_PTR_EQ(test, wbell_offsets_find(&o, end), NULL);
	wbell_offsets_remove(&o, &all);
	KUNIT_EXPECT_EQ(test, wbell_offsets_add(&o, &s, 1), 0);
}

#define SPANS 200

static u32 next_random(u32 *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

static void overlaps_none(struct kunit *test, struct wbell_span *s, int n,
			  const unsigned long *used)
{
	int i;

	for (i = 0; i < SPANS; i++) {
		if (i == n || !used[i])
			continue;
		KUNIT_ASSERT_TRUE(test, s[i].start + s[i].pages <= s[n].start ||
						s[n].start + s[n].pages <=
							s[i].start);
	}
}

/* Against a table that knows all spans. */
static void random_against_a_table(struct kunit *test)
{
	struct wbell_offsets o;
	unsigned long *used;
	struct wbell_span *s;
	u32 x = 20, i, n;

	s = kunit_kzalloc(test, SPANS * sizeof(*s), GFP_KERNEL);
	used = kunit_kzalloc(test, SPANS * sizeof(*used), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_ASSERT_NOT_NULL(test, used);
	wbell_offsets_init(&o, 1, 2000);
	for (i = 0; i < 5000; i++) {
		n = next_random(&x) % SPANS;
		if (used[n]) {
			wbell_offsets_remove(&o, &s[n]);
			KUNIT_ASSERT_PTR_EQ(
				test, wbell_offsets_find(&o, s[n].start), NULL);
			used[n] = 0;
			continue;
		}
		if (wbell_offsets_add(&o, &s[n], next_random(&x) % 30 + 1))
			continue;
		used[n] = 1;
		KUNIT_ASSERT_GE(test, s[n].start, 1UL);
		KUNIT_ASSERT_LE(test, s[n].start + s[n].pages, 2000UL);
		overlaps_none(test, s, n, used);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(one_after_the_other),    KUNIT_CASE(reuse_is_late),
	KUNIT_CASE(full_to_the_last_page),  KUNIT_CASE(sizes_at_the_edge),
	KUNIT_CASE(random_against_a_table), {},
};

struct kunit_suite offset_suite = {
	.name = "wbell_offset",
	.test_cases = cases,
};
