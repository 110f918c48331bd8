/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * /dev/warpbell: what user space says to the kernel module.
 *
 * An open file is a context; it belongs to the address space that opened it,
 * and from any other one every call fails with EPERM.  Objects are handles of
 * their context, from 1 on.  An endpoint is a file of its own, which a daemon
 * gets for each queue it accepts; it belongs to the daemon's address space.
 *
 * Every struct of an ioctl begins with size, flags and err_ptr:
 *   size    bytes of the struct as the caller knows it.  Smaller than the
 *           first release's: EINVAL.  Larger than the kernel's: fine while
 *           the rest is zero, else E2BIG; more than a page: E2BIG.
 *   flags   none is known where none is named; an unknown one is EINVAL
 *   err_ptr 0, or the address of WBELL_ERR_TEXT bytes that take a text of
 *           what failed when the call fails
 * Members named rsvd, and those marked "out" that do not say otherwise, must
 * be zero on entry where they are rsvd and are ignored where they are out.
 *
 * Errors of every ioctl, beside its own: EFAULT; EINVAL bad argument;
 * EOVERFLOW a range wraps; EPERM wrong address space or no right; ENOENT no
 * such handle, or one of another kind; ENODEV the device is gone; ESTALE the
 * object was revoked; EDQUOT a limit; ENOMEM; EOPNOTSUPP this kernel or
 * provider cannot; EINTR a signal came first; ENOTTY no such ioctl.
 * What failed has changed nothing.
 */
#ifndef WBELL_UAPI_H
#define WBELL_UAPI_H

#include <linux/types.h>

#define WBELL_DEVICE "/dev/warpbell"

#define WBELL_ABI      1
#define WBELL_ERR_TEXT 128 /* bytes, NUL included */
#define WBELL_NAME_MAX 32  /* bytes, NUL included */

/*
 * ioctl numbers: type << 8 | number, without a size, so that a struct can
 * grow (as iommufd's).  An ioctl is one of the context's or one of the
 * endpoint's: the other file answers ENOTTY.
 */
#define WBELL_IOC(nr) (0xbe00U | (nr))

/* context */
#define WBELL_IOC_HELLO		 WBELL_IOC(0x00) /* struct wbell_u_hello */
#define WBELL_IOC_PROVIDER_QUERY WBELL_IOC(0x01) /* wbell_u_provider_query */
#define WBELL_IOC_NIC_QUERY	 WBELL_IOC(0x02) /* wbell_u_nic_query */
#define WBELL_IOC_DESTROY	 WBELL_IOC(0x03) /* wbell_u_destroy */
#define WBELL_IOC_RING_ALLOC	 WBELL_IOC(0x04) /* wbell_u_ring_alloc */
#define WBELL_IOC_MREG_HOST	 WBELL_IOC(0x05) /* wbell_u_mreg_host */
#define WBELL_IOC_MREG_OBJECT	 WBELL_IOC(0x06) /* wbell_u_mreg_object */
#define WBELL_IOC_GPU_PIN	 WBELL_IOC(0x07) /* wbell_u_gpu_pin */
#define WBELL_IOC_GPU_IMPORT	 WBELL_IOC(0x08) /* wbell_u_gpu_import */
#define WBELL_IOC_WINDOW_ALLOC	 WBELL_IOC(0x09) /* wbell_u_window_alloc */
#define WBELL_IOC_NIC_REGISTER	 WBELL_IOC(0x0a) /* wbell_u_nic_register */
#define WBELL_IOC_NIC_ACCEPT	 WBELL_IOC(0x0b) /* wbell_u_nic_accept */
#define WBELL_IOC_QUEUE_CREATE	 WBELL_IOC(0x0c) /* wbell_u_queue_create */
#define WBELL_IOC_QUEUE_GRANT	 WBELL_IOC(0x0d) /* wbell_u_queue_grant */
#define WBELL_IOC_QUEUE_MODIFY	 WBELL_IOC(0x0e) /* wbell_u_queue_modify */
#define WBELL_IOC_QUEUE_QUERY	 WBELL_IOC(0x0f) /* wbell_u_queue_query */
#define WBELL_IOC_QUEUE_KICK	 WBELL_IOC(0x10) /* wbell_u_queue_kick */
#define WBELL_IOC_EXPORT_DMABUF	 WBELL_IOC(0x11) /* wbell_u_export_dmabuf */

/* endpoint */
#define WBELL_IOC_EP_INFO  WBELL_IOC(0x40) /* struct wbell_u_ep_info */
#define WBELL_IOC_EP_GRANT WBELL_IOC(0x41) /* wbell_u_ep_grant */
#define WBELL_IOC_EP_ERROR WBELL_IOC(0x42) /* wbell_u_ep_error */
#define WBELL_IOC_EP_KICK  WBELL_IOC(0x43) /* wbell_u_ep_kick */

/*
 * Memory that can be mapped comes with a cookie: the offset for mmap().  The
 * mapping must be MAP_SHARED, of exactly map_len bytes, in the address space
 * the file belongs to (else EPERM), without PROT_EXEC (EACCES) and without
 * PROT_WRITE where there is no right to write (EACCES); else EINVAL.  It
 * cannot be split, grown or made executable, and a child of fork does not get
 * it.  A mapping keeps its file open, and so its context: it works on after
 * close().  When the object is destroyed or revoked the mapping is taken
 * away, and a touch is SIGBUS (or see WBELL_ACCEPT_DUMMY).
 */

/*
 * wbell_u_hello.features: what this module on this kernel can do.  Without
 * the bits of dma-buf, EXPORT_DMABUF and GPU_IMPORT are ENOTTY.
 */
#define WBELL_FEATURE_DMABUF_RAM 0x1 /* export of rings as dma-buf */
#define WBELL_FEATURE_DMABUF_GPU 0x2 /* export of GPU memory, revocable */

struct wbell_u_hello {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 abi;	  /* out: WBELL_ABI of the module */
	__u32 page_size;  /* out: bytes */
	__u32 event_size; /* out: bytes of an event record */
	__u32 rsvd;
	__u64 features; /* out: WBELL_FEATURE_* */
};

/* Kinds of providers. */
#define WBELL_PROVIDER_GPU 1 /* memory: WBELL_IOC_GPU_PIN */
#define WBELL_PROVIDER_NIC 2 /* doorbells: WBELL_IOC_WINDOW_ALLOC */

/* wbell_u_provider_query.caps */
#define WBELL_CAP_WC	     0x01 /* maps write-combining */
#define WBELL_CAP_NC	     0x02 /* maps uncached */
#define WBELL_CAP_PERSISTENT 0x04 /* memory is not taken back while pinned */
#define WBELL_CAP_DMABUF     0x08 /* can be exported as dma-buf */
#define WBELL_CAP_REVOKE     0x10 /* memory may be taken back at any time */
#define WBELL_CAP_VA	     0x20 /* GPU_PIN takes addresses of the caller */

/* Providers by index, from 0; index past the last: ENOENT. */
struct wbell_u_provider_query {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 index;
	__u32 id;	 /* out: for other calls; not used again soon */
	__u32 kind;	 /* out: WBELL_PROVIDER_* */
	__s32 state;	 /* out: 0 usable, or -errno with text saying why */
	__u64 caps;	 /* out: WBELL_CAP_* */
	__u64 len;	 /* out: bytes of memory or of doorbells; 0: unknown */
	__u32 page_size; /* out: bytes that a range is rounded to */
	__u32 rsvd;
	char name[WBELL_NAME_MAX]; /* out: "pci-bar:0000:00:04.0" */
	char text[96];		   /* out */
};

/* NICs that daemons serve, by index, from 0; past the last: ENOENT. */
struct wbell_u_nic_query {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 index;
	__u32 id;	  /* out: for QUEUE_CREATE; not used again soon */
	__u32 uid;	  /* out: of the daemon, in the caller's namespace */
	__s32 pid;	  /* out: the same; 0: not visible here */
	__u32 max_queues; /* out */
	__u32 queues;	  /* out: now */
	char name[WBELL_NAME_MAX]; /* out */
};

/*
 * Ends an object: its mappings are taken away, queues that used it go to the
 * error state, what it was granted to loses it, its memory is given back.
 * Errors: ENOENT.
 */
struct wbell_u_destroy {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 handle;
	__u32 rsvd;
};

/*
 * Zeroed host memory in real pages, so that a GPU driver can register it
 * without privilege.  Counts against RLIMIT_MEMLOCK of the user, who is asked
 * unless he has CAP_IPC_LOCK, and against the memory cgroup.
 * Errors: EDQUOT (module's limit), ENOMEM (memory, RLIMIT_MEMLOCK).
 */
struct wbell_u_ring_alloc {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u64 bytes;   /* from 1 on; rounded up to whole pages once */
	__u64 cookie;  /* out */
	__u64 map_len; /* out */
	__u32 handle;  /* out */
	__u32 rsvd;
};

/* Rights of registered memory.  Remote rights need no local ones. */
#define WBELL_ACCESS_LOCAL_WRITE   0x1
#define WBELL_ACCESS_REMOTE_WRITE  0x2
#define WBELL_ACCESS_REMOTE_READ   0x4
#define WBELL_ACCESS_REMOTE_ATOMIC 0x8

/*
 * Registers memory of the caller and pins it.  A daemon that is granted it
 * maps whole pages: addr and len are multiples of the page size, else EINVAL.
 * The caller must be able to write the memory, whatever access says, else
 * EFAULT.
 */
struct wbell_u_mreg_host {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u64 addr;
	__u64 len;
	__u64 iova;   /* address of the first byte in work requests */
	__u32 access; /* WBELL_ACCESS_* */
	__u32 handle; /* out */
	__u32 key;    /* out: index << 8 | generation; lkey and rkey alike */
	__u32 rsvd;
};

/* Registers a part of a ring or of GPU memory; whole pages, as above. */
struct wbell_u_mreg_object {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 object; /* handle of the ring or GPU memory */
	__u32 access;
	__u64 offset;
	__u64 len;
	__u64 iova;
	__u32 handle; /* out */
	__u32 key;    /* out */
};

/* Memory types of a mapping. */
#define WBELL_MEMTYPE_WB 1 /* cached */
#define WBELL_MEMTYPE_WC 2 /* write-combining */
#define WBELL_MEMTYPE_NC 3 /* uncached */

/* Contents as they are, not zeroed; needs CAP_SYS_RAWIO. */
#define WBELL_GPU_KEEP 0x1

/*
 * Pins GPU memory.  addr is a GPU address of the caller where the provider
 * says WBELL_CAP_VA, else an offset into its memory.  The range is widened to
 * the provider's page_size: the byte asked for lies at map_offset of the
 * mapping.  Errors: EBUSY some of it belongs to another object (not with
 * WBELL_CAP_VA).
 */
struct wbell_u_gpu_pin {
	__u32 size;
	__u32 flags; /* WBELL_GPU_KEEP */
	__u64 err_ptr;
	__u32 provider; /* id */
	__u32 handle;	/* out */
	__u64 addr;
	__u64 len;
	__u64 cookie;	  /* out */
	__u64 map_len;	  /* out */
	__u64 map_offset; /* out */
	__u32 page_size;  /* out */
	__u32 segments;	  /* out: contiguous parts */
	__u32 memtype;	  /* out: WBELL_MEMTYPE_* */
	__u32 rsvd;
};

/* GPU memory that another driver exports.  Whole pages of the dma-buf. */
struct wbell_u_gpu_import {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__s32 fd;
	__u32 handle; /* out */
	__u64 offset;
	__u64 len;
	__u64 cookie;  /* out */
	__u64 map_len; /* out */
};

/*
 * Doorbell pages of a NIC, contiguous, so that a GPU driver registers them
 * at once.  Freed pages stay in quarantine, counted as the user's, until the
 * process that had them is gone: its GPU may hold a mapping that no one can
 * take away.  Errors: ENOSPC no such run of pages is free now.
 */
struct wbell_u_window_alloc {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 provider; /* id */
	__u32 pages;
	__u32 memtype; /* WBELL_MEMTYPE_NC or _WC, as the provider can */
	__u32 handle;  /* out */
	__u64 cookie;  /* out */
	__u64 map_len; /* out */
};

/*
 * The caller serves a NIC.  Needs CAP_NET_ADMIN or the group that the module
 * parameter daemon_gid names, else EPERM.  One per context (EEXIST); a name
 * that another NIC has: EEXIST.  Ends with its handle or its context: its
 * queues go to the error state.
 */
struct wbell_u_nic_register {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	char name[WBELL_NAME_MAX]; /* [a-z0-9._-], NUL-padded */
	__u32 max_queues;	   /* 1 .. WBELL_NIC_QUEUES_MAX */
	__u32 handle;		   /* out */
	__u32 id;		   /* out */
	__u32 rsvd;
};

#define WBELL_NIC_QUEUES_MAX 4096

/*
 * When the queue or its memory goes, each of the endpoint's mappings turns
 * into a page that belongs to nobody else, instead of raising SIGBUS, so that
 * no app can kill a daemon by going.
 */
#define WBELL_ACCEPT_DUMMY 0x1

/*
 * Takes a queue that waits: its state becomes ready, the app gets an event.
 * The fd is close-on-exec.  Errors: EAGAIN none waits (or not this one).
 */
struct wbell_u_nic_accept {
	__u32 size;
	__u32 flags; /* WBELL_ACCEPT_DUMMY */
	__u64 err_ptr;
	__u32 nic; /* handle */
	__u32 id;  /* in: the queue's, or 0 for the oldest; out: the queue's */
	__s32 fd;  /* out: endpoint */
	__u32 uid; /* out: of the app */
	__s32 pid; /* out: of the app */
	__u32 rsvd;
};

/* A page-aligned part of a ring or of GPU memory. */
struct wbell_u_range {
	__u32 object; /* handle; 0: none, then offset and len are 0 */
	__u32 rsvd;
	__u64 offset;
	__u64 len;
};

/* Regions of a queue, and what the daemon may do with them. */
#define WBELL_REGION_SQ	   0 /* send ring: read */
#define WBELL_REGION_CQ	   1 /* completion ring: read and write */
#define WBELL_REGION_DB	   2 /* doorbell word, records: read */
#define WBELL_REGION_COUNT 3

/*
 * A queue of the NIC nic.  sq holds at least depth * 64 bytes, cq as well,
 * db at least a page; they do not overlap.  The queue is in state reset until
 * the daemon accepts it.  With a window, a page of it becomes the queue's
 * alone; a window's page that has a queue: EBUSY.  nic 0 with a window: a
 * queue that the hardware serves, ready at once; then cq and sq may be absent.
 * Errors: ENOENT no such NIC; EDQUOT the NIC has max_queues.
 */
struct wbell_u_queue_create {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 nic;    /* id, or 0 */
	__u32 depth;  /* send ring, 64-byte blocks: a power of two <= 2^15 */
	__u32 window; /* handle, or 0 */
	__u32 slot;   /* page of the window */
	__s32 cq_eventfd; /* signalled by EP_KICK; -1: none */
	__u32 rsvd;
	struct wbell_u_range region[WBELL_REGION_COUNT];
	__u64 user;   /* comes back in events of the queue */
	__u32 handle; /* out */
	__u32 id;     /* out: not used again soon */
};

#define WBELL_GRANT_REMOVE 0x1

/* The daemon may map registered memory, with the access it was given. */
struct wbell_u_queue_grant {
	__u32 size;
	__u32 flags; /* WBELL_GRANT_REMOVE */
	__u64 err_ptr;
	__u32 queue;
	__u32 mreg;
};

#define WBELL_QUEUE_RESET 0
#define WBELL_QUEUE_READY 1
#define WBELL_QUEUE_ERR	  2

/* To WBELL_QUEUE_ERR only; from there a queue can but be destroyed. */
struct wbell_u_queue_modify {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 queue;
	__u32 state;
};

struct wbell_u_queue_query {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 queue;
	__u32 state;  /* out: WBELL_QUEUE_* */
	__u32 reason; /* out: WBELL_REASON_*, of the error */
	__u32 id;     /* out */
	__u32 nic;    /* out: id */
	__u32 grants; /* out: registered memory granted */
	__u64 kicks;  /* out: of the app */
};

/* Wakes the daemon, for doorbells that raise no interrupt. */
struct wbell_u_queue_kick {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 queue;
	__u32 rsvd;
};

/* A ring or GPU memory as a dma-buf, close-on-exec. */
struct wbell_u_export_dmabuf {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 handle;
	__s32 fd; /* out */
};

/* ---- endpoint ---- */

struct wbell_u_map {
	__u64 cookie;  /* 0: the queue has no such region */
	__u64 map_len; /* bytes */
	__u32 write;   /* 1: may be mapped for writing */
	__u32 rsvd;
};

struct wbell_u_ep_info {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 id;     /* out: of the queue */
	__u32 state;  /* out: WBELL_QUEUE_* */
	__u32 reason; /* out */
	__u32 depth;  /* out: 64-byte blocks */
	__u32 grants; /* out: indices that EP_GRANT knows */
	__u32 rsvd;
	struct wbell_u_map region[WBELL_REGION_COUNT]; /* out */
};

/* A grant, by index from 0; a removed one: ENOENT. */
struct wbell_u_ep_grant {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 index;
	__u32 key;    /* out */
	__u32 access; /* out */
	__u32 rsvd;
	__u64 iova;		/* out */
	__u64 len;		/* out: bytes; as map_len */
	struct wbell_u_map map; /* out */
};

/* The daemon gives the queue up. */
struct wbell_u_ep_error {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
	__u32 code; /* the app finds it in its event */
	__u32 rsvd;
};

/* Wakes the app: an event, and cq_eventfd. */
struct wbell_u_ep_kick {
	__u32 size;
	__u32 flags;
	__u64 err_ptr;
};

/* ---- events ---- */

/*
 * read() of a context or an endpoint gives whole records, oldest first; a
 * buffer smaller than one: EINVAL.  poll(): POLLIN a record waits, POLLERR
 * one of the waiting tells of an error, POLLHUP the endpoint's queue is gone.
 * At most a fixed number waits; what does not fit is counted, and a record of
 * type OVERFLOW says so.  Kicks are told once until read.
 */
struct wbell_u_event {
	__u32 type;   /* WBELL_EVENT_* */
	__u32 handle; /* of the context's object; endpoint: grant's index */
	__u32 seq;    /* counts records, lost ones too */
	__u32 reason; /* WBELL_REASON_* */
	__u64 data;
	__u64 user; /* of the queue */
};

#define WBELL_EVENT_OVERFLOW	  1 /* data: records lost */
#define WBELL_EVENT_REVOKED	  2 /* object handle is dead */
#define WBELL_EVENT_QUEUE_READY	  3
#define WBELL_EVENT_QUEUE_ERROR	  4  /* data: the daemon's code */
#define WBELL_EVENT_QUEUE_KICK	  5  /* the daemon kicked */
#define WBELL_EVENT_QUEUE_REQUEST 6  /* NIC handle: data: id of the queue */
#define WBELL_EVENT_EP_KICK	  7  /* endpoint: the app kicked */
#define WBELL_EVENT_EP_GRANT	  8  /* endpoint: new grant */
#define WBELL_EVENT_EP_UNGRANT	  9  /* endpoint: grant removed */
#define WBELL_EVENT_EP_GONE	  10 /* endpoint: queue is gone */
#define WBELL_EVENT_EP_ERROR	  11 /* endpoint: queue is in error */

#define WBELL_REASON_NONE     0
#define WBELL_REASON_DESTROY  1 /* its owner destroyed it */
#define WBELL_REASON_APP_GONE 2 /* its owner's context closed */
#define WBELL_REASON_DAEMON   3 /* the daemon gave it up */
#define WBELL_REASON_NIC_GONE 4 /* the daemon's NIC or endpoint closed */
#define WBELL_REASON_MODIFY   5 /* its owner put it into error */
#define WBELL_REASON_MEMORY   6 /* memory of it was destroyed or revoked */
#define WBELL_REASON_PROVIDER 7 /* the provider took the memory back */
#define WBELL_REASON_REMOVED  8 /* the device was removed */
#define WBELL_REASON_PCI_ERR  9 /* the device reported an error */

#endif /* WBELL_UAPI_H */
