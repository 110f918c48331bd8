// SPDX-License-Identifier: BSD-2-Clause
/*
 * nvidia.ko as far as nv-p2p.h goes, without a GPU: GPU memory is the region
 * [base, base + size), GPU address va is its byte va % size.  Errors,
 * alignment and locking are the driver's: it unlinks a page table and calls
 * back under one lock, which put_pages takes as well, and frees the table
 * when the callback has returned.
 *
 * debugfs nvidia/free takes "0xVA": the owner of that address has freed it.
 * debugfs nvidia/live counts page tables that are out.
 */
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <nv-p2p.h>

#ifndef EXPORT
#define EXPORT EXPORT_SYMBOL_GPL
#endif

#define UNIT 0x10000

static ulong base, size;
static uint version = NVIDIA_P2P_PAGE_TABLE_VERSION;
static bool mig, early, scatter;
module_param(base, ulong, 0444);
MODULE_PARM_DESC(base, "physical address of the memory");
module_param(size, ulong, 0444);
MODULE_PARM_DESC(size, "its bytes");
module_param(version, uint, 0644);
MODULE_PARM_DESC(version, "of page tables");
module_param(mig, bool, 0644);
MODULE_PARM_DESC(mig, "no persistent pages");
module_param(early, bool, 0644);
MODULE_PARM_DESC(early, "memory is freed before get_pages has returned");
module_param(scatter, bool, 0644);
MODULE_PARM_DESC(scatter, "pages of a range run backwards");

struct table {
	struct nvidia_p2p_page_table p;
	struct list_head link;
	u64 va, len;
	void (*free)(void *data); /* NULL: persistent */
	void *data;
	struct nvidia_p2p_page page[];
};

static DEFINE_MUTEX(rm_lock);
static LIST_HEAD(tables);
static struct dentry *dir;

static void table_free(struct table *t)
{
	/* who still reads it shall see that */
	memset(t->p.pages, 0xdb, t->p.entries * sizeof(*t->p.pages));
	kfree(t->p.pages);
	memset(t, 0xdb, sizeof(*t));
	kvfree(t);
}

static struct table *table_make(u64 va, u64 len)
{
	u32 i, at, n = len / UNIT;
	struct table *t;

	t = kvzalloc(struct_size(t, page, n), GFP_KERNEL);
	if (!t)
		return NULL;
	t->p.pages = kcalloc(n, sizeof(*t->p.pages), GFP_KERNEL);
	if (!t->p.pages) {
		kvfree(t);
		return NULL;
	}
	t->va = va;
	t->len = len;
	t->p.version = version;
	t->p.page_size = NVIDIA_P2P_PAGE_SIZE_64KB;
	t->p.entries = n;
	for (i = 0; i < n; i++) {
		at = scatter ? n - 1 - i : i;
		t->page[i].physical_address =
			base + (va + (u64)at * UNIT) % size;
		t->p.pages[i] = &t->page[i];
	}
	return t;
}

static void table_call_back(struct table *t)
{
	list_del(&t->link);
	t->free(t->data);
	table_free(t);
}

static int get(u64 va, u64 len, struct nvidia_p2p_page_table **out,
	       void (*free)(void *data), void *data)
{
	struct table *t;

	if (!len || (va | len) & (UNIT - 1) || len > size)
		return -EINVAL;
	t = table_make(va, len);
	if (!t)
		return -ENOMEM;
	t->free = free;
	t->data = data;
	*out = &t->p;
	mutex_lock(&rm_lock);
	list_add(&t->link, &tables);
	if (early && free)
		table_call_back(t);
	mutex_unlock(&rm_lock);
	return 0;
}

static int put(u64 va, struct nvidia_p2p_page_table *p, bool persistent)
{
	struct table *t;
	int rc = persistent ? -EINVAL : 0;

	mutex_lock(&rm_lock);
	list_for_each_entry(t, &tables, link)
	{
		/* cppcheck-suppress uninitvar */
		if (&t->p != p || t->va != va || !t->free != persistent)
			continue;
		list_del(&t->link);
		table_free(t);
		rc = 0;
		break;
	}
	mutex_unlock(&rm_lock);
	return rc;
}

int nvidia_p2p_get_pages(uint64_t p2p_token, uint32_t va_space,
			 uint64_t virtual_address, uint64_t length,
			 struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data)
{
	if (!free_callback)
		return -EINVAL;
	return get(virtual_address, length, page_table, free_callback, data);
}
EXPORT(nvidia_p2p_get_pages);

int nvidia_p2p_put_pages(uint64_t p2p_token, uint32_t va_space,
			 uint64_t virtual_address,
			 struct nvidia_p2p_page_table *page_table)
{
	return put(virtual_address, page_table, false);
}
EXPORT(nvidia_p2p_put_pages);

int nvidia_p2p_get_pages_persistent(uint64_t virtual_address, uint64_t length,
				    struct nvidia_p2p_page_table **page_table,
				    uint32_t flags)
{
	if (flags)
		return -EINVAL;
	if (mig)
		return -ENOTSUPP;
	return get(virtual_address, length, page_table, NULL, NULL);
}
EXPORT(nvidia_p2p_get_pages_persistent);

int nvidia_p2p_put_pages_persistent(uint64_t virtual_address,
				    struct nvidia_p2p_page_table *page_table,
				    uint32_t flags)
{
	return flags ? -EINVAL : put(virtual_address, page_table, true);
}
EXPORT(nvidia_p2p_put_pages_persistent);

int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table)
{
	return 0;
}
EXPORT(nvidia_p2p_free_page_table);

/* ---- the test's side ---- */

static ssize_t free_write(struct file *file, const char __user *text, size_t n,
			  loff_t *pos)
{
	struct table *t, *next;
	u64 va;
	int rc;

	rc = kstrtou64_from_user(text, n, 0, &va);
	if (rc)
		return rc;
	mutex_lock(&rm_lock);
	list_for_each_entry_safe(t, next, &tables, link)
	{
		/* cppcheck-suppress uninitvar */
		if (t->free && va >= t->va && va - t->va < t->len)
			table_call_back(t);
	}
	mutex_unlock(&rm_lock);
	return n;
}

static const struct file_operations free_fops = {
	.owner = THIS_MODULE,
	.write = free_write,
};

static int live_show(struct seq_file *s, void *v)
{
	struct table *t;
	int n = 0;

	mutex_lock(&rm_lock);
	list_for_each_entry(t, &tables, link) n++;
	mutex_unlock(&rm_lock);
	seq_printf(s, "%d\n", n);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(live);

static int __init nvidia_init(void)
{
	if (!base || !size || (base | size) & (UNIT - 1))
		return -EINVAL;
	dir = debugfs_create_dir("nvidia", NULL);
	debugfs_create_file("free", 0200, dir, NULL, &free_fops);
	debugfs_create_file("live", 0400, dir, NULL, &live_fops);
	return 0;
}

static void __exit nvidia_exit(void)
{
	debugfs_remove(dir);
	WARN_ON(!list_empty(&tables));
}

module_init(nvidia_init);
module_exit(nvidia_exit);

MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("stand-in for nvidia.ko, for tests");
