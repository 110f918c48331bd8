// SPDX-License-Identifier: BSD-2-Clause
/* Mappings of rings: what mmap() refuses, and when a mapping ends. */
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include "kmod.h"

#define LEN (4 * PAGE)

struct fixture {
	int fd;
	uint32_t handle;
	uint64_t cookie, len;
	char *at;
};

static struct fixture mapped(void)
{
	struct fixture f = { .fd = ctx_open() };

	f.handle = ring(f.fd, LEN - 5, &f.cookie, &f.len);
	assert_int_equal(f.len, LEN);
	f.at = map(f.fd, f.cookie, f.len, PROT_READ | PROT_WRITE);
	assert_non_null(f.at);
	return f;
}

static void unmapped(struct fixture *f)
{
	assert_int_equal(munmap(f->at, f->len), 0);
	fd_close(f->fd);
	counters_zero();
}

static void test_map_is_zeroed_and_shared(void **state)
{
	struct fixture f = mapped();
	char *again = map(f.fd, f.cookie, f.len, PROT_READ);
	size_t i;

	assert_int_equal(counter("ring_pages"), LEN / PAGE);
	for (i = 0; i < LEN; i++)
		assert_int_equal(f.at[i], 0);
	strcpy(f.at + PAGE, "the same page");
	assert_string_equal(again + PAGE, "the same page");
	munmap(again, LEN);
	unmapped(&f);
}

static void refused(struct fixture *f, uint64_t cookie, uint64_t len, int prot,
		    int flags, int error)
{
	void *at = mmap(NULL, len, prot, flags, f->fd, cookie);

	assert_ptr_equal(at, MAP_FAILED);
	assert_int_equal(errno, error);
}

static void test_map_refuses(void **state)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct fixture f = mapped(), other = mapped();

	refused(&f, f.cookie, LEN, rw, MAP_PRIVATE, EINVAL);
	refused(&f, f.cookie, LEN, PROT_READ, MAP_PRIVATE, EINVAL);
	refused(&f, f.cookie, LEN, rw | PROT_EXEC, MAP_SHARED, EACCES);
	refused(&f, f.cookie, LEN - PAGE, rw, MAP_SHARED, EINVAL);
	refused(&f, f.cookie, LEN + PAGE, rw, MAP_SHARED, EINVAL);
	refused(&f, f.cookie + PAGE, LEN, rw, MAP_SHARED, EINVAL);
	refused(&f, f.cookie + PAGE, LEN - PAGE, rw, MAP_SHARED, EINVAL);
	refused(&f, f.cookie - PAGE, LEN + PAGE, rw, MAP_SHARED, EINVAL);
	refused(&f, f.cookie + 8, LEN, rw, MAP_SHARED, EINVAL);
	refused(&f, 0, LEN, rw, MAP_SHARED, EINVAL);
	refused(&f, 1ULL << 44, LEN, rw, MAP_SHARED, EINVAL);
	/* the cookie of another context */
	refused(&f, other.cookie, LEN, rw, MAP_SHARED, EINVAL);
	munmap(other.at, LEN);
	fd_close(other.fd);
	f.at[0] = 1;
	unmapped(&f);
}

static void test_map_of_a_read_only_file(void **state)
{
	struct fixture f = { .fd = open(WBELL_DEVICE, O_RDONLY | O_CLOEXEC) };

	assert_true(f.fd >= 0);
	f.handle = ring(f.fd, LEN, &f.cookie, &f.len);
	refused(&f, f.cookie, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, EACCES);
	refused(&f, f.cookie, LEN, PROT_READ, MAP_SHARED, EINVAL);
	fd_close(f.fd);
	counters_zero();
}

static void test_map_cannot_be_split(void **state)
{
	struct fixture f = mapped();

	assert_int_equal(munmap(f.at, PAGE), -1);
	assert_int_equal(munmap(f.at + PAGE, PAGE), -1);
	assert_int_equal(munmap(f.at + 3 * PAGE, PAGE), -1);
	assert_int_equal(mprotect(f.at, PAGE, PROT_READ), -1);
	assert_int_equal(madvise(f.at + PAGE, PAGE, MADV_DOFORK), -1);
	assert_ptr_equal(mremap(f.at, LEN, PAGE, 0), MAP_FAILED);
	assert_ptr_equal(mremap(f.at, PAGE, PAGE, MREMAP_MAYMOVE), f.at);
	assert_ptr_equal(mremap(f.at + PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE),
			 MAP_FAILED);
	memset(f.at, 1, LEN); /* nothing has happened to it */
	unmapped(&f);
}

static void test_map_cannot_grow_or_be_executed(void **state)
{
	struct fixture f = mapped();

	assert_ptr_equal(mremap(f.at, LEN, 2 * LEN, MREMAP_MAYMOVE),
			 MAP_FAILED);
	assert_ptr_equal(mremap(f.at, 0, LEN, MREMAP_MAYMOVE), MAP_FAILED);
	assert_int_equal(mprotect(f.at, LEN, PROT_READ | PROT_EXEC), -1);
	assert_int_equal(errno, EACCES);
	unmapped(&f);
}

static void test_map_may_move(void **state)
{
	struct fixture f = mapped();
	char *to =
		mmap(NULL, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	strcpy(f.at + 2 * PAGE, "goes along");
	assert_ptr_equal(
		mremap(f.at, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, to), to);
	assert_string_equal(to + 2 * PAGE, "goes along");
	assert_int_equal(destroy(f.fd, f.handle), 0);
	assert_true(dies_reading(to));
	f.at = to;
	unmapped(&f);
}

static void test_map_survives_madvise(void **state)
{
	struct fixture f = mapped();

	strcpy(f.at + PAGE, "still there");
	assert_int_equal(madvise(f.at, LEN, MADV_DONTNEED), 0);
	assert_string_equal(f.at + PAGE, "still there");
	assert_int_equal(destroy(f.fd, f.handle), 0);
	madvise(f.at, LEN, MADV_DONTNEED);
	assert_true(dies_writing(f.at + PAGE));
	unmapped(&f);
}

/* O03: the mapping keeps the context. */
static void test_map_close_before_unmap_O03(void **state)
{
	struct fixture f = mapped();
	int copy = dup(f.fd);

	fd_close(f.fd);
	f.at[0] = 1;
	fd_close(copy);
	f.at[PAGE] = 2;
	assert_int_equal(f.at[0] + f.at[PAGE], 3);
	assert_int_equal(counter("contexts"), 1);
	assert_int_equal(munmap(f.at, LEN), 0);
	counters_zero();
}

static void test_map_ends_by_destroy(void **state)
{
	struct fixture f = mapped();
	uint64_t cookie;

	f.at[0] = 1;
	assert_int_equal(destroy(f.fd, f.handle), 0);
	assert_true(dies_reading(f.at));
	assert_true(dies_writing(f.at + 3 * PAGE));
	counter_wait("ring_pages", 0);
	/* the offset is not handed out while a VMA has it */
	ring(f.fd, LEN, &cookie, NULL);
	assert_int_not_equal(cookie, f.cookie);
	refused(&f, f.cookie, LEN, PROT_READ, MAP_SHARED, EINVAL);
	unmapped(&f);
}

/* ---- other processes ---- */

static int child_uses(void *arg)
{
	struct fixture *f = arg;
	struct wbell_u_hello hello = {};
	struct wbell_u_event ev;

	must(call(f->fd, WBELL_IOC_HELLO, &hello) == -EPERM);
	must(!map(f->fd, f->cookie, f->len, PROT_READ) && errno == EPERM);
	must(read(f->fd, &ev, sizeof(ev)) < 0 && errno == EPERM);
	must(destroy(f->fd, f->handle) == -EPERM);
	return 0;
}

static int child_touches(void *arg)
{
	struct fixture *f = arg;

	signal(SIGSEGV, SIG_DFL);
	return f->at[0];
}

static void test_map_fork(void **state)
{
	struct fixture f = mapped();

	assert_int_equal(child(child_uses, &f), 0);
	assert_int_equal(child(child_touches, &f), 256 + SIGSEGV);
	f.at[0] = 1;
	unmapped(&f);
}

/* The owner of a ring may let children have it: they lose it as he does. */
static int child_loses(void *arg)
{
	struct fixture *f = arg;
	int i;

	if (dies_writing(f->at))
		return 1;
	f->at[1] = 1;
	for (i = 0; i < TIMEOUT; i++) {
		if (dies_reading(f->at))
			return 0;
		usleep(1000);
	}
	return 2;
}

static void test_map_fork_by_wish(void **state)
{
	struct fixture f = mapped();
	int pid;

	if (madvise(f.at, LEN, MADV_DOFORK)) {
		unmapped(&f);
		skip(); /* kernels from 6.13 or so refuse it themselves */
	}
	pid = child_start(child_loses, &f);
	while (!*(volatile char *)&f.at[1])
		usleep(1000);
	assert_int_equal(destroy(f.fd, f.handle), 0);
	assert_int_equal(child_end(pid), 0);
	unmapped(&f);
}

static int stranger(void *arg)
{
	struct fixture f = { .fd = fd_receive(*(int *)arg) };
	struct wbell_u_hello hello = {};

	must(call(f.fd, WBELL_IOC_HELLO, &hello) == -EPERM);
	must(!map(f.fd, PAGE, PAGE, PROT_READ) && errno == EPERM);
	usleep(200000);
	return 0;
}

/* O04: the last close comes from another process. */
static void test_map_file_sent_O04(void **state)
{
	int sock[2], pid;
	struct fixture f;

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, sock), 0);
	pid = child_start(stranger, &sock[1]);
	f = mapped();
	fd_send(sock[0], f.fd);
	munmap(f.at, LEN);
	fd_close(f.fd);
	assert_int_equal(counter("ring_pages"), LEN / PAGE);
	assert_int_equal(child_end(pid), 0);
	close(sock[0]);
	close(sock[1]);
	counters_zero();
}

static int opener(void *arg)
{
	struct fixture f = { .fd = ctx_open() };
	int i;

	for (i = 0; i < 4; i++)
		ring(f.fd, LEN, &f.cookie, &f.len);
	must(map(f.fd, f.cookie, f.len, PROT_READ | PROT_WRITE));
	if (!fork()) {
		close(*(int *)arg);
		usleep(300000);
		_exit(0); /* the last close */
	}
	if (write(*(int *)arg, "x", 1) != 1)
		return 1;
	pause();
	return 0;
}

/* O04: the opener is killed while its child has the file. */
static void test_map_opener_killed_O04(void **state)
{
	int ready[2], pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = child_start(opener, &ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(child_end(pid), 256 + SIGKILL);
	assert_int_equal(counter("ring_pages"), 4 * LEN / PAGE);
	assert_int_equal(counter("contexts"), 1);
	counters_zero();
	close(ready[0]);
	close(ready[1]);
}

/* ---- races ---- */

struct race {
	struct fixture f;
	pthread_barrier_t start;
	char *at;
};

static void *race_map(void *arg)
{
	struct race *r = arg;

	pthread_barrier_wait(&r->start);
	r->at = map(r->f.fd, r->f.cookie, LEN, PROT_READ | PROT_WRITE);
	return NULL;
}

/* However mmap and destroy meet: after destroy no page is reached. */
static void test_map_races_destroy(void **state)
{
	struct race r = { .f.fd = ctx_open() };
	pthread_t thread;
	int i, won = 0;

	pthread_barrier_init(&r.start, NULL, 2);
	for (i = 0; i < 1000; i++) {
		r.f.handle = ring(r.f.fd, LEN, &r.f.cookie, NULL);
		pthread_create(&thread, NULL, race_map, &r);
		pthread_barrier_wait(&r.start);
		assert_int_equal(destroy(r.f.fd, r.f.handle), 0);
		pthread_join(thread, NULL);
		if (!r.at)
			continue;
		won++;
		assert_true(dies_reading(r.at));
		assert_true(dies_reading(r.at + 3 * PAGE));
		munmap(r.at, LEN);
	}
	print_message("# mmap came first in %d of %d\n", won, i);
	pthread_barrier_destroy(&r.start);
	fd_close(r.f.fd);
	counters_zero();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_is_zeroed_and_shared),
		cmocka_unit_test(test_map_refuses),
		cmocka_unit_test(test_map_of_a_read_only_file),
		cmocka_unit_test(test_map_cannot_be_split),
		cmocka_unit_test(test_map_cannot_grow_or_be_executed),
		cmocka_unit_test(test_map_may_move),
		cmocka_unit_test(test_map_survives_madvise),
		cmocka_unit_test(test_map_close_before_unmap_O03),
		cmocka_unit_test(test_map_ends_by_destroy),
		cmocka_unit_test(test_map_fork),
		cmocka_unit_test(test_map_fork_by_wish),
		cmocka_unit_test(test_map_file_sent_O04),
		cmocka_unit_test(test_map_opener_killed_O04),
		cmocka_unit_test(test_map_races_destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
