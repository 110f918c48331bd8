// SPDX-License-Identifier: BSD-2-Clause
/* warpbell demo: a program of its own, found beside this one. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define DEMO "warpbell-demo"

static int own_directory(char *dir, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", dir, size - 1);
	char *slash;

	if (n < 0)
		return -errno;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int cli_demo(struct cli *cli, int argc, char **argv)
{
	static const char *const places[] = { "", "../libexec/warpbell/",
					      "../lib/warpbell/" };
	char dir[PATH_MAX], path[PATH_MAX + 64];
	int saved = ENOENT;
	size_t i;

	if (own_directory(dir, sizeof(dir)))
		return cli_complain("cannot run the demo: /proc/self/exe is "
				    "not readable: mount /proc, or run " DEMO);
	/* argv[-1] is the word "demo": the program's own name from here on. */
	argv[-1] = (char *)DEMO;
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s/%s" DEMO, dir, places[i]);
		fflush(stdout);
		execv(path, argv - 1);
		if (errno != ENOENT)
			saved = errno;
	}
	return cli_complain("cannot run the demo: " DEMO
			    " beside %s: %s: build it with make, or install it",
			    dir, strerror(saved));
}
