// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order of publication with real threads: o11's gate between two posters,
 * and many posters against a NIC thread, for ThreadSanitizer above all.
 */
#include <endian.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nic_model.h"
#include "wbell/device.h"

#define POSTERS 4
#define WAIT_US 20000000

static unsigned puts_each = 3000;

/* ---- o11 ---- */

static void *second_poster(void *arg)
{
	struct nic *n = arg;

	return (void *)(intptr_t)wbell_put(n->q, 0x1000, 1, 0x2000, 2, 64,
					   NULL);
}

static void gate(unsigned kind)
{
	struct nic_attr a = { .log_depth = 4, .db_kind = kind };
	pthread_t p2;
	__u64 slot, i;
	struct nic n;
	void *rc;

	nic_init(&n, &a);
	assert_int_equal(wbell_reserve(n.q, 1, &slot), 0);
	pthread_create(&p2, NULL, second_poster, &n);
	while (wbell_ld_relaxed(WBELL_ADDR(&n.q->reserved)) != 2)
		sched_yield();
	/* let it come to where it must not pass */
	for (i = 0; i < 2000; i++) {
		assert_int_equal(wbell_ld_relaxed32_sys(n.q->dbrec + 4), 0);
		assert_int_equal(wbell_ld_relaxed(n.q->db), 0);
		sched_yield();
	}
	wbell_wqe_ctrl(n.q, slot, WBELL_OP_NOP, 1, WBELL_CTRL_CQ_UPDATE, 0);
	assert_int_equal(wbell_publish(n.q, slot, 1, 0), 0);
	pthread_join(p2, &rc);
	assert_ptr_equal(rc, NULL);
	if (kind == WBELL_DB_UAR) {
		assert_int_equal(n.dbrec.recv, 0);
		assert_int_equal(be32toh(n.dbrec.send), 2);
		assert_memory_equal(&n.bell, nic_slot(&n, 1), 8);
	} else {
		assert_int_equal(n.bell, 2);
	}
	assert_int_equal(nic_step(&n), 2);
	assert_int_equal(n.malformed, 0);
	nic_free(&n);
}

static void test_o11_second_poster_waits_its_turn(void **state)
{
	gate(WBELL_DB_UAR);
	gate(WBELL_DB_WORD);
}

/* ---- many posters ---- */

struct run {
	struct nic nic;
	uint64_t total;
	uint64_t next[POSTERS]; /* what each poster's next WQE must carry */
	int stop;
};

struct poster {
	struct run *run;
	unsigned id;
	int rc;
};

/* Each WQE carries who posted it and its number there. */
static int see_wqe(void *arg, const uint8_t *bb)
{
	const struct wbell_raddr_seg *raddr = (const void *)(bb + 16);
	const struct wbell_data_seg *data = (const void *)(bb + 32);
	uint64_t who = be64toh(raddr->raddr) >> 32;
	uint32_t number = (uint32_t)be64toh(raddr->raddr);
	struct run *r = arg;

	if (who >= POSTERS || number != r->next[who] ||
	    be64toh(data->addr) != number)
		return -1;
	r->next[who]++;
	return 0;
}

static int post_one(struct poster *p, unsigned i, struct wbell_ticket *t)
{
	struct wbell_dqueue *q = p->run->nic.q;
	int rc;

	do {
		rc = wbell_put(q, i, 1, (uint64_t)p->id << 32 | i, 2, 8, t);
		if (rc == WBELL_EAGAIN)
			wbell_relax();
	} while (rc == WBELL_EAGAIN);
	return rc;
}

static void *poster_main(void *arg)
{
	struct poster *p = arg;
	struct wbell_ticket t;
	unsigned i;

	for (i = 0; i < puts_each && !p->rc; i++) {
		p->rc = post_one(p, i, &t);
		if (!p->rc && i % 7 == p->id)
			p->rc = wbell_wait(p->run->nic.q, t,
					   wbell_deadline_us(WAIT_US));
	}
	if (!p->rc)
		p->rc = wbell_quiet(p->run->nic.q, wbell_deadline_us(WAIT_US));
	return NULL;
}

static void *nic_main(void *arg)
{
	struct run *r = arg;
	uint64_t seen = 0;

	while (seen < r->total &&
	       !__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		seen += nic_step(&r->nic);
		sched_yield();
	}
	return NULL;
}

static void many(const struct nic_attr *a)
{
	struct run *r = calloc(1, sizeof(*r));
	struct poster p[POSTERS];
	pthread_t threads[POSTERS], nic;
	unsigned i;

	nic_init(&r->nic, a);
	r->nic.wqe = see_wqe;
	r->nic.arg = r;
	r->total = (uint64_t)POSTERS * puts_each;
	pthread_create(&nic, NULL, nic_main, r);
	for (i = 0; i < POSTERS; i++) {
		p[i] = (struct poster){ r, i, 0 };
		pthread_create(&threads[i], NULL, poster_main, &p[i]);
	}
	for (i = 0; i < POSTERS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
	pthread_join(nic, NULL);
	for (i = 0; i < POSTERS; i++) {
		assert_int_equal(p[i].rc, 0);
		assert_int_equal(r->next[i], puts_each);
	}
	assert_int_equal(r->nic.malformed, 0);
	assert_int_equal(r->nic.q->ready, a->first_index + r->total);
	assert_int_equal(r->nic.error.state, WBELL_ERR_NONE);
	if (a->cq_dbrec)
		assert_int_equal(be32toh(r->nic.cq_dbrec.ci), r->total);
	nic_free(&r->nic);
	free(r);
}

static void test_many_posters_word(void **state)
{
	struct nic_attr a = { .log_depth = 4, .first_index = 65500 };

	many(&a);
}

static void test_many_posters_uar(void **state)
{
	struct nic_attr a = { .log_depth = 4,
			      .db_kind = WBELL_DB_UAR,
			      .first_index = 65500,
			      .cq_dbrec = 1 };

	many(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o11_second_poster_waits_its_turn),
		cmocka_unit_test(test_many_posters_word),
		cmocka_unit_test(test_many_posters_uar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
