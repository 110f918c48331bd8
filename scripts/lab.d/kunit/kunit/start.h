/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suites that a test module starts from its own init, for kernels with KUnit
 * inside as for those to which kunit.ko of scripts/lab was added.
 *
 *	static struct kunit_suite *suites[] = { &one_suite, &other_suite };
 *	kunit_start(suites);
 *
 * Goes ahead of other headers.  A failed test does not refuse the module;
 * scripts/lab.d/ktap.awk reads the results.
 */
#ifndef KUNIT_START_H
#define KUNIT_START_H

#include <linux/module.h>
/* Not ahead of module.h: struct module would differ from the kernel's. */
#if !IS_ENABLED(CONFIG_KUNIT)
#define CONFIG_KUNIT_MODULE 1
#endif
#include <kunit/test.h>

typedef int kunit_init_2(struct kunit_suite *const *const, int);
typedef int kunit_init_3(struct kunit_suite *const *const, int, bool);

/* The third argument, "run now", came after 6.12; a third form fails here. */
static inline int kunit_start_suites(struct kunit_suite **suites, int n)
{
	kunit_init_3 *init = (void *)__kunit_test_suites_init;

	static_assert(__same_type(__kunit_test_suites_init, kunit_init_2) ||
		      __same_type(__kunit_test_suites_init, kunit_init_3));
	if (__same_type(__kunit_test_suites_init, kunit_init_2))
		return ((kunit_init_2 *)(void *)init)(suites, n);
	return init(suites, n, true);
}

#define kunit_start(suites)                                            \
	static int __init kunit_start_init(void)                       \
	{                                                              \
		return kunit_start_suites(suites, ARRAY_SIZE(suites)); \
	}                                                              \
	static void __exit kunit_start_exit(void)                      \
	{                                                              \
		__kunit_test_suites_exit(suites, ARRAY_SIZE(suites));  \
	}                                                              \
	module_init(kunit_start_init);                                 \
	module_exit(kunit_start_exit)

#endif
