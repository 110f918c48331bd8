// SPDX-License-Identifier: BSD-2-Clause
/*
 * Headers seen before must change no verdict: whatever frame comes, a queue
 * that knows its peer's headers does what one does that sees them for the
 * first time.  Frames with each bit wrong, sealed and not, go to both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../dpdk_path/roce/icrc.h"
#include "craft.h"

#define PSN  100
#define KEY  0x1234
#define IOVA 0x1000
#define MEM  512

struct end {
	struct craft *c;
	uint8_t mem[MEM];
};

static void open_end(struct end *e)
{
	struct craft_attr a = { .rq_psn = PSN, .recv_depth = 4 };
	uint32_t key;

	memset(e->mem, 0xcc, MEM);
	e->c = craft_new(&a);
	assert_int_equal(roce_mr_add(e->c->dev,
				     &(struct roce_mr_attr){ IOVA, e->mem, MEM,
							     0xf, KEY },
				     &key),
			 0);
	/* one bit away, and not to be written */
	assert_int_equal(
		roce_mr_add(e->c->dev,
			    &(struct roce_mr_attr){ IOVA, e->mem, MEM,
						    ROCE_ACCESS_REMOTE_READ,
						    KEY ^ 0x100 },
			    &key),
		0);
}

static void write_of(struct craft_frame *f, uint32_t psn, uint32_t n)
{
	memset(f, 0, sizeof(*f));
	f->opcode = ROCE_RC_WRITE_ONLY;
	f->psn = psn;
	f->ackreq = 1;
	craft_reth(f, IOVA + 8 * (psn - PSN), KEY, n);
	for (uint32_t i = 0; i < n; i++)
		f->body[f->len++] = psn + i;
}

static void add_of(struct craft_frame *f, uint32_t psn)
{
	memset(f, 0, sizeof(*f));
	f->opcode = ROCE_RC_FETCH_ADD;
	f->psn = psn;
	f->ackreq = 1;
	craft_atomic(f, IOVA, KEY, 3, 0);
}

static void one(struct end *e, const struct craft_frame *f)
{
	craft_rx(e->c, f);
	assert_int_equal(craft_tx(e->c), 1);
}

/*
 * The same six frames in two orders: three of one shape, and duplicates of
 * WRITEs, each of another.  Only three in a row are known afterwards.
 */
static void tell(struct end *e, const struct craft_frame f[3], bool in_a_row)
{
	struct craft_frame other;

	for (uint32_t i = 0; i < 6; i++) {
		uint32_t k = in_a_row ? i % 3 : i / 2;

		if (in_a_row ? i < 3 : !(i % 2)) {
			one(e, &f[k]);
			continue;
		}
		write_of(&other, PSN - 1, 12 + 4 * k);
		one(e, &other);
	}
	memset(e->mem, 0xcc, MEM);
}

static const char *differs(const struct end *a, const struct end *b)
{
	for (unsigned i = 0; i < ROCE_C_MAX; i++)
		if (roce_counter(a->c->dev, i) != roce_counter(b->c->dev, i))
			return roce_counter_name(i);
	if (memcmp(a->mem, b->mem, MEM))
		return "memory";
	if (roce_qp_state(a->c->qp) != roce_qp_state(b->c->qp))
		return "state";
	if (craft_tx(a->c) != craft_tx(b->c))
		return "number of answers";
	for (unsigned i = 0; i < a->c->nsent; i++)
		if (a->c->sent[i].len != b->c->sent[i].len ||
		    memcmp(a->c->out[i], b->c->out[i], a->c->sent[i].len))
			return "an answer";
	return NULL;
}

static const char *compare(const struct craft_frame before[3],
			   const uint8_t *frame, uint32_t len)
{
	struct end a, b;
	const char *what;

	open_end(&a);
	open_end(&b);
	tell(&a, before, true);
	tell(&b, before, false);
	craft_rx_raw(a.c, frame, len);
	craft_rx_raw(b.c, frame, len);
	what = differs(&a, &b);
	craft_free(a.c);
	craft_free(b.c);
	return what;
}

static void each_bit(const struct craft_frame *f,
		     const struct craft_frame before[3])
{
	uint8_t good[5000], bad[5000];
	struct end e;
	uint32_t len;

	open_end(&e);
	len = craft_build(e.c, f, good);
	craft_free(e.c);
	assert_null(compare(before, good, len));
	for (uint32_t bit = 0; bit < len * 8; bit++)
		for (int sealed = 0; sealed < 2; sealed++) {
			const char *what;

			memcpy(bad, good, len);
			bad[bit / 8] ^= 1 << bit % 8;
			if (sealed && bit / 8 < len - 4)
				craft_seal(bad, len);
			what = compare(before, bad, len);
			if (what)
				fail_msg("bit %u of byte %u, %s: %s differs",
					 bit % 8, bit / 8,
					 sealed ? "sealed" : "as it is", what);
		}
	for (uint32_t n = 0; n < len; n++)
		if (compare(before, good, n))
			fail_msg("cut to %u bytes", n);
}

static void writes(uint32_t n, int32_t off)
{
	struct craft_frame f, before[3];

	for (uint32_t i = 0; i < 3; i++)
		write_of(&before[i], PSN + i, n);
	write_of(&f, PSN + 3 + off, n);
	each_bit(&f, before);
}

static void test_seen_write_of_8_bytes(void **state)
{
	writes(8, 0);
}

static void test_seen_write_with_a_pad(void **state)
{
	writes(5, 0);
}

/* Ahead and behind: as the first time. */
static void test_seen_write_out_of_turn(void **state)
{
	writes(8, -3);
	writes(8, -1);
	writes(8, 1);
	writes(8, 300);
}

static void test_seen_atomic(void **state)
{
	struct craft_frame f, before[3];

	for (uint32_t i = 0; i < 3; i++)
		add_of(&before[i], PSN + i);
	add_of(&f, PSN + 3);
	each_bit(&f, before);
}

/*
 * A queue that has seen nothing yet knows no headers, not even such as its
 * empty memory looks like, with the ICRC of nothing behind them.
 */
static void test_seen_nothing_matches_no_frame(void **state)
{
	struct craft_attr a = { .qpn = 32, .rq_psn = PSN, .recv_depth = 4 };
	enum roce_icrc_way way = roce_icrc_way();

	for (unsigned fill = 0; fill < 2; fill++) {
		struct craft *c = craft_new(&a);
		uint8_t frame[80] = { 0 };

		assert_int_equal(roce_icrc_use(ROCE_ICRC_TABLE), 0);
		memset(frame + 42, fill ? 0xff : 0, 8);
		memset(frame + 50, 0xff, 4);
		craft_rx_raw(c, frame, sizeof(frame));
		assert_int_equal(roce_counter(c->dev, ROCE_C_RX), 0);
		assert_int_equal(roce_counter(c->dev, ROCE_DROP_NOT_ROCE), 1);
		craft_free(c);
	}
	roce_icrc_use(way);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen_write_of_8_bytes),
		cmocka_unit_test(test_seen_write_with_a_pad),
		cmocka_unit_test(test_seen_write_out_of_turn),
		cmocka_unit_test(test_seen_atomic),
		cmocka_unit_test(test_seen_nothing_matches_no_frame),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("seen", tests, NULL, NULL);
}
