// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hostile frames against a device whose queues are of every type and in many
 * states.  An input is a list of records: raw frames, frames built so far
 * that the device believes them, turns, work.
 */
#include <stdbool.h>
#include <stdlib.h>

#include <wbell/queue.h>

#include "fuzz.h"
#include "../../dpdk_path/roce/core.h"
#include "../../dpdk_path/roce/icrc.h"

#define QPS    8
#define MEM    8192
#define IOVA   0x100000
#define FRAMES 9216 /* the longest taken raw */
#define QKEY   0x1234

static const uint8_t our_ip[4] = { 192, 0, 2, 1 };
static const uint8_t peer_ip[4] = { 192, 0, 2, 2 };
static const uint8_t our_ip6[16] = { 0xfd, [15] = 1 };
static const uint8_t peer_ip6[16] = { 0xfd, [15] = 2 };

struct bed {
	struct roce_dev *dev;
	struct roce_qp *qp[QPS];
	struct roce_srq *srq;
	uint8_t *mem;
	uint32_t key, ah;
	uint64_t now, given, posted, completed;
	uint16_t index[QPS];
};

/* ---- the bed ---- */

static const struct {
	uint8_t type;
	bool connect, fail, v6, srq, holes, vlan;
} kinds[QPS] = {
	{ .type = ROCE_RC, .connect = true },
	{ .type = ROCE_RC, .connect = true, .holes = true },
	{ .type = ROCE_RC, .connect = true, .srq = true },
	{ .type = ROCE_UC, .connect = true },
	{ .type = ROCE_UD, .connect = true },
	{ .type = ROCE_RC, .connect = true, .v6 = true, .vlan = true },
	{ .type = ROCE_RC, .connect = true, .fail = true },
	{ .type = ROCE_RC },
};

static void fill_peer(struct roce_peer *p, unsigned i)
{
	memcpy(p->ip, peer_ip, 4);
	memcpy(p->ip6, peer_ip6, 16);
	p->v6 = kinds[i].v6;
	p->mac[5] = 2;
	p->has_mac = true;
	p->vlan = kinds[i].vlan ? 7 : 0;
	p->qpn = 0x20 + i;
	p->path_mtu = 1024;
	p->max_rd_atomic = 4;
	p->holes = kinds[i].holes;
}

static void make_qp(struct bed *b, unsigned i)
{
	struct roce_qp_attr a = {
		.user = &b->qp[i],
		.type = kinds[i].type,
		.qkey = QKEY,
		.srq = kinds[i].srq ? b->srq : NULL,
		.depth = 16,
		.recv_depth = kinds[i].srq ? 0 : 8,
		.recv_sge = 2,
		.qpn = 0x10 + i,
		.sq_psn = 0xfffffa,
		.timeout = 8,
		.retry_cnt = 2,
		.rnr_retry = 2,
		.min_rnr_timer = 1,
		.max_rd_atomic = 4,
	};
	struct roce_peer p = { .rq_psn = 0xfffffa };

	fill_peer(&p, i);
	must(!roce_qp_create(b->dev, &a, &b->qp[i]));
	if (kinds[i].connect)
		must(!roce_qp_connect(b->qp[i], &p, b->now));
	if (kinds[i].fail)
		roce_qp_fail(b->qp[i]);
}

static void make_bed(struct bed *b)
{
	struct roce_dev_attr a = { .max_qp = 16,
				   .max_mr = 15,
				   .max_ah = 4,
				   .mac = { 2, 0, 0, 0, 0, 1 },
				   .seed = 1 };
	struct roce_srq_attr srq = { .depth = 8, .sge = 1 };
	struct roce_peer path = { 0 };

	memset(b, 0, sizeof(*b));
	b->now = 1000000000;
	memcpy(a.ip, our_ip, 4);
	memcpy(a.ip6, our_ip6, 16);
	b->mem = calloc(1, MEM);
	must(b->mem && !roce_dev_create(&a, &b->dev));
	must(!roce_mr_add(b->dev,
			  &(struct roce_mr_attr){ IOVA, b->mem, MEM, 0xf, 0 },
			  &b->key));
	must(!roce_srq_create(b->dev, &srq, &b->srq));
	fill_peer(&path, 4);
	must(!roce_ah_add(b->dev, &path, &b->ah));
	for (unsigned i = 0; i < QPS; i++)
		make_qp(b, i);
}

static void free_bed(struct bed *b)
{
	for (unsigned i = 0; i < QPS; i++)
		roce_qp_destroy(b->qp[i]);
	roce_srq_destroy(b->srq);
	roce_dev_destroy(b->dev);
	free(b->mem);
}

/* ---- frames ---- */

/* In memory of its very size. */
static void give(struct bed *b, const uint8_t *data, uint32_t n)
{
	struct roce_frame f = { malloc(n ? n : 1), n, n };

	must(f.data);
	memcpy(f.data, data, n);
	roce_rx(b->dev, b->now, &f, 1);
	b->given++;
	free(f.data);
}

static void seal(uint8_t *p, uint32_t n)
{
	unsigned at = 14;
	uint32_t icrc;

	while (n > at + 4 && p[at - 2] == 0x81 && !p[at - 1])
		at += 4;
	if (n < at + 60)
		return;
	icrc = p[at - 2] == 0x86
		       ? roce_icrc_ipv6(p + at, n - at - ROCE_ICRC_SIZE)
		       : roce_icrc_ipv4(p + at, n - at - ROCE_ICRC_SIZE);
	memcpy(p + n - ROCE_ICRC_SIZE, &icrc, sizeof(icrc));
}

static void raw(struct bed *b, struct input *in, bool right)
{
	static uint8_t frame[FRAMES];
	uint32_t n = (uint32_t)take(in, 2) % FRAMES;

	n = take_bytes(in, frame, n);
	if (right)
		seal(frame, n);
	give(b, frame, n);
}

static void be16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void be32(uint8_t *p, uint32_t v)
{
	be16(p, v >> 16);
	be16(p + 2, v);
}

static void ip_sum(uint8_t *ip)
{
	uint32_t sum = 0;

	be16(ip + 10, 0);
	for (unsigned i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	be16(ip + 10, ~sum & 0xffff);
}

/* Ethernet and IP around l4 bytes; where UDP begins. */
static uint8_t *lower(uint8_t *p, unsigned qp, uint32_t l4)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

	memcpy(p, macs, 12);
	p += 12;
	if (kinds[qp].vlan) {
		be32(p, 0x81000007);
		p += 4;
	}
	be16(p, kinds[qp].v6 ? 0x86dd : 0x0800);
	p += 2;
	if (kinds[qp].v6) {
		memset(p, 0, 40);
		p[0] = 0x60;
		be16(p + 4, l4);
		p[6] = 17;
		p[7] = 64;
		memcpy(p + 8, peer_ip6, 16);
		memcpy(p + 24, our_ip6, 16);
		return p + 40;
	}
	memset(p, 0, 20);
	p[0] = 0x45;
	be16(p + 2, 20 + l4);
	p[6] = 0x40;
	p[8] = 64;
	p[9] = 17;
	memcpy(p + 12, peer_ip, 4);
	memcpy(p + 16, our_ip, 4);
	ip_sum(p);
	return p + 20;
}

/* Extension headers as they come, or such that they are believed. */
static void extend(struct bed *b, struct input *in, uint8_t *ext, unsigned n,
		   bool believed)
{
	uint64_t va = IOVA + take(in, 2) % (MEM + 64);

	memset(ext, 0, n);
	take_bytes(in, ext, n);
	if (!believed)
		return;
	if (n == 8 || n == 12) { /* a UD's, or a response's */
		be32(ext, QKEY);
	} else if (n >= 16) {
		be32(ext, 0);
		be32(ext + 4, (uint32_t)va);
		be32(ext + 8, b->key);
		if (n != 28)
			be32(ext + 12,
			     (uint32_t)(ext[12] % 3 * 1024 + ext[15]));
	}
}

static void built(struct bed *b, struct input *in)
{
	static uint8_t frame[FRAMES];
	unsigned how = (unsigned)take(in, 1), qp = how % QPS;
	uint8_t opcode = (uint8_t)take(in, 1);
	uint32_t psn = 0xfffffa + (uint32_t)(int8_t)take(in, 1);
	uint32_t payload = (uint32_t)take(in, 2) % 4200;
	int ext = roce_ext_len(opcode);
	uint32_t n = ext < 0 ? 16 : (uint32_t)ext, pad = -payload & 3;
	uint8_t *udp = lower(frame, qp, 8 + 12 + n + payload + pad + 4);
	uint8_t *bth = udp + 8;

	be16(udp, 0xc000);
	be16(udp + 2, ROCE_UDP_PORT);
	be16(udp + 4, 8 + 12 + n + payload + pad + 4);
	be16(udp + 6, 0);
	bth[0] = opcode;
	bth[1] = (uint8_t)(pad << 4 | (how & 0x80));
	be16(bth + 2, 0xffff);
	be32(bth + 4, 0x10 + qp);
	be32(bth + 8, (psn & 0xffffff) | (how & 0x40 ? 0x80000000 : 0));
	extend(b, in, bth + 12, n, how & 0x20);
	memset(bth + 12 + n, 0xa5, payload + pad);
	n = (uint32_t)(bth + 12 + n + payload + pad + 4 - frame);
	if (how & 0x10)
		memset(frame + n - 4, 0, 4);
	else
		seal(frame, n);
	give(b, frame, n);
}

/* ---- turns and work ---- */

static void comps(struct bed *b)
{
	struct roce_comp c[8];
	unsigned n;

	do {
		n = roce_comp(b->dev, c, 8);
		b->completed += n;
	} while (n == 8);
	while (roce_failed(b->dev))
		;
	must(b->completed <= b->posted);
}

static void turn(struct bed *b, struct input *in)
{
	struct roce_frame f[4];
	unsigned n, most = 1 + (unsigned)take(in, 1) % 4, rounds = 0;

	b->now += take(in, 2) * 1000;
	for (unsigned i = 0; i < 4; i++) {
		f[i].room = ROCE_FRAME_MAX(1024);
		f[i].data = malloc(f[i].room);
		must(f[i].data);
	}
	do {
		n = roce_tx(b->dev, b->now, f, most);
		for (unsigned i = 0; i < n; i++)
			must(f[i].len >= 60 - 4 && f[i].len <= f[i].room);
	} while (n == most && ++rounds < 300);
	must(rounds < 300);
	for (unsigned i = 0; i < 4; i++)
		free(f[i].data);
	comps(b);
}

static void work(struct bed *b, struct input *in)
{
	unsigned i = (unsigned)take(in, 1) % QPS;
	struct roce_wr *wr = roce_wr_next(b->qp[i]);
	uint64_t *operand;

	if (!wr || (uint16_t)(b->index[i] + 1) == 0)
		return;
	memset(wr, 0, sizeof(*wr));
	wr->op = (uint8_t)(take(in, 1) % (ROCE_OP_FA + 1));
	wr->flags = (uint8_t)(take(in, 1) & (ROCE_WR_SIGNALLED | ROCE_WR_FENCE |
					     ROCE_WR_IMM | ROCE_WR_SOLICITED));
	wr->index = b->index[i]++;
	wr->nsge = 1;
	wr->len = (uint32_t)take(in, 2) % 4096;
	if (wr->op >= ROCE_OP_CS)
		wr->len = 8;
	wr->raddr = kinds[i].type == ROCE_UD ? 0x24 : IOVA;
	wr->rkey = kinds[i].type == ROCE_UD ? QKEY : b->key;
	wr->ah = b->ah;
	wr->sge = (struct roce_sge){ IOVA + take(in, 2), wr->len, b->key };
	operand = (uint64_t *)roce_wr_store(b->qp[i], wr->index);
	operand[0] = operand[1] = 1;
	b->posted++;
	roce_wr_post(b->qp[i], wr);
}

static void recv(struct bed *b, struct input *in)
{
	unsigned i = (unsigned)take(in, 1) % QPS;
	struct roce_sge sge = { IOVA + take(in, 2), (uint32_t)take(in, 2),
				b->key };
	int rc = kinds[i].srq ? roce_srq_post(b->srq, 1, &sge, 1)
			      : roce_recv_post(b->qp[i], 1, &sge, 1);

	b->posted += !rc;
}

static void one(struct bed *b, struct input *in)
{
	unsigned kind = (unsigned)take(in, 1);

	switch (kind % 8) {
	case 0:
		raw(b, in, false);
		break;
	case 1:
		raw(b, in, true);
		break;
	case 2:
		turn(b, in);
		break;
	case 3:
		work(b, in);
		break;
	case 4:
		recv(b, in);
		break;
	default:
		built(b, in);
	}
}

/* Every frame is in one counter; what a queue refuses is in two. */
static void check_counters(const struct bed *b)
{
	uint64_t rx = roce_counter(b->dev, ROCE_C_RX), all = rx;

	for (unsigned i = 1; i < ROCE_DROP_MAX; i++)
		all += roce_counter(b->dev, i);
	must(rx <= b->given && all >= b->given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct bed b;

	make_bed(&b);
	for (unsigned i = 0; in.n && i < 64; i++)
		one(&b, &in);
	turn(&b, &in);
	must(roce_qp_state(b.qp[7]) == ROCE_INIT);
	check_counters(&b);
	free_bed(&b);
	return 0;
}
