// SPDX-License-Identifier: BSD-2-Clause
/* What device code asks of a host: a clock and what a spin loop does. */
#include <sched.h>
#include <time.h>

#include "wbell/wbell.h"

struct relax_hook {
	void (*fn)(void *arg);
	void *arg;
};

static __thread struct relax_hook relax_hook;

#define EXPORT __attribute__((visibility("default")))

EXPORT uint64_t wbell_host_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

EXPORT void wbell_host_relax(void)
{
	if (relax_hook.fn)
		relax_hook.fn(relax_hook.arg);
	else
		sched_yield();
}

EXPORT void wbell_host_set_relax(void (*fn)(void *arg), void *arg)
{
	relax_hook.fn = fn;
	relax_hook.arg = arg;
}
