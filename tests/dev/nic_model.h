/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A NIC for tests of device code: takes WQEs by the doorbell as hardware
 * would, checks their form, and writes CQEs.  One thread runs it.
 */
#ifndef TESTS_DEV_NIC_MODEL_H
#define TESTS_DEV_NIC_MODEL_H

#include <stdint.h>

#include "wbell/queue.h"

#define NIC_QPN	      0x1542
#define NIC_PEER_QPN  0x1543
#define NIC_SINK_LKEY 0x51
#define NIC_CANARY    0xc5

struct nic_attr {
	unsigned log_depth;
	unsigned log_cq; /* 0: as log_depth */
	unsigned db_kind;
	unsigned flags; /* WBELL_DQ_* */
	uint64_t first_index;
	unsigned log_rq; /* 0: no receive ring */
	unsigned log_rq_stride;
	int cq_dbrec;
};

struct nic {
	struct wbell_dqueue *q;
	uint8_t *sq; /* depth blocks, then one of NIC_CANARY */
	struct wbell_cqe *cq;
	uint8_t *rq;
	struct wbell_cqe *rcq;
	struct wbell_dbrec dbrec;
	struct wbell_cq_dbrec cq_dbrec, rcq_dbrec;
	struct wbell_error_record error;
	uint64_t bell; /* the word, or memory in the register's place */
	uint64_t sink;
	uint32_t abort;
	uint64_t fetched;	/* index */
	uint64_t cq_pi, rcq_pi; /* CQEs written */
	unsigned malformed;	/* WQEs that were not what they should be */
	/* Sees each WQE, which may wrap; not NULL: non-zero is malformed. */
	int (*wqe)(void *arg, const uint8_t *first_bb);
	void *arg;
};

void nic_init(struct nic *n, const struct nic_attr *attr);
void nic_free(struct nic *n);

/* Index up to which the doorbell lets the NIC read. */
uint64_t nic_producer(struct nic *n);
/* Take what was rung, complete it; how many WQEs. */
unsigned nic_step(struct nic *n);

void nic_complete(struct nic *n, uint16_t wqe_counter);
void nic_fail(struct nic *n, uint16_t wqe_counter, uint8_t opcode,
	      uint8_t syndrome, uint8_t vendor);
/* 64 bytes as they are, with the owner bit of the place they go to. */
void nic_cqe_raw(struct nic *n, const void *cqe);
void nic_recv_cqe(struct nic *n, const struct wbell_cqe *cqe);

int nic_canary_whole(const struct nic *n);
void *nic_slot(const struct nic *n, uint64_t index);

#endif /* TESTS_DEV_NIC_MODEL_H */
