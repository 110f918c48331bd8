// SPDX-License-Identifier: BSD-2-Clause
/*
 * One kernel per operation, at thread scope, for budget.sh to measure.  The
 * script fixes the doorbell kind, as a build that cares would.
 */
#include "wbell/device.h"
#include "wbell/layout.h"

struct arg {
	struct wbell_dqueue *q;
	__u64 src, dst, n, sig;
	__u32 lkey, rkey, sig_rkey, imm;
	__u64 deadline;
	struct wbell_ticket *t;
	int *status;
};

#define KERNEL(name) extern "C" __global__ void name(struct arg a)

KERNEL(put)
{
	*a.status = wbell_put(a.q, a.src, a.lkey, a.dst, a.rkey, a.n, a.t);
}

KERNEL(put_signal)
{
	*a.status = wbell_put_signal(a.q, a.src, a.lkey, a.dst, a.rkey, a.n,
				     a.sig, a.sig_rkey, 1, WBELL_ORDER_NIC,
				     a.t);
}

KERNEL(put_signal_fence)
{
	*a.status = wbell_put_signal(a.q, a.src, a.lkey, a.dst, a.rkey, a.n,
				     a.sig, a.sig_rkey, 1, WBELL_ORDER_FENCE,
				     a.t);
}

KERNEL(wait)
{
	*a.status = wbell_wait(a.q, *a.t, a.deadline);
}
