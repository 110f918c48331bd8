// SPDX-License-Identifier: BSD-2-Clause
/* Calls of warps and blocks: lanes that post together, groups that post one. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/launch.h"
#include "nic_model.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SEEDS 4
#define MANY  64
#else
#define SEEDS 20
#define MANY  1024
#endif
#define WAIT_US	    20000000
#define THREADS_MAX 1024
#define ROUNDS	    3

enum op {
	PUT,
	PUT_IMM,
	PUT_INLINE,
	GET,
	FETCH_ADD,
	COMPARE_SWAP,
	PUT_SIGNAL,
	SEND,
	SEND_IMM,
	OPS
};

enum form { LANES, WARP, BLOCK };

struct job {
	struct nic nic;
	enum op op;
	enum form form;
	int order;
	uint32_t rounds;
	uint32_t wqes; /* that the NIC is to see */
	uint8_t seen[THREADS_MAX * ROUNDS];
	int rc[THREADS_MAX];
	uint64_t index[THREADS_MAX];
};

/* Each WQE but the signal of put_signal carries who posted it, as address. */
static int see_wqe(void *arg, const uint8_t *bb)
{
	const struct wbell_ctrl_seg *ctrl = (const void *)bb;
	uint32_t opcode = be32toh(ctrl->opmod_idx_opcode) & 0xff;
	struct job *j = arg;
	uint64_t who;

	if (opcode == WBELL_OP_SEND || opcode == WBELL_OP_SEND_IMM)
		who = be64toh(((const struct wbell_data_seg *)(bb + 16))->addr);
	else
		who = be64toh(
			((const struct wbell_raddr_seg *)(bb + 16))->raddr);
	if (j->op == PUT_SIGNAL && opcode == WBELL_OP_FA)
		return who != 8;
	if (who % 8 || who / 8 >= THREADS_MAX * ROUNDS)
		return -1;
	return j->seen[who / 8]++ != 0;
}

static int post_lanes(struct job *j, uint64_t who, struct wbell_ticket *t)
{
	struct wbell_dqueue *q = j->nic.q;

	switch (j->op) {
	case PUT:
		return wbell_put_lanes(q, who, 1, who, 2, 8, t);
	case PUT_IMM:
		return wbell_put_imm_lanes(q, who, 1, who, 2, 8, 3, t);
	case PUT_INLINE:
		return wbell_put_inline_lanes(q, &who, 8, who, 2, t);
	case GET:
		return wbell_get_lanes(q, who, 1, who, 2, 8, t);
	case FETCH_ADD:
		return wbell_fetch_add_lanes(q, 0, 0, who, 2, 1, t);
	case COMPARE_SWAP:
		return wbell_compare_swap_lanes(q, who, 1, who, 2, 3, 4, t);
	case PUT_SIGNAL:
		return wbell_put_signal_lanes(q, who, 1, who, 2, 8, 8, 2, 1,
					      j->order, t);
	case SEND:
		return wbell_send_lanes(q, who, 1, 8, t);
	default:
		return wbell_send_imm_lanes(q, who, 1, 8, 5, t);
	}
}

#define POST_GROUP(form)                                                       \
	static int post_##form(struct job *j, uint64_t who,                    \
			       struct wbell_ticket *t)                         \
	{                                                                      \
		struct wbell_dqueue *q = j->nic.q;                             \
                                                                               \
		switch (j->op) {                                               \
		case PUT:                                                      \
			return wbell_put_##form(q, who, 1, who, 2, 8, t);      \
		case PUT_IMM:                                                  \
			return wbell_put_imm_##form(q, who, 1, who, 2, 8, 3,   \
						    t);                        \
		case PUT_INLINE:                                               \
			return wbell_put_inline_##form(q, &who, 8, who, 2, t); \
		case GET:                                                      \
			return wbell_get_##form(q, who, 1, who, 2, 8, t);      \
		case FETCH_ADD:                                                \
			return wbell_fetch_add_##form(q, 0, 0, who, 2, 1, t);  \
		case COMPARE_SWAP:                                             \
			return wbell_compare_swap_##form(q, who, 1, who, 2, 3, \
							 4, t);                \
		case PUT_SIGNAL:                                               \
			return wbell_put_signal_##form(q, who, 1, who, 2, 8,   \
						       8, 2, 1, j->order, t);  \
		case SEND:                                                     \
			return wbell_send_##form(q, who, 1, 8, t);             \
		default:                                                       \
			return wbell_send_imm_##form(q, who, 1, 8, 5, t);      \
		}                                                              \
	}

POST_GROUP(warp)
POST_GROUP(block)

static int post(struct job *j, uint64_t who, struct wbell_ticket *t)
{
	switch (j->form) {
	case LANES:
		return post_lanes(j, who, t);
	case WARP:
		return post_warp(j, who, t);
	default:
		return post_block(j, who, t);
	}
}

static int wait_for(struct job *j, struct wbell_ticket t)
{
	uint64_t end = wbell_deadline_us(WAIT_US);

	switch (j->form) {
	case LANES:
		return wbell_wait(j->nic.q, t, end);
	case WARP:
		return wbell_wait_warp(j->nic.q, t, end);
	default:
		return wbell_wait_block(j->nic.q, t, end);
	}
}

static void run_nic(struct job *j)
{
	uint64_t end = wbell_deadline_us(WAIT_US), seen = 0;

	while (seen < j->wqes && wbell_now_ns() < end) {
		seen += nic_step(&j->nic);
		wbell_relax();
	}
}

/* Posts each round until the ring has room, then waits. */
static int rounds(struct job *j, uint32_t thread, struct wbell_ticket *t)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < j->rounds && !rc; i++) {
		do {
			rc = post(j, (thread * ROUNDS + i) * 8ULL, t);
			if (rc == WBELL_EAGAIN)
				wbell_relax();
		} while (rc == WBELL_EAGAIN);
		if (!rc)
			rc = wait_for(j, *t);
	}
	return rc;
}

WBELL_KERNEL(posters, struct job, j)
{
	struct wbell_thread me = wbell_thread();
	struct wbell_ticket t = { 0 };

	if (me.block == 0) {
		j->rc[me.thread] = rounds(j, me.thread, &t);
		j->index[me.thread] = t.index;
	} else if (me.thread == 0) {
		run_nic(j);
	}
}

static void run(struct job *j, struct wbell_grid grid, wbell_kernel_fn kernel)
{
	struct wbell_launch *launch;

	assert_int_equal(wbell_launch(&grid, kernel, j, &launch), 0);
	assert_int_equal(wbell_launch_wait(launch, 3ULL * WAIT_US), 0);
}

static uint32_t posters_of(enum form form, uint32_t threads)
{
	if (form == LANES)
		return threads;
	return form == WARP ? (threads + 31) / 32 : 1;
}

static struct job *job_make(const struct nic_attr *a, enum op op,
			    enum form form)
{
	static struct job job;

	memset(&job, 0, sizeof(job));
	nic_init(&job.nic, a);
	job.nic.wqe = see_wqe;
	job.nic.arg = &job;
	job.op = op;
	job.form = form;
	job.rounds = ROUNDS;
	return &job;
}

static void check_whole(struct job *j, uint32_t threads)
{
	uint32_t i, seen = 0;

	for (i = 0; i < threads; i++)
		if (j->rc[i])
			fail_msg("op %d form %d: thread %u of %u: status %d",
				 j->op, j->form, i, threads, j->rc[i]);
	for (i = 0; i < THREADS_MAX * ROUNDS; i++)
		seen += j->seen[i];
	assert_int_equal(seen, posters_of(j->form, threads) * j->rounds);
	assert_int_equal(j->nic.malformed, 0);
	assert_true(nic_canary_whole(&j->nic));
}

/* Tickets of a group are one. */
static void check_tickets(struct job *j, uint32_t threads)
{
	uint32_t i, first;

	for (i = 0; i < threads; i++) {
		first = j->form == BLOCK ? 0 : i / 32 * 32;
		if (j->form != LANES)
			assert_int_equal(j->index[i], j->index[first]);
	}
}

static void every(enum form form, enum op op, unsigned kind, uint32_t threads,
		  uint64_t seed)
{
	struct nic_attr a = { .log_depth = 6,
			      .db_kind = kind,
			      .first_index = 65534 };
	struct job *j = job_make(&a, op, form);

	j->order = seed & 1 ? WBELL_ORDER_FENCE : WBELL_ORDER_NIC;
	j->wqes =
		posters_of(form, threads) * ROUNDS * (op == PUT_SIGNAL ? 2 : 1);
	run(j,
	    (struct wbell_grid){
		    .blocks = 2, .threads = threads, .seed = seed },
	    posters);
	check_whole(j, threads);
	check_tickets(j, threads);
	nic_free(&j->nic);
}

/* All sizes with the simplest and the longest; 33, a warp and one, with all. */
static void every_op(enum form form)
{
	static const uint32_t threads[] = { 1, 2, 31, 32 };
	unsigned op, i;

	for (op = 0; op < OPS; op++)
		every(form, op, op & 1 ? WBELL_DB_WORD : WBELL_DB_UAR, 33, op);
	for (i = 0; i < 4; i++) {
		every(form, PUT, WBELL_DB_WORD, threads[i], 0);
		every(form, PUT_SIGNAL, WBELL_DB_UAR, threads[i], i);
	}
}

static void test_every_op_of_lanes(void **state)
{
	every_op(LANES);
}

static void test_every_op_of_a_warp(void **state)
{
	every_op(WARP);
}

static void test_every_op_of_a_block(void **state)
{
	every_op(BLOCK);
}

static void test_a_whole_block_of_1024(void **state)
{
	every(LANES, PUT_SIGNAL, WBELL_DB_UAR, MANY, 5);
	every(WARP, PUT, WBELL_DB_WORD, MANY, 0);
	every(BLOCK, PUT, WBELL_DB_UAR, MANY, 0);
}

/* 33 lanes that arrive together: a reserve, a bell and a CQE per warp. */
static void test_lanes_share_one_completion(void **state)
{
	struct nic_attr a = { .log_depth = 7 };
	struct job *j = job_make(&a, PUT, LANES);

	j->wqes = 33 * ROUNDS;
	run(j, (struct wbell_grid){ .blocks = 2, .threads = 33 }, posters);
	check_whole(j, 33);
	assert_int_equal(j->nic.cq_pi, 2 * ROUNDS);
	nic_free(&j->nic);
}

/* A ring of 8 under warps of 32, and of 1 under 2. */
static void test_more_lanes_than_slots(void **state)
{
	struct nic_attr a = { .log_depth = 3, .first_index = 65534 };
	struct job *j;
	uint64_t seed;

	for (seed = 0; seed < 4; seed++) {
		a.log_depth = seed & 1 ? 3 : 0;
		a.db_kind = seed & 2 ? WBELL_DB_UAR : WBELL_DB_WORD;
		j = job_make(&a, PUT, LANES);
		j->wqes = 40 * ROUNDS;
		run(j,
		    (struct wbell_grid){
			    .blocks = 2, .threads = 40, .seed = seed },
		    posters);
		check_whole(j, 40);
		nic_free(&j->nic);
	}
}

/* Every fifth lane goes away, odd ones add, some ask for nonsense. */
WBELL_KERNEL(divergent, struct job, j)
{
	struct wbell_thread me = wbell_thread();
	struct wbell_dqueue *q = j->nic.q;
	uint64_t who = (uint64_t)me.thread * ROUNDS * 8;
	struct wbell_ticket t = { 0 };
	int rc;

	if (me.block) {
		if (me.thread == 0)
			run_nic(j);
		return;
	}
	if (me.thread % 5 == 0)
		return;
	if (me.thread % 7 == 0)
		rc = wbell_put_lanes(q, who, 1, who, 2, 1ULL << 32, &t);
	else if (me.thread % 2)
		rc = wbell_fetch_add_lanes(q, 0, 0, who, 2, 1, &t);
	else
		rc = wbell_put_signal_lanes(q, who, 1, who, 2, 8, 8, 2, 1,
					    WBELL_ORDER_NIC, &t);
	j->index[me.thread] = t.index;
	j->rc[me.thread] = rc ? rc
			      : wbell_wait(q, t, wbell_deadline_us(WAIT_US));
}

static int expected(uint32_t i)
{
	return i % 5 && i % 7 == 0 ? WBELL_EINVAL : 0;
}

static void test_divergent_lanes(void **state)
{
	struct nic_attr a = { .log_depth = 8, .db_kind = WBELL_DB_UAR };
	struct job *j;
	uint64_t seed;
	uint32_t i;

	for (seed = 0; seed < SEEDS; seed++) {
		j = job_make(&a, PUT_SIGNAL, LANES);
		for (i = 0; i < 64; i++)
			if (i % 5 && i % 7)
				j->wqes += i % 2 ? 1 : 2;
		/* fetch_add is to be told from the signal of put_signal */
		j->nic.wqe = NULL;
		run(j,
		    (struct wbell_grid){
			    .blocks = 2, .threads = 64, .seed = seed },
		    divergent);
		for (i = 0; i < 64; i++)
			assert_int_equal(j->rc[i], expected(i));
		assert_int_equal(j->nic.fetched, j->wqes);
		assert_int_equal(j->nic.malformed, 0);
		nic_free(&j->nic);
	}
}

/* Lanes at two queues: each queue gets its own. */
struct pair {
	struct nic nic[2];
	int rc[32];
	uint64_t index[32];
};

WBELL_KERNEL(two_queues, struct pair, p)
{
	uint32_t i = wbell_thread().thread;
	struct wbell_ticket t = { 0 };

	p->rc[i] = wbell_put_lanes(p->nic[i & 1].q, i, 1, i, 2, 8, &t);
	p->index[i] = t.index;
}

static void test_lanes_at_two_queues(void **state)
{
	struct nic_attr a = { .log_depth = 5 };
	struct wbell_grid grid = { .blocks = 1, .threads = 32 };
	struct wbell_launch *launch;
	struct pair p;
	uint32_t i;

	memset(&p, 0, sizeof(p));
	nic_init(&p.nic[0], &a);
	nic_init(&p.nic[1], &a);
	assert_int_equal(wbell_launch(&grid, two_queues, &p, &launch), 0);
	assert_int_equal(wbell_launch_wait(launch, WAIT_US), 0);
	for (i = 0; i < 32; i++) {
		assert_int_equal(p.rc[i], 0);
		assert_int_equal(p.index[i], i / 2);
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(nic_step(&p.nic[i]), 16);
		assert_int_equal(p.nic[i].cq_pi, 1);
		nic_free(&p.nic[i]);
	}
}

/* A group's refused post is refused to all, and nothing was written. */
WBELL_KERNEL(refused, struct job, j)
{
	struct wbell_thread me = wbell_thread();
	struct wbell_ticket t = { 77 };
	int rc;

	if (j->form == WARP)
		rc = wbell_put_warp(j->nic.q, 0, 1, 0, 2, 1ULL << 33, &t);
	else
		rc = wbell_put_block(j->nic.q, 0, 1, 0, 2, 1ULL << 33, &t);
	j->rc[me.thread] = rc;
	j->index[me.thread] = t.index;
}

static void test_refused_to_the_whole_group(void **state)
{
	struct nic_attr a = { .log_depth = 3 };
	struct job *j;
	uint32_t i;
	int form;

	for (form = WARP; form <= BLOCK; form++) {
		j = job_make(&a, PUT, form);
		run(j, (struct wbell_grid){ .blocks = 1, .threads = 40 },
		    refused);
		for (i = 0; i < 40; i++) {
			assert_int_equal(j->rc[i], WBELL_EINVAL);
			assert_int_equal(j->index[i], 77);
		}
		assert_int_equal(j->nic.q->reserved, 0);
		nic_free(&j->nic);
	}
}

/* Outside a kernel a thread is its own warp and block. */
static void test_outside_a_kernel(void **state)
{
	struct nic_attr a = { .log_depth = 3 };
	struct job *j = job_make(&a, PUT, BLOCK);
	struct wbell_ticket t;

	assert_int_equal(wbell_put_lanes(j->nic.q, 0, 1, 0, 2, 8, &t), 0);
	assert_int_equal(wbell_put_warp(j->nic.q, 8, 1, 8, 2, 8, &t), 0);
	assert_int_equal(wbell_put_block(j->nic.q, 16, 1, 16, 2, 8, &t), 0);
	assert_int_equal(t.index, 2);
	assert_int_equal(nic_step(&j->nic), 3);
	assert_int_equal(wbell_wait_block(j->nic.q, t, wbell_deadline_us(0)),
			 0);
	assert_int_equal(wbell_test_warp(j->nic.q, t), 0);
	assert_int_equal(wbell_quiet_block(j->nic.q, wbell_deadline_us(0)), 0);
	assert_int_equal(wbell_flush_warp(j->nic.q), 0);
	assert_int_equal(wbell_recv_warp(j->nic.q, 0, 1, 8), WBELL_EINVAL);
	nic_free(&j->nic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_op_of_lanes),
		cmocka_unit_test(test_every_op_of_a_warp),
		cmocka_unit_test(test_every_op_of_a_block),
		cmocka_unit_test(test_a_whole_block_of_1024),
		cmocka_unit_test(test_lanes_share_one_completion),
		cmocka_unit_test(test_more_lanes_than_slots),
		cmocka_unit_test(test_divergent_lanes),
		cmocka_unit_test(test_lanes_at_two_queues),
		cmocka_unit_test(test_refused_to_the_whole_group),
		cmocka_unit_test(test_outside_a_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
