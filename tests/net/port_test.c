// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports without privilege: ring and memif, both ends in this process.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ports.h"

struct seen {
	unsigned n, bad, order;
	uint32_t last;
	uint8_t times[4096];
};

static void look(struct seen *s, const struct roce_frame *f)
{
	uint32_t number;

	memcpy(&number, f->data + 14, 4);
	s->n++;
	if (!filled(f->data, f->len)) {
		s->bad++;
		return;
	}
	if (s->n > 1 && number < s->last)
		s->order++;
	s->last = number;
	if (number < sizeof(s->times))
		s->times[number]++;
}

/* Until `quiet` ns bring nothing. */
static void receive_all(struct port *p, struct seen *s, uint64_t quiet)
{
	struct roce_frame f[PORT_BURST];
	uint64_t now = eal_now(), last = now;
	unsigned i, n;

	while (now - last < quiet) {
		n = port_rx(p, now, f);
		for (i = 0; i < n; i++)
			look(s, &f[i]);
		port_rx_done(p);
		now = eal_now();
		if (n)
			last = now;
	}
}

static void pass(struct port *from, struct port *to, unsigned total,
		 uint32_t len, struct seen *s)
{
	struct roce_frame f[PORT_BURST];
	unsigned sent = 0;

	memset(s, 0, sizeof(*s));
	while (sent < total) {
		unsigned n = total - sent < 32 ? total - sent : 32;

		sent += port_send(from, n, len, sent);
		receive_all(to, s, 0);
		n = port_rx(to, eal_now(), f);
		while (n--)
			look(s, &f[n]);
		port_rx_done(to);
	}
}

static void test_port_ring_both_ways(void **state)
{
	struct port *a = must_open("ring:t1"), *b = must_open("ring:t1");
	struct seen s = { 0 };

	assert_int_equal(port_send(a, 20, 64, 0), 20);
	receive_all(b, &s, 1000);
	assert_int_equal(s.n, 20);
	assert_int_equal(s.bad + s.order, 0);
	memset(&s, 0, sizeof(s));
	assert_int_equal(port_send(b, 32, 4182, 0), 32);
	receive_all(a, &s, 1000);
	assert_int_equal(s.n, 32);
	assert_int_equal(s.bad + s.order, 0);
	port_close(a);
	port_close(b);
}

static void test_port_ring_third_is_busy(void **state)
{
	struct port *a = must_open("ring:t2"), *b = must_open("ring:t2"), *c;
	struct wbell_err err;

	assert_int_equal(try_open("ring:t2", &c, &err), -EBUSY);
	assert_non_null(strstr(err.text, "both its ends open"));
	port_close(a);
	c = must_open("ring:t2");
	port_close(b);
	port_close(c);
}

static void test_port_ring_link(void **state)
{
	struct port *a = must_open("ring:t3"), *b;

	assert_int_equal(port_tick(a, eal_now()), 0);
	b = must_open("ring:t3");
	assert_int_equal(port_tick(a, eal_now()), PORT_NEWS_UP);
	assert_int_equal(port_tick(a, eal_now()), 0);
	port_close(b);
	assert_int_equal(port_tick(a, eal_now()), PORT_NEWS_DOWN);
	port_close(a);
}

/* Nobody receives: frames are lost in the end, nothing blocks. */
static void test_port_peer_absent_never_blocks(void **state)
{
	struct port *a = must_open("ring:t4");
	struct roce_frame *f;
	uint64_t end = eal_now() + 20000000, now;
	unsigned turns = 0;

	while ((now = eal_now()) < end) {
		if (port_tx_room(a, now, &f))
			port_send(a, 32, 64, 0);
		turns++;
	}
	assert_true(turns > 100);
	assert_true(count(a, "port_tx_full") > 0);
	assert_int_equal(count(a, "port_no_buffer"), 0);
	port_close(a);
}

static void test_port_backlog_keeps_order(void **state)
{
	struct port *a = must_open("ring:t5"), *b = must_open("ring:t5");
	struct roce_frame *f;
	struct seen s = { 0 };
	uint32_t next = 0;

	while (port_tx_room(a, eal_now(), &f))
		next += port_send(a, 32, 64, next);
	receive_all(b, &s, 10000);
	assert_true(port_tx_room(a, eal_now(), &f));
	receive_all(b, &s, 10000);
	assert_int_equal(s.n, next);
	assert_int_equal(s.bad + s.order, 0);
	assert_int_equal(count(a, "port_tx_full"), 0);
	port_close(a);
	port_close(b);
}

static void test_port_open_close_leaks_nothing(void **state)
{
	struct port *a, *b;
	unsigned i;

	for (i = 0; i < 100; i++) {
		a = must_open("ring:t6");
		b = must_open("ring:t6");
		port_send(a, 32, 64, 0);
		port_close(i & 1 ? a : b);
		port_close(i & 1 ? b : a);
	}
}

static void test_port_more_than_dpdk_has(void **state)
{
	struct wbell_err err = { "" };
	struct port *p[40];
	char spec[32];
	unsigned n, i;
	int rc = 0;

	for (n = 0; n < 40; n++) {
		snprintf(spec, sizeof(spec), "ring:many%u", n / 2);
		rc = try_open(spec, &p[n], &err);
		if (rc)
			break;
	}
	assert_int_equal(n, 32);
	assert_true(rc < 0);
	assert_non_null(strstr(err.text, "close other contexts"));
	for (i = 0; i < n; i++)
		port_close(p[i]);
	port_close(must_open("ring:many0"));
}

/* The NIC swaps frames when it loops some back to itself. */
static void test_port_tx_takes_frames_in_any_order(void **state)
{
	struct port *a = must_open("ring:t7"), *b = must_open("ring:t7");
	struct roce_frame *f, t, in[PORT_BURST];
	struct seen s = { 0 };
	unsigned round, i;

	for (round = 0; round < 200; round++) {
		assert_int_equal(port_tx_room(a, eal_now(), &f), PORT_BURST);
		for (i = 0; i < 10; i++) {
			t = f[i];
			f[i] = f[31 - i * (round % 3)];
			f[31 - i * (round % 3)] = t;
		}
		for (i = 0; i < 7; i++) {
			fill(f[i].data, 64, i);
			f[i].len = 64;
		}
		port_tx(a, eal_now(), 7);
		receive_all(b, &s, 0);
		i = port_rx(b, eal_now(), in);
		assert_int_equal(i, 7);
		while (i--)
			look(&s, &in[i]);
		port_rx_done(b);
	}
	assert_int_equal(s.bad, 0);
	port_close(a);
	port_close(b);
}

static void test_fault_counts_are_exact(void **state)
{
	struct port *a = must_open("ring:f1,fault=drop=0.1+dup=0.1+seed=3");
	struct port *b = must_open("ring:f1");
	unsigned i, once = 0, twice = 0, never = 0;
	struct seen s;

	pass(a, b, 4096, 100, &s);
	receive_all(b, &s, 1000000);
	for (i = 0; i < 4096; i++) {
		never += s.times[i] == 0;
		once += s.times[i] == 1;
		twice += s.times[i] == 2;
	}
	assert_int_equal(never, count(a, "fault_drop"));
	assert_int_equal(twice, count(a, "fault_dup"));
	assert_int_equal(never + once + twice, 4096);
	assert_in_range(never, 300, 520);
	assert_in_range(twice, 270, 480);
	assert_int_equal(s.bad, 0);
	port_close(a);
	port_close(b);
}

static void test_fault_same_seed_same_faults(void **state)
{
	struct seen s[3];
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct port *a = must_open(
			i < 2 ? "ring:f2,fault=drop=0.3+corrupt=0.1+seed=9"
			      : "ring:f2,fault=drop=0.3+corrupt=0.1+seed=8");
		struct port *b = must_open("ring:f2");

		pass(a, b, 1000, 64, &s[i]);
		receive_all(b, &s[i], 1000000);
		port_close(a);
		port_close(b);
	}
	assert_memory_equal(s[0].times, s[1].times, 1000);
	assert_memory_not_equal(s[0].times, s[2].times, 1000);
}

/* Nothing is lost, and the last are let go though nothing follows. */
static void test_fault_reorder_loses_nothing(void **state)
{
	struct port *a = must_open("ring:f3,fault=reorder=0.2");
	struct port *b = must_open("ring:f3");
	struct roce_frame *f;
	uint64_t end;
	struct seen s;
	unsigned i;

	pass(a, b, 4000, 64, &s);
	for (end = eal_now() + 5000000; eal_now() < end;)
		port_tx_room(a, eal_now(), &f);
	assert_false(port_busy(a));
	receive_all(b, &s, 1000000);
	for (i = 0; i < 4000; i++)
		assert_int_equal(s.times[i], 1);
	assert_true(s.order > 300);
	assert_true(count(a, "fault_reorder") > 500);
	port_close(a);
	port_close(b);
}

static void test_fault_corrupt_spares_ethernet(void **state)
{
	static const uint8_t head[14] = { 2, 2, 2, 2, 2, 2, 2,
					  2, 2, 2, 2, 2, 8, 0 };
	struct port *a = must_open("ring:f4,fault=corrupt=1");
	struct port *b = must_open("ring:f4");
	struct roce_frame f[PORT_BURST];
	unsigned i, n, k, differ;
	uint8_t want[64];

	assert_int_equal(port_send(a, 32, 64, 5), 32);
	n = port_rx(b, eal_now(), f);
	assert_int_equal(n, 32);
	for (i = 0; i < n; i++) {
		assert_memory_equal(f[i].data, head, 14);
		fill(want, 64, 5 + i);
		for (differ = k = 0; k < 64; k++)
			differ += f[i].data[k] != want[k];
		assert_int_equal(differ, 1);
	}
	port_rx_done(b);
	port_close(a);
	port_close(b);
}

/* memif connects by a thread of DPDK's: wait, but not for ever. */
static void wait_up(struct port *a, struct port *b)
{
	uint64_t end = eal_now() + 10000000000ULL;
	unsigned up = 0;

	while (up != 3 && eal_now() < end) {
		if (port_tick(a, eal_now()) & PORT_NEWS_UP)
			up |= 1;
		if (port_tick(b, eal_now()) & PORT_NEWS_UP)
			up |= 2;
		usleep(1000);
	}
	assert_int_equal(up, 3);
}

static void test_port_memif_both_ways(void **state)
{
	char spec[64], path[40];
	struct port *a, *b;
	struct seen s;

	snprintf(path, sizeof(path), "/tmp/wbell-port-test.%d", getpid());
	snprintf(spec, sizeof(spec), "memif:%s", path);
	a = must_open(spec);
	b = must_open(spec); /* finds a server, so it is the client */
	wait_up(a, b);
	pass(a, b, 2000, 4182, &s);
	receive_all(b, &s, 50000000);
	assert_int_equal(s.n, 2000);
	assert_int_equal(s.bad, 0);
	pass(b, a, 2000, 60, &s);
	receive_all(a, &s, 50000000);
	assert_int_equal(s.n, 2000);
	assert_int_equal(s.bad, 0);
	port_close(b);
	port_close(a);
	unlink(path);
}

static void test_port_memif_stale_socket_is_replaced(void **state)
{
	char spec[80], path[40];
	struct wbell_err err;
	struct port *a, *b;
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/wbell-port-test.%d", getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	snprintf(spec, sizeof(spec), "memif:%s,role=server", path);
	assert_int_equal(try_open(spec, &a, &err), -EEXIST);
	unlink(path);
	a = must_open(spec);
	assert_int_equal(try_open(spec, &b, &err), -EADDRINUSE);
	port_close(a);
	a = must_open(spec);
	port_close(a);
	unlink(path);
	assert_int_equal(
		try_open("memif:/nowhere/at/all,role=server", &a, &err),
		-ENOENT);
	assert_non_null(strstr(err.text, "can be written"));
}

static void test_port_af_packet_without_interface(void **state)
{
	struct wbell_err err;
	struct port *a;

	assert_int_equal(try_open("af_packet:wbnone9", &a, &err), -ENODEV);
	assert_non_null(strstr(err.text, "wbnone9 does not exist here"));
	assert_non_null(strstr(err.text, "ip link"));
}

static void test_port_mtu_is_checked(void **state)
{
	struct wbell_err err;
	struct port *a;

	assert_int_equal(try_open("ring:m,mtu=9000", &a, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than the 4200"));
	a = must_open("ring:m,mtu=1500");
	assert_int_equal(port_path_mtu(a), 1024);
	port_close(a);
}

/* Starting DPDK pinned this thread and put it back (eal.c). */
static void test_eal_leaves_the_thread_alone(void **state)
{
	cpu_set_t *before = *state, now;

	CPU_ZERO(&now);
	port_close(must_open("ring:e"));
	pthread_getaffinity_np(pthread_self(), sizeof(now), &now);
	assert_true(CPU_EQUAL(before, &now));
}

static void test_eal_clock_runs_with_the_kernels(void **state)
{
	uint64_t a = eal_now(), b;

	usleep(50000);
	b = eal_now();
	assert_in_range(b - a, 49000000, 5000000000);
}

int main(void)
{
	static cpu_set_t before;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(test_eal_leaves_the_thread_alone,
					  &before),
		cmocka_unit_test(test_eal_clock_runs_with_the_kernels),
		cmocka_unit_test(test_port_ring_both_ways),
		cmocka_unit_test(test_port_ring_third_is_busy),
		cmocka_unit_test(test_port_ring_link),
		cmocka_unit_test(test_port_peer_absent_never_blocks),
		cmocka_unit_test(test_port_backlog_keeps_order),
		cmocka_unit_test(test_port_open_close_leaks_nothing),
		cmocka_unit_test(test_port_more_than_dpdk_has),
		cmocka_unit_test(test_port_tx_takes_frames_in_any_order),
		cmocka_unit_test(test_fault_counts_are_exact),
		cmocka_unit_test(test_fault_same_seed_same_faults),
		cmocka_unit_test(test_fault_reorder_loses_nothing),
		cmocka_unit_test(test_fault_corrupt_spares_ethernet),
		cmocka_unit_test(test_port_memif_both_ways),
		cmocka_unit_test(test_port_memif_stale_socket_is_replaced),
		cmocka_unit_test(test_port_af_packet_without_interface),
		cmocka_unit_test(test_port_mtu_is_checked),
	};

	pthread_getaffinity_np(pthread_self(), sizeof(before), &before);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
