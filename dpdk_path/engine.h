/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine: one NIC, its port and neighbours, and the thread that runs them.
 *
 * The thread owns all three while it runs a turn.  A control call takes them
 * over between two turns by engine_lock(): it raises `want`, which the loop
 * reads once a turn, so packets pay no lock.
 */
#ifndef WBELL_ENGINE_H
#define WBELL_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "eal.h"
#include "nic/nic.h"
#include "port/neighbour.h"
#include "port/port.h"
#include "wire.h"

struct engine {
	struct nic *nic;
	struct port *port;
	struct neighbours *neighbours;

	uint64_t chore_at; /* neighbours and the like: each millisecond */
	uint64_t tick_at;  /* of the port */
	bool conflict_told, off_link_told;

	_Atomic unsigned want; /* control calls that wait for the loop */
	_Atomic bool stop;
	pthread_mutex_t lock; /* held through a turn */
	bool polled;	      /* no thread: the library excludes */
	pthread_t thread;
	unsigned cpu; /* 1 + CPU to pin to; 0: none */

	struct wire wire;
	struct eal_log eal_log;
	wbell_log_fn log;
	void *log_arg;
	void (*event)(void *arg, const struct wbell_event *event);
	void *event_arg;
};

int engine_open(const struct wbell_prov_open *attr, struct engine **engine,
		struct wbell_err *err);
void engine_close(struct engine *e);

void engine_lock(struct engine *e);
void engine_unlock(struct engine *e);

/* One turn; returns how much work it found. */
unsigned engine_turn(struct engine *e, uint64_t now);

int engine_thread_start(struct engine *e, struct wbell_err *err);
void engine_thread_stop(struct engine *e);

#endif /* WBELL_ENGINE_H */
