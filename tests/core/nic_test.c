// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two software NICs without a port: mlx5 rings in, mlx5 CQEs out.  The rings
 * are written here byte by byte, also by a hostile hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../dpdk_path/nic/nic.h"

#define DEPTH 16
#define RECVS 8
#define MEM   65536

struct side {
	struct nic *nic;
	struct nic_queue *q;
	uint64_t doorbells[8];
	uint8_t *sq;
	struct wbell_cqe *cq, *rcq;
	struct wbell_data_seg *rq;
	struct wbell_dbrec dbrec;
	uint64_t pi, ci, rci;
	uint32_t qpn, key;
	uint8_t *mem;
	unsigned events;
	struct wbell_event last;
};

struct duo {
	struct side side[2];
	uint64_t now;
};

static uint64_t rng;

static uint64_t random64(void)
{
	uint64_t z = rng += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void on_event(void *arg, const struct wbell_event *e)
{
	struct side *s = arg;

	s->events++;
	s->last = *e;
}

static void make_queue(struct side *s, uint64_t first)
{
	struct wbell_prov_queue a = {
		.depth = DEPTH,
		.log_cq = 4,
		.recv_depth = RECVS,
		.recv_stride = 16,
		.log_rcq = 3,
		.sq = s->sq,
		.cq = s->cq,
		.rq = s->rq,
		.rcq = s->rcq,
		.dbrec = &s->dbrec,
		.first_index = first,
		.attr = { .timeout = 12,
			  .retry_cnt = 3,
			  .rnr_retry = 3,
			  .min_rnr_timer = 1,
			  .max_rd_atomic = 4 },
	};
	struct wbell_err err = { "" };

	s->pi = first;
	s->ci = s->rci = 0;
	s->doorbells[0] = first;
	memset(&s->dbrec, 0, sizeof(s->dbrec));
	memset(s->sq, 0, DEPTH * 64);
	memset(s->cq, 0xf1, DEPTH * 64);
	memset(s->rcq, 0xf1, RECVS * 64);
	assert_int_equal(nic_queue_create(s->nic, &a, &s->q, &s->qpn, &err), 0);
}

static void make_side(struct side *s, uint8_t n)
{
	struct nic_attr a = {
		.max_queues = 8,
		.doorbells = s->doorbells,
		.gid = { GID_IPV4(192, 0, 2, n) },
		.mac = { 2, 0, 0, 0, 0, n },
		.path_mtu = 1024,
		.event = on_event,
		.event_arg = s,
		.seed = n,
	};
	struct wbell_err err;

	s->sq = aligned_alloc(64, DEPTH * 64);
	s->cq = aligned_alloc(64, DEPTH * 64);
	s->rcq = aligned_alloc(64, RECVS * 64);
	s->rq = aligned_alloc(64, RECVS * 16);
	s->mem = aligned_alloc(4096, MEM);
	memset(s->mem, 0, MEM);
	assert_int_equal(nic_create(&a, &s->nic), 0);
	assert_int_equal(
		nic_mem_register(s->nic, s->mem, MEM, 0xf, &s->key, &err), 0);
}

static void join(struct duo *d)
{
	for (int i = 0; i < 2; i++) {
		struct wbell_address a;
		struct wbell_err err;
		uint32_t peer;
		uint8_t gid[GID_SIZE] = { GID_IPV4(192, 0, 2, 2 - i) };
		uint8_t mac[6] = { 2, 0, 0, 0, 0, (uint8_t)(2 - i) };

		nic_queue_address(d->side[!i].q, &a);
		assert_int_equal(
			nic_queue_connect(d->side[i].q, &a, &peer, &err), 0);
		assert_int_equal(peer, d->side[!i].qpn);
		assert_int_equal(nic_unresolved(d->side[i].nic, 1, &gid, 1), 1);
		nic_resolved(d->side[i].nic, gid, mac);
		assert_int_equal(nic_unresolved(d->side[i].nic, 1, &gid, 1), 0);
	}
}

static struct duo *duo_new(uint64_t first)
{
	struct duo *d = calloc(1, sizeof(*d));

	d->now = 1000000000;
	for (int i = 0; i < 2; i++) {
		make_side(&d->side[i], 1 + i);
		make_queue(&d->side[i], first);
	}
	join(d);
	return d;
}

static void duo_free(struct duo *d)
{
	for (int i = 0; i < 2; i++) {
		nic_destroy(d->side[i].nic);
		free(d->side[i].sq);
		free(d->side[i].cq);
		free(d->side[i].rcq);
		free(d->side[i].rq);
		free(d->side[i].mem);
	}
	free(d);
}

static void turn(struct duo *d)
{
	static uint8_t buf[32][1200];
	struct roce_frame f[32];

	for (int i = 0; i < 2; i++) {
		unsigned n;

		nic_doorbells(d->side[i].nic, d->now);
		for (unsigned k = 0; k < 32; k++) {
			f[k].data = buf[k];
			f[k].room = sizeof(buf[k]);
		}
		n = nic_tx(d->side[i].nic, d->now, f, 32);
		nic_rx(d->side[!i].nic, d->now, f, n);
	}
	d->now += 20000;
}

/* ---- a poster's hand ---- */

static void be32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, 4);
}

static void be64(uint8_t *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, 8);
}

static uint8_t *slot(struct side *s, uint64_t index)
{
	return s->sq + (index & (DEPTH - 1)) * 64;
}

static void ctrl(struct side *s, uint8_t *p, uint8_t op, unsigned ds)
{
	be32(p, (uint32_t)(s->pi & 0xffff) << 8 | op);
	be32(p + 4, s->qpn << 8 | ds);
	be32(p + 8, WBELL_CTRL_CQ_UPDATE);
	be32(p + 12, 0);
}

static void data(uint8_t *p, uint32_t len, uint32_t key, const void *at)
{
	be32(p, len);
	be32(p + 4, key);
	be64(p + 8, (uintptr_t)at);
}

static void ring(struct side *s, unsigned nbb)
{
	s->pi += nbb;
	__atomic_store_n(&s->doorbells[0], s->pi, __ATOMIC_RELEASE);
}

static void post_write(struct duo *d, uint32_t len)
{
	struct side *s = &d->side[0];
	uint8_t *p = slot(s, s->pi);

	ctrl(s, p, WBELL_OP_WRITE, 3);
	be64(p + 16, (uintptr_t)d->side[1].mem);
	be32(p + 24, d->side[1].key);
	be32(p + 28, 0);
	data(p + 32, len, s->key, s->mem);
	ring(s, 1);
}

/* Next CQE of a ring, or NULL; the owner bit is judged as device code does. */
static struct wbell_cqe *poll(struct wbell_cqe *ring_, unsigned log,
			      uint64_t *ci)
{
	struct wbell_cqe *c = &ring_[*ci & ((1u << log) - 1)];

	if (c->op_own >> 4 == WBELL_CQE_INVALID ||
	    (c->op_own & 1) != (*ci >> log & 1))
		return NULL;
	(*ci)++;
	return c;
}

static struct wbell_cqe *await(struct duo *d)
{
	struct side *s = &d->side[0];
	struct wbell_cqe *c;

	for (unsigned i = 0; i < 20000; i++) {
		c = poll(s->cq, 4, &s->ci);
		if (c)
			return c;
		turn(d);
	}
	fail_msg("no completion");
	return NULL;
}

static uint16_t counter(const struct wbell_cqe *c)
{
	return __builtin_bswap16(c->wqe_counter);
}

static void assert_error(const struct wbell_cqe *c, uint8_t syndrome)
{
	const struct wbell_err_cqe *e = (const void *)c;

	assert_int_equal(c->op_own >> 4, WBELL_CQE_REQ_ERR);
	assert_int_equal(e->syndrome, syndrome);
}

/* ---- tests ---- */

static void test_cqe_of_a_write(void **state)
{
	struct duo *d = duo_new(65530);
	struct wbell_cqe *c;

	memset(d->side[0].mem, 0x61, 100);
	for (unsigned i = 0; i < 40; i++) { /* rings and index wrap */
		post_write(d, 100);
		c = await(d);
		assert_int_equal(c->op_own >> 4, WBELL_CQE_REQ);
		assert_int_equal(counter(c), (65530 + i) & 0xffff);
		assert_int_equal(__builtin_bswap32(c->byte_cnt), 100);
		assert_int_equal(__builtin_bswap32(c->sop_drop_qpn),
				 (uint32_t)WBELL_OP_WRITE << 24 |
					 d->side[0].qpn);
	}
	assert_memory_equal(d->side[1].mem, d->side[0].mem, 100);
	duo_free(d);
}

static void test_send_and_receive(void **state)
{
	struct duo *d = duo_new(0);
	struct side *s = &d->side[0], *r = &d->side[1];
	struct wbell_cqe *c;

	memcpy(s->mem, "hello", 5);
	for (unsigned i = 0; i < 3 * RECVS; i++) {
		uint8_t *p = slot(s, s->pi);

		data((uint8_t *)&r->rq[i % RECVS], 64, r->key, r->mem + 64 * i);
		r->dbrec.recv = __builtin_bswap32((i + 1) & 0xffff);
		ctrl(s, p, WBELL_OP_SEND_IMM, 2);
		be32(p + 12, 0xabcd0000 + i);
		data(p + 16, 5, s->key, s->mem);
		ring(s, 1);
		assert_int_equal(await(d)->op_own >> 4, WBELL_CQE_REQ);
		c = poll(r->rcq, 3, &r->rci);
		assert_non_null(c);
		assert_int_equal(c->op_own >> 4, WBELL_CQE_RESP_SEND_IMM);
		assert_int_equal(counter(c), i);
		assert_int_equal(__builtin_bswap32(c->byte_cnt), 5);
		assert_int_equal(__builtin_bswap32(c->imm_inval_pkey),
				 0xabcd0000 + i);
		assert_memory_equal(r->mem + 64 * i, "hello", 5);
	}
	duo_free(d);
}

static void test_doorbell_past_the_ring(void **state)
{
	struct duo *d = duo_new(0);
	struct side *s = &d->side[0];

	__atomic_store_n(&s->doorbells[0], 1ULL << 40, __ATOMIC_RELEASE);
	assert_error(await(d), WBELL_SYND_LOCAL_QP_OP);
	assert_int_equal(s->events, 1);
	assert_int_equal(s->last.kind, WBELL_EVENT_QUEUE_ERROR);
	assert_int_equal(s->last.qpn, s->qpn);
	duo_free(d);
}

static void test_doorbell_that_goes_back(void **state)
{
	struct duo *d = duo_new(100);
	struct side *s = &d->side[0];

	__atomic_store_n(&s->doorbells[0], 50, __ATOMIC_RELEASE);
	assert_error(await(d), WBELL_SYND_LOCAL_QP_OP);
	duo_free(d);
}

struct flaw {
	const char *what;
	unsigned at; /* byte of the WQE */
	uint8_t value;
	uint8_t syndrome;
};

static void test_wqe_with_one_wrong_field(void **state)
{
	static const struct flaw flaws[] = {
		{ "opmod", 0, 1, WBELL_SYND_LOCAL_QP_OP },
		{ "index", 2, 9, WBELL_SYND_LOCAL_QP_OP },
		{ "opcode", 3, 0x3c, WBELL_SYND_LOCAL_QP_OP },
		{ "opcode WAIT", 3, 0x0f, WBELL_SYND_LOCAL_QP_OP },
		{ "qpn", 5, 0xee, WBELL_SYND_LOCAL_QP_OP },
		{ "ds 0", 7, 0, WBELL_SYND_LOCAL_QP_OP },
		{ "ds past the producer", 7, 5, WBELL_SYND_LOCAL_QP_OP },
		{ "ds without address", 7, 1, WBELL_SYND_LOCAL_QP_OP },
		{ "rkey", 26, 0xee, WBELL_SYND_REMOTE_ACCESS },
		{ "raddr", 16, 0xff, WBELL_SYND_REMOTE_ACCESS },
		{ "length", 32, 0x7f, WBELL_SYND_LOCAL_PROT },
		{ "inline longer than the WQE", 32, 0x80,
		  WBELL_SYND_LOCAL_QP_OP },
		{ "lkey", 38, 0xee, WBELL_SYND_LOCAL_PROT },
		{ "laddr", 40, 0xff, WBELL_SYND_LOCAL_PROT },
	};

	for (unsigned i = 0; i < sizeof(flaws) / sizeof(*flaws); i++) {
		struct duo *d = duo_new(0);
		struct side *s = &d->side[0];

		post_write(d, 64);
		slot(s, 0)[flaws[i].at] = flaws[i].value;
		assert_error(await(d), flaws[i].syndrome);
		duo_free(d);
	}
}

static void random_wqe(struct duo *d)
{
	static const uint8_t ops[] = { 0,   1,	  8,	9,    0xa,  0xb, 0xe,
				       0xf, 0x10, 0x11, 0x12, 0x14, 0x25 };
	struct side *s = &d->side[0];
	unsigned nbb = 1 + random64() % 3;

	for (unsigned i = 0; i < nbb; i++)
		for (unsigned k = 0; k < 64; k += 8)
			be64(slot(s, s->pi + i) + k, random64());
	if (random64() % 8) { /* mostly plausible, so that depth is reached */
		uint8_t *p = slot(s, s->pi);

		ctrl(s, p, ops[random64() % sizeof(ops)],
		     random64() % (nbb * 4 + 2));
		be64(p + 16, (uintptr_t)d->side[1].mem + random64() % MEM);
		be32(p + 24, d->side[1].key);
		data(p + 32,
		     random64() % 3000 | (random64() % 4 ? 0 : 0x80000000U),
		     s->key, s->mem + random64() % MEM);
	}
	ring(s, nbb);
}

/* Any bytes at all: each doorbell ends in completions, nothing else moves. */
static void test_random_wqes(void **state)
{
	rng = 1;
	for (unsigned run = 0; run < 3000; run++) {
		struct duo *d = duo_new(random64());

		for (unsigned i = 0; i < 4; i++)
			random_wqe(d);
		for (unsigned i = 0; i < 30; i++)
			turn(d);
		/* an error queue answers what is posted by flushing it */
		if (d->side[0].events) {
			unsigned flushed = 0;
			struct wbell_cqe *c;

			while ((c = poll(d->side[0].cq, 4, &d->side[0].ci)))
				flushed += c->op_own >> 4 == WBELL_CQE_REQ_ERR;
			assert_true(flushed);
		}
		duo_free(d);
	}
}

static void test_receive_doorbell_that_lies(void **state)
{
	struct duo *d = duo_new(0);
	struct side *s = &d->side[0], *r = &d->side[1];
	uint8_t *p = slot(s, 0);

	for (unsigned i = 0; i < RECVS; i++)
		data((uint8_t *)&r->rq[i], 64, r->key, r->mem);
	r->dbrec.recv = __builtin_bswap32(0x7777);
	ctrl(s, p, WBELL_OP_SEND, 2);
	data(p + 16, 5, s->key, s->mem);
	ring(s, 1);
	assert_int_equal(await(d)->op_own >> 4, WBELL_CQE_REQ);
	duo_free(d);
}

static void test_address_of_another_version(void **state)
{
	struct duo *d = duo_new(0);
	struct side *s = &d->side[0];
	struct wbell_address a;
	struct wbell_err err;
	uint32_t peer;

	nic_queue_destroy(s->q);
	make_queue(s, 0);
	nic_queue_address(d->side[1].q, &a);
	a.bytes[5] = 1;
	assert_int_equal(nic_queue_connect(s->q, &a, &peer, &err), -EPROTO);
	assert_non_null(strstr(err.text, "version 1"));
	a.bytes[5] = 2;
	a.bytes[0] ^= 1;
	assert_int_equal(nic_queue_connect(s->q, &a, &peer, &err), -EINVAL);
	rng = 2;
	for (unsigned i = 0; i < 10000; i++) {
		nic_queue_address(d->side[1].q, &a);
		/* all of it, or all but the address at 20 */
		for (unsigned k = 8; k < 44; k++)
			if (i & 1 || k < 20 || k >= 36)
				a.bytes[k] = random64();
		if (!nic_queue_connect(s->q, &a, &peer, &err)) {
			nic_queue_destroy(s->q);
			make_queue(s, 0);
		}
	}
	duo_free(d);
}

static void test_connect_twice(void **state)
{
	struct duo *d = duo_new(0);
	struct wbell_address a;
	struct wbell_err err;
	uint32_t peer;

	nic_queue_address(d->side[1].q, &a);
	assert_int_equal(nic_queue_connect(d->side[0].q, &a, &peer, &err),
			 -EISCONN);
	duo_free(d);
}

static void test_queue_of_one_nic_to_itself(void **state)
{
	struct duo *d = calloc(1, sizeof(*d));
	struct side *s = &d->side[0];
	struct wbell_address a;
	struct wbell_err err;
	struct roce_frame f[32];
	static uint8_t buf[32][1200];
	uint32_t peer;

	make_side(s, 1);
	make_side(&d->side[1], 2);
	make_queue(s, 0);
	nic_queue_address(s->q, &a);
	assert_int_equal(nic_queue_connect(s->q, &a, &peer, &err), 0);
	memset(s->mem, 0x31, 64);
	ctrl(s, slot(s, 0), WBELL_OP_WRITE, 3);
	be64(slot(s, 0) + 16, (uintptr_t)s->mem + 4096);
	be32(slot(s, 0) + 24, s->key);
	data(slot(s, 0) + 32, 64, s->key, s->mem);
	ring(s, 1);
	nic_doorbells(s->nic, 1);
	for (unsigned k = 0; k < 32; k++) {
		f[k].data = buf[k];
		f[k].room = sizeof(buf[k]);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(nic_tx(s->nic, 1, f, 32), 0);
	assert_non_null(poll(s->cq, 4, &s->ci));
	assert_int_equal(s->mem[4096 + 63], 0x31);
	duo_free(d);
}

static void test_link_that_shrinks_tells_its_queues(void **state)
{
	struct duo *d = duo_new(0);
	struct side *s = &d->side[0];

	nic_set_path_mtu(s->nic, 1024);
	assert_int_equal(s->events, 0);
	nic_set_path_mtu(s->nic, 512);
	assert_int_equal(s->events, 1);
	assert_int_equal(s->last.kind, WBELL_EVENT_MTU);
	assert_int_equal(s->last.value, 512);
	duo_free(d);
}

static void test_queues_and_keys_come_and_go(void **state)
{
	struct duo *d = duo_new(0);
	struct side *s = &d->side[0];
	uint32_t key, last = 0;
	struct wbell_err err;

	for (unsigned i = 0; i < 2000; i++) {
		nic_queue_destroy(s->q);
		make_queue(s, i);
		assert_int_equal(
			nic_mem_register(s->nic, s->mem, 64, 1, &key, &err), 0);
		assert_int_not_equal(key, last);
		last = key;
		assert_int_equal(nic_mem_deregister(s->nic, key), 0);
		assert_int_equal(nic_mem_deregister(s->nic, key), -ENOENT);
	}
	duo_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cqe_of_a_write),
		cmocka_unit_test(test_send_and_receive),
		cmocka_unit_test(test_doorbell_past_the_ring),
		cmocka_unit_test(test_doorbell_that_goes_back),
		cmocka_unit_test(test_wqe_with_one_wrong_field),
		cmocka_unit_test(test_random_wqes),
		cmocka_unit_test(test_receive_doorbell_that_lies),
		cmocka_unit_test(test_address_of_another_version),
		cmocka_unit_test(test_connect_twice),
		cmocka_unit_test(test_queue_of_one_nic_to_itself),
		cmocka_unit_test(test_link_that_shrinks_tells_its_queues),
		cmocka_unit_test(test_queues_and_keys_come_and_go),
	};

	return cmocka_run_group_tests_name("software NIC", tests, NULL, NULL);
}
