// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memfd of a context.  Freed chunks give their memory back at once
 * (punched holes) and their range of the file for the next chunk: free
 * ranges are merged with their neighbours, and the last one shrinks the file,
 * so create and destroy do not grow it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ring.h"

struct extent {
	struct extent *next; /* by offset */
	off_t at;
	off_t size;
};

size_t ring_round(const struct ring *r, size_t size)
{
	return (size + r->page - 1) & ~(r->page - 1);
}

/* fallocate(), so that a lack of memory is an errno here and no SIGBUS later. */
static int file_grow(struct ring *r, off_t at, off_t size)
{
	struct rlimit lim;

	/* Past RLIMIT_FSIZE the kernel would send SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &lim) && lim.rlim_cur != RLIM_INFINITY &&
	    (rlim_t)(at + size) > lim.rlim_cur)
		return -EFBIG;
	if (fallocate(r->fd, 0, at, size))
		return -errno;
	if (at + size > r->end)
		r->end = at + size;
	return 0;
}

static void lay_out_top(struct ring *r, uint32_t max_queues)
{
	size_t slots_at = ring_round(r, sizeof(*r->head));
	size_t doorbells_at =
		ring_round(r, slots_at + max_queues * sizeof(*r->slots));

	r->top = ring_round(r, doorbells_at + max_queues * sizeof(uint64_t));
	if (!r->head)
		return;
	r->slots = (void *)((char *)r->head + slots_at);
	r->doorbells = (void *)((char *)r->head + doorbells_at);
	r->head->slots_at = slots_at;
	r->head->doorbells_at = doorbells_at;
}

static void fill_head(struct ring *r, uint32_t max_queues)
{
	r->head->version = SHM_VERSION;
	r->head->pid = getpid();
	r->head->max_queues = max_queues;
	r->head->page = r->page;
	__atomic_store_n(&r->head->magic, SHM_MAGIC, __ATOMIC_RELEASE);
}

static int map_top(struct ring *r, uint32_t max_queues)
{
	void *p;
	int rc;

	lay_out_top(r, max_queues);
	rc = file_grow(r, 0, r->top);
	if (rc)
		return rc;
	p = mmap(NULL, r->top, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->head = p;
	lay_out_top(r, max_queues);
	fill_head(r, max_queues);
	return 0;
}

int ring_open(struct ring *r, uint32_t max_queues)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->page = sysconf(_SC_PAGESIZE);
	r->used = calloc((max_queues + 63) / 64, sizeof(*r->used));
	if (!r->used)
		return -ENOMEM;
	r->fd = memfd_create(SHM_NAME, MFD_CLOEXEC);
	if (r->fd < 0) {
		rc = -errno;
		goto err_free;
	}
	rc = map_top(r, max_queues);
	if (rc)
		goto err_close;
	return 0;

err_close:
	close(r->fd);
err_free:
	free(r->used);
	return rc;
}

void ring_close(struct ring *r)
{
	struct extent *e;

	while ((e = r->free)) {
		r->free = e->next;
		free(e);
	}
	munmap(r->head, r->top);
	close(r->fd);
	free(r->used);
}

void ring_set_nic(struct ring *r, const char *nic)
{
	snprintf(r->head->nic, sizeof(r->head->nic), "%s", nic);
}

int ring_slot_get(struct ring *r, uint32_t *index)
{
	uint32_t words = (r->head->max_queues + 63) / 64, i, bit;

	for (i = 0; i < words; i++) {
		if (!~r->used[i])
			continue;
		bit = i * 64 + __builtin_ctzll(~r->used[i]);
		if (bit >= r->head->max_queues)
			break;
		r->used[i] |= 1ULL << bit % 64;
		*index = bit;
		return 0;
	}
	return -ENOSPC;
}

void ring_slot_put(struct ring *r, uint32_t index)
{
	r->used[index / 64] &= ~(1ULL << index % 64);
}

/* First free range that fits, else the end of the file. */
static off_t range_get(struct ring *r, off_t size)
{
	struct extent **p, *e;
	off_t at;

	for (p = &r->free; (e = *p); p = &e->next) {
		if (e->size < size)
			continue;
		at = e->at;
		e->at += size;
		e->size -= size;
		if (!e->size) {
			*p = e->next;
			free(e);
		}
		return at;
	}
	return r->end;
}

static void merge_next(struct extent *e)
{
	struct extent *n = e->next;

	if (!n || e->at + e->size != n->at)
		return;
	e->size += n->size;
	e->next = n->next;
	free(n);
}

static struct extent *extent_insert(struct ring *r, off_t at, off_t size)
{
	struct extent **p = &r->free, *prev = NULL, *e;

	/* Without memory for the note the range is lost, its pages are not. */
	e = malloc(sizeof(*e));
	if (!e)
		return NULL;
	for (; *p && (*p)->at < at; p = &(*p)->next)
		prev = *p;
	*e = (struct extent){ .next = *p, .at = at, .size = size };
	*p = e;
	merge_next(e);
	if (!prev || prev->at + prev->size != at)
		return e;
	merge_next(prev);
	return prev;
}

static void range_put(struct ring *r, off_t at, off_t size)
{
	struct extent **p, *e = extent_insert(r, at, size);

	if (!e || e->at + e->size != r->end || ftruncate(r->fd, e->at))
		return;
	r->end = e->at;
	for (p = &r->free; *p != e; p = &(*p)->next)
		;
	*p = e->next;
	free(e);
}

int ring_chunk_get(struct ring *r, size_t size, struct span *span)
{
	int rc;

	span->size = ring_round(r, size);
	span->at = range_get(r, span->size);
	rc = file_grow(r, span->at, span->size);
	if (rc)
		goto err_put;
	span->map = mmap(NULL, span->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 r->fd, span->at);
	if (span->map != MAP_FAILED)
		return 0;
	rc = -errno;
err_put:
	fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, span->at,
		  span->size);
	if (span->at < r->end)
		range_put(r, span->at, span->size);
	return rc;
}

void ring_chunk_put(struct ring *r, struct span *span)
{
	munmap(span->map, span->size);
	/* Cannot fail on a memfd of ours; the next user needs zeroes. */
	fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, span->at,
		  span->size);
	range_put(r, span->at, span->size);
}

void ring_chunk_show(struct ring *r, uint32_t index, const struct span *span)
{
	r->slots[index].size = span->size;
	__atomic_store_n(&r->slots[index].at, span->at, __ATOMIC_RELEASE);
}

void ring_chunk_hide(struct ring *r, uint32_t index)
{
	__atomic_store_n(&r->slots[index].at, 0, __ATOMIC_RELEASE);
}
