/* SPDX-License-Identifier: BSD-2-Clause */
/* A queue, with both its ends in one process, as two contexts. */
#ifndef KMOD_PAIR_H
#define KMOD_PAIR_H

#include "kmod.h"

struct pair {
	int app, daemon, ep;
	uint32_t nic, nic_id, object, queue;
	uint64_t cookie, len;
	char *mem; /* the app's three pages */
};

struct pair pair_make(uint32_t flags);
void pair_end(struct pair *p);
struct wbell_u_ep_info info_of(int ep);
uint32_t state_of(struct pair *p, uint32_t *reason);
/* The endpoint's map of a region. */
char *region(int ep, int i, int prot);
int grant(struct pair *p, uint32_t mreg, uint32_t flags);
int grant_at(int ep, uint32_t index, struct wbell_u_ep_grant *out);

#endif /* KMOD_PAIR_H */
