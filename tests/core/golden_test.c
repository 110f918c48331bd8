// SPDX-License-Identifier: BSD-2-Clause
/* Frames we build are byte for byte those of tests/vectors.json. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "craft.h"
#include "vectors.h"

static const struct vec_frame *vec(const char *id)
{
	for (unsigned i = 0; i < sizeof(vec_frames) / sizeof(*vec_frames); i++)
		if (!strcmp(vec_frames[i].id, id))
			return &vec_frames[i];
	fail_msg("no vector %s", id);
	return NULL;
}

static void assert_sent(struct craft *c, unsigned i, const char *id)
{
	const struct vec_frame *v = vec(id);

	assert_true(i < c->nsent);
	assert_int_equal(c->sent[i].len, v->len);
	assert_memory_equal(c->out[i], v->frame, v->len);
}

/* ---- requests: from 192.0.2.1, toward queue 0x11 ---- */

static struct craft *requester(uint32_t psn)
{
	struct craft_attr a = { .ip = 1,
				.peer_ip = 2,
				.qpn = 0x12,
				.peer_qpn = 0x11,
				.sq_psn = psn };

	return craft_new(&a);
}

static struct roce_wr *next_wr(struct craft *c, uint8_t op, const void *bytes,
			       uint32_t len)
{
	struct roce_wr *wr = roce_wr_next(c->qp);

	memset(wr, 0, sizeof(*wr));
	wr->op = op;
	wr->flags = ROCE_WR_SIGNALLED | ROCE_WR_INLINE;
	wr->len = len;
	memcpy(roce_wr_store(c->qp, 0), bytes, len);
	return wr;
}

static void test_send_only_of_0_to_5_bytes(void **state)
{
	static const uint8_t bytes[] = { 0xa1, 0xa2, 0xa3, 0xa4, 0xa5 };

	for (unsigned n = 0; n <= 5; n++) {
		struct craft *c = requester(0x100 + n);
		char id[32];

		snprintf(id, sizeof(id), "drv-send-only-len%u", n);
		roce_wr_post(c->qp,
			     next_wr(c, ROCE_OP_SEND, vec(id)->frame + 54, n));
		craft_tx(c);
		if (n)
			assert_int_equal(vec(id)->frame[54], bytes[0]);
		assert_sent(c, 0, id);
		craft_free(c);
	}
}

static void test_invariant_base(void **state)
{
	struct craft *c = requester(0x1f0);

	roce_wr_post(c->qp, next_wr(c, ROCE_OP_SEND, "ABCD", 4));
	craft_tx(c);
	assert_sent(c, 0, "drv-invariant-base");
	craft_free(c);
}

static void test_write_only_of_5_bytes(void **state)
{
	struct craft *c = requester(0x200);
	struct roce_wr *wr = next_wr(c, ROCE_OP_WRITE, "\1\2\3\4\5", 5);

	wr->raddr = 0x1230;
	wr->rkey = 0x1234;
	roce_wr_post(c->qp, wr);
	craft_tx(c);
	assert_sent(c, 0, "drv-write-only-5");
	craft_free(c);
}

static void test_write_that_wraps(void **state)
{
	static const uint8_t zero[1024];
	struct craft *c = requester(0x201);
	struct roce_wr *wr = next_wr(c, ROCE_OP_WRITE, zero, 1024);

	wr->raddr = 0xfffffffffffffc00ULL;
	wr->rkey = 0x1234;
	roce_wr_post(c->qp, wr);
	craft_tx(c);
	assert_sent(c, 0, "drv-write-wrap-iova");
	craft_free(c);
}

static void test_fetch_add_of_1(void **state)
{
	static const uint64_t operand[2] = { 1, 0 };
	struct craft *c = requester(100);
	struct roce_wr *wr = next_wr(c, ROCE_OP_FA, operand, 16);
	uint64_t result;
	uint32_t key;

	roce_mr_add(c->dev,
		    &(struct roce_mr_attr){ (uintptr_t)&result, &result, 8,
					    ROCE_ACCESS_LOCAL_WRITE, 0 },
		    &key);
	wr->flags = ROCE_WR_SIGNALLED;
	wr->nsge = 1;
	wr->sge = (struct roce_sge){ (uintptr_t)&result, 8, key };
	wr->raddr = 0x2000;
	wr->rkey = 0x1234;
	roce_wr_post(c->qp, wr);
	craft_tx(c);
	assert_sent(c, 0, "drv-fetch-add-1");
	craft_free(c);
}

/* ---- answers: from 192.0.2.1, toward queue 0x12 ---- */

static struct craft *responder(uint32_t psn, uint32_t recv_depth)
{
	struct craft_attr a = { .ip = 1,
				.peer_ip = 2,
				.qpn = 0x11,
				.peer_qpn = 0x12,
				.rq_psn = psn,
				.recv_depth = recv_depth };

	return craft_new(&a);
}

/* One good WRITE of no bytes, so that the MSN is 1 as in the vectors. */
static void first_message(struct craft *c, uint32_t psn)
{
	struct craft_frame f = { .opcode = ROCE_RC_WRITE_ONLY,
				 .psn = psn,
				 .ackreq = 1 };

	craft_reth(&f, 0, 0, 0);
	craft_rx(c, &f);
}

static void test_ack(void **state)
{
	struct craft *c = responder(0x100, 0);

	first_message(c, 0x100);
	craft_tx(c);
	assert_sent(c, 0, "drv-ack-msn1");
	craft_free(c);
}

static void nak(uint8_t opcode, uint32_t psn, uint64_t va, const char *id)
{
	struct craft *c = responder(0x100, 4);
	struct craft_frame f = { .opcode = opcode, .psn = psn, .ackreq = 1 };

	first_message(c, 0x100);
	craft_tx(c);
	if (opcode == ROCE_RC_WRITE_ONLY)
		craft_reth(&f, va, 0x99, 8), f.len += 8;
	else if (opcode == ROCE_RC_FETCH_ADD)
		craft_atomic(&f, va, 0x99, 1, 0);
	else
		f.len = 16;
	craft_rx(c, &f);
	assert_int_equal(craft_tx(c), 1);
	assert_sent(c, 0, id);
	craft_free(c);
}

static void test_nak_psn_sequence(void **state)
{
	nak(ROCE_RC_WRITE_ONLY, 0x102, 0, "drv-nak-psn-seq");
}

static void test_nak_invalid_request(void **state)
{
	nak(ROCE_RC_FETCH_ADD, 0x101, 0x2001, "drv-nak-inv-req");
}

static void test_nak_remote_access(void **state)
{
	nak(ROCE_RC_WRITE_ONLY, 0x101, 0x1000, "drv-nak-rem-access");
}

static void test_rnr_nak(void **state)
{
	nak(ROCE_RC_SEND_ONLY, 0x101, 0, "drv-rnr-nak-12");
}

static void test_nak_remote_operation(void **state)
{
	struct craft *c = responder(0x100, 4);
	struct craft_frame f = {
		.opcode = ROCE_RC_SEND_ONLY, .psn = 0x101, .ackreq = 1, .len = 8
	};
	/* a receive whose memory is not registered: the responder's fault */
	struct roce_sge sge = { 0x1000, 64, 0x4242 };

	first_message(c, 0x100);
	craft_tx(c);
	roce_recv_post(c->qp, 0, &sge, 1);
	craft_rx(c, &f);
	craft_tx(c);
	assert_sent(c, 0, "drv-nak-rem-op");
	craft_free(c);
}

static void test_atomic_ack(void **state)
{
	struct craft *c = responder(100, 0);
	struct craft_frame f = { .opcode = ROCE_RC_FETCH_ADD,
				 .psn = 100,
				 .ackreq = 1 };
	uint64_t word = 5;
	uint32_t key;

	roce_mr_add(c->dev,
		    &(struct roce_mr_attr){ 0x2000, &word, 8,
					    ROCE_ACCESS_REMOTE_ATOMIC, 0x1234 },
		    &key);
	craft_atomic(&f, 0x2000, 0x1234, 1, 0);
	craft_rx(c, &f);
	craft_tx(c);
	assert_sent(c, 0, "drv-atomic-ack-orig5");
	assert_int_equal(word, 6);
	craft_free(c);
}

static void test_udp_source_port_of_a_flow_label(void **state)
{
	for (unsigned i = 0; i < sizeof(vec_sports) / sizeof(*vec_sports); i++)
		assert_int_equal(roce_sport(vec_sports[i].flow_label),
				 vec_sports[i].sport);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_only_of_0_to_5_bytes),
		cmocka_unit_test(test_invariant_base),
		cmocka_unit_test(test_write_only_of_5_bytes),
		cmocka_unit_test(test_write_that_wraps),
		cmocka_unit_test(test_fetch_add_of_1),
		cmocka_unit_test(test_ack),
		cmocka_unit_test(test_nak_psn_sequence),
		cmocka_unit_test(test_nak_invalid_request),
		cmocka_unit_test(test_nak_remote_access),
		cmocka_unit_test(test_rnr_nak),
		cmocka_unit_test(test_nak_remote_operation),
		cmocka_unit_test(test_atomic_ack),
		cmocka_unit_test(test_udp_source_port_of_a_flow_label),
	};

	return cmocka_run_group_tests_name("golden frames", tests, NULL, NULL);
}
