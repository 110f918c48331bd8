// SPDX-License-Identifier: BSD-2-Clause
/*
 * The short way of sending must send what the long one does.  Two devices get
 * the same work; one has its bytes in one range, which is plain, the other in
 * two, which never is.  Every frame must be the same, byte by byte, and so
 * must every completion.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "craft.h"

#define PSN    0xfffff0 /* so that it wraps */
#define KEY    0x1234
#define IOVA   0x10000
#define MEM    8192
#define ROUNDS 400

struct end {
	struct craft *c;
	uint8_t mem[MEM];
	uint16_t index;
};

static uint64_t rng;

static uint32_t rnd(uint32_t below)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (rng >> 33) % below;
}

static void open_end(struct end *e, uint32_t mtu, uint16_t window)
{
	struct craft_attr a = {
		.sq_psn = PSN, .rq_psn = 7, .mtu = mtu, .window = window
	};
	uint32_t key;

	memset(e, 0, sizeof(*e));
	for (unsigned i = 0; i < MEM; i++)
		e->mem[i] = i * 7 + i / 256;
	e->c = craft_new(&a);
	assert_int_equal(roce_mr_add(e->c->dev,
				     &(struct roce_mr_attr){ IOVA, e->mem, MEM,
							     0xf, KEY },
				     &key),
			 0);
}

struct job {
	uint8_t op, flags;
	uint32_t len, from, key;
	uint64_t raddr;
};

static struct job random_job(void)
{
	static const uint8_t ops[] = { ROCE_OP_WRITE, ROCE_OP_WRITE,
				       ROCE_OP_WRITE, ROCE_OP_SEND,
				       ROCE_OP_SEND,  ROCE_OP_NOP };
	static const uint16_t sizes[] = {
		2, 3, 4, 5, 8, 8, 8, 16, 63, 64, 255, 256, 257, 600, 1024, 1025
	};
	struct job j = { .op = ops[rnd(6)],
			 .flags = rnd(2) ? ROCE_WR_SIGNALLED : 0,
			 .len = sizes[rnd(16)],
			 .from = rnd(4096),
			 .key = KEY,
			 .raddr = (uint64_t)rnd(1 << 30) << 20 };

	if (!rnd(16))
		j.flags |= ROCE_WR_SOLICITED;
	if (!rnd(16))
		j.flags |= ROCE_WR_IMM;
	if (!rnd(300))
		j.key = KEY + 1; /* which ends the queue */
	return j;
}

/* False: there is no room. */
static bool post(struct end *e, const struct job *j, bool in_two)
{
	struct roce_wr *wr = roce_wr_next(e->c->qp);
	uint32_t part = in_two && j->op != ROCE_OP_NOP ? j->len / 2 : j->len;
	struct roce_sge *more;

	if (!wr)
		return false;
	*wr = (struct roce_wr){ .op = j->op,
				.flags = j->flags,
				.index = e->index++,
				.nsge = j->op == ROCE_OP_NOP ? 0 : 1,
				.wqe_opcode = WBELL_OP_WRITE,
				.len = j->op == ROCE_OP_NOP ? 0 : j->len,
				.imm = 0x55aa,
				.raddr = j->raddr,
				.rkey = 99,
				.sge = { IOVA + j->from, part, j->key } };
	if (part < j->len && wr->nsge) {
		more = (struct roce_sge *)roce_wr_store(e->c->qp, wr->index);
		more[0] = (struct roce_sge){ IOVA + j->from + part,
					     j->len - part, j->key };
		wr->nsge = 2;
	}
	roce_wr_post(e->c->qp, wr);
	return true;
}

static void compare_frames(struct end *a, struct end *b)
{
	assert_int_equal(craft_tx(a->c), craft_tx(b->c));
	for (unsigned i = 0; i < a->c->nsent; i++) {
		assert_int_equal(a->c->sent[i].len, b->c->sent[i].len);
		assert_memory_equal(a->c->out[i], b->c->out[i],
				    a->c->sent[i].len);
	}
}

static void compare_completions(struct end *a, struct end *b)
{
	struct roce_comp x[64], y[64];
	unsigned n = roce_comp(a->c->dev, x, 64);

	assert_int_equal(n, roce_comp(b->c->dev, y, 64));
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(x[i].index, y[i].index);
		assert_int_equal(x[i].syndrome, y[i].syndrome);
		assert_int_equal(x[i].len, y[i].len);
	}
}

/* The peer acknowledges, asks again for one, or is silent for a while. */
static void answer(struct end *a, struct end *b)
{
	struct craft_frame f = { .opcode = ROCE_RC_ACK, .len = 4 };
	uint32_t last, what = rnd(8);

	if (!a->c->nsent || what == 0) {
		a->c->now += 300000;
		b->c->now += 300000;
		return;
	}
	last = craft_psn(a->c, rnd(a->c->nsent));
	f.psn = last;
	f.body[0] = what == 1 ? ROCE_NAK_PSN_SEQ : ROCE_AETH_ACK_UNLIMITED;
	craft_rx(a->c, &f);
	craft_rx(b->c, &f);
}

static void run(uint64_t seed, uint32_t mtu)
{
	static struct end a, b;

	rng = seed;
	open_end(&a, mtu, seed % 3 ? seed % 17 + 2 : 0);
	open_end(&b, mtu, seed % 3 ? seed % 17 + 2 : 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (uint32_t n = rnd(12); n; n--) {
			struct job j = random_job();

			if (post(&a, &j, false) != post(&b, &j, true))
				fail_msg("one has room, one has not");
		}
		compare_frames(&a, &b);
		answer(&a, &b);
		compare_completions(&a, &b);
		a.c->now += 10000;
		b.c->now += 10000;
	}
	assert_int_equal(roce_qp_state(a.c->qp), roce_qp_state(b.c->qp));
	craft_free(a.c);
	craft_free(b.c);
}

static void test_plain_work_sends_the_same_frames(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		run(seed, 256U << seed % 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_work_sends_the_same_frames),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("plain work", tests, NULL, NULL);
}
