// SPDX-License-Identifier: BSD-2-Clause
/*
 * The path that most packets take, at both ends: RC WRITEs and SENDs of one
 * short packet, sent for the first time, and WRITEs of one packet that come
 * in their turn.  It does what req.c, msg.c and resp.c do, with the questions
 * asked once for many packets.  Whatever is out of the ordinary is left to
 * them, untouched.
 */
#include "frame.h"

/* ---- sending ---- */

#define SHORT_MAX 256 /* bytes that are copied here; longer ones are fused */

/* The first word of a work request, without what does not matter here. */
static inline uint64_t kind_of(struct roce_wr wr)
{
	const struct roce_wr mask = { .op = 0xff,
				      .flags = (uint8_t)~ROCE_WR_SIGNALLED,
				      .syndrome = 0xff,
				      .nsge = 0xff };
	uint64_t w, m;

	memcpy(&w, &wr, sizeof(w));
	memcpy(&m, &mask, sizeof(m));
	return w & m;
}

static inline bool is_plain(const struct roce_wr *wr)
{
	const struct roce_wr write = { .op = ROCE_OP_WRITE, .nsge = 1 };
	const struct roce_wr put = { .op = ROCE_OP_WRITE,
				     .flags = ROCE_WR_INLINE };
	const struct roce_wr send = { .op = ROCE_OP_SEND, .nsge = 1 };
	uint64_t w = kind_of(*wr);

	if (w != kind_of(write) && w != kind_of(put) && w != kind_of(send))
		return false;
	return wr->len && wr->len <= SHORT_MAX;
}

static inline void copy_short(uint8_t *to, const uint8_t *from, uint32_t n)
{
	if (n == 8)
		memcpy(to, from, 8);
	else
		memcpy(to, from, n);
}

/* What packets that follow each other have in common. */
struct run {
	struct roce_qp *qp;
	const struct stamp *stamp;
	struct roce_icrc_part *part;
	const struct mr *mr;
	uint64_t shape; /* op << 32 | len of the last */
	uint32_t size, ext, bytes;
};

static __attribute__((noinline)) void
change_shape(struct run *r, const struct roce_wr *wr, uint64_t shape)
{
	bool write = wr->op == ROCE_OP_WRITE;
	uint16_t ext = write ? sizeof(struct roce_reth) : 0;
	struct head h = { 0, write ? ROCE_RC_WRITE_ONLY : ROCE_RC_SEND_ONLY,
			  ext };

	r->stamp = frame_stamp_of(&r->qp->path, h, wr->len);
	r->shape = shape;
	r->size = r->qp->path.size;
	r->ext = ext;
	r->bytes = r->size + ext + wr->len + (-wr->len & 3) + ROCE_ICRC_SIZE;
}

/* As mr_ptr(): keys are looked up where they change. */
static inline const uint8_t *source(struct run *r, const struct roce_wr *wr)
{
	uint32_t key = wr->sge.lkey;

	if (wr->flags & ROCE_WR_INLINE)
		return roce_wr_store(r->qp, wr->index);
	if (!r->mr || r->mr->key != key)
		r->mr = mr_find(r->qp->dev, key);
	return r->mr ? mr_range(r->mr, wr->sge.addr, wr->len) : NULL;
}

static inline void build(struct run *r, const struct roce_wr *wr,
			 struct roce_frame *f, uint32_t apsn,
			 const uint8_t *src)
{
	uint64_t shape = (uint64_t)wr->op << 32 | wr->len;
	uint8_t *p = f->data, *ext;

	if (__builtin_expect(shape != r->shape, 0))
		change_shape(r, wr, shape);
	ext = frame_put_stamp(p, r->stamp, r->size, apsn);
	if (r->ext) {
		put64(ext, wr->raddr);
		put64(ext + 8, (uint64_t)wr->rkey << 32 | wr->len);
		ext += sizeof(struct roce_reth);
	}
	if (__builtin_expect(wr->len & 3, 0))
		memset(p + r->bytes - 2 * ROCE_ICRC_SIZE, 0, 4); /* the pad */
	copy_short(ext, src, wr->len);
	f->len = r->bytes;
	*r->part++ = (struct roce_icrc_part){ p + r->size - 4,
					      r->bytes - r->size,
					      r->stamp->reg };
}

static bool may_run(const struct roce_qp *qp)
{
	return qp->type == ROCE_RC && qp->wr_tx == qp->wr_asg &&
	       qp->psn_next == qp->psn_max && qp->mtu >= SHORT_MAX &&
	       !qp->cc.rate;
}

/* Nothing that goes out follows: this one has to ask for the acknowledge. */
static inline bool ends_run(const struct roce_qp *qp, uint32_t next)
{
	const struct roce_wr *wr = &qp->wr[next & qp->wr_mask];

	return next == qp->wr_pi || is_silent(wr);
}

/* The caller has seen that there is work and that the window is open. */
unsigned plain_tx(struct roce_qp *qp, struct roce_frame *f, unsigned n)
{
	uint32_t at = qp->wr_tx, end = qp->wr_pi, psn = qp->psn_next;
	unsigned room = qp->window - psn_diff(psn, qp->psn_una);
	unsigned every = ack_every(qp), since = qp->since_ackreq, k = 0;
	struct seals *seals = &qp->dev->seals;
	struct run r = { .qp = qp, .part = seals->part + seals->n };
	bool plain = may_run(qp) && is_plain(&qp->wr[at & qp->wr_mask]);
	uint64_t bytes = 0;

	if (n > room)
		n = room;
	for (; plain && k < n; k++) {
		struct roce_wr *wr = &qp->wr[at & qp->wr_mask];
		const uint8_t *src = source(&r, wr);
		uint32_t ask = 0;

		if (__builtin_expect(!src, 0))
			break;
		at++;
		plain = at != end && is_plain(&qp->wr[at & qp->wr_mask]);
		if (++since >= every || k + 1 == room ||
		    (!plain && ends_run(qp, at))) {
			ask = ROCE_BTH_ACKREQ;
			since = 0;
			req_time(qp, psn);
		}
		build(&r, wr, &f[k], psn | ask, src);
		bytes += r.bytes;
		wr->psn = psn;
		wr->npkt = 1;
		psn = psn_add(psn, 1);
	}
	if (!k)
		return 0;
	seals->n += k;
	qp->wr_tx = qp->wr_asg = at;
	qp->psn_next = qp->psn_max = psn;
	qp->since_ackreq = since;
	qp->cc.bytes += qp->cc.on ? bytes : 0;
	return k;
}

/* ---- receiving ---- */

bool plain_rx(struct roce_qp *qp, const struct seen *s, const uint8_t *psn)
{
	uint32_t apsn = get32(psn), len = s->payload;
	const uint8_t *reth = psn + sizeof(apsn);
	uint64_t key_len = get64(reth + 8);
	uint8_t *to;

	if ((apsn & ROCE_PSN_MASK) != qp->epsn || qp->disturbed || qp->nheld ||
	    (uint32_t)key_len != len || !len || len > qp->mtu)
		return false;
	to = mr_ptr(qp->dev, key_len >> 32, get64(reth), len,
		    ROCE_ACCESS_REMOTE_WRITE);
	if (__builtin_expect(!to, 0))
		return false;
	copy_short(to, reth + sizeof(struct roce_reth), len);
	qp->epsn = psn_add(qp->epsn, 1);
	qp->msn++;
	if (apsn & ROCE_BTH_ACKREQ) {
		qp->ack_pending = 1;
		tx_want(qp);
	}
	return true;
}
