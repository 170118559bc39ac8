/* SPDX-License-Identifier: GPL-2.0 */
/* vm_flags_set() and vm_flags_clear() came with 6.3, VMA locks with them. */
#ifndef _INA_COMPAT_LINUX_MM_H
#define _INA_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 3, 0) > LINUX_VERSION_CODE
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#endif /* _INA_COMPAT_LINUX_MM_H */
