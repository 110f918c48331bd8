// SPDX-License-Identifier: BSD-2-Clause
/*
 * ring:NAME - a wire inside one process: two rings, each end's transmit the
 * other's receive.  Frames change hands without a copy, so both ends use one
 * pool, which lives as long as either.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ring.h>

#include "priv.h"

#define RING_SIZE 256
/* Both rings full, both ends' stash, backlog, burst and loop. */
#define RING_MBUFS 2047
#define RING_MTU   4200

struct ring_wire {
	struct ring_wire *next;
	char name[WIRE_ARG_MAX];
	struct rte_ring *ring[2];
	struct rte_mempool *pool;
	_Atomic bool taken[2];
};

static pthread_mutex_t wires_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ring_wire *wires;

static struct rte_ring *make_ring(void)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "wbell_%u", eal_unique());
	return rte_ring_create(name, RING_SIZE, SOCKET_ID_ANY,
			       RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static void drain(struct rte_ring *r)
{
	void *m;

	while (!rte_ring_dequeue(r, &m))
		rte_pktmbuf_free(m);
}

static void wire_free(struct ring_wire *w)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (w->ring[i])
			drain(w->ring[i]);
		rte_ring_free(w->ring[i]);
	}
	rte_mempool_free(w->pool);
	free(w);
}

static int wire_make(const char *name, struct ring_wire **wire,
		     struct wbell_err *err)
{
	struct ring_wire *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return -ENOMEM;
	snprintf(w->name, sizeof(w->name), "%s", name);
	rc = port_pool_create(ROCE_FRAME_MAX(ROCE_MTU_MAX), RING_MBUFS,
			      &w->pool, err);
	if (rc)
		goto free_wire;
	w->ring[0] = make_ring();
	w->ring[1] = make_ring();
	if (!w->ring[0] || !w->ring[1]) {
		rc = port_error(err, "making a ring", rte_errno, NULL);
		goto free_wire;
	}
	w->next = wires;
	wires = w;
	*wire = w;
	return 0;

free_wire:
	wire_free(w);
	return rc;
}

static int wire_get(const char *name, struct ring_wire **wire, unsigned *side,
		    struct wbell_err *err)
{
	struct ring_wire *w;
	int rc = 0;

	for (w = wires; w && strcmp(w->name, name); w = w->next)
		;
	if (!w)
		rc = wire_make(name, &w, err);
	if (rc)
		return rc;
	*side = w->taken[0];
	if (w->taken[0] && w->taken[1]) {
		snprintf(err->text, sizeof(err->text),
			 "wire: ring:%.40s has both its ends open: a ring "
			 "joins two contexts: choose another name",
			 name);
		return -EBUSY;
	}
	w->taken[*side] = true;
	*wire = w;
	return 0;
}

static void wire_put(struct ring_wire *w, unsigned side)
{
	struct ring_wire **p;

	w->taken[side] = false;
	if (w->taken[!side])
		return;
	for (p = &wires; *p != w; p = &(*p)->next)
		;
	*p = w->next;
	wire_free(w);
}

static int ring_open(struct port *p, const struct wire *w,
		     struct wbell_err *err)
{
	char name[16];
	int rc, id;

	pthread_mutex_lock(&wires_lock);
	rc = wire_get(w->arg, &p->ring, &p->side, err);
	if (rc)
		goto unlock;
	snprintf(name, sizeof(name), "wbell%u", eal_unique());
	id = rte_eth_from_rings(name, &p->ring->ring[p->side], 1,
				&p->ring->ring[!p->side], 1, 0);
	if (id < 0) {
		rc = port_error(err, p->text, rte_errno,
				"close other contexts: DPDK has 32 ports");
		wire_put(p->ring, p->side);
		goto unlock;
	}
	p->id = id;
	rte_eth_dev_get_name_by_port(p->id, p->name);
	p->pool = p->ring->pool;
	p->mtu = RING_MTU;
	p->frame_max = UINT16_MAX; /* nothing is cut */
unlock:
	pthread_mutex_unlock(&wires_lock);
	return rc;
}

static void ring_close(struct port *p)
{
	pthread_mutex_lock(&wires_lock);
	port_vdev_destroy(p);
	wire_put(p->ring, p->side);
	pthread_mutex_unlock(&wires_lock);
}

static void ring_link(struct port *p, struct port_link *link)
{
	link->up = p->ring->taken[!p->side];
}

const struct port_kind port_ring = {
	.open = ring_open,
	.close = ring_close,
	.link = ring_link,
};
