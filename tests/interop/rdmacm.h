/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections by RDMA-CM over a link. */
#ifndef INTEROP_RDMACM_H
#define INTEROP_RDMACM_H

#include "link.h"
#include "../../dpdk_path/cm/gsi.h"

#define RDMACM_EVENTS 16

struct rdmacm {
	struct link *link;
	struct cm *cm;
	struct gsi *gsi;
	struct roce_qp *accepting;
	uint32_t accepting_id;
	struct cm_event event[RDMACM_EVENTS]; /* not waited for yet */
	unsigned nevent;
};

/* Before any queue pair of the link. */
void rdmacm_open(struct rdmacm *r, struct link *l);
void rdmacm_close(struct rdmacm *r);
/* true: the completion was of queue pair 1, or tells what is known now. */
bool rdmacm_comp(struct rdmacm *r, const struct roce_comp *c);

void rdmacm_listen(struct rdmacm *r, unsigned port);
/* The next who asks, with qp; until it is ready.  Returns the ID. */
uint32_t rdmacm_accept(struct rdmacm *r, struct roce_qp *qp, uint32_t psn);
/* Who listens at port; again as long as nobody does, unless once. */
struct rdmacm_to {
	uint8_t gid[16];
	unsigned port;
	uint32_t mtu;
	bool once;
};
/* Returns the ID; 0: nobody listens. */
uint32_t rdmacm_connect(struct rdmacm *r, const struct rdmacm_to *to,
			struct roce_qp *qp, uint32_t psn);
/* The next event of id, or of any with 0; turns until it comes. */
struct cm_event rdmacm_event(struct rdmacm *r, uint32_t id);
/* It is there already. */
bool rdmacm_has_event(struct rdmacm *r, uint32_t id);
/* Ends it, by whom: dies when it ends otherwise. */
void rdmacm_disconnect(struct rdmacm *r, uint32_t id, enum cm_end how);
/* The peer's turn to end it. */
void rdmacm_wait_end(struct rdmacm *r, uint32_t id);
void rdmacm_print(const struct rdmacm *r);

#endif /* INTEROP_RDMACM_H */
