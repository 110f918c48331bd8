/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The general services interface: queue pair 1 of a device of the transport
 * core, on which a communication manager speaks (IBTA vol. 1 13.5.1).
 *
 * Whose Ethernet address is not known waits, a short while; the caller
 * resolves.  A turn, besides that of roce/core.h:
 *	gsi_comp() with each completion of gsi_qp(), cm_event(), gsi_post(),
 *	roce_tx()
 */
#ifndef CM_GSI_H
#define CM_GSI_H

#include "../roce/core.h"
#include "cm.h"

#define GSI_QPN	 1
#define GSI_QKEY 0x80010000U /* IBTA 3.5.3: well known */

struct gsi;

/*
 * Before any other queue pair of the device, so that number 1 is free: -ENOSPC
 * if it is not, or no memory key is left.  The device must have GSI_AH address
 * handles to give; cm must live longer.  -ENOMEM.
 */
#define GSI_AH 8
int gsi_create(struct roce_dev *dev, struct cm *cm, struct gsi **gsi);
void gsi_destroy(struct gsi *g);
struct roce_qp *gsi_qp(const struct gsi *g);

/* A completion of gsi_qp(): a MAD came or has left. */
void gsi_comp(struct gsi *g, uint64_t now, const struct roce_comp *c);
/* Posts what the manager has to say. */
void gsi_post(struct gsi *g, uint64_t now);
/* When gsi_post() must be called; 0: now, ~0: never. */
uint64_t gsi_deadline(const struct gsi *g);

/* Up to n addresses that MADs wait for... */
unsigned gsi_unresolved(const struct gsi *g, uint8_t (*gid)[16], unsigned n);
/* ...and the answer, also when it changes. */
void gsi_resolved(struct gsi *g, const uint8_t gid[16], const uint8_t mac[6]);

/* MADs that were dropped because nobody resolved their address in time. */
uint64_t gsi_unreachable(const struct gsi *g);

/*
 * What a queue pair of the connection connects to, without a MAC; rq_psn: the
 * psn that was said in struct cm_param.  peer->psn and the rest are for
 * roce_qp_requester().
 */
void gsi_path(const struct cm_peer *peer, uint32_t rq_psn,
	      struct roce_peer *out);

#endif /* CM_GSI_H */
