/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device under test alone with a peer that the test plays by hand.  Frames
 * are built and sealed here with zlib, apart from the code they judge.
 */
#ifndef TESTS_CORE_CRAFT_H
#define TESTS_CORE_CRAFT_H

#include <stdint.h>

#include <wbell/queue.h>

#include "../../dpdk_path/roce/core.h"

#define CRAFT_QPN  0x11 /* of the device under test */
#define CRAFT_PEER 0x12 /* of its peer */

struct craft {
	struct roce_dev *dev;
	struct roce_qp *qp;
	uint64_t now;
	uint8_t ip, peer_ip; /* last byte of 192.0.2.x; MAC 2:0:0:0:0:x */
	uint8_t out[64][4608];
	struct roce_frame sent[64];
	unsigned nsent;
};

struct craft_attr {
	uint8_t ip, peer_ip;
	uint32_t qpn, peer_qpn;
	uint32_t sq_psn, rq_psn;
	uint32_t mtu, recv_depth;
	uint8_t max_rd_atomic;
	uint16_t window;
};
struct craft *craft_new(const struct craft_attr *a);
void craft_free(struct craft *c);

/* One frame from the peer: opcode, PSN, bytes behind the BTH (no pad). */
struct craft_frame {
	uint8_t opcode;
	uint8_t flags; /* of the BTH without pad; 0: MigReq */
	uint8_t bth4;  /* FECN, BECN and reserved */
	uint8_t resv7;
	uint16_t pkey; /* 0: 0xffff */
	uint32_t psn;
	uint8_t ackreq;
	uint32_t qpn; /* 0: the device's */
	uint8_t body[4200];
	unsigned len;
};
void craft_reth(struct craft_frame *f, uint64_t va, uint32_t rkey,
		uint32_t len);
void craft_atomic(struct craft_frame *f, uint64_t va, uint32_t rkey,
		  uint64_t swap_add, uint64_t compare);
/* To p, 5000 bytes; gives the length.  Seal again what was changed since. */
uint32_t craft_build(const struct craft *c, const struct craft_frame *f,
		     uint8_t *p);
void craft_seal(uint8_t *frame, uint32_t len);
void craft_rx(struct craft *c, const struct craft_frame *f);
void craft_rx_raw(struct craft *c, const uint8_t *frame, uint32_t len);
/* What the device sends now; gives how many. */
unsigned craft_tx(struct craft *c);

/* Of the i-th frame sent. */
uint8_t craft_opcode(const struct craft *c, unsigned i);
uint32_t craft_psn(const struct craft *c, unsigned i);
uint8_t craft_syndrome(const struct craft *c, unsigned i);
uint32_t craft_msn(const struct craft *c, unsigned i);

#endif /* TESTS_CORE_CRAFT_H */
