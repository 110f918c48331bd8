/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What device code of NCCL's does with its queue pair, on the host, from the
 * description in compat_doca.h: reserve by adding, wait for CQE n - depth,
 * write the segments, publish in turn, ring by a max.  All it knows of the
 * queue is the view.  Its stores into slots go by rig_store(), and the ring
 * does not wait for them.
 */
#ifndef TESTS_COMPAT_POSTER_H
#define TESTS_COMPAT_POSTER_H

#include "rig.h"

struct poster {
	union {
		struct wbell_doca_qp_v1 v1;
		struct wbell_doca_qp_v2 v2;
	} view;
	/* into the view */
	uint64_t *reserved, *ready, *ci;
	const uint32_t *ds_be;
	/* from it */
	uint8_t *sq;
	uint64_t *db;
	uint8_t *cqe;
	uint32_t depth, cqe_num, cqn, shift8;
};

/* kind: enum wbell_compat_kind */
void poster_open(struct poster *p, struct wbell_queue *q, unsigned kind);

/* What a spin loop calls; the longest one is this many calls. */
extern void (*poster_relax)(void);
#define POSTER_SPINS 3000000
extern bool poster_stop; /* end every wait */

/* 0, -EBUSY not yet, -EIO an error CQE. */
int poster_poll(struct poster *p, uint64_t index);
/* -ETIMEDOUT where that code would spin for ever. */
int poster_wait(struct poster *p, uint64_t index);

/* Keys are big-endian. */
struct poster_addr {
	uint64_t addr;
	uint32_t key;
};

/* Index of the (last) WQE in *ticket; 0, or what waiting for a slot gave. */
int poster_put(struct poster *p, struct poster_addr to, struct poster_addr from,
	       uint32_t len, uint64_t *ticket);
int poster_put_value(struct poster *p, struct poster_addr to, const void *v,
		     unsigned len, uint64_t *ticket);
int poster_add(struct poster *p, struct poster_addr to, struct poster_addr sink,
	       uint64_t add, uint64_t *ticket);
int poster_get(struct poster *p, struct poster_addr from, struct poster_addr to,
	       uint32_t len, uint64_t *ticket);
struct poster_counted {
	struct poster_addr to, from;
	uint32_t len;
	struct poster_addr counter, sink;
};
/* The put on p, then on its companion a WAIT for it and the add. */
int poster_put_counter(struct poster *p, struct poster *companion,
		       const struct poster_counted *op, uint64_t *ticket);

/* By hand: segments of 16 bytes in host order of their words. */
uint8_t *poster_slot(struct poster *p, uint64_t index);
int poster_reserve(struct poster *p, uint32_t n, uint64_t *index);
void poster_ctrl(struct poster *p, uint64_t index, uint8_t opcode, unsigned ds);
void poster_seg(struct poster *p, uint64_t index, unsigned seg, uint64_t lo,
		uint64_t hi);
int poster_publish(struct poster *p, uint64_t from, uint64_t to);
void poster_ring(struct poster *p, uint64_t pi);
int poster_submit(struct poster *p, uint64_t from, uint64_t to);

#endif /* TESTS_COMPAT_POSTER_H */
