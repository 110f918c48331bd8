// SPDX-License-Identifier: BSD-2-Clause
/* Host memory: registration, limits, and processes that are killed. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "kmod.h"

static void *anon(size_t pages, int prot)
{
	void *at = mmap(NULL, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static int reg(int fd, void *at, size_t pages, struct wbell_u_mreg_host *out)
{
	struct wbell_u_mreg_host arg = {
		.addr = (uintptr_t)at,
		.len = pages * PAGE,
		.iova = (uintptr_t)at,
		.access = WBELL_ACCESS_LOCAL_WRITE,
	};
	int rc = call(fd, WBELL_IOC_MREG_HOST, &arg);

	if (out)
		*out = arg;
	return rc;
}

static uint64_t pinned_kb(void)
{
	char line[256];
	uint64_t kb = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), file))
		sscanf(line, "VmPin: %lu", &kb);
	fclose(file);
	return kb;
}

static void test_memory_is_pinned_once(void **state)
{
	char *at = anon(600, PROT_READ | PROT_WRITE);
	struct wbell_u_mreg_host a, b;
	int fd = ctx_open();

	assert_int_equal(reg(fd, at, 600, &a), 0);
	assert_int_equal(counter("pinned_pages"), 600);
	assert_int_equal(pinned_kb(), 600 * PAGE / 1024);
	assert_int_equal(reg(fd, at, 1, &b), 0);
	assert_int_not_equal(a.key, b.key);
	assert_int_not_equal(a.key >> 8, b.key >> 8);
	/* gone from the process, there for the NIC */
	munmap(at, 600 * PAGE);
	assert_int_equal(destroy(fd, a.handle), 0);
	assert_int_equal(counter("pinned_pages"), 1);
	fd_close(fd);
	assert_int_equal(pinned_kb(), 0);
	counters_zero();
}

static void test_memory_refused(void **state)
{
	char *at = anon(8, PROT_READ | PROT_WRITE), *ro = anon(1, PROT_READ);
	char *none = anon(1, PROT_NONE);
	int fd = ctx_open();

	munmap(at + 5 * PAGE, PAGE);
	assert_int_equal(reg(fd, at, 8, NULL), -EFAULT);
	assert_non_null(strstr(call_err, "writable"));
	assert_int_equal(reg(fd, ro, 1, NULL), -EFAULT);
	assert_int_equal(reg(fd, none, 1, NULL), -EFAULT);
	assert_int_equal(reg(fd, at + 1, 1, NULL), -EINVAL);
	assert_int_equal(counter("pinned_pages"), 0);
	assert_int_equal(counter("objects"), 0);
	assert_int_equal(pinned_kb(), 0);
	fd_close(fd);
	munmap(at, 5 * PAGE);
	munmap(at + 6 * PAGE, 2 * PAGE);
	munmap(ro, PAGE);
	munmap(none, PAGE);
	counters_zero();
}

/*
 * A ring is made of pages that other drivers can pin: without privilege, and
 * they outlive it.
 */
static void test_memory_of_a_ring_can_be_pinned(void **state)
{
	struct wbell_u_mreg_host arg;
	uint64_t cookie, len;
	int fd = ctx_open();
	uint32_t handle = ring(fd, 3 * PAGE, &cookie, &len);
	char *at = map(fd, cookie, len, PROT_READ | PROT_WRITE);

	assert_int_equal(reg(fd, at, 3, &arg), 0);
	assert_int_equal(destroy(fd, handle), 0);
	assert_true(dies_reading(at));
	assert_int_equal(counter("ring_pages"), 0);
	assert_int_equal(counter("pinned_pages"), 3);
	munmap(at, len);
	fd_close(fd);
	counters_zero();
}

/* Registered memory goes with the ring below it. */
static void test_memory_goes_with_its_ring(void **state)
{
	int fd = ctx_open();
	uint32_t object = ring(fd, 2 * PAGE, NULL, NULL);
	uint32_t mreg = mreg_ring(fd, object, PAGE, 0, 0x10000);
	struct wbell_u_queue_grant grant = { .queue = 1, .mreg = mreg };

	assert_int_equal(destroy(fd, object), 0);
	assert_int_equal(counter("ring_pages"), 2); /* its handle keeps them */
	assert_int_equal(call(fd, WBELL_IOC_QUEUE_GRANT, &grant), -ENOENT);
	assert_int_equal(destroy(fd, mreg), 0);
	counter_wait("ring_pages", 0);
	fd_close(fd);
	counters_zero();
}

/* A file of text that has the part. */
static bool file_has(const char *path, const char *part)
{
	char text[4096] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		print_error("%s: %s\n", path, strerror(errno));
	close(fd);
	return strstr(text, part);
}

static void test_memory_can_be_looked_at(void **state)
{
	char path[64], *at = anon(2, PROT_READ | PROT_WRITE);
	int fd = ctx_open();
	uint32_t object = ring(fd, 3 * PAGE, NULL, NULL);

	mreg_ring(fd, object, PAGE, 0, 0);
	assert_int_equal(reg(fd, at, 2, NULL), 0);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	assert_true(file_has(path, "warpbell-ring:\t1 12288\n"));
	assert_true(file_has(path, "warpbell-mreg:\t2 8192\n"));
	assert_true(file_has("/sys/kernel/debug/warpbell/objects",
			     "ring 1 live bytes 12288 pages 3\n"));
	assert_true(file_has("/sys/kernel/debug/warpbell/objects",
			     "mreg 3 live bytes 8192 len 8192"));
	munmap(at, 2 * PAGE);
	fd_close(fd);
	counters_zero();
}

/* ---- limits ---- */

static int limited(void *arg)
{
	const struct rlimit limit = { 16 * PAGE, 16 * PAGE };
	struct wbell_u_ring_alloc big = { .bytes = 17 * PAGE };
	uint32_t handle;
	int fd;

	must(!setrlimit(RLIMIT_MEMLOCK, &limit));
	must(!setgid(NOBODY) && !setuid(NOBODY));
	fd = open(WBELL_DEVICE, O_RDWR);
	must(fd >= 0);
	must(call(fd, WBELL_IOC_RING_ALLOC, &big) == -ENOMEM);
	must(strstr(call_err, "RLIMIT_MEMLOCK"));
	handle = ring(fd, 16 * PAGE, NULL, NULL);
	big.bytes = 1;
	must(call(fd, WBELL_IOC_RING_ALLOC, &big) == -ENOMEM);
	must(!destroy(fd, handle));
	must(!call(fd, WBELL_IOC_RING_ALLOC, &big));
	return 0;
}

static void test_memory_rlimit(void **state)
{
	assert_int_equal(chmod(WBELL_DEVICE, 0666), 0);
	assert_int_equal(child(limited, NULL), 0);
	/* nothing is left of it that the next one would feel */
	assert_int_equal(child(limited, NULL), 0);
	assert_int_equal(chmod(WBELL_DEVICE, 0660), 0);
	counters_zero();
}

static void test_memory_limits_of_a_user(void **state)
{
	struct wbell_u_ring_alloc arg = { .bytes = 5 * PAGE };
	char *at = anon(5, PROT_READ | PROT_WRITE);
	uint64_t refused = counter("refused");
	int fd = ctx_open(), i;

	param_set("max_ring_pages", "4");
	assert_int_equal(call(fd, WBELL_IOC_RING_ALLOC, &arg), -EDQUOT);
	assert_non_null(strstr(call_err, "max_ring_pages"));
	arg.bytes = 4 * PAGE;
	assert_int_equal(call(fd, WBELL_IOC_RING_ALLOC, &arg), 0);
	arg.bytes = 1;
	assert_int_equal(call(fd, WBELL_IOC_RING_ALLOC, &arg), -EDQUOT);
	param_set("max_ring_pages", "1000000");
	param_set("max_pinned_pages", "4");
	assert_int_equal(reg(fd, at, 5, NULL), -EDQUOT);
	assert_int_equal(reg(fd, at, 4, NULL), 0);
	param_set("max_pinned_pages", "1000000");
	param_set("max_objects", "7");
	for (i = 0; i < 5; i++)
		assert_int_equal(call(fd, WBELL_IOC_RING_ALLOC, &arg), 0);
	assert_int_equal(call(fd, WBELL_IOC_RING_ALLOC, &arg), -EDQUOT);
	assert_int_equal(reg(fd, at, 1, NULL), -EDQUOT);
	param_set("max_objects", "65536");
	param_set("max_contexts", "1");
	assert_int_equal(open(WBELL_DEVICE, O_RDWR), -1);
	assert_int_equal(errno, EDQUOT);
	param_set("max_contexts", "256");
	assert_int_equal(counter("refused"), refused + 6);
	munmap(at, 5 * PAGE);
	fd_close(fd);
	counters_zero();
}

/* ---- killed ---- */

static __attribute__((noreturn)) int busy(void *arg)
{
	char *at = anon(2000, PROT_READ | PROT_WRITE);
	struct wbell_u_mreg_host host;
	int fd = ctx_open();
	uint64_t cookie, len;
	uint32_t handle;

	for (;;) { /* until it is killed, at the latest with its parent */
		handle = ring(fd, 1000 * PAGE, &cookie, &len);
		mreg_ring(fd, handle, PAGE, 0, 0);
		must(map(fd, cookie, len, PROT_READ | PROT_WRITE));
		must(!reg(fd, at, 2000, &host));
		must(!destroy(fd, host.handle));
		must(!destroy(fd, handle));
	}
}

static void test_memory_killed_at_any_time(void **state)
{
	unsigned int seed = 20;
	int i, pid;

	for (i = 0; i < 40; i++) {
		pid = child_start(busy, NULL);
		usleep(rand_r(&seed) % 60000);
		kill(pid, SIGKILL);
		assert_int_equal(child_end(pid), 256 + SIGKILL);
	}
	counters_zero();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_pinned_once),
		cmocka_unit_test(test_memory_refused),
		cmocka_unit_test(test_memory_of_a_ring_can_be_pinned),
		cmocka_unit_test(test_memory_goes_with_its_ring),
		cmocka_unit_test(test_memory_can_be_looked_at),
		cmocka_unit_test(test_memory_rlimit),
		cmocka_unit_test(test_memory_limits_of_a_user),
		cmocka_unit_test(test_memory_killed_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
