// SPDX-License-Identifier: GPL-2.0
/*
 * Sums in vector registers: AVX2 or NEON, whichever the compiler is told to
 * use for this file. It may use them for anything here, so that all of it runs
 * between ina_simd_begin() and ina_simd_end() only: leaf loops, and nothing
 * that another file could inline. Rounding is that of the control register,
 * which ina_simd_begin() has set.
 *
 * A step takes as many elements as fill a vector of sums. What is left of a
 * fragment goes through a copy padded with zeros, which set no flag.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <uapi/linux/ina_wire.h>

#include "sum_impl.h"

#ifdef __AVX2__
#define INA_VEC		32
#else
#define INA_VEC		16
#endif

/* Vectors in registers; those of half the size are widened. */
typedef u32 __attribute__((vector_size(INA_VEC))) ina_v32;
typedef s32 __attribute__((vector_size(INA_VEC))) ina_vs32;
typedef float __attribute__((vector_size(INA_VEC))) ina_vf32;
typedef u64 __attribute__((vector_size(INA_VEC))) ina_v64;
typedef s64 __attribute__((vector_size(INA_VEC))) ina_vs64;
typedef double __attribute__((vector_size(INA_VEC))) ina_vf64;
typedef float __attribute__((vector_size(INA_VEC / 2))) ina_hf32;
typedef u16 __attribute__((vector_size(INA_VEC / 2))) ina_h16;

#ifdef __CHECKER__	/* sparse takes them for scalars */
#define __builtin_convertvector(vector, type)	((type)(vector))
#endif

/* A vector anywhere in memory. */
#define INA_AT(type, p)							\
	(((struct { type v; } __packed __attribute__((may_alias)) *)(p))->v)

/**
 * struct ina_simd - what a loop works on
 * @acc: sums
 * @src: contribution, or NULL
 * @dst: where finished sums go, or NULL
 * @exponent: of fixed point
 * @over: lanes with the highest bit set have overflowed
 * @lost: lanes other than 0 have lost bits
 */
struct ina_simd {
	void *acc;
	const void *src;
	void *dst;
	int exponent;
	ina_v32 over;
	ina_v32 lost;
};

typedef void (*ina_simd_step)(struct ina_simd *x);

static __always_inline u16 ina_simd_flags(const struct ina_simd *x)
{
	const u32 *over = (const u32 *)&x->over, *lost = (const u32 *)&x->lost;
	u16 flags = 0;
	unsigned int i;

	for (i = 0; i < INA_VEC / 4; i++)
		flags |= (over[i] >> 31 ? INA_F_OVERFLOW : 0) |
			 (lost[i] ? INA_F_INEXACT : 0);
	return flags;
}

/* Sizes are those of an element; 0 if there is none. */
static __always_inline u16 ina_simd_run(ina_simd_step step, struct ina_simd *x,
					unsigned int acc, unsigned int src,
					unsigned int dst, unsigned int count)
{
	/* Where the kernel clears variables, not this one every time. */
	u8 tail[3][INA_VEC] __aligned(INA_VEC) __uninitialized;
	const unsigned int lanes = INA_VEC / acc;
	void *last_acc, *last_dst;

	for (; count >= lanes; count -= lanes) {
		step(x);
		x->acc += lanes * acc;
		x->src += lanes * src;
		x->dst += lanes * dst;
	}
	if (!count)
		return ina_simd_flags(x);
	memset(tail, 0, sizeof(tail));
	memcpy(tail[0], x->acc, count * acc);
	if (src)
		memcpy(tail[1], x->src, count * src);
	last_acc = x->acc;
	last_dst = x->dst;
	x->acc = tail[0];
	x->src = tail[1];
	x->dst = tail[2];
	step(x);
	if (src)
		memcpy(last_acc, tail[0], count * acc);
	if (dst)
		memcpy(last_dst, tail[2], count * dst);
	return ina_simd_flags(x);
}

/* Is the highest bit of any lane set? Where that takes long to tell: yes. */
static __always_inline bool ina_simd_any32(ina_v32 a)
{
#ifdef __AVX2__
	return !__builtin_ia32_vtestzps256((ina_vf32)a, (ina_vf32)a);
#else
	return true;
#endif
}

static __always_inline bool ina_simd_any64(ina_v64 a)
{
#ifdef __AVX2__
	return !__builtin_ia32_vtestzpd256((ina_vf64)a, (ina_vf64)a);
#else
	return true;
#endif
}

static __always_inline ina_v32 ina_simd_select(ina_v32 mask, ina_v32 yes,
					       ina_v32 no)
{
	return (mask & yes) | (~mask & no);
}

static __always_inline ina_v32 ina_simd_s32(ina_v32 a, ina_v32 b, ina_v32 *over)
{
	ina_v32 sum = a + b, out = (a ^ sum) & (b ^ sum);

	if (likely(!ina_simd_any32(out)))
		return sum;
	*over |= out;
	return ina_simd_select((ina_v32)((ina_vs32)out < 0),
			       (ina_v32)((ina_vs32)a >> 31) ^ S32_MAX, sum);
}

static __always_inline void ina_simd_s32_step(struct ina_simd *x)
{
	INA_AT(ina_v32, x->acc) = ina_simd_s32(INA_AT(ina_v32, x->acc),
					       INA_AT(ina_v32, x->src),
					       &x->over);
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
			sum[i] = ina_simd_s32(a[i], b[i], &x->over);
	}
#pragma GCC unroll 4
	for (i = 0; i < INA_MANY; i++)
		INA_AT(ina_v32, x->acc + i * INA_VEC) = sum[i];
	x->acc += INA_MANY * INA_VEC;
	x->src += INA_MANY * INA_VEC;
}

static __always_inline void ina_simd_s32_store_step(struct ina_simd *x)
{
	INA_AT(ina_v32, x->acc) = INA_AT(ina_v32, x->src);
}

void ina_simd_s32_store(s32 *acc, const void *src, unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src };

	ina_simd_run(ina_simd_s32_store_step, &x, 4, 4, 0, count);
}

u16 ina_simd_s32_add(s32 *acc, const void *src, unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src };

	for (; count >= INA_MANY * INA_VEC / 4; count -= INA_MANY * INA_VEC / 4)
		ina_simd_s32_many(&x);
	return ina_simd_run(ina_simd_s32_step, &x, 4, 4, 0, count);
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

static __always_inline void ina_simd_f32_store_step(struct ina_simd *x)
{
	INA_AT(ina_v32, x->acc) = ina_simd_canonical(INA_AT(ina_v32, x->src));
}

static __always_inline void ina_simd_f32_step(struct ina_simd *x)
{
	INA_AT(ina_v32, x->acc) = ina_simd_f32(INA_AT(ina_v32, x->acc),
					       INA_AT(ina_v32, x->src));
}

void ina_simd_f32_store(u32 *acc, const void *src, unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src };

	ina_simd_run(ina_simd_f32_store_step, &x, 4, 4, 0, count);
}

void ina_simd_f32_add(u32 *acc, const void *src, unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src };

	ina_simd_run(ina_simd_f32_step, &x, 4, 4, 0, count);
}

static __always_inline ina_v32 ina_simd_bf16(const void *src)
{
	return __builtin_convertvector(INA_AT(const ina_h16, src), ina_v32) << 16;
}

static __always_inline void ina_simd_bf16_store_step(struct ina_simd *x)
{
	INA_AT(ina_v32, x->acc) = ina_simd_canonical(ina_simd_bf16(x->src));
}

static __always_inline void ina_simd_bf16_step(struct ina_simd *x)
{
	INA_AT(ina_v32, x->acc) = ina_simd_f32(INA_AT(ina_v32, x->acc),
					       ina_simd_bf16(x->src));
}

static __always_inline void ina_simd_bf16_finish_step(struct ina_simd *x)
{
	ina_v32 sum = INA_AT(ina_v32, x->acc);

	sum = (sum + 0x7fff + (sum >> 16 & 1)) >> 16;
	INA_AT(ina_h16, x->dst) = __builtin_convertvector(sum, ina_h16);
}

void ina_simd_bf16_store(u32 *acc, const void *src, unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src };

	ina_simd_run(ina_simd_bf16_store_step, &x, 4, 2, 0, count);
}

void ina_simd_bf16_add(u32 *acc, const void *src, unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src };

	ina_simd_run(ina_simd_bf16_step, &x, 4, 2, 0, count);
}

void ina_simd_bf16_finish(void *dst, const u32 *acc, unsigned int count)
{
	struct ina_simd x = { .acc = (void *)acc, .dst = dst };

	ina_simd_run(ina_simd_bf16_finish_step, &x, 4, 0, 2, count);
}

/* 2^exponent */
static __always_inline double ina_simd_power(int exponent)
{
	union {
		u64 bits;
		double value;
	} power = { .bits = (u64)(1023 + exponent) << 52 };

	return power.value;
}

static __always_inline ina_v64 ina_simd_s64(ina_v64 a, ina_v64 b, ina_v32 *over)
{
	ina_v64 sum = a + b, out = (a ^ sum) & (b ^ sum);
	ina_v64 mask = (ina_v64)((ina_vs64)out < 0);

	if (likely(!ina_simd_any64(out)))
		return sum;
	*over |= (ina_v32)mask;
	return (mask & ((ina_v64)((ina_vs64)a < 0) ^ S64_MAX)) | (~mask & sum);
}

/*
 * fp32 in units of 2^exponent. A double less than 2^51 plus this is rounded to
 * an integer, which the low bits then are. So the upper half of 64 bits, and what
 * is left; that the halves are exact, and of even numbers, makes it one rounding.
 */
#define INA_SIMD_ROUND		6755399441055744.0	/* 1.5 * 2^52 */
#define INA_SIMD_ROUND_BITS	0x4338000000000000ULL

static __always_inline ina_v64 ina_simd_fixed(struct ina_simd *x)
{
	ina_vf64 a = __builtin_convertvector(INA_AT(ina_hf32, x->src), ina_vf64) *
		     ina_simd_power(-x->exponent);
	ina_vf64 high = a / 0x1p32 + INA_SIMD_ROUND;
	ina_vf64 rest = a - (high - INA_SIMD_ROUND) * 0x1p32;
	ina_vf64 low = rest + INA_SIMD_ROUND;
	ina_v64 value = ((ina_v64)high << 32) +
			((ina_v64)low - INA_SIMD_ROUND_BITS);
	ina_v64 lost = (ina_v64)(low - INA_SIMD_ROUND != rest), sign;
	/* Infinity and NaN, too. */
	ina_v64 over = ~(ina_v64)((ina_vf64)((ina_v64)a & S64_MAX) < 0x1p63);

	if (unlikely(ina_simd_any64(over))) {
		x->over |= (ina_v32)over;
		lost &= ~over;
		sign = (ina_v64)((ina_vs64)a < 0);
		value = (over & ((sign ^ S64_MAX) - sign)) | (~over & value);
	}
	x->lost |= (ina_v32)lost;
	return value;
}

static __always_inline void ina_simd_fixed_store_step(struct ina_simd *x)
{
	INA_AT(ina_v64, x->acc) = ina_simd_fixed(x);
}

static __always_inline void ina_simd_fixed_step(struct ina_simd *x)
{
	INA_AT(ina_v64, x->acc) = ina_simd_s64(INA_AT(ina_v64, x->acc),
					       ina_simd_fixed(x), &x->over);
}

static __always_inline void ina_simd_fixed_wide_step(struct ina_simd *x)
{
	INA_AT(ina_v64, x->acc) = ina_simd_s64(INA_AT(ina_v64, x->acc),
					       INA_AT(ina_v64, x->src),
					       &x->over);
}

u16 ina_simd_fixed_store(s64 *acc, const void *src, int exponent,
			 unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src, .exponent = exponent };

	return ina_simd_run(ina_simd_fixed_store_step, &x, 8, 4, 0, count);
}

u16 ina_simd_fixed_add(s64 *acc, const void *src, int exponent,
		       unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src, .exponent = exponent };

	return ina_simd_run(ina_simd_fixed_step, &x, 8, 4, 0, count);
}

u16 ina_simd_fixed_wide(s64 *acc, const void *src, unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src };

	return ina_simd_run(ina_simd_fixed_wide_step, &x, 8, 8, 0, count);
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

void ina_simd_fixed_finish(void *dst, const s64 *acc, int exponent,
			   unsigned int count)
{
	struct ina_simd x = {
		.acc = (void *)acc, .dst = dst, .exponent = exponent,
	};

	ina_simd_run(ina_simd_fixed_finish_step, &x, 8, 0, 4, count);
}
