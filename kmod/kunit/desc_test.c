// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions of queues, and names. */
#include "../desc.c"
#include "logic.h"

static const struct wbell_u_queue_create good = {
	.nic = 1,
	.depth = 64,
	.cq_eventfd = -1,
	.region = { { 5, 0, 0, PAGE_SIZE },
		    { 5, 0, PAGE_SIZE, PAGE_SIZE },
		    { 6, 0, 0, PAGE_SIZE } },
};

/* 0, or what comes of a change to a good one */
static int changed(void (*change)(struct wbell_u_queue_create *d),
		   struct wbell_desc_fault *fault)
{
	struct wbell_u_queue_create d = good;

	change(&d);
	return wbell_desc_check(&d, fault);
}

#define CHANGE(name, text)                               \
	static void name(struct wbell_u_queue_create *d) \
	{                                                \
		text;                                    \
	}

CHANGE(nothing, (void)d)
CHANGE(rsvd, d->rsvd = 1)
CHANGE(depth_0, d->depth = 0)
CHANGE(depth_odd, d->depth = 48)
CHANGE(depth_large, d->depth = 65536)
CHANGE(depth_too_large_for_sq, d->depth = 128)
CHANGE(eventfd, d->cq_eventfd = -2)
CHANGE(nobody, d->nic = 0)
CHANGE(slot, d->slot = 1)
CHANGE(no_sq, d->region[0] = (struct wbell_u_range){})
CHANGE(no_db, d->region[2] = (struct wbell_u_range){})
CHANGE(len_of_none, d->region[2].object = 0)
CHANGE(cq_rsvd, d->region[1].rsvd = 1)
CHANGE(cq_odd, d->region[1].offset++)
CHANGE(cq_empty, d->region[1].len = 0)
CHANGE(cq_wraps, d->region[1].offset = -(u64)PAGE_SIZE)
CHANGE(cq_over_sq, d->region[1].offset = 0)
CHANGE(hardware, d->nic = 0; d->window = 7; d->slot = 3;
       memset(d->region, 0, sizeof(d->region)))
CHANGE(hardware_with_bad_sq, d->nic = 0; d->window = 7; d->region[0].len = 1)

static const struct {
	void (*change)(struct wbell_u_queue_create *d);
	const char *member;
	int rc;
} table[] = {
	{ nothing, NULL, 0 },
	{ hardware, NULL, 0 },
	{ rsvd, "rsvd", -EINVAL },
	{ depth_0, "depth", -EINVAL },
	{ depth_odd, "depth", -EINVAL },
	{ depth_large, "depth", -EINVAL },
	{ depth_too_large_for_sq, "sq", -EINVAL },
	{ eventfd, "cq_eventfd", -EINVAL },
	{ nobody, "nic", -EINVAL },
	{ slot, "slot", -EINVAL },
	{ no_sq, "sq", -EINVAL },
	{ no_db, "db", -EINVAL },
	{ len_of_none, "db", -EINVAL },
	{ cq_rsvd, "cq", -EINVAL },
	{ cq_odd, "cq", -EINVAL },
	{ cq_empty, "cq", -EINVAL },
	{ cq_wraps, "cq", -EOVERFLOW },
	{ cq_over_sq, "cq", -EINVAL },
	{ hardware_with_bad_sq, "sq", -EINVAL },
};

static void queues(struct kunit *test)
{
	struct wbell_desc_fault fault;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		fault.member = NULL;
		KUNIT_EXPECT_EQ_MSG(test, changed(table[i].change, &fault),
				    table[i].rc, "row %zu", i);
		if (table[i].member && fault.member)
			KUNIT_EXPECT_STREQ(test, fault.member, table[i].member);
		else
			KUNIT_EXPECT_PTR_EQ(test, fault.member,
					    table[i].member);
	}
}

static void nics(struct kunit *test)
{
	char name[WBELL_NAME_MAX] = "rdma-0.a_b";
	int i;

	KUNIT_EXPECT_EQ(test, wbell_desc_name(name), 0);
	name[20] = 'x'; /* behind the end */
	KUNIT_EXPECT_EQ(test, wbell_desc_name(name), -EINVAL);
	memset(name, 0, sizeof(name));
	KUNIT_EXPECT_EQ(test, wbell_desc_name(name), -EINVAL);
	for (i = 1; i < 256; i++) {
		bool ok = (i >= 'a' && i <= 'z') || (i >= '0' && i <= '9') ||
			  i == '.' || i == '_' || i == '-';

		name[0] = i;
		KUNIT_EXPECT_EQ(test, wbell_desc_name(name), ok ? 0 : -EINVAL);
	}
	memset(name, 'a', sizeof(name));
	KUNIT_EXPECT_EQ(test, wbell_desc_name(name), -EINVAL);
	name[WBELL_NAME_MAX - 1] = 0;
	KUNIT_EXPECT_EQ(test, wbell_desc_name(name), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(queues),
	KUNIT_CASE(nics),
	{},
};

struct kunit_suite desc_suite = {
	.name = "wbell_desc",
	.test_cases = cases,
};
