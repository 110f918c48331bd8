// SPDX-License-Identifier: BSD-2-Clause
/*
 * The software NIC as a provider without a port: it stands where libwarpbell
 * has the engine, and its frames go from hand to hand.
 */
#include <endian.h>
#include <pthread.h>
#include <stdio.h>

#include "rig.h"
#include "internal.h"
#include "../../dpdk_path/nic/priv.h"

#define BURST	   32
#define FRAME	   1200
#define STORES_MAX 65536

struct rig_end rig_end[2];
uint64_t rig_now;

static struct nic *nics[2];
static unsigned opened;
static bool unchecked;

/* ---- provider ---- */

static int rig_probe(char *text, size_t size)
{
	snprintf(text, size, "in memory");
	return 0;
}

static int rig_nic_open(const struct wbell_prov_open *attr, void **nic,
			struct wbell_err *err)
{
	uint8_t n = 1 + opened;
	struct nic_attr a = {
		.max_queues = attr->max_queues,
		.doorbells = attr->doorbells,
		.gid = { GID_IPV4(192, 0, 2, n) },
		.mac = { 2, 0, 0, 0, 0, n },
		.path_mtu = 1024,
		.event = attr->event,
		.event_arg = attr->event_arg,
		.seed = rig_random(),
	};
	int rc = nic_create(&a, &nics[opened]);

	if (!rc)
		*nic = nics[opened++];
	return rc;
}

static void rig_nic_close(void *nic)
{
	nic_destroy(nic);
}

static int rig_info(void *nic, struct wbell_ctx_info *info)
{
	return 0;
}

static int rig_counters(void *nic, struct wbell_counter *c, unsigned n,
			unsigned *count)
{
	return nic_counters(nic, c, n, count);
}

static void resolve(struct nic *nic)
{
	uint8_t gid[GID_SIZE];

	while (nic_unresolved(nic, 1, &gid, 1))
		nic_resolved(nic, gid, (uint8_t[6]){ 2, 0, 0, 0, 0, gid[15] });
}

static int rig_poll(void *nic)
{
	static uint8_t buf[BURST][FRAME];
	struct roce_frame f[BURST];
	unsigned n = nic_doorbells(nic, rig_now), sent;

	resolve(nic);
	for (unsigned i = 0; i < BURST; i++) {
		f[i].data = buf[i];
		f[i].room = FRAME;
	}
	sent = nic_tx(nic, rig_now, f, BURST);
	if (sent)
		nic_rx(nics[nic == nics[0]], rig_now, f, sent);
	return n + sent;
}

static int rig_mem_register(void *nic, void *addr, size_t len, uint32_t access,
			    uint32_t *key, struct wbell_err *err)
{
	return nic_mem_register(nic, addr, len, access, key, err);
}

static int rig_mem_deregister(void *nic, uint32_t key)
{
	return nic_mem_deregister(nic, key);
}

static int rig_queue_create(void *nic, const struct wbell_prov_queue *attr,
			    void **q, uint32_t *qpn, struct wbell_err *err)
{
	struct nic_queue *nq;
	int rc = nic_queue_create(nic, attr, &nq, qpn, err);

	if (rc)
		return rc;
	if (unchecked)
		nq->late = false;
	*q = nq;
	return 0;
}

static int rig_queue_address(void *q, struct wbell_address *addr)
{
	return nic_queue_address(q, addr);
}

static int rig_queue_connect(void *q, const struct wbell_address *peer,
			     uint32_t *peer_qpn, struct wbell_err *err)
{
	return nic_queue_connect(q, peer, peer_qpn, err);
}

static int rig_queue_stat(void *q, struct wbell_prov_stat *stat)
{
	return nic_queue_stat(q, stat);
}

static void rig_queue_destroy(void *q)
{
	nic_queue_destroy(q);
}

static const struct wbell_provider_ops rig_ops = {
	.version = WBELL_PROVIDER_VERSION,
	.size = sizeof(rig_ops),
	.name = "engine",
	.probe = rig_probe,
	.open = rig_nic_open,
	.close = rig_nic_close,
	.info = rig_info,
	.counters = rig_counters,
	.poll = rig_poll,
	.mem_register = rig_mem_register,
	.mem_deregister = rig_mem_deregister,
	.queue_create = rig_queue_create,
	.queue_address = rig_queue_address,
	.queue_connect = rig_queue_connect,
	.queue_stat = rig_queue_stat,
	.queue_destroy = rig_queue_destroy,
};

static int rig_get(const struct wbell_provider_ops **ops, struct wbell_err *e)
{
	*ops = &rig_ops;
	return 0;
}

const struct prov prov_engine = { .name = "engine", .get = rig_get };

/* ---- the two ends ---- */

static void end_open(struct rig_end *e, const struct rig_attr *a, bool posts)
{
	struct wbell_open_attr open = { .wire = "ring:rig",
					.provider = "engine",
					.flags = WBELL_OPEN_POLLED,
					.max_queues = 8 };
	struct wbell_queue_attr attr = {
		.depth = a->depth,
		.first_index = a->first_index,
		.recv_depth = posts ? 0 : a->recv_depth,
		.flags = posts && !a->own ? WBELL_QUEUE_COMPAT : 0,
	};

	unchecked = posts && a->unchecked;
	if (wbell_open(&open, &e->ctx))
		fail_msg("%s", wbell_error(NULL));
	e->mem = aligned_alloc(4096, RIG_MEM);
	memset(e->mem, 0, RIG_MEM);
	assert_int_equal(
		wbell_mem_register(e->ctx, e->mem, RIG_MEM, 0xf, &e->mr), 0);
	e->key = htobe32(wbell_mem_rkey(e->mr));
	for (unsigned i = 0; i < RIG_QUEUES; i++)
		if (wbell_queue_create(e->ctx, &attr, &e->q[i]))
			fail_msg("%s", wbell_error(e->ctx));
}

void rig_open(const struct rig_attr *a)
{
	opened = 0;
	rig_now = 1000000000;
	end_open(&rig_end[0], a, true);
	end_open(&rig_end[1], a, false);
	for (unsigned i = 0; i < 2 * RIG_QUEUES; i++) {
		struct wbell_address addr;

		assert_int_equal(
			wbell_queue_address(rig_end[i & 1].q[i / 2], &addr), 0);
		assert_int_equal(
			wbell_queue_connect(rig_end[!(i & 1)].q[i / 2], &addr),
			0);
	}
}

void rig_close(void)
{
	rig_show_all();
	for (unsigned i = 0; i < 2; i++) {
		struct rig_end *e = &rig_end[i];

		for (unsigned k = 0; k < RIG_QUEUES; k++)
			wbell_queue_destroy(e->q[k]);
		wbell_mem_deregister(e->mr);
		assert_int_equal(wbell_close(e->ctx), 0);
		free(e->mem);
	}
}

/* ---- late stores ---- */

struct store {
	uint8_t *at;
	uint64_t value;
	unsigned size;
};

static pthread_mutex_t stores_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store stores[STORES_MAX];
static unsigned nstores;
static bool is_late;
static uint64_t rng;

void rig_seed(uint64_t seed)
{
	rng = seed;
}

uint64_t rig_random(void)
{
	uint64_t z = rng += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void show(const struct store *s)
{
	switch (s->size) {
	case 1:
		__atomic_store_n(s->at, s->value, __ATOMIC_RELAXED);
		break;
	case 2:
		__atomic_store_n((uint16_t *)s->at, s->value, __ATOMIC_RELAXED);
		break;
	case 4:
		__atomic_store_n((uint32_t *)s->at, s->value, __ATOMIC_RELAXED);
		break;
	default:
		__atomic_store_n((uint64_t *)s->at, s->value, __ATOMIC_RELAXED);
	}
}

void rig_late(bool late)
{
	is_late = late;
}

void rig_store(void *at, uint64_t value, unsigned size)
{
	struct store s = { at, value, size };

	pthread_mutex_lock(&stores_lock);
	if (is_late && nstores < STORES_MAX)
		stores[nstores++] = s;
	else
		show(&s);
	pthread_mutex_unlock(&stores_lock);
}

unsigned rig_hidden(const void *at)
{
	const uint8_t *from = at;
	unsigned n = 0;

	for (unsigned i = 0; i < nstores; i++)
		if (stores[i].at >= from && stores[i].at < from + 64)
			n += stores[i].size;
	return n;
}

/* The chance of one store is one of `in`, for each that waits. */
static void show_some(unsigned in)
{
	for (unsigned n = nstores; n; n--) {
		unsigned i = rig_random() % nstores;

		if (rig_random() % in)
			continue;
		show(&stores[i]);
		stores[i] = stores[--nstores];
	}
}

void rig_show_all(void)
{
	pthread_mutex_lock(&stores_lock);
	while (nstores)
		show(&stores[--nstores]);
	pthread_mutex_unlock(&stores_lock);
}

/* No bound of the NIC's runs out because the machine was busy elsewhere. */
void rig_turn(void)
{
	pthread_mutex_lock(&stores_lock);
	show_some(4);
	if (!nstores || !is_late)
		rig_now += 1000;
	pthread_mutex_unlock(&stores_lock);
	wbell_poll(rig_end[0].ctx);
	wbell_poll(rig_end[1].ctx);
}
