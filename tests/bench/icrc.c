// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the ICRC costs (G10): its functions alone on the packets of an 8 B
 * WRITE and of its share of an ACK; and for 4 KiB packets what it adds to the
 * copies, as a share of all that both ends do for one over net_ring.
 */
#include <stdlib.h>
#include <string.h>

#include <wbell/roce.h>

#include "../../dpdk_path/roce/icrc.h"
#include "place.h"
#include "row.h"
#include "stack.h"

#define ROUNDS	7
#define PACKETS 64 /* all stay in L2, the small ones in L1 */
#define ROOM	4608
#define WRITE	56 /* IPv4, UDP, BTH, RETH */
#define MIDDLE	40
#define ACK	44
#define PREFIX	36 /* before the PSN */
#define BURST	32
#define SHARE	32 /* messages that one ACK answers, as the floor program's */

static uint8_t *packets, *payload;
static volatile uint32_t sink;

static double check(uint32_t len, unsigned n)
{
	double start = place_cpu();
	uint32_t x = 0;

	for (unsigned i = 0; i < n; i++)
		x += roce_icrc_ipv4(packets + (i % PACKETS) * ROOM, len);
	sink = x;
	return (place_cpu() - start) * 1e9 / n;
}

static double build(uint32_t hdr, uint32_t len, unsigned n)
{
	double start = place_cpu();
	uint32_t x = 0;

	for (unsigned i = 0; i < n; i++)
		x += roce_icrc_copy_ipv4(packets + (i % PACKETS) * ROOM, hdr,
					 payload + (i % PACKETS) * ROOM, len);
	sink = x;
	return (place_cpu() - start) * 1e9 / n;
}

static double copy(uint32_t hdr, uint32_t len, unsigned n)
{
	double start = place_cpu();

	for (unsigned i = 0; i < n; i++) {
		memcpy(packets + (i % PACKETS) * ROOM + hdr,
		       payload + (i % PACKETS) * ROOM, len);
		__asm__ volatile("" ::: "memory");
	}
	return (place_cpu() - start) * 1e9 / n;
}

/* A packet whose headers were there before: from the PSN on. */
static double check_tail(uint32_t n, unsigned count)
{
	double start = place_cpu();
	uint32_t x = 0;

	for (unsigned i = 0; i < count; i++)
		x += roce_icrc_tail(i, packets + (i % PACKETS) * ROOM + PREFIX,
				    n);
	sink = x;
	return (place_cpu() - start) * 1e9 / count;
}

/* In bursts, with the copy of what is behind the headers. */
static double build_tail(uint32_t n, unsigned count)
{
	struct roce_icrc_part part[BURST];
	double start = place_cpu();

	for (unsigned i = 0; i < count; i += BURST) {
		for (unsigned k = 0; k < BURST; k++) {
			uint8_t *p = packets + ((i + k) % PACKETS) * ROOM;

			memcpy(p + WRITE, payload + k * ROOM, 8);
			part[k] = (struct roce_icrc_part){ p + PREFIX, n, i };
		}
		roce_icrc_put(part, BURST);
	}
	return (place_cpu() - start) * 1e9 / count;
}

/* Building counts whole, its copy of 8 bytes with it. */
static bool small(void)
{
	double ns[ROUNDS];
	struct row r = { .id = "G10",
			 .what = "ICRC of an 8 B WRITE, one end",
			 .unit = "ns",
			 .better = ROW_LOWER,
			 .must = 12,
			 .strive = 6 };

	for (int i = 0; i < ROUNDS; i++) {
		double n = build_tail(WRITE + 8 - PREFIX, 2000000) +
			   check_tail(WRITE + 8 - PREFIX, 2000000) +
			   2 * check_tail(ACK - PREFIX, 2000000) / SHARE;

		ns[i] = n / 2;
	}
	row_measured(&r, ns, NULL, ROUNDS);
	return row_tell(&r);
}

/* Both ends of a packet: one builds, one checks. */
static bool large(struct stack *s)
{
	struct stack_job job = { .size = 65536,
				 .span = 1 << 18,
				 .messages = 10000,
				 .window = STACK_DEPTH };
	double icrc[ROUNDS], all[ROUNDS];
	struct row r = { .id = "G10",
			 .what = "ICRC of a 4 KiB packet / its whole path",
			 .unit = "ns",
			 .better = ROW_LOWER,
			 .must = 0.25,
			 .strive = 0.15 };

	stack_put(s, &job);
	for (int i = 0; i < ROUNDS; i++) {
		icrc[i] = build(MIDDLE, 4096, 200000) -
			  copy(MIDDLE, 4096, 200000) +
			  check(MIDDLE + 4096, 200000);
		all[i] = stack_put(s, &job) * 1e9 / (job.messages * 16);
	}
	row_measured(&r, icrc, all, ROUNDS);
	return row_tell(&r);
}

int main(void)
{
	struct stack s;
	bool ok;

	place_pin(0);
	roce_icrc_init();
	packets = calloc(PACKETS, ROOM);
	payload = calloc(PACKETS, ROOM);
	if (!packets || !payload)
		abort();
	ok = small();
	stack_open(&s, "ring:icrc,mtu=4200", "ring:icrc,mtu=4200", 1 << 20);
	ok &= large(&s);
	stack_close(&s);
	free(packets);
	free(payload);
	return !ok;
}
