// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wbell/queue.h>

#include "end.h"

#define GID_QKEY 0x11111111 /* of ibv_ud_pingpong and of perftest */

static const uint8_t v4_mapped[12] = { [10] = 0xff, [11] = 0xff };

static void on_comp(void *user, const struct roce_comp *c)
{
	struct end *e = user;

	if (rdmacm_comp(&e->cm, c) || mailbox_comp(&e->box, c))
		return;
	if (c->syndrome)
		die("completion of the %s queue, after %lu sends and %lu"
		    " receives: syndrome 0x%02x",
		    c->recv ? "receive" : "send", e->sent, e->received,
		    c->syndrome);
	if (!c->recv) {
		e->sent++;
		return;
	}
	e->received++;
	e->recv_len = c->len;
	e->recv_last = c->index;
	if (e->on_recv)
		e->on_recv(e, c->index, c->len);
}

static void make_memory(struct end *e, size_t len)
{
	struct roce_mr_attr mr = { .len = len, .access = 0xf };

	e->mem_len = len;
	e->mem = aligned_alloc(4096, (len + 4095) & ~4095UL);
	if (!e->mem)
		die("no memory: %zu bytes", len);
	memset(e->mem, 0, len);
	mr.base = e->mem;
	mr.iova = (uintptr_t)e->mem;
	if (roce_mr_add(e->link.dev, &mr, &e->key))
		die("cannot register %zu bytes", len);
}

static void set_mine(struct end *e)
{
	struct dest *d = &e->mine;

	d->qpn = roce_qp_num(e->qp);
	d->rkey = e->key;
	d->vaddr = (uintptr_t)e->mem;
	d->out_reads = 1;
	if (e->attr.v6) {
		memcpy(d->gid, e->link.attr.ip6, 16);
		return;
	}
	memcpy(d->gid, v4_mapped, 12);
	memcpy(d->gid + 12, e->link.attr.ip, 4);
}

void end_make(struct end *e, const struct link_attr *link, size_t mem_len)
{
	struct roce_qp_attr qp = {
		.type = e->attr.type,
		.qkey = GID_QKEY,
		.depth = END_DEPTH,
		.recv_depth = END_RECVS,
		.recv_sge = 1,
		/* near the end of the numbers, so that they wrap */
		.sq_psn = 0xffffff - e->attr.seed % 64,
		.timeout = 15,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
		.max_rd_atomic = 16,
		.user = e,
	};

	link_open(&e->link, link);
	e->link.comp = on_comp;
	e->link.user = e;
	if (e->attr.rdma_cm)
		rdmacm_open(&e->cm, &e->link);
	make_memory(e, mem_len);
	if (roce_qp_create(e->link.dev, &qp, &e->qp))
		die("cannot make a queue pair");
	e->mine.psn = qp.sq_psn;
	set_mine(e);
	e->boot.fd = -1;
}

static struct rdmacm_to server(const struct end *e)
{
	struct rdmacm_to to = { .port = e->attr.port, .mtu = e->attr.mtu };

	memcpy(to.gid, e->attr.host_gid, 16);
	return to;
}

void end_open(struct end *e, const struct link_attr *link, size_t mem_len)
{
	const struct rdmacm_to to = server(e);

	end_make(e, link, mem_len);
	if (!e->attr.rdma_cm) {
		boot_open(&e->boot, &e->link, e->attr.host, e->attr.port);
		return;
	}
	if (!e->attr.host)
		rdmacm_listen(&e->cm, e->attr.port);
	mailbox_open(&e->box, &e->cm, e->attr.host ? &to : NULL);
	e->boot.box = &e->box;
	e->boot.client = e->attr.host;
}

void end_connect_cm(struct end *e)
{
	const struct rdmacm_to to = server(e);

	e->cm_id = e->attr.host
			   ? rdmacm_connect(&e->cm, &to, e->qp, e->mine.psn)
			   : rdmacm_accept(&e->cm, e->qp, e->mine.psn);
}

void end_disconnect_cm(struct end *e)
{
	if (e->attr.host) {
		rdmacm_disconnect(&e->cm, e->cm_id, CM_END_ANSWER);
		rdmacm_disconnect(&e->cm, e->box.id, CM_END_ANSWER);
	} else {
		rdmacm_wait_end(&e->cm, e->cm_id);
		rdmacm_wait_end(&e->cm, e->box.id);
	}
}

static void set_path(struct end *e, struct roce_peer *p)
{
	bool mapped = !memcmp(e->theirs.gid, v4_mapped, 12);

	if (mapped == e->attr.v6)
		die("the peer's GID is %s IPv4 address: give the tool the"
		    " GID index of the other kind",
		    mapped ? "a mapped" : "no mapped");
	p->v6 = e->attr.v6;
	memcpy(p->ip6, e->theirs.gid, 16);
	memcpy(p->ip, e->theirs.gid + 12, 4);
	link_resolve(&e->link, e->theirs.gid, p->mac);
	p->has_mac = true;
}

void end_connect(struct end *e)
{
	struct roce_peer p = {
		.qpn = e->theirs.qpn,
		.rq_psn = e->theirs.psn,
		.path_mtu = e->attr.mtu,
		.max_rd_atomic = e->theirs.out_reads ? e->theirs.out_reads : 1,
		.flow_label = e->theirs.qpn,
	};

	set_path(e, &p);
	if (e->attr.type == ROCE_UD && roce_ah_add(e->link.dev, &p, &e->ah))
		die("cannot make an address handle");
	if (roce_qp_connect(e->qp, &p, link_now()))
		die("cannot connect to queue %u", p.qpn);
}

static void print_counters(const struct end *e)
{
	unsigned i;

	for (i = 0; i < ROCE_C_MAX; i++)
		if (roce_counter(e->link.dev, i))
			printf("%s %lu\n", roce_counter_name(i),
			       roce_counter(e->link.dev, i));
	if (e->link.lost)
		printf("lost_on_purpose %lu\n", e->link.lost);
}

void end_close(struct end *e)
{
	boot_close(&e->boot);
	print_counters(e);
	if (e->attr.rdma_cm) {
		rdmacm_print(&e->cm);
		rdmacm_close(&e->cm);
	}
	link_close(&e->link);
	free(e->mem);
}

static struct roce_wr *next(struct end *e, enum roce_op op, size_t off,
			    uint32_t len)
{
	struct roce_wr *wr;

	while (!(wr = roce_wr_next(e->qp)))
		link_turn(&e->link, -1);
	memset(wr, 0, sizeof(*wr));
	wr->op = op;
	wr->flags = ROCE_WR_SIGNALLED;
	wr->index = e->send_index++;
	wr->nsge = 1;
	wr->len = len;
	wr->sge.addr = (uintptr_t)e->mem + off;
	wr->sge.len = len;
	wr->sge.lkey = e->key;
	wr->rkey = e->theirs.rkey;
	return wr;
}

void end_send(struct end *e, size_t off, uint32_t len)
{
	struct roce_wr *wr = next(e, ROCE_OP_SEND, off, len);

	if (e->attr.type == ROCE_UD) {
		wr->ah = e->ah;
		wr->raddr = e->theirs.qpn;
		wr->rkey = GID_QKEY;
	}
	roce_wr_post(e->qp, wr);
}

void end_rdma(struct end *e, enum roce_op op, size_t off, uint64_t raddr,
	      uint32_t len)
{
	struct roce_wr *wr = next(e, op, off, len);

	wr->raddr = raddr;
	roce_wr_post(e->qp, wr);
}

void end_atomic(struct end *e, size_t off, uint64_t raddr,
		const uint64_t operand[2])
{
	enum roce_op op = e->attr.fetch_add ? ROCE_OP_FA : ROCE_OP_CS;
	struct roce_wr *wr = next(e, op, off, 8);

	memcpy(roce_wr_store(e->qp, wr->index), operand, 16);
	wr->raddr = raddr;
	roce_wr_post(e->qp, wr);
}

void end_recv(struct end *e, size_t off, uint32_t len)
{
	struct roce_sge sge = { (uintptr_t)e->mem + off, len, e->key };

	if (roce_recv_post(e->qp, e->recv_index++, &sge, 1))
		die("cannot post a receive");
}

void end_wait_sent(struct end *e, uint64_t n)
{
	while (e->sent < n)
		link_turn(&e->link, -1);
}
