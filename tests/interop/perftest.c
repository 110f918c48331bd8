// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the two ends of a perftest program say over TCP, and our end of its
 * traffic.  Its buffer holds two halves, the first to send from, the second
 * to receive in, each one message or a page, and is filled by rand(): see
 * stream.h.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "tools.h"

#define VERSION_LEN 16
#define KEY_LEN	    108
#define PAGE	    4096
#define LINE	    64 /* the program's idea of a cache line */
#define FILL	    0xa5
#define NO_ACK_NS   1000000000ULL

struct perftest {
	const char *name;
	enum roce_op op;
	bool latency;
	/* handshakes before the queues connect, and from there to the test */
	unsigned before, after;
	bool reports;
	uint32_t out_reads;
};

static const struct perftest tests[] = {
	{ "write_bw", ROCE_OP_WRITE, false, 1, 2, true, 1 },
	{ "read_bw", ROCE_OP_READ, false, 1, 2, true, 16 },
	{ "atomic_bw", ROCE_OP_FA, false, 1, 2, true, 16 },
	{ "send_bw", ROCE_OP_SEND, false, 1, 3, false, 1 },
	{ "write_lat", ROCE_OP_WRITE, true, 2, 2, false, 1 },
};

const struct perftest *perftest_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (!strcmp(name, tests[i].name))
			return &tests[i];
	return NULL;
}

/* Bytes from one message to the next in the buffer. */
static uint32_t step(uint32_t size)
{
	return size > LINE ? (size + LINE - 1) / LINE * LINE : LINE;
}

static size_t half(const struct end *e)
{
	return e->attr.size > PAGE ? step(e->attr.size) : PAGE;
}

/* Where message n begins, from the start of its half. */
static size_t slot(const struct end *e, uint64_t n)
{
	if (e->attr.size > PAGE / 2)
		return 0;
	return n % (PAGE / step(e->attr.size)) * step(e->attr.size);
}

/* Slots that were used. */
static uint64_t slots(const struct end *e)
{
	uint64_t n = e->attr.size > PAGE / 2 ? 1 : PAGE / step(e->attr.size);

	return n < e->attr.iters ? n : e->attr.iters;
}

/* ---- over TCP ---- */

static void swap_settings(struct end *e)
{
	char mine[VERSION_LEN] = "6.06", theirs[VERSION_LEN];
	uint32_t cycle = htobe32(PAGE), line = htobe32(LINE), other;
	char mtu[2] = "1", mtu_other[2];

	boot_swap(&e->boot, mine, theirs, VERSION_LEN);
	if (memcmp(theirs, mine, sizeof("6.06")))
		printf("# the peer's version is %.16s\n", theirs);
	boot_swap(&e->boot, &cycle, &other, 4);
	boot_swap(&e->boot, &line, &other, 4);
	if (be32toh(other) != LINE)
		die("the peer's cache line has %u bytes, not %u",
		    be32toh(other), LINE);
	/* verbs' number of it: 1 is 256 */
	mtu[0] += __builtin_ctz(e->attr.mtu / 256);
	boot_swap(&e->boot, mtu, mtu_other, 2);
	if (mtu_other[0] != mtu[0])
		die("the peer's path MTU is number %c, ours %c", mtu_other[0],
		    mtu[0]);
}

static void print_key(const struct dest *d, char text[KEY_LEN])
{
	int i, n;

	n = sprintf(text, "0000:%04x:%06x:%06x:%08x:%016lx:", d->out_reads,
		    d->qpn, d->psn, d->rkey, d->vaddr);
	for (i = 0; i < 16; i++)
		n += sprintf(text + n, "%02x:", d->gid[i]);
	sprintf(text + n, "%08x:", 0);
}

static void scan_key(const char text[KEY_LEN], struct dest *d)
{
	unsigned i, lid, byte;
	int at = 0;

	if (text[KEY_LEN - 1] ||
	    sscanf(text, "%4x:%4x:%6x:%6x:%8x:%16lx:%n", &lid, &d->out_reads,
		   &d->qpn, &d->psn, &d->rkey, &d->vaddr, &at) != 6 ||
	    at != KEY_LEN - 58)
		die("the peer's key is of another form: '%.*s'", KEY_LEN, text);
	for (i = 0; i < 16; i++) {
		if (sscanf(text + at + 3 * i, "%2x:", &byte) != 1)
			die("the peer's GID is not hexadecimal: '%s'", text);
		d->gid[i] = byte;
	}
}

/* With -R the same as numbers, big-endian. */
struct key {
	uint32_t lid, out_reads, qpn, psn, rkey, none;
	uint64_t vaddr;
	uint8_t gid[16];
	uint32_t srqn, gid_index;
};

static void swap_keys(struct end *e)
{
	struct key theirs, mine = {
		.out_reads = htobe32(e->mine.out_reads),
		.qpn = htobe32(e->mine.qpn),
		.psn = htobe32(e->mine.psn),
		.rkey = htobe32(e->mine.rkey),
		.vaddr = htobe64(e->mine.vaddr),
	};

	memcpy(mine.gid, e->mine.gid, 16);
	boot_swap(&e->boot, &mine, &theirs, sizeof(mine));
	e->theirs.rkey = be32toh(theirs.rkey);
	e->theirs.vaddr = be64toh(theirs.vaddr);
}

static void shake(struct end *e, unsigned n)
{
	char mine[KEY_LEN], theirs[KEY_LEN];

	for (; n && e->attr.rdma_cm; n--)
		swap_keys(e);

	print_key(&e->mine, mine);
	while (n--) {
		boot_swap(&e->boot, mine, theirs, KEY_LEN);
		scan_key(theirs, &e->theirs);
	}
}

/* Size, iterations; then peak and mean bandwidth and message rate, doubles. */
static void swap_reports(struct end *e, uint64_t ns)
{
	double rate = e->attr.iters * 1e9 / (ns ? ns : 1);
	double mean = rate * e->attr.size / 0x100000;
	double number[3] = { mean, mean, rate / 1e6 };
	uint64_t other, mine[5] = { e->attr.size, e->attr.iters };
	int i;

	memcpy(mine + 2, number, sizeof(number));
	for (i = 0; i < 5; i++) {
		mine[i] = htobe64(mine[i]);
		boot_swap(&e->boot, &mine[i], &other, 8);
		if (i < 2 && !e->attr.host && other != mine[i])
			die("the peer reports %s %lu, not %lu",
			    i ? "iterations" : "size", be64toh(other),
			    be64toh(mine[i]));
	}
}

/* ---- the server's part ---- */

static void check_message(struct end *e, uint16_t index, uint32_t len)
{
	if (len != e->attr.size)
		die("message %lu has %u bytes, not %u", e->received, len,
		    e->attr.size);
	stream_check(e->mem + half(e) + slot(e, index), len,
		     slot(e, e->received - 1));
}

static void post_recv(struct end *e)
{
	end_recv(e, half(e) + slot(e, e->recv_index), e->attr.size);
}

static void take_messages(struct end *e)
{
	uint64_t posted = e->recv_index;

	while (e->received < e->attr.iters) {
		link_turn(&e->link, -1);
		/* One slot fewer than are posted could be overwritten. */
		while (posted < e->attr.iters && posted - e->received < 1) {
			post_recv(e);
			posted++;
		}
	}
}

/* Messages where they belong, nothing between them. */
static void check_written(struct end *e)
{
	const uint8_t *at = e->mem + half(e);
	uint64_t k;
	size_t i;

	for (k = 0; k < slots(e); k++) {
		stream_check(at + slot(e, k), e->attr.size, slot(e, k));
		memset(e->mem + half(e) + slot(e, k), FILL, e->attr.size);
	}
	for (i = 0; i < half(e); i++)
		if (at[i] != FILL)
			die("byte %zu, which was no one's, is 0x%02x", i,
			    at[i]);
}

static void check_atomics(struct end *e)
{
	uint64_t sum = 0, word;
	size_t i;

	for (i = 0; i < half(e); i += 8) {
		memcpy(&word, e->mem + half(e) + i, 8);
		sum += word;
	}
	if (sum != (e->attr.fetch_add ? e->attr.iters : 0))
		die("after %u atomics the words' sum is %lu", e->attr.iters,
		    sum);
}

static void check_unchanged(struct end *e)
{
	size_t i;

	for (i = 0; i < half(e); i++)
		if (e->mem[half(e) + i] != FILL)
			die("byte %zu was read and is 0x%02x now", i,
			    e->mem[half(e) + i]);
}

static void serve_check(struct end *e, const struct perftest *t)
{
	if (t->op == ROCE_OP_WRITE)
		check_written(e);
	else if (t->op == ROCE_OP_READ)
		check_unchanged(e);
	else if (t->op == ROCE_OP_FA)
		check_atomics(e);
}

/* ---- the client's part ---- */

static void ask_atomics(struct end *e)
{
	uint64_t i, was, operand[2] = { 0, 0 }, value = 0;
	uint8_t *at = e->mem;

	for (i = 0; i < e->attr.iters; i++) {
		if (e->attr.fetch_add) {
			operand[0] = 1;
		} else {
			operand[1] = value;
			operand[0] = i ? value + 1 : 0;
		}
		end_atomic(e, 0, e->theirs.vaddr, operand);
		end_wait_sent(e, i + 1);
		memcpy(&was, at, 8);
		if (!i)
			stream_check(at, 8, half(e));
		else if (was != value)
			die("atomic %lu: the word was %lx, not %lx", i, was,
			    value);
		/* The first compare fails, so the word stays. */
		value = was + (e->attr.fetch_add || i);
	}
}

static void ask(struct end *e, const struct perftest *t)
{
	uint64_t i, k;

	for (i = 0; i < e->attr.iters; i++) {
		k = slot(e, i);
		if (t->op == ROCE_OP_SEND)
			end_send(e, k, e->attr.size);
		else if (t->op == ROCE_OP_WRITE)
			end_rdma(e, t->op, k, e->theirs.vaddr + k,
				 e->attr.size);
		else
			end_rdma(e, t->op, half(e) + k, e->theirs.vaddr + k,
				 e->attr.size);
		link_turn(&e->link, e->boot.fd);
	}
	end_wait_sent(e, e->attr.iters);
	if (t->op != ROCE_OP_READ)
		return;
	for (i = 0; i < slots(e); i++)
		stream_check(e->mem + half(e) + slot(e, i), e->attr.size,
			     half(e) + slot(e, i));
}

/* ---- latency: write there and back; the last byte counts ---- */

static void take_turn(struct end *e, uint64_t n)
{
	volatile uint8_t *at = e->mem + half(e);
	uint32_t i, last = e->attr.size - 1;

	while (at[last] != (uint8_t)n)
		link_turn(&e->link, -1);
	for (i = 0; i < last; i++)
		if (at[i])
			die("write %lu: byte %u is 0x%02x, not zero", n, i,
			    at[i]);
}

/* The tool's queue is gone at its end, and with it maybe the last ACK. */
static void wait_last(struct end *e)
{
	uint64_t end = link_now() + NO_ACK_NS;

	while (e->sent < e->attr.iters && link_now() < end)
		link_turn(&e->link, -1);
	if (e->sent + 1 < e->attr.iters)
		die("%lu of %u writes were acknowledged", e->sent,
		    e->attr.iters);
	if (e->sent < e->attr.iters)
		puts("# the last write was not acknowledged");
}

static void latency(struct end *e)
{
	uint64_t n;

	for (n = 1; n <= e->attr.iters; n++) {
		/* The server begins. */
		if (e->attr.host)
			take_turn(e, n);
		e->mem[e->attr.size - 1] = n;
		end_rdma(e, ROCE_OP_WRITE, 0, e->theirs.vaddr, e->attr.size);
		if (n < e->attr.iters)
			end_wait_sent(e, n);
		if (!e->attr.host)
			take_turn(e, n);
	}
	wait_last(e);
}

/* ---- all of it ---- */

static void prepare(struct end *e, const struct perftest *t)
{
	bool zero = t->latency || t->op == ROCE_OP_FA;
	size_t i;

	memset(e->mem + half(e), zero ? 0 : FILL, half(e));
	if (!t->latency)
		for (i = 0; i < half(e); i++)
			e->mem[i] = i * 13 + e->attr.seed;
	stream_open(2 * half(e));
	e->mine.out_reads = t->out_reads;
	e->mine.vaddr = (uintptr_t)e->mem + half(e);
	if (t->op == ROCE_OP_SEND && !e->attr.host) {
		e->on_recv = check_message;
		for (i = 0; i < END_RECVS / 2 && i < slots(e); i++)
			post_recv(e);
	}
}

static void run(struct end *e, const struct perftest *t)
{
	if (t->latency)
		latency(e);
	else if (e->attr.host && t->op == ROCE_OP_FA)
		ask_atomics(e);
	else if (e->attr.host)
		ask(e, t);
	else if (t->op == ROCE_OP_SEND)
		take_messages(e);
}

/* The tool's server listens only once it has heard of the client. */
static void connect_between_shakes(struct end *e)
{
	shake(e, 1);
	end_connect_cm(e);
	shake(e, 1);
}

void perftest_run(struct end *e, const struct link_attr *link,
		  const struct perftest *t)
{
	uint64_t start;

	end_open(e, link, 2 * half(e));
	prepare(e, t);
	swap_settings(e);
	if (e->attr.rdma_cm)
		connect_between_shakes(e);
	shake(e, t->before);
	if (!e->attr.rdma_cm)
		end_connect(e);
	shake(e, t->after);
	start = link_now();
	run(e, t);
	start = link_now() - start;
	if (!t->latency)
		shake(e, 1);
	if (t->reports) {
		swap_reports(e, start);
		shake(e, 1);
	}
	if (!e->attr.host && !t->latency)
		serve_check(e, t);
	if (e->attr.rdma_cm)
		end_disconnect_cm(e);
	link_drain(&e->link, 50000000);
	stream_close();
	end_close(e);
}
