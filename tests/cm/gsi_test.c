// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queue pair 1 on the transport core: two devices, whole frames between them,
 * a connection made by MADs that then carries data.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../dpdk_path/cm/gsi.h"

#define MS     1000000ULL
#define PORT   7174
#define BURST  32
#define RQ_PSN 0xfffffd /* wraps soon */
#define FRAME  4608

struct end {
	struct roce_dev *dev;
	struct cm *cm;
	struct gsi *gsi;
	struct roce_qp *qp; /* of the connection */
	uint8_t gid[16], mac[6];
	uint8_t mem[4096];
	uint32_t key, id;
	unsigned received;
	bool resolves; /* answers gsi_unresolved() */
};

static struct end end[2];
static uint64_t now;
static bool v6;

static void make_end(unsigned e)
{
	struct roce_dev_attr dev = { .max_qp = 4,
				     .max_mr = 4,
				     .max_ah = GSI_AH,
				     .ip = { 192, 0, 2, e + 1 },
				     .ip6 = { 0xfd, [15] = e + 1 },
				     .mac = { 2, 0, 0, 0, 0, e + 1 },
				     .seed = e };
	struct cm_attr cm = { .max_conn = 4,
			      .ca_guid = e,
			      .path_mtu = 1024,
			      .response_timeout = 14 };
	struct end *x = &end[e];

	memset(x, 0, sizeof(*x));
	gid_set_ipv4(cm.gid, dev.ip);
	memcpy(cm.gid6, dev.ip6, 16);
	memcpy(x->gid, v6 ? cm.gid6 : cm.gid, 16);
	memcpy(x->mac, dev.mac, 6);
	x->resolves = true;
	assert_int_equal(roce_dev_create(&dev, &x->dev), 0);
	assert_int_equal(cm_create(&cm, &x->cm), 0);
	assert_int_equal(gsi_create(x->dev, x->cm, &x->gsi), 0);
}

static int open_ends(void **state)
{
	v6 = *state;
	now = MS;
	make_end(0);
	make_end(1);
	return 0;
}

static int close_ends(void **state)
{
	for (unsigned e = 0; e < 2; e++) {
		gsi_destroy(end[e].gsi);
		cm_destroy(end[e].cm);
		roce_dev_destroy(end[e].dev);
	}
	return 0;
}

/* ---- turns ---- */

static void resolve(unsigned e)
{
	uint8_t want[4][16];
	unsigned n = gsi_unresolved(end[e].gsi, want, 4);

	for (unsigned i = 0; i < n && end[e].resolves; i++)
		if (!memcmp(want[i], end[!e].gid, 16))
			gsi_resolved(end[e].gsi, want[i], end[!e].mac);
}

static void turn(unsigned e)
{
	static uint8_t buf[BURST][FRAME];
	struct roce_frame f[BURST];
	struct roce_comp c[BURST];
	unsigned n;

	resolve(e);
	gsi_post(end[e].gsi, now);
	for (unsigned i = 0; i < BURST; i++)
		f[i] = (struct roce_frame){ buf[i], 0, FRAME };
	n = roce_tx(end[e].dev, now, f, BURST);
	roce_rx(end[!e].dev, now, f, n);
	for (unsigned k = 0; k < 2; k++) {
		n = roce_comp(end[k].dev, c, BURST);
		for (unsigned i = 0; i < n; i++)
			if (c[i].qp == gsi_qp(end[k].gsi))
				gsi_comp(end[k].gsi, now, &c[i]);
			else
				end[k].received += c[i].recv && !c[i].syndrome;
	}
}

static void run(uint64_t ns)
{
	for (uint64_t stop = now + ns; now < stop; now += MS / 4) {
		turn(0);
		turn(1);
	}
}

static struct cm_event event(unsigned e, enum cm_event_type type)
{
	struct cm_event ev = { 0 };

	for (unsigned i = 0; i < 4000 && !cm_event(end[e].cm, &ev); i++)
		run(MS);
	assert_int_equal(ev.type, type);
	return ev;
}

/* ---- a connection ---- */

static struct cm_param make_qp(unsigned e)
{
	struct roce_qp_attr attr = { .type = ROCE_RC,
				     .depth = 4,
				     .recv_depth = 4,
				     .recv_sge = 1,
				     .max_rd_atomic = 4 };
	struct roce_mr_attr mr = { .iova = (uintptr_t)end[e].mem,
				   .base = end[e].mem,
				   .len = sizeof(end[e].mem),
				   .access = ROCE_ACCESS_LOCAL_WRITE };
	struct roce_sge sge = { mr.iova, sizeof(end[e].mem), 0 };

	assert_int_equal(roce_qp_create(end[e].dev, &attr, &end[e].qp), 0);
	assert_int_equal(roce_mr_add(end[e].dev, &mr, &end[e].key), 0);
	sge.lkey = end[e].key;
	assert_int_equal(roce_recv_post(end[e].qp, 0, &sge, 1), 0);
	return (struct cm_param){ .qpn = roce_qp_num(end[e].qp),
				  .psn = RQ_PSN + e,
				  .rd_in = 4,
				  .rd_out = 4,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .ack_timeout = 14,
				  .path_mtu = 1024 };
}

static void attach(unsigned e, const struct cm_peer *peer)
{
	struct roce_peer p;

	gsi_path(peer, RQ_PSN + e, &p);
	memcpy(p.mac, end[!e].mac, 6);
	p.has_mac = true;
	assert_int_equal(peer->psn, RQ_PSN + !e);
	assert_int_equal(roce_qp_requester(end[e].qp, peer->psn,
					   peer->ack_timeout, peer->retry_cnt,
					   peer->rnr_retry),
			 0);
	assert_int_equal(roce_qp_connect(end[e].qp, &p, now), 0);
	assert_int_equal(roce_qp_requester(end[e].qp, 0, 14, 7, 7), -EISCONN);
}

static void send_bytes(unsigned e)
{
	struct roce_wr *wr = roce_wr_next(end[e].qp);

	memset(wr, 0, sizeof(*wr));
	wr->op = ROCE_OP_SEND;
	wr->nsge = 1;
	wr->len = sizeof(end[e].mem);
	wr->sge =
		(struct roce_sge){ (uintptr_t)end[e].mem, wr->len, end[e].key };
	roce_wr_post(end[e].qp, wr);
}

static void test_connection_that_carries_data(void **state)
{
	struct cm_param p = make_qp(0);
	struct cm_event ev;

	cm_listen(end[1].cm, PORT, 1, NULL);
	assert_int_equal(
		cm_connect(end[0].cm, end[1].gid, PORT, &p, NULL, &end[0].id),
		0);
	ev = event(1, CM_EV_REQ);
	p = make_qp(1);
	attach(1, &ev.peer);
	assert_int_equal(cm_accept(end[1].cm, ev.id, &p), 0);
	ev = event(0, CM_EV_REP);
	attach(0, &ev.peer);
	assert_int_equal(cm_ready(end[0].cm, end[0].id), 0);
	end[1].id = event(1, CM_EV_ESTABLISHED).id;
	for (unsigned i = 0; i < sizeof(end[0].mem); i++)
		end[0].mem[i] = i * 7 + (i >> 8);
	send_bytes(0);
	run(10 * MS);
	assert_int_equal(end[1].received, 1);
	assert_memory_equal(end[1].mem, end[0].mem, sizeof(end[0].mem));
	send_bytes(1);
	run(10 * MS);
	assert_int_equal(end[0].received, 1);
	assert_int_equal(cm_disconnect(end[1].cm, end[1].id), 0);
	event(0, CM_EV_DISCONNECTED);
	event(1, CM_EV_DISCONNECTED);
	event(0, CM_EV_GONE);
	event(1, CM_EV_GONE);
}

/* ---- queue pair 1 ---- */

static void test_queue_pair_1_is_one(void **state)
{
	struct gsi *second;

	assert_int_equal(roce_qp_num(gsi_qp(end[0].gsi)), 1);
	assert_int_equal(gsi_create(end[0].dev, end[0].cm, &second), -ENOSPC);
	gsi_destroy(end[0].gsi);
	assert_int_equal(gsi_create(end[0].dev, end[0].cm, &end[0].gsi), 0);
}

/* Who cannot be resolved is dropped in time, and does not stop others. */
static void test_address_that_nobody_resolves(void **state)
{
	struct cm_param p = { .qpn = 2, .path_mtu = 1024 };
	uint8_t nobody[16], want[4][16];
	uint32_t id;

	memcpy(nobody, end[1].gid, 16);
	nobody[15] = 99;
	assert_int_equal(cm_connect(end[0].cm, nobody, PORT, &p, NULL, &id), 0);
	gsi_post(end[0].gsi, now);
	assert_int_equal(gsi_unresolved(end[0].gsi, want, 4), 1);
	assert_memory_equal(want[0], nobody, 16);
	p.qpn = 3;
	cm_connect(end[0].cm, end[1].gid, PORT, &p, NULL, &id);
	assert_int_equal(event(0, CM_EV_REJECTED).id, id); /* was heard */
	run(3200 * MS);
	assert_true(gsi_unreachable(end[0].gsi) > 0);
	event(0, CM_EV_GONE);
	event(0, CM_EV_UNREACHABLE);
	run(4000 * MS);
	assert_int_equal(gsi_unresolved(end[0].gsi, want, 4), 0);
	assert_true(gsi_deadline(end[0].gsi) == 0 ||
		    gsi_deadline(end[0].gsi) == ~0ULL);
}

/* Requests from addresses where nobody is: their answers give way. */
static void test_more_that_wait_than_there_are_places(void **state)
{
	uint8_t from[16], mad[MAD_SIZE];
	struct cm_msg m = { .kind = CM_DREQ }; /* has an answer */
	struct cm_param p = { .qpn = 2, .path_mtu = 1024 };
	uint32_t id;

	cm_msg_put(mad, &m);
	memcpy(from, end[1].gid, 16);
	for (unsigned i = 0; i < 50; i++) {
		from[15] = 100 + i;
		cm_rx(end[0].cm, now, from, end[0].gid, mad, MAD_SIZE);
	}
	gsi_post(end[0].gsi, now);
	assert_true(gsi_unreachable(end[0].gsi) > 0);
	cm_connect(end[0].cm, end[1].gid, PORT, &p, NULL, &id);
	event(0, CM_EV_REJECTED);
	run(3200 * MS);
	assert_int_equal(gsi_unreachable(end[0].gsi), 50);
	event(0, CM_EV_GONE);
	assert_true(gsi_deadline(end[0].gsi) == ~0ULL);
}

/* More addresses than are kept: the oldest gives way, all are reached. */
static void test_more_peers_than_are_kept(void **state)
{
	struct cm_param p = { .qpn = 2, .path_mtu = 1024 };
	uint8_t peer[16], mac[6] = { 2, 0, 0, 0, 0, 0 };

	memcpy(peer, end[1].gid, 16);
	for (unsigned i = 0; i < 4 * GSI_AH; i++) {
		uint64_t before = roce_counter(end[0].dev, ROCE_C_TX);
		struct cm_event ev;
		uint32_t id;

		peer[15] = 100 + i;
		mac[5] = i;
		p.qpn = 2 + i;
		assert_int_equal(
			cm_connect(end[0].cm, peer, PORT, &p, NULL, &id), 0);
		gsi_post(end[0].gsi, now);
		gsi_resolved(end[0].gsi, peer, mac);
		run(MS);
		assert_int_equal(roce_counter(end[0].dev, ROCE_C_TX),
				 before + 1);
		cm_reject(end[0].cm, id, CM_REASON_CONSUMER, NULL, 0);
		run(2 * MS);
		assert_true(cm_event(end[0].cm, &ev));
		assert_int_equal(ev.type, CM_EV_GONE);
	}
	assert_int_equal(gsi_unreachable(end[0].gsi), 0);
}

/* Only queue pair 1 is heard at queue pair 1. */
static void test_from_another_queue_pair(void **state)
{
	struct roce_qp_attr attr = { .type = ROCE_UD,
				     .qkey = GSI_QKEY,
				     .depth = 4,
				     .max_rd_atomic = 1 };
	struct roce_peer to = { .has_mac = true, .path_mtu = 1024 };
	struct roce_wr *wr;
	struct roce_qp *qp;
	uint32_t ah;

	assert_int_equal(roce_qp_create(end[0].dev, &attr, &qp), 0);
	assert_int_equal(roce_qp_connect(qp, &to, now), 0);
	memcpy(to.ip, end[1].gid + 12, 4);
	memcpy(to.mac, end[1].mac, 6);
	assert_int_equal(roce_ah_add(end[0].dev, &to, &ah), 0);
	wr = roce_wr_next(qp);
	memset(wr, 0, sizeof(*wr));
	wr->op = ROCE_OP_SEND;
	wr->flags = ROCE_WR_INLINE;
	wr->len = MAD_SIZE;
	memset(roce_wr_store(qp, 0), 0, MAD_SIZE);
	wr->raddr = GSI_QPN;
	wr->rkey = GSI_QKEY;
	wr->ah = ah;
	roce_wr_post(qp, wr);
	run(MS);
	assert_int_equal(roce_counter(end[1].dev, ROCE_C_RX), 1);
	assert_int_equal(cm_counter(end[1].cm, CM_C_RX), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_ends, close_ends)
#define T6(f)                                                   \
	{                                                       \
		"ipv6_" #f, f, open_ends, close_ends, (void *)1 \
	}
	const struct CMUnitTest tests[] = {
		T(test_connection_that_carries_data),
		T6(test_connection_that_carries_data),
		T(test_queue_pair_1_is_one),
		T(test_address_that_nobody_resolves),
		T(test_more_that_wait_than_there_are_places),
		T(test_more_peers_than_are_kept),
		T(test_from_another_queue_pair),
	};

	return cmocka_run_group_tests_name("queue pair 1", tests, NULL, NULL);
}
