// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client tells where its bytes are, the server READs them and WRITEs them
 * back to a second place that the client tells; each step is called by a SEND.
 * The bytes are known: text that goes on by one letter each round.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "tools.h"

struct place { /* what the client says, big-endian */
	uint64_t addr;
	uint32_t rkey, size;
};

/* In our memory: two buffers of size bytes, then what is sent and received. */
enum { FIRST, SECOND, OUT, IN };

static size_t at(const struct end *e, int what)
{
	size_t size = (e->attr.size + 63) / 64 * 64;

	return what == OUT  ? 2 * size
	       : what == IN ? 2 * size + 64
			    : what * size;
}

static void post(struct end *e)
{
	end_recv(e, at(e, IN), sizeof(struct place));
}

static void text(uint8_t *to, uint32_t size, unsigned round)
{
	uint32_t i = snprintf((char *)to, size, "rdma-ping-%u: ", round);
	uint8_t c = 'A' + round % ('z' - 'A' + 1);

	for (; i < size; i++) {
		to[i] = c;
		c = c == 'z' ? 'A' : c + 1;
	}
	to[size - 1] = 0;
}

static void check(const struct end *e, int what, unsigned round)
{
	uint8_t want[e->attr.size];
	const uint8_t *got = e->mem + at(e, what);
	uint32_t i;

	text(want, e->attr.size, round);
	for (i = 0; i < e->attr.size; i++)
		if (got[i] != want[i])
			die("round %u: byte %u is 0x%02x, not 0x%02x", round, i,
			    got[i], want[i]);
}

/* ---- one SEND ---- */

static void say(struct end *e, int what)
{
	struct place p = {
		.addr = htobe64((uintptr_t)e->mem + at(e, what)),
		.rkey = htobe32(e->key),
		.size = htobe32(e->attr.size),
	};
	uint64_t sent = e->sent;

	memcpy(e->mem + at(e, OUT), &p, sizeof(p));
	end_send(e, at(e, OUT), sizeof(p));
	end_wait_sent(e, sent + 1);
}

/* false: it disconnected instead */
static bool hear(struct end *e, uint64_t n, struct place *p)
{
	while (e->received < n) {
		if (rdmacm_has_event(&e->cm, e->cm_id))
			return false;
		link_turn(&e->link, -1);
	}
	if (e->recv_len != sizeof(*p))
		die("message %lu has %u bytes, not %zu", n, e->recv_len,
		    sizeof(*p));
	memcpy(p, e->mem + at(e, IN), sizeof(*p));
	post(e);
	return true;
}

/* ---- the two parts ---- */

static void transfer(struct end *e, enum roce_op op, const struct place *p)
{
	uint64_t sent = e->sent;

	if (be32toh(p->size) != e->attr.size)
		die("the peer's buffer has %u bytes, not %u", be32toh(p->size),
		    e->attr.size);
	e->theirs.rkey = be32toh(p->rkey);
	end_rdma(e, op, at(e, FIRST), be64toh(p->addr), e->attr.size);
	end_wait_sent(e, sent + 1);
}

static unsigned serve(struct end *e)
{
	struct place p;
	unsigned round = 0;

	while (round < e->attr.iters && hear(e, 2 * round + 1, &p)) {
		transfer(e, ROCE_OP_READ, &p);
		check(e, FIRST, round);
		say(e, FIRST);
		if (!hear(e, 2 * round + 2, &p))
			die("the peer left in the middle of round %u", round);
		transfer(e, ROCE_OP_WRITE, &p);
		say(e, FIRST);
		round++;
	}
	return round;
}

static unsigned ask(struct end *e)
{
	struct place p;
	unsigned round;

	for (round = 0; round < e->attr.iters; round++) {
		text(e->mem + at(e, FIRST), e->attr.size, round);
		memset(e->mem + at(e, SECOND), 0xa5, e->attr.size);
		say(e, FIRST);
		if (!hear(e, 2 * round + 1, &p))
			break;
		say(e, SECOND);
		if (!hear(e, 2 * round + 2, &p))
			break;
		check(e, SECOND, round);
	}
	return round;
}

/* ---- that it goes wrong ---- */

/* Nobody listens, here or there: who asks must hear so. */
static void refused(struct end *e, const struct rdmacm_to *to)
{
	if (e->attr.host) {
		if (rdmacm_connect(&e->cm, to, e->qp, e->mine.psn))
			die("somebody listens at port %u", to->port);
		return;
	}
	puts("listening"); /* says who started us: we are here */
	fflush(stdout);
	while (!cm_counter(e->cm.cm, CM_C_REJ_TX))
		link_turn(&e->link, -1);
	link_drain(&e->link, 500000000);
}

/* No MAD gets through any more; who releases must come to an end. */
static void vanish(struct end *e)
{
	e->link.attr.mads = MADS_LOSE_ALL;
	if (e->attr.host)
		rdmacm_disconnect(&e->cm, e->cm_id, CM_END_SILENT);
}

/* REQ, REP, RTU, and DREQ or DREP at the least. */
static void check_losses(const struct end *e)
{
	if (e->link.attr.mads == MADS_PASS)
		return;
	printf("mads_lost %u\n", mads_count());
	if (e->link.attr.mads == MADS_LOSE_FIRST && mads_count() < 4)
		die("%u MADs were lost on purpose, not 4", mads_count());
}

void rping_run(struct end *e, const struct link_attr *link)
{
	struct rdmacm_to to = { .port = e->attr.port,
				.mtu = e->attr.mtu,
				.once = e->attr.refused };
	unsigned rounds;

	end_make(e, link, at(e, IN) + 64);
	memcpy(to.gid, e->attr.host_gid, 16);
	if (e->attr.refused) {
		refused(e, &to);
		end_close(e);
		return;
	}
	post(e);
	if (!e->attr.host)
		rdmacm_listen(&e->cm, e->attr.port);
	e->cm_id = e->attr.host
			   ? rdmacm_connect(&e->cm, &to, e->qp, e->mine.psn)
			   : rdmacm_accept(&e->cm, e->qp, e->mine.psn);
	rounds = e->attr.host ? ask(e) : serve(e);
	printf("rounds_compared %u\n", rounds);
	if (rounds != e->attr.iters)
		die("%u of %u rounds were played", rounds, e->attr.iters);
	if (e->attr.vanish)
		vanish(e);
	else if (e->attr.host)
		rdmacm_disconnect(&e->cm, e->cm_id, CM_END_ANSWER);
	else
		rdmacm_wait_end(&e->cm, e->cm_id);
	check_losses(e);
	end_close(e);
}
