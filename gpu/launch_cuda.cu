// SPDX-License-Identifier: BSD-2-Clause
/* Grids on a GPU: the calls of launch.h over the CUDA runtime. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda_runtime.h>

#include "launch.h"

#define POLL_NS 20000

struct wbell_launch {
	cudaStream_t stream;
	void *args;
};

static int to_errno(cudaError_t rc)
{
	switch (rc) {
	case cudaSuccess:
		return 0;
	case cudaErrorMemoryAllocation:
		return -ENOMEM;
	case cudaErrorInvalidValue:
	case cudaErrorInvalidConfiguration:
		return -EINVAL;
	case cudaErrorNoDevice:
	case cudaErrorInsufficientDriver:
	case cudaErrorNoKernelImageForDevice:
		return -ENODEV;
	case cudaErrorHostMemoryAlreadyRegistered:
		return -EEXIST;
	default:
		return -EIO;
	}
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

const char *wbell_launch_device(void)
{
	static __thread cudaDeviceProp prop;

	if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess)
		return "no usable GPU";
	return prop.name;
}

int wbell_launch(const struct wbell_grid *grid, wbell_kernel_fn kernel,
		 void *args, struct wbell_launch **launch)
{
	struct wbell_launch *l;
	void *params[1];
	cudaError_t rc;

	if (!grid || !kernel || !launch || !grid->blocks || !grid->threads ||
	    grid->blocks > 65535 || grid->threads > 1024)
		return -EINVAL;
	l = (struct wbell_launch *)calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->args = args;
	rc = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
	if (rc != cudaSuccess)
		goto free_launch;
	params[0] = &l->args;
	rc = cudaLaunchKernel((const void *)kernel, dim3(grid->blocks),
			      dim3(grid->threads), params, 0, l->stream);
	if (rc != cudaSuccess)
		goto destroy_stream;
	*launch = l;
	return 0;

destroy_stream:
	cudaStreamDestroy(l->stream);
free_launch:
	free(l);
	return to_errno(rc);
}

int wbell_launch_wait(struct wbell_launch *l, uint64_t timeout_us)
{
	const struct timespec ts = { 0, POLL_NS };
	uint64_t start = now_us();
	cudaError_t rc;

	if (!l)
		return -EINVAL;
	while ((rc = cudaStreamQuery(l->stream)) == cudaErrorNotReady) {
		if (now_us() - start >= timeout_us)
			return -ETIMEDOUT;
		nanosleep(&ts, NULL);
	}
	cudaStreamDestroy(l->stream);
	free(l);
	return to_errno(rc);
}

void *wbell_launch_alloc(size_t size)
{
	void *mem;

	if (!size || cudaHostAlloc(&mem, size,
				   cudaHostAllocPortable |
					   cudaHostAllocMapped) != cudaSuccess)
		return NULL;
	return memset(mem, 0, size);
}

void wbell_launch_free(void *mem)
{
	if (mem)
		cudaFreeHost(mem);
}

/* The same address in the kernel, or none: queues hold addresses. */
int wbell_launch_map(void *addr, size_t size)
{
	cudaError_t rc;
	void *dev;

	if (!addr || !size)
		return -EINVAL;
	rc = cudaHostRegister(
		addr, size, cudaHostRegisterPortable | cudaHostRegisterMapped);
	if (rc != cudaSuccess)
		return to_errno(rc);
	rc = cudaHostGetDevicePointer(&dev, addr, 0);
	if (rc == cudaSuccess && dev == addr)
		return 0;
	cudaHostUnregister(addr);
	return rc == cudaSuccess ? -ENODEV : to_errno(rc);
}

int wbell_launch_unmap(void *addr)
{
	return addr ? to_errno(cudaHostUnregister(addr)) : -EINVAL;
}
