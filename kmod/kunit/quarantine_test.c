// SPDX-License-Identifier: GPL-2.0-only
/* Quarantine of doorbell pages, and who owns one. */
#include "../quarantine.c"
#include "logic.h"

#define PAGES 8
#define GRACE 10

struct owner {
	int refs;
	bool gone;
};

static bool owner_gone(void *owner)
{
	return ((struct owner *)owner)->gone;
}

static bool owner_same(void *a, void *b)
{
	return a == b;
}

static void *owner_get(void *owner)
{
	((struct owner *)owner)->refs++;
	return owner;
}

static void owner_put(void *owner)
{
	((struct owner *)owner)->refs--;
}

static const struct wbell_page_ops ops = {
	.gone = owner_gone,
	.same = owner_same,
	.get = owner_get,
	.put = owner_put,
};

struct fixture {
	struct wbell_page page[PAGES];
	struct wbell_pages p;
	struct owner a, b;
};

static struct fixture *fixture(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->p.page = f->page;
	f->p.count = PAGES;
	f->p.grace = GRACE;
	f->p.ops = &ops;
	return f;
}

static void waits_for_end_and_grace(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u32 first = 99;

	KUNIT_ASSERT_EQ(test, wbell_pages_take(&f->p, PAGES, &f->a, 0, &first),
			0);
	KUNIT_EXPECT_EQ(test, first, 0U);
	KUNIT_EXPECT_EQ(test, f->a.refs, PAGES);
	wbell_pages_give(&f->p, 0, PAGES, 100);
	KUNIT_EXPECT_EQ(test, f->p.quarantined, (u32)PAGES);
	/* it lives, however long ago it freed them */
	KUNIT_EXPECT_EQ(test, wbell_pages_take(&f->p, 1, &f->b, 9999, &first),
			-ENOSPC);
	f->a.gone = true;
	/* the grace runs from when its end is seen */
	KUNIT_EXPECT_EQ(test, wbell_pages_age(&f->p, 10000), 0U);
	KUNIT_EXPECT_EQ(test, wbell_pages_age(&f->p, 10000 + GRACE - 1), 0U);
	KUNIT_EXPECT_EQ(test, f->a.refs, PAGES);
	KUNIT_EXPECT_EQ(
		test,
		wbell_pages_take(&f->p, PAGES, &f->b, 10000 + GRACE, &first),
		0);
	KUNIT_EXPECT_EQ(test, f->a.refs, 0);
	KUNIT_EXPECT_EQ(test, f->b.refs, PAGES);
	KUNIT_EXPECT_EQ(test, f->p.quarantined, 0U);
}

static void own_pages_come_back(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u32 first;

	KUNIT_EXPECT_EQ(test, wbell_pages_retake(&f->p, 1, &f->a, &first),
			-ENOSPC);
	wbell_pages_take(&f->p, 4, &f->a, 0, &first);
	wbell_pages_give(&f->p, 1, 2, 1);
	KUNIT_EXPECT_EQ(test, wbell_pages_retake(&f->p, 1, &f->b, &first),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, wbell_pages_retake(&f->p, 3, &f->a, &first),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, wbell_pages_retake(&f->p, 2, &f->a, &first), 0);
	KUNIT_EXPECT_EQ(test, first, 1U);
	KUNIT_EXPECT_EQ(test, f->a.refs, 4);
	KUNIT_EXPECT_EQ(test, f->p.owned, 4U);
	KUNIT_EXPECT_EQ(test, f->p.quarantined, 0U);
}

static void runs_are_contiguous(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u32 first;

	KUNIT_EXPECT_EQ(test, wbell_pages_take(&f->p, 0, &f->a, 0, &first),
			-EINVAL);
	KUNIT_EXPECT_EQ(test,
			wbell_pages_take(&f->p, PAGES + 1, &f->a, 0, &first),
			-ENOSPC);
	wbell_pages_take(&f->p, 3, &f->a, 0, &first);
	wbell_pages_take(&f->p, 1, &f->b, 0, &first);
	KUNIT_EXPECT_EQ(test, first, 3U);
	wbell_pages_give(&f->p, 0, 3, 0);
	KUNIT_EXPECT_EQ(test, wbell_pages_take(&f->p, 5, &f->b, 0, &first),
			-ENOSPC); /* three wait, four are free */
	KUNIT_EXPECT_EQ(test, wbell_pages_take(&f->p, 4, &f->b, 0, &first), 0);
	KUNIT_EXPECT_EQ(test, first, 4U);
}

static void one_queue_for_a_page(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u32 first;

	wbell_pages_take(&f->p, 2, &f->a, 0, &first);
	KUNIT_EXPECT_EQ(test, wbell_pages_claim(&f->p, 0, 11), 0);
	KUNIT_EXPECT_EQ(test, wbell_pages_claim(&f->p, 0, 12), -EBUSY);
	KUNIT_EXPECT_EQ(test, wbell_pages_claim(&f->p, 1, 12), 0);
	wbell_pages_unclaim(&f->p, 0, 12); /* not its own */
	KUNIT_EXPECT_EQ(test, wbell_pages_claim(&f->p, 0, 13), -EBUSY);
	wbell_pages_unclaim(&f->p, 0, 11);
	KUNIT_EXPECT_EQ(test, wbell_pages_claim(&f->p, 0, 13), 0);
	/* a page that is given back has no queue */
	wbell_pages_give(&f->p, 0, 2, 0);
	KUNIT_EXPECT_EQ(test, f->page[0].queue, 0U);
	wbell_pages_unclaim(&f->p, 0, 13);
}

static void drop_frees_all(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u32 first;

	wbell_pages_take(&f->p, 3, &f->a, 0, &first);
	wbell_pages_take(&f->p, 3, &f->b, 0, &first);
	wbell_pages_give(&f->p, 0, 3, 0);
	wbell_pages_drop(&f->p);
	KUNIT_EXPECT_EQ(test, f->a.refs + f->b.refs, 0);
	KUNIT_EXPECT_EQ(test, f->p.owned + f->p.quarantined, 0U);
	/* a window that ends after the drop gives nothing back twice */
	wbell_pages_give(&f->p, 3, 3, 0);
	KUNIT_EXPECT_EQ(test, f->p.quarantined, 0U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(waits_for_end_and_grace), KUNIT_CASE(own_pages_come_back),
	KUNIT_CASE(runs_are_contiguous),     KUNIT_CASE(one_queue_for_a_page),
	KUNIT_CASE(drop_frees_all),	     {},
};

struct kunit_suite quarantine_suite = {
	.name = "wbell_quarantine",
	.test_cases = cases,
};
