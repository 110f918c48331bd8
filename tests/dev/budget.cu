// SPDX-License-Identifier: BSD-2-Clause
/*
 * One kernel per operation for budget.sh to measure.  The script fixes the
 * doorbell kind, as a build that cares would.
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
	struct wbell_ticket ticket;
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
	*a.status = wbell_wait(a.q, a.ticket, a.deadline);
}

KERNEL(put_lanes)
{
	*a.status = wbell_put_lanes(a.q, a.src, a.lkey, a.dst, a.rkey, a.n,
				    a.t + wbell_lane());
}

KERNEL(put_warp)
{
	*a.status = wbell_put_warp(a.q, a.src, a.lkey, a.dst, a.rkey, a.n, a.t);
}

KERNEL(put_block)
{
	*a.status =
		wbell_put_block(a.q, a.src, a.lkey, a.dst, a.rkey, a.n, a.t);
}

KERNEL(get)
{
	*a.status = wbell_get(a.q, a.src, a.lkey, a.dst, a.rkey, a.n, a.t);
}

KERNEL(put_inline)
{
	*a.status = wbell_put_inline(a.q, &a.imm, 4, a.dst, a.rkey, a.t);
}

KERNEL(fetch_add)
{
	*a.status = wbell_fetch_add(a.q, a.src, a.lkey, a.dst, a.rkey, 1, a.t);
}

KERNEL(test)
{
	*a.status = wbell_test(a.q, a.ticket);
}
