/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stand-ins that let the pure files of kmod/ be compiled for user space, where
 * they are measured and checked against the processor's own floating point.
 * This one has all of it; the headers beside it only name it.
 */
#ifndef _INA_SHIM_TYPES_H
#define _INA_SHIM_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;

#define S32_MAX		INT32_MAX
#define S32_MIN		INT32_MIN
#define S64_MAX		INT64_MAX
#define S64_MIN		INT64_MIN

#define BIT_ULL(n)	(1ULL << (n))
#define static_assert(expr)	_Static_assert(expr, #expr)

#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define __aligned(x)	__attribute__((aligned(x)))
#define __packed	__attribute__((packed))
#define __uninitialized
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define SMP_CACHE_BYTES	64
/* gcc has none without vector registers. */
#if defined(__x86_64__)
#define INA_SHIM_VECTOR	target_clones("avx2", "default")
#define prefetchw(p)	asm volatile("prefetchw %0" :: "m" (*(const char *)(p)))
#else
#define INA_SHIM_VECTOR	/* the base has them */
#define prefetchw(p)	asm volatile("prfm pstl1keep, [%0]" :: "r" (p))
#endif

#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define check_add_overflow	__builtin_add_overflow

#define INA_SHIM_UNALIGNED(bits)					\
static inline u##bits get_unaligned_le##bits(const void *p)		\
{									\
	u##bits value;							\
									\
	memcpy(&value, p, sizeof(value));				\
	return value;							\
}									\
									\
static inline void put_unaligned_le##bits(u##bits value, void *p)	\
{									\
	memcpy(p, &value, sizeof(value));				\
}

INA_SHIM_UNALIGNED(16)
INA_SHIM_UNALIGNED(32)
INA_SHIM_UNALIGNED(64)

static inline const void *memchr_inv(const void *p, int c, size_t size)
{
	const u8 *at = p;

	for (; size; size--, at++)
		if (*at != c)
			return at;
	return NULL;
}

/* Random numbers. */
struct rnd_state {
	u64 x;
};

static inline void prandom_seed_state(struct rnd_state *rnd, u64 seed)
{
	rnd->x = seed;
}

static inline u32 prandom_u32_state(struct rnd_state *rnd)
{
	u64 z = rnd->x += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z >> 32;
}

#define get_random_u32()	1

/* The module. */
#define KBUILD_MODNAME				"sum"
#define module_param_named(name, value, type, perm)
#define MODULE_PARM_DESC(name, text)
#define DEFINE_STATIC_KEY_FALSE(name)		bool name
#define static_branch_enable(key)		(*(key) = true)
#define static_branch_likely(key)		(*(key))
#define pr_err(...)
#define pr_info(...)
#define local_bh_disable()
#define local_bh_enable()

/* Vector registers: always usable; the control register as a kernel leaves it. */
#define ARG_1			0,
#define SECOND(a, b, ...)	b
#define IS_1(x)			SECOND(x 1, 0)
#define IS_2(x)			IS_1(ARG_##x)
#define IS_ENABLED(config)	IS_2(config)

#define may_use_simd()		true

#if defined(__x86_64__)
#define CONFIG_X86_64		1
#define X86_FEATURE_AVX2	"avx2"
#define XFEATURE_MASK_SSE	0
#define XFEATURE_MASK_YMM	0
#define boot_cpu_has		__builtin_cpu_supports
#define cpu_has_xfeatures(mask, name)	true
#define kernel_fpu_begin()	asm volatile("ldmxcsr %0" :: "m" ((u32){ 0x1f80 }))
#define kernel_fpu_end()
#elif defined(__aarch64__)
#define CONFIG_ARM64		1
#define system_supports_fpsimd()	true
#define kernel_neon_begin(state)	((void)(state))
#define kernel_neon_end(state)		((void)(state))
#define read_sysreg(name)						\
	({ u64 __v; asm volatile("mrs %0, " #name : "=r" (__v)); __v; })
#define write_sysreg(v, name)						\
	asm volatile("msr " #name ", %0" :: "r" ((u64)(v)))
struct user_fpsimd_state {
	u64 unused;
};
#endif

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define clamp(x, lo, hi)	((x) < (lo) ? (lo) : (x) > (hi) ? (hi) : (x))

#endif /* _INA_SHIM_TYPES_H */
