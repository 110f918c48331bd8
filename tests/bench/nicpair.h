/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two software NICs without a port, with many queues between them; frames are
 * handed over in memory and the clock is a counter.  End 0 posts.
 */
#ifndef TESTS_BENCH_NICPAIR_H
#define TESTS_BENCH_NICPAIR_H

#include <stdint.h>

#include "../../dpdk_path/nic/nic.h"

#define NICPAIR_BURST 32
#define NICPAIR_LOG   5 /* depth of a queue, and of its CQ */
#define NICPAIR_DEPTH (1U << NICPAIR_LOG)

struct nicpair_queue {
	uint8_t *sq;
	struct wbell_cqe *cq;
	struct wbell_dbrec dbrec;
	struct nic_queue *q;
	uint64_t pi, ci;
	uint32_t qpn;
};

struct nicpair_side {
	struct nic *nic;
	uint64_t *doorbells;
	struct nicpair_queue *queue;
	uint8_t *mem;
	uint32_t key;
	struct roce_frame frame[NICPAIR_BURST];
	uint8_t *frames;
};

struct nicpair {
	struct nicpair_side side[2];
	unsigned queues;
	uint64_t now;
};

/* Failure ends the program with a text. */
void nicpair_open(struct nicpair *p, unsigned queues);
void nicpair_close(struct nicpair *p);

/* An 8 B WRITE on a queue of end 0 that has room, and its doorbell. */
void nicpair_post(struct nicpair *p, unsigned queue);
/* CQEs of a queue of end 0, consumed. */
unsigned nicpair_reap(struct nicpair *p, unsigned queue);

/*
 * Half a turn: what `from` has to send goes into the other.  Never inlined,
 * so that a profiler can tell the NIC's work from the poster's.
 */
void nicpair_half(struct nicpair *p, int from);
static inline void nicpair_turn(struct nicpair *p)
{
	nicpair_half(p, 0);
	nicpair_half(p, 1);
	p->now += 3000;
}

#endif /* TESTS_BENCH_NICPAIR_H */
