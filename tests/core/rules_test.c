// SPDX-License-Identifier: BSD-2-Clause
/*
 * The responder against a peer played by hand: a row per rule of IBTA 9.7.4,
 * and the public bug reports O16-O21.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "craft.h"
#include "vectors.h"

#define PSN  100
#define KEY  0x1234
#define IOVA 0x1000

struct fixture {
	struct craft *c;
	uint8_t mem[0x3000]; /* region: the middle third; canaries around */
};

static struct fixture *setup(unsigned access, unsigned recv_depth)
{
	struct fixture *x = aligned_alloc(64, (sizeof(*x) + 63) & ~63UL);
	struct craft_attr a = { .rq_psn = PSN, .recv_depth = recv_depth };
	uint32_t key;

	memset(x, 0, sizeof(*x));
	memset(x->mem, 0xcc, sizeof(x->mem));
	x->c = craft_new(&a);
	assert_int_equal(
		roce_mr_add(x->c->dev,
			    &(struct roce_mr_attr){ IOVA, x->mem + 0x1000,
						    0x1000, access, KEY },
			    &key),
		0);
	return x;
}

static void teardown(struct fixture *x)
{
	craft_free(x->c);
	free(x);
}

static void assert_untouched(const struct fixture *x)
{
	for (unsigned i = 0; i < sizeof(x->mem); i++)
		assert_int_equal(x->mem[i], 0xcc);
}

static uint64_t drops(const struct fixture *x, enum roce_drop reason)
{
	return roce_counter(x->c->dev, reason);
}

/* ---- O16, O17, O21: what a live queue does with frames ---- */

static void rx_vector(struct fixture *x, const uint8_t *frame, uint32_t len)
{
	craft_rx_raw(x->c, frame, len);
	assert_int_equal(craft_tx(x->c), 0);
}

static void test_o16_wrong_icrc_is_counted_and_not_answered(void **state)
{
	struct fixture *x = setup(0xf, 4);
	unsigned n = sizeof(vec_wrongs) / sizeof(*vec_wrongs);

	for (unsigned i = 0; i < n; i++) {
		rx_vector(x, vec_wrongs[i].frame, vec_wrongs[i].len);
		assert_int_equal(drops(x, ROCE_DROP_ICRC), i + 1);
	}
	teardown(x);
}

static void test_o17_undefined_opcodes_never_answered(void **state)
{
	struct fixture *x = setup(0xf, 0);
	static const uint32_t qpn[] = { CRAFT_QPN, 0x777, 0xffffff };
	uint64_t want = 0;
	struct craft_frame f;

	for (unsigned q = 0; q < 3; q++)
		for (unsigned op = 0; op < 256; op++)
			for (unsigned len = 0; len <= 80 - 16; len++) {
				int ext = roce_ext_len(op);

				memset(&f, 0, sizeof(f));
				f.opcode = op;
				f.qpn = qpn[q];
				f.psn = PSN + 0x400000; /* not expected */
				f.len = len;
				craft_rx(x->c, &f);
				/* UC and UD are defined, but no RC queue
				 * takes them
				 */
				want += ext < 0 ||
					(q == 0 && op > ROCE_RC_SEND_ONLY_INV &&
					 op != ROCE_CNP &&
					 len >= (unsigned)ext);
				assert_int_equal(drops(x, ROCE_DROP_OPCODE),
						 want);
			}
	craft_tx(x->c);
	memset(&f, 0, sizeof(f));
	f.opcode = ROCE_RC_WRITE_ONLY;
	f.psn = PSN;
	f.ackreq = 1;
	craft_reth(&f, IOVA, KEY, 4);
	memcpy(f.body + f.len, "live", 4);
	f.len += 4;
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_opcode(x->c, 0), ROCE_RC_ACK);
	assert_memory_equal(x->mem + 0x1000, "live", 4);
	teardown(x);
}

static void rx_write(struct fixture *x, struct craft_frame *f, uint32_t psn)
{
	f->opcode = ROCE_RC_WRITE_ONLY;
	f->psn = psn;
	f->ackreq = 1;
	craft_reth(f, IOVA, KEY, 4);
	f->len += 4;
	craft_rx(x->c, f);
}

static void test_o21_reserved_bits_are_ignored(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f[] = {
		{ .flags = 0x80 },  /* MigReq 0, SE 1 */
		{ .flags = 0xc0 },  /* SE 1 */
		{ .pkey = 0x7fff }, /* limited member, we are full */
		{ .bth4 = 0xff },   /* FECN, BECN, resv6 */
		{ .resv7 = 0x7f },
	};
	unsigned n = sizeof(f) / sizeof(*f);

	for (unsigned i = 0; i < n; i++) {
		rx_write(x, &f[i], PSN + i);
		assert_int_equal(craft_tx(x->c), 1);
		assert_int_equal(craft_syndrome(x->c, 0), 0x1f);
		assert_int_equal(craft_psn(x->c, 0), PSN + i);
		/* what we send: MigReq 1, TVer 0, reserved 0 */
		assert_int_equal(x->c->out[0][43], 0x40);
		assert_int_equal(x->c->out[0][46], 0);
	}
	teardown(x);
}

static void test_o21_foreign_pkey_dropped(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { .pkey = 0x8001 };

	rx_write(x, &f, PSN);
	assert_int_equal(craft_tx(x->c), 0);
	assert_int_equal(drops(x, ROCE_DROP_PKEY), 1);
	teardown(x);
}

static void test_ackreq_on_a_middle_packet(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { .opcode = ROCE_RC_WRITE_FIRST, .psn = PSN };

	craft_reth(&f, IOVA, KEY, 2050);
	f.len += 1024;
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 0);
	f.opcode = ROCE_RC_WRITE_MIDDLE;
	f.psn++;
	f.len = 1024;
	f.ackreq = 1;
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_psn(x->c, 0), PSN + 1);
	assert_int_equal(craft_msn(x->c, 0), 0); /* not complete */
	teardown(x);
}

static void test_from_another_address_dropped(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { 0 };

	x->c->peer_ip = 7;
	rx_write(x, &f, PSN);
	assert_int_equal(craft_tx(x->c), 0);
	assert_int_equal(drops(x, ROCE_DROP_ADDRESS), 1);
	teardown(x);
}

/* ---- O18: ranges ---- */

struct range {
	uint64_t va;
	uint32_t len;
	uint8_t nak; /* 0: accepted */
};

static const struct range ranges[] = {
	{ 0x1fff, 1, 0 },
	{ 0x1000, 0x1000, 0 },
	{ 0x2000, 0, 0 },
	{ 0x2000, 1, 0x62 },
	{ 0xfff, 1, 0x62 },
	{ 0x1000, 0x1001, 0x62 },
	{ 0xfffffffffffffc00ULL, 0x400, 0x62 },
	{ 0, 0xffffffff, 0x61 },
};
#define NRANGES (sizeof(ranges) / sizeof(*ranges))

static void write_range(struct fixture *x, const struct range *r)
{
	struct craft_frame f = { .psn = PSN, .ackreq = 1 };
	uint32_t left = r->len;

	do {
		uint32_t n = left < 1024 ? left : 1024;
		bool first = left == r->len, last = n == left;

		f.opcode = first  ? (last ? ROCE_RC_WRITE_ONLY
					  : ROCE_RC_WRITE_FIRST)
			   : last ? ROCE_RC_WRITE_LAST
				  : ROCE_RC_WRITE_MIDDLE;
		f.len = 0;
		if (first)
			craft_reth(&f, r->va, KEY, r->len);
		memset(f.body + f.len, 0xcc, n);
		f.len += n;
		craft_rx(x->c, &f);
		f.psn++;
		left -= n;
	} while (left && !r->nak);
}

static void test_o18_write_ranges(void **state)
{
	for (unsigned i = 0; i < NRANGES; i++) {
		struct fixture *x = setup(0xf, 0);
		const struct range *r = &ranges[i];

		write_range(x, r);
		assert_int_equal(craft_tx(x->c), 1);
		assert_int_equal(craft_syndrome(x->c, 0),
				 r->nak ? r->nak : 0x1f);
		if (r->nak)
			assert_int_equal(craft_psn(x->c, 0), PSN);
		assert_int_equal(roce_qp_state(x->c->qp),
				 r->nak ? ROCE_ERR : ROCE_RTS);
		assert_untouched(x);
		teardown(x);
	}
}

static void test_o18_read_ranges(void **state)
{
	for (unsigned i = 0; i < NRANGES; i++) {
		struct fixture *x = setup(0xf, 0);
		const struct range *r = &ranges[i];
		struct craft_frame f = { .opcode = ROCE_RC_READ_REQ,
					 .psn = PSN };

		craft_reth(&f, r->va, KEY, r->len);
		craft_rx(x->c, &f);
		craft_tx(x->c);
		if (r->nak) {
			assert_int_equal(x->c->nsent, 1);
			assert_int_equal(craft_syndrome(x->c, 0), r->nak);
		} else {
			assert_int_equal(x->c->nsent,
					 (r->len + 1023) / 1024 + !r->len);
			assert_int_equal(craft_opcode(x->c, 0),
					 r->len > 1024
						 ? ROCE_RC_READ_RESP_FIRST
						 : ROCE_RC_READ_RESP_ONLY);
		}
		teardown(x);
	}
}

static void test_o18_atomic_ranges(void **state)
{
	static const struct range r[] = {
		{ 0x1000, 8, 0 },   { 0x1ff8, 8, 0 },	 { 0x2000, 8, 0x62 },
		{ 0xff8, 8, 0x62 }, { 0x1ffc, 8, 0x61 }, { ~7ULL, 8, 0x62 },
	};

	for (unsigned i = 0; i < sizeof(r) / sizeof(*r); i++) {
		struct fixture *x = setup(0xf, 0);
		struct craft_frame f = { .opcode = ROCE_RC_FETCH_ADD,
					 .psn = PSN };

		craft_atomic(&f, r[i].va, KEY, 0, 0);
		craft_rx(x->c, &f);
		assert_int_equal(craft_tx(x->c), 1);
		assert_int_equal(craft_opcode(x->c, 0),
				 r[i].nak ? ROCE_RC_ACK : ROCE_RC_ATOMIC_ACK);
		assert_int_equal(craft_syndrome(x->c, 0),
				 r[i].nak ? r[i].nak : 0x1f);
		assert_untouched(x);
		teardown(x);
	}
}

static void test_o18_published_frame(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { .opcode = ROCE_RC_WRITE_ONLY, .psn = PSN };

	/* the bytes of drv-write-wrap-iova at the PSN this queue expects */
	craft_reth(&f, 0xfffffffffffffc00ULL, KEY, 0x400);
	f.len += 0x400;
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_syndrome(x->c, 0), 0x62);
	assert_untouched(x);
	teardown(x);
}

/* ---- O19: an atomic is executed once and answered again ---- */

static void test_o19_atomic_answered_again_from_the_saved_result(void **state)
{
	struct fixture *x = setup(0xf, 0);
	uint64_t *word = (uint64_t *)(x->mem + 0x1000);
	struct craft_frame f = { .opcode = ROCE_RC_FETCH_ADD, .psn = PSN };
	uint8_t first[80];

	*word = 5;
	craft_atomic(&f, IOVA, KEY, 1, 0);
	craft_rx(x->c, &f);
	craft_tx(x->c);
	memcpy(first, x->c->out[0], 70);
	for (unsigned i = 0; i < 2; i++) {
		craft_rx(x->c, &f);
		assert_int_equal(craft_tx(x->c), 1);
		assert_memory_equal(x->c->out[0], first, 70);
	}
	assert_int_equal(*word, 6);
	/* push it out of the table: then silence, and nothing executed */
	for (unsigned i = 1; i <= 5; i++) {
		f.psn = PSN + i;
		craft_rx(x->c, &f);
		craft_tx(x->c);
	}
	f.psn = PSN;
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 0);
	assert_int_equal(*word, 11);
	teardown(x);
}

/* ---- O20: the right NAK for each kind of request ---- */

struct wrong {
	const char *what;
	uint32_t rkey;
	uint64_t va;
	unsigned access;
	uint8_t nak;
};

static void request(struct craft_frame *f, uint8_t opcode,
		    const struct wrong *w)
{
	f->opcode = opcode;
	f->psn = PSN;
	f->ackreq = 1;
	if (opcode == ROCE_RC_FETCH_ADD) {
		craft_atomic(f, w->va, w->rkey, 1, 0);
		return;
	}
	craft_reth(f, w->va, w->rkey, 8);
	if (opcode == ROCE_RC_WRITE_ONLY)
		f->len += 8;
}

static void test_o20_error_is_naked(void **state)
{
	static const uint8_t opcode[] = { ROCE_RC_WRITE_ONLY, ROCE_RC_READ_REQ,
					  ROCE_RC_FETCH_ADD };
	static const struct wrong wrong[] = {
		{ "unknown rkey", 0x4242, IOVA, 0xf, 0x62 },
		{ "no permission", KEY, IOVA, 0x1, 0x62 },
		{ "out of range", KEY, 0x3000, 0xf, 0x62 },
	};

	for (unsigned o = 0; o < 3; o++)
		for (unsigned i = 0; i < 3; i++) {
			struct fixture *x = setup(wrong[i].access, 0);
			struct craft_frame f = { 0 };

			request(&f, opcode[o], &wrong[i]);
			craft_rx(x->c, &f);
			assert_int_equal(craft_tx(x->c), 1);
			assert_int_equal(craft_opcode(x->c, 0), ROCE_RC_ACK);
			assert_int_equal(craft_syndrome(x->c, 0), wrong[i].nak);
			assert_int_equal(craft_psn(x->c, 0), PSN);
			assert_int_equal(craft_msn(x->c, 0), 0);
			assert_untouched(x);
			teardown(x);
		}
}

static void test_o20_unaligned_atomic(void **state)
{
	static const struct wrong w = { "", KEY, IOVA + 1, 0xf, 0x61 };
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { 0 };

	request(&f, ROCE_RC_FETCH_ADD, &w);
	craft_rx(x->c, &f);
	craft_tx(x->c);
	assert_int_equal(craft_syndrome(x->c, 0), 0x61);
	teardown(x);
}

static void test_o20_send_too_long_and_no_receive(void **state)
{
	struct fixture *x = setup(0xf, 4);
	struct roce_sge sge = { IOVA, 4, KEY };
	struct craft_frame f = { .opcode = ROCE_RC_SEND_ONLY,
				 .psn = PSN,
				 .len = 8 };

	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_syndrome(x->c, 0), 0x2c);
	assert_int_equal(craft_psn(x->c, 0), PSN);
	roce_recv_post(x->c->qp, 0, &sge, 1);
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_syndrome(x->c, 0), 0x61);
	assert_untouched(x);
	teardown(x);
}

static void test_o20_one_nak_per_gap(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { 0 };

	for (unsigned i = 1; i < 6; i++)
		rx_write(x, &f, PSN + i);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_syndrome(x->c, 0), 0x60);
	assert_int_equal(craft_psn(x->c, 0), PSN);
	rx_write(x, &f, PSN + 9);
	assert_int_equal(craft_tx(x->c), 0);
	/* the gap fills: the next one, before what is held, is told at once */
	rx_write(x, &f, PSN);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_syndrome(x->c, 0), 0x60);
	assert_int_equal(craft_psn(x->c, 0), PSN + 6);
	rx_write(x, &f, PSN + 8);
	assert_int_equal(craft_tx(x->c), 0);
	/* what was held is executed in its turn, and acknowledged with it */
	rx_write(x, &f, PSN + 6);
	rx_write(x, &f, PSN + 7);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_syndrome(x->c, 0), 0x1f);
	assert_int_equal(craft_psn(x->c, 0), PSN + 9);
	assert_int_equal(craft_msn(x->c, 0), 10);
	teardown(x);
}

/* ---- sequence and length rules ---- */

struct step {
	uint8_t opcode;
	unsigned len;	 /* payload */
	uint32_t dmalen; /* of the RETH */
};

static uint8_t play(const struct step *s, unsigned n)
{
	struct fixture *x = setup(0xf, 4);
	struct roce_sge sge = { IOVA, 0x1000, KEY };
	uint8_t syndrome = 0;

	roce_recv_post(x->c->qp, 0, &sge, 1);
	roce_recv_post(x->c->qp, 1, &sge, 1);
	for (unsigned i = 0; i < n; i++) {
		struct craft_frame f = { .opcode = s[i].opcode,
					 .psn = PSN + i,
					 .ackreq = i == n - 1 };
		int ext = roce_ext_len(s[i].opcode);

		if (ext >= 16)
			craft_reth(&f, IOVA, KEY, s[i].dmalen);
		f.len = ext + s[i].len;
		craft_rx(x->c, &f);
	}
	if (craft_tx(x->c))
		syndrome = craft_syndrome(x->c, 0);
	teardown(x);
	return syndrome;
}

#define PLAY(want, ...)                                                  \
	do {                                                             \
		const struct step s[] = { __VA_ARGS__ };                 \
		assert_int_equal(play(s, sizeof(s) / sizeof(*s)), want); \
	} while (0)

static void test_sequences(void **state)
{
	/* legal */
	PLAY(0x1f, { 0x06, 1024, 1025 }, { 0x08, 1, 0 });
	PLAY(0x1f, { 0x06, 1024, 3072 }, { 0x07, 1024, 0 }, { 0x08, 1024, 0 });
	PLAY(0x1f, { 0x0a, 0, 0 });
	PLAY(0x1f, { 0x00, 1024, 0 }, { 0x01, 1024, 0 }, { 0x02, 1, 0 });
	PLAY(0x1f, { 0x06, 1024, 1030 }, { 0x09, 6, 0 });
	PLAY(0x1f, { 0x04, 1024, 0 }, { 0x05, 0, 0 });
	/* middle or last without first, first within a message */
	PLAY(0x61, { 0x07, 1024, 0 });
	PLAY(0x61, { 0x08, 4, 0 });
	PLAY(0x61, { 0x01, 1024, 0 });
	PLAY(0x61, { 0x06, 1024, 2048 }, { 0x0a, 4, 4 });
	PLAY(0x61, { 0x06, 1024, 2048 }, { 0x02, 4, 0 });
	PLAY(0x61, { 0x00, 1024, 0 }, { 0x08, 4, 0 });
	PLAY(0x61, { 0x00, 1024, 0 }, { 0x0c, 0, 4 });
	/* lengths */
	PLAY(0x61, { 0x06, 1020, 2048 });
	PLAY(0x61, { 0x06, 1024, 1024 });
	PLAY(0x61, { 0x0a, 4, 8 });
	PLAY(0x61, { 0x0a, 8, 4 });
	PLAY(0x61, { 0x0a, 1028, 1028 });
	PLAY(0x61, { 0x06, 1024, 1030 }, { 0x08, 8, 0 });
	PLAY(0x61, { 0x06, 1024, 1030 }, { 0x08, 4, 0 });
	PLAY(0x61, { 0x00, 1020, 0 });
	PLAY(0x61, { 0x00, 1024, 0 }, { 0x02, 0, 0 });
	PLAY(0x61, { 0x04, 1028, 0 });
}

static void test_duplicate_write_is_acknowledged_not_executed(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { 0 };

	rx_write(x, &f, PSN);
	rx_write(x, &f, PSN + 1);
	craft_tx(x->c);
	memset(x->mem, 0xcc, sizeof(x->mem));
	f.ackreq = 0;
	rx_write(x, &f, PSN);
	assert_int_equal(craft_tx(x->c), 1);
	/* the newest PSN, not the duplicate's */
	assert_int_equal(craft_psn(x->c, 0), PSN + 1);
	assert_int_equal(craft_msn(x->c, 0), 2);
	assert_untouched(x);
	teardown(x);
}

static void test_duplicate_read_of_a_part(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { .opcode = ROCE_RC_READ_REQ, .psn = PSN };

	craft_reth(&f, IOVA, KEY, 4096);
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 4);
	/* the last two packets again */
	f.psn = PSN + 2;
	craft_reth(&f, IOVA + 2048, KEY, 2048);
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 2);
	assert_int_equal(craft_psn(x->c, 0), PSN + 2);
	assert_int_equal(craft_opcode(x->c, 0), ROCE_RC_READ_RESP_FIRST);
	assert_int_equal(craft_opcode(x->c, 1), ROCE_RC_READ_RESP_LAST);
	/* more than was asked, another key, another place: silence */
	craft_reth(&f, IOVA + 2048, KEY, 2049);
	craft_rx(x->c, &f);
	craft_reth(&f, IOVA + 2048, KEY + 1, 100);
	craft_rx(x->c, &f);
	craft_reth(&f, IOVA, KEY, 100);
	craft_rx(x->c, &f);
	assert_int_equal(craft_tx(x->c), 0);
	teardown(x);
}

static void test_answers_keep_the_order_of_requests(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { .opcode = ROCE_RC_READ_REQ, .psn = PSN };
	struct craft_frame w = { 0 };

	craft_reth(&f, IOVA, KEY, 2048);
	craft_rx(x->c, &f);
	rx_write(x, &w, PSN + 2);
	w.len = 0;
	rx_write(x, &w, PSN + 3);
	assert_int_equal(craft_tx(x->c), 3);
	assert_int_equal(craft_opcode(x->c, 0), ROCE_RC_READ_RESP_FIRST);
	assert_int_equal(craft_opcode(x->c, 1), ROCE_RC_READ_RESP_LAST);
	assert_int_equal(craft_opcode(x->c, 2), ROCE_RC_ACK);
	assert_int_equal(craft_psn(x->c, 2), PSN + 3);
	teardown(x);
}

static void test_more_reads_than_resources(void **state)
{
	struct fixture *x = setup(0xf, 0);
	struct craft_frame f = { .opcode = ROCE_RC_READ_REQ };

	/* 4 resources, and as many places again for answers of duplicates */
	for (unsigned i = 0; i < 9; i++) {
		f.psn = PSN + i;
		craft_reth(&f, IOVA, KEY, 8);
		craft_rx(x->c, &f);
	}
	assert_int_equal(craft_tx(x->c), 9);
	assert_int_equal(craft_syndrome(x->c, 8), 0x61);
	teardown(x);
}

/* ---- the requester against hostile answers ---- */

static void test_answers_to_what_was_never_asked(void **state)
{
	static const uint8_t opcode[] = { ROCE_RC_ACK, ROCE_RC_ATOMIC_ACK,
					  ROCE_RC_READ_RESP_ONLY,
					  ROCE_RC_READ_RESP_MIDDLE };
	struct fixture *x = setup(0xf, 0);

	for (unsigned o = 0; o < 4; o++)
		for (uint32_t psn = 0; psn <= 0xffffff; psn += 0xfff1) {
			struct craft_frame f = { .opcode = opcode[o],
						 .psn = psn };

			f.len = roce_ext_len(opcode[o]);
			f.body[0] = psn; /* any syndrome */
			craft_rx(x->c, &f);
			assert_int_equal(craft_tx(x->c), 0);
			assert_int_equal(roce_qp_state(x->c->qp), ROCE_RTS);
		}
	teardown(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_o16_wrong_icrc_is_counted_and_not_answered),
		cmocka_unit_test(test_o17_undefined_opcodes_never_answered),
		cmocka_unit_test(test_o21_reserved_bits_are_ignored),
		cmocka_unit_test(test_o21_foreign_pkey_dropped),
		cmocka_unit_test(test_ackreq_on_a_middle_packet),
		cmocka_unit_test(test_from_another_address_dropped),
		cmocka_unit_test(test_o18_write_ranges),
		cmocka_unit_test(test_o18_read_ranges),
		cmocka_unit_test(test_o18_atomic_ranges),
		cmocka_unit_test(test_o18_published_frame),
		cmocka_unit_test(
			test_o19_atomic_answered_again_from_the_saved_result),
		cmocka_unit_test(test_o20_error_is_naked),
		cmocka_unit_test(test_o20_unaligned_atomic),
		cmocka_unit_test(test_o20_send_too_long_and_no_receive),
		cmocka_unit_test(test_o20_one_nak_per_gap),
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(
			test_duplicate_write_is_acknowledged_not_executed),
		cmocka_unit_test(test_duplicate_read_of_a_part),
		cmocka_unit_test(test_answers_keep_the_order_of_requests),
		cmocka_unit_test(test_more_reads_than_resources),
		cmocka_unit_test(test_answers_to_what_was_never_asked),
	};

	return cmocka_run_group_tests_name("responder rules", tests, NULL,
					   NULL);
}
