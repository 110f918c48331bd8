// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

static const char usage_text[] =
	"usage: warpbell-demo send --wire SPEC --connect HOST:PORT FILE\n"
	"       warpbell-demo recv --wire SPEC --listen HOST:PORT --out PATH\n"
	"\n"
	"Sends FILE over RoCEv2 by kernels that ring a NIC's doorbell; both\n"
	"ends compare its SHA-256.  Exit 0: the same; 1: not, or the peer\n"
	"went; 2: cannot run.\n"
	"\n"
	"  --wire SPEC        af_packet:IF, memif:PATH, with ,ip= ,capture= "
	"...\n"
	"  --threads N        of the sending kernel, 1..1024 (16)\n"
	"  --queues N         1..16 (4)\n"
	"  --chunk BYTES      of one put_signal, 1..1073741824 (65536)\n"
	"  --messages N       8-byte puts of the rate phase, 1..10000000 "
	"(50000)\n"
	"  --timeout-ms N     longest wait without progress, 100..600000 "
	"(10000)\n"
	"  --json             results as JSON\n"
	"\n"
	"example: warpbell-demo send --wire af_packet:eth1,ip=192.168.9.1/24 "
	"\\\n"
	"                 --connect 10.0.0.2:7471 /usr/bin/gdb\n";

int demo_fail(int code, const char *what, const char *fact, const char *mend)
{
	fprintf(stderr, "warpbell-demo: %s: %s: %s\n", what, fact, mend);
	return code;
}

static int number(const char *name, const char *text, uint32_t min,
		  uint32_t max, uint32_t *out)
{
	unsigned long long v;
	char what[64], mend[64], *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (!errno && end != text && !*end && text[0] != '-' && v >= min &&
	    v <= max) {
		*out = v;
		return DEMO_GOOD;
	}
	snprintf(what, sizeof(what), "--%s", name);
	snprintf(mend, sizeof(mend), "give a number %u..%u", min, max);
	return demo_fail(DEMO_CANNOT, what, text, mend);
}

enum {
	OPT_WIRE = 256,
	OPT_CONNECT,
	OPT_LISTEN,
	OPT_OUT,
	OPT_THREADS,
	OPT_QUEUES,
	OPT_CHUNK,
	OPT_MESSAGES,
	OPT_TIMEOUT,
	OPT_JSON,
	OPT_HELP
};

static const struct option longopts[] = {
	{ "wire", required_argument, NULL, OPT_WIRE },
	{ "connect", required_argument, NULL, OPT_CONNECT },
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "queues", required_argument, NULL, OPT_QUEUES },
	{ "chunk", required_argument, NULL, OPT_CHUNK },
	{ "messages", required_argument, NULL, OPT_MESSAGES },
	{ "timeout-ms", required_argument, NULL, OPT_TIMEOUT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

struct command {
	struct demo_options opt;
	const char *connect, *listen, *out;
	int help;
};

static int take(struct command *c, int option, const char *arg)
{
	struct demo_options *o = &c->opt;

	switch (option) {
	case OPT_WIRE:
		o->wire = arg;
		return DEMO_GOOD;
	case OPT_CONNECT:
		c->connect = arg;
		return DEMO_GOOD;
	case OPT_LISTEN:
		c->listen = arg;
		return DEMO_GOOD;
	case OPT_OUT:
		c->out = arg;
		return DEMO_GOOD;
	case OPT_THREADS:
		return number("threads", arg, 1, DEMO_SLOTS_MAX, &o->threads);
	case OPT_QUEUES:
		return number("queues", arg, 1, DEMO_QUEUES_MAX, &o->queues);
	case OPT_CHUNK:
		return number("chunk", arg, 1, 1U << 30, &o->chunk);
	case OPT_MESSAGES:
		return number("messages", arg, 1, 10000000, &o->messages);
	case OPT_TIMEOUT:
		return number("timeout-ms", arg, 100, 600000, &o->timeout_ms);
	case OPT_JSON:
		o->json = 1;
		return DEMO_GOOD;
	case OPT_HELP:
		c->help = 1;
		return DEMO_GOOD;
	default: /* getopt_long has told */
		return DEMO_CANNOT;
	}
}

static int missing(const char *what)
{
	return demo_fail(DEMO_CANNOT, what, "not given",
			 "see warpbell-demo --help");
}

static int run_send(struct command *c, int argc, char **argv)
{
	if (!c->opt.wire)
		return missing("--wire");
	if (!c->connect)
		return missing("--connect");
	if (argc != 1)
		return missing("FILE (just one)");
	c->opt.where = c->connect;
	c->opt.path = argv[0];
	return demo_send(&c->opt);
}

static int run_recv(struct command *c, int argc, char **argv)
{
	if (!c->opt.wire)
		return missing("--wire");
	if (!c->listen)
		return missing("--listen");
	if (!c->out)
		return missing("--out");
	if (argc)
		return demo_fail(DEMO_CANNOT, argv[0], "not expected by recv",
				 "see warpbell-demo --help");
	c->opt.where = c->listen;
	c->opt.path = c->out;
	return demo_recv(&c->opt);
}

int main(int argc, char **argv)
{
	struct command c = { .opt = { .threads = 16,
				      .queues = 4,
				      .chunk = 65536,
				      .messages = 50000,
				      .timeout_ms = 10000 } };
	int option, rc;

	while ((option = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		rc = take(&c, option == 'h' ? OPT_HELP : option, optarg);
		if (rc)
			return rc;
	}
	argc -= optind;
	argv += optind;
	if (c.help) {
		fputs(usage_text, stdout);
		return DEMO_GOOD;
	}
	if (argc && !strcmp(argv[0], "send"))
		return run_send(&c, argc - 1, argv + 1);
	if (argc && !strcmp(argv[0], "recv"))
		return run_recv(&c, argc - 1, argv + 1);
	fputs(usage_text, stderr);
	return DEMO_CANNOT;
}
