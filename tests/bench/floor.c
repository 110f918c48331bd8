// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <wbell/queue.h>
#include <wbell/roce.h>

#include "../../dpdk_path/roce/icrc.h"
#include "floor.h"

#define MTU	4096
#define RING	1024
#define BUFFERS 256
#define BUFFER	4352
#define BURST	32
#define PACKETS 64 /* of a burst; a message has at most this many */
#define HDR	54
#define L3	14
#define RKEY	0x5aa
#define QPN	7

struct packet {
	uint8_t *p;
	uint32_t len;
};

struct floor {
	uint8_t *buffers, *src, *dst;
	uint8_t hdr[64];
	uint32_t sum; /* of the IPv4 header without length and checksum */
	uint64_t (*wqe)[8], (*cqe)[8];
	uint32_t wi, ci, bi;
	uint32_t psn, epsn, msn, acked, mtu;
	uint64_t va; /* responder: where the next byte goes */
	uint64_t bad;
	uint32_t span;
	uint32_t rkey;
	struct packet sent[PACKETS], acks[PACKETS];
	unsigned nsent, nacks;
	uint8_t ack[PACKETS][80];
};

static uint32_t be(uint32_t v)
{
	return __builtin_bswap32(v);
}

static void put16(uint8_t *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, 2);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return __builtin_bswap64(v);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be(v);
}

static void put32(uint8_t *p, uint32_t v)
{
	v = be(v);
	memcpy(p, &v, 4);
}

/* ---- requester ---- */

static void lengths(struct floor *f, uint8_t *p, uint32_t l3)
{
	uint32_t sum = f->sum + l3;

	put16(p + 16, l3);
	put16(p + 38, l3 - 20);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put16(p + 24, ~sum);
}

static void seal(uint8_t *p, uint32_t l3)
{
	uint32_t icrc = roce_icrc_ipv4(p + L3, l3 - 4);

	memcpy(p + L3 + l3 - 4, &icrc, 4);
}

static void send_packet(struct floor *f, const uint64_t *wqe, uint32_t off,
			bool ackreq)
{
	uint32_t total = (uint32_t)wqe[4];
	uint32_t left = total - off, n = left < MTU ? left : MTU;
	uint8_t *p = f->buffers + (size_t)(f->bi++ % BUFFERS) * BUFFER;
	unsigned ext = off ? 0 : 16;
	uint32_t l3 = 40 + ext + n + 4;
	bool last = n == left;

	memcpy(p, f->hdr, HDR);
	lengths(f, p, l3);
	p[42] = off ? (last ? ROCE_RC_WRITE_LAST : ROCE_RC_WRITE_MIDDLE)
		    : (last ? ROCE_RC_WRITE_ONLY : ROCE_RC_WRITE_FIRST);
	put32(p + 50, f->psn | (last && ackreq ? ROCE_BTH_ACKREQ : 0));
	f->psn = (f->psn + 1) & ROCE_PSN_MASK;
	if (ext) {
		memcpy(p + HDR, &wqe[2], 8);
		put32(p + HDR + 8, (uint32_t)wqe[3]);
		put32(p + HDR + 12, total);
	}
	memcpy(p + HDR + ext, (const uint8_t *)(uintptr_t)wqe[5] + off, n);
	seal(p, l3);
	f->sent[f->nsent++] = (struct packet){ p, L3 + l3 };
}

static void post(struct floor *f, uint32_t off, uint32_t size)
{
	uint64_t *w = f->wqe[f->wi & (RING - 1)];

	w[0] = (uint64_t)f->wi << 8 | WBELL_OP_WRITE;
	w[1] = QPN;
	w[2] = __builtin_bswap64((uintptr_t)f->dst + off);
	w[3] = RKEY;
	w[4] = size;
	w[5] = (uintptr_t)f->src + off;
}

static void send_message(struct floor *f, bool ackreq)
{
	const uint64_t *w = f->wqe[f->wi++ & (RING - 1)];
	uint32_t size = (uint32_t)w[4];

	for (uint32_t off = 0; off < size; off += MTU)
		send_packet(f, w, off, ackreq);
}

/* ---- responder ---- */

static bool right_port(const uint8_t *p)
{
	return p[12] == 8 && !p[13] && p[23] == 17 && p[36] == 0x12 &&
	       p[37] == 0xb7;
}

static bool good(struct floor *f, const struct packet *pk)
{
	uint32_t icrc;

	memcpy(&icrc, pk->p + pk->len - 4, 4);
	return right_port(pk->p) &&
	       (get32(pk->p + 46) & ROCE_QPN_MASK) == QPN &&
	       icrc == roce_icrc_ipv4(pk->p + L3, pk->len - L3 - 4);
}

static void acknowledge(struct floor *f, uint32_t psn)
{
	uint8_t *p = f->ack[f->nacks];

	memcpy(p, f->hdr, HDR);
	lengths(f, p, 48);
	p[42] = ROCE_RC_ACK;
	put32(p + 50, psn);
	put32(p + 54, 0x1f000000 | f->msn);
	seal(p, 48);
	f->acks[f->nacks++] = (struct packet){ p, L3 + 48 };
}

static void receive_packet(struct floor *f, const struct packet *pk)
{
	uint8_t *p = pk->p, *body = p + HDR;
	uint32_t apsn = get32(p + 50);
	uint64_t base = (uintptr_t)f->dst;
	uint32_t n;

	if (!good(f, pk) || (apsn & ROCE_PSN_MASK) != f->epsn) {
		f->bad++;
		return;
	}
	f->epsn = (f->epsn + 1) & ROCE_PSN_MASK;
	if (p[42] == ROCE_RC_WRITE_ONLY || p[42] == ROCE_RC_WRITE_FIRST) {
		uint64_t va = get64(body);

		if (get32(body + 8) != f->rkey || va < base ||
		    va + get32(body + 12) > base + f->span) {
			f->bad++;
			return;
		}
		f->va = va;
		body += 16;
	}
	n = pk->len - 4 - (body - p);
	memcpy((void *)(uintptr_t)f->va, body, n);
	f->va += n;
	if (p[42] == ROCE_RC_WRITE_ONLY || p[42] == ROCE_RC_WRITE_LAST)
		f->msn++;
	if (apsn & ROCE_BTH_ACKREQ)
		acknowledge(f, apsn & ROCE_PSN_MASK);
}

static void complete(struct floor *f, const struct packet *pk)
{
	uint64_t *c = f->cqe[f->ci++ & (RING - 1)];

	if (!good(f, pk)) {
		f->bad++;
		return;
	}
	f->acked = get32(pk->p + 50) & ROCE_PSN_MASK;
	c[6] = (uint64_t)QPN << 32 | f->acked;
	c[7] = f->ci;
}

/* ---- a run ---- */

static uint8_t *map(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void headers(struct floor *f)
{
	static const uint8_t hdr[HDR] = {
		2,  0,	  0, 0, 0,    2,    2,	  0,	0,    0,  0,	1,    8,
		0,  0x45, 0, 0, 0,    0,    0,	  0x40, 0,    64, 17,	0,    0,
		10, 9,	  0, 1, 10,   9,    0,	  2,	0xc0, 0,  0x12, 0xb7, 0,
		0,  0,	  0, 0, 0x40, 0xff, 0xff, 0,	0,    0,  QPN,
	};

	memcpy(f->hdr, hdr, HDR);
	for (unsigned i = L3; i < L3 + 20; i += 2)
		f->sum += hdr[i] << 8 | hdr[i + 1];
}

static struct floor *setup(uint32_t span)
{
	struct floor *f = aligned_alloc(64, (sizeof(*f) + 63) & ~63UL);

	memset(f, 0, sizeof(*f));
	f->span = span;
	f->rkey = RKEY;
	f->buffers = map((size_t)BUFFERS * BUFFER);
	f->src = map(span);
	f->dst = map(span);
	f->wqe = (void *)map(RING * 64);
	f->cqe = (void *)map(RING * 64);
	memset(f->src, 7, span);
	headers(f);
	return f;
}

static void teardown(struct floor *f)
{
	munmap(f->buffers, (size_t)BUFFERS * BUFFER);
	munmap(f->src, f->span);
	munmap(f->dst, f->span);
	munmap(f->wqe, RING * 64);
	munmap(f->cqe, RING * 64);
	free(f);
}

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void burst(struct floor *f, const struct floor_attr *a, uint64_t *m,
		  uint32_t *off)
{
	uint32_t npkt = (a->size + MTU - 1) / MTU;

	f->nsent = f->nacks = 0;
	for (unsigned i = 0;
	     i < BURST && *m < a->messages && f->nsent + npkt <= PACKETS;
	     i++, (*m)++) {
		post(f, *off, a->size);
		send_message(f, *m % a->ack_every == a->ack_every - 1);
		*off += (a->size + 63) & ~63U;
		if (*off + a->size > a->span)
			*off = 0;
	}
	for (unsigned i = 0; i < f->nsent; i++)
		receive_packet(f, &f->sent[i]);
	for (unsigned i = 0; i < f->nacks; i++)
		complete(f, &f->acks[i]);
}

double floor_run(const struct floor_attr *a)
{
	struct floor *f = setup(a->span);
	uint64_t m = 0;
	uint32_t off = 0;
	double start = cpu_now();

	while (m < a->messages)
		burst(f, a, &m, &off);
	start = cpu_now() - start;
	if (f->bad || memcmp(f->src, f->dst, a->size))
		abort();
	teardown(f);
	return a->messages / start;
}
