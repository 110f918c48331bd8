// SPDX-License-Identifier: GPL-2.0-only
/* Endpoints: what the daemon holds of a queue it serves. */
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "warpbell.h"

static void endpoint_free(struct kref *ref)
{
	struct wbell_endpoint *ep =
		container_of(ref, struct wbell_endpoint, ref);
	int i;

	for (i = 0; i < WBELL_REGION_COUNT; i++)
		if (ep->map[i])
			wbell_map_drop(ep->map[i]);
	wbell_obj_put(&ep->nic->obj);
	mmdrop(ep->view.mm);
	wbell_counter_add(WBELL_COUNT_ENDPOINTS, -1);
	kfree(ep);
}

static void endpoint_put(struct wbell_endpoint *ep)
{
	kref_put(&ep->ref, endpoint_free);
}

struct wbell_endpoint *wbell_endpoint_detach(struct wbell_queue *queue,
					     u32 reason)
{
	struct wbell_u_event ev = {
		.type = WBELL_EVENT_EP_GONE,
		.reason = reason,
		.user = queue->id,
	};
	struct wbell_endpoint *ep = queue->ep;

	if (!ep)
		return NULL;
	queue->ep = NULL;
	ep->queue = NULL;
	ep->reason = reason;
	wbell_event(&ep->events, &ev);
	wbell_events_gone(&ep->events);
	return ep;
}

void wbell_endpoint_kill(struct wbell_endpoint *ep)
{
	int i;

	if (!ep)
		return;
	for (i = 0; i < WBELL_REGION_COUNT; i++)
		if (ep->map[i])
			wbell_map_kill(ep->map[i]);
	endpoint_put(ep);
}

/* ---- the file ---- */

static int ep_release(struct inode *inode, struct file *file)
{
	struct wbell_endpoint *ep = file->private_data, *gone = NULL;
	struct wbell_queue *queue;

	mutex_lock(&ep->nic->lock);
	queue = ep->queue;
	if (queue) {
		wbell_obj_get(&queue->obj);
		wbell_queue_set(queue, WBELL_QUEUE_ERR, WBELL_REASON_NIC_GONE,
				0);
		gone = wbell_endpoint_detach(queue, WBELL_REASON_NIC_GONE);
	}
	mutex_unlock(&ep->nic->lock);
	wbell_endpoint_kill(gone);
	if (queue) {
		wbell_grants_unmap(queue);
		wbell_obj_put(&queue->obj);
	}
	endpoint_put(ep);
	return 0;
}

static void map_tell(const struct wbell_map *map, struct wbell_u_map *out)
{
	out->cookie = wbell_map_cookie(map);
	out->map_len = wbell_map_len(map);
	out->write = !!(map->flags & WBELL_MAP_WRITE);
}

static int ioctl_info(struct wbell_call *call)
{
	struct wbell_u_ep_info *arg = &call->arg.ep_info;
	struct wbell_endpoint *ep = call->owner;
	int i;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	arg->id = ep->queue_id;
	arg->depth = ep->depth;
	mutex_lock(&ep->nic->lock);
	arg->state = ep->queue ? ep->queue->state : WBELL_QUEUE_ERR;
	arg->reason = ep->queue ? ep->queue->reason : ep->reason;
	arg->grants = ep->queue ? ep->queue->grants_end : 0;
	mutex_unlock(&ep->nic->lock);
	memset(arg->region, 0, sizeof(arg->region));
	for (i = 0; i < WBELL_REGION_COUNT; i++)
		if (ep->map[i])
			map_tell(ep->map[i], &arg->region[i]);
	return wbell_reply(call);
}

/* lock is held */
static int grant_tell(struct wbell_endpoint *ep, struct wbell_u_ep_grant *arg)
{
	struct wbell_grant *grant;
	struct wbell_map *map;

	if (!ep->queue)
		return -ESTALE;
	grant = xa_load(&ep->queue->grants, arg->index);
	if (!grant)
		return -ENOENT;
	map = wbell_grant_map(grant, ep);
	if (IS_ERR(map))
		return PTR_ERR(map);
	arg->key = grant->mreg->key;
	arg->access = grant->mreg->access;
	arg->iova = grant->mreg->iova;
	arg->len = grant->mreg->len;
	memset(&arg->map, 0, sizeof(arg->map));
	map_tell(map, &arg->map);
	return 0;
}

static int ioctl_grant(struct wbell_call *call)
{
	struct wbell_u_ep_grant *arg = &call->arg.ep_grant;
	struct wbell_endpoint *ep = call->owner;
	int rc;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	mutex_lock(&ep->nic->lock);
	rc = grant_tell(ep, arg);
	mutex_unlock(&ep->nic->lock);
	return rc ?: wbell_reply(call);
}

static int ioctl_error(struct wbell_call *call)
{
	struct wbell_u_ep_error *arg = &call->arg.ep_error;
	struct wbell_endpoint *ep = call->owner;
	bool done;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	mutex_lock(&ep->nic->lock);
	done = ep->queue && wbell_queue_set(ep->queue, WBELL_QUEUE_ERR,
					    WBELL_REASON_DAEMON, arg->code);
	mutex_unlock(&ep->nic->lock);
	return done ? 0 : -ESTALE;
}

static int ioctl_kick(struct wbell_call *call)
{
	struct wbell_endpoint *ep = call->owner;
	int rc = -ESTALE;

	mutex_lock(&ep->nic->lock);
	if (ep->queue && ep->queue->state == WBELL_QUEUE_READY) {
		wbell_queue_wake(ep->queue, WBELL_EVENT_QUEUE_KICK);
		rc = 0;
	}
	mutex_unlock(&ep->nic->lock);
	return rc;
}

static const struct wbell_ioctl ioctls[] = {
	{ WBELL_IOC_EP_INFO, sizeof(struct wbell_u_ep_info), 0, ioctl_info },
	{ WBELL_IOC_EP_GRANT, sizeof(struct wbell_u_ep_grant), 0, ioctl_grant },
	{ WBELL_IOC_EP_ERROR, sizeof(struct wbell_u_ep_error), 0, ioctl_error },
	{ WBELL_IOC_EP_KICK, sizeof(struct wbell_u_ep_kick), 0, ioctl_kick },
};

static long ep_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct wbell_endpoint *ep = file->private_data;
	struct wbell_call call = {
		.owner = ep,
		.user = (void __user *)arg,
	};

	return wbell_ioctl_run(ioctls, ARRAY_SIZE(ioctls), &call, ep->view.mm,
			       cmd);
}

static int ep_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct wbell_endpoint *ep = file->private_data;

	return wbell_map_mmap(&ep->view, vma);
}

static ssize_t ep_read(struct file *file, char __user *buf, size_t len,
		       loff_t *pos)
{
	struct wbell_endpoint *ep = file->private_data;

	if (current->mm != ep->view.mm)
		return -EPERM;
	return wbell_events_read(&ep->events, file, buf, len);
}

static __poll_t ep_poll(struct file *file, struct poll_table_struct *wait)
{
	struct wbell_endpoint *ep = file->private_data;

	return wbell_events_poll(&ep->events, file, wait);
}

static const struct file_operations ep_fops = {
	.owner = THIS_MODULE,
	.release = ep_release,
	.unlocked_ioctl = ep_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = ep_mmap,
	.read = ep_read,
	.poll = ep_poll,
};

/* ---- accepting a queue ---- */

static struct wbell_endpoint *endpoint_alloc(struct wbell_nic *nic, u32 flags)
{
	struct wbell_endpoint *ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);

	if (!ep)
		return NULL;
	kref_init(&ep->ref);
	ep->view.mm = current->mm;
	mmgrab(ep->view.mm);
	ep->flags = flags;
	ep->nic = nic;
	wbell_obj_get(&nic->obj);
	wbell_events_init(&ep->events);
	wbell_counter_add(WBELL_COUNT_ENDPOINTS, 1);
	return ep;
}

static int maps_make(struct wbell_endpoint *ep, struct wbell_queue *queue)
{
	struct wbell_region *region;
	struct wbell_map *map;
	u32 flags;
	int i;

	for (i = 0; i < WBELL_REGION_COUNT; i++) {
		region = &queue->region[i];
		if (!region->obj)
			continue;
		flags = WBELL_MAP_LAZY;
		if (i == WBELL_REGION_CQ)
			flags |= WBELL_MAP_WRITE;
		if (ep->flags & WBELL_ACCEPT_DUMMY)
			flags |= WBELL_MAP_DUMMY;
		map = wbell_map_create(&ep->view, region->obj, region->offset,
				       region->len, flags);
		if (IS_ERR(map))
			return PTR_ERR(map);
		ep->map[i] = map;
	}
	return 0;
}

/* With the file, which owns the endpoint from then on. */
static struct file *endpoint_open(struct wbell_nic *nic,
				  struct wbell_queue *queue, u32 flags)
{
	struct wbell_endpoint *ep = endpoint_alloc(nic, flags);
	struct file *file;
	int rc;

	if (!ep)
		return ERR_PTR(-ENOMEM);
	ep->queue_id = queue->id;
	ep->depth = queue->depth;
	rc = maps_make(ep, queue);
	if (rc)
		goto put;
	file = anon_inode_getfile("[warpbell-endpoint]", &ep_fops, ep,
				  O_RDWR | O_CLOEXEC);
	rc = PTR_ERR_OR_ZERO(file);
	if (rc)
		goto put;
	wbell_map_adopt(file);
	return file;

put:
	endpoint_put(ep);
	return ERR_PTR(rc);
}

/* The queue that waits, taken from its list; with a reference. */
static struct wbell_queue *pending_take(struct wbell_nic *nic, u32 id)
{
	struct wbell_queue *queue, *found = NULL;

	mutex_lock(&nic->lock);
	list_for_each_entry(queue, &nic->pending, link)
	{
		if (id && queue->id != id)
			continue;
		/* it detaches before it goes, so it is there */
		wbell_obj_get(&queue->obj);
		list_del_init(&queue->link);
		found = queue;
		break;
	}
	mutex_unlock(&nic->lock);
	return found;
}

static void pending_return(struct wbell_nic *nic, struct wbell_queue *queue)
{
	mutex_lock(&nic->lock);
	if (queue->attached && queue->state == WBELL_QUEUE_RESET)
		list_add(&queue->link, &nic->pending);
	mutex_unlock(&nic->lock);
}

static int endpoint_attach(struct wbell_nic *nic, struct wbell_queue *queue,
			   struct wbell_endpoint *ep)
{
	int rc = -EAGAIN;

	mutex_lock(&nic->lock);
	if (queue->attached && queue->state == WBELL_QUEUE_RESET) {
		kref_get(&ep->ref);
		ep->queue = queue;
		queue->ep = ep;
		wbell_queue_set(queue, WBELL_QUEUE_READY, WBELL_REASON_NONE, 0);
		rc = 0;
	}
	mutex_unlock(&nic->lock);
	return rc;
}

static int queue_accept(struct wbell_call *call, struct wbell_nic *nic,
			struct wbell_queue *queue)
{
	struct wbell_u_nic_accept *arg = &call->arg.nic_accept;
	struct wbell_ctx *app = queue->obj.ctx;
	struct file *file;
	int fd, rc;

	file = endpoint_open(nic, queue, arg->flags);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fd = get_unused_fd_flags(O_CLOEXEC);
	rc = fd;
	if (fd < 0)
		goto put_file;
	arg->id = queue->id;
	arg->fd = fd;
	arg->uid = from_kuid_munged(current_user_ns(),
				    wbell_account_uid(app->acct));
	arg->pid = pid_vnr(app->pid);
	rc = wbell_reply(call);
	if (!rc)
		rc = endpoint_attach(nic, queue, file->private_data);
	if (rc)
		goto put_fd;
	fd_install(fd, file);
	return 0;

put_fd:
	put_unused_fd(fd);
put_file:
	fput(file);
	return rc;
}

int wbell_ioctl_nic_accept(struct wbell_call *call)
{
	struct wbell_u_nic_accept *arg = &call->arg.nic_accept;
	struct wbell_queue *queue;
	struct wbell_nic *nic;
	struct wbell_obj *obj;
	int rc = -EAGAIN;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	obj = wbell_obj_find(call->owner, arg->nic, BIT(WBELL_NIC));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	nic = container_of(obj, struct wbell_nic, obj);
	queue = pending_take(nic, arg->id);
	if (!queue)
		goto put_nic;
	rc = queue_accept(call, nic, queue);
	if (rc)
		pending_return(nic, queue);
	wbell_obj_put(&queue->obj);
put_nic:
	wbell_obj_put(obj);
	return rc;
}
