// SPDX-License-Identifier: GPL-2.0-only
/* Starts the suites of the pure logic. */
#include <kunit/start.h>
#include "logic.h"

static struct kunit_suite *suites[] = {
	&offset_suite, &range_suite,	  &state_suite,
	&evq_suite,    &quarantine_suite, &desc_suite,
};
kunit_start(suites);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of warpbell's pure logic");
