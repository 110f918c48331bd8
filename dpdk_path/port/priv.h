/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kinds of port share among themselves.
 */
#ifndef WBELL_PORT_PRIV_H
#define WBELL_PORT_PRIV_H

#include <net/if.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "../eal.h"
#include "capture.h"
#include "fault.h"
#include "port.h"

#define PORT_NAME_MAX 32
/* What one port_tx() can leave behind: a burst after faults. */
#define PORT_BACKLOG (PORT_BURST * 2 + FAULT_HELD_MAX)

struct port_link {
	bool up;
	uint32_t mtu;
};

struct port_kind {
	/* Makes p->pool and the ethdev p->id; sets p->mtu, p->frame_max. */
	int (*open)(struct port *p, const struct wire *w,
		    struct wbell_err *err);
	void (*close)(struct port *p);
	void (*link)(struct port *p, struct port_link *link);
};
extern const struct port_kind port_ring, port_memif, port_af_packet;

enum port_counter {
	PORT_C_RX,
	PORT_C_TX,
	PORT_C_RX_LONG, /* did not fit a buffer */
	PORT_C_TX_LONG, /* did not fit the link's MTU as it is now */
	PORT_C_TX_FULL, /* the device took nothing for PORT_STUCK_NS */
	PORT_C_NO_BUFFER,
	PORT_C_MAX
};

struct port {
	/* What every burst touches. */
	uint16_t id;
	bool checked;	    /* tx: look at lengths */
	uint32_t frame_max; /* a longer frame was cut on receive */
	struct rte_mempool *pool;
	struct fault *fault;	 /* NULL: none */
	struct capture *capture; /* NULL: none */
	unsigned nrx, nback;
	unsigned nempty, sent; /* of empty[], the first `sent` are gone */
	uint64_t back_since;
	uint64_t count[PORT_C_MAX];
	struct rte_mbuf *rx[PORT_BURST];
	struct roce_frame empty[PORT_BURST]; /* kept from turn to turn */
	struct rte_mbuf *back[PORT_BACKLOG];

	const struct port_kind *kind;
	struct wire wire;
	uint32_t mtu;	  /* of the link, now */
	uint32_t mtu_cap; /* what it was opened for */
	bool up;
	char name[PORT_NAME_MAX]; /* DPDK's */
	char text[WIRE_ARG_MAX + 24];
	wbell_log_fn log;
	void *log_arg;

	struct ring_wire *ring;
	unsigned side;
	int fd; /* af_packet: holds promiscuity, asks for MTU and flags */
	char interface[IFNAMSIZ];
};

/* rte_errno to -errno, with text. */
int port_error(struct wbell_err *err, const char *what, int rte_err,
	       const char *mend);

/* n mbufs that hold frames of frame_max bytes. */
int port_pool_create(uint32_t frame_max, unsigned n, struct rte_mempool **pool,
		     struct wbell_err *err);
/* rte_vdev_init() of p->name, and its port number. */
int port_vdev_create(struct port *p, const char *args, struct wbell_err *err);
void port_vdev_destroy(struct port *p);

/* Frees every mbuf that the port itself holds (burst.c). */
void port_drain(struct port *p);

#endif /* WBELL_PORT_PRIV_H */
