// SPDX-License-Identifier: GPL-2.0
/*
 * libina's conversions against slow ones of the C library: edges and random
 * numbers, every tail of a vector, nothing written behind the end.
 */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ina.h>

#define COUNT	1024
#define GUARD	0x5a

static const uint32_t edges[] = {
	0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x3f000000, 0x3f800000, 0x3fc00000,
	0x40200000, 0x3f808000, 0x3f818000, 0x3f808001, 0x4a7fffff, 0x4affffff, 0x4b000000,
	0x4b000001, 0x4effffff, 0x4f000000, 0x4f000001, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff,
	0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff,
};

static float src[COUNT];
static unsigned int wrong;

static uint32_t bits_of(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static float float_of(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

/* The two neighbours with half the bits, and which of them is nearer. */
static uint16_t slow_bf16(float x)
{
	uint32_t u = bits_of(x), low = u & 0xffff0000;
	double down = float_of(low), up = float_of(low + 0x10000), here = x;

	if (isnan(x))
		return 0x7fc0;
	if (isinf(x) || low == u)
		return (uint16_t)(u >> 16);
	if (isinf(up))
		up = copysign(0x1p128, x);
	if (fabs(here - down) == fabs(up - here))
		return (uint16_t)((low >> 16) + (low >> 16 & 1));
	return (uint16_t)((fabs(here - down) < fabs(up - here) ? low : low + 0x10000) >> 16);
}

static int32_t slow_int(float x)
{
	double r = rint(x);

	if (isnan(x))
		return 0;
	return r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : (int32_t)r;
}

static uint32_t expected(uint32_t dtype, float x)
{
	if (dtype == INA_DTYPE_INT32)
		return (uint32_t)slow_int(x);
	return dtype == INA_DTYPE_BF16 ? slow_bf16(x) : bits_of(x);
}

static void fill(void)
{
	size_t i, n = sizeof(edges) / sizeof(edges[0]);

	for (i = 0; i < COUNT; i++) {
		uint32_t u = (uint32_t)random() ^ (uint32_t)random() << 16;

		if (i < 2 * n)
			u = edges[i / 2] | (i & 1) << 31;
		else if (i % 2)
			u = (u & 0x80ffffff) | 0x40000000 | (u >> 3 & 0x0f000000);
		src[i] = float_of(u);
	}
}

static int same(float a, float b)
{
	return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b));
}

static void one(uint32_t dtype, size_t from, size_t count, float scale)
{
	size_t size = dtype == INA_DTYPE_BF16 ? 2 : 4, i;
	unsigned char dst[COUNT * 4 + 64];
	float back[COUNT];
	uint32_t got;

	memset(dst, GUARD, sizeof(dst));
	ina_from_float(dtype, dst, src + from, count, scale);
	ina_to_float(dtype, back, dst, count, scale);
	for (i = 0; i < count; i++) {
		float want = src[from + i] * scale;

		got = 0;
		memcpy(&got, dst + i * size, size);
		if (got != expected(dtype, want) && !(isnan(want) && dtype % 2)) {
			printf("type %u, %a: %08x\n", dtype, (double)want, got);
			wrong++;
		}
		want = dtype == INA_DTYPE_INT32 ? (float)(int32_t)got :
		       float_of(dtype == INA_DTYPE_BF16 ? got << 16 : got);
		if (!same(back[i], want * scale)) {
			printf("type %u, %08x back: %a\n", dtype, got, (double)back[i]);
			wrong++;
		}
	}
	for (i = count * size; i < sizeof(dst); i++)
		wrong += dst[i] != GUARD;
}

int main(void)
{
	static const float scales[] = { 1, 0.25f, 3 };
	size_t count, i;
	uint32_t dtype;

	srandom(1);
	fill();
	for (dtype = 0; dtype <= INA_DTYPE_FIXED; dtype++) {
		for (i = 0; i < 3; i++) {
			one(dtype, 0, COUNT, scales[i]);
			for (count = 0; count <= 70; count++)
				one(dtype, 100 + count % 8, count, scales[i]);
		}
	}
	/* In place. */
	memcpy(src, scales, sizeof(scales));
	ina_from_float(INA_DTYPE_FP32, src, src, 3, 2);
	wrong += src[0] != 2 || src[1] != 0.5f || src[2] != 6;
	wrong += ina_from_float(4, src, src, 1, 1) != -22 || ina_to_float(4, src, src, 1, 1) != -22;
	printf("%u wrong\n", wrong);
	return wrong != 0;
}
