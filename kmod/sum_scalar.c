// SPDX-License-Identifier: GPL-2.0
/*
 * Sums in general registers only: where vector registers may not be used, and
 * what every other implementation must equal bit for bit. Any context.
 *
 * Where an element takes but a few instructions, the loop around them takes as
 * many. So loops are unrolled, and step through the source: an offset of 4 * i,
 * which may wrap, would be computed anew for each element.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <uapi/linux/ina_wire.h>

#include "sum_impl.h"

static __always_inline void ina_scalar_s32(s32 *acc, const u8 *src, u16 *flags)
{
	s32 sum;

	if (unlikely(check_add_overflow(*acc, (s32)get_unaligned_le32(src),
					&sum))) {
		sum = *acc < 0 ? S32_MIN : S32_MAX;
		*flags = INA_F_OVERFLOW;
	}
	*acc = sum;
}

void ina_scalar_s32_store(s32 *acc, const void *src, unsigned int count)
{
	memcpy(acc, src, count * sizeof(*acc));
}

u16 ina_scalar_s32_add(s32 *acc, const void *src, unsigned int count)
{
	const u8 *p = src;
	unsigned int i;
	u16 flags = 0;

#pragma GCC unroll 8
	for (i = 0; i < count; i++, p += 4)
		ina_scalar_s32(acc + i, p, &flags);
	return flags;
}

static __always_inline u32 ina_scalar_f32_canonical(u32 a)
{
	return (a & ~INA_F32_SIGN) > INA_F32_INF ? INA_F32_NAN : a;
}

/* Infinity or NaN, the larger of two; its sum with the smaller. */
static u32 ina_scalar_f32_special(u32 a, u32 b)
{
	if ((a ^ b) == INA_F32_SIGN)	/* infinity less infinity */
		return INA_F32_NAN;
	return ina_scalar_f32_canonical(a);
}

/*
 * The sum to the nearest, ties to even. Both are taken as 24-bit integers with
 * 33 bits of space below; the smaller is shifted by the difference of the
 * exponents. Beyond 32 that loses nothing that could change the rounding: what
 * remains is not 0 and far below half a unit.
 */
static __always_inline u32 ina_scalar_f32(u32 a, u32 b)
{
	u32 swap = a << 1 < b << 1 ? a ^ b : 0, big = a ^ swap, small = b ^ swap;
	u32 ea = big >> 23 & 0xff, eb = small >> 23 & 0xff;
	u32 sign = big & INA_F32_SIGN;
	u64 ma = big & INA_F32_FRACTION, mb = small & INA_F32_FRACTION;
	int shift;

	if (unlikely(ea == 0xff))
		return ina_scalar_f32_special(big, small);
	if (likely(eb)) {
		ma |= INA_F32_HIDDEN;
		mb |= INA_F32_HIDDEN;
	} else {	/* denormals: no leading one and the exponent 1 */
		ma |= ea ? INA_F32_HIDDEN : 0;
		ea += !ea;
		eb = 1;
	}
	mb = mb << 32 >> min(ea - eb, 32U);
	ma = (a ^ b) >> 31 ? (ma << 32) - mb : (ma << 32) + mb;
	if (unlikely(!ma))
		return a & b & INA_F32_SIGN;
	/* The leading one to bit 56, but no further than a denormal allows. */
	shift = min_t(int, __builtin_clzll(ma) - 8, ea - 1);
	ma <<= shift + 1;
	ma += 0xffffffffU + (ma >> 33 & 1);
	return sign | min_t(u32, ((ea - shift - 1) << 23) + (ma >> 33),
			    INA_F32_INF);
}

void ina_scalar_f32_store(u32 *acc, const void *src, unsigned int count)
{
	const u8 *p = src;
	unsigned int i;

#pragma GCC unroll 8
	for (i = 0; i < count; i++, p += 4)
		acc[i] = ina_scalar_f32_canonical(get_unaligned_le32(p));
}

void ina_scalar_f32_add(u32 *acc, const void *src, unsigned int count)
{
	const u8 *p = src;
	unsigned int i;

	for (i = 0; i < count; i++)
		acc[i] = ina_scalar_f32(acc[i], get_unaligned_le32(p + 4 * i));
}

static __always_inline u32 ina_scalar_bf16(const u8 *src)
{
	return (u32)get_unaligned_le16(src) << 16;
}

void ina_scalar_bf16_store(u32 *acc, const void *src, unsigned int count)
{
	unsigned int i;

#pragma GCC unroll 8
	for (i = 0; i < count; i++, src += 2)
		acc[i] = ina_scalar_f32_canonical(ina_scalar_bf16(src));
}

void ina_scalar_bf16_add(u32 *acc, const void *src, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		acc[i] = ina_scalar_f32(acc[i], ina_scalar_bf16(src + 2 * i));
}

/* To the nearest, ties to even; a canonical NaN stays one. */
void ina_scalar_bf16_finish(void *dst, const u32 *acc, unsigned int count)
{
	unsigned int i;

#pragma GCC unroll 8
	for (i = 0; i < count; i++, dst += 2)
		put_unaligned_le16((acc[i] + 0x7fff + (acc[i] >> 16 & 1)) >> 16, dst);
}

static __always_inline s64 ina_scalar_s64(s64 a, s64 b, u16 *flags)
{
	s64 sum;

	if (likely(!check_add_overflow(a, b, &sum)))
		return sum;
	*flags |= INA_F_OVERFLOW;
	return a < 0 ? S64_MIN : S64_MAX;
}

/* An fp32 in units of 2^exponent, to the nearest, ties to even. */
static __always_inline s64 ina_scalar_fixed(u32 a, int exponent, u16 *flags)
{
	u32 e = a >> 23 & 0xff, m = a & INA_F32_FRACTION, q, rest;
	int shift = (int)max(e, 1U) - INA_F32_BIAS - exponent;
	s64 value;

	m |= e ? INA_F32_HIDDEN : 0;
	if (shift >= INA_FIXED_SHIFT_MAX) {	/* infinity and NaN, too */
		*flags |= INA_F_OVERFLOW;
		value = S64_MAX;
	} else if (shift >= 0) {
		value = (u64)m << shift;
	} else {
		shift = min(-shift, INA_FIXED_SHIFT_ZERO);
		q = m >> shift;
		rest = m - (q << shift);
		if (rest)
			*flags |= INA_F_INEXACT;
		value = q + (2 * rest + (q & 1) > 1U << shift);
	}
	return a & INA_F32_SIGN ? -value : value;
}

u16 ina_scalar_fixed_store(s64 *acc, const void *src, int exponent,
			   unsigned int count)
{
	const u8 *p = src;
	u16 flags = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		acc[i] = ina_scalar_fixed(get_unaligned_le32(p + 4 * i), exponent,
					  &flags);
	return flags;
}

u16 ina_scalar_fixed_add(s64 *acc, const void *src, int exponent,
			 unsigned int count)
{
	const u8 *p = src;
	u16 flags = 0;
	unsigned int i;
	s64 value;

	for (i = 0; i < count; i++) {
		value = ina_scalar_fixed(get_unaligned_le32(p + 4 * i), exponent,
					 &flags);
		acc[i] = ina_scalar_s64(acc[i], value, &flags);
	}
	return flags;
}

u16 ina_scalar_fixed_wide(s64 *acc, const void *src, unsigned int count)
{
	const u8 *p = src;
	u16 flags = 0;
	unsigned int i;

#pragma GCC unroll 8
	for (i = 0; i < count; i++, p += 8)
		acc[i] = ina_scalar_s64(acc[i], get_unaligned_le64(p), &flags);
	return flags;
}

/*
 * A sum in units of 2^exponent as fp32. It is a multiple of the smallest
 * denormal and below the largest fp32: see INA_FIXED_EXPONENT_MIN and MAX.
 */
static __always_inline u32 ina_scalar_fixed_f32(s64 sum, int exponent)
{
	u64 negative = sum >> 63, m = ((u64)sum ^ negative) - negative;
	u32 sign = negative & INA_F32_SIGN;
	int shift, e;

	if (!m)
		return 0;
	shift = __builtin_clzll(m);
	e = 63 - 23 - shift + INA_F32_BIAS + exponent;
	if (e <= 0)	/* a denormal: below 24 bits, so exact */
		return sign | (u32)m << (exponent + INA_F32_BIAS - 1);
	m <<= shift;
	m = (m >> 40) + ((m & (BIT_ULL(40) - 1)) + (m >> 40 & 1) > BIT_ULL(39));
	return sign | ((((u32)e - 1) << 23) + (u32)m);
}

void ina_scalar_fixed_finish(void *dst, const s64 *acc, int exponent,
			     unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		put_unaligned_le32(ina_scalar_fixed_f32(acc[i], exponent),
				   dst + 4 * i);
}
