// SPDX-License-Identifier: BSD-2-Clause
/*
 * o11 by schedules: four posters and a NIC are fibers of one OS thread that
 * may change places before every ordered access, as a seed says.  What fails
 * here fails again with the same seed.  Under ThreadSanitizer fibers race as
 * threads do.
 */
#define WBELL_HOST_STEP

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/launch.h"
#include "nic_model.h"
#include "wbell/wbell.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SCHEDULES 500
#else
#define SCHEDULES 10000
#endif
#define POSTERS 4
#define PUTS	3
#define FIRST	65530
#define WAIT_US 10000000

struct run {
	struct nic nic;
	uint64_t next[POSTERS];
	unsigned early; /* stores seen out of order */
	int rc[POSTERS];
};

/* The watcher must not order what it watches. */
#define UNSEEN __attribute__((no_sanitize("thread")))

static uint64_t random_state;
static int steps_on;
static struct run *watched;

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

static void run_nic(struct run *r)
{
	uint64_t end = wbell_deadline_us(WAIT_US), seen = 0;

	while (seen < POSTERS * PUTS && wbell_now_ns() < end) {
		seen += nic_step(&r->nic);
		wbell_relax();
	}
}

WBELL_KERNEL(posters_and_nic, struct run, r)
{
	uint32_t me = wbell_thread().block, i;
	struct wbell_ticket t = { 0 };
	int rc = 0;

	if (me == POSTERS) {
		run_nic(r);
		return;
	}
	for (i = 0; i < PUTS && !rc; i++) {
		do {
			rc = wbell_put(r->nic.q, i, 1, (uint64_t)me << 32 | i,
				       2, 8, &t);
			if (rc == WBELL_EAGAIN)
				wbell_relax();
		} while (rc == WBELL_EAGAIN);
	}
	r->rc[me] = rc ? rc
		       : wbell_wait(r->nic.q, t, wbell_deadline_us(WAIT_US));
}

static void schedule(unsigned kind, uint64_t seed)
{
	struct nic_attr a = { .log_depth = 2,
			      .db_kind = kind,
			      .first_index = FIRST };
	struct wbell_grid grid = { .blocks = POSTERS + 1,
				   .threads = 1,
				   .seed = seed };
	struct wbell_launch *launch;
	struct run r;
	unsigned i;

	memset(&r, 0, sizeof(r));
	nic_init(&r.nic, &a);
	r.nic.wqe = see_wqe;
	r.nic.arg = &r;
	watched = &r;
	random_state = seed * 0x9e3779b97f4a7c15ULL;
	steps_on = 1;
	assert_int_equal(wbell_launch(&grid, posters_and_nic, &r, &launch), 0);
	assert_int_equal(wbell_launch_wait(launch, 3ULL * WAIT_US), 0);
	steps_on = 0;
	if (r.nic.malformed || r.early)
		fail_msg("seed %llu: %u malformed, %u bells too early",
			 (unsigned long long)seed, r.nic.malformed, r.early);
	for (i = 0; i < POSTERS; i++)
		if (r.rc[i] || r.next[i] != PUTS)
			fail_msg("seed %llu: poster %u: status %d, %llu seen",
				 (unsigned long long)seed, i, r.rc[i],
				 (unsigned long long)r.next[i]);
	nic_free(&r.nic);
}

static void test_o11_schedules_word(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= SCHEDULES; seed++)
		schedule(WBELL_DB_WORD, seed);
}

static void test_o11_schedules_uar(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= SCHEDULES; seed++)
		schedule(WBELL_DB_UAR, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o11_schedules_word),
		cmocka_unit_test(test_o11_schedules_uar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
