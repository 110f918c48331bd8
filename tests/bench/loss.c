// SPDX-License-Identifier: BSD-2-Clause
/*
 * Goodput under loss (G8, G9): two devices of the transport core on this one
 * thread, frames handed over in memory, some dropped by seed in both
 * directions.  The clock is this thread's CPU time: a stall costs what it
 * costs on a quiet machine, and a busy one adds none.
 * Per second of CPU time, beside the loss-free run in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wbell/queue.h>

#include "../../dpdk_path/roce/core.h"
#include "place.h"
#include "row.h"

#define ROUNDS	 7
#define BURST	 32
#define MTU	 4096
#define SPAN	 (1U << 20)
#define DEPTH	 256
#define BYTES	 (600UL << 20) /* of a round */
#define LIMIT_NS 10000000000ULL

struct end {
	struct roce_dev *dev;
	struct roce_qp *qp;
	uint8_t *mem;
	uint32_t key;
};

struct link {
	struct end end[2];
	uint8_t buf[BURST][ROCE_FRAME_MAX(MTU) + 64];
	uint64_t rng;
	uint32_t drop; /* of 2^32 */
	uint16_t index;
};

/*
 * The thread's own clock: timers run while it runs, and a scheduler that takes
 * the CPU away from both ends at once looks like no stall of the network.
 */
static uint64_t clock_ns(void)
{
	return (uint64_t)(place_cpu() * 1e9) + 1;
}

static uint32_t draw(struct link *l)
{
	l->rng ^= l->rng << 13;
	l->rng ^= l->rng >> 7;
	l->rng ^= l->rng << 17;
	return l->rng >> 32;
}

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "bench: %s failed: %s\n", what, strerror(-rc));
	exit(1);
}

static void make_end(struct link *l, int i, bool keep)
{
	struct end *e = &l->end[i];
	struct roce_dev_attr da = { .max_qp = 2,
				    .max_mr = 4,
				    .ip = { 192, 0, 2, (uint8_t)(1 + i) },
				    .mac = { 2, 0, 0, 0, 0, (uint8_t)(1 + i) },
				    .seed = 1 + i };
	struct roce_qp_attr qa = { .depth = DEPTH,
				   .recv_sge = 1,
				   .timeout = 14,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .min_rnr_timer = 12,
				   .max_rd_atomic = 16,
				   .keep_nothing = !keep };
	struct roce_mr_attr ma = { .len = SPAN,
				   .access = ROCE_ACCESS_LOCAL_WRITE |
					     ROCE_ACCESS_REMOTE_WRITE };

	e->mem = aligned_alloc(4096, SPAN);
	if (!e->mem)
		must(-12, "memory");
	memset(e->mem, 1 + i, SPAN);
	ma.iova = (uintptr_t)e->mem;
	ma.base = e->mem;
	must(roce_dev_create(&da, &e->dev), "making a device");
	must(roce_qp_create(e->dev, &qa, &e->qp), "making a queue pair");
	must(roce_mr_add(e->dev, &ma, &e->key), "registering memory");
}

static void open_link(struct link *l, bool own, uint64_t seed, uint32_t drop)
{
	memset(l, 0, sizeof(*l));
	l->rng = seed * 0x9e3779b97f4a7c15ULL + 1;
	l->drop = drop;
	for (int i = 0; i < 2; i++)
		make_end(l, i, own);
	for (int i = 0; i < 2; i++) {
		struct roce_peer p = { .ip = { 192, 0, 2, (uint8_t)(2 - i) },
				       .mac = { 2, 0, 0, 0, 0,
						(uint8_t)(2 - i) },
				       .has_mac = true,
				       .qpn = roce_qp_num(l->end[!i].qp),
				       .path_mtu = MTU,
				       .max_rd_atomic = 16,
				       .holes = own };

		must(roce_qp_connect(l->end[i].qp, &p, clock_ns()), "connect");
	}
}

static void close_link(struct link *l)
{
	for (int i = 0; i < 2; i++) {
		roce_dev_destroy(l->end[i].dev);
		free(l->end[i].mem);
	}
}

static bool post(struct link *l, uint32_t size, uint32_t off)
{
	struct end *a = &l->end[0], *b = &l->end[1];
	struct roce_wr *wr = roce_wr_next(a->qp);

	if (!wr)
		return false;
	memset(wr, 0, sizeof(*wr));
	wr->op = ROCE_OP_WRITE;
	wr->wqe_opcode = WBELL_OP_WRITE;
	wr->flags = ROCE_WR_SIGNALLED;
	wr->index = l->index++;
	wr->nsge = 1;
	wr->len = size;
	wr->raddr = (uintptr_t)b->mem + off;
	wr->rkey = b->key;
	wr->sge = (struct roce_sge){ (uintptr_t)a->mem + off, size, a->key };
	roce_wr_post(a->qp, wr);
	return true;
}

/* What one end has to send, through the loss, into the other. */
static void cross(struct link *l, int from, uint64_t now)
{
	struct roce_frame f[BURST];
	unsigned n, kept = 0;

	for (unsigned i = 0; i < BURST; i++) {
		f[i].data = l->buf[i];
		f[i].room = sizeof(l->buf[i]);
	}
	n = roce_tx(l->end[from].dev, now, f, BURST);
	for (unsigned i = 0; i < n; i++)
		if (!l->drop || draw(l) >= l->drop)
			f[kept++] = f[i];
	if (kept)
		roce_rx(l->end[!from].dev, now, f, kept);
}

static unsigned reap(struct link *l)
{
	struct roce_comp c[64];
	unsigned n = roce_comp(l->end[0].dev, c, 64);

	for (unsigned i = 0; i < n; i++)
		if (c[i].syndrome) {
			fprintf(stderr,
				"bench: a WRITE under loss failed: "
				"syndrome 0x%02x\n",
				c[i].syndrome);
			exit(1);
		}
	return n;
}

static void check(const struct link *l, uint64_t now, uint64_t limit)
{
	if (now < limit)
		return;
	fprintf(stderr,
		"bench: WRITEs under loss %.4f were not done in "
		"10 s\n",
		l->drop / 4294967296.0);
	exit(1);
}

/* Gb per CPU-second. */
static double run(bool own, uint32_t size, double loss, uint64_t seed)
{
	uint64_t messages = BYTES / size, posted = 0, done = 0;
	uint64_t now = clock_ns(), limit = now + LIMIT_NS;
	static struct link l;
	uint32_t off = 0;
	double start;

	open_link(&l, own, seed, (uint32_t)(loss * 4294967296.0));
	start = place_cpu();
	while (done < messages) {
		now = clock_ns();
		check(&l, now, limit);
		for (int i = 0; i < BURST && posted < messages; i++) {
			if (!post(&l, size, off))
				break;
			posted++;
			off = off + size < SPAN ? off + size : 0;
		}
		cross(&l, 0, now);
		cross(&l, 1, now);
		done += reap(&l);
	}
	start = place_cpu() - start;
	if (memcmp(l.end[0].mem, l.end[1].mem, SPAN)) {
		fprintf(stderr, "bench: wrong bytes under loss\n");
		exit(1);
	}
	close_link(&l);
	return messages * size * 8e-9 / start;
}

struct figure {
	const char *id;
	bool own;
	double loss; /* percent */
	double must, strive;
};

static bool measure(const struct figure *f, uint32_t size)
{
	double with[ROUNDS], without[ROUNDS];
	char what[64];
	struct row r = { .id = f->id,
			 .what = what,
			 .unit = "Gb/CPU-s",
			 .must = f->must,
			 .strive = f->strive };

	snprintf(what, sizeof(what), "%u B, loss %g %%, %s peer / loss-free",
		 size, f->loss, f->own ? "own" : "go-back-N");
	for (int i = 0; i < ROUNDS; i++) {
		without[i] = run(f->own, size, 0, 1 + i);
		with[i] = run(f->own, size, f->loss / 100, 1 + i);
	}
	row_measured(&r, with, without, ROUNDS);
	return row_tell(&r);
}

int main(void)
{
	static const struct figure figures[] = {
		{ "G8", true, 0.1, 0.995, 0.998 },
		{ "G8", true, 1, 0.98, 0.988 },
		{ "G8", true, 5, 0.92, 0.945 },
		{ "G9", false, 0.1, 0.90, 0.93 },
		{ "G9", false, 1, 0.75, 0.85 },
	};
	bool ok = true;

	place_pin(0);
	for (unsigned i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		ok &= measure(&figures[i], 4096);
		ok &= measure(&figures[i], 1024);
	}
	return !ok;
}
