// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: offsets, VMAs, and how they are taken away.
 *
 * All files that can be mapped share one inode of a file system of our own,
 * whatever device node they were opened by; offsets are handed out for the
 * whole device.  So unmap_mapping_range() on the offsets of a map hits all of
 * its VMAs and no other.
 *
 * A map is filled either by mmap itself (GPU drivers look for present page
 * table entries and do not fault them in) or by faults (an endpoint's).  The
 * first has a hole: between our mmap handler and the insertion of the VMA no
 * zap finds it.  wbell_map_kill() closes it by passing through the mmap_lock
 * of the only address space that may map: that waits for the mmap to end.  A
 * map that faults fill has no hole, so its end waits for no other process.
 */
#include <linux/fs_context.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "api.h"
#include "range.h"
#include "trace.h"
#include "warpbell.h"

#define FS_MAGIC 0x57424c4c

static DEFINE_SPINLOCK(maps_lock);
static struct wbell_offsets offsets;
static struct vfsmount *fs_mount;
static struct inode *fs_inode;

/* ---- the inode ---- */

static int fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, FS_MAGIC) ? 0 : -ENOMEM;
}

/* No owner: the mount is the module's own, and must not keep it loaded. */
static struct file_system_type fs_type = {
	.name = "warpbell",
	.init_fs_context = fs_context,
	.kill_sb = kill_anon_super,
};

int wbell_map_setup(void)
{
	wbell_offsets_init(&offsets, 1, (unsigned long)U32_MAX + 1);
	fs_mount = kern_mount(&fs_type);
	if (IS_ERR(fs_mount))
		return PTR_ERR(fs_mount);
	fs_inode = alloc_anon_inode(fs_mount->mnt_sb);
	if (IS_ERR(fs_inode)) {
		kern_unmount(fs_mount);
		return PTR_ERR(fs_inode);
	}
	return 0;
}

void wbell_map_cleanup(void)
{
	iput(fs_inode);
	kern_unmount(fs_mount);
}

void wbell_map_adopt(struct file *file)
{
	file->f_mapping = fs_inode->i_mapping;
}

/* ---- life ---- */

static void map_free(struct kref *ref)
{
	struct wbell_map *map = container_of(ref, struct wbell_map, ref);

	spin_lock(&maps_lock);
	wbell_offsets_remove(&offsets, &map->span);
	spin_unlock(&maps_lock);
	trace_wbell_map(map->span.start, map->span.pages, WBELL_TRACE_FREE);
	wbell_counter_add(WBELL_COUNT_MAPS, -1);
	mmdrop(map->mm);
	if (map->dummy)
		__free_page(map->dummy);
	kfree(map);
}

static void map_put(struct wbell_map *map)
{
	kref_put(&map->ref, map_free);
}

static struct wbell_map *map_alloc(u32 flags)
{
	struct wbell_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	if (flags & WBELL_MAP_DUMMY) {
		map->dummy = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!map->dummy) {
			kfree(map);
			return NULL;
		}
	}
	kref_init(&map->ref);
	init_rwsem(&map->lock);
	INIT_LIST_HEAD(&map->link);
	map->flags = flags;
	return map;
}

/* Makes it known, unless the object has begun to end. */
static int map_add(struct wbell_map *map, struct wbell_obj *obj,
		   unsigned long pages)
{
	int rc = -ESTALE;

	spin_lock(&maps_lock);
	if (READ_ONCE(obj->state) == WBELL_LIVE)
		rc = wbell_offsets_add(&offsets, &map->span, pages);
	if (!rc)
		list_add_tail(&map->link, &obj->maps);
	spin_unlock(&maps_lock);
	return rc;
}

struct wbell_map *wbell_map_create(struct wbell_view *view,
				   struct wbell_obj *obj, u64 offset, u64 len,
				   u32 flags)
{
	struct wbell_map *map;
	int rc;

	rc = wbell_range_pages(offset, len, obj->bytes);
	if (rc)
		return ERR_PTR(rc);
	map = map_alloc(flags);
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->view = view;
	map->mm = view->mm;
	mmgrab(map->mm);
	map->first = offset >> PAGE_SHIFT;
	map->obj = obj;
	wbell_obj_get(obj);
	rc = map_add(map, obj, len >> PAGE_SHIFT);
	if (rc)
		goto put_obj;
	wbell_counter_add(WBELL_COUNT_MAPS, 1);
	trace_wbell_map(map->span.start, map->span.pages, WBELL_TRACE_MAKE);
	return map;

put_obj:
	wbell_obj_put(obj);
	mmdrop(map->mm);
	if (map->dummy)
		__free_page(map->dummy);
	kfree(map);
	return ERR_PTR(rc);
}

void wbell_map_kill(struct wbell_map *map)
{
	struct wbell_obj *obj;

	down_write(&map->lock);
	obj = map->obj;
	map->obj = NULL;
	up_write(&map->lock);
	spin_lock(&maps_lock);
	list_del_init(&map->link);
	spin_unlock(&maps_lock);
	if (!(map->flags & WBELL_MAP_LAZY)) {
		/* an mmap that has seen the object inserts its VMA first */
		mmap_read_lock(map->mm);
		mmap_read_unlock(map->mm);
	}
	unmap_mapping_range(fs_inode->i_mapping,
			    (loff_t)map->span.start << PAGE_SHIFT,
			    (loff_t)map->span.pages << PAGE_SHIFT, 1);
	trace_wbell_map(map->span.start, map->span.pages, WBELL_TRACE_KILL);
	if (obj)
		wbell_obj_put(obj);
}

void wbell_map_forget(struct wbell_map *map)
{
	spin_lock(&maps_lock);
	map->hidden = true;
	spin_unlock(&maps_lock);
	map_put(map);
}

void wbell_map_drop(struct wbell_map *map)
{
	wbell_map_kill(map);
	wbell_map_forget(map);
}

/* The maker's reference holds while a map is in the list. */
static struct wbell_map *map_first(struct wbell_obj *obj)
{
	struct wbell_map *map;

	spin_lock(&maps_lock);
	map = list_first_entry_or_null(&obj->maps, struct wbell_map, link);
	if (map) {
		kref_get(&map->ref);
		list_del_init(&map->link);
	}
	spin_unlock(&maps_lock);
	return map;
}

void wbell_map_end(struct wbell_obj *obj)
{
	struct wbell_map *map;

	/* obj->state was set before: who adds later sees it */
	while ((map = map_first(obj))) {
		wbell_map_kill(map);
		map_put(map);
	}
}

u64 wbell_map_cookie(const struct wbell_map *map)
{
	return (u64)map->span.start << PAGE_SHIFT;
}

u64 wbell_map_len(const struct wbell_map *map)
{
	return (u64)map->span.pages << PAGE_SHIFT;
}

/* ---- VMAs ---- */

static vm_fault_t fault_code(int rc)
{
	if (rc == -ENOMEM)
		return VM_FAULT_OOM;
	/* -EBUSY: another thread was here first */
	return rc && rc != -EBUSY ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
}

/* As many of a run as lie in one page of page tables, at most. */
static vm_fault_t fault_pfn(struct wbell_map *map, struct vm_fault *vmf,
			    unsigned long page)
{
	unsigned long addr = vmf->address & PAGE_MASK, pfn, run, i;
	struct vm_area_struct *vma = vmf->vma;
	vm_fault_t rc;

	if (map->obj->ops->pfn(map->obj, page, &pfn, &run))
		return VM_FAULT_SIGBUS;
	run = min3(run, (vma->vm_end - addr) >> PAGE_SHIFT,
		   PTRS_PER_PTE - pte_index(addr));
	rc = vmf_insert_pfn(vma, addr, pfn);
	for (i = 1; rc == VM_FAULT_NOPAGE && i < run; i++)
		if (vmf_insert_pfn(vma, addr + i * PAGE_SIZE, pfn + i) !=
		    VM_FAULT_NOPAGE)
			break;
	return rc;
}

static vm_fault_t fault_dummy(struct wbell_map *map, struct vm_fault *vmf)
{
	unsigned long addr = vmf->address & PAGE_MASK;

	if (!map->dummy)
		return VM_FAULT_SIGBUS;
	if (vmf->vma->vm_flags & VM_PFNMAP)
		return vmf_insert_pfn(vmf->vma, addr, page_to_pfn(map->dummy));
	return fault_code(vm_insert_page(vmf->vma, addr, map->dummy));
}

/* Entries are made under map->lock, so that a zap that follows finds them. */
static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct wbell_map *map = vmf->vma->vm_private_data;
	unsigned long page = map->first + vmf->pgoff - map->span.start;
	struct page **pages;
	vm_fault_t rc;

	down_read(&map->lock);
	if (!map->obj) {
		rc = fault_dummy(map, vmf);
	} else if (map->obj->ops->pages) {
		pages = map->obj->ops->pages(map->obj, page);
		rc = fault_code(vm_insert_page(
			vmf->vma, vmf->address & PAGE_MASK, *pages));
	} else {
		rc = fault_pfn(map, vmf, page);
	}
	up_read(&map->lock);
	return rc;
}

/* mremap moves a VMA by making another; fork does not copy it. */
static void map_open(struct vm_area_struct *vma)
{
	struct wbell_map *map = vma->vm_private_data;

	kref_get(&map->ref);
}

static void map_close(struct vm_area_struct *vma)
{
	map_put(vma->vm_private_data);
}

static int map_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct map_vm_ops = {
	.open = map_open,
	.close = map_close,
	.may_split = map_may_split,
	.fault = map_fault,
};

static void flags_change(struct vm_area_struct *vma, vm_flags_t set,
			 vm_flags_t clear)
{
#if WBELL_API_VM_FLAGS_SET == 2
	vm_flags_set(vma, set);
	vm_flags_clear(vma, clear);
#else
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
#endif
}

/* Exactly these pages, for this view; with a reference. */
static struct wbell_map *map_find(struct wbell_view *view, unsigned long page,
				  unsigned long pages)
{
	struct wbell_map *map = NULL;
	struct wbell_span *span;

	spin_lock(&maps_lock);
	span = wbell_offsets_find(&offsets, page);
	if (span) {
		map = container_of(span, struct wbell_map, span);
		if (map->hidden || map->view != view || span->start != page ||
		    span->pages != pages)
			map = NULL;
		else
			kref_get(&map->ref);
	}
	spin_unlock(&maps_lock);
	return map;
}

/*
 * Page by page.  remap_pfn_range() of a whole VMA leaves its memory type in the
 * care of the VMA (VM_PAT), and kernels before 6.16 or so then warn, and leak
 * it, when a zap meets a munmap; a single page takes the type that who owns
 * the memory has reserved.
 */
static int map_pfns(struct wbell_obj *obj, struct vm_area_struct *vma,
		    unsigned long first)
{
	unsigned long addr = vma->vm_start, pfn, run;
	int rc;

	while (addr < vma->vm_end) {
		rc = obj->ops->pfn(obj, first, &pfn, &run);
		if (rc)
			return rc;
		for (; run && addr < vma->vm_end; addr += PAGE_SIZE) {
			if (vmf_insert_pfn(vma, addr, pfn) != VM_FAULT_NOPAGE)
				return -ENOMEM;
			pfn++;
			run--;
			first++;
		}
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int map_fill(struct wbell_map *map, struct vm_area_struct *vma)
{
	vm_flags_t set = VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP;
	vm_flags_t clear = VM_MAYEXEC;
	unsigned long n = vma_pages(vma);
	struct wbell_obj *obj = map->obj;

	if (!(map->flags & WBELL_MAP_WRITE))
		clear |= VM_MAYWRITE;
	set |= obj->ops->pages ? VM_MIXEDMAP : VM_IO | VM_PFNMAP;
	flags_change(vma, set, clear);
	if (obj->memtype == WBELL_MEMTYPE_WC)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	else if (obj->memtype == WBELL_MEMTYPE_NC)
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	if (obj->memtype != WBELL_MEMTYPE_WB)
		vma->vm_page_prot = pgprot_decrypted(vma->vm_page_prot);
	if (map->flags & WBELL_MAP_LAZY)
		return 0;
	if (!obj->ops->pages)
		return map_pfns(obj, vma, map->first);
	return vm_insert_pages(vma, vma->vm_start,
			       obj->ops->pages(obj, map->first), &n);
}

int wbell_map_mmap(struct wbell_view *view, struct vm_area_struct *vma)
{
	struct wbell_map *map;
	int rc;

	if (current->mm != view->mm)
		return -EPERM;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	map = map_find(view, vma->vm_pgoff, vma_pages(vma));
	if (!map)
		return -EINVAL;
	rc = -EACCES;
	if (vma->vm_flags & VM_WRITE && !(map->flags & WBELL_MAP_WRITE))
		goto put;
	down_read(&map->lock);
	rc = map->obj ? map_fill(map, vma) : -ESTALE;
	up_read(&map->lock);
	if (rc)
		goto put;
	vma->vm_private_data = map;
	vma->vm_ops = &map_vm_ops;
	trace_wbell_map(map->span.start, map->span.pages, WBELL_TRACE_MMAP);
	return 0;

put:
	map_put(map);
	return rc;
}
