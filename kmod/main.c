// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading. */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include "warpbell.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

struct workqueue_struct *wbell_wq;

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "warpbell",
	.mode = 0660,
	.fops = &wbell_ctx_fops,
	.groups = wbell_sysfs_groups,
};

static int __init wbell_init(void)
{
	int rc;

	wbell_wq = alloc_workqueue("warpbell", WQ_UNBOUND, 0);
	if (!wbell_wq)
		return -ENOMEM;
	rc = wbell_map_setup();
	if (rc)
		goto destroy_wq;
	rc = misc_register(&device);
	if (rc)
		goto cleanup_map;
	wbell_debugfs_setup();
	rc = wbell_pci_setup();
	if (rc)
		goto cleanup_debugfs;
	return 0;

cleanup_debugfs:
	wbell_debugfs_cleanup();
	misc_deregister(&device);
cleanup_map:
	wbell_map_cleanup();
destroy_wq:
	destroy_workqueue(wbell_wq);
	return rc;
}

/* No file is open any more, so no object is left but what providers hold. */
static void __exit wbell_exit(void)
{
	wbell_pci_cleanup();
	wbell_debugfs_cleanup();
	misc_deregister(&device);
	destroy_workqueue(wbell_wq);
	wbell_map_cleanup();
}

module_init(wbell_init);
module_exit(wbell_exit);
MODULE_DESCRIPTION("GPU memory and NIC queues for user space");
MODULE_LICENSE("GPL");
