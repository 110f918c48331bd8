// SPDX-License-Identifier: BSD-2-Clause
/*
 * Message by message the client sends and the server sends back.  The tool
 * has one buffer, so what it sends is what it last received: we change the
 * bytes each time and compare what comes back.
 */
#include <stdio.h>
#include <string.h>

#include "tools.h"

#define GRH	 40
#define TEXT_LEN sizeof("0000:000000:000000:00000000000000000000000000000000")

struct game {
	uint32_t head; /* in front of a received message */
	size_t slot;
	uint64_t round; /* of the bytes that were sent last */
	bool echo;	/* the next message must be what was sent */
};

static struct game game;

static void print_dest(const struct dest *d, char text[TEXT_LEN])
{
	int i, n = sprintf(text, "0000:%06x:%06x:", d->qpn, d->psn);

	for (i = 0; i < 16; i++)
		n += sprintf(text + n, "%02x", d->gid[i]);
}

static void scan_dest(const char text[TEXT_LEN], struct dest *d)
{
	unsigned lid, byte, i;
	int at = 0;

	if (memchr(text, 0, TEXT_LEN) != text + TEXT_LEN - 1 ||
	    sscanf(text, "%4x:%6x:%6x:%n", &lid, &d->qpn, &d->psn, &at) != 3 ||
	    at != TEXT_LEN - 33)
		die("the peer's address is not of the form"
		    " LID:QPN:PSN:GID: '%.*s'",
		    (int)TEXT_LEN, text);
	for (i = 0; i < 16; i++) {
		if (sscanf(text + at + 2 * i, "%2x", &byte) != 1)
			die("the peer's GID is not hexadecimal: '%s'", text);
		d->gid[i] = byte;
	}
}

/* The server connects before it answers: the client sends at once. */
static void meet(struct end *e)
{
	char mine[TEXT_LEN], theirs[TEXT_LEN], done[TEXT_LEN];

	print_dest(&e->mine, mine);
	if (e->attr.host)
		boot_put(&e->boot, mine, TEXT_LEN);
	boot_get(&e->boot, theirs, TEXT_LEN);
	scan_dest(theirs, &e->theirs);
	end_connect(e);
	if (e->attr.host) {
		boot_put(&e->boot, "done", sizeof("done"));
	} else {
		boot_put(&e->boot, mine, TEXT_LEN);
		boot_get(&e->boot, done, sizeof("done"));
	}
}

/* The tool's check wants a zero at the start of each page. */
static uint8_t byte_at(const struct end *e, uint64_t round, uint32_t i)
{
	if (i % 4096 == 0)
		return 0;
	return (uint8_t)((e->attr.seed + round) * 31 + i * 7 + (i >> 8) + 1);
}

/* What the tool's buffer holds before it has received. */
static bool initial(uint8_t byte, uint32_t i)
{
	return byte == 0x7b || (i % 4096 == 0 && !byte);
}

static void check(struct end *e, uint16_t index, uint32_t len)
{
	const uint8_t *at = e->mem + e->attr.size +
			    index % END_RECVS * game.slot + game.head;
	uint32_t i;
	bool good;

	if (len != e->attr.size + game.head)
		die("message %lu has %u bytes, not %u", e->received,
		    len - game.head, e->attr.size);
	for (i = 0; i < e->attr.size; i++) {
		good = game.echo ? at[i] == byte_at(e, game.round, i)
				 : initial(at[i], i);
		if (!good)
			die("message %lu differs at byte %u: it is 0x%02x",
			    e->received, i, at[i]);
	}
}

static void play(struct end *e)
{
	uint32_t i;

	game.round++;
	for (i = 0; i < e->attr.size; i++)
		e->mem[i] = byte_at(e, game.round, i);
	end_send(e, 0, e->attr.size);
	game.echo = true;
}

static void post(struct end *e)
{
	end_recv(e, e->attr.size + e->recv_index % END_RECVS * game.slot,
		 game.slot);
}

static void rounds(struct end *e)
{
	uint64_t sent = 0, seen = 0;

	if (e->attr.host) {
		play(e);
		sent++;
	}
	while (seen < e->attr.iters) {
		while (e->received == seen)
			link_turn(&e->link, -1);
		seen++;
		post(e);
		end_wait_sent(e, sent);
		if (sent < e->attr.iters) {
			play(e);
			sent++;
		}
	}
	end_wait_sent(e, sent);
}

void pingpong_run(struct end *e, const struct link_attr *link)
{
	int i;

	game.head = e->attr.type == ROCE_UD ? GRH : 0;
	game.slot = e->attr.size + game.head;
	e->on_recv = check;
	end_open(e, link, e->attr.size + END_RECVS * game.slot);
	for (i = 0; i < END_RECVS / 2; i++)
		post(e);
	meet(e);
	rounds(e);
	/* Our acknowledge of the last may be lost: answer for it a while. */
	link_drain(&e->link, 100000000);
	printf("messages_compared %lu\n", e->received);
	end_close(e);
}
