// SPDX-License-Identifier: BSD-2-Clause
/*
 * The last step of every packet out: lengths, BTH, payload, ICRC.
 *
 * The ICRC of a short packet reads in wide loads what was just written in
 * narrow stores, and would wait for them to leave the store buffer.  So it is
 * put off: frame_seal_all() goes over the burst when it is built.
 */
#include "priv.h"

/* In frame.len, between here and the seal. */
#define UNSEALED   0x80000000U
#define SEAL_V6	   0x40000000U
#define SEAL_VLAN  0x20000000U
#define SEAL_FLAGS (UNSEALED | SEAL_V6 | SEAL_VLAN)

#define FUSE_FROM 512 /* payload bytes from which copy and ICRC are one pass */

static inline void ip_lengths(const struct path *path, uint8_t *ip, unsigned l4)
{
	uint32_t sum;

	if (__builtin_expect(path->v6, 0)) {
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

static inline void headers(const struct path *path, struct roce_frame *f,
			   struct head h, unsigned n)
{
	uint8_t *p = f->data, *bth = p + path->size - BTH_SIZE;
	unsigned pad = -n & 3;
	unsigned l4 = UDP_SIZE + BTH_SIZE + h.ext + n + pad + ROCE_ICRC_SIZE;

	if (__builtin_expect(path->size == HDR_IPV4, 1))
		memcpy(p, path->hdr, HDR_IPV4);
	else
		memcpy(p, path->hdr, path->size);
	ip_lengths(path, p + path->l3, l4);
	bth[0] = (uint8_t)h.opcode;
	bth[1] |= pad << ROCE_BTH_PAD_SHIFT |
		  (h.opcode & HEAD_SE ? ROCE_BTH_SE : 0);
	put32(bth + 8, h.apsn);
	f->len = path->size - UDP_SIZE - BTH_SIZE + l4;
}

static inline void seal(struct roce_frame *f, uint32_t icrc)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	icrc = __builtin_bswap32(icrc);
#endif
	memcpy(f->data + f->len - ROCE_ICRC_SIZE, &icrc, ROCE_ICRC_SIZE);
}

static inline void put_off(const struct path *path, struct roce_frame *f)
{
	f->len |= UNSEALED;
	if (__builtin_expect(path->v6, 0))
		f->len |= SEAL_V6;
	if (__builtin_expect(path->vlan, 0))
		f->len |= SEAL_VLAN;
}

void frame_finish(const struct path *path, struct roce_frame *f, struct head h,
		  const void *payload, unsigned n)
{
	uint8_t *to = frame_ext(path, f) + h.ext;

	headers(path, f, h, n);
	if (n >= FUSE_FROM && !path->v6) {
		seal(f, roce_icrc_copy_ipv4(f->data + path->l3,
					    path->size - path->l3 + h.ext,
					    payload, n));
		return;
	}
	if (n)
		memcpy(to, payload, n);
	memset(to + n, 0, -n & 3);
	put_off(path, f);
}

void frame_finish_in_place(const struct path *path, struct roce_frame *f,
			   struct head h, unsigned n)
{
	headers(path, f, h, n);
	memset(frame_ext(path, f) + h.ext + n, 0, -n & 3);
	put_off(path, f);
}

void frame_seal_all(struct roce_frame *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t flags = f[i].len & SEAL_FLAGS;
		unsigned l3 = flags & SEAL_VLAN ? 18 : 14;
		unsigned covered;

		if (!flags)
			continue;
		f[i].len &= ~SEAL_FLAGS;
		covered = f[i].len - l3 - ROCE_ICRC_SIZE;
		seal(&f[i], flags & SEAL_V6
				    ? roce_icrc_ipv6(f[i].data + l3, covered)
				    : roce_icrc_ipv4(f[i].data + l3, covered));
	}
}
