// SPDX-License-Identifier: GPL-2.0-only
/* probe: WBELL_API_CONTROL 1 */
/* Compiles everywhere: when it does not, no other probe can be believed. */
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/fs.h>
#include <linux/pci.h>
#include <linux/dma-buf.h>

int probe(struct vm_area_struct *vma);
int probe(struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_SHARED ? 0 : -EINVAL;
}
