/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What sums in vector registers do their own way with NEON. It saturates, rounds and makes
 * NaN canonical (INA_SIMD_FPCR) by itself, and FPSR collects what has happened. The
 * instructions that tell of it there are volatile, so that they stay between the looks
 * at it. Of sum_simd.c only.
 */
#ifndef _INA_SUM_NEON_H
#define _INA_SUM_NEON_H

#include <asm/sysreg.h>
#include <linux/bitops.h>

#define INA_FPSR_QC	BIT_ULL(27)	/* something was saturated */
#define INA_FPSR_IXC	BIT_ULL(4)	/* rounded */
#define INA_FPSR_IOC	BIT_ULL(0)	/* too large for an integer, or NaN */

/* What operations on floating point have left. */
static __always_inline void ina_simd_start(struct ina_simd *x)
{
	if (read_sysreg(fpsr))
		write_sysreg(0, fpsr);
}

static __always_inline u64 ina_simd_status(void)
{
	u64 status = read_sysreg(fpsr);

	if (unlikely(status & INA_FPSR_QC))
		write_sysreg(0, fpsr);
	return status;
}

static __always_inline u16 ina_simd_saturated(const struct ina_simd *x)
{
	return ina_simd_status() & INA_FPSR_QC ? INA_F_OVERFLOW : 0;
}

static __always_inline u16 ina_simd_flags(const struct ina_simd *x)
{
	u64 status = ina_simd_status();

	return (status & (INA_FPSR_QC | INA_FPSR_IOC) ? INA_F_OVERFLOW : 0) |
	       (status & INA_FPSR_IXC ? INA_F_INEXACT : 0);
}

static __always_inline ina_v32 ina_simd_s32(ina_v32 a, ina_v32 b,
					    struct ina_simd *x)
{
	asm volatile("sqadd %0.4s, %0.4s, %1.4s" : "+w" (a) : "w" (b));
	return a;
}

static __always_inline unsigned int ina_simd_s32_blocks(struct ina_simd *x,
							unsigned int count)
{
	return count;
}

static __always_inline ina_v64 ina_simd_s64(ina_v64 a, ina_v64 b,
					    struct ina_simd *x)
{
	asm volatile("sqadd %0.2d, %0.2d, %1.2d" : "+w" (a) : "w" (b));
	return a;
}

static __always_inline ina_v32 ina_simd_canonical(ina_v32 a)
{
	asm("fmax %0.4s, %0.4s, %0.4s" : "+w" (a));
	return a;
}

static __always_inline ina_v32 ina_simd_f32(ina_v32 a, ina_v32 b)
{
	return (ina_v32)((ina_vf32)a + (ina_vf32)b);
}

static __always_inline ina_v32 ina_simd_bf16(const void *src)
{
	ina_v32 value;

	asm("shll %0.4s, %1.4h, #16" : "=w" (value) : "w" (INA_AT(const ina_h16, src)));
	return value;
}

/* Of what does not fit, infinity and NaN: what counts is the sign. */
static __always_inline ina_v64 ina_simd_fixed_over(ina_hs32 src, ina_h32 over,
						   ina_v64 value)
{
	ina_vs64 sign = __builtin_convertvector(src, ina_vs64) >> 63;
	ina_vs64 wide = __builtin_convertvector((ina_hs32)over, ina_vs64);

	return (ina_v64)((wide & ((sign ^ S64_MAX) - sign)) |
			 (~wide & (ina_vs64)value));
}

/*
 * fp32 in units of 2^exponent, to the nearest, ties to even: a double holds it
 * exactly, whatever the exponent. What is too large is found by its bits.
 */
static __always_inline void ina_simd_fixed(struct ina_simd *x,
					   ina_v64 value[INA_WIDE])
{
	u32 limit = (u32)(63 + x->exponent + 127) << 23;
	ina_h32 src, over[INA_WIDE];
	ina_vf64 a;
	int i;

#pragma GCC unroll 2
	for (i = 0; i < INA_WIDE; i++) {
		src = INA_AT(ina_h32, x->src + 8 * i);
		over[i] = (ina_h32)((src & S32_MAX) >= limit);
		a = __builtin_convertvector((ina_hf32)src, ina_vf64) *
		    ina_simd_power(-x->exponent);
		asm volatile("fcvtns %0.2d, %1.2d" : "=w" (value[i]) : "w" (a));
	}
	if (likely(!(u64)(over[0] | over[1])))
		return;
	/* Of the least integer there is fcvtns says nothing. */
	write_sysreg(read_sysreg(fpsr) | INA_FPSR_IOC, fpsr);
	for (i = 0; i < INA_WIDE; i++)
		value[i] = ina_simd_fixed_over(INA_AT(ina_hs32, x->src + 8 * i),
					       over[i], value[i]);
}

/* A processor makes fp32 of 64 bits with one rounding, but one by one only. */
static __always_inline void ina_simd_fixed_finish_step(struct ina_simd *x)
{
	float unit = ina_simd_power(x->exponent);
	int i;

#pragma GCC unroll 4
	for (i = 0; i < 2 * INA_WIDE; i++)
		INA_AT(float, x->dst + 4 * i) = INA_AT(s64, x->acc + 8 * i) * unit;
}

#endif /* _INA_SUM_NEON_H */
