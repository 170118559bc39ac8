/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.12 this header lived in asm/. */
#ifndef _INA_COMPAT_LINUX_UNALIGNED_H
#define _INA_COMPAT_LINUX_UNALIGNED_H

#include <linux/version.h>

#if KERNEL_VERSION(6, 12, 0) > LINUX_VERSION_CODE
#include <asm/unaligned.h>
#else
#include_next <linux/unaligned.h>
#endif

#endif /* _INA_COMPAT_LINUX_UNALIGNED_H */
