/* SPDX-License-Identifier: BSD-2-Clause */
/* Private types of the transport core. */
#ifndef ROCE_PRIV_H
#define ROCE_PRIV_H

#include <errno.h>
#include <string.h>

#include <wbell/queue.h>

#include "core.h"
#include "icrc.h"

#define HDR_IPV4       54	/* Ethernet, IPv4, UDP, BTH: the usual size */
#define HDR_MAX	       (78 + 4) /* IPv6, with a VLAN tag */
#define BTH_SIZE       12
#define UDP_SIZE       8
#define GRH_SIZE       40  /* what UD puts in front of a received datagram */
#define WINDOW_DEFAULT 256 /* packets */
#define WINDOW_MIN     24  /* less costs more in turns than it saves */
#define WINDOW_START   64
#define WINDOW_HOLDS   128 /* the least, toward a peer that holds */
#define ACK_EVERY      32  /* packets; below half of any peer's window */
#define READ_CHUNK     32  /* packets a READ request asks for at once */
#define STORE_SPILL    16  /* basic blocks a WQE may run past the ring's end */
#define TX_QUANTUM     32  /* packets of one QP before the next has its turn */
#define RTO_START_NS   1000000ULL
#define RTO_MIN_NS     20000ULL
#define NO_DEADLINE    (~0ULL)

#define WHEEL_SHIFT 12 /* 4 us a slot */
#define WHEEL_SLOTS 4096

#define HELD_WINDOW 256 /* PSNs ahead of the expected that are kept */
#define HELD_POOL   512 /* packets a device keeps, of all its QPs */
#define HOLES	    64	/* a power of two: reports, and packets to resend */

_Static_assert(sizeof(struct roce_wr) == 64, "a cache line each");

struct mr {
	uint64_t iova;
	uint64_t len;
	uint8_t *base;
	uint32_t key; /* index << 8 | generation; 0 unused */
	uint32_t access;
};

struct list {
	struct roce_qp *head, *tail;
};

/* A READ or atomic request, for replay and while its response is going out */
struct rd_op {
	uint64_t va; /* READ: of the next packet; atomic: original value */
	uint32_t psn;
	uint32_t npkt;
	uint32_t rkey;
	uint32_t len; /* left */
	uint32_t msn;
	uint8_t atomic;
	uint8_t first; /* the next packet opens the response */
};

struct recv_wr {
	uint16_t index;
	uint16_t nsge;
};

/* Receives, of one QP or shared by many. */
struct rq {
	struct recv_wr *wr;
	struct roce_sge *sge; /* max_sge for each */
	uint32_t mask, pi, ci;
	uint32_t max_sge;
};

struct roce_srq {
	struct rq rq;
	struct roce_dev *dev;
	uint32_t limit;
	void *user;
	void (*low)(void *user);
};

/* Headers of packets of one shape, ready but for the PSN (frame.c). */
struct stamp {
	uint32_t shape; /* SHAPE_SET | opcode << 16 | bytes behind the BTH */
	uint32_t reg;	/* the ICRC's register before the PSN */
	uint8_t hdr[HDR_MAX];
	uint8_t rsvd[128 - 8 - HDR_MAX];
};
#define SHAPE_SET 0x80000000U /* 0: none */

/* ICRCs put off until a burst is built. */
#define SEALS (2 * TX_QUANTUM)
struct seals {
	struct roce_icrc_part part[SEALS];
	unsigned n;
};

/* Headers of every packet to one place, up to and with the BTH. */
struct path {
	struct stamp stamp[2]; /* of the last shape; of acknowledges */
	uint8_t hdr[HDR_MAX];
	uint16_t vlan;
	uint32_t ip_sum; /* IPv4: of the header without length and checksum */
	struct seals *seals; /* the device's */
	uint8_t size;	     /* of hdr: HDR_IPV4 but for IPv6 and VLAN */
	uint8_t l3;	     /* where the IP header begins */
	uint8_t v6;
	uint8_t has_mac;
	uint8_t used; /* as an address handle */
};

/*
 * Headers that were found good, from the EtherType up to the PSN, and what
 * follows from them: a frame with the same bytes needs no other check of them.
 */
#define SEEN_AT	   12
#define SEEN_END   50
#define SEEN_WORDS 5 /* the last overlaps the one before */

struct seen {
	uint64_t word[SEEN_WORDS];
	uint32_t reg;  /* the ICRC's register before the PSN */
	uint16_t tail; /* bytes from the PSN to the ICRC */
	uint16_t payload;
	uint8_t ext; /* bytes of extension headers */
	uint8_t opcode, flags;
} __attribute__((aligned(64)));

struct recv_comp {
	uint32_t len;
	uint32_t imm;
	uint32_t src_qpn;
	uint16_t index;
	uint8_t flags;
	uint8_t syndrome;
};

enum in_msg { MSG_NONE, MSG_SEND, MSG_WRITE, MSG_SKIP };

/* A packet that came too early: what lies behind its BTH. */
struct held {
	struct roce_pkt pkt; /* ext and payload point into data */
	uint16_t next_free;
	uint8_t data[ROCE_MTU_MAX + sizeof(struct roce_atomic_eth)];
};

/* Where PSNs are noted (HOLES of them) and taken; the oldest goes first. */
struct psn_ring {
	uint8_t pi, ci;
};

/* Congestion state of a sender; rate 0: none. */
struct cc {
	uint64_t rate, bytes;
	uint64_t pace_at; /* when the next packet is due */
	uint8_t on, cnp_pending;
	uint16_t time_steps, byte_steps;
	uint32_t alpha;
	uint64_t target, since; /* bytes were sent since */
	uint64_t alpha_at, step_at;
	uint64_t cnp_at; /* last CNP asked for */
};

/* What is known of how a peer treats packets that come too early. */
#define RNR_COPIES 8 /* that extend a wait, so that it ends */
#define NOT_HELD   4 /* NAKs of one PSN after the other that say so */

enum peer_mode { PEER_UNKNOWN, PEER_HOLDS, PEER_BACK_N };

/*
 * By cache line: with many queues each visit finds them cold.  A WRITE sent
 * and acknowledged needs the stamp, the five lines from `state` on and one of
 * seen[]; one that comes in the stamp of acknowledges, the same without the
 * requester's.
 */
struct roce_qp {
	struct path path; /* ends within a line, which goes on here */
	uint8_t type;	  /* enum roce_type */
	uint8_t state;	  /* enum roce_state; set_state() alone writes it */
	uint8_t in_tx, in_comp, in_failed;
	uint8_t log_mtu;
	uint16_t mtu;
	uint32_t qpn;
	struct roce_dev *dev;

	/* requester: the cursor */
	struct roce_wr *wr;
	uint8_t *store;
	uint32_t wr_mask;
	uint32_t wr_pi;	   /* posted */
	uint32_t wr_asg;   /* has PSNs */
	uint32_t wr_tx;	   /* cursor: being sent */
	uint32_t wr_ci;	   /* oldest not complete */
	uint32_t wr_rep;   /* oldest not reported */
	uint32_t tx_pkt;   /* cursor: packets of wr_tx sent */
	uint32_t psn_next; /* cursor: PSN of the next packet */
	uint32_t psn_max;  /* above every PSN ever sent */
	uint32_t psn_una;  /* oldest unacknowledged */
	uint16_t window;   /* now; halved by loss, grown by progress */
	uint16_t since_ackreq;

	/* requester: time and progress */
	uint16_t window_max;
	uint16_t window_acc; /* packets acknowledged since it grew */
	uint8_t rd_out, rd_max;
	uint8_t timeouts, rnr_retry, rnr_left;
	uint8_t recovering; /* went back at psn_una already */
	uint8_t probing, tail_probed;
	uint32_t rtt_psn;
	uint32_t recover_psn; /* no round trip is timed until it is reached */
	uint64_t hold;	      /* RNR: nothing goes out before */
	uint64_t progress;    /* when psn_una moved or sending began */
	uint64_t rto;
	uint64_t srtt, rttvar; /* ns; srtt 0: not measured */
	uint64_t rtt_sent;     /* 0: nothing is being timed */

	/* timer, lists */
	uint64_t timeout;
	uint64_t deadline; /* NO_DEADLINE: none */
	uint64_t wheel_at; /* 0: not in the wheel */
	struct roce_qp *tx_next, *comp_next;
	uint64_t packets_tx;
	void *user;
	uint8_t peer_mode; /* enum peer_mode */
	uint8_t holes;	   /* NAKs name holes, both ways */
	uint8_t hints, rnr_copies;
	uint8_t keep_nothing;
	uint8_t retry_cnt;
	uint8_t failed_syndrome, failed_vendor;

	/* responder */
	uint32_t epsn;
	uint32_t msn;
	union {
		struct {
			uint8_t in_msg; /* enum in_msg */
			uint8_t nak_pending, nak_sent, rnr_sent;
		};
		uint32_t disturbed; /* not 0: not between messages, or a NAK */
	};
	uint16_t nheld;
	uint8_t ack_pending;
	uint8_t min_rnr_timer;
	uint16_t hist_pi, out_pi, out_ci;
	uint16_t hist_mask, out_mask;
	uint32_t rcomp_mask, rcomp_pi, rcomp_ci;
	struct psn_ring report; /* holes to be told of */
	struct psn_ring again;	/* to be sent again, each alone */
	uint64_t packets_rx;

	struct cc cc;

	struct seen seen[2];   /* of the last two packets; of acknowledges */
	uint32_t seen_once[2]; /* opcode and length of the last not in seen */
	uint64_t rx_addr[4]; /* source, destination IP as they lie in a frame */

	/* messages of more than one packet; recovery */
	uint32_t nak_psn;
	uint32_t cur_total; /* WRITE: bytes of the message */
	uint64_t cur_va;
	uint32_t cur_rkey;
	uint32_t cur_left; /* WRITE: bytes to come; SEND: bytes that came */
	struct rd_op *hist, *out;
	uint16_t *held;	    /* by PSN: index in the device's pool + 1 */
	uint32_t held_high; /* above every PSN that is held */
	uint32_t probe;	    /* PSN resent alone to learn the peer's mode */
	uint32_t shrunk_at; /* no second cut before this PSN is acknowledged */
	uint32_t last_again;
	uint64_t soon; /* look again at that time, too; 0: none */
	struct roce_qp *wheel_next, **wheel_prev;

	/* receives */
	struct rq *rq; /* its own or a shared one; NULL: none */
	struct roce_srq *srq;
	struct rq own;
	struct recv_wr cur;	  /* taken, its message is coming in */
	struct roce_sge *cur_sge; /* of cur */
	struct recv_comp *rcomp;
	uint8_t has_cur;

	uint8_t traffic_class;
	uint32_t peer_qpn;
	uint32_t qkey;
	struct roce_qp *failed_next;
	uint64_t retries, rnr_naks, n_timeouts;

	uint32_t report_psn[HOLES], again_psn[HOLES];
	struct {
		uint64_t time;
		uint32_t psn;
	} again_at[HOLES]; /* by PSN: when sent again last */
};

struct roce_dev {
	struct roce_qp **qp;
	uint32_t qp_mask;
	uint32_t mr_mask;
	struct mr *mr;
	struct seals seals;
	struct list tx, comp, failed;
	uint64_t counter[ROCE_C_MAX];
	void (*refill)(struct roce_qp *qp);
	struct path *ah; /* max_ah of them */
	uint32_t max_ah;
	uint8_t ip[4];
	uint8_t ip6[16];
	uint8_t mac[6];
	uint64_t seed;
	struct held *pool;
	uint16_t pool_free; /* index + 1 */
	uint16_t pool_used;
	uint64_t now;  /* of this turn */
	uint64_t tick; /* slots before it have run */
	uint64_t next; /* no slot before it holds a QP */
	uint32_t timers;
	uint32_t mr_hint;
	uint64_t slots[WHEEL_SLOTS / 64]; /* a bit for each that is used */
	struct roce_qp *wheel[WHEEL_SLOTS];
};

/* ---- bytes ---- */

static inline uint16_t be16(uint16_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap16(v);
#else
	return v;
#endif
}

static inline uint32_t be32(uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap32(v);
#else
	return v;
#endif
}

static inline uint64_t be64(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap64(v);
#else
	return v;
#endif
}

static inline void put16(uint8_t *p, uint16_t v)
{
	v = be16(v);
	memcpy(p, &v, 2);
}

static inline void put32(uint8_t *p, uint32_t v)
{
	v = be32(v);
	memcpy(p, &v, 4);
}

static inline void put64(uint8_t *p, uint64_t v)
{
	v = be64(v);
	memcpy(p, &v, 8);
}

static inline uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be32(v);
}

static inline uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return be64(v);
}

/* PSNs compare modulo 2^24: > 0 when a is behind... ahead of b (IBTA 9.7.2) */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & ROCE_PSN_MASK;
}

static inline void count(struct roce_dev *dev, unsigned counter)
{
	dev->counter[counter]++;
}

/* PSNs a message of len bytes takes: one for none. */
static inline uint32_t packets(const struct roce_qp *qp, uint32_t len)
{
	uint64_t n = ((uint64_t)len + qp->mtu - 1) >> qp->log_mtu;

	return n ? (uint32_t)n : 1;
}

/* ---- mr.c ---- */

static inline struct mr *mr_find(struct roce_dev *dev, uint32_t key)
{
	struct mr *mr = &dev->mr[(key >> 8) & dev->mr_mask];

	return mr->key == key && key ? mr : NULL;
}

/* Where [addr, addr + len) of a region lies, or NULL. */
static inline uint8_t *mr_range(const struct mr *mr, uint64_t addr,
				uint64_t len)
{
	uint64_t off = addr - mr->iova; /* huge when below: no sum to wrap */

	if (off > mr->len || len > mr->len - off)
		return NULL;
	return mr->base + off;
}

/* The same by key, or NULL: no such key, range or right. */
static inline uint8_t *mr_ptr(struct roce_dev *dev, uint32_t key, uint64_t addr,
			      uint64_t len, uint32_t access)
{
	struct mr *mr = mr_find(dev, key);

	if (!mr || (mr->access & access) != access)
		return NULL;
	return mr_range(mr, addr, len);
}

/* ---- qp.c ---- */

int set_state(struct roce_qp *qp, enum roce_state state);
/* To ERR; syndrome 0: no WQE of the send queue is the cause, all flush. */
void qp_fail(struct roce_qp *qp, uint8_t syndrome, uint8_t vendor);

/* ---- dev.c ---- */

void tx_want(struct roce_qp *qp);
void comp_want(struct roce_qp *qp);

/* ---- timer.c ---- */

void timer_set(struct roce_qp *qp, uint64_t deadline);
/* Call ack_timeout() at that time as well, whatever the deadline. */
void timer_soon(struct roce_qp *qp, uint64_t at);
void timer_clear(struct roce_qp *qp); /* out of the wheel for good */
void timers_run(struct roce_dev *dev, uint64_t now);
uint64_t timers_next(const struct roce_dev *dev);

/* ---- frame.c ---- */

/* What a packet says besides its payload. */
struct head {
	uint32_t apsn;	 /* AckReq | PSN */
	uint16_t opcode; /* | HEAD_SE */
	uint16_t ext; /* bytes of extension headers, behind the BTH already */
};
#define HEAD_SE 0x100 /* solicited event */

/* Extension headers and payload go here before the frame is finished. */
static inline uint8_t *frame_ext(const struct path *path, struct roce_frame *f)
{
	return f->data + path->size;
}

void frame_finish(struct path *path, struct roce_frame *f, struct head h,
		  const void *payload, unsigned n);
/* The payload is in place already.  The ICRC is put off in any case. */
void frame_finish_in_place(struct path *path, struct roce_frame *f,
			   struct head h, unsigned n);
/*
 * Compute the ICRCs put off, at the latest when those of SEALS packets are.
 * Nothing leaves before.
 */
void frame_seal_all(struct seals *seals);

/* ---- sge.c ---- */

/* Bytes [off, off + n) of a list, into or out of memory; false: no right. */
bool sge_gather(struct roce_dev *dev, const struct roce_sge *sge, unsigned nsge,
		uint64_t off, uint8_t *to, uint32_t n);
bool sge_scatter(struct roce_dev *dev, const struct roce_sge *sge,
		 unsigned nsge, uint64_t off, const uint8_t *from, uint32_t n);
uint64_t sge_total(const struct roce_sge *sge, unsigned nsge);

/* ---- copy.c ---- */

#define LONG_MESSAGE (512U << 10) /* half of a second-level cache */

void copy_past_cache(uint8_t *to, const uint8_t *from, uint32_t n);
/* What was so stored is seen before any later store. */
void copy_settle(void);

/* ---- hold.c ---- */

int hold_init(struct roce_dev *dev);
/* Keep a packet that is ahead; false: no room, as if it were lost. */
bool hold_put(struct roce_qp *qp, const struct roce_pkt *pkt);
/* The packet with the expected PSN, if it is held.  Give it back by drop. */
struct held *hold_next(struct roce_qp *qp);
void hold_drop(struct roce_qp *qp, struct held *h);
void hold_clear(struct roce_qp *qp);
/* Drop what is held of the npkt PSNs that a request at epsn takes. */
void hold_forget(struct roce_qp *qp, uint32_t npkt);

/* false: full */
static inline bool psn_push(struct psn_ring *r, uint32_t *ring, uint32_t psn)
{
	if ((uint8_t)(r->pi - r->ci) == HOLES)
		return false;
	ring[r->pi++ % HOLES] = psn;
	return true;
}

static inline bool psn_ring_empty(const struct psn_ring *r)
{
	return r->pi == r->ci;
}

/* ---- path.c ---- */

void path_fill(struct path *path, struct roce_dev *dev,
	       const struct roce_peer *peer, uint8_t traffic_class);
void path_mac(struct path *path, const uint8_t mac[6]);
void path_qpn(struct path *path, uint32_t qpn);
struct path *path_of_ah(struct roce_dev *dev, uint32_t ah);

/* ---- rq.c ---- */

int rq_init(struct rq *rq, uint32_t depth, uint32_t max_sge);
void rq_free(struct rq *rq);
/* Take the next receive into qp->cur; false: there is none. */
bool recv_take(struct roce_qp *qp);
/* Complete qp->cur. */
void recv_done(struct roce_qp *qp, const struct recv_comp *c);
void recv_flush(struct roce_qp *qp);
/*
 * qp->cur lies where it may not write.  Who posted it learns so, whatever the
 * service: an error of class A (IBTA 9.9.3).
 */
void recv_unusable(struct roce_qp *qp);

/* ---- msg.c ---- */

struct shape {
	uint8_t kind; /* enum in_msg; MSG_NONE: not a SEND or WRITE */
	uint8_t first, last;
	uint8_t flags; /* ROCE_WR_IMM, ROCE_WR_INV */
};

const struct shape *msg_shape(uint8_t opcode); /* RC numbering, checked */
bool msg_in_order(const struct roce_qp *qp, const struct shape *s);
/* 0: executed; else the NAK it earns, ROCE_AETH_TYPE_RNR for no receive. */
uint8_t msg_rx(struct roce_qp *qp, const struct roce_pkt *pkt,
	       const struct shape *s);

/* ---- plain.c ---- */

/* A run of plain work at the cursor; packets built. */
unsigned plain_tx(struct roce_qp *qp, struct roce_frame *f, unsigned n);
/*
 * A WRITE of one packet, with headers seen before, from the PSN on.  False:
 * it is not its turn, or it is not right; nothing was done.
 */
bool plain_rx(struct roce_qp *qp, const struct seen *s, const uint8_t *psn);

/* ---- seen.c ---- */

void seen_init(struct roce_qp *qp); /* nothing was seen */
/* Of a frame with headers seen before and a good ICRC; else NULL. */
struct roce_qp *seen_find(struct roce_dev *dev, const struct roce_frame *f,
			  const struct seen **seen);
void seen_fill(const struct roce_qp *qp, const struct seen *s, const uint8_t *p,
	       struct roce_pkt *pkt);
/* A good packet came that seen_find() did not know. */
void seen_note(struct roce_qp *qp, const struct roce_frame *f,
	       const struct roce_pkt *pkt);

/* ---- cc.c ---- */

void cc_marked(struct roce_qp *qp); /* a packet came with CE */
void cc_send_cnp(struct roce_qp *qp, struct roce_frame *f);
void cc_cnp(struct roce_qp *qp, uint64_t now); /* a CNP came */
void cc_sent(struct roce_qp *qp, uint32_t bytes, uint64_t now);
uint64_t cc_rate_mbps(const struct roce_qp *qp);

static inline bool cc_holds(const struct roce_qp *qp, uint64_t now)
{
	return __builtin_expect(qp->cc.rate && qp->cc.pace_at > now, 0);
}

/* ---- dgram.c: UC and UD ---- */

void uc_rx(struct roce_qp *qp, const struct roce_pkt *pkt);
void ud_rx(struct roce_qp *qp, const struct roce_pkt *pkt);
bool ud_send(struct roce_qp *qp, struct roce_wr *wr, struct roce_frame *f);

/* ---- requester (req.c, ack.c) and responder (resp.c, reply.c) ---- */

unsigned req_tx(struct roce_qp *qp, uint64_t now, struct roce_frame *f,
		unsigned n);
bool req_has_work(const struct roce_qp *qp, uint64_t now);
void req_time(struct roce_qp *qp, uint32_t psn);
void req_back(struct roce_qp *qp);
/* Send the packet psn again, and only that. */
void req_again(struct roce_qp *qp, uint32_t psn);
bool req_again_is_under_way(const struct roce_qp *qp, uint32_t psn,
			    uint64_t now);
void req_cursor_to_una(struct roce_qp *qp);
void req_head(struct roce_qp *qp);
/* The WR's bytes [off, off + n) from the wire into its memory. */
bool req_scatter(struct roce_qp *qp, struct roce_wr *wr, uint64_t off,
		 const uint8_t *from, uint32_t n);
bool req_gather(struct roce_qp *qp, struct roce_wr *wr, uint64_t off,
		uint8_t *to, uint32_t n);
/* wr fails in its turn; false, for the caller to return. */
bool req_fault(struct roce_wr *wr, uint8_t syndrome, uint8_t vendor);
void ack_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now);
void ack_timeout(struct roce_qp *qp, uint64_t now);
void resp_rx(struct roce_qp *qp, const struct roce_pkt *pkt);
/* Answer psn with a NAK; all but a sequence error end the connection. */
void reply_nak(struct roce_qp *qp, uint8_t syndrome, uint32_t psn);
bool reply_push(struct roce_qp *qp, const struct rd_op *op);
/* An answer given before: only where new requests keep their places. */
bool reply_push_again(struct roce_qp *qp, const struct rd_op *op);
unsigned reply_tx(struct roce_qp *qp, struct roce_frame *f, unsigned n);

static inline bool reply_has_work(const struct roce_qp *qp)
{
	return qp->out_pi != qp->out_ci || qp->ack_pending || qp->nak_pending ||
	       !psn_ring_empty(&qp->report);
}

/* In a state in which frames are taken. */
static inline bool receives(const struct roce_qp *qp)
{
	return qp->state >= ROCE_RTR && qp->state != ROCE_ERR;
}

static inline bool op_is_rd(uint8_t op)
{
	return op == ROCE_OP_READ || op == ROCE_OP_CS || op == ROCE_OP_FA;
}

/* It sends nothing, so nothing comes back for it. */
static inline bool is_silent(const struct roce_wr *wr)
{
	return wr->op == ROCE_OP_NOP || wr->op == ROCE_OP_LOCAL_INV ||
	       wr->syndrome;
}

static inline unsigned ack_every(const struct roce_qp *qp)
{
	return qp->window / 2 < ACK_EVERY ? qp->window / 2 : ACK_EVERY;
}

#endif /* ROCE_PRIV_H */
