// SPDX-License-Identifier: GPL-2.0-only
/* NICs that daemons serve: by whom, and which queues wait or are served. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "desc.h"
#include "warpbell.h"

static int daemon_gid = -1;
module_param(daemon_gid, int, 0644);
MODULE_PARM_DESC(daemon_gid,
		 "group that may serve NICs without CAP_NET_ADMIN; -1: none");

static DEFINE_MUTEX(nics_lock); /* names are unique */
static DEFINE_XARRAY_ALLOC1(nics);
static u32 nics_next;

static struct wbell_nic *nic_of(struct wbell_obj *obj)
{
	return container_of(obj, struct wbell_nic, obj);
}

struct wbell_nic *wbell_nic_find(u32 id)
{
	struct wbell_nic *nic;

	xa_lock(&nics);
	nic = xa_load(&nics, id);
	if (nic)
		wbell_obj_get(&nic->obj);
	xa_unlock(&nics);
	return nic;
}

int wbell_nic_attach(struct wbell_nic *nic, struct wbell_queue *queue)
{
	struct wbell_u_event ev = {
		.type = WBELL_EVENT_QUEUE_REQUEST,
		.handle = nic->obj.handle,
		.data = queue->id,
	};
	int rc = 0;

	mutex_lock(&nic->lock);
	if (nic->gone)
		rc = -ENODEV;
	else if (nic->queues >= nic->max_queues)
		rc = -EDQUOT;
	if (rc)
		goto out;
	nic->queues++;
	queue->attached = true;
	list_add_tail(&queue->nic_link, &nic->all);
	/* memory of it may be gone by now */
	if (queue->state == WBELL_QUEUE_RESET) {
		list_add_tail(&queue->link, &nic->pending);
		wbell_event(&nic->obj.ctx->events, &ev);
	}
out:
	mutex_unlock(&nic->lock);
	return rc;
}

void wbell_nic_detach(struct wbell_nic *nic, struct wbell_queue *queue)
{
	if (!queue->attached)
		return;
	queue->attached = false;
	nic->queues--;
	list_del_init(&queue->link);
	list_del_init(&queue->nic_link);
}

/* Puts the next queue into error and takes its endpoint; false: none left. */
static bool queue_end_next(struct wbell_nic *nic)
{
	struct wbell_endpoint *ep = NULL;
	struct wbell_queue *queue;

	mutex_lock(&nic->lock);
	queue = list_first_entry_or_null(&nic->all, struct wbell_queue,
					 nic_link);
	if (queue) {
		/* it detaches before it goes, so it is there */
		wbell_obj_get(&queue->obj);
		wbell_queue_set(queue, WBELL_QUEUE_ERR, WBELL_REASON_NIC_GONE,
				0);
		ep = wbell_endpoint_detach(queue, WBELL_REASON_NIC_GONE);
		wbell_nic_detach(nic, queue);
	}
	mutex_unlock(&nic->lock);
	if (!queue)
		return false;
	wbell_endpoint_kill(ep);
	wbell_grants_unmap(queue);
	wbell_obj_put(&queue->obj);
	return true;
}

static void nic_end(struct wbell_obj *obj, u32 reason)
{
	struct wbell_nic *nic = nic_of(obj);

	mutex_lock(&nics_lock);
	if (nic->id)
		xa_erase(&nics, nic->id);
	mutex_unlock(&nics_lock);
	mutex_lock(&nic->lock);
	nic->gone = true;
	mutex_unlock(&nic->lock);
	while (queue_end_next(nic))
		;
	wbell_uncharge(obj->ctx->acct, WBELL_COUNT_NICS, 1);
}

static void nic_free(struct wbell_obj *obj)
{
	kfree(nic_of(obj));
}

static void nic_show(struct wbell_obj *obj, struct seq_file *file)
{
	struct wbell_nic *nic = nic_of(obj);

	seq_printf(file, " id %u name %s queues %u of %u", nic->id, nic->name,
		   READ_ONCE(nic->queues), nic->max_queues);
}

static const struct wbell_obj_ops nic_ops = {
	.end = nic_end,
	.free = nic_free,
	.show = nic_show,
};

static bool may_serve(void)
{
	int gid = READ_ONCE(daemon_gid);

	return capable(CAP_NET_ADMIN) ||
	       (gid >= 0 && in_egroup_p(KGIDT_INIT(gid)));
}

/* A name, or a context, that has a NIC already. */
static bool nic_taken(const struct wbell_ctx *ctx, const char *name)
{
	struct wbell_nic *nic;
	unsigned long id;

	xa_for_each(&nics, id, nic) if (nic->obj.ctx == ctx ||
					!strcmp(nic->name, name)) return true;
	return false;
}

static int nic_reserve(struct wbell_nic *nic)
{
	int rc = -EEXIST;

	mutex_lock(&nics_lock);
	if (!nic_taken(nic->obj.ctx, nic->name))
		rc = xa_alloc_cyclic(&nics, &nic->id, nic, xa_limit_31b,
				     &nics_next, GFP_KERNEL);
	if (rc < 0)
		nic->id = 0;
	mutex_unlock(&nics_lock);
	return rc < 0 ? rc : 0;
}

static struct wbell_nic *nic_alloc(struct wbell_call *call)
{
	struct wbell_u_nic_register *arg = &call->arg.nic_register;
	struct wbell_ctx *ctx = call->owner;
	struct wbell_nic *nic;
	int rc;

	rc = wbell_charge(ctx->acct, WBELL_COUNT_NICS, 1);
	if (rc)
		return ERR_PTR(rc);
	rc = -ENOMEM;
	nic = kzalloc(sizeof(*nic), GFP_KERNEL_ACCOUNT);
	if (!nic)
		goto uncharge;
	memcpy(nic->name, arg->name, sizeof(nic->name));
	nic->max_queues = arg->max_queues;
	mutex_init(&nic->lock);
	INIT_LIST_HEAD(&nic->pending);
	INIT_LIST_HEAD(&nic->all);
	rc = wbell_obj_init(&nic->obj, ctx, WBELL_NIC, &nic_ops);
	if (rc)
		goto free;
	return nic;

free:
	kfree(nic);
uncharge:
	wbell_uncharge(ctx->acct, WBELL_COUNT_NICS, 1);
	return ERR_PTR(rc);
}

int wbell_ioctl_nic_register(struct wbell_call *call)
{
	struct wbell_u_nic_register *arg = &call->arg.nic_register;
	struct wbell_nic *nic;
	int rc;

	if (arg->rsvd)
		return wbell_fail(call, -EINVAL, "rsvd: not 0: clear it");
	if (wbell_desc_name(arg->name))
		return wbell_fail(call, -EINVAL,
				  "name: not [a-z0-9._-], or not padded by 0");
	if (!arg->max_queues || arg->max_queues > WBELL_NIC_QUEUES_MAX)
		return wbell_fail(call, -EINVAL, "max_queues: %u: 1 to %u",
				  arg->max_queues, WBELL_NIC_QUEUES_MAX);
	if (!may_serve())
		return wbell_fail(call, -EPERM,
				  "nic: no CAP_NET_ADMIN, and not in the group "
				  "of module parameter daemon_gid (%d)",
				  READ_ONCE(daemon_gid));
	nic = nic_alloc(call);
	if (IS_ERR(nic))
		return PTR_ERR(nic);
	rc = nic_reserve(nic);
	if (rc) {
		wbell_fail(call, rc, "nic: %s or this context has one",
			   nic->name);
		goto abort;
	}
	arg->handle = nic->obj.handle;
	arg->id = nic->id;
	rc = wbell_reply(call);
	if (rc)
		goto abort;
	wbell_obj_finalize(&nic->obj);
	return 0;

abort:
	wbell_obj_abort(&nic->obj);
	return rc;
}

static struct wbell_nic *nic_at(u32 index)
{
	struct wbell_nic *nic, *found = NULL;
	unsigned long id;

	xa_lock(&nics);
	xa_for_each(&nics, id, nic)
	{
		if (index--)
			continue;
		wbell_obj_get(&nic->obj);
		found = nic;
		break;
	}
	xa_unlock(&nics);
	return found;
}

int wbell_ioctl_nic_query(struct wbell_call *call)
{
	struct wbell_u_nic_query *arg = &call->arg.nic_query;
	struct wbell_nic *nic = nic_at(arg->index);

	if (!nic)
		return -ENOENT;
	arg->id = nic->id;
	arg->uid = from_kuid_munged(current_user_ns(),
				    wbell_account_uid(nic->obj.ctx->acct));
	arg->pid = pid_vnr(nic->obj.ctx->pid);
	arg->max_queues = nic->max_queues;
	arg->queues = READ_ONCE(nic->queues);
	memcpy(arg->name, nic->name, sizeof(arg->name));
	wbell_obj_put(&nic->obj);
	return wbell_reply(call);
}
