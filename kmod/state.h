/* SPDX-License-Identifier: GPL-2.0-only */
/* Which state may follow which.  Pure. */
#ifndef WBELL_KMOD_STATE_H
#define WBELL_KMOD_STATE_H

#include <linux/types.h>
#include "../include/wbell/uapi.h"

/* An object.  It is dead when nothing reaches its memory any more. */
enum wbell_state {
	WBELL_LIVE,
	WBELL_REVOKING,
	WBELL_DEAD,
	WBELL_STATES,
};

static inline bool wbell_state_may(unsigned int from, unsigned int to)
{
	switch (from) {
	case WBELL_LIVE:
		return to == WBELL_REVOKING;
	case WBELL_REVOKING:
		return to == WBELL_DEAD;
	default:
		return false;
	}
}

/* A queue, in the states of the uAPI.  An error is for ever. */
static inline bool wbell_queue_may(unsigned int from, unsigned int to)
{
	switch (from) {
	case WBELL_QUEUE_RESET:
		return to == WBELL_QUEUE_READY || to == WBELL_QUEUE_ERR;
	case WBELL_QUEUE_READY:
		return to == WBELL_QUEUE_ERR;
	default:
		return false;
	}
}

#endif /* WBELL_KMOD_STATE_H */
