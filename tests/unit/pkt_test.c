// SPDX-License-Identifier: BSD-2-Clause
/* The frame parser: published frames, field reports, bit flips, noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pkt_fixture.h"

#define NOISE 300000

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 16;
}

static enum roce_drop expected(const struct vec_frame *v)
{
	if (!strcmp(v->id, "neg-02-rtl-ack-plain-crc"))
		return ROCE_DROP_NOT_ROCE; /* it is sent to another port */
	if (!strcmp(v->id, "drv-bad-opcode-ff"))
		return ROCE_DROP_OPCODE;
	return v->good ? ROCE_OK : ROCE_DROP_ICRC;
}

static void test_parse_published_frames(void **state)
{
	for (size_t i = 0; i < VEC_COUNT(vec_frames); i++) {
		const struct vec_frame *v = &vec_frames[i];
		enum roce_drop got = parse(v->frame, v->len);

		if (got != expected(v))
			fail_msg("%s: %s, want %s", v->id, roce_drop_name(got),
				 roce_drop_name(expected(v)));
	}
}

static void test_parse_fields(void **state)
{
	const struct vec_frame *v = vec("drv-write-only-5");

	assert_drop(parse(v->frame, v->len), ROCE_OK);
	assert_ptr_equal(pkt.l3, edge.end - v->len + FRAME_L3);
	assert_ptr_equal(pkt.ext, edge.end - v->len + FRAME_BTH4 + 12);
	assert_ptr_equal(pkt.payload, pkt.ext + 16);
	assert_int_equal(pkt.payload_len, 5);
	assert_memory_equal(pkt.payload, "\1\2\3\4\5", 5);
	assert_int_equal(pkt.psn, 0x200);
	assert_int_equal(pkt.qpn, 0x11);
	assert_int_equal(pkt.pkey, 0xffff);
	assert_int_equal(pkt.opcode, ROCE_RC_WRITE_ONLY);
	assert_int_equal(pkt.flags, ROCE_BTH_MIGREQ | 3 << ROCE_BTH_PAD_SHIFT);
	assert_int_equal(pkt.ackreq, 1);
	assert_int_equal(pkt.encap, ROCE_V2_IPV4);
	assert_int_equal(pkt.ecn_ce, 0);
}

static void test_parse_fields_of_other_encapsulations(void **state)
{
	const struct vec_frame *v = vec("pub-02-scapy-uc-ipv6");

	assert_drop(parse(v->frame, v->len), ROCE_OK);
	assert_int_equal(pkt.encap, ROCE_V2_IPV6);
	assert_int_equal(pkt.payload_len, 18);
	assert_int_equal(pkt.psn, 0xcf1710);
	assert_int_equal(pkt.ecn_ce, 0); /* class 0xe2 */
	v = vec("drv-ipv6-fl-tc-hl");
	assert_drop(parse(v->frame, v->len), ROCE_OK);
	assert_int_equal(pkt.ecn_ce, 1); /* class 0xff */
	v = vec("pub-04-rocev1-write");
	assert_drop(parse(v->frame, v->len), ROCE_OK);
	assert_int_equal(pkt.encap, ROCE_V1);
	assert_int_equal(pkt.opcode, ROCE_RC_WRITE_ONLY);
	v = vec("drv-invariant-ce");
	assert_drop(parse(v->frame, v->len), ROCE_OK);
	assert_int_equal(pkt.ecn_ce, 1);
}

static void test_o16_pad_bytes_and_wrong_icrcs(void **state)
{
	for (unsigned n = 0; n <= 5; n++) {
		char id[32];

		snprintf(id, sizeof(id), "drv-send-only-len%u", n);
		assert_drop(parse(vec(id)->frame, vec(id)->len), ROCE_OK);
		assert_int_equal(pkt.payload_len, n);
	}
	for (size_t i = 0; i < VEC_COUNT(vec_wrongs); i++) {
		const struct vec_wrong *v = &vec_wrongs[i];

		assert_drop(parse(v->frame, v->len), ROCE_DROP_ICRC);
		memcpy(buf, v->frame, v->len);
		frame_icrc(buf + v->len - 4, v->icrc);
		assert_drop(parse(buf, v->len), ROCE_OK);
	}
	assert_drop(parse(buf, take("neg-01-vendor-article-cnp")),
		    ROCE_DROP_ICRC);
}

static void test_o16_plain_crc_to_our_port(void **state)
{
	uint32_t len = take("neg-02-rtl-ack-plain-crc");

	assert_drop(parse(buf, len), ROCE_DROP_NOT_ROCE);
	frame_put16(buf + FRAME_UDP4 + 2, 4791);
	assert_drop(parse(buf, len), ROCE_DROP_ICRC);
}

static void test_o16_invariant_fields_keep_the_icrc(void **state)
{
	const uint32_t base = vec("drv-invariant-base")->icrc;
	unsigned same = 0, other = 0;

	for (size_t i = 0; i < VEC_COUNT(vec_frames); i++) {
		const struct vec_frame *v = &vec_frames[i];

		if (!strncmp(v->id, "drv-invariant-", 14)) {
			assert_int_equal(v->icrc, base);
			assert_drop(parse(v->frame, v->len), ROCE_OK);
			same++;
		} else if (!strncmp(v->id, "drv-variant-", 12)) {
			memcpy(buf, v->frame, v->len);
			frame_icrc(buf + v->len - 4, base);
			assert_drop(parse(buf, v->len), ROCE_DROP_ICRC);
			other++;
		}
	}
	assert_int_equal(same, 5);
	assert_int_equal(other, 3);
}

static enum roce_drop malformed_drop(const char *id)
{
	if (!strcmp(id, "mal-short-bth") || !strcmp(id, "mal-udp-len-lies"))
		return ROCE_DROP_SHORT;
	if (!strcmp(id, "mal-opcode-ff-48"))
		return ROCE_DROP_OPCODE;
	if (!strcmp(id, "mal-tver-1"))
		return ROCE_DROP_TVER;
	return ROCE_DROP_LENGTH;
}

static void test_parse_malformed_payloads(void **state)
{
	for (size_t i = 0; i < VEC_COUNT(vec_payloads); i++) {
		const struct vec_payload *v = &vec_payloads[i];
		enum roce_drop want = malformed_drop(v->id);
		uint32_t len = frame_udp4(buf, v->len);

		memcpy(buf + FRAME_BTH4, v->data, v->len);
		if (v->udp_len)
			frame_put16(buf + FRAME_UDP4 + 4, v->udp_len);
		assert_drop(parse(buf, len), want);
		len = frame_udp6(buf, v->len);
		memcpy(buf + FRAME_BTH6, v->data, v->len);
		if (v->udp_len)
			frame_put16(buf + FRAME_UDP6 + 4, v->udp_len);
		assert_drop(parse(buf, len), want);
	}
}

/* IBTA 9.2.1 by ranges, as the parser's table is by names. */
static int ext_by_rule(unsigned op)
{
	static const int rc[] = { 0,  0, 0, 4, 0, 4, 16, 0,  0,	 4,  16, 20,
				  16, 4, 0, 4, 4, 4, 12, 28, 28, -1, 4,	 4 };

	if (op < 0x18)
		return rc[op];
	if (op >= 0x20 && op <= 0x2b)
		return rc[op - 0x20];
	return op == 0x64 ? 8 : op == 0x65 ? 12 : op == 0x81 ? 16 : -1;
}

static enum roce_drop drop_by_rule(unsigned op, uint32_t n)
{
	if (n < 12)
		return ROCE_DROP_SHORT;
	if (ext_by_rule(op) < 0)
		return ROCE_DROP_OPCODE;
	if (n < 12u + ext_by_rule(op) + 4)
		return ROCE_DROP_LENGTH;
	return ROCE_OK;
}

/* Good ICRC where there is room for one, and then a bad one. */
static void o17_one(unsigned op, uint32_t n, unsigned qpn, int v6)
{
	enum roce_drop want = drop_by_rule(op, n);
	const uint8_t bth[12] = {
		op, 0, 255, 255, 0, qpn >> 16, qpn >> 8, qpn
	};
	uint32_t len = v6 ? frame_udp6(buf, n) : frame_udp4(buf, n);
	uint8_t *p = buf + len - n, *l3 = buf + FRAME_L3, *icrc = p + n - 4;

	memset(p, 0x11, n);
	memcpy(p, bth, n < sizeof(bth) ? n : sizeof(bth));
	if (n >= 16)
		frame_icrc(icrc, v6 ? roce_icrc_ipv6(l3, icrc - l3)
				    : roce_icrc_ipv4(l3, icrc - l3));
	assert_drop(parse(buf, len), want);
	if (want != ROCE_OK)
		return;
	assert_int_equal(pkt.payload_len, n - 16 - ext_by_rule(op));
	assert_int_equal(pkt.qpn, qpn);
	*icrc ^= 1;
	assert_drop(parse(buf, len), ROCE_DROP_ICRC);
}

static void test_o17_every_opcode_and_length(void **state)
{
	static const unsigned qpn[] = { 0x11, 0x123456, 0xffffff };

	for (unsigned op = 0; op < 256; op++) {
		assert_int_equal(roce_ext_len(op), ext_by_rule(op));
		for (uint32_t n = 0; n <= 80; n++)
			for (unsigned i = 0; i < 6; i++)
				o17_one(op, n, qpn[i / 2], i & 1);
	}
}

static void test_o21_reserved_bits_are_ignored(void **state)
{
	uint32_t len = take("drv-send-only-len4");
	uint8_t *bth = buf + FRAME_BTH4;

	bth[0] = ROCE_RC_SEND_MIDDLE;
	bth[1] = ROCE_BTH_SE; /* MigReq 0 */
	frame_put16(bth + 2, 0x7fff);
	bth[4] = 0xff;
	bth[8] = 0xff;
	seal4(len);
	assert_drop(parse(buf, len), ROCE_OK);
	assert_int_equal(pkt.flags, ROCE_BTH_SE);
	assert_int_equal(pkt.pkey, 0x7fff);
	assert_int_equal(pkt.qpn, 0x11);
	assert_int_equal(pkt.ackreq, 1);
	bth[1] = ROCE_BTH_MIGREQ;
	seal4(len);
	assert_drop(parse(buf, len), ROCE_OK);
}

static void test_parse_truncated_frames(void **state)
{
	for (size_t i = 0; i < VEC_COUNT(vec_frames); i++) {
		const struct vec_frame *v = &vec_frames[i];

		for (uint32_t len = 0; len < v->len; len++)
			if (parse(v->frame, len) == ROCE_OK)
				fail_msg("%s cut to %u", v->id, len);
	}
}

/* Each bit from the IP header on is needed, but for the variant fields. */
static void flip_every_bit(const char *id, unsigned first, unsigned csum,
			   unsigned resv)
{
	uint32_t len = take(id);

	for (unsigned bit = 8 * first; bit < 8 * len; bit++) {
		unsigned at = bit / 8;
		int free = at == csum || at == csum + 1 || at == resv;

		buf[at] ^= 1 << bit % 8;
		if ((parse(buf, len) == ROCE_OK) != free)
			fail_msg("%s: bit %u of byte %u", id, bit % 8, at);
		buf[at] ^= 1 << bit % 8;
	}
}

static void test_parse_every_bit_flipped(void **state)
{
	flip_every_bit("drv-write-only-5", FRAME_L3, FRAME_UDP4 + 6,
		       FRAME_BTH4 + 4);
	flip_every_bit("pub-06-cnp-ctcm", FRAME_L3, FRAME_UDP4 + 6,
		       FRAME_BTH4 + 4);
	flip_every_bit("drv-ipv6-base", FRAME_L3 + 8, FRAME_UDP6 + 6,
		       FRAME_BTH6 + 4);
}

static void test_parse_noise(void **state)
{
	unsigned good = 0;

	for (unsigned i = 0; i < NOISE; i++) {
		const struct vec_frame *v =
			&vec_frames[rnd() % VEC_COUNT(vec_frames)];
		uint32_t len = v->len;

		memcpy(buf, v->frame, len);
		for (unsigned n = rnd() % 4; n; n--)
			buf[12 + rnd() % (len - 12)] = rnd();
		if (!(rnd() & 3))
			len = rnd() % len;
		if (!strcmp(v->encap, "RoCEv2/IPv4") && (rnd() & 1) &&
		    len >= FRAME_UDP4)
			frame_csum(buf + FRAME_L3);
		if (parse(buf, len) != ROCE_OK)
			continue;
		good++;
		assert_true(pkt.payload + pkt.payload_len + 4 <= edge.end);
		assert_true(pkt.l3 >= edge.end - len);
	}
	assert_in_range(good, NOISE / 10, NOISE / 2);
}

static void test_drop_names(void **state)
{
	for (unsigned i = 0; i < ROCE_DROP_MAX; i++) {
		assert_non_null(roce_drop_name(i));
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(roce_drop_name(i),
						roce_drop_name(j));
	}
	assert_string_equal(roce_drop_name(ROCE_DROP_ICRC), "bad_icrc");
	assert_string_equal(roce_drop_name(ROCE_DROP_MAX), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_published_frames),
		cmocka_unit_test(test_parse_fields),
		cmocka_unit_test(test_parse_fields_of_other_encapsulations),
		cmocka_unit_test(test_o16_pad_bytes_and_wrong_icrcs),
		cmocka_unit_test(test_o16_plain_crc_to_our_port),
		cmocka_unit_test(test_o16_invariant_fields_keep_the_icrc),
		cmocka_unit_test(test_parse_malformed_payloads),
		cmocka_unit_test(test_o17_every_opcode_and_length),
		cmocka_unit_test(test_o21_reserved_bits_are_ignored),
		cmocka_unit_test(test_parse_truncated_frames),
		cmocka_unit_test(test_parse_every_bit_flipped),
		cmocka_unit_test(test_parse_noise),
		cmocka_unit_test(test_drop_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
