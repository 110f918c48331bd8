/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The transport core: reliable connections (IBTA 9.7), one device at a time.
 *
 * Frames and a time in; frames, completions and a next deadline out.  No
 * I/O, no clock, no thread; memory is allocated when devices and QPs are
 * made and never after.  One caller at a time.
 *
 * A turn: roce_rx() a burst, post work, roce_tx() until it gives nothing,
 * roce_comp() until it gives nothing.  Receiving only notes what must be
 * sent; roce_tx() sends it, so one burst costs one acknowledge per QP.
 */
#ifndef ROCE_CORE_H
#define ROCE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pkt.h"

struct roce_dev;
struct roce_qp;

struct roce_frame {
	uint8_t *data;
	uint32_t len;
	uint32_t
		room; /* tx: bytes at data; >= ROCE_FRAME_MAX of the device's MTU */
};
#define ROCE_FRAME_MAX(mtu) ((mtu) + ROCE_OVERHEAD)

struct roce_dev_attr {
	uint32_t max_qp; /* power of two is made of it */
	uint32_t max_mr;
	uint32_t max_ah;
	uint8_t ip[4];
	uint8_t ip6[16]; /* all zero: none */
	uint8_t mac[6];
	uint64_t seed;
	/*
	 * A SEND or WRITE with immediate found no receive: post what there
	 * is.  The one call out; NULL: none.
	 */
	void (*refill)(struct roce_qp *qp);
};

int roce_dev_create(const struct roce_dev_attr *attr, struct roce_dev **dev);
void roce_dev_destroy(struct roce_dev *dev); /* QPs go with it */

/* ---- memory keys ---- */

#define ROCE_ACCESS_LOCAL_WRITE	  0x1
#define ROCE_ACCESS_REMOTE_WRITE  0x2
#define ROCE_ACCESS_REMOTE_READ	  0x4
#define ROCE_ACCESS_REMOTE_ATOMIC 0x8
#define ROCE_ACCESS_REMOTE_INVAL  0x10 /* a SEND may end it */

struct roce_mr_attr {
	uint64_t iova; /* what WQEs and peers call the first byte */
	void *base;    /* where it is */
	uint64_t len;
	uint32_t access; /* ROCE_ACCESS_* */
	uint32_t key;	 /* to use; 0: any */
};
/* -EINVAL: len 0 or wraps; -ENOSPC. */
int roce_mr_add(struct roce_dev *dev, const struct roce_mr_attr *attr,
		uint32_t *key);
int roce_mr_del(struct roce_dev *dev, uint32_t key);

/* ---- queue pairs ---- */

enum roce_state { /* as enum wbell_queue_state */
		  ROCE_RESET,
		  ROCE_INIT,
		  ROCE_RTR,
		  ROCE_RTS,
		  ROCE_SQD,
		  ROCE_SQE,
		  ROCE_ERR,
};

enum roce_type { ROCE_RC, ROCE_UC, ROCE_UD };

struct roce_qp_attr {
	void *user;
	uint8_t type;	      /* enum roce_type */
	uint32_t qkey;	      /* UD */
	struct roce_srq *srq; /* receives come from it; recv_depth 0 */
	uint32_t depth; /* send work requests and basic blocks, power of two */
	uint32_t recv_depth; /* power of two or 0 */
	uint32_t recv_sge;   /* power of two */
	uint32_t qpn;	     /* to use; 0: any */
	uint32_t sq_psn;     /* first PSN sent */
	uint8_t timeout, retry_cnt, rnr_retry,
		min_rnr_timer; /* verbs' meaning */
	uint8_t max_rd_atomic; /* both ways */
	uint8_t traffic_class;
	uint16_t window; /* unacknowledged packets; 0: default */
	bool cc;	 /* mark packets ECN-capable, answer marks, obey CNPs */
	bool keep_nothing; /* drop what comes early, as go-back-N peers do */
};

struct roce_peer {
	uint8_t ip[4];
	bool v6; /* ip6 counts, not ip */
	uint8_t ip6[16];
	uint8_t mac[6];
	bool has_mac;  /* else nothing is sent until roce_qp_mac() */
	uint16_t vlan; /* 1..4094; 0: untagged */
	uint8_t pcp;
	uint8_t hop_limit;   /* 0: 64 */
	uint32_t flow_label; /* 20 bits; gives the UDP source port */
	/* the rest not for an address handle */
	uint32_t qpn;
	uint32_t rq_psn; /* its first PSN */
	uint32_t path_mtu;
	uint8_t max_rd_atomic; /* it takes */
	/*
	 * Both ends agreed, outside of the wire, that a NAK of a sequence
	 * error names one hole and acknowledges nothing (docs/transport.md).
	 */
	bool holes;
};

/*
 * Address handle of UD work: where a datagram goes.  QP type UD connects
 * with a peer of which only path_mtu counts.
 */
int roce_ah_add(struct roce_dev *dev, const struct roce_peer *path,
		uint32_t *ah);
int roce_ah_del(struct roce_dev *dev, uint32_t ah);

int roce_qp_create(struct roce_dev *dev, const struct roce_qp_attr *attr,
		   struct roce_qp **qp);
void roce_qp_destroy(struct roce_qp *qp);
int roce_qp_connect(struct roce_qp *qp, const struct roce_peer *peer,
		    uint64_t now);
/*
 * Before it is connected: what its requester does, where the peer says so and
 * the queue's number had to be told first (RDMA-CM).  As in roce_qp_attr;
 * -EINVAL: out of range; -EISCONN.
 */
int roce_qp_requester(struct roce_qp *qp, uint32_t sq_psn, uint8_t timeout,
		      uint8_t retry_cnt, uint8_t rnr_retry);
void roce_qp_mac(struct roce_qp *qp, const uint8_t mac[6]);
/* It has something to send and no MAC to send it to. */
bool roce_qp_waits(const struct roce_qp *qp);
/* Move to error by hand: outstanding work is flushed. */
void roce_qp_fail(struct roce_qp *qp);
enum roce_state roce_qp_state(const struct roce_qp *qp);
uint32_t roce_qp_num(const struct roce_qp *qp);
void *roce_qp_user(const struct roce_qp *qp);
struct roce_qp *roce_qp_find(struct roce_dev *dev, uint32_t qpn);

/* Work for it will be posted soon: bring what that needs into the cache. */
void roce_qp_expect(const struct roce_qp *qp);

/* ---- work ---- */

enum roce_op {
	ROCE_OP_NOP,
	ROCE_OP_SEND,
	ROCE_OP_WRITE,
	ROCE_OP_READ,
	ROCE_OP_CS,
	ROCE_OP_FA,
	ROCE_OP_LOCAL_INV, /* of rkey */
};

#define ROCE_WR_SIGNALLED 0x01
#define ROCE_WR_FENCE	  0x02 /* start after earlier READs and atomics are done */
#define ROCE_WR_SOLICITED 0x04
#define ROCE_WR_IMM	  0x08
#define ROCE_WR_INLINE	  0x10 /* bytes lie in the QP's store, not in memory */
#define ROCE_WR_INV	  0x20

struct roce_sge {
	uint64_t addr;
	uint32_t len;
	uint32_t lkey;
};

/* A send work request, one cache line; also holds its progress. */
struct roce_wr {
	uint8_t op;	  /* enum roce_op */
	uint8_t flags;	  /* ROCE_WR_* */
	uint8_t syndrome; /* set by the poster: fail with it instead of running */
	uint8_t vendor;
	uint16_t index; /* echoed in the completion; also the store slot */
	uint8_t nsge;
	uint8_t wqe_opcode; /* echoed */
	uint32_t len;
	uint32_t imm;	     /* as it goes on the wire */
	uint64_t raddr;	     /* UD: QPN of the receiver */
	uint32_t rkey;	     /* UD: Q_Key; INV: imm has the key to invalidate */
	uint32_t psn;	     /* first; the core's */
	struct roce_sge sge; /* the first */
	uint32_t npkt;	     /* the core's: PSNs it takes */
	uint32_t ah;	     /* UD */
	uint32_t rsvd[2];
};

/*
 * Post: fill the place roce_wr_next() gives (NULL: full), then roce_wr_post().
 * Further SGEs (from the second on, as struct roce_sge), inline bytes, and
 * atomic operands (swap_add, then compare, host order) go to roce_wr_store():
 * 64 bytes per basic block from index on, contiguous also past the ring's end.
 */
struct roce_wr *roce_wr_next(struct roce_qp *qp);
uint8_t *roce_wr_store(struct roce_qp *qp, uint16_t index);
void roce_wr_post(struct roce_qp *qp, struct roce_wr *wr);

/* Receive: sges of one work request; index is echoed.  -ENOSPC: full. */
int roce_recv_post(struct roce_qp *qp, uint16_t index,
		   const struct roce_sge *sge, unsigned n);

/* Shared receive queue: QPs pop from it in the order messages begin. */
struct roce_srq;
struct roce_srq_attr {
	uint32_t depth, sge; /* powers of two */
	uint32_t limit;	     /* event when fewer are left, once; 0: never */
	void *user;
	void (*low)(void *user);
};
int roce_srq_create(struct roce_dev *dev, const struct roce_srq_attr *attr,
		    struct roce_srq **srq);
void roce_srq_destroy(struct roce_srq *srq); /* its QPs are gone */
int roce_srq_post(struct roce_srq *srq, uint16_t index,
		  const struct roce_sge *sge, unsigned n);
void roce_srq_limit(struct roce_srq *srq, uint32_t limit);

/* ---- a turn ---- */

void roce_rx(struct roce_dev *dev, uint64_t now, const struct roce_frame *f,
	     unsigned n);
unsigned roce_tx(struct roce_dev *dev, uint64_t now, struct roce_frame *f,
		 unsigned n);
uint64_t roce_deadline(const struct roce_dev *dev);
bool roce_tx_pending(const struct roce_dev *dev);

struct roce_comp {
	/* as the first word of struct roce_wr */
	uint8_t rsvd;
	uint8_t flags; /* receive: ROCE_WR_IMM, ROCE_WR_SOLICITED; WRITE: ROCE_COMP_WRITE */
	uint8_t syndrome; /* 0 good, else WBELL_SYND_* */
	uint8_t vendor;
	uint16_t index;
	uint8_t recv; /* 0 send queue, 1 receive queue */
	uint8_t op;   /* send: wqe_opcode; receive: see flags */

	struct roce_qp *qp;
	uint32_t len;	  /* UD receive: with the 40 bytes of the GRH area */
	uint32_t imm;	  /* or the rkey that was invalidated */
	uint32_t src_qpn; /* UD receive */
};
#define ROCE_COMP_WRITE 0x80
unsigned roce_comp(struct roce_dev *dev, struct roce_comp *c, unsigned n);

/*
 * The same QP by QP, for those who write CQEs: the QP whose turn it is (NULL:
 * none has completions), its signalled work that went well, one at a time,
 * without a copy (NULL: no more), then all the rest; it is the next QP's turn
 * when that gave fewer than n.
 */
struct roce_qp *roce_comp_qp(const struct roce_dev *dev);
const struct roce_wr *roce_sent(struct roce_qp *qp);
unsigned roce_qp_comp(struct roce_qp *qp, struct roce_comp *c, unsigned n);

struct roce_qp_stat {
	enum roce_state state;
	uint64_t retries, rnr_naks, timeouts, packets_tx, packets_rx;
	uint64_t rate_mbps; /* 0: not held back by congestion */
};
void roce_qp_stat(const struct roce_qp *qp, struct roce_qp_stat *stat);

/* Next QP that went to error since asked last, or NULL. */
struct roce_qp *roce_failed(struct roce_dev *dev);

/* UDP source port of a flow label (rdma-core ibv_flow_label_to_udp_sport). */
static inline uint16_t roce_sport(uint32_t flow_label)
{
	return ROCE_SPORT_BASE | ((flow_label ^ flow_label >> 14) & 0x3fff);
}

/* Counters of the device: drops by reason, then these. */
enum roce_counter {
	ROCE_C_RX = ROCE_DROP_MAX,
	ROCE_C_TX,
	ROCE_C_ACK_TX,
	ROCE_C_NAK_TX,
	ROCE_C_RNR_TX,
	ROCE_C_ACK_RX,
	ROCE_C_NAK_RX,
	ROCE_C_RNR_RX,
	ROCE_C_DUP_RX,
	ROCE_C_OOS_RX, /* ahead of the expected PSN */
	ROCE_C_RETRY,
	ROCE_C_TIMEOUT,
	ROCE_C_QP_ERROR,
	ROCE_C_ECN_RX,
	ROCE_C_CNP_TX,
	ROCE_C_CNP_RX,
	ROCE_C_RATE_CUT,
	ROCE_C_MAX
};
uint64_t roce_counter(const struct roce_dev *dev, unsigned counter);
const char *roce_counter_name(unsigned counter);

#endif /* ROCE_CORE_H */
