// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport core as the peer of a tool that runs elsewhere, on rdma_rxe:
 * plays the part of the same tool at the other end, compares every byte whose
 * value can be known, and exits 0 when all was right.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

static struct end end;
static struct link_attr link_attr = {
	.mac = { 0x02, 0, 0, 0x77, 0, 1 },
	.seconds = 30,
	.seed = 1,
};
static const char *tool;

__attribute__((noreturn)) static void usage(void)
{
	fputs("usage: peer --tool TOOL --if INTERFACE --ip ADDRESS "
	      "[option...]\n"
	      "TOOL: rc_pingpong uc_pingpong ud_pingpong write_bw read_bw\n"
	      "      send_bw atomic_bw write_lat rping\n"
	      "  --ip6 ADDRESS   talk over IPv6; TCP stays with IPv4\n"
	      "  --connect HOST  be the client; else the server\n"
	      "  --port N --size BYTES --iters N --mtu BYTES --seed N\n"
	      "  --fetch-add     atomic_bw: not compare and swap\n"
	      "  --drop N        lose one of N requests that we send\n"
	      "  --rdma-cm       connect as -R does; rping always does\n"
	      "  --lose-mads     lose the first MAD of each kind, each way\n"
	      "  --refused       rping: nobody listens, and that is right\n"
	      "  --vanish        rping: leave without a word\n"
	      "  --time SECONDS  to give up after\n",
	      stderr);
	exit(2);
}

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
	char *rest;
	unsigned long n = strtoul(text, &rest, 10);

	if (*text < '0' || *text > '9' || *rest || n < least || n > most)
		die("'%s' is no number from %u to %u", text, least, most);
	return n;
}

static void take_host(void)
{
	uint8_t ip[4];

	end.attr.host = optarg;
	if (inet_pton(AF_INET, optarg, ip) == 1)
		gid_set_ipv4(end.attr.host_gid, ip);
	else if (inet_pton(AF_INET6, optarg, end.attr.host_gid) != 1)
		die("'%s' is no IP address", optarg);
}

static void take_option(int c)
{
	switch (c) {
	case 't':
		tool = optarg;
		return;
	case 'i':
		link_attr.ifname = optarg;
		return;
	case 'a':
		if (inet_pton(AF_INET, optarg, link_attr.ip) != 1)
			die("'%s' is no IPv4 address", optarg);
		/* One MAC for each address. */
		link_attr.mac[5] = link_attr.ip[3];
		return;
	case '6':
		if (inet_pton(AF_INET6, optarg, link_attr.ip6) != 1)
			die("'%s' is no IPv6 address", optarg);
		end.attr.v6 = true;
		return;
	case 'c':
		take_host();
		return;
	case 'p':
		end.attr.port = number(optarg, 1, 65535);
		return;
	case 's':
		end.attr.size = number(optarg, 1, 1 << 24);
		return;
	case 'n':
		end.attr.iters = number(optarg, 1, 1000000);
		return;
	case 'm':
		end.attr.mtu = number(optarg, 256, 4096);
		return;
	case 'r':
		end.attr.seed = number(optarg, 0, ~0U);
		return;
	case 'd':
		link_attr.drop = number(optarg, 2, ~0U);
		return;
	case 'T':
		link_attr.seconds = number(optarg, 1, 3600);
		return;
	case 'f':
		end.attr.fetch_add = true;
		return;
	case 'R':
		end.attr.rdma_cm = true;
		return;
	case 'l':
		link_attr.mads = MADS_LOSE_FIRST;
		return;
	case 'x':
		end.attr.refused = true;
		return;
	case 'v':
		end.attr.vanish = true;
		return;
	}
	usage();
}

static void take_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "tool", 1, NULL, 't' },      { "if", 1, NULL, 'i' },
		{ "ip", 1, NULL, 'a' },	       { "connect", 1, NULL, 'c' },
		{ "port", 1, NULL, 'p' },      { "size", 1, NULL, 's' },
		{ "iters", 1, NULL, 'n' },     { "mtu", 1, NULL, 'm' },
		{ "seed", 1, NULL, 'r' },      { "drop", 1, NULL, 'd' },
		{ "time", 1, NULL, 'T' },      { "fetch-add", 0, NULL, 'f' },
		{ "ip6", 1, NULL, '6' },       { "rdma-cm", 0, NULL, 'R' },
		{ "lose-mads", 0, NULL, 'l' }, { "refused", 0, NULL, 'x' },
		{ "vanish", 0, NULL, 'v' },    { NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		take_option(c);
	if (optind != argc || !tool || !link_attr.ifname || !link_attr.ip[0])
		usage();
	if (end.attr.mtu & (end.attr.mtu - 1))
		die("%u is no path MTU: it is a power of two", end.attr.mtu);
	link_attr.seed = end.attr.seed;
}

int main(int argc, char **argv)
{
	static const char *const pingpong[] = {
		[ROCE_RC] = "rc_pingpong",
		[ROCE_UC] = "uc_pingpong",
		[ROCE_UD] = "ud_pingpong",
	};
	const struct perftest *test;
	int i;

	end.attr = (struct end_attr){ .port = 18515,
				      .size = 4096,
				      .iters = 100,
				      .mtu = 1024,
				      .seed = 1 };
	take_options(argc, argv);
	for (i = ROCE_RC; i <= ROCE_UD; i++)
		if (!strcmp(tool, pingpong[i])) {
			end.attr.type = i;
			pingpong_run(&end, &link_attr);
			return 0;
		}
	if (!strcmp(tool, "rping")) {
		end.attr.rdma_cm = true;
		rping_run(&end, &link_attr);
		return 0;
	}
	test = perftest_find(tool);
	if (!test)
		usage();
	perftest_run(&end, &link_attr, test);
	return 0;
}
