/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * What device.h needs of the machine: ordered loads and stores, a clock, a
 * pause.  Two halves, PTX and host C11, with one meaning each:
 *
 *	no suffix	among the threads that post (PTX scope gpu)
 *	_sys		toward the NIC and the CPU (PTX scope sys)
 *
 * The host half says everything by ordered operations, because
 * ThreadSanitizer sees those and not stand-alone fences.
 */
#ifndef WBELL_DEVICE_ARCH_H
#define WBELL_DEVICE_ARCH_H

#include "queue.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "wbell/device.h: big-endian machine: only little-endian ones are served"
#endif

#ifdef __CUDACC__

#define WBELL_FN   static __device__ __forceinline__
#define WBELL_SLOW static __device__ __noinline__ __attribute__((unused))

WBELL_FN __u32 wbell_swap32(__u32 v)
{
	__u32 r;

	asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"(r) : "r"(v));
	return r;
}

/* First word of a control segment: 0, index 16 big-endian, opcode. */
WBELL_FN __u32 wbell_ctrl_word(__u32 index, __u32 opcode)
{
	__u32 r;

	asm("prmt.b32 %0, %1, %2, 0x4015;" : "=r"(r) : "r"(index), "r"(opcode));
	return r;
}

/* The low 16 bits as a big-endian word. */
WBELL_FN __u32 wbell_be_low16(__u32 v)
{
	__u32 r;

	asm("prmt.b32 %0, %1, 0, 0x0144;" : "=r"(r) : "r"(v));
	return r;
}

/* wqe_counter out of the last word of a CQE. */
WBELL_FN __u32 wbell_tail_counter(__u32 tail)
{
	__u32 r;

	asm("prmt.b32 %0, %1, 0, 0x4401;" : "=r"(r) : "r"(tail));
	return r;
}

/* v modulo 2^bits; bits < 32. */
WBELL_FN __u32 wbell_low_bits(__u32 v, __u32 bits)
{
	__u32 r;

	asm("szext.clamp.u32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(bits));
	return r;
}

/* Bits of a where mask has ones, of b elsewhere. */
WBELL_FN __u32 wbell_select(__u32 mask, __u32 a, __u32 b)
{
	__u32 r;

	asm("lop3.b32 %0, %1, %2, %3, 0xca;"
	    : "=r"(r)
	    : "r"(mask), "r"(a), "r"(b));
	return r;
}

WBELL_FN __u64 wbell_mad_wide(__u32 a, __u32 b, __u64 c)
{
	__u64 r;

	asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
	return r;
}

WBELL_FN __u64 wbell_ld_relaxed(__u64 addr)
{
	__u64 v;

	asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
		     : "=l"(v)
		     : "l"(addr)
		     : "memory");
	return v;
}

WBELL_FN __u32 wbell_ld_relaxed32_sys(__u64 addr)
{
	__u32 v;

	asm volatile("ld.relaxed.sys.global.u32 %0, [%1];"
		     : "=r"(v)
		     : "l"(addr)
		     : "memory");
	return v;
}

WBELL_FN __u32 wbell_ld_relaxed8(__u64 addr)
{
	__u32 v;

	asm volatile("ld.relaxed.gpu.global.u8 %0, [%1];"
		     : "=r"(v)
		     : "l"(addr)
		     : "memory");
	return v;
}

WBELL_FN __u64 wbell_ld_acquire(__u64 addr)
{
	__u64 v;

	asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
		     : "=l"(v)
		     : "l"(addr)
		     : "memory");
	return v;
}

WBELL_FN __u32 wbell_ld_acquire32_sys(__u64 addr)
{
	__u32 v;

	asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
		     : "=r"(v)
		     : "l"(addr)
		     : "memory");
	return v;
}

WBELL_FN void wbell_st_relaxed(__u64 addr, __u64 v)
{
	asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(addr), "l"(v)
		     : "memory");
}

WBELL_FN void wbell_st_relaxed32_sys(__u64 addr, __u32 v)
{
	asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(addr), "r"(v)
		     : "memory");
}

WBELL_FN void wbell_st_release(__u64 addr, __u64 v)
{
	asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(addr), "l"(v)
		     : "memory");
}

WBELL_FN void wbell_st_release_sys(__u64 addr, __u64 v)
{
	asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(addr), "l"(v)
		     : "memory");
}

WBELL_FN void wbell_st_release32_sys(__u64 addr, __u32 v)
{
	asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(addr), "r"(v)
		     : "memory");
}

WBELL_FN __u64 wbell_cas_relaxed(__u64 addr, __u64 old, __u64 v)
{
	__u64 seen;

	asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
		     : "=l"(seen)
		     : "l"(addr), "l"(old), "l"(v)
		     : "memory");
	return seen;
}

WBELL_FN __u64 wbell_cas_release(__u64 addr, __u64 old, __u64 v)
{
	__u64 seen;

	asm volatile("atom.release.gpu.global.cas.b64 %0, [%1], %2, %3;"
		     : "=l"(seen)
		     : "l"(addr), "l"(old), "l"(v)
		     : "memory");
	return seen;
}

WBELL_FN __u32 wbell_cas32_sys(__u64 addr, __u32 old, __u32 v)
{
	__u32 seen;

	asm volatile("atom.acq_rel.sys.global.cas.b32 %0, [%1], %2, %3;"
		     : "=r"(seen)
		     : "l"(addr), "r"(old), "r"(v)
		     : "memory");
	return seen;
}

WBELL_FN void wbell_max_release_sys(__u64 addr, __u64 v)
{
	asm volatile("red.release.sys.global.max.u64 [%0], %1;" ::"l"(addr),
		     "l"(v)
		     : "memory");
}

WBELL_FN void wbell_fence_sys(void)
{
	asm volatile("fence.acq_rel.sys;" ::: "memory");
}

WBELL_FN void wbell_st_mmio(__u64 addr, __u64 v)
{
	asm volatile("st.mmio.relaxed.sys.global.u64 [%0], %1;" ::"l"(addr),
		     "l"(v)
		     : "memory");
}

/*
 * One 16-byte segment, given as the four words that lie in memory.  No
 * "memory" here: every publication has it, and the words of a queue stay in
 * registers from one segment to the next.
 */
WBELL_FN void wbell_seg_store(__u64 addr, __u32 a, __u32 b, __u32 c, __u32 d)
{
	asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(addr),
		     "r"(a), "r"(b), "r"(c), "r"(d));
}

WBELL_FN void wbell_ctrl_store(__u64 addr, __u32 a, __u32 b, __u32 c, __u32 d)
{
	wbell_seg_store(addr, a, b, c, d);
}

WBELL_FN __u64 wbell_now_ns(void)
{
	__u64 ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

WBELL_FN void wbell_relax(void)
{
	asm volatile("nanosleep.u32 100;" ::: "memory");
}

WBELL_FN void wbell_and_relaxed_sys(__u64 addr, __u64 v)
{
	asm volatile("red.relaxed.sys.global.and.b64 [%0], %1;" ::"l"(addr),
		     "l"(v)
		     : "memory");
}

WBELL_FN void wbell_or_release_sys(__u64 addr, __u64 v)
{
	asm volatile("red.release.sys.global.or.b64 [%0], %1;" ::"l"(addr),
		     "l"(v)
		     : "memory");
}

WBELL_FN __u64 wbell_ld_acquire_sys(__u64 addr)
{
	__u64 v;

	asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
		     : "=l"(v)
		     : "l"(addr)
		     : "memory");
	return v;
}

#ifdef WBELL_DEBUG
WBELL_FN void wbell_trap(const char *file, __u32 line, const char *rule)
{
	__assert_fail(rule, file, line, "warpbell");
}
#endif

#else /* host */

#define WBELL_FN   static inline __attribute__((always_inline, unused))
#define WBELL_SLOW static __attribute__((noinline, cold, unused))

#ifdef __cplusplus
extern "C" {
#endif
__UINT64_TYPE__ wbell_host_now(void);
void wbell_host_relax(void);
/* Called before every ordered access when a build wants to steer threads. */
#ifdef WBELL_HOST_STEP
void wbell_host_step(void);
#endif
#define WBELL_WEAK __attribute__((weak, visibility("default")))
/* Does not return.  Without it a debug build traps without a word. */
WBELL_WEAK void wbell_host_trap(const char *file, __u32 line, const char *rule);
#ifdef __cplusplus
}
#endif

#ifdef WBELL_HOST_STEP
#define WBELL_STEP() wbell_host_step()
#else
#define WBELL_STEP() ((void)0)
#endif

#ifdef WBELL_MUTANT_RELAXED
#define WBELL_RELEASE_SYS __ATOMIC_RELAXED
#else
#define WBELL_RELEASE_SYS __ATOMIC_RELEASE
#endif

#if defined(__SANITIZE_THREAD__)
#define WBELL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WBELL_TSAN 1
#endif
#endif

#define WBELL_P64(addr) ((__u64 *)(__UINTPTR_TYPE__)(addr))
#define WBELL_P32(addr) ((__u32 *)(__UINTPTR_TYPE__)(addr))

WBELL_FN __u32 wbell_swap32(__u32 v)
{
	return __builtin_bswap32(v);
}

/* First word of a control segment: 0, index 16 big-endian, opcode. */
WBELL_FN __u32 wbell_ctrl_word(__u32 index, __u32 opcode)
{
	return wbell_swap32((index & 0xffff) << 8 | opcode);
}

/* The low 16 bits as a big-endian word. */
WBELL_FN __u32 wbell_be_low16(__u32 v)
{
	return wbell_swap32(v & 0xffff);
}

/* wqe_counter out of the last word of a CQE. */
WBELL_FN __u32 wbell_tail_counter(__u32 tail)
{
	return wbell_swap32(tail) >> 16;
}

/* v modulo 2^bits; bits < 32. */
WBELL_FN __u32 wbell_low_bits(__u32 v, __u32 bits)
{
	return v & ((1U << bits) - 1);
}

/* Bits of a where mask has ones, of b elsewhere. */
WBELL_FN __u32 wbell_select(__u32 mask, __u32 a, __u32 b)
{
	return (a & mask) | (b & ~mask);
}

WBELL_FN __u64 wbell_mad_wide(__u32 a, __u32 b, __u64 c)
{
	return (__u64)a * b + c;
}

WBELL_FN __u64 wbell_ld_relaxed(__u64 addr)
{
	WBELL_STEP();
	return __atomic_load_n(WBELL_P64(addr), __ATOMIC_RELAXED);
}

WBELL_FN __u32 wbell_ld_relaxed32_sys(__u64 addr)
{
	WBELL_STEP();
	return __atomic_load_n(WBELL_P32(addr), __ATOMIC_RELAXED);
}

WBELL_FN __u32 wbell_ld_relaxed8(__u64 addr)
{
	WBELL_STEP();
	return __atomic_load_n((__u8 *)WBELL_P64(addr), __ATOMIC_RELAXED);
}

WBELL_FN __u64 wbell_ld_acquire(__u64 addr)
{
	WBELL_STEP();
	return __atomic_load_n(WBELL_P64(addr), __ATOMIC_ACQUIRE);
}

WBELL_FN __u32 wbell_ld_acquire32_sys(__u64 addr)
{
	WBELL_STEP();
	return __atomic_load_n(WBELL_P32(addr), __ATOMIC_ACQUIRE);
}

WBELL_FN void wbell_st_relaxed(__u64 addr, __u64 v)
{
	WBELL_STEP();
	__atomic_store_n(WBELL_P64(addr), v, __ATOMIC_RELAXED);
}

WBELL_FN void wbell_st_relaxed32_sys(__u64 addr, __u32 v)
{
	WBELL_STEP();
	__atomic_store_n(WBELL_P32(addr), v, __ATOMIC_RELAXED);
}

WBELL_FN void wbell_st_release(__u64 addr, __u64 v)
{
	WBELL_STEP();
	__atomic_store_n(WBELL_P64(addr), v, __ATOMIC_RELEASE);
}

WBELL_FN void wbell_st_release_sys(__u64 addr, __u64 v)
{
	WBELL_STEP();
	__atomic_store_n(WBELL_P64(addr), v, WBELL_RELEASE_SYS);
}

WBELL_FN void wbell_st_release32_sys(__u64 addr, __u32 v)
{
	WBELL_STEP();
	__atomic_store_n(WBELL_P32(addr), v, WBELL_RELEASE_SYS);
}

WBELL_FN __u64 wbell_cas_relaxed(__u64 addr, __u64 old, __u64 v)
{
	WBELL_STEP();
	__atomic_compare_exchange_n(WBELL_P64(addr), &old, v, 0,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return old;
}

WBELL_FN __u64 wbell_cas_release(__u64 addr, __u64 old, __u64 v)
{
	WBELL_STEP();
	__atomic_compare_exchange_n(WBELL_P64(addr), &old, v, 0,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return old;
}

WBELL_FN __u32 wbell_cas32_sys(__u64 addr, __u32 old, __u32 v)
{
	WBELL_STEP();
	__atomic_compare_exchange_n(WBELL_P32(addr), &old, v, 0,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return old;
}

/* A larger value already there was rung by one who saw our turn end. */
WBELL_FN void wbell_max_release_sys(__u64 addr, __u64 v)
{
	__u64 seen;

	WBELL_STEP();
	seen = __atomic_load_n(WBELL_P64(addr), __ATOMIC_RELAXED);
	while (seen < v && !__atomic_compare_exchange_n(WBELL_P64(addr), &seen,
							v, 1, WBELL_RELEASE_SYS,
							__ATOMIC_RELAXED))
		;
}

/* For write-combined memory; all else is ordered by release operations. */
WBELL_FN void wbell_fence_sys(void)
{
	WBELL_STEP();
#if !defined(WBELL_TSAN) && !defined(WBELL_MUTANT_RELAXED)
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

WBELL_FN void wbell_st_mmio(__u64 addr, __u64 v)
{
	WBELL_STEP();
	__atomic_store_n(WBELL_P64(addr), v, WBELL_RELEASE_SYS);
}

WBELL_FN void wbell_seg_store(__u64 addr, __u32 a, __u32 b, __u32 c, __u32 d)
{
	__u32 seg[4];

	seg[0] = a;
	seg[1] = b;
	seg[2] = c;
	seg[3] = d;
	WBELL_STEP();
	__builtin_memcpy(WBELL_P64(addr), seg, sizeof(seg));
}

/*
 * A thread that polls may look at the size of a WQE whose slot was given
 * away meanwhile; it throws the value away, but the access must be defined.
 */
WBELL_FN void wbell_ctrl_store(__u64 addr, __u32 a, __u32 b, __u32 c, __u32 d)
{
	WBELL_STEP();
	__atomic_store_n(WBELL_P32(addr), a, __ATOMIC_RELAXED);
	__atomic_store_n(WBELL_P32(addr + 4), b, __ATOMIC_RELAXED);
	__atomic_store_n(WBELL_P32(addr + 8), c, __ATOMIC_RELAXED);
	__atomic_store_n(WBELL_P32(addr + 12), d, __ATOMIC_RELAXED);
}

WBELL_FN __u64 wbell_now_ns(void)
{
	return wbell_host_now();
}

WBELL_FN void wbell_relax(void)
{
	wbell_host_relax();
}

WBELL_FN void wbell_and_relaxed_sys(__u64 addr, __u64 v)
{
	WBELL_STEP();
	__atomic_fetch_and(WBELL_P64(addr), v, __ATOMIC_RELAXED);
}

WBELL_FN void wbell_or_release_sys(__u64 addr, __u64 v)
{
	WBELL_STEP();
	__atomic_fetch_or(WBELL_P64(addr), v, __ATOMIC_RELEASE);
}

WBELL_FN __u64 wbell_ld_acquire_sys(__u64 addr)
{
	return wbell_ld_acquire(addr);
}

#ifdef WBELL_DEBUG
WBELL_FN void wbell_trap(const char *file, __u32 line, const char *rule)
{
	if (wbell_host_trap)
		wbell_host_trap(file, line, rule);
	__builtin_trap();
}
#endif

#endif /* __CUDACC__ */

/* The status of a call that broke a rule; a debug build stops there. */
#ifdef WBELL_DEBUG
#define WBELL_REFUSE(rc, rule) (wbell_trap(__FILE__, __LINE__, rule), (rc))
#else
#define WBELL_REFUSE(rc, rule) (rc)
#endif

#endif /* WBELL_DEVICE_ARCH_H */
