// SPDX-License-Identifier: BSD-2-Clause
/* Counters count what happened, not what was about to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "craft.h"

#define PSN  100
#define KEY  0x1234
#define IOVA 0x1000

struct fixture {
	struct craft *c;
	uint8_t mem[64];
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	struct craft_attr a = { .rq_psn = PSN, .recv_depth = 1 };
	struct roce_mr_attr mr = { IOVA, x->mem, sizeof(x->mem), 0xf, KEY };
	uint32_t key;

	x->c = craft_new(&a);
	assert_int_equal(roce_mr_add(x->c->dev, &mr, &key), 0);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	craft_free(x->c);
	free(x);
	return 0;
}

static void rx_send(struct fixture *x, uint32_t psn)
{
	struct craft_frame f = { .opcode = ROCE_RC_SEND_ONLY,
				 .psn = psn,
				 .ackreq = 1 };

	craft_rx(x->c, &f);
}

static void rx_write(struct fixture *x, uint32_t psn)
{
	struct craft_frame f = { .opcode = ROCE_RC_WRITE_ONLY,
				 .psn = psn,
				 .ackreq = 1 };

	craft_reth(&f, IOVA, KEY, 4);
	f.len += 4;
	craft_rx(x->c, &f);
}

static void assert_counts(const struct fixture *x, unsigned ack, unsigned rnr,
			  unsigned nak)
{
	assert_int_equal(roce_counter(x->c->dev, ROCE_C_ACK_TX), ack);
	assert_int_equal(roce_counter(x->c->dev, ROCE_C_RNR_TX), rnr);
	assert_int_equal(roce_counter(x->c->dev, ROCE_C_NAK_TX), nak);
}

static void test_refusals_mended_in_their_burst_are_not_counted(void **state)
{
	struct fixture *x = *state;
	struct roce_sge sge = { IOVA, 64, KEY };

	rx_send(x, PSN); /* no receive... */
	assert_int_equal(roce_recv_post(x->c->qp, 1, &sge, 1), 0);
	rx_send(x, PSN); /* ...until now */
	rx_write(x, PSN + 2);
	rx_write(x, PSN + 1); /* the gap has filled */
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_opcode(x->c, 0), ROCE_RC_ACK);
	assert_int_equal(craft_psn(x->c, 0), PSN + 2);
	assert_counts(x, 1, 0, 0);
}

static void test_refusals_that_leave_are_counted(void **state)
{
	struct fixture *x = *state;

	rx_write(x, PSN + 1);
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_syndrome(x->c, 0), ROCE_NAK_PSN_SEQ);
	assert_counts(x, 0, 0, 1);
	rx_send(x, PSN);
	rx_send(x, PSN); /* twice refused, told once */
	assert_int_equal(craft_tx(x->c), 1);
	assert_int_equal(craft_syndrome(x->c, 0) & ROCE_AETH_TYPE_MASK,
			 ROCE_AETH_TYPE_RNR);
	assert_counts(x, 0, 1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_refusals_mended_in_their_burst_are_not_counted,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_refusals_that_leave_are_counted, setup, teardown),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
