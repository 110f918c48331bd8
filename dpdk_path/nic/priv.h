/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WBELL_NIC_PRIV_H
#define WBELL_NIC_PRIV_H

#include <errno.h>
#include <string.h>

#include "nic.h"

/* Vendor codes of WQEs that this NIC refused by itself. */
#define NIC_VENDOR_BAD_WQE  0x68
#define NIC_VENDOR_LATE	    0x69 /* rung, and never seen in whole */
#define NIC_VENDOR_WAIT	    0x6a /* WAIT: what it waited for failed */
#define NIC_VENDOR_WAIT_END 0x6b /* WAIT: it took too long */

struct nic_queue {
	/* one line: all that a put needs; send ring as the poster lays it */
	struct nic *nic;
	struct roce_qp *qp;
	uint8_t *sq;
	uint64_t depth_mask;
	uint64_t fetched; /* basic blocks taken */
	struct wbell_cqe *cq;
	uint32_t cq_pi; /* CQEs written */
	uint32_t qpn;
	uint8_t log_cq, log_rcq;
	bool connected, failed, wants_mac;

	/* WBELL_QUEUE_COMPAT: posters ring before all is to be seen */
	bool late;
	uint8_t stalled; /* why the next WQE is not taken; 0: it is new */
	uint64_t since;	 /* when that was first found so */
	uint64_t poison; /* fills slots that wait for their WQE */
	bool cq_failed;
	uint32_t cq_bad; /* index of the first error CQE of the send queue */

	/* receive ring */
	const uint8_t *rq;
	struct wbell_cqe *rcq;
	const struct wbell_dbrec *dbrec;
	uint32_t rq_mask, rq_stride, rcq_pi;
	uint16_t rq_fetched;

	struct wbell_queue_attr attr;
	uint32_t index; /* of its doorbell word */
	uint32_t sq_psn;
	uint32_t path_mtu; /* 0: not connected */
	uint32_t peer_qpn;
	uint8_t peer_gid[GID_SIZE];
	uint64_t asked_since; /* its address; 0: not yet */
	struct nic_queue *failed_next;
};

#define NIC_HOT 8

struct nic {
	struct roce_dev *dev;
	uint64_t *doorbells;
	uint64_t *taken; /* doorbell word at which nothing is to do */
	struct nic_queue **queue;
	uint32_t max_queues;
	uint32_t top; /* one above the highest index in use */

	/* doorbell.c */
	uint32_t hot[NIC_HOT];	    /* words that moved lately */
	uint32_t hot_at, hot_moved; /* a bit for each of hot */
	uint32_t near, sweep;	    /* where their windows begin */
	uint32_t quiet; /* turns since a frame came or a word had moved */

	uint32_t path_mtu;
	uint32_t unresolved;
	uint32_t loops; /* queues connected within this NIC */
	uint8_t gid[GID_SIZE];
	uint8_t mac[6];
	uint64_t seed;
	void (*event)(void *arg, const struct wbell_event *event);
	void *event_arg;
	struct nic_queue *failed; /* with receives that may still be posted */
	uint64_t bad_wqe;
};

/* doorbell.c: take what was posted where a doorbell word moved; WQEs. */
unsigned doorbells_take(struct nic *nic, uint64_t now);

/* wqe.c: take what is posted up to producer index pi; WQEs taken. */
unsigned wqe_take(struct nic_queue *q, uint64_t pi, uint64_t now);
/* Before anything is posted: this queue's posters are late. */
void wqe_late(struct nic_queue *q, uint64_t seed);
/* Receive WQEs posted since. */
void wqe_take_recv(struct nic_queue *q);

/* cqe.c */
void cqe_flush(struct nic *nic); /* every completion that waits */

#endif /* WBELL_NIC_PRIV_H */
