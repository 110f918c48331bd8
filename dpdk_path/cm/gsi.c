// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gsi.h"

#define RECVS	 64 /* powers of two */
#define SENDS	 32
#define GRH	 40
#define RECV_LEN (GRH + MAD_SIZE)
#define WAIT_NS	 3000000000ULL /* for an Ethernet address */
#define NEVER	 (~0ULL)

/* A MAD on its way out. */
struct out {
	enum { FREE, WAITS, POSTED } state;
	uint8_t gid[16];
	uint64_t since;
	struct neighbour *to; /* POSTED */
};

struct neighbour {
	uint32_t ah;	 /* 0: none */
	uint32_t posted; /* MADs that use it */
	uint64_t used;	 /* when: the least gives way */
	uint8_t gid[16], mac[6];
};

struct gsi {
	struct roce_dev *dev;
	struct roce_qp *qp;
	struct cm *cm;
	uint32_t key;
	uint64_t turn;
	uint64_t unreachable;
	unsigned waits;
	struct out out[SENDS];
	struct neighbour neighbour[GSI_AH];
	struct memory {
		uint8_t recv[RECVS][RECV_LEN];
		uint8_t send[SENDS][MAD_SIZE];
	} memory;
};

static void post_recv(struct gsi *g, unsigned i)
{
	const struct roce_sge sge = { (uintptr_t)g->memory.recv[i], RECV_LEN,
				      g->key };

	roce_recv_post(g->qp, i, &sge, 1);
}

static int open_qp(struct gsi *g)
{
	const struct roce_qp_attr attr = {
		.user = g,
		.type = ROCE_UD,
		.qkey = GSI_QKEY,
		.depth = SENDS,
		.recv_depth = RECVS,
		.recv_sge = 1,
		.qpn = GSI_QPN,
		.max_rd_atomic = 1,
	};
	const struct roce_peer any = { .path_mtu = ROCE_MTU_MIN };
	int rc = roce_qp_create(g->dev, &attr, &g->qp);

	if (rc)
		return rc;
	for (unsigned i = 0; i < RECVS; i++)
		post_recv(g, i);
	return roce_qp_connect(g->qp, &any, 0);
}

int gsi_create(struct roce_dev *dev, struct cm *cm, struct gsi **out)
{
	struct gsi *g = calloc(1, sizeof(*g));
	struct roce_mr_attr mr;
	int rc;

	if (!g)
		return -ENOMEM;
	g->dev = dev;
	g->cm = cm;
	mr = (struct roce_mr_attr){ .iova = (uintptr_t)&g->memory,
				    .base = &g->memory,
				    .len = sizeof(g->memory),
				    .access = ROCE_ACCESS_LOCAL_WRITE };
	rc = roce_mr_add(dev, &mr, &g->key);
	if (rc)
		goto err_free;
	rc = open_qp(g);
	if (rc)
		goto err_del_mr;
	*out = g;
	return 0;

err_del_mr:
	roce_mr_del(dev, g->key);
err_free:
	free(g);
	return rc;
}

void gsi_destroy(struct gsi *g)
{
	roce_qp_destroy(g->qp);
	roce_mr_del(g->dev, g->key);
	for (unsigned i = 0; i < GSI_AH; i++)
		if (g->neighbour[i].ah)
			roce_ah_del(g->dev, g->neighbour[i].ah);
	free(g);
}

struct roce_qp *gsi_qp(const struct gsi *g)
{
	return g->qp;
}

/* ---- neighbours ---- */

static struct neighbour *find(struct gsi *g, const uint8_t gid[16])
{
	for (unsigned i = 0; i < GSI_AH; i++)
		if (g->neighbour[i].ah && !memcmp(g->neighbour[i].gid, gid, 16))
			return &g->neighbour[i];
	return NULL;
}

/* The one that was used longest ago, of those that nothing is sent to. */
static struct neighbour *oldest(struct gsi *g)
{
	struct neighbour *n = NULL;

	for (unsigned i = 0; i < GSI_AH; i++) {
		struct neighbour *at = &g->neighbour[i];

		if (!at->posted && (!n || at->used < n->used))
			n = at;
	}
	return n;
}

static void set_address(struct roce_peer *p, const uint8_t gid[16])
{
	p->v6 = !gid_is_ipv4(gid);
	memcpy(p->ip6, gid, 16);
	memcpy(p->ip, gid + 12, 4);
}

void gsi_resolved(struct gsi *g, const uint8_t gid[16], const uint8_t mac[6])
{
	struct neighbour *n = find(g, gid);
	struct roce_peer to = { .has_mac = true };

	if (n && !memcmp(n->mac, mac, 6))
		return;
	if (!n)
		n = oldest(g);
	if (!n || n->posted)
		return; /* asked for again as long as somebody waits */
	if (n->ah)
		roce_ah_del(g->dev, n->ah);
	n->ah = 0;
	set_address(&to, gid);
	memcpy(to.mac, mac, 6);
	if (roce_ah_add(g->dev, &to, &n->ah))
		return;
	memcpy(n->gid, gid, 16);
	memcpy(n->mac, mac, 6);
	n->used = g->turn;
}

unsigned gsi_unresolved(const struct gsi *g, uint8_t (*gid)[16], unsigned n)
{
	unsigned k = 0;

	for (unsigned i = 0; i < SENDS && k < n && g->waits; i++) {
		unsigned j = 0;

		if (g->out[i].state != WAITS)
			continue;
		while (j < k && memcmp(gid[j], g->out[i].gid, 16))
			j++;
		if (j == k)
			memcpy(gid[k++], g->out[i].gid, 16);
	}
	return k;
}

/* ---- receiving ---- */

/* Addresses of the packet, from the area in front of the datagram. */
static void addresses(const uint8_t *grh, uint8_t from[16], uint8_t to[16])
{
	if (grh[0] >> 4 == 6) {
		memcpy(from, grh + 8, 16);
		memcpy(to, grh + 24, 16);
	} else { /* IPv4: in the last 20 bytes */
		gid_set_ipv4(from, grh + 20 + 12);
		gid_set_ipv4(to, grh + 20 + 16);
	}
}

static void received(struct gsi *g, uint64_t now, const struct roce_comp *c)
{
	const uint8_t *at = g->memory.recv[c->index];
	uint8_t from[16], to[16];

	addresses(at, from, to);
	/* IBTA 13.5.1: agents talk from this queue pair to this queue pair */
	if (c->src_qpn == GSI_QPN && c->len >= GRH)
		cm_rx(g->cm, now, from, to, at + GRH, c->len - GRH);
	post_recv(g, c->index);
}

void gsi_comp(struct gsi *g, uint64_t now, const struct roce_comp *c)
{
	if (c->recv) {
		if (!c->syndrome)
			received(g, now, c);
		return;
	}
	g->out[c->index].to->posted--;
	g->out[c->index].state = FREE;
}

/* ---- sending ---- */

static bool post(struct gsi *g, unsigned i, struct neighbour *to)
{
	struct roce_wr *wr = roce_wr_next(g->qp);

	if (!wr)
		return false;
	memset(wr, 0, sizeof(*wr));
	wr->op = ROCE_OP_SEND;
	wr->flags = ROCE_WR_SIGNALLED;
	wr->index = i;
	wr->nsge = 1;
	wr->len = MAD_SIZE;
	wr->raddr = GSI_QPN;
	wr->rkey = GSI_QKEY;
	wr->ah = to->ah;
	wr->sge = (struct roce_sge){ (uintptr_t)g->memory.send[i], MAD_SIZE,
				     g->key };
	roce_wr_post(g->qp, wr);
	g->out[i].state = POSTED;
	g->out[i].to = to;
	to->posted++;
	to->used = g->turn;
	return true;
}

static void drop(struct gsi *g, struct out *o)
{
	o->state = FREE;
	g->waits--;
	g->unreachable++;
}

static void post_waiting(struct gsi *g, uint64_t now)
{
	for (unsigned i = 0; i < SENDS && g->waits; i++) {
		struct out *o = &g->out[i];
		struct neighbour *to;

		if (o->state != WAITS)
			continue;
		to = find(g, o->gid);
		if (to && post(g, i, to))
			g->waits--;
		else if (now - o->since >= WAIT_NS)
			drop(g, o);
	}
}

static bool has_room(const struct gsi *g)
{
	unsigned i = 0;

	while (i < SENDS && g->out[i].state == POSTED)
		i++;
	return i < SENDS;
}

/*
 * A free place; else the one that waits longest gives way: its sender asks
 * again, and who sends from addresses where nobody is cannot stop the rest.
 */
static unsigned place(struct gsi *g)
{
	struct out *o = NULL;

	for (unsigned i = 0; i < SENDS; i++) {
		struct out *at = &g->out[i];

		if (at->state == FREE)
			return i;
		if (at->state == WAITS && (!o || at->since < o->since))
			o = at;
	}
	drop(g, o);
	return o - g->out;
}

void gsi_post(struct gsi *g, uint64_t now)
{
	struct cm_mad mad;
	struct out *o;
	unsigned i;

	g->turn++;
	post_waiting(g, now);
	while (cm_deadline(g->cm) <= now && has_room(g) &&
	       cm_tx(g->cm, now, &mad)) {
		i = place(g);
		o = &g->out[i];
		memcpy(g->memory.send[i], mad.mad, MAD_SIZE);
		memcpy(o->gid, mad.gid, 16);
		o->since = now;
		o->state = WAITS;
		g->waits++;
	}
	post_waiting(g, now);
}

uint64_t gsi_deadline(const struct gsi *g)
{
	uint64_t at = cm_deadline(g->cm);

	for (unsigned i = 0; i < SENDS && g->waits; i++)
		if (g->out[i].state == WAITS && g->out[i].since + WAIT_NS < at)
			at = g->out[i].since + WAIT_NS;
	return at;
}

uint64_t gsi_unreachable(const struct gsi *g)
{
	return g->unreachable;
}

void gsi_path(const struct cm_peer *peer, uint32_t rq_psn,
	      struct roce_peer *out)
{
	memset(out, 0, sizeof(*out));
	set_address(out, peer->gid);
	out->qpn = peer->qpn;
	out->rq_psn = rq_psn;
	out->path_mtu = peer->path_mtu;
	out->flow_label = peer->flow_label;
	out->hop_limit = peer->hop_limit;
	/* who answers no READ is asked none; the core wants one at least */
	out->max_rd_atomic = peer->rd_out ? peer->rd_out : 1;
}
