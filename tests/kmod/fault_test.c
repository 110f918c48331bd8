// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each allocation and each copy to or from user space of each ioctl fails
 * once: the call says so and leaves nothing, and when nothing fails any more
 * it succeeds.  Needs a kernel with fault injection (scripts/lab's debug).
 */
#include "kmod.h"

#define FAIL_NTH "/proc/thread-self/fail-nth"

static int injected; /* faults, in all */

static bool nth_set(int n)
{
	char text[16];
	int fd = open(FAIL_NTH, O_WRONLY), len;

	if (fd < 0)
		return false;
	len = snprintf(text, sizeof(text), "%d", n);
	n = write(fd, text, len) == len;
	close(fd);
	return n;
}

/* What is left to count: 0 when the fault has happened. */
static int nth_get(void)
{
	char text[16] = "";
	int fd = open(FAIL_NTH, O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '0';
	close(fd);
	return atoi(text);
}

static void knob(const char *kind, const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", kind, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return;
	assert_true(write(fd, value, strlen(value)) > 0);
	close(fd);
}

static int setup(void **state)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc",
					     "fail_usercopy" };
	size_t i;

	for (i = 0; i < 3; i++) {
		knob(kinds[i], "verbose", "0"); /* the log is looked at */
		knob(kinds[i], "ignore-gfp-wait", "N");
		knob(kinds[i], "ignore-gfp-highmem", "N");
		knob(kinds[i], "min-order", "0");
	}
	return 0;
}

/* Like call(), with every fault before the success. */
static int every_fault(int fd, unsigned int cmd, void *arg, uint32_t size)
{
	uint64_t objects = counter("objects"), maps = counter("maps");
	char copy[256];
	int n, left, rc;

	memcpy(copy, arg, size);
	for (n = 1;; n++) {
		memcpy(arg, copy, size);
		assert_true(nth_set(n));
		rc = call_size(fd, cmd, arg, size);
		left = nth_get();
		nth_set(0);
		if (left)
			return rc; /* the nth never came */
		injected++;
		if (!rc)
			return rc; /* it could do without */
		assert_true(rc == -ENOMEM || rc == -EFAULT);
		assert_int_equal(counter("objects"), objects);
		assert_int_equal(counter("maps"), maps);
	}
}

#define faulty(fd, cmd, arg) \
	assert_int_equal(every_fault(fd, cmd, arg, sizeof(*(arg))), 0)

static void *map_faulty(int fd, uint64_t cookie, uint64_t len)
{
	void *at;
	int n, left;

	for (n = 1;; n++) {
		nth_set(n);
		at = map(fd, cookie, len, PROT_READ | PROT_WRITE);
		left = nth_get();
		nth_set(0);
		if (at)
			return at;
		assert_int_equal(left, 0);
		injected++;
		assert_int_equal(errno, ENOMEM);
	}
}

static void test_fault_memory(void **state)
{
	struct wbell_u_ring_alloc r = { .bytes = 5 * PAGE };
	struct wbell_u_mreg_object part = { .len = PAGE };
	struct wbell_u_mreg_host host = { .len = 40 * PAGE };
	struct wbell_u_hello hello = {};
	int fd = ctx_open();
	char *at;

	host.addr = (uintptr_t)mmap(NULL, host.len, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	faulty(fd, WBELL_IOC_HELLO, &hello);
	faulty(fd, WBELL_IOC_RING_ALLOC, &r);
	at = map_faulty(fd, r.cookie, r.map_len);
	part.object = r.handle;
	faulty(fd, WBELL_IOC_MREG_OBJECT, &part);
	faulty(fd, WBELL_IOC_MREG_HOST, &host);
	munmap(at, r.map_len);
	munmap((void *)(uintptr_t)host.addr, host.len);
	fd_close(fd);
	counters_zero();
}

static void test_fault_gpu(void **state)
{
	struct wbell_u_provider_query q;
	struct wbell_u_gpu_pin p = { .len = 3 * PAGE };
	int fd = ctx_open();
	char *at;

	if (!provider(fd, "pci-bar:", &q)) {
		fd_close(fd);
		skip(); /* no card */
	}
	p.provider = q.id;
	q.rsvd = 0;
	q.index = 0;
	faulty(fd, WBELL_IOC_PROVIDER_QUERY, &q);
	faulty(fd, WBELL_IOC_GPU_PIN, &p);
	at = map_faulty(fd, p.cookie, p.map_len);
	munmap(at, p.map_len);
	fd_close(fd);
	counters_zero();
}

static void test_fault_queue(void **state)
{
	struct wbell_u_nic_register reg = { .name = "fault", .max_queues = 4 };
	struct wbell_u_queue_create q = { .depth = 64, .cq_eventfd = -1 };
	struct wbell_u_nic_accept accept = {};
	struct wbell_u_queue_grant grant = {};
	struct wbell_u_ep_grant told = {};
	struct wbell_u_ep_info info = {};
	struct wbell_u_nic_query query = {};
	int app = ctx_open(), daemon = ctx_open(), i;
	uint32_t object = ring(app, 3 * PAGE, NULL, NULL);
	char *at;

	faulty(daemon, WBELL_IOC_NIC_REGISTER, &reg);
	faulty(app, WBELL_IOC_NIC_QUERY, &query);
	q.nic = reg.id;
	for (i = 0; i < WBELL_REGION_COUNT; i++)
		q.region[i] =
			(struct wbell_u_range){ object, 0, i * PAGE, PAGE };
	faulty(app, WBELL_IOC_QUEUE_CREATE, &q);
	accept.nic = reg.handle;
	accept.flags = WBELL_ACCEPT_DUMMY;
	faulty(daemon, WBELL_IOC_NIC_ACCEPT, &accept);
	assert_int_equal(counter("endpoints"), 1);
	grant.queue = q.handle;
	grant.mreg = mreg_ring(app, object, PAGE, 2, 0);
	faulty(app, WBELL_IOC_QUEUE_GRANT, &grant);
	faulty(accept.fd, WBELL_IOC_EP_INFO, &info);
	faulty(accept.fd, WBELL_IOC_EP_GRANT, &told);
	at = map_faulty(accept.fd, told.map.cookie, told.map.map_len);
	at[0] = 1;
	munmap(at, told.map.map_len);
	fd_close(accept.fd);
	fd_close(app);
	fd_close(daemon);
	counters_zero();
	print_message("# %d faults were injected\n", injected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault_memory),
		cmocka_unit_test(test_fault_gpu),
		cmocka_unit_test(test_fault_queue),
	};

	if (access(FAIL_NTH, W_OK)) {
		printf("1..0 # SKIP no fault injection in this kernel\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, NULL);
}
