// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provider pci-bar: memory, or doorbells, in a BAR of a PCI function that is
 * bound to us by name:
 *	echo warpbell-pci > /sys/bus/pci/devices/BDF/driver_override
 *	echo BDF > /sys/bus/pci/drivers_probe
 * We own the function then: no other driver can map what we hand out.  The
 * parameter doorbells makes it a NIC; else its largest prefetchable memory BAR
 * is GPU memory.  Pages of the MSI-X table are never handed out: who writes
 * there makes interrupts.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include "range.h"
#include "warpbell.h"

#define DRIVER "warpbell-pci"

static char *doorbells;
module_param(doorbells, charp, 0444);
MODULE_PARM_DESC(doorbells, "doorbell pages of NICs: BDF=BAR:OFFSET:BYTES,...");

struct bar {
	struct pci_dev *pdev;
	struct wbell_provider *prov;
	int number;
	phys_addr_t base;
	u64 len;
	bool failed; /* the device had an error, and is not back yet */
	struct mutex lock;
	struct list_head taken; /* struct part */
};

/* What is pinned, so that no two have the same. */
struct part {
	struct list_head link;
	u64 start, len;
};

/* ---- MSI-X ---- */

/* Does [start, start + len) of the BAR touch pages of one of its tables? */
static bool table_hit(const struct bar *bar, u8 where, u64 bytes, u64 start,
		      u64 len)
{
	int cap = bar->pdev->msix_cap;
	u32 reg, first, last;

	if (pci_read_config_dword(bar->pdev, cap + where, &reg))
		return true;
	if ((reg & PCI_MSIX_TABLE_BIR) != bar->number)
		return false;
	first = round_down(reg & PCI_MSIX_TABLE_OFFSET, PAGE_SIZE);
	last = round_up((reg & PCI_MSIX_TABLE_OFFSET) + bytes, PAGE_SIZE);
	return wbell_range_overlap(start, len, first, last - first);
}

static bool msix_hit(const struct bar *bar, u64 start, u64 len)
{
	int cap = bar->pdev->msix_cap;
	u16 control;
	u32 n;

	if (!cap)
		return false;
	pci_read_config_word(bar->pdev, cap + PCI_MSIX_FLAGS, &control);
	n = (control & PCI_MSIX_FLAGS_QSIZE) + 1;
	return table_hit(bar, PCI_MSIX_TABLE, n * PCI_MSIX_ENTRY_SIZE, start,
			 len) ||
	       table_hit(bar, PCI_MSIX_PBA, DIV_ROUND_UP(n, 8), start, len);
}

/* ---- the provider's calls ---- */

static int bar_status(void *data, char *text, size_t size)
{
	struct bar *bar = data;

	if (READ_ONCE(bar->failed)) {
		strscpy(text, "the device reported an error: reset it", size);
		return -EIO;
	}
	scnprintf(text, size, "BAR %d", bar->number);
	return 0;
}

/* Whoever has it next must not see what was there. */
static int part_clear(const struct bar *bar, const struct part *part)
{
	const u64 step = SZ_4M;
	void __iomem *mem;
	u64 done, n;

	for (done = 0; done < part->len; done += n) {
		n = min(part->len - done, step);
		if (fatal_signal_pending(current))
			return -EINTR;
		mem = ioremap_wc(bar->base + part->start + done, n);
		if (!mem)
			return -ENOMEM;
		memset_io(mem, 0, n);
		iounmap(mem);
		cond_resched();
	}
	return 0;
}

static int part_take(struct bar *bar, struct part *part)
{
	struct part *other;
	int rc = 0;

	mutex_lock(&bar->lock);
	list_for_each_entry(
		other, &bar->taken,
		link) if (wbell_range_overlap(part->start, part->len,
					      other->start, other->len))
		rc = -EBUSY;
	if (!rc)
		list_add(&part->link, &bar->taken);
	mutex_unlock(&bar->lock);
	return rc;
}

static void part_give(struct bar *bar, struct part *part)
{
	mutex_lock(&bar->lock);
	list_del(&part->link);
	mutex_unlock(&bar->lock);
	kfree(part);
}

static int part_check(struct bar *bar, const struct part *part, char *err)
{
	if (READ_ONCE(bar->failed))
		return -EIO;
	if (msix_hit(bar, part->start, part->len)) {
		snprintf(err, WBELL_ERR_TEXT,
			 "addr, len: the MSI-X table lies there: leave it out");
		return -EPERM;
	}
	return 0;
}

static int bar_pin(void *data, struct wbell_gpumem *mem,
		   const struct wbell_gpu_want *want,
		   struct wbell_gpu_pages *pages, char *err)
{
	struct bar *bar = data;
	struct wbell_wide wide;
	struct part *part;
	int rc;

	rc = wbell_range_widen(want->addr, want->len, PAGE_SIZE, &wide)
		     ?: wbell_range_check(wide.start, wide.len, bar->len);
	if (rc)
		return rc;
	pages->seg = kvmalloc(sizeof(*pages->seg), GFP_KERNEL_ACCOUNT);
	part = kmalloc(sizeof(*part), GFP_KERNEL_ACCOUNT);
	rc = -ENOMEM;
	if (!pages->seg || !part)
		goto free;
	part->start = wide.start;
	part->len = wide.len;
	rc = part_check(bar, part, err);
	if (rc)
		goto free;
	rc = part_take(bar, part);
	if (rc) {
		snprintf(err, WBELL_ERR_TEXT,
			 "addr, len: some of it is another's: try elsewhere");
		goto free;
	}
	rc = want->flags & WBELL_GPU_KEEP ? 0 : part_clear(bar, part);
	if (rc) {
		part_give(bar, part);
		part = NULL;
		goto free;
	}
	pages->seg[0].addr = bar->base + wide.start;
	pages->seg[0].len = wide.len;
	pages->segs = 1;
	pages->page_size = PAGE_SIZE;
	pages->offset = wide.offset;
	pages->memtype = WBELL_MEMTYPE_WC;
	pages->pdev = bar->pdev;
	pages->bar = bar->number;
	pages->priv = part;
	return 0;

free:
	kfree(part);
	kvfree(pages->seg);
	pages->seg = NULL;
	return rc;
}

static void bar_unpin(void *data, struct wbell_gpumem *mem,
		      struct wbell_gpu_pages *pages)
{
	part_give(data, pages->priv);
}

static const struct wbell_provider_ops gpu_ops = {
	.owner = THIS_MODULE,
	.kind = WBELL_PROVIDER_GPU,
	.status = bar_status,
	.pin = bar_pin,
	.unpin = bar_unpin,
};

static const struct wbell_provider_ops nic_ops = {
	.owner = THIS_MODULE,
	.kind = WBELL_PROVIDER_NIC,
	.status = bar_status,
};

/* ---- binding ---- */

/* Finds the device's entry in the parameter; 1: there is none. */
static int doorbells_find(const struct pci_dev *pdev, int *number, u64 *offset,
			  u64 *len)
{
	const char *name = pci_name(pdev), *at = doorbells;
	size_t n = strlen(name);

	while (at && *at) {
		if (!strncmp(at, name, n) && at[n] == '=') {
			if (sscanf(at + n + 1, "%d:%lli:%lli", number, offset,
				   len) != 3)
				return -EINVAL;
			return 0;
		}
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return 1;
}

static int largest_bar(struct pci_dev *pdev)
{
	const unsigned long need = IORESOURCE_MEM | IORESOURCE_PREFETCH;
	int i, found = -ENODEV;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		if ((pci_resource_flags(pdev, i) & need) != need ||
		    !pci_resource_len(pdev, i))
			continue;
		if (found < 0 ||
		    pci_resource_len(pdev, i) > pci_resource_len(pdev, found))
			found = i;
	}
	return found;
}

/* Which BAR, and what part of it; attr gets the provider's side. */
static int bar_choose(struct bar *bar, struct wbell_provider_attr *attr)
{
	struct pci_dev *pdev = bar->pdev;
	u64 offset = 0, len = 0;
	int rc;

	rc = doorbells_find(pdev, &bar->number, &offset, &len);
	if (rc < 0) {
		pci_err(pdev, "parameter doorbells: cannot read this device's "
			      "entry: write BDF=BAR:OFFSET:BYTES\n");
		return rc;
	}
	if (rc) {
		bar->number = largest_bar(pdev);
		if (bar->number < 0) {
			pci_err(pdev, "no prefetchable memory BAR: not a GPU; "
				      "for a NIC see parameter doorbells\n");
			return bar->number;
		}
		attr->ops = &gpu_ops;
		attr->caps = WBELL_CAP_WC | WBELL_CAP_REVOKE;
		len = pci_resource_len(pdev, bar->number) & PAGE_MASK;
	} else {
		attr->ops = &nic_ops;
		attr->caps = WBELL_CAP_NC | WBELL_CAP_WC | WBELL_CAP_REVOKE;
	}
	if (bar->number < 0 || bar->number >= PCI_STD_NUM_BARS ||
	    !(pci_resource_flags(pdev, bar->number) & IORESOURCE_MEM) ||
	    wbell_range_pages(offset, len,
			      pci_resource_len(pdev, bar->number))) {
		pci_err(pdev, "BAR %d: no such whole pages of memory\n",
			bar->number);
		return -EINVAL;
	}
	if (attr->ops == &nic_ops && msix_hit(bar, offset, len)) {
		pci_err(pdev, "parameter doorbells: the MSI-X table lies "
			      "there: leave it out\n");
		return -EINVAL;
	}
	bar->base = pci_resource_start(pdev, bar->number) + offset;
	bar->len = len;
	return 0;
}

static int bar_register(struct bar *bar, struct wbell_provider_attr *attr)
{
	char name[WBELL_NAME_MAX];
	struct wbell_provider *prov;

	snprintf(name, sizeof(name), "pci-bar:%s", pci_name(bar->pdev));
	attr->name = name;
	attr->data = bar;
	attr->len = bar->len;
	attr->base = bar->base;
	attr->page_size = PAGE_SIZE;
	prov = wbell_provider_register(attr);
	if (IS_ERR(prov))
		return PTR_ERR(prov);
	bar->prov = prov;
	return 0;
}

static int bar_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct wbell_provider_attr attr = {};
	struct bar *bar;
	int rc;

	rc = security_locked_down(LOCKDOWN_PCI_ACCESS);
	if (rc) {
		pci_err(pdev, "kernel is locked down: raw access to BARs is "
			      "refused\n");
		return rc;
	}
	bar = kzalloc(sizeof(*bar), GFP_KERNEL);
	if (!bar)
		return -ENOMEM;
	bar->pdev = pdev;
	mutex_init(&bar->lock);
	INIT_LIST_HEAD(&bar->taken);
	rc = pci_enable_device_mem(pdev);
	if (rc)
		goto free;
	rc = bar_choose(bar, &attr);
	if (rc)
		goto disable;
	rc = pci_request_selected_regions(pdev, BIT(bar->number), DRIVER);
	if (rc)
		goto disable;
	pci_set_drvdata(pdev, bar);
	pci_save_state(pdev);
	rc = bar_register(bar, &attr);
	if (!rc)
		return 0;
	pci_release_selected_regions(pdev, BIT(bar->number));
disable:
	pci_disable_device(pdev);
free:
	kfree(bar);
	return rc;
}

static void bar_remove(struct pci_dev *pdev)
{
	struct bar *bar = pci_get_drvdata(pdev);

	wbell_provider_unregister(bar->prov, WBELL_REASON_REMOVED);
	pci_release_selected_regions(pdev, BIT(bar->number));
	pci_disable_device(pdev);
	kfree(bar);
}

static pci_ers_result_t bar_error(struct pci_dev *pdev,
				  pci_channel_state_t state)
{
	struct bar *bar = pci_get_drvdata(pdev);

	WRITE_ONCE(bar->failed, true);
	wbell_provider_revoke(bar->prov, WBELL_REASON_PCI_ERR);
	return state == pci_channel_io_perm_failure ? PCI_ERS_RESULT_DISCONNECT
						    : PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t bar_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev); /* what is restored is used up */
	return PCI_ERS_RESULT_RECOVERED;
}

static void bar_resume(struct pci_dev *pdev)
{
	struct bar *bar = pci_get_drvdata(pdev);

	WRITE_ONCE(bar->failed, false);
}

static const struct pci_error_handlers error_handlers = {
	.error_detected = bar_error,
	.slot_reset = bar_reset,
	.resume = bar_resume,
};

/* What the device held is gone after that. */
static int bar_suspend(struct device *dev)
{
	struct bar *bar = dev_get_drvdata(dev);

	wbell_provider_revoke(bar->prov, WBELL_REASON_REMOVED);
	return 0;
}

static const struct dev_pm_ops pm_ops = {
	.suspend = bar_suspend,
	.freeze = bar_suspend,
	.poweroff = bar_suspend,
};

/* No table of ids: a device is ours by driver_override only. */
static struct pci_driver driver = {
	.name = DRIVER,
	.probe = bar_probe,
	.remove = bar_remove,
	.err_handler = &error_handlers,
	.driver.pm = &pm_ops,
};

int wbell_pci_setup(void)
{
	return pci_register_driver(&driver);
}

void wbell_pci_cleanup(void)
{
	pci_unregister_driver(&driver);
}
