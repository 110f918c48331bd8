// SPDX-License-Identifier: BSD-2-Clause
/*
 * The port's data path: bursts in, bursts out.
 */
#include <string.h>

#include <rte_ether.h>

#include "priv.h"

static void capture_burst(struct port *p, uint64_t now,
			  enum capture_direction dir, struct rte_mbuf **m,
			  unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		capture_frame(p->capture, now, dir,
			      rte_pktmbuf_mtod(m[i], uint8_t *),
			      m[i]->data_len);
}

unsigned port_rx(struct port *p, uint64_t now, struct roce_frame *f)
{
	unsigned i, k = 0, n;

	n = rte_eth_rx_burst(p->id, 0, p->rx, PORT_BURST);
	for (i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(p->rx[i], void *));
	p->nrx = n;
	if (!n)
		return 0;
	p->count[PORT_C_RX] += n;
	if (unlikely(p->capture))
		capture_burst(p, now, CAPTURE_IN, p->rx, n);
	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = p->rx[i];

		if (unlikely(m->nb_segs > 1 || m->data_len > p->frame_max)) {
			p->count[PORT_C_RX_LONG]++;
			continue;
		}
		f[k].data = rte_pktmbuf_mtod(m, uint8_t *);
		f[k].len = m->data_len;
		f[k].room = 0;
		k++;
	}
	return k;
}

void port_rx_done(struct port *p)
{
	rte_pktmbuf_free_bulk(p->rx, p->nrx);
	p->nrx = 0;
}

/* What the device leaves is kept, oldest first. */
static void device_tx(struct port *p, uint64_t now, struct rte_mbuf **m,
		      unsigned n)
{
	unsigned sent = rte_eth_tx_burst(p->id, 0, m, n);

	p->count[PORT_C_TX] += sent;
	if (likely(sent == n))
		return;
	p->nback = n - sent;
	p->back_since = now;
	memcpy(p->back, m + sent, p->nback * sizeof(*m));
}

static bool drain_back(struct port *p, uint64_t now)
{
	unsigned sent = rte_eth_tx_burst(p->id, 0, p->back, p->nback);

	p->count[PORT_C_TX] += sent;
	p->nback -= sent;
	if (sent) {
		p->back_since = now;
		memmove(p->back, p->back + sent, p->nback * sizeof(*p->back));
	}
	if (p->nback && now - p->back_since >= PORT_STUCK_NS) {
		p->count[PORT_C_TX_FULL] += p->nback;
		rte_pktmbuf_free_bulk(p->back, p->nback);
		p->nback = 0;
	}
	return !p->nback;
}

static unsigned drop_long(struct port *p, struct rte_mbuf **m, unsigned n)
{
	unsigned i, k = 0;

	for (i = 0; i < n; i++) {
		if (m[i]->data_len > p->mtu + RTE_ETHER_HDR_LEN) {
			p->count[PORT_C_TX_LONG]++;
			rte_pktmbuf_free(m[i]);
		} else {
			m[k++] = m[i];
		}
	}
	return k;
}

static void emit(struct port *p, uint64_t now, struct rte_mbuf **m, unsigned n)
{
	struct rte_mbuf *out[PORT_BACKLOG];

	if (unlikely(p->capture))
		capture_burst(p, now, CAPTURE_OUT, m, n);
	if (unlikely(p->fault)) {
		n = fault_tx(p->fault, now, m, n, out);
		m = out;
	}
	if (unlikely(p->checked))
		n = drop_long(p, m, n);
	if (n)
		device_tx(p, now, m, n);
}

/* Our pools have no private area: the mbuf lies before its room. */
static struct rte_mbuf *mbuf_of(const uint8_t *data)
{
	return (struct rte_mbuf *)(uintptr_t)(data - RTE_PKTMBUF_HEADROOM -
					      sizeof(struct rte_mbuf));
}

/*
 * A buffer that comes back to a pool is one segment with one reference, which
 * nobody here changes; a driver may have left flags and an offset.
 */
static void reset(struct rte_mbuf *m)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->ol_flags = 0;
}

static unsigned alloc(struct port *p, struct rte_mbuf **m, unsigned n)
{
	unsigned i;

	if (likely(!rte_mempool_get_bulk(p->pool, (void **)m, n))) {
		for (i = 0; i < n; i++)
			reset(m[i]);
		return n;
	}
	/* Nearly dry: the last ones singly. */
	for (i = 0; i < n; i++) {
		m[i] = rte_pktmbuf_alloc(p->pool);
		if (!m[i])
			break;
	}
	return i;
}

/* Fill the places of the frames that were sent, and no others. */
static void refill(struct port *p)
{
	struct rte_mbuf *m[PORT_BURST];
	unsigned i, n = alloc(p, m, p->sent), gap = p->sent - n;

	for (i = 0; i < n; i++) {
		p->empty[gap + i].data = rte_pktmbuf_mtod(m[i], uint8_t *);
		p->empty[gap + i].room = m[i]->buf_len - m[i]->data_off;
	}
	if (unlikely(gap)) {
		p->nempty -= gap;
		memmove(p->empty, p->empty + gap,
			p->nempty * sizeof(*p->empty));
	}
	/* Those that are missing now are asked for again next time. */
	p->sent = 0;
	if (!p->nempty)
		p->count[PORT_C_NO_BUFFER]++;
}

static void grow(struct port *p)
{
	unsigned gap = PORT_BURST - p->nempty;

	memmove(p->empty + gap, p->empty, p->nempty * sizeof(*p->empty));
	p->nempty = PORT_BURST;
	p->sent = gap;
	refill(p);
}

unsigned port_tx_room(struct port *p, uint64_t now, struct roce_frame **f)
{
	if (unlikely(p->nback) && !drain_back(p, now))
		return 0;
	if (unlikely(p->fault && fault_holds(p->fault))) {
		emit(p, now, NULL, 0);
		if (p->nback)
			return 0;
	}
	if (p->sent)
		refill(p);
	if (unlikely(p->nempty < PORT_BURST))
		grow(p);
	*f = p->empty;
	return p->nempty;
}

void port_tx(struct port *p, uint64_t now, unsigned n)
{
	struct rte_mbuf *m[PORT_BURST];
	unsigned i;

	if (!n)
		return;
	for (i = 0; i < n; i++) {
		m[i] = mbuf_of(p->empty[i].data);
		m[i]->data_len = p->empty[i].len;
		m[i]->pkt_len = p->empty[i].len;
	}
	p->sent = n;
	emit(p, now, m, n);
}

void port_tx_copy(struct port *p, uint64_t now, const uint8_t *bytes,
		  uint32_t len)
{
	struct roce_frame *f;

	/* No room: the sender asks again later, as after any loss. */
	if (!port_tx_room(p, now, &f) || len > f[0].room)
		return;
	memcpy(f[0].data, bytes, len);
	f[0].len = len;
	port_tx(p, now, 1);
}

void port_drain(struct port *p)
{
	unsigned i;

	for (i = p->sent; i < p->nempty; i++)
		rte_pktmbuf_free(mbuf_of(p->empty[i].data));
	rte_pktmbuf_free_bulk(p->rx, p->nrx);
	rte_pktmbuf_free_bulk(p->back, p->nback);
}
