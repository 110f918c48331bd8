/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libwarpbell over the software NIC, two contexts on a wire in memory, with
 * a clock of its own; and memory that shows stores late, in any order.
 */
#ifndef TESTS_COMPAT_RIG_H
#define TESTS_COMPAT_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <wbell/compat.h>

#define RIG_MEM	   (1 << 20)
#define RIG_QUEUES 2 /* each connected to its like of the other end */

struct rig_end {
	struct wbell_ctx *ctx;
	struct wbell_queue *q[RIG_QUEUES];
	struct wbell_mem *mr;
	uint8_t *mem; /* RIG_MEM bytes */
	uint32_t key; /* big-endian, as that code wants it */
};

struct rig_attr {
	uint32_t depth, first_index, recv_depth;
	bool own;	/* end 0 without WBELL_QUEUE_COMPAT */
	bool unchecked; /* compat, but the NIC's check is taken out */
};

/* One at a time.  End 0 posts, end 1 is its peer. */
void rig_open(const struct rig_attr *attr);
void rig_close(void);

extern struct rig_end rig_end[2];
extern uint64_t rig_now; /* ns; rig_turn() moves it by 1000 */

/* Some stores show, both NICs have a turn. */
void rig_turn(void);

/* ---- late stores ---- */

void rig_seed(uint64_t seed);
uint64_t rig_random(void);
/* 1, 2, 4 or 8 bytes that show at once, or late. */
void rig_late(bool late);
void rig_store(void *at, uint64_t value, unsigned size);
/* Bytes of [at, at + 64) that have not shown. */
unsigned rig_hidden(const void *at);
void rig_show_all(void);

#endif /* TESTS_COMPAT_RIG_H */
