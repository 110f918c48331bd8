// SPDX-License-Identifier: BSD-2-Clause
/*
 * GPU memory by provider pci-bar: the guest's virtual GPU, a prefetchable BAR.
 * It is bound when the test begins; the last test pulls the card.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <termios.h>

#include "kmod.h"

#define DRIVER "/sys/bus/pci/drivers/warpbell-pci/"
#define SIZE   (64UL << 20)

static char bdf[16];

static void file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		print_error("%s: %s\n", path, strerror(errno));
	close(fd);
}

static uint32_t gpu(int fd)
{
	struct wbell_u_provider_query q;

	assert_true(provider(fd, "pci-bar:", &q));
	assert_int_equal(sscanf(q.name, "pci-bar:%15s", bdf), 1);
	return q.id;
}

static int pin(int fd, uint64_t addr, uint64_t len, uint32_t flags,
	       struct wbell_u_gpu_pin *out)
{
	memset(out, 0, sizeof(*out));
	out->provider = gpu(fd);
	out->addr = addr;
	out->len = len;
	out->flags = flags;
	return call(fd, WBELL_IOC_GPU_PIN, out);
}

static char *pinned(int fd, uint64_t addr, uint64_t len,
		    struct wbell_u_gpu_pin *out)
{
	char *at;

	assert_int_equal(pin(fd, addr, len, 0, out), 0);
	at = map(fd, out->cookie, out->map_len, PROT_READ | PROT_WRITE);
	assert_non_null(at);
	return at;
}

static void test_gpu_query(void **state)
{
	struct wbell_u_provider_query q;
	int fd = ctx_open();

	assert_true(provider(fd, "pci-bar:", &q));
	assert_int_equal(q.kind, WBELL_PROVIDER_GPU);
	assert_int_equal(q.state, 0);
	assert_int_equal(q.len, SIZE);
	assert_int_equal(q.page_size, PAGE);
	assert_int_equal(q.caps, WBELL_CAP_WC | WBELL_CAP_REVOKE);
	assert_string_equal(q.text, "BAR 2");
	fd_close(fd);
}

static void test_gpu_pin_map_write(void **state)
{
	struct wbell_u_gpu_pin p, all;
	int fd = ctx_open();
	char *at = pinned(fd, 5 * PAGE + 100, 2 * PAGE, &p);

	assert_int_equal(p.map_len, 3 * PAGE);
	assert_int_equal(p.map_offset, 100);
	assert_int_equal(p.segments, 1);
	assert_int_equal(p.memtype, WBELL_MEMTYPE_WC);
	assert_int_equal(counter("gpu_pages"), 3);
	strcpy(at + p.map_offset, "in the BAR");
	assert_int_equal(destroy(fd, p.handle), 0);
	assert_true(dies_reading(at));
	munmap(at, p.map_len);
	/* the device really has it, and it is cleared for the next */
	assert_int_equal(pin(fd, 0, SIZE, WBELL_GPU_KEEP, &all), 0);
	at = map(fd, all.cookie, SIZE, PROT_READ | PROT_WRITE);
	assert_string_equal(at + 5 * PAGE + 100, "in the BAR");
	memset(at + SIZE - PAGE, 0x55, PAGE);
	munmap(at, SIZE);
	assert_int_equal(destroy(fd, all.handle), 0);
	at = pinned(fd, SIZE - PAGE, PAGE, &p);
	assert_int_equal(at[0], 0);
	assert_int_equal(at[PAGE - 1], 0);
	munmap(at, PAGE);
	fd_close(fd);
	counters_zero();
}

static void test_gpu_refused(void **state)
{
	struct wbell_u_gpu_pin p, a;
	int fd = ctx_open(), other = ctx_open();

	assert_int_equal(pin(fd, 0, 0, 0, &p), -EINVAL);
	assert_int_equal(pin(fd, SIZE, 1, 0, &p), -EINVAL);
	assert_int_equal(pin(fd, SIZE - 1, 2, 0, &p), -EINVAL);
	assert_int_equal(pin(fd, 1, UINT64_MAX, 0, &p), -EOVERFLOW);
	assert_int_equal(pin(fd, UINT64_MAX, 1, 0, &p), -EOVERFLOW);
	assert_int_equal(pin(fd, 2 * PAGE, PAGE, 0, &a), 0);
	/* one owner for each page */
	assert_int_equal(pin(other, 2 * PAGE + 1, 1, 0, &p), -EBUSY);
	assert_int_equal(pin(other, 0, SIZE, 0, &p), -EBUSY);
	assert_non_null(strstr(call_err, "another's"));
	p.provider = 9999;
	assert_int_equal(call(fd, WBELL_IOC_GPU_PIN, &p), -ENOENT);
	param_set("max_gpu_pages", "10");
	assert_int_equal(pin(other, 3 * PAGE, 10 * PAGE, 0, &p), -EDQUOT);
	param_set("max_gpu_pages", "100000");
	fd_close(fd);
	assert_int_equal(pin(other, 0, SIZE, 0, &p), 0);
	fd_close(other);
	counters_zero();
}

static int nobody_keeps(void *arg)
{
	struct wbell_u_gpu_pin p;
	int fd;

	must(!setgid(NOBODY) && !setuid(NOBODY));
	fd = open(WBELL_DEVICE, O_RDWR);
	must(pin(fd, 0, PAGE, WBELL_GPU_KEEP, &p) == -EPERM);
	must(pin(fd, 0, PAGE, 0, &p) == 0);
	return 0;
}

static void test_gpu_old_contents_need_a_right(void **state)
{
	chmod(WBELL_DEVICE, 0666);
	assert_int_equal(child(nobody_keeps, NULL), 0);
	chmod(WBELL_DEVICE, 0660);
	counters_zero();
}

static int touch(void *arg)
{
	signal(SIGSEGV, SIG_DFL);
	return *(volatile char *)arg;
}

static void test_gpu_is_not_for_children(void **state)
{
	struct wbell_u_gpu_pin p;
	int fd = ctx_open();
	char *at = pinned(fd, 0, 4 * PAGE, &p);

	assert_int_equal(child(touch, at), 256 + SIGSEGV);
	assert_int_equal(madvise(at, 4 * PAGE, MADV_DOFORK), -1);
	assert_int_equal(munmap(at, PAGE), -1);
	assert_int_equal(mprotect(at, 4 * PAGE, PROT_EXEC), -1);
	assert_ptr_equal(mremap(at, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE),
			 MAP_FAILED);
	fd_close(fd); /* the mapping keeps it */
	assert_int_equal(counter("gpu_pages"), 4);
	at[0] = 1;
	munmap(at, 4 * PAGE);
	counters_zero();
}

/* O02: what is taken back is read by nobody. */
static void test_gpu_unbound_O02(void **state)
{
	struct wbell_u_gpu_pin p, q;
	int fd = ctx_open();
	char *at = pinned(fd, 0, 4 * PAGE, &p);
	char *moved = mmap(NULL, 4 * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wbell_u_provider_query query;
	struct wbell_u_event ev;

	at[3 * PAGE] = 0x11;
	at = mremap(at, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		    moved);
	assert_ptr_equal(at, moved);
	assert_int_equal(at[3 * PAGE], 0x11);
	file_write(DRIVER "unbind", bdf);
	assert_true(dies_reading(at + 3 * PAGE));
	assert_true(dies_writing(at));
	ev = event_get(fd);
	assert_int_equal(ev.type, WBELL_EVENT_REVOKED);
	assert_int_equal(ev.handle, p.handle);
	assert_int_equal(ev.reason, WBELL_REASON_REMOVED);
	assert_null(map(fd, p.cookie, p.map_len, PROT_READ));
	assert_int_equal(errno, ESTALE);
	assert_false(provider(fd, "pci-bar:", &query));
	file_write(DRIVER "bind", bdf);
	assert_int_equal(pin(fd, 0, 4 * PAGE, 0, &q), 0);
	assert_true(dies_reading(at)); /* the old mapping is dead for ever */
	assert_int_equal(destroy(fd, p.handle), 0);
	assert_int_equal(destroy(fd, p.handle), -ENOENT);
	munmap(at, 4 * PAGE);
	fd_close(fd);
	counters_zero();
}

/* A queue in GPU memory, whose daemon outlives the GPU. */
static void test_gpu_queue_loses_its_memory(void **state)
{
	int app = ctx_open(), daemon = ctx_open(), ep;
	struct wbell_u_ep_info info = {};
	struct wbell_u_gpu_pin p;
	uint32_t id, handle = nic(daemon, "gpu", 1, &id);
	char *at = pinned(app, 0, 3 * PAGE, &p), *sq;

	assert_int_equal(queue(app, id, p.handle, NULL), 0);
	ep = accept_queue(daemon, handle, WBELL_ACCEPT_DUMMY);
	assert_int_equal(call(ep, WBELL_IOC_EP_INFO, &info), 0);
	sq = map(ep, info.region[0].cookie, PAGE, PROT_READ);
	strcpy(at, "written by the GPU");
	assert_string_equal(sq, "written by the GPU");
	file_write(DRIVER "unbind", bdf);
	assert_int_equal(sq[0], 0);
	assert_true(dies_reading(at));
	assert_int_equal(event_wait(app, WBELL_EVENT_QUEUE_ERROR).reason,
			 WBELL_REASON_MEMORY);
	assert_int_equal(event_wait(app, WBELL_EVENT_REVOKED).handle, p.handle);
	file_write(DRIVER "bind", bdf);
	munmap(at, 3 * PAGE);
	munmap(sq, PAGE);
	fd_close(ep);
	fd_close(daemon);
	fd_close(app);
	counters_zero();
}

static volatile bool stop;

static void *binder(void *arg)
{
	int i;

	for (i = 0; i < 30; i++) {
		usleep(5000);
		file_write(DRIVER "unbind", bdf);
		file_write(DRIVER "bind", bdf);
	}
	stop = true;
	return NULL;
}

/* The device comes and goes under pins, mappings and accesses. */
static void test_gpu_comes_and_goes(void **state)
{
	struct wbell_u_provider_query q;
	struct wbell_u_gpu_pin p = {};
	int fd = ctx_open(), good = 0, dead = 0;
	pthread_t thread;
	char *at;

	gpu(fd);
	pthread_create(&thread, NULL, binder, NULL);
	while (!stop) {
		if (!provider(fd, "pci-bar:", &q))
			continue;
		p = (struct wbell_u_gpu_pin){ .provider = q.id, .len = PAGE };
		if (call(fd, WBELL_IOC_GPU_PIN, &p))
			continue;
		at = map(fd, p.cookie, p.map_len, PROT_READ | PROT_WRITE);
		if (at) {
			if (dies_writing(at))
				dead++;
			else
				good++;
			munmap(at, p.map_len);
		}
		assert_int_equal(destroy(fd, p.handle), 0);
	}
	pthread_join(thread, NULL);
	print_message("# touched %d live, %d dead\n", good, dead);
	assert_true(good > 0);
	fd_close(fd);
	counters_zero();
}

/*
 * By QEMU's monitor, which is the guest's third serial line.  No echo: what
 * the monitor says would come back to it as commands.
 */
static void pull(void)
{
	const char order[] = "\ndevice_del gpu0\n";
	int fd = open("/dev/ttyS2", O_RDWR | O_NOCTTY);
	struct termios t;

	assert_true(fd >= 0);
	assert_int_equal(tcgetattr(fd, &t), 0);
	cfmakeraw(&t);
	assert_int_equal(tcsetattr(fd, TCSANOW, &t), 0);
	assert_true(write(fd, order, strlen(order)) > 0);
	tcdrain(fd);
	close(fd);
}

static void test_gpu_unplugged(void **state)
{
	struct wbell_u_provider_query q;
	struct wbell_u_gpu_pin p;
	int fd = ctx_open(), i;
	char *at = pinned(fd, 0, PAGE, &p);

	at[0] = 1;
	/* the hot-plug driver lets 5 s pass, in case it was a mistake */
	for (i = 0; i < 6000 && provider(fd, "pci-bar:", &q); i++) {
		if (i % 1500 == 0)
			pull(); /* again: it does no harm */
		usleep(10000);
	}
	assert_false(provider(fd, "pci-bar:", &q));
	assert_int_equal(event_get(fd).reason, WBELL_REASON_REMOVED);
	assert_true(dies_reading(at));
	munmap(at, PAGE);
	fd_close(fd);
	counters_zero();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpu_query),
		cmocka_unit_test(test_gpu_pin_map_write),
		cmocka_unit_test(test_gpu_refused),
		cmocka_unit_test(test_gpu_old_contents_need_a_right),
		cmocka_unit_test(test_gpu_is_not_for_children),
		cmocka_unit_test(test_gpu_unbound_O02),
		cmocka_unit_test(test_gpu_queue_loses_its_memory),
		cmocka_unit_test(test_gpu_comes_and_goes),
		cmocka_unit_test(test_gpu_unplugged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
