// SPDX-License-Identifier: BSD-2-Clause
/* NCCL's device code, played on the host. */
#include <endian.h>

#include "poster.h"

void (*poster_relax)(void) = rig_turn;
bool poster_stop;

static bool may_spin(unsigned i)
{
	return i < POSTER_SPINS &&
	       !__atomic_load_n(&poster_stop, __ATOMIC_RELAXED);
}

#define take_view(p, v)                                          \
	do {                                                     \
		(p)->reserved = (uint64_t *)&(v)->sq_reserved;   \
		(p)->ready = (uint64_t *)&(v)->sq_ready;         \
		(p)->ci = (uint64_t *)&(v)->cq_sq.ci;            \
		(p)->ds_be = (v)->qpn_ds_be;                     \
		(p)->sq = (uint8_t *)(uintptr_t)(v)->sq;         \
		(p)->db = (uint64_t *)(uintptr_t)(v)->sq_db;     \
		(p)->cqe = (uint8_t *)(uintptr_t)(v)->cq_sq.cqe; \
		(p)->depth = (v)->sq_num;                        \
		(p)->cqe_num = (v)->cq_sq.cqe_num;               \
		(p)->cqn = (v)->cq_sq.cqn;                       \
		(p)->shift8 = (v)->qpn_shift8;                   \
		assert_int_equal((v)->nic_handler, 1);           \
	} while (0)

void poster_open(struct poster *p, struct wbell_queue *q, unsigned kind)
{
	bool v1 = kind == WBELL_COMPAT_DOCA_V1;
	size_t size = v1 ? sizeof(p->view.v1) : sizeof(p->view.v2);

	if (wbell_queue_compat(q, kind, &p->view, size))
		fail_msg("%s", wbell_error(rig_end[0].ctx));
	if (v1)
		take_view(p, &p->view.v1);
	else
		take_view(p, &p->view.v2);
}

/* ---- completion queue ---- */

/* Both forms: the owner bit, and (before sm_90) the counter. */
int poster_poll(struct poster *p, uint64_t index)
{
	uint8_t *cqe = p->cqe + (index & (p->cqe_num - 1)) * 64;
	uint64_t ci = __atomic_load_n(p->ci, __ATOMIC_RELAXED);
	uint32_t last;

	if (index < ci)
		return 0;
	if (index >= ci + p->cqe_num)
		return -EBUSY;
	last = be32toh(
		__atomic_load_n((uint32_t *)(cqe + 60), __ATOMIC_ACQUIRE));
	if ((last & 1) != !!(index & p->cqe_num))
		return -EBUSY;
	if (last >> 16 != (index & 0xffff))
		return -EBUSY;
	if ((last >> 4 & 0xf) == WBELL_CQE_REQ_ERR)
		return -EIO;
	while (ci < index + 1 &&
	       !__atomic_compare_exchange_n(p->ci, &ci, index + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	return 0;
}

int poster_wait(struct poster *p, uint64_t index)
{
	int rc = -EBUSY;

	for (unsigned i = 0; may_spin(i) && rc == -EBUSY; i++) {
		rc = poster_poll(p, index);
		if (rc == -EBUSY)
			poster_relax();
	}
	return rc == -EBUSY ? -ETIMEDOUT : rc;
}

/* ---- send queue ---- */

/* An error CQE that code takes for a free slot, and later spins for ever. */
int poster_reserve(struct poster *p, uint32_t n, uint64_t *index)
{
	uint64_t last;
	int rc = 0;

	*index = __atomic_fetch_add(p->reserved, n, __ATOMIC_RELAXED);
	last = *index + n - 1;
	if (last >= p->depth)
		rc = poster_wait(p, last - p->depth);
	return rc;
}

uint8_t *poster_slot(struct poster *p, uint64_t index)
{
	return p->sq + (index & (p->depth - 1)) * 64;
}

void poster_seg(struct poster *p, uint64_t index, unsigned seg, uint64_t lo,
		uint64_t hi)
{
	rig_store(poster_slot(p, index) + seg * 16, lo, 8);
	rig_store(poster_slot(p, index) + seg * 16 + 8, hi, 8);
}

static uint64_t two(uint32_t first_be, uint32_t second_be)
{
	return (uint64_t)second_be << 32 | first_be;
}

/* What that code leaves unset is whatever was in its registers. */
static uint32_t stale(uint64_t index)
{
	return (uint32_t)index * 0x9e3779b1U;
}

void poster_ctrl(struct poster *p, uint64_t index, uint8_t opcode, unsigned ds)
{
	uint32_t first = htobe32((uint32_t)(index & 0xffff) << 8 | opcode);
	uint32_t second = ds <= 4 ? p->ds_be[ds - 1] : htobe32(p->shift8 | ds);
	uint32_t flags = (stale(index) & 0xffffff) |
			 (uint32_t)WBELL_CTRL_CQ_UPDATE << 24;

	poster_seg(p, index, 0, two(first, second), two(flags, stale(index)));
}

static void raddr(struct poster *p, uint64_t index, struct poster_addr a)
{
	poster_seg(p, index, 1, htobe64(a.addr), two(a.key, stale(~index)));
}

static void data(struct poster *p, uint64_t index, unsigned seg, uint32_t len,
		 struct poster_addr a)
{
	poster_seg(p, index, seg, two(htobe32(len), a.key), htobe64(a.addr));
}

int poster_publish(struct poster *p, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; may_spin(i); i++) {
		if (__atomic_load_n(p->ready, __ATOMIC_ACQUIRE) == from) {
			__atomic_store_n(p->ready, to, __ATOMIC_RELEASE);
			return 0;
		}
		poster_relax();
	}
	return -ETIMEDOUT;
}

void poster_ring(struct poster *p, uint64_t pi)
{
	uint64_t seen = __atomic_load_n(p->db, __ATOMIC_RELAXED);

	while (seen < pi &&
	       !__atomic_compare_exchange_n(p->db, &seen, pi, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

int poster_submit(struct poster *p, uint64_t from, uint64_t to)
{
	int rc = poster_publish(p, from, to);

	if (!rc)
		poster_ring(p, to);
	return rc;
}

/* ---- operations ---- */

static void write_wqe(struct poster *p, uint64_t i, struct poster_addr to,
		      struct poster_addr from, uint32_t len)
{
	poster_ctrl(p, i, len ? WBELL_OP_WRITE : WBELL_OP_NOP, len ? 3 : 1);
	if (!len)
		return;
	raddr(p, i, to);
	data(p, i, 2, len, from);
}

static void add_wqe(struct poster *p, uint64_t i, struct poster_addr to,
		    struct poster_addr sink, uint64_t add)
{
	poster_ctrl(p, i, WBELL_OP_FA, 4);
	raddr(p, i, to);
	poster_seg(p, i, 2, htobe64(add), htobe64(add));
	data(p, i, 3, 8, sink);
}

int poster_put(struct poster *p, struct poster_addr to, struct poster_addr from,
	       uint32_t len, uint64_t *ticket)
{
	int rc = poster_reserve(p, 1, ticket);

	if (rc)
		return rc;
	write_wqe(p, *ticket, to, from, len);
	return poster_submit(p, *ticket, *ticket + 1);
}

/* The length by one store, the bytes by stores of at most four. */
int poster_put_value(struct poster *p, struct poster_addr to, const void *v,
		     unsigned len, uint64_t *ticket)
{
	int rc = poster_reserve(p, 1, ticket);
	uint8_t *at = poster_slot(p, *ticket) + 32;
	unsigned step = len < 4 ? len : 4;

	if (rc)
		return rc;
	poster_ctrl(p, *ticket, WBELL_OP_WRITE, len > 12 ? 4 : 3);
	raddr(p, *ticket, to);
	rig_store(at, htobe32(len | WBELL_INLINE), 4);
	for (unsigned i = 0; i < len; i += step) {
		uint32_t part = 0;

		memcpy(&part, (const uint8_t *)v + i, step);
		rig_store(at + 4 + i, part, step);
	}
	return poster_submit(p, *ticket, *ticket + 1);
}

int poster_add(struct poster *p, struct poster_addr to, struct poster_addr sink,
	       uint64_t add, uint64_t *ticket)
{
	int rc = poster_reserve(p, 1, ticket);

	if (rc)
		return rc;
	add_wqe(p, *ticket, to, sink, add);
	return poster_submit(p, *ticket, *ticket + 1);
}

int poster_get(struct poster *p, struct poster_addr from, struct poster_addr to,
	       uint32_t len, uint64_t *ticket)
{
	int rc = poster_reserve(p, 1, ticket);

	if (rc)
		return rc;
	poster_ctrl(p, *ticket, WBELL_OP_READ, 3);
	raddr(p, *ticket, from);
	data(p, *ticket, 2, len, to);
	return poster_submit(p, *ticket, *ticket + 1);
}

int poster_put_counter(struct poster *p, struct poster *companion,
		       const struct poster_counted *op, uint64_t *ticket)
{
	uint64_t i, k;
	int rc = poster_reserve(p, 1, &i);

	if (rc)
		return rc;
	write_wqe(p, i, op->to, op->from, op->len);
	rc = poster_publish(p, i, i + 1);
	if (!rc)
		rc = poster_reserve(companion, 2, &k);
	if (rc)
		return rc;
	poster_ctrl(companion, k, WBELL_OP_WAIT, 2);
	poster_seg(companion, k, 1, stale(k),
		   two(htobe32((uint32_t)i), htobe32(p->cqn)));
	add_wqe(companion, k + 1, op->counter, op->sink, 1);
	rc = poster_publish(companion, k, k + 2);
	poster_ring(p, i + 1);
	poster_ring(companion, k + 2);
	*ticket = k + 1;
	return rc;
}
