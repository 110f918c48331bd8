// SPDX-License-Identifier: BSD-2-Clause
/* What a view holds, and when there is none. */
#include <endian.h>

#include "poster.h"

static struct wbell_dqueue *device(unsigned end)
{
	struct wbell_dqueue *dq;

	assert_int_equal(wbell_queue_device(rig_end[end].q[0], &dq), 0);
	return dq;
}

static uint32_t qpn_of(struct wbell_queue *q)
{
	struct wbell_queue_stat s;

	assert_int_equal(wbell_queue_stat(q, &s), 0);
	return s.qpn;
}

static void assert_cq(const struct wbell_doca_cq_v1 *cq, uint64_t ring,
		      uint32_t qpn, uint32_t n)
{
	assert_int_equal(cq->cqe, ring);
	assert_int_equal(cq->cqn, qpn);
	assert_int_equal(cq->cqe_num, n);
	assert_int_equal(cq->cqe_mask, n - 1);
	assert_int_equal(cq->cqe_size, 64);
	assert_int_equal(cq->mem_type, WBELL_DOCA_MEM_HOST);
	assert_true(cq->dbrec);
}

static void test_fields_v1(void **state)
{
	struct rig_attr a = { .depth = 32, .first_index = 65534 };
	struct wbell_doca_qp_v1 v;
	struct wbell_dqueue *dq;
	uint32_t qpn;

	memset(&v, 0xa5, sizeof(v));
	rig_open(&a);
	dq = device(0);
	qpn = qpn_of(rig_end[0].q[0]);
	assert_int_equal(wbell_queue_compat(rig_end[0].q[0],
					    WBELL_COMPAT_DOCA_V1, &v,
					    sizeof(v)),
			 0);
	assert_int_equal(v.sq_reserved, 65534);
	assert_int_equal(v.sq_ready, 65534);
	assert_int_equal(v.qpn, qpn);
	assert_int_equal(v.qpn_shift8, qpn << 8);
	assert_int_equal(v.qpn_shift8_be, htobe32(qpn << 8));
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(v.qpn_ds_be[i], htobe32(qpn << 8 | (i + 1)));
	assert_int_equal(v.sq_lock, 0);
	assert_int_equal(v.sq_num, 32);
	assert_int_equal(v.sq_mask, 31);
	assert_int_equal(v.sq, dq->sq);
	assert_int_equal(v.sq_dbrec, dq->dbrec + 4);
	assert_int_equal(v.sq_db, dq->db);
	assert_cq(&v.cq_sq, dq->cq, qpn, 32);
	assert_int_equal(v.cq_sq.ci, 65534);
	assert_int_equal(v.cq_sq.reserved, 65534);
	assert_int_equal(v.nic_handler, WBELL_DOCA_CPU_PROXY);
	assert_int_equal(v.mem_type, WBELL_DOCA_MEM_HOST);
	assert_int_equal(v.rq, 0);
	assert_int_equal(v.cq_rq.cqe, 0);
	assert_int_equal(v.rsvd156, 0);
	rig_close();
}

static void test_fields_v2(void **state)
{
	struct rig_attr a = { .depth = 32768 };
	struct wbell_doca_qp_v1 v1;
	struct wbell_doca_qp_v2 v2;

	rig_open(&a);
	assert_int_equal(wbell_queue_compat(rig_end[0].q[0],
					    WBELL_COMPAT_DOCA_V1, &v1,
					    sizeof(v1)),
			 0);
	assert_int_equal(wbell_queue_compat(rig_end[0].q[0],
					    WBELL_COMPAT_DOCA_V2, &v2,
					    sizeof(v2)),
			 0);
	assert_memory_equal(&v1, &v2, 52);
	assert_int_equal(v2.qpn_ds_be[4], htobe32(v1.qpn << 8 | 5));
	assert_int_equal(v2.sq_num, 32768);
	assert_int_equal(v2.sq_mask, 32767);
	assert_memory_equal(&v1.sq, &v2.sq, 24);
	assert_memory_equal(&v1.cq_sq, &v2.cq_sq, 52);
	assert_int_equal(v2.nic_handler, WBELL_DOCA_CPU_PROXY);
	assert_int_equal(v2.mem_type, WBELL_DOCA_MEM_HOST);
	rig_close();
}

static void test_receive_side(void **state)
{
	struct rig_attr a = { .depth = 32, .recv_depth = 16 };
	struct wbell_doca_qp_v1 v;
	struct wbell_queue_attr attr = { .depth = 8,
					 .recv_depth = 16,
					 .recv_sge = 2,
					 .flags = WBELL_QUEUE_COMPAT };
	struct wbell_queue *q;
	struct wbell_dqueue *dq;

	rig_open(&a);
	assert_int_equal(wbell_queue_create(rig_end[0].ctx, &attr, &q), 0);
	assert_int_equal(wbell_queue_device(q, &dq), 0);
	assert_int_equal(
		wbell_queue_compat(q, WBELL_COMPAT_DOCA_V1, &v, sizeof(v)), 0);
	assert_int_equal(v.rq, dq->rq);
	assert_int_equal(v.rq_dbrec, dq->dbrec);
	assert_int_equal(v.rq_num, qpn_of(q));
	assert_int_equal(v.rq_wqe_num, 16);
	assert_int_equal(v.rq_wqe_mask, 15);
	assert_int_equal(v.rq_wqe_size, 32);
	assert_cq(&v.cq_rq, dq->rcq, qpn_of(q), 16);
	assert_int_equal(wbell_queue_destroy(q), 0);
	rig_close();
}

static void assert_refused(unsigned kind, size_t size, int rc, const char *text)
{
	struct wbell_doca_qp_v2 v, was;

	memset(&v, 0xa5, sizeof(v));
	was = v;
	assert_int_equal(wbell_queue_compat(rig_end[0].q[0], kind, &v, size),
			 rc);
	if (!strstr(wbell_error(rig_end[0].ctx), text))
		fail_msg("\"%s\" does not hold \"%s\"",
			 wbell_error(rig_end[0].ctx), text);
	assert_memory_equal(&v, &was, sizeof(v)); /* nothing was written */
}

static void test_bad_arguments(void **state)
{
	struct rig_attr a = { .depth = 8 };
	struct wbell_doca_qp_v1 v;

	rig_open(&a);
	assert_refused(0, sizeof(v), -EINVAL, "kind 0 is not known");
	assert_refused(3, sizeof(v), -EINVAL, "kind 3 is not known");
	assert_refused(~0U, sizeof(v), -EINVAL, "is not known");
	assert_refused(WBELL_COMPAT_DOCA_V1, 0, -EINVAL, "0 bytes given");
	assert_refused(WBELL_COMPAT_DOCA_V1, 296, -EINVAL,
		       "296 bytes given, DOCA v1 has 280");
	assert_refused(WBELL_COMPAT_DOCA_V2, 280, -EINVAL,
		       "280 bytes given, DOCA v2 has 296");
	assert_int_equal(
		wbell_queue_compat(NULL, WBELL_COMPAT_DOCA_V1, &v, sizeof(v)),
		-EINVAL);
	assert_int_equal(wbell_queue_compat(rig_end[0].q[0],
					    WBELL_COMPAT_DOCA_V1, NULL,
					    sizeof(v)),
			 -EINVAL);
	rig_close();
}

static void test_queue_without_the_flag(void **state)
{
	struct rig_attr a = { .depth = 8, .own = true };

	rig_open(&a);
	assert_refused(WBELL_COMPAT_DOCA_V1, 280, -EOPNOTSUPP,
		       "create the queue with WBELL_QUEUE_COMPAT");
	rig_close();
}

/* The fake NIC looks into no ring: nothing would check a WQE. */
static void test_nic_that_does_not_check(void **state)
{
	struct wbell_open_attr open = { .wire = "fake:x",
					.flags = WBELL_OPEN_POLLED,
					.max_queues = 8 };
	struct wbell_queue_attr attr = { .flags = WBELL_QUEUE_COMPAT };
	struct wbell_doca_qp_v1 v;
	struct wbell_ctx *ctx;
	struct wbell_queue *q;

	assert_int_equal(wbell_open(&open, &ctx), 0);
	assert_int_equal(wbell_queue_create(ctx, &attr, &q), 0);
	assert_int_equal(
		wbell_queue_compat(q, WBELL_COMPAT_DOCA_V1, &v, sizeof(v)),
		-EOPNOTSUPP);
	assert_int_equal(wbell_queue_destroy(q), 0);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_queue_that_was_posted_to(void **state)
{
	struct rig_attr a = { .depth = 8 };
	struct poster p;
	uint64_t i;

	poster_relax = rig_turn;
	rig_open(&a);
	memset(&p, 0, sizeof(p));
	poster_open(&p, rig_end[0].q[0], WBELL_COMPAT_DOCA_V1);
	assert_int_equal(poster_reserve(&p, 1, &i), 0);
	poster_ctrl(&p, i, WBELL_OP_NOP, 1);
	assert_refused(WBELL_COMPAT_DOCA_V1, 280, -EBUSY, "has been posted");
	assert_int_equal(poster_submit(&p, i, i + 1), 0);
	assert_int_equal(poster_wait(&p, i), 0);
	assert_refused(WBELL_COMPAT_DOCA_V1, 280, -EBUSY, "has been posted");
	rig_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_v1),
		cmocka_unit_test(test_fields_v2),
		cmocka_unit_test(test_receive_side),
		cmocka_unit_test(test_bad_arguments),
		cmocka_unit_test(test_queue_without_the_flag),
		cmocka_unit_test(test_nic_that_does_not_check),
		cmocka_unit_test(test_queue_that_was_posted_to),
	};

	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
