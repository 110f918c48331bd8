// SPDX-License-Identifier: BSD-2-Clause
/*
 * Neighbour discovery: what is answered, asked and learned (RFC 4861), and the
 * group that switches are told of (RFC 2710).
 */
#include "nd_frames.h"

static void test_nd_answers_as_linux_does(void **state)
{
	assert_true(receive(linux_ask, FRAME));
	assert_int_equal(news.reply, FRAME);
	assert_memory_equal(news.out, linux_tell, FRAME);
	assert_false(news.learned || news.conflict);
}

static void test_nd_asks_as_linux_does(void **state)
{
	uint8_t mac[6];

	neighbours_destroy(n);
	start(peer_gid, peer_mac);
	announce();
	assert_false(neighbours_want(n, 10000 * MS, our_gid, mac));
	assert_int_equal(neighbours_tx(n, 10000 * MS, out), FRAME);
	assert_memory_equal(out, linux_ask, FRAME);
	assert_true(receive(linux_tell, FRAME));
	assert_true(news.learned);
	assert_memory_equal(news.gid, our_gid, 16);
	assert_memory_equal(news.mac, our_mac, 6);
	assert_true(neighbours_want(n, 10000 * MS, our_gid, mac));
	assert_memory_equal(mac, our_mac, 6);
	assert_false(neighbours_tx(n, 20000 * MS, out));
}

/* Linux asks so whether we are still there. */
static void test_nd_unicast_without_option_is_answered(void **state)
{
	uint8_t f[FRAME];

	memcpy(f, linux_ask, FRAME);
	memcpy(f, our_mac, 6);
	memcpy(f + DST, our_gid, 16);
	f[LEN + 1] = 24;
	seal(f, ICMP);
	assert_true(receive(f, OPTION));
	assert_memory_equal(news.out, linux_tell, news.reply);
	assert_int_equal(news.reply, FRAME);
}

static void test_nd_probe_is_answered_to_all(void **state)
{
	static const uint8_t mac[6] = { 0x33, 0x33, 0, 0, 0, 1 };
	uint8_t f[FRAME];

	memcpy(f, linux_ask, FRAME);
	memset(f + SRC, 0, 16);
	f[LEN + 1] = 24;
	seal(f, ICMP);
	assert_true(receive(f, OPTION));
	assert_int_equal(news.reply, FRAME);
	assert_memory_equal(news.out, mac, 6);
	assert_memory_equal(news.out + DST, all_nodes, 16);
	assert_int_equal(news.out[FLAGS], 0x20);
	assert_false(news.conflict || news.learned);
	memcpy(f, news.out, FRAME);
	seal(f, ICMP);
	assert_memory_equal(f, news.out, FRAME);
}

static void test_nd_of_others_is_left_alone(void **state)
{
	uint8_t f[FRAME], mac[6];

	neighbours_want(n, 0, peer_gid, mac);
	/* a solicitation of another address that shares our group */
	memcpy(f, linux_ask, FRAME);
	f[TARGET + 1] = 10;
	f[OPTION + 7] = 3;
	memcpy(f + SRC, peer_gid, 16);
	f[SRC + 15] = 9;
	seal(f, ICMP);
	assert_true(receive(f, FRAME));
	assert_false(news.reply || news.learned);
	/* an advertisement to somebody else, seen by a promiscuous port */
	memcpy(f, linux_tell, FRAME);
	memcpy(f + TARGET, peer_gid, 16);
	f[DST + 15] = 7;
	seal(f, ICMP);
	assert_false(receive(f, FRAME));
	/* an echo request, UDP, ARP: not for us */
	memcpy(f, linux_ask, FRAME);
	f[ICMP] = 128;
	assert_false(receive(f, FRAME));
	f[NEXT] = 17;
	assert_false(receive(f, FRAME));
	f[12] = 8;
	f[13] = 6;
	assert_false(receive(f, FRAME));
	assert_int_equal(counter(NEIGHBOUR_C_BAD), 0);
}

/* "peer is at mac", with these flags. */
static void told(uint8_t flags, const uint8_t *mac)
{
	uint8_t f[FRAME];

	memcpy(f, advert, FRAME);
	memcpy(f + 6, mac, 6);
	f[FLAGS] = flags;
	memcpy(f + OPTION + 2, mac, 6);
	seal(f, ICMP);
	assert_true(receive(f, FRAME));
}

static void test_nd_unasked_is_not_learned(void **state)
{
	uint8_t mac[6];

	told(0x60, peer_mac);
	assert_false(news.learned);
	assert_false(neighbours_want(n, 1, peer_gid, mac));
}

/* RFC 4861 7.2.5: only who overrides changes what is known. */
static void test_nd_peer_changes_mac(void **state)
{
	uint8_t mac[6];

	neighbours_want(n, 0, peer_gid, mac);
	told(0x40, peer_mac);
	assert_true(news.learned);
	told(0x60, peer_mac);
	assert_false(news.learned);
	told(0x40, other_mac);
	assert_false(news.learned);
	told(0x20, other_mac);
	assert_true(news.learned);
	assert_memory_equal(news.mac, other_mac, 6);
}

static void test_nd_learns_from_who_asks(void **state)
{
	uint8_t mac[6];

	neighbours_want(n, 0, peer_gid, mac);
	assert_true(receive(linux_ask, FRAME));
	assert_true(news.learned);
	assert_memory_equal(news.mac, peer_mac, 6);
	assert_int_equal(news.reply, FRAME);
}

static void test_nd_retries_then_forgets(void **state)
{
	uint64_t t0 = 10000 * MS, t, last = 0;
	uint8_t mac[6];
	unsigned asked = 0;

	for (t = t0; t < t0 + 10000 * MS; t += MS) {
		if (t < t0 + 5000 * MS)
			neighbours_want(n, t, peer_gid, mac);
		if (!neighbours_tx(n, t, out))
			continue;
		if (last)
			assert_in_range(t - last, 100 * MS, 1000 * MS);
		last = t;
		asked++;
	}
	/* 0, 0.1, 0.3, 0.7, 1.5 s, then each second, 3 s after the last want */
	assert_in_range(asked, 10, 12);
	assert_true(last < t0 + 5000 * MS + NEIGHBOUR_FORGET_NS);
}

static void test_nd_conflict_is_told(void **state)
{
	uint8_t f[FRAME];

	memcpy(f, linux_tell, FRAME);
	memcpy(f + 6, other_mac, 6);
	memcpy(f + DST, all_nodes, 16);
	f[FLAGS] = 0x20;
	memcpy(f + OPTION + 2, other_mac, 6);
	seal(f, ICMP);
	assert_true(receive(f, FRAME));
	assert_true(news.conflict);
	assert_memory_equal(news.mac, other_mac, 6);
	/* our own, come back */
	memcpy(f + 6, our_mac, 6);
	memcpy(f + OPTION + 2, our_mac, 6);
	seal(f, ICMP);
	assert_true(receive(f, FRAME));
	assert_false(news.conflict);
	/* also one that tells no MAC */
	memcpy(f, linux_ask, OPTION);
	memcpy(f + 6, our_mac, 6);
	memcpy(f + SRC, our_gid, 16);
	f[LEN + 1] = 24;
	seal(f, ICMP);
	assert_true(receive(f, OPTION));
	assert_false(news.conflict || news.reply);
	assert_int_equal(counter(NEIGHBOUR_C_CONFLICT), 1);
}

static void test_nd_announces_itself(void **state)
{
	uint8_t want[FRAME];

	neighbours_destroy(n);
	start(our_gid, our_mac);
	assert_int_equal(neighbours_tx(n, 5 * MS, out), FRAME);
	assert_int_equal(out[QUERY], 131);
	memcpy(want, linux_tell, FRAME);
	memcpy(want, "\x33\x33\0\0\0\1", 6);
	memcpy(want + DST, all_nodes, 16);
	want[FLAGS] = 0x20;
	seal(want, ICMP);
	assert_int_equal(neighbours_tx(n, 5 * MS, out), FRAME);
	assert_memory_equal(out, want, FRAME);
	assert_false(neighbours_tx(n, 6 * MS, out));
}

static void test_nd_group_is_reported_as_linux_does(void **state)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 2 };
	uint64_t t;
	unsigned i;

	neighbours_destroy(n);
	start(gid, peer_mac);
	assert_int_equal(neighbours_tx(n, 0, out), FRAME);
	assert_memory_equal(out, linux_report, FRAME);
	for (t = 0; t < 5000 * MS; t += MS)
		neighbours_tx(n, t, out);
	assert_int_equal(counter(NEIGHBOUR_C_REPORT_TX), 3);
	/* asked by many queries: one report, within their second */
	for (i = 0; i < 1000; i++)
		assert_true(neighbours_rx(n, t + i, linux_query, FRAME, &news));
	for (i = 0; i < 1000 && !neighbours_tx(n, t + i * MS, out); i++)
		;
	assert_memory_equal(out, linux_report, FRAME);
	for (i = 0; i < 5000; i++)
		assert_false(neighbours_tx(n, t + i * MS, out));
}

/* A flood of queries that want answers at once, then one that is patient. */
static void test_nd_group_reports_have_an_end(void **state)
{
	uint8_t f[FRAME];
	unsigned i, reports = 0;
	uint64_t t = 10000 * MS;

	memcpy(f, linux_query, FRAME);
	f[DELAY] = f[DELAY + 1] = 0;
	seal(f, QUERY);
	for (i = 0; i < 1000; i++, t += MS) {
		assert_true(neighbours_rx(n, t, f, FRAME, &news));
		reports += neighbours_tx(n, t, out) > 0;
	}
	assert_in_range(reports, 9, 11);
	f[DELAY] = 0xff;
	seal(f, QUERY);
	for (t += 5000 * MS; neighbours_tx(n, t, out);)
		;
	for (i = 0; i < 20; i++, t += 5000 * MS) {
		assert_true(neighbours_rx(n, t + i, f, FRAME, &news));
		assert_true(neighbours_tx(n, t + 1001 * MS, out));
	}
}

/* No link-local address: the report comes from nobody (RFC 3590). */
static void test_nd_group_report_without_link_local(void **state)
{
	static const uint8_t zero[16];

	neighbours_destroy(n);
	start(our_gid, our_mac);
	assert_true(neighbours_tx(n, 0, out));
	assert_memory_equal(out + SRC, zero, 16);
	assert_memory_equal(out, "\x33\x33\xff\0\0\1", 6);
}

static void test_nd_full_table_keeps_going(void **state)
{
	uint8_t gid[16] = G(0), mac[6];
	unsigned i, asked = 0;
	uint64_t t = 10000 * MS;

	for (i = 0; i < 300; i++) {
		gid[14] = 1 + (i >> 8);
		gid[15] = i;
		assert_false(neighbours_want(n, t, gid, mac));
	}
	assert_int_equal(counter(NEIGHBOUR_C_FULL), 300 - NEIGHBOUR_MAX);
	while (neighbours_tx(n, t, out))
		asked++;
	assert_int_equal(asked, NEIGHBOUR_MAX);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nd_answers_as_linux_does),
		T(test_nd_asks_as_linux_does),
		T(test_nd_unicast_without_option_is_answered),
		T(test_nd_probe_is_answered_to_all),
		T(test_nd_of_others_is_left_alone),
		T(test_nd_unasked_is_not_learned),
		T(test_nd_peer_changes_mac),
		T(test_nd_learns_from_who_asks),
		T(test_nd_retries_then_forgets),
		T(test_nd_conflict_is_told),
		T(test_nd_announces_itself),
		T(test_nd_group_is_reported_as_linux_does),
		T(test_nd_group_reports_have_an_end),
		T(test_nd_group_report_without_link_local),
		T(test_nd_full_table_keeps_going),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
