/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * What device.h needs of warps and blocks: who is here, a barrier, one
 * thread's word to all.  Two halves as in device_arch.h; the host half asks
 * the runtime that runs the kernel.
 */
#ifndef WBELL_DEVICE_ARCH_GROUP_H
#define WBELL_DEVICE_ARCH_GROUP_H

#include "device_arch.h"

#ifdef __CUDACC__

WBELL_FN __u32 wbell_lane(void)
{
	__u32 r;

	asm("mov.u32 %0, %%laneid;" : "=r"(r));
	return r;
}

WBELL_FN __u32 wbell_thread_in_block(void)
{
	return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x +
	       threadIdx.x;
}

WBELL_FN __u32 wbell_block_in_grid(void)
{
	return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

/* A block's last warp may be short of lanes. */
WBELL_FN __u32 wbell_lanes_all(void)
{
	__u32 threads = blockDim.x * blockDim.y * blockDim.z;
	__u32 left = threads - (wbell_thread_in_block() & ~31U);

	return left < 32 ? (1U << left) - 1 : ~0U;
}

/* The lanes that are here now, with us, and bring the same key. */
WBELL_FN __u32 wbell_lanes_alike(__u64 key)
{
	__u32 mask;

	asm volatile("{\n\t"
		     ".reg .b32 here;\n\t"
		     "activemask.b32 here;\n\t"
		     "match.any.sync.b64 %0, %1, here;\n\t"
		     "}"
		     : "=r"(mask)
		     : "l"(key)
		     : "memory");
	return mask;
}

WBELL_FN void wbell_lanes_sync(__u32 mask)
{
	asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}

/* What v is in one lane of mask. */
WBELL_FN __u32 wbell_lanes_read32(__u32 mask, __u32 v, __u32 lane)
{
	__u32 r;

	asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;"
		     : "=r"(r)
		     : "r"(v), "r"(lane), "r"(mask)
		     : "memory");
	return r;
}

WBELL_FN __u64 wbell_lanes_read(__u32 mask, __u64 v, __u32 lane)
{
	__u32 low = wbell_lanes_read32(mask, (__u32)v, lane);

	return (__u64)wbell_lanes_read32(mask, (__u32)(v >> 32), lane) << 32 |
	       low;
}

WBELL_FN void wbell_block_barrier(void)
{
	asm volatile("barrier.sync 0;" ::: "memory");
}

/* Memory of the block for what its first thread has to say. */
WBELL_FN __u64 *wbell_block_room(void)
{
	__shared__ __u64 room[2];

	return room;
}

WBELL_FN __u32 wbell_popcount(__u32 v)
{
	return (__u32)__popc(v);
}

/* The highest bit set; v is not 0. */
WBELL_FN __u32 wbell_top_bit(__u32 v)
{
	return 31 - (__u32)__clz(v);
}

#else /* host */

/*
 * What a runtime that runs kernels tells of warps and blocks: a link with
 * one has this, and it gives NULL outside a kernel.  Without it, a thread is
 * a warp and a block of its own.
 */
struct wbell_host_group {
	__u32 (*lane)(void);
	__u32 (*lanes_all)(void);
	__u32 (*lanes_alike)(__u64 key);
	void (*lanes_sync)(__u32 mask);
	__u64 (*lanes_read)(__u32 mask, __u64 v, __u32 lane);
	__u32 (*thread_in_block)(void);
	__u32 (*block_in_grid)(void);
	void (*block_barrier)(void);
	__u64 *(*block_room)(void);
};

#ifdef __cplusplus
extern "C" {
#endif
WBELL_WEAK const struct wbell_host_group *wbell_host_group_now(void);
#ifdef __cplusplus
}
#endif

WBELL_FN const struct wbell_host_group *wbell_group_now(void)
{
	return wbell_host_group_now ? wbell_host_group_now() : 0;
}

WBELL_FN __u32 wbell_lane(void)
{
	const struct wbell_host_group *g = wbell_group_now();

	return g ? g->lane() : 0;
}

WBELL_FN __u32 wbell_thread_in_block(void)
{
	const struct wbell_host_group *g = wbell_group_now();

	return g ? g->thread_in_block() : 0;
}

WBELL_FN __u32 wbell_block_in_grid(void)
{
	const struct wbell_host_group *g = wbell_group_now();

	return g ? g->block_in_grid() : 0;
}

/* A block's last warp may be short of lanes. */
WBELL_FN __u32 wbell_lanes_all(void)
{
	const struct wbell_host_group *g = wbell_group_now();

	return g ? g->lanes_all() : 1;
}

/* The lanes that are here now, with us, and bring the same key. */
WBELL_FN __u32 wbell_lanes_alike(__u64 key)
{
	const struct wbell_host_group *g = wbell_group_now();

	return g ? g->lanes_alike(key) : 1;
}

WBELL_FN void wbell_lanes_sync(__u32 mask)
{
	const struct wbell_host_group *g = wbell_group_now();

	if (g)
		g->lanes_sync(mask);
}

/* What v is in one lane of mask. */
WBELL_FN __u64 wbell_lanes_read(__u32 mask, __u64 v, __u32 lane)
{
	const struct wbell_host_group *g = wbell_group_now();

	return g ? g->lanes_read(mask, v, lane) : v;
}

WBELL_FN __u32 wbell_lanes_read32(__u32 mask, __u32 v, __u32 lane)
{
	return (__u32)wbell_lanes_read(mask, v, lane);
}

WBELL_FN void wbell_block_barrier(void)
{
	const struct wbell_host_group *g = wbell_group_now();

	if (g)
		g->block_barrier();
}

/* Memory of the block for what its first thread has to say; 0: none. */
WBELL_FN __u64 *wbell_block_room(void)
{
	const struct wbell_host_group *g = wbell_group_now();

	return g ? g->block_room() : 0;
}

WBELL_FN __u32 wbell_popcount(__u32 v)
{
	return (__u32)__builtin_popcount(v);
}

/* The highest bit set; v is not 0. */
WBELL_FN __u32 wbell_top_bit(__u32 v)
{
	return 31 - (__u32)__builtin_clz(v);
}

#endif /* __CUDACC__ */

#endif /* WBELL_DEVICE_ARCH_GROUP_H */
