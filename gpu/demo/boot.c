// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bootstrap: messages over one TCP connection, each a header and a body whose
 * length its type fixes.  Whatever the peer sends, nothing is read beyond
 * what was asked for, and no call waits longer than the timeout.
 */
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
#include <endian.h>

#include "../endpoint.h"
#include "../stream.h"
#include "demo.h"

#define BOOT_MAGIC   0x57424450U /* "WBDP" */
#define BOOT_VERSION 1

struct boot_header {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t size; /* of the body */
};

static int resolve(const char *where, int flags, struct addrinfo **list)
{
	const char *fact, *mend;

	if (endpoint_resolve(where, flags, list, &fact, &mend))
		return demo_fail(DEMO_CANNOT, where, fact, mend);
	return DEMO_GOOD;
}

static void name_peer(struct boot *b, const struct sockaddr *sa, socklen_t len)
{
	char host[46], port[8];

	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		strcpy(b->peer, "of unknown address");
	else
		snprintf(b->peer, sizeof(b->peer),
			 strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static void set_up(struct boot *b, int fd, uint32_t timeout_ms)
{
	int one = 1;

	/* a lost TCP_NODELAY only makes the bootstrap slower */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	b->fd = fd;
	b->timeout_ms = timeout_ms;
}

/* One try to connect; gives -errno. */
static int dial(const struct addrinfo *ai, uint64_t deadline, int *result)
{
	socklen_t len = sizeof(int);
	int fd, rc = 0, error = 0;

	fd = socket(ai->ai_family,
		    ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) < 0) {
		rc = errno == EINPROGRESS ? stream_wait(fd, POLLOUT, deadline)
					  : -errno;
		if (!rc && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len))
			rc = -errno;
		else if (!rc)
			rc = -error;
	}
	if (rc)
		close(fd);
	else
		*result = fd;
	return rc;
}

int boot_connect(struct boot *b, const char *where, uint32_t timeout_ms)
{
	uint64_t deadline = stream_now() + timeout_ms;
	struct addrinfo *list;
	char what[300];
	int rc, fd = -1;

	rc = resolve(where, 0, &list);
	if (rc)
		return rc;
	/* the receiver may still be starting: refused is tried again */
	while ((rc = dial(list, deadline, &fd)) == -ECONNREFUSED &&
	       stream_now() + 100 < deadline)
		usleep(100 * 1000);
	if (!rc) {
		name_peer(b, list->ai_addr, list->ai_addrlen);
		set_up(b, fd, timeout_ms);
	}
	freeaddrinfo(list);
	if (!rc)
		return DEMO_GOOD;
	snprintf(what, sizeof(what), "connect to %s", where);
	return demo_fail(DEMO_CANNOT, what, strerror(-rc),
			 "start warpbell-demo recv there first");
}

static int listen_on(const struct addrinfo *ai, int *result)
{
	int fd, rc, one = 1;

	fd = socket(ai->ai_family,
		    ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, 1) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	*result = fd;
	return 0;
}

static int take_one(struct boot *b, int fd, uint32_t timeout_ms)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int rc, peer;

	rc = stream_wait(fd, POLLIN, stream_now() + timeout_ms);
	if (rc)
		return rc;
	peer = accept4(fd, (struct sockaddr *)&sa, &len,
		       SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (peer < 0)
		return -errno;
	name_peer(b, (struct sockaddr *)&sa, len);
	set_up(b, peer, timeout_ms);
	return 0;
}

int boot_accept(struct boot *b, const char *where, uint32_t timeout_ms)
{
	struct addrinfo *list;
	char what[300];
	int rc, fd = -1;

	rc = resolve(where, AI_PASSIVE, &list);
	if (rc)
		return rc;
	rc = listen_on(list, &fd);
	freeaddrinfo(list);
	snprintf(what, sizeof(what), "listen on %s", where);
	if (rc)
		return demo_fail(DEMO_CANNOT, what, strerror(-rc),
				 "choose a free port of this machine");
	rc = take_one(b, fd, timeout_ms);
	close(fd);
	if (!rc)
		return DEMO_GOOD;
	return demo_fail(DEMO_CANNOT, what,
			 rc == -ETIMEDOUT ? "no sender came in time"
					  : strerror(-rc),
			 "start warpbell-demo send, or raise --timeout-ms");
}

int boot_gone(const struct boot *b)
{
	struct pollfd p = { .fd = b->fd, .events = POLLRDHUP };
	socklen_t len = sizeof(int);
	int error = 0;

	if (poll(&p, 1, 0) <= 0)
		return 0;
	if (!getsockopt(b->fd, SOL_SOCKET, SO_ERROR, &error, &len) && error)
		return -error;
	return -EPIPE;
}

int boot_fail_gone(const struct boot *b, int error, const char *doing)
{
	char what[128], fact[128];

	snprintf(what, sizeof(what), "peer %s gone", b->peer);
	if (error == -ETIMEDOUT)
		snprintf(fact, sizeof(fact), "silent for %u ms while %s",
			 b->timeout_ms, doing);
	else
		snprintf(fact, sizeof(fact), "connection %s while %s",
			 error == -EPIPE ? "closed" : "reset", doing);
	return demo_fail(DEMO_FAILED, what, fact,
			 "see its own output, then start both ends again");
}

int boot_send(struct boot *b, enum boot_type type, const void *msg,
	      uint32_t size)
{
	struct boot_header h = {
		.magic = htobe32(BOOT_MAGIC),
		.version = htobe16(BOOT_VERSION),
		.type = htobe16(type),
		.size = htobe32(size),
	};
	uint64_t deadline = stream_now() + b->timeout_ms;
	int rc;

	rc = stream_write(b->fd, &h, sizeof(h), deadline);
	if (!rc)
		rc = stream_write(b->fd, msg, size, deadline);
	if (rc)
		return boot_fail_gone(b, rc, "telling it of this end");
	return DEMO_GOOD;
}

void boot_alive(struct boot *b)
{
	struct boot_header h = {
		.magic = htobe32(BOOT_MAGIC),
		.version = htobe16(BOOT_VERSION),
		.type = htobe16(BOOT_ALIVE),
	};
	uint64_t now = stream_now();

	if (now - b->alive_ms < 500)
		return;
	b->alive_ms = now;
	/* whoever waits for a message next sees a connection that failed */
	(void)stream_write(b->fd, &h, sizeof(h), now + b->timeout_ms);
}

static int check_header(const struct boot *b, const struct boot_header *h,
			enum boot_type type, uint32_t size)
{
	char what[128], fact[128];

	snprintf(what, sizeof(what), "message of peer %s", b->peer);
	if (be32toh(h->magic) != BOOT_MAGIC)
		return demo_fail(DEMO_FAILED, what, "not a warpbell-demo's",
				 "check the port's number");
	if (be16toh(h->version) != BOOT_VERSION) {
		snprintf(fact, sizeof(fact), "its version is %u, ours %u",
			 be16toh(h->version), BOOT_VERSION);
		return demo_fail(DEMO_FAILED, what, fact,
				 "run the same release on both ends");
	}
	if (be16toh(h->type) == type && be32toh(h->size) == size)
		return DEMO_GOOD;
	snprintf(fact, sizeof(fact),
		 "type %u of %u bytes where type %u of %u was due",
		 be16toh(h->type), be32toh(h->size), (unsigned int)type, size);
	return demo_fail(DEMO_FAILED, what, fact,
			 "run one send against one recv");
}

static int is_alive(const struct boot_header *h)
{
	return be32toh(h->magic) == BOOT_MAGIC &&
	       be16toh(h->version) == BOOT_VERSION &&
	       be16toh(h->type) == BOOT_ALIVE && !h->size;
}

int boot_recv(struct boot *b, enum boot_type type, void *msg, uint32_t size)
{
	struct boot_header h;
	uint64_t deadline;
	int rc;

	do {
		deadline = stream_now() + b->timeout_ms;
		rc = stream_read(b->fd, &h, sizeof(h), deadline);
	} while (!rc && is_alive(&h));
	if (!rc) {
		rc = check_header(b, &h, type, size);
		if (rc)
			return rc;
		rc = stream_read(b->fd, msg, size, deadline);
	}
	if (rc)
		return boot_fail_gone(b, rc, "this end waited for it");
	return DEMO_GOOD;
}

void boot_close(struct boot *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}
