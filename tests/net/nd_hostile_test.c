// SPDX-License-Identifier: BSD-2-Clause
/*
 * Neighbour discovery: frames that are refused and counted, whatever is in
 * them (RFC 4861 7.1).
 */
#include "nd_frames.h"

static void refuse(uint8_t *f, uint32_t len, enum neighbour_counter c)
{
	uint64_t before = counter(c);
	uint8_t *copy = malloc(len);

	memcpy(copy, f, len); /* ASan: no byte past it */
	assert_true(receive(copy, len));
	free(copy);
	assert_false(news.reply || news.learned || news.conflict);
	assert_int_equal(counter(c), before + 1);
}

/* A frame with one byte changed and a good checksum. */
static void change(const uint8_t *golden, unsigned at, uint8_t value,
		   enum neighbour_counter c)
{
	uint8_t f[512] = { 0 };

	memcpy(f, golden, FRAME);
	f[at] = value;
	seal(f, golden == linux_query ? QUERY : ICMP);
	refuse(f, FRAME, c);
}

/* Set up so that each would be answered or learned, were it good. */
static void want_peer(void)
{
	uint8_t mac[6];

	neighbours_want(n, 0, peer_gid, mac);
}

static void test_nd_hop_limit_must_be_255(void **state)
{
	static const uint8_t hops[] = { 0, 1, 64, 254 };
	unsigned i;

	want_peer();
	for (i = 0; i < sizeof(hops); i++) {
		change(linux_ask, HOPS, hops[i], NEIGHBOUR_C_HOP_LIMIT);
		change(advert, HOPS, hops[i], NEIGHBOUR_C_HOP_LIMIT);
	}
	change(linux_query, HOPS, 2, NEIGHBOUR_C_HOP_LIMIT);
}

static void test_nd_hostile_fields_are_refused(void **state)
{
	const enum neighbour_counter bad = NEIGHBOUR_C_BAD;

	want_peer();
	change(linux_ask, ICMP + 1, 1, bad);   /* code */
	change(linux_ask, TARGET, 0xff, bad);  /* a group */
	change(linux_ask, SRC, 0xff, bad);     /* a group */
	change(linux_ask, OPTION + 1, 0, bad); /* would never end */
	change(linux_ask, OPTION + 1, 2, bad); /* past the end */
	change(linux_ask, OPTION + 1, 255, bad);
	change(linux_ask, OPTION + 2, 3, bad); /* a group's MAC */
	change(linux_ask, 6, 3, bad);	       /* Ethernet's too */
	change(linux_ask, LEN + 1, 16, bad);   /* too short */
	change(linux_ask, LEN, 1, bad);	       /* longer than the frame */
	change(linux_query, SRC, 0xfd, bad);   /* not link-local */
	change(linux_query, 56, 6, bad);       /* no router alert */
	change(linux_query, 57, 200, bad);     /* option past the end */
}

static void test_nd_hostile_probes_are_refused(void **state)
{
	uint8_t f[FRAME];

	memcpy(f, linux_ask, FRAME);
	memset(f + SRC, 0, 16);
	seal(f, ICMP);
	refuse(f, FRAME, NEIGHBOUR_C_BAD); /* tells a MAC */
	f[LEN + 1] = 24;
	memcpy(f + DST, our_gid, 16);
	seal(f, ICMP);
	refuse(f, OPTION, NEIGHBOUR_C_BAD); /* not to the group */
	memcpy(f + DST, all_nodes, 16);
	seal(f, ICMP);
	refuse(f, OPTION, NEIGHBOUR_C_BAD);
}

static void test_nd_hostile_advertisements_are_refused(void **state)
{
	uint8_t f[FRAME];

	want_peer();
	change(advert, OPTION + 1, 0, NEIGHBOUR_C_BAD);
	change(advert, OPTION + 2, 3, NEIGHBOUR_C_BAD);
	change(advert, TARGET, 0xff, NEIGHBOUR_C_BAD);
	change(advert, SRC, 0xff, NEIGHBOUR_C_BAD);
	memcpy(f, advert, FRAME);
	memcpy(f + DST, all_nodes, 16); /* solicited, and to all */
	seal(f, ICMP);
	refuse(f, FRAME, NEIGHBOUR_C_BAD);
	memcpy(f, advert, FRAME);
	memset(f + SRC, 0, 16);
	seal(f, ICMP);
	refuse(f, FRAME, NEIGHBOUR_C_BAD);
	assert_true(receive(advert, FRAME)); /* it was good */
	assert_true(news.learned);
}

/* What a wire does: no bit of what the checksum covers may go unseen. */
static void test_nd_damage_is_seen(void **state)
{
	const uint8_t *golden[] = { linux_ask, advert, linux_query };
	uint8_t f[FRAME];
	unsigned i, bit;

	want_peer();
	for (i = 0; i < 3; i++) {
		for (bit = LEN * 8; bit < FRAME * 8; bit++) {
			/* of the extension header it covers nothing */
			if (i == 2 && bit / 8 >= ICMP && bit / 8 < QUERY)
				continue;
			memcpy(f, golden[i], FRAME);
			f[bit / 8] ^= 1 << bit % 8;
			receive(f, FRAME);
			assert_false(news.reply || news.learned ||
				     news.conflict);
			assert_false(neighbours_tx(n, 10000 * MS, out) &&
				     out[QUERY] == 131);
		}
	}
	assert_true(counter(NEIGHBOUR_C_CHECKSUM) > 500);
}

/* Every sum there is, those with a carry of a carry too, both ways. */
static void test_nd_all_checksums(void **state)
{
	uint8_t f[FRAME], reply[FRAME];
	unsigned v;

	memcpy(f, linux_ask, FRAME);
	memset(f + SRC + 2, 0xff, 12);
	for (v = 0; v < 65536; v++) {
		f[SRC + 14] = v >> 8;
		f[SRC + 15] = v;
		seal(f, ICMP);
		assert_true(receive(f, FRAME));
		assert_int_equal(news.reply, FRAME);
		memcpy(reply, news.out, FRAME);
		seal(reply, ICMP);
		assert_memory_equal(reply, news.out, FRAME);
	}
}

static void test_nd_cut_frames(void **state)
{
	const uint8_t *golden[] = { linux_ask, advert, linux_query };
	unsigned i, len;

	want_peer();
	for (i = 0; i < 3; i++) {
		for (len = 0; len < FRAME; len++) {
			uint8_t *cut = malloc(len + 1);

			memcpy(cut, golden[i], len);
			receive(cut, len);
			free(cut);
			assert_false(news.reply || news.learned);
		}
	}
}

/* Any bytes, with a checksum that fits: an answer or none, no overrun. */
static void test_nd_hostile_bytes(void **state)
{
	uint8_t f[FRAME + 64];
	unsigned i, k, len, at;

	srandom(1);
	for (i = 0; i < 200000; i++) {
		const uint8_t *golden = i % 3 == 0   ? linux_ask
					: i % 3 == 1 ? advert
						     : linux_query;
		uint8_t *copy;

		memcpy(f, golden, FRAME);
		len = 54 + random() % (sizeof(f) - 54);
		for (k = FRAME; k < sizeof(f); k++)
			f[k] = random();
		for (k = random() % 6; k; k--) {
			at = i & 1 ? OPTION + random() % 40 : random() % len;
			f[at] = random() % 4 ? random() % 4 : random();
		}
		f[LEN] = 0;
		f[LEN + 1] = random() % 8 ? (len - 54) & ~1U : random();
		if (f[LEN + 1] + 54U <= sizeof(f))
			seal(f, golden == linux_query ? QUERY : ICMP);
		copy = malloc(len);
		memcpy(copy, f, len);
		receive(copy, len);
		free(copy);
		assert_true(news.reply <= NEIGHBOUR_FRAME);
	}
	assert_true(counter(NEIGHBOUR_C_TELL_TX) > 100);
	assert_true(counter(NEIGHBOUR_C_BAD) > 100);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nd_hop_limit_must_be_255),
		T(test_nd_hostile_fields_are_refused),
		T(test_nd_hostile_probes_are_refused),
		T(test_nd_hostile_advertisements_are_refused),
		T(test_nd_damage_is_seen),
		T(test_nd_all_checksums),
		T(test_nd_cut_frames),
		T(test_nd_hostile_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
