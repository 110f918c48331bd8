// SPDX-License-Identifier: BSD-2-Clause
/* What a daemon may map of a queue, and who may be one. */
#include <sys/stat.h>

#include "pair.h"

static void test_queue_daemon_sees_what_it_may(void **state)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct pair p = pair_make(0);
	struct wbell_u_ep_info info = info_of(p.ep);
	char *sq = region(p.ep, WBELL_REGION_SQ, PROT_READ);
	char *cq = region(p.ep, WBELL_REGION_CQ, rw);
	char *db = region(p.ep, WBELL_REGION_DB, PROT_READ);

	assert_int_equal(info.state, WBELL_QUEUE_READY);
	assert_int_equal(info.depth, 64);
	assert_int_equal(info.region[WBELL_REGION_SQ].write, 0);
	assert_int_equal(info.region[WBELL_REGION_CQ].write, 1);
	assert_null(region(p.ep, WBELL_REGION_SQ, rw));
	assert_int_equal(errno, EACCES);
	assert_null(region(p.ep, WBELL_REGION_DB, PROT_WRITE));
	strcpy(p.mem, "send");
	strcpy(p.mem + 2 * PAGE, "doorbell");
	assert_string_equal(sq, "send");
	assert_string_equal(db, "doorbell");
	strcpy(cq, "completion");
	assert_string_equal(p.mem + PAGE, "completion");
	assert_int_equal(mprotect(sq, PAGE, rw), -1);
	assert_int_equal(errno, EACCES);
	/* what is the app's is not the daemon's, and back */
	assert_null(map(p.ep, p.cookie, p.len, PROT_READ));
	assert_null(map(p.daemon, info.region[0].cookie, PAGE, PROT_READ));
	assert_null(map(p.app, info.region[0].cookie, PAGE, PROT_READ));
	assert_null(map(p.ep, info.region[0].cookie, 2 * PAGE, PROT_READ));
	munmap(sq, PAGE);
	munmap(cq, PAGE);
	munmap(db, PAGE);
	pair_end(&p);
}

static void test_queue_grants(void **state)
{
	struct pair p = pair_make(0);
	uint32_t more = ring(p.app, 2 * PAGE, NULL, NULL);
	uint32_t ro =
		mreg_ring(p.app, more, PAGE, WBELL_ACCESS_REMOTE_READ, 0x7000);
	uint32_t rw = mreg_ring(p.app, more, 2 * PAGE,
				WBELL_ACCESS_REMOTE_WRITE, 0x8000);
	struct wbell_u_ep_grant a, b;
	char *at;

	assert_int_equal(grant_at(p.ep, 0, &a), -ENOENT);
	assert_int_equal(grant(&p, ro, 0), 0);
	assert_int_equal(grant(&p, rw, 0), 0);
	assert_int_equal(grant(&p, rw, 0), -EEXIST);
	assert_int_equal(event_get(p.ep).type, WBELL_EVENT_EP_GRANT);
	assert_int_equal(event_get(p.ep).handle, 1);
	assert_int_equal(info_of(p.ep).grants, 2);
	assert_int_equal(grant_at(p.ep, 0, &a), 0);
	assert_int_equal(grant_at(p.ep, 1, &b), 0);
	assert_int_equal(a.iova, 0x7000);
	assert_int_equal(a.len, PAGE);
	assert_int_equal(a.access, WBELL_ACCESS_REMOTE_READ);
	assert_int_not_equal(a.key, b.key);
	assert_null(map(p.ep, a.map.cookie, PAGE, PROT_WRITE));
	at = map(p.ep, b.map.cookie, b.map.map_len, PROT_READ | PROT_WRITE);
	assert_non_null(at);
	at[PAGE] = 1;
	assert_int_equal(grant(&p, rw, WBELL_GRANT_REMOVE), 0);
	assert_int_equal(grant(&p, rw, WBELL_GRANT_REMOVE), -ENOENT);
	assert_true(dies_reading(at + PAGE));
	assert_int_equal(event_get(p.ep).type, WBELL_EVENT_EP_UNGRANT);
	assert_int_equal(grant_at(p.ep, 1, &b), -ENOENT);
	/* the other goes when what it names is destroyed */
	assert_int_equal(destroy(p.app, ro), 0);
	assert_int_equal(grant_at(p.ep, 0, &a), -ENOENT);
	munmap(at, 2 * PAGE);
	pair_end(&p);
}

/* Pages of the app's own memory, mapped into the daemon. */
static void test_queue_grants_host_memory(void **state)
{
	char *mine = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wbell_u_mreg_host arg = {
		.addr = (uintptr_t)mine,
		.len = 4 * PAGE,
		.access = WBELL_ACCESS_REMOTE_WRITE,
	};
	struct pair p = pair_make(0);
	struct wbell_u_ep_grant g;
	char *at;
	int i;

	for (i = 0; i < 4; i++)
		mine[i * PAGE] = i;
	assert_int_equal(call(p.app, WBELL_IOC_MREG_HOST, &arg), 0);
	assert_int_equal(grant(&p, arg.handle, 0), 0);
	assert_int_equal(grant_at(p.ep, 0, &g), 0);
	at = map(p.ep, g.map.cookie, g.map.map_len, PROT_READ | PROT_WRITE);
	for (i = 0; i < 4; i++)
		assert_int_equal(at[i * PAGE], i);
	at[3 * PAGE + 7] = 77;
	assert_int_equal(mine[3 * PAGE + 7], 77);
	assert_int_equal(destroy(p.app, arg.handle), 0);
	assert_true(dies_reading(at));
	assert_int_equal(counter("pinned_pages"), 0);
	munmap(at, 4 * PAGE);
	munmap(mine, 4 * PAGE);
	pair_end(&p);
}

static int no_daemon(void *arg)
{
	struct wbell_u_nic_register reg = { .name = "mine", .max_queues = 1 };
	const char *text = arg;
	int fd;

	must(!setgid(NOBODY) && !setuid(NOBODY));
	fd = open(WBELL_DEVICE, O_RDWR);
	must(fd >= 0);
	if (text) {
		must(call(fd, WBELL_IOC_NIC_REGISTER, &reg) == -EPERM);
		must(strstr(call_err, text));
	} else {
		must(!call(fd, WBELL_IOC_NIC_REGISTER, &reg));
	}
	return 0;
}

static void test_queue_who_may_serve(void **state)
{
	char text[] = "daemon_gid";

	chmod(WBELL_DEVICE, 0666);
	assert_int_equal(child(no_daemon, text), 0);
	param_set("daemon_gid", "65534");
	assert_int_equal(child(no_daemon, NULL), 0);
	param_set("daemon_gid", "-1");
	assert_int_equal(child(no_daemon, text), 0);
	chmod(WBELL_DEVICE, 0660);
	counters_zero();
}

static void name_refused(int fd, const char *name, size_t n, int rc)
{
	struct wbell_u_nic_register reg = { .max_queues = 1 };

	memcpy(reg.name, name, n);
	assert_int_equal(call(fd, WBELL_IOC_NIC_REGISTER, &reg), rc);
}

static void test_queue_nic_names(void **state)
{
	int a = ctx_open(), b = ctx_open(), c = ctx_open();
	struct wbell_u_nic_query q = {};
	uint32_t id;

	name_refused(a, "", 1, -EINVAL);
	name_refused(a, "A", 2, -EINVAL);
	name_refused(a, "a b", 4, -EINVAL);
	name_refused(a, "a\0b", 4, -EINVAL);
	name_refused(a, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 32, -EINVAL);
	nic(a, "first", 1, &id);
	nic(b, "second", 1, NULL);
	name_refused(a, "third", 6, -EEXIST);  /* one per context */
	name_refused(c, "second", 7, -EEXIST); /* the name */
	assert_int_equal(call(c, WBELL_IOC_NIC_QUERY, &q), 0);
	assert_string_equal(q.name, "first");
	assert_int_equal(q.id, id);
	assert_int_equal(q.pid, getpid());
	q.index = 2;
	assert_int_equal(call(c, WBELL_IOC_NIC_QUERY, &q), -ENOENT);
	fd_close(a);
	fd_close(b);
	fd_close(c);
	counters_zero();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_daemon_sees_what_it_may),
		cmocka_unit_test(test_queue_grants),
		cmocka_unit_test(test_queue_grants_host_memory),
		cmocka_unit_test(test_queue_who_may_serve),
		cmocka_unit_test(test_queue_nic_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
