/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two families of neighbours: what their frames say, and how they are
 * built.  No state but the caller's.
 */
#ifndef WBELL_FAMILY_H
#define WBELL_FAMILY_H

#include "neighbour.h"

/* Who we are; multicast frames are built for it too. */
struct family_self {
	uint8_t gid[GID_SIZE], mac[6];
};

enum family_verdict {
	FAMILY_OTHER, /* no frame of this family's neighbours, or not for us */
	FAMILY_SAYS,
	FAMILY_QUERY, /* asks which groups are listened to (RFC 3810) */
	FAMILY_BAD,   /* these three are counted and dropped */
	FAMILY_HOP_LIMIT,
	FAMILY_CHECKSUM,
};

/* What a frame says. */
struct family_word {
	bool has_mac;  /* gid is at mac, says the sender */
	bool override; /* even when another mac is known */
	bool asks;     /* where target is */
	bool nobody;   /* who asks has no address yet: a probe */
	uint8_t gid[GID_SIZE], mac[6];
	uint8_t target[GID_SIZE];
	uint8_t from[6];   /* the Ethernet sender */
	uint32_t delay_ms; /* query: the longest time to answer in */
};

struct family {
	enum family_verdict (*parse)(const struct family_self *self,
				     const uint8_t *frame, uint32_t len,
				     struct family_word *word);
	/* All three return the frame's length; out has NEIGHBOUR_FRAME. */
	uint32_t (*ask)(const struct family_self *self, uint8_t *out,
			const uint8_t gid[GID_SIZE]);
	/* word NULL: tell all, unasked. */
	uint32_t (*tell)(const struct family_self *self, uint8_t *out,
			 const struct family_word *word);
	/* NULL: the family has no groups. */
	uint32_t (*report)(const struct family_self *self, uint8_t *out);
	const char *counter[NEIGHBOUR_C_MAX];
};
extern const struct family family_arp, family_nd;

/* No group, not zero. */
static inline bool family_mac_ok(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return !(mac[0] & 1) && memcmp(mac, zero, 6);
}

#endif /* WBELL_FAMILY_H */
