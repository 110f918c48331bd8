/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What host and kernels of the collectives share: work descriptors, the
 * team's device view, the layout of a rank's window.
 *
 * A window is one registered range per rank, alike on all ranks:
 *
 *	words	[channel][peer]		what that peer's NIC changes here
 *	outs	[channel][peer]		own counts, source of puts
 *	tables	[channel][peer]		page lists that receivers sent here
 *	lists	[channel]		own page list, source of puts
 *	fifo	[channel][peer][slot]	partial sums from that peer
 *	stage	[channel][slot]		partial sums on their way out
 *	user				offsets in descriptors count from here
 *
 * One block of a grid is a channel; it has queues of its own.
 */
#ifndef WBELL_COLLECTIVES_WORK_H
#define WBELL_COLLECTIVES_WORK_H

#include "../launch.h"

#define COLL_RANKS_MAX	  16
#define COLL_CHANNELS_MAX 8
#define COLL_SLOTS	  4 /* of a FIFO */
#define COLL_SLOT_SIZE	  65536
#define COLL_PAGES_MAX	  255 /* of one channel's share of a list */
#define COLL_WORKS	  16  /* descriptors of a ring; power of two */
#define COLL_NOBODY	  0xffffffffU

enum coll_op {
	COLL_QUIT, /* ends the kernel */
	COLL_BARRIER,
	COLL_ALL_GATHER,
	COLL_REDUCE_SCATTER,
	COLL_ALL_REDUCE_RING,
	COLL_ALL_REDUCE_TREE,
	COLL_ALL_TO_ALL,
	COLL_DISPATCH,
	COLL_COMBINE,
	COLL_PAGES,
	COLL_SHIFT, /* probe of the cost model: a message to the next rank */
	COLL_PUTS,  /* probe: puts to the next rank, a window at a time */
	COLL_OPS,
};

enum coll_type { COLL_F32, COLL_BF16, COLL_I32, COLL_TYPES };

/*
 * Variable counts: bytes for each rank, anywhere in the user part.  What
 * comes from rank r lies at recv_at + r * count, count bytes of room, alike
 * on all ranks.
 */
struct coll_blocks {
	uint64_t send_at[COLL_RANKS_MAX], send_n[COLL_RANKS_MAX];
	/* result: bytes that came, a part on each channel */
	uint64_t recv_n[COLL_CHANNELS_MAX][COLL_RANKS_MAX];
};

/*
 * Mixture of experts: each of the tokens goes to k ranks.  A token is hidden
 * floats.  Buffers of rows have room rows per channel and rank.
 */
struct coll_moe {
	uint32_t tokens, hidden, k, room;
	uint64_t token_at;     /* tokens * hidden */
	uint64_t sent_at;      /* rows, packed by rank */
	uint64_t recv_at;      /* rows that came, for the expert to work on */
	uint64_t back_at;      /* rows that came back */
	uint64_t out_at;       /* tokens * hidden, weighted sums */
	const uint32_t *route; /* tokens * k ranks */
	const float *weight;   /* tokens * k */
	uint32_t *place;       /* tokens * k, kept by dispatch for combine */
	/* rows to and from each rank, per channel; results of dispatch */
	uint32_t out_n[COLL_CHANNELS_MAX][COLL_RANKS_MAX];
	uint32_t in_n[COLL_CHANNELS_MAX][COLL_RANKS_MAX];
};

/* Pages of a cache: to one rank, from one rank, or both. */
struct coll_pages {
	uint32_t to, from; /* ranks, or COLL_NOBODY */
	uint32_t to_n, from_n;
	uint64_t page; /* bytes */
	const uint64_t *to_at, *from_at;
};

struct coll_work {
	uint32_t op, type;
	uint64_t send_at, recv_at; /* bytes into the user part */
	uint64_t count;		   /* elements; of one block where there are
				    * blocks per rank; bytes of a probe */
	uint32_t depth, times;	   /* of a probe */
	struct coll_blocks *blocks;
	struct coll_moe *moe;
	struct coll_pages *pages;
	uint64_t took_ns[COLL_CHANNELS_MAX]; /* result of every operation */
	uint64_t post_ns[COLL_CHANNELS_MAX]; /* of a probe: spent in posts */
};

/* ---- the window ---- */

/* Counters only ever grow; their low 32 bits tell. */
struct coll_words {
	uint64_t data;	 /* arrivals from the peer */
	uint64_t credit; /* FIFO slots the peer has emptied */
	uint64_t ready;	 /* permissions to write into the peer's buffers */
	uint64_t count;	 /* bytes of the block that follows */
	uint64_t pad[4];
};

struct coll_list {
	uint64_t n;
	uint64_t at[COLL_PAGES_MAX];
};

struct coll_layout {
	uint64_t words, outs, tables, lists, fifo, stage, user, size;
};

/* ---- the team ---- */

/* One channel's exchange with all; offsets into the window, bytes. */
struct coll_swap {
	uint64_t send_at[COLL_RANKS_MAX], send_n[COLL_RANKS_MAX];
	uint64_t put_at[COLL_RANKS_MAX]; /* where it goes, at that peer */
	uint64_t room, recv_n[COLL_RANKS_MAX];
};

/* Toward one peer; the block's first thread keeps it. */
struct coll_link {
	struct wbell_dqueue *q;
	uint64_t window; /* address at the peer */
	uint32_t rkey;
	uint32_t posted; /* since the last flush */
	struct wbell_ticket last;
	uint32_t data, ready;	    /* consumed of the words */
	uint32_t slot_out, slot_in; /* FIFO slots filled and emptied */
};

struct coll_channel {
	int status;
	uint32_t op, step, peer; /* where it is, for who wants to know */
	uint32_t staged;
	uint32_t stage_peer[COLL_SLOTS];
	struct wbell_ticket stage_last[COLL_SLOTS];
	struct coll_swap swap;
	struct coll_link link[COLL_RANKS_MAX];
};

struct coll_team_view {
	uint32_t rank, ranks, channels;
	uint32_t lkey;
	uint64_t window;
	uint64_t user_size;
	uint64_t timeout_us; /* of one wait */
	struct coll_layout at;
	struct coll_channel channel[COLL_CHANNELS_MAX];
};

/*
 * Work for a kernel that stays.  The host moves posted, each channel its own
 * done: a descriptor is free again when all channels have passed it.
 */
struct coll_ring {
	uint64_t posted;
	uint64_t pad0[7];
	struct {
		uint64_t done;
		int status; /* sticky */
		uint32_t pad[13];
	} channel[COLL_CHANNELS_MAX];
	uint64_t idle_us; /* longest wait for the next descriptor */
	struct coll_work work[COLL_WORKS];
};

struct coll_args {
	struct coll_team_view *team;
	struct coll_ring *ring;
};
WBELL_KERNEL_DECLARE(coll_stay);

/* What the probe of overlap computes on meanwhile. */
struct coll_compute {
	uint32_t rounds, rsvd;
	float *values; /* one per thread */
};
WBELL_KERNEL_DECLARE(coll_compute);

#endif /* WBELL_COLLECTIVES_WORK_H */
