/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done for every packet out, inline (frame.c tells how). */
#ifndef ROCE_FRAME_H
#define ROCE_FRAME_H

#include "priv.h"

void frame_stamp(const struct path *path, struct stamp *s, struct head h,
		 unsigned n, uint32_t shape);

static inline struct stamp *frame_stamp_of(struct path *path, struct head h,
					   unsigned n)
{
	struct stamp *s = &path->stamp[h.opcode == ROCE_RC_ACK];
	uint32_t shape = SHAPE_SET | (uint32_t)h.opcode << 16 | (h.ext + n);

	if (__builtin_expect(s->shape != shape, 0))
		frame_stamp(path, s, h, n, shape);
	return s;
}

/* Headers of size bytes, the PSN their last word; gives where they end. */
static inline uint8_t *frame_put_stamp(uint8_t *p, const struct stamp *s,
				       unsigned size, uint32_t apsn)
{
	if (__builtin_expect(size == HDR_IPV4, 1))
		memcpy(p, s->hdr, HDR_IPV4);
	else
		memcpy(p, s->hdr, size);
	put32(p + size - 4, apsn);
	return p + size;
}

/* The headers with all but the payload; the bytes of the pad are zero. */
static inline struct stamp *frame_headers(struct path *path,
					  struct roce_frame *f, struct head h,
					  unsigned n)
{
	struct stamp *s = frame_stamp_of(path, h, n);
	unsigned end = path->size + h.ext + n;

	frame_put_stamp(f->data, s, path->size, h.apsn);
	if (n & 3)
		memset(f->data + end, 0, -n & 3);
	f->len = end + (-n & 3) + ROCE_ICRC_SIZE;
	return s;
}

static inline void frame_put_off(struct path *path, const struct stamp *s,
				 struct roce_frame *f)
{
	struct seals *seals = path->seals;
	unsigned at = path->size - 4;

	seals->part[seals->n++] =
		(struct roce_icrc_part){ f->data + at,
					 f->len - at - ROCE_ICRC_SIZE, s->reg };
}

#endif /* ROCE_FRAME_H */
