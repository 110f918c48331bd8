/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A deterministic world for the transport core: devices, queue pairs, a wire
 * with faults and a clock, all of it from one seed.
 *
 * plan.c	what a seed means
 * wire.c	frames in flight and what happens to them
 * node.c	devices, connections, their memory
 * work.c	what is posted, when
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
	F_RNR = 1 << 10,  /* receives come late */
	F_BAD = 1 << 11,  /* a work request that must fail */
	F_HAND = 1 << 12, /* a queue is moved to error */
	F_SLOW = 1 << 13, /* completions are polled late, bursts are small */
	F_LATE = 1 << 14, /* copies come back much later */
	F_ALL = (1 << 15) - 1
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

enum bad { GOOD, BAD_RKEY, BAD_LKEY, BAD_LONG };

struct msg {
	uint8_t op, flags, nbb, nsge;
	uint8_t bad;	/* enum bad */
	bool shared;	/* atomic on the node's word */
	bool changes;	/* atomic that changes its word */
	uint16_t index; /* of its first basic block, on the wire of rings */
	uint32_t len, imm, id;
	uint32_t psn, npkt; /* counted from the queue's first PSN */
	uint32_t rcv;	    /* receive it takes, or NONE */
	uint32_t from;	    /* READ: message whose bytes it reads, or NONE */
	uint64_t raddr;
	uint64_t operand[2];
	uint64_t expect, after; /* atomic: the word before and behind it */
	uint32_t last_bb;
	struct roce_sge sge[SGE_MAX];
};

struct rcv {
	uint8_t nsge;
	uint16_t index;
	uint32_t room;
	struct roce_sge sge[3];
};

/* Receives of a queue; counts from the first ever posted. */
struct rcvs {
	struct rcv *rcv;
	unsigned n, posted;
	unsigned avail; /* posted, as far as the model has come */
	unsigned taken; /* by messages, in the model */
	/* each time the device asked for more: posted behind it */
	unsigned asked[REFILLS_MAX], nasked, heard;
};

struct link;
struct node;
struct world;

struct end {
	struct world *w;
	struct node *node;
	struct link *link;
	struct end *peer;
	struct roce_qp *qp;
	struct rng rng;
	unsigned side;
	uint32_t qpn, sq_psn;
	struct region r[REGIONS];
	struct roce_qp_attr attr;

	/* what it posts */
	struct msg *msg;
	unsigned nmsg, posted, resolved;
	uint32_t bb_pi, bb_ci, bb_asked;
	struct rcvs rq;
	unsigned rcv_done;
	uint64_t post_gap, rcv_gap;

	/* how it ended */
	bool failed, hand;
	uint8_t syndrome;

	/* its requester, as frames show it */
	uint32_t una;	  /* surely acknowledged */
	uint32_t una_max; /* at most acknowledged */
	uint32_t sent;	  /* above every PSN sent */
	uint64_t progress;
	uint64_t hold; /* RNR: silent until then */
	uint32_t hold_psn;
	unsigned rnrs;

	/* its responder, as the model has it */
	uint32_t epsn;
	uint8_t *got; /* per PSN of the peer's: enum got */
	uint32_t npsn;
	uint32_t high;	/* above every PSN it has */
	unsigned nheld; /* packets, that wait behind a gap */
	bool dead;	/* it has met work that it must refuse */
	bool rnr;	/* it drops what is early until a receive comes */
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
	bool got_bad;
};

/* ---- events ---- */

enum kind {
	EV_FRAME,
	EV_WAKE,
	EV_POST,
	EV_RECV,
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
	bool ackreq;
	uint32_t qpn, psn, len;
};

struct path {
	uint64_t free_at;
	unsigned burst_left, queued;
	struct {
		uint64_t from, to;
		uint32_t most; /* bytes that pass */
	} down, pause, mtu;
};

struct world {
	struct plan plan;
	uint64_t now, hash, seq, frames, end_at;
	unsigned nnode, nlink;
	struct node node[NODES_MAX];
	struct link *link[LINKS_MAX];
	struct path path[NODES_MAX][NODES_MAX];
	struct rng wire, rng;
	struct event *heap;
	unsigned nheap, room;
	struct roce_frame tx[32];
	/* requests of the burst that is with a device */
	struct {
		struct end *end;
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
struct end *end_find(struct world *w, unsigned node, uint32_t qpn);

/* work.c */
void work_make(struct end *e);	 /* its messages, and the peer's receives */
void work_memory(struct end *e); /* what lies in memory before the first */
void work_post(struct end *e, unsigned n);
void work_recv(struct end *e, unsigned n);
uint32_t packets_of(const struct link *l, const struct msg *m);

/* watch.c: frames leave and arrive */
void watch_tx(struct world *w, unsigned from, unsigned to,
	      const struct roce_frame *f);
void watch_rx(struct world *w, unsigned to, const uint8_t *p);
/* The device has taken the burst. */
void watch_took(struct world *w);
/* The queue that a good frame is for. */
uint32_t watch_qpn(const uint8_t *p);
/* All that a node had to say is said. */
void watch_quiet(struct world *w, struct node *n);

/* PSNs count from the first: no wrap in here.  -1 is the one before. */
static inline int32_t count_from(uint32_t psn, uint32_t first)
{
	return (int32_t)((psn - first) << 8) >> 8;
}
const struct msg *msg_of(const struct end *e, uint32_t psn);

/* model.c */
void model_rx(struct end *e, const struct seen *s); /* a request, taken */
void model_tx(struct end *e, const struct seen *s); /* an answer leaves */
void model_quiet(struct end *e);
/* The burst is over: the device asked for no receive that it needed not. */
void model_heard(struct rcvs *q, struct end *e);

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
