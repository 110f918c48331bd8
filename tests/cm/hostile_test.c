// SPDX-License-Identifier: BSD-2-Clause
/* MADs of a peer that errs or means harm: refused or silent, as IBTA says. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

/* What end e says next, to anybody. */
static bool said(int e, struct cm_msg *m)
{
	struct cm_mad out;

	if (!cm_tx(cm(e), net.now, &out))
		return false;
	assert_int_equal(cm_msg_get(out.mad, m), 0);
	return true;
}

static void silent(int e)
{
	struct cm_mad out;

	assert_false(cm_tx(cm(e), net.now, &out));
}

/* A request of end 0 that end 1 takes. */
static struct cm_msg request(void)
{
	struct cm_msg m = {
		.kind = CM_REQ,
		.tid = 0x1234,
		.local_id = 0x77,
		.req = {
			.service_id = CM_SERVICE_TCP | NET_PORT,
			.ca_guid = 9,
			.qpn = 0x200,
			.psn = 5,
			.local_response_timeout = 14,
			.max_retries = 3,
			.pkey = 0xffff,
			.mtu = 3,
		},
		.data_len = CM_REQ_DATA,
	};
	struct cm_ip ip = { .sport = 1 };

	memcpy(m.req.path.local_gid, net.end[0].gid, 16);
	memcpy(m.req.path.remote_gid, net.end[1].gid, 16);
	memcpy(ip.src, net.end[0].gid, 16);
	memcpy(ip.dst, net.end[1].gid, 16);
	cm_ip_put(m.data, &ip);
	return m;
}

/* ---- headers ---- */

static void test_sizes(void **state)
{
	uint8_t mad[MAD_SIZE + 1] = { 0 };
	struct cm_msg m = request();

	cm_msg_put(mad, &m);
	cm_listen(cm(1), NET_PORT, 1, NULL);
	net_inject_raw(&net, 1, mad, 0);
	net_inject_raw(&net, 1, mad, MAD_SIZE - 1);
	net_inject_raw(&net, 1, mad, MAD_SIZE + 1);
	assert_int_equal(cm_counter(cm(1), CM_C_BAD), 3);
	silent(1);
	net_inject_raw(&net, 1, mad, MAD_SIZE);
	net_event(&net, 1, CM_EV_REQ);
}

static void test_class_version(void **state)
{
	uint8_t mad[MAD_SIZE];
	struct cm_msg m = request();

	cm_listen(cm(1), NET_PORT, 1, NULL);
	cm_msg_put(mad, &m);
	mad[2] = 1;
	net_inject_raw(&net, 1, mad, MAD_SIZE);
	assert_true(said(1, &m));
	assert_int_equal(m.kind, CM_REJ);
	assert_int_equal(m.rej.reason, CM_REASON_CLASS_VERSION);
	assert_int_equal(m.rej.ari[0], MAD_CM_VERSION);
	assert_int_equal(m.remote_id, 0x77);
	m.kind = CM_REP; /* nothing that could be answered wrongly */
	cm_msg_put(mad, &m);
	mad[2] = 3;
	net_inject_raw(&net, 1, mad, MAD_SIZE);
	silent(1);
	assert_int_equal(cm_connections(cm(1)), 0);
}

/* IBTA 13.4.5: a Get or Set has an answer, all else of no use has none. */
static void test_methods_and_classes(void **state)
{
	static const struct {
		uint8_t mgmt_class, method;
		bool answered;
	} rows[] = {
		{ MAD_CLASS_CM, MAD_GET, true },
		{ MAD_CLASS_CM, MAD_SET, true },
		{ 0x04, MAD_GET, true }, /* performance */
		{ 0x04, MAD_SEND, false },
		{ 0x01, MAD_GET, false }, /* subnet, of queue pair 0 */
		{ 0x81, MAD_SET, false },
		{ MAD_CLASS_CM, MAD_GET_RESP, false },
		{ MAD_CLASS_CM, 0x05, false }, /* Trap */
		{ MAD_CLASS_CM, 0x00, false },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct mad_hdr h = { .base_version = 1,
				     .mgmt_class = rows[i].mgmt_class,
				     .class_version = 2,
				     .method = rows[i].method,
				     .tid = i,
				     .attr = 1 };
		uint8_t mad[MAD_SIZE] = { 0 };
		struct cm_mad out;

		mad_hdr_put(mad, &h);
		net_inject_raw(&net, 1, mad, MAD_SIZE);
		assert_int_equal(cm_tx(cm(1), net.now, &out), rows[i].answered);
		if (!rows[i].answered)
			continue;
		mad_hdr_get(out.mad, MAD_SIZE, &h);
		assert_int_equal(h.method, MAD_GET_RESP);
		assert_int_equal(h.status, MAD_STATUS_UNSUPPORTED);
		assert_int_equal(h.tid, i);
	}
}

static void test_base_version(void **state)
{
	uint8_t mad[MAD_SIZE];
	struct cm_msg m = request();

	cm_msg_put(mad, &m);
	mad[0] = 2;
	net_inject_raw(&net, 1, mad, MAD_SIZE);
	silent(1);
	assert_int_equal(cm_counter(cm(1), CM_C_BAD), 1);
}

/* ---- requests that cannot be ---- */

static void refused(const struct cm_msg *req, uint16_t reason)
{
	struct cm_msg m;

	net_inject(&net, 1, req);
	assert_true(said(1, &m));
	assert_int_equal(m.kind, CM_REJ);
	assert_int_equal(m.rej.reason, reason);
	assert_int_equal(m.rej.about, CM_ABOUT_REQ);
	assert_int_equal(m.remote_id, req->local_id);
	assert_int_equal(m.tid, req->tid);
	silent(1);
	assert_int_equal(cm_connections(cm(1)), 0);
	assert_true(net_no_event(&net, 1));
}

#define REFUSED(field, value, reason) \
	do {                          \
		m = request();        \
		m.field = value;      \
		refused(&m, reason);  \
	} while (0)

static void test_requests_that_cannot_be(void **state)
{
	struct cm_msg m;

	cm_listen(cm(1), NET_PORT, 4, NULL);
	REFUSED(req.service_id, CM_SERVICE_TCP | 1, CM_REASON_SERVICE_ID);
	REFUSED(req.service_id, CM_SERVICE_TCP, CM_REASON_SERVICE_ID);
	/* of the port space of UDP; of another's service */
	REFUSED(req.service_id, 0x1110000 | NET_PORT, CM_REASON_SERVICE_ID);
	REFUSED(req.service_id, NET_PORT, CM_REASON_SERVICE_ID);
	REFUSED(req.transport, 1, CM_REASON_TRANSPORT);
	REFUSED(req.transport, 3, CM_REASON_TRANSPORT);
	REFUSED(req.extended_transport, 1, CM_REASON_TRANSPORT);
	REFUSED(req.qpn, 0, CM_REASON_UNSUPPORTED);
	REFUSED(req.qpn, 1, CM_REASON_UNSUPPORTED);
	REFUSED(req.qpn, 0xffffff, CM_REASON_UNSUPPORTED);
	REFUSED(req.pkey, 0x8001, CM_REASON_UNSUPPORTED);
	REFUSED(req.mtu, 0, CM_REASON_MTU);
	REFUSED(req.mtu, 6, CM_REASON_MTU);
	REFUSED(req.mtu, 15, CM_REASON_MTU);
	/* our packets would go to a third, or come from one */
	REFUSED(req.path.local_gid[15], 99, CM_REASON_GID);
	REFUSED(req.path.remote_gid[15], 99, CM_REASON_GID);
	REFUSED(data[0], 0x10, CM_REASON_CONSUMER); /* version */
	REFUSED(data[1], 0x50, CM_REASON_CONSUMER); /* IP 5 */
	REFUSED(data[4 + 15], 99, CM_REASON_CONSUMER);
	REFUSED(data[20 + 15], 99, CM_REASON_CONSUMER);
	m = request();
	net_inject(&net, 1, &m); /* and the one they were made of is good */
	net_event(&net, 1, CM_EV_REQ);
}

/*
 * Time-outs of hours, and of nothing: it ends within a minute, and is not
 * repeated faster than every 67 ms.
 */
static void absurd_timeout(uint8_t timeout, uint8_t retries)
{
	struct cm_param p = net_param(1);
	struct cm_msg m = request(), a;
	uint64_t began = net.now;
	unsigned reps = 0;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	m.req.local_response_timeout = timeout;
	m.req.path.ack_timeout = timeout;
	m.req.max_retries = retries;
	net_inject(&net, 1, &m);
	cm_accept(cm(1), net_event(&net, 1, CM_EV_REQ).id, &p);
	while (cm_connections(cm(1)) && net.now - began < 100 * NET_S) {
		struct cm_event ev;

		while (said(1, &a))
			reps += a.kind == CM_REP;
		while (cm_event(cm(1), &ev))
			;
		net.now += NET_MS;
		if (!timeout)
			assert_true(reps <=
				    1 + (net.now - began) / (67 * NET_MS));
	}
	/* the fewer of what it names and what we do */
	assert_int_equal(reps, 1 + (retries < 3 ? retries : 3));
	assert_true(net.now - began < 80 * NET_S);
}

static void test_time_outs_of_hours_and_of_nothing(void **state)
{
	absurd_timeout(0, 15);
	net_close(&net);
	open_plain(state);
	absurd_timeout(31, 15);
	net_close(&net);
	open_plain(state);
	absurd_timeout(0, 1);
}

/* ---- a stranger in a connection of others ---- */

static void from_third(const struct cm_msg *m)
{
	uint8_t third[16], mad[MAD_SIZE];

	memcpy(third, net.end[0].gid, 16);
	third[15] = 99;
	cm_msg_put(mad, m);
	cm_rx(cm(1), net.now, third, net.end[1].gid, mad, MAD_SIZE);
}

/* Even with every number right: the address is not the peer's. */
static void test_stranger_cannot_touch_a_connection(void **state)
{
	static const uint8_t kinds[] = { CM_REP,  CM_RTU,  CM_REJ, CM_MRA,
					 CM_DREQ, CM_DREP, CM_LAP };
	struct cm_msg answer;
	uint32_t id[2];

	net_connect(&net, id);
	for (unsigned i = 0; i < sizeof(kinds); i++) {
		struct cm_msg m = { .kind = kinds[i],
				    .local_id = id[0],
				    .remote_id = id[1] };

		if (kinds[i] == CM_DREQ || kinds[i] == CM_LAP)
			m.qpn = 0x101;
		if (kinds[i] == CM_REP)
			m.rep.qpn = 5;
		from_third(&m);
	}
	assert_int_equal(cm_counter(cm(1), CM_C_STRANGER), sizeof(kinds));
	while (said(1, &answer))
		assert_int_equal(answer.remote_id, id[0]);
	assert_true(net_no_event(&net, 1));
	assert_int_equal(cm_disconnect(cm(1), id[1]), 0);
	net_run(&net, NET_S);
	assert_int_equal(net_event(&net, 1, CM_EV_DISCONNECTED).reason,
			 CM_END_ANSWER);
}

/* net_run() asserts that what is said goes to the peer, so ask here. */
static void test_strangers_are_answered_for_what_is_not_there(void **state)
{
	struct cm_msg m = { .kind = CM_DREQ, .local_id = 5, .remote_id = 6 };
	struct cm_msg a;

	from_third(&m);
	assert_true(said(1, &a));
	assert_int_equal(a.kind, CM_DREP);
	assert_int_equal(a.remote_id, 5);
	assert_int_equal(a.local_id, 6);
	m.kind = CM_REP;
	from_third(&m);
	assert_true(said(1, &a));
	assert_int_equal(a.kind, CM_REJ);
	assert_int_equal(a.rej.reason, CM_REASON_COMM_ID);
	assert_int_equal(a.rej.about, CM_ABOUT_REP);
	m.kind = CM_LAP;
	from_third(&m);
	assert_true(said(1, &a));
	assert_int_equal(a.kind, CM_APR);
	assert_int_equal(a.ap_status, 1);
	for (m.kind = CM_REQ + 1; m.kind < CM_KIND_END; m.kind++)
		if (m.kind != CM_DREQ && m.kind != CM_REP && m.kind != CM_LAP &&
		    m.kind != CM_SIDR_REQ)
			from_third(&m);
	silent(1); /* a REJ above all: two could go on for ever */
}

static void test_alternate_path_and_datagram_service(void **state)
{
	struct cm_msg m = { .kind = CM_LAP, .qpn = 0x101 }, a;
	uint32_t id[2];

	net_connect(&net, id);
	m.local_id = id[0];
	m.remote_id = id[1];
	net_inject(&net, 1, &m);
	assert_true(said(1, &a));
	assert_int_equal(a.kind, CM_APR);
	assert_int_equal(a.ap_status, 2);
	assert_int_equal(a.remote_id, id[0]);
	m = (struct cm_msg){ .kind = CM_SIDR_REQ,
			     .local_id = 0xabc,
			     .sidr_service_id = 0x1110001 };
	net_inject(&net, 1, &m);
	assert_true(said(1, &a));
	assert_int_equal(a.kind, CM_SIDR_REP);
	assert_int_equal(a.local_id, 0xabc);
	assert_int_equal(a.sidr_rep.status, 1);
	assert_int_equal(a.sidr_rep.service_id, 0x1110001);
	silent(1);
}

/* ---- the peer itself, out of turn ---- */

static void test_release_of_another_queue_pair(void **state)
{
	struct cm_msg m = { .kind = CM_DREQ, .qpn = 0x102 };
	uint32_t id[2];

	net_connect(&net, id);
	m.local_id = id[0];
	m.remote_id = id[1];
	net_inject(&net, 1, &m);
	silent(1);
	assert_int_equal(cm_counter(cm(1), CM_C_STATE), 1);
	m.qpn = 0x101;
	net_inject(&net, 1, &m);
	net_event(&net, 1, CM_EV_DISCONNECTED);
}

/* Every message in every state: no crash, and no state it cannot leave. */
static void every_message(uint32_t local, uint32_t remote)
{
	for (unsigned kind = CM_REQ; kind < CM_KIND_END; kind++) {
		struct cm_msg m = { .kind = kind };

		if (kind == CM_REQ)
			m = request();
		m.local_id = local;
		m.remote_id = remote;
		net_inject(&net, 1, &m);
	}
}

static void test_every_message_in_every_state(void **state)
{
	for (unsigned stop = 0; stop < 5; stop++) {
		struct cm_param p = net_param(1);
		struct cm_msg m = request();
		uint32_t id = 0;

		cm_listen(cm(1), NET_PORT, 1, NULL);
		if (stop > 0)
			net_inject(&net, 1, &m);
		if (stop > 0)
			id = net_event(&net, 1, CM_EV_REQ).id;
		if (stop > 1)
			cm_accept(cm(1), id, &p);
		if (stop > 2)
			cm_established(cm(1), id);
		if (stop > 3)
			cm_disconnect(cm(1), id);
		every_message(0x77, id);
		every_message(0x77, id);
		every_message(0, id);
		net_run(&net, 60 * NET_S);
		for (unsigned i = 0; i < net.end[1].nevent; i++)
			cm_disconnect(cm(1), net.end[1].event[i].id);
		net_run(&net, 60 * NET_S);
		assert_int_equal(cm_connections(cm(1)), 0);
		net_close(&net);
		open_plain(state);
	}
}

static void test_reply_with_a_queue_pair_that_cannot_be(void **state)
{
	struct cm_param p = net_param(0);
	struct cm_msg m = { .kind = CM_REP, .local_id = 3 }, a;
	uint32_t id;

	cm_connect(cm(0), net.end[1].gid, NET_PORT, &p, NULL, &id);
	assert_true(said(0, &a));
	m.remote_id = id;
	m.rep.qpn = 1;
	net_inject(&net, 0, &m);
	assert_int_equal(net_event(&net, 0, CM_EV_REJECTED).reason,
			 CM_REASON_UNSUPPORTED);
	assert_true(said(0, &a));
	assert_int_equal(a.kind, CM_REJ);
	assert_int_equal(a.rej.about, CM_ABOUT_REP);
	assert_int_equal(a.remote_id, 3);
}

/* One queue pair of the peer in two connections: neither is believed. */
static void test_reply_with_a_queue_pair_that_is_taken(void **state)
{
	struct cm_param p = net_param(0);
	struct cm_msg m = { .kind = CM_REP, .local_id = 3 }, a;
	uint32_t id[2], second;

	net_connect(&net, id);
	p.qpn++;
	cm_connect(cm(0), net.end[1].gid, NET_PORT, &p, NULL, &second);
	assert_true(said(0, &a));
	m.remote_id = second;
	m.rep.qpn = 0x101;
	net_inject(&net, 0, &m);
	assert_int_equal(net_event(&net, 0, CM_EV_REJECTED).reason,
			 CM_REASON_STALE);
	net_run(&net, NET_S);
	net_event(&net, 0, CM_EV_GONE);
	assert_int_equal(net_event(&net, 0, CM_EV_DISCONNECTED).id, id[0]);
}

/* The asker gives up before anybody heard of it: nobody shall. */
static void test_request_that_was_taken_back(void **state)
{
	struct cm_msg m = request();
	uint8_t mad[MAD_SIZE];
	struct cm_event ev;
	struct cm_mad out;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	cm_msg_put(mad, &m);
	cm_rx(cm(1), net.now, net.end[0].gid, net.end[1].gid, mad, MAD_SIZE);
	m = (struct cm_msg){ .kind = CM_REJ,
			     .local_id = 0x77,
			     .rej = { .about = CM_ABOUT_OTHER,
				      .reason = CM_REASON_TIMEOUT,
				      .ari_len = 8 } };
	m.rej.ari[7] = 9;
	cm_msg_put(mad, &m);
	cm_rx(cm(1), net.now, net.end[0].gid, net.end[1].gid, mad, MAD_SIZE);
	assert_false(cm_event(cm(1), &ev));
	assert_false(cm_tx(cm(1), net.now, &out));
	assert_int_equal(cm_connections(cm(1)), 0);
	assert_false(cm_event(cm(1), &ev));
}

/* One may ask for time once: not for ever. */
static void test_second_mra_is_no_news(void **state)
{
	struct cm_param p = net_param(0);
	struct cm_msg m = { .kind = CM_MRA, .mra = { .service_timeout = 18 } };
	struct cm_msg sent;
	uint64_t deadline;
	uint32_t id;

	cm_connect(cm(0), net.end[1].gid, NET_PORT, &p, NULL, &id);
	assert_true(said(0, &sent));
	m.remote_id = id;
	net_inject(&net, 0, &m);
	silent(0);
	net.now += 500 * NET_MS; /* long past the first time-out, within this */
	silent(0);
	m.mra.service_timeout = 22;
	net_inject(&net, 0, &m);
	assert_int_equal(cm_counter(cm(0), CM_C_DUPLICATE), 1);
	deadline = cm_deadline(cm(0));
	assert_true(deadline < net.now + NET_S);
	net.now = deadline;
	assert_true(said(0, &sent));
	assert_int_equal(sent.kind, CM_REQ);
}

/* An old packet, or a peer that takes its numbers anew too soon. */
static void test_request_again_in_time_wait(void **state)
{
	struct cm_msg m, req;
	uint32_t id[2];

	net.fate = NULL;
	net_connect(&net, id);
	req = request();
	req.local_id = id[0];
	req.req.ca_guid = 0x0200000000000001ULL;
	req.req.qpn = 0x100;
	req.req.psn = 0xfffff0;
	net_inject(&net, 1, &req); /* it is the one that is connected */
	silent(1);
	assert_int_equal(cm_counter(cm(1), CM_C_DUPLICATE), 1);
	req.req.qpn = 0x300;
	net_inject(&net, 1, &req);
	assert_true(said(1, &m));
	assert_int_equal(m.rej.reason, CM_REASON_DUPLICATE_ID);
	req.req.qpn = 0x100;
	cm_disconnect(cm(0), id[0]);
	net_run(&net, 0);
	net_event(&net, 1, CM_EV_DISCONNECTED);
	net_inject(&net, 1, &req);
	assert_true(said(1, &m));
	assert_int_equal(m.rej.reason, CM_REASON_STALE);
	silent(1);
}

/* A repetition is due and waits behind an answer; then it is not needed. */
static void test_answer_overtakes_the_repetition(void **state)
{
	struct cm_msg m, stranger = { .kind = CM_DREQ, .local_id = 1 };
	uint32_t id[2];

	net_connect(&net, id);
	cm_disconnect(cm(1), id[1]);
	assert_true(said(1, &m));
	assert_int_equal(m.kind, CM_DREQ);
	net.now += 70 * NET_MS; /* 2^14 * 4.096 us, and a little */
	from_third(&stranger);
	assert_true(said(1, &m));
	assert_int_equal(m.kind, CM_DREP);
	m = (struct cm_msg){ .kind = CM_DREP,
			     .local_id = id[0],
			     .remote_id = id[1] };
	net_inject(&net, 1, &m);
	silent(1);
	assert_int_equal(net_event(&net, 1, CM_EV_DISCONNECTED).reason,
			 CM_END_ANSWER);
}

/* ---- too many ---- */

static void test_flood_of_requests(void **state)
{
	struct cm_msg m = request(), a;
	unsigned answers = 0;

	cm_listen(cm(1), NET_PORT, 1000, NULL);
	for (unsigned i = 0; i < 1000; i++) {
		m.local_id = 1000 + i;
		m.req.qpn = 0x1000 + i;
		net_inject(&net, 1, &m);
		assert_true(cm_connections(cm(1)) <= 8);
	}
	while (said(1, &a)) {
		assert_int_equal(a.rej.reason, CM_REASON_NO_RESOURCES);
		answers++;
	}
	assert_int_equal(answers, 64); /* the rest is counted */
	assert_int_equal(cm_counter(cm(1), CM_C_REPLY_LOST), 1000 - 8 - 64);
	net_run(&net, 60 * NET_S);
	assert_int_equal(cm_connections(cm(1)), 0);
}

/* Nobody takes events: places run out, and nothing else. */
static void test_nobody_takes_events(void **state)
{
	struct cm_msg m = request();
	uint8_t mad[MAD_SIZE];
	struct cm_mad out;

	cm_listen(cm(1), NET_PORT, 1000, NULL);
	for (unsigned i = 0; i < 100; i++) {
		m.local_id = i;
		m.req.qpn = 0x1000 + i;
		cm_msg_put(mad, &m);
		cm_rx(cm(1), net.now, net.end[0].gid, net.end[1].gid, mad,
		      MAD_SIZE);
		while (cm_tx(cm(1), net.now, &out))
			;
		net.now += NET_S; /* they were never seen: they may go */
	}
	while (cm_tx(cm(1), net.now, &out))
		;
	assert_true(cm_connections(cm(1)) <= 1);
}

static void test_noise(void **state)
{
	uint64_t rng = 1;

	cm_listen(cm(1), NET_PORT, 1000, NULL);
	for (unsigned i = 0; i < 100000; i++) {
		uint8_t mad[MAD_SIZE];
		struct cm_msg m = request();
		struct cm_mad out;

		cm_msg_put(mad, &m);
		for (unsigned k = 0; k < 1 + i % 4; k++) {
			rng = rng * 6364136223846793005ULL +
			      1442695040888963407;
			mad[rng >> 56] ^= rng >> 40;
		}
		if (i % 3 == 0)
			mad[17] = CM_REQ + i / 3 % 11;
		net.now += NET_MS;
		cm_rx(cm(1), net.now, net.end[0].gid, net.end[1].gid, mad,
		      MAD_SIZE);
		while (cm_tx(cm(1), net.now, &out))
			;
		assert_true(cm_connections(cm(1)) <= 8);
	}
	assert_true(cm_counter(cm(1), CM_C_RX) == 100000);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_plain, close_net)
	const struct CMUnitTest tests[] = {
		T(test_sizes),
		T(test_class_version),
		T(test_methods_and_classes),
		T(test_base_version),
		T(test_requests_that_cannot_be),
		T(test_time_outs_of_hours_and_of_nothing),
		T(test_stranger_cannot_touch_a_connection),
		T(test_strangers_are_answered_for_what_is_not_there),
		T(test_alternate_path_and_datagram_service),
		T(test_release_of_another_queue_pair),
		T(test_every_message_in_every_state),
		T(test_reply_with_a_queue_pair_that_cannot_be),
		T(test_reply_with_a_queue_pair_that_is_taken),
		T(test_request_again_in_time_wait),
		T(test_answer_overtakes_the_repetition),
		T(test_request_that_was_taken_back),
		T(test_second_mra_is_no_news),
		T(test_flood_of_requests),
		T(test_nobody_takes_events),
		T(test_noise),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
