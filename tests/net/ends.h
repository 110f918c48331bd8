/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engines through libwarpbell in one process, and a veth pair for them in a
 * network namespace of it: what tests of whole engines share.
 */
#ifndef TESTS_NET_ENDS_H
#define TESTS_NET_ENDS_H

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <wbell/device.h>
#include <wbell/wbell.h>

#define SIZE 65536
#define ACCESS                                                        \
	(WBELL_LOCAL_WRITE | WBELL_REMOTE_WRITE | WBELL_REMOTE_READ | \
	 WBELL_REMOTE_ATOMIC)

struct end {
	struct wbell_ctx *ctx;
	struct wbell_mem *mem;
	struct wbell_queue *queue;
	struct wbell_dqueue *dq;
	uint8_t *buf;
};

static void sh(const char *command)
{
	int rc = system(command);

	if (rc)
		fail_msg("'%s' gave %d", command, rc);
}

static struct wbell_ctx *open_wire(const char *wire, uint32_t flags)
{
	struct wbell_open_attr attr = { .size = sizeof(attr),
					.wire = wire,
					.provider = "engine",
					.flags = flags };
	struct wbell_ctx *ctx;

	if (wbell_open(&attr, &ctx))
		fail_msg("%s: %s", wire, wbell_error(NULL));
	return ctx;
}

static void make_queue(struct end *e)
{
	if (wbell_queue_create(e->ctx, NULL, &e->queue) ||
	    wbell_queue_device(e->queue, &e->dq))
		fail_msg("queue: %s", wbell_error(e->ctx));
}

static void open_end(struct end *e, const char *wire)
{
	e->ctx = open_wire(wire, 0);
	e->buf = calloc(1, SIZE);
	assert_non_null(e->buf);
	assert_int_equal(
		wbell_mem_register(e->ctx, e->buf, SIZE, ACCESS, &e->mem), 0);
	make_queue(e);
}

static void close_end(struct end *e)
{
	assert_int_equal(wbell_queue_destroy(e->queue), 0);
	assert_int_equal(wbell_mem_deregister(e->mem), 0);
	assert_int_equal(wbell_close(e->ctx), 0);
	free(e->buf);
}

static void join(struct wbell_queue *a, struct wbell_queue *b)
{
	struct wbell_address at_a, at_b;

	assert_int_equal(wbell_queue_address(a, &at_a), 0);
	assert_int_equal(wbell_queue_address(b, &at_b), 0);
	assert_int_equal(wbell_queue_connect(a, &at_b), 0);
	assert_int_equal(wbell_queue_connect(b, &at_a), 0);
}

static int put(struct end *from, struct end *to, uint32_t n)
{
	struct wbell_ticket t;
	int rc;

	rc = wbell_put(from->dq, (uintptr_t)from->buf,
		       wbell_mem_lkey(from->mem), (uintptr_t)to->buf,
		       wbell_mem_rkey(to->mem), n, &t);
	return rc ? rc : wbell_wait(from->dq, t, wbell_deadline_us(10000000));
}

/* ---- on a veth, in a network namespace of this process ---- */

static int has_namespace;

static int setup_veth(void **state)
{
	if (!has_namespace)
		return 0;
	sh("ip link add wbA type veth peer name wbB");
	sh("ip link set wbA addrgenmode none; ip link set wbB addrgenmode "
	   "none");
	sh("ip link set wbA mtu 4200 up; ip link set wbB mtu 4200 up");
	return 0;
}

static int teardown_veth(void **state)
{
	return has_namespace ? system("ip link del wbA 2>/dev/null") < 0 : 0;
}

static int open_raw(const char *interface)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(interface),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sll, sizeof(sll)), 0);
	return fd;
}

/* The next frame with these bytes at `at`, or fails after 2 s. */
static void await(int fd, uint8_t *b, unsigned at, const void *bytes, size_t n)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t len;

	while (poll(&pfd, 1, 2000) > 0) {
		len = read(fd, b, 2048);
		if (len >= (ssize_t)(at + n) && !memcmp(b + at, bytes, n))
			return;
	}
	fail_msg("no such frame");
}

#endif /* TESTS_NET_ENDS_H */
