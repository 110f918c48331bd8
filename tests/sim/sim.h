/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A deterministic world for the transport core: devices, queue pairs, a wire
 * with faults and a clock, all of it from one seed.
 *
 * plan.c	what a seed means
 * wire.c	frames in flight and what happens to them
 * node.c	devices, connections, their memory
 * work.c	what connections post, when
 * receives.c	receives: of one queue, or shared by many
 * datagram.c	UD queues, their work and their judge
 * watch.c	judges requesters by their frames: sequence, window, waits
 * model.c	judges responders: what each has, exactly, and what it owes
 * oracle.c	judges memory and completions
 * world.c	the event loop
 * main.c	many seeds, replay, shrinking
 */
#ifndef TESTS_SIM_H
#define TESTS_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <wbell/queue.h>

#include "../../dpdk_path/roce/core.h"

#define NODES_MAX   4
#define LINKS_MAX   16
#define MSGS_MAX    48
#define UDS_MAX	    12
#define GRH	    40 /* bytes before a datagram in its receive */
#define SGE_MAX	    6
#define BURST	    32
#define REFILLS_MAX 256 /* of one burst */
#define FRAME_ROOM  (ROCE_FRAME_MAX(4096) + 64)
#define NONE	    (~0U)

#define US 1000ULL
#define MS 1000000ULL

/* ---- random numbers: one stream per concern ---- */

struct rng {
	uint64_t s;
};

static inline uint64_t rnd(struct rng *r)
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* from..to, both included */
static inline uint64_t pick(struct rng *r, uint64_t from, uint64_t to)
{
	return from + rnd(r) % (to - from + 1);
}

static inline bool chance(struct rng *r, unsigned per_10000)
{
	return per_10000 && rnd(r) % 10000 < per_10000;
}

static inline struct rng fork_rng(uint64_t seed, uint64_t concern)
{
	struct rng r = { seed ^ concern * 0xd1342543de82ef95ULL };

	r.s = rnd(&r);
	return r;
}

/* ---- the plan ---- */

enum fault {
	F_LOSS = 1 << 0,
	F_BURST = 1 << 1,
	F_DUP = 1 << 2,
	F_REORDER = 1 << 3,
	F_CORRUPT = 1 << 4,
	F_PAUSE = 1 << 5,
	F_MTU = 1 << 6, /* the path drops long frames for a while */
	F_DOWN = 1 << 7,
	F_DEATH = 1 << 8,
	F_RESTART = 1 << 9,
	F_RNR = 1 << 10,   /* receives come late */
	F_BAD = 1 << 11,   /* a work request that must fail */
	F_HAND = 1 << 12,  /* a queue is moved to error */
	F_SLOW = 1 << 13,  /* completions are polled late, bursts are small */
	F_LATE = 1 << 14,  /* copies come back much later */
	F_DELAY = 1 << 15, /* a path becomes longer for a while */
	/* not faults, but taken away like them */
	F_SRQ = 1 << 16, /* queues of a node share their receives */
	F_UD = 1 << 17,	 /* datagrams beside the connections */
	F_BITS = 18,
	F_ALL = (1 << F_BITS) - 1
};

struct plan {
	uint64_t seed;
	uint32_t faults;
	uint32_t links_mask;
	unsigned msgs; /* at most, per end */
	unsigned nodes, links;
	uint64_t calm; /* from then on the wire is good */
	unsigned loss, burst, dup, reorder, corrupt, late; /* per 10,000 */
	uint64_t latency, jitter, spread;		   /* ns */
	unsigned bits_per_ns;
	unsigned queue; /* frames of one path before a switch drops */
	bool refill;
};

/* What the command line may take away from a seed. */
struct limits {
	uint32_t faults;
	uint32_t links_mask;
	unsigned msgs;
};

void plan_make(struct plan *p, uint64_t seed, const struct limits *l);
int plan_text(const struct plan *p, char *to, unsigned size);

/* ---- connections ---- */

enum region_kind { R_SRC, R_DST, R_LIB, R_GET, R_RCV, R_WORD, REGIONS };

struct region {
	uint8_t *mem;
	uint64_t iova;
	uint32_t size, used, key;
};

enum bad {
	GOOD,
	BAD_RKEY,
	BAD_LKEY,
	BAD_LONG,
	BAD_RCV, /* the receive's own key is wrong */
	BAD_AH,
};

struct msg {
	uint8_t op, flags, nbb, nsge;
	uint8_t bad;	/* enum bad */
	bool shared;	/* atomic on the node's word */
	bool changes;	/* atomic that changes its word */
	bool wants;	/* it takes a receive */
	uint16_t index; /* of its first basic block, on the wire of rings */
	uint32_t len, imm, id;
	uint32_t psn, npkt; /* counted from the queue's first PSN */
	uint32_t rcv;	    /* that receive, or NONE: not known yet */
	uint32_t from;	    /* READ: message whose bytes it reads, or NONE */
	uint64_t raddr;
	uint64_t operand[2];
	uint64_t expect, after; /* atomic: the word before and behind it */
	uint32_t last_bb;
	struct roce_sge sge[SGE_MAX];
};

/* ---- receives ---- */

struct rcv {
	uint8_t nsge;
	bool bad;   /* its key is wrong */
	bool taken; /* and may have been written to */
	bool done;
	uint16_t index;
	uint32_t room;
	uint32_t filled; /* once it is done, and good */
	struct roce_sge sge[3];
};

struct share;

/* In the order they are posted; counts are from the first ever. */
struct rcvs {
	struct world *w;
	struct node *node;
	struct roce_qp **qp; /* whose they are, or */
	struct share *share;
	struct region *in;
	uint32_t depth;
	struct rcv *rcv;
	unsigned n, posted;
	unsigned done;	/* own ones: completions polled */
	unsigned avail; /* posted, as far as the model has come */
	unsigned taken; /* by messages, in the model */
	/* each time the device asked for more: posted behind it */
	unsigned asked[REFILLS_MAX], nasked, heard;
	uint64_t gap;
};

/* What the user pointers of queues point to begins so. */
struct queue {
	bool is_ud;
	bool vague; /* UC: what it takes and when, nobody knows */
	bool hand;  /* it was moved to error */
	struct world *w;
	struct node *node;
	struct roce_qp *qp; /* NULL: it went with its device */
	struct rng rng;
	uint32_t qpn, sq_psn;
	struct rcvs own, *rq;
	unsigned rcv_done; /* completions of its receives */
	unsigned rcv_due;  /* that the model knows of */
};

/* A receive queue that queues of one node share. */
struct share {
	struct node *node;
	struct roce_srq *srq; /* NULL: it went with its device */
	struct rng rng;
	struct rcvs rq;
	struct region mem;
	unsigned wants;	    /* receives that its queues may take, at most */
	uint32_t limit;	    /* armed */
	unsigned low, told; /* limit events: due, and told */
};

struct link;
struct node;
struct world;

struct end {
	struct queue q;
	struct link *link;
	struct end *peer;
	unsigned side;
	struct region r[REGIONS];
	struct roce_qp_attr attr;

	/* what it posts */
	struct msg *msg;
	unsigned nmsg, posted, resolved;
	uint32_t bb_pi, bb_ci, bb_asked;
	uint64_t post_gap;
	unsigned wants; /* receives that the peer's work takes */

	/* how it ended */
	bool failed;
	uint8_t syndrome;

	/* its requester, as frames show it */
	uint32_t una;	  /* surely acknowledged */
	uint32_t una_max; /* at most acknowledged */
	uint32_t sent;	  /* above every PSN sent */
	uint64_t progress;
	uint64_t hold; /* RNR: silent until then */
	uint32_t hold_psn;
	unsigned rnrs;	    /* since there was progress */
	uint64_t burst;	    /* the last that brought it answers */
	unsigned most_rnrs; /* in the midst of that */

	/* its responder, as the model has it */
	uint32_t epsn;
	uint8_t *got; /* per PSN of the peer's: enum got */
	uint32_t npsn;
	unsigned nheld;	   /* packets, that wait behind a gap */
	uint32_t told;	   /* above every hole it has told of */
	unsigned nreports; /* of holes, not surely told yet */
	bool dead;	   /* it has met work that it must refuse */
	bool rnr;	   /* it drops what is early until a receive comes */
	bool gap_told, owes_nak, owes_ack, owes_rnr;

	/* the reader of its memory */
	unsigned fm; /* messages of the peer's that are whole */
	uint32_t fo; /* bytes of the next */
	uint64_t word;
};

enum mode {
	M_HOLES,  /* both ends agreed on hole reports */
	M_HOLDS,  /* early packets are kept, NAKs are the standard's */
	M_BACK_N, /* early packets are dropped */
	MODES
};

struct link {
	struct end end[2];
	unsigned id;
	uint32_t mtu;
	uint8_t mode; /* enum mode */
	uint8_t type; /* ROCE_RC, ROCE_UC */
	bool v6;
	uint16_t vlan;
	bool cut; /* an end died */
};

/* ---- datagrams ---- */

struct ud;

struct dgram {
	uint8_t flags, bad, nsge;
	uint16_t index;
	uint32_t id, len, imm;
	uint32_t qkey; /* as it is on the wire */
	const struct ud *to;
	struct roce_sge sge[SGE_MAX];
};

struct ud {
	struct queue q;
	unsigned id;
	uint32_t qkey, mtu, depth;
	struct region src, mem;
	struct dgram *dg;
	unsigned n, posted, sent, resolved;
	uint32_t bb_pi, bb_ci;
	uint64_t post_gap;
	unsigned cur; /* receive in which the last did not fit, or NONE */
	struct ud_due {
		unsigned rcv;
		const struct dgram *d;
		uint8_t syndrome;
	} * due; /* completions of receives, rcv_due of them */
	bool failed;
	bool dead; /* by a bad receive */
};

struct node {
	struct world *w;
	unsigned id;
	unsigned life; /* restarts */
	struct roce_dev *dev;
	bool alive;
	struct rng rng;
	uint64_t wake; /* a wake-up is in the heap for then */
	uint64_t word; /* every queue adds to it */
	uint32_t word_key;
	uint64_t adds[LINKS_MAX * MSGS_MAX];
	unsigned nadds;
	uint64_t given, taken, errors;
	uint64_t said[4]; /* acknowledges by the type of their AETH */
	uint64_t wrong_qkey, no_recv, too_long;
	struct share *share;	   /* of this life, or NULL */
	uint32_t ah[NODES_MAX][2]; /* to each node, by IP version */
	bool got_bad;
};

/* ---- events ---- */

enum kind {
	EV_FRAME,
	EV_WAKE,
	EV_POST,
	EV_RECV,
	EV_DGRAM,
	EV_DEATH,
	EV_RESTART,
	EV_HAND
};

struct event {
	uint64_t t, seq;
	uint8_t kind;
	uint8_t from, to; /* EV_FRAME: nodes; else .to */
	bool bad;	  /* the frame must not count */
	uint32_t len;
	uint8_t *data;
	void *what;
};

/* What a frame says. */
struct seen {
	uint8_t opcode, syndrome;
	bool ackreq, solicited;
	uint32_t qpn, psn;
	uint32_t len; /* READ: asked for; UD: that came */
	uint32_t qkey, src_qpn, imm;
	const uint8_t *payload;
};

struct path {
	uint64_t free_at;
	unsigned burst_left, queued;
	struct {
		uint64_t from, to;
		uint32_t most; /* bytes that pass */
	} down, pause, mtu, delay;
	uint64_t longer; /* while it is delayed */
};

struct world {
	struct plan plan;
	uint64_t now, hash, seq, frames, bursts;
	unsigned nnode, nlink;
	struct node node[NODES_MAX];
	struct link *link[LINKS_MAX];
	struct ud *ud[UDS_MAX];
	struct share *share[NODES_MAX * 2];
	unsigned nud, nshare;
	struct path path[NODES_MAX][NODES_MAX];
	struct rng wire, rng;
	struct event *heap;
	unsigned nheap, room;
	struct roce_frame tx[32];
	/* requests of the burst that is with a device */
	struct {
		struct queue *q;
		struct seen seen;
	} req[BURST];
	unsigned nreq;
	char why[400];
	bool lost; /* the verdict is made */
	bool trace;
};

/* wire.c */
void wire_plan(struct world *w);
void wire_send(struct world *w, unsigned from, unsigned to,
	       const struct roce_frame *f);
void heap_add(struct world *w, struct event e);
bool heap_pop(struct world *w, struct event *e);

/* node.c */
void node_start(struct world *w, unsigned id);
void node_stop(struct node *n); /* the device is gone, its memory stays */
bool link_make(struct world *w, unsigned id, unsigned a, unsigned b);
void link_free(struct link *l);
uint8_t *region_ptr(struct region *r, uint64_t iova);
void node_addresses(unsigned id, struct roce_peer *to);
struct end *end_find(struct world *w, unsigned node, uint32_t qpn);

/* work.c */
void work_make(struct end *e);	 /* its messages, and the peer's receives */
void work_memory(struct end *e); /* what lies in memory before the first */
void work_post(struct end *e, unsigned n);
uint32_t packets_of(const struct link *l, const struct msg *m);

/* receives.c */
void rcvs_own(struct queue *q, struct region *in, uint32_t depth);
void rcvs_post(struct rcvs *r, unsigned n);
/* For one more message, in the model; NONE: there was none. */
unsigned rcvs_take(struct queue *q);
/* A burst of frames begins; it is over. */
void rcvs_begin(struct rcvs *r);
void rcvs_end(struct queue *q);
void rcvs_refill(struct roce_qp *qp);	  /* the device's call */
bool rcvs_more(struct rcvs *r);		  /* some will be needed */
uint64_t rcvs_next(const struct rcvs *r); /* when to post again */
void rcvs_done(struct queue *q, unsigned at, uint16_t index, bool good,
	       uint32_t filled);
void rcvs_judge(struct rcvs *r, const char *whose); /* at the end */
uint8_t *rcv_byte(struct rcvs *r, const struct rcv *v, uint32_t at);
void share_make(struct node *n);
void share_plan(struct share *s); /* once its queues are known */
void share_rearm(struct share *s);
void share_judge(struct share *s);
void share_free(struct share *s);
bool share_open(const struct node *n); /* may be joined yet */
static inline struct queue *queue_of(const struct roce_qp *qp)
{
	return roce_qp_user(qp);
}
static inline bool queue_lives(const struct queue *q)
{
	return q->qp && roce_qp_state(q->qp) == ROCE_RTS;
}
void queue_fail(struct queue *q, const char *what, unsigned at);

/* datagram.c */
void ud_make(struct world *w, unsigned node);
void ud_post(struct ud *u, unsigned n);
void ud_sends(struct world *w, unsigned from, unsigned to,
	      const struct seen *s);
void ud_takes(struct ud *u, const struct seen *s);
void ud_comp(struct ud *u, const struct roce_comp *c);
void ud_end(struct ud *u);
void ud_free(struct ud *u);
struct ud *ud_find(struct world *w, unsigned node, uint32_t qpn);

/* watch.c: frames leave and arrive */
void watch_tx(struct world *w, unsigned from, unsigned to,
	      const struct roce_frame *f);
void watch_rx(struct world *w, unsigned to, const uint8_t *p, uint32_t len);
/* The device has taken the burst. */
void watch_took(struct world *w);
/* The queue that a good frame is for. */
uint32_t watch_qpn(const uint8_t *p, uint32_t len);
/* All that a node had to say is said. */
void watch_quiet(struct world *w, struct node *n);

/* PSNs count from the first: no wrap in here.  -1 is the one before. */
static inline int32_t count_from(uint32_t psn, uint32_t first)
{
	return (int32_t)((psn - first) << 8) >> 8;
}
struct msg *msg_of(const struct end *e, uint32_t psn);

/* model.c */
void model_rx(struct end *e, const struct seen *s); /* a request, taken */
void model_tx(struct end *e, const struct seen *s); /* an answer leaves */
void model_quiet(struct end *e);

/* oracle.c */
void oracle_look(struct end *e, bool all);
void oracle_comp(struct node *n, const struct roce_comp *c);
void oracle_end(struct world *w);
static inline uint8_t pattern(uint32_t id, uint32_t at)
{
	uint32_t x = id * 0x85ebca6bU + at * 0x9e3779b1U;

	x ^= x >> 15;
	x *= 0xc2b2ae35U;
	return 1 + (x >> 24) % 255; /* never 0: that is untouched memory */
}

/* world.c */
struct verdict {
	bool failed;
	uint64_t hash, frames, ns;
	char why[400];
};
void world_run(const struct plan *p, bool trace, struct verdict *v);
void world_say(struct world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The first reason stays. */
void world_fail(struct world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void world_hash(struct world *w, uint64_t v);

#endif /* TESTS_SIM_H */
