// SPDX-License-Identifier: BSD-2-Clause
/*
 * Doorbell words: which of them have moved.
 *
 * Up to SCAN_ALL words are looked at in every turn.  Where there are more, a
 * busy NIC looks at those that moved lately, at a window that follows the last
 * one found (posters often go round their queues), and at a window that goes
 * over all of them, so that none waits for more than a lap of turns.  A NIC
 * with nothing else to do looks at all: what rests between its turns must not
 * miss a word.
 */
#include "priv.h"

#define SCAN_ALL 256
#define FEW	 16 /* queues that stay in cache by themselves */
#define WINDOW	 128
#define LAP_MAX	 256 /* quiet turns, longer than any lap is while busy */

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_CPU \
	__attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

/*
 * The first word at or above i that differs, or end.  A hint: posters store
 * meanwhile, and whoever acts on a word loads it again, with acquire.
 */
FOR_EACH_CPU __attribute__((noinline, no_sanitize("thread"))) static uint32_t
first_moved(const uint64_t *word, const uint64_t *taken, uint32_t i,
	    uint32_t end)
{
	for (; i + 16 <= end; i += 16) {
		uint64_t moved = 0;

		for (unsigned k = 0; k < 16; k++)
			moved |= word[i + k] ^ taken[i + k];
		if (moved)
			break;
	}
	while (i < end && word[i] == taken[i])
		i++;
	return i;
}

static unsigned ring_of(struct nic *nic, uint32_t i, uint64_t now)
{
	struct nic_queue *q = nic->queue[i];
	uint64_t pi = __atomic_load_n(&nic->doorbells[i], __ATOMIC_ACQUIRE);
	unsigned n;

	if (!q || !q->connected)
		return 0; /* it is heard when the queue is ready to send */
	n = wqe_take(q, pi, now);
	nic->taken[i] = q->fetched;
	return n;
}

/*
 * Posters often go round their queues: have the next one's lines come while
 * this one is served, and the one's after it that say where those are.
 */
static void expect(struct nic *nic, uint32_t i)
{
	struct nic_queue *q;

	if (i + 2 >= nic->top)
		return;
	q = nic->queue[i + 2];
	if (q)
		__builtin_prefetch(q);
	q = nic->queue[i + 1];
	if (!q)
		return;
	roce_qp_expect(q->qp);
	for (unsigned k = 0; k < 4; k++) {
		__builtin_prefetch(q->sq + ((q->fetched + k) & q->depth_mask) *
						   WBELL_BB_SIZE);
		__builtin_prefetch(
			&q->cq[(q->cq_pi + k) & ((1U << q->log_cq) - 1)], 1);
	}
}

/* In the place of one that has not moved since it was passed last. */
static void note_hot(struct nic *nic, uint32_t i)
{
	unsigned k;

	for (k = 0; k < NIC_HOT; k++)
		if (nic->hot[k] == i)
			return;
	for (;;) { /* twice round at most: each is passed once */
		k = nic->hot_at++ % NIC_HOT;
		if (!(nic->hot_moved & 1U << k))
			break;
		nic->hot_moved &= ~(1U << k);
	}
	nic->hot[k] = i;
}

/* Words [from, from + n) as far as there are any; nic->near: the first found */
static unsigned scan(struct nic *nic, uint32_t from, uint32_t n, uint64_t now)
{
	uint32_t end = nic->top - from < n ? nic->top : from + n;
	uint32_t i = first_moved(nic->doorbells, nic->taken, from, end);
	unsigned wqes = 0;

	if (i == end)
		return 0;
	nic->near = i;
	note_hot(nic, i);
	while (i < end) {
		if (nic->top > FEW)
			expect(nic, i);
		wqes += ring_of(nic, i, now);
		i = first_moved(nic->doorbells, nic->taken, i + 1, end);
	}
	return wqes;
}

static unsigned scan_hot(struct nic *nic, uint64_t now)
{
	unsigned wqes = 0;

	for (unsigned k = 0; k < NIC_HOT; k++) {
		uint32_t i = nic->hot[k];

		if (i >= nic->top ||
		    __atomic_load_n(&nic->doorbells[i], __ATOMIC_RELAXED) ==
			    nic->taken[i])
			continue;
		nic->hot_moved |= 1U << k;
		wqes += ring_of(nic, i, now);
	}
	return wqes;
}

static uint32_t next_window(const struct nic *nic, uint32_t at)
{
	return at + WINDOW < nic->top ? at + WINDOW : 0;
}

static unsigned scan_some(struct nic *nic, uint64_t now)
{
	uint32_t near = nic->near < nic->top ? nic->near : 0;
	uint32_t sweep = nic->sweep < nic->top ? nic->sweep : 0;
	unsigned wqes = scan_hot(nic, now);

	nic->sweep = next_window(nic, sweep);
	nic->near = next_window(nic, near); /* unless one is found */
	wqes += scan(nic, sweep, WINDOW, now);
	return wqes + scan(nic, near, WINDOW, now);
}

unsigned doorbells_take(struct nic *nic, uint64_t now)
{
	unsigned wqes;

	if (nic->top <= SCAN_ALL || nic->quiet > LAP_MAX)
		wqes = scan(nic, 0, nic->top, now);
	else
		wqes = scan_some(nic, now);
	nic->quiet = wqes ? 0 : nic->quiet + 1;
	return wqes;
}
