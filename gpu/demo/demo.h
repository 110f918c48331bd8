/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo program: one end sends a file by kernels, the other receives it.
 */
#ifndef WBELL_DEMO_H
#define WBELL_DEMO_H

#include <stddef.h>
#include <stdint.h>

#include "wbell/wbell.h"
#include "kernels.h"

#define DEMO_SHA_SIZE 65 /* hex digits and NUL */

/* Exit codes: good, check failed or peer gone, usage or cannot run. */
#define DEMO_GOOD   0
#define DEMO_FAILED 1
#define DEMO_CANNOT 2

struct demo_options {
	const char *wire;
	const char *where; /* HOST:PORT to connect to or to listen on */
	const char *path;  /* file to send, or to write */
	uint32_t threads;
	uint32_t queues;
	uint32_t chunk;	     /* bytes of one put_signal */
	uint32_t messages;   /* 8-byte puts of the rate phase */
	uint32_t timeout_ms; /* longest wait without progress */
	int json;
};

int demo_send(const struct demo_options *opt);
int demo_recv(const struct demo_options *opt);

/* "warpbell-demo: what: fact: mend" on stderr; returns code. */
int demo_fail(int code, const char *what, const char *fact, const char *mend);

/* ---- bootstrap over TCP: what the two ends tell each other ---- */

enum boot_type {
	BOOT_HELLO = 1, /* sender: file and queues */
	BOOT_OFFER,	/* receiver: queues and memory */
	BOOT_READY,	/* receiver: its queues are connected */
	BOOT_DONE,	/* sender: all sent, and what it was */
	BOOT_RESULT,	/* receiver: what came */
	BOOT_ALIVE,	/* either, while it works: wait longer */
};

/* All fields big-endian. */
struct boot_hello {
	uint64_t size, messages;
	uint32_t chunk, queues;
	struct wbell_address address[DEMO_QUEUES_MAX];
};

struct boot_offer {
	uint64_t data, words;
	uint32_t data_rkey, words_rkey;
	struct wbell_address address[DEMO_QUEUES_MAX];
};

struct boot_done {
	uint64_t chunks, adds;
	char sha[DEMO_SHA_SIZE];
};

struct boot_result {
	uint64_t chunks, adds;
	char sha[DEMO_SHA_SIZE];
};

struct boot {
	int fd;
	uint32_t timeout_ms;
	uint64_t alive_ms; /* when this end last said that it works */
	char peer[64];	   /* address:port */
};

/* All return a DEMO_* code and have said why on stderr when it is not good. */
int boot_connect(struct boot *b, const char *where, uint32_t timeout_ms);
int boot_accept(struct boot *b, const char *where, uint32_t timeout_ms);
int boot_send(struct boot *b, enum boot_type type, const void *msg,
	      uint32_t size);
int boot_recv(struct boot *b, enum boot_type type, void *msg, uint32_t size);
/* Tells a waiting peer, twice a second at most, that this end works. */
void boot_alive(struct boot *b);
/* Has the peer closed?  0 or -errno; says nothing, takes nothing. */
int boot_gone(const struct boot *b);
int boot_fail_gone(const struct boot *b, int error, const char *doing);
void boot_close(struct boot *b);

/* ---- the NIC's side ---- */

struct span {
	uintptr_t start, end; /* whole pages */
};

struct nic {
	struct wbell_ctx *ctx;
	struct wbell_ctx_info info;
	struct wbell_queue *queue[DEMO_QUEUES_MAX];
	uint32_t queues;
	struct demo_queues *view; /* for kernels */
	struct span *span;	  /* mapped for kernels */
	uint32_t spans;
};

int nic_open(struct nic *nic, const struct demo_options *opt);
int nic_queues(struct nic *nic, uint32_t queues);
int nic_addresses(struct nic *nic, struct wbell_address *address);
int nic_connect(struct nic *nic, const struct wbell_address *peer);
int nic_register(struct nic *nic, void *addr, size_t len, uint32_t access,
		 struct wbell_mem **mem);
/* Lets kernels reach the queues' memory. */
int nic_map_views(struct nic *nic);
void nic_unmap_views(struct nic *nic);
/* Says which queue failed and why, if one has; else returns -ENOENT. */
int nic_report(struct nic *nic);
void nic_close(struct nic *nic);

/* Runs a kernel; ends it when the peer goes or nothing moves for long. */
struct job {
	struct nic *nic;
	struct boot *boot;
	const char *doing; /* "sending" */
	uint64_t goal;	   /* what the threads' done words add up to */
	uint32_t blocks, threads;
	struct demo_lane *lanes; /* blocks * threads */
	uint64_t elapsed_ns;
};
int job_run(struct job *job, wbell_kernel_fn kernel, void *args);

/* ---- what was measured ---- */

struct latency {
	double p50_us, p99_us, p999_us;
};

struct phase {
	const char *name; /* "put_signal" */
	uint64_t count, bytes, elapsed_ns;
	struct latency latency;
};
enum { PHASE_PUSH, PHASE_PULL, PHASE_COUNT, PHASE_PING, PHASE_SPRAY, PHASES };

/* Takes a finished job's figures. */
void phase_take(struct phase *p, const struct job *job, uint64_t count,
		uint64_t bytes);

struct report {
	const struct demo_options *opt;
	const struct nic *nic;
	uint64_t size;
	struct phase phase[PHASES];
	char sha[DEMO_SHA_SIZE];
	int match;
};
void report_paths(const struct nic *nic);
void report_print(const struct report *r);

/* ---- the file ---- */

/* Anonymous zeroed memory; NULL when there is not so much. */
void *demo_map(size_t size);
void demo_unmap(void *mem, size_t size);
int demo_load(const char *path, void **data, size_t *size);
int demo_store(const char *path, const void *data, size_t size, struct boot *b);
/* Lower-case hex; b, if any, is kept from waiting in vain. */
int demo_sha256(const void *data, size_t size, struct boot *b,
		char hex[DEMO_SHA_SIZE]);

#endif /* WBELL_DEMO_H */
