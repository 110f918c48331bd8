// SPDX-License-Identifier: BSD-2-Clause
/*
 * ARP: what is answered, asked, learned and ignored (RFC 826, RFC 5227).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "neighbour.h"

#define MS 1000000ULL

static const uint8_t our_ip[4] = { 10, 0, 0, 1 };
static const uint8_t our_mac[6] = { 2, 0, 0, 0, 0, 1 };
static const uint8_t peer_ip[4] = { 10, 0, 0, 2 };
static const uint8_t peer_mac[6] = { 2, 0, 0, 0, 0, 2 };
static const uint8_t other_mac[6] = { 2, 0, 0, 0, 0, 3 };
static const uint8_t all[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

#define ARP_FRAME 60 /* the least that Ethernet has, without FCS */

static struct neighbours *a;
static struct neighbour_news news;
static uint8_t out[NEIGHBOUR_FRAME];

static struct neighbours *make(void)
{
	struct neighbours *n;
	uint8_t gid[GID_SIZE];

	gid_set_ipv4(gid, our_ip);
	assert_int_equal(neighbours_create(gid, our_mac, &n), 0);
	return n;
}

static bool want(uint64_t now, const uint8_t *ip, uint8_t *mac)
{
	uint8_t gid[GID_SIZE];

	gid_set_ipv4(gid, ip);
	return neighbours_want(a, now, gid, mac);
}

static int setup(void **state)
{
	unsigned i;

	a = make();
	/* The announcements are tested alone. */
	for (i = 0; i < 3; i++)
		assert_true(neighbours_tx(a, i * 1000 * MS, out));
	return 0;
}

static int teardown(void **state)
{
	neighbours_destroy(a);
	return 0;
}

/* Independent of arp.c: bytes as RFC 826 lays them out. */
static void frame(uint8_t *f, uint8_t op, const uint8_t *sha,
		  const uint8_t *spa, const uint8_t *tpa)
{
	static const uint8_t head[] = { 8, 6, 0, 1, 8, 0, 6, 4, 0 };

	memset(f, 0, ARP_FRAME);
	memcpy(f, all, 6);
	memcpy(f + 6, sha, 6);
	memcpy(f + 12, head, sizeof(head));
	f[21] = op;
	memcpy(f + 22, sha, 6);
	memcpy(f + 28, spa, 4);
	memcpy(f + 38, tpa, 4);
}

static void receive(uint64_t now, uint8_t op, const uint8_t *sha,
		    const uint8_t *spa, const uint8_t *tpa)
{
	uint8_t f[ARP_FRAME];

	frame(f, op, sha, spa, tpa);
	neighbours_rx(a, now, f, sizeof(f), &news);
}

static void test_arp_request_is_answered(void **state)
{
	uint8_t want[ARP_FRAME];

	receive(0, 1, peer_mac, peer_ip, our_ip);
	assert_true(news.reply);
	frame(want, 2, our_mac, our_ip, peer_ip);
	memcpy(want, peer_mac, 6);
	memcpy(want + 32, peer_mac, 6);
	assert_memory_equal(news.out, want, ARP_FRAME);
	assert_false(news.learned);
}

static void test_arp_request_for_another_is_not_answered(void **state)
{
	static const uint8_t ip[4] = { 10, 0, 0, 9 };

	receive(0, 1, peer_mac, peer_ip, ip);
	assert_false(news.reply);
}

static void test_arp_probe_is_answered(void **state)
{
	static const uint8_t zero[4];

	receive(0, 1, peer_mac, zero, our_ip);
	assert_true(news.reply);
}

static void test_arp_asks_then_learns(void **state)
{
	uint8_t mac[6], ask[ARP_FRAME];
	uint64_t t = 10000 * MS;

	assert_false(want(t, peer_ip, mac));
	assert_true(neighbours_tx(a, t, out));
	frame(ask, 1, our_mac, our_ip, peer_ip);
	assert_memory_equal(out, ask, ARP_FRAME);
	assert_false(neighbours_tx(a, t, out));
	receive(t + 1, 2, peer_mac, peer_ip, our_ip);
	assert_true(news.learned);
	assert_memory_equal(gid_ipv4(news.gid), peer_ip, 4);
	assert_memory_equal(news.mac, peer_mac, 6);
	assert_false(news.reply);
	assert_true(want(t + 2, peer_ip, mac));
	assert_memory_equal(mac, peer_mac, 6);
	assert_false(neighbours_tx(a, t + 5000 * MS, out));
}

static void test_arp_retries_as_long_as_wanted(void **state)
{
	uint64_t t0 = 10000 * MS, t, last = 0, gap = 0;
	uint8_t mac[6];
	unsigned asked = 0;

	for (t = t0; t < t0 + 60000 * MS; t += MS) {
		assert_false(want(t, peer_ip, mac));
		if (!neighbours_tx(a, t, out))
			continue;
		if (last) {
			assert_true(t - last >= gap);
			assert_in_range(t - last, 100 * MS, 1000 * MS);
			gap = t - last;
		}
		last = t;
		asked++;
	}
	assert_in_range(asked, 58, 65);
}

static void test_arp_forgets_what_nobody_wants(void **state)
{
	uint64_t t = 10000 * MS;
	uint8_t mac[6];

	assert_false(want(t, peer_ip, mac));
	assert_true(neighbours_tx(a, t, out));
	assert_false(neighbours_tx(a, t + NEIGHBOUR_FORGET_NS + MS, out));
	receive(t, 2, peer_mac, peer_ip, our_ip);
	assert_false(news.learned);
}

static void test_arp_peer_changes_mac(void **state)
{
	uint8_t mac[6];

	want(0, peer_ip, mac);
	receive(1, 2, peer_mac, peer_ip, our_ip);
	assert_true(news.learned);
	receive(2, 2, peer_mac, peer_ip, our_ip);
	assert_false(news.learned);
	receive(3, 1, other_mac, peer_ip, peer_ip); /* gratuitous */
	assert_true(news.learned);
	assert_memory_equal(news.mac, other_mac, 6);
}

static void test_arp_unasked_reply_is_not_learned(void **state)
{
	uint8_t mac[6];

	receive(0, 2, peer_mac, peer_ip, our_ip);
	assert_false(news.learned);
	assert_false(want(1, peer_ip, mac));
}

static void test_arp_conflict_is_told(void **state)
{
	receive(0, 1, other_mac, our_ip, our_ip);
	assert_true(news.conflict);
	assert_false(news.reply);
	assert_memory_equal(news.mac, other_mac, 6);
	receive(0, 1, our_mac, our_ip, our_ip); /* our own, looped */
	assert_false(news.conflict);
}

static void test_arp_announces_itself(void **state)
{
	uint8_t want[ARP_FRAME];
	struct neighbours *b = make();

	assert_true(neighbours_tx(b, 5 * MS, out));
	frame(want, 1, our_mac, our_ip, our_ip);
	assert_memory_equal(out, want, ARP_FRAME);
	assert_false(neighbours_tx(b, 6 * MS, out));
	neighbours_destroy(b);
}

static void bad(const uint8_t *f, uint32_t len)
{
	uint64_t before = neighbours_counter(a, NEIGHBOUR_C_BAD);

	neighbours_rx(a, 0, f, len, &news);
	assert_false(news.reply || news.learned || news.conflict);
	assert_int_equal(neighbours_counter(a, NEIGHBOUR_C_BAD), before + 1);
}

static void test_arp_hostile_frames_are_counted(void **state)
{
	static const unsigned at[] = { 14, 15, 16, 18, 19, 20, 21 };
	static const uint8_t zero[6], group[4] = { 224, 0, 0, 1 };
	uint8_t f[ARP_FRAME], mac[6];
	unsigned i;

	want(0, peer_ip, mac);
	frame(f, 1, peer_mac, peer_ip, our_ip);
	for (i = 0; i < 42; i++) {
		uint8_t *cut = malloc(i + 1); /* ASan: no byte past it */

		memcpy(cut, f, i);
		if (i < 14) /* not even an EtherType */
			assert_false(neighbours_rx(a, 0, cut, i, &news));
		else
			bad(cut, i);
		free(cut);
	}
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		frame(f, 1, peer_mac, peer_ip, our_ip);
		f[at[i]] ^= 0x80;
		bad(f, sizeof(f));
	}
	frame(f, 1, all, peer_ip, our_ip);
	bad(f, sizeof(f));
	frame(f, 1, zero, peer_ip, our_ip);
	bad(f, sizeof(f));
	frame(f, 1, peer_mac, group, our_ip);
	bad(f, sizeof(f));
}

static void test_arp_full_table_keeps_going(void **state)
{
	uint8_t ip[4] = { 10, 1, 0, 0 }, mac[6];
	unsigned i, asked = 0;
	uint64_t t = 10000 * MS;

	for (i = 0; i < 300; i++) {
		ip[2] = i >> 8;
		ip[3] = i;
		assert_false(want(t, ip, mac));
	}
	assert_int_equal(neighbours_counter(a, NEIGHBOUR_C_FULL),
			 300 - NEIGHBOUR_MAX);
	while (neighbours_tx(a, t, out))
		asked++;
	assert_int_equal(asked, NEIGHBOUR_MAX);
	/* A known one makes room: it can be asked for again. */
	ip[2] = ip[3] = 0;
	receive(t, 2, peer_mac, ip, our_ip);
	assert_true(news.learned);
	assert_false(want(t, peer_ip, mac));
	assert_true(neighbours_tx(a, t, out));
	assert_memory_equal(out + 38, peer_ip, 4);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_arp_request_is_answered),
		T(test_arp_request_for_another_is_not_answered),
		T(test_arp_probe_is_answered),
		T(test_arp_asks_then_learns),
		T(test_arp_retries_as_long_as_wanted),
		T(test_arp_forgets_what_nobody_wants),
		T(test_arp_peer_changes_mac),
		T(test_arp_unasked_reply_is_not_learned),
		T(test_arp_conflict_is_told),
		T(test_arp_announces_itself),
		T(test_arp_hostile_frames_are_counted),
		T(test_arp_full_table_keeps_going),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
