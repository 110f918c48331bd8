// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's own stack as the engine's neighbour: it resolves us, we resolve
 * it, through a veth pair and through a bridge that snoops.
 */
#include <errno.h>

#include "ends.h"

static const uint8_t our_mac[6] = { 2, 0, 0, 0, 0, 1 };
static const uint8_t kernel_mac[6] = { 2, 0, 0, 0, 0, 0xb };

static int setup(void **state)
{
	setup_veth(state);
	if (has_namespace)
		sh("ip link set wbB address 02:00:00:00:00:0b");
	return 0;
}

/* Whatever the kernel sends there needs the address resolved. */
static void kernel_speaks_to(const char *to)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6,
				   .sin6_port = htons(9) };
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(inet_pton(AF_INET6, to, &at.sin6_addr), 1);
	assert_int_equal(sendto(fd, "x", 1, 0, (void *)&at, sizeof(at)), 1);
	close(fd);
}

/* Within seconds its table must have our address at our MAC. */
static bool kernel_knows(const char *dev)
{
	char command[160];
	unsigned i;

	snprintf(command, sizeof(command),
		 "ip -6 neigh show dev %s | grep -q "
		 "'^fd09::1 lladdr 02:00:00:00:00:01 '",
		 dev);
	for (i = 0; i < 30; i++) {
		if (!system(command))
			return true;
		usleep(100000);
	}
	return false;
}

static uint64_t counter(struct wbell_ctx *ctx, const char *name)
{
	static struct wbell_counter c[128];
	unsigned i, n = 0;

	assert_int_equal(wbell_counters(ctx, c, 128, &n), 0);
	for (i = 0; i < n; i++)
		if (!strcmp(c[i].name, name))
			return c[i].value;
	fail_msg("no counter %s", name);
	return 0;
}

static struct wbell_ctx *open_ours(void)
{
	return open_wire("af_packet:wbA,ip=fd09::1/64,mac=02:00:00:00:00:01",
			 0);
}

static void test_kernel_resolves_us(void **state)
{
	struct wbell_ctx_info info;
	struct wbell_ctx *ctx;

	if (!has_namespace)
		skip();
	sh("ip addr add fd09::2/64 dev wbB nodad");
	ctx = open_ours();
	assert_int_equal(wbell_info(ctx, &info), 0);
	assert_string_equal(info.address, "fd09::1");
	kernel_speaks_to("fd09::1");
	assert_true(kernel_knows("wbB"));
	assert_true(counter(ctx, "nd_rx") > 0);
	assert_true(counter(ctx, "nd_advertise_tx") > 0);
	assert_int_equal(counter(ctx, "nd_bad") +
				 counter(ctx, "nd_bad_checksum") +
				 counter(ctx, "nd_bad_hop_limit"),
			 0);
	wbell_close(ctx);
}

/* Our queue's packets go to the MAC that the kernel told. */
static void test_kernel_is_resolved_by_us(void **state)
{
	struct end a, b;
	uint8_t frame[2048], addresses[12];
	int fd;

	if (!has_namespace)
		skip();
	sh("ip addr add fd09::2/64 dev wbB nodad");
	fd = open_raw("wbB");
	open_end(&a, "af_packet:wbA,ip=fd09::1/64,mac=02:00:00:00:00:01");
	open_end(&b, "ring:k1,ip=fd09::2/64"); /* lends its queue's address */
	join(a.queue, b.queue);
	/* the kernel has no such queue: what came, came in vain */
	assert_int_equal(put(&a, &b, 100), WBELL_WC_RETRY_EXC_ERR);
	assert_true(counter(a.ctx, "nd_solicit_tx") > 0);
	memcpy(addresses, kernel_mac, 6);
	memcpy(addresses + 6, our_mac, 6);
	await(fd, frame, 0, addresses, sizeof(addresses));
	while (frame[20] != 17) /* past what it was told before */
		await(fd, frame, 0, addresses, sizeof(addresses));
	assert_int_equal(frame[56] << 8 | frame[57], 4791);
	close(fd);
	close_end(&a);
	close_end(&b);
}

/*
 * A bridge that snoops and knows of a querier passes a group only to ports
 * that reported it.
 */
static void test_kernel_behind_snooping_bridge(void **state)
{
	struct wbell_ctx *ctx;
	unsigned i;

	if (!has_namespace)
		skip();
	if (system("ip link add wbR type bridge mcast_snooping 1 "
		   "mcast_querier 1 mcast_query_response_interval 50 "
		   "mcast_startup_query_interval 50 mcast_query_interval 150 "
		   "2>/dev/null")) {
		print_message("# no bridge that snoops here\n");
		skip();
	}
	sh("ip link set wbR address 02:00:00:00:00:0c addrgenmode none up");
	sh("ip link set wbB master wbR");
	sh("ip addr add fe80::c/64 dev wbR nodad");
	sh("ip addr add fd09::2/64 dev wbR nodad");
	ctx = open_ours();
	for (i = 0; i < 60; i++) {
		if (!system("bridge mdb show | grep -q 'port wbB grp "
			    "ff02::1:ff00:1 '"))
			break;
		usleep(100000);
	}
	assert_true(i < 60);
	/* three unasked, then as often as the bridge asks */
	for (i = 0; i < 150 && counter(ctx, "nd_group_report_tx") < 5; i++)
		usleep(100000);
	assert_true(counter(ctx, "nd_group_report_tx") >= 5);
	kernel_speaks_to("fd09::1");
	assert_true(kernel_knows("wbR"));
	wbell_close(ctx);
	sh("ip link del wbR");
}

/* Who looks first whether an address is free (RFC 4862) does not get ours. */
static void test_kernel_gives_way(void **state)
{
	struct wbell_ctx *ctx;
	unsigned i;

	if (!has_namespace)
		skip();
	ctx = open_ours();
	sh("ip addr add fd09::1/64 dev wbB");
	for (i = 0; i < 30; i++) {
		if (!system("ip -6 addr show dev wbB | grep -q dadfailed"))
			break;
		usleep(100000);
	}
	assert_true(i < 30);
	wbell_close(ctx);
}

/* A kernel that has our address too is told of, not fought. */
static void test_kernel_with_our_address(void **state)
{
	struct wbell_ctx *ctx;
	unsigned i;

	if (!has_namespace)
		skip();
	ctx = open_ours();
	sh("echo 1 >/proc/sys/net/ipv6/conf/wbB/ndisc_notify");
	sh("ip addr add fd09::1/64 dev wbB nodad");
	sh("ip link set wbB address 02:00:00:00:00:0d");
	for (i = 0; i < 30 && !counter(ctx, "nd_conflict"); i++)
		usleep(100000);
	assert_true(counter(ctx, "nd_conflict") > 0);
	wbell_close(ctx);
}

int main(void)
{
#define V(t) cmocka_unit_test_setup_teardown(t, setup, teardown_veth)
	const struct CMUnitTest tests[] = {
		V(test_kernel_resolves_us),
		V(test_kernel_is_resolved_by_us),
		V(test_kernel_behind_snooping_bridge),
		V(test_kernel_gives_way),
		V(test_kernel_with_our_address),
	};

	has_namespace = !unshare(CLONE_NEWNET);
	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
