// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "port/priv.h"
#include "raw.h"

#define FRAME	 82 /* an 8 B WRITE */
#define MARK	 "warpbell raw"
#define LIMIT_NS 10000000000ULL
/* Names of DPDK objects that the engine's own counter will not reach. */
#define NAMES 1000

struct raw_end {
	struct port *port;
	struct rte_mbuf *frame; /* NULL: none in hand */
};

static void log_nothing(void *arg, int level, const char *text)
{
	if (level <= WBELL_LOG_WARN)
		fprintf(stderr, "raw: %s\n", text);
}

static void die(const char *text)
{
	fprintf(stderr, "raw: %s\n", text);
	exit(1);
}

static struct raw_end *must_open(const char *spec)
{
	struct raw_end *e = calloc(1, sizeof(*e));
	struct port_attr attr = { .log = log_nothing };
	struct wbell_err err = { "" };
	struct wire w;
	int rc = e ? 0 : -1;

	if (!rc)
		rc = wire_parse(place_enter(spec), &w, &err);
	if (!rc)
		rc = eal_start(0, &err);
	if (rc)
		die(err.text);
	attr.wire = &w;
	attr.now = eal_now();
	if (port_open(&attr, &e->port, &err))
		die(err.text);
	return e;
}

/* A memif pair needs a moment to meet. */
static void await_link(const struct port *p)
{
	uint64_t limit = place_ns() + LIMIT_NS;
	struct rte_eth_link l;

	do {
		if (rte_eth_link_get_nowait(p->id, &l) || place_ns() > limit)
			die("the link did not come up in 10 s");
	} while (l.link_status != RTE_ETH_LINK_UP);
}

void raw_open(struct raw_end *ends[2], const char *a, const char *b)
{
	while (eal_unique() < NAMES)
		;
	ends[0] = must_open(a);
	ends[1] = must_open(b);
	await_link(ends[0]->port);
	await_link(ends[1]->port);
}

void raw_close(struct raw_end *ends[2])
{
	for (int i = 0; i < 2; i++) {
		rte_pktmbuf_free(ends[i]->frame);
		port_close(ends[i]->port);
		free(ends[i]);
	}
}

static struct rte_mbuf *make_frame(struct port *p)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);
	uint8_t *b;

	if (!m)
		die("no mbuf");
	b = (uint8_t *)rte_pktmbuf_append(m, FRAME);
	memset(b, 2, FRAME);
	/* Not IPv4: a kernel that sees it must not answer. */
	b[12] = 0x88;
	b[13] = 0xb5;
	memcpy(b + 14, MARK, sizeof(MARK));
	return m;
}

/* Others' frames (neighbour discovery on a veth) are not ours to count. */
static bool is_mine(const struct rte_mbuf *m)
{
	return m->pkt_len == FRAME &&
	       !memcmp(rte_pktmbuf_mtod_offset(m, char *, 14), MARK,
		       sizeof(MARK));
}

static void keep_mine(struct raw_end *e, struct rte_mbuf **m, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!e->frame && is_mine(m[i]))
			e->frame = m[i];
		else
			rte_pktmbuf_free(m[i]);
	}
}

void raw_await(struct raw_end *e)
{
	struct rte_mbuf *m[PORT_BURST];
	uint64_t limit = 0;
	unsigned spins = 0;

	for (;;) {
		keep_mine(e, m,
			  rte_eth_rx_burst(e->port->id, 0, m, PORT_BURST));
		if (e->frame)
			return;
		if (++spins % 4096)
			continue;
		if (!limit)
			limit = place_ns() + LIMIT_NS;
		if (place_ns() > limit)
			die("no answer for 10 s");
	}
}

void raw_send(struct raw_end *e)
{
	uint64_t limit = 0;

	if (!e->frame)
		e->frame = make_frame(e->port);
	while (!rte_eth_tx_burst(e->port->id, 0, &e->frame, 1)) {
		if (!limit)
			limit = place_ns() + LIMIT_NS;
		if (place_ns() > limit)
			die("the port took no frame for 10 s");
	}
	e->frame = NULL;
}
