// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "mailbox.h"

static void post(struct mailbox *m)
{
	struct roce_sge sge = { (uintptr_t)m->mem.in, MAILBOX_LEN, m->key };

	if (roce_recv_post(m->qp, 0, &sge, 1))
		die("cannot post a receive");
}

void mailbox_open(struct mailbox *m, struct rdmacm *cm,
		  const struct rdmacm_to *to)
{
	struct roce_qp_attr attr = {
		.type = ROCE_RC,
		.depth = 4,
		.recv_depth = 4,
		.recv_sge = 1,
		.sq_psn = 0xfffff0, /* wraps */
		.min_rnr_timer = 12,
		.max_rd_atomic = 1,
	};
	struct roce_mr_attr mr = { .iova = (uintptr_t)&m->mem,
				   .base = &m->mem,
				   .len = sizeof(m->mem),
				   .access = ROCE_ACCESS_LOCAL_WRITE };
	struct roce_dev *dev = cm->link->dev;

	m->cm = cm;
	if (roce_qp_create(dev, &attr, &m->qp) ||
	    roce_mr_add(dev, &mr, &m->key))
		die("cannot make a queue pair to talk on");
	post(m);
	m->id = to ? rdmacm_connect(cm, to, m->qp, attr.sq_psn)
		   : rdmacm_accept(cm, m->qp, attr.sq_psn);
}

bool mailbox_comp(struct mailbox *m, const struct roce_comp *c)
{
	if (!m->qp || c->qp != m->qp)
		return false;
	if (c->syndrome)
		die("completion of the connection to talk on: syndrome 0x%02x",
		    c->syndrome);
	if (!c->recv) {
		m->sent++;
		return true;
	}
	m->received++;
	m->len = c->len;
	return true;
}

void mailbox_put(struct mailbox *m, const void *data, size_t len)
{
	struct roce_wr *wr = roce_wr_next(m->qp);
	uint64_t sent = m->sent;

	memcpy(m->mem.out, data, len);
	memset(wr, 0, sizeof(*wr));
	wr->op = ROCE_OP_SEND;
	wr->flags = ROCE_WR_SIGNALLED;
	wr->index = m->index++;
	wr->nsge = 1;
	wr->len = len;
	wr->sge = (struct roce_sge){ (uintptr_t)m->mem.out, len, m->key };
	roce_wr_post(m->qp, wr);
	while (m->sent == sent)
		link_turn(m->cm->link, -1);
}

void mailbox_get(struct mailbox *m, void *data, size_t len)
{
	while (m->received == m->taken)
		link_turn(m->cm->link, -1);
	m->taken++;
	if (m->len != len)
		die("a message of %u bytes came, not of %zu", m->len, len);
	memcpy(data, m->mem.in, len);
	post(m);
}
