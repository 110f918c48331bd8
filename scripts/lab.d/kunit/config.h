/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration of kunit.ko, ahead of each of its files, on a kernel that
 * was built without KUnit.
 *
 * With CONFIG_KUNIT_MODULE struct module has fields more than the kernel's, so
 * what reaches behind them would miss: kunit.mod.c, which fills that struct,
 * must not see this, and the notifier that looks for suites in every module
 * must not run.  A test module starts its suites by itself (kunit/start.h).
 */
#define CONFIG_KUNIT_MODULE		   1
#define CONFIG_KUNIT_DEBUGFS		   1
#define CONFIG_KUNIT_DEFAULT_ENABLED	   1
#define CONFIG_KUNIT_AUTORUN_ENABLED	   1
#define CONFIG_KUNIT_DEFAULT_FILTER_GLOB   ""
#define CONFIG_KUNIT_DEFAULT_FILTER	   ""
#define CONFIG_KUNIT_DEFAULT_FILTER_ACTION ""
#define CONFIG_KUNIT_DEFAULT_TIMEOUT	   300

#include <linux/module.h>

static inline int no_module_notifier(void)
{
	return 0;
}
#define register_module_notifier(nb)   no_module_notifier()
#define unregister_module_notifier(nb) no_module_notifier()
