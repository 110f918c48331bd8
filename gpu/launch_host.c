// SPDX-License-Identifier: BSD-2-Clause
/*
 * Grids on CPU threads.  A GPU thread is a fiber; the blocks are dealt to a
 * few OS threads, and a fiber gives way only in relax and in block_sync.
 * To ThreadSanitizer each fiber is a thread of its own, ordered with others
 * by nothing but what the kernel does: races show even on one OS thread.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"
#include "launch.h"
#include "wbell/wbell.h"

#define STACK_SIZE  (64 * 1024)
#define BLOCKS_MAX  65535
#define THREADS_MAX 1024
#define FIBERS_MAX  16384 /* two mappings each; the kernel allows 65530 */
#define WORKERS_MAX 64

/*
 * A round is one turn of every fiber, and each ended in a wait.  The first
 * rounds cost nothing; then an engine on the same CPU gets on; a long wait
 * sleeps now and then, for a share of time too small to cost latency.
 */
#define ROUNDS_YIELD 4
#define ROUNDS_SLEEP 4096
#define SLEEP_NS     50000

struct fiber {
	struct flow flow;
	struct wbell_thread id;
	char *stack;
	struct meet *block;
	struct warp *warp;
	int begun;
	void *tsan;
};

/* Where threads wait for each other. */
struct meet {
	uint32_t arrived; /* of this round */
	uint32_t rounds;  /* that ended */
	__u64 room[2];	  /* a block's: what its first thread says to all */
};

/* All of one worker: its lanes run one at a time. */
struct warp {
	uint32_t alive;		   /* lanes */
	uint32_t parked, released; /* lanes, in lanes_alike() */
	uint64_t key[WBELL_WARP];  /* theirs */
	uint32_t mask[WBELL_WARP]; /* their answers */
	__u64 shown[WBELL_WARP];
	/* Of sets of lanes that may exist at once no two have one first lane. */
	struct meet meet[WBELL_WARP];
};

struct worker {
	struct wbell_launch *launch;
	struct fiber *fibers;
	struct fiber **alive;
	struct fiber *running;
	char *stacks;
	size_t stacks_size;
	uint32_t count, left;
	int alone; /* its threads wait for each other only */
	uint64_t random;
	struct flow flow;
	void *tsan;
	const void *os_stack; /* of the OS thread, for AddressSanitizer */
	size_t os_stack_size;
	pthread_t thread;
};

struct wbell_launch {
	struct wbell_grid grid;
	wbell_kernel_fn kernel;
	void *args;
	struct worker *workers;
	struct meet *meets; /* of each block */
	struct warp *warps; /* of each block, one after the other */
	uint32_t started;
	int gate;      /* 0 closed, 1 run, -1 go home; under lock */
	uint32_t left; /* workers that still run; under lock */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

static __thread struct worker *self;

/* ---- switching ---- */

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

UNSEEN static void to_fiber(struct worker *w, struct fiber *f)
{
	int begun = f->begun;

#if defined(__SANITIZE_ADDRESS__)
	void *fake;

	__sanitizer_start_switch_fiber(&fake, f->stack, STACK_SIZE);
#endif
	w->running = f;
#if defined(__SANITIZE_THREAD__)
	/* the first switch orders the launch before the kernel */
	__tsan_switch_to_fiber(f->tsan, begun ? TSAN_NO_SYNC : 0);
#endif
	f->begun = 1;
	flow_switch(&w->flow, &f->flow, begun);
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

/* gone: the fiber will not run again; its work is ordered before the join. */
UNSEEN static void to_worker(struct worker *w, int gone)
{
	struct fiber *f = w->running;
#if defined(__SANITIZE_ADDRESS__)
	void *fake;

	__sanitizer_start_switch_fiber(gone ? NULL : &fake, w->os_stack,
				       w->os_stack_size);
#endif
	w->running = NULL;
#if defined(__SANITIZE_THREAD__)
	__tsan_switch_to_fiber(w->tsan, gone ? 0 : TSAN_NO_SYNC);
#endif
	flow_switch(&f->flow, &w->flow, 1);
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

UNSEEN static void fiber_main(void)
{
	struct worker *w = self;
	struct fiber *f = w->running;
	uint32_t i = 0;

#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(NULL, &w->os_stack, &w->os_stack_size);
#endif
	w->launch->kernel(w->launch->args);
	while (w->alive[i] != f)
		i++;
	w->alive[i] = w->alive[--w->left];
	f->warp->alive &= ~(1U << f->id.lane);
	to_worker(w, 1);
}

UNSEEN static void relax(void *arg)
{
	to_worker((struct worker *)arg, 0);
}

/* ---- one OS thread ---- */

UNSEEN static uint64_t random_next(struct worker *w)
{
	uint64_t z = w->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void give_way(uint32_t rounds)
{
	const struct timespec ts = { .tv_nsec = SLEEP_NS };

	if (rounds % ROUNDS_SLEEP == 0)
		nanosleep(&ts, NULL);
	else if (rounds > ROUNDS_YIELD)
		sched_yield();
}

UNSEEN static void run_round(struct worker *w)
{
	uint32_t i, n = w->left;

	for (i = 0; i < n && w->left; i++) {
		if (w->launch->grid.seed)
			to_fiber(w, w->alive[random_next(w) % w->left]);
		else
			to_fiber(w, w->alive[i % w->left]);
	}
}

UNSEEN static void run_fibers(struct worker *w)
{
	uint32_t rounds = 0, left = w->left;

	self = w;
	wbell_host_set_relax(relax, w);
#if defined(__SANITIZE_THREAD__)
	w->tsan = __tsan_get_current_fiber();
#endif
	while (w->left) {
		run_round(w);
		rounds = w->left == left ? rounds + 1 : 0;
		left = w->left;
		if (rounds && !w->alone)
			give_way(rounds);
	}
	wbell_host_set_relax(NULL, NULL);
	self = NULL;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct wbell_launch *l = w->launch;
	int run;

	pthread_mutex_lock(&l->lock);
	while (!l->gate)
		pthread_cond_wait(&l->moved, &l->lock);
	run = l->gate > 0;
	pthread_mutex_unlock(&l->lock);
	if (run)
		run_fibers(w);
	pthread_mutex_lock(&l->lock);
	l->left--;
	pthread_cond_broadcast(&l->moved);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- set-up ---- */

static int map_stacks(struct worker *w)
{
	size_t step = page_size() + STACK_SIZE;
	uint32_t i;

	w->stacks_size = step * w->count;
	w->stacks = mmap(NULL, w->stacks_size, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->stacks == MAP_FAILED) {
		w->stacks = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < w->count; i++) {
		w->fibers[i].stack = w->stacks + step * i + page_size();
		if (mprotect(w->fibers[i].stack, STACK_SIZE,
			     PROT_READ | PROT_WRITE))
			return -ENOMEM;
	}
	return 0;
}

static void fiber_init(struct worker *w, struct fiber *f)
{
#if defined(__SANITIZE_THREAD__)
	f->tsan = __tsan_create_fiber(0);
#endif
	getcontext(&f->flow.uc);
	f->flow.uc.uc_stack.ss_sp = f->stack;
	f->flow.uc.uc_stack.ss_size = STACK_SIZE;
	f->flow.uc.uc_link = NULL;
	makecontext(&f->flow.uc, fiber_main, 0);
	w->alive[w->left++] = f;
}

static uint32_t warps_of(const struct wbell_grid *g)
{
	return (g->threads + WBELL_WARP - 1) / WBELL_WARP;
}

static void fiber_place(struct fiber *f, struct wbell_launch *l, uint32_t block,
			uint32_t thread)
{
	const struct wbell_grid *g = &l->grid;
	uint32_t warp = thread / WBELL_WARP;
	uint32_t lanes = g->threads - warp * WBELL_WARP;

	f->id.thread = thread;
	f->id.threads = g->threads;
	f->id.block = block;
	f->id.blocks = g->blocks;
	f->id.lane = thread % WBELL_WARP;
	f->id.lanes = lanes < WBELL_WARP ? lanes : WBELL_WARP;
	f->id.warp = warp;
	f->block = &l->meets[block];
	f->warp = &l->warps[(size_t)block * warps_of(g) + warp];
	f->warp->alive |= 1U << f->id.lane;
}

/* Worker n gets blocks n, n + workers, ... */
static int worker_init(struct worker *w, struct wbell_launch *l, uint32_t n)
{
	const struct wbell_grid *g = &l->grid;
	uint32_t block, thread;
	struct fiber *f;
	int rc;

	w->launch = l;
	w->random = g->seed + n;
	w->count = (g->blocks - n + g->workers - 1) / g->workers * g->threads;
	w->fibers = calloc(w->count, sizeof(*w->fibers));
	w->alive = calloc(w->count, sizeof(*w->alive));
	if (!w->fibers || !w->alive)
		return -ENOMEM;
	rc = map_stacks(w);
	if (rc)
		return rc;
	for (block = n; block < g->blocks; block += g->workers) {
		for (thread = 0; thread < g->threads; thread++) {
			f = &w->fibers[w->left];
			fiber_place(f, l, block, thread);
			fiber_init(w, f);
		}
	}
	return 0;
}

static void worker_free(struct worker *w)
{
#if defined(__SANITIZE_THREAD__)
	uint32_t i;

	for (i = 0; w->fibers && i < w->count; i++)
		if (w->fibers[i].tsan)
			__tsan_destroy_fiber(w->fibers[i].tsan);
#endif
	if (w->stacks)
		munmap(w->stacks, w->stacks_size);
	free(w->alive);
	free(w->fibers);
}

static void launch_free(struct wbell_launch *l)
{
	uint32_t i;

	for (i = 0; i < l->started; i++)
		pthread_join(l->workers[i].thread, NULL);
	for (i = 0; l->workers && i < l->grid.workers; i++)
		worker_free(&l->workers[i]);
	pthread_cond_destroy(&l->moved);
	pthread_mutex_destroy(&l->lock);
	free(l->workers);
	free(l->warps);
	free(l->meets);
	free(l);
}

static int launch_alloc(const struct wbell_grid *grid,
			struct wbell_launch **out)
{
	struct wbell_launch *l = calloc(1, sizeof(*l));
	pthread_condattr_t attr;

	if (!l)
		return -ENOMEM;
	l->grid = *grid;
	if (!l->grid.workers)
		l->grid.workers = 1;
	if (l->grid.workers > l->grid.blocks)
		l->grid.workers = l->grid.blocks;
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->moved, &attr);
	pthread_condattr_destroy(&attr);
	l->workers = calloc(l->grid.workers, sizeof(*l->workers));
	l->meets = calloc(grid->blocks, sizeof(*l->meets));
	l->warps = calloc((size_t)grid->blocks * warps_of(grid),
			  sizeof(*l->warps));
	if (!l->workers || !l->meets || !l->warps) {
		launch_free(l);
		return -ENOMEM;
	}
	*out = l;
	return 0;
}

static void open_gate(struct wbell_launch *l, int gate)
{
	pthread_mutex_lock(&l->lock);
	l->gate = gate;
	pthread_cond_broadcast(&l->moved);
	pthread_mutex_unlock(&l->lock);
}

static int start_workers(struct wbell_launch *l)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < l->grid.workers && !rc; i++)
		rc = worker_init(&l->workers[i], l, i);
	l->left = l->grid.workers;
	for (i = 0; i < l->grid.workers && !rc; i++) {
		rc = -pthread_create(&l->workers[i].thread, NULL, worker_main,
				     &l->workers[i]);
		l->started += !rc;
	}
	open_gate(l, rc ? -1 : 1);
	return rc;
}

/* ---- API ---- */

const char *wbell_launch_device(void)
{
	return "CPU threads";
}

int wbell_launch(const struct wbell_grid *grid, wbell_kernel_fn kernel,
		 void *args, struct wbell_launch **launch)
{
	struct wbell_launch *l;
	int rc;

	if (!grid || !kernel || !launch || !grid->blocks || !grid->threads ||
	    grid->blocks > BLOCKS_MAX || grid->threads > THREADS_MAX ||
	    grid->workers > WORKERS_MAX)
		return -EINVAL;
	if (grid->blocks > FIBERS_MAX / grid->threads)
		return -ENOMEM;
	rc = launch_alloc(grid, &l);
	if (rc)
		return rc;
	l->kernel = kernel;
	l->args = args;
	rc = start_workers(l);
	if (rc)
		launch_free(l);
	else
		*launch = l;
	return rc;
}

int wbell_launch_wait(struct wbell_launch *l, uint64_t timeout_us)
{
	struct timespec ts;
	uint64_t end;
	int rc = 0;

	if (!l)
		return -EINVAL;
	if (timeout_us > WBELL_DEADLINE_MAX_US)
		timeout_us = WBELL_DEADLINE_MAX_US;
	end = wbell_host_now() + timeout_us * 1000;
	ts.tv_sec = (time_t)(end / 1000000000);
	ts.tv_nsec = (long)(end % 1000000000);
	pthread_mutex_lock(&l->lock);
	while (l->left && !rc)
		rc = pthread_cond_timedwait(&l->moved, &l->lock, &ts);
	rc = l->left ? -ETIMEDOUT : 0;
	pthread_mutex_unlock(&l->lock);
	if (!rc)
		launch_free(l);
	return rc;
}

UNSEEN struct wbell_thread wbell_thread(void)
{
	if (!self || !self->running)
		return (struct wbell_thread){ 0, 1, 0, 1, 0, 1, 0 };
	return self->running->id;
}

UNSEEN void wbell_launch_reseed(uint64_t seed)
{
	if (!self)
		return;
	self->random = seed;
	self->alone = 1;
}

/* ---- threads that wait for each other ---- */

/* The last of count opens the next round; the order of the words is for TSan. */
static void meet(struct meet *m, uint32_t count)
{
	uint32_t round = __atomic_load_n(&m->rounds, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&m->arrived, 1, __ATOMIC_ACQ_REL) == count) {
		__atomic_store_n(&m->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&m->rounds, round + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&m->rounds, __ATOMIC_ACQUIRE) == round)
		wbell_host_relax();
}

UNSEEN static struct fiber *me(void)
{
	return self->running;
}

static void block_barrier(void)
{
	meet(me()->block, me()->id.threads);
}

static __u64 *block_room(void)
{
	return me()->block->room;
}

static void lanes_sync(uint32_t mask)
{
	meet(&me()->warp->meet[__builtin_ctz(mask)],
	     (uint32_t)__builtin_popcount(mask));
}

static __u64 *shown(uint32_t lane)
{
	return &me()->warp->shown[lane];
}

static __u64 lanes_read(uint32_t mask, __u64 v, uint32_t lane)
{
	__u64 got;

	*shown(me()->id.lane) = v;
	lanes_sync(mask);
	got = *shown(lane);
	lanes_sync(mask); /* all have read before the next one shows */
	return got;
}

UNSEEN static uint32_t lane(void)
{
	return self->running->id.lane;
}

UNSEEN static uint32_t lanes_all(void)
{
	return ~0U >> (WBELL_WARP - self->running->id.lanes);
}

UNSEEN static uint32_t thread_in_block(void)
{
	return self->running->id.thread;
}

UNSEEN static uint32_t block_in_grid(void)
{
	return self->running->id.block;
}

UNSEEN static uint32_t parked_with(const struct warp *w, uint64_t key)
{
	uint32_t mask = 0, i;

	for (i = 0; i < WBELL_WARP; i++)
		if (w->parked >> i & 1 && w->key[i] == key)
			mask |= 1U << i;
	return mask;
}

/*
 * Lanes that wait here while the others come: by turns, all of the warp that
 * did not go another way; by seed, any part of them, as a GPU may.
 */
UNSEEN static uint32_t patience(struct worker *w)
{
	return w->launch->grid.seed ? (uint32_t)(random_next(w) & 3) : 2;
}

UNSEEN static void release(struct warp *w, uint32_t together)
{
	uint32_t left = together;

	w->parked &= ~together;
	w->released |= together;
	for (; left; left &= left - 1)
		w->mask[__builtin_ctz(left)] = together;
}

UNSEEN static uint32_t lanes_alike(__u64 key)
{
	struct warp *w = self->running->warp;
	uint32_t i = self->running->id.lane, bit = 1U << i;
	uint32_t turns = patience(self);

	w->key[i] = key;
	w->parked |= bit;
	while (!(w->released & bit)) {
		if (turns && (w->parked | w->released) != w->alive) {
			turns--;
			wbell_host_relax();
			continue;
		}
		release(w, parked_with(w, key));
	}
	w->released &= ~bit;
	return w->mask[i];
}

UNSEEN const struct wbell_host_group *wbell_host_group_now(void)
{
	static const struct wbell_host_group group = {
		.lane = lane,
		.lanes_all = lanes_all,
		.lanes_alike = lanes_alike,
		.lanes_sync = lanes_sync,
		.lanes_read = lanes_read,
		.thread_in_block = thread_in_block,
		.block_in_grid = block_in_grid,
		.block_barrier = block_barrier,
		.block_room = block_room,
	};

	return self && self->running ? &group : NULL;
}

void wbell_host_trap(const char *file, __u32 line, const char *rule)
{
	fprintf(stderr, "%s:%u: a device call broke a rule: %s\n", file, line,
		rule);
	abort();
}

void wbell_block_sync(void)
{
	if (self && self->running)
		block_barrier();
}

void wbell_warp_sync(void)
{
	if (self && self->running)
		lanes_sync(lanes_all());
}

uint64_t wbell_warp_read(uint64_t v, uint32_t from)
{
	if (!self || !self->running)
		return v;
	return lanes_read(lanes_all(), v, from);
}

void *wbell_launch_alloc(size_t size)
{
	size_t page = page_size();
	size_t room = (size + page - 1) / page * page;
	void *mem;

	if (!size || room < size || posix_memalign(&mem, page, room))
		return NULL;
	return __builtin_memset(mem, 0, room);
}

void wbell_launch_free(void *mem)
{
	free(mem);
}

int wbell_launch_map(void *addr, size_t size)
{
	return addr && size ? 0 : -EINVAL;
}

int wbell_launch_unmap(void *addr)
{
	return addr ? 0 : -EINVAL;
}
