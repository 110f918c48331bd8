// SPDX-License-Identifier: BSD-2-Clause
/* A debug build stops at a broken rule, and says where and which. */
#define WBELL_DEBUG

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/launch.h"
#include "nic_model.h"

static struct nic nic;
static struct wbell_dqueue *volatile none; /* that compilers may not know */

static void put_too_long(void)
{
	wbell_put(nic.q, 0, 1, 0, 2, (1ULL << 31) + 1, NULL);
}

static void add_unaligned(void)
{
	wbell_fetch_add(nic.q, 0, 1, 4, 2, 1, NULL);
}

static void post_to_null(void)
{
	wbell_put(none, 0, 1, 0, 2, 8, NULL);
}

static void wait_on_a_freed_one(void)
{
	struct wbell_ticket t = { 0 };

	nic.q->magic = 0;
	wbell_wait(nic.q, t, 0);
}

static void inline_too_long(void)
{
	wbell_put_inline(nic.q, "", 29, 0, 2, NULL);
}

static void lanes_too_long(void)
{
	wbell_put_lanes(nic.q, 0, 1, 0, 2, 1ULL << 40, NULL);
}

static void too_many_segments(void)
{
	struct wbell_wr wr = { .opcode = WBELL_OP_WRITE, .num_sge = 255 };

	wbell_post(nic.q, &wr, NULL);
}

static void order_that_is_none(void)
{
	wbell_put_signal(nic.q, 0, 1, 0, 2, 8, 0, 2, 1, 3, NULL);
}

/* The child's standard error; it must end by SIGABRT. */
static void trap_of(void (*broken)(void), char *text, size_t size)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGABRT, SIG_DFL);
		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		broken();
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], text, size - 1);
	close(fds[0]);
	text[n > 0 ? n : 0] = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_every_rule_traps(void **state)
{
	static const struct {
		void (*broken)(void);
		const char *file, *rule;
	} cases[] = {
		{ put_too_long, "wbell/device.h:", "2^31 bytes" },
		{ add_unaligned, "wbell/device.h:", "multiple of 8" },
		{ post_to_null, "wbell/device_queue.h:", "not NULL" },
		{ wait_on_a_freed_one, "wbell/device_queue.h:", "is alive" },
		{ inline_too_long, "wbell/device.h:", "1 to 28 bytes" },
		{ lanes_too_long, "wbell/device.h:", "2^31 bytes" },
		{ too_many_segments, "wbell/device_post.h:", "max_sge" },
		{ order_that_is_none, "wbell/device.h:", "WBELL_ORDER_*" },
	};
	struct nic_attr a = { .log_depth = 3 };
	char text[512];
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nic_init(&nic, &a);
		trap_of(cases[i].broken, text, sizeof(text));
		if (!strstr(text, cases[i].file) ||
		    !strstr(text, cases[i].rule))
			fail_msg("case %u: %s", i, text);
		nic_free(&nic);
	}
}

/* What is no broken rule is a status in a debug build too. */
static void test_statuses_do_not_trap(void **state)
{
	struct nic_attr a = { .log_depth = 0 };
	struct wbell_ticket t;

	nic_init(&nic, &a);
	assert_int_equal(wbell_put(nic.q, 0, 1, 0, 2, 8, &t), 0);
	assert_int_equal(wbell_put(nic.q, 0, 1, 0, 2, 8, NULL), WBELL_EAGAIN);
	assert_int_equal(wbell_test(nic.q, t), WBELL_EAGAIN);
	assert_int_equal(wbell_wait(nic.q, t, wbell_now_ns()), WBELL_ETIMEDOUT);
	nic_step(&nic);
	assert_int_equal(wbell_wait(nic.q, t, wbell_deadline_us(1000000)), 0);
	nic_free(&nic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_rule_traps),
		cmocka_unit_test(test_statuses_do_not_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
