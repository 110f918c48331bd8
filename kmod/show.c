// SPDX-License-Identifier: GPL-2.0-only
/* What can be seen from outside: counters in sysfs, objects in debugfs. */
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>
#include "warpbell.h"

/* ---- /sys/class/misc/warpbell/ ---- */

static ssize_t abi_show(struct device *dev, struct device_attribute *attr,
			char *buf)
{
	return sysfs_emit(buf, "%d\n", WBELL_ABI);
}
static DEVICE_ATTR_RO(abi);

struct counter {
	struct device_attribute attr;
	enum wbell_count what;
};

static ssize_t counter_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct counter *counter = container_of(attr, struct counter, attr);

	/* pages whose time has come leave quarantine when looked at */
	if (counter->what == WBELL_COUNT_WINDOW_PAGES)
		wbell_provider_quarantined();
	return sysfs_emit(buf, "%llu\n", wbell_counter(counter->what));
}

static ssize_t quarantined_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", wbell_provider_quarantined());
}
static DEVICE_ATTR_RO(quarantined);

#define COUNTER(name, count)                                    \
	static struct counter name = {                          \
		.attr = __ATTR(name, 0444, counter_show, NULL), \
		.what = count,                                  \
	}

COUNTER(contexts, WBELL_COUNT_CONTEXTS);
COUNTER(objects, WBELL_COUNT_OBJECTS);
COUNTER(ring_pages, WBELL_COUNT_RING_PAGES);
COUNTER(pinned_pages, WBELL_COUNT_PINNED_PAGES);
COUNTER(gpu_pages, WBELL_COUNT_GPU_PAGES);
COUNTER(window_pages, WBELL_COUNT_WINDOW_PAGES);
COUNTER(queues, WBELL_COUNT_QUEUES);
COUNTER(nics, WBELL_COUNT_NICS);
COUNTER(maps, WBELL_COUNT_MAPS);
COUNTER(endpoints, WBELL_COUNT_ENDPOINTS);
COUNTER(exports, WBELL_COUNT_EXPORTS);
COUNTER(revoked, WBELL_COUNT_REVOKED);
COUNTER(lost_events, WBELL_COUNT_LOST);
COUNTER(refused, WBELL_COUNT_REFUSED);

static struct attribute *counter_attrs[] = {
	&contexts.attr.attr,
	&objects.attr.attr,
	&ring_pages.attr.attr,
	&pinned_pages.attr.attr,
	&gpu_pages.attr.attr,
	&window_pages.attr.attr,
	&queues.attr.attr,
	&nics.attr.attr,
	&maps.attr.attr,
	&endpoints.attr.attr,
	&exports.attr.attr,
	&revoked.attr.attr,
	&lost_events.attr.attr,
	&refused.attr.attr,
	&dev_attr_quarantined.attr,
	NULL,
};

static const struct attribute_group counter_group = {
	.name = "counters",
	.attrs = counter_attrs,
};

static struct attribute *device_attrs[] = {
	&dev_attr_abi.attr,
	NULL,
};

static const struct attribute_group device_group = {
	.attrs = device_attrs,
};

const struct attribute_group *wbell_sysfs_groups[] = {
	&device_group,
	&counter_group,
	NULL,
};

/* ---- /sys/kernel/debug/warpbell/ ---- */

static struct dentry *directory;

static void ctx_show(struct wbell_ctx *ctx, void *arg)
{
	static const char *const states[WBELL_STATES] = { "live", "revoking",
							  "dead" };
	struct seq_file *file = arg;
	struct wbell_obj *obj;
	unsigned long handle;

	seq_printf(file, "context pid %d uid %u\n", pid_vnr(ctx->pid),
		   from_kuid_munged(current_user_ns(),
				    wbell_account_uid(ctx->acct)));
	xa_lock(&ctx->objs);
	xa_for_each(&ctx->objs, handle, obj)
	{
		seq_printf(file, "  %s %lu %s bytes %llu",
			   wbell_type_name(obj->type), handle,
			   states[READ_ONCE(obj->state)], obj->bytes);
		obj->ops->show(obj, file);
		seq_putc(file, '\n');
	}
	xa_unlock(&ctx->objs);
}

static int objects_show(struct seq_file *file, void *arg)
{
	wbell_ctx_each(ctx_show, file);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

void wbell_debugfs_setup(void)
{
	directory = debugfs_create_dir("warpbell", NULL);
	debugfs_create_file("objects", 0400, directory, NULL, &objects_fops);
}

void wbell_debugfs_cleanup(void)
{
	debugfs_remove(directory);
}
