// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "net.h"

#define STEP	   NET_MS
#define NET_ROUNDS 10000 /* without a step of the clock */

void net_open(struct net *n, const struct cm_attr *attr, bool v6)
{
	memset(n, 0, sizeof(*n));
	n->now = NET_S; /* of a clock that runs for long */
	for (int e = 0; e < 2; e++) {
		struct cm_attr a = *attr;
		const uint8_t ip[4] = { 192, 0, 2, e + 1 };

		a.path_mtu = a.path_mtu ? a.path_mtu : 4096;
		a.max_conn = a.max_conn ? a.max_conn : 8;
		a.ca_guid = 0x0200000000000001ULL + e;
		a.seed = 77 + e;
		gid_set_ipv4(a.gid, ip);
		memcpy(a.gid6, "\xfd\x77", 2);
		a.gid6[15] = e + 1;
		memcpy(n->end[e].gid, v6 ? a.gid6 : a.gid, 16);
		assert_int_equal(cm_create(&a, &n->end[e].cm), 0);
	}
}

void net_close(struct net *n)
{
	cm_destroy(n->end[0].cm);
	cm_destroy(n->end[1].cm);
}

static void put(struct net *n, int from, const struct cm_mad *mad)
{
	struct net_end *to = &n->end[!from];

	assert_true(to->pi - to->ci < NET_WIRE);
	to->wire[to->pi++ % NET_WIRE] = *mad;
}

static void carry(struct net *n, int from, const struct cm_mad *mad)
{
	struct cm_msg m;
	enum net_fate fate;

	assert_memory_equal(mad->gid, n->end[!from].gid, 16);
	if (cm_msg_get(mad->mad, &m)) {
		put(n, from, mad); /* no message of the class */
		return;
	}
	n->sent[from][m.kind]++;
	n->last[from] = m;
	fate = n->fate ? n->fate(n->arg, from, &m) : NET_PASS;
	if (fate == NET_HOLD) {
		n->held = *mad;
		n->holds = true;
		return;
	}
	if (fate != NET_LOSE)
		put(n, from, mad);
	if (fate == NET_TWICE)
		put(n, from, mad);
	if (n->holds && n->held.gid[15] == mad->gid[15]) {
		n->holds = false;
		put(n, from, &n->held);
	}
}

static bool receive(struct net *n, int e)
{
	struct net_end *end = &n->end[e];
	struct cm_event ev;
	bool moved = end->ci != end->pi;

	for (; end->ci != end->pi; end->ci++)
		cm_rx(end->cm, n->now, n->end[!e].gid, end->gid,
		      end->wire[end->ci % NET_WIRE].mad, MAD_SIZE);
	while (cm_event(end->cm, &ev)) {
		assert_true(end->nevent < NET_EVENTS);
		end->event[end->nevent++] = ev;
	}
	return moved;
}

static bool transmit(struct net *n, int e)
{
	struct net_end *end = &n->end[e];
	struct cm_mad mad;
	bool moved = false;

	while (cm_deadline(end->cm) <= n->now && cm_tx(end->cm, n->now, &mad)) {
		carry(n, e, &mad);
		moved = true;
	}
	return moved;
}

/* Both send before either receives: what they say at once crosses. */
void net_run(struct net *n, uint64_t ns)
{
	uint64_t end = n->now + ns;
	unsigned rounds = 0;

	for (;;) {
		bool moved = transmit(n, 0) | transmit(n, 1);

		if (receive(n, 0) | receive(n, 1) | moved) {
			/* they answer each other for ever */
			assert_true(++rounds < NET_ROUNDS);
			continue;
		}
		rounds = 0;
		if (n->now >= end)
			return;
		n->now += STEP;
	}
}

struct cm_event net_event(struct net *n, int e, enum cm_event_type type)
{
	struct net_end *end = &n->end[e];

	assert_true(end->taken < end->nevent);
	assert_int_equal(end->event[end->taken].type, type);
	return end->event[end->taken++];
}

bool net_no_event(struct net *n, int e)
{
	return n->end[e].taken == n->end[e].nevent;
}

void net_inject_raw(struct net *n, int to, const void *mad, uint32_t len)
{
	cm_rx(n->end[to].cm, n->now, n->end[!to].gid, n->end[to].gid, mad, len);
	receive(n, to);
}

void net_inject(struct net *n, int to, const struct cm_msg *m)
{
	uint8_t mad[MAD_SIZE];

	cm_msg_put(mad, m);
	net_inject_raw(n, to, mad, MAD_SIZE);
}

struct cm_param net_param(int end)
{
	return (struct cm_param){
		.qpn = 0x100 + end,
		.psn = 0xfffff0 + end,
		.rd_in = 8,
		.rd_out = 4,
		.retry_cnt = 6,
		.rnr_retry = 5,
		.ack_timeout = 16,
		.path_mtu = 1024,
		.flow_label = 0x12345,
	};
}

void net_connect(struct net *n, uint32_t id[2])
{
	struct cm_param p = net_param(0);

	assert_int_equal(cm_listen(n->end[1].cm, NET_PORT, 4, n), 0);
	assert_int_equal(cm_connect(n->end[0].cm, n->end[1].gid, NET_PORT, &p,
				    n, &id[0]),
			 0);
	net_run(n, 10 * NET_MS);
	id[1] = net_event(n, 1, CM_EV_REQ).id;
	p = net_param(1);
	assert_int_equal(cm_accept(n->end[1].cm, id[1], &p), 0);
	net_run(n, 10 * NET_MS);
	net_event(n, 0, CM_EV_REP);
	assert_int_equal(cm_ready(n->end[0].cm, id[0]), 0);
	net_run(n, 10 * NET_MS);
	net_event(n, 1, CM_EV_ESTABLISHED);
}
