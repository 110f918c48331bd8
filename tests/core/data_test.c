// SPDX-License-Identifier: BSD-2-Clause
/* Bytes arrive, once and in order, whatever the wire does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"

#define HALF   (PAIR_MEM / 2)
#define WORD   (PAIR_MEM - 128)
#define RESULT (PAIR_MEM - 64)

static void fill(struct pair *p, int e, uint64_t off, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		p->end[e].mem[off + i] = pair_random(p);
}

static uint64_t word(struct pair *p, int e, uint64_t off)
{
	uint64_t v;

	memcpy(&v, p->end[e].mem + off, 8);
	return v;
}

static void assert_good(struct pair *p, int e, unsigned n)
{
	assert_int_equal(p->end[e].ncomp, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(p->end[e].comp[i].syndrome, 0);
		assert_int_equal(p->end[e].comp[i].index, i);
	}
}

static void test_write_every_length_and_mtu(void **state)
{
	for (unsigned mtu = 256; mtu <= 4096; mtu *= 2) {
		struct pair_attr a = { .mtu = mtu };
		struct pair *p = pair_new(&a, mtu);
		const unsigned len[] = { 0,	  1,	       2,     3,
					 4,	  5,	       63,    64,
					 65,	  mtu - 1,     mtu,   mtu + 1,
					 2 * mtu, 3 * mtu + 1, 65536, 1 << 20 };
		unsigned n = sizeof(len) / sizeof(*len);
		uint64_t off = 1;

		fill(p, 0, 0, HALF);
		for (unsigned i = 0; i < n; i++) {
			pair_write(p, 0, off, off + 3, len[i]);
			off += len[i];
		}
		pair_run(p, 1000000000);
		assert_good(p, 0, n);
		assert_memory_equal(p->end[0].mem + 1, p->end[1].mem + 4,
				    off - 1);
		assert_int_equal(p->end[1].mem[off + 3], 0);
		pair_free(p);
	}
}

static void test_read_every_length_and_mtu(void **state)
{
	for (unsigned mtu = 256; mtu <= 4096; mtu *= 2) {
		struct pair_attr a = { .mtu = mtu, .max_rd_atomic = 3 };
		struct pair *p = pair_new(&a, mtu);
		const unsigned len[] = { 0,	   1,	     7,
					 mtu - 1,  mtu,	     mtu + 1,
					 32 * mtu, 33 * mtu, 1 << 20 };
		unsigned n = sizeof(len) / sizeof(*len);
		uint64_t off = 5;

		fill(p, 1, 0, HALF);
		for (unsigned i = 0; i < n; i++) {
			pair_read(p, 0, off, off, len[i]);
			off += len[i];
		}
		pair_run(p, 1000000000);
		assert_good(p, 0, n);
		assert_memory_equal(p->end[0].mem + 5, p->end[1].mem + 5,
				    off - 5);
		pair_free(p);
	}
}

static void test_atomics_return_what_was(void **state)
{
	struct pair_attr a = { 0 };
	struct pair *p = pair_new(&a, 1);

	for (unsigned i = 0; i < 5; i++)
		pair_add(p, 0, RESULT - 8 * i, WORD, 3);
	pair_cas(p, 0, RESULT - 48, WORD, 15, 100);
	pair_cas(p, 0, RESULT - 56, WORD, 15, 200);
	pair_run(p, 1000000000);
	assert_good(p, 0, 7);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(word(p, 0, RESULT - 8 * i), 3 * i);
	assert_int_equal(word(p, 0, RESULT - 48), 15);
	assert_int_equal(word(p, 0, RESULT - 56), 100);
	assert_int_equal(word(p, 1, WORD), 100);
	pair_free(p);
}

static void test_send_carries_length_and_immediate(void **state)
{
	struct pair_attr a = { .recv_depth = 8 };
	struct pair *p = pair_new(&a, 1);
	struct pair_end *r = &p->end[1];

	fill(p, 0, 0, 8192);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pair_recv(p, 1, HALF + i * 4096, 4096), 0);
	pair_send(p, 0, 0, 4096, 0);
	pair_send(p, 0, 4096, 5, 0x01020304);
	pair_send(p, 0, 0, 0, 7);
	pair_run(p, 1000000000);
	assert_good(p, 0, 3);
	assert_int_equal(r->ncomp, 3);
	assert_int_equal(r->comp[0].len, 4096);
	assert_int_equal(r->comp[1].len, 5);
	assert_int_equal(r->comp[1].imm, 0x01020304);
	assert_true(r->comp[1].flags & ROCE_WR_IMM);
	assert_int_equal(r->comp[2].len, 0);
	assert_memory_equal(p->end[0].mem, r->mem + HALF, 4096);
	assert_memory_equal(p->end[0].mem + 4096, r->mem + HALF + 4096, 5);
	pair_free(p);
}

static void test_write_imm_takes_a_receive(void **state)
{
	struct pair_attr a = { .recv_depth = 4 };
	struct pair *p = pair_new(&a, 1);
	struct roce_wr *wr;

	fill(p, 0, 0, 3000);
	pair_recv(p, 1, 0, 0);
	wr = pair_wr(p, 0, ROCE_OP_WRITE, WBELL_OP_WRITE_IMM);
	wr->flags |= ROCE_WR_IMM;
	wr->imm = 0xdeadbeef;
	wr->len = wr->sge.len = 3000;
	wr->sge.addr = (uintptr_t)p->end[0].mem;
	wr->raddr = (uintptr_t)p->end[1].mem + HALF;
	pair_post(p, 0, wr);
	pair_run(p, 1000000000);
	assert_good(p, 0, 1);
	assert_int_equal(p->end[1].ncomp, 1);
	assert_int_equal(p->end[1].comp[0].imm, 0xdeadbeef);
	assert_int_equal(p->end[1].comp[0].len, 3000);
	assert_true(p->end[1].comp[0].flags & ROCE_COMP_WRITE);
	assert_memory_equal(p->end[0].mem, p->end[1].mem + HALF, 3000);
	pair_free(p);
}

static void test_sge_list_and_inline(void **state)
{
	struct pair_attr a = { .mtu = 256 };
	struct pair *p = pair_new(&a, 1);
	struct roce_wr *wr = pair_wr(p, 0, ROCE_OP_WRITE, WBELL_OP_WRITE);
	struct roce_sge *more = (void *)roce_wr_store(p->end[0].qp, 0);
	uint8_t *m = p->end[0].mem;

	fill(p, 0, 0, 4096);
	wr->nsge = 3;
	wr->len = 100 + 300 + 113;
	wr->sge = (struct roce_sge){ (uintptr_t)m, 100, p->end[0].key };
	more[0] = (struct roce_sge){ (uintptr_t)m + 1000, 300, p->end[0].key };
	more[1] = (struct roce_sge){ (uintptr_t)m + 2000, 113, p->end[0].key };
	wr->raddr = (uintptr_t)p->end[1].mem;
	pair_post(p, 0, wr);
	wr = pair_wr(p, 0, ROCE_OP_WRITE, WBELL_OP_WRITE);
	wr->flags |= ROCE_WR_INLINE;
	wr->nsge = 0;
	wr->len = 13;
	memcpy(roce_wr_store(p->end[0].qp, 1), "thirteen byte", 13);
	wr->raddr = (uintptr_t)p->end[1].mem + HALF;
	pair_post(p, 0, wr);
	pair_run(p, 1000000000);
	assert_good(p, 0, 2);
	assert_memory_equal(p->end[1].mem, m, 100);
	assert_memory_equal(p->end[1].mem + 100, m + 1000, 300);
	assert_memory_equal(p->end[1].mem + 400, m + 2000, 113);
	assert_memory_equal(p->end[1].mem + HALF, "thirteen byte", 13);
	pair_free(p);
}

static void test_unsignalled_complete_silently(void **state)
{
	struct pair_attr a = { 0 };
	struct pair *p = pair_new(&a, 1);

	for (unsigned i = 0; i < 1000; i++) {
		struct roce_wr *wr;

		while (!(wr = pair_wr(p, 0, ROCE_OP_WRITE, WBELL_OP_WRITE)))
			pair_turn(p, 1000);
		if (i % 10 != 9)
			wr->flags = 0;
		wr->len = wr->sge.len = 8;
		wr->sge.addr = (uintptr_t)p->end[0].mem;
		wr->raddr = (uintptr_t)p->end[1].mem;
		pair_post(p, 0, wr);
	}
	pair_run(p, 1000000000);
	assert_int_equal(p->end[0].ncomp, 100);
	assert_int_equal(p->end[0].comp[99].index, 999);
	pair_free(p);
}

static void test_acks_are_coalesced(void **state)
{
	struct pair_attr a = { 0 };
	struct pair *p = pair_new(&a, 1);

	for (unsigned i = 0; i < 128; i++)
		pair_write(p, 0, 0, 0, 8);
	pair_run(p, 1000000000);
	assert_good(p, 0, 128);
	assert_in_range(roce_counter(p->end[0].dev, ROCE_C_ACK_RX), 1, 8);
	pair_free(p);
}

static void test_psn_wraps(void **state)
{
	struct pair_attr a = { .mtu = 256, .psn = 0xfffff0, .recv_depth = 4 };
	struct pair *p = pair_new(&a, 1);

	fill(p, 0, 0, HALF);
	pair_write(p, 0, 0, 0, 10000);
	pair_read(p, 0, HALF, 0, 10000);
	pair_add(p, 0, RESULT, WORD, 1);
	pair_run(p, 1000000000);
	assert_good(p, 0, 3);
	assert_memory_equal(p->end[0].mem, p->end[1].mem, 10000);
	assert_memory_equal(p->end[0].mem + HALF, p->end[1].mem, 10000);
	pair_free(p);
}

/* Everything at once under faults; the same seed gives the same run. */
static void mixed(struct pair *p, uint64_t *frames)
{
	uint64_t off = 0;

	fill(p, 0, 0, HALF);
	for (unsigned i = 0; i < 20; i++) {
		unsigned n = pair_random(p) % 20000;

		pair_write(p, 0, off, off, n);
		off += n;
	}
	for (unsigned i = 0; i < 10; i++)
		pair_add(p, 0, RESULT, WORD, 1);
	pair_read(p, 0, HALF, 0, off);
	for (unsigned i = 0; i < 20; i++)
		pair_recv(p, 1, HALF + i * 1024, 1024);
	for (unsigned i = 0; i < 20; i++)
		pair_send(p, 0, i * 1024, 1024, i);
	pair_run(p, 60000000000ULL);
	assert_good(p, 0, 51);
	assert_int_equal(p->end[1].ncomp, 20);
	assert_memory_equal(p->end[0].mem, p->end[1].mem, off);
	assert_memory_equal(p->end[0].mem + HALF, p->end[0].mem, off);
	assert_memory_equal(p->end[1].mem + HALF, p->end[0].mem, 20480);
	assert_int_equal(word(p, 1, WORD), 10); /* each once */
	assert_int_equal(word(p, 0, RESULT), 9);
	*frames = p->frames;
}

static struct pair *faulty(uint64_t seed)
{
	struct pair_attr a = { .mtu = 256 << seed % 5,
			       .psn = 0xffffff - seed % 50,
			       .max_rd_atomic = 1 + seed % 16,
			       .recv_depth = 64,
			       .holes = seed % 5 && seed / 2 % 2,
			       .keep_nothing = seed % 5 == 0 };
	struct pair *p = pair_new(&a, seed);

	p->faults.drop = seed % 7 * 50;
	p->faults.dup = seed % 5 * 50;
	p->faults.reorder = seed % 3 * 100;
	p->faults.corrupt = seed % 4 * 50;
	return p;
}

static void test_faults_of_300_seeds(void **state)
{
	uint64_t frames, again;
	struct pair *p;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		p = faulty(seed);
		mixed(p, &frames);
		pair_free(p);
	}
	p = faulty(300);
	mixed(p, &again);
	pair_free(p);
	assert_int_equal(frames, again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_every_length_and_mtu),
		cmocka_unit_test(test_read_every_length_and_mtu),
		cmocka_unit_test(test_atomics_return_what_was),
		cmocka_unit_test(test_send_carries_length_and_immediate),
		cmocka_unit_test(test_write_imm_takes_a_receive),
		cmocka_unit_test(test_sge_list_and_inline),
		cmocka_unit_test(test_unsignalled_complete_silently),
		cmocka_unit_test(test_acks_are_coalesced),
		cmocka_unit_test(test_psn_wraps),
		cmocka_unit_test(test_faults_of_300_seeds),
	};

	return cmocka_run_group_tests_name("core data", tests, NULL, NULL);
}
