// SPDX-License-Identifier: GPL-2.0-only
/* State machines: the whole of both tables. */
#include "../state.h"
#include "logic.h"

#define STATES 5 /* one more than there are, and one beyond */

static void objects(struct kunit *test)
{
	static const bool may[STATES][STATES] = {
		[WBELL_LIVE] = { [WBELL_REVOKING] = true },
		[WBELL_REVOKING] = { [WBELL_DEAD] = true },
	};
	unsigned int from, to;

	for (from = 0; from < STATES; from++)
		for (to = 0; to < STATES; to++)
			KUNIT_EXPECT_EQ_MSG(test, wbell_state_may(from, to),
					    may[from][to], "%u to %u", from,
					    to);
}

static void queues(struct kunit *test)
{
	static const bool may[STATES][STATES] = {
		[WBELL_QUEUE_RESET] = { [WBELL_QUEUE_READY] = true,
					[WBELL_QUEUE_ERR] = true },
		[WBELL_QUEUE_READY] = { [WBELL_QUEUE_ERR] = true },
	};
	unsigned int from, to;

	for (from = 0; from < STATES; from++)
		for (to = 0; to < STATES; to++)
			KUNIT_EXPECT_EQ_MSG(test, wbell_queue_may(from, to),
					    may[from][to], "%u to %u", from,
					    to);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(objects),
	KUNIT_CASE(queues),
	{},
};

struct kunit_suite state_suite = {
	.name = "wbell_state",
	.test_cases = cases,
};
