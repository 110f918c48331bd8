// SPDX-License-Identifier: BSD-2-Clause
/*
 * The last step of every packet out: headers, PSN, payload, ICRC.
 *
 * Packets of one shape (opcode and length) to one place differ in the PSN and
 * what follows it.  So a path keeps the headers of the last shape, lengths and
 * checksum filled in, and the ICRC's register behind them: a stamp.  Where the
 * shape is another one it is made anew.
 *
 * The rest of the ICRC of a short packet reads in wide loads what was just
 * written in narrow stores, and would wait for them to leave the store buffer.
 * So it is put off: frame_seal_all() goes over the burst when it is built.
 */
#include <endian.h>

#include "frame.h"

#define FUSE_FROM 512 /* payload bytes from which copy and ICRC are one pass */

static void put_lengths(const struct path *path, uint8_t *ip, unsigned l4)
{
	uint32_t sum;

	if (path->v6) {
		put16(ip + 4, l4);
		put16(ip + 44, l4);
		return;
	}
	sum = path->ip_sum + 20 + l4;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 2, 20 + l4);
	put16(ip + 10, ~sum);
	put16(ip + 24, l4);
}

void frame_stamp(const struct path *path, struct stamp *s, struct head h,
		 unsigned n, uint32_t shape)
{
	uint8_t *bth = s->hdr + path->size - BTH_SIZE;
	unsigned pad = -n & 3;
	unsigned l4 = UDP_SIZE + BTH_SIZE + h.ext + n + pad + ROCE_ICRC_SIZE;

	memcpy(s->hdr, path->hdr, path->size);
	put_lengths(path, s->hdr + path->l3, l4);
	bth[0] = (uint8_t)h.opcode;
	bth[1] |= pad << ROCE_BTH_PAD_SHIFT |
		  (h.opcode & HEAD_SE ? ROCE_BTH_SE : 0);
	s->reg = roce_icrc_prefix(s->hdr + path->l3, path->size - 4 - path->l3,
				  path->v6 ? ROCE_ICRC_IPV6 : ROCE_ICRC_IPV4);
	s->shape = shape;
}

void frame_finish(struct path *path, struct roce_frame *f, struct head h,
		  const void *payload, unsigned n)
{
	struct stamp *s = frame_headers(path, f, h, n);
	uint32_t icrc;

	if (n >= FUSE_FROM && !path->v6) {
		icrc = htole32(roce_icrc_copy_ipv4(
			f->data + path->l3, path->size - path->l3 + h.ext,
			payload, n));
		memcpy(f->data + f->len - ROCE_ICRC_SIZE, &icrc, sizeof(icrc));
		return;
	}
	if (n)
		memcpy(frame_ext(path, f) + h.ext, payload, n);
	frame_put_off(path, s, f);
}

void frame_finish_in_place(struct path *path, struct roce_frame *f,
			   struct head h, unsigned n)
{
	frame_put_off(path, frame_headers(path, f, h, n), f);
}

void frame_seal_all(struct seals *seals)
{
	roce_icrc_put(seals->part, seals->n);
	seals->n = 0;
}
