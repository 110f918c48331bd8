// SPDX-License-Identifier: BSD-2-Clause
/*
 * A module with bugs on request, and a suite of its own, so that each detector
 * of the lab is seen to detect: tests/vm/kunit_test.bats, deep_test.bats.
 */
#include <kunit/start.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *bug = "none";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "none, expect, bounds, free, atomic, leak or locks");

static DEFINE_SPINLOCK(first);
static DEFINE_SPINLOCK(second);
static volatile int sink;

static bool wanted(const char *name)
{
	return !strcmp(bug, name);
}

/* The suite's verdict is "ok" all the same: only KASAN sees these two. */
static void bounds(struct kunit *test)
{
	char *p = kmalloc(40, GFP_KERNEL);
	volatile int i = wanted("bounds") ? 40 : 0;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p[i] = 1;
	if (wanted("free"))
		kfree(p);
	sink = ((volatile char *)p)[1];
	if (!wanted("free"))
		kfree(p);
}

static void atomic(struct kunit *test)
{
	spin_lock(&first);
	if (wanted("atomic"))
		might_sleep();
	spin_unlock(&first);
}

static void leak(struct kunit *test)
{
	int i;

	/* more than one: a stale register may point at the last */
	for (i = 0; i < 20 && wanted("leak"); i++)
		sink = !kmalloc(123, GFP_KERNEL);
}

/* Never both at once here, so it never hangs; lockdep knows it could. */
static void locks(struct kunit *test)
{
	spin_lock(&first);
	spin_lock(&second);
	spin_unlock(&second);
	spin_unlock(&first);
	if (!wanted("locks"))
		return;
	spin_lock(&second);
	spin_lock(&first);
	spin_unlock(&first);
	spin_unlock(&second);
}

static void expect(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wanted("expect"), 0);
}

static void skips(struct kunit *test)
{
	kunit_skip(test, "to see a skip counted");
}

static const int numbers[] = { 1, 2, 3 };

static void number_name(const int *n, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "number %d", *n);
}

KUNIT_ARRAY_PARAM(numbers, numbers, number_name);

static void each_number(struct kunit *test)
{
	const int *n = test->param_value;

	KUNIT_EXPECT_GT(test, *n, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(bounds),
	KUNIT_CASE(atomic),
	KUNIT_CASE(leak),
	KUNIT_CASE(locks),
	KUNIT_CASE(expect),
	KUNIT_CASE(skips),
	KUNIT_CASE_PARAM(each_number, numbers_gen_params),
	{},
};

static struct kunit_suite planted = {
	.name = "planted",
	.test_cases = cases,
};

static struct kunit_suite *suites[] = { &planted };
kunit_start(suites);

MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("bugs planted for the detectors of the lab");
