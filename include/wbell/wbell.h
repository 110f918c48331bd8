/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * libwarpbell, host API.
 *
 * Objects: a context is one NIC (hardware or software); it owns memory
 * (registered ranges) and queues (a QP, its rings and CQs).  A queue's
 * device view (wbell/queue.h) goes to kernels, which drive it with
 * wbell/device.h and no help from the CPU.
 *
 * Every call returns 0 or -errno, gives results by its last argument, never
 * prints and never touches errno.  The text of a context's last failure,
 * "what failed: the fact seen: the mend", is wbell_error().
 *
 * Threads: calls on one context exclude each other inside the library and
 * may come from any thread.  Destroying an object while another thread uses
 * it is the caller's error.  No call waits for a peer.
 */
#ifndef WBELL_WBELL_H
#define WBELL_WBELL_H

#include <stddef.h>
#include <stdint.h>

#include "queue.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WBELL_VERSION_MAJOR 0
#define WBELL_VERSION_MINOR 1
#define WBELL_VERSION_PATCH 0

struct wbell_ctx;
struct wbell_mem;
struct wbell_queue;

const char *wbell_version(void); /* "0.1.0" */

enum wbell_log_level {
	WBELL_LOG_ERROR = 1,
	WBELL_LOG_WARN,
	WBELL_LOG_INFO,
	WBELL_LOG_DEBUG,
};
/* Called from any thread, without locks of the library held by the caller's. */
typedef void (*wbell_log_fn)(void *arg, int level, const char *text);

/* ---- context ---- */

#define WBELL_OPEN_POLLED \
	0x1 /* no engine thread: the caller runs wbell_poll() */
#define WBELL_OPEN_NO_HUGE \
	0x2 /* do not use hugepages even where there are some */

/*
 * How to open.  Zero means default; size is sizeof this struct, or 0 for
 * the layout of release 0.1.
 *
 * wire, for the software NIC: KIND:ARG[,KEY=VALUE ...]
 *	ring:NAME		two contexts of one process that give one NAME
 *	memif:PATH[,role=server|client]
 *	af_packet:INTERFACE
 *   keys: ip=ADDRESS[/LEN]	the engine's own address, IPv4 or IPv6; peers
 *				have one of the same family (default:
 *				169.254/16 from the MAC)
 *	   mac=XX:XX:XX:XX:XX:XX	(default: locally administered, random)
 *	   mtu=BYTES		link MTU (default: the port's)
 *	   capture=PATH		RoCEv2 frames sent and received, pcapng
 *	   fault=SPEC		drop=P/dup=P/reorder=P/corrupt=P/seed=N joined by '+'
 */
struct wbell_open_attr {
	size_t size;
	const char *wire;
	const char *provider; /* "engine", "fake"; NULL: first that works */
	uint32_t flags;	      /* WBELL_OPEN_* */
	uint32_t max_queues;  /* default 1024, at most 16384 */
	uint32_t cpu;	      /* 1 + CPU to pin the engine thread to; 0: none */
	uint32_t rsvd;
	wbell_log_fn log;
	void *log_arg;
};

/*
 * Errors: -EINVAL (wire or attribute), -ENODEV (no such interface, no
 * provider), -EPERM, -ENOMEM, -EBUSY (interface taken), -EPROTONOSUPPORT
 * (engine of another version).  The text is wbell_error(NULL) in the
 * calling thread.
 */
int wbell_open(const struct wbell_open_attr *attr, struct wbell_ctx **ctx);
/* -EBUSY while memory or queues are left; then nothing was done. */
int wbell_close(struct wbell_ctx *ctx);

/* Text of the last failure; never NULL.  Valid until the next call on ctx. */
const char *wbell_error(const struct wbell_ctx *ctx);

struct wbell_ctx_info {
	char provider[16];
	char nic[96];	  /* "software, af_packet on veth0, DPDK 22.11.11" */
	char gpu[64];	  /* "none, CPU threads" or the device's name */
	char address[48]; /* IP of the NIC */
	uint8_t mac[6];
	uint16_t rsvd;
	uint32_t mtu;	   /* largest path MTU the port carries, bytes */
	char capture[256]; /* path, or "" */
};
int wbell_info(struct wbell_ctx *ctx, struct wbell_ctx_info *info);

/* Counters of the NIC by name; fills at most n, gives how many there are. */
struct wbell_counter {
	char name[32];
	uint64_t value;
};
int wbell_counters(struct wbell_ctx *ctx, struct wbell_counter *c, unsigned n,
		   unsigned *count);

/*
 * Run the engine once on the calling thread (WBELL_OPEN_POLLED only, else
 * -EINVAL; one thread at a time).  Returns how much work it found, 0 idle.
 */
int wbell_poll(struct wbell_ctx *ctx);

/* End every device wait of the context with -ECANCELED, now and later. */
void wbell_abort(struct wbell_ctx *ctx);

/* ---- events ---- */

enum wbell_event_kind {
	WBELL_EVENT_QUEUE_ERROR =
		1,	 /* queue went to error; its record says why */
	WBELL_EVENT_MTU, /* port MTU fell below what queues need; value: bytes */
	WBELL_EVENT_PORT_DOWN,
	WBELL_EVENT_PORT_UP,
};
struct wbell_event {
	uint32_t kind;
	uint32_t qpn; /* queue events */
	uint64_t value;
};
/* A descriptor that polls readable while events wait; owned by ctx. */
int wbell_event_fd(struct wbell_ctx *ctx, int *fd);
/* Next event, or -EAGAIN. */
int wbell_event_next(struct wbell_ctx *ctx, struct wbell_event *event);

/* ---- memory ---- */

#define WBELL_LOCAL_WRITE   0x1
#define WBELL_REMOTE_WRITE  0x2
#define WBELL_REMOTE_READ   0x4
#define WBELL_REMOTE_ATOMIC 0x8

/*
 * Make [addr, addr + len) known to the NIC.  Remote access implies local
 * write where it writes.  The memory stays the caller's and must stay mapped
 * until wbell_mem_deregister().  -EINVAL: len 0, a range that wraps, unknown
 * access bits; -EFAULT: not mapped; -ENOMEM, -ENOSPC (no key left).
 */
int wbell_mem_register(struct wbell_ctx *ctx, void *addr, size_t len,
		       uint32_t access, struct wbell_mem **mem);
/* After it returns the NIC touches the range no more. */
int wbell_mem_deregister(struct wbell_mem *mem);
uint32_t wbell_mem_lkey(const struct wbell_mem *mem); /* host order */
uint32_t wbell_mem_rkey(const struct wbell_mem *mem);

/* ---- queue ---- */

#define WBELL_QUEUE_EXCLUSIVE 0x1 /* one poster at a time */
#define WBELL_QUEUE_COMPAT    0x4 /* driven through a view: compat.h */

struct wbell_queue_attr {
	size_t size;
	uint32_t depth; /* basic blocks, power of two, 1..32768; default 128 */
	uint32_t recv_depth; /* receive WQEs, power of two or 0 (none) */
	uint32_t flags;	     /* WBELL_QUEUE_* */
	uint32_t path_mtu; /* 256..4096 bytes; default: what both ends carry */
	uint8_t timeout; /* ACK timeout 4.096 us * 2^t, 1..31; default 14 (67 ms) */
	uint8_t retry_cnt; /* 0..7 as 1 + value; 0: default 7 */
	uint8_t rnr_retry; /* as 1 + value; 8 (value 7) is endless; 0: default 7 tries */
	uint8_t min_rnr_timer; /* IBTA code 0..31; default 12 (0.64 ms) */
	uint8_t max_rd_atomic; /* outstanding READ and atomics, 1..128; default 16 */
	uint8_t traffic_class;
	uint8_t recv_sge; /* segments of a receive WQE, power of two 1..4; default 1 */
	uint8_t rsvd;
	uint32_t
		first_index; /* start of the send ring's index and PSN tests; default 0 */
	uint32_t rsvd2;
};

/* -EINVAL names the field and the limit; -ENOSPC: max_queues reached. */
int wbell_queue_create(struct wbell_ctx *ctx,
		       const struct wbell_queue_attr *attr,
		       struct wbell_queue **queue);
int wbell_queue_destroy(struct wbell_queue *queue);

/*
 * What the peer must know, for the application's own bootstrap to carry:
 * bytes to copy, not to read.
 */
#define WBELL_ADDRESS_SIZE 128
struct wbell_address {
	uint8_t bytes[WBELL_ADDRESS_SIZE];
};
int wbell_queue_address(struct wbell_queue *queue, struct wbell_address *addr);

/*
 * Connect to the queue whose address peer is, and go to RTS.  Does not wait
 * for the peer; address resolution goes on behind it.  -EPROTO: the address
 * is of another version; -EINVAL: not an address; -EISCONN.
 */
int wbell_queue_connect(struct wbell_queue *queue,
			const struct wbell_address *peer);

/* The device view; owned by the queue, valid until destroy. */
int wbell_queue_device(struct wbell_queue *queue, struct wbell_dqueue **dq);

enum wbell_queue_state {
	WBELL_QUEUE_RESET,
	WBELL_QUEUE_INIT,
	WBELL_QUEUE_RTR,
	WBELL_QUEUE_RTS,
	WBELL_QUEUE_SQD,
	WBELL_QUEUE_SQE,
	WBELL_QUEUE_ERR,
};
struct wbell_queue_stat {
	uint32_t qpn, peer_qpn;
	uint32_t state; /* enum wbell_queue_state */
	uint32_t depth, path_mtu;
	uint32_t db_kind;			  /* WBELL_DB_* */
	uint64_t reserved, ready, doorbell, done; /* send ring indices */
	uint64_t fetched;			  /* taken by the NIC */
	uint64_t retries, rnr_naks, timeouts, packets_tx, packets_rx;
	struct wbell_error_record error;
	uint8_t oldest[WBELL_BB_SIZE]; /* first BB of the oldest WQE not done */
	char peer_address[48];
};
int wbell_queue_stat(struct wbell_queue *queue, struct wbell_queue_stat *stat);
/* The first error, or -ENOENT. */
int wbell_queue_error(struct wbell_queue *queue,
		      struct wbell_error_record *rec);

/* ---- looking from outside ---- */

/* Every provider this build knows, usable or not. */
struct wbell_provider_info {
	char name[16];
	int usable;
	char text
		[160]; /* "DPDK 22.11.11; wires ring, memif, af_packet", or why not */
};
int wbell_provider_probe(
	unsigned index,
	struct wbell_provider_info *info); /* -ENOENT past the last */

/* Queues of other processes, read from their memory without their help. */
struct wbell_queue_seen {
	int32_t pid;
	uint32_t rsvd;
	char command[32];
	char nic[96];
	struct wbell_queue_stat stat;
};
typedef int (*wbell_queue_seen_fn)(void *arg,
				   const struct wbell_queue_seen *seen);
/* Calls fn for each; stops and returns fn's value when it is not 0. */
int wbell_queue_each(wbell_queue_seen_fn fn, void *arg);

/* ---- text ---- */

const char *wbell_wc_text(int status); /* "transport retry counter exceeded" */
const char *wbell_status_text(int status); /* any device status: wc or -errno */
const char *wbell_opcode_text(unsigned opcode); /* "RDMA_WRITE" */
int wbell_syndrome_wc(unsigned syndrome);	/* WBELL_SYND_* to WBELL_WC_* */
/* "queue 0x2a to peer 0x2b: WRITE index 16 failed: ... (syndrome 0x15, vendor 0x83)" */
int wbell_error_record_text(const struct wbell_error_record *rec, char *text,
			    size_t size);

/* ---- host half of device_arch.h ---- */

uint64_t wbell_host_now(void); /* ns, monotonic */
void wbell_host_relax(void);   /* what a spin loop calls */
/* Replace what relax does on the calling thread; NULL: sched_yield(). */
void wbell_host_set_relax(void (*fn)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif /* WBELL_WBELL_H */
