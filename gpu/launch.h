/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels that one source gives to a GPU (nvcc) and to CPU threads (gcc).
 *
 *	struct push_args {
 *		struct wbell_dqueue *q;
 *		int status;
 *	};
 *	WBELL_KERNEL(push, struct push_args, a)
 *	{
 *		struct wbell_thread me = wbell_thread();
 *
 *		if (me.thread == 0 && me.block == 0)
 *			a->status = wbell_put(a->q, ...);
 *	}
 *
 *	struct wbell_grid grid = { 0 };
 *	struct wbell_launch *launch;
 *
 *	grid.blocks = 2;
 *	grid.threads = 32;
 *	rc = wbell_launch(&grid, push, args, &launch);
 *	if (!rc)
 *		rc = wbell_launch_wait(launch, 5000000);
 *
 * Results go through args, which lies in wbell_launch_alloc() memory.  A file
 * that only launches declares the kernel by WBELL_KERNEL_DECLARE(push);
 */
#ifndef WBELL_GPU_LAUNCH_H
#define WBELL_GPU_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "wbell/device.h"

#ifdef __cplusplus
#define WBELL_C_LINKAGE extern "C"
#else
#define WBELL_C_LINKAGE extern
#endif

typedef void (*wbell_kernel_fn)(void *args);

struct wbell_launch;

/* Zero means default. */
struct wbell_grid {
	uint32_t blocks;  /* 1..65535 */
	uint32_t threads; /* of a block, 1..1024 */
	uint32_t
		workers; /* OS threads that run the blocks; 0: 1; not for CUDA */
	uint32_t rsvd;
	/* Order in which a worker's threads run: 0 round robin, else random
	 * and the same again for the same seed, grid and number of workers.
	 */
	uint64_t seed;
};

struct wbell_thread {
	uint32_t thread;  /* in its block */
	uint32_t threads; /* of a block */
	uint32_t block;
	uint32_t blocks;
	uint32_t lane;	/* in its warp */
	uint32_t lanes; /* of the warp: 32, fewer in the block's last one */
	uint32_t warp;	/* in its block */
};

#define WBELL_WARP 32

#ifdef __CUDACC__
#define WBELL_KERNEL_DECLARE(name) extern "C" __global__ void name(void *args)
#define WBELL_KERNEL(name, type, arg)                    \
	static __device__ void name##_kernel(type *arg); \
	WBELL_KERNEL_DECLARE(name);                      \
	extern "C" __global__ void name(void *args)      \
	{                                                \
		name##_kernel((type *)args);             \
	}                                                \
	static __device__ void name##_kernel(type *arg)

static __device__ __forceinline__ struct wbell_thread wbell_thread(void)
{
	struct wbell_thread t;

	t.thread = threadIdx.x;
	t.threads = blockDim.x;
	t.block = blockIdx.x;
	t.blocks = gridDim.x;
	t.lane = threadIdx.x % WBELL_WARP;
	t.warp = threadIdx.x / WBELL_WARP;
	t.lanes = blockDim.x - t.warp * WBELL_WARP;
	if (t.lanes > WBELL_WARP)
		t.lanes = WBELL_WARP;
	return t;
}

/* Every thread of the block must come here before any goes on. */
static __device__ __forceinline__ void wbell_block_sync(void)
{
	__syncthreads();
}

static __device__ __forceinline__ unsigned wbell_warp_mask(void)
{
	return 0xffffffffU >> (WBELL_WARP - wbell_thread().lanes);
}

/* The same for the lanes of a warp. */
static __device__ __forceinline__ void wbell_warp_sync(void)
{
	__syncwarp(wbell_warp_mask());
}

/* Every lane gets the v of one lane; all of the warp must come here. */
static __device__ __forceinline__ uint64_t wbell_warp_read(uint64_t v,
							   uint32_t lane)
{
	return __shfl_sync(wbell_warp_mask(), (unsigned long long)v, (int)lane);
}
#else
#define WBELL_KERNEL_DECLARE(name) WBELL_C_LINKAGE void name(void *args)
#define WBELL_KERNEL(name, type, arg)         \
	static void name##_kernel(type *arg); \
	WBELL_KERNEL_DECLARE(name);           \
	void name(void *args)                 \
	{                                     \
		name##_kernel((type *)args);  \
	}                                     \
	static void name##_kernel(type *arg)

WBELL_C_LINKAGE struct wbell_thread wbell_thread(void);
WBELL_C_LINKAGE void wbell_block_sync(void);
WBELL_C_LINKAGE void wbell_warp_sync(void);
WBELL_C_LINKAGE uint64_t wbell_warp_read(uint64_t v, uint32_t lane);
/*
 * From here on the threads of the caller's worker run as if this had been the
 * seed of its grid, and as if all they wait for were among them, so that
 * nothing sleeps; for tests that replay one part of a kernel.
 */
WBELL_C_LINKAGE void wbell_launch_reseed(uint64_t seed);
#endif

/* "CPU threads", or the GPU's name; never NULL. */
WBELL_C_LINKAGE const char *wbell_launch_device(void);

/*
 * Start a grid; does not wait.  args stays the caller's and must outlive the
 * launch.  -EINVAL: grid; -ENOMEM; -ENODEV: no usable GPU.
 */
WBELL_C_LINKAGE int wbell_launch(const struct wbell_grid *grid,
				 wbell_kernel_fn kernel, void *args,
				 struct wbell_launch **launch);

/*
 * Join.  0: all threads returned, launch is gone.  -ETIMEDOUT: it still runs
 * and is still the caller's (abort the context, then wait again).  -EIO: the
 * GPU failed the kernel; launch is gone.
 */
WBELL_C_LINKAGE int wbell_launch_wait(struct wbell_launch *launch,
				      uint64_t timeout_us);

/* Zeroed memory that host and kernel share; NULL when there is none. */
WBELL_C_LINKAGE void *wbell_launch_alloc(size_t size);
WBELL_C_LINKAGE void wbell_launch_free(void *mem);

/*
 * Let kernels reach host memory that others allocated, at the same address
 * (whole pages; once per page).  Nothing to do for CPU threads.
 */
WBELL_C_LINKAGE int wbell_launch_map(void *addr, size_t size);
WBELL_C_LINKAGE int wbell_launch_unmap(void *addr);

#endif /* WBELL_GPU_LAUNCH_H */
