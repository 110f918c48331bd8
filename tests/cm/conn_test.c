// SPDX-License-Identifier: BSD-2-Clause
/* Connections made, refused and released between two managers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

static uint32_t ask(const struct cm_param *p, uint16_t port)
{
	uint32_t id;

	assert_int_equal(cm_connect(cm(0), net.end[1].gid, port, p, &net, &id),
			 0);
	net_run(&net, 10 * NET_MS);
	return id;
}

static void all_gone(void)
{
	net_run(&net, 10 * NET_S);
	assert_int_equal(cm_connections(cm(0)), 0);
	assert_int_equal(cm_connections(cm(1)), 0);
	assert_true(cm_deadline(cm(0)) == ~0ULL);
}

/* ---- made and released ---- */

static void check_peer(const struct cm_peer *p, int of)
{
	struct cm_param said = net_param(of);

	assert_memory_equal(p->gid, net.end[of].gid, 16);
	assert_int_equal(p->qpn, said.qpn);
	assert_int_equal(p->psn, said.psn);
	assert_int_equal(p->path_mtu, 1024);
	assert_int_equal(p->flow_label, 0x12345);
	assert_int_equal(p->retry_cnt, 6);
	assert_int_equal(p->rnr_retry, 5);
	assert_int_equal(p->ack_timeout, 16);
	assert_int_equal(p->hop_limit, 64);
}

static void connect_and_release(void)
{
	struct cm_event ev;
	uint32_t id[2];

	net_connect(&net, id);
	for (int e = 0; e < 2; e++) {
		ev = net.end[e].event[0];
		check_peer(&ev.peer, !e);
		assert_ptr_equal(ev.user, &net);
		assert_int_equal(ev.port, NET_PORT);
	}
	assert_int_equal(cm_disconnect(cm(0), id[0]), 0);
	net_run(&net, 10 * NET_MS);
	ev = net_event(&net, 0, CM_EV_DISCONNECTED);
	assert_int_equal(ev.reason, CM_END_ANSWER);
	ev = net_event(&net, 1, CM_EV_DISCONNECTED);
	assert_int_equal(ev.reason, CM_END_PEER);
	assert_int_equal(ev.id, id[1]);
	all_gone();
	net_event(&net, 0, CM_EV_GONE);
	net_event(&net, 1, CM_EV_GONE);
	assert_int_equal(cm_disconnect(cm(0), id[0]), -ENOENT);
	assert_true(net_no_event(&net, 0) && net_no_event(&net, 1));
}

static void test_connect_and_release(void **state)
{
	connect_and_release();
}

static void test_connect_and_release_ipv6(void **state)
{
	net_close(&net);
	net_open(&net, &plain, true);
	connect_and_release();
}

static void test_each_message_is_sent_once(void **state)
{
	static const uint8_t by_asker[] = { CM_REQ, CM_RTU, CM_DREQ };
	static const uint8_t by_asked[] = { CM_REP, CM_DREP };

	connect_and_release();
	for (unsigned i = 0; i < sizeof(by_asker); i++)
		assert_int_equal(net.sent[0][by_asker[i]], 1);
	for (unsigned i = 0; i < sizeof(by_asked); i++)
		assert_int_equal(net.sent[1][by_asked[i]], 1);
	assert_int_equal(cm_counter(cm(0), CM_C_TX), 3);
	assert_int_equal(cm_counter(cm(0), CM_C_RX), 2);
	assert_int_equal(cm_counter(cm(0), CM_C_RETRY), 0);
}

static void test_release_by_the_asked(void **state)
{
	uint32_t id[2];

	net_connect(&net, id);
	assert_int_equal(cm_disconnect(cm(1), id[1]), 0);
	all_gone();
	assert_int_equal(net_event(&net, 0, CM_EV_DISCONNECTED).reason,
			 CM_END_PEER);
	net_event(&net, 0, CM_EV_GONE);
}

static void test_release_by_both_at_once(void **state)
{
	uint32_t id[2];

	net_connect(&net, id);
	cm_disconnect(cm(0), id[0]);
	cm_disconnect(cm(1), id[1]);
	all_gone();
	for (int e = 0; e < 2; e++) {
		assert_int_equal(net_event(&net, e, CM_EV_DISCONNECTED).reason,
				 CM_END_ANSWER);
		net_event(&net, e, CM_EV_GONE);
		assert_int_equal(net.sent[e][CM_DREQ], 1);
	}
}

static void test_private_data_both_ways(void **state)
{
	struct cm_param p = net_param(0);
	struct cm_event ev;
	uint8_t data[196];
	uint32_t id;

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = i + 1;
	cm_listen(cm(1), NET_PORT, 1, NULL);
	p.data = data;
	p.data_len = CM_REQ_USER_MAX + 1;
	assert_int_equal(
		cm_connect(cm(0), net.end[1].gid, NET_PORT, &p, NULL, &id),
		-EINVAL);
	p.data_len = CM_REQ_USER_MAX;
	id = ask(&p, NET_PORT);
	ev = net_event(&net, 1, CM_EV_REQ);
	assert_int_equal(ev.data_len, CM_REQ_USER_MAX);
	assert_memory_equal(ev.data, data, CM_REQ_USER_MAX);
	p = net_param(1);
	p.data = data;
	p.data_len = sizeof(data) + 1;
	assert_int_equal(cm_accept(cm(1), ev.id, &p), -EINVAL);
	p.data_len = sizeof(data);
	assert_int_equal(cm_accept(cm(1), ev.id, &p), 0);
	net_run(&net, NET_MS);
	ev = net_event(&net, 0, CM_EV_REP);
	assert_int_equal(ev.id, id);
	assert_int_equal(ev.data_len, sizeof(data));
	assert_memory_equal(ev.data, data, sizeof(data));
}

/* Each asks no more than the other answers, and than it wants. */
static void reads_at_a_time(uint8_t wants, uint8_t gets)
{
	struct cm_param p = net_param(0); /* answers 8, asks 4 */
	struct cm_event ev;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	ask(&p, NET_PORT);
	ev = net_event(&net, 1, CM_EV_REQ);
	assert_int_equal(ev.peer.rd_out, 8);
	assert_int_equal(ev.peer.rd_in, 4);
	p = net_param(1);
	p.rd_in = 2;
	p.rd_out = wants;
	cm_accept(cm(1), ev.id, &p);
	net_run(&net, NET_MS);
	assert_int_equal(net.last[1].rep.initiator_depth, gets);
	assert_int_equal(net.last[1].rep.responder_resources, 2);
	ev = net_event(&net, 0, CM_EV_REP);
	assert_int_equal(ev.peer.rd_out, 2);
	assert_int_equal(ev.peer.rd_in, gets);
	cm_ready(cm(0), ev.id);
	net_run(&net, NET_MS);
	ev = net_event(&net, 1, CM_EV_ESTABLISHED);
	assert_int_equal(ev.peer.rd_out, gets);
	assert_int_equal(ev.peer.rd_in, 2);
}

static void test_reads_at_a_time_are_what_both_can(void **state)
{
	reads_at_a_time(16, 8);
	net_close(&net);
	net_open(&net, &plain, false);
	reads_at_a_time(3, 3);
}

/* ---- refused ---- */

static void test_nobody_listens(void **state)
{
	struct cm_param p = net_param(0);

	cm_listen(cm(1), NET_PORT, 1, NULL);
	ask(&p, NET_PORT + 1);
	assert_int_equal(net_event(&net, 0, CM_EV_REJECTED).reason,
			 CM_REASON_SERVICE_ID);
	net_event(&net, 0, CM_EV_GONE);
	assert_int_equal(cm_unlisten(cm(1), NET_PORT), 0);
	assert_int_equal(cm_unlisten(cm(1), NET_PORT), -ENOENT);
	ask(&p, NET_PORT);
	net_event(&net, 0, CM_EV_REJECTED);
	assert_true(net_no_event(&net, 1));
	all_gone();
}

static void test_refused_by_the_consumer(void **state)
{
	struct cm_param p = net_param(0);
	struct cm_event ev;
	uint32_t id;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	ask(&p, NET_PORT);
	id = net_event(&net, 1, CM_EV_REQ).id;
	assert_int_equal(cm_reject(cm(1), id, CM_REASON_CONSUMER, "no", 149),
			 -EINVAL);
	assert_int_equal(cm_reject(cm(1), id, CM_REASON_CONSUMER, "no", 2), 0);
	net_run(&net, NET_MS);
	ev = net_event(&net, 0, CM_EV_REJECTED);
	assert_int_equal(ev.reason, CM_REASON_CONSUMER);
	assert_int_equal(ev.data_len, 148);
	assert_memory_equal(ev.data, "no\0", 4);
	net_event(&net, 0, CM_EV_GONE);
	net_event(&net, 1, CM_EV_GONE);
	all_gone();
}

static void test_refused_by_the_asker(void **state)
{
	struct cm_param p = net_param(0);
	uint32_t id, other;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	id = ask(&p, NET_PORT);
	other = net_event(&net, 1, CM_EV_REQ).id;
	p = net_param(1);
	cm_accept(cm(1), other, &p);
	net_run(&net, NET_MS);
	net_event(&net, 0, CM_EV_REP);
	assert_int_equal(cm_reject(cm(0), id, CM_REASON_CONSUMER, NULL, 0), 0);
	net_run(&net, NET_MS);
	assert_int_equal(net_event(&net, 1, CM_EV_REJECTED).reason,
			 CM_REASON_CONSUMER);
	all_gone();
	net_event(&net, 0, CM_EV_GONE);
}

/* It accepted, then thought better of it, before the asker was ready. */
static void test_refused_behind_the_reply(void **state)
{
	struct cm_param p = net_param(0);
	uint32_t id, other;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	id = ask(&p, NET_PORT);
	other = net_event(&net, 1, CM_EV_REQ).id;
	p = net_param(1);
	cm_accept(cm(1), other, &p);
	net_run(&net, NET_MS);
	net_event(&net, 0, CM_EV_REP);
	assert_int_equal(cm_reject(cm(1), other, CM_REASON_CONSUMER, NULL, 0),
			 0);
	net_run(&net, NET_MS);
	assert_int_equal(net_event(&net, 0, CM_EV_REJECTED).reason,
			 CM_REASON_CONSUMER);
	assert_int_equal(cm_ready(cm(0), id), -EALREADY);
	all_gone();
	net_event(&net, 0, CM_EV_GONE);
	net_event(&net, 1, CM_EV_GONE);
}

/* Who asked and goes away says so, though it knows no ID of the other. */
static void test_asker_changes_its_mind(void **state)
{
	struct cm_param p = net_param(0);
	uint32_t id;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	id = ask(&p, NET_PORT);
	net_event(&net, 1, CM_EV_REQ);
	assert_int_equal(cm_reject(cm(0), id, CM_REASON_CONSUMER, NULL, 0), 0);
	net_run(&net, NET_MS);
	assert_int_equal(net_event(&net, 1, CM_EV_REJECTED).reason,
			 CM_REASON_TIMEOUT);
	all_gone();
}

static void test_more_than_the_backlog(void **state)
{
	struct cm_param p = net_param(0);

	cm_listen(cm(1), NET_PORT, 2, NULL);
	for (unsigned i = 0; i < 3; i++, p.qpn++)
		ask(&p, NET_PORT);
	assert_int_equal(net_event(&net, 0, CM_EV_REJECTED).reason,
			 CM_REASON_NO_RESOURCES);
	/* an answer makes room */
	cm_reject(cm(1), net_event(&net, 1, CM_EV_REQ).id, CM_REASON_CONSUMER,
		  NULL, 0);
	net_event(&net, 1, CM_EV_REQ);
	net_run(&net, NET_MS);
	net_event(&net, 1, CM_EV_GONE);
	ask(&p, NET_PORT);
	net_event(&net, 1, CM_EV_REQ);
	all_gone(); /* those not answered run out */
}

static void test_more_than_there_is_room_for(void **state)
{
	struct cm_param p = net_param(0);
	uint32_t id;

	for (unsigned i = 0; i < 8; i++, p.qpn++)
		assert_int_equal(
			cm_connect(cm(0), net.end[1].gid, 1, &p, NULL, &id), 0);
	assert_int_equal(cm_connect(cm(0), net.end[1].gid, 1, &p, NULL, &id),
			 -ENOSPC);
	assert_int_equal(cm_connections(cm(0)), 8);
	all_gone();
}

static void test_path_mtu_beyond_the_ports(void **state)
{
	struct cm_param p = net_param(0);
	struct cm_attr a = plain;

	cm_destroy(cm(1));
	a.max_conn = 1;
	a.path_mtu = 512;
	memcpy(a.gid, net.end[1].gid, 16);
	assert_int_equal(cm_create(&a, &net.end[1].cm), 0);
	cm_listen(cm(1), NET_PORT, 1, NULL);
	ask(&p, NET_PORT);
	assert_int_equal(net_event(&net, 0, CM_EV_REJECTED).reason,
			 CM_REASON_MTU);
	assert_int_equal(net.last[1].rej.ari_len, 1);
	assert_int_equal(net.last[1].rej.ari[0], 2 << 4);
}

/* ---- one queue pair, one connection ---- */

/* The asker's machine starts again and asks with the same number. */
static void test_asker_that_forgot(void **state)
{
	struct cm_param p = net_param(0);
	struct cm_attr a = plain;
	uint32_t id[2];

	net_connect(&net, id);
	cm_destroy(cm(0));
	a.max_conn = 4;
	a.path_mtu = 4096;
	a.seed = 5;
	a.ca_guid = 1;
	memcpy(a.gid, net.end[0].gid, 16);
	assert_int_equal(cm_create(&a, &net.end[0].cm), 0);
	ask(&p, NET_PORT);
	assert_int_equal(net_event(&net, 0, CM_EV_REJECTED).reason,
			 CM_REASON_STALE);
	assert_int_equal(net_event(&net, 1, CM_EV_DISCONNECTED).reason,
			 CM_END_ANSWER);
	/* in time wait the number is still taken, then it is free */
	ask(&p, NET_PORT);
	assert_int_equal(net.end[0].event[net.end[0].nevent - 1].reason,
			 CM_REASON_STALE);
	all_gone();
	net.end[0].taken = net.end[0].nevent;
	net_event(&net, 1, CM_EV_GONE);
	ask(&p, NET_PORT);
	net_event(&net, 1, CM_EV_REQ);
}

static void test_time_wait_is_as_long_as_the_path_wants(void **state)
{
	uint64_t want = 4096ULL << 16, began;
	uint32_t id[2];

	net_connect(&net, id);
	cm_disconnect(cm(0), id[0]);
	net_run(&net, 0);
	began = net.now;
	net_event(&net, 0, CM_EV_DISCONNECTED);
	while (net_no_event(&net, 0))
		net_run(&net, NET_MS);
	assert_true(net.now - began >= want);
	assert_true(net.now - began < want + 3 * NET_MS);
	net_event(&net, 0, CM_EV_GONE);
}

/* ---- wrong calls ---- */

static void test_calls_at_the_wrong_time(void **state)
{
	struct cm_param p = net_param(0);
	uint32_t id, other;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	id = ask(&p, NET_PORT);
	assert_int_equal(cm_ready(cm(0), id), -ENOTCONN);
	assert_int_equal(cm_accept(cm(0), id, &p), -ENOTCONN);
	assert_int_equal(cm_disconnect(cm(0), id), -ENOTCONN);
	assert_int_equal(cm_established(cm(0), id), -ENOTCONN);
	assert_int_equal(cm_ready(cm(0), id + 1), -ENOENT);
	other = net_event(&net, 1, CM_EV_REQ).id;
	p = net_param(1);
	assert_int_equal(cm_accept(cm(1), other, &p), 0);
	assert_int_equal(cm_accept(cm(1), other, &p), -ENOTCONN);
	net_run(&net, NET_MS);
	net_event(&net, 0, CM_EV_REP);
	assert_int_equal(cm_ready(cm(0), id), 0);
	assert_int_equal(cm_ready(cm(0), id), -EISCONN);
	assert_int_equal(cm_reject(cm(0), id, 28, NULL, 0), -EISCONN);
	assert_int_equal(cm_disconnect(cm(0), id), 0);
	assert_int_equal(cm_disconnect(cm(0), id), -EALREADY);
	all_gone();
	assert_int_equal(cm_ready(cm(0), id), -ENOENT);
}

static void test_arguments_out_of_range(void **state)
{
	struct cm_param bad[7];
	uint8_t zero[16] = { 0 };
	struct cm_param p = net_param(0);
	uint32_t id;

	for (unsigned i = 0; i < 7; i++)
		bad[i] = p;
	bad[0].qpn = 1;
	bad[1].qpn = 0xffffff;
	bad[2].psn = 1 << 24;
	bad[3].retry_cnt = 8;
	bad[4].path_mtu = 1500;
	bad[5].path_mtu = 8192;
	bad[6].data_len = 1;
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(cm_connect(cm(0), net.end[1].gid, NET_PORT,
					    &bad[i], NULL, &id),
				 -EINVAL);
	assert_int_equal(cm_connect(cm(0), zero, 1, &p, NULL, &id), -EINVAL);
	assert_int_equal(cm_connect(cm(0), net.end[1].gid, 0, &p, NULL, &id),
			 -EINVAL);
	assert_int_equal(cm_listen(cm(0), 0, 1, NULL), -EINVAL);
	assert_int_equal(cm_listen(cm(0), 1, 0, NULL), -EINVAL);
	for (unsigned i = 1; i <= CM_LISTEN_MAX; i++)
		assert_int_equal(cm_listen(cm(0), i, 1, NULL), 0);
	assert_int_equal(cm_listen(cm(0), 7, 1, NULL), -EADDRINUSE);
	assert_int_equal(cm_listen(cm(0), CM_LISTEN_MAX + 1, 1, NULL), -ENOSPC);
	assert_int_equal(cm_unlisten(cm(0), 0), -ENOENT);
	assert_int_equal(cm_connections(cm(0)), 0);
}

static void test_attributes_out_of_range(void **state)
{
	struct cm_attr good = { .max_conn = 1, .path_mtu = 1024 }, a;
	struct cm *made;

#define REFUSED(field, value)                                    \
	do {                                                     \
		a = good;                                        \
		a.field = value;                                 \
		assert_int_equal(cm_create(&a, &made), -EINVAL); \
	} while (0)
	REFUSED(max_conn, 0);
	REFUSED(max_conn, 65537);
	REFUSED(path_mtu, 128);
	REFUSED(path_mtu, 8192);
	REFUSED(path_mtu, 1500);
	REFUSED(response_timeout, 13);
	REFUSED(response_timeout, 23);
	REFUSED(max_retries, 16);
	REFUSED(gid[0], 0xfd);
#undef REFUSED
	assert_int_equal(cm_create(&good, &made), 0);
	cm_destroy(made);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_plain, close_net)
	const struct CMUnitTest tests[] = {
		T(test_connect_and_release),
		T(test_connect_and_release_ipv6),
		T(test_each_message_is_sent_once),
		T(test_release_by_the_asked),
		T(test_release_by_both_at_once),
		T(test_private_data_both_ways),
		T(test_reads_at_a_time_are_what_both_can),
		T(test_nobody_listens),
		T(test_refused_by_the_consumer),
		T(test_refused_by_the_asker),
		T(test_refused_behind_the_reply),
		T(test_asker_changes_its_mind),
		T(test_more_than_the_backlog),
		T(test_more_than_there_is_room_for),
		T(test_path_mtu_beyond_the_ports),
		T(test_asker_that_forgot),
		T(test_time_wait_is_as_long_as_the_path_wants),
		T(test_calls_at_the_wrong_time),
		T(test_arguments_out_of_range),
		T(test_attributes_out_of_range),
	};

	return cmocka_run_group_tests_name("connections", tests, NULL, NULL);
}
