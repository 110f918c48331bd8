/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The communication manager of RDMA-CM: reliable connections are made, refused
 * and released by MADs (IBTA vol. 1 chapter 12, annex A11), as librdmacm and
 * the Linux kernel do it.  It knows no queue pair: it carries numbers from one
 * end's owner to the other's.
 *
 * MADs and a time in; MADs, events and a next deadline out.  No I/O, no clock,
 * no thread; memory is allocated when it is made and never after.  One caller
 * at a time, none of it sleeps.
 *
 * A turn: cm_rx() what came, cm_event() until it gives nothing, cm_tx() until
 * it gives nothing, and no later than cm_deadline() the next.  Time-outs run
 * from when a MAD leaves, so a caller that waits for a place to send loses
 * nothing.
 *
 * A connection is named by its local communication ID.  An ID lives from
 * cm_connect() or CM_EV_REQ until CM_EV_GONE, its last event, was taken; later
 * it names nothing, and calls with it return -ENOENT.
 *
 * active:  cm_connect()  CM_EV_REP  cm_ready()
 * passive: cm_listen()   CM_EV_REQ  cm_accept()  CM_EV_ESTABLISHED
 * either:  cm_disconnect(), or CM_EV_DISCONNECTED by the peer; CM_EV_GONE
 */
#ifndef CM_CM_H
#define CM_CM_H

#include <stdbool.h>
#include <stdint.h>

#include "mad.h"

struct cm;

/* Reasons of a REJ that are sent or that a caller may care for: 12.6.7.2. */
enum cm_reason {
	CM_REASON_NO_RESOURCES = 3,
	CM_REASON_TIMEOUT = 4,
	CM_REASON_UNSUPPORTED = 5,
	CM_REASON_COMM_ID = 6,
	CM_REASON_SERVICE_ID = 8, /* nobody listens */
	CM_REASON_TRANSPORT = 9,
	CM_REASON_STALE = 10, /* the queue pair is known as connected */
	CM_REASON_GID = 12,
	CM_REASON_MTU = 26,
	CM_REASON_CONSUMER = 28,
	CM_REASON_DUPLICATE_ID = 30,
	CM_REASON_CLASS_VERSION = 31,
};

struct cm_attr {
	uint32_t max_conn; /* with those in time wait; 1 .. 2^16 */
	uint64_t ca_guid;
	uint64_t seed;	   /* of IDs: a secret, where peers may be hostile */
	uint8_t gid[16];   /* ours, IPv4 mapped; all 0: none */
	uint8_t gid6[16];  /* ours, IPv6; all 0: none */
	uint32_t path_mtu; /* the largest: 256 .. 4096 */
	/*
	 * We answer within 4.096 us << it, and give the peer as long for an
	 * answer; 14 .. 22; 0: 18, a second
	 */
	uint8_t response_timeout;
	uint8_t max_retries; /* of a MAD that gets no answer: 1 .. 15; 0: 15 */
};

/* -EINVAL: an attribute is out of its range; -ENOMEM. */
int cm_create(const struct cm_attr *attr, struct cm **cm);
/* Peers are told nothing: disconnect first, if they should be. */
void cm_destroy(struct cm *cm);

/* What one end says of its queue pair. */
struct cm_param {
	uint32_t qpn;
	uint32_t psn;	     /* the first that the other is to send */
	uint8_t rd_in;	     /* READs and atomics it answers at a time */
	uint8_t rd_out;	     /* ... and asks at a time */
	uint8_t retry_cnt;   /* active: the peer's, 0 .. 7 */
	uint8_t rnr_retry;   /* the peer's, 0 .. 7 */
	uint8_t ack_timeout; /* active: of both, as verbs' timeout */
	bool srq;
	/* active: of the path, for both */
	uint32_t path_mtu, flow_label;
	uint8_t traffic_class, hop_limit; /* 0: 64 */
	const void *data;		  /* private: copied; NULL with 0 */
	uint8_t data_len; /* active: up to CM_REQ_USER_MAX; else 196 */
};

/* What the peer said, each field as it is good for this end. */
struct cm_peer {
	uint8_t gid[16];
	uint32_t qpn;
	uint32_t psn;	   /* the first that we are to send */
	uint32_t path_mtu; /* bytes */
	uint32_t flow_label;
	uint8_t rd_out; /* READs this end may have out: what both agree to */
	uint8_t rd_in;	/* READs the peer will have out at most */
	uint8_t retry_cnt, rnr_retry, ack_timeout; /* for this end's queue */
	uint8_t traffic_class, hop_limit;
};

/*
 * Take requests to port, up to backlog at a time that are not accepted yet;
 * user comes back in events.  -EADDRINUSE; -EINVAL: port or backlog 0;
 * -ENOSPC: CM_LISTEN_MAX ports.
 */
#define CM_LISTEN_MAX 64
int cm_listen(struct cm *cm, uint16_t port, unsigned backlog, void *user);
/* Requests that wait stay. -ENOENT. */
int cm_unlisten(struct cm *cm, uint16_t port);

/*
 * Ask the one who listens at port of dst.  CM_EV_REP, CM_EV_REJECTED or
 * CM_EV_UNREACHABLE comes.  -EINVAL: a field of p is out of its range, or no
 * address of ours is of dst's family; -ENOSPC: max_conn.
 */
int cm_connect(struct cm *cm, const uint8_t dst[16], uint16_t port,
	       const struct cm_param *p, void *user, uint32_t *id);

/*
 * For all below: -ENOENT: no such ID; -EISCONN, -ENOTCONN, -EALREADY: it is
 * past that, not there yet, or this was said already.
 */
/* Behind CM_EV_REQ.  The queue pair must be able to receive before. -EINVAL */
int cm_accept(struct cm *cm, uint32_t id, const struct cm_param *p);
/* Behind CM_EV_REP, once the queue pair is connected: the peer may send. */
int cm_ready(struct cm *cm, uint32_t id);
/* Behind CM_EV_REQ or CM_EV_REP, instead of the above; only GONE follows. */
int cm_reject(struct cm *cm, uint32_t id, uint16_t reason, const void *data,
	      uint8_t data_len);
/*
 * Behind cm_accept(): a packet of the peer came, though its RTU did not (IBTA
 * 12.9.6, "communication established").  0 as well where it is no news.
 */
int cm_established(struct cm *cm, uint32_t id);
/* CM_EV_DISCONNECTED comes, at the latest when nobody answered in time. */
int cm_disconnect(struct cm *cm, uint32_t id);

/* Those of one ID come in this order, each at most once. */
enum cm_event_type {
	CM_EV_REQ,	    /* to port; answer by cm_accept(), cm_reject() */
	CM_EV_REP,	    /* answer by cm_ready(), cm_reject() */
	CM_EV_ESTABLISHED,  /* passive: the peer is ready */
	CM_EV_REJECTED,	    /* reason, and data of the peer's consumer */
	CM_EV_UNREACHABLE,  /* no answer, from the peer or from our caller */
	CM_EV_DISCONNECTED, /* send no more; reason: enum cm_end */
	CM_EV_GONE,	    /* time wait is over: the QPN may be used again */
	CM_EV_MAX
};

/* How a connection ended. */
enum cm_end {
	CM_END_PEER,   /* it asked */
	CM_END_ANSWER, /* it answered cm_disconnect() */
	CM_END_SILENT, /* it did not */
	CM_END_STALE,  /* it has no such connection any more */
};

struct cm_event {
	enum cm_event_type type;
	uint32_t id;
	void *user;
	uint16_t port;		   /* REQ: asked for */
	uint16_t reason;	   /* REJECTED, DISCONNECTED */
	struct cm_peer peer;	   /* from REQ or REP on */
	uint8_t data[CM_DATA_MAX]; /* private, of the message this is about */
	uint8_t data_len;
};
bool cm_event(struct cm *cm, struct cm_event *ev);

/* ---- a turn ---- */

/*
 * A MAD that came to queue pair 1: addresses of the packet that brought it.
 * Whatever is in it is counted, answered or dropped; none does harm.
 */
void cm_rx(struct cm *cm, uint64_t now, const uint8_t from[16],
	   const uint8_t to[16], const uint8_t *mad, uint32_t len);

struct cm_mad {
	uint8_t gid[16]; /* to whom */
	uint8_t mad[MAD_SIZE];
};
/* The next to send; false: none now. */
bool cm_tx(struct cm *cm, uint64_t now, struct cm_mad *out);
/* When cm_tx() must be called; 0: now, ~0: never. */
uint64_t cm_deadline(const struct cm *cm);

enum cm_counter {
	CM_C_RX,
	CM_C_TX,
	CM_C_BAD,	  /* size, version, class or method of the header */
	CM_C_UNSUPPORTED, /* no message we know, or a Get or Set */
	CM_C_DUPLICATE,
	CM_C_STRANGER, /* of a connection that the sender has not with us */
	CM_C_STATE,    /* not expected as the connection stands */
	CM_C_REJ_RX,
	CM_C_REJ_TX,
	CM_C_REPLY_LOST, /* too many to answer at a time */
	CM_C_RETRY,
	CM_C_TIMEOUT,
	CM_C_MAX
};
uint64_t cm_counter(const struct cm *cm, enum cm_counter c);
const char *cm_counter_name(enum cm_counter c);
/* Connections that are, with those in time wait. */
uint32_t cm_connections(const struct cm *cm);

#endif /* CM_CM_H */
