// SPDX-License-Identifier: BSD-2-Clause
/* warpbell bench: a program of its own, found beside this one. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define BENCH "warpbell-bench"

int cli_bench(struct cli *cli, int argc, char **argv)
{
	static const char *const places[] = { "/", "/../libexec/warpbell/",
					      "/../lib/warpbell/" };
	char dir[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	int saved = ENOENT;
	char *slash;
	size_t i;

	if (n < 0)
		return cli_complain("cannot run the bench: /proc/self/exe is "
				    "not readable: mount /proc, or run " BENCH);
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	/* argv[-1] is the word "bench": the program's own name from here on */
	argv[-1] = (char *)BENCH;
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s%s" BENCH, dir, places[i]);
		fflush(stdout);
		execv(path, argv - 1);
		if (errno != ENOENT)
			saved = errno;
	}
	return cli_complain("cannot run the bench: " BENCH
			    " beside %s: %s: build it with make, or install it",
			    dir, strerror(saved));
}
