/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Compatibility views: our queues as other people's device code knows them.
 *
 * Such code may ring before its WQEs can be seen by the CPU (its fences end
 * at the GPU).  A queue made with WBELL_QUEUE_COMPAT is served with that in
 * mind: the software NIC takes a WQE only when it is there in whole, and
 * knows the opcodes WAIT and DUMP.
 */
#ifndef WBELL_COMPAT_H
#define WBELL_COMPAT_H

#include "wbell.h"
#include "compat_doca.h"

#ifdef __cplusplus
extern "C" {
#endif

enum wbell_compat_kind {
	WBELL_COMPAT_DOCA_V1 = 1, /* out: struct wbell_doca_qp_v1 */
	WBELL_COMPAT_DOCA_V2,	  /* out: struct wbell_doca_qp_v2 */
};

/*
 * Fill out, host memory of exactly size bytes, with the view of this kind;
 * the caller copies it to where its device code wants it.  The view holds
 * the only counters of the queue, so use one of them, and take it before
 * anything is posted.  nic_handler is CPU_PROXY; cqn is the queue's number.
 *
 * -EINVAL: unknown kind, or size is not that of its struct; -EOPNOTSUPP: the
 * queue was not made with WBELL_QUEUE_COMPAT, or its NIC does not serve such
 * queues; -EBUSY: something has been posted.
 */
int wbell_queue_compat(struct wbell_queue *queue, unsigned kind, void *out,
		       size_t size);

#ifdef __cplusplus
}
#endif

#endif /* WBELL_COMPAT_H */
