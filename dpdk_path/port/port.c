// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf_pool_ops.h>

#include "priv.h"

static const struct port_kind *const kinds[] = {
	[WIRE_RING] = &port_ring,
	[WIRE_MEMIF] = &port_memif,
	[WIRE_AF_PACKET] = &port_af_packet,
};

static int setup_queues(struct port *p, struct wbell_err *err)
{
	static const struct rte_eth_conf conf;
	uint16_t nrx = 0, ntx = 0;
	int rc;

	rc = rte_eth_dev_configure(p->id, 1, 1, &conf);
	if (rc)
		return port_error(err, "configuring the port", -rc, NULL);
	rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &nrx, &ntx);
	rc = rte_eth_rx_queue_setup(p->id, 0, nrx, SOCKET_ID_ANY, NULL,
				    p->pool);
	if (!rc)
		rc = rte_eth_tx_queue_setup(p->id, 0, ntx, SOCKET_ID_ANY, NULL);
	if (!rc)
		rc = rte_eth_dev_start(p->id);
	if (rc)
		return port_error(err, "starting the port", -rc, NULL);
	return 0;
}

static int open_extras(struct port *p, const struct wire *w, uint64_t now,
		       struct wbell_err *err)
{
	struct capture_attr attr = {
		.path = w->capture,
		.interface = p->text,
		.now = now,
		.log = p->log,
		.log_arg = p->log_arg,
	};
	int rc;

	if (w->has_fault) {
		rc = fault_create(&w->fault, &p->fault);
		if (rc)
			return rc;
	}
	return w->capture[0] ? capture_open(&attr, &p->capture, err) : 0;
}

static int limit_mtu(struct port *p, const struct wire *w,
		     struct wbell_err *err)
{
	if (w->mtu > p->mtu)
		snprintf(err->text, sizeof(err->text),
			 "wire: mtu=%u is more than the %u of %.64s: give "
			 "less or raise the link's",
			 w->mtu, p->mtu, p->text);
	else if (!wire_path_mtu(w, p->mtu))
		snprintf(err->text, sizeof(err->text),
			 "wire: %.64s has an MTU of %u, too small for a path "
			 "MTU of 256: raise it to %u or more",
			 p->text, p->mtu, ROCE_MTU_MIN + wire_headers(w));
	else
		return 0;
	return -EINVAL;
}

int port_open(const struct port_attr *attr, struct port **port,
	      struct wbell_err *err)
{
	const struct wire *w = attr->wire;
	struct port *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->kind = kinds[w->kind];
	p->wire = *w;
	p->log = attr->log;
	p->log_arg = attr->log_arg;
	snprintf(p->text, sizeof(p->text), "%s on %s", wire_kind_name(w->kind),
		 w->arg);
	rc = p->kind->open(p, w, err);
	if (rc)
		goto free_port;
	rc = limit_mtu(p, w, err);
	if (rc)
		goto close_kind;
	if (w->mtu)
		p->mtu = w->mtu;
	p->mtu_cap = p->mtu;
	rc = setup_queues(p, err);
	if (rc)
		goto close_kind;
	rc = open_extras(p, w, attr->now, err);
	if (rc)
		goto stop_port;
	*port = p;
	return 0;

stop_port:
	fault_destroy(p->fault);
	rte_eth_dev_stop(p->id);
close_kind:
	p->kind->close(p);
free_port:
	free(p);
	return rc;
}

void port_close(struct port *p)
{
	capture_close(p->capture);
	fault_destroy(p->fault);
	rte_eth_dev_stop(p->id);
	port_drain(p);
	p->kind->close(p);
	free(p);
}

int port_error(struct wbell_err *err, const char *what, int rte_err,
	       const char *mend)
{
	snprintf(err->text, sizeof(err->text), "wire: %s failed: %s: %s", what,
		 rte_strerror(rte_err),
		 mend ? mend : "the log at level debug has DPDK's words");
	return rte_err > 0 && rte_err < 4096 ? -rte_err : -EIO;
}

int port_pool_create(uint32_t frame_max, unsigned n, struct rte_mempool **pool,
		     struct wbell_err *err)
{
	uint32_t room = RTE_ALIGN_CEIL(frame_max + RTE_PKTMBUF_HEADROOM,
				       RTE_CACHE_LINE_SIZE);
	char name[RTE_MEMPOOL_NAMESIZE];

	/* A stack: the mbuf freed last, still in cache, is used next. */
	snprintf(name, sizeof(name), "wbell_%u", eal_unique());
	*pool = rte_pktmbuf_pool_create_by_ops(name, n, 0, 0, room,
					       SOCKET_ID_ANY, "stack");
	if (*pool)
		return 0;
	return port_error(err, "making packet buffers", rte_errno,
			  "free memory, or have 2 MB hugepages or more of "
			  "them, or close other contexts");
}

int port_vdev_create(struct port *p, const char *args, struct wbell_err *err)
{
	int rc = rte_vdev_init(p->name, args);

	if (rc)
		return port_error(err, p->text, -rc, NULL);
	rc = rte_eth_dev_get_port_by_name(p->name, &p->id);
	if (!rc)
		return 0;
	rte_vdev_uninit(p->name);
	return port_error(err, p->text, -rc, NULL);
}

void port_vdev_destroy(struct port *p)
{
	rte_eth_dev_close(p->id);
	rte_vdev_uninit(p->name);
}

unsigned port_tick(struct port *p, uint64_t now)
{
	struct port_link link = { .up = p->up, .mtu = p->mtu };
	unsigned news = 0;

	if (p->capture)
		capture_flush(p->capture);
	p->kind->link(p, &link);
	/* The buffers are as large as when the port was opened. */
	link.mtu = RTE_MIN(link.mtu, p->mtu_cap);
	if (link.mtu != p->mtu) {
		p->mtu = link.mtu;
		p->checked = p->mtu < p->mtu_cap;
		news |= PORT_NEWS_MTU;
	}
	if (link.up != p->up) {
		p->up = link.up;
		news |= link.up ? PORT_NEWS_UP : PORT_NEWS_DOWN;
	}
	return news;
}

bool port_busy(const struct port *p)
{
	return p->nback || (p->fault && fault_holds(p->fault));
}

uint32_t port_mtu(const struct port *p)
{
	return p->mtu;
}

uint32_t port_path_mtu(const struct port *p)
{
	return wire_path_mtu(&p->wire, p->mtu);
}

void port_text(const struct port *p, char *text, size_t size)
{
	snprintf(text, size, "%s", p->text);
}

unsigned port_counters(const struct port *p, struct wbell_counter *c,
		       unsigned n)
{
	static const char *const name[PORT_C_MAX] = {
		[PORT_C_RX] = "port_rx",
		[PORT_C_TX] = "port_tx",
		[PORT_C_RX_LONG] = "port_rx_too_long",
		[PORT_C_TX_LONG] = "port_tx_too_long",
		[PORT_C_TX_FULL] = "port_tx_full",
		[PORT_C_NO_BUFFER] = "port_no_buffer",
	};
	unsigned i;

	for (i = 0; i < PORT_C_MAX && i < n; i++) {
		snprintf(c[i].name, sizeof(c[i].name), "%s", name[i]);
		c[i].value = p->count[i];
	}
	i = PORT_C_MAX;
	if (p->fault)
		i += fault_counters(p->fault, c + i, i < n ? n - i : 0);
	if (p->capture)
		i += capture_counters(p->capture, c + i, i < n ? n - i : 0);
	return i;
}
