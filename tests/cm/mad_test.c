// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages beside those that Linux kernels sent to each other, and what tshark
 * reads in them (tests/cm/mads.json, which says whose they are).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "seen_mads.h"
#include "../../dpdk_path/cm/cm.h"

#define SEEN (sizeof(seen_mads) / sizeof(*seen_mads))

/* ---- tshark's names, and where we keep what it calls so ---- */

static const struct name {
	const char *name;
	uint16_t at;
	uint8_t size;
} names[] = {
#define N(text, m)                                      \
	{                                               \
		text, offsetof(struct cm_msg, m),       \
			sizeof(((struct cm_msg *)0)->m) \
	}
	N("req", local_id),
	N("req.serviceid", req.service_id),
	N("req.localcaguid", req.ca_guid),
	N("req.localqkey", req.qkey),
	N("req.localqpn", req.qpn),
	N("req.responderres", req.responder_resources),
	N("req.initdepth", req.initiator_depth),
	N("req.remoteresptout", req.remote_response_timeout),
	N("req.transpsvctype", req.transport),
	N("req.e2eflowctrl", req.flow_control),
	N("req.startpsn", req.psn),
	N("req.localresptout", req.local_response_timeout),
	N("req.retrcount", req.retry_cnt),
	N("req.pkey", req.pkey),
	N("req.pppmtu", req.mtu),
	N("req.rnrretrcount", req.rnr_retry),
	N("req.maxcmretr", req.max_retries),
	N("req.srq", req.srq),
	N("req.ext_transport", req.extended_transport),
	N("req.prim_locallid", req.path.local_lid),
	N("req.prim_remotelid", req.path.remote_lid),
	N("req.prim_localgid", req.path.local_gid),
	N("req.prim_localgid_ipv4", req.path.local_gid),
	N("req.prim_remotegid", req.path.remote_gid),
	N("req.prim_remotegid_ipv4", req.path.remote_gid),
	N("req.prim_tfcclass", req.path.traffic_class),
	N("req.prim_hoplim", req.path.hop_limit),
	N("req.prim_sl", req.path.sl),
	N("req.prim_subnetlocal", req.path.subnet_local),
	N("req.prim_localacktout", req.path.ack_timeout),
	N("req.alt_localgid", req.alt_gid),
	N("rep", local_id),
	N("rep.remotecommid", remote_id),
	N("rep.localqkey", rep.qkey),
	N("rep.localqpn", rep.qpn),
	N("rep.startpsn", rep.psn),
	N("rep.respres", rep.responder_resources),
	N("rep.initdepth", rep.initiator_depth),
	N("rep.tgtackdelay", rep.target_ack_delay),
	N("rep.failoveracc", rep.failover),
	N("rep.e2eflowctrl", rep.flow_control),
	N("rep.rnrretrcount", rep.rnr_retry),
	N("rep.srq", rep.srq),
	N("rep.localcaguid", rep.ca_guid),
	N("rtu.localcommid", local_id),
	N("rtu.remotecommid", remote_id),
	N("rej.localcommid", local_id),
	N("rej.remotecommid", remote_id),
	N("rej.msgrej", rej.about),
	N("rej.rejinfolen", rej.ari_len),
	N("rej.reason", rej.reason),
	N("dreq.localcommid", local_id),
	N("dreq.remotecommid", remote_id),
	N("req.remoteqpneecn", qpn), /* tshark's slip: it is the DREQ's */
	N("drsp.localcommid", local_id),
	N("drsp.remotecommid", remote_id),
#undef N
};

/* What we have no use for: parts of what is above, and what must be 0. */
static const char *const unread[] = {
	"req.serviceid.prefix",
	"req.serviceid.protocol",
	"req.serviceid.dport",
	"req.localeecn",
	"req.remoteeecn",
	"req.rdcexist",
	"req.prim_reserved1",
	"req.prim_reserved2",
	"req.alt_locallid",
	"req.alt_remotelid",
	"req.alt_remotegid",
	"req.alt_tfcclass",
	"req.alt_hoplim",
	"req.alt_sl",
	"req.alt_subnetlocal",
	"req.alt_reserved1",
	"req.alt_localacktout",
	"req.ip_cm.majv",
	"req.ip_cm.minv",
	"req.ip_cm.ipv",
	"req.ip_cm.reserved",
	"req.ip_cm.private",
	"rep.localeecn",
	"rep.reserved",
	"rep.private",
	"rtu.private",
	"rej.reserved0",
	"rej.reserved1",
	"rej.ari",
	"rej.private",
	"dreq.private",
	"drsp.private",
};

static bool is_unread(const char *name)
{
	for (size_t i = 0; i < sizeof(unread) / sizeof(*unread); i++)
		if (!strcmp(unread[i], name))
			return true;
	return false;
}

/* A member as 16 bytes, big-endian. */
static void wide(const struct cm_msg *m, const struct name *n, uint8_t out[16])
{
	const uint8_t *at = (const uint8_t *)m + n->at;

	memset(out, 0, 16);
	for (unsigned i = 0; i < n->size; i++)
		out[15 - i] = n->size == 16 ? at[15 - i] : at[i];
}

static void check_ip(const struct cm_msg *m, const struct seen_field *f)
{
	const char *name = f->name + strlen("req.ip_cm.");
	struct cm_ip ip;

	assert_int_equal(cm_ip_get(m->data, &ip), 0);
	if (!strcmp(name, "sport"))
		assert_int_equal(ip.sport, f->value[14] << 8 | f->value[15]);
	else if (name[0] == 's')
		assert_memory_equal(ip.src, f->value, 16);
	else
		assert_memory_equal(ip.dst, f->value, 16);
}

static void check_field(const struct cm_msg *m, const struct seen_field *f)
{
	uint8_t ours[16];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, f->name)) {
			wide(m, &names[i], ours);
			assert_memory_equal(ours, f->value, 16);
			return;
		}
	if (!strncmp(f->name, "req.ip_cm.", 10))
		check_ip(m, f);
	else
		fail_msg("tshark reads %s: what is it to us?", f->name);
}

static void test_fields_are_what_tshark_reads(void **state)
{
	unsigned kinds = 0;
	struct cm_msg m;

	for (unsigned i = 0; i < SEEN; i++) {
		assert_int_equal(cm_msg_get(seen_mads[i].mad, &m), 0);
		kinds |= 1 << (m.kind - CM_REQ);
		for (unsigned k = 0; k < seen_mads[i].nfield; k++)
			if (!is_unread(seen_mads[i].field[k].name))
				check_field(&m, &seen_mads[i].field[k]);
	}
	/* all but MRA, which nobody had a reason to send */
	assert_int_equal(kinds, 0x7d);
}

static void test_what_was_read_is_written_back(void **state)
{
	uint8_t mad[MAD_SIZE];
	struct cm_msg m;

	for (unsigned i = 0; i < SEEN; i++) {
		cm_msg_get(seen_mads[i].mad, &m);
		cm_msg_put(mad, &m);
		assert_memory_equal(mad, seen_mads[i].mad, MAD_SIZE);
	}
}

/* Each bit of a MAD is in a field, or is written as 0. */
static void test_every_bit_comes_back_or_is_zero(void **state)
{
	uint8_t mad[MAD_SIZE], back[MAD_SIZE];
	struct cm_msg m;

	for (unsigned kind = CM_REQ; kind < CM_KIND_END; kind++)
		for (unsigned bit = MAD_HDR * 8; bit < MAD_SIZE * 8; bit++) {
			memset(mad, 0, MAD_SIZE);
			mad[0] = MAD_BASE_VERSION;
			mad[1] = MAD_CLASS_CM;
			mad[2] = MAD_CM_VERSION;
			mad[3] = MAD_SEND;
			mad[17] = kind;
			mad[bit / 8] = 0x80 >> bit % 8;
			assert_int_equal(cm_msg_get(mad, &m), 0);
			cm_msg_put(back, &m);
			if (back[bit / 8])
				assert_memory_equal(back, mad, MAD_SIZE);
		}
}

static void test_kinds_that_are_none(void **state)
{
	uint8_t mad[MAD_SIZE] = { 1, 7, 2, 3 };
	struct mad_hdr h;
	struct cm_msg m;

	mad[17] = CM_REQ - 1;
	assert_int_equal(cm_msg_get(mad, &m), -ENOTSUP);
	mad[17] = CM_KIND_END;
	assert_int_equal(cm_msg_get(mad, &m), -ENOTSUP);
	mad[16] = 1;
	mad[17] = CM_REQ;
	assert_int_equal(cm_msg_get(mad, &m), -ENOTSUP);
	assert_int_equal(mad_hdr_get(mad, MAD_SIZE - 1, &h), -EMSGSIZE);
	assert_int_equal(mad_hdr_get(mad, MAD_SIZE + 1, &h), -EMSGSIZE);
	assert_int_equal(cm_data_max(CM_KIND_END), 0);
}

/* ---- ours beside theirs ---- */

static struct cm *manager(const uint8_t gid[16], uint64_t guid)
{
	struct cm_attr a = { .max_conn = 4,
			     .ca_guid = guid,
			     .path_mtu = 4096,
			     .response_timeout = 20 };
	struct cm *cm;

	memcpy(gid_is_ipv4(gid) ? a.gid : a.gid6, gid, 16);
	assert_int_equal(cm_create(&a, &cm), 0);
	return cm;
}

/* The i-th of a kind among those seen. */
static const struct seen_mad *seen(uint8_t kind, unsigned i)
{
	for (unsigned k = 0; k < SEEN; k++)
		if (seen_mads[k].mad[17] == kind && !i--)
			return &seen_mads[k];
	fail_msg("no such MAD was seen");
	return seen_mads;
}

static struct cm_param param_of(const struct cm_msg *m)
{
	const struct cm_req *r = &m->req;

	return (struct cm_param){
		.qpn = r->qpn,
		.psn = r->psn,
		.rd_in = r->responder_resources,
		.rd_out = r->initiator_depth,
		.retry_cnt = r->retry_cnt,
		.rnr_retry = r->rnr_retry,
		.ack_timeout = r->path.ack_timeout,
		.path_mtu = 128 << r->mtu,
		.flow_label = r->path.flow_label,
	};
}

/* Written over: what each program chooses for itself. */
static void level(uint8_t mad[MAD_SIZE])
{
	memset(mad + 8, 0, 8);		       /* transaction ID */
	memset(mad + MAD_HDR, 0, 4);	       /* communication ID */
	memset(mad + MAD_HDR + 140 + 2, 0, 2); /* source port */
	mad[MAD_HDR + 91] &= 0xc0;	       /* packet rate */
}

static void request(const struct seen_mad *s)
{
	uint8_t theirs[MAD_SIZE];
	struct cm_mad ours;
	struct cm_param p;
	struct cm_msg m;
	struct cm *cm;
	uint32_t id;

	cm_msg_get(s->mad, &m);
	cm = manager(s->from, m.req.ca_guid);
	p = param_of(&m);
	assert_int_equal(
		cm_connect(cm, s->to, m.req.service_id & 0xffff, &p, NULL, &id),
		0);
	assert_true(cm_tx(cm, 1, &ours));
	memcpy(theirs, s->mad, MAD_SIZE);
	level(theirs);
	level(ours.mad);
	assert_memory_equal(ours.mad, theirs, MAD_SIZE);
	assert_memory_equal(ours.gid, s->to, 16);
	cm_destroy(cm);
}

/* rping's over IPv4 and IPv6, and ib_write_bw's. */
static void test_requests_are_those_of_a_kernel(void **state)
{
	for (unsigned i = 0; i < 4; i++)
		request(seen(CM_REQ, i));
}

/* A kernel asks us, and what we answer is what a kernel answered. */
static void test_answer_to_a_kernel(void **state)
{
	const struct seen_mad *s = seen(CM_REQ, 0), *r = seen(CM_REP, 0);
	struct cm_param p = { .rd_in = 1, .rd_out = 1, .rnr_retry = 7 };
	struct cm_mad ours;
	struct cm_event ev;
	struct cm_msg m;
	struct cm *cm;

	cm_msg_get(r->mad, &m);
	cm = manager(s->to, m.rep.ca_guid);
	cm_listen(cm, 7174, 1, NULL);
	cm_rx(cm, 1, s->from, s->to, s->mad, MAD_SIZE);
	assert_true(cm_event(cm, &ev));
	assert_int_equal(ev.type, CM_EV_REQ);
	assert_int_equal(ev.port, 7174);
	assert_int_equal(ev.peer.qpn, 0x11);
	assert_int_equal(ev.peer.psn, 0x379016);
	assert_int_equal(ev.peer.path_mtu, 4096);
	assert_int_equal(ev.peer.retry_cnt, 7);
	assert_int_equal(ev.peer.ack_timeout, 17);
	p.qpn = m.rep.qpn;
	p.psn = m.rep.psn;
	assert_int_equal(cm_accept(cm, ev.id, &p), 0);
	assert_true(cm_tx(cm, 1, &ours));
	memcpy(ours.mad + MAD_HDR, r->mad + MAD_HDR, 4); /* our ID */
	ours.mad[MAD_HDR + 26] |= 15 << 3; /* a kernel's time to acknowledge */
	assert_memory_equal(ours.mad, r->mad, MAD_SIZE);
	cm_destroy(cm);
}

/* We ask a kernel: its answer, made out to our ID, then our RTU. */
static void test_answer_of_a_kernel(void **state)
{
	const struct seen_mad *s = seen(CM_REP, 0), *r = seen(CM_RTU, 0);
	struct cm_param p;
	struct cm_event ev;
	struct cm_mad out;
	struct cm_msg m;
	struct cm *cm;
	uint8_t rep[MAD_SIZE];
	uint32_t id;

	cm_msg_get(seen(CM_REQ, 0)->mad, &m);
	p = param_of(&m);
	p.ack_timeout = 14; /* shorter than the kernel needs: 15 */
	cm = manager(s->to, 1);
	cm_connect(cm, s->from, 7174, &p, NULL, &id);
	assert_true(cm_tx(cm, 1, &out));
	memcpy(rep, s->mad, MAD_SIZE);
	memcpy(rep + 8, out.mad + 8, 8);
	memcpy(rep + MAD_HDR + 4, out.mad + MAD_HDR, 4);
	cm_rx(cm, 2, s->from, s->to, rep, MAD_SIZE);
	assert_true(cm_event(cm, &ev));
	assert_int_equal(ev.type, CM_EV_REP);
	assert_int_equal(ev.peer.qpn, 0x11);
	assert_int_equal(ev.peer.psn, 0xc8d70a);
	assert_int_equal(ev.peer.rd_out, 1);
	assert_int_equal(ev.peer.rnr_retry, 7);
	assert_int_equal(ev.peer.ack_timeout, 16);
	assert_int_equal(cm_ready(cm, id), 0);
	assert_true(cm_tx(cm, 3, &out));
	memcpy(out.mad + 8, r->mad + 8, 8);
	memcpy(out.mad + MAD_HDR, r->mad + MAD_HDR, 4);
	assert_memory_equal(out.mad, r->mad, MAD_SIZE);
	cm_destroy(cm);
}

static void test_refusal_by_a_kernel(void **state)
{
	const struct seen_mad *s = seen(CM_REJ, 0);
	struct cm_param p = { .qpn = 2, .path_mtu = 1024 };
	struct cm *cm = manager(s->to, 1);
	uint8_t rej[MAD_SIZE];
	struct cm_event ev;
	struct cm_mad out;
	uint32_t id;

	cm_connect(cm, s->from, 9999, &p, NULL, &id);
	assert_true(cm_tx(cm, 1, &out));
	memcpy(rej, s->mad, MAD_SIZE);
	memcpy(rej + MAD_HDR + 4, out.mad + MAD_HDR, 4);
	cm_rx(cm, 2, s->from, s->to, rej, MAD_SIZE);
	assert_true(cm_event(cm, &ev));
	assert_int_equal(ev.type, CM_EV_REJECTED);
	assert_int_equal(ev.reason, CM_REASON_SERVICE_ID);
	cm_destroy(cm);
}

static void test_ip_header_of_another_version(void **state)
{
	uint8_t data[CM_IP_HDR] = { 0, 0x40 };
	struct cm_ip ip;

	assert_int_equal(cm_ip_get(data, &ip), 0);
	data[0] = 0x10;
	assert_int_equal(cm_ip_get(data, &ip), -EPROTO);
	data[0] = 0;
	data[1] = 0x50;
	assert_int_equal(cm_ip_get(data, &ip), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_are_what_tshark_reads),
		cmocka_unit_test(test_what_was_read_is_written_back),
		cmocka_unit_test(test_every_bit_comes_back_or_is_zero),
		cmocka_unit_test(test_kinds_that_are_none),
		cmocka_unit_test(test_requests_are_those_of_a_kernel),
		cmocka_unit_test(test_answer_to_a_kernel),
		cmocka_unit_test(test_answer_of_a_kernel),
		cmocka_unit_test(test_refusal_by_a_kernel),
		cmocka_unit_test(test_ip_header_of_another_version),
	};

	return cmocka_run_group_tests_name("messages", tests, NULL, NULL);
}
