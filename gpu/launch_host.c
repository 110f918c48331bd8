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
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "launch.h"
#include "wbell/wbell.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define TSAN_NO_SYNC 1 /* flag of __tsan_switch_to_fiber */
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

/* The runtime's own words are used on both sides of a switch. */
#define UNSEEN __attribute__((no_sanitize("thread")))

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
	ucontext_t uc;
	struct wbell_thread id;
	char *stack;
	struct meet *block, *warp;
	int begun;
	void *tsan;
};

/* Where the threads of a block or a warp wait for each other. */
struct meet {
	uint32_t arrived; /* counts up for ever */
	uint64_t value;	  /* that one of them shows to all */
};

struct worker {
	struct wbell_launch *launch;
	struct fiber *fibers;
	struct fiber **alive;
	struct fiber *running;
	char *stacks;
	size_t stacks_size;
	uint32_t count, left;
	uint64_t random;
	ucontext_t uc;
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
	struct meet *meets; /* of each block: its own, then its warps' */
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
#if defined(__SANITIZE_ADDRESS__)
	void *fake;

	__sanitizer_start_switch_fiber(&fake, f->stack, STACK_SIZE);
#endif
	w->running = f;
#if defined(__SANITIZE_THREAD__)
	/* the first switch orders the launch before the kernel */
	__tsan_switch_to_fiber(f->tsan, f->begun ? TSAN_NO_SYNC : 0);
#endif
	f->begun = 1;
	swapcontext(&w->uc, &f->uc);
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
	swapcontext(&f->uc, &w->uc);
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
		if (rounds)
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
	getcontext(&f->uc);
	f->uc.uc_stack.ss_sp = f->stack;
	f->uc.uc_stack.ss_size = STACK_SIZE;
	f->uc.uc_link = NULL;
	makecontext(&f->uc, fiber_main, 0);
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
	f->block = &l->meets[(size_t)block * (1 + warps_of(g))];
	f->warp = f->block + 1 + warp;
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
	l->meets = calloc((size_t)grid->blocks * (1 + warps_of(grid)),
			  sizeof(*l->meets));
	if (!l->workers || !l->meets) {
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

/* A round ends at each multiple of count. */
static void meet(struct meet *m, uint32_t count)
{
	uint32_t end = __atomic_fetch_add(&m->arrived, 1, __ATOMIC_ACQ_REL);

	end += count - end % count;
	while ((int32_t)(__atomic_load_n(&m->arrived, __ATOMIC_ACQUIRE) - end) <
	       0)
		wbell_host_relax();
}

void wbell_block_sync(void)
{
	if (self && self->running)
		meet(self->running->block, self->running->id.threads);
}

void wbell_warp_sync(void)
{
	if (self && self->running)
		meet(self->running->warp, self->running->id.lanes);
}

uint64_t wbell_warp_read(uint64_t v, uint32_t lane)
{
	struct fiber *f;
	uint64_t got;

	if (!self || !self->running)
		return v;
	f = self->running;
	if (f->id.lane == lane)
		f->warp->value = v;
	wbell_warp_sync();
	got = f->warp->value;
	wbell_warp_sync(); /* all have read before the next one shows */
	return got;
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
