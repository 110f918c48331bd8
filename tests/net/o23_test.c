// SPDX-License-Identifier: BSD-2-Clause
/*
 * An interface that changes under the engine: MTU raised or lowered from
 * outside (DPDK commit 3ed9a05bff), taken down, removed.  In a network
 * namespace of this process; skipped where that needs more rights.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ports.h"

static int peer = -1; /* packet socket at the far end of the veth */

static void sh(const char *command)
{
	int rc = system(command);

	if (rc)
		fail_msg("'%s' gave %d", command, rc);
}

static int open_peer(void)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex("wbB"),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sll, sizeof(sll)), 0);
	return fd;
}

static int setup(void **state)
{
	sh("ip link add wbA type veth peer name wbB");
	sh("ip link set wbA addrgenmode none");
	sh("ip link set wbB addrgenmode none");
	sh("ip link set wbA mtu 1500 up; ip link set wbB mtu 1500 up");
	peer = open_peer();
	*state = must_open("af_packet:wbA");
	return 0;
}

static int teardown(void **state)
{
	if (*state)
		port_close(*state);
	close(peer);
	return system("ip link del wbA 2>/dev/null") < 0;
}

static void peer_send(uint32_t len, uint32_t number)
{
	static uint8_t b[16384];

	fill(b, len, number);
	assert_int_equal(write(peer, b, len), len);
}

/* Frames of ours that reach the far end within 200 ms of quiet. */
static unsigned peer_receive(void)
{
	struct pollfd pfd = { .fd = peer, .events = POLLIN };
	static uint8_t b[16384];
	unsigned n = 0;

	while (poll(&pfd, 1, 200) > 0) {
		ssize_t len = read(peer, b, sizeof(b));

		if (len > 18 && b[0] == 2)
			n += filled(b, len);
	}
	return n;
}

static unsigned receive(struct port *p)
{
	struct roce_frame f[PORT_BURST];
	uint64_t end = eal_now() + 200000000;
	unsigned good = 0, i, n;

	while (eal_now() < end) {
		n = port_rx(p, eal_now(), f);
		for (i = 0; i < n; i++)
			good += filled(f[i].data, f[i].len);
		port_rx_done(p);
	}
	return good;
}

static void o23_mtu_raised_outside(void **state)
{
	struct port *p = *state;

	assert_int_equal(port_path_mtu(p), 1024);
	sh("ip link set wbA mtu 9000; ip link set wbB mtu 9000");
	peer_send(1514, 1);
	peer_send(2000, 2);
	peer_send(9014, 3);
	peer_send(4182, 4);
	peer_send(64, 5);
	assert_int_equal(receive(p), 2);
	assert_int_equal(count(p, "port_rx_too_long"), 3);
	/* The buffers are as they were: so is the path MTU. */
	port_tick(p, eal_now());
	assert_int_equal(port_path_mtu(p), 1024);
	peer_send(1514, 6);
	assert_int_equal(receive(p), 1);
	assert_int_equal(port_send(p, 3, 1110, 7), 3);
	assert_int_equal(peer_receive(), 3);
}

static void o23_every_length_around_the_buffer(void **state)
{
	struct port *p = *state;
	unsigned good = 0;
	uint32_t len;

	sh("ip link set wbA mtu 9000; ip link set wbB mtu 9000");
	for (len = 1900; len < 2060; len++)
		peer_send(len, len);
	good = receive(p);
	assert_true(good > 10 && good < 150);
	assert_int_equal(count(p, "port_rx_too_long"), 160 - good);
}

static void o23_mtu_lowered_outside(void **state)
{
	struct port *p = *state;

	port_tick(p, eal_now());
	sh("ip link set wbA mtu 600");
	assert_int_equal(port_tick(p, eal_now()), PORT_NEWS_MTU);
	assert_int_equal(port_path_mtu(p), 512);
	assert_int_equal(port_send(p, 20, 615, 0), 20);
	assert_int_equal(port_send(p, 5, 614, 0), 5);
	assert_int_equal(count(p, "port_tx_too_long"), 20);
	assert_int_equal(peer_receive(), 5);
	sh("ip link set wbA mtu 1500");
	assert_int_equal(port_tick(p, eal_now()), PORT_NEWS_MTU);
	assert_int_equal(port_path_mtu(p), 1024);
	assert_int_equal(port_send(p, 5, 1110, 0), 5);
	assert_int_equal(peer_receive(), 5);
}

/* Sent before the change is seen: the kernel drops, nothing jams. */
static void o23_mtu_lowered_unseen(void **state)
{
	struct port *p = *state;
	unsigned i;

	sh("ip link set wbA mtu 600");
	for (i = 0; i < 40; i++)
		port_send(p, 32, 1110, 0);
	assert_int_equal(port_send(p, 5, 598, 0), 5);
	assert_int_equal(peer_receive(), 5);
}

static void test_af_packet_down_and_up(void **state)
{
	struct port *p = *state;
	unsigned i, n = 0;

	assert_int_equal(port_tick(p, eal_now()), PORT_NEWS_UP);
	sh("ip link set wbA down");
	for (i = 0; i < 100; i++) {
		port_send(p, 32, 100, 0);
		usleep(100);
	}
	assert_true(port_tick(p, eal_now()) & PORT_NEWS_DOWN);
	sh("ip link set wbA up; ip link set wbB up");
	assert_true(port_tick(p, eal_now()) & PORT_NEWS_UP);
	for (i = 0; i < 100 && !n; i++) {
		port_send(p, 1, 100, 0);
		n = peer_receive();
	}
	assert_true(n > 0);
	peer_send(64, 5);
	assert_true(receive(p) > 0);
}

static void test_af_packet_removed(void **state)
{
	struct port *p = *state;
	unsigned i;

	port_tick(p, eal_now());
	sh("ip link del wbA");
	assert_true(port_tick(p, eal_now()) & PORT_NEWS_DOWN);
	for (i = 0; i < 100; i++) {
		port_send(p, 32, 100, 0);
		usleep(100);
	}
	assert_int_equal(receive(p), 0);
}

static void test_af_packet_leaves_no_trace(void **state)
{
	sh("ip -d link show wbA | grep -q 'promiscuity [1-9]'");
	port_close(*state);
	*state = NULL;
	sh("ip -d link show wbA | grep -q 'promiscuity 0'");
}

static void test_af_packet_refusals(void **state)
{
	struct wbell_err err;
	struct port *p;

	port_close(*state);
	*state = NULL;
	assert_int_equal(try_open("af_packet:wbA,mtu=9000", &p, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than the 1500"));
	sh("ip link set wbA mtu 300");
	assert_int_equal(try_open("af_packet:wbA", &p, &err), -EINVAL);
	assert_non_null(strstr(err.text, "too small"));
	sh("ip link set wbA down");
	assert_int_equal(try_open("af_packet:wbA", &p, &err), -ENETDOWN);
	assert_non_null(strstr(err.text, "wbA is down"));
}

static void test_af_packet_large_mtu(void **state)
{
	struct port *p;

	port_close(*state);
	*state = NULL;
	sh("ip link set wbA mtu 9000; ip link set wbB mtu 9000");
	*state = p = must_open("af_packet:wbA");
	assert_int_equal(port_path_mtu(p), 4096);
	assert_int_equal(port_send(p, 32, 4182, 0), 32);
	assert_int_equal(peer_receive(), 32);
	peer_send(4182, 1);
	peer_send(9014, 1);
	assert_int_equal(receive(p), 1);
	assert_int_equal(count(p, "port_rx_too_long"), 1);
}

/* In a child: DPDK starts without rights as well, the socket does not. */
static void test_af_packet_without_rights(void **state)
{
	struct wbell_err err = { "" };
	struct port *p;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(3);
		if (try_open("af_packet:lo", &p, &err) != -EPERM)
			_exit(1);
		_exit(strstr(err.text, "CAP_NET_RAW") ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("child: status 0x%x", status);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_af_packet_without_rights),
		T(o23_mtu_raised_outside),
		T(o23_every_length_around_the_buffer),
		T(o23_mtu_lowered_outside),
		T(o23_mtu_lowered_unseen),
		T(test_af_packet_down_and_up),
		T(test_af_packet_removed),
		T(test_af_packet_leaves_no_trace),
		T(test_af_packet_refusals),
		T(test_af_packet_large_mtu),
	};

	if (unshare(CLONE_NEWNET)) {
		printf("1..0 # SKIP network namespace: %s\n", strerror(errno));
		return 0;
	}
	alarm(60); /* a driver that waits for ever is a failure, not a hang */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
