// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arp.h"

#define ARP_SIZE       42 /* Ethernet header and ARP for Ethernet and IPv4 */
#define ARP_OP_REQUEST 1
#define ARP_OP_REPLY   2

/* Asked again after 100 ms, then less often, at last each second. */
#define ARP_FIRST_NS 100000000ULL
#define ARP_LAST_NS  1000000000ULL
#define ARP_ANNOUNCE 3 /* gratuitous ones at start, ARP_LAST_NS apart */

enum arp_state { ARP_FREE, ARP_ASKED, ARP_KNOWN };

struct entry {
	uint8_t state; /* enum arp_state */
	uint8_t ip[4], mac[6];
	uint64_t next;	/* when to ask */
	uint64_t delay; /* until the time after that */
	uint64_t used;	/* when it was last wanted */
};

struct arp {
	uint8_t ip[4], mac[6];
	unsigned announce;
	uint64_t announce_at;
	uint64_t next; /* no entry is due before */
	uint64_t count[ARP_C_MAX];
	struct entry entry[ARP_MAX];
};

/* Offsets in a frame. */
enum {
	A_DST = 0,
	A_SRC = 6,
	A_HEAD = 12, /* EtherType, types and lengths: always these bytes */
	A_OP = 20,
	A_SHA = 22,
	A_SPA = 28,
	A_THA = 32,
	A_TPA = 38,
};
static const uint8_t head[8] = { 0x08, 0x06, 0, 1, 0x08, 0, 6, 4 };

int arp_create(const uint8_t ip[4], const uint8_t mac[6], struct arp **arp)
{
	struct arp *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	memcpy(a->ip, ip, 4);
	memcpy(a->mac, mac, 6);
	a->announce = ARP_ANNOUNCE;
	a->next = ~0ULL;
	*arp = a;
	return 0;
}

void arp_destroy(struct arp *a)
{
	free(a);
}

static void build(const struct arp *a, uint8_t *out, uint8_t op,
		  const uint8_t tha[6], const uint8_t tpa[4])
{
	memset(out, 0, ARP_FRAME);
	memcpy(out + A_SRC, a->mac, 6);
	memcpy(out + A_HEAD, head, sizeof(head));
	out[A_OP + 1] = op;
	memcpy(out + A_SHA, a->mac, 6);
	memcpy(out + A_SPA, a->ip, 4);
	memcpy(out + A_TPA, tpa, 4);
	if (tha) {
		memcpy(out + A_DST, tha, 6);
		memcpy(out + A_THA, tha, 6);
	} else {
		memset(out + A_DST, 0xff, 6);
	}
}

static struct entry *find(struct arp *a, const uint8_t *ip)
{
	unsigned i;

	for (i = 0; i < ARP_MAX; i++)
		if (a->entry[i].state != ARP_FREE &&
		    !memcmp(a->entry[i].ip, ip, 4))
			return &a->entry[i];
	return NULL;
}

/* A free place, or that of the known address unused for longest. */
static struct entry *place(struct arp *a)
{
	struct entry *e, *old = NULL;

	for (e = a->entry; e < a->entry + ARP_MAX; e++) {
		if (e->state == ARP_FREE)
			return e;
		if (e->state == ARP_KNOWN && (!old || e->used < old->used))
			old = e;
	}
	return old;
}

bool arp_want(struct arp *a, uint64_t now, const uint8_t ip[4], uint8_t mac[6])
{
	struct entry *e = find(a, ip);

	if (!e) {
		e = place(a);
		if (!e) {
			a->count[ARP_C_FULL]++;
			return false;
		}
		memset(e, 0, sizeof(*e));
		e->state = ARP_ASKED;
		memcpy(e->ip, ip, 4);
		e->next = now;
		e->delay = ARP_FIRST_NS;
		a->next = now;
	}
	e->used = now;
	if (e->state != ARP_KNOWN)
		return false;
	memcpy(mac, e->mac, 6);
	return true;
}

/* A sender must be one host: no group MAC, no zero or group IP. */
static bool sane(const uint8_t *f, uint32_t len)
{
	static const uint8_t zero[6];

	if (len < ARP_SIZE || memcmp(f + A_HEAD, head, sizeof(head)))
		return false;
	if (f[A_OP] ||
	    (f[A_OP + 1] != ARP_OP_REQUEST && f[A_OP + 1] != ARP_OP_REPLY))
		return false;
	if ((f[A_SHA] & 1) || !memcmp(f + A_SHA, zero, 6))
		return false;
	return f[A_SPA] < 224;
}

static void learn(struct arp *a, const uint8_t *f, struct arp_news *news)
{
	struct entry *e = find(a, f + A_SPA);

	if (!e)
		return;
	if (e->state == ARP_KNOWN && !memcmp(e->mac, f + A_SHA, 6))
		return;
	e->state = ARP_KNOWN;
	memcpy(e->mac, f + A_SHA, 6);
	news->learned = true;
	memcpy(news->ip, e->ip, 4);
	memcpy(news->mac, e->mac, 6);
}

void arp_rx(struct arp *a, uint64_t now, const uint8_t *f, uint32_t len,
	    struct arp_news *news)
{
	news->reply = news->learned = news->conflict = false;
	a->count[ARP_C_RX]++;
	if (!sane(f, len)) {
		a->count[ARP_C_BAD]++;
		return;
	}
	/* Our own, come back by a loop in the network. */
	if (!memcmp(f + A_SHA, a->mac, 6))
		return;
	if (!memcmp(f + A_SPA, a->ip, 4)) {
		a->count[ARP_C_CONFLICT]++;
		news->conflict = true;
		memcpy(news->ip, a->ip, 4);
		memcpy(news->mac, f + A_SHA, 6);
		return;
	}
	learn(a, f, news);
	/* A zero sender address is a probe (RFC 5227): it is answered too. */
	if (f[A_OP + 1] != ARP_OP_REQUEST || memcmp(f + A_TPA, a->ip, 4))
		return;
	news->reply = true;
	build(a, news->out, ARP_OP_REPLY, f + A_SHA, f + A_SPA);
	a->count[ARP_C_REPLY_TX]++;
}

/* Ask for the first that is due; notes when the next will be. */
static struct entry *due(struct arp *a, uint64_t now)
{
	struct entry *e, *first = NULL;
	uint64_t next = ~0ULL;

	for (e = a->entry; e < a->entry + ARP_MAX; e++) {
		if (e->state != ARP_ASKED)
			continue;
		if (now - e->used > ARP_FORGET_NS)
			e->state = ARP_FREE;
		else if (e->next <= now && !first)
			first = e;
		else if (e->next < next)
			next = e->next;
	}
	if (first) {
		first->next = now + first->delay;
		first->delay *= 2;
		if (first->delay > ARP_LAST_NS)
			first->delay = ARP_LAST_NS;
		if (first->next < next)
			next = first->next;
	}
	a->next = next;
	return first;
}

bool arp_tx(struct arp *a, uint64_t now, uint8_t out[ARP_FRAME])
{
	struct entry *e;

	if (a->announce && now >= a->announce_at) {
		a->announce--;
		a->announce_at = now + ARP_LAST_NS;
		build(a, out, ARP_OP_REQUEST, NULL, a->ip);
		a->count[ARP_C_REQUEST_TX]++;
		return true;
	}
	if (now < a->next)
		return false;
	e = due(a, now);
	if (!e)
		return false;
	build(a, out, ARP_OP_REQUEST, NULL, e->ip);
	a->count[ARP_C_REQUEST_TX]++;
	return true;
}

uint64_t arp_counter(const struct arp *a, enum arp_counter c)
{
	return a->count[c];
}

const char *arp_counter_name(enum arp_counter c)
{
	static const char *const name[ARP_C_MAX] = {
		[ARP_C_RX] = "arp_rx",
		[ARP_C_BAD] = "arp_bad",
		[ARP_C_REQUEST_TX] = "arp_request_tx",
		[ARP_C_REPLY_TX] = "arp_reply_tx",
		[ARP_C_CONFLICT] = "arp_conflict",
		[ARP_C_FULL] = "arp_table_full",
	};

	return name[c];
}
