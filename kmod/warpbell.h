/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's private header: contexts, objects, mappings, and the order of
 * locks.  README.md tells their lives in prose.
 *
 * Locks, outer first:
 *   provider->use      a call into a provider runs; unregister waits
 *   nic->lock          queues of a NIC, their state, endpoints and grants
 *   mmap_lock          taken by copies from and to user space, by pinning
 *                      and by wbell_map_kill()
 *   map->lock          is the object still there?  the only one of ours that
 *                      mmap and faults take
 *   spinlocks          state and users of an object, maps, events, pages of
 *                      windows, lists: none is held while another is taken,
 *                      but for the list of contexts by debugfs's dump
 * No lock is held while an object ends and tells those that use it.
 */
#ifndef WBELL_KMOD_WARPBELL_H
#define WBELL_KMOD_WARPBELL_H

#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include "../include/wbell/uapi.h"
#include "evq.h"
#include "offset.h"
#include "provider.h"
#include "quarantine.h"
#include "state.h"

struct seq_file;

/* ---- what is counted, per user and in all ---- */

enum wbell_count {
	WBELL_COUNT_CONTEXTS,
	WBELL_COUNT_OBJECTS,
	WBELL_COUNT_RING_PAGES,
	WBELL_COUNT_PINNED_PAGES, /* of hosts' registered memory */
	WBELL_COUNT_GPU_PAGES,
	WBELL_COUNT_WINDOW_PAGES, /* in quarantine, too */
	WBELL_COUNT_QUEUES,
	WBELL_COUNT_NICS,
	WBELL_COUNT_LIMITED, /* those above have a limit per user */

	WBELL_COUNT_MAPS = WBELL_COUNT_LIMITED, /* offsets handed out */
	WBELL_COUNT_ENDPOINTS,
	WBELL_COUNT_EXPORTS,
	WBELL_COUNT_REVOKED, /* only goes up, as the next two */
	WBELL_COUNT_LOST,    /* events */
	WBELL_COUNT_REFUSED, /* for a limit */
	WBELL_COUNTS,
};

struct wbell_account;

/* The caller's, or ERR_PTR(-ENOMEM). */
struct wbell_account *wbell_account_get(void);
struct wbell_account *wbell_account_ref(struct wbell_account *acct);
void wbell_account_put(struct wbell_account *acct);
kuid_t wbell_account_uid(const struct wbell_account *acct);

/* Errors: EDQUOT. */
int wbell_charge(struct wbell_account *acct, enum wbell_count what,
		 unsigned long n);
void wbell_uncharge(struct wbell_account *acct, enum wbell_count what,
		    unsigned long n);
/* RLIMIT_MEMLOCK of the caller's user.  Errors: ENOMEM. */
int wbell_memlock(struct wbell_account *acct, unsigned long pages);
void wbell_memunlock(struct wbell_account *acct, unsigned long pages);

void wbell_counter_add(enum wbell_count what, long n);
u64 wbell_counter(enum wbell_count what);

/* ---- events ---- */

struct wbell_events {
	spinlock_t lock;
	struct mutex reader; /* one copies out at a time */
	wait_queue_head_t wait;
	bool gone; /* no more will come: POLLHUP */
	struct wbell_evq q;
};

void wbell_events_init(struct wbell_events *events);
void wbell_event(struct wbell_events *events, const struct wbell_u_event *ev);
/* Readers get no more than what waits. */
void wbell_events_gone(struct wbell_events *events);
ssize_t wbell_events_read(struct wbell_events *events, struct file *file,
			  char __user *buf, size_t len);
__poll_t wbell_events_poll(struct wbell_events *events, struct file *file,
			   struct poll_table_struct *wait);

/* ---- contexts ---- */

/* Whom mappings belong to: the head of a context and of an endpoint. */
struct wbell_view {
	struct mm_struct *mm; /* grabbed: its memory, not its users */
};

struct wbell_ctx {
	struct wbell_view view;
	struct kref ref; /* the file's, and one per object */
	struct pid *pid; /* of the opener */
	struct wbell_account *acct;
	struct xarray objs; /* handle to object; NULL while it is made */
	u32 next;	    /* handle, under the array's lock */
	struct wbell_events events;
	struct list_head link;
};

struct wbell_ctx *wbell_ctx_get(struct wbell_ctx *ctx);
void wbell_ctx_put(struct wbell_ctx *ctx);
/* Of the context of that file, or NULL when it is none of ours. */
struct wbell_ctx *wbell_ctx_of(struct file *file);
/* Calls fn for each open context; fn must not sleep. */
extern const struct file_operations wbell_ctx_fops;
void wbell_ctx_each(void (*fn)(struct wbell_ctx *ctx, void *arg), void *arg);

/* ---- ioctls ---- */

union wbell_arg {
	struct wbell_u_hello hello;
	struct wbell_u_provider_query provider_query;
	struct wbell_u_nic_query nic_query;
	struct wbell_u_destroy destroy;
	struct wbell_u_ring_alloc ring_alloc;
	struct wbell_u_mreg_host mreg_host;
	struct wbell_u_mreg_object mreg_object;
	struct wbell_u_gpu_pin gpu_pin;
	struct wbell_u_gpu_import gpu_import;
	struct wbell_u_window_alloc window_alloc;
	struct wbell_u_nic_register nic_register;
	struct wbell_u_nic_accept nic_accept;
	struct wbell_u_queue_create queue_create;
	struct wbell_u_queue_grant queue_grant;
	struct wbell_u_queue_modify queue_modify;
	struct wbell_u_queue_query queue_query;
	struct wbell_u_queue_kick queue_kick;
	struct wbell_u_export_dmabuf export_dmabuf;
	struct wbell_u_ep_info ep_info;
	struct wbell_u_ep_grant ep_grant;
	struct wbell_u_ep_error ep_error;
	struct wbell_u_ep_kick ep_kick;
};

/* One ioctl under way. */
struct wbell_call {
	void *owner; /* struct wbell_ctx or struct wbell_endpoint */
	union wbell_arg arg;
	void __user *user;
	size_t size; /* bytes the caller knows of */
	size_t own;  /* bytes we know of */
	char err[WBELL_ERR_TEXT];
};

struct wbell_ioctl {
	unsigned int cmd;
	u32 size;
	u32 flags; /* that are known */
	int (*fn)(struct wbell_call *call);
};

/* Runs one of n; owner's address space is mm. */
long wbell_ioctl_run(const struct wbell_ioctl *table, size_t n,
		     struct wbell_call *call, struct mm_struct *mm,
		     unsigned int cmd);
/* Copies the results out.  Creators do so before the object can be seen. */
int wbell_reply(struct wbell_call *call);
/* Leaves a text "what: fact: mend" and returns rc. */
__printf(3, 4) int wbell_fail(struct wbell_call *call, int rc,
			      const char *format, ...);

int wbell_ioctl_provider_query(struct wbell_call *call);
int wbell_ioctl_nic_query(struct wbell_call *call);
int wbell_ioctl_ring_alloc(struct wbell_call *call);
int wbell_ioctl_mreg_host(struct wbell_call *call);
int wbell_ioctl_mreg_object(struct wbell_call *call);
int wbell_ioctl_gpu_pin(struct wbell_call *call);
int wbell_ioctl_window_alloc(struct wbell_call *call);
int wbell_ioctl_nic_register(struct wbell_call *call);
int wbell_ioctl_nic_accept(struct wbell_call *call);
int wbell_ioctl_queue_create(struct wbell_call *call);
int wbell_ioctl_queue_grant(struct wbell_call *call);
int wbell_ioctl_queue_modify(struct wbell_call *call);
int wbell_ioctl_queue_query(struct wbell_call *call);
int wbell_ioctl_queue_kick(struct wbell_call *call);

/* ---- objects ---- */

enum wbell_type {
	WBELL_RING,
	WBELL_GPUMEM,
	WBELL_MREG,
	WBELL_WINDOW,
	WBELL_QUEUE,
	WBELL_NIC,
	WBELL_TYPES,
};

const char *wbell_type_name(enum wbell_type type);

struct wbell_obj;

struct wbell_use;

struct wbell_use_ops {
	/* Keep the use's memory while lost() runs. */
	void (*get)(struct wbell_use *use);
	void (*put)(struct wbell_use *use);
	/*
	 * The object ends.  Once, with no lock held, and perhaps while the
	 * user ends by itself, even after wbell_use_remove().
	 */
	void (*lost)(struct wbell_use *use, u32 reason);
};

/* Somebody uses an object, and wants to know of its end. */
struct wbell_use {
	struct list_head link;
	const struct wbell_use_ops *ops;
};

struct wbell_obj_ops {
	/*
	 * Once, when no mapping is left and users have been told: gives all
	 * back that others could wait for.  May sleep; no lock is held.
	 */
	void (*end)(struct wbell_obj *obj, u32 reason);
	/* The last reference is gone. */
	void (*free)(struct wbell_obj *obj);
	/*
	 * What is mapped: either real pages, from first on, or frames without
	 * one, run of them contiguous.  Only while the object is live.
	 */
	struct page **(*pages)(struct wbell_obj *obj, unsigned long first);
	int (*pfn)(struct wbell_obj *obj, unsigned long first,
		   unsigned long *pfn, unsigned long *run);
	/* A line for debugfs; must not sleep. */
	void (*show)(struct wbell_obj *obj, struct seq_file *file);
};

struct wbell_obj {
	struct kref ref;
	enum wbell_type type;
	u32 handle;
	struct wbell_ctx *ctx;
	const struct wbell_obj_ops *ops;
	u64 bytes;	 /* that can be mapped */
	u32 memtype;	 /* WBELL_MEMTYPE_* */
	spinlock_t lock; /* state, uses */
	enum wbell_state state;
	struct list_head uses;
	struct list_head maps; /* maps_lock */
	struct completion unmapped, dead;
};

/*
 * Makes an object of ctx with a handle that nobody can look up yet.  From
 * then on wbell_obj_abort() undoes it.  Errors: EDQUOT, ENOMEM.
 */
int wbell_obj_init(struct wbell_obj *obj, struct wbell_ctx *ctx,
		   enum wbell_type type, const struct wbell_obj_ops *ops);
void wbell_obj_finalize(struct wbell_obj *obj);
void wbell_obj_abort(struct wbell_obj *obj);

/* With a reference, or ERR_PTR: ENOENT, ESTALE. */
struct wbell_obj *wbell_obj_find(struct wbell_ctx *ctx, u32 handle,
				 unsigned int types);
#define WBELL_ANY (BIT(WBELL_TYPES) - 1)
void wbell_obj_get(struct wbell_obj *obj);
void wbell_obj_put(struct wbell_obj *obj);

/*
 * Takes all mappings away, tells users, ends it.  When another is at it
 * already, waits for that one.  True: this call ended it.
 */
bool wbell_obj_end(struct wbell_obj *obj, u32 reason);
/*
 * The same, and its owner gets an event; but when another is at it, waits
 * only until nothing reaches its memory and users have been told: that other
 * may wait for the caller in ops->end().
 */
void wbell_obj_revoke(struct wbell_obj *obj, u32 reason);
/* By handle, by its owner; the handle is gone. */
int wbell_obj_destroy(struct wbell_ctx *ctx, u32 handle);
void wbell_obj_destroy_all(struct wbell_ctx *ctx);

/* Errors: ESTALE. */
int wbell_use_add(struct wbell_obj *obj, struct wbell_use *use,
		  const struct wbell_use_ops *ops);
void wbell_use_remove(struct wbell_obj *obj, struct wbell_use *use);

/* ---- mappings ---- */

#define WBELL_MAP_WRITE 0x1
/* Filled by faults, not by mmap: taking it away waits for nobody. */
#define WBELL_MAP_LAZY 0x2
/* When it is taken away there is a page of its own in its place. */
#define WBELL_MAP_DUMMY 0x4

/* A range of mmap offsets: pages of an object, for one view. */
struct wbell_map {
	struct kref ref;	 /* its maker's, and one per VMA */
	struct wbell_span span;	 /* maps_lock, as the next two */
	struct list_head link;	 /* object's maps, until it is taken away */
	bool hidden;		 /* mmap no longer finds it */
	struct wbell_view *view; /* compared only */
	struct mm_struct *mm;
	u32 flags;
	unsigned long first;	  /* page within the object */
	struct rw_semaphore lock; /* obj */
	struct wbell_obj *obj;	  /* NULL: taken away */
	struct page *dummy;
};

/*
 * Offsets for pages of obj.  The maker ends it by wbell_map_drop(), after
 * which no VMA of the view reaches the object.
 * Errors: ESTALE, ENOMEM, ENOSPC.
 */
struct wbell_map *wbell_map_create(struct wbell_view *view,
				   struct wbell_obj *obj, u64 offset, u64 len,
				   u32 flags);
/* Takes it away from all; it may be called more than once. */
void wbell_map_kill(struct wbell_map *map);
void wbell_map_drop(struct wbell_map *map);
/* The same for one that was taken away: by an object that is being freed. */
void wbell_map_forget(struct wbell_map *map);
u64 wbell_map_cookie(const struct wbell_map *map);
u64 wbell_map_len(const struct wbell_map *map);
int wbell_map_mmap(struct wbell_view *view, struct vm_area_struct *vma);

/* Files that are mapped share one inode, of a file system of our own. */
void wbell_map_adopt(struct file *file);
int wbell_map_setup(void);
void wbell_map_cleanup(void);

/*
 * The maps of an object that ends: sets its state, so that no other comes,
 * and takes them away.
 */
void wbell_map_end(struct wbell_obj *obj);

/* ---- memory ---- */

struct wbell_ring {
	struct wbell_obj obj;
	struct page **page;
	unsigned long pages;
	struct wbell_map *map;
};

struct wbell_mreg {
	struct wbell_obj obj;
	u64 iova, len;
	u32 access, key;
	/* of a part of another object */
	struct wbell_obj *base;
	struct wbell_use use;
	u64 offset;
	/* of the host's memory */
	struct page **page;
	unsigned long pages;
};

struct wbell_gpumem {
	struct wbell_obj obj;
	struct wbell_provider *prov;
	struct list_head link; /* provider's, while it is pinned */
	bool pinned;	       /* prov->lock */
	struct wbell_gpu_pages pages;
	u64 charged; /* pages */
	struct wbell_map *map;
};

/* Unpins, if nobody has. */
void wbell_gpumem_unpin(struct wbell_gpumem *mem);

struct wbell_window {
	struct wbell_obj obj;
	struct wbell_provider *prov;
	struct list_head link; /* provider's */
	u32 first, pages;
	struct wbell_map *map;
};

/* Errors: EBUSY it has a queue; EINVAL no such page. */
int wbell_window_claim(struct wbell_window *window, u32 slot, u32 queue);
void wbell_window_unclaim(struct wbell_window *window, u32 slot, u32 queue);
extern const struct wbell_page_ops wbell_window_page_ops;

/* ---- NICs, queues, endpoints ---- */

struct wbell_nic {
	struct wbell_obj obj;
	u32 id;
	char name[WBELL_NAME_MAX];
	u32 max_queues;
	struct mutex lock; /* all below, and all of its queues that says so */
	bool gone;
	u32 queues;
	struct list_head pending; /* by link, oldest first */
	struct list_head all;	  /* by nic_link */
};

#define WBELL_GRANTS_MAX 1024 /* of one queue */

struct wbell_grant {
	struct wbell_use use; /* of the registered memory */
	struct kref ref;      /* the queue's, and who tells of a loss */
	struct wbell_queue *queue;
	struct wbell_mreg *mreg;
	u32 index;
	struct wbell_map *map; /* of the endpoint; NULL: none yet */
};

struct wbell_region {
	struct wbell_use use;
	struct wbell_queue *queue;
	struct wbell_obj *obj; /* NULL: none */
	u64 offset, len;
};

struct wbell_queue {
	struct wbell_obj obj;
	u32 id, depth, slot;
	u64 user;
	struct wbell_nic *nic;	 /* NULL: the hardware serves it */
	struct mutex own, *lock; /* the NIC's, or own when there is none */
	struct wbell_window *window;
	struct wbell_use window_use;
	struct eventfd_ctx *cq_eventfd;
	struct wbell_region region[WBELL_REGION_COUNT];
	/* lock */
	u32 state, reason, code;
	u64 kicks;
	bool attached; /* counted by the NIC */
	struct list_head link, nic_link;
	struct wbell_endpoint *ep;
	struct xarray grants; /* index to grant */
	u32 grants_end;	      /* behind the highest index there was */
};

struct wbell_endpoint {
	struct wbell_view view;
	struct kref ref; /* the file's, and the queue's */
	struct wbell_nic *nic;
	u32 flags, queue_id, depth;
	struct wbell_events events;
	struct wbell_map *map[WBELL_REGION_COUNT];
	struct wbell_queue *queue; /* nic->lock; NULL: gone */
	u32 reason;		   /* nic->lock; why it is gone */
};

struct wbell_nic *wbell_nic_find(u32 id); /* with a reference; NULL: none */
int wbell_nic_attach(struct wbell_nic *nic, struct wbell_queue *queue);
/* lock is held. */
void wbell_nic_detach(struct wbell_nic *nic, struct wbell_queue *queue);

/*
 * The one setter of a queue's state; lock is held.  Tells the app, but for
 * what it did itself, and the endpoint.  False: the state may not follow,
 * nothing happened.
 */
bool wbell_queue_set(struct wbell_queue *queue, u32 state, u32 reason,
		     u32 code);
/* Wakes the app.  lock is held. */
void wbell_queue_wake(struct wbell_queue *queue, u32 type);

/*
 * Parts queue and endpoint; lock is held.  Then, when it is not, hand what
 * this gave (or NULL) to wbell_endpoint_kill().
 */
struct wbell_endpoint *wbell_endpoint_detach(struct wbell_queue *queue,
					     u32 reason);
void wbell_endpoint_kill(struct wbell_endpoint *ep);

/* Index of a new grant.  Errors: EEXIST, ESTALE, EDQUOT, ENOMEM. */
int wbell_grant_add(struct wbell_queue *queue, struct wbell_mreg *mreg);
/* Errors: ENOENT. */
int wbell_grant_remove(struct wbell_queue *queue, struct wbell_mreg *mreg);
void wbell_grants_end(struct wbell_queue *queue);
/* Their mappings, which were an endpoint's that has gone. */
void wbell_grants_unmap(struct wbell_queue *queue);
/* The grant's map, made when there is none; lock is held. */
struct wbell_map *wbell_grant_map(struct wbell_grant *grant,
				  struct wbell_endpoint *ep);

/* ---- providers ---- */

struct wbell_provider {
	struct kref ref;
	u32 id;
	char name[WBELL_NAME_MAX];
	struct wbell_provider_attr attr;
	struct rw_semaphore use; /* read: a call of ops runs; gone */
	bool gone;
	spinlock_t lock; /* all below */
	struct list_head mems, windows;
	wait_queue_head_t idle; /* both are empty */
	struct wbell_pages pages;
};

/* -ENOENT, with a text: there is none. */
struct wbell_provider *wbell_provider_find(struct wbell_call *call, u32 id);
struct wbell_provider *wbell_provider_get(struct wbell_provider *prov);
void wbell_provider_put(struct wbell_provider *prov);
/* Doorbell pages in quarantine, of all providers, after those to go went. */
u64 wbell_provider_quarantined(void);
/* How long a page rests, in jiffies. */
u64 wbell_provider_grace(void);

/* ---- setting up ---- */

extern struct workqueue_struct *wbell_wq; /* for what may sleep, later */
int wbell_pci_setup(void);
void wbell_pci_cleanup(void);
extern const struct attribute_group *wbell_sysfs_groups[];
void wbell_debugfs_setup(void);
void wbell_debugfs_cleanup(void);

#endif /* WBELL_KMOD_WARPBELL_H */
