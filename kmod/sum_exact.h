/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second way to add and round, for tests: numbers in full, as integers of 320
 * bits in units of the smallest fp32. Slow, and without a thought in common with
 * what it checks.
 */
#ifndef _INA_SUM_EXACT_H
#define _INA_SUM_EXACT_H

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <uapi/linux/ina_wire.h>

#include "sum.h"

#define SUM_EXACT_LIMBS	10
#define SUM_EXACT_UNIT	149	/* bit 0 is 2^-149 */
#define SUM_EXACT_INF	(128 + SUM_EXACT_UNIT)

/* Two's complement, low limb first. */
struct sum_exact {
	u32 limb[SUM_EXACT_LIMBS];
};

/* x += value * 2^bit */
static inline void sum_exact_plus(struct sum_exact *x, u64 value,
				  unsigned int bit)
{
	unsigned int i = bit / 32, shift = bit % 32;
	u64 high = value >> 1 >> (63 - shift), carry = 0;

	value <<= shift;
	for (; i < SUM_EXACT_LIMBS; i++) {
		carry += (u64)x->limb[i] + (u32)value;
		x->limb[i] = carry;
		carry >>= 32;
		value = value >> 32 | high << 32;
		high >>= 32;
	}
}

static inline void sum_exact_negate(struct sum_exact *x)
{
	unsigned int i;

	for (i = 0; i < SUM_EXACT_LIMBS; i++)
		x->limb[i] = ~x->limb[i];
	sum_exact_plus(x, 1, 0);
}

static inline bool sum_exact_bit(const struct sum_exact *x, unsigned int bit)
{
	return x->limb[bit / 32] >> bit % 32 & 1;
}

static inline bool sum_exact_negative(const struct sum_exact *x)
{
	return sum_exact_bit(x, SUM_EXACT_LIMBS * 32 - 1);
}

/* Return: the highest bit of what is not negative, -1 for 0. */
static inline int sum_exact_top(const struct sum_exact *x)
{
	int bit = SUM_EXACT_LIMBS * 32 - 1;

	while (bit >= 0 && !sum_exact_bit(x, bit))
		bit--;
	return bit;
}

/* 64 bits from this one on. */
static inline u64 sum_exact_from(const struct sum_exact *x, unsigned int bit)
{
	u64 value = 0;
	unsigned int i;

	for (i = 0; i < 64 && bit + i < SUM_EXACT_LIMBS * 32; i++)
		value |= (u64)sum_exact_bit(x, bit + i) << i;
	return value;
}

/*
 * What is not negative to a multiple of 2^bit, ties to even.
 * Return: true if it was none.
 */
static inline bool sum_exact_round(struct sum_exact *x, unsigned int bit)
{
	bool half = bit && sum_exact_bit(x, bit - 1), odd, low = false;
	unsigned int i;

	odd = sum_exact_bit(x, bit);
	for (i = 0; i < bit; i++) {
		low |= i + 1 < bit && sum_exact_bit(x, i);
		x->limb[i / 32] &= ~(1U << i % 32);
	}
	if (half && (low || odd))
		sum_exact_plus(x, 1, bit);
	return half || low;
}

/* Not for infinity and NaN. */
static inline struct sum_exact sum_exact_of(u32 f32)
{
	u32 e = f32 >> 23 & 0xff;
	struct sum_exact x = {};

	if (e)
		sum_exact_plus(&x, (f32 & 0x7fffff) + 0x800000, e - 1);
	else
		sum_exact_plus(&x, f32 & 0x7fffff, 0);
	if (f32 >> 31)
		sum_exact_negate(&x);
	return x;
}

/* To fp32, or with @bits = 8 to a bf16 in the upper half of one. */
static inline u32 sum_exact_f32(struct sum_exact x, int bits)
{
	u32 sign = sum_exact_negative(&x) ? 0x80000000 : 0;
	int top;

	if (sign)
		sum_exact_negate(&x);
	sum_exact_round(&x, max(sum_exact_top(&x) - bits + 1, 24 - bits));
	top = sum_exact_top(&x);
	if (top >= SUM_EXACT_INF)
		return sign | 0x7f800000;
	if (top < 23)
		return sign | x.limb[0];
	return sign | (u32)(top - 22) << 23 |
	       (sum_exact_from(&x, top - 23) & 0x7fffff);
}

static inline bool sum_exact_is_nan(u32 a)
{
	return (a & 0x7fffffff) > 0x7f800000;
}

static inline bool sum_exact_is_inf(u32 a)
{
	return (a & 0x7fffffff) == 0x7f800000;
}

static inline u32 sum_exact_f32_add(u32 a, u32 b)
{
	struct sum_exact x, y;
	unsigned int i;

	if (sum_exact_is_nan(a) || sum_exact_is_nan(b) ||
	    (sum_exact_is_inf(a) && sum_exact_is_inf(b) && a != b))
		return 0x7fc00000;
	if (sum_exact_is_inf(a) || sum_exact_is_inf(b))
		return sum_exact_is_inf(a) ? a : b;
	if (a == 0x80000000 && b == 0x80000000)
		return a;
	x = sum_exact_of(a);
	y = sum_exact_of(b);
	for (i = 0; i < SUM_EXACT_LIMBS; i++)
		sum_exact_plus(&x, y.limb[i], 32 * i);
	return sum_exact_f32(x, 24);
}

static inline u16 sum_exact_bf16(u32 a)
{
	if (sum_exact_is_nan(a) || sum_exact_is_inf(a) || a == 0x80000000)
		return a >> 16;
	return sum_exact_f32(sum_exact_of(a), 8) >> 16;
}

/* In units of 2^exponent. */
static inline s64 sum_exact_fixed(u32 a, int exponent, u16 *flags)
{
	bool negative = a >> 31;
	struct sum_exact x;
	u64 value = S64_MAX;

	if (!sum_exact_is_nan(a) && !sum_exact_is_inf(a)) {
		x = sum_exact_of(a & 0x7fffffff);
		if (sum_exact_round(&x, exponent + SUM_EXACT_UNIT))
			*flags |= INA_F_INEXACT;
		if (sum_exact_top(&x) < 63 + exponent + SUM_EXACT_UNIT)
			value = sum_exact_from(&x, exponent + SUM_EXACT_UNIT);
		else
			*flags |= INA_F_OVERFLOW;
	} else {
		*flags |= INA_F_OVERFLOW;
	}
	return negative ? -(s64)value : (s64)value;
}

static inline u32 sum_exact_fixed_f32(s64 sum, int exponent)
{
	struct sum_exact x = {};

	sum_exact_plus(&x, sum < 0 ? -(u64)sum : (u64)sum,
		       exponent + SUM_EXACT_UNIT);
	if (sum < 0)
		sum_exact_negate(&x);
	return sum_exact_f32(x, 24);
}

/* A contribution or, if @wide, a partial sum, as it is in a slot. */
static inline u64 sum_exact_widen(const struct ina_sum_type *type, bool wide,
				  u64 a, u16 *flags)
{
	if (type->dtype == INA_DTYPE_FIXED)
		return wide ? a : (u64)sum_exact_fixed(a, type->exponent,
						       flags);
	if (type->dtype == INA_DTYPE_BF16 && !wide)
		a <<= 16;
	if (type->dtype != INA_DTYPE_INT32 && sum_exact_is_nan(a))
		return 0x7fc00000;
	return a;
}

/* The sum of two elements of slots. */
static inline u64 sum_exact_add(const struct ina_sum_type *type, u64 a, u64 b,
				u16 *flags)
{
	s64 sum;

	if (type->dtype == INA_DTYPE_FIXED) {
		/* Halves cannot overflow. */
		sum = ((s64)a >> 1) + ((s64)b >> 1) + (s64)(a & b & 1);
		if (sum >= S64_MIN / 2 && sum <= S64_MAX / 2)
			return a + b;
		*flags |= INA_F_OVERFLOW;
		return sum < 0 ? S64_MIN : S64_MAX;
	}
	if (type->dtype != INA_DTYPE_INT32)
		return sum_exact_f32_add(a, b);
	sum = (s64)(s32)a + (s32)b;
	if (sum == (s32)sum)
		return (u32)sum;
	*flags |= INA_F_OVERFLOW;
	return (u32)(sum < 0 ? S32_MIN : S32_MAX);
}

/* An element of a result. */
static inline u64 sum_exact_finish(const struct ina_sum_type *type, u64 a)
{
	switch (type->dtype) {
	case INA_DTYPE_BF16:
		return sum_exact_bf16(a);
	case INA_DTYPE_FIXED:
		return sum_exact_fixed_f32(a, type->exponent);
	default:
		return a;
	}
}

#endif /* _INA_SUM_EXACT_H */
