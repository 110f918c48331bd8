// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine as a provider: the one symbol that libwarpbell looks up.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "engine.h"

/* A queue and whose it is: the library's calls carry only the queue. */
struct prov_queue {
	struct engine *engine;
	struct nic_queue *nq;
};

/* "DPDK 22.11.11" */
static const char *dpdk(void)
{
	return rte_version();
}

static int prov_probe(char *text, size_t size)
{
	snprintf(text, size, "%s; wires ring, memif, af_packet", dpdk());
	return 0;
}

static int prov_open(const struct wbell_prov_open *attr, void **nic,
		     struct wbell_err *err)
{
	struct engine *e;
	int rc;

	err->text[0] = 0;
	rc = engine_open(attr, &e, err);
	if (rc && !err->text[0])
		snprintf(err->text, sizeof(err->text),
			 "engine: opening %.80s failed: %s: free memory",
			 attr->wire, strerror(-rc));
	if (!rc)
		*nic = e;
	return rc;
}

static void prov_close(void *nic)
{
	engine_close(nic);
}

static int prov_info(void *nic, struct wbell_ctx_info *info)
{
	struct engine *e = nic;
	char port[80];

	engine_lock(e);
	port_text(e->port, port, sizeof(port));
	info->mtu = port_path_mtu(e->port);
	engine_unlock(e);
	snprintf(info->provider, sizeof(info->provider), "engine");
	snprintf(info->nic, sizeof(info->nic), "software, %.64s, %.18s", port,
		 dpdk());
	snprintf(info->gpu, sizeof(info->gpu), "none, CPU threads");
	gid_text(e->wire.gid, info->address);
	memcpy(info->mac, e->wire.mac, 6);
	snprintf(info->capture, sizeof(info->capture), "%s", e->wire.capture);
	return 0;
}

static unsigned neighbour_counters(struct engine *e, struct wbell_counter *c,
				   unsigned n)
{
	const char *name;
	unsigned i, k = 0;

	for (i = 0; i < NEIGHBOUR_C_MAX; i++) {
		name = neighbours_counter_name(e->neighbours, i);
		if (!name)
			continue;
		if (k < n) {
			snprintf(c[k].name, sizeof(c[k].name), "%s", name);
			c[k].value = neighbours_counter(e->neighbours, i);
		}
		k++;
	}
	return k;
}

static int prov_counters(void *nic, struct wbell_counter *c, unsigned n,
			 unsigned *count)
{
	struct engine *e = nic;
	unsigned k = 0;
	int rc;

	engine_lock(e);
	rc = nic_counters(e->nic, c, n, &k);
	if (!rc) {
		k += port_counters(e->port, k < n ? c + k : c,
				   k < n ? n - k : 0);
		k += neighbour_counters(e, k < n ? c + k : c,
					k < n ? n - k : 0);
		*count = k;
	}
	engine_unlock(e);
	return rc;
}

static int prov_poll(void *nic)
{
	struct engine *e = nic;

	if (!e->polled)
		return -EINVAL;
	return engine_turn(e, eal_now());
}

static int prov_mem_register(void *nic, void *addr, size_t len, uint32_t access,
			     uint32_t *key, struct wbell_err *err)
{
	struct engine *e = nic;
	int rc;

	engine_lock(e);
	rc = nic_mem_register(e->nic, addr, len, access, key, err);
	engine_unlock(e);
	return rc;
}

static int prov_mem_deregister(void *nic, uint32_t key)
{
	struct engine *e = nic;
	int rc;

	engine_lock(e);
	rc = nic_mem_deregister(e->nic, key);
	engine_unlock(e);
	return rc;
}

static int prov_queue_create(void *nic, const struct wbell_prov_queue *attr,
			     void **queue, uint32_t *qpn, struct wbell_err *err)
{
	struct prov_queue *q = calloc(1, sizeof(*q));
	int rc;

	if (!q)
		return -ENOMEM;
	q->engine = nic;
	engine_lock(q->engine);
	rc = nic_queue_create(q->engine->nic, attr, &q->nq, qpn, err);
	engine_unlock(q->engine);
	if (rc)
		free(q);
	else
		*queue = q;
	return rc;
}

static int prov_queue_address(void *queue, struct wbell_address *addr)
{
	struct prov_queue *q = queue;
	int rc;

	engine_lock(q->engine);
	rc = nic_queue_address(q->nq, addr);
	engine_unlock(q->engine);
	return rc;
}

static int prov_queue_connect(void *queue, const struct wbell_address *peer,
			      uint32_t *peer_qpn, struct wbell_err *err)
{
	struct prov_queue *q = queue;
	int rc;

	engine_lock(q->engine);
	rc = nic_queue_connect(q->nq, peer, peer_qpn, err);
	/* Its peer's address is resolved in the very next turn. */
	q->engine->chore_at = 0;
	engine_unlock(q->engine);
	return rc;
}

static int prov_queue_stat(void *queue, struct wbell_prov_stat *stat)
{
	struct prov_queue *q = queue;
	int rc;

	engine_lock(q->engine);
	rc = nic_queue_stat(q->nq, stat);
	engine_unlock(q->engine);
	return rc;
}

static void prov_queue_destroy(void *queue)
{
	struct prov_queue *q = queue;

	engine_lock(q->engine);
	nic_queue_destroy(q->nq);
	engine_unlock(q->engine);
	free(q);
}

extern const struct wbell_provider_ops wbell_provider;

__attribute__((visibility("default")))
const struct wbell_provider_ops wbell_provider = {
	.version = WBELL_PROVIDER_VERSION,
	.size = sizeof(struct wbell_provider_ops),
	.name = "engine",
	.probe = prov_probe,
	.open = prov_open,
	.close = prov_close,
	.info = prov_info,
	.counters = prov_counters,
	.poll = prov_poll,
	.mem_register = prov_mem_register,
	.mem_deregister = prov_mem_deregister,
	.queue_create = prov_queue_create,
	.queue_address = prov_queue_address,
	.queue_connect = prov_queue_connect,
	.queue_stat = prov_queue_stat,
	.queue_destroy = prov_queue_destroy,
};
