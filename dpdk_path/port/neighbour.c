// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "family.h"

/* Asked again after 100 ms, then less often, at last each second. */
#define ASK_FIRST_NS 100000000ULL
#define ASK_LAST_NS  1000000000ULL
/*
 * At start we tell all of our address, and switches of our group: three
 * times, a second apart (RFC 4861 MAX_NEIGHBOR_ADVERTISEMENT).
 */
#define ANNOUNCE    3
#define ANNOUNCE_NS 1000000000ULL
/* Reports on demand: within a second, and not more often than this. */
#define REPORT_DELAY_MS 1000
#define REPORT_GAP_NS	100000000ULL
#define NS_PER_MS	1000000ULL

enum state { FREE, ASKED, KNOWN };

struct entry {
	uint8_t state; /* enum state */
	uint8_t gid[GID_SIZE], mac[6];
	uint64_t next;	/* when to ask */
	uint64_t delay; /* until the time after that */
	uint64_t used;	/* when it was last wanted */
};

struct neighbours {
	const struct family *family;
	struct family_self self;
	unsigned announce;
	uint64_t announce_at;
	bool report;	    /* one is due at report_at */
	uint64_t report_at; /* or the last was sent then */
	uint64_t next;	    /* no entry is due before */
	uint64_t count[NEIGHBOUR_C_MAX];
	struct entry entry[NEIGHBOUR_MAX];
};

int neighbours_create(const uint8_t gid[GID_SIZE], const uint8_t mac[6],
		      struct neighbours **out)
{
	struct neighbours *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->family = gid_is_ipv4(gid) ? &family_arp : &family_nd;
	memcpy(n->self.gid, gid, GID_SIZE);
	memcpy(n->self.mac, mac, 6);
	n->announce = ANNOUNCE;
	n->report = n->family->report;
	n->next = ~0ULL;
	*out = n;
	return 0;
}

void neighbours_destroy(struct neighbours *n)
{
	free(n);
}

static struct entry *find(struct neighbours *n, const uint8_t *gid)
{
	struct entry *e;

	for (e = n->entry; e < n->entry + NEIGHBOUR_MAX; e++)
		if (e->state != FREE && gid_equal(e->gid, gid))
			return e;
	return NULL;
}

/* A free place, or that of the known address unused for longest. */
static struct entry *place(struct neighbours *n)
{
	struct entry *e, *old = NULL;

	for (e = n->entry; e < n->entry + NEIGHBOUR_MAX; e++) {
		if (e->state == FREE)
			return e;
		if (e->state == KNOWN && (!old || e->used < old->used))
			old = e;
	}
	return old;
}

bool neighbours_want(struct neighbours *n, uint64_t now,
		     const uint8_t gid[GID_SIZE], uint8_t mac[6])
{
	struct entry *e = find(n, gid);

	if (!e) {
		e = place(n);
		if (!e) {
			n->count[NEIGHBOUR_C_FULL]++;
			return false;
		}
		memset(e, 0, sizeof(*e));
		e->state = ASKED;
		memcpy(e->gid, gid, GID_SIZE);
		e->next = now;
		e->delay = ASK_FIRST_NS;
		n->next = now;
	}
	e->used = now;
	if (e->state != KNOWN)
		return false;
	memcpy(mac, e->mac, 6);
	return true;
}

/* Only what was asked for: nobody fills the table from outside. */
static void learn(struct neighbours *n, const struct family_word *w,
		  struct neighbour_news *news)
{
	struct entry *e = find(n, w->gid);

	if (!e)
		return;
	if (e->state == KNOWN && (!w->override || !memcmp(e->mac, w->mac, 6)))
		return;
	e->state = KNOWN;
	memcpy(e->mac, w->mac, 6);
	news->learned = true;
	memcpy(news->gid, e->gid, GID_SIZE);
	memcpy(news->mac, e->mac, 6);
}

static void take(struct neighbours *n, const struct family_word *w,
		 struct neighbour_news *news)
{
	/* Our own, come back by a loop in the network. */
	if (!memcmp(w->from, n->self.mac, 6) ||
	    (w->has_mac && !memcmp(w->mac, n->self.mac, 6)))
		return;
	if (!w->nobody && gid_equal(w->gid, n->self.gid)) {
		n->count[NEIGHBOUR_C_CONFLICT]++;
		news->conflict = true;
		memcpy(news->gid, w->gid, GID_SIZE);
		memcpy(news->mac, w->has_mac ? w->mac : w->from, 6);
		return;
	}
	if (w->has_mac && !w->nobody)
		learn(n, w, news);
	if (!w->asks || !gid_equal(w->target, n->self.gid))
		return;
	news->reply = n->family->tell(&n->self, news->out, w);
	n->count[NEIGHBOUR_C_TELL_TX]++;
}

/*
 * Spread over the time that the querier grants, so that not all speak at once,
 * and not soon after the last one.
 */
static void query(struct neighbours *n, uint64_t now, uint32_t delay_ms)
{
	const uint8_t *m = n->self.mac;
	uint64_t spread = (m[3] << 16 | m[4] << 8 | m[5]) ^ now;

	if (n->report)
		return;
	if (delay_ms > REPORT_DELAY_MS)
		delay_ms = REPORT_DELAY_MS;
	n->report = true;
	n->report_at += REPORT_GAP_NS;
	now += spread % (delay_ms + 1) * NS_PER_MS;
	if (n->report_at < now)
		n->report_at = now;
}

bool neighbours_rx(struct neighbours *n, uint64_t now, const uint8_t *f,
		   uint32_t len, struct neighbour_news *news)
{
	struct family_word w = { .nobody = false };
	enum family_verdict verdict = n->family->parse(&n->self, f, len, &w);

	news->learned = news->conflict = false;
	news->reply = 0;
	if (verdict == FAMILY_OTHER)
		return false;
	n->count[NEIGHBOUR_C_RX]++;
	switch (verdict) {
	case FAMILY_SAYS:
		take(n, &w, news);
		break;
	case FAMILY_QUERY:
		query(n, now, w.delay_ms);
		break;
	case FAMILY_HOP_LIMIT:
		n->count[NEIGHBOUR_C_HOP_LIMIT]++;
		break;
	case FAMILY_CHECKSUM:
		n->count[NEIGHBOUR_C_CHECKSUM]++;
		break;
	default:
		n->count[NEIGHBOUR_C_BAD]++;
	}
	return true;
}

/* Ask for the first that is due; notes when the next will be. */
static struct entry *due(struct neighbours *n, uint64_t now)
{
	struct entry *e, *first = NULL;
	uint64_t next = ~0ULL;

	for (e = n->entry; e < n->entry + NEIGHBOUR_MAX; e++) {
		if (e->state != ASKED)
			continue;
		if (now - e->used > NEIGHBOUR_FORGET_NS)
			e->state = FREE;
		else if (e->next <= now && !first)
			first = e;
		else if (e->next < next)
			next = e->next;
	}
	if (first) {
		first->next = now + first->delay;
		first->delay *= 2;
		if (first->delay > ASK_LAST_NS)
			first->delay = ASK_LAST_NS;
		if (first->next < next)
			next = first->next;
	}
	n->next = next;
	return first;
}

uint32_t neighbours_tx(struct neighbours *n, uint64_t now,
		       uint8_t out[NEIGHBOUR_FRAME])
{
	struct entry *e;

	/* The group first: the switch then lets the answers through. */
	if (n->report && now >= n->report_at) {
		n->report = false;
		n->report_at = now;
		n->count[NEIGHBOUR_C_REPORT_TX]++;
		return n->family->report(&n->self, out);
	}
	if (n->announce && now >= n->announce_at) {
		n->announce--;
		n->announce_at = now + ANNOUNCE_NS;
		n->report = n->announce && n->family->report;
		n->report_at = n->announce_at;
		n->count[NEIGHBOUR_C_TELL_TX]++;
		return n->family->tell(&n->self, out, NULL);
	}
	if (now < n->next)
		return 0;
	e = due(n, now);
	if (!e)
		return 0;
	n->count[NEIGHBOUR_C_ASK_TX]++;
	return n->family->ask(&n->self, out, e->gid);
}

uint64_t neighbours_counter(const struct neighbours *n,
			    enum neighbour_counter c)
{
	return n->count[c];
}

const char *neighbours_counter_name(const struct neighbours *n,
				    enum neighbour_counter c)
{
	return n->family->counter[c];
}
