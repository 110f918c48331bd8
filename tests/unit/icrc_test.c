// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every way of computing the ICRC against the published values, against each
 * other, and against zlib and ISA-L over a copy masked here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <isa-l/crc.h>
#include <zlib.h>

#include "frame.h"
#include "guard.h"
#include "icrc.h"
#include "vectors.h"

#define FRAMES	 1000000
#define LEN_MAX	 4200
#define POOL	 (1 << 20)
#define PREFIX	 8 /* the masked LRH */
#define HEAD_MAX 64
#define SEED	 0x9e3779b97f4a7c15

static uint8_t pool[POOL + 2 * LEN_MAX];
static uint64_t seed;

static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 16;
}

/* What to OR onto l3; written from IBTA's field list, not from the code. */
static void mask_of(enum roce_encap encap, uint8_t mask[HEAD_MAX])
{
	memset(mask, 0, HEAD_MAX);
	if (encap == ROCE_V2_IPV4) {
		mask[1] = mask[8] = mask[10] = mask[11] = 0xff;
		mask[20 + 6] = mask[20 + 7] = 0xff;
		mask[20 + 8 + 4] = 0xff;
		return;
	}
	mask[0] = 0x0f;
	mask[1] = mask[2] = mask[3] = mask[7] = 0xff;
	if (encap == ROCE_V2_IPV6)
		mask[40 + 6] = mask[40 + 7] = mask[40 + 8 + 4] = 0xff;
	else
		mask[40 + 4] = 0xff;
}

/* The message as the CRC sees it; gives its length. */
static size_t message(const uint8_t *l3, size_t len, const uint8_t *mask,
		      uint8_t *out)
{
	memset(out, 0xff, PREFIX);
	memcpy(out + PREFIX, l3, len);
	for (size_t i = 0; i < HEAD_MAX && i < len; i++)
		out[PREFIX + i] |= mask[i];
	return PREFIX + len;
}

static uint32_t reference(const uint8_t *l3, size_t len, enum roce_encap encap)
{
	uint8_t mask[HEAD_MAX], msg[PREFIX + LEN_MAX];
	size_t n;
	uint32_t crc;

	mask_of(encap, mask);
	n = message(l3, len, mask, msg);
	crc = crc32(0, msg, n);
	assert_int_equal(crc, crc32_gzip_refl(0, msg, n));
	return crc;
}

/* In two parts that meet before the PSN, as packets that begin alike have. */
static void check_parts(const uint8_t *l3, size_t len, uint32_t want, bool v6)
{
	size_t head = v6 ? 56 : 36;
	uint32_t reg;

	if (len <= head || (len - head) % 4)
		return;
	reg = roce_icrc_prefix(l3, head, v6 ? ROCE_ICRC_IPV6 : ROCE_ICRC_IPV4);
	assert_int_equal(roce_icrc_tail(reg, l3 + head, len - head), want);
}

static uint32_t icrc(const uint8_t *l3, size_t len, enum roce_encap encap)
{
	switch (encap) {
	case ROCE_V2_IPV4:
		return roce_icrc_ipv4(l3, len);
	case ROCE_V2_IPV6:
		return roce_icrc_ipv6(l3, len);
	default:
		return roce_icrc_v1(l3, len);
	}
}

static enum roce_encap encap_of(const struct vec_frame *v)
{
	if (!strcmp(v->encap, "RoCEv2/IPv4"))
		return ROCE_V2_IPV4;
	if (!strcmp(v->encap, "RoCEv2/IPv6"))
		return ROCE_V2_IPV6;
	assert_string_equal(v->encap, "RoCEv1 (GRH)");
	return ROCE_V1;
}

static size_t l3_len(const struct vec_frame *v)
{
	return v->frame + v->len - frame_l3(v->frame) - ROCE_ICRC_SIZE;
}

/* Every test runs once for each way, which is its state. */
static void use_way(void **state)
{
	if (roce_icrc_use((enum roce_icrc_way)(uintptr_t)*state))
		skip(); /* this CPU lacks it */
}

static void test_icrc_of_published_frames(void **state)
{
	use_way(state);
	for (size_t i = 0; i < VEC_COUNT(vec_frames); i++) {
		const struct vec_frame *v = &vec_frames[i];
		uint32_t crc = icrc(frame_l3(v->frame), l3_len(v), encap_of(v));

		if (crc != v->icrc)
			fail_msg("%s: %08x, want %08x", v->id, crc, v->icrc);
	}
}

static void test_icrc_of_wrong_frames(void **state)
{
	use_way(state);
	for (size_t i = 0; i < VEC_COUNT(vec_wrongs); i++) {
		const struct vec_wrong *v = &vec_wrongs[i];

		assert_int_equal(roce_icrc_ipv4(v->frame + FRAME_L3,
						v->len - FRAME_L3 - 4),
				 v->icrc);
	}
}

/* Half of them short: there the blocks' edges lie. */
static size_t random_len(size_t min)
{
	return min + rnd() % ((rnd() & 1 ? 300 : LEN_MAX) - min);
}

static void check_copy(const uint8_t *f, size_t len)
{
	static uint8_t built[LEN_MAX + 64];
	size_t hdr = 40 + 4 * (rnd() % 8), n, end;
	uint8_t *to = built + rnd() % 16;
	uint32_t crc;

	if (hdr > len)
		hdr = 40;
	n = len - hdr;
	end = hdr + n + (-n & 3);
	memcpy(to, f, hdr);
	memset(to + hdr, 0x5a, n + 8);
	crc = roce_icrc_copy_ipv4(to, hdr, f + hdr, n);
	assert_memory_equal(to, f, len);
	for (size_t i = len; i < end; i++)
		assert_int_equal(to[i], 0);
	assert_int_equal(to[end], 0x5a);
	assert_int_equal(crc, reference(to, end, ROCE_V2_IPV4));
}

static void test_icrc_of_a_million_random_frames(void **state)
{
	use_way(state);
	seed = SEED; /* the same frames for each way */
	for (unsigned i = 0; i < FRAMES; i++) {
		const uint8_t *f = pool + rnd() % POOL;
		enum roce_encap encap = rnd() % 4 ? ROCE_V2_IPV4
						  : rnd() % 2 + ROCE_V2_IPV6;
		size_t len = random_len(encap == ROCE_V2_IPV4 ? 44 : 60);

		if (icrc(f, len, encap) != reference(f, len, encap))
			fail_msg("encap %d, %zu bytes at pool + %td", encap,
				 len, f - pool);
		if (encap == ROCE_V2_IPV4 && !(i & 3))
			check_copy(f, len);
		if (encap != ROCE_V1)
			check_parts(f, len, reference(f, len, encap),
				    encap == ROCE_V2_IPV6);
	}
}

static void test_icrc_of_every_short_length(void **state)
{
	use_way(state);
	for (size_t len = 40; len < 700; len++) {
		const uint8_t *f = pool + len;

		assert_int_equal(roce_icrc_ipv4(f, len),
				 reference(f, len, ROCE_V2_IPV4));
		check_parts(f, len, reference(f, len, ROCE_V2_IPV4), false);
		if (len >= 52)
			assert_int_equal(roce_icrc_v1(f, len),
					 reference(f, len, ROCE_V1));
		if (len >= 60)
			assert_int_equal(roce_icrc_ipv6(f, len),
					 reference(f, len, ROCE_V2_IPV6));
	}
}

static void test_icrc_reads_nothing_outside(void **state)
{
	struct guard g = guard_new();

	use_way(state);
	memcpy(g.start, pool, GUARD_SIZE);
	for (size_t len = 40; len < 400; len++) {
		const uint8_t *f = g.end - len;

		assert_int_equal(roce_icrc_ipv4(g.start, len),
				 reference(g.start, len, ROCE_V2_IPV4));
		assert_int_equal(roce_icrc_ipv4(f, len),
				 reference(f, len, ROCE_V2_IPV4));
		check_parts(g.start, len, reference(g.start, len, ROCE_V2_IPV4),
			    false);
		check_parts(f, len, reference(f, len, ROCE_V2_IPV4), false);
		if (len < 60)
			continue;
		assert_int_equal(roce_icrc_ipv6(g.start, len),
				 reference(g.start, len, ROCE_V2_IPV6));
		assert_int_equal(roce_icrc_ipv6(f, len),
				 reference(f, len, ROCE_V2_IPV6));
	}
	guard_free(g);
}

/* The frame and the payload each at the start, then at the end, of memory. */
static void copy_at_edges(struct guard to, struct guard from, size_t hdr,
			  size_t n)
{
	size_t all = hdr + n + (-n & 3);
	uint8_t *l3[2] = { to.start, to.end - all };
	uint8_t *data[2] = { from.start, from.end - n };

	for (unsigned i = 0; i < 4; i++) {
		uint8_t *f = l3[i & 1];
		uint32_t crc;

		memcpy(f, pool, hdr);
		crc = roce_icrc_copy_ipv4(f, hdr, data[i >> 1], n);
		assert_int_equal(crc, reference(f, all, ROCE_V2_IPV4));
		assert_memory_equal(f, pool, hdr);
		assert_memory_equal(f + hdr, data[i >> 1], n);
	}
}

static void test_icrc_copy_touches_nothing_outside(void **state)
{
	struct guard to = guard_new(), from = guard_new();

	use_way(state);
	memcpy(from.start, pool, GUARD_SIZE);
	for (size_t hdr = 40; hdr <= 72; hdr += 4)
		for (size_t n = 0; n < 260; n++)
			copy_at_edges(to, from, hdr, n);
	copy_at_edges(to, from, 56, 4096);
	copy_at_edges(to, from, 40, 4095);
	guard_free(from);
	guard_free(to);
}

/* Vectors of this kind that a mask gives another value than theirs. */
static unsigned seen_by_vectors(const uint8_t *mask, enum roce_encap encap)
{
	uint8_t msg[PREFIX + LEN_MAX];
	unsigned seen = 0;

	for (size_t i = 0; i < VEC_COUNT(vec_frames); i++) {
		const struct vec_frame *v = &vec_frames[i];
		size_t n;

		if (encap_of(v) != encap)
			continue;
		n = message(frame_l3(v->frame), l3_len(v), mask, msg);
		seen += crc32(0, msg, n) != v->icrc;
	}
	return seen;
}

/* P_Key, and parts of a mapped GID. */
static int ones_in_vectors(size_t at, enum roce_encap encap)
{
	for (size_t i = 0; i < VEC_COUNT(vec_frames); i++)
		if (encap_of(&vec_frames[i]) == encap &&
		    frame_l3(vec_frames[i].frame)[at] != 0xff)
			return 0;
	return 1;
}

/*
 * The vectors' power: a mask wrong in any one byte of the headers gives at
 * least one of them another value.  Where a covered byte is ones in all of
 * them it cannot: those are left to the random frames.
 */
static void test_icrc_mutant_masks_are_seen(void **state)
{
	static const size_t head[] = { 40, 60, 52 };

	for (unsigned e = ROCE_V2_IPV4; e <= ROCE_V1; e++)
		for (size_t at = 0; at < head[e]; at++) {
			uint8_t mask[HEAD_MAX];
			int covered;

			mask_of(e, mask);
			covered = !mask[at];
			mask[at] ^= 0xff;
			if (!(covered && ones_in_vectors(at, e)) &&
			    !seen_by_vectors(mask, e))
				fail_msg("encap %u: mask byte %zu", e, at);
		}
}

static void test_icrc_init_keeps_a_forced_way(void **state)
{
	assert_int_equal(roce_icrc_use(ROCE_ICRC_TABLE), 0);
	roce_icrc_init();
	assert_int_equal(roce_icrc_way(), ROCE_ICRC_TABLE);
	assert_string_equal(roce_icrc_name(), "table");
	assert_int_not_equal(roce_icrc_use((enum roce_icrc_way)77), 0);
	assert_int_equal(roce_icrc_way(), ROCE_ICRC_TABLE);
}

#define EACH_WAY(test, name, way)                                         \
	{                                                                 \
		name ": " #test, test, NULL, NULL, (void *)(uintptr_t)way \
	}

#define WAY(name, way)                                                     \
	EACH_WAY(test_icrc_of_published_frames, name, way),                \
		EACH_WAY(test_icrc_of_wrong_frames, name, way),            \
		EACH_WAY(test_icrc_of_every_short_length, name, way),      \
		EACH_WAY(test_icrc_of_a_million_random_frames, name, way), \
		EACH_WAY(test_icrc_reads_nothing_outside, name, way),      \
		EACH_WAY(test_icrc_copy_touches_nothing_outside, name, way)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_icrc_mutant_masks_are_seen),
		cmocka_unit_test(test_icrc_init_keeps_a_forced_way),
		WAY("table", ROCE_ICRC_TABLE),
		WAY("pclmul", ROCE_ICRC_PCLMUL),
		WAY("vpclmul", ROCE_ICRC_VPCLMUL),
	};

	seed = SEED;
	for (size_t i = 0; i < sizeof(pool); i++)
		pool[i] = rnd();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
