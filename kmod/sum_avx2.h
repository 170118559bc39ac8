/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What sums in vector registers do their own way with AVX2. Of sum_simd.c only.
 */
#ifndef _INA_SUM_AVX2_H
#define _INA_SUM_AVX2_H

/* Is the highest bit of any lane set? */
static __always_inline bool ina_simd_any32(ina_v32 a)
{
	return !__builtin_ia32_vtestzps256((ina_vf32)a, (ina_vf32)a);
}

static __always_inline bool ina_simd_any64(ina_v64 a)
{
	return !__builtin_ia32_vtestzpd256((ina_vf64)a, (ina_vf64)a);
}

static __always_inline void ina_simd_start(struct ina_simd *x)
{
}

static __always_inline u16 ina_simd_saturated(const struct ina_simd *x)
{
	return ina_simd_any32(x->over) ? INA_F_OVERFLOW : 0;
}

static __always_inline u16 ina_simd_flags(const struct ina_simd *x)
{
	ina_vs64 lost = (ina_vs64)x->lost;

	return ina_simd_saturated(x) |
	       (__builtin_ia32_ptestz256(lost, lost) ? 0 : INA_F_INEXACT);
}

static __always_inline ina_v32 ina_simd_select(ina_v32 mask, ina_v32 yes,
					       ina_v32 no)
{
	return (mask & yes) | (~mask & no);
}

static __always_inline ina_v32 ina_simd_s32(ina_v32 a, ina_v32 b,
					    struct ina_simd *x)
{
	ina_v32 sum = a + b, out = (a ^ sum) & (b ^ sum);

	if (likely(!ina_simd_any32(out)))
		return sum;
	x->over |= out;
	return ina_simd_select((ina_v32)((ina_vs32)out < 0),
			       (ina_v32)((ina_vs32)a >> 31) ^ S32_MAX, sum);
}

/* As many vectors as registers hold: one look whether any has overflowed. */
#define INA_MANY	4

static __always_inline void ina_simd_s32_many(struct ina_simd *x)
{
	ina_v32 a[INA_MANY], b[INA_MANY], sum[INA_MANY], out = (ina_v32){ 0 };
	int i;

#pragma GCC unroll 4
	for (i = 0; i < INA_MANY; i++) {
		a[i] = INA_AT(ina_v32, x->acc + i * INA_VEC);
		b[i] = INA_AT(ina_v32, x->src + i * INA_VEC);
		sum[i] = a[i] + b[i];
		out |= (a[i] ^ sum[i]) & (b[i] ^ sum[i]);
	}
	if (unlikely(ina_simd_any32(out))) {
#pragma GCC unroll 4
		for (i = 0; i < INA_MANY; i++)
			sum[i] = ina_simd_s32(a[i], b[i], x);
	}
#pragma GCC unroll 4
	for (i = 0; i < INA_MANY; i++)
		INA_AT(ina_v32, x->acc + i * INA_VEC) = sum[i];
	x->acc += INA_MANY * INA_VEC;
	x->src += INA_MANY * INA_VEC;
}

/* Return: how many of @count are left. */
static __always_inline unsigned int ina_simd_s32_blocks(struct ina_simd *x,
							unsigned int count)
{
	const unsigned int block = INA_MANY * INA_VEC / sizeof(s32);

	for (; count >= block; count -= block)
		ina_simd_s32_many(x);
	return count;
}

static __always_inline ina_v32 ina_simd_canonical(ina_v32 a)
{
	ina_vf32 value = (ina_vf32)a;

	return ina_simd_select((ina_v32)(value != value),
			       (ina_v32){ 0 } + INA_F32_NAN, a);
}

static __always_inline ina_v32 ina_simd_f32(ina_v32 a, ina_v32 b)
{
	return ina_simd_canonical((ina_v32)((ina_vf32)a + (ina_vf32)b));
}

static __always_inline ina_v64 ina_simd_s64(ina_v64 a, ina_v64 b,
					    struct ina_simd *x)
{
	ina_v64 sum = a + b, out = (a ^ sum) & (b ^ sum);
	ina_v64 mask = (ina_v64)((ina_vs64)out < 0);

	if (likely(!ina_simd_any64(out)))
		return sum;
	x->over |= (ina_v32)mask;
	return (mask & ((ina_v64)((ina_vs64)a < 0) ^ S64_MAX)) | (~mask & sum);
}

static __always_inline ina_v32 ina_simd_bf16(const void *src)
{
	return __builtin_convertvector(INA_AT(const ina_h16, src), ina_v32) << 16;
}

/*
 * fp32 in units of 2^exponent. A double less than 2^51 plus this is rounded to
 * an integer, which the low bits then are. So the upper half of 64 bits, and what
 * is left; that the halves are exact, and of even numbers, makes it one rounding.
 */
#define INA_SIMD_ROUND		6755399441055744.0	/* 1.5 * 2^52 */
#define INA_SIMD_ROUND_BITS	0x4338000000000000ULL

static __always_inline void ina_simd_fixed(struct ina_simd *x,
					   ina_v64 value[INA_WIDE])
{
	ina_vf64 a = __builtin_convertvector(INA_AT(ina_hf32, x->src), ina_vf64) *
		     ina_simd_power(-x->exponent);
	ina_vf64 high = a / 0x1p32 + INA_SIMD_ROUND;
	ina_vf64 rest = a - (high - INA_SIMD_ROUND) * 0x1p32;
	ina_vf64 low = rest + INA_SIMD_ROUND;
	ina_v64 lost = (ina_v64)(low - INA_SIMD_ROUND != rest), sign;
	/* Infinity and NaN, too. */
	ina_v64 over = ~(ina_v64)((ina_vf64)((ina_v64)a & S64_MAX) < 0x1p63);

	*value = ((ina_v64)high << 32) + ((ina_v64)low - INA_SIMD_ROUND_BITS);
	if (unlikely(ina_simd_any64(over))) {
		x->over |= (ina_v32)over;
		lost &= ~over;
		sign = (ina_v64)((ina_vs64)a < 0);
		*value = (over & ((sign ^ S64_MAX) - sign)) | (~over & *value);
	}
	x->lost |= (ina_v32)lost;
}

/*
 * 64 bits to the nearest fp32, rounded once. What has more than 45 bits loses
 * 11, which leave an odd last bit if they were not 0: 53 bits are exact as a
 * double, and the odd bit is too low to be more than a tie-breaker. A double
 * is put together of 2^84 + the high half and 2^52 + the low half.
 */
static __always_inline ina_hf32 ina_simd_f64(ina_v64 a, double unit)
{
	ina_v64 odd = (ina_v64)((a & 0x7ff) != 0) & 0x800, high, low;
	ina_v64 large = (ina_v64)(a + (1ULL << 44) >= 1ULL << 45);
	ina_vf64 sum;

	a = (large & ((a & ~0x7ffULL) | odd)) | (~large & a);
	high = (a >> 32) ^ 0x4530000080000000ULL;
	low = (a & 0xffffffff) | 0x4330000000000000ULL;
	sum = (ina_vf64)high - (0x1p84 + 0x1p63 + 0x1p52) + (ina_vf64)low;
	return __builtin_convertvector(sum * unit, ina_hf32);
}

static __always_inline void ina_simd_fixed_finish_step(struct ina_simd *x)
{
	INA_AT(ina_hf32, x->dst) = ina_simd_f64(INA_AT(ina_v64, x->acc),
						ina_simd_power(x->exponent));
}

#endif /* _INA_SUM_AVX2_H */
