// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "rdmacm.h"

#define AGAIN_NS 200000000ULL /* a server is sought */
#define ATOMICS	 16	      /* READs at a time: the queue pairs' */

static void work(void *user)
{
	struct rdmacm *r = user;
	uint8_t gid[4][16], mac[6];
	unsigned n = gsi_unresolved(r->gsi, gid, 4);

	while (n--)
		if (link_ask(r->link, gid[n], mac))
			gsi_resolved(r->gsi, gid[n], mac);
	gsi_post(r->gsi, link_now());
}

void rdmacm_open(struct rdmacm *r, struct link *l)
{
	struct cm_attr attr = {
		.max_conn = 8,
		.ca_guid = 0x0200000000770000ULL | l->attr.mac[5],
		.seed = l->attr.seed,
		.path_mtu = 4096,
		/* half a second: a lost MAD must not cost a case's time */
		.response_timeout = 17,
		.max_retries = 7,
	};

	memset(r, 0, sizeof(*r));
	r->link = l;
	gid_set_ipv4(attr.gid, l->attr.ip);
	memcpy(attr.gid6, l->attr.ip6, 16);
	if (cm_create(&attr, &r->cm) || gsi_create(l->dev, r->cm, &r->gsi))
		die("cannot make queue pair 1");
	l->work = work;
	l->work_user = r;
}

void rdmacm_close(struct rdmacm *r)
{
	r->link->work = NULL;
	gsi_destroy(r->gsi);
	cm_destroy(r->cm);
}

bool rdmacm_comp(struct rdmacm *r, const struct roce_comp *c)
{
	if (!r->gsi)
		return false;
	if (c->recv && c->qp == r->accepting)
		cm_established(r->cm, r->accepting_id);
	if (c->qp != gsi_qp(r->gsi))
		return false;
	gsi_comp(r->gsi, link_now(), c);
	return true;
}

/* ---- events ---- */

static bool take(struct rdmacm *r, uint32_t id, struct cm_event *out)
{
	unsigned i = 0;

	while (r->nevent < RDMACM_EVENTS &&
	       cm_event(r->cm, &r->event[r->nevent]))
		r->nevent++;
	while (i < r->nevent && id && r->event[i].id != id)
		i++;
	if (i == r->nevent)
		return false;
	if (!out)
		return true;
	*out = r->event[i];
	r->nevent--;
	memmove(&r->event[i], &r->event[i + 1],
		(r->nevent - i) * sizeof(*r->event));
	return true;
}

bool rdmacm_has_event(struct rdmacm *r, uint32_t id)
{
	return take(r, id, NULL);
}

struct cm_event rdmacm_event(struct rdmacm *r, uint32_t id)
{
	struct cm_event ev;

	while (!take(r, id, &ev))
		link_turn(r->link, -1);
	return ev;
}

static struct cm_event expect(struct rdmacm *r, uint32_t id,
			      enum cm_event_type type)
{
	static const char *const name[CM_EV_MAX] = {
		"REQ",	       "REP",	       "ESTABLISHED", "REJECTED",
		"UNREACHABLE", "DISCONNECTED", "GONE",
	};
	struct cm_event ev = rdmacm_event(r, id);

	if (ev.type != type)
		die("connection %08x: %s (reason %u), not %s", ev.id,
		    name[ev.type], ev.reason, name[type]);
	return ev;
}

/* ---- connections ---- */

static void attach(struct rdmacm *r, struct roce_qp *qp, uint32_t rq_psn,
		   const struct cm_peer *peer)
{
	struct roce_peer p;
	gsi_path(peer, rq_psn, &p);
	link_resolve(r->link, peer->gid, p.mac);
	p.has_mac = true;
	if (roce_qp_requester(qp, peer->psn, peer->ack_timeout, peer->retry_cnt,
			      peer->rnr_retry) ||
	    roce_qp_connect(qp, &p, link_now()))
		die("cannot connect to queue pair %u", peer->qpn);
	printf("# path MTU %u, time-out %u, retries %u, %u, READs %u\n",
	       peer->path_mtu, peer->ack_timeout, peer->retry_cnt,
	       peer->rnr_retry, peer->rd_out);
}

static struct cm_param param(struct roce_qp *qp, uint32_t psn)
{
	return (struct cm_param){
		.qpn = roce_qp_num(qp),
		.psn = psn,
		.rd_in = ATOMICS,
		.rd_out = ATOMICS,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ack_timeout = 15,
		.flow_label = roce_qp_num(qp) & 0xfffff,
	};
}

void rdmacm_listen(struct rdmacm *r, unsigned port)
{
	if (cm_listen(r->cm, port, 4, NULL))
		die("cannot listen on port %u", port);
	puts("listening");
	fflush(stdout);
}

uint32_t rdmacm_accept(struct rdmacm *r, struct roce_qp *qp, uint32_t psn)
{
	struct cm_event ev = expect(r, 0, CM_EV_REQ);
	struct cm_param p = param(qp, psn);

	attach(r, qp, psn, &ev.peer);
	r->accepting = qp;
	r->accepting_id = ev.id;
	if (cm_accept(r->cm, ev.id, &p))
		die("cannot accept connection %08x", ev.id);
	expect(r, ev.id, CM_EV_ESTABLISHED);
	r->accepting = NULL;
	return ev.id;
}

static bool nobody(struct rdmacm *r, const struct rdmacm_to *to,
		   const struct cm_event *ev)
{
	uint64_t until = link_now() + AGAIN_NS;

	if (ev->type != CM_EV_REJECTED || ev->reason != CM_REASON_SERVICE_ID)
		return false;
	expect(r, ev->id, CM_EV_GONE);
	while (!to->once && link_now() < until)
		link_turn(r->link, -1);
	return true;
}

uint32_t rdmacm_connect(struct rdmacm *r, const struct rdmacm_to *to,
			struct roce_qp *qp, uint32_t psn)
{
	struct cm_param p = param(qp, psn);
	struct cm_event ev;
	uint32_t id;

	p.path_mtu = to->mtu;
	do {
		if (cm_connect(r->cm, to->gid, to->port, &p, NULL, &id))
			die("cannot ask for a connection to port %u", to->port);
		ev = rdmacm_event(r, id);
		if (nobody(r, to, &ev) && to->once)
			return 0;
	} while (ev.type == CM_EV_REJECTED &&
		 ev.reason == CM_REASON_SERVICE_ID);
	if (ev.type != CM_EV_REP)
		die("connection %08x: refused, reason %u", id, ev.reason);
	attach(r, qp, psn, &ev.peer);
	if (cm_ready(r->cm, id))
		die("connection %08x ended before it began", id);
	return id;
}

static void ended(struct rdmacm *r, uint32_t id, enum cm_end how)
{
	static const char *const name[] = { "the peer asked", "it answered",
					    "it was silent", "it forgot us" };
	struct cm_event ev = expect(r, id, CM_EV_DISCONNECTED);

	/* both ends may ask at once */
	if (ev.reason != how &&
	    (ev.reason > CM_END_ANSWER || how > CM_END_ANSWER))
		die("connection %08x ended otherwise: %s, not %s", id,
		    name[ev.reason], name[how]);
	printf("disconnected: %s\n", name[ev.reason]);
	expect(r, id, CM_EV_GONE);
}

void rdmacm_disconnect(struct rdmacm *r, uint32_t id, enum cm_end how)
{
	if (!rdmacm_has_event(r, id) && cm_disconnect(r->cm, id))
		die("cannot disconnect %08x", id);
	ended(r, id, how);
}

void rdmacm_wait_end(struct rdmacm *r, uint32_t id)
{
	ended(r, id, CM_END_PEER);
}

void rdmacm_print(const struct rdmacm *r)
{
	for (unsigned i = 0; i < CM_C_MAX; i++)
		if (cm_counter(r->cm, i))
			printf("%s %lu\n", cm_counter_name(i),
			       cm_counter(r->cm, i));
}
