// SPDX-License-Identifier: BSD-2-Clause
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "nic_model.h"

static void *zalloc(size_t size)
{
	void *mem;

	if (posix_memalign(&mem, 64, size))
		abort();
	return memset(mem, 0, size);
}

/* A ring nobody has written to: every CQE invalid, owner of no pass. */
static struct wbell_cqe *cq_alloc(unsigned log_size)
{
	struct wbell_cqe *cq = zalloc(sizeof(*cq) << log_size);
	unsigned i;

	for (i = 0; i < 1U << log_size; i++)
		cq[i].op_own = WBELL_CQE_INVALID << 4 | WBELL_CQE_OWNER;
	return cq;
}

static void init_recv(struct nic *n, const struct nic_attr *attr)
{
	struct wbell_dqueue *q = n->q;

	q->log_rq = 0xff;
	if (!attr->log_rq)
		return;
	q->log_rq = (uint8_t)attr->log_rq;
	q->log_rq_stride = (uint8_t)attr->log_rq_stride;
	q->log_rcq = q->log_rq;
	n->rq = zalloc((size_t)1 << (attr->log_rq + attr->log_rq_stride));
	n->rcq = cq_alloc(q->log_rcq);
	q->rq = (uintptr_t)n->rq;
	q->rcq = (uintptr_t)n->rcq;
	q->rcq_dbrec = attr->cq_dbrec ? (uintptr_t)&n->rcq_dbrec : 0;
}

void nic_init(struct nic *n, const struct nic_attr *attr)
{
	size_t room = (size_t)WBELL_BB_SIZE << attr->log_depth;
	struct wbell_dqueue *q;

	memset(n, 0, sizeof(*n));
	n->q = q = zalloc(sizeof(*q));
	n->sq = zalloc(room + WBELL_BB_SIZE);
	memset(n->sq + room, NIC_CANARY, WBELL_BB_SIZE);
	q->magic = WBELL_DQUEUE_MAGIC;
	q->log_depth = (uint8_t)attr->log_depth;
	q->log_cq = (uint8_t)(attr->log_cq ? attr->log_cq : attr->log_depth);
	n->cq = cq_alloc(q->log_cq);
	q->sq = (uintptr_t)n->sq;
	q->cq = (uintptr_t)n->cq;
	q->db = (uintptr_t)&n->bell;
	q->dbrec = (uintptr_t)&n->dbrec;
	q->abort = (uintptr_t)&n->abort;
	q->error = (uintptr_t)&n->error;
	q->sink = (uintptr_t)&n->sink;
	q->cq_dbrec = attr->cq_dbrec ? (uintptr_t)&n->cq_dbrec : 0;
	q->qpn_ds = NIC_QPN << 8;
	q->peer_qpn = NIC_PEER_QPN;
	q->sink_lkey = NIC_SINK_LKEY;
	q->db_kind = (uint8_t)attr->db_kind;
	q->flags = (uint8_t)attr->flags;
	q->max_inline = 128;
	q->max_sge = 8;
	q->reserved = q->ready = n->fetched = attr->first_index;
	q->cq_state = attr->first_index << WBELL_CQ_CI_BITS;
	n->dbrec.send = htobe32((uint32_t)attr->first_index & 0xffff);
	if (attr->db_kind != WBELL_DB_UAR)
		n->bell = attr->first_index;
	init_recv(n, attr);
}

void nic_free(struct nic *n)
{
	free(n->rcq);
	free(n->rq);
	free(n->cq);
	free(n->sq);
	free(n->q);
}

void *nic_slot(const struct nic *n, uint64_t index)
{
	uint64_t mask = (1ULL << n->q->log_depth) - 1;

	return n->sq + ((index & mask) << WBELL_BB_SHIFT);
}

int nic_canary_whole(const struct nic *n)
{
	const uint8_t *end = n->sq + ((size_t)WBELL_BB_SIZE << n->q->log_depth);
	unsigned i;

	for (i = 0; i < WBELL_BB_SIZE; i++)
		if (end[i] != NIC_CANARY)
			return 0;
	return 1;
}

/* Hardware looks at the record only when the register was written. */
uint64_t nic_producer(struct nic *n)
{
	uint64_t bell = __atomic_load_n(&n->bell, __ATOMIC_ACQUIRE);
	uint32_t pi;

	if (n->q->db_kind != WBELL_DB_UAR)
		return bell;
	if (!bell)
		return n->fetched;
	pi = be32toh(__atomic_load_n(&n->dbrec.send, __ATOMIC_ACQUIRE));
	return n->fetched + (uint16_t)(pi - (uint32_t)n->fetched);
}

static unsigned take_one(struct nic *n)
{
	const struct wbell_ctrl_seg *ctrl = nic_slot(n, n->fetched);
	uint32_t word = be32toh(ctrl->opmod_idx_opcode);
	uint32_t qpn_ds = be32toh(ctrl->qpn_ds);
	unsigned nbb = ((qpn_ds & 0x3f) + 3) / 4;

	if ((word >> 8 & 0xffff) != (n->fetched & 0xffff) ||
	    qpn_ds >> 8 != NIC_QPN || !nbb ||
	    (n->wqe && n->wqe(n->arg, (const uint8_t *)ctrl)))
		n->malformed++;
	if (!nbb)
		nbb = 1;
	if (ctrl->fm_ce_se & WBELL_CTRL_CQ_UPDATE)
		nic_complete(n, (uint16_t)n->fetched);
	return nbb;
}

unsigned nic_step(struct nic *n)
{
	uint64_t end = nic_producer(n);
	unsigned count = 0;

	if (end - n->fetched > 1ULL << n->q->log_depth) {
		n->malformed++;
		end = n->fetched;
	}
	while (n->fetched != end) {
		n->fetched += take_one(n);
		count++;
		if (n->fetched > end) {
			n->malformed++;
			n->fetched = end;
		}
	}
	return count;
}

/* Body by plain stores, then the last four bytes, as a NIC's DMA lands. */
static void write_cqe(struct wbell_cqe *to, const struct wbell_cqe *cqe,
		      unsigned owner)
{
	struct wbell_cqe c = *cqe;
	uint32_t tail;

	c.op_own = (uint8_t)((c.op_own & ~WBELL_CQE_OWNER) | owner);
	memcpy(&tail, (uint8_t *)&c + 60, 4);
	memcpy(to, &c, 60);
	__atomic_store_n((uint32_t *)((uint8_t *)to + 60), tail,
			 __ATOMIC_RELEASE);
}

void nic_cqe_raw(struct nic *n, const void *cqe)
{
	unsigned log_cq = n->q->log_cq;
	struct wbell_cqe c;

	memcpy(&c, cqe, sizeof(c));
	write_cqe(&n->cq[n->cq_pi & ((1U << log_cq) - 1)], &c,
		  n->cq_pi >> log_cq & 1);
	n->cq_pi++;
}

void nic_recv_cqe(struct nic *n, const struct wbell_cqe *cqe)
{
	unsigned log_rcq = n->q->log_rcq;

	write_cqe(&n->rcq[n->rcq_pi & ((1U << log_rcq) - 1)], cqe,
		  n->rcq_pi >> log_rcq & 1);
	n->rcq_pi++;
}

void nic_complete(struct nic *n, uint16_t wqe_counter)
{
	struct wbell_cqe c;

	memset(&c, 0, sizeof(c));
	c.wqe_counter = htobe16(wqe_counter);
	c.op_own = WBELL_CQE_REQ << 4;
	nic_cqe_raw(n, &c);
}

void nic_fail(struct nic *n, uint16_t wqe_counter, uint8_t opcode,
	      uint8_t syndrome, uint8_t vendor)
{
	struct wbell_err_cqe c;

	memset(&c, 0, sizeof(c));
	c.syndrome = syndrome;
	c.vendor_err_synd = vendor;
	c.s_wqe_opcode_qpn = htobe32((uint32_t)opcode << 24 | NIC_QPN);
	c.wqe_counter = htobe16(wqe_counter);
	c.op_own = WBELL_CQE_REQ_ERR << 4;
	nic_cqe_raw(n, &c);
}
