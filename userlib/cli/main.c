// SPDX-License-Identifier: BSD-2-Clause
/* warpbell [-j] OBJECT VERB [ARGUMENT ...] */
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const struct command commands[] = {
	{ "device", "show", "", "the NICs this machine can drive",
	  "warpbell device show", cli_device_show, false },
	{ "queue", "show", "[PID]", "the queues of running processes",
	  "warpbell -j queue show | jq '.queues[].qpn'", cli_queue_show,
	  false },
	{ "demo", NULL, "[ARGUMENT ...]", "send a file from a kernel by RDMA",
	  "warpbell demo --help", cli_demo, true },
	{ "bench", NULL, "[ARGUMENT ...]", "collectives, and the cost model",
	  "warpbell bench model --local 2 --wire ring:x", cli_bench, true },
	{ "version", NULL, "", "the version of the library", "warpbell version",
	  cli_version, false },
	{ "help", NULL, "[OBJECT [VERB]]", "this text, or that of a command",
	  "warpbell help queue show", cli_help, false },
};
const size_t commands_count = sizeof(commands) / sizeof(*commands);

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

int cli_complain(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("warpbell: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CLI_USAGE;
}

static void print_name(FILE *f, const struct command *c)
{
	fprintf(f, "%s%s%s%s%s", c->object, c->verb ? " " : "",
		c->verb ? c->verb : "", *c->args ? " " : "", c->args);
}

static int help_command(const struct command *c)
{
	printf("usage: warpbell %s", c->raw ? "" : "[-j] ");
	print_name(stdout, c);
	printf("\n\n%s\n", c->what);
	if (!c->raw)
		printf("  -j, --json  machine-readable, \"version\": %d\n",
		       CLI_JSON_VERSION);
	printf("\nexample: %s\n", c->example);
	return CLI_GOOD;
}

static int help_all(void)
{
	size_t i, n;

	printf("usage: warpbell [-j] OBJECT VERB [ARGUMENT ...]\n\n");
	for (i = 0; i < commands_count; i++) {
		printf("  ");
		print_name(stdout, &commands[i]);
		n = strlen(commands[i].object) + strlen(commands[i].args) +
		    (commands[i].verb ? strlen(commands[i].verb) + 1 : 0) +
		    (*commands[i].args ? 1 : 0);
		printf("%*s  %s\n", (int)(n < 22 ? 22 - n : 0), "",
		       commands[i].what);
	}
	printf("\nWith no command: device show, then queue show.\n"
	       "Exit status: 0 good, 1 a check failed, 2 usage or cannot "
	       "run.\n\nexample: warpbell queue show\n");
	return CLI_GOOD;
}

static bool knows_object(const char *object)
{
	size_t i;

	for (i = 0; i < commands_count; i++)
		if (!strcmp(commands[i].object, object))
			return true;
	return false;
}

static const struct command *find(const char *object, const char *verb)
{
	size_t i;

	for (i = 0; i < commands_count; i++) {
		if (strcmp(commands[i].object, object))
			continue;
		if (!commands[i].verb ||
		    (verb && !strcmp(commands[i].verb, verb)))
			return &commands[i];
	}
	return NULL;
}

static int complain_unknown(const char *object, const char *verb)
{
	bool known = knows_object(object);
	const char *near;

	if (known && !verb)
		return cli_complain("%s: no verb: try warpbell %s show", object,
				    object);
	near = known ? cli_nearest(verb, object) : cli_nearest(object, NULL);
	if (near)
		return cli_complain("unknown %s '%s': did you mean %s?",
				    known ? "verb" : "command",
				    known ? verb : object, near);
	return cli_complain("unknown %s '%s': warpbell help lists them",
			    known ? "verb" : "command", known ? verb : object);
}

int cli_help(struct cli *cli, int argc, char **argv)
{
	const struct command *c;

	if (!argc)
		return help_all();
	c = find(argv[0], argc > 1 ? argv[1] : "show");
	if (!c)
		return complain_unknown(argv[0], argc > 1 ? argv[1] : NULL);
	return help_command(c);
}

int cli_version(struct cli *cli, int argc, char **argv)
{
	struct json j = { .f = stdout };

	if (argc)
		return cli_complain("version: '%s' is one argument too many",
				    argv[0]);
	if (!cli->json) {
		printf("warpbell %s\n", wbell_version());
		return CLI_GOOD;
	}
	json_open(&j, NULL, '{');
	json_number(&j, "version", CLI_JSON_VERSION);
	json_string(&j, "warpbell", wbell_version());
	json_close(&j, '}');
	putchar('\n');
	return CLI_GOOD;
}

static int show_state(struct cli *cli)
{
	int rc;

	if (cli->json)
		return cli_complain("-j needs a command: try warpbell -j queue "
				    "show");
	rc = cli_device_show(cli, 0, NULL);
	putchar('\n');
	return rc ? rc : cli_queue_show(cli, 0, NULL);
}

/* -1 to go on, else the exit status.  "+": options end at the command. */
static int take_options(struct cli *cli, int argc, char **argv,
			const struct command *c)
{
	int opt;

	while ((opt = getopt_long(argc, argv, c ? "jhV" : "+jhV", options,
				  NULL)) != -1) {
		switch (opt) {
		case 'j':
			cli->json = true;
			break;
		case 'h':
			return c ? help_command(c) : help_all();
		case 'V':
			return cli_version(cli, 0, NULL);
		default:
			return CLI_USAGE;
		}
	}
	return -1;
}

/* argv[0] is the last word of the command's name. */
static int run_command(struct cli *cli, const struct command *c, int argc,
		       char **argv)
{
	int rc;

	if (c->raw)
		return c->run(cli, argc - 1, argv + 1);
	argv[0] = (char *)"warpbell";
	optind = 0;
	rc = take_options(cli, argc, argv, c);
	if (rc >= 0)
		return rc;
	return c->run(cli, argc - optind, argv + optind);
}

static int run(int argc, char **argv)
{
	struct cli cli = { 0 };
	const struct command *c;
	const char *verb;
	int rc;

	rc = take_options(&cli, argc, argv, NULL);
	if (rc >= 0)
		return rc;
	argc -= optind;
	argv += optind;
	if (!argc)
		return show_state(&cli);
	verb = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
	c = find(argv[0], verb);
	if (!c && !verb && argc > 1 && knows_object(argv[0]) &&
	    (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return help_command(find(argv[0], "show"));
	if (!c)
		return complain_unknown(argv[0], verb);
	rc = c->verb ? 1 : 0;
	return run_command(&cli, c, argc - rc, argv + rc);
}

int main(int argc, char **argv)
{
	int rc = run(argc, argv);

	/* A full disk behind stdout is no success. */
	if (fflush(stdout) || ferror(stdout)) {
		perror("warpbell: cannot write");
		return CLI_USAGE;
	}
	return rc;
}
