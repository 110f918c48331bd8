// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include "provider.h"

static const struct file_operations fops = {
	.owner = THIS_MODULE,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "warpbell",
	.mode = 0660,
	.fops = &fops,
};

module_misc_device(device);

MODULE_DESCRIPTION("GPU memory and NIC queues for user space");
MODULE_LICENSE("GPL");
