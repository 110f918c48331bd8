// SPDX-License-Identifier: BSD-2-Clause
/*
 * The installed NCCL's own device functions on our view: a compiler's check
 * that the two fit.  It is not run.  VIEW: struct wbell_doca_qp_v1, or _v2.
 */
#include <nccl_device/gin/gdaki/doca_gpunetio/doca_gpunetio_device.h>

#include "wbell/compat_doca.h"

struct arg {
	VIEW *main_q, *side_q;
	__u64 src, dst, counter, n;
	__be32 lkey, rkey, sink_lkey;
};

#define QP(view) (reinterpret_cast<doca_gpu_dev_verbs_qp *>(view))

static_assert(sizeof(doca_gpu_dev_verbs_qp) == sizeof(*arg::main_q),
	      "VIEW is what is installed");

static __device__ doca_gpu_dev_verbs_addr at(__u64 addr, __be32 key)
{
	doca_gpu_dev_verbs_addr a;

	a.addr = addr;
	a.key = key;
	return a;
}

extern "C" __global__ void put(struct arg a)
{
	doca_gpu_dev_verbs_put<>(QP(a.main_q), at(a.dst, a.rkey),
				 at(a.src, a.lkey), a.n);
}

extern "C" __global__ void put_value(struct arg a)
{
	doca_gpu_dev_verbs_p<__u64>(QP(a.main_q), at(a.dst, a.rkey), a.n);
}

extern "C" __global__ void put_signal(struct arg a)
{
	doca_gpu_dev_verbs_put_signal<DOCA_GPUNETIO_VERBS_SIGNAL_OP_ADD>(
		QP(a.main_q), at(a.dst, a.rkey), at(a.src, a.lkey), a.n,
		at(a.counter, a.rkey), at(0, a.sink_lkey), 1);
}

extern "C" __global__ void put_counter(struct arg a)
{
	doca_gpu_dev_verbs_put_counter<>(
		QP(a.main_q), at(a.dst, a.rkey), at(a.src, a.lkey), a.n,
		QP(a.side_q), at(a.counter, a.rkey), at(0, a.sink_lkey), 1);
}

extern "C" __global__ void flush(struct arg a)
{
	doca_gpu_dev_verbs_wait<>(QP(a.main_q));
}
