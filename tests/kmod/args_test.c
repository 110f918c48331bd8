// SPDX-License-Identifier: BSD-2-Clause
/* Bad arguments of every ioctl: sizes, flags, reserved members, handles. */
#include <sys/ioctl.h>

#include "kmod.h"

struct ioctl_info {
	const char *name;
	unsigned int cmd;
	uint32_t size, flags; /* known */
	uint32_t rsvd;	      /* offset of a member that must be 0; 0: none */
	bool endpoint;
};

#define ROW(nr, type, flags, rsvd, ep)                                     \
	{                                                                  \
#nr, WBELL_IOC_##nr, sizeof(struct wbell_u_##type), flags, \
			rsvd, ep                                           \
	}
#define AT(type, member) offsetof(struct wbell_u_##type, member)

static const struct ioctl_info ioctls[] = {
	ROW(HELLO, hello, 0, AT(hello, rsvd), false),
	ROW(PROVIDER_QUERY, provider_query, 0, AT(provider_query, rsvd), false),
	ROW(NIC_QUERY, nic_query, 0, 0, false),
	ROW(DESTROY, destroy, 0, AT(destroy, rsvd), false),
	ROW(RING_ALLOC, ring_alloc, 0, AT(ring_alloc, rsvd), false),
	ROW(MREG_HOST, mreg_host, 0, AT(mreg_host, rsvd), false),
	ROW(MREG_OBJECT, mreg_object, 0, 0, false),
	ROW(GPU_PIN, gpu_pin, WBELL_GPU_KEEP, AT(gpu_pin, rsvd), false),
	ROW(WINDOW_ALLOC, window_alloc, 0, 0, false),
	ROW(NIC_REGISTER, nic_register, 0, AT(nic_register, rsvd), false),
	ROW(NIC_ACCEPT, nic_accept, WBELL_ACCEPT_DUMMY, AT(nic_accept, rsvd),
	    false),
	ROW(QUEUE_CREATE, queue_create, 0, AT(queue_create, rsvd), false),
	ROW(QUEUE_GRANT, queue_grant, WBELL_GRANT_REMOVE, 0, false),
	ROW(QUEUE_MODIFY, queue_modify, 0, 0, false),
	ROW(QUEUE_QUERY, queue_query, 0, 0, false),
	ROW(QUEUE_KICK, queue_kick, 0, AT(queue_kick, rsvd), false),
	ROW(EP_INFO, ep_info, 0, AT(ep_info, rsvd), true),
	ROW(EP_GRANT, ep_grant, 0, AT(ep_grant, rsvd), true),
	ROW(EP_ERROR, ep_error, 0, AT(ep_error, rsvd), true),
	ROW(EP_KICK, ep_kick, 0, 0, true),
};
#define N (sizeof(ioctls) / sizeof(ioctls[0]))

/* A context with a NIC, a queue and its endpoint: files for all ioctls. */
struct files {
	int ctx, app, ep;
};

static struct files files_open(void)
{
	struct files f = { .ctx = ctx_open(), .app = ctx_open() };
	uint32_t id, handle = nic(f.ctx, "args", 4, &id);
	uint32_t object = ring(f.app, 3 * PAGE, NULL, NULL);

	assert_int_equal(queue(f.app, id, object, NULL), 0);
	f.ep = accept_queue(f.ctx, handle, 0);
	assert_true(f.ep >= 0);
	return f;
}

static void files_close(struct files *f)
{
	fd_close(f->ep);
	fd_close(f->app);
	fd_close(f->ctx);
	counters_zero();
}

static int raw(int fd, unsigned int cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

/* Two pages of zeroes, the second only where a size passes one. */
static void sizes_of(const struct ioctl_info *info, int fd, char *page)
{
	uint32_t size;
	int rc;

	for (size = 0; size <= PAGE + 8; size++) {
		memset(page, 0, 2 * PAGE);
		memcpy(page, &size, sizeof(size));
		rc = raw(fd, info->cmd, page);
		if (size < info->size) {
			assert_int_equal(rc, -EINVAL);
		} else if (size > PAGE) {
			assert_int_equal(rc, -E2BIG);
		} else {
			/* whatever it says, it is not the size */
			assert_int_not_equal(rc, -E2BIG);
			assert_int_not_equal(rc, -EFAULT);
			assert_int_not_equal(rc, -ENOTTY);
		}
		if (size <= info->size || size > PAGE)
			continue;
		memset(page, 0, 2 * PAGE);
		memcpy(page, &size, sizeof(size));
		page[size - 1] = 1;
		assert_int_equal(raw(fd, info->cmd, page), -E2BIG);
	}
}

static void test_args_every_size(void **state)
{
	struct files f = files_open();
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t objects = counter("objects");
	size_t i;

	for (i = 0; i < N; i++) {
		if (ioctls[i].cmd == WBELL_IOC_EP_ERROR)
			continue; /* zeroes are an order it obeys */
		sizes_of(&ioctls[i], ioctls[i].endpoint ? f.ep : f.ctx, page);
	}
	assert_int_equal(counter("objects"), objects);
	sizes_of(&ioctls[N - 2], f.ep, page);
	munmap(page, 2 * PAGE);
	files_close(&f);
}

/* The struct's last byte on the last byte of a mapping, and one beyond. */
static void test_args_at_the_end_of_memory(void **state)
{
	struct files f = files_open();
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;
	char *at;

	mprotect(page + PAGE, PAGE, PROT_NONE);
	for (i = 0; i < N; i++) {
		int fd = ioctls[i].endpoint ? f.ep : f.ctx;

		at = page + PAGE - ioctls[i].size;
		memset(page, 0, PAGE);
		memcpy(at, &ioctls[i].size, 4);
		assert_int_not_equal(raw(fd, ioctls[i].cmd, at), -EFAULT);
		at += 4;
		memcpy(at, &ioctls[i].size, 4);
		assert_int_equal(raw(fd, ioctls[i].cmd, at), -EFAULT);
		assert_int_equal(raw(fd, ioctls[i].cmd, NULL), -EFAULT);
		assert_int_equal(raw(fd, ioctls[i].cmd, (void *)-8L), -EFAULT);
	}
	munmap(page, 2 * PAGE);
	files_close(&f);
}

static void test_args_unknown_flags(void **state)
{
	struct files f = files_open();
	char arg[256];
	uint32_t bit;
	size_t i;

	for (i = 0; i < N; i++) {
		for (bit = 1; bit; bit <<= 1) {
			if (bit & ioctls[i].flags)
				continue;
			memset(arg, 0, sizeof(arg));
			memcpy(arg + 4, &bit, 4);
			assert_int_equal(
				call_size(ioctls[i].endpoint ? f.ep : f.ctx,
					  ioctls[i].cmd, arg, ioctls[i].size),
				-EINVAL);
			assert_non_null(strstr(call_err, "unknown"));
		}
	}
	files_close(&f);
}

static void test_args_reserved_not_zero(void **state)
{
	struct files f = files_open();
	uint32_t one = 1;
	char arg[256];
	size_t i;

	for (i = 0; i < N; i++) {
		if (!ioctls[i].rsvd)
			continue;
		memset(arg, 0, sizeof(arg));
		memcpy(arg + ioctls[i].rsvd, &one, 4);
		assert_int_equal(call_size(ioctls[i].endpoint ? f.ep : f.ctx,
					   ioctls[i].cmd, arg, ioctls[i].size),
				 ioctls[i].cmd == WBELL_IOC_HELLO ? -EINVAL
								  : -EINVAL);
	}
	files_close(&f);
}

/* An ioctl of the other file, and numbers that nobody has. */
static void test_args_unknown_number(void **state)
{
	struct files f = files_open();
	unsigned int nr, cmd;
	char arg[256];
	size_t i;

	for (nr = 0; nr < 256; nr++) {
		bool of_ctx = false, of_ep = false;

		cmd = WBELL_IOC(nr);
		for (i = 0; i < N; i++) {
			of_ctx |= ioctls[i].cmd == cmd && !ioctls[i].endpoint;
			of_ep |= ioctls[i].cmd == cmd && ioctls[i].endpoint;
		}
		memset(arg, 0, sizeof(arg));
		if (!of_ctx)
			assert_int_equal(call_size(f.ctx, cmd, arg, 256),
					 -ENOTTY);
		if (!of_ep)
			assert_int_equal(call_size(f.ep, cmd, arg, 256),
					 -ENOTTY);
	}
	files_close(&f);
}

/* err_ptr that cannot be written hides no error, and succeeds with success. */
static void test_args_bad_err_ptr(void **state)
{
	struct wbell_u_ring_alloc arg = { .size = sizeof(arg),
					  .err_ptr = 0x10 };
	struct wbell_u_hello hello = { .size = sizeof(hello), .err_ptr = 1 };
	int fd = ctx_open();

	assert_int_equal(raw(fd, WBELL_IOC_RING_ALLOC, &arg), -EINVAL);
	assert_int_equal(raw(fd, WBELL_IOC_HELLO, &hello), 0);
	assert_int_equal(hello.abi, WBELL_ABI);
	assert_int_equal(hello.event_size, sizeof(struct wbell_u_event));
	fd_close(fd);
}

/* The results cannot be written: no object is left behind. */
static void test_args_results_cannot_be_written(void **state)
{
	struct wbell_u_ring_alloc *arg;
	int fd = ctx_open();

	arg = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arg->size = sizeof(*arg);
	arg->bytes = 1;
	mprotect(arg, PAGE, PROT_READ);
	assert_int_equal(raw(fd, WBELL_IOC_RING_ALLOC, arg), -EFAULT);
	counter_wait("objects", 0);
	counter_wait("ring_pages", 0);
	counter_wait("maps", 0);
	munmap(arg, PAGE);
	fd_close(fd);
	counters_zero();
}

static void test_args_foreign_handles(void **state)
{
	int mine = ctx_open(), other = ctx_open();
	struct wbell_u_mreg_object mreg = { .len = PAGE };
	uint32_t handle = ring(mine, PAGE, NULL, NULL);

	/* one that is only the other's */
	ring(other, PAGE, NULL, NULL);
	mreg.object = ring(other, PAGE, NULL, NULL);
	assert_int_equal(call(mine, WBELL_IOC_MREG_OBJECT, &mreg), -ENOENT);
	assert_int_equal(destroy(mine, mreg.object), -ENOENT);
	assert_int_equal(destroy(mine, 0), -ENOENT);
	assert_int_equal(destroy(mine, UINT32_MAX), -ENOENT);
	assert_int_equal(destroy(mine, handle), 0);
	assert_int_equal(destroy(mine, handle), -ENOENT);
	/* the number is not the next one's */
	assert_int_not_equal(ring(mine, PAGE, NULL, NULL), handle);
	fd_close(mine);
	fd_close(other);
	counters_zero();
}

/* A handle of another kind is no handle. */
static void test_args_handles_of_another_kind(void **state)
{
	struct wbell_u_queue_query query = {};
	struct wbell_u_nic_accept accept = {};
	struct wbell_u_mreg_object mreg = { .len = PAGE };
	int fd = ctx_open();
	uint32_t object = ring(fd, PAGE, NULL, NULL);

	query.queue = object;
	accept.nic = object;
	assert_int_equal(call(fd, WBELL_IOC_QUEUE_QUERY, &query), -ENOENT);
	assert_int_equal(call(fd, WBELL_IOC_NIC_ACCEPT, &accept), -ENOENT);
	mreg.object = mreg_ring(fd, object, PAGE, 0, 0);
	assert_int_equal(call(fd, WBELL_IOC_MREG_OBJECT, &mreg), -ENOENT);
	fd_close(fd);
	counters_zero();
}

static void ring_refused(int fd, uint64_t bytes, int rc)
{
	struct wbell_u_ring_alloc arg = { .bytes = bytes };

	assert_int_equal(call(fd, WBELL_IOC_RING_ALLOC, &arg), rc);
}

static void test_args_wrapped_ranges(void **state)
{
	struct wbell_u_mreg_host host = { .len = PAGE };
	struct wbell_u_mreg_object part = {};
	int fd = ctx_open();

	ring_refused(fd, 0, -EINVAL);
	ring_refused(fd, UINT64_MAX, -EOVERFLOW);
	ring_refused(fd, UINT64_MAX - PAGE + 1, -EDQUOT);
	ring_refused(fd, 1ULL << 63, -EDQUOT);
	part.object = ring(fd, 2 * PAGE, NULL, NULL);
	part.len = 3 * PAGE;
	assert_int_equal(call(fd, WBELL_IOC_MREG_OBJECT, &part), -EINVAL);
	part.offset = -PAGE;
	part.len = 2 * PAGE;
	assert_int_equal(call(fd, WBELL_IOC_MREG_OBJECT, &part), -EOVERFLOW);
	part.offset = 0;
	part.iova = -PAGE;
	assert_int_equal(call(fd, WBELL_IOC_MREG_OBJECT, &part), -EOVERFLOW);
	part.iova = 0;
	part.access = 0x10;
	assert_int_equal(call(fd, WBELL_IOC_MREG_OBJECT, &part), -EINVAL);
	host.addr = -PAGE;
	assert_int_equal(call(fd, WBELL_IOC_MREG_HOST, &host), -EOVERFLOW);
	host.addr = 0xffff800000000000;
	assert_int_equal(call(fd, WBELL_IOC_MREG_HOST, &host), -EINVAL);
	host.addr = PAGE + 1;
	assert_int_equal(call(fd, WBELL_IOC_MREG_HOST, &host), -EINVAL);
	host.addr = PAGE; /* nothing is mapped so low */
	assert_int_equal(call(fd, WBELL_IOC_MREG_HOST, &host), -EFAULT);
	fd_close(fd);
	counters_zero();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_args_every_size),
		cmocka_unit_test(test_args_at_the_end_of_memory),
		cmocka_unit_test(test_args_unknown_flags),
		cmocka_unit_test(test_args_reserved_not_zero),
		cmocka_unit_test(test_args_unknown_number),
		cmocka_unit_test(test_args_bad_err_ptr),
		cmocka_unit_test(test_args_results_cannot_be_written),
		cmocka_unit_test(test_args_foreign_handles),
		cmocka_unit_test(test_args_handles_of_another_kind),
		cmocka_unit_test(test_args_wrapped_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
