// SPDX-License-Identifier: BSD-2-Clause
/* The connections: made, found, freed.  A fixed number of places. */
#include "priv.h"

uint64_t next_random(struct cm *cm)
{
	uint64_t z = cm->random += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Low bits say the place; the rest are random, so that an old ID is no one's,
 * and a stranger does not guess one.  0 means none on the wire.
 */
struct conn *conn_new(struct cm *cm)
{
	uint32_t start = next_random(cm) & cm->mask, at = start;
	struct conn *c;

	if (cm->used > cm->mask)
		return NULL;
	while (cm->conn[at].state != IDLE)
		at = (at + 1) & cm->mask;
	c = &cm->conn[at];
	memset(c, 0, sizeof(*c));
	do {
		c->id = ((uint32_t)next_random(cm) & ~cm->mask) | at;
	} while (!c->id);
	c->deadline = NO_DEADLINE;
	c->retries = cm->attr.max_retries;
	cm->used++;
	return c;
}

struct conn *conn_find(struct cm *cm, uint32_t id)
{
	struct conn *c = &cm->conn[id & cm->mask];

	return c->state != IDLE && c->id == id ? c : NULL;
}

/* ---- by what the peer calls it ---- */

static uint32_t place(const struct cm *cm, const uint8_t gid[16], uint32_t v)
{
	uint64_t half[2], z;

	memcpy(half, gid, 16);
	z = (half[0] ^ cm->attr.seed) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 29 ^ half[1] ^ v) * 0x94d049bb133111ebULL;
	return (z ^ z >> 32) & cm->mask;
}

void conn_known(struct cm *cm, struct conn *c)
{
	struct conn **head = &cm->by_id[place(cm, c->peer.gid, c->remote_id)];

	c->by_id = *head;
	*head = c;
	head = &cm->by_qpn[place(cm, c->peer.gid, c->peer.qpn)];
	c->by_qpn = *head;
	*head = c;
}

static void unlink_id(struct cm *cm, struct conn *c)
{
	struct conn **p = &cm->by_id[place(cm, c->peer.gid, c->remote_id)];

	while (*p && *p != c)
		p = &(*p)->by_id;
	if (*p)
		*p = c->by_id;
}

static void unlink_qpn(struct cm *cm, struct conn *c)
{
	struct conn **p = &cm->by_qpn[place(cm, c->peer.gid, c->peer.qpn)];

	while (*p && *p != c)
		p = &(*p)->by_qpn;
	if (*p)
		*p = c->by_qpn;
}

struct conn *conn_by_remote(struct cm *cm, const uint8_t gid[16], uint64_t guid,
			    uint32_t remote_id)
{
	struct conn *c = cm->by_id[place(cm, gid, remote_id)];

	while (c && (c->remote_id != remote_id || c->remote_guid != guid ||
		     memcmp(c->peer.gid, gid, 16)))
		c = c->by_id;
	return c;
}

struct conn *conn_by_qpn(struct cm *cm, const uint8_t gid[16], uint32_t qpn)
{
	struct conn *c = cm->by_qpn[place(cm, gid, qpn)];

	while (c && (c->peer.qpn != qpn || memcmp(c->peer.gid, gid, 16)))
		c = c->by_qpn;
	return c;
}

/* ---- states ---- */

/* IBTA 12.9.7, without those that only say that an MRA was sent or came. */
static const uint8_t may_go[STATES] = {
	[IDLE] = 1 << REQ_SENT | 1 << REQ_RCVD,
	[REQ_SENT] = 1 << REP_RCVD | 1 << TIMEWAIT,
	[REP_RCVD] = 1 << ESTABLISHED | 1 << TIMEWAIT,
	[REQ_RCVD] = 1 << REP_SENT | 1 << TIMEWAIT,
	[REP_SENT] = 1 << ESTABLISHED | 1 << TIMEWAIT,
	[ESTABLISHED] = 1 << DREQ_SENT | 1 << TIMEWAIT,
	[DREQ_SENT] = 1 << TIMEWAIT,
	[TIMEWAIT] = 1 << IDLE,
};

static void backlog_leave(struct cm *cm, struct conn *c)
{
	if (c->backlog)
		cm->listener[c->backlog - 1].waiting--;
	c->backlog = 0;
}

static void list_del(struct list *l, struct conn *c, size_t next_at)
{
	struct conn **p = &l->head, *last = NULL;

	while (*p && *p != c) {
		last = *p;
		p = (struct conn **)((char *)*p + next_at);
	}
	if (!*p)
		return;
	*p = *(struct conn **)((char *)c + next_at);
	if (l->tail == c)
		l->tail = last;
}

/* What the old state had to say is not said any more. */
static void tx_leave(struct cm *cm, struct conn *c)
{
	if (c->in_tx)
		list_del(&cm->tx, c, offsetof(struct conn, tx_next));
	c->in_tx = false;
}

void conn_set(struct cm *cm, struct conn *c, enum state state)
{
	if (!(may_go[c->state] & 1 << state))
		__builtin_trap(); /* ours to know: no input decides it */
	if (c->state == REQ_RCVD)
		backlog_leave(cm, c);
	tx_leave(cm, c);
	c->state = state;
	c->deadline = NO_DEADLINE;
	c->tries = c->retries + 1;
	c->mra_seen = false;
}

void conn_free(struct cm *cm, struct conn *c)
{
	if (c->in_events)
		list_del(&cm->events, c, offsetof(struct conn, events_next));
	unlink_id(cm, c);
	unlink_qpn(cm, c);
	conn_set(cm, c, IDLE);
	cm->used--;
}
