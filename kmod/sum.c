// SPDX-License-Identifier: GPL-2.0
/*
 * Which arithmetic: by the type of the elements and by what the processor can
 * do. Decided when the module is loaded, and for each batch of fragments by
 * whether vector registers may be used here and now.
 * Context of the operations: process or softirq, bottom halves disabled.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "sum.h"

static char *ina_sum_simd_param = "auto";
module_param_named(simd, ina_sum_simd_param, charp, 0444);
MODULE_PARM_DESC(simd, "vector registers for sums: auto, off, avx2 or neon");

static DEFINE_STATIC_KEY_FALSE(ina_sum_simd_key);

/* No pointers to the implementations: an indirect call costs more than this. */
#define ina_sum_call(ctx, op, ...)					\
	(INA_SIMD_BUILT && (ctx)->simd ? ina_simd_##op(__VA_ARGS__) :	\
					 ina_scalar_##op(__VA_ARGS__))

/**
 * ina_sum_choose() - what a word of the parameter simd means
 * @want: the word
 * @have: INA_SIMD_NAME can be used
 *
 * Return: 1 to use vector registers, 0 not to, -EINVAL for an unknown word,
 * -EOPNOTSUPP for what cannot be used.
 */
int ina_sum_choose(const char *want, bool have)
{
	if (!strcmp(want, "auto"))
		return have;
	if (!strcmp(want, "off"))
		return 0;
	if (strcmp(want, "avx2") && strcmp(want, "neon")) {
		pr_err("simd=%s: choose auto, off, avx2 or neon\n", want);
		return -EINVAL;
	}
	if (have && !strcmp(want, INA_SIMD_NAME))
		return 1;
	pr_err("simd=%s: this machine has %s; choose auto or off\n", want,
	       have ? INA_SIMD_NAME : "neither avx2 nor neon");
	return -EOPNOTSUPP;
}

/**
 * ina_sum_init() - choose by the parameter and the CPU
 *
 * Return: 0, or what ina_sum_choose() refuses with.
 */
int ina_sum_init(void)
{
	int use = ina_sum_choose(ina_sum_simd_param,
				 INA_SIMD_BUILT && ina_simd_present());

	if (use < 0)
		return use;
	if (use)
		static_branch_enable(&ina_sum_simd_key);
	pr_info("sums: %s\n", use ? INA_SIMD_NAME : "integer only");
	return 0;
}

/**
 * ina_sum_begin_as() - ina_sum_begin() with or without vector registers
 * @ctx: to be passed to the operations
 * @simd: use them, if allowed here; the CPU has them
 */
void ina_sum_begin_as(struct ina_sum_ctx *ctx, bool simd)
{
	ctx->simd = INA_SIMD_BUILT && simd && may_use_simd();
	if (ctx->simd)
		ina_simd_begin(&ctx->state);
}

/**
 * ina_sum_begin() - before a batch of operations
 * @ctx: to be passed to the operations
 *
 * Context: process or softirq, bottom halves disabled. Until ina_sum_end()
 * nothing may sleep or use the kernel's vector registers by itself.
 */
void ina_sum_begin(struct ina_sum_ctx *ctx)
{
	ina_sum_begin_as(ctx, static_branch_likely(&ina_sum_simd_key));
}

/**
 * ina_sum_end() - after a batch of operations
 * @ctx: what ina_sum_begin() filled in
 */
void ina_sum_end(struct ina_sum_ctx *ctx)
{
	if (ctx->simd)
		ina_simd_end(&ctx->state);
}

/**
 * ina_sum_store() - acc = src, a contribution
 * @ctx: of ina_sum_begin()
 * @type: of the elements
 * @acc: sums, wide, aligned to 8 bytes
 * @src: narrow elements, little-endian, any alignment
 * @count: elements
 *
 * Return: INA_F_OVERFLOW if an element is too large for a fixed sum, infinite
 * or not a number, INA_F_INEXACT if it lost bits below the unit.
 */
u16 ina_sum_store(const struct ina_sum_ctx *ctx,
		  const struct ina_sum_type *type, void *acc, const void *src,
		  unsigned int count)
{
	switch (type->dtype) {
	case INA_DTYPE_BF16:
		ina_sum_call(ctx, bf16_store, acc, src, count);
		return 0;
	case INA_DTYPE_FIXED:
		return ina_sum_call(ctx, fixed_store, acc, src, type->exponent,
				    count);
	default:
		return ina_sum_store_wide(ctx, type, acc, src, count);
	}
}

/**
 * ina_sum_store_wide() - acc = src, a partial sum
 * @ctx: of ina_sum_begin()
 * @type: of the elements
 * @acc: sums, wide, aligned to 8 bytes
 * @src: wide elements, little-endian, any alignment
 * @count: elements
 *
 * Return: 0: what the partial sum has met is in the flags that came with it.
 */
u16 ina_sum_store_wide(const struct ina_sum_ctx *ctx,
		       const struct ina_sum_type *type, void *acc,
		       const void *src, unsigned int count)
{
	switch (type->dtype) {
	case INA_DTYPE_FP32:
	case INA_DTYPE_BF16:
		/* No other NaN but the one gets into sums. */
		ina_sum_call(ctx, f32_store, acc, src, count);
		break;
	default:
		ina_sum_call(ctx, s32_store, acc, src,
			     count * ina_sum_wide(type->dtype) / sizeof(s32));
	}
	return 0;
}

/**
 * ina_sum_add() - acc += src, a contribution
 * @ctx: of ina_sum_begin()
 * @type: of the elements
 * @acc: sums, wide, aligned to 8 bytes
 * @src: narrow elements, little-endian, any alignment
 * @count: elements
 *
 * Return: INA_F_OVERFLOW if a sum of int32 or fixed was saturated, and what
 * ina_sum_store() tells of @src.
 */
u16 ina_sum_add(const struct ina_sum_ctx *ctx, const struct ina_sum_type *type,
		void *acc, const void *src, unsigned int count)
{
	switch (type->dtype) {
	case INA_DTYPE_BF16:
		ina_sum_call(ctx, bf16_add, acc, src, count);
		return 0;
	case INA_DTYPE_FIXED:
		return ina_sum_call(ctx, fixed_add, acc, src, type->exponent,
				    count);
	default:
		return ina_sum_add_wide(ctx, type, acc, src, count);
	}
}

/**
 * ina_sum_add_wide() - acc += src, a partial sum
 * @ctx: of ina_sum_begin()
 * @type: of the elements
 * @acc: sums, wide, aligned to 8 bytes
 * @src: wide elements, little-endian, any alignment
 * @count: elements
 *
 * Return: INA_F_OVERFLOW if a sum of int32 or fixed was saturated.
 */
u16 ina_sum_add_wide(const struct ina_sum_ctx *ctx,
		     const struct ina_sum_type *type, void *acc,
		     const void *src, unsigned int count)
{
	switch (type->dtype) {
	case INA_DTYPE_FP32:
	case INA_DTYPE_BF16:
		ina_sum_call(ctx, f32_add, acc, src, count);
		return 0;
	case INA_DTYPE_FIXED:
		return ina_sum_call(ctx, fixed_wide, acc, src, count);
	default:
		return ina_sum_call(ctx, s32_add, acc, src, count);
	}
}

/**
 * ina_sum_finish() - dst = acc, as a result
 * @ctx: of ina_sum_begin()
 * @type: of the elements
 * @dst: where the narrow elements go, little-endian, any alignment; may be @acc
 * @acc: sums, wide, aligned to 8 bytes
 * @count: elements
 */
void ina_sum_finish(const struct ina_sum_ctx *ctx,
		    const struct ina_sum_type *type, void *dst,
		    const void *acc, unsigned int count)
{
	switch (type->dtype) {
	case INA_DTYPE_BF16:
		ina_sum_call(ctx, bf16_finish, dst, acc, count);
		break;
	case INA_DTYPE_FIXED:
		ina_sum_call(ctx, fixed_finish, dst, acc, type->exponent,
			     count);
		break;
	default:
		if (dst != acc)
			memcpy(dst, acc, count * ina_sum_wide(type->dtype));
	}
}
