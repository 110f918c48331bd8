// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine's thread: turns while there is work, then ever longer rests.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <rte_lcore.h>
#include <rte_pause.h>

#include "engine.h"

/*
 * Quiet for so long: look on at full speed, yield, then sleep by steps.  A
 * wake costs some 15 us of CPU on a virtual machine: the longest step keeps
 * an idle engine under 1 % of one, and is what a first message can wait.
 */
static const struct {
	uint64_t quiet, step; /* ns */
} rests[] = {
	{ 10000000000, 5000000 }, { 2000000000, 3000000 },
	{ 200000000, 1000000 },	  { 20000000, 100000 },
	{ 1000000, 30000 },
};
#define NRESTS	       (sizeof(rests) / sizeof(rests[0]))
#define QUIET_SPIN_NS  20000
#define QUIET_YIELD_NS 1000000

/*
 * The lock is passed on between two turns: whoever wants it raised `want`
 * before it asked, so the loop keeps off until it has it.
 */
void engine_lock(struct engine *e)
{
	if (e->polled)
		return;
	atomic_fetch_add(&e->want, 1);
	pthread_mutex_lock(&e->lock);
	atomic_fetch_sub(&e->want, 1);
}

void engine_unlock(struct engine *e)
{
	if (!e->polled)
		pthread_mutex_unlock(&e->lock);
}

static void hand_over(struct engine *e)
{
	pthread_mutex_unlock(&e->lock);
	while (atomic_load(&e->want))
		sched_yield();
	pthread_mutex_lock(&e->lock);
}

static uint64_t sleep_step(uint64_t quiet)
{
	unsigned i = 0;

	while (i < NRESTS - 1 && quiet < rests[i].quiet)
		i++;
	return rests[i].step;
}

static void sleep_a_while(struct engine *e, uint64_t now, uint64_t quiet)
{
	struct timespec ts = { 0 };
	uint64_t deadline, step = sleep_step(quiet);

	deadline = nic_deadline(e->nic);
	if (deadline <= now || nic_tx_pending(e->nic) || port_busy(e->port)) {
		sched_yield();
		return;
	}
	if (deadline - now < step)
		step = deadline - now;
	ts.tv_nsec = step;
	pthread_mutex_unlock(&e->lock);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	pthread_mutex_lock(&e->lock);
}

static void rest(struct engine *e, uint64_t now, uint64_t quiet)
{
	if (quiet < QUIET_SPIN_NS)
		rte_pause();
	else if (quiet < QUIET_YIELD_NS)
		sched_yield();
	else
		sleep_a_while(e, now, quiet);
}

static void loop(struct engine *e)
{
	uint64_t now = 0, busy = 0, t;

	pthread_mutex_lock(&e->lock);
	busy = eal_now();
	while (!atomic_load_explicit(&e->stop, memory_order_relaxed)) {
		/* TSCs of two CPUs may differ by a little: never back. */
		t = eal_now();
		if (t > now)
			now = t;
		if (engine_turn(e, now))
			busy = now;
		else
			rest(e, now, now > busy ? now - busy : 0);
		if (atomic_load_explicit(&e->want, memory_order_relaxed))
			hand_over(e);
	}
	pthread_mutex_unlock(&e->lock);
}

static void *thread_main(void *arg)
{
	struct engine *e = arg;
	bool registered;

	pthread_setname_np(pthread_self(), "wbell-engine");
	/* The kernel would stretch each short sleep by 50 us. */
	prctl(PR_SET_TIMERSLACK, 1000UL);
	/* An lcore number saves mempools their slow path; none left: slow. */
	registered = !rte_thread_register();
	loop(e);
	if (registered)
		rte_thread_unregister();
	return NULL;
}

static int check_cpu(unsigned cpu, struct wbell_err *err)
{
	cpu_set_t set;

	if (!cpu)
		return 0;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	if (cpu <= CPU_SETSIZE && CPU_ISSET(cpu - 1, &set))
		return 0;
	snprintf(err->text, sizeof(err->text),
		 "engine: pinning to CPU %u: this process may not run there: "
		 "give 1 + a CPU of its taskset -p, or 0",
		 cpu - 1);
	return -EINVAL;
}

int engine_thread_start(struct engine *e, struct wbell_err *err)
{
	pthread_attr_t attr;
	sigset_t all, mask;
	cpu_set_t set;
	int rc;

	rc = check_cpu(e->cpu, err);
	if (rc)
		return rc;
	pthread_attr_init(&attr);
	if (e->cpu) {
		CPU_ZERO(&set);
		CPU_SET(e->cpu - 1, &set);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	/* Signals are the application's: our thread takes none. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	rc = pthread_create(&e->thread, &attr, thread_main, e);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attr);
	if (rc)
		snprintf(err->text, sizeof(err->text),
			 "engine: starting its thread failed: %s: raise "
			 "ulimit -u, or open with WBELL_OPEN_POLLED",
			 strerror(rc));
	return -rc;
}

void engine_thread_stop(struct engine *e)
{
	atomic_store(&e->stop, true);
	pthread_join(e->thread, NULL);
}
