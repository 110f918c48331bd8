// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "fault.h"

enum { F_DROP, F_DUP, F_REORDER, F_CORRUPT, F_MAX };

struct held {
	struct rte_mbuf *m;
	unsigned after; /* frames that must pass it first */
	uint64_t until;
};

struct fault {
	struct wire_fault spec;
	uint64_t state; /* of the generator */
	uint64_t count[F_MAX];
	unsigned nheld;
	struct held held[FAULT_HELD_MAX];
};

int fault_create(const struct wire_fault *spec, struct fault **fault)
{
	struct fault *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->spec = *spec;
	f->state = spec->seed;
	*fault = f;
	return 0;
}

void fault_destroy(struct fault *f)
{
	unsigned i;

	if (!f)
		return;
	for (i = 0; i < f->nheld; i++)
		rte_pktmbuf_free(f->held[i].m);
	free(f);
}

/* SplitMix64 (Steele, Lea, Flood 2014): any seed is a good one. */
static uint64_t draw(struct fault *f)
{
	uint64_t z = f->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static bool hit(struct fault *f, uint32_t p, unsigned kind)
{
	if (!p || (uint32_t)draw(f) >= p)
		return false;
	f->count[kind]++;
	return true;
}

static bool is_ip(const struct rte_mbuf *m)
{
	const struct rte_ether_hdr *eth =
		rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);

	return m->data_len > sizeof(*eth) &&
	       (eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ||
		eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6));
}

/* Behind the Ethernet header, which a link's own checksum would guard. */
static void damage(struct fault *f, struct rte_mbuf *m)
{
	uint64_t r = draw(f);
	uint32_t span = m->data_len - RTE_ETHER_HDR_LEN;
	uint8_t *b = rte_pktmbuf_mtod_offset(
		m, uint8_t *, RTE_ETHER_HDR_LEN + (uint32_t)r % span);

	*b ^= 1 + (r >> 32) % 255;
}

static bool hold(struct fault *f, uint64_t now, struct rte_mbuf *m)
{
	struct held *h = &f->held[f->nheld];

	if (f->nheld == FAULT_HELD_MAX)
		return false;
	h->m = m;
	h->after = 1 + draw(f) % 8;
	h->until = now + FAULT_HOLD_NS;
	f->nheld++;
	return true;
}

/* Move out what was held long enough; passed: a frame went by. */
static unsigned release(struct fault *f, uint64_t now, bool passed,
			struct rte_mbuf **out)
{
	unsigned i, kept = 0, n = 0;

	for (i = 0; i < f->nheld; i++) {
		struct held *h = &f->held[i];

		if (passed)
			h->after--;
		if (!h->after || now >= h->until)
			out[n++] = h->m;
		else
			f->held[kept++] = *h;
	}
	f->nheld = kept;
	return n;
}

static unsigned one(struct fault *f, uint64_t now, struct rte_mbuf *m,
		    struct rte_mbuf **out)
{
	struct rte_mbuf *twin;
	unsigned n = 0;

	if (hit(f, f->spec.drop, F_DROP)) {
		rte_pktmbuf_free(m);
		return 0;
	}
	/* ARP has no checksum: a damaged one would poison, not test. */
	if (is_ip(m) && hit(f, f->spec.corrupt, F_CORRUPT))
		damage(f, m);
	if (f->nheld < FAULT_HELD_MAX && hit(f, f->spec.reorder, F_REORDER)) {
		hold(f, now, m);
		return 0;
	}
	out[n++] = m;
	if (hit(f, f->spec.dup, F_DUP)) {
		twin = rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);
		if (twin)
			out[n++] = twin;
	}
	return n + release(f, now, true, out + n);
}

unsigned fault_tx(struct fault *f, uint64_t now, struct rte_mbuf *const *in,
		  unsigned n, struct rte_mbuf **out)
{
	unsigned i, k = 0;

	for (i = 0; i < n; i++)
		k += one(f, now, in[i], out + k);
	return k + release(f, now, false, out + k);
}

bool fault_holds(const struct fault *f)
{
	return f->nheld;
}

unsigned fault_counters(const struct fault *f, struct wbell_counter *c,
			unsigned n)
{
	static const char *const name[F_MAX] = {
		[F_DROP] = "fault_drop",
		[F_DUP] = "fault_dup",
		[F_REORDER] = "fault_reorder",
		[F_CORRUPT] = "fault_corrupt",
	};
	unsigned i;

	for (i = 0; i < F_MAX && i < n; i++) {
		snprintf(c[i].name, sizeof(c[i].name), "%s", name[i]);
		c[i].value = f->count[i];
	}
	return F_MAX;
}
