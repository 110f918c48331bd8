// SPDX-License-Identifier: BSD-2-Clause
/*
 * Addresses of the software NIC: families, the headers that a queue's packets
 * carry, and how long a peer that does not answer is asked for.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../dpdk_path/nic/nic.h"

#define DEPTH  16
#define QUEUES 3
#define MS     1000000ULL
#define FRAME  1200

struct side {
	struct nic *nic;
	struct nic_queue *q[QUEUES];
	uint64_t doorbells[QUEUES];
	uint32_t qpn[QUEUES];
	uint8_t sq[QUEUES][DEPTH * 64] __attribute__((aligned(64)));
	struct wbell_cqe cq[QUEUES][DEPTH] __attribute__((aligned(64)));
	struct wbell_dbrec dbrec[QUEUES];
};

static const uint8_t ipv4[2][GID_SIZE] = { { GID_IPV4(192, 0, 2, 1) },
					   { GID_IPV4(192, 0, 2, 2) } };
static const uint8_t ipv6[2][GID_SIZE] = { { 0xfd, 9, [15] = 1 },
					   { 0xfd, 9, [15] = 2 } };
static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 9 };

static struct side *make_side(const uint8_t *gid, unsigned queues)
{
	struct side *s = aligned_alloc(64, (sizeof(*s) + 63) & ~63UL);
	struct nic_attr a = { .max_queues = QUEUES,
			      .path_mtu = 1024,
			      .mac = { 2, 0, 0, 0, 0, gid[15] },
			      .seed = gid[15] };
	struct wbell_err err = { "" };
	unsigned i;

	assert_non_null(s);
	memset(s, 0, sizeof(*s));
	memcpy(a.gid, gid, GID_SIZE);
	a.doorbells = s->doorbells;
	assert_int_equal(nic_create(&a, &s->nic), 0);
	for (i = 0; i < queues; i++) {
		struct wbell_prov_queue qa = { .index = i,
					       .depth = DEPTH,
					       .log_cq = 4,
					       .sq = s->sq[i],
					       .cq = s->cq[i],
					       .dbrec = &s->dbrec[i],
					       .attr = { .timeout = 12,
							 .retry_cnt = 3,
							 .rnr_retry = 3,
							 .max_rd_atomic = 4 } };

		assert_int_equal(nic_queue_create(s->nic, &qa, &s->q[i],
						  &s->qpn[i], &err),
				 0);
	}
	return s;
}

static void free_side(struct side *s)
{
	nic_destroy(s->nic);
	free(s);
}

static int join(struct side *s, struct side *peer, unsigned i,
		struct wbell_err *err)
{
	struct wbell_address a;
	uint32_t qpn;

	nic_queue_address(peer->q[i], &a);
	return nic_queue_connect(s->q[i], &a, &qpn, err);
}

/* An RDMA WRITE of four bytes inline: one packet. */
static void post(struct side *s, unsigned i)
{
	uint64_t pi = s->doorbells[i];
	uint8_t *p = s->sq[i] + pi % DEPTH * 64;
	uint32_t word[] = { __builtin_bswap32(pi << 8 | WBELL_OP_WRITE),
			    __builtin_bswap32(s->qpn[i] << 8 | 3) };

	memset(p, 0, 64);
	memcpy(p, word, 8);
	p[11] = WBELL_CTRL_CQ_UPDATE;
	p[32] = 0x80; /* inline */
	p[35] = 4;
	__atomic_store_n(&s->doorbells[i], pi + 1, __ATOMIC_RELEASE);
}

static unsigned turn(struct side *s, uint64_t now, struct roce_frame *f,
		     unsigned n)
{
	nic_doorbells(s->nic, now);
	return nic_tx(s->nic, now, f, n);
}

static unsigned send(struct side *s, uint64_t now, uint8_t (*buf)[FRAME])
{
	struct roce_frame f[4];
	unsigned i;

	for (i = 0; i < 4; i++) {
		f[i].data = buf[i];
		f[i].room = FRAME;
	}
	return turn(s, now, f, 4);
}

static void test_address_other_family_is_refused(void **state)
{
	struct side *a = make_side(ipv4[0], 1), *b = make_side(ipv6[1], 1);
	struct side *c = make_side(ipv4[1], 1);
	struct wbell_err err = { "" };

	assert_int_equal(join(a, b, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "fd09::2 is an IPv6 address"));
	assert_non_null(strstr(err.text, "192.0.2.1 an IPv4 one"));
	assert_int_equal(join(b, a, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "192.0.2.1 is an IPv4 address"));
	/* nothing is lost by it */
	assert_int_equal(join(a, c, 0, &err), 0);
	free_side(a);
	free_side(b);
	free_side(c);
}

static void test_address_of_no_host_is_refused(void **state)
{
	static const uint8_t bad[][GID_SIZE] = { { 0 },
						 { [15] = 1 },
						 { 0xff, 2, [15] = 1 },
						 { GID_IPV4(0, 0, 0, 0) },
						 { GID_IPV4(127, 0, 0, 1) },
						 { GID_IPV4(224, 0, 0, 1) } };
	struct side *a = make_side(ipv6[0], 1), *b = make_side(ipv6[1], 1);
	struct wbell_err err = { "" };
	struct wbell_address blob;
	uint32_t qpn;
	unsigned i, at;

	nic_queue_address(b->q[0], &blob);
	for (at = 0; memcmp(blob.bytes + at, ipv6[1], GID_SIZE); at++)
		assert_true(at + GID_SIZE < sizeof(blob));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(blob.bytes + at, bad[i], GID_SIZE);
		assert_int_equal(nic_queue_connect(a->q[0], &blob, &qpn, &err),
				 -EINVAL);
		assert_non_null(strstr(err.text, "out of range"));
	}
	free_side(a);
	free_side(b);
}

static void test_address_is_told(void **state)
{
	struct side *a = make_side(ipv6[0], 1), *b = make_side(ipv6[1], 1);
	struct wbell_err err = { "" };
	struct wbell_prov_stat stat;
	uint8_t gid[1][GID_SIZE];

	assert_int_equal(join(a, b, 0, &err), 0);
	assert_int_equal(nic_queue_stat(a->q[0], &stat), 0);
	assert_string_equal(stat.peer_address, "fd09::2");
	assert_int_equal(nic_unresolved(a->nic, MS, gid, 1), 1);
	assert_memory_equal(gid[0], ipv6[1], GID_SIZE);
	free_side(a);
	free_side(b);
}

static uint32_t flow_of(const uint8_t *f)
{
	return (f[15] & 0xf) << 16 | f[16] << 8 | f[17];
}

static unsigned port_of(const uint8_t *f)
{
	return f[54] << 8 | f[55];
}

/*
 * One flow a queue: the same label and port in all its packets, others in
 * another's; the port is what the verbs make of the label.
 */
static void test_address_flow_of_a_queue(void **state)
{
	struct side *a = make_side(ipv6[0], QUEUES);
	struct side *b = make_side(ipv6[1], QUEUES);
	uint32_t flow[QUEUES] = { 0 }, v;
	uint8_t buf[4][FRAME];
	struct wbell_err err;
	unsigned i, k, n;

	for (i = 0; i < QUEUES; i++)
		assert_int_equal(join(a, b, i, &err), 0);
	nic_resolved(a->nic, ipv6[1], mac);
	for (i = 0; i < QUEUES; i++) {
		for (k = 0; k < 3; k++)
			post(a, i);
		n = send(a, MS, buf);
		assert_int_equal(n, 3);
		for (k = 0; k < n; k++) {
			assert_memory_equal(buf[k], mac, 6);
			assert_int_equal(buf[k][12] << 8 | buf[k][13], 0x86dd);
			assert_memory_equal(buf[k] + 22, ipv6[0], GID_SIZE);
			assert_memory_equal(buf[k] + 38, ipv6[1], GID_SIZE);
			v = flow_of(buf[k]);
			assert_int_equal(port_of(buf[k]),
					 0xc000 | ((v ^ v >> 14) & 0x3fff));
			assert_true(!k || v == flow[i]);
			flow[i] = v;
		}
		assert_int_not_equal(flow[i], 0);
		for (k = 0; k < i; k++)
			assert_int_not_equal(flow[i], flow[k]);
	}
	free_side(a);
	free_side(b);
}

/* For a while after connecting, then only while something waits for it. */
static void test_address_asking_ends(void **state)
{
	struct side *a = make_side(ipv6[0], 1), *b = make_side(ipv6[1], 1);
	uint64_t now = MS, step = 10 * MS;
	uint8_t gid[1][GID_SIZE], buf[4][FRAME];
	struct wbell_prov_stat stat;
	struct wbell_err err;
	unsigned turns;

	assert_int_equal(join(a, b, 0, &err), 0);
	for (; now < MS + NIC_ASK_NS; now += step)
		assert_int_equal(nic_unresolved(a->nic, now, gid, 1), 1);
	assert_int_equal(nic_unresolved(a->nic, now, gid, 1), 0);
	post(a, 0);
	assert_int_equal(send(a, now, buf), 0);
	assert_int_equal(nic_unresolved(a->nic, now, gid, 1), 1);
	/* its retries run out; nobody is asked for it any more */
	for (turns = 0; turns < 10000; turns++, now += step) {
		send(a, now, buf);
		nic_queue_stat(a->q[0], &stat);
		if (stat.state == ROCE_ERR)
			break;
		assert_int_equal(nic_unresolved(a->nic, now, gid, 1), 1);
	}
	assert_int_equal(stat.state, ROCE_ERR);
	send(a, now, buf);
	assert_int_equal(nic_unresolved(a->nic, now, gid, 1), 0);
	free_side(a);
	free_side(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address_other_family_is_refused),
		cmocka_unit_test(test_address_of_no_host_is_refused),
		cmocka_unit_test(test_address_is_told),
		cmocka_unit_test(test_address_flow_of_a_queue),
		cmocka_unit_test(test_address_asking_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
