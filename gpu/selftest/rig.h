/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two software NICs back to back in memory, a thread that runs both, and
 * queues between them, for kernels to drive.  All that a kernel touches lies
 * in one piece of host memory, mapped for the GPU.
 */
#ifndef WBELL_SELFTEST_RIG_H
#define WBELL_SELFTEST_RIG_H

#include <stddef.h>
#include <stdint.h>

#include "wbell/queue.h"

#define RIG_QUEUES_MAX 8
#define RIG_RECVS      64
#define RIG_PAYLOAD    (4U << 20) /* bytes of each side */

struct rig;

struct rig_attr {
	uint32_t queues;    /* pairs; 0: 1 */
	uint32_t log_depth; /* blocks of a send ring */
	uint32_t db_kind;   /* WBELL_DB_* */
	uint32_t flags;	    /* WBELL_DQ_* */
	uint64_t first_index;
	int cq_record; /* send CQs have a doorbell record */
};

int rig_open(const struct rig_attr *attr, struct rig **rig);
/* Stops the NICs first; no kernel may still run. */
void rig_close(struct rig *rig);

/* side 0 or 1; queue i of one is connected to queue i of the other. */
struct wbell_dqueue *rig_queue(struct rig *rig, int side, uint32_t i);
const struct wbell_error_record *rig_error(struct rig *rig, int side,
					   uint32_t i);
/* RIG_PAYLOAD zeroed bytes, and the key that NIC knows them by. */
uint8_t *rig_payload(struct rig *rig, int side);
uint32_t rig_key(struct rig *rig, int side);

/* From now on the NICs do nothing: doorbells stay unheard. */
void rig_silence(struct rig *rig);
/* Sets the abort word of all queues. */
void rig_abort(struct rig *rig);

#endif /* WBELL_SELFTEST_RIG_H */
