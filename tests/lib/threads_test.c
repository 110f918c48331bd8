// SPDX-License-Identifier: BSD-2-Clause
/*
 * One context, many threads: every call may come from any of them.  Run
 * under ThreadSanitizer it also shows that the library holds its locks.
 */
#include <pthread.h>
#include <unistd.h>

#include "lib_test.h"

#define THREADS 4
#define ROUNDS	60

static void post_bad(struct wbell_queue *q)
{
	struct wbell_dqueue *dq;

	/* ds 0: the fake NIC fails it and gives an event. */
	wbell_queue_device(q, &dq);
	__atomic_store_n(&dq->ready, 1, __ATOMIC_RELEASE);
	__atomic_store_n((uint64_t *)(uintptr_t)dq->db, 1, __ATOMIC_RELEASE);
}

static int one_round(struct wbell_ctx *ctx)
{
	struct wbell_queue_attr attr = { .depth = 4 };
	struct wbell_queue_stat stat;
	struct wbell_address addr;
	struct wbell_event event;
	struct wbell_mem *mem;
	struct wbell_queue *q;
	static char buf[64];
	int i;

	if (wbell_mem_register(ctx, buf, sizeof(buf), 0, &mem) ||
	    wbell_queue_create(ctx, &attr, &q))
		return 1;
	if (wbell_queue_address(q, &addr) || wbell_queue_connect(q, &addr))
		return 2;
	post_bad(q);
	for (i = 0; i < 3; i++)
		if (wbell_poll(ctx) < 0)
			return 3;
	if (wbell_queue_stat(q, &stat) || stat.state != WBELL_QUEUE_ERR)
		return 4;
	/* Others' events come meanwhile. */
	for (i = 0; i < 50; i++)
		if (wbell_event_next(ctx, &event) == -EINVAL)
			return 5;
	return wbell_queue_destroy(q) || wbell_mem_deregister(mem) ? 6 : 0;
}

static void *run(void *ctx)
{
	intptr_t rc = 0;
	int i;

	for (i = 0; i < ROUNDS && !rc; i++)
		rc = one_round(ctx);
	return (void *)rc;
}

static void test_calls_from_many_threads(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	pthread_t thread[THREADS];
	void *rc;
	int i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run, ctx), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &rc);
		assert_int_equal((intptr_t)rc, 0);
	}
	assert_int_equal(wbell_close(ctx), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_from_many_threads),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
