// SPDX-License-Identifier: BSD-2-Clause
/* wbell_queue_each(): a child holds queues, true ones and forged ones. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_test.h"
#include "ring.h"

#define FORGERIES 200

struct found {
	pid_t pid, forked;
	unsigned count, insane;
	int stop;
	struct wbell_queue_seen last;
};

/* What a caller relies on, whatever the other process wrote. */
static bool is_insane(const struct wbell_queue_seen *seen)
{
	const struct wbell_queue_stat *s = &seen->stat;
	size_t i;

	for (i = 0; seen->nic[i]; i++)
		if (seen->nic[i] < ' ' || seen->nic[i] > '~')
			return true;
	return !s->depth || s->depth > WBELL_DEPTH_MAX ||
	       (s->depth & (s->depth - 1)) || s->state > WBELL_QUEUE_ERR;
}

static int keep(void *arg, const struct wbell_queue_seen *seen)
{
	struct found *found = arg;

	if (seen->pid != found->pid && seen->pid != found->forked)
		return 0;
	found->count++;
	found->insane += is_insane(seen);
	found->last = *seen;
	return found->stop;
}

static void hold_queues(void)
{
	struct wbell_ctx *ctx = open_wire("fake:x,hold=1");
	struct wbell_queue *a = create_queue(ctx, 4), *b = create_queue(ctx, 8);
	struct wbell_error_record *rec;
	struct wbell_address addr;
	struct wbell_dqueue *dq;

	wbell_queue_address(a, &addr);
	wbell_queue_connect(b, &addr);
	wbell_queue_device(b, &dq);
	memset((void *)(uintptr_t)dq->sq, 0xab, WBELL_BB_SIZE);
	dq->reserved = 3;
	dq->ready = 2;
	*(uint64_t *)(uintptr_t)dq->db = 1;
	rec = (void *)(uintptr_t)dq->error;
	rec->syndrome = 0x15;
	rec->state = WBELL_ERR_WHOLE;
}

static int own_shm(void)
{
	DIR *dir = opendir("/proc/self/fd");
	char link[64];
	struct dirent *d;
	int fd = -1;
	ssize_t n;

	while (fd < 0 && (d = readdir(dir))) {
		n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);
		link[n < 0 ? 0 : n] = '\0';
		if (!strncmp(link, "/memfd:warpbell", 15))
			fd = atoi(d->d_name);
	}
	closedir(dir);
	return fd;
}

/* Bytes where onlookers look: the head, the first slots, the chunk's head. */
static void forge(char *copy, size_t size, unsigned seed)
{
	const struct shm_head *head = (void *)copy;
	size_t at[3] = { 0, head->slots_at, 0 };
	unsigned i;

	at[2] = ((struct shm_slot *)(copy + head->slots_at))->at;
	srand(seed);
	for (i = 0; i <= seed % 4; i++)
		copy[(at[rand() % 3] + rand() % 128) % size] = rand();
}

static void hold_forgeries(void)
{
	struct stat st;
	unsigned i;
	char *copy;
	int fd;

	hold_queues();
	fd = own_shm();
	fstat(fd, &st);
	copy = malloc(st.st_size);
	for (i = 0; i < FORGERIES; i++) {
		int forged = memfd_create("warpbell", 0);

		if (pread(fd, copy, st.st_size, 0) != st.st_size)
			_exit(3);
		forge(copy, st.st_size, i);
		/* Every fifth is cut short too. */
		if (write(forged, copy,
			  i % 5 ? st.st_size : st.st_size * i / FORGERIES) < 0)
			_exit(4);
	}
	free(copy);
}

/* A child that holds what hold() makes until it is killed. */
static pid_t child(void (*hold)(void))
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		/* A failed test must not leave it behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		hold();
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_each_of_a_child(void **state)
{
	struct found found = { .pid = child(hold_queues) };
	const struct wbell_queue_stat *s = &found.last.stat;

	errno = 4711;
	assert_int_equal(wbell_queue_each(keep, &found), 0);
	assert_int_equal(errno, 4711);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.last.nic, "fake, no wire, holds all work");
	assert_has(found.last.command, "seen_test");
	assert_int_equal(s->state, WBELL_QUEUE_RTS);
	assert_int_equal(s->depth, 8);
	assert_int_equal(s->reserved, 3);
	assert_int_equal(s->ready, 2);
	assert_int_equal(s->doorbell, 1);
	assert_int_equal(s->done, 0);
	assert_int_equal(s->oldest[0], 0xab);
	assert_int_equal(s->error.syndrome, 0x15);
	assert_int_equal(s->peer_qpn, 0x11);
	assert_has(s->peer_address, "process");
	found.count = 0;
	found.stop = 7;
	assert_int_equal(wbell_queue_each(keep, &found), 7);
	assert_int_equal(found.count, 1);
	end(found.pid);
	found.count = found.stop = 0;
	assert_int_equal(wbell_queue_each(keep, &found), 0);
	assert_int_equal(found.count, 0);
}

static void do_nothing(void)
{
}

static pid_t *forked;

static void hold_and_fork(void)
{
	hold_queues();
	*forked = child(do_nothing);
}

/* A forked child shares its parent's queues: they are seen once. */
static void test_each_of_forked_child_once(void **state)
{
	struct found found = { 0 };

	forked = mmap(NULL, sizeof(*forked), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(forked, MAP_FAILED);
	found.pid = child(hold_and_fork);
	found.forked = *forked;
	assert_int_equal(wbell_queue_each(keep, &found), 0);
	assert_int_equal(found.count, 2);
	end(found.pid);
	munmap(forked, sizeof(*forked));
}

static void test_each_not_of_own_child(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_queue *q = create_queue(ctx, 4);
	struct found found = { 0 };
	pid_t holder;

	holder = child(do_nothing);
	found.pid = getpid();
	found.forked = holder;
	assert_int_equal(wbell_queue_each(keep, &found), 0);
	assert_int_equal(found.count, 0);
	end(holder);
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_each_of_forged_memory(void **state)
{
	struct found found = { .pid = child(hold_forgeries) };

	assert_int_equal(wbell_queue_each(keep, &found), 0);
	assert_in_range(found.count, 2, 2 + 64 * FORGERIES);
	assert_int_equal(found.insane, 0);
	end(found.pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_of_a_child),
		cmocka_unit_test(test_each_of_forked_child_once),
		cmocka_unit_test(test_each_not_of_own_child),
		cmocka_unit_test(test_each_of_forged_memory),
	};

	return cmocka_run_group_tests_name("seen", tests, NULL, NULL);
}
