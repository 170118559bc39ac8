/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.12 this header lived in asm/. */
#ifndef _INA_COMPAT_LINUX_UNALIGNED_H
#define _INA_COMPAT_LINUX_UNALIGNED_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include_next <linux/unaligned.h>
#endif

#endif /* _INA_COMPAT_LINUX_UNALIGNED_H */
