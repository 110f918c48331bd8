// SPDX-License-Identifier: BSD-2-Clause
/* Memory registration. */
#include <sys/mman.h>
#include <unistd.h>

#include "lib_test.h"

static void refused(struct wbell_ctx *ctx, void *addr, size_t len,
		    uint32_t access, int rc, const char *part)
{
	struct wbell_mem *mem = (void *)1;

	errno = 4711;
	assert_int_equal(wbell_mem_register(ctx, addr, len, access, &mem), rc);
	assert_int_equal(errno, 4711);
	assert_null(mem);
	assert_has(wbell_error(ctx), part);
}

static void test_register_bad_range(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	char buf[64];

	refused(ctx, buf, 0, 0, -EINVAL,
		"of 0 bytes: nothing to register: give a length of at least 1");
	refused(ctx, (void *)-4096L, 8192, 0, -EINVAL, "wraps");
	refused(ctx, buf, SIZE_MAX, 0, -EINVAL, "wraps");
	refused(ctx, buf, 64, 0x10, -EINVAL, "0x10 is not known");
	refused(ctx, NULL, 64, 0, -EFAULT, "0x0 is not mapped");
	refused(ctx, (void *)-1L, 1, 0, -EFAULT, "is not mapped");
	assert_int_equal(wbell_close(ctx), 0);
}

/* Three pages, the middle one gone: its address is named. */
static void test_register_hole(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	long page = sysconf(_SC_PAGESIZE);
	struct wbell_mem *mem;
	char hole[64], *p;

	p = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	munmap(p + page, page);
	snprintf(hole, sizeof(hole), "EFAULT: %p is not mapped", p + page);
	refused(ctx, p + 8, 2 * page, 0, -EFAULT, hole);
	assert_int_equal(wbell_mem_register(ctx, p, page, 0, &mem), 0);
	assert_int_equal(wbell_mem_deregister(mem), 0);
	munmap(p, 3 * page);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_register_protection(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	long page = sysconf(_SC_PAGESIZE);
	struct wbell_mem *mem;
	char *p;

	p = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	refused(ctx, p, page, WBELL_LOCAL_WRITE, -EFAULT, "not writable");
	refused(ctx, p, page, WBELL_REMOTE_ATOMIC, -EFAULT, "not writable");
	assert_int_equal(
		wbell_mem_register(ctx, p, page, WBELL_REMOTE_READ, &mem), 0);
	assert_int_equal(wbell_mem_deregister(mem), 0);
	mprotect(p, page, PROT_NONE);
	refused(ctx, p, page, 0, -EFAULT, "not readable");
	munmap(p, page);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_register_keys(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_mem *a, *b;
	char buf[64];

	assert_int_equal(wbell_mem_register(ctx, buf, 64, 0, &a), 0);
	assert_int_equal(wbell_mem_register(ctx, buf, 64, 0, &b), 0);
	assert_int_not_equal(wbell_mem_lkey(a), wbell_mem_lkey(b));
	assert_int_equal(wbell_mem_lkey(a), wbell_mem_rkey(a));
	assert_int_equal(wbell_mem_deregister(a), 0);
	assert_int_equal(wbell_mem_deregister(b), 0);
	assert_int_equal(wbell_close(ctx), 0);
}

/* The NIC's refusal is the call's; nothing of the registration is left. */
static void o10_case(const char *wire, int rc, const char *name,
		     const char *hint)
{
	struct wbell_ctx *ctx = open_wire(wire);
	char buf[4096], range[96];

	snprintf(range, sizeof(range), "at %p of 4096 bytes", buf);
	refused(ctx, buf, sizeof(buf), WBELL_REMOTE_WRITE, rc, range);
	assert_has(wbell_error(ctx), name);
	assert_has(wbell_error(ctx), hint);
	assert_int_equal(wbell_close(ctx), 0);
}

static void o10_register_refused_with_efault(void **state)
{
	o10_case("fake:x,mem=EFAULT", -EFAULT, "EFAULT", "peer-memory");
}

static void o10_register_refused_with_enomem(void **state)
{
	o10_case("fake:x,mem=ENOMEM", -ENOMEM, "ENOMEM", "BAR1");
	o10_case("fake:x,mem=ENOMEM", -ENOMEM, "ENOMEM",
		 "0 registrations hold 0 bytes");
}

static void o10_register_refused_with_eopnotsupp(void **state)
{
	o10_case("fake:x,mem=EOPNOTSUPP", -EOPNOTSUPP, "EOPNOTSUPP",
		 "use host memory");
}

/* A queue needs a key of its own: its refusal is the queue's. */
static void o10_queue_create_without_its_key(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x,mem=ENOMEM");
	struct wbell_queue *q = (void *)1;

	assert_int_equal(wbell_queue_create(ctx, NULL, &q), -ENOMEM);
	assert_null(q);
	assert_has(wbell_error(ctx), "ENOMEM");
	assert_int_equal(wbell_close(ctx), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_register_bad_range),
		cmocka_unit_test(test_register_hole),
		cmocka_unit_test(test_register_protection),
		cmocka_unit_test(test_register_keys),
		cmocka_unit_test(o10_register_refused_with_efault),
		cmocka_unit_test(o10_register_refused_with_enomem),
		cmocka_unit_test(o10_register_refused_with_eopnotsupp),
		cmocka_unit_test(o10_queue_create_without_its_key),
	};

	return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
