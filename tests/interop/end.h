/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our end of a test: a queue pair, its memory, what was asked of it and what
 * it did.
 */
#ifndef INTEROP_END_H
#define INTEROP_END_H

#include "boot.h"
#include "rdmacm.h"

#define END_DEPTH 128
#define END_RECVS 64

struct end_attr {
	enum roce_type type;
	const char *host; /* NULL: we are the server */
	uint8_t host_gid[16];
	unsigned port;
	uint32_t size, iters, mtu;
	uint64_t seed;
	bool v6;
	bool fetch_add; /* else compare and swap */
	bool rdma_cm;	/* connect by it */
	bool refused;	/* rping: nobody is to listen */
	bool vanish;	/* rping: leave without a word */
};

struct end {
	struct end_attr attr;
	struct link link;
	struct boot boot;
	struct rdmacm cm; /* of rdma_cm */
	struct mailbox box;
	uint32_t cm_id; /* of qp's connection */
	struct dest mine, theirs;
	struct roce_qp *qp;
	uint8_t *mem; /* registered, with every right */
	size_t mem_len;
	uint32_t key;
	uint32_t ah; /* UD */
	uint16_t send_index, recv_index;
	/* completions so far */
	uint64_t sent, received;
	uint32_t recv_len;  /* of the last */
	uint16_t recv_last; /* its index */
	/* called for each receive; NULL: none */
	void (*on_recv)(struct end *e, uint16_t index, uint32_t len);
};

/* Makes the queue, mem_len bytes of memory, and e->mine. */
void end_make(struct end *e, const struct link_attr *link, size_t mem_len);
/* And says hello to the peer, by TCP or RDMA-CM. */
void end_open(struct end *e, const struct link_attr *link, size_t mem_len);
void end_connect(struct end *e); /* to e->theirs */
/* By RDMA-CM, and the end of that and of what it was said by. */
void end_connect_cm(struct end *e);
void end_disconnect_cm(struct end *e);
void end_close(struct end *e);

/* off: in e->mem; raddr: in the peer's */
void end_send(struct end *e, size_t off, uint32_t len);
void end_rdma(struct end *e, enum roce_op op, size_t off, uint64_t raddr,
	      uint32_t len);
void end_atomic(struct end *e, size_t off, uint64_t raddr,
		const uint64_t operand[2]);
void end_recv(struct end *e, size_t off, uint32_t len);
void end_wait_sent(struct end *e, uint64_t n);

#endif /* INTEROP_END_H */
