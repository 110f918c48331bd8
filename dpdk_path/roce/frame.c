// SPDX-License-Identifier: BSD-2-Clause
/*
 * The last step of every packet out: lengths, BTH, payload, ICRC.
 *
 * The ICRC of a short packet reads in wide loads what was just written in
 * narrow stores, and would wait for them to leave the store buffer.  So it is
 * put off: frame_seal_all() goes over the burst when it is built.
 */
#include "priv.h"

#define UNSEALED  0x80000000U /* in frame.len, between here and the seal */
#define FUSE_FROM 512 /* payload bytes from which copy and ICRC are one pass */

static inline void headers(struct roce_qp *qp, struct roce_frame *f,
			   struct head h, unsigned n)
{
	uint8_t *p = f->data;
	unsigned pad = -n & 3;
	unsigned l3 = L3_HDR + h.ext + n + pad + ROCE_ICRC_SIZE;
	uint32_t sum = qp->ip_sum + l3;

	memcpy(p, qp->hdr, HDR_SIZE);
	put16(p + 16, l3);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put16(p + 24, ~sum);
	put16(p + 38, l3 - 20);
	p[BTH_OFF] = (uint8_t)h.opcode;
	p[BTH_OFF + 1] |= pad << ROCE_BTH_PAD_SHIFT |
			  (h.opcode & HEAD_SE ? ROCE_BTH_SE : 0);
	put32(p + BTH_OFF + 8, h.apsn);
	f->len = L3_OFF + l3;
	qp->packets_tx++;
}

static inline void seal(struct roce_frame *f, uint32_t icrc)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	icrc = __builtin_bswap32(icrc);
#endif
	memcpy(f->data + f->len - ROCE_ICRC_SIZE, &icrc, ROCE_ICRC_SIZE);
}

void frame_finish(struct roce_qp *qp, struct roce_frame *f, struct head h,
		  const void *payload, unsigned n)
{
	headers(qp, f, h, n);
	if (n >= FUSE_FROM) {
		seal(f, roce_icrc_copy_ipv4(f->data + L3_OFF, L3_HDR + h.ext,
					    payload, n));
		return;
	}
	if (n)
		memcpy(f->data + HDR_SIZE + h.ext, payload, n);
	memset(f->data + HDR_SIZE + h.ext + n, 0, -n & 3);
	f->len |= UNSEALED;
}

void frame_finish_in_place(struct roce_qp *qp, struct roce_frame *f,
			   struct head h, unsigned n)
{
	headers(qp, f, h, n);
	memset(f->data + HDR_SIZE + h.ext + n, 0, -n & 3);
	f->len |= UNSEALED;
}

void frame_seal_all(struct roce_frame *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!(f[i].len & UNSEALED))
			continue;
		f[i].len &= ~UNSEALED;
		seal(&f[i], roce_icrc_ipv4(f[i].data + L3_OFF,
					   f[i].len - L3_OFF - ROCE_ICRC_SIZE));
	}
}
