/* SPDX-License-Identifier: GPL-2.0 */
/* From 6.19 on, arm64 keeps the registers it interrupts in a caller's buffer. */
#ifndef _INA_COMPAT_ASM_SIMD_H
#define _INA_COMPAT_ASM_SIMD_H

#include_next <asm/simd.h>

#ifdef CONFIG_ARM64
#include <asm/neon.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 19, 0) > LINUX_VERSION_CODE
#define kernel_neon_begin(state)	({ (void)(state); kernel_neon_begin(); })
#define kernel_neon_end(state)		({ (void)(state); kernel_neon_end(); })
#endif
#endif

#endif /* _INA_COMPAT_ASM_SIMD_H */
