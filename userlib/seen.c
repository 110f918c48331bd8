// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queues of other processes: their contexts' memfds, found and opened
 * through /proc/PID/fd.  What they hold is hostile: it is read with pread(),
 * as a mapping would fault when its owner shrinks the file, and nothing read
 * is followed before it was checked.  Processes we may not look into are
 * passed over; the kernel does not tell whether they hold queues.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define LINK_NAME      "/memfd:" SHM_NAME " (deleted)"
#define MAX_QUEUES     16384 /* as wbell_open() */
#define SLOTS_PER_READ 256

struct scan {
	wbell_queue_seen_fn fn;
	void *arg;
	ino_t *done; /* memfds seen: a forked child holds its parent's */
	size_t dones;
	struct wbell_queue_seen seen;
	int fd; /* the memfd looked at */
	uint64_t size;
	struct shm_head head;
};

static bool read_at(struct scan *s, void *buf, size_t n, uint64_t at)
{
	if (at > s->size || n > s->size - at)
		return false;
	return pread(s->fd, buf, n, at) == (ssize_t)n;
}

/* Names come from others and go to terminals. */
static void make_plain(char *text, size_t size)
{
	size_t i;

	text[size - 1] = '\0';
	for (i = 0; text[i]; i++)
		if (!isprint((unsigned char)text[i]))
			text[i] = '?';
}

static bool chunk_sane(const struct chunk *c, uint64_t size)
{
	uint64_t sq = (uint64_t)c->depth << WBELL_BB_SHIFT;

	return c->magic == WBELL_DQUEUE_MAGIC &&
	       c->dq.magic == WBELL_DQUEUE_MAGIC && c->depth &&
	       c->depth <= WBELL_DEPTH_MAX && !(c->depth & (c->depth - 1)) &&
	       c->state <= WBELL_QUEUE_ERR && c->sq_at >= sizeof(*c) &&
	       c->sq_at <= size && sq <= size - c->sq_at;
}

static int see_queue(struct scan *s, const struct shm_slot *slot,
		     uint32_t index)
{
	struct wbell_queue_stat *stat = &s->seen.stat;
	uint64_t doorbell;
	struct chunk c;
	size_t at;

	if (slot->at > s->size || slot->size > s->size - slot->at ||
	    !read_at(s, &c, sizeof(c), slot->at) ||
	    !chunk_sane(&c, slot->size) ||
	    !read_at(s, &doorbell, sizeof(doorbell),
		     s->head.doorbells_at + index * sizeof(doorbell)))
		return 0;
	make_plain(c.peer_address, sizeof(c.peer_address));
	chunk_stat(&c, doorbell, stat);
	if (chunk_oldest(&c, stat, &at) &&
	    !read_at(s, stat->oldest, sizeof(stat->oldest), slot->at + at))
		return 0;
	return s->fn(s->arg, &s->seen);
}

static int see_slots(struct scan *s)
{
	struct shm_slot slots[SLOTS_PER_READ];
	uint32_t i, k, n, max = s->head.max_queues;
	int rc = 0;

	for (i = 0; i < max && !rc; i += n) {
		n = max - i < SLOTS_PER_READ ? max - i : SLOTS_PER_READ;
		if (!read_at(s, slots, n * sizeof(*slots),
			     s->head.slots_at + i * sizeof(*slots)))
			return 0;
		for (k = 0; k < n && !rc; k++)
			if (slots[k].at)
				rc = see_queue(s, &slots[k], i + k);
	}
	return rc;
}

static int see_head(struct scan *s)
{
	if (!read_at(s, &s->head, sizeof(s->head), 0) ||
	    s->head.magic != SHM_MAGIC || s->head.version != SHM_VERSION ||
	    s->head.max_queues > MAX_QUEUES || s->head.slots_at > s->size ||
	    s->head.doorbells_at > s->size)
		return 0;
	make_plain(s->head.nic, sizeof(s->head.nic));
	memcpy(s->seen.nic, s->head.nic, sizeof(s->seen.nic));
	return see_slots(s);
}

static bool seen_before(struct scan *s, ino_t ino)
{
	ino_t *more;
	size_t i;

	for (i = 0; i < s->dones; i++)
		if (s->done[i] == ino)
			return true;
	more = realloc(s->done, (s->dones + 1) * sizeof(*more));
	if (!more)
		return false;
	s->done = more;
	s->done[s->dones++] = ino;
	return false;
}

static int see_fd(struct scan *s, int dir, const char *name)
{
	char link[sizeof(LINK_NAME) + 1];
	struct stat st;
	ssize_t n;
	int rc = 0;

	n = readlinkat(dir, name, link, sizeof(link));
	if (n != sizeof(LINK_NAME) - 1 || memcmp(link, LINK_NAME, n))
		return 0;
	/* NONBLOCK: the name alone does not make it a memfd. */
	s->fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (s->fd < 0)
		return 0;
	if (!fstat(s->fd, &st) && S_ISREG(st.st_mode) &&
	    !seen_before(s, st.st_ino) && s->seen.pid != getpid()) {
		s->size = st.st_size;
		rc = see_head(s);
	}
	close(s->fd);
	return rc;
}

static void read_command(struct scan *s)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", s->seen.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, s->seen.command, sizeof(s->seen.command) - 1);
		close(fd);
	}
	if (n > 0 && s->seen.command[n - 1] == '\n')
		n--;
	s->seen.command[n > 0 ? n : 0] = '\0';
	make_plain(s->seen.command, sizeof(s->seen.command));
}

static int see_process(struct scan *s, int pid)
{
	struct dirent *d;
	char path[64];
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	memset(&s->seen, 0, sizeof(s->seen));
	s->seen.pid = pid;
	read_command(s);
	while (!rc && (d = readdir(dir)))
		rc = see_fd(s, dirfd(dir), d->d_name);
	closedir(dir);
	return rc;
}

static bool is_other_process(const char *name)
{
	return isdigit((unsigned char)*name) && strlen(name) < 12 &&
	       atoi(name) != getpid();
}

int wbell_queue_each(wbell_queue_seen_fn fn, void *arg)
{
	errno_kept();
	struct scan s = { .fn = fn, .arg = arg };
	struct dirent *d;
	int rc = 0;
	DIR *proc;

	if (!fn)
		return error_no_object("wbell_queue_each", "function");
	proc = opendir("/proc");
	if (!proc) {
		rc = -errno;
		return error_set(error_thread(), rc,
				 "cannot look for queues: /proc: %s: mount it",
				 error_name(rc));
	}
	/* Ours first, unreported: children of ours hold them too. */
	see_process(&s, getpid());
	while (!rc && (d = readdir(proc)))
		if (is_other_process(d->d_name))
			rc = see_process(&s, atoi(d->d_name));
	closedir(proc);
	free(s.done);
	return rc;
}
