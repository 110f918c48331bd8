/* SPDX-License-Identifier: BSD-2-Clause */
/* Private types of the communication manager. */
#ifndef CM_PRIV_H
#define CM_PRIV_H

#include <errno.h>
#include <string.h>

#include "cm.h"

#define NO_DEADLINE (~0ULL)
#define REPLIES	    64 /* a power of two */

/*
 * Time-outs that a peer names are taken within these: a MAD's answer, 67 ms to
 * 17 s; time wait, up to 4 s.  An idle word of a stranger must not hold a place
 * for hours, nor make us repeat ourselves at line rate.
 */
#define RESPONSE_MIN 14
#define RESPONSE_MAX 22
#define TIMEWAIT_MAX 20

#define QPN_FIRST 2 /* 0 and 1 are for management */
#define QPN_LAST  0xfffffe
#define PSN_MASK  0xffffff

enum state {
	IDLE, /* the place is free */
	REQ_SENT,
	REP_RCVD,
	REQ_RCVD,
	REP_SENT,
	ESTABLISHED,
	DREQ_SENT,
	TIMEWAIT,
	STATES
};

struct conn {
	uint8_t state; /* enum state; conn_set() alone writes it */
	bool active;
	bool in_tx, in_events;
	bool mra_seen;	  /* the answer is put off, once */
	bool alternate;	  /* it names a path that we will not take */
	bool seen;	  /* the caller has this ID */
	uint16_t pending; /* 1 << enum cm_event_type */
	uint32_t id, remote_id;
	uint64_t remote_guid;
	uint64_t tid;
	uint64_t wait; /* ns from one try to the next, or of time wait */
	uint64_t deadline;
	uint8_t retries; /* of one message at most */
	uint8_t tries;	 /* left */
	uint8_t backlog; /* index of its listener + 1, while it waits there */
	uint16_t port;
	uint16_t reason;
	uint32_t qpn, psn; /* this end's */
	uint8_t rd_in, rd_out;
	struct cm_peer peer;
	void *user;
	uint8_t mad[MAD_SIZE]; /* what was sent last, or is to be */
	uint8_t data[CM_DATA_MAX], data_len; /* of the peer */
	uint8_t data_of;		     /* enum cm_event_type */
	struct conn *tx_next, *events_next;
	struct conn *by_id, *by_qpn; /* chains of the table */
};

struct list {
	struct conn *head, *tail;
};

struct listener {
	uint16_t port; /* 0: none */
	unsigned backlog, waiting;
	void *user;
};

struct cm {
	struct cm_attr attr;
	uint64_t random;
	uint64_t tid;
	uint64_t next; /* no deadline before */
	struct conn *conn;
	uint32_t mask; /* places - 1 */
	uint32_t used;
	struct conn **by_id;  /* by the peer's address and ID */
	struct conn **by_qpn; /* by the peer's address and QPN */
	struct list tx, events;
	struct listener listener[CM_LISTEN_MAX];
	struct cm_mad reply[REPLIES];
	unsigned reply_pi, reply_ci;
	uint64_t counter[CM_C_MAX];
};

static inline uint64_t timeout_ns(uint8_t exponent)
{
	return 4096ULL << exponent;
}

static inline uint8_t clamp(uint8_t v, uint8_t least, uint8_t most)
{
	return v < least ? least : v > most ? most : v;
}

static inline uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static inline void count(struct cm *cm, enum cm_counter c)
{
	cm->counter[c]++;
}

/* ---- cm.c ---- */

const uint8_t *our_gid(const struct cm *cm, const uint8_t peer[16]);
void conn_send(struct cm *cm, struct conn *c);
void conn_deadline(struct cm *cm, struct conn *c, uint64_t at);
/* Tell the caller; data: of the message this is about, or NULL. */
void conn_tell(struct cm *cm, struct conn *c, enum cm_event_type type,
	       const struct cm_msg *about);
/* One answer that nobody waits for: lost when there are too many. */
void reply_raw(struct cm *cm, const uint8_t to[16],
	       const uint8_t mad[MAD_SIZE]);
void reply(struct cm *cm, const uint8_t to[16], const struct cm_msg *m);
/* Our caller still thinks about it: the peer shall wait (12.6.6). */
void put_off(struct cm *cm, struct conn *c, enum cm_about about);

/* ---- table.c ---- */

uint64_t next_random(struct cm *cm);
/* NULL: all places are taken. */
struct conn *conn_new(struct cm *cm);
void conn_free(struct cm *cm, struct conn *c);
/* Its peer is known now: gid, remote_id, remote_guid and qpn. */
void conn_known(struct cm *cm, struct conn *c);
struct conn *conn_find(struct cm *cm, uint32_t id);
struct conn *conn_by_remote(struct cm *cm, const uint8_t gid[16], uint64_t guid,
			    uint32_t remote_id);
struct conn *conn_by_qpn(struct cm *cm, const uint8_t gid[16], uint32_t qpn);
void conn_set(struct cm *cm, struct conn *c, enum state state);

/* ---- active.c and passive.c ---- */

void rep_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	    const struct cm_msg *m);
void req_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	    const uint8_t to[16], const struct cm_msg *m);
void rtu_rx(struct cm *cm, const uint8_t from[16], const struct cm_msg *m);
void mra_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	    const struct cm_msg *m);

/* ---- release.c ---- */

/* What a call at the wrong time returns. */
int stands(const struct conn *c);
/* Refuse a message that has no connection here. */
void reject_message(struct cm *cm, const uint8_t to[16], const struct cm_msg *m,
		    uint16_t reason, const void *ari, uint8_t ari_len);
/* The REJ that ends c, when c is next sent. */
void reject_conn(struct cm *cm, struct conn *c, uint16_t reason);
void dreq_send(struct cm *cm, struct conn *c);
/* From now on; from when the MAD that is in place leaves. */
void timewait_now(struct cm *cm, struct conn *c, uint64_t now, bool whole);
void timewait_sent(struct cm *cm, struct conn *c, bool whole);
void rej_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	    const struct cm_msg *m);
void dreq_rx(struct cm *cm, const uint8_t from[16], const struct cm_msg *m);
void drep_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	     const struct cm_msg *m);
void conn_expire(struct cm *cm, struct conn *c, uint64_t now);

/* The connection m speaks of, if it is from's; else counted, NULL. */
struct conn *conn_of(struct cm *cm, const uint8_t from[16],
		     const struct cm_msg *m);

#endif /* CM_PRIV_H */
