// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hostile frames against the neighbours of either family.  An input is a byte
 * for the family and a list of records: frames, as they are or mended so far
 * that the checksum holds, time, addresses that somebody waits for.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "../../dpdk_path/port/neighbour.h"

#define FRAMES 512 /* bytes of the longest taken */
#define MS     1000000ULL

/* Of a frame over IPv6 (RFC 8200 3, RFC 4443 2.1). */
enum { LEN = 18, SRC = 22, ICMP = 54, BEHIND_OPTIONS = 62 };

static const uint8_t our_mac[6] = { 2, 0, 0, 0, 0, 1 };

struct bed {
	struct neighbours *n;
	uint8_t ours[GID_SIZE];
	uint64_t now;
	uint8_t wanted[256]; /* by the last byte of the address */
};

static void name(const struct bed *b, uint8_t last, uint8_t gid[GID_SIZE])
{
	memcpy(gid, b->ours, GID_SIZE);
	gid[GID_SIZE - 1] = last;
}

static void mend(uint8_t *f, uint32_t len, uint32_t at)
{
	uint32_t n = len - at, i, sum = n + 58;

	f[LEN] = (len - ICMP) >> 8;
	f[LEN + 1] = len - ICMP;
	f[at + 2] = f[at + 3] = 0;
	for (i = SRC; i < ICMP; i += 2)
		sum += f[i] << 8 | f[i + 1];
	for (i = at; i < len; i++)
		sum += (i - at) & 1 ? f[i] : f[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	f[at + 2] = ~sum >> 8;
	f[at + 3] = ~sum;
}

/* What we send comes from us, and to one host or to a group by its MAC. */
static void judge_sent(const uint8_t *f, uint32_t len)
{
	must(len == 60 || (len == 86 && f[12] == 0x86));
	must(!memcmp(f + 6, our_mac, 6));
	must(!(f[0] & 1) || f[0] == 0xff || (f[0] == 0x33 && f[1] == 0x33));
}

static void judge_news(const struct bed *b, const struct neighbour_news *news)
{
	if (news->reply)
		judge_sent(news->out, news->reply);
	must(!(news->learned && news->conflict));
	if (news->learned) {
		uint8_t gid[GID_SIZE];

		must(b->wanted[news->gid[GID_SIZE - 1]]);
		name(b, news->gid[GID_SIZE - 1], gid);
		must(gid_equal(gid, news->gid));
		must(!(news->mac[0] & 1) && memcmp(news->mac, our_mac, 6));
	}
	if (news->conflict)
		must(gid_equal(news->gid, b->ours));
}

static void frame(struct bed *b, struct input *in)
{
	struct neighbour_news news;
	uint8_t how = take(in, 1), buf[FRAMES] = { 0 }, *f;
	uint32_t len = take(in, 2) % (FRAMES + 1);

	take_bytes(in, buf, len);
	if (how & 1 && len > ICMP + 4)
		mend(buf, len, ICMP);
	if (how & 2 && len > BEHIND_OPTIONS + 4)
		mend(buf, len, BEHIND_OPTIONS);
	f = malloc(len + 1); /* its end is the end for the sanitizer too */
	must(f);
	memcpy(f, buf, len);
	if (neighbours_rx(b->n, b->now, f, len, &news))
		judge_news(b, &news);
	else
		must(!news.reply && !news.learned && !news.conflict);
	free(f);
}

/* However much was asked and wanted, what is due comes to an end. */
static void speak(struct bed *b)
{
	uint8_t out[NEIGHBOUR_FRAME];
	unsigned sent = 0;
	uint32_t len;

	while ((len = neighbours_tx(b->n, b->now, out))) {
		judge_sent(out, len);
		must(++sent <= NEIGHBOUR_MAX + 2);
	}
}

static void want(struct bed *b, uint8_t last)
{
	uint8_t gid[GID_SIZE], mac[6];

	name(b, last, gid);
	b->wanted[last] = 1;
	if (neighbours_want(b->n, b->now, gid, mac))
		must(!(mac[0] & 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct bed b = { .ours = { 0xfd, 9, [15] = 1 } };

	if (take(&in, 1) & 1)
		gid_set_ipv4(b.ours, (const uint8_t[4]){ 10, 9, 0, 1 });
	must(!neighbours_create(b.ours, our_mac, &b.n));
	while (in.n) {
		switch (take(&in, 1) % 3) {
		case 0:
			frame(&b, &in);
			break;
		case 1:
			b.now += take(&in, 2) * MS;
			speak(&b);
			break;
		default:
			want(&b, take(&in, 1));
		}
	}
	speak(&b);
	neighbours_destroy(b.n);
	return 0;
}
