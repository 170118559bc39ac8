/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Vector registers in the kernel: which there are, and from when to when they
 * may be used. Both architectures save what a task had in them, control register
 * included, and give it back before it runs on.
 */
#ifndef _INA_SIMD_H
#define _INA_SIMD_H

#include <asm/simd.h>
#include <linux/bitops.h>
#include <linux/kconfig.h>
#include <linux/prefetch.h>
#include <linux/types.h>

#if defined(CONFIG_X86_64)

#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

#define INA_SIMD_NAME	"avx2"

struct ina_simd_state {
};

static inline bool ina_simd_present(void)
{
	return boot_cpu_has(X86_FEATURE_AVX2) &&
	       cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
}

/* The kernel itself sets MXCSR to its default. */
static inline void ina_simd_begin(struct ina_simd_state *state)
{
	kernel_fpu_begin();
}

static inline void ina_simd_end(struct ina_simd_state *state)
{
	kernel_fpu_end();
}

#elif defined(CONFIG_ARM64)

#include <asm/cpufeature.h>
#include <asm/sysreg.h>

#define INA_SIMD_NAME	"neon"

struct ina_simd_state {
	struct user_fpsimd_state regs;
};

static inline bool ina_simd_present(void)
{
	return system_supports_fpsimd();
}

/* Into the second level: the first has other uses. Measured. */
static inline void ina_simd_prefetch(const void *p)
{
	asm volatile("prfm pstl2keep, [%0]" : : "r" (p));
}

#define INA_SIMD_FPCR	BIT_ULL(25)	/* to the nearest, denormals kept, one NaN only */

/* Both registers are still the interrupted task's. */
static inline void ina_simd_begin(struct ina_simd_state *state)
{
	kernel_neon_begin(&state->regs);
	if (read_sysreg(fpcr) != INA_SIMD_FPCR)
		write_sysreg(INA_SIMD_FPCR, fpcr);
	if (read_sysreg(fpsr))
		write_sysreg(0, fpsr);
}

static inline void ina_simd_end(struct ina_simd_state *state)
{
	kernel_neon_end(&state->regs);
}

#else

#define INA_SIMD_NAME	"none"

struct ina_simd_state {
};

static inline bool ina_simd_present(void)
{
	return false;
}

static inline void ina_simd_begin(struct ina_simd_state *state) {}
static inline void ina_simd_end(struct ina_simd_state *state) {}

#endif

#ifndef CONFIG_ARM64
static inline void ina_simd_prefetch(const void *p)
{
	prefetchw(p);
}
#endif

/*
 * Slots are locked between begin and end, which must not sleep: on PREEMPT_RT
 * their locks do.
 */
#define INA_SIMD_BUILT	((IS_ENABLED(CONFIG_X86_64) ||			\
			  IS_ENABLED(CONFIG_ARM64)) &&			\
			 !IS_ENABLED(CONFIG_PREEMPT_RT))

#endif /* _INA_SIMD_H */
