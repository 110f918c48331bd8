// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "eal.h"

/* Pages of 2 MB below which the engine stays off hugepages. */
#define EAL_HUGE_MIN 64
/* Address space only: without hugepages memory is used as it is touched. */
#define EAL_NO_HUGE_MB "512"

static pthread_mutex_t eal_lock = PTHREAD_MUTEX_INITIALIZER;
static bool eal_up;
static struct wbell_err eal_failed;
static int eal_failed_rc;

static struct {
	uint64_t base, mult;
} eal_clock;

/* Recursive: a log callback may open or close a context. */
static pthread_mutex_t log_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct eal_log *log_head;

static ssize_t log_write(void *cookie, const char *buf, size_t size)
{
	static __thread bool inside;
	char line[256];
	size_t n = size < sizeof(line) ? size : sizeof(line) - 1;

	if (inside)
		return size;
	while (n && buf[n - 1] == '\n')
		n--;
	memcpy(line, buf, n);
	line[n] = 0;
	inside = true;
	pthread_mutex_lock(&log_lock);
	if (log_head)
		log_head->fn(log_head->arg, WBELL_LOG_DEBUG, line);
	pthread_mutex_unlock(&log_lock);
	inside = false;
	return size;
}

void eal_log_add(struct eal_log *log)
{
	pthread_mutex_lock(&log_lock);
	log->next = log_head;
	log_head = log;
	pthread_mutex_unlock(&log_lock);
}

void eal_log_remove(struct eal_log *log)
{
	struct eal_log **p;

	pthread_mutex_lock(&log_lock);
	for (p = &log_head; *p; p = &(*p)->next) {
		if (*p == log) {
			*p = log->next;
			break;
		}
	}
	pthread_mutex_unlock(&log_lock);
}

static FILE *log_open(void)
{
	static const cookie_io_functions_t io = { .write = log_write };
	FILE *f = fopencookie(NULL, "w", io);

	if (f)
		setvbuf(f, NULL, _IOLBF, 256);
	return f;
}

static long huge_free(void)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/"
			"free_hugepages",
			"re");
	long n = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%ld", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

static unsigned first_cpu(const cpu_set_t *set)
{
	unsigned i;

	for (i = 0; i < CPU_SETSIZE && !CPU_ISSET(i, set); i++)
		;
	return i == CPU_SETSIZE ? 0 : i;
}

/*
 * EAL takes the calling thread for its main lcore and pins it, and makes
 * threads that inherit the signal mask: both are the application's, so both
 * are put back, and EAL's threads take no signal.
 */
static int eal_run(int argc, char **argv)
{
	sigset_t all, mask;
	cpu_set_t set;
	bool have;
	int rc;

	have = !pthread_getaffinity_np(pthread_self(), sizeof(set), &set);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	rc = rte_eal_init(argc, argv);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (have)
		pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	return rc;
}

static int eal_init(uint32_t flags)
{
	bool huge = !(flags & WBELL_OPEN_NO_HUGE) &&
		    huge_free() >= EAL_HUGE_MIN;
	const char *argv[24];
	char prefix[48], lcore[24];
	cpu_set_t set;
	int argc = 0;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	/* lcore 0 wherever it runs: lcore numbers end at RTE_MAX_LCORE. */
	snprintf(lcore, sizeof(lcore), "0@%u", first_cpu(&set));
	snprintf(prefix, sizeof(prefix), "--file-prefix=wbell%d", getpid());
	argv[argc++] = "warpbell";
	argv[argc++] = "--no-pci";
	argv[argc++] = "--no-telemetry";
	argv[argc++] = "--no-shconf";
	argv[argc++] = "--iova-mode=va";
	argv[argc++] = "--force-max-simd-bitwidth=512";
	argv[argc++] = prefix;
	argv[argc++] = "--lcores";
	argv[argc++] = lcore;
	if (huge) {
		argv[argc++] = "--in-memory";
	} else {
		argv[argc++] = "--no-huge";
		argv[argc++] = "-m";
		argv[argc++] = EAL_NO_HUGE_MB;
	}
	argv[argc] = NULL;
	return eal_run(argc, (char **)argv);
}

static int eal_begin(uint32_t flags, struct wbell_err *err)
{
	FILE *log;

	/* The application's own EAL is taken as it is. */
	if (rte_lcore_count() > 0)
		return 0;
	log = log_open();
	if (!log)
		return -ENOMEM;
	rte_openlog_stream(log);
	if (eal_init(flags) >= 0) {
		/* Made whether used or not; nothing would remove it. */
		rmdir(rte_eal_get_runtime_dir());
		return 0;
	}
	snprintf(err->text, sizeof(err->text),
		 "engine: DPDK's EAL did not start: %s (rte_errno %d): %s",
		 rte_strerror(rte_errno), rte_errno,
		 rte_errno == ENOMEM
			 ? "free memory or raise ulimit -v"
			 : "the log at level debug says what it met");
	return rte_errno > 0 ? -rte_errno : -EIO;
}

int eal_start(uint32_t flags, struct wbell_err *err)
{
	int rc = 0;

	pthread_mutex_lock(&eal_lock);
	if (eal_failed_rc) {
		/* EAL cannot be started twice: the first answer stays. */
		*err = eal_failed;
		rc = eal_failed_rc;
	} else if (!eal_up) {
		rc = eal_begin(flags, err);
		eal_up = !rc;
		eal_failed_rc = rc;
		eal_failed = *err;
		if (!rc) {
			eal_clock.base = rte_rdtsc();
			eal_clock.mult =
				(uint64_t)(((unsigned __int128)1000000000
					    << 32) /
					   rte_get_tsc_hz());
		}
	}
	pthread_mutex_unlock(&eal_lock);
	return rc;
}

uint64_t eal_now(void)
{
	unsigned __int128 d = rte_rdtsc() - eal_clock.base;

	/* From 1 on: 0 is a time that has always passed. */
	return (uint64_t)((d * eal_clock.mult) >> 32) + 1;
}

unsigned eal_unique(void)
{
	static _Atomic unsigned next;

	return atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
}
