// SPDX-License-Identifier: GPL-2.0-only
/* probe: WBELL_API_VM_FLAGS_SET 2 */
/*
 * 2: vm_flags_set() is there (from 6.3); 1: it is not, a name of our own
 * does not clash, and vm_flags can be written.
 */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);

#if TRY == 1
static void vm_flags_set(int own)
{
}

void probe(struct vm_area_struct *vma)
{
	vm_flags_set(1);
	vma->vm_flags |= VM_DONTDUMP;
}
#else
void probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYEXEC);
}
#endif
