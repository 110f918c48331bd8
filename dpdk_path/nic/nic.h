/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The software NIC without a port: doorbell words, mlx5 WQEs and CQEs, memory
 * keys, over the transport core.  Frames in, frames out; no I/O, no clock, no
 * thread.  One caller at a time (the engine's lock), none of it sleeps.
 */
#ifndef WBELL_NIC_H
#define WBELL_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include <wbell/provider.h>

#include "../roce/core.h"
#include "gid.h"

struct nic;
struct nic_queue;

struct nic_attr {
	uint32_t max_queues;
	uint64_t *doorbells;   /* max_queues words */
	uint8_t gid[GID_SIZE]; /* its address: peers are of the same family */
	uint8_t mac[6];
	uint32_t path_mtu; /* largest the port carries: 256..4096 */
	/* Tell of an event; must not block or call back. */
	void (*event)(void *arg, const struct wbell_event *event);
	void *event_arg;
	uint64_t seed; /* of QPNs and first PSNs */
};

int nic_create(const struct nic_attr *attr, struct nic **nic);
void nic_destroy(struct nic *nic);

int nic_mem_register(struct nic *nic, void *addr, size_t len, uint32_t access,
		     uint32_t *key, struct wbell_err *err);
int nic_mem_deregister(struct nic *nic, uint32_t key);

int nic_queue_create(struct nic *nic, const struct wbell_prov_queue *attr,
		     struct nic_queue **q, uint32_t *qpn,
		     struct wbell_err *err);
int nic_queue_address(struct nic_queue *q, struct wbell_address *addr);
int nic_queue_connect(struct nic_queue *q, const struct wbell_address *peer,
		      uint32_t *peer_qpn, struct wbell_err *err);
int nic_queue_stat(struct nic_queue *q, struct wbell_prov_stat *stat);
void nic_queue_destroy(struct nic_queue *q);

int nic_counters(struct nic *nic, struct wbell_counter *c, unsigned n,
		 unsigned *count);

/*
 * One turn of the engine, in this order:
 *	nic_rx(frames of a burst), nic_doorbells(), n = nic_tx(empty frames)
 * now: ns of a monotonic clock.
 */
void nic_rx(struct nic *nic, uint64_t now, const struct roce_frame *f,
	    unsigned n);
unsigned nic_doorbells(struct nic *nic, uint64_t now); /* WQEs taken */
unsigned nic_tx(struct nic *nic, uint64_t now, struct roce_frame *f,
		unsigned n);
/* When nic_tx() must be called again even if nothing happens; ~0 never. */
uint64_t nic_deadline(const struct nic *nic);
bool nic_tx_pending(const struct nic *nic);

/*
 * Address resolution: up to n GIDs that connected queues wait for.  A queue
 * waits for NIC_ASK_NS after it was connected, and whenever it has something
 * to send; one in error no more.  So asking ends: by an answer, by the queue's
 * own retries, or by nobody having use for one.
 */
#define NIC_ASK_NS 10000000000ULL
unsigned nic_unresolved(struct nic *nic, uint64_t now, uint8_t (*gid)[GID_SIZE],
			unsigned n);
/* ...and the answer, also when a peer's MAC changes. */
void nic_resolved(struct nic *nic, const uint8_t gid[GID_SIZE],
		  const uint8_t mac[6]);

/* The port's MTU changed: queues whose path MTU no longer fits get an event. */
void nic_set_path_mtu(struct nic *nic, uint32_t path_mtu);

#endif /* WBELL_NIC_H */
