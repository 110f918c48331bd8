/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared memory of a context: one memfd called "warpbell" that holds
 * every ring, so that an onlooker (wbell_queue_each) can read the queues of
 * a process through /proc without its help.
 *
 * File: struct shm_head in the first page, the slot table, the doorbell
 * words, then chunks.  A chunk is one page-aligned range per queue: struct
 * chunk, then SQ, CQ, RQ, RCQ on pages of their own.  What an onlooker finds
 * is not to be trusted: seen.c checks every field it follows.
 */
#ifndef WBELL_RING_H
#define WBELL_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wbell/queue.h>

#define SHM_NAME    "warpbell"
#define SHM_MAGIC   0x314d48534c4c4257ULL /* "WBLLSHM1" in memory */
#define SHM_VERSION 1
#define LINE	    __attribute__((aligned(64)))

struct shm_head {
	uint64_t magic;
	uint32_t version;
	int32_t pid;
	uint32_t max_queues;
	uint32_t page; /* bytes */
	uint64_t slots_at, doorbells_at;
	char nic[96];
	uint32_t abort LINE; /* every dqueue's abort points here */
	uint64_t sink LINE;  /* every dqueue's sink */
};

/* One per queue; at is written last (release) and cleared first. */
struct shm_slot {
	uint64_t at; /* offset of the chunk, 0: none */
	uint64_t size;
};

struct chunk {
	uint64_t magic; /* WBELL_DQUEUE_MAGIC */
	uint32_t state; /* enum wbell_queue_state; queue_set_state() writes */
	uint32_t qpn, peer_qpn, path_mtu;
	uint32_t depth;
	uint32_t sq_at; /* from the chunk's start */
	char peer_address[48];
	struct wbell_dqueue dq LINE;
	struct wbell_error_record error LINE;
	struct wbell_dbrec dbrec LINE;
	struct wbell_cq_dbrec cq_dbrec LINE;
	struct wbell_cq_dbrec rcq_dbrec LINE;
};

struct extent; /* free range of the file */

struct ring {
	int fd;
	size_t page;
	off_t end;  /* of the file */
	size_t top; /* bytes of head, slots and doorbells; all mapped at head */
	struct shm_head *head;
	struct shm_slot *slots;
	uint64_t *doorbells;
	uint64_t *used; /* bitmap of slots */
	struct extent *free;
};

int ring_open(struct ring *r, uint32_t max_queues);
void ring_close(struct ring *r);
void ring_set_nic(struct ring *r, const char *nic);

size_t ring_round(const struct ring *r, size_t size); /* up to a page */

/* Lowest free slot, or -ENOSPC. */
int ring_slot_get(struct ring *r, uint32_t *index);
void ring_slot_put(struct ring *r, uint32_t index);

/* A chunk's place: kept by its queue, apart from what is shared. */
struct span {
	void *map;
	off_t at;
	size_t size;
};
/* Zeroed, mapped, backed by memory; an onlooker sees it from show to hide. */
int ring_chunk_get(struct ring *r, size_t size, struct span *span);
void ring_chunk_put(struct ring *r, struct span *span);
void ring_chunk_show(struct ring *r, uint32_t index, const struct span *span);
void ring_chunk_hide(struct ring *r, uint32_t index);

#endif /* WBELL_RING_H */
