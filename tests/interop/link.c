// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

#define ETHERTYPE_ALL 3 /* ETH_P_ALL */
#define IDLE_MS	      1

void die(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("peer: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

uint64_t link_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void open_socket(struct link *l)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETHERTYPE_ALL),
		.sll_ifindex = if_nametoindex(l->attr.ifname),
	};
	int one = 1, room = 8 << 20;

	if (!at.sll_ifindex)
		die("cannot open %s: no such interface: make it",
		    l->attr.ifname);
	l->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		die("cannot open a packet socket: %s: needs CAP_NET_RAW",
		    strerror(errno));
	if (setsockopt(l->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
		       sizeof(one)) ||
	    setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) ||
	    bind(l->fd, (struct sockaddr *)&at, sizeof(at)))
		die("cannot use %s: %s", l->attr.ifname, strerror(errno));
	/* The namespace's limit may be lower; root passes it by. */
	setsockopt(l->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
}

static void meet_neighbours(struct link *l, const struct link_attr *attr)
{
	static const uint8_t none[GID_SIZE];
	uint8_t gid[GID_SIZE];

	gid_set_ipv4(gid, attr->ip);
	if (neighbours_create(gid, attr->mac, &l->v4) ||
	    (!gid_equal(attr->ip6, none) &&
	     neighbours_create(attr->ip6, attr->mac, &l->v6)))
		die("cannot make the neighbours: out of memory");
}

void link_open(struct link *l, const struct link_attr *attr)
{
	struct roce_dev_attr dev = { .max_qp = 8, .max_mr = 4, .max_ah = 16 };

	memset(l, 0, sizeof(*l));
	l->attr = *attr;
	l->random = attr->seed;
	l->end = link_now() + attr->seconds * 1000000000ULL;
	dev.seed = attr->seed;
	memcpy(dev.ip, attr->ip, 4);
	memcpy(dev.ip6, attr->ip6, 16);
	memcpy(dev.mac, attr->mac, 6);
	open_socket(l);
	meet_neighbours(l, attr);
	if (roce_dev_create(&dev, &l->dev))
		die("cannot make the device: out of memory");
}

void link_close(struct link *l)
{
	roce_dev_destroy(l->dev);
	neighbours_destroy(l->v4);
	neighbours_destroy(l->v6);
	close(l->fd);
}

static bool lose(struct link *l)
{
	uint64_t z = l->random += 0x9e3779b97f4a7c15ULL;

	if (!l->attr.drop)
		return false;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	if ((z ^ z >> 31) % l->attr.drop)
		return false;
	l->lost++;
	return true;
}

static void put(struct link *l, const uint8_t *data, uint32_t len)
{
	struct pollfd p = { .fd = l->fd, .events = POLLOUT };

	while (send(l->fd, data, len, 0) < 0) {
		if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
			die("cannot send %u bytes: %s", len, strerror(errno));
		if (link_now() > l->end)
			die("cannot send: %s does not take frames any more",
			    l->attr.ifname);
		poll(&p, 1, IDLE_MS);
	}
}

static bool take_neighbour(struct link *l, struct neighbours *n,
			   const uint8_t *data, uint32_t len)
{
	struct neighbour_news news;

	if (!n || !neighbours_rx(n, link_now(), data, len, &news))
		return false;
	if (news.reply)
		put(l, news.out, news.reply);
	return true;
}

/* The interface is the kernel's too: what is not to our MAC is none of ours. */
static bool take(struct link *l, const uint8_t *data, uint32_t len)
{
	if (len < 14 || take_neighbour(l, l->v4, data, len) ||
	    take_neighbour(l, l->v6, data, len))
		return false;
	return !memcmp(data, l->attr.mac, 6) &&
	       !mads_lost(l->attr.mads, false, data, len);
}

static unsigned receive(struct link *l)
{
	unsigned n = 0, seen = 0;
	ssize_t len;

	while (n < LINK_BURST && seen++ < 4 * LINK_BURST) {
		len = recv(l->fd, l->buf[n], LINK_FRAME, 0);
		if (len < 0)
			break;
		if (!take(l, l->buf[n], len))
			continue;
		l->frame[n].data = l->buf[n];
		l->frame[n].len = len;
		n++;
	}
	if (n)
		roce_rx(l->dev, link_now(), l->frame, n);
	return n;
}

/*
 * Of RC over IPv4.  Only requests are lost on purpose: what rdma_rxe does when
 * its own are is not what is tested, and it was seen to stop for good then.
 */
static bool request(const struct roce_frame *f)
{
	uint8_t opcode = f->data[14 + 20 + 8];

	return opcode <= ROCE_RC_READ_REQ || opcode == ROCE_RC_CMP_SWAP ||
	       opcode == ROCE_RC_FETCH_ADD;
}

static void speak(struct link *l, struct neighbours *n)
{
	uint8_t frame[NEIGHBOUR_FRAME];
	uint32_t len;

	while (n && (len = neighbours_tx(n, link_now(), frame)))
		put(l, frame, len);
}

static unsigned transmit(struct link *l)
{
	unsigned i, n;

	if (l->work)
		l->work(l->work_user);
	speak(l, l->v4);
	speak(l, l->v6);
	for (i = 0; i < LINK_BURST; i++) {
		l->frame[i].data = l->buf[i];
		l->frame[i].room = LINK_FRAME;
	}
	n = roce_tx(l->dev, link_now(), l->frame, LINK_BURST);
	for (i = 0; i < n; i++)
		if ((!request(&l->frame[i]) || !lose(l)) &&
		    !mads_lost(l->attr.mads, true, l->frame[i].data,
			       l->frame[i].len))
			put(l, l->frame[i].data, l->frame[i].len);
	return n;
}

static unsigned complete(struct link *l)
{
	struct roce_comp c[LINK_BURST];
	unsigned i, n = roce_comp(l->dev, c, LINK_BURST);

	for (i = 0; i < n; i++)
		l->comp(l->user, &c[i]);
	return n;
}

static bool turn(struct link *l)
{
	unsigned n = receive(l);

	n += transmit(l);
	n += complete(l);
	if (link_now() > l->end)
		die("not done after %u s: the other end is silent or slow",
		    l->attr.seconds);
	return n;
}

void link_turn(struct link *l, int fd)
{
	struct pollfd p[2] = { { .fd = l->fd, .events = POLLIN },
			       { .fd = fd, .events = POLLIN } };

	if (!turn(l))
		poll(p, 2, IDLE_MS);
}

void link_drain(struct link *l, uint64_t ns)
{
	uint64_t last = link_now();
	struct pollfd p = { .fd = l->fd, .events = POLLIN };

	while (link_now() - last < ns)
		if (turn(l))
			last = link_now();
		else
			poll(&p, 1, IDLE_MS);
}

bool link_ask(struct link *l, const uint8_t gid[GID_SIZE], uint8_t mac[6])
{
	struct neighbours *n = gid_is_ipv4(gid) ? l->v4 : l->v6;

	return n && neighbours_want(n, link_now(), gid, mac);
}

void link_resolve(struct link *l, const uint8_t gid[GID_SIZE], uint8_t mac[6])
{
	while (!link_ask(l, gid, mac))
		link_turn(l, -1);
}
