/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short messages over a connection of its own, made by RDMA-CM: how perftest's
 * programs talk with -R.  In turn: who has heard may speak.
 */
#ifndef INTEROP_MAILBOX_H
#define INTEROP_MAILBOX_H

#include "rdmacm.h"

#define MAILBOX_LEN 64

struct mailbox {
	struct rdmacm *cm;
	struct roce_qp *qp;
	uint32_t id, key;
	uint16_t index;
	uint64_t sent, received, taken;
	uint32_t len; /* of the last that came */
	struct {
		uint8_t out[MAILBOX_LEN], in[MAILBOX_LEN];
	} mem;
};

/* to NULL: the next who asks. */
void mailbox_open(struct mailbox *m, struct rdmacm *cm,
		  const struct rdmacm_to *to);
bool mailbox_comp(struct mailbox *m, const struct roce_comp *c);
void mailbox_put(struct mailbox *m, const void *data, size_t len);
/* Dies when the message has another length. */
void mailbox_get(struct mailbox *m, void *data, size_t len);

#endif /* INTEROP_MAILBOX_H */
