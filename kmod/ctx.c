// SPDX-License-Identifier: GPL-2.0-only
/* Contexts: what an open /dev/warpbell is. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "trace.h"
#include "warpbell.h"

static DEFINE_SPINLOCK(contexts_lock);
static LIST_HEAD(contexts);

struct wbell_ctx *wbell_ctx_get(struct wbell_ctx *ctx)
{
	kref_get(&ctx->ref);
	return ctx;
}

static void ctx_free(struct kref *ref)
{
	struct wbell_ctx *ctx = container_of(ref, struct wbell_ctx, ref);

	xa_destroy(&ctx->objs);
	mmdrop(ctx->view.mm);
	put_pid(ctx->pid);
	wbell_uncharge(ctx->acct, WBELL_COUNT_CONTEXTS, 1);
	wbell_account_put(ctx->acct);
	kfree(ctx);
}

void wbell_ctx_put(struct wbell_ctx *ctx)
{
	kref_put(&ctx->ref, ctx_free);
}

void wbell_ctx_each(void (*fn)(struct wbell_ctx *ctx, void *arg), void *arg)
{
	struct wbell_ctx *ctx;

	spin_lock(&contexts_lock);
	list_for_each_entry(ctx, &contexts, link) fn(ctx, arg);
	spin_unlock(&contexts_lock);
}

static int ctx_open(struct inode *inode, struct file *file)
{
	struct wbell_account *acct;
	struct wbell_ctx *ctx;
	int rc;

	acct = wbell_account_get();
	if (IS_ERR(acct))
		return PTR_ERR(acct);
	rc = wbell_charge(acct, WBELL_COUNT_CONTEXTS, 1);
	if (rc)
		goto put_account;
	rc = -ENOMEM;
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		goto uncharge;
	kref_init(&ctx->ref);
	ctx->acct = acct;
	ctx->view.mm = current->mm;
	mmgrab(ctx->view.mm);
	ctx->pid = get_pid(task_tgid(current));
	xa_init_flags(&ctx->objs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	wbell_events_init(&ctx->events);
	wbell_map_adopt(file);
	file->private_data = ctx;
	spin_lock(&contexts_lock);
	list_add_tail(&ctx->link, &contexts);
	spin_unlock(&contexts_lock);
	trace_wbell_ctx(pid_nr(ctx->pid), true);
	return nonseekable_open(inode, file);

uncharge:
	wbell_uncharge(acct, WBELL_COUNT_CONTEXTS, 1);
put_account:
	wbell_account_put(acct);
	return rc;
}

/* Whoever has the last reference to the file comes here; current means nothing. */
static int ctx_release(struct inode *inode, struct file *file)
{
	struct wbell_ctx *ctx = file->private_data;

	spin_lock(&contexts_lock);
	list_del(&ctx->link);
	spin_unlock(&contexts_lock);
	wbell_obj_destroy_all(ctx);
	trace_wbell_ctx(pid_nr(ctx->pid), false);
	wbell_ctx_put(ctx);
	return 0;
}

static int ioctl_hello(struct wbell_call *call)
{
	struct wbell_u_hello *arg = &call->arg.hello;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	arg->abi = WBELL_ABI;
	arg->page_size = PAGE_SIZE;
	arg->event_size = sizeof(struct wbell_u_event);
	arg->features = 0;
	return wbell_reply(call);
}

static int ioctl_destroy(struct wbell_call *call)
{
	struct wbell_u_destroy *arg = &call->arg.destroy;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	return wbell_obj_destroy(call->owner, arg->handle);
}

#define IOCTL(nr, member, known, fn)                                 \
	{                                                            \
		nr, sizeof_field(union wbell_arg, member), known, fn \
	}

static const struct wbell_ioctl ioctls[] = {
	IOCTL(WBELL_IOC_HELLO, hello, 0, ioctl_hello),
	IOCTL(WBELL_IOC_PROVIDER_QUERY, provider_query, 0,
	      wbell_ioctl_provider_query),
	IOCTL(WBELL_IOC_NIC_QUERY, nic_query, 0, wbell_ioctl_nic_query),
	IOCTL(WBELL_IOC_DESTROY, destroy, 0, ioctl_destroy),
	IOCTL(WBELL_IOC_RING_ALLOC, ring_alloc, 0, wbell_ioctl_ring_alloc),
	IOCTL(WBELL_IOC_MREG_HOST, mreg_host, 0, wbell_ioctl_mreg_host),
	IOCTL(WBELL_IOC_MREG_OBJECT, mreg_object, 0, wbell_ioctl_mreg_object),
	IOCTL(WBELL_IOC_GPU_PIN, gpu_pin, WBELL_GPU_KEEP, wbell_ioctl_gpu_pin),
	IOCTL(WBELL_IOC_WINDOW_ALLOC, window_alloc, 0,
	      wbell_ioctl_window_alloc),
	IOCTL(WBELL_IOC_NIC_REGISTER, nic_register, 0,
	      wbell_ioctl_nic_register),
	IOCTL(WBELL_IOC_NIC_ACCEPT, nic_accept, WBELL_ACCEPT_DUMMY,
	      wbell_ioctl_nic_accept),
	IOCTL(WBELL_IOC_QUEUE_CREATE, queue_create, 0,
	      wbell_ioctl_queue_create),
	IOCTL(WBELL_IOC_QUEUE_GRANT, queue_grant, WBELL_GRANT_REMOVE,
	      wbell_ioctl_queue_grant),
	IOCTL(WBELL_IOC_QUEUE_MODIFY, queue_modify, 0,
	      wbell_ioctl_queue_modify),
	IOCTL(WBELL_IOC_QUEUE_QUERY, queue_query, 0, wbell_ioctl_queue_query),
	IOCTL(WBELL_IOC_QUEUE_KICK, queue_kick, 0, wbell_ioctl_queue_kick),
};

static long ctx_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct wbell_ctx *ctx = file->private_data;
	struct wbell_call call = {
		.owner = ctx,
		.user = (void __user *)arg,
	};

	return wbell_ioctl_run(ioctls, ARRAY_SIZE(ioctls), &call, ctx->view.mm,
			       cmd);
}

static int ctx_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct wbell_ctx *ctx = file->private_data;

	return wbell_map_mmap(&ctx->view, vma);
}

static ssize_t ctx_read(struct file *file, char __user *buf, size_t len,
			loff_t *pos)
{
	struct wbell_ctx *ctx = file->private_data;

	if (current->mm != ctx->view.mm)
		return -EPERM;
	return wbell_events_read(&ctx->events, file, buf, len);
}

static __poll_t ctx_poll(struct file *file, struct poll_table_struct *wait)
{
	struct wbell_ctx *ctx = file->private_data;

	return wbell_events_poll(&ctx->events, file, wait);
}

static const char *const type_names[WBELL_TYPES] = {
	[WBELL_RING] = "ring",	 [WBELL_GPUMEM] = "gpumem",
	[WBELL_MREG] = "mreg",	 [WBELL_WINDOW] = "window",
	[WBELL_QUEUE] = "queue", [WBELL_NIC] = "nic",
};

const char *wbell_type_name(enum wbell_type type)
{
	return type_names[type];
}

static void ctx_fdinfo(struct seq_file *m, struct file *file)
{
	struct wbell_ctx *ctx = file->private_data;
	u64 count[WBELL_TYPES] = {}, bytes[WBELL_TYPES] = {};
	struct wbell_obj *obj;
	unsigned long handle;
	int i;

	xa_lock(&ctx->objs);
	xa_for_each(&ctx->objs, handle, obj)
	{
		count[obj->type]++;
		bytes[obj->type] += obj->bytes;
	}
	xa_unlock(&ctx->objs);
	for (i = 0; i < WBELL_TYPES; i++)
		seq_printf(m, "warpbell-%s:\t%llu %llu\n", type_names[i],
			   count[i], bytes[i]);
}

const struct file_operations wbell_ctx_fops = {
	.owner = THIS_MODULE,
	.open = ctx_open,
	.release = ctx_release,
	.unlocked_ioctl = ctx_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = ctx_mmap,
	.read = ctx_read,
	.poll = ctx_poll,
	.show_fdinfo = ctx_fdinfo,
};
