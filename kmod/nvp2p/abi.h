/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is used of NVIDIA's peer-to-peer ABI: facts of nv-p2p.h, which the
 * module must not need to be built, as it must not need the driver to be
 * loaded.  A build with that header (NVP2P_HEADER, see Kbuild) fails where a
 * fact is none.
 *
 * page tables  major version 1 from 535 to 575, 2 from 580, which differ
 * addresses    start and length multiples of 64 KiB, else EINVAL
 * get_pages    by the current process; may sleep.  The callback may come before
 *              it has returned; the table lives until the callback has returned
 * put_pages    from any process.  0 also when the callback came first, and then
 *              it has ended: the driver unlinks and calls back under one lock
 */
#ifndef WBELL_NVP2P_ABI_H
#define WBELL_NVP2P_ABI_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#ifdef NVP2P_HEADER
#include <nv-p2p.h>
#else
struct nvidia_p2p_page {
	u64 physical_address;
	u32 registers[6];
};

struct nvidia_p2p_page_table {
	u32 version;   /* major << 16 | minor */
	u32 page_size; /* NVP2P_PAGE_* */
	struct nvidia_p2p_page **pages;
	u32 entries;
	u8 *gpu_uuid;
};
#endif

#define NVP2P_TABLE_MAJOR 1
#define NVP2P_TABLE_MINOR 2
#define NVP2P_PAGE_64K	  1
#define NVP2P_PAGE_128K	  2
#define NVP2P_ALIGN	  0x10000 /* bytes, of addresses and lengths */

typedef int nvp2p_get_fn(u64 token, u32 va_space, u64 addr, u64 len,
			 struct nvidia_p2p_page_table **table,
			 void (*free)(void *data), void *data);
typedef int nvp2p_put_fn(u64 token, u32 va_space, u64 addr,
			 struct nvidia_p2p_page_table *table);
typedef int nvp2p_get_persistent_fn(u64 addr, u64 len,
				    struct nvidia_p2p_page_table **table,
				    u32 flags);
typedef int nvp2p_put_persistent_fn(u64 addr,
				    struct nvidia_p2p_page_table *table,
				    u32 flags);

static_assert(sizeof(struct nvidia_p2p_page) == 32);
static_assert(offsetof(struct nvidia_p2p_page, physical_address) == 0);
static_assert(offsetof(struct nvidia_p2p_page_table, version) == 0);
static_assert(offsetof(struct nvidia_p2p_page_table, page_size) == 4);
static_assert(offsetof(struct nvidia_p2p_page_table, pages) == 8);
static_assert(offsetof(struct nvidia_p2p_page_table, entries) == 16);
static_assert(offsetof(struct nvidia_p2p_page_table, gpu_uuid) == 24);

#ifdef NVP2P_HEADER
static_assert(__same_type(nvidia_p2p_get_pages, nvp2p_get_fn));
static_assert(__same_type(nvidia_p2p_put_pages, nvp2p_put_fn));
static_assert(__same_type(nvidia_p2p_get_pages_persistent,
			  nvp2p_get_persistent_fn));
static_assert(__same_type(nvidia_p2p_put_pages_persistent,
			  nvp2p_put_persistent_fn));
static_assert(NVIDIA_P2P_PAGE_SIZE_64KB == NVP2P_PAGE_64K);
static_assert(NVIDIA_P2P_PAGE_SIZE_128KB == NVP2P_PAGE_128K);
static_assert(NVIDIA_P2P_PAGE_TABLE_VERSION ==
	      (NVP2P_TABLE_MAJOR << 16 | NVP2P_TABLE_MINOR));
#endif

#endif /* WBELL_NVP2P_ABI_H */
