// SPDX-License-Identifier: BSD-2-Clause
/*
 * Packets that came before their turn, kept until the gap before them fills.
 * Nothing of them is visible before: not their bytes, not their completion.
 */
#include <stdlib.h>

#include "priv.h"

int hold_init(struct roce_dev *dev)
{
	dev->pool = calloc(HELD_POOL, sizeof(*dev->pool));
	return dev->pool ? 0 : -ENOMEM; /* pages come when packets do */
}

/* Free ones are chained; those never used follow the highest used. */
static struct held *take(struct roce_dev *dev)
{
	struct held *h;

	if (dev->pool_free) {
		h = &dev->pool[dev->pool_free - 1];
		dev->pool_free = h->next_free;
		return h;
	}
	return dev->pool_used < HELD_POOL ? &dev->pool[dev->pool_used++] : NULL;
}

static void copy(struct held *h, const struct roce_pkt *pkt)
{
	uint32_t ext = pkt->payload - pkt->ext;

	h->pkt = *pkt;
	memcpy(h->data, pkt->ext, ext + pkt->payload_len);
	h->pkt.l3 = NULL;
	h->pkt.ext = h->data;
	h->pkt.payload = h->data + ext;
}

bool hold_put(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint16_t *slot = &qp->held[pkt->psn % HELD_WINDOW];
	uint32_t size = pkt->payload - pkt->ext + pkt->payload_len;
	struct held *h;

	if (psn_diff(pkt->psn, qp->epsn) >= HELD_WINDOW ||
	    size > sizeof(h->data))
		return false;
	if (*slot)
		return true; /* a duplicate of one that is held */
	h = take(qp->dev);
	if (!h)
		return false;
	copy(h, pkt);
	*slot = h - qp->dev->pool + 1;
	qp->nheld++;
	return true;
}

struct held *hold_next(struct roce_qp *qp)
{
	uint16_t *slot = &qp->held[qp->epsn % HELD_WINDOW];
	struct held *h;

	if (!*slot)
		return NULL;
	h = &qp->dev->pool[*slot - 1];
	*slot = 0;
	qp->nheld--;
	return h;
}

void hold_drop(struct roce_qp *qp, struct held *h)
{
	h->next_free = qp->dev->pool_free;
	qp->dev->pool_free = h - qp->dev->pool + 1;
}

/* Parts of a READ asked for again may wait behind the whole: not needed. */
void hold_forget(struct roce_qp *qp, uint32_t npkt)
{
	uint32_t was = qp->epsn;
	struct held *h;

	if (npkt > HELD_WINDOW)
		npkt = HELD_WINDOW;
	for (uint32_t i = 1; i < npkt; i++) {
		qp->epsn = psn_add(was, i);
		h = hold_next(qp);
		if (h)
			hold_drop(qp, h);
	}
	qp->epsn = was;
}

void hold_clear(struct roce_qp *qp)
{
	for (unsigned i = 0; qp->nheld && i < HELD_WINDOW; i++) {
		if (!qp->held[i])
			continue;
		hold_drop(qp, &qp->dev->pool[qp->held[i] - 1]);
		qp->held[i] = 0;
		qp->nheld--;
	}
}
