// SPDX-License-Identifier: BSD-2-Clause
/*
 * The put, put with signal and wait that NCCL's own headers have, where they
 * are installed: what budget.sh sets beside ours.  HANDLER is 1 for a word
 * that a CPU reads, 2 for the register.
 */
#define DOCA_VERBS_USE_CUDA_WRAPPER
#define DOCA_VERBS_USE_NET_WRAPPER
#include <nccl_device/gin/gdaki/doca_gpunetio/doca_gpunetio_device.h>

#define SHARED DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_GPU
#define NIC    ((enum doca_gpu_dev_verbs_nic_handler)HANDLER)

struct arg {
	struct doca_gpu_dev_verbs_qp *qp;
	struct doca_gpu_dev_verbs_addr dst, src, sig, sink;
	size_t n;
	doca_gpu_dev_verbs_ticket_t *t, ticket;
};

extern "C" __global__ void put(struct arg a)
{
	doca_gpu_dev_verbs_put<SHARED, NIC>(a.qp, a.dst, a.src, a.n, a.t);
}

extern "C" __global__ void put_signal(struct arg a)
{
	doca_gpu_dev_verbs_put_signal<DOCA_GPUNETIO_VERBS_SIGNAL_OP_ADD, SHARED,
				      NIC>(a.qp, a.dst, a.src, a.n, a.sig,
					   a.sink, 1, a.t);
}

extern "C" __global__ void wait(struct arg a)
{
	doca_gpu_dev_verbs_wait<SHARED, NIC>(a.qp, a.ticket);
}
