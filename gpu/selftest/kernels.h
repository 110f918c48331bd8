/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels of the self test and the bench, and what they are given; all of it
 * lies in wbell_launch_alloc() memory.
 */
#ifndef WBELL_SELFTEST_KERNELS_H
#define WBELL_SELFTEST_KERNELS_H

#include "../launch.h"

#define SELF_LANES 512	       /* threads of a grid */
#define SELF_PART  4096	       /* bytes of the payload that are one thread's */
#define SELF_SHARE 4	       /* of a message of a group, each thread */
#define SELF_BAD   0x7fffff00U /* a key that nothing has */

/* What one thread found; its own. */
struct self_lane {
	int line; /* where a call gave something else; 0: good */
	int file; /* 0 kernels.c, 1 groups.c */
	int got, want;
	int cause; /* the wait that told the error of the queue */
	uint64_t ops, ns;
};

struct self_args {
	struct wbell_dqueue *q[8]; /* of side 0... */
	struct wbell_dqueue *peer; /* ...and its peer of q[0] */
	uint32_t queues;
	uint32_t lkey, rkey, peer_key;
	uint64_t local, remote; /* payloads */
	uint32_t each;		/* rounds, or operations of a thread */
	uint32_t size;		/* bytes of an operation, of the bench */
	uint32_t window;	/* posts before a wait, of the bench */
	uint32_t timeout_us;
	struct self_lane lane[SELF_LANES];
};

/* Byte i of a thread's part in round r, as both ends expect it. */
#define SELF_BYTE(index, r, i) ((uint8_t)((index)*7 + (r)*31 + (i) + 1))

/* All threads at once */
WBELL_KERNEL_DECLARE(self_put);
WBELL_KERNEL_DECLARE(self_get);
WBELL_KERNEL_DECLARE(self_put_inline);
WBELL_KERNEL_DECLARE(self_fetch_add);
WBELL_KERNEL_DECLARE(self_compare_swap);
WBELL_KERNEL_DECLARE(self_put_signal);
WBELL_KERNEL_DECLARE(self_post);
WBELL_KERNEL_DECLARE(self_batch);
WBELL_KERNEL_DECLARE(self_one_fails);
WBELL_KERNEL_DECLARE(self_abort);

/* All threads at once, in groups.c */
WBELL_KERNEL_DECLARE(self_lanes);
WBELL_KERNEL_DECLARE(self_warp);
WBELL_KERNEL_DECLARE(self_block);

/* One thread */
WBELL_KERNEL_DECLARE(self_two_sided);
WBELL_KERNEL_DECLARE(self_bad_input);
WBELL_KERNEL_DECLARE(self_sticky);
WBELL_KERNEL_DECLARE(self_full);

WBELL_KERNEL_DECLARE(self_rate);
WBELL_KERNEL_DECLARE(self_latency);

#endif /* WBELL_SELFTEST_KERNELS_H */
