// SPDX-License-Identifier: GPL-2.0
/*
 * Floats to elements of a job and back, each multiplied by a number on the way.
 * Plain loops without a branch, which the compiler makes vectors of: NEON on
 * arm64; on x86-64 the loader takes those for AVX2 if the processor has it.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <ina.h>

#ifdef __x86_64__
#define INA_VECTOR	__attribute__((target_clones("avx2", "default")))
#else
#define INA_VECTOR
#endif

#define INA_INT_LAST	2147483520.0f	/* the largest float below 2^31 */
#define INA_INT_END	2147483648.0f	/* 2^31 */
#define INA_ROUND	8388608.0f	/* 2^23: from here on there is nothing to round */

/* To the nearest, ties to even. */
static inline float ina_convert_round(float x)
{
	float a = fabsf(x), r = (a + INA_ROUND) - INA_ROUND;

	return copysignf(a < INA_ROUND ? r : a, x);
}

/* Saturated; not a number is 0. */
static inline int32_t ina_convert_int(float x)
{
	float low, high;
	int32_t i;

	x = x == x ? ina_convert_round(x) : 0;
	high = x < INA_INT_LAST ? x : INA_INT_LAST;
	low = high > -INA_INT_END ? high : -INA_INT_END;
	i = (int32_t)low;
	return x >= INA_INT_END ? INT32_MAX : i;
}

static inline uint16_t ina_convert_bf16(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	u = (u & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : u + 0x7fff + (u >> 16 & 1);
	return (uint16_t)(u >> 16);
}

static inline float ina_convert_float(uint16_t bf16)
{
	uint32_t u = (uint32_t)bf16 << 16;
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

INA_VECTOR
static void ina_convert_scale(float *dst, const float *src, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		dst[i] = src[i] * scale;
}

/* A tensor that is where it is to be. */
INA_VECTOR
static void ina_convert_scale_own(float *x, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		x[i] *= scale;
}

INA_VECTOR
static void ina_convert_to_int(int32_t *dst, const float *src, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		dst[i] = ina_convert_int(src[i] * scale);
}

INA_VECTOR
static void ina_convert_from_int(float *dst, const int32_t *src, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		dst[i] = (float)src[i] * scale;
}

INA_VECTOR
static void ina_convert_to_bf16(uint16_t *dst, const float *src, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		dst[i] = ina_convert_bf16(src[i] * scale);
}

INA_VECTOR
static void ina_convert_from_bf16(float *dst, const uint16_t *src, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		dst[i] = ina_convert_float(src[i]) * scale;
}

static void ina_convert_copy(float *dst, const float *src, size_t count, float scale)
{
	if (scale == 1)
		memmove(dst, src, count * sizeof(*dst));
	else if (dst == src)
		ina_convert_scale_own(dst, count, scale);
	else
		ina_convert_scale(dst, src, count, scale);
}

int ina_from_float(uint32_t dtype, void *dst, const float *src, size_t count, float scale)
{
	switch (dtype) {
	case INA_DTYPE_INT32:
		ina_convert_to_int(dst, src, count, scale);
		return 0;
	case INA_DTYPE_FP32:
	case INA_DTYPE_FIXED:
		ina_convert_copy(dst, src, count, scale);
		return 0;
	case INA_DTYPE_BF16:
		ina_convert_to_bf16(dst, src, count, scale);
		return 0;
	default:
		return -EINVAL;
	}
}

int ina_to_float(uint32_t dtype, float *dst, const void *src, size_t count, float scale)
{
	switch (dtype) {
	case INA_DTYPE_INT32:
		ina_convert_from_int(dst, src, count, scale);
		return 0;
	case INA_DTYPE_FP32:
	case INA_DTYPE_FIXED:
		ina_convert_copy(dst, src, count, scale);
		return 0;
	case INA_DTYPE_BF16:
		ina_convert_from_bf16(dst, src, count, scale);
		return 0;
	default:
		return -EINVAL;
	}
}
