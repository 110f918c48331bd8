// SPDX-License-Identifier: BSD-2-Clause
/* warpbell device show */
#include "cli.h"

static int show_json(void)
{
	struct json j = { .f = stdout };
	struct wbell_provider_info info;
	unsigned i;

	json_open(&j, NULL, '{');
	json_number(&j, "version", CLI_JSON_VERSION);
	json_open(&j, "devices", '[');
	for (i = 0; !wbell_provider_probe(i, &info); i++) {
		json_open(&j, NULL, '{');
		json_string(&j, "provider", info.name);
		json_bool(&j, "usable", info.usable);
		json_string(&j, "text", info.text);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	putchar('\n');
	return CLI_GOOD;
}

int cli_device_show(struct cli *cli, int argc, char **argv)
{
	struct wbell_provider_info info;
	unsigned i;

	if (argc)
		return cli_complain(
			"device show: '%s' is one argument too many", argv[0]);
	if (cli->json)
		return show_json();
	printf("%-10s %-7s %s\n", "PROVIDER", "USABLE", "WHAT");
	for (i = 0; !wbell_provider_probe(i, &info); i++)
		printf("%-10s %-7s %s\n", info.name, info.usable ? "yes" : "no",
		       info.text);
	return CLI_GOOD;
}
