/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port: frames to and from one DPDK ethdev.  One caller at a time.
 *
 * Nothing here waits: frames the device does not take are kept and offered
 * again first; a device that takes none for PORT_STUCK_NS loses them, as a
 * pulled cable would.
 */
#ifndef WBELL_PORT_H
#define WBELL_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "../roce/core.h"
#include "../wire.h"

#define PORT_BURST    32
#define PORT_STUCK_NS 1000000

struct port;

struct port_attr {
	const struct wire *wire;
	uint64_t now;
	wbell_log_fn log;
	void *log_arg;
};

int port_open(const struct port_attr *attr, struct port **port,
	      struct wbell_err *err);
void port_close(struct port *port);

/* Frames of a burst, PORT_BURST at most; valid until port_rx_done(). */
unsigned port_rx(struct port *p, uint64_t now, struct roce_frame *f);
void port_rx_done(struct port *p);

/* Empty frames to fill, PORT_BURST at most; 0: the device is behind. */
unsigned port_tx_room(struct port *p, uint64_t now, struct roce_frame **f);
/* Send the first n of them; whoever filled them may have reordered all. */
void port_tx(struct port *p, uint64_t now, unsigned n);
/* One frame of somebody else's bytes (ARP). */
void port_tx_copy(struct port *p, uint64_t now, const uint8_t *bytes,
		  uint32_t len);

/* Every PORT_TICK_NS: flushes what is held, looks at the link. */
#define PORT_TICK_NS   100000000
#define PORT_NEWS_MTU  0x1
#define PORT_NEWS_UP   0x2
#define PORT_NEWS_DOWN 0x4
unsigned port_tick(struct port *p, uint64_t now);
/* Frames are held that a later call must move: do not sleep long. */
bool port_busy(const struct port *p);

uint32_t port_mtu(const struct port *p);
uint32_t port_path_mtu(const struct port *p);
/* "af_packet on veth0" */
void port_text(const struct port *p, char *text, size_t size);
unsigned port_counters(const struct port *p, struct wbell_counter *c,
		       unsigned n);

#endif /* WBELL_PORT_H */
