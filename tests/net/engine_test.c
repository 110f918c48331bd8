// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine through libwarpbell: its thread, its manners in somebody else's
 * process, and what it says of its link.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#include "ends.h"

static void open_pair(struct end *a, struct end *b, const char *wire)
{
	open_end(a, wire);
	open_end(b, wire);
	join(a->queue, b->queue);
}

static void test_engine_thread_moves_bytes(void **state)
{
	struct wbell_ctx_info info;
	struct end a, b;

	open_pair(&a, &b, "ring:e1");
	memset(a.buf, 0x77, SIZE);
	assert_int_equal(put(&a, &b, SIZE), 0);
	assert_memory_equal(a.buf, b.buf, SIZE);
	assert_int_equal(wbell_poll(a.ctx), -EINVAL);
	assert_int_equal(wbell_info(a.ctx, &info), 0);
	assert_string_equal(info.provider, "engine");
	assert_non_null(strstr(info.nic, "software, ring on e1, DPDK "));
	assert_string_equal(info.gpu, "none, CPU threads");
	assert_int_equal(info.mtu, 4096);
	assert_int_equal(info.mac[0] & 3, 2);
	close_end(&a);
	close_end(&b);
}

static void test_engine_loops_to_itself(void **state)
{
	struct end a, b;

	open_end(&a, "ring:e2");
	b = a;
	make_queue(&b);
	join(a.queue, b.queue);
	memset(a.buf, 0x11, 100);
	memset(a.buf + 100, 0, 100);
	b.buf = a.buf + 100;
	assert_int_equal(put(&a, &b, 100), 0);
	assert_memory_equal(a.buf, a.buf + 100, 100);
	assert_int_equal(wbell_queue_destroy(b.queue), 0);
	close_end(&a);
}

struct lines {
	unsigned warnings;
	char last[256];
};

static void keep_warning(void *arg, int level, const char *text)
{
	struct lines *l = arg;

	if (level != WBELL_LOG_WARN)
		return;
	l->warnings++;
	snprintf(l->last, sizeof(l->last), "%s", text);
}

static void test_engine_warns_of_link_local(void **state)
{
	struct lines lines = { 0 };
	struct wbell_open_attr attr = { .size = sizeof(attr),
					.provider = "engine",
					.log = keep_warning,
					.log_arg = &lines };
	struct wbell_ctx *ctx;

	attr.wire = "ring:ll,ip=fd09::1/64";
	assert_int_equal(wbell_open(&attr, &ctx), 0);
	wbell_close(ctx);
	assert_int_equal(lines.warnings, 0);
	attr.wire = "ring:ll,ip=fe80::1/64";
	assert_int_equal(wbell_open(&attr, &ctx), 0);
	wbell_close(ctx);
	assert_int_equal(lines.warnings, 1);
	assert_non_null(strstr(lines.last, "address fe80::1 is link-local"));
	assert_non_null(strstr(lines.last, "such as fd00::1/64"));
}

static void test_engine_refuses_other_family(void **state)
{
	struct end a, b;
	struct wbell_address at;

	open_end(&a, "ring:fam,ip=fd09::1/64");
	open_end(&b, "ring:fam,ip=10.9.0.2/24");
	assert_int_equal(wbell_queue_address(b.queue, &at), 0);
	assert_int_equal(wbell_queue_connect(a.queue, &at), -EINVAL);
	assert_non_null(
		strstr(wbell_error(a.ctx), "10.9.0.2 is an IPv4 address"));
	close_end(&a);
	close_end(&b);
}

/* Nothing on stdout and stderr, whatever is opened and refused. */
static void test_engine_prints_nothing(void **state)
{
	static const char *const bad[] = { "ring:", "af_packet:wbnone9",
					   "memif:/nowhere/x,role=server" };
	struct wbell_open_attr attr = { .size = sizeof(attr) };
	char name[] = "/tmp/wbell-engine-test.XXXXXX";
	int fd = mkstemp(name), out = dup(1), err = dup(2);
	struct wbell_ctx *ctx;
	unsigned i;
	off_t printed;

	assert_true(fd >= 0);
	unlink(name);
	fflush(stdout);
	dup2(fd, 1);
	dup2(fd, 2);
	wbell_close(open_wire("ring:quiet", 0));
	for (i = 0; i < 3; i++) {
		attr.wire = bad[i];
		if (!wbell_open(&attr, &ctx))
			wbell_close(ctx);
	}
	fflush(stdout);
	printed = lseek(fd, 0, SEEK_CUR);
	dup2(out, 1);
	dup2(err, 2);
	close(out);
	close(err);
	close(fd);
	assert_int_equal(printed, 0);
}

/* Reads "Key:\tvalue" of a thread of ours by its name. */
static int thread_status(const char *comm, const char *key, char *value)
{
	struct dirent *d;
	char path[320], line[256], name[32] = "";
	int found = 0;
	DIR *dir = opendir("/proc/self/task");
	FILE *f;

	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			 d->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "Name: %31s", name) == 1 &&
			    strcmp(name, comm))
				break;
			if (!strncmp(line, key, strlen(key)))
				found += sscanf(line + strlen(key), ": %63s",
						value);
		}
		if (f)
			fclose(f);
	}
	closedir(dir);
	return found;
}

static void test_engine_thread_takes_no_signal(void **state)
{
	struct wbell_ctx *ctx = open_wire("ring:e3", 0);
	char value[64];
	int tries = 100;

	/* The thread names itself first thing, but on its own time. */
	while (!thread_status("wbell-engine", "SigBlk", value) && tries--)
		usleep(10000);
	/* All but KILL and STOP, and glibc's own two, 32 and 33. */
	assert_string_equal(value, "fffffffe7ffbfeff");
	wbell_close(ctx);
	assert_int_equal(thread_status("wbell-engine", "SigBlk", value), 0);
}

static void test_engine_pins_its_thread(void **state)
{
	struct wbell_open_attr attr = { .size = sizeof(attr),
					.wire = "ring:e4" };
	struct wbell_ctx *ctx;
	char value[64];
	int tries = 100;

	attr.cpu = 1 + sched_getcpu();
	assert_int_equal(wbell_open(&attr, &ctx), 0);
	while (!thread_status("wbell-engine", "Cpus_allowed_list", value) &&
	       tries--)
		usleep(10000);
	assert_int_equal(atoi(value), attr.cpu - 1);
	assert_null(strpbrk(value, ",-"));
	wbell_close(ctx);
	attr.cpu = 1000;
	assert_int_equal(wbell_open(&attr, &ctx), -EINVAL);
	assert_non_null(strstr(wbell_error(NULL), "CPU 999"));
}

static void *keep_putting(void *arg)
{
	struct end *e = arg;
	intptr_t n;

	for (n = 0; n < 3000; n++)
		if (put(&e[0], &e[1], 3000))
			return (void *)-1;
	return (void *)n;
}

/* Control calls come between packets, and packets go on. */
static void test_engine_control_calls_under_load(void **state)
{
	struct wbell_queue *q[16];
	struct wbell_mem *mem;
	struct end e[2];
	pthread_t thread;
	void *done;
	unsigned i, round;

	open_pair(&e[0], &e[1], "ring:e5");
	assert_int_equal(pthread_create(&thread, NULL, keep_putting, e), 0);
	for (round = 0; round < 50; round++) {
		for (i = 0; i < 16; i++)
			assert_int_equal(
				wbell_queue_create(e[i & 1].ctx, NULL, &q[i]),
				0);
		join(q[0], q[1]);
		assert_int_equal(wbell_mem_register(e[0].ctx, q, sizeof(q),
						    ACCESS, &mem),
				 0);
		assert_int_equal(wbell_mem_deregister(mem), 0);
		for (i = 0; i < 16; i++)
			assert_int_equal(wbell_queue_destroy(q[i]), 0);
	}
	pthread_join(thread, &done);
	assert_int_equal((intptr_t)done, 3000);
	close_end(&e[0]);
	close_end(&e[1]);
}

static double process_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* It rests when there is nothing to do: 0.5 % measured, 5 % allowed. */
static void test_engine_idle_costs_little(void **state)
{
	struct wbell_ctx *ctx = open_wire("ring:e6", 0);
	double before;

	sleep(3);
	before = process_seconds();
	sleep(2);
	assert_true(process_seconds() - before < 0.05 * 2);
	wbell_close(ctx);
}

/* A peer that vanished ends in an error, not in silence. */
static void test_engine_peer_gone_ends_in_error(void **state)
{
	struct wbell_queue_attr attr = { .size = sizeof(attr),
					 .timeout = 10,
					 .retry_cnt = 1 + 2 };
	struct wbell_error_record rec;
	struct end a, b;

	open_end(&a, "ring:e7");
	open_end(&b, "ring:e7");
	assert_int_equal(wbell_queue_destroy(a.queue), 0);
	assert_int_equal(wbell_queue_create(a.ctx, &attr, &a.queue), 0);
	assert_int_equal(wbell_queue_device(a.queue, &a.dq), 0);
	join(a.queue, b.queue);
	assert_int_equal(put(&a, &b, 100), 0);
	close_end(&b);
	assert_int_equal(put(&a, &a, 100), WBELL_WC_RETRY_EXC_ERR);
	assert_int_equal(wbell_queue_error(a.queue, &rec), 0);
	close_end(&a);
}

static void test_engine_answers_arp(void **state)
{
	static const uint8_t request[42] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  9, 8, 6,
		0,    1,    8,	  0,	6,    4,    0, 1, 2, 0, 0,  0, 0, 9,
		10,   9,    0,	  9,	0,    0,    0, 0, 0, 0, 10, 9, 0, 1
	};
	static const uint8_t reply[] = { 8, 6, 0, 1, 8, 0, 6,  4, 0, 2,
					 2, 0, 0, 0, 0, 1, 10, 9, 0, 1,
					 2, 0, 0, 0, 0, 9, 10, 9, 0, 9 };
	static const uint8_t gratuitous[] = { 10, 9, 0, 1,  0, 0, 0,
					      0,  0, 0, 10, 9, 0, 1 };
	struct wbell_ctx *ctx;
	uint8_t b[2048];
	int fd;

	if (!has_namespace)
		skip();
	fd = open_raw("wbB");
	ctx = open_wire("af_packet:wbA,ip=10.9.0.1/24,mac=02:00:00:00:00:01",
			0);
	await(fd, b, 28, gratuitous, sizeof(gratuitous));
	assert_int_equal(write(fd, request, sizeof(request)), sizeof(request));
	await(fd, b, 12, reply, sizeof(reply));
	assert_memory_equal(b, request + 6, 6);
	close(fd);
	wbell_close(ctx);
}

/* Waits for an event of this kind; others pass by. */
static struct wbell_event event_of(struct wbell_ctx *ctx, uint32_t kind)
{
	struct wbell_event event;
	struct pollfd pfd = { .events = POLLIN };
	unsigned i;

	assert_int_equal(wbell_event_fd(ctx, &pfd.fd), 0);
	for (i = 0; i < 20; i++) {
		poll(&pfd, 1, 1000);
		while (!wbell_event_next(ctx, &event))
			if (event.kind == kind)
				return event;
	}
	fail_msg("no event %u", kind);
	return event;
}

static void o23_engine_tells_of_mtu_and_link(void **state)
{
	struct wbell_event event;
	struct end a, b;

	if (!has_namespace)
		skip();
	open_end(&a, "af_packet:wbA,ip=10.9.0.1/24");
	open_end(&b, "af_packet:wbB,ip=10.9.0.2/24");
	join(a.queue, b.queue);
	assert_int_equal(put(&a, &b, SIZE), 0);
	event_of(a.ctx, WBELL_EVENT_PORT_UP);
	sh("ip link set wbA mtu 1500");
	event = event_of(a.ctx, WBELL_EVENT_MTU);
	assert_int_equal(event.value, 1024);
	/* Short messages go on, too long packets end in an error. */
	assert_int_equal(put(&a, &b, 1000), 0);
	assert_int_equal(put(&a, &b, SIZE), WBELL_WC_RETRY_EXC_ERR);
	sh("ip link set wbA down");
	event_of(a.ctx, WBELL_EVENT_PORT_DOWN);
	sh("ip link set wbA up");
	event_of(a.ctx, WBELL_EVENT_PORT_UP);
	sh("ip link del wbA");
	event_of(a.ctx, WBELL_EVENT_PORT_DOWN);
	close_end(&a);
	close_end(&b);
}

/* A peer that answers no ARP: the work waits, then ends by its retries. */
static void test_engine_unresolved_peer_ends(void **state)
{
	struct end a, b;

	if (!has_namespace)
		skip();
	open_end(&a, "af_packet:wbA,ip=10.9.0.1/24");
	open_end(&b, "ring:e8,ip=10.9.0.77/24"); /* on another link */
	join(a.queue, b.queue);
	assert_int_equal(put(&a, &b, 100), WBELL_WC_RETRY_EXC_ERR);
	close_end(&a);
	close_end(&b);
}

int main(void)
{
#define V(t) cmocka_unit_test_setup_teardown(t, setup_veth, teardown_veth)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engine_prints_nothing),
		cmocka_unit_test(test_engine_thread_moves_bytes),
		cmocka_unit_test(test_engine_loops_to_itself),
		cmocka_unit_test(test_engine_warns_of_link_local),
		cmocka_unit_test(test_engine_refuses_other_family),
		cmocka_unit_test(test_engine_thread_takes_no_signal),
		cmocka_unit_test(test_engine_pins_its_thread),
		cmocka_unit_test(test_engine_control_calls_under_load),
		cmocka_unit_test(test_engine_idle_costs_little),
		cmocka_unit_test(test_engine_peer_gone_ends_in_error),
		V(test_engine_answers_arp),
		V(o23_engine_tells_of_mtu_and_link),
		V(test_engine_unresolved_peer_ends),
	};

	has_namespace = !unshare(CLONE_NEWNET);
	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
