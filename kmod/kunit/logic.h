/* SPDX-License-Identifier: GPL-2.0-only */
/* The suites of the pure logic; each in a file of its own. */
#ifndef WBELL_KMOD_KUNIT_LOGIC_H
#define WBELL_KMOD_KUNIT_LOGIC_H

#include <kunit/start.h>

extern struct kunit_suite offset_suite, range_suite, state_suite, evq_suite,
	quarantine_suite, desc_suite;

#endif /* WBELL_KMOD_KUNIT_LOGIC_H */
