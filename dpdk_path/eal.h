/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DPDK's environment: one per process, shared by every context, started by
 * the first and left running.
 */
#ifndef WBELL_EAL_H
#define WBELL_EAL_H

#include <stdint.h>

#include <wbell/provider.h>

/* flags: WBELL_OPEN_NO_HUGE, heeded by whoever comes first. */
int eal_start(uint32_t flags, struct wbell_err *err);

/* DPDK's own log goes to the newest of these, at level debug. */
struct eal_log {
	wbell_log_fn fn;
	void *arg;
	struct eal_log *next;
};
void eal_log_add(struct eal_log *log);
void eal_log_remove(struct eal_log *log);

/* Nanoseconds, monotonic; valid once eal_start() has returned 0. */
uint64_t eal_now(void);

/* A number no other call in this process gets: names of DPDK objects. */
unsigned eal_unique(void);

#endif /* WBELL_EAL_H */
