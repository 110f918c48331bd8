// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames in flight.  Each ordered pair of nodes is a path with a rate, a
 * latency and a queue; what a fault does to a frame is drawn when it leaves.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* ---- the heap: by time, then by order of making ---- */

static bool before(const struct event *a, const struct event *b)
{
	return a->t != b->t ? a->t < b->t : a->seq < b->seq;
}

void heap_add(struct world *w, struct event e)
{
	unsigned i = w->nheap++;

	if (w->nheap > w->room) {
		w->room = w->room ? w->room * 2 : 256;
		w->heap = realloc(w->heap, w->room * sizeof(*w->heap));
		if (!w->heap)
			abort();
	}
	e.seq = w->seq++;
	for (; i && before(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = e;
}

bool heap_pop(struct world *w, struct event *out)
{
	struct event last;
	unsigned i = 0, k;

	if (!w->nheap)
		return false;
	*out = w->heap[0];
	last = w->heap[--w->nheap];
	while ((k = 2 * i + 1) < w->nheap) {
		if (k + 1 < w->nheap && before(&w->heap[k + 1], &w->heap[k]))
			k++;
		if (!before(&w->heap[k], &last))
			break;
		w->heap[i] = w->heap[k];
		i = k;
	}
	w->heap[i] = last;
	return true;
}

/* ---- what is planned for a path ---- */

static void window_of(struct world *w, struct rng *r, uint64_t *from,
		      uint64_t *to)
{
	*from = pick(r, 0, w->plan.calm);
	*to = *from + pick(r, 10 * US, w->plan.calm);
	if (*to > w->plan.calm)
		*to = w->plan.calm;
}

void wire_plan(struct world *w)
{
	for (unsigned a = 0; a < w->nnode; a++)
		for (unsigned b = 0; b < w->nnode; b++) {
			struct rng r = fork_rng(w->plan.seed, 100 + a * 8 + b);
			struct path *p = &w->path[a][b];

			if (w->plan.faults & F_DOWN)
				window_of(w, &r, &p->down.from, &p->down.to);
			if (w->plan.faults & F_PAUSE)
				window_of(w, &r, &p->pause.from, &p->pause.to);
			if (w->plan.faults & F_MTU)
				window_of(w, &r, &p->mtu.from, &p->mtu.to);
			if (w->plan.faults & F_DELAY)
				window_of(w, &r, &p->delay.from, &p->delay.to);
			p->longer = pick(&r, 10 * US, 3 * MS);
			p->mtu.most = (uint32_t)pick(&r, 80, 1500);
		}
}

/* ---- faults ---- */

static bool is_lost(struct world *w, struct path *p, uint32_t len)
{
	const struct plan *x = &w->plan;

	if (w->now >= x->calm)
		return false;
	if (w->now >= p->down.from && w->now < p->down.to)
		return true;
	if (w->now >= p->mtu.from && w->now < p->mtu.to && len > p->mtu.most)
		return true;
	if (p->burst_left) {
		p->burst_left--;
		return true;
	}
	if (x->faults & F_BURST && chance(&w->wire, x->burst)) {
		p->burst_left = (unsigned)pick(&w->wire, 1, 60);
		return true;
	}
	return x->faults & F_LOSS && chance(&w->wire, x->loss);
}

/*
 * Damage that the receiver must see: any bit that a checksum covers.  UDP's
 * checksum and the fifth byte of the BTH are masked in the ICRC, and what
 * MACs say is the port's business.
 */
static void damage(struct world *w, struct event *e)
{
	uint32_t l3 = e->data[12] == 0x81 ? 18 : 14;
	bool v6 = e->data[l3 - 2] == 0x86;
	uint32_t udp = l3 + (v6 ? 40 : 20);
	uint32_t at;

	e->bad = true;
	if (chance(&w->wire, 1000)) { /* the tail is missing */
		e->len -= (uint32_t)pick(&w->wire, 1, e->len - 14);
		return;
	}
	do {
		at = (uint32_t)pick(&w->wire, v6 ? udp : l3, e->len - 1);
	} while (at == udp + 6 || at == udp + 7 || at == udp + 12);
	e->data[at] ^= 1U << pick(&w->wire, 0, 7);
}

static uint64_t arrival(struct world *w, struct path *p, uint32_t len)
{
	const struct plan *x = &w->plan;
	uint64_t start = w->now > p->free_at ? w->now : p->free_at;
	uint64_t t;

	if (start >= p->pause.from && start < p->pause.to)
		start = p->pause.to;
	p->free_at = start + len * 8 / x->bits_per_ns + 1;
	t = p->free_at + x->latency;
	if (start >= p->delay.from && start < p->delay.to)
		t += p->longer;
	if (x->jitter)
		t += pick(&w->wire, 0, x->jitter) / 8;
	return t;
}

static void launch(struct world *w, struct event e, const uint8_t *data,
		   uint64_t later)
{
	const struct plan *x = &w->plan;

	/* of its very size: a sanitizer sees the first byte behind it */
	e.data = malloc(e.len);
	if (!e.data)
		abort();
	memcpy(e.data, data, e.len);
	e.t += later;
	if (w->now < x->calm) {
		if (x->faults & F_REORDER && chance(&w->wire, x->reorder))
			e.t += pick(&w->wire, 1, x->spread);
		if (x->faults & F_CORRUPT && chance(&w->wire, x->corrupt))
			damage(w, &e);
	}
	w->path[e.from][e.to].queued++;
	heap_add(w, e);
}

void wire_send(struct world *w, unsigned from, unsigned to,
	       const struct roce_frame *f)
{
	const struct plan *x = &w->plan;
	struct path *p = &w->path[from][to];
	struct event e = { .kind = EV_FRAME,
			   .from = (uint8_t)from,
			   .to = (uint8_t)to,
			   .len = f->len };

	w->frames++;
	if (is_lost(w, p, f->len) || p->queued >= x->queue) {
		world_say(w, "lost");
		return;
	}
	e.t = arrival(w, p, f->len);
	launch(w, e, f->data, 0);
	if (w->now >= x->calm)
		return;
	if (x->faults & F_DUP && chance(&w->wire, x->dup))
		launch(w, e, f->data, pick(&w->wire, 0, x->spread));
	if (x->faults & F_LATE && chance(&w->wire, x->late))
		launch(w, e, f->data, pick(&w->wire, 100 * US, 20 * MS));
}
