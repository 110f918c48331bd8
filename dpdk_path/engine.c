// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <wbell/roce.h>

#include "engine.h"

#define ENGINE_CHORE_NS 1000000
/* Bursts sent in one turn before the port is looked at again. */
#define ENGINE_TX_ROUNDS 4
#define ENGINE_RESOLVE	 32

/* ARP, or IPv6 that is not UDP: RoCEv2 is neither. */
static bool may_be_neighbour(const struct roce_frame *f)
{
	uint16_t type;

	if (f->len <= 20)
		return false;
	type = f->data[12] << 8 | f->data[13];
	return type == ROCE_ETHERTYPE_ARP ||
	       (type == ROCE_ETHERTYPE_IPV6 && f->data[20] != ROCE_IPPROTO_UDP);
}

static void tell_conflict(struct engine *e, const struct neighbour_news *news)
{
	char ip[GID_TEXT], text[200];
	const uint8_t *m = news->mac;

	if (e->conflict_told)
		return;
	e->conflict_told = true;
	snprintf(text, sizeof(text),
		 "engine: address %s is used by "
		 "%02x:%02x:%02x:%02x:%02x:%02x as well: give another ip=",
		 gid_text(news->gid, ip), m[0], m[1], m[2], m[3], m[4], m[5]);
	e->log(e->log_arg, WBELL_LOG_WARN, text);
}

static bool neighbour_frame(struct engine *e, uint64_t now,
			    const struct roce_frame *f)
{
	struct neighbour_news news;

	if (!neighbours_rx(e->neighbours, now, f->data, f->len, &news))
		return false;
	if (news.reply)
		port_tx_copy(e->port, now, news.out, news.reply);
	if (news.learned)
		nic_resolved(e->nic, news.gid, news.mac);
	if (news.conflict)
		tell_conflict(e, &news);
	return true;
}

/* The NIC gets what is not the neighbours', in the order it came. */
static unsigned receive(struct engine *e, uint64_t now)
{
	struct roce_frame f[PORT_BURST];
	unsigned i, k = 0, n;

	n = port_rx(e->port, now, f);
	for (i = 0; i < n; i++) {
		if (__builtin_expect(may_be_neighbour(&f[i]), 0) &&
		    neighbour_frame(e, now, &f[i]))
			continue;
		f[k++] = f[i];
	}
	if (k)
		nic_rx(e->nic, now, f, k);
	port_rx_done(e->port);
	return n;
}

static unsigned transmit(struct engine *e, uint64_t now)
{
	unsigned n, room, round, sent = 0;
	struct roce_frame *f;

	for (round = 0; round < ENGINE_TX_ROUNDS; round++) {
		room = port_tx_room(e->port, now, &f);
		if (!room)
			break;
		n = nic_tx(e->nic, now, f, room);
		port_tx(e->port, now, n);
		sent += n;
		if (n < room)
			break;
	}
	return sent;
}

/* There is no router in an engine: it asks all the same, and says so. */
static void tell_off_link(struct engine *e, const uint8_t gid[GID_SIZE])
{
	char ip[GID_TEXT], text[200];

	if (e->off_link_told || wire_on_link(&e->wire, gid))
		return;
	e->off_link_told = true;
	snprintf(text, sizeof(text),
		 "engine: peer %s is outside this end's /%u and the engine "
		 "has no router: put both ends in one network",
		 gid_text(gid, ip), e->wire.prefix);
	e->log(e->log_arg, WBELL_LOG_WARN, text);
}

static void resolve(struct engine *e, uint64_t now)
{
	uint8_t gid[ENGINE_RESOLVE][GID_SIZE], mac[6], out[NEIGHBOUR_FRAME];
	unsigned i, n;
	uint32_t len;

	n = nic_unresolved(e->nic, now, gid, ENGINE_RESOLVE);
	for (i = 0; i < n; i++) {
		if (neighbours_want(e->neighbours, now, gid[i], mac))
			nic_resolved(e->nic, gid[i], mac);
		else
			tell_off_link(e, gid[i]);
	}
	for (i = 0; i < PORT_BURST; i++) {
		len = neighbours_tx(e->neighbours, now, out);
		if (!len)
			break;
		port_tx_copy(e->port, now, out, len);
	}
}

static void tell(struct engine *e, uint32_t kind, uint64_t value)
{
	struct wbell_event event = { .kind = kind, .value = value };

	e->event(e->event_arg, &event);
}

static void tick(struct engine *e, uint64_t now)
{
	unsigned news = port_tick(e->port, now);

	e->tick_at = now + PORT_TICK_NS;
	if (news & PORT_NEWS_MTU)
		nic_set_path_mtu(e->nic, port_path_mtu(e->port));
	if (news & PORT_NEWS_UP)
		tell(e, WBELL_EVENT_PORT_UP, 0);
	if (news & PORT_NEWS_DOWN)
		tell(e, WBELL_EVENT_PORT_DOWN, 0);
}

unsigned engine_turn(struct engine *e, uint64_t now)
{
	unsigned work;

	work = receive(e, now);
	work += nic_doorbells(e->nic, now);
	if (nic_tx_pending(e->nic) || now >= nic_deadline(e->nic) ||
	    port_busy(e->port))
		work += transmit(e, now);
	if (now >= e->chore_at) {
		e->chore_at = now + ENGINE_CHORE_NS;
		resolve(e, now);
		if (now >= e->tick_at)
			tick(e, now);
	}
	return work;
}

static int make_nic(struct engine *e, const struct wbell_prov_open *attr,
		    struct wbell_err *err)
{
	struct nic_attr na = {
		.max_queues = attr->max_queues,
		.doorbells = attr->doorbells,
		.path_mtu = port_path_mtu(e->port),
		.event = attr->event,
		.event_arg = attr->event_arg,
	};
	int rc;

	memcpy(na.gid, e->wire.gid, GID_SIZE);
	memcpy(na.mac, e->wire.mac, 6);
	if (getrandom(&na.seed, sizeof(na.seed), 0) != sizeof(na.seed))
		na.seed = eal_now();
	rc = nic_create(&na, &e->nic);
	if (rc)
		snprintf(err->text, sizeof(err->text),
			 "engine: making the NIC for %u queues failed: %s: "
			 "give a smaller max_queues",
			 attr->max_queues, strerror(-rc));
	return rc;
}

static void take_attr(struct engine *e, const struct wbell_prov_open *attr)
{
	pthread_mutex_init(&e->lock, NULL);
	e->polled = attr->flags & WBELL_OPEN_POLLED;
	e->cpu = attr->cpu;
	e->log = e->eal_log.fn = attr->log;
	e->log_arg = e->eal_log.arg = attr->log_arg;
	e->event = attr->event;
	e->event_arg = attr->event_arg;
}

/* As peers on this wire it is as good as any; beyond, nobody can use it. */
static void tell_link_local(struct engine *e)
{
	char ip[GID_TEXT], text[200];

	if (!gid_is_link_local(e->wire.gid))
		return;
	snprintf(text, sizeof(text),
		 "engine: address %s is link-local: no router carries it: give "
		 "a unique local ip=, such as fd00::1/64, for peers beyond "
		 "this link",
		 gid_text(e->wire.gid, ip));
	e->log(e->log_arg, WBELL_LOG_WARN, text);
}

static int build(struct engine *e, const struct wbell_prov_open *attr,
		 struct wbell_err *err)
{
	struct port_attr pa = {
		.wire = &e->wire,
		.log = attr->log,
		.log_arg = attr->log_arg,
	};
	int rc;

	pa.now = eal_now();
	rc = port_open(&pa, &e->port, err);
	if (rc)
		return rc;
	rc = neighbours_create(e->wire.gid, e->wire.mac, &e->neighbours);
	if (rc)
		goto close_port;
	rc = make_nic(e, attr, err);
	if (rc)
		goto destroy_neighbours;
	rc = e->polled ? 0 : engine_thread_start(e, err);
	if (rc)
		goto destroy_nic;
	return 0;

destroy_nic:
	nic_destroy(e->nic);
destroy_neighbours:
	neighbours_destroy(e->neighbours);
close_port:
	port_close(e->port);
	return rc;
}

int engine_open(const struct wbell_prov_open *attr, struct engine **engine,
		struct wbell_err *err)
{
	struct engine *e = calloc(1, sizeof(*e));
	int rc;

	if (!e)
		return -ENOMEM;
	take_attr(e, attr);
	rc = wire_parse(attr->wire, &e->wire, err);
	if (rc)
		goto free_engine;
	tell_link_local(e);
	eal_log_add(&e->eal_log);
	rc = eal_start(attr->flags, err);
	if (!rc)
		rc = build(e, attr, err);
	if (rc)
		goto remove_log;
	*engine = e;
	return 0;

remove_log:
	eal_log_remove(&e->eal_log);
free_engine:
	pthread_mutex_destroy(&e->lock);
	free(e);
	return rc;
}

void engine_close(struct engine *e)
{
	if (!e->polled)
		engine_thread_stop(e);
	nic_destroy(e->nic);
	neighbours_destroy(e->neighbours);
	port_close(e->port);
	eal_log_remove(&e->eal_log);
	pthread_mutex_destroy(&e->lock);
	free(e);
}
