/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The transport core on a network interface by a packet socket, with an IP
 * and a MAC of its own: no DPDK, no thread, one turn at a time.
 */
#ifndef INTEROP_LINK_H
#define INTEROP_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "../../dpdk_path/port/neighbour.h"
#include "../../dpdk_path/roce/core.h"
#include "mads.h"

#define LINK_BURST 32
#define LINK_FRAME 4608 /* bytes; a path MTU of 4096 and all headers */

struct link_attr {
	const char *ifname;
	uint8_t ip[4], ip6[16], mac[6];
	unsigned drop; /* one of so many requests is lost; 0: none */
	enum mads_loss mads;
	uint64_t seed;
	unsigned seconds; /* the program dies when it is not done by then */
};

struct link {
	struct link_attr attr;
	int fd;
	uint64_t end; /* ns */
	uint64_t random;
	uint64_t lost;
	struct roce_dev *dev;
	struct neighbours *v4, *v6; /* v6 NULL: no IPv6 address */
	void (*comp)(void *user, const struct roce_comp *c);
	void *user;
	void (*work)(void *user); /* before frames leave; NULL: none */
	void *work_user;
	uint8_t buf[LINK_BURST][LINK_FRAME];
	struct roce_frame frame[LINK_BURST];
};

__attribute__((format(printf, 1, 2), noreturn)) void die(const char *fmt, ...);

uint64_t link_now(void); /* ns */
void link_open(struct link *l, const struct link_attr *attr);
void link_close(struct link *l);
/* A turn; then, when nothing moved, sleep until something may or fd (-1:
 * none) can be read, a millisecond at most.
 */
void link_turn(struct link *l, int fd);
/* Turns until the wire was silent for ns. */
void link_drain(struct link *l, uint64_t ns);
/* By ARP or neighbour discovery; dies with the program's time. */
void link_resolve(struct link *l, const uint8_t gid[GID_SIZE], uint8_t mac[6]);
/* The same without a wait: false, it is asked for. */
bool link_ask(struct link *l, const uint8_t gid[GID_SIZE], uint8_t mac[6]);

#endif /* INTEROP_LINK_H */
