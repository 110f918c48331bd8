// SPDX-License-Identifier: BSD-2-Clause
/* The frame parser: Ethernet, VLAN, IPv4, IPv6, GRH and UDP headers that lie. */
#include "pkt_fixture.h"

static void test_parse_ethernet_padding(void **state)
{
	uint32_t len = take("drv-send-only-len0");

	memset(buf + len, 0xee, 8);
	assert_drop(parse(buf, len + 8), ROCE_OK);
	assert_int_equal(pkt.payload_len, 0);
	len = take("drv-ipv6-base");
	memset(buf + len, 0xee, 8);
	assert_drop(parse(buf, len + 8), ROCE_OK);
	assert_int_equal(pkt.payload_len, 4);
}

/* One byte of a good IPv4 frame's header changed, its checksum mended. */
static const struct {
	uint8_t at, value;
	enum roce_drop drop;
} ip_changes[] = {
	{ 0, 0x55, ROCE_DROP_IP },	 /* version 5 */
	{ 0, 0x46, ROCE_DROP_IP },	 /* options */
	{ 0, 0x44, ROCE_DROP_IP },	 /* IHL 4 */
	{ 6, 0x20, ROCE_DROP_FRAGMENT }, /* MF */
	{ 6, 0x01, ROCE_DROP_FRAGMENT }, /* offset, high bits */
	{ 7, 0x01, ROCE_DROP_FRAGMENT }, /* offset, low bits */
	{ 6, 0x00, ROCE_OK },		 /* DF is theirs to set */
	{ 9, 6, ROCE_DROP_NOT_ROCE },	 /* TCP */
	{ 3, 19, ROCE_DROP_SHORT },	 /* total less than the header */
	{ 3, 27, ROCE_DROP_SHORT },	 /* no room for UDP */
	{ 3, 44, ROCE_DROP_SHORT },	 /* UDP does not fit in it */
	{ 3, 52, ROCE_DROP_SHORT },	 /* more than the frame has */
	{ 2, 0xff, ROCE_DROP_SHORT },
	{ 20 + 3, 0xb8, ROCE_DROP_NOT_ROCE }, /* port 4792 */
	{ 20 + 5, 24, ROCE_DROP_SHORT },      /* UDP length less than IP's */
	{ 20 + 5, 32, ROCE_DROP_SHORT },
	{ 20 + 5, 0, ROCE_DROP_SHORT },
	{ 28 + 1, 0x41, ROCE_DROP_TVER },
};

static void test_parse_ipv4_headers(void **state)
{
	for (size_t i = 0; i < VEC_COUNT(ip_changes); i++) {
		uint32_t len = take("drv-send-only-len4");
		enum roce_drop got;

		buf[FRAME_L3 + ip_changes[i].at] = ip_changes[i].value;
		seal4(len);
		got = parse(buf, len);
		if (got != ip_changes[i].drop)
			fail_msg("byte %u = %#x: %s, want %s", ip_changes[i].at,
				 ip_changes[i].value, roce_drop_name(got),
				 roce_drop_name(ip_changes[i].drop));
	}
}

static void test_parse_ipv4_checksum(void **state)
{
	uint32_t len = take("drv-send-only-len4");

	for (unsigned bit = 0; bit < 160; bit++) {
		buf[FRAME_L3 + bit / 8] ^= 1 << bit % 8;
		assert_int_not_equal(parse(buf, len), ROCE_OK);
		buf[FRAME_L3 + bit / 8] ^= 1 << bit % 8;
	}
	buf[FRAME_L3 + 8]--; /* TTL is outside the ICRC: only this sees it */
	assert_drop(parse(buf, len), ROCE_DROP_IP);
}

static void test_parse_ipv6_headers(void **state)
{
	static const struct {
		uint8_t at, value;
		enum roce_drop drop;
	} c[] = {
		{ 0, 0x40, ROCE_DROP_IP },
		{ 6, 44, ROCE_DROP_FRAGMENT },
		{ 6, 0, ROCE_DROP_NOT_ROCE }, /* hop-by-hop options */
		{ 6, 58, ROCE_DROP_NOT_ROCE },
		{ 5, 7, ROCE_DROP_SHORT },
		{ 5, 24, ROCE_DROP_SHORT },
		{ 5, 32, ROCE_DROP_SHORT },
		{ 4, 0xff, ROCE_DROP_SHORT },
		{ 40 + 3, 0xb8, ROCE_DROP_NOT_ROCE },
		{ 40 + 5, 24, ROCE_DROP_SHORT },
		{ 48, 0xff, ROCE_DROP_OPCODE },
		{ 60, 0x42, ROCE_DROP_ICRC },
	};

	for (size_t i = 0; i < VEC_COUNT(c); i++) {
		uint32_t len = take("drv-ipv6-base");

		buf[FRAME_L3 + c[i].at] = c[i].value;
		assert_drop(parse(buf, len), c[i].drop);
	}
}

/* The class is 8 bits across two bytes, outside the ICRC. */
static void test_parse_ipv6_congestion_mark(void **state)
{
	uint32_t len = take("drv-ipv6-base");

	buf[FRAME_L3 + 1] = 0x30;
	assert_drop(parse(buf, len), ROCE_OK);
	assert_int_equal(pkt.ecn_ce, 1);
	buf[FRAME_L3] = 0x6f;
	buf[FRAME_L3 + 1] = 0xdf;
	assert_drop(parse(buf, len), ROCE_OK);
	assert_int_equal(pkt.ecn_ce, 0);
}

static void test_parse_rocev1_headers(void **state)
{
	uint32_t len = take("pub-05-rocev1-ack");

	assert_drop(parse(buf, len), ROCE_OK);
	buf[FRAME_L3 + 6] = 17;
	assert_drop(parse(buf, len), ROCE_DROP_NOT_ROCE);
	len = take("pub-05-rocev1-ack");
	buf[FRAME_L3] ^= 0x20;
	assert_drop(parse(buf, len), ROCE_DROP_IP);
	len = take("pub-05-rocev1-ack");
	buf[FRAME_L3 + 5] = 8;
	assert_drop(parse(buf, len), ROCE_DROP_SHORT);
	buf[FRAME_L3 + 5] = 16;
	assert_drop(parse(buf, len), ROCE_DROP_LENGTH);
}

/* Put n tags of this type into a vector's frame; gives the length. */
static uint32_t tag(const char *id, unsigned n, uint16_t type)
{
	const struct vec_frame *v = vec(id);
	uint8_t *p = buf + 12;

	memcpy(buf, v->frame, 12);
	for (unsigned i = 0; i < n; i++, p += 4) {
		frame_put16(p, i ? ROCE_ETHERTYPE_VLAN : type);
		frame_put16(p + 2, 100 + i);
	}
	memcpy(p, v->frame + 12, v->len - 12);
	return v->len + 4 * n;
}

static void test_parse_vlan_tags(void **state)
{
	static const char *const id[] = { "drv-invariant-base", "drv-ipv6-base",
					  "pub-04-rocev1-write" };

	for (size_t i = 0; i < VEC_COUNT(id); i++) {
		assert_drop(parse(buf, tag(id[i], 1, 0x8100)), ROCE_OK);
		assert_drop(parse(buf, tag(id[i], 1, 0x88a8)), ROCE_OK);
		assert_drop(parse(buf, tag(id[i], 2, 0x8100)), ROCE_OK);
		assert_drop(parse(buf, tag(id[i], 2, 0x88a8)), ROCE_OK);
		assert_drop(parse(buf, tag(id[i], 3, 0x88a8)),
			    ROCE_DROP_NOT_ROCE);
	}
	tag(id[0], 2, 0x8100);
	for (uint32_t len = 0; len < 22; len++)
		assert_drop(parse(buf, len), ROCE_DROP_SHORT);
}

static void test_parse_other_ethertypes(void **state)
{
	uint32_t len = take("drv-invariant-base");

	frame_put16(buf + 12, ROCE_ETHERTYPE_ARP);
	assert_drop(parse(buf, len), ROCE_DROP_NOT_ROCE);
	frame_put16(buf + 12, len - 14); /* an 802.3 length */
	assert_drop(parse(buf, len), ROCE_DROP_NOT_ROCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_ethernet_padding),
		cmocka_unit_test(test_parse_ipv4_headers),
		cmocka_unit_test(test_parse_ipv4_checksum),
		cmocka_unit_test(test_parse_ipv6_headers),
		cmocka_unit_test(test_parse_ipv6_congestion_mark),
		cmocka_unit_test(test_parse_rocev1_headers),
		cmocka_unit_test(test_parse_vlan_tags),
		cmocka_unit_test(test_parse_other_ethertypes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
