// SPDX-License-Identifier: GPL-2.0
/*
 * Sums in vector registers: AVX2 or NEON. The compiler may use them for anything
 * here, so that all of it runs between ina_simd_begin() and ina_simd_end() only:
 * leaf loops, and nothing that another file could inline. Rounding is that of the
 * control register, which ina_simd_begin() has set.
 *
 * A step takes as many elements as fill a vector of sums, or two. What is left of a
 * fragment goes through a copy padded with zeros, which set no flag.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <uapi/linux/ina_wire.h>

#include "sum_impl.h"

#ifdef __x86_64__
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
typedef u32 __attribute__((vector_size(INA_VEC / 2))) ina_h32;
typedef s32 __attribute__((vector_size(INA_VEC / 2))) ina_hs32;
typedef u16 __attribute__((vector_size(INA_VEC / 2))) ina_h16;

/* Vectors of 64-bit sums in a step */
#define INA_WIDE	(32 / INA_VEC)

#ifdef __CHECKER__	/* sparse takes them for scalars */
#define __builtin_convertvector(vector, type)	((type)(vector))
#define __builtin_ia32_vtestzps256(a, b)	(!(a) || !(b))
#define __builtin_ia32_vtestzpd256(a, b)	(!(a) || !(b))
#define __builtin_ia32_ptestz256(a, b)		(!((a) & (b)))
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
 * @over: of AVX2: lanes with the highest bit set have overflowed
 * @lost: of AVX2: lanes other than 0 have lost bits
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

/* Elements of a step by the size of a sum: what fills a vector, but no less than four. */
static __always_inline unsigned int ina_simd_lanes(unsigned int acc)
{
	return acc == 8 ? 4 : INA_VEC / acc;
}

/* One step, and on to the next elements. */
static __always_inline void ina_simd_next(ina_simd_step step, struct ina_simd *x,
					  unsigned int acc, unsigned int src,
					  unsigned int dst)
{
	const unsigned int lanes = ina_simd_lanes(acc);

	step(x);
	x->acc += lanes * acc;
	x->src += lanes * src;
	x->dst += lanes * dst;
}

/* Sizes are those of an element; 0 if there is none. */
static __always_inline void ina_simd_run(ina_simd_step step, struct ina_simd *x,
					 unsigned int acc, unsigned int src,
					 unsigned int dst, unsigned int count)
{
	/* Where the kernel clears variables, not this one every time. */
	u8 tail[3][32] __aligned(32) __uninitialized;
	const unsigned int lanes = ina_simd_lanes(acc);
	void *last_acc, *last_dst;

	for (; count >= 4 * lanes; count -= 4 * lanes) {
		ina_simd_next(step, x, acc, src, dst);
		ina_simd_next(step, x, acc, src, dst);
		ina_simd_next(step, x, acc, src, dst);
		ina_simd_next(step, x, acc, src, dst);
	}
	for (; count >= lanes; count -= lanes)
		ina_simd_next(step, x, acc, src, dst);
	if (!count)
		return;
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

#ifdef __x86_64__
#include "sum_avx2.h"
#else
#include "sum_neon.h"
#endif

static __always_inline void ina_simd_s32_step(struct ina_simd *x)
{
	INA_AT(ina_v32, x->acc) = ina_simd_s32(INA_AT(ina_v32, x->acc),
					       INA_AT(ina_v32, x->src),
					       x);
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

	count = ina_simd_s32_blocks(&x, count);
	ina_simd_run(ina_simd_s32_step, &x, 4, 4, 0, count);
	return ina_simd_saturated(&x);
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

static __always_inline void ina_simd_fixed_store_step(struct ina_simd *x)
{
	ina_v64 value[INA_WIDE];
	int i;

	ina_simd_fixed(x, value);
#pragma GCC unroll 2
	for (i = 0; i < INA_WIDE; i++)
		INA_AT(ina_v64, x->acc + i * INA_VEC) = value[i];
}

/* acc += value */
static __always_inline void ina_simd_s64_step(struct ina_simd *x,
					      const ina_v64 value[INA_WIDE])
{
	void *acc = x->acc;
	int i;

#pragma GCC unroll 2
	for (i = 0; i < INA_WIDE; i++, acc += INA_VEC)
		INA_AT(ina_v64, acc) = ina_simd_s64(INA_AT(ina_v64, acc),
						    value[i], x);
}

static __always_inline void ina_simd_fixed_step(struct ina_simd *x)
{
	ina_v64 value[INA_WIDE];

	ina_simd_fixed(x, value);
	ina_simd_s64_step(x, value);
}

static __always_inline void ina_simd_fixed_wide_step(struct ina_simd *x)
{
	ina_v64 value[INA_WIDE];
	int i;

#pragma GCC unroll 2
	for (i = 0; i < INA_WIDE; i++)
		value[i] = INA_AT(ina_v64, x->src + i * INA_VEC);
	ina_simd_s64_step(x, value);
}

u16 ina_simd_fixed_store(s64 *acc, const void *src, int exponent,
			 unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src, .exponent = exponent };

	ina_simd_start(&x);
	ina_simd_run(ina_simd_fixed_store_step, &x, 8, 4, 0, count);
	return ina_simd_flags(&x);
}

u16 ina_simd_fixed_add(s64 *acc, const void *src, int exponent,
		       unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src, .exponent = exponent };

	ina_simd_start(&x);
	ina_simd_run(ina_simd_fixed_step, &x, 8, 4, 0, count);
	return ina_simd_flags(&x);
}

u16 ina_simd_fixed_wide(s64 *acc, const void *src, unsigned int count)
{
	struct ina_simd x = { .acc = acc, .src = src };

	ina_simd_run(ina_simd_fixed_wide_step, &x, 8, 8, 0, count);
	return ina_simd_saturated(&x);
}

void ina_simd_fixed_finish(void *dst, const s64 *acc, int exponent,
			   unsigned int count)
{
	struct ina_simd x = {
		.acc = (void *)acc, .dst = dst, .exponent = exponent,
	};

	ina_simd_run(ina_simd_fixed_finish_step, &x, 8, 0, 4, count);
}
