// SPDX-License-Identifier: BSD-2-Clause
/* UC, UD, shared receive queues, invalidation, IPv6 and VLAN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"

static int drop_nth(void *arg, int from, uint8_t *frame, uint32_t len)
{
	int *n = arg;

	return from == 0 && (*n)-- == 0;
}

static void fill(struct pair *p, int e, uint64_t off, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		p->end[e].mem[off + i] = pair_random(p);
}

/* ---- UC ---- */

static void test_uc_carries_sends_and_writes(void **state)
{
	struct pair_attr a = { .type = ROCE_UC, .recv_depth = 8, .mtu = 256 };
	struct pair *p = pair_new(&a, 1);

	fill(p, 0, 0, 5000);
	pair_recv(p, 1, 100000, 5000);
	pair_write(p, 0, 0, 200000, 5000);
	pair_send(p, 0, 0, 5000, 7);
	pair_run(p, 1000000);
	assert_int_equal(p->end[0].ncomp, 2);
	assert_int_equal(p->end[1].ncomp, 1);
	assert_int_equal(p->end[1].comp[0].imm, 7);
	assert_memory_equal(p->end[1].mem + 100000, p->end[0].mem, 5000);
	assert_memory_equal(p->end[1].mem + 200000, p->end[0].mem, 5000);
	/* nothing came back */
	assert_int_equal(roce_counter(p->end[0].dev, ROCE_C_RX), 0);
	pair_free(p);
}

static void test_uc_drops_the_message_with_a_gap_and_goes_on(void **state)
{
	for (int lost = 0; lost < 5; lost++) {
		struct pair_attr a = { .type = ROCE_UC,
				       .recv_depth = 8,
				       .mtu = 256 };
		struct pair *p = pair_new(&a, 1);
		int n = lost;

		fill(p, 0, 0, 4096);
		p->faults.filter = drop_nth;
		p->faults.arg = &n;
		pair_recv(p, 1, 100000, 2048);
		pair_recv(p, 1, 200000, 2048);
		pair_send(p, 0, 0, 1280, 0); /* 5 packets, one is lost */
		pair_send(p, 0, 2048, 600, 0);
		pair_run(p, 1000000);
		assert_int_equal(p->end[0].ncomp, 2);
		/* the lost one left its receive to the next */
		assert_int_equal(p->end[1].ncomp, 1);
		assert_int_equal(p->end[1].comp[0].len, 600);
		assert_memory_equal(p->end[1].mem + 100000,
				    p->end[0].mem + 2048, 600);
		pair_free(p);
	}
}

static void test_uc_refuses_reads_and_atomics(void **state)
{
	struct pair_attr a = { .type = ROCE_UC };
	struct pair *p = pair_new(&a, 1);

	pair_read(p, 0, 0, 0, 8);
	pair_run(p, 1000000);
	assert_int_equal(p->end[0].comp[0].syndrome, WBELL_SYND_LOCAL_QP_OP);
	pair_free(p);
}

/* A receive that lies where nothing may be written. */
static void recv_unusable(struct pair *p)
{
	struct roce_sge sge = { (uintptr_t)p->end[1].mem, 256,
				p->end[1].key ^ 1 };

	assert_int_equal(roce_recv_post(p->end[1].qp, 77, &sge, 1), 0);
}

/* Its poster learns it, and no more waits behind it: IBTA 9.9.3, class A. */
static void assert_told(const struct pair *p)
{
	const struct pair_end *e = &p->end[1];

	assert_int_equal(e->ncomp, 2);
	assert_int_equal(e->comp[0].syndrome, WBELL_SYND_LOCAL_PROT);
	assert_int_equal(e->comp[0].index, 77);
	assert_int_equal(e->comp[1].syndrome, WBELL_SYND_WR_FLUSH);
	assert_int_equal(roce_qp_state(e->qp), ROCE_ERR);
	assert_ptr_equal(roce_failed(e->dev), e->qp);
}

static void test_uc_receive_without_right_ends_the_queue(void **state)
{
	struct pair_attr a = { .type = ROCE_UC, .recv_depth = 4, .mtu = 256 };
	struct pair *p = pair_new(&a, 1);

	recv_unusable(p);
	pair_recv(p, 1, 4096, 1000);
	pair_send(p, 0, 0, 100, 0);
	pair_send(p, 0, 0, 100, 0);
	pair_run(p, 1000000);
	assert_told(p);
	pair_free(p);
}

/* ---- UD ---- */

#define QKEY 0x11223344

static void datagram(struct pair *p, uint32_t ah, uint32_t qkey, uint32_t n,
		     int imm)
{
	struct roce_wr *wr = pair_wr(p, 0, ROCE_OP_SEND, WBELL_OP_SEND);

	wr->ah = ah;
	wr->rkey = qkey;
	wr->raddr = roce_qp_num(p->end[1].qp);
	wr->len = wr->sge.len = n;
	wr->sge.addr = (uintptr_t)p->end[0].mem;
	if (imm) {
		wr->flags |= ROCE_WR_IMM;
		wr->imm = imm;
	}
	pair_post(p, 0, wr);
}

static uint32_t handle(struct pair *p, bool v6)
{
	struct roce_peer to = {
		.ip = { 192, 0, 2, 2 },
		.ip6 = { 0x20, 1, 0xd, 0xb8, [15] = 2 },
		.v6 = v6,
		.mac = { 2, 0, 0, 0, 0, 2 },
		.has_mac = true,
	};
	uint32_t ah;

	assert_int_equal(roce_ah_add(p->end[0].dev, &to, &ah), 0);
	return ah;
}

static void test_ud_delivers_behind_the_grh_area(void **state)
{
	for (int v6 = 0; v6 < 2; v6++) {
		struct pair_attr a = { .type = ROCE_UD,
				       .recv_depth = 4,
				       .qkey = QKEY };
		struct pair *p = pair_new(&a, 1);
		struct pair_end *r = &p->end[1];

		fill(p, 0, 0, 1024);
		pair_recv(p, 1, 100000, 1024 + 40);
		datagram(p, handle(p, v6), QKEY, 1024, 9);
		pair_run(p, 1000000);
		assert_int_equal(p->end[0].ncomp, 1);
		assert_int_equal(r->ncomp, 1);
		assert_int_equal(r->comp[0].len, 1064);
		assert_int_equal(r->comp[0].imm, 9);
		assert_int_equal(r->comp[0].src_qpn, roce_qp_num(p->end[0].qp));
		assert_memory_equal(r->mem + 100040, p->end[0].mem, 1024);
		/* the IP header is there for the receiver to answer to */
		assert_int_equal(r->mem[v6 ? 100000 : 100020] >> 4, v6 ? 6 : 4);
		pair_free(p);
	}
}

static void test_ud_drops_what_it_must(void **state)
{
	struct pair_attr a = { .type = ROCE_UD, .recv_depth = 4, .qkey = QKEY };
	struct pair *p = pair_new(&a, 1);
	uint32_t ah = handle(p, false);
	struct roce_dev *r = p->end[1].dev;

	datagram(p, ah, QKEY, 10, 0); /* no receive */
	pair_run(p, 1000000);
	assert_int_equal(roce_counter(r, ROCE_DROP_NO_RECV), 1);
	pair_recv(p, 1, 0, 64);
	datagram(p, ah, QKEY + 1, 10, 0); /* wrong Q_Key */
	pair_run(p, 1000000);
	assert_int_equal(roce_counter(r, ROCE_DROP_QKEY), 1);
	datagram(p, ah, QKEY, 25, 0); /* 40 + 25 do not fit into 64 */
	pair_run(p, 1000000);
	assert_int_equal(roce_counter(r, ROCE_DROP_NO_RECV), 2);
	datagram(p, ah, 0x80000000U, 24, 0); /* high bit: the QP's own key */
	pair_run(p, 1000000);
	assert_int_equal(p->end[1].ncomp, 1);
	assert_int_equal(p->end[1].comp[0].len, 64);
	assert_int_equal(roce_qp_state(p->end[1].qp), ROCE_RTS);
	pair_free(p);
}

static void test_ud_local_errors(void **state)
{
	struct pair_attr a = { .type = ROCE_UD, .qkey = QKEY };
	struct pair *p = pair_new(&a, 1);
	uint32_t ah = handle(p, false);

	datagram(p, ah, QKEY, 1025, 0); /* over the path MTU */
	pair_run(p, 1000000);
	assert_int_equal(p->end[0].comp[0].syndrome, WBELL_SYND_LOCAL_LENGTH);
	pair_free(p);
	p = pair_new(&a, 1);
	assert_int_equal(roce_ah_del(p->end[0].dev, handle(p, false)), 0);
	datagram(p, 1, QKEY, 10, 0); /* a handle that is gone */
	pair_run(p, 1000000);
	assert_int_equal(p->end[0].comp[0].syndrome, WBELL_SYND_LOCAL_QP_OP);
	pair_free(p);
}

static void test_ud_receive_without_right_ends_the_queue(void **state)
{
	struct pair_attr a = { .type = ROCE_UD, .recv_depth = 4, .qkey = QKEY };
	struct pair *p = pair_new(&a, 1);
	uint32_t ah = handle(p, false);

	recv_unusable(p);
	pair_recv(p, 1, 4096, 1000);
	datagram(p, ah, QKEY, 100, 0);
	datagram(p, ah, QKEY, 100, 0);
	pair_run(p, 1000000);
	assert_told(p);
	pair_free(p);
}

/* ---- shared receive queue ---- */

static void count_low(void *user)
{
	(*(unsigned *)user)++;
}

static void test_srq_serves_in_order_and_tells_its_limit(void **state)
{
	unsigned low = 0;
	struct roce_srq_attr sa = {
		.depth = 8, .sge = 1, .limit = 3, .user = &low, .low = count_low
	};
	struct pair_attr a = { .srq = &sa };
	struct pair *p = pair_new(&a, 1);
	struct roce_sge sge = { 0, 64, p->end[1].key };

	for (unsigned i = 0; i < 5; i++) {
		sge.addr = (uintptr_t)p->end[1].mem + 64 * i;
		assert_int_equal(roce_srq_post(p->srq, 10 + i, &sge, 1), 0);
	}
	p->end[0].mem[0] = 0x77;
	for (unsigned i = 0; i < 5; i++)
		pair_send(p, 0, 0, 64, 0);
	pair_run(p, 100000000);
	assert_int_equal(p->end[1].ncomp, 5);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(p->end[1].comp[i].index, 10 + i);
		assert_int_equal(p->end[1].mem[64 * i], 0x77);
	}
	assert_int_equal(low, 1);
	/* empty: the sender waits, then goes on */
	pair_send(p, 0, 0, 64, 0);
	for (unsigned i = 0; i < 50; i++)
		pair_turn(p, 10000);
	assert_int_equal(p->end[0].ncomp, 5);
	roce_srq_post(p->srq, 99, &sge, 1);
	pair_run(p, 1000000000);
	assert_int_equal(p->end[0].ncomp, 6);
	assert_int_equal(p->end[1].comp[5].index, 99);
	pair_free(p);
}

/* Others might have had it: it ends, and the next has its turn (class E). */
static void test_srq_receive_too_short_for_a_datagram(void **state)
{
	struct roce_srq_attr sa = { .depth = 8, .sge = 1 };
	struct pair_attr a = { .type = ROCE_UD, .srq = &sa, .qkey = QKEY };
	struct pair *p = pair_new(&a, 1);
	struct roce_sge sge = { (uintptr_t)p->end[1].mem, 139, p->end[1].key };
	uint32_t ah = handle(p, false);

	assert_int_equal(roce_srq_post(p->srq, 5, &sge, 1), 0);
	sge.len = 140;
	assert_int_equal(roce_srq_post(p->srq, 6, &sge, 1), 0);
	datagram(p, ah, QKEY, 100, 0);
	datagram(p, ah, QKEY, 100, 0);
	pair_run(p, 1000000);
	assert_int_equal(p->end[1].ncomp, 2);
	assert_int_equal(p->end[1].comp[0].index, 5);
	assert_int_equal(p->end[1].comp[0].syndrome, WBELL_SYND_LOCAL_LENGTH);
	assert_int_equal(p->end[1].comp[1].index, 6);
	assert_int_equal(p->end[1].comp[1].syndrome, 0);
	assert_int_equal(p->end[1].comp[1].len, 140);
	assert_int_equal(roce_qp_state(p->end[1].qp), ROCE_RTS);
	pair_free(p);
}

/* ---- invalidation ---- */

static void send_inv(struct pair *p, uint32_t key)
{
	struct roce_wr *wr = pair_wr(p, 0, ROCE_OP_SEND, WBELL_OP_SEND_INVAL);

	wr->flags |= ROCE_WR_INV;
	wr->imm = __builtin_bswap32(key);
	wr->nsge = 0;
	pair_post(p, 0, wr);
}

static void test_send_with_invalidate(void **state)
{
	struct pair_attr a = { .recv_depth = 4 };
	struct pair *p = pair_new(&a, 1);
	struct roce_mr_attr mr = { .iova = 0x1000,
				   .base = p->end[1].mem,
				   .len = 64,
				   .access = ROCE_ACCESS_REMOTE_WRITE |
					     ROCE_ACCESS_REMOTE_INVAL };
	uint32_t key;

	roce_mr_add(p->end[1].dev, &mr, &key);
	pair_recv(p, 1, 0, 64);
	pair_recv(p, 1, 0, 64);
	send_inv(p, key);
	pair_run(p, 1000000000);
	assert_int_equal(p->end[1].ncomp, 1);
	assert_true(p->end[1].comp[0].flags & ROCE_WR_INV);
	assert_int_equal(roce_mr_del(p->end[1].dev, key), -2); /* gone */
	/* a key that was not made for it stays, and the sender learns */
	send_inv(p, p->end[1].key);
	pair_run(p, 1000000000);
	assert_int_equal(p->end[0].comp[1].syndrome, WBELL_SYND_REMOTE_ACCESS);
	assert_int_equal(roce_mr_del(p->end[1].dev, p->end[1].key), 0);
	pair_free(p);
}

static void test_local_invalidate(void **state)
{
	struct pair_attr a = { 0 };
	struct pair *p = pair_new(&a, 1);
	struct roce_wr *wr;

	wr = pair_wr(p, 0, ROCE_OP_LOCAL_INV, 0x1b);
	wr->rkey = p->end[0].key;
	pair_post(p, 0, wr);
	pair_write(p, 0, 0, 0, 8); /* from memory that is gone */
	pair_run(p, 1000000000);
	assert_int_equal(p->end[0].comp[0].syndrome, 0);
	assert_int_equal(p->end[0].comp[1].syndrome, WBELL_SYND_LOCAL_PROT);
	pair_free(p);
}

/* ---- paths ---- */

static void test_rc_over_ipv6_and_vlan(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		struct pair_attr a = { .v6 = i & 1,
				       .vlan = i & 2 ? 100 : 0,
				       .holes = true };
		struct pair *p = pair_new(&a, i + 1);

		fill(p, 0, 0, 100000);
		p->faults.drop = 200;
		p->faults.corrupt = 100;
		pair_write(p, 0, 0, 0, 100000);
		pair_read(p, 0, 200000, 0, 100000);
		pair_run(p, 10000000000ULL);
		assert_int_equal(p->end[0].ncomp, 2);
		assert_int_equal(p->end[0].comp[1].syndrome, 0);
		assert_memory_equal(p->end[1].mem, p->end[0].mem, 100000);
		assert_memory_equal(p->end[0].mem + 200000, p->end[0].mem,
				    100000);
		pair_free(p);
	}
}

static int retag(void *arg, int from, uint8_t *frame, uint32_t len)
{
	frame[15] ^= 1;
	return 0;
}

static void test_other_vlan_is_dropped(void **state)
{
	struct pair_attr a = { .vlan = 100, .timeout = 8, .retry_cnt = 1 };
	struct pair *p = pair_new(&a, 1);

	p->faults.filter = retag;
	pair_write(p, 0, 0, 0, 8);
	pair_run(p, 10000000000ULL);
	assert_int_equal(p->end[0].comp[0].syndrome, WBELL_SYND_RETRY_EXC);
	assert_true(roce_counter(p->end[1].dev, ROCE_DROP_ADDRESS) > 0);
	pair_free(p);
}

/* ---- congestion ---- */

/* A switch whose queue is long sets CE in what is ECN-capable. */
static int mark(void *arg, int from, uint8_t *frame, uint32_t len)
{
	uint8_t *ip = frame + 14;
	uint32_t sum = 0;

	if (!*(int *)arg || from || (ip[1] & 3) != 2)
		return 0;
	ip[1] |= 3;
	ip[10] = ip[11] = 0;
	for (unsigned i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = sum >> 8;
	ip[11] = sum;
	return 0;
}

static unsigned mbps(struct pair *p, uint64_t ns)
{
	uint64_t end = p->now + ns;
	unsigned was = p->end[0].ncomp = 0;

	while (p->now < end) {
		struct roce_wr *wr;

		while ((wr = pair_wr(p, 0, ROCE_OP_WRITE, WBELL_OP_WRITE))) {
			wr->len = wr->sge.len = 4096;
			wr->sge.addr = (uintptr_t)p->end[0].mem;
			wr->raddr = (uintptr_t)p->end[1].mem;
			pair_post(p, 0, wr);
		}
		pair_turn(p, 20000);
		was += p->end[0].ncomp;
		p->end[0].ncomp = 0;
	}
	return was * 4096ULL * 8 * 1000 / ns;
}

static void test_marks_slow_the_sender_and_silence_frees_it(void **state)
{
	struct pair_attr a = { .cc = true, .mtu = 4096, .holes = true };
	struct pair *p = pair_new(&a, 1);
	struct roce_qp_stat st;
	int marking = 0;
	unsigned before, during, after;

	p->faults.filter = mark;
	p->faults.arg = &marking;
	before = mbps(p, 5000000);
	assert_int_equal(roce_counter(p->end[1].dev, ROCE_C_CNP_TX), 0);
	marking = 1;
	during = mbps(p, 5000000);
	/* one CNP in 50 us at most, each cut the rate */
	assert_in_range(roce_counter(p->end[0].dev, ROCE_C_CNP_RX), 10, 101);
	assert_true(during < before / 3);
	roce_qp_stat(p->end[0].qp, &st);
	assert_true(st.rate_mbps > 0 && st.rate_mbps < before / 3);
	marking = 0;
	mbps(p, 400000000);
	after = mbps(p, 5000000);
	assert_true(after > before / 2);
	assert_int_equal(roce_qp_state(p->end[0].qp), ROCE_RTS);
	pair_free(p);
}

/* ---- holes ---- */

/* Frames it takes to move 1000 packets of which 1 % are lost. */
static uint64_t lossy(struct pair_attr a)
{
	struct pair *p;
	uint64_t frames;

	a.depth = 1024;
	p = pair_new(&a, 5);
	p->faults.drop = 100;
	for (unsigned i = 0; i < 1000; i++)
		pair_write(p, 0, i * 1024, i * 1024, 1024);
	pair_run(p, 10000000000ULL);
	assert_int_equal(p->end[0].ncomp, 1000);
	frames = p->frames;
	pair_free(p);
	return frames;
}

static void test_peer_that_holds_is_sent_only_what_it_lacks(void **state)
{
	/* agreed, and learnt from what its acknowledges leap over */
	assert_in_range(lossy((struct pair_attr){ .holes = true }), 1000, 1150);
	assert_in_range(lossy((struct pair_attr){ .holes = false }), 1000,
			1150);
}

static void test_peer_that_drops_is_sent_all_behind_the_gap(void **state)
{
	uint64_t frames = lossy((struct pair_attr){ .keep_nothing = true });

	assert_in_range(frames, 1150, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_marks_slow_the_sender_and_silence_frees_it),
		cmocka_unit_test(test_uc_carries_sends_and_writes),
		cmocka_unit_test(
			test_uc_drops_the_message_with_a_gap_and_goes_on),
		cmocka_unit_test(test_uc_refuses_reads_and_atomics),
		cmocka_unit_test(test_uc_receive_without_right_ends_the_queue),
		cmocka_unit_test(test_ud_delivers_behind_the_grh_area),
		cmocka_unit_test(test_ud_drops_what_it_must),
		cmocka_unit_test(test_ud_local_errors),
		cmocka_unit_test(test_ud_receive_without_right_ends_the_queue),
		cmocka_unit_test(test_srq_serves_in_order_and_tells_its_limit),
		cmocka_unit_test(test_srq_receive_too_short_for_a_datagram),
		cmocka_unit_test(test_send_with_invalidate),
		cmocka_unit_test(test_local_invalidate),
		cmocka_unit_test(test_rc_over_ipv6_and_vlan),
		cmocka_unit_test(test_other_vlan_is_dropped),
		cmocka_unit_test(
			test_peer_that_holds_is_sent_only_what_it_lacks),
		cmocka_unit_test(
			test_peer_that_drops_is_sent_all_behind_the_gap),
	};

	return cmocka_run_group_tests_name("core types", tests, NULL, NULL);
}
