// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boot.h"

static int tcp_socket(void)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		die("cannot open a TCP socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int take_client(struct link *l, unsigned port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port) };
	int fd, from = tcp_socket();

	if (bind(from, (struct sockaddr *)&at, sizeof(at)) || listen(from, 1))
		die("cannot listen on port %u: %s", port, strerror(errno));
	fcntl(from, F_SETFL, O_NONBLOCK);
	puts("listening");
	fflush(stdout);
	while ((fd = accept(from, NULL, NULL)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			die("cannot accept: %s", strerror(errno));
		link_turn(l, from);
	}
	close(from);
	return fd;
}

/* The server may not listen yet: again, until the link's time is over. */
static int find_server(struct link *l, const char *host, unsigned port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port) };
	int fd;

	if (inet_pton(AF_INET, host, &at.sin_addr) != 1)
		die("cannot connect to '%s': no IPv4 address", host);
	for (;;) {
		fd = tcp_socket();
		if (!connect(fd, (struct sockaddr *)&at, sizeof(at)))
			return fd;
		close(fd);
		if (errno != ECONNREFUSED)
			die("cannot connect to %s port %u: %s", host, port,
			    strerror(errno));
		link_drain(l, 20000000);
	}
}

void boot_open(struct boot *b, struct link *l, const char *host, unsigned port)
{
	struct timeval t = { .tv_sec = 5 };

	b->link = l;
	b->client = host;
	b->fd = host ? find_server(l, host, port) : take_client(l, port);
	/* Sends are short: a peer that takes none for so long is dead. */
	setsockopt(b->fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

void boot_close(struct boot *b)
{
	if (b->fd >= 0)
		close(b->fd);
}

void boot_put(struct boot *b, const void *data, size_t len)
{
	if (b->box) {
		mailbox_put(b->box, data, len);
		return;
	}
	if (send(b->fd, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("cannot tell the peer: %s: see its own output",
		    strerror(errno));
}

void boot_get(struct boot *b, void *data, size_t len)
{
	uint8_t *at = data;
	ssize_t n;

	if (b->box) {
		mailbox_get(b->box, data, len);
		return;
	}
	while (len) {
		n = recv(b->fd, at, len, MSG_DONTWAIT);
		if (n > 0) {
			at += n;
			len -= n;
			continue;
		}
		if (!n)
			die("the peer closed, %zu bytes short: see its own"
			    " output",
			    len);
		if (errno != EAGAIN && errno != EINTR)
			die("cannot hear the peer: %s: see its own output",
			    strerror(errno));
		link_turn(b->link, b->fd);
	}
}

void boot_swap(struct boot *b, const void *mine, void *theirs, size_t len)
{
	if (b->client)
		boot_put(b, mine, len);
	boot_get(b, theirs, len);
	if (!b->client)
		boot_put(b, mine, len);
}
