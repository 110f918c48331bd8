// SPDX-License-Identifier: BSD-2-Clause
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "craft.h"

struct craft *craft_new(const struct craft_attr *a)
{
	struct craft *c = calloc(1, sizeof(*c));
	struct roce_dev_attr dev = { .max_qp = 32, .max_mr = 63 };
	struct roce_qp_attr qp = {
		.depth = 64,
		.recv_depth = a->recv_depth,
		.recv_sge = 1,
		.qpn = a->qpn ? a->qpn : CRAFT_QPN,
		.sq_psn = a->sq_psn,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 6,
		.min_rnr_timer = 12,
		.window = a->window,
		.max_rd_atomic = a->max_rd_atomic ? a->max_rd_atomic : 4,
	};
	struct roce_peer peer = {
		.has_mac = true,
		.qpn = a->peer_qpn ? a->peer_qpn : CRAFT_PEER,
		.rq_psn = a->rq_psn,
		.path_mtu = a->mtu ? a->mtu : 1024,
		.max_rd_atomic = 4,
	};

	c->ip = a->ip ? a->ip : 2;
	c->peer_ip = a->peer_ip ? a->peer_ip : 1;
	memcpy(dev.ip, (uint8_t[]){ 192, 0, 2, c->ip }, 4);
	memcpy(dev.mac, (uint8_t[]){ 2, 0, 0, 0, 0, c->ip }, 6);
	memcpy(peer.ip, (uint8_t[]){ 192, 0, 2, c->peer_ip }, 4);
	memcpy(peer.mac, (uint8_t[]){ 2, 0, 0, 0, 0, c->peer_ip }, 6);
	c->now = 1000000000;
	if (roce_dev_create(&dev, &c->dev) ||
	    roce_qp_create(c->dev, &qp, &c->qp) ||
	    roce_qp_connect(c->qp, &peer, c->now))
		abort();
	return c;
}

void craft_free(struct craft *c)
{
	roce_dev_destroy(c->dev);
	free(c);
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

static void put64(uint8_t *p, uint64_t v)
{
	put32(p, v >> 32);
	put32(p + 4, v);
}

void craft_reth(struct craft_frame *f, uint64_t va, uint32_t rkey, uint32_t len)
{
	put64(f->body, va);
	put32(f->body + 8, rkey);
	put32(f->body + 12, len);
	f->len = 16;
}

void craft_atomic(struct craft_frame *f, uint64_t va, uint32_t rkey,
		  uint64_t swap_add, uint64_t compare)
{
	put64(f->body, va);
	put32(f->body + 8, rkey);
	put64(f->body + 12, swap_add);
	put64(f->body + 20, compare);
	f->len = 28;
}

static void ip_csum(uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~sum);
}

static uint32_t icrc(const uint8_t *ip, uint32_t len)
{
	uint8_t m[8 + 5000];

	memset(m, 0xff, 8);
	memcpy(m + 8, ip, len);
	m[8 + 1] = m[8 + 8] = m[8 + 10] = m[8 + 11] = 0xff;
	m[8 + 26] = m[8 + 27] = m[8 + 32] = 0xff;
	return crc32(0, m, 8 + len);
}

void craft_seal(uint8_t *frame, uint32_t len)
{
	uint32_t crc = htole32(icrc(frame + 14, len - 14 - 4));

	memcpy(frame + len - 4, &crc, 4);
}

uint32_t craft_build(const struct craft *c, const struct craft_frame *f,
		     uint8_t *p)
{
	const uint8_t eth[] = { 2, 0, 0, 0, 0,		c->ip, 2,
				0, 0, 0, 0, c->peer_ip, 8,     0 };
	uint8_t *ip = p + 14, *bth = p + 42;
	unsigned pad = -f->len & 3;
	unsigned l3 = 40 + f->len + pad;

	memset(p, 0, 14 + l3 + 4);
	memcpy(p, eth, sizeof(eth));
	ip[0] = 0x45;
	put16(ip + 2, l3 + 4);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, (uint8_t[]){ 192, 0, 2, c->peer_ip }, 4);
	memcpy(ip + 16, (uint8_t[]){ 192, 0, 2, c->ip }, 4);
	ip_csum(ip);
	put16(ip + 20, 0xc000);
	put16(ip + 22, 4791);
	put16(ip + 24, l3 + 4 - 20);
	bth[0] = f->opcode;
	bth[1] = (f->flags ? f->flags : 0x40) | pad << 4;
	put16(bth + 2, f->pkey ? f->pkey : 0xffff);
	put32(bth + 4, f->qpn ? f->qpn : roce_qp_num(c->qp));
	bth[4] = f->bth4;
	put32(bth + 8, f->psn);
	bth[8] = (f->ackreq ? 0x80 : 0) | f->resv7;
	memcpy(bth + 12, f->body, f->len);
	craft_seal(p, 14 + l3 + 4);
	return 14 + l3 + 4;
}

void craft_rx(struct craft *c, const struct craft_frame *f)
{
	uint8_t p[5000] = { 0 };

	craft_rx_raw(c, p, craft_build(c, f, p));
}

void craft_rx_raw(struct craft *c, const uint8_t *frame, uint32_t len)
{
	/* a copy of just this size, so that sanitizers see a read past it */
	uint8_t *copy = malloc(len);
	struct roce_frame f = { .data = copy, .len = len };

	memcpy(copy, frame, len);
	roce_rx(c->dev, c->now, &f, 1);
	free(copy);
}

unsigned craft_tx(struct craft *c)
{
	for (unsigned i = 0; i < 64; i++) {
		c->sent[i].data = c->out[i];
		c->sent[i].room = sizeof(c->out[i]);
	}
	c->nsent = roce_tx(c->dev, c->now, c->sent, 64);
	return c->nsent;
}

uint8_t craft_opcode(const struct craft *c, unsigned i)
{
	return c->out[i][42];
}

static uint32_t get24(const uint8_t *p)
{
	return p[0] << 16 | p[1] << 8 | p[2];
}

uint32_t craft_psn(const struct craft *c, unsigned i)
{
	return get24(c->out[i] + 51);
}

uint8_t craft_syndrome(const struct craft *c, unsigned i)
{
	return c->out[i][54];
}

uint32_t craft_msn(const struct craft *c, unsigned i)
{
	return get24(c->out[i] + 55);
}
