/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an implementation of the arithmetic provides; sum.c chooses. Those of
 * sum_scalar.c may be called anywhere. Those of sum_simd.c use vector registers in
 * any instruction: only between ina_simd_begin() and ina_simd_end(), and never
 * inlined elsewhere.
 *
 * For all: acc is aligned to 8 bytes, src and dst to nothing; none of them
 * overlap, but what is finished may go to where it is. src and dst are
 * little-endian. Returned are INA_F_OVERFLOW and
 * INA_F_INEXACT.
 */
#ifndef _INA_SUM_IMPL_H
#define _INA_SUM_IMPL_H

#include <linux/types.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Workers' arrays are taken as little-endian"
#endif

/* Bits of an fp32. */
#define INA_F32_SIGN		0x80000000U
#define INA_F32_INF		0x7f800000U
#define INA_F32_NAN		0x7fc00000U	/* the only one in sums */
#define INA_F32_HIDDEN		0x00800000U	/* leading one of a normal */
#define INA_F32_FRACTION	0x007fffffU

/* An fp32 of exponent field e is a 24-bit integer times 2^(e - 150). */
#define INA_F32_BIAS		150
/* A 24-bit integer shifted that far does not fit in 63 bits. */
#define INA_FIXED_SHIFT_MAX	40
/* Shifted that far, it rounds to 0. */
#define INA_FIXED_SHIFT_ZERO	25

/*
 * s32_add, f32_add: acc += src. s32_store: acc = src. f32_store: the same, NaN canonical. bf16_*:
 * the same from bf16.
 * bf16_finish: fp32 sums rounded to bf16. fixed_store, fixed_add: fp32 to
 * multiples of 2^exponent. fixed_wide: acc += src, both 64 bits.
 * fixed_finish: 64-bit sums rounded to fp32.
 */
#define INA_SUM_IMPL(impl)						\
void ina_##impl##_s32_store(s32 *acc, const void *src,			\
			    unsigned int count);			\
u16 ina_##impl##_s32_add(s32 *acc, const void *src, unsigned int count);	\
void ina_##impl##_f32_store(u32 *acc, const void *src,			\
			    unsigned int count);			\
void ina_##impl##_f32_add(u32 *acc, const void *src, unsigned int count);	\
void ina_##impl##_bf16_store(u32 *acc, const void *src,			\
			     unsigned int count);			\
void ina_##impl##_bf16_add(u32 *acc, const void *src,			\
			   unsigned int count);				\
void ina_##impl##_bf16_finish(void *dst, const u32 *acc,		\
			      unsigned int count);			\
u16 ina_##impl##_fixed_store(s64 *acc, const void *src, int exponent,	\
			     unsigned int count);			\
u16 ina_##impl##_fixed_add(s64 *acc, const void *src, int exponent,	\
			   unsigned int count);				\
u16 ina_##impl##_fixed_wide(s64 *acc, const void *src,			\
			    unsigned int count);			\
void ina_##impl##_fixed_finish(void *dst, const s64 *acc, int exponent,	\
			       unsigned int count)

INA_SUM_IMPL(scalar);
INA_SUM_IMPL(simd);

#endif /* _INA_SUM_IMPL_H */
