/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo's kernels and what they are given.  All of it lies in
 * wbell_launch_alloc() memory.
 */
#ifndef WBELL_DEMO_KERNELS_H
#define WBELL_DEMO_KERNELS_H

#include "../launch.h"

#define DEMO_QUEUES_MAX 16
#define DEMO_SLOTS_MAX	1024 /* threads of a grid */

/*
 * Latencies in buckets: 16 for each power of two of nanoseconds, so that a
 * value is known to 1/16 of itself.
 */
#define DEMO_BUCKET_BITS 4
#define DEMO_BUCKETS	 (40 << DEMO_BUCKET_BITS)

/* What one thread found; its own, so that nobody fights over it. */
struct demo_lane {
	uint64_t done;	/* operations, or bytes, the host adds up */
	int status;	/* of the first call that failed */
	uint32_t queue; /* where it failed */
	uint32_t bucket[DEMO_BUCKETS];
};

struct demo_queues {
	struct wbell_dqueue *dq[DEMO_QUEUES_MAX];
	uint32_t n;
	uint32_t timeout_us; /* of one wait */
};

/* Words of the receiver that the sender's NIC changes, a line for each. */
struct demo_words {
	uint64_t signal; /* chunks that are whole */
	uint64_t pad0[7];
	uint64_t counter;
	uint64_t pad1[7];
	uint64_t slot[DEMO_SLOTS_MAX]; /* targets of the small puts */
};

/* A local and a remote range, cut into chunks. */
struct demo_copy {
	const struct demo_queues *queues;
	struct demo_lane *lanes;
	uint64_t local, remote, size, signal;
	uint32_t lkey, rkey, signal_rkey;
	uint32_t chunk;
};
WBELL_KERNEL_DECLARE(demo_push); /* put_signal of each chunk */
WBELL_KERNEL_DECLARE(demo_pull); /* get of each chunk */

struct demo_small {
	const struct demo_queues *queues;
	struct demo_lane *lanes;
	uint64_t remote;  /* a counter, or the slots */
	uint64_t *result; /* of each fetch_add */
	uint32_t result_lkey, rkey;
	uint32_t each;	 /* operations of a thread */
	uint32_t window; /* puts posted before a wait */
};
WBELL_KERNEL_DECLARE(demo_count); /* fetch_add */
WBELL_KERNEL_DECLARE(demo_spray); /* 8-byte put_inline */

struct demo_await {
	const struct demo_queues *queues;
	struct demo_lane *lanes;
	uint64_t *signal;
	uint64_t goal;
};
WBELL_KERNEL_DECLARE(demo_await);

#endif /* WBELL_DEMO_KERNELS_H */
