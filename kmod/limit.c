// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is counted, per user and in all, and the limits.
 *
 * Accounts are by real uid.  Pinned memory counts against RLIMIT_MEMLOCK by
 * way of the user's locked_vm, as io_uring and AF_XDP do it: it can be given
 * back from any task, with no mmap_lock.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include "trace.h"
#include "warpbell.h"

struct wbell_account {
	struct hlist_node node;
	unsigned int refs; /* accounts_lock */
	kuid_t uid;
	struct user_struct *user;
	atomic64_t count[WBELL_COUNT_LIMITED];
};

static DEFINE_MUTEX(accounts_lock);
static DEFINE_HASHTABLE(accounts, 6);
static atomic64_t counters[WBELL_COUNTS];

static unsigned long limits[WBELL_COUNT_LIMITED] = {
	[WBELL_COUNT_CONTEXTS] = 256,
	[WBELL_COUNT_OBJECTS] = 65536,
	[WBELL_COUNT_RING_PAGES] = 1UL << (32 - PAGE_SHIFT),
	[WBELL_COUNT_PINNED_PAGES] = 1UL << (38 - PAGE_SHIFT),
	[WBELL_COUNT_GPU_PAGES] = 1UL << (40 - PAGE_SHIFT),
	[WBELL_COUNT_WINDOW_PAGES] = 1024,
	[WBELL_COUNT_QUEUES] = 4096,
	[WBELL_COUNT_NICS] = 16,
};

#define LIMIT(name, what, text)                              \
	module_param_named(name, limits[what], ulong, 0644); \
	MODULE_PARM_DESC(name, "most " text " one user may have")

LIMIT(max_contexts, WBELL_COUNT_CONTEXTS, "open contexts");
LIMIT(max_objects, WBELL_COUNT_OBJECTS, "objects");
LIMIT(max_ring_pages, WBELL_COUNT_RING_PAGES, "pages of rings");
LIMIT(max_pinned_pages, WBELL_COUNT_PINNED_PAGES, "pages of host memory");
LIMIT(max_gpu_pages, WBELL_COUNT_GPU_PAGES, "pages of GPU memory");
LIMIT(max_window_pages, WBELL_COUNT_WINDOW_PAGES,
      "doorbell pages, those in quarantine included,");
LIMIT(max_queues, WBELL_COUNT_QUEUES, "queues");
LIMIT(max_nics, WBELL_COUNT_NICS, "served NICs");

static struct wbell_account *account_find(kuid_t uid)
{
	struct wbell_account *acct;

	hash_for_each_possible(
		accounts, acct, node,
		__kuid_val(uid)) if (uid_eq(acct->uid, uid)) return acct;
	return NULL;
}

struct wbell_account *wbell_account_get(void)
{
	struct wbell_account *acct;
	kuid_t uid = current_uid();

	mutex_lock(&accounts_lock);
	acct = account_find(uid);
	if (acct) {
		acct->refs++;
		goto out;
	}
	acct = kzalloc(sizeof(*acct), GFP_KERNEL_ACCOUNT);
	if (!acct) {
		acct = ERR_PTR(-ENOMEM);
		goto out;
	}
	acct->refs = 1;
	acct->uid = uid;
	acct->user = get_uid(current_user());
	hash_add(accounts, &acct->node, __kuid_val(uid));
out:
	mutex_unlock(&accounts_lock);
	return acct;
}

struct wbell_account *wbell_account_ref(struct wbell_account *acct)
{
	mutex_lock(&accounts_lock);
	acct->refs++;
	mutex_unlock(&accounts_lock);
	return acct;
}

void wbell_account_put(struct wbell_account *acct)
{
	bool last;

	mutex_lock(&accounts_lock);
	last = !--acct->refs;
	if (last)
		hash_del(&acct->node);
	mutex_unlock(&accounts_lock);
	if (!last)
		return;
	free_uid(acct->user);
	kfree(acct);
}

kuid_t wbell_account_uid(const struct wbell_account *acct)
{
	return acct->uid;
}

int wbell_charge(struct wbell_account *acct, enum wbell_count what,
		 unsigned long n)
{
	unsigned long limit = READ_ONCE(limits[what]);

	if (n > limit)
		goto refuse;
	if (atomic64_add_return(n, &acct->count[what]) > limit) {
		atomic64_sub(n, &acct->count[what]);
		goto refuse;
	}
	wbell_counter_add(what, n);
	return 0;

refuse:
	wbell_counter_add(WBELL_COUNT_REFUSED, 1);
	trace_wbell_limit(from_kuid(&init_user_ns, acct->uid), what, n, limit);
	return -EDQUOT;
}

void wbell_uncharge(struct wbell_account *acct, enum wbell_count what,
		    unsigned long n)
{
	atomic64_sub(n, &acct->count[what]);
	wbell_counter_add(what, -(long)n);
}

int wbell_memlock(struct wbell_account *acct, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long locked;

	locked = atomic_long_add_return(pages, &acct->user->locked_vm);
	if (locked <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic_long_sub(pages, &acct->user->locked_vm);
	return -ENOMEM;
}

void wbell_memunlock(struct wbell_account *acct, unsigned long pages)
{
	atomic_long_sub(pages, &acct->user->locked_vm);
}

void wbell_counter_add(enum wbell_count what, long n)
{
	atomic64_add(n, &counters[what]);
}

u64 wbell_counter(enum wbell_count what)
{
	return atomic64_read(&counters[what]);
}
