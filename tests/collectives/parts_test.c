// SPDX-License-Identifier: BSD-2-Clause
/*
 * The parts that need no wire: sums, rounding, a descriptor against its
 * window, the fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/bench/bench.h"
#include "gpu/collectives/check.h"
#include "gpu/collectives/tree.h"

static struct coll_team_view team;
static struct coll_channel channel;

static struct coll_me lone(void)
{
	struct coll_me me = { .team = &team, .ch = &channel, .threads = 1 };

	return me;
}

static uint16_t bf16_of_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return coll_to_bf16(f);
}

static void test_bf16_rounds_to_nearest_even(void **state)
{
	assert_int_equal(bf16_of_bits(0x3f800000), 0x3f80);
	assert_int_equal(bf16_of_bits(0x3f807fff), 0x3f80);
	assert_int_equal(bf16_of_bits(0x3f808000), 0x3f80); /* tie, even */
	assert_int_equal(bf16_of_bits(0x3f818000), 0x3f82); /* tie, odd */
	assert_int_equal(bf16_of_bits(0x3f808001), 0x3f81);
	assert_int_equal(bf16_of_bits(0xbf818000), 0xbf82);
	assert_int_equal(bf16_of_bits(0x7f7fffff), 0x7f80); /* to infinity */
}

static void test_bf16_keeps_infinity_and_nan(void **state)
{
	assert_int_equal(bf16_of_bits(0x7f800000), 0x7f80);
	assert_int_equal(bf16_of_bits(0xff800000), 0xff80);
	assert_int_equal(bf16_of_bits(0x7f800001) & 0x7fff, 0x7fc0);
	assert_int_equal(bf16_of_bits(0x7fffffff), 0x7fff);
	assert_int_equal(bf16_of_bits(0xffffffff), 0xffff);
}

static void sum(uint32_t type, void *dst, const void *a, const void *b,
		uint64_t n)
{
	struct coll_me me = lone();
	struct coll_sum s = { .dst = (uintptr_t)dst,
			      .a = (uintptr_t)a,
			      .b = (uintptr_t)b,
			      .n = n,
			      .type = type };

	coll_add(&me, &s);
}

static void test_sums_of_each_type(void **state)
{
	int32_t i[3] = { INT32_MAX, -5, 7 }, j[3] = { 1, 5, -9 };
	float f[3] = { 0.5f, -1, 3 }, g[3] = { 0.25f, 1, 4 };
	uint16_t h[3] = { 0x3f80, 0x4000, 0xbf80 }, one = 0x3f80;
	uint16_t k[3] = { one, one, one };

	sum(COLL_I32, i, i, j, sizeof(i));
	assert_int_equal(i[0], INT32_MIN); /* wraps */
	assert_int_equal(i[1], 0);
	assert_int_equal(i[2], -2);
	sum(COLL_F32, f, f, g, sizeof(f));
	assert_true(f[0] == 0.75f && f[1] == 0 && f[2] == 7);
	sum(COLL_BF16, h, h, k, sizeof(h));
	assert_int_equal(h[0], 0x4000); /* 2 */
	assert_int_equal(h[1], 0x4040); /* 3 */
	assert_int_equal(h[2], 0x0000);
}

static void test_cuts_cover_all_once(void **state)
{
	static const uint64_t counts[] = { 0, 1, 2,	  7,
					   8, 9, 1000003, (1ULL << 40) + 5 };
	struct coll_me me = lone();
	uint32_t c, i;

	for (team.channels = 1; team.channels <= COLL_CHANNELS_MAX;
	     team.channels++) {
		for (i = 0; i < 8; i++) {
			assert_int_equal(coll_cut(&me, counts[i], 0), 0);
			assert_int_equal(
				coll_cut(&me, counts[i], team.channels),
				counts[i]);
			for (c = 0; c < team.channels; c++)
				assert_true(coll_cut(&me, counts[i], c) <=
					    coll_cut(&me, counts[i], c + 1));
		}
	}
}

/* Every rank but 0 is somebody's child, and its parent's own. */
static void test_tree_joins_all_ranks(void **state)
{
	struct coll_work w = { .op = COLL_ALL_REDUCE_TREE, .count = 1 };
	struct coll_me me = lone();
	struct coll_tree t;
	uint32_t r, i, parents[COLL_RANKS_MAX], children;

	team.channels = 1;
	for (team.ranks = 2; team.ranks <= COLL_RANKS_MAX; team.ranks++) {
		for (r = 0, children = 0; r < team.ranks; r++) {
			team.rank = r;
			coll_tree_init(&me, &w, &t);
			if (r)
				assert_int_equal(t.parent, parents[r]);
			for (i = 0; i < t.children; i++, children++)
				parents[t.child[i]] = r;
		}
		assert_int_equal(children, team.ranks - 1);
	}
}

static void set_team(void)
{
	memset(&team, 0, sizeof(team));
	team.ranks = 4;
	team.channels = 2;
	team.user_size = 4096;
}

static int check_plain(uint32_t op, uint64_t send, uint64_t recv,
		       uint64_t count)
{
	struct coll_work w = {
		.op = op, .send_at = send, .recv_at = recv, .count = count
	};

	return coll_check(&team, &w);
}

static void test_descriptor_within_window(void **state)
{
	set_team();
	assert_int_equal(check_plain(COLL_ALL_REDUCE_RING, 0, 0, 1024), 0);
	assert_int_equal(check_plain(COLL_ALL_REDUCE_TREE, 4096, 4096, 0), 0);
	assert_int_equal(check_plain(COLL_ALL_GATHER, 0, 0, 256), 0);
	assert_int_equal(check_plain(COLL_BARRIER, ~0ULL, ~0ULL, ~0ULL), 0);
}

static void test_descriptor_outside_window(void **state)
{
	static const uint32_t ops[] = { COLL_ALL_GATHER, COLL_REDUCE_SCATTER,
					COLL_ALL_REDUCE_RING,
					COLL_ALL_REDUCE_TREE };
	uint32_t i;

	set_team();
	for (i = 0; i < 4; i++) {
		assert_int_equal(check_plain(ops[i], 0, 0, 1025), WBELL_EINVAL);
		assert_int_equal(check_plain(ops[i], 0, 0, 1ULL << 62),
				 WBELL_EINVAL);
		assert_int_equal(check_plain(ops[i], ~3ULL, 0, 1),
				 WBELL_EINVAL);
		assert_int_equal(check_plain(ops[i], 0, 4100, 0), WBELL_EINVAL);
		assert_int_equal(check_plain(ops[i], 2, 0, 1), WBELL_EINVAL);
	}
	assert_int_equal(check_plain(COLL_ALL_GATHER, 0, 0, 257), WBELL_EINVAL);
	assert_int_equal(check_plain(COLL_OPS, 0, 0, 0), WBELL_EINVAL);
	assert_int_equal(check_plain(COLL_SHIFT, 0, 0, 4097), WBELL_EINVAL);
}

static void test_descriptor_blocks(void **state)
{
	struct coll_blocks b = { .send_n = { 0 } };
	struct coll_work w = { .op = COLL_ALL_TO_ALL, .count = 1024 };

	set_team();
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL); /* none */
	w.blocks = &b;
	assert_int_equal(coll_check(&team, &w), 0);
	b.send_n[3] = 1025; /* more than the room at the peer */
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	b.send_n[3] = 1024;
	b.send_at[3] = 3073;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	b.send_at[3] = 3072;
	assert_int_equal(coll_check(&team, &w), 0);
	w.count = 1ULL << 62; /* times 4 ranks is 0 */
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
}

static void test_descriptor_moe(void **state)
{
	uint32_t route[4] = { 0 }, place[4];
	float weight[4] = { 0 };
	struct coll_moe m = { .tokens = 4,
			      .hidden = 4,
			      .k = 1,
			      .room = 8,
			      .route = route,
			      .weight = weight,
			      .place = place };
	struct coll_work w = { .op = COLL_DISPATCH, .moe = &m };

	set_team();
	assert_int_equal(coll_check(&team, &w), 0); /* 2 * 4 * 8 rows of 16 */
	m.back_at = 3073;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	m.back_at = 0;
	m.room = 33;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	m.room = 0xffffffff;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	m.room = 8;
	m.hidden = 0;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	w.moe = NULL;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
}

static void test_descriptor_pages(void **state)
{
	uint64_t at[2] = { 0, 3072 };
	struct coll_pages p = { .to = 1,
				.from = COLL_NOBODY,
				.to_n = 2,
				.page = 1024,
				.to_at = at };
	struct coll_work w = { .op = COLL_PAGES, .pages = &p };

	set_team();
	assert_int_equal(coll_check(&team, &w), 0);
	at[1] = 3073;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	at[1] = ~0ULL;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	at[1] = 0;
	p.to = 0; /* itself */
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	p.to = 4;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
	p.to = 1;
	p.to_n = 2 * COLL_PAGES_MAX + 1;
	assert_int_equal(coll_check(&team, &w), WBELL_EINVAL);
}

static void test_fit_finds_exact_law(void **state)
{
	static const double law[4] = { 3, 0.5, 7, 0.25 };
	struct fit f;
	uint32_t d, n;

	fit_init(&f, 4);
	for (d = 0; d < 3; d++) {
		for (n = 1; n < 4; n++) {
			double x[4] = { 1, n, d, (double)d * n }, y = 0;
			uint32_t i;

			for (i = 0; i < 4; i++)
				y += law[i] * x[i];
			fit_add(&f, x, y);
		}
	}
	assert_int_equal(fit_solve(&f), 0);
	for (n = 0; n < 4; n++)
		assert_true(f.c[n] > law[n] - 1e-6 && f.c[n] < law[n] + 1e-6);
}

/* A falling line: the slope is taken as 0, not below. */
static void test_fit_has_no_negative_cost(void **state)
{
	struct fit f;
	uint32_t i;

	fit_init(&f, 2);
	for (i = 1; i < 5; i++) {
		double x[FIT_MAX] = { 1, i };

		fit_add(&f, x, 10.0 - i);
	}
	assert_int_equal(fit_solve(&f), 0);
	assert_true(f.c[1] == 0);
	assert_true(f.c[0] > 6 && f.c[0] < 9);
}

static void test_fit_refuses_too_few_points(void **state)
{
	double x[FIT_MAX] = { 1, 2 };
	struct fit f;

	fit_init(&f, 2);
	assert_int_not_equal(fit_solve(&f), 0);
	fit_add(&f, x, 5);
	fit_add(&f, x, 5);
	assert_int_not_equal(fit_solve(&f), 0);
}

static void test_values_are_exact_in_bf16(void **state)
{
	uint16_t v[1];
	uint32_t r;
	uint64_t i;
	int s;

	for (i = 0; i < 1000; i++) {
		for (r = 0, s = 0; r < COLL_RANKS_MAX; r++)
			s += value_of(r, i);
		assert_true(s >= -255 && s <= 255);
		value_put(v, COLL_BF16, 0, s);
		assert_true(coll_from_bf16(v[0]) == (float)s);
		assert_true(value_is(v, COLL_BF16, 0, s));
		assert_false(value_is(v, COLL_BF16, 0, s + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bf16_rounds_to_nearest_even),
		cmocka_unit_test(test_bf16_keeps_infinity_and_nan),
		cmocka_unit_test(test_sums_of_each_type),
		cmocka_unit_test(test_cuts_cover_all_once),
		cmocka_unit_test(test_tree_joins_all_ranks),
		cmocka_unit_test(test_descriptor_within_window),
		cmocka_unit_test(test_descriptor_outside_window),
		cmocka_unit_test(test_descriptor_blocks),
		cmocka_unit_test(test_descriptor_moe),
		cmocka_unit_test(test_descriptor_pages),
		cmocka_unit_test(test_fit_finds_exact_law),
		cmocka_unit_test(test_fit_has_no_negative_cost),
		cmocka_unit_test(test_fit_refuses_too_few_points),
		cmocka_unit_test(test_values_are_exact_in_bf16),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
