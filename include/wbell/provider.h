/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * What a provider exports to libwarpbell: a NIC behind a table of control
 * calls.  The engine (libwarpbell-engine.so) is one, loaded by dlopen; its
 * symbol is WBELL_PROVIDER_SYMBOL, a struct wbell_provider_ops.
 *
 * The library owns rings, doorbell words and device views (they lie in one
 * shared memory per context); a provider gets their addresses, as firmware
 * would.  All calls may sleep; the library serialises them per context.
 * Errors: 0 or -errno, with text "what failed: the fact seen: the mend" in
 * err when there is room for it.
 */
#ifndef WBELL_PROVIDER_H
#define WBELL_PROVIDER_H

#include "wbell.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WBELL_PROVIDER_VERSION 1
#define WBELL_PROVIDER_SYMBOL  "wbell_provider"

struct wbell_err {
	char text[256];
};

struct wbell_prov_open {
	const char *wire; /* never NULL */
	uint32_t flags;	  /* WBELL_OPEN_* */
	uint32_t max_queues;
	uint32_t cpu; /* as wbell_open_attr */
	/*
	 * One doorbell word per queue, host order, next to each other:
	 * the producer index of the send ring.  max_queues of them, zeroed.
	 */
	uint64_t *doorbells;
	wbell_log_fn log; /* never NULL */
	void *log_arg;
	/* Tell the library of an event; from any thread, must not block. */
	void (*event)(void *arg, const struct wbell_event *event);
	void *event_arg;
};

struct wbell_prov_queue {
	uint32_t index; /* of its doorbell word; < max_queues, unique */
	uint32_t depth; /* basic blocks */
	uint32_t log_cq;
	uint32_t recv_depth, recv_stride; /* entries, bytes */
	uint32_t log_rcq;
	void *sq;
	struct wbell_cqe *cq;
	void *rq;
	struct wbell_cqe *rcq;
	struct wbell_dbrec *dbrec;
	uint64_t first_index;	      /* where send index starts */
	struct wbell_queue_attr attr; /* every default filled in, checked */
};

struct wbell_prov_stat {
	uint32_t state, peer_qpn, path_mtu, rsvd;
	uint64_t fetched, retries, rnr_naks, timeouts, packets_tx, packets_rx;
	char peer_address[48];
};

struct wbell_provider_ops {
	uint32_t version; /* WBELL_PROVIDER_VERSION */
	uint32_t size;	  /* sizeof(struct wbell_provider_ops) */
	const char *name;

	/* Can it work here at all?  text: version and wires, or why not. */
	int (*probe)(char *text, size_t size);

	int (*open)(const struct wbell_prov_open *attr, void **nic,
		    struct wbell_err *err);
	void (*close)(void *nic); /* all queues and keys are gone */
	int (*info)(void *nic, struct wbell_ctx_info *info);
	int (*counters)(void *nic, struct wbell_counter *c, unsigned n,
			unsigned *count);
	int (*poll)(void *nic); /* WBELL_OPEN_POLLED */

	/* lkey == rkey == *key */
	int (*mem_register)(void *nic, void *addr, size_t len, uint32_t access,
			    uint32_t *key, struct wbell_err *err);
	int (*mem_deregister)(void *nic, uint32_t key);

	int (*queue_create)(void *nic, const struct wbell_prov_queue *attr,
			    void **q, uint32_t *qpn, struct wbell_err *err);
	int (*queue_address)(void *q, struct wbell_address *addr);
	int (*queue_connect)(void *q, const struct wbell_address *peer,
			     uint32_t *peer_qpn, struct wbell_err *err);
	int (*queue_stat)(void *q, struct wbell_prov_stat *stat);
	void (*queue_destroy)(void *q); /* after it no ring is touched */
};

#ifdef __cplusplus
}
#endif

#endif /* WBELL_PROVIDER_H */
