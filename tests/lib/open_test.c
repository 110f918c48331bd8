// SPDX-License-Identifier: BSD-2-Clause
/* wbell_open(), wbell_close() and what goes wrong in them. */
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib_test.h"

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Every refusal gives its code and text, no context and no descriptor. */
static void refused(const struct wbell_open_attr *attr, int rc,
		    const char *part)
{
	struct wbell_ctx *ctx = (void *)1;
	unsigned fds = count_fds();

	errno = 4711;
	assert_int_equal(wbell_open(attr, &ctx), rc);
	assert_int_equal(errno, 4711);
	assert_null(ctx);
	assert_has(wbell_error(NULL), part);
	assert_int_equal(count_fds(), fds);
}

static void refused_wire(const char *wire, int rc, const char *part)
{
	struct wbell_open_attr attr = { .wire = wire, .provider = "fake" };

	refused(&attr, rc, part);
}

static void test_open_wire_malformed(void **state)
{
	static char longer[4096];

	refused_wire(NULL, -EINVAL, "none is given");
	refused_wire("", -EINVAL, "none is given");
	refused_wire("veth0", -EINVAL, "no KIND:");
	refused_wire(":veth0", -EINVAL, "no KIND:");
	refused_wire("af packet:veth0", -EINVAL, "no KIND:");
	refused_wire("ring:", -EINVAL, "nothing behind 'ring:'");
	refused_wire("ring:,mtu=4", -EINVAL, "nothing behind 'ring:'");
	refused_wire("ring:a,", -EINVAL, "empty key");
	refused_wire("ring:a,,mtu=4", -EINVAL, "empty key");
	refused_wire("ring:a,mtu", -EINVAL, "'mtu' has no key and value");
	refused_wire("ring:a,=4", -EINVAL, "'=4' has no key and value");
	refused_wire("ring:a\033[2J", -EINVAL, "control character 0x1b");
	memset(longer, 'a', sizeof(longer) - 1);
	refused_wire(longer, -EINVAL, "longer than");
}

static void test_open_wire_unknown(void **state)
{
	refused_wire("carrier_pigeon:x", -EINVAL, "carrier_pigeon:x");
	refused_wire("fake:x,speed=9", -EINVAL, "speed");
	refused_wire("fake:x,mem=EWHAT", -EINVAL, "mem");
	refused_wire("fake:x,syndrome=999", -EINVAL, "syndrome");
}

static void test_open_provider_unknown(void **state)
{
	struct wbell_open_attr attr = { .wire = "fake:x", .provider = "mlx9" };

	refused(&attr, -ENODEV, "'mlx9'");
	setenv("WBELL_PROVIDER", "mlx8", 1);
	attr = (struct wbell_open_attr){ .wire = "ring:x" };
	refused(&attr, -ENODEV, "'mlx8'");
	unsetenv("WBELL_PROVIDER");
}

static void test_open_provider_fails(void **state)
{
	refused_wire("fake:x,open=EPERM", -EPERM, "told to fail");
	refused_wire("fake:x,open=EBUSY", -EBUSY, "told to fail");
}

static void test_open_engine_missing(void **state)
{
	struct wbell_open_attr attr = { .wire = "ring:x",
					.provider = "engine" };

	setenv("WBELL_ENGINE", "/nonexistent/engine.so", 1);
	refused(&attr, -ENODEV,
		"cannot load the engine: /nonexistent/engine.so");
	assert_has(wbell_error(NULL), "set WBELL_ENGINE");
	attr.provider = NULL;
	refused(&attr, -ENODEV,
		"cannot load the engine: /nonexistent/engine.so");
	setenv("WBELL_ENGINE", "/dev/null", 1);
	refused(&attr, -ENODEV, "cannot load the engine: /dev/null");
	unsetenv("WBELL_ENGINE");
}

static void test_open_engine_of_other_version(void **state)
{
	struct wbell_open_attr attr = { .wire = "ring:x",
					.provider = "engine" };

	setenv("WBELL_ENGINE", STALE_ENGINE, 1);
	refused(&attr, -EPROTONOSUPPORT, "version 99");
	setenv("WBELL_ENGINE", EMPTY_ENGINE, 1);
	refused(&attr, -ENODEV, "wbell_provider");
	unsetenv("WBELL_ENGINE");
}

static void test_open_attr_sizes(void **state)
{
	struct {
		struct wbell_open_attr attr;
		uint64_t newer;
	} big = { .attr = { .size = sizeof(big), .wire = "fake:x" } };
	struct wbell_ctx *ctx;

	assert_int_equal(wbell_open(&big.attr, &ctx), 0);
	assert_int_equal(wbell_close(ctx), 0);
	big.newer = 1;
	refused(&big.attr, -E2BIG, "newer libwarpbell");
	big.attr.size = 8;
	refused(&big.attr, -EINVAL, "size 8 is below");
	refused(NULL, -EINVAL, "none is given");
}

static void test_open_attr_values(void **state)
{
	struct wbell_open_attr attr = { .wire = "fake:x", .flags = 0x80 };

	refused(&attr, -EINVAL, "0x80 is not known");
	attr.flags = 0;
	attr.max_queues = 16385;
	refused(&attr, -EINVAL, "max_queues 16385");
	attr.max_queues = 1;
	attr.rsvd = 5;
	refused(&attr, -EINVAL, "rsvd");
	assert_int_equal(wbell_open(&attr, NULL), -EINVAL);
}

static void test_close_while_objects_left(void **state)
{
	static char buf[64];
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_queue *q = create_queue(ctx, 4);
	struct wbell_mem *mem;

	assert_int_equal(wbell_mem_register(ctx, buf, 64, 0, &mem), 0);
	assert_int_equal(wbell_close(ctx), -EBUSY);
	assert_has(wbell_error(ctx), "1 memory and 1 queues");
	assert_int_equal(wbell_mem_deregister(mem), 0);
	assert_int_equal(wbell_close(ctx), -EBUSY);
	assert_has(wbell_error(ctx), "0 memory and 1 queues");
	assert_int_equal(wbell_queue_destroy(q), 0);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_null_objects(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");

	assert_int_equal(wbell_close(NULL), -EINVAL);
	assert_has(wbell_error(NULL), "wbell_close: the context is NULL");
	assert_int_equal(wbell_info(ctx, NULL), -EINVAL);
	assert_int_equal(wbell_poll(NULL), -EINVAL);
	assert_int_equal(wbell_event_fd(ctx, NULL), -EINVAL);
	assert_int_equal(wbell_event_next(NULL, NULL), -EINVAL);
	assert_int_equal(wbell_mem_deregister(NULL), -EINVAL);
	assert_int_equal(wbell_queue_create(ctx, NULL, NULL), -EINVAL);
	assert_int_equal(wbell_queue_destroy(NULL), -EINVAL);
	assert_int_equal(wbell_queue_connect(NULL, NULL), -EINVAL);
	assert_int_equal(wbell_queue_device(NULL, NULL), -EINVAL);
	assert_int_equal(wbell_queue_stat(NULL, NULL), -EINVAL);
	assert_int_equal(wbell_queue_each(NULL, NULL), -EINVAL);
	assert_int_equal(wbell_provider_probe(0, NULL), -EINVAL);
	assert_int_equal(wbell_mem_lkey(NULL), 0);
	wbell_abort(NULL);
	assert_int_equal(wbell_close(ctx), 0);
}

struct lines {
	unsigned count;
	char last[512];
};

static void keep_line(void *arg, int level, const char *text)
{
	struct lines *lines = arg;

	lines->count++;
	snprintf(lines->last, sizeof(lines->last), "%s", text);
}

static void test_log_callback(void **state)
{
	struct lines lines = { 0 };
	struct wbell_open_attr attr = { .wire = "fake:x",
					.log = keep_line,
					.log_arg = &lines };
	struct wbell_ctx *ctx;

	assert_int_equal(wbell_open(&attr, &ctx), 0);
	wbell_close(ctx);
	assert_has(lines.last, "provider fake on wire fake:x");
	lines.count = 0;
	setenv("WBELL_LOG", "error", 1);
	assert_int_equal(wbell_open(&attr, &ctx), 0);
	wbell_close(ctx);
	assert_int_equal(lines.count, 0);
	setenv("WBELL_LOG", "loud", 1);
	refused(&attr, -EINVAL, "'loud' is no level");
	unsetenv("WBELL_LOG");
}

/* The downgrade is one line and holds its cause. */
static void test_log_provider_not_used(void **state)
{
	struct lines lines = { 0 };
	struct wbell_open_attr attr = { .wire = "ring:x",
					.log = keep_line,
					.log_arg = &lines };
	struct wbell_ctx *ctx;

	setenv("WBELL_ENGINE", "/nonexistent/engine.so", 1);
	assert_int_equal(wbell_open(&attr, &ctx), -ENODEV);
	unsetenv("WBELL_ENGINE");
	assert_int_equal(lines.count, 1);
	assert_has(lines.last, "provider engine not used: cannot load");
}

static void test_log_mistyped_variable(void **state)
{
	struct lines lines = { 0 };
	struct wbell_open_attr attr = { .wire = "fake:x",
					.log = keep_line,
					.log_arg = &lines };
	struct wbell_ctx *ctx;

	setenv("WBELL_LGO", "debug", 1);
	setenv("WBELL_UNRELATED", "1", 1);
	setenv("WBELL_LOG", "warn", 1);
	assert_int_equal(wbell_open(&attr, &ctx), 0);
	wbell_close(ctx);
	unsetenv("WBELL_LGO");
	unsetenv("WBELL_UNRELATED");
	unsetenv("WBELL_LOG");
	assert_int_equal(lines.count, 1);
	assert_has(lines.last, "WBELL_LGO is no variable of warpbell: set "
			       "WBELL_LOG");
}

static void test_log_file(void **state)
{
	char pattern[] = "build/tests/lib/log.%p", path[64], text[256] = "";
	struct wbell_open_attr attr = { .wire = "fake:x" };
	struct wbell_ctx *ctx;
	FILE *f;

	setenv("WBELL_LOG_FILE", pattern, 1);
	assert_int_equal(wbell_open(&attr, &ctx), 0);
	wbell_close(ctx);
	snprintf(path, sizeof(path), "build/tests/lib/log.%d", getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	unlink(path);
	assert_has(text, "info: provider fake on wire fake:x\n");
	setenv("WBELL_LOG_FILE", "/nonexistent/log", 1);
	refused(&attr, -ENOENT, "cannot open log file /nonexistent/log");
	unsetenv("WBELL_LOG_FILE");
}

static void test_poll_needs_polled(void **state)
{
	struct wbell_open_attr attr = { .wire = "fake:x" };
	struct wbell_ctx *ctx;

	assert_int_equal(wbell_open(&attr, &ctx), 0);
	assert_int_equal(wbell_poll(ctx), -EINVAL);
	assert_has(wbell_error(ctx), "WBELL_OPEN_POLLED");
	assert_int_equal(wbell_close(ctx), 0);
}

/* Each descriptor of a context is the one that is not there once. */
static void test_open_out_of_descriptors(void **state)
{
	struct wbell_open_attr attr = { .wire = "fake:x" };
	struct rlimit old, lim;
	struct wbell_ctx *ctx;
	unsigned extra, failed = 0;
	int rc = -1, fd = dup(0);

	close(fd);
	getrlimit(RLIMIT_NOFILE, &old);
	for (extra = 0; rc && extra < 8; extra++) {
		lim = old;
		lim.rlim_cur = fd + extra;
		setrlimit(RLIMIT_NOFILE, &lim);
		rc = wbell_open(&attr, &ctx);
		setrlimit(RLIMIT_NOFILE, &old);
		if (!rc)
			break;
		assert_int_equal(rc, -EMFILE);
		assert_has(wbell_error(NULL), "EMFILE");
		failed++;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(failed, 2);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_probe_lists_providers(void **state)
{
	struct wbell_provider_info info;

	setenv("WBELL_ENGINE", "/nonexistent/engine.so", 1);
	assert_int_equal(wbell_provider_probe(0, &info), 0);
	assert_string_equal(info.name, "engine");
	assert_false(info.usable);
	assert_has(info.text, "/nonexistent/engine.so");
	unsetenv("WBELL_ENGINE");
	assert_int_equal(wbell_provider_probe(1, &info), 0);
	assert_string_equal(info.name, "fake");
	assert_int_equal(wbell_provider_probe(2, &info), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_wire_malformed),
		cmocka_unit_test(test_open_wire_unknown),
		cmocka_unit_test(test_open_provider_unknown),
		cmocka_unit_test(test_open_provider_fails),
		cmocka_unit_test(test_open_engine_missing),
		cmocka_unit_test(test_open_engine_of_other_version),
		cmocka_unit_test(test_open_attr_sizes),
		cmocka_unit_test(test_open_attr_values),
		cmocka_unit_test(test_close_while_objects_left),
		cmocka_unit_test(test_null_objects),
		cmocka_unit_test(test_log_callback),
		cmocka_unit_test(test_log_provider_not_used),
		cmocka_unit_test(test_log_mistyped_variable),
		cmocka_unit_test(test_log_file),
		cmocka_unit_test(test_poll_needs_polled),
		cmocka_unit_test(test_open_out_of_descriptors),
		cmocka_unit_test(test_probe_lists_providers),
	};

	return cmocka_run_group_tests_name("open", tests, NULL, NULL);
}
