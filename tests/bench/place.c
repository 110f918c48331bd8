// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "place.h"

/* What the process may use is asked once, before anyone is pinned. */
static cpu_set_t allowed;

__attribute__((constructor)) static void learn(void)
{
	sched_getaffinity(0, sizeof(allowed), &allowed);
}

void place_pin(unsigned nth)
{
	cpu_set_t set;
	int n = CPU_COUNT(&allowed);

	if (n < 1)
		return;
	nth %= n;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &allowed) || nth--)
			continue;
		CPU_ZERO(&set);
		CPU_SET(i, &set);
		sched_setaffinity(0, sizeof(set), &set);
		return;
	}
}

const char *place_enter(const char *spec)
{
	const char *at = strchr(spec, '@');
	char path[96];
	int fd;

	if (!at)
		return spec;
	snprintf(path, sizeof(path), "/run/netns/%.*s", (int)(at - spec), spec);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		fprintf(stderr,
			"bench: entering network namespace %s failed: %s: "
			"make it by ip netns add, and be root\n",
			path, strerror(errno));
		exit(1);
	}
	close(fd);
	return at + 1;
}

double place_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

uint64_t place_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}
