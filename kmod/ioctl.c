// SPDX-License-Identifier: GPL-2.0-only
/* What all ioctls have in common: sizes, flags, and texts of errors. */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/stdarg.h>
#include <linux/uaccess.h>
#include "warpbell.h"

/* Each struct begins so. */
struct head {
	u32 size, flags;
	u64 err_ptr;
};

static struct head *head_of(struct wbell_call *call)
{
	return (struct head *)&call->arg;
}

int wbell_fail(struct wbell_call *call, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(call->err, sizeof(call->err), format, args);
	va_end(args);
	return rc;
}

int wbell_reply(struct wbell_call *call)
{
	size_t n = min(call->size, call->own);

	return copy_to_user(call->user, &call->arg, n) ? -EFAULT : 0;
}

static const struct wbell_ioctl *ioctl_find(const struct wbell_ioctl *table,
					    size_t n, unsigned int cmd)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (table[i].cmd == cmd)
			return &table[i];
	return NULL;
}

/* Fills arg; what the caller does not know of is zero. */
static int arg_copy(struct wbell_call *call, const struct wbell_ioctl *ioctl)
{
	u32 size;

	if (get_user(size, (u32 __user *)call->user))
		return -EFAULT;
	if (size < ioctl->size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	call->size = size;
	call->own = ioctl->size;
	return copy_struct_from_user(&call->arg, call->own, call->user, size);
}

/* Its own failure must not hide the error that it tells of. */
static void err_copy(struct wbell_call *call)
{
	void __user *to = u64_to_user_ptr(head_of(call)->err_ptr);

	if (to && copy_to_user(to, call->err, sizeof(call->err)))
		return;
}

long wbell_ioctl_run(const struct wbell_ioctl *table, size_t n,
		     struct wbell_call *call, struct mm_struct *mm,
		     unsigned int cmd)
{
	const struct wbell_ioctl *ioctl = ioctl_find(table, n, cmd);
	u32 unknown;
	int rc;

	if (!ioctl)
		return -ENOTTY;
	if (current->mm != mm)
		return -EPERM;
	rc = arg_copy(call, ioctl);
	if (rc)
		return rc;
	unknown = head_of(call)->flags & ~ioctl->flags;
	if (unknown)
		rc = wbell_fail(call, -EINVAL, "flags: 0x%x unknown: clear it",
				unknown);
	else
		rc = ioctl->fn(call);
	if (rc)
		err_copy(call);
	return rc;
}
