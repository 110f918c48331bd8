/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults on purpose: frames on their way out are dropped, doubled, held back
 * or damaged, as a seed says.
 */
#ifndef WBELL_FAULT_H
#define WBELL_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "../wire.h"

struct rte_mbuf;
struct fault;

#define FAULT_HELD_MAX 16
#define FAULT_HOLD_NS  200000 /* longest hold when nothing follows */

int fault_create(const struct wire_fault *spec, struct fault **fault);
void fault_destroy(struct fault *f);

/*
 * in: n frames; out: what to send instead, room for 2 * n + FAULT_HELD_MAX.
 * n 0: only what was held long enough.
 */
unsigned fault_tx(struct fault *f, uint64_t now, struct rte_mbuf *const *in,
		  unsigned n, struct rte_mbuf **out);
bool fault_holds(const struct fault *f);
unsigned fault_counters(const struct fault *f, struct wbell_counter *c,
			unsigned n);

#endif /* WBELL_FAULT_H */
