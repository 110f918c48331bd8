/* SPDX-License-Identifier: BSD-2-Clause */
/* Which MADs of the link are lost on purpose. */
#ifndef INTEROP_MADS_H
#define INTEROP_MADS_H

#include <stdbool.h>
#include <stdint.h>

enum mads_loss {
	MADS_PASS,
	MADS_LOSE_FIRST, /* the first of each kind, each way */
	MADS_LOSE_ALL,
};

/* A frame that leaves (out) or comes; false too for what is no MAD. */
bool mads_lost(enum mads_loss how, bool out, const uint8_t *frame,
	       uint32_t len);
unsigned mads_count(void); /* lost so far */

#endif /* INTEROP_MADS_H */
