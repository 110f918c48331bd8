// SPDX-License-Identifier: BSD-2-Clause
/*
 * o11 by schedules: four posters and a NIC are fibers of one OS thread that
 * may change places before every ordered access, as a seed says.  What fails
 * here fails again with the same seed: SCHED_SEED=n runs one schedule of each
 * test.  Under ThreadSanitizer fibers race as threads do.
 */
#define WBELL_HOST_STEP

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/launch.h"
#include "nic_model.h"
#include "wbell/wbell.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SCHEDULES 400
#else
#define SCHEDULES 34000
#endif
#define POSTERS 4
#define PUTS	3
#define FIRST	65530
#define WAIT_US 10000000

enum what { PLAIN, ERROR, LANES };

struct run {
	struct nic nic;
	enum what what;
	unsigned kind;
	uint64_t seed, count;
	uint64_t next[POSTERS];
	unsigned early; /* stores seen out of order */
	int rc[POSTERS];
	uint32_t came, rounds;
	int done;	/* posters of this schedule */
	int bad;	/* seed failed: see the rest */
	uint64_t trace; /* of who stepped when */
};

/* The watcher must not order what it watches. */
#define UNSEEN __attribute__((no_sanitize("thread")))

static uint64_t random_state;
static int steps_on;
static struct run *watched;

/* Posters are blocks, or lanes of one warp. */
UNSEEN static uint32_t who(void)
{
	struct wbell_thread t = wbell_thread();

	return t.block + t.thread;
}

/*
 * A record ahead of its WQE, or a bell ahead of its record?  A slot may hold
 * a later WQE already, never an earlier one.
 */
UNSEEN static void look(struct run *r)
{
	uint64_t bell = __atomic_load_n(&r->nic.bell, __ATOMIC_ACQUIRE);
	uint32_t send = __atomic_load_n(&r->nic.dbrec.send, __ATOMIC_ACQUIRE);
	uint32_t rung = be32toh((uint32_t)bell) >> 8 & 0xffff;
	uint32_t last = be32toh(send) - 1;
	const struct wbell_ctrl_seg *ctrl = nic_slot(&r->nic, last);

	if (r->nic.q->db_kind != WBELL_DB_UAR)
		return;
	if (bell)
		r->early += (int16_t)(last - rung) < 0;
	if (last != FIRST - 1)
		r->early += (int16_t)((be32toh(ctrl->opmod_idx_opcode) >> 8) -
				      last) < 0;
}

UNSEEN void wbell_host_step(void)
{
	random_state = random_state * 6364136223846793005ULL + 1;
	if (!steps_on)
		return;
	look(watched);
	watched->trace = (watched->trace ^ who()) * 1099511628211ULL;
	if (random_state >> 62 == 0)
		wbell_host_relax();
}

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

/* Before the seed is set all stand at one place, whatever ran before. */
static void await_others(struct run *r)
{
	while (__atomic_load_n(&r->came, __ATOMIC_ACQUIRE) != POSTERS)
		wbell_host_relax();
}

/* WQE that an ERROR schedule fails: any of them, by its seed. */
static uint64_t victim(const struct run *r)
{
	return FIRST + r->seed % (POSTERS * PUTS);
}

/* As nic_step(), but the victim fails and what is behind it is flushed. */
static void step_failing(struct run *r)
{
	uint64_t end = nic_producer(&r->nic);

	for (; r->nic.fetched != end; r->nic.fetched++) {
		if (r->nic.fetched < victim(r))
			nic_complete(&r->nic, (uint16_t)r->nic.fetched);
		else
			nic_fail(&r->nic, (uint16_t)r->nic.fetched,
				 WBELL_OP_WRITE,
				 r->nic.fetched == victim(r)
					 ? WBELL_SYND_RETRY_EXC
					 : WBELL_SYND_WR_FLUSH,
				 0);
	}
}

static int posters_done(const struct run *r)
{
	return __atomic_load_n(&r->done, __ATOMIC_ACQUIRE) == POSTERS;
}

static void run_nic(struct run *r)
{
	uint64_t end = wbell_deadline_us(WAIT_US);

	while (!posters_done(r) && wbell_now_ns() < end) {
		if (r->what == ERROR)
			step_failing(r);
		else
			nic_step(&r->nic);
		wbell_relax();
	}
}

static int post(struct run *r, uint32_t me, uint32_t i, struct wbell_ticket *t)
{
	uint64_t to = (uint64_t)me << 32 | i;

	if (r->what == LANES)
		return wbell_put_lanes(r->nic.q, i, 1, to, 2, 8, t);
	return wbell_put(r->nic.q, i, 1, to, 2, 8, t);
}

static void run_poster(struct run *r, uint32_t me)
{
	struct wbell_ticket t = { 0 };
	uint32_t i;
	int rc = 0;

	for (i = 0; i < PUTS && !rc; i++) {
		do {
			rc = post(r, me, i, &t);
			if (rc == WBELL_EAGAIN)
				wbell_relax();
		} while (rc == WBELL_EAGAIN);
	}
	r->rc[me] = rc ? rc
		       : wbell_wait(r->nic.q, t, wbell_deadline_us(WAIT_US));
	__atomic_fetch_add(&r->done, 1, __ATOMIC_RELEASE);
}

/* ---- one schedule after the other ---- */

/* Until all have come; no step of the schedule, and no end of its own. */
static void meet(struct run *r)
{
	uint32_t round = __atomic_load_n(&r->rounds, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&r->came, 1, __ATOMIC_ACQ_REL) == POSTERS + 1) {
		__atomic_store_n(&r->came, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&r->rounds, round + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&r->rounds, __ATOMIC_ACQUIRE) == round)
		wbell_host_relax();
}

static void schedule_begin(struct run *r)
{
	struct nic_attr a = { .log_depth = r->what == ERROR ? 4 : 2,
			      .db_kind = r->kind,
			      .first_index = FIRST };

	nic_init(&r->nic, &a);
	r->nic.wqe = see_wqe;
	r->nic.arg = r;
	memset(r->next, 0, sizeof(r->next));
	memset(r->rc, 0, sizeof(r->rc));
	r->done = 0;
	r->trace = 14695981039346656037ULL;
	random_state = r->seed * 0x9e3779b97f4a7c15ULL;
	wbell_launch_reseed(r->seed);
	steps_on = 1;
}

/* Whoever posted before the victim and waited before it failed got 0. */
static int status_fits(const struct run *r, unsigned i)
{
	if (r->what != ERROR)
		return !r->rc[i] && r->next[i] == PUTS;
	return !r->rc[i] || r->rc[i] == WBELL_WC_RETRY_EXC_ERR ||
	       r->rc[i] == WBELL_WC_WR_FLUSH_ERR;
}

static void schedule_end(struct run *r)
{
	const struct wbell_error_record *e = &r->nic.error;
	unsigned i;

	steps_on = 0;
	r->bad |= r->nic.malformed || r->early;
	for (i = 0; i < POSTERS; i++)
		r->bad |= !status_fits(r, i);
	if (r->what == ERROR && e->state)
		r->bad |= e->state != WBELL_ERR_WHOLE ||
			  e->index != victim(r) ||
			  e->syndrome != WBELL_SYND_RETRY_EXC;
	if (r->bad)
		return;
	nic_free(&r->nic);
	r->seed++;
}

WBELL_KERNEL(posters_and_nic, struct run, r)
{
	uint32_t me = who();
	uint64_t i;

	for (i = 0; i < r->count && !r->bad; i++) {
		if (me == POSTERS) {
			await_others(r);
			schedule_begin(r);
		}
		meet(r);
		if (me == POSTERS)
			run_nic(r);
		else
			run_poster(r, me);
		meet(r);
		if (me == POSTERS)
			schedule_end(r);
		meet(r);
	}
}

/* Schedules first..first + count - 1; returns the trace of the last. */
static uint64_t schedules(enum what what, unsigned kind, uint64_t first,
			  uint64_t count)
{
	struct wbell_grid grid = { .blocks = POSTERS + 1,
				   .threads = 1,
				   .seed = first };
	struct wbell_launch *launch;
	static struct run r;

	memset(&r, 0, sizeof(r));
	r.what = what;
	r.kind = kind;
	r.seed = first;
	r.count = count;
	watched = &r;
	if (what == LANES) {
		grid.blocks = 1;
		grid.threads = POSTERS + 1;
	}
	assert_int_equal(wbell_launch(&grid, posters_and_nic, &r, &launch), 0);
	assert_int_equal(wbell_launch_wait(launch, 6ULL * WAIT_US), 0);
	if (r.bad)
		fail_msg("SCHED_SEED=%llu: %u malformed, %u bells too early, "
			 "status %d %d %d %d, record %u of index %llu",
			 (unsigned long long)r.seed, r.nic.malformed, r.early,
			 r.rc[0], r.rc[1], r.rc[2], r.rc[3], r.nic.error.state,
			 (unsigned long long)r.nic.error.index);
	return r.trace;
}

static void all(enum what what, unsigned kind, uint64_t count)
{
	const char *one = getenv("SCHED_SEED");

	if (one)
		schedules(what, kind, strtoull(one, NULL, 0), 1);
	else
		schedules(what, kind, 1, count);
}

static void test_o11_schedules_word(void **state)
{
	all(PLAIN, WBELL_DB_WORD, SCHEDULES);
}

static void test_o11_schedules_uar(void **state)
{
	all(PLAIN, WBELL_DB_UAR, SCHEDULES);
}

static void test_schedules_with_an_error(void **state)
{
	all(ERROR, WBELL_DB_WORD, SCHEDULES / 2);
	all(ERROR, WBELL_DB_UAR, SCHEDULES / 2);
}

static void test_schedules_of_lanes(void **state)
{
	all(LANES, WBELL_DB_WORD, SCHEDULES / 8);
	all(LANES, WBELL_DB_UAR, SCHEDULES / 8);
}

/* The same steps, whatever ran before. */
static void test_seed_replays_its_schedule(void **state)
{
	uint64_t after = schedules(PLAIN, WBELL_DB_UAR, 1, 50);

	assert_int_equal(schedules(PLAIN, WBELL_DB_UAR, 50, 1), after);
	assert_int_not_equal(schedules(PLAIN, WBELL_DB_UAR, 51, 1), after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o11_schedules_word),
		cmocka_unit_test(test_o11_schedules_uar),
		cmocka_unit_test(test_schedules_with_an_error),
		cmocka_unit_test(test_schedules_of_lanes),
		cmocka_unit_test(test_seed_replays_its_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
