// SPDX-License-Identifier: BSD-2-Clause
/*
 * The device: which QP a frame is for, which QP sends next, whose
 * completions wait.  Lists are intrusive FIFOs, so that cost follows the QPs
 * that have something to do.
 */
#include <stdlib.h>

#include "priv.h"

static uint32_t pow2_at_least(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

int roce_dev_create(const struct roce_dev_attr *attr, struct roce_dev **out)
{
	struct roce_dev *dev;
	uint32_t qps = pow2_at_least(attr->max_qp);
	uint32_t mrs = pow2_at_least(attr->max_mr + 1); /* slot 0 stays empty */

	if (!attr->max_qp || qps > 1 << 20 || !attr->max_mr || mrs > 1 << 24)
		return -EINVAL;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return -ENOMEM;
	dev->qp = calloc(qps, sizeof(*dev->qp));
	if (!dev->qp)
		goto err_free_dev;
	dev->mr = calloc(mrs, sizeof(*dev->mr));
	if (!dev->mr)
		goto err_free_qps;
	dev->max_ah = attr->max_ah;
	dev->ah = calloc(attr->max_ah ? attr->max_ah : 1, sizeof(*dev->ah));
	if (!dev->ah)
		goto err_free_mrs;
	if (hold_init(dev))
		goto err_free_ahs;
	dev->qp_mask = qps - 1;
	dev->mr_mask = mrs - 1;
	dev->refill = attr->refill;
	memcpy(dev->ip, attr->ip, 4);
	memcpy(dev->ip6, attr->ip6, 16);
	memcpy(dev->mac, attr->mac, 6);
	dev->seed = attr->seed;
	roce_icrc_init();
	*out = dev;
	return 0;

err_free_ahs:
	free(dev->ah);
err_free_mrs:
	free(dev->mr);
err_free_qps:
	free(dev->qp);
err_free_dev:
	free(dev);
	return -ENOMEM;
}

void roce_dev_destroy(struct roce_dev *dev)
{
	for (uint32_t i = 0; i <= dev->qp_mask; i++)
		if (dev->qp[i])
			roce_qp_destroy(dev->qp[i]);
	free(dev->pool);
	free(dev->ah);
	free(dev->mr);
	free(dev->qp);
	free(dev);
}

/* ---- lists ---- */

void tx_want(struct roce_qp *qp)
{
	struct list *l = &qp->dev->tx;

	if (qp->in_tx)
		return;
	qp->in_tx = 1;
	qp->tx_next = NULL;
	if (l->head)
		l->tail->tx_next = qp;
	else
		l->head = qp;
	l->tail = qp;
}

static struct roce_qp *tx_pop(struct roce_dev *dev)
{
	struct roce_qp *qp = dev->tx.head;

	dev->tx.head = qp->tx_next;
	qp->in_tx = 0;
	return qp;
}

void comp_want(struct roce_qp *qp)
{
	struct list *l = &qp->dev->comp;

	if (qp->in_comp)
		return;
	qp->in_comp = 1;
	qp->comp_next = NULL;
	if (l->head)
		l->tail->comp_next = qp;
	else
		l->head = qp;
	l->tail = qp;
}

/* ---- receiving ---- */

static inline bool pkey_matches(uint16_t pkey)
{
	return (pkey & 0x7fff) == (ROCE_PKEY_DEFAULT & 0x7fff);
}

static bool from_peer(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint64_t addr;

	if (pkt->encap == ROCE_V2_IPV4 && !qp->path.v6) {
		memcpy(&addr, pkt->l3 + offsetof(struct roce_ipv4, src), 8);
		return addr == qp->rx_addr[0];
	}
	return pkt->encap == ROCE_V2_IPV6 && qp->path.v6 &&
	       !memcmp(qp->rx_addr, pkt->l3 + offsetof(struct roce_ipv6, src),
		       32);
}

static bool to_us(const struct roce_dev *dev, const struct roce_pkt *pkt)
{
	if (pkt->encap == ROCE_V2_IPV4)
		return !memcmp(dev->ip, pkt->l3 + 16, 4);
	return pkt->encap == ROCE_V2_IPV6 &&
	       !memcmp(dev->ip6, pkt->l3 + 24, 16);
}

static uint16_t vlan_of(const uint8_t *frame, const struct roce_pkt *pkt)
{
	return pkt->l3 - frame == 14 ? 0 : (frame[14] << 8 | frame[15]) & 0xfff;
}

static bool opcode_fits(uint8_t type, uint8_t opcode)
{
	if (opcode == ROCE_CNP)
		return type != ROCE_UD;
	switch (type) {
	case ROCE_RC:
		return opcode <= ROCE_RC_SEND_ONLY_INV;
	case ROCE_UC:
		return opcode >= ROCE_UC_SEND_FIRST &&
		       opcode <= ROCE_UC_WRITE_ONLY_IMM;
	default:
		return opcode == ROCE_UD_SEND_ONLY ||
		       opcode == ROCE_UD_SEND_ONLY_IMM;
	}
}

static enum roce_drop find_qp(struct roce_dev *dev, const uint8_t *frame,
			      const struct roce_pkt *pkt, struct roce_qp **out)
{
	struct roce_qp *qp;

	if (!pkey_matches(pkt->pkey))
		return ROCE_DROP_PKEY;
	qp = dev->qp[pkt->qpn & dev->qp_mask];
	if (!qp || qp->qpn != pkt->qpn)
		return ROCE_DROP_QPN;
	if (!receives(qp))
		return ROCE_DROP_STATE;
	if (!opcode_fits(qp->type, pkt->opcode))
		return ROCE_DROP_OPCODE;
	if (qp->type == ROCE_UD ? !to_us(dev, pkt)
				: !from_peer(qp, pkt) ||
					  vlan_of(frame, pkt) != qp->path.vlan)
		return ROCE_DROP_ADDRESS;
	*out = qp;
	return ROCE_OK;
}

static bool is_request(uint8_t opcode)
{
	return opcode <= ROCE_RC_READ_REQ || opcode >= ROCE_RC_CMP_SWAP;
}

static void dispatch(struct roce_qp *qp, uint64_t now,
		     const struct roce_pkt *pkt)
{
	if (__builtin_expect(qp->type == ROCE_UD, 0))
		ud_rx(qp, pkt);
	else if (__builtin_expect(qp->type == ROCE_UC, 0))
		uc_rx(qp, pkt);
	else if (is_request(pkt->opcode))
		resp_rx(qp, pkt);
	else
		ack_rx(qp, pkt, now);
}

/* The long way: a frame that is the first of its kind, or not good. */
static struct roce_qp *examine(struct roce_dev *dev, const struct roce_frame *f,
			       struct roce_pkt *pkt)
{
	enum roce_drop drop = roce_parse(f->data, f->len, pkt);
	struct roce_qp *qp;

	if (!drop)
		drop = find_qp(dev, f->data, pkt, &qp);
	if (drop) {
		count(dev, drop);
		return NULL;
	}
	seen_note(qp, f, pkt);
	return qp;
}

static void rx_packet(struct roce_qp *qp, uint64_t now,
		      const struct roce_pkt *pkt)
{
	if (__builtin_expect(pkt->ecn_ce, 0) && qp->cc.on)
		cc_marked(qp);
	if (__builtin_expect(pkt->opcode == ROCE_CNP, 0))
		cc_cnp(qp, now);
	else
		dispatch(qp, now, pkt);
	/* what it changed may let this QP send: asked again by roce_tx() */
	if (reply_has_work(qp) || req_has_work(qp, now))
		tx_want(qp);
}

static inline void rx_one(struct roce_dev *dev, uint64_t now,
			  const struct roce_frame *f)
{
	const struct seen *s;
	struct roce_pkt pkt;
	struct roce_qp *qp = seen_find(dev, f, &s);

	if (__builtin_expect(qp != NULL, 1)) {
		count(dev, ROCE_C_RX);
		qp->packets_rx++;
		if (s->opcode == ROCE_RC_WRITE_ONLY &&
		    plain_rx(qp, s, f->data + SEEN_END))
			return;
		seen_fill(qp, s, f->data, &pkt);
	} else {
		qp = examine(dev, f, &pkt);
		if (!qp)
			return;
		count(dev, ROCE_C_RX);
		qp->packets_rx++;
	}
	rx_packet(qp, now, &pkt);
}

void roce_rx(struct roce_dev *dev, uint64_t now, const struct roce_frame *f,
	     unsigned n)
{
	dev->now = now;
	for (unsigned i = 0; i < n; i++) {
		if (i + 1 < n)
			__builtin_prefetch(f[i + 1].data + 64);
		if (i + 2 < n)
			__builtin_prefetch(f[i + 2].data);
		rx_one(dev, now, &f[i]);
	}
}

/* ---- sending ---- */

unsigned roce_tx(struct roce_dev *dev, uint64_t now, struct roce_frame *f,
		 unsigned n)
{
	unsigned sent = 0;
	unsigned quantum;
	struct roce_qp *qp, *first_idle = NULL;

	dev->now = now;
	timers_run(dev, now);
	while (sent < n && dev->tx.head && dev->tx.head != first_idle) {
		unsigned k = 0;

		qp = tx_pop(dev);
		quantum = n - sent < TX_QUANTUM ? n - sent : TX_QUANTUM;
		k = reply_tx(qp, f + sent, quantum);
		k += req_tx(qp, now, f + sent + k, quantum - k);
		sent += k;
		if (dev->seals.n > SEALS - TX_QUANTUM)
			frame_seal_all(&dev->seals);
		if (reply_has_work(qp) || req_has_work(qp, now)) {
			tx_want(qp);
			/* nothing came although it wants: end of this turn */
			if (!k && !first_idle)
				first_idle = qp;
		}
	}
	frame_seal_all(&dev->seals);
	dev->counter[ROCE_C_TX] += sent;
	return sent;
}

bool roce_tx_pending(const struct roce_dev *dev)
{
	return dev->tx.head;
}

uint64_t roce_deadline(const struct roce_dev *dev)
{
	return timers_next(dev);
}

/* ---- completions ---- */

_Static_assert(offsetof(struct roce_wr, wqe_opcode) ==
			       offsetof(struct roce_comp, op) &&
		       offsetof(struct roce_wr, index) ==
			       offsetof(struct roce_comp, index),
	       "one word of both");

static inline void send_comp(struct roce_qp *qp, const struct roce_wr *wr,
			     struct roce_comp *c)
{
	memcpy(c, wr, sizeof(uint64_t));
	c->recv = 0;
	c->qp = qp;
	c->len = wr->len;
	c->imm = 0;
	c->src_qpn = 0;
}

struct roce_qp *roce_comp_qp(const struct roce_dev *dev)
{
	return dev->comp.head;
}

const struct roce_wr *roce_sent(struct roce_qp *qp)
{
	while (qp->wr_rep != qp->wr_ci) {
		const struct roce_wr *wr = &qp->wr[qp->wr_rep++ & qp->wr_mask];

		if (wr->flags & ROCE_WR_SIGNALLED)
			return wr;
	}
	return NULL;
}

static unsigned good_comps(struct roce_qp *qp, struct roce_comp *c, unsigned n)
{
	const struct roce_wr *wr;
	unsigned k = 0;

	while (k < n && (wr = roce_sent(qp)))
		send_comp(qp, wr, &c[k++]);
	return k;
}

/* In error all the rest, the cause first. */
static unsigned flush_comps(struct roce_qp *qp, struct roce_comp *c, unsigned n)
{
	unsigned k = 0;

	for (; qp->wr_rep != qp->wr_pi && k < n; k++) {
		struct roce_wr *wr = &qp->wr[qp->wr_rep & qp->wr_mask];

		wr->syndrome = qp->failed_syndrome ? qp->failed_syndrome
						   : WBELL_SYND_WR_FLUSH;
		wr->vendor = qp->failed_syndrome ? qp->failed_vendor : 0xf9;
		qp->failed_syndrome = 0;
		qp->wr_ci = ++qp->wr_rep;
		send_comp(qp, wr, &c[k]);
	}
	return k;
}

static unsigned send_comps(struct roce_qp *qp, struct roce_comp *c, unsigned n)
{
	unsigned k = good_comps(qp, c, n);

	if (__builtin_expect(qp->state == ROCE_ERR, 0) &&
	    qp->wr_rep == qp->wr_ci)
		k += flush_comps(qp, c + k, n - k);
	return k;
}

static unsigned recv_comps(struct roce_qp *qp, struct roce_comp *c, unsigned n)
{
	unsigned k = 0;

	for (; qp->rcomp_ci != qp->rcomp_pi && k < n; k++, qp->rcomp_ci++) {
		struct recv_comp *r = &qp->rcomp[qp->rcomp_ci & qp->rcomp_mask];

		c[k].qp = qp;
		c[k].recv = 1;
		c[k].op = 0;
		c[k].flags = r->flags;
		c[k].syndrome = r->syndrome;
		c[k].vendor = r->syndrome == WBELL_SYND_WR_FLUSH ? 0xf9 : 0;
		c[k].index = r->index;
		c[k].len = r->len;
		c[k].imm = r->imm;
		c[k].src_qpn = r->src_qpn;
	}
	return k;
}

unsigned roce_qp_comp(struct roce_qp *qp, struct roce_comp *c, unsigned n)
{
	unsigned k = send_comps(qp, c, n);

	k += recv_comps(qp, c + k, n - k);
	if (k < n) { /* else it may have more: it stays at the head */
		qp->dev->comp.head = qp->comp_next;
		qp->in_comp = 0;
	}
	return k;
}

unsigned roce_comp(struct roce_dev *dev, struct roce_comp *c, unsigned n)
{
	unsigned k = 0;

	while (k < n && dev->comp.head)
		k += roce_qp_comp(dev->comp.head, c + k, n - k);
	return k;
}

struct roce_qp *roce_failed(struct roce_dev *dev)
{
	struct roce_qp *qp = dev->failed.head;

	if (qp) {
		dev->failed.head = qp->failed_next;
		qp->in_failed = 0;
	}
	return qp;
}

/* ---- counters ---- */

uint64_t roce_counter(const struct roce_dev *dev, unsigned counter)
{
	return counter < ROCE_C_MAX ? dev->counter[counter] : 0;
}

const char *roce_counter_name(unsigned counter)
{
	static const char *const name[ROCE_C_MAX] = {
		[ROCE_C_RX] = "rx_packets",
		[ROCE_C_TX] = "tx_packets",
		[ROCE_C_ACK_TX] = "tx_ack",
		[ROCE_C_NAK_TX] = "tx_nak",
		[ROCE_C_RNR_TX] = "tx_rnr_nak",
		[ROCE_C_ACK_RX] = "rx_ack",
		[ROCE_C_NAK_RX] = "rx_nak",
		[ROCE_C_RNR_RX] = "rx_rnr_nak",
		[ROCE_C_DUP_RX] = "rx_duplicate",
		[ROCE_C_OOS_RX] = "rx_out_of_sequence",
		[ROCE_C_RETRY] = "retries",
		[ROCE_C_TIMEOUT] = "timeouts",
		[ROCE_C_QP_ERROR] = "queue_errors",
		[ROCE_C_ECN_RX] = "rx_ecn_marked",
		[ROCE_C_CNP_TX] = "tx_cnp",
		[ROCE_C_CNP_RX] = "rx_cnp",
		[ROCE_C_RATE_CUT] = "rate_cuts",
	};

	if (counter < ROCE_DROP_MAX)
		return roce_drop_name(counter);
	return counter < ROCE_C_MAX ? name[counter] : NULL;
}
