// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bootstrap of N ranks over TCP: a star around rank 0, which gathers, and
 * which tells all when one has gone.  Nothing is read beyond what was asked
 * for, and no call waits without an end.
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../endpoint.h"
#include "../stream.h"
#include "bench.h"

#define MAGIC	    0x57424252U /* "WBBR" */
#define VERSION	    1
#define PATIENCE_MS 120000 /* for a rank that works and has not gone */

/*
 * When one rank hangs, deadlines pass at all ranks at about the same time,
 * each waiting for another.  Who is blamed and does not come up with a blame
 * of his own meanwhile is the one.
 */
#define BLAME_MS 700

enum { HELLO = 1, GATHER, ALL, GONE, LEAVE };

struct header {
	uint32_t magic;
	uint16_t version, type;
	uint32_t rank; /* sender; GONE: who has gone; LEAVE: who is blamed */
	uint32_t size; /* of the body; HELLO: ranks */
};

struct boot {
	const struct bench_options *opt;
	int fd[COLL_RANKS_MAX]; /* rank 0: of each other; else fd[0] */
	uint32_t gone;		/* 1 + rank, once known */
	int left;		/* this one has said that it leaves */
	/* Rank 0: who each rank that leaves has waited for, + 1; when the
	 * first one left, ms.
	 */
	uint32_t blamed[COLL_RANKS_MAX];
	uint64_t since;
};

int boot_launched(struct bench_options *opt)
{
	return 0;
}

static int tell(int fd, uint16_t type, uint32_t rank, uint32_t size)
{
	struct header h = { .magic = htobe32(MAGIC),
			    .version = htobe16(VERSION),
			    .type = htobe16(type),
			    .rank = htobe32(rank),
			    .size = htobe32(size) };

	return stream_write(fd, &h, sizeof(h), stream_now() + PATIENCE_MS);
}

/* To host order; -EPROTO: not ours. */
static int understand(struct header *h)
{
	h->magic = be32toh(h->magic);
	h->version = be16toh(h->version);
	h->type = be16toh(h->type);
	h->rank = be32toh(h->rank);
	h->size = be32toh(h->size);
	return h->magic == MAGIC && h->version == VERSION ? 0 : -EPROTO;
}

static int hear(int fd, struct header *h, uint64_t deadline)
{
	int rc = stream_read(fd, h, sizeof(*h), deadline);

	return rc ? rc : understand(h);
}

/* ---- who has gone ---- */

static int say_gone(struct boot *b)
{
	return bench_fail(b->opt, BENCH_FAILED,
			  "rank %u gone: meeting the others: see its own "
			  "output, then start all ranks again",
			  b->gone - 1);
}

static void spread_gone(struct boot *b, uint32_t rank)
{
	uint32_t r;

	if (b->gone)
		return;
	b->gone = 1 + rank;
	for (r = 1; r < b->opt->ranks && !b->opt->rank; r++)
		if (b->fd[r] >= 0 && r != rank)
			(void)tell(b->fd[r], GONE, rank, 0);
}

/* The next message, if all of its header is there; it stays in the stream. */
static int peek(int fd, struct header *h)
{
	ssize_t n = recv(fd, h, sizeof(*h), MSG_PEEK | MSG_DONTWAIT);

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		return -EPIPE;
	if (n != sizeof(*h))
		return -EAGAIN;
	return understand(h);
}

static int hung_up(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0;
}

static void take_blame(struct boot *b, uint32_t from, uint32_t blamed)
{
	if (!b->since)
		b->since = stream_now();
	b->blamed[from] = 1 + (blamed < b->opt->ranks ? blamed : from);
	/* its own fault: no need to look further */
	if (b->blamed[from] == 1 + from)
		spread_gone(b, from);
}

static void judge(struct boot *b)
{
	uint32_t r, first = COLL_NOBODY;

	if (!b->since || stream_now() - b->since < BLAME_MS)
		return;
	for (r = 0; r < b->opt->ranks; r++) {
		if (!b->blamed[r])
			continue;
		first = first == COLL_NOBODY ? b->blamed[r] - 1 : first;
		if (!b->blamed[b->blamed[r] - 1])
			spread_gone(b, b->blamed[r] - 1);
	}
	spread_gone(b, first);
}

/* Rank 0: a closed connection counts at once, blames later. */
static void look_at_all(struct boot *b)
{
	struct header h;
	uint32_t r;
	int rc;

	for (r = 1; r < b->opt->ranks && !b->gone; r++) {
		if (b->blamed[r])
			continue;
		rc = peek(b->fd[r], &h);
		if (!rc && h.type == LEAVE)
			take_blame(b, r, h.rank);
		else if ((rc && rc != -EAGAIN) || hung_up(b->fd[r]))
			spread_gone(b, r);
	}
	judge(b);
}

static void look_at_root(struct boot *b)
{
	struct header h;
	int rc = peek(b->fd[0], &h);

	if (!rc && h.type == GONE)
		b->gone = 1 + h.rank;
	else if ((rc && rc != -EAGAIN) || hung_up(b->fd[0]))
		b->gone = 1;
}

int boot_gone(void *boot)
{
	struct boot *b = boot;

	if (!b->gone && b->opt->rank)
		look_at_root(b);
	else if (!b->gone)
		look_at_all(b);
	return (int)b->gone;
}

void boot_leave(struct boot *b, uint32_t blame)
{
	if (b->left)
		return;
	b->left = 1;
	if (b->opt->rank)
		(void)tell(b->fd[0], LEAVE,
			   blame == COLL_NOBODY ? b->opt->rank : blame, 0);
	else
		take_blame(b, 0, blame == COLL_NOBODY ? 0 : blame);
}

/* ---- gather ---- */

/* One message of a rank at the root; 1: it was its part. */
static int take_part(struct boot *b, uint32_t r, char *all, uint32_t size)
{
	uint64_t deadline = stream_now() + PATIENCE_MS;
	struct header h;
	int rc = hear(b->fd[r], &h, deadline);

	if (!rc && h.type == LEAVE) {
		take_blame(b, r, h.rank);
		/* ends: a blame is judged after BLAME_MS */
		while (!boot_gone(b))
			usleep(10000);
		return -EPIPE;
	}
	if (!rc && (h.type != GATHER || h.size != size))
		rc = -EPROTO;
	if (!rc)
		rc = stream_read(b->fd[r], all + (size_t)r * size, size,
				 deadline);
	if (rc)
		spread_gone(b, r);
	return rc ? rc : 1;
}

static int poll_parts(struct boot *b, const char *have, uint64_t deadline)
{
	struct pollfd p[COLL_RANKS_MAX];
	uint32_t r;
	uint64_t now;
	int rc;

	for (r = 0; r < b->opt->ranks; r++) {
		p[r].fd = r && !have[r] ? b->fd[r] : -1;
		p[r].events = POLLIN;
	}
	do {
		now = stream_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		rc = poll(p, b->opt->ranks, (int)(deadline - now));
	} while (rc <= 0);
	for (r = 0; !p[r].revents; r++)
		;
	return (int)r;
}

static int gather_root(struct boot *b, char *all, uint32_t size)
{
	uint64_t deadline = stream_now() + PATIENCE_MS;
	char have[COLL_RANKS_MAX] = { 0 };
	uint32_t left = b->opt->ranks - 1, r;
	int rc = 0;

	for (; left; left--) {
		rc = poll_parts(b, have, deadline);
		if (rc < 0)
			return rc;
		r = (uint32_t)rc;
		rc = take_part(b, r, all, size);
		if (rc < 0)
			return rc;
		have[r] = 1;
	}
	for (r = 1; r < b->opt->ranks; r++) {
		rc = tell(b->fd[r], ALL, 0, size * b->opt->ranks);
		if (!rc)
			rc = stream_write(b->fd[r], all,
					  (size_t)size * b->opt->ranks,
					  deadline);
		if (rc) {
			spread_gone(b, r);
			return rc;
		}
	}
	return 0;
}

static int gather_leaf(struct boot *b, const void *mine, char *all,
		       uint32_t size)
{
	uint64_t deadline = stream_now() + PATIENCE_MS;
	struct header h = { 0 };
	int rc = tell(b->fd[0], GATHER, b->opt->rank, size);

	if (!rc)
		rc = stream_write(b->fd[0], mine, size, deadline);
	/* what rank 0 said before it went is in the stream still */
	if (!rc || rc == -EPIPE || rc == -ECONNRESET)
		rc = hear(b->fd[0], &h, deadline);
	if (!rc && h.type == GONE) {
		b->gone = 1 + h.rank;
		return -EPIPE;
	}
	if (!rc && (h.type != ALL || h.size != size * b->opt->ranks))
		rc = -EPROTO;
	if (!rc)
		rc = stream_read(b->fd[0], all, h.size, deadline);
	if (rc && rc != -ETIMEDOUT)
		b->gone = 1;
	return rc;
}

int boot_gather(void *boot, const void *mine, void *all, uint32_t size)
{
	struct boot *b = boot;
	int rc;

	memcpy((char *)all + (size_t)b->opt->rank * size, mine, size);
	rc = b->opt->rank ? gather_leaf(b, mine, all, size)
			  : gather_root(b, all, size);
	if (rc && b->gone)
		say_gone(b);
	else if (rc)
		bench_fail(b->opt, BENCH_FAILED,
			   "meeting the other ranks: %s: see their own output",
			   strerror(-rc));
	return rc;
}

/* ---- opening ---- */

static int resolve(const struct bench_options *opt, int flags,
		   struct addrinfo **list)
{
	const char *fact, *mend;

	if (endpoint_resolve(opt->boot, flags, list, &fact, &mend))
		return bench_fail(opt, BENCH_CANNOT,
				  "--boot %s: %s: %s, the same one, of rank "
				  "0, to all ranks",
				  opt->boot ? opt->boot : "", fact, mend);
	return BENCH_GOOD;
}

static int open_socket(const struct addrinfo *ai, int listening, int *fd)
{
	int one = 1, rc;

	*fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	(void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (listening)
		rc = bind(*fd, ai->ai_addr, ai->ai_addrlen)
			     ? -1
			     : listen(*fd, COLL_RANKS_MAX);
	else
		rc = connect(*fd, ai->ai_addr, ai->ai_addrlen);
	if (!rc)
		return 0;
	rc = -errno;
	close(*fd);
	*fd = -1;
	return rc;
}

static void no_delay(int fd)
{
	int one = 1;

	/* a lost TCP_NODELAY only makes the bootstrap slower */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static int take_rank(struct boot *b, int listener, uint64_t deadline)
{
	struct header h = { 0 };
	int fd, rc = stream_wait(listener, POLLIN, deadline);

	if (rc)
		return rc;
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	no_delay(fd);
	/* whoever says nothing must not hold up the others for long */
	rc = hear(fd, &h, stream_now() + 2000);
	if (!rc && h.type == HELLO && h.size == b->opt->ranks && h.rank &&
	    h.rank < b->opt->ranks && b->fd[h.rank] < 0) {
		b->fd[h.rank] = fd;
		return 1;
	}
	fprintf(stderr,
		"warpbell-bench: rank 0: refused a connection: not one of "
		"these %u ranks, or one twice: check --boot and --rank\n",
		b->opt->ranks);
	close(fd);
	return 0;
}

static int open_root(struct boot *b)
{
	uint64_t deadline = stream_now() + b->opt->timeout_ms;
	uint32_t left = b->opt->ranks - 1;
	struct addrinfo *list;
	int fd = b->opt->listen_fd, rc;

	if (fd < 0) {
		if (resolve(b->opt, AI_PASSIVE, &list))
			return BENCH_CANNOT;
		rc = open_socket(list, 1, &fd);
		freeaddrinfo(list);
		if (rc)
			return bench_fail(b->opt, BENCH_CANNOT,
					  "--boot %s: %s: choose a free port",
					  b->opt->boot, strerror(-rc));
	}
	for (rc = 0; left && rc >= 0; left -= rc > 0)
		rc = take_rank(b, fd, deadline);
	close(fd);
	if (rc >= 0)
		return BENCH_GOOD;
	return bench_fail(b->opt, BENCH_CANNOT,
			  "waiting for ranks: %s with %u of %u missing: start "
			  "them all",
			  strerror(-rc), left, b->opt->ranks);
}

static int open_leaf(struct boot *b)
{
	uint64_t deadline = stream_now() + b->opt->timeout_ms;
	struct addrinfo *list;
	int rc;

	if (resolve(b->opt, 0, &list))
		return BENCH_CANNOT;
	/* rank 0 may still be starting: refused is tried again */
	while ((rc = open_socket(list, 0, &b->fd[0])) == -ECONNREFUSED &&
	       stream_now() < deadline)
		usleep(50 * 1000);
	freeaddrinfo(list);
	if (!rc) {
		no_delay(b->fd[0]);
		rc = tell(b->fd[0], HELLO, b->opt->rank, b->opt->ranks);
	}
	if (!rc)
		return BENCH_GOOD;
	return bench_fail(b->opt, BENCH_CANNOT,
			  "connect to %s: %s: start rank 0 there", b->opt->boot,
			  strerror(-rc));
}

int boot_open(struct bench_options *opt, struct boot **out)
{
	struct boot *b = calloc(1, sizeof(*b));
	uint32_t r;
	int rc;

	if (!b)
		return bench_fail(opt, BENCH_CANNOT,
				  "bootstrap: no memory: free some");
	b->opt = opt;
	for (r = 0; r < COLL_RANKS_MAX; r++)
		b->fd[r] = -1;
	rc = opt->rank ? open_leaf(b) : open_root(b);
	if (rc)
		boot_close(b);
	else
		*out = b;
	return rc;
}

void boot_close(struct boot *b)
{
	uint32_t r;

	for (r = 0; b && r < COLL_RANKS_MAX; r++)
		if (b->fd[r] >= 0)
			close(b->fd[r]);
	free(b);
}
