/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two devices of the transport core on a wire in memory, with a clock of its
 * own and faults from a seed: what the tests of this folder stand on.
 */
#ifndef TESTS_CORE_PAIR_H
#define TESTS_CORE_PAIR_H

#include <stdint.h>

#include <wbell/queue.h>

#include "../../dpdk_path/roce/core.h"

#define PAIR_WIRE  4096 /* frames in flight */
#define PAIR_FRAME 4608 /* bytes of one */
#define PAIR_MEM   0x400000

struct pair_faults {
	unsigned drop, dup, reorder, corrupt; /* per 10,000 frames */
	/* Called for each frame; non-zero drops it. */
	int (*filter)(void *arg, int from, uint8_t *frame, uint32_t len);
	void *arg;
};

struct pair_end {
	struct roce_dev *dev;
	struct roce_qp *qp;
	uint8_t *mem; /* PAIR_MEM bytes, registered with every right */
	uint32_t key;
	uint16_t index; /* of the next WR */
	unsigned ncomp;
	struct roce_comp comp[8192];
};

struct pair {
	struct pair_end end[2];
	uint64_t now;
	uint64_t rng;
	struct pair_faults faults;
	struct roce_frame wire[2][PAIR_WIRE]; /* toward end i */
	unsigned head[2], tail[2];
	uint64_t frames, dropped;
	struct roce_srq *srq;
};

struct pair_attr {
	uint32_t mtu;
	uint32_t depth;
	uint32_t recv_depth;
	uint32_t psn;
	uint8_t timeout, retry_cnt, rnr_retry, max_rd_atomic;
	uint8_t min_rnr_timer;
	bool holes, v6, keep_nothing, cc;
	uint16_t vlan;
	uint8_t type;
	uint32_t qkey;
	struct roce_srq_attr *srq; /* of end 1 */
};

/* Every field has a default where 0. */
struct pair *pair_new(const struct pair_attr *attr, uint64_t seed);
void pair_free(struct pair *p);

/* One turn of both ends and the wire; time goes on by ns. */
void pair_turn(struct pair *p, uint64_t ns);
/* Turns until both are idle or ns have passed. */
void pair_run(struct pair *p, uint64_t ns);

/* Post on end e; off: offsets in the ends' memories. */
void pair_write(struct pair *p, int e, uint64_t src, uint64_t dst, uint32_t n);
void pair_read(struct pair *p, int e, uint64_t dst, uint64_t src, uint32_t n);
void pair_add(struct pair *p, int e, uint64_t result, uint64_t at,
	      uint64_t add);
void pair_cas(struct pair *p, int e, uint64_t result, uint64_t at,
	      uint64_t compare, uint64_t swap);
void pair_send(struct pair *p, int e, uint64_t src, uint32_t n, int imm);
int pair_recv(struct pair *p, int e, uint64_t dst, uint32_t n);
struct roce_wr *pair_wr(struct pair *p, int e, uint8_t op, uint8_t opcode);
void pair_post(struct pair *p, int e, struct roce_wr *wr);
uint64_t pair_random(struct pair *p);

#endif /* TESTS_CORE_PAIR_H */
