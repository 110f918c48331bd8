/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARP (RFC 826) of an engine that has an address of its own: answers for it,
 * resolves those that queues wait for, and follows peers that change.
 *
 * Frames and a time in, frames out; no DPDK, no clock.
 */
#ifndef WBELL_ARP_H
#define WBELL_ARP_H

#include <stdbool.h>
#include <stdint.h>

#define ARP_FRAME 60  /* the least an Ethernet frame has, without FCS */
#define ARP_MAX	  256 /* addresses known or asked for */

struct arp;

int arp_create(const uint8_t ip[4], const uint8_t mac[6], struct arp **arp);
void arp_destroy(struct arp *a);

/*
 * Somebody waits for ip.  true: mac is known.  Else it is asked for, as long
 * as this is called again within ARP_FORGET_NS.  A full table: -ENOSPC is
 * counted, and the address waits until another is forgotten.
 */
#define ARP_FORGET_NS 3000000000ULL
bool arp_want(struct arp *a, uint64_t now, const uint8_t ip[4], uint8_t mac[6]);

/* What a received frame brought. */
struct arp_news {
	bool reply;    /* send out[] */
	bool learned;  /* ip is at mac now */
	bool conflict; /* another host, mac, claims our address */
	uint8_t ip[4], mac[6];
	uint8_t out[ARP_FRAME];
};
void arp_rx(struct arp *a, uint64_t now, const uint8_t *frame, uint32_t len,
	    struct arp_news *news);

/* The next frame that is due; false: none now. */
bool arp_tx(struct arp *a, uint64_t now, uint8_t out[ARP_FRAME]);

enum arp_counter {
	ARP_C_RX,
	ARP_C_BAD, /* not Ethernet and IPv4, cut short, or absurd */
	ARP_C_REQUEST_TX,
	ARP_C_REPLY_TX,
	ARP_C_CONFLICT,
	ARP_C_FULL,
	ARP_C_MAX
};
uint64_t arp_counter(const struct arp *a, enum arp_counter c);
const char *arp_counter_name(enum arp_counter c);

#endif /* WBELL_ARP_H */
