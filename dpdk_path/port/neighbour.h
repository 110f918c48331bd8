/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Neighbours of an engine that has an address of its own: it answers for that
 * address, resolves those that queues wait for, and follows peers that change.
 * ARP (RFC 826) for an IPv4 address, neighbour discovery (RFC 4861) for an
 * IPv6 one.
 *
 * Not done: duplicate address detection (RFC 4862 5.4).  An address is given
 * by hand and used at once; another host that has it too is told of as a
 * conflict.  No router is looked for and none is listened to.
 *
 * Frames and a time in, frames out; no DPDK, no clock.  One caller at a time.
 */
#ifndef WBELL_NEIGHBOUR_H
#define WBELL_NEIGHBOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "../nic/gid.h"

#define NEIGHBOUR_FRAME 96  /* bytes of the longest frame sent */
#define NEIGHBOUR_MAX	256 /* addresses known or asked for */

struct neighbours;

/*
 * gid: our address, which says the family; mac: where it is.  Both are
 * copied.  -ENOMEM.
 */
int neighbours_create(const uint8_t gid[GID_SIZE], const uint8_t mac[6],
		      struct neighbours **n);
void neighbours_destroy(struct neighbours *n);

/*
 * Somebody waits for gid.  true: mac is known.  Else it is asked for, at once,
 * after 100 ms and then less often, at last each second, as long as this is
 * called again within NEIGHBOUR_FORGET_NS.  A full table: that is counted,
 * and the address waits until another is forgotten.
 */
#define NEIGHBOUR_FORGET_NS 3000000000ULL
bool neighbours_want(struct neighbours *n, uint64_t now,
		     const uint8_t gid[GID_SIZE], uint8_t mac[6]);

/* What a received frame brought. */
struct neighbour_news {
	bool learned;	/* gid is at mac now */
	bool conflict;	/* another host, mac, claims our address */
	uint32_t reply; /* send this many bytes of out[]; 0: none */
	uint8_t gid[GID_SIZE], mac[6];
	uint8_t out[NEIGHBOUR_FRAME];
};
/* false: the frame is none of ours, another may want it. */
bool neighbours_rx(struct neighbours *n, uint64_t now, const uint8_t *frame,
		   uint32_t len, struct neighbour_news *news);

/* The next frame that is due: its length; 0: none now. */
uint32_t neighbours_tx(struct neighbours *n, uint64_t now,
		       uint8_t out[NEIGHBOUR_FRAME]);

enum neighbour_counter {
	NEIGHBOUR_C_RX,
	NEIGHBOUR_C_BAD,       /* cut short, absurd, or with bad options */
	NEIGHBOUR_C_HOP_LIMIT, /* IPv6: not 255, so from beyond a router */
	NEIGHBOUR_C_CHECKSUM,  /* IPv6 */
	NEIGHBOUR_C_ASK_TX,
	NEIGHBOUR_C_TELL_TX,
	NEIGHBOUR_C_REPORT_TX, /* IPv6: of the multicast group (RFC 3810) */
	NEIGHBOUR_C_CONFLICT,
	NEIGHBOUR_C_FULL,
	NEIGHBOUR_C_MAX
};
uint64_t neighbours_counter(const struct neighbours *n,
			    enum neighbour_counter c);
/* NULL: the family has no such counter. */
const char *neighbours_counter_name(const struct neighbours *n,
				    enum neighbour_counter c);

#endif /* WBELL_NEIGHBOUR_H */
