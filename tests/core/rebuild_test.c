// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames of tests/vectors.json that the transport itself never sends (other
 * networks' marks, VLAN, IPv6, UD), built from wbell/roce.h and our ICRC.
 * With golden_test.c, every derived frame there is built byte for byte.
 */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <wbell/roce.h>

#include "../../dpdk_path/roce/icrc.h"
#include "vectors.h"

struct spec {
	const char *id;
	uint8_t vlan, v6;
	uint8_t tos, ttl; /* traffic class, hop limit */
	uint32_t flow;
	uint16_t ip_id, udpsum, sport;
	uint8_t opcode, flags, bth4;
	uint32_t qpn, apsn;
	const char *body;
	unsigned len;
};

#define SEND                                                     \
	.ttl = 64, .sport = 0xc000, .opcode = ROCE_RC_SEND_ONLY, \
	.flags = ROCE_BTH_MIGREQ, .qpn = 0x11,                   \
	.apsn = ROCE_BTH_ACKREQ | 0x1f0, .body = "ABCD", .len = 4

#pragma GCC diagnostic ignored "-Woverride-init"
static const struct spec specs[] = {
	{ "drv-invariant-ttl", SEND, .ttl = 3 },
	{ "drv-invariant-ce", SEND, .tos = 3 },
	{ "drv-invariant-fecn-becn", SEND, .bth4 = 0xc0 },
	{ "drv-invariant-udpsum", SEND, .udpsum = 0x1234 },
	{ "drv-variant-sport", SEND, .sport = 0xc001 },
	{ "drv-variant-ipid", SEND, .ip_id = 7 },
	{ "drv-variant-migreq", SEND, .flags = 0 },
	{ "drv-vlan", SEND, .vlan = 1 },
	{ "drv-ipv6-base", SEND, .v6 = 1 },
	{ "drv-ipv6-fl-tc-hl", SEND, .v6 = 1, .tos = 0xff, .flow = 0x1face,
	  .ttl = 1 },
	{ "drv-ud-send-only-8", .ttl = 64, .sport = 0xc000,
	  .opcode = ROCE_UD_SEND_ONLY, .flags = ROCE_BTH_MIGREQ, .qpn = 1,
	  .body = "\x80\x01\0\0\0\0\0\x01QP1-MAD!", .len = 16 },
	{ "drv-bad-opcode-ff", .ttl = 64, .sport = 0xc000, .opcode = 0xff,
	  .qpn = 0xffffff,
	  .body = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", .len = 24 },
};

static unsigned put_ethernet(uint8_t *p, const struct spec *s)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };
	static const uint8_t tag[4] = { 0x81, 0, 0x60, 0x64 };
	unsigned at = 12;

	memcpy(p, macs, 12);
	if (s->vlan) {
		memcpy(p + at, tag, 4);
		at += 4;
	}
	p[at] = s->v6 ? 0x86 : 0x08;
	p[at + 1] = s->v6 ? 0xdd : 0x00;
	return at + 2;
}

static void put_ipv4(struct roce_ipv4 *ip, const struct spec *s, unsigned l4)
{
	static const uint8_t net[3] = { 192, 0, 2 };
	const uint8_t *p = (const uint8_t *)ip;
	uint32_t sum = 0;

	memset(ip, 0, sizeof(*ip));
	ip->ver_ihl = 0x45;
	ip->tos = s->tos;
	ip->total_len = htobe16(sizeof(*ip) + l4);
	ip->id = htobe16(s->ip_id);
	ip->frag = htobe16(0x4000);
	ip->ttl = s->ttl;
	ip->proto = ROCE_IPPROTO_UDP;
	memcpy(ip->src, net, 3);
	memcpy(ip->dst, net, 3);
	ip->src[3] = 1;
	ip->dst[3] = 2;
	for (unsigned i = 0; i < sizeof(*ip); i += 2)
		sum += p[i] << 8 | p[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	ip->csum = htobe16(~(sum + (sum >> 16)));
}

static void put_ipv6(struct roce_ipv6 *ip, const struct spec *s, unsigned l4)
{
	static const uint8_t net[4] = { 0x20, 0x01, 0x0d, 0xb8 };

	memset(ip, 0, sizeof(*ip));
	ip->ver_tc_fl = htobe32(6U << 28 | (uint32_t)s->tos << 20 | s->flow);
	ip->payload_len = htobe16(l4);
	ip->next_hdr = ROCE_IPPROTO_UDP;
	ip->hop_limit = s->ttl;
	memcpy(ip->src, net, 4);
	memcpy(ip->dst, net, 4);
	ip->src[15] = 1;
	ip->dst[15] = 2;
}

static void put_transport(uint8_t *p, const struct spec *s, unsigned l4)
{
	struct roce_udp *udp = (struct roce_udp *)p;
	struct roce_bth *bth = (struct roce_bth *)(udp + 1);

	udp->sport = htobe16(s->sport);
	udp->dport = htobe16(ROCE_UDP_PORT);
	udp->len = htobe16(l4);
	udp->csum = htobe16(s->udpsum);
	bth->opcode = s->opcode;
	bth->flags = s->flags;
	bth->pkey = htobe16(ROCE_PKEY_DEFAULT);
	bth->qpn = htobe32((uint32_t)s->bth4 << 24 | s->qpn);
	bth->apsn = htobe32(s->apsn);
	memcpy(bth + 1, s->body, s->len);
}

static unsigned build(uint8_t *frame, const struct spec *s)
{
	unsigned l2 = put_ethernet(frame, s);
	unsigned l3 = s->v6 ? sizeof(struct roce_ipv6)
			    : sizeof(struct roce_ipv4);
	unsigned l4 = sizeof(struct roce_udp) + sizeof(struct roce_bth) +
		      s->len + ROCE_ICRC_SIZE;
	unsigned covered = l3 + l4 - ROCE_ICRC_SIZE;
	uint32_t icrc;

	if (s->v6)
		put_ipv6((struct roce_ipv6 *)(frame + l2), s, l4);
	else
		put_ipv4((struct roce_ipv4 *)(frame + l2), s, l4);
	put_transport(frame + l2 + l3, s, l4);
	icrc = htole32(s->v6 ? roce_icrc_ipv6(frame + l2, covered)
			     : roce_icrc_ipv4(frame + l2, covered));
	memcpy(frame + l2 + covered, &icrc, 4);
	return l2 + covered + ROCE_ICRC_SIZE;
}

static void test_derived_frame_built_byte_for_byte(void **state)
{
	unsigned found = 0;

	roce_icrc_init();
	for (unsigned i = 0; i < sizeof(specs) / sizeof(*specs); i++)
		for (unsigned k = 0; k < VEC_COUNT(vec_frames); k++) {
			const struct vec_frame *v = &vec_frames[k];
			uint8_t frame[128] = { 0 };

			if (strcmp(v->id, specs[i].id))
				continue;
			found++;
			print_message("# %s\n", v->id);
			assert_int_equal(build(frame, &specs[i]), v->len);
			assert_memory_equal(frame, v->frame, v->len);
		}
	assert_int_equal(found, sizeof(specs) / sizeof(*specs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derived_frame_built_byte_for_byte),
	};

	return cmocka_run_group_tests_name("rebuilt frames", tests, NULL, NULL);
}
