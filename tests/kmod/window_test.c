// SPDX-License-Identifier: BSD-2-Clause
/*
 * Doorbell windows: the module was loaded with parameter doorbells, 16 pages
 * of the virtual card's BAR.
 */
#include <signal.h>

#include "kmod.h"

#define PAGES 16

static uint32_t nic_provider(int fd)
{
	struct wbell_u_provider_query q;

	assert_true(provider(fd, "pci-bar:", &q));
	assert_int_equal(q.kind, WBELL_PROVIDER_NIC);
	assert_int_equal(q.len, PAGES * PAGE);
	return q.id;
}

static int window(int fd, uint32_t pages, uint32_t memtype,
		  struct wbell_u_window_alloc *out)
{
	memset(out, 0, sizeof(*out));
	out->provider = nic_provider(fd);
	out->pages = pages;
	out->memtype = memtype;
	return call(fd, WBELL_IOC_WINDOW_ALLOC, out);
}

static void test_window_map_and_ring(void **state)
{
	struct wbell_u_window_alloc w;
	int fd = ctx_open();
	uint64_t *at;

	assert_int_equal(window(fd, 3, WBELL_MEMTYPE_NC, &w), 0);
	assert_int_equal(w.map_len, 3 * PAGE);
	at = map(fd, w.cookie, w.map_len, PROT_READ | PROT_WRITE);
	at[0] = 0x1122334455667788;
	assert_int_equal(at[0], 0x1122334455667788);
	assert_int_equal(destroy(fd, w.handle), 0);
	assert_true(dies_writing(at));
	munmap(at, w.map_len);
	assert_int_equal(window(fd, 1, WBELL_MEMTYPE_WC, &w), 0);
	fd_close(fd);
	counters_zero();
}

static void test_window_refused(void **state)
{
	struct wbell_u_window_alloc w;
	struct wbell_u_gpu_pin p = { .len = 1 };
	int fd = ctx_open();

	assert_int_equal(window(fd, 0, WBELL_MEMTYPE_NC, &w), -EINVAL);
	assert_int_equal(window(fd, PAGES + 1, WBELL_MEMTYPE_NC, &w), -EINVAL);
	assert_int_equal(window(fd, UINT32_MAX, WBELL_MEMTYPE_NC, &w), -EINVAL);
	assert_int_equal(window(fd, 1, 0, &w), -EINVAL);
	assert_int_equal(window(fd, 1, WBELL_MEMTYPE_WB, &w), -EINVAL);
	p.provider = nic_provider(fd);
	assert_int_equal(call(fd, WBELL_IOC_GPU_PIN, &p), -EINVAL);
	fd_close(fd);
	counters_zero();
}

static int hw_queue(int fd, uint32_t window, uint32_t slot, uint32_t *handle)
{
	struct wbell_u_queue_create q = {
		.depth = 64,
		.window = window,
		.slot = slot,
		.cq_eventfd = -1,
	};
	int rc = call(fd, WBELL_IOC_QUEUE_CREATE, &q);

	*handle = q.handle;
	return rc;
}

static void test_window_slot_has_one_queue(void **state)
{
	struct wbell_u_queue_query q = {};
	struct wbell_u_window_alloc w;
	int fd = ctx_open();
	uint32_t other;

	assert_int_equal(window(fd, 2, WBELL_MEMTYPE_NC, &w), 0);
	assert_int_equal(hw_queue(fd, w.handle, 0, &q.queue), 0);
	assert_int_equal(hw_queue(fd, w.handle, 0, &other), -EBUSY);
	assert_int_equal(hw_queue(fd, w.handle, 2, &other), -EINVAL);
	assert_int_equal(hw_queue(fd, w.handle, 1, &other), 0);
	assert_int_equal(call(fd, WBELL_IOC_QUEUE_QUERY, &q), 0);
	assert_int_equal(q.state, WBELL_QUEUE_READY);
	assert_int_equal(destroy(fd, q.queue), 0);
	assert_int_equal(hw_queue(fd, w.handle, 0, &q.queue), 0);
	assert_int_equal(destroy(fd, w.handle), 0);
	assert_int_equal(call(fd, WBELL_IOC_QUEUE_QUERY, &q), 0);
	assert_int_equal(q.state, WBELL_QUEUE_ERR);
	assert_int_equal(q.reason, WBELL_REASON_MEMORY);
	fd_close(fd);
	counters_zero();
}

/* Takes all, frees all but stays: says so, and waits to be killed. */
static int holder(void *arg)
{
	struct wbell_u_window_alloc w;
	int fd = open(WBELL_DEVICE, O_RDWR), i;

	for (i = 0; i < 100; i++) { /* its own come back to it */
		must(!window(fd, PAGES, WBELL_MEMTYPE_NC, &w));
		must(!destroy(fd, w.handle));
	}
	if (*(int *)arg & 1)
		close(fd);
	must(write(*(int *)arg >> 1, "x", 1) == 1);
	pause();
	return 0;
}

static void quarantined_while_it_lives(int closes)
{
	struct wbell_u_window_alloc w;
	int ready[2], arg, pid, fd = ctx_open();
	char c;

	counter_wait("quarantined", 0);
	assert_int_equal(pipe(ready), 0);
	arg = ready[1] << 1 | closes;
	pid = child_start(holder, &arg);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(counter("quarantined"), PAGES);
	usleep(100000); /* the grace does not begin before its end */
	assert_int_equal(window(fd, 1, WBELL_MEMTYPE_NC, &w), -ENOSPC);
	assert_int_equal(counter("window_pages"), PAGES);
	kill(pid, SIGKILL);
	assert_int_equal(child_end(pid), 256 + SIGKILL);
	counter_wait("quarantined", 0);
	assert_int_equal(counter("window_pages"), 0);
	assert_int_equal(window(fd, PAGES, WBELL_MEMTYPE_NC, &w), 0);
	fd_close(fd);
	close(ready[0]);
	close(ready[1]);
}

/* Each in a process of its own: a test that has had pages keeps them. */
static int case_open(void *arg)
{
	quarantined_while_it_lives(0);
	return 0;
}

static int case_closed(void *arg)
{
	quarantined_while_it_lives(1);
	return 0;
}

static void test_window_quarantine(void **state)
{
	param_set("quarantine_ms", "50");
	assert_int_equal(child(case_open, NULL), 0);
	assert_int_equal(child(case_closed, NULL), 0);
	counters_zero();
}

static int limited(void *arg)
{
	struct wbell_u_window_alloc w;
	int fd = open(WBELL_DEVICE, O_RDWR);

	must(window(fd, 5, WBELL_MEMTYPE_NC, &w) == -EDQUOT);
	must(!window(fd, 4, WBELL_MEMTYPE_NC, &w));
	must(!destroy(fd, w.handle));
	must(!window(fd, 2, WBELL_MEMTYPE_NC, &w)); /* of those it had */
	must(window(fd, 3, WBELL_MEMTYPE_NC, &w) == -EDQUOT);
	return 0;
}

static void test_window_limit_counts_quarantine(void **state)
{
	counter_wait("quarantined", 0);
	param_set("max_window_pages", "4");
	assert_int_equal(child(limited, NULL), 0);
	param_set("max_window_pages", "1024");
	counter_wait("quarantined", 0);
	counters_zero();
}

static int in_child(void *arg)
{
	const struct CMUnitTest *test = arg;

	test->test_func(NULL);
	return 0;
}

/* Tests that take windows themselves run in processes that end. */
#define IN_CHILD(fn)                                                    \
	static void fn##_apart(void **state)                            \
	{                                                               \
		struct CMUnitTest test = { #fn, fn, NULL, NULL, NULL }; \
                                                                        \
		assert_int_equal(child(in_child, &test), 0);            \
	}
IN_CHILD(test_window_map_and_ring)
IN_CHILD(test_window_slot_has_one_queue)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_map_and_ring_apart),
		cmocka_unit_test(test_window_refused),
		cmocka_unit_test(test_window_slot_has_one_queue_apart),
		cmocka_unit_test(test_window_quarantine),
		cmocka_unit_test(test_window_limit_counts_quarantine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
