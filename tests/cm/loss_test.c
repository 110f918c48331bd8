// SPDX-License-Identifier: BSD-2-Clause
/* MADs that are lost, come twice, come late, or are never answered. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define ANSWER_NS (4096ULL << 14)
#define SEEDS	  300

static void all_gone(void)
{
	net_run(&net, 60 * NET_S);
	assert_int_equal(cm_connections(cm(0)), 0);
	assert_int_equal(cm_connections(cm(1)), 0);
	assert_true(cm_deadline(cm(0)) == ~0ULL);
	assert_true(cm_deadline(cm(1)) == ~0ULL);
}

/* ---- two consumers that do what events ask of them ---- */

struct talk {
	uint32_t id[2];
	unsigned seen[2][CM_EV_MAX];
	uint16_t reason[2]; /* of the last end */
	uint64_t rng;
	unsigned percent; /* lost, twice and late, each */
	bool connected;	  /* end 0 said ready */
};

static void answer(struct talk *t, int e, const struct cm_event *ev)
{
	struct cm_param p = net_param(e);

	/* one ID, each event once, and none behind the last */
	if (!t->id[e])
		t->id[e] = ev->id;
	assert_int_equal(ev->id, t->id[e]);
	assert_int_equal(t->seen[e][ev->type]++, 0);
	assert_int_equal(t->seen[e][CM_EV_GONE], ev->type == CM_EV_GONE);
	if (ev->type == CM_EV_REQ)
		assert_int_equal(cm_accept(cm(e), ev->id, &p), 0);
	if (ev->type == CM_EV_REP)
		t->connected = !cm_ready(cm(e), ev->id);
	if (ev->type >= CM_EV_REJECTED && ev->type < CM_EV_GONE)
		t->reason[e] = ev->reason;
}

static void talk_run(struct talk *t, uint64_t ns)
{
	uint64_t end = net.now + ns;

	while (net.now < end) {
		net_run(&net, NET_MS);
		for (int e = 0; e < 2; e++)
			while (!net_no_event(&net, e))
				answer(t, e,
				       &net.end[e].event[net.end[e].taken++]);
	}
}

static void talk_open(struct talk *t)
{
	struct cm_param p = net_param(0);

	cm_listen(cm(1), NET_PORT, 4, NULL);
	assert_int_equal(cm_connect(cm(0), net.end[1].gid, NET_PORT, &p, NULL,
				    &t->id[0]),
			 0);
}

/* ---- the first, or each, of one kind is lost ---- */

struct lost {
	uint8_t kind;
	unsigned times; /* left */
};

static enum net_fate lose(void *arg, int from, const struct cm_msg *m)
{
	struct lost *l = arg;

	if (m->kind != l->kind || !l->times)
		return NET_PASS;
	l->times--;
	return NET_LOSE;
}

/* Lost once: time, and nothing else.  RTU: the REP that is repeated brings it
 * again; DREP: so does the DREQ.
 */
static void test_first_of_each_kind_is_lost(void **state)
{
	static const uint8_t kinds[] = { CM_REQ, CM_REP, CM_RTU, CM_DREQ,
					 CM_DREP };

	for (unsigned i = 0; i < sizeof(kinds); i++) {
		struct lost l = { kinds[i], 1 };
		struct talk t = { 0 };

		net_close(&net);
		net_open(&net, &plain, false);
		net.fate = lose;
		net.arg = &l;
		talk_open(&t);
		talk_run(&t, 2 * ANSWER_NS);
		assert_int_equal(t.seen[1][CM_EV_ESTABLISHED], 1);
		assert_int_equal(cm_disconnect(cm(0), t.id[0]), 0);
		talk_run(&t, 2 * NET_S);
		assert_int_equal(l.times, 0);
		for (int e = 0; e < 2; e++) {
			assert_int_equal(t.seen[e][CM_EV_DISCONNECTED], 1);
			assert_int_equal(t.seen[e][CM_EV_GONE], 1);
		}
		assert_int_equal(t.reason[0], CM_END_ANSWER);
		all_gone();
	}
}

static void lose_all(struct talk *t, uint8_t kind)
{
	static struct lost l;

	l = (struct lost){ kind, ~0U };
	net.fate = lose;
	net.arg = &l;
	talk_open(t);
	talk_run(t, 10 * NET_S);
}

static void test_no_request_arrives(void **state)
{
	struct talk t = { 0 };

	lose_all(&t, CM_REQ);
	assert_int_equal(net.sent[0][CM_REQ], TRIES);
	assert_int_equal(cm_counter(cm(0), CM_C_RETRY), TRIES - 1);
	assert_int_equal(cm_counter(cm(0), CM_C_TIMEOUT), 1);
	assert_int_equal(t.seen[0][CM_EV_UNREACHABLE], 1);
	assert_int_equal(t.seen[0][CM_EV_GONE], 1);
	assert_int_equal(net.sent[0][CM_REJ], 1);
	all_gone();
}

/* The REJ of who gives up frees the other at once. */
static void test_no_reply_arrives(void **state)
{
	struct talk t = { 0 };

	lose_all(&t, CM_REP);
	assert_int_equal(t.seen[0][CM_EV_UNREACHABLE], 1);
	assert_int_equal(
		t.seen[1][CM_EV_REJECTED] + t.seen[1][CM_EV_UNREACHABLE], 1);
	assert_int_equal(t.reason[1], CM_REASON_TIMEOUT);
	all_gone();
}

/* The asker believes in the connection until it hears otherwise. */
static void test_no_ready_arrives(void **state)
{
	struct talk t = { 0 };

	lose_all(&t, CM_RTU);
	assert_int_equal(net.sent[1][CM_REP], TRIES);
	assert_int_equal(t.seen[1][CM_EV_UNREACHABLE], 1);
	assert_int_equal(t.seen[0][CM_EV_DISCONNECTED], 1);
	all_gone();
}

static void test_no_release_arrives(void **state)
{
	struct talk t = { 0 };
	uint64_t began;

	lose_all(&t, CM_DREQ);
	assert_int_equal(cm_disconnect(cm(0), t.id[0]), 0);
	began = net.now;
	while (!t.seen[0][CM_EV_DISCONNECTED] && net.now < began + 5 * NET_S)
		talk_run(&t, NET_MS);
	assert_int_equal(t.reason[0], CM_END_SILENT);
	assert_true(net.now - began >= TRIES * ANSWER_NS);
	assert_int_equal(net.sent[0][CM_DREQ], TRIES);
	talk_run(&t, NET_S);
	assert_int_equal(t.seen[0][CM_EV_GONE], 1);
	assert_int_equal(cm_connections(cm(0)), 0);
	assert_int_equal(cm_connections(cm(1)), 1); /* never heard of it */
}

/* ---- packets of the connection come before its RTU ---- */

static void test_established_by_traffic(void **state)
{
	struct lost l = { CM_RTU, ~0U };
	struct talk t = { 0 };

	net.fate = lose;
	net.arg = &l;
	talk_open(&t);
	talk_run(&t, NET_MS * 5);
	assert_int_equal(t.seen[1][CM_EV_ESTABLISHED], 0);
	assert_int_equal(cm_established(cm(1), t.id[1]), 0);
	assert_int_equal(cm_established(cm(1), t.id[1]), 0);
	talk_run(&t, 10 * NET_S);
	assert_int_equal(t.seen[1][CM_EV_ESTABLISHED], 1);
	assert_int_equal(net.sent[1][CM_REP], 1);
	assert_int_equal(cm_disconnect(cm(1), t.id[1]), 0);
	talk_run(&t, NET_S);
	assert_int_equal(t.reason[1], CM_END_ANSWER);
	all_gone();
}

/* The asker repeats itself because the reply is late: it is said again. */
static void test_repeated_request_gets_the_reply_again(void **state)
{
	struct lost l = { CM_RTU, ~0U };
	struct talk t = { 0 };
	struct cm_msg req;

	net.fate = lose;
	net.arg = &l;
	talk_open(&t);
	net_run(&net, 0);
	req = net.last[0];
	talk_run(&t, 2 * NET_MS);
	assert_int_equal(net.sent[1][CM_REP], 1);
	net_inject(&net, 1, &req);
	net_run(&net, 0);
	assert_int_equal(net.sent[1][CM_REP], 2);
	assert_int_equal(cm_counter(cm(1), CM_C_RETRY), 0);
}

/* ---- twice, and out of order ---- */

static enum net_fate twice(void *arg, int from, const struct cm_msg *m)
{
	return NET_TWICE;
}

static void test_everything_comes_twice(void **state)
{
	struct talk t = { 0 };

	net.fate = twice;
	talk_open(&t);
	talk_run(&t, NET_S);
	assert_int_equal(t.seen[1][CM_EV_ESTABLISHED], 1);
	cm_disconnect(cm(0), t.id[0]);
	talk_run(&t, NET_S);
	assert_int_equal(t.reason[0], CM_END_ANSWER);
	assert_int_equal(t.reason[1], CM_END_PEER);
	assert_true(cm_counter(cm(1), CM_C_DUPLICATE) >= 2);
	all_gone();
}

static enum net_fate hold_rtu(void *arg, int from, const struct cm_msg *m)
{
	return m->kind == CM_RTU ? NET_HOLD : NET_PASS;
}

/* The end of a connection comes before its beginning. */
static void test_release_before_ready(void **state)
{
	struct talk t = { 0 };

	net.fate = hold_rtu;
	talk_open(&t);
	talk_run(&t, 5 * NET_MS);
	cm_disconnect(cm(0), t.id[0]);
	talk_run(&t, NET_S);
	assert_int_equal(t.seen[1][CM_EV_ESTABLISHED], 0);
	assert_int_equal(t.seen[1][CM_EV_DISCONNECTED], 1);
	assert_int_equal(t.reason[0], CM_END_ANSWER);
	all_gone();
}

/* ---- a consumer that thinks for long ---- */

/* A repeated REQ is answered by an MRA, and then the asker waits. */
static void test_slow_consumer_is_waited_for(void **state)
{
	struct cm_param p = net_param(0);
	struct cm_attr patient = plain;
	uint32_t id;

	cm_destroy(cm(1));
	patient.max_conn = 1;
	patient.path_mtu = 4096;
	patient.response_timeout = 19; /* says 2 s, four times as long */
	memcpy(patient.gid, net.end[1].gid, 16);
	assert_int_equal(cm_create(&patient, &net.end[1].cm), 0);
	cm_listen(cm(1), NET_PORT, 1, NULL);
	cm_connect(cm(0), net.end[1].gid, NET_PORT, &p, NULL, &id);
	net_run(&net, NET_S + 500 * NET_MS); /* long past four tries */
	assert_int_equal(net.sent[0][CM_REQ], 2);
	assert_int_equal(net.sent[1][CM_MRA], 1);
	assert_true(net_no_event(&net, 0));
	p = net_param(1);
	cm_accept(cm(1), net_event(&net, 1, CM_EV_REQ).id, &p);
	net_run(&net, NET_MS);
	net_event(&net, 0, CM_EV_REP);
	assert_int_equal(cm_ready(cm(0), id), 0);
	net_run(&net, NET_MS);
	net_event(&net, 1, CM_EV_ESTABLISHED);
}

/* Nobody takes the request: it is refused, and its place is free. */
static void test_consumer_that_never_answers(void **state)
{
	struct cm_param p = net_param(0);
	uint32_t id;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	cm_connect(cm(0), net.end[1].gid, NET_PORT, &p, NULL, &id);
	net_run(&net, 10 * NET_S);
	net_event(&net, 1, CM_EV_REQ);
	/* both lose patience at about the same time */
	assert_int_equal(cm_connections(cm(0)), 0);
	assert_int_equal(cm_connections(cm(1)), 0);
	assert_int_equal(net.end[1].event[net.end[1].nevent - 1].type,
			 CM_EV_GONE);
}

/* REP came, the consumer is not ready: a repeated REP gets an MRA. */
static void test_asker_that_is_not_ready_yet(void **state)
{
	struct cm_param p = net_param(0);
	uint32_t id;

	cm_listen(cm(1), NET_PORT, 1, NULL);
	cm_connect(cm(0), net.end[1].gid, NET_PORT, &p, NULL, &id);
	net_run(&net, NET_MS);
	p = net_param(1);
	cm_accept(cm(1), net_event(&net, 1, CM_EV_REQ).id, &p);
	net_run(&net, ANSWER_NS + 5 * NET_MS);
	assert_int_equal(net.sent[1][CM_REP], 2);
	assert_int_equal(net.sent[0][CM_MRA], 1);
	assert_int_equal(cm_ready(cm(0), id), 0);
	net_run(&net, NET_MS);
	net_event(&net, 1, CM_EV_ESTABLISHED);
}

/* ---- all at once, by seed ---- */

static unsigned dice(struct talk *t)
{
	uint64_t z = t->rng += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % 100;
}

static enum net_fate chance(void *arg, int from, const struct cm_msg *m)
{
	struct talk *t = arg;
	unsigned d = dice(t);

	return d < t->percent	    ? NET_LOSE
	       : d < 2 * t->percent ? NET_TWICE
	       : d < 3 * t->percent ? NET_HOLD
				    : NET_PASS;
}

/*
 * Whatever happens: each ID ends, each event comes once and in order (checked
 * where they are taken), and nothing is left behind.
 */
static void one_seed(uint64_t seed, unsigned *good)
{
	struct talk t = { .rng = seed, .percent = seed % 30 };

	net.fate = chance;
	net.arg = &t;
	talk_open(&t);
	talk_run(&t, NET_S);
	if (t.connected)
		cm_disconnect(cm(seed & 1), t.id[seed & 1]);
	talk_run(&t, 4 * NET_S);
	*good += t.seen[1][CM_EV_ESTABLISHED];
	net.fate = NULL;
	/* one end may still think itself connected: it hears of it now */
	for (int e = 0; e < 2; e++)
		cm_disconnect(cm(e), t.id[e]);
	talk_run(&t, 5 * NET_S);
	for (int e = 0; e < 2; e++)
		if (t.id[e])
			assert_int_equal(t.seen[e][CM_EV_GONE], 1);
	all_gone();
}

static void test_any_faults_by_seed(void **state)
{
	unsigned good = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		net_close(&net);
		net_open(&net, &plain, seed & 2);
		one_seed(seed, &good);
	}
	/* four tries each: most must get through */
	assert_true(good > SEEDS / 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_plain, close_net)
	const struct CMUnitTest tests[] = {
		T(test_first_of_each_kind_is_lost),
		T(test_no_request_arrives),
		T(test_no_reply_arrives),
		T(test_no_ready_arrives),
		T(test_no_release_arrives),
		T(test_established_by_traffic),
		T(test_repeated_request_gets_the_reply_again),
		T(test_everything_comes_twice),
		T(test_release_before_ready),
		T(test_slow_consumer_is_waited_for),
		T(test_consumer_that_never_answers),
		T(test_asker_that_is_not_ready_yet),
		T(test_any_faults_by_seed),
	};

	return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
