/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.12 this header lived in asm/. */
#ifndef _INA_COMPAT_LINUX_UNALIGNED_H
#define _INA_COMPAT_LINUX_UNALIGNED_H

#if __has_include_next(<linux/unaligned.h>)
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* _INA_COMPAT_LINUX_UNALIGNED_H */
