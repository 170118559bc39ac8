/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic on arrays of elements. Knows nothing of packets or rounds.
 *
 * A contribution and a result are narrow: elements as a worker has them. Sums
 * between aggregators and in slots are wide: what is rounded is rounded once,
 * at the root.
 *
 * type    narrow  wide    flags              sums depend on the order
 * int32   s32     s32     OVERFLOW           only with OVERFLOW
 * fp32    fp32    fp32    none               yes
 * bf16    bf16    fp32    none               yes
 * fixed   fp32    s64     OVERFLOW, INEXACT  only with OVERFLOW
 */
#ifndef _INA_SUM_H
#define _INA_SUM_H

#include <linux/cache.h>
#include <linux/types.h>
#include <uapi/linux/ina.h>

#include "simd.h"
#include "sum_impl.h"

/*
 * Exponents of fixed: a unit is no smaller than the smallest fp32, and the
 * largest sum no larger than the largest fp32.
 */
#define INA_FIXED_EXPONENT_MIN	(-149)
#define INA_FIXED_EXPONENT_MAX	64

/**
 * struct ina_sum_type - what the elements are
 * @dtype: INA_DTYPE_*
 * @exponent: of fixed: a sum is a multiple of 2^exponent; between
 *	INA_FIXED_EXPONENT_MIN and INA_FIXED_EXPONENT_MAX
 */
struct ina_sum_type {
	u8 dtype;
	s16 exponent;
};

/**
 * struct ina_sum_ctx - from ina_sum_begin() to ina_sum_end()
 * @simd: vector registers may be used
 * @state: registers that were interrupted
 */
struct ina_sum_ctx {
	bool simd;
	struct ina_simd_state state;
};

/**
 * ina_sum_narrow() - size of an element of a contribution or result
 * @dtype: INA_DTYPE_*
 *
 * Return: bytes.
 */
static inline unsigned int ina_sum_narrow(u8 dtype)
{
	return dtype == INA_DTYPE_BF16 ? 2 : 4;
}

/**
 * ina_sum_wide() - size of an element of a slot or partial sum
 * @dtype: INA_DTYPE_*
 *
 * Return: bytes.
 */
static inline unsigned int ina_sum_wide(u8 dtype)
{
	return dtype == INA_DTYPE_FIXED ? 8 : 4;
}

/**
 * ina_sum_is_same() - is a partial sum as long as a contribution
 * @dtype: INA_DTYPE_*
 *
 * Return: true if so.
 */
static inline bool ina_sum_is_same(u8 dtype)
{
	return ina_sum_narrow(dtype) == ina_sum_wide(dtype);
}

/**
 * ina_sum_prefetch() - sums will be needed soon
 * @type: of the elements
 * @acc: sums, wide; may be anywhere
 * @count: elements
 */
static inline void ina_sum_prefetch(const struct ina_sum_type *type,
				    const void *acc, unsigned int count)
{
	const void *end = acc + count * ina_sum_wide(type->dtype);

	for (; acc < end; acc += SMP_CACHE_BYTES)
		ina_simd_prefetch(acc);
}

int ina_sum_choose(const char *want, bool have);
int ina_sum_init(void);
void ina_sum_begin(struct ina_sum_ctx *ctx);
void ina_sum_begin_as(struct ina_sum_ctx *ctx, bool simd);
void ina_sum_end(struct ina_sum_ctx *ctx);

u16 ina_sum_store(const struct ina_sum_ctx *ctx,
		  const struct ina_sum_type *type, void *acc, const void *src,
		  unsigned int count);
u16 ina_sum_store_wide(const struct ina_sum_ctx *ctx,
		       const struct ina_sum_type *type, void *acc,
		       const void *src, unsigned int count);
u16 ina_sum_add(const struct ina_sum_ctx *ctx, const struct ina_sum_type *type,
		void *acc, const void *src, unsigned int count);
u16 ina_sum_add_wide(const struct ina_sum_ctx *ctx,
		     const struct ina_sum_type *type, void *acc,
		     const void *src, unsigned int count);
void ina_sum_finish(const struct ina_sum_ctx *ctx,
		    const struct ina_sum_type *type, void *dst,
		    const void *acc, unsigned int count);

#endif /* _INA_SUM_H */
