/* SPDX-License-Identifier: BSD-2-Clause */
/* Barrier by dissemination: in round k each tells the rank 2^k further on. */
#ifndef WBELL_COLLECTIVES_BARRIER_H
#define WBELL_COLLECTIVES_BARRIER_H

#include "channel.h"

WBELL_FN int coll_barrier(struct coll_me *me)
{
	uint32_t by;
	int rc = 0;

	if (me->thread)
		return coll_agree(me, 0);
	for (by = 1; by < me->team->ranks && !rc; by *= 2) {
		rc = coll_tell(me, coll_next(me, by), COLL_WORD(data));
		if (!rc)
			rc = coll_await_data(me, coll_prev(me, by));
	}
	return coll_agree(me, rc);
}

#endif /* WBELL_COLLECTIVES_BARRIER_H */
