// SPDX-License-Identifier: BSD-2-Clause
/*
 * A communication manager whose peers, caller and clock do what the input
 * says: MADs as they are, MADs with numbers it believes, calls at any time.
 * Each ID ends once, places are never more than there are, and when all fall
 * silent nothing is left.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "../../dpdk_path/cm/cm.h"

#define CONNS 4
#define IDS   8
#define PORT  7174

static struct cm *cm;
static uint64_t now;
static const uint8_t us[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
static uint32_t ids[IDS];		 /* heard of, not gone */
static uint32_t last_local, last_remote; /* of what we sent last */

static void peer(struct input *in, uint8_t gid[16])
{
	memcpy(gid, us, 16);
	gid[15] = 2 + take(in, 1) % 2;
}

/* ---- events ---- */

static uint32_t *slot(uint32_t id)
{
	for (unsigned i = 0; i < IDS; i++)
		if (ids[i] == id)
			return &ids[i];
	return NULL;
}

static void events(void)
{
	struct cm_event ev;

	while (cm_event(cm, &ev)) {
		must(ev.type < CM_EV_MAX && ev.data_len <= CM_DATA_MAX);
		if (ev.type == CM_EV_REQ) {
			must(!slot(ev.id) && slot(0));
			*slot(0) = ev.id;
			must(ev.peer.path_mtu >= 256);
			must(ev.peer.path_mtu <= 1024);
			must(ev.peer.qpn > 1 && ev.peer.qpn < 0xffffff);
		}
		must(slot(ev.id));
		if (ev.type == CM_EV_GONE)
			*slot(ev.id) = 0;
	}
	must(cm_connections(cm) <= CONNS);
}

static void transmit(void)
{
	struct cm_mad out;
	struct cm_msg m;

	for (unsigned i = 0; i < 200 && cm_tx(cm, now, &out); i++) {
		must(out.gid[15] == 2 || out.gid[15] == 3);
		if (cm_msg_get(out.mad, &m))
			continue;
		last_local = m.local_id;
		last_remote = m.remote_id;
	}
}

/* ---- what the input may do ---- */

static void raw_mad(struct input *in)
{
	uint8_t gid[16], mad[MAD_SIZE + 8] = { 0 };
	uint32_t len = MAD_SIZE;

	peer(in, gid);
	if (take(in, 1) & 1)
		len = (uint32_t)take(in, 2) % sizeof(mad);
	take_bytes(in, mad, (uint32_t)take(in, 2) % (len + 1));
	cm_rx(cm, now, gid, us, mad, len);
}

static uint32_t some_id(struct input *in)
{
	unsigned k = (unsigned)take(in, 1);

	return k < 200	 ? ids[k % IDS]
	       : k < 220 ? last_local
	       : k < 240 ? last_remote
			 : (uint32_t)take(in, 4);
}

static void fill_req(struct input *in, struct cm_msg *m, const uint8_t gid[16])
{
	struct cm_ip ip = { .sport = 1 };

	m->req.service_id = CM_SERVICE_TCP | (PORT + take(in, 1) % 2);
	m->req.ca_guid = take(in, 1) % 4;
	m->req.qpn = 2 + take(in, 1) % 8;
	m->req.pkey = 0xffff;
	m->req.mtu = 1 + take(in, 1) % 4;
	m->req.local_response_timeout = take(in, 1);
	m->req.path.ack_timeout = take(in, 1);
	m->req.max_retries = take(in, 1);
	memcpy(m->req.path.local_gid, gid, 16);
	memcpy(m->req.path.remote_gid, us, 16);
	memcpy(ip.src, gid, 16);
	memcpy(ip.dst, us, 16);
	cm_ip_put(m->data, &ip);
	m->data_len = CM_REQ_DATA;
}

static void good_mad(struct input *in)
{
	struct cm_msg m = { .kind = CM_REQ +
				    take(in, 1) % (CM_KIND_END - CM_REQ) };
	uint8_t gid[16], mad[MAD_SIZE];

	peer(in, gid);
	m.tid = take(in, 1);
	m.local_id = take(in, 1) % 8;
	m.remote_id = some_id(in);
	if (m.kind == CM_REQ) {
		fill_req(in, &m, gid);
	} else if (m.kind == CM_REP) {
		m.rep.qpn = take(in, 1) % 8;
		m.rep.ca_guid = take(in, 1) % 4;
	} else if (m.kind == CM_REJ) {
		m.rej.about = take(in, 1) % 4;
		m.rej.reason = take(in, 1);
		m.rej.ari_len = take(in, 1) % 128;
		m.rej.ari[7] = take(in, 1) % 4;
	} else if (m.kind == CM_MRA) {
		m.mra.about = take(in, 1) % 4;
		m.mra.service_timeout = take(in, 1);
	} else if (m.kind == CM_DREQ) {
		m.qpn = 2 + take(in, 1) % 4;
	}
	cm_msg_put(mad, &m);
	/* a byte of it otherwise */
	if (take(in, 1) > 200)
		mad[take(in, 1)] = (uint8_t)take(in, 1);
	cm_rx(cm, now, gid, us, mad, MAD_SIZE);
}

static void call(struct input *in)
{
	struct cm_param p = { .qpn = 2 + take(in, 1) % 4,
			      .path_mtu = 1024,
			      .ack_timeout = take(in, 1) % 32 };
	uint32_t id = some_id(in), made;
	uint8_t gid[16];

	switch (take(in, 1) % 6) {
	case 0:
		peer(in, gid);
		if (slot(0) && !cm_connect(cm, gid, PORT, &p, NULL, &made))
			*slot(0) = made;
		break;
	case 1:
		cm_accept(cm, id, &p);
		break;
	case 2:
		cm_ready(cm, id);
		break;
	case 3:
		cm_reject(cm, id, (uint16_t)take(in, 1), NULL, 0);
		break;
	case 4:
		cm_established(cm, id);
		break;
	default:
		cm_disconnect(cm, id);
	}
}

/* Nobody says anything any more. */
static void end_all(void)
{
	for (unsigned i = 0; i < 2000 && cm_connections(cm); i++) {
		events();
		for (unsigned k = 0; k < IDS; k++)
			if (ids[k])
				cm_disconnect(cm, ids[k]);
		transmit();
		if (cm_deadline(cm) != ~0ULL && cm_deadline(cm) > now)
			now = cm_deadline(cm);
	}
	must(!cm_connections(cm));
	for (unsigned i = 0; i < IDS; i++)
		must(!ids[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct cm_attr attr = { .max_conn = CONNS,
				.ca_guid = 1,
				.seed = 3,
				.path_mtu = 1024,
				.response_timeout = 14,
				.max_retries = 2 };

	memcpy(attr.gid, us, 16);
	memset(ids, 0, sizeof(ids));
	now = 1;
	must(!cm_create(&attr, &cm));
	must(!cm_listen(cm, PORT, 2, NULL));
	while (in.n) {
		switch (take(&in, 1) % 6) {
		case 0:
			raw_mad(&in);
			break;
		case 1:
		case 2:
			good_mad(&in);
			break;
		case 3:
			call(&in);
			break;
		case 4:
			now += take(&in, 1) * 4000000ULL;
			break;
		default:
			events();
			transmit();
		}
	}
	end_all();
	cm_destroy(cm);
	return 0;
}
