// SPDX-License-Identifier: GPL-2.0-only
/* Records that wait to be read. */
#include "../evq.c"
#include "logic.h"

static struct wbell_evq *evq(struct kunit *test)
{
	struct wbell_evq *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, q);
	return q;
}

static bool push(struct wbell_evq *q, u32 type, u32 handle)
{
	struct wbell_u_event ev = { .type = type, .handle = handle };

	return wbell_evq_push(q, &ev);
}

static struct wbell_u_event pop(struct kunit *test, struct wbell_evq *q)
{
	struct wbell_u_event ev = {};

	KUNIT_ASSERT_TRUE(test, wbell_evq_peek(q, &ev));
	wbell_evq_drop(q, &ev);
	return ev;
}

static void in_order(struct kunit *test)
{
	struct wbell_evq *q = evq(test);
	struct wbell_u_event ev;
	u32 i;

	KUNIT_EXPECT_TRUE(test, wbell_evq_empty(q));
	KUNIT_EXPECT_FALSE(test, wbell_evq_peek(q, &ev));
	q->head = q->tail = U32_MAX - 3; /* they wrap in the middle */
	for (i = 1; i <= 9; i++)
		KUNIT_EXPECT_TRUE(test, push(q, WBELL_EVENT_QUEUE_READY, i));
	for (i = 1; i <= 9; i++) {
		ev = pop(test, q);
		KUNIT_EXPECT_EQ(test, ev.handle, i);
		KUNIT_EXPECT_EQ(test, ev.seq, i);
	}
	KUNIT_EXPECT_TRUE(test, wbell_evq_empty(q));
}

static void kicks_are_one(struct kunit *test)
{
	struct wbell_evq *q = evq(test);
	int i;

	for (i = 0; i < 1000; i++) {
		KUNIT_EXPECT_TRUE(test, push(q, WBELL_EVENT_QUEUE_KICK, 1));
		KUNIT_EXPECT_TRUE(test, push(q, WBELL_EVENT_QUEUE_KICK, 2));
	}
	KUNIT_EXPECT_EQ(test, pop(test, q).handle, 1U);
	push(q, WBELL_EVENT_QUEUE_KICK, 1); /* after it was read: again */
	KUNIT_EXPECT_EQ(test, pop(test, q).handle, 2U);
	KUNIT_EXPECT_EQ(test, pop(test, q).handle, 1U);
	KUNIT_EXPECT_TRUE(test, wbell_evq_empty(q));
}

static void errors_are_seen(struct kunit *test)
{
	struct wbell_evq *q = evq(test);

	push(q, WBELL_EVENT_QUEUE_READY, 1);
	KUNIT_EXPECT_FALSE(test, wbell_evq_error(q));
	push(q, WBELL_EVENT_QUEUE_ERROR, 1);
	push(q, WBELL_EVENT_REVOKED, 1);
	pop(test, q);
	KUNIT_EXPECT_TRUE(test, wbell_evq_error(q));
	pop(test, q);
	KUNIT_EXPECT_TRUE(test, wbell_evq_error(q));
	pop(test, q);
	KUNIT_EXPECT_FALSE(test, wbell_evq_error(q));
}

static void overflow_is_told(struct kunit *test)
{
	struct wbell_evq *q = evq(test);
	struct wbell_u_event ev;
	u32 i;

	for (i = 0; i < WBELL_EVQ_DEPTH; i++)
		KUNIT_ASSERT_TRUE(test, push(q, WBELL_EVENT_QUEUE_READY, i));
	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_FALSE(test, push(q, WBELL_EVENT_REVOKED, i));
	KUNIT_EXPECT_TRUE(test, wbell_evq_error(q));
	pop(test, q);
	/* order: none comes in before the reader knows of the loss */
	KUNIT_EXPECT_FALSE(test, push(q, WBELL_EVENT_QUEUE_READY, 0));
	for (i = 1; i < WBELL_EVQ_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, pop(test, q).handle, i);
	KUNIT_ASSERT_TRUE(test, wbell_evq_peek(q, &ev));
	KUNIT_EXPECT_FALSE(test, push(q, WBELL_EVENT_QUEUE_READY, 0));
	wbell_evq_drop(q, &ev);
	KUNIT_EXPECT_EQ(test, ev.type, (u32)WBELL_EVENT_OVERFLOW);
	KUNIT_EXPECT_EQ(test, ev.data, 8ULL);
	/* what was lost while that was read is told next */
	ev = pop(test, q);
	KUNIT_EXPECT_EQ(test, ev.data, 1ULL);
	KUNIT_EXPECT_TRUE(test, wbell_evq_empty(q));
	KUNIT_EXPECT_TRUE(test, push(q, WBELL_EVENT_QUEUE_READY, 5));
	KUNIT_EXPECT_EQ(test, pop(test, q).seq, WBELL_EVQ_DEPTH + 10U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(in_order),
	KUNIT_CASE(kicks_are_one),
	KUNIT_CASE(errors_are_seen),
	KUNIT_CASE(overflow_is_told),
	{},
};

struct kunit_suite evq_suite = {
	.name = "wbell_evq",
	.test_cases = cases,
};
