/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside libwarpbell.  Locks, outermost first: a context's lock (held around
 * every provider call), then its event lock (held for a copy only).
 */
#ifndef WBELL_INTERNAL_H
#define WBELL_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>

/* The objects are built with hidden symbols; what wbell.h declares is not. */
#pragma GCC visibility push(default)
#include <wbell/wbell.h>
#pragma GCC visibility pop
#include <wbell/provider.h>

#include "ring.h"

#define printf_like(f, a) __attribute__((format(printf, f, a)))

/* First line of every exported call that reaches libc: errno stays as it was. */
static inline void errno_restore(int *saved)
{
	errno = *saved;
}
#define errno_kept() \
	int errno_saved __attribute__((cleanup(errno_restore), unused)) = errno

/* ---- error.c ---- */
struct error_text {
	char text[640];
};
/* Sets the text and gives back rc, for "return error_set(...)". */
int error_set(struct error_text *e, int rc, const char *fmt, ...)
	printf_like(3, 4);
/* Text of the calling thread: wbell_open() and calls with no context. */
struct error_text *error_thread(void);
/* What a call answers when a handle is NULL. */
int error_no_object(const char *call, const char *object);
const char *error_name(int rc); /* "EFAULT"; rc of any sign */

/* ---- attr.c ---- */
/*
 * Take a caller's size-first struct: *size 0 means least.  Fields past what
 * the caller knows read as zero; fields past what the library knows must be.
 */
int attr_take(void *dst, size_t known, size_t least, const void *src,
	      const char *what, struct error_text *e);
int attr_queue(struct wbell_queue_attr *attr, struct error_text *e);
int attr_open(struct wbell_open_attr *attr, struct error_text *e);

/* ---- wire.c ---- */
int wire_check(const char *wire, struct error_text *e);
bool wire_is_fake(const char *wire);

/* ---- env.c ---- */
const char *env_provider(void); /* NULL where unset or empty, as below */
const char *env_engine(void);
const char *env_log(void);
const char *env_log_file(void);
/* Calls fn for each WBELL_* variable that looks like a mistyped one. */
void env_mistyped(void (*fn)(void *arg, const char *name, const char *meant),
		  void *arg);

/* ---- log.c ---- */
struct log {
	wbell_log_fn fn;
	void *arg;
	int level; /* of the least urgent line that passes */
	int fd;	   /* of WBELL_LOG_FILE, or -1 */
};
int log_open(struct log *log, const struct wbell_open_attr *attr,
	     struct error_text *e);
void log_close(struct log *log);
void log_say(struct log *log, int level, const char *fmt, ...)
	printf_like(3, 4);
void log_provider(void *log, int level, const char *text); /* wbell_log_fn */

/* ---- event.c ---- */
#define EVENT_RING 1024
struct events {
	pthread_mutex_t lock;
	int fd;
	uint32_t head, tail;
	uint64_t lost;
	struct wbell_event ring[EVENT_RING];
};
int events_open(struct events *ev);
void events_close(struct events *ev);
/* False when the ring is full and the event was lost. */
bool events_push(struct events *ev, const struct wbell_event *event);

/* ---- prov.c ---- */
struct prov {
	const char *name;
	bool by_name; /* never chosen unless asked for */
	/* Its table, or -errno and text. */
	int (*get)(const struct wbell_provider_ops **ops, struct wbell_err *e);
};
extern const struct prov prov_engine;
extern const struct prov prov_fake;
/* Sets ctx->ops and ctx->nic.  name: NULL for the first that works. */
int prov_open(struct wbell_ctx *ctx, const char *name,
	      const struct wbell_prov_open *open, struct error_text *e);

/* ---- maps.c ---- */
/*
 * Is [addr, addr + len) mapped and readable, and writable where asked?  0;
 * -EFAULT with the first address that is not and why; or what reading the
 * maps failed with.
 */
struct maps_hole {
	uintptr_t addr;
	const char *why; /* "not mapped" */
};
int maps_check(uintptr_t addr, size_t len, bool write, struct maps_hole *hole);

/* ---- ctx.c, mem.c, queue.c ---- */
#define QUEUE_HASH 256
struct wbell_ctx {
	pthread_mutex_t lock;
	const struct wbell_provider_ops *ops;
	void *nic;
	uint32_t flags;
	unsigned mems, queues;
	uint64_t mem_bytes; /* registered now */
	bool has_sink;
	uint32_t sink_key;
	struct ring ring;
	struct log log;
	struct events events;
	struct wbell_queue *hash[QUEUE_HASH]; /* by qpn; events.lock */
	struct error_text error;
};

struct wbell_mem {
	struct wbell_ctx *ctx;
	void *addr;
	size_t len;
	uint32_t key;
};

struct wbell_queue {
	struct wbell_ctx *ctx;
	struct wbell_queue *next; /* in the hash */
	void *prov;
	struct chunk *chunk; /* span.map */
	struct span span;
	uint32_t index;
	uint32_t qpn;
	bool connected;
};

int mem_register_locked(struct wbell_ctx *ctx, void *addr, size_t len,
			uint32_t access, uint32_t *key);
/* May this state follow that one? */
bool queue_may_go(unsigned from, unsigned to);
/* The only writer of a queue's state; -EINVAL for an illegal move. */
int queue_set_state(struct chunk *chunk, unsigned state);
/* Mark the queue of an error event; caller holds events.lock. */
void queue_event_error(struct wbell_ctx *ctx, uint32_t qpn);
/* What a chunk tells, of a queue of ours or one seen from outside. */
void chunk_stat(const struct chunk *chunk, uint64_t doorbell,
		struct wbell_queue_stat *stat);
/* Where in the chunk the oldest WQE not done begins; false: none waits. */
bool chunk_oldest(const struct chunk *chunk,
		  const struct wbell_queue_stat *stat, size_t *at);

#endif /* WBELL_INTERNAL_H */
