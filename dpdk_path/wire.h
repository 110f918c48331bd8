/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire spec: KIND:ARG[,KEY=VALUE ...], as wbell_open_attr describes it.
 */
#ifndef WBELL_WIRE_H
#define WBELL_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <wbell/provider.h>

#include "nic/gid.h"

enum wire_kind { WIRE_RING, WIRE_MEMIF, WIRE_AF_PACKET };
enum wire_role { WIRE_ROLE_ANY, WIRE_ROLE_SERVER, WIRE_ROLE_CLIENT };

/* Probabilities in units of 2^-32. */
struct wire_fault {
	uint32_t drop, dup, reorder, corrupt;
	uint64_t seed;
};

#define WIRE_ARG_MAX 104 /* a socket path, two spare bytes for "./" */

struct wire {
	enum wire_kind kind;
	enum wire_role role;
	char arg[WIRE_ARG_MAX];
	uint8_t gid[GID_SIZE]; /* its address */
	uint8_t prefix; /* as written: of 32 or 128; 0: all are on the link */
	uint8_t mac[6];
	uint32_t mtu; /* 0: the port's */
	bool has_fault;
	struct wire_fault fault;
	char capture[256]; /* "": none */
};

/* Fills every field; what the spec leaves out is chosen here. */
int wire_parse(const char *spec, struct wire *w, struct wbell_err *err);
const char *wire_kind_name(enum wire_kind kind);

/* Bytes of an IP packet besides the payload, at most, of this address. */
uint32_t wire_headers(const struct wire *w);
/* Largest path MTU under a link MTU, 0: not even the smallest. */
uint32_t wire_path_mtu(const struct wire *w, uint32_t mtu);
/* Is gid, of the same family, on the link: in the prefix, or link-local? */
bool wire_on_link(const struct wire *w, const uint8_t gid[GID_SIZE]);

#endif /* WBELL_WIRE_H */
