// SPDX-License-Identifier: GPL-2.0
/*
 * Signed 32-bit sums that saturate. A sum that never saturated is exact and
 * does not depend on the order; one that did says so.
 */
#include <linux/limits.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "sum.h"

#ifdef __BIG_ENDIAN
#error "Workers' arrays are taken as little-endian"
#endif

/**
 * ina_sum_s32_add() - acc += src
 * @acc: sums, in host byte order
 * @src: little-endian elements, any alignment
 * @count: elements
 *
 * Context: any; the caller owns @acc.
 * Return: true if an element was saturated.
 */
bool ina_sum_s32_add(s32 *acc, const void *src, unsigned int count)
{
	const u8 *p = src;
	bool saturated = false;
	unsigned int i;
	s32 sum;

	for (i = 0; i < count; i++, p += sizeof(s32)) {
		if (unlikely(check_add_overflow(acc[i],
						(s32)get_unaligned_le32(p),
						&sum))) {
			sum = acc[i] < 0 ? S32_MIN : S32_MAX;
			saturated = true;
		}
		acc[i] = sum;
	}
	return saturated;
}

/**
 * ina_sum_s32_store() - acc = src
 * @acc: sums, in host byte order
 * @src: little-endian elements, any alignment
 * @count: elements
 *
 * Context: any; the caller owns @acc.
 */
void ina_sum_s32_store(s32 *acc, const void *src, unsigned int count)
{
	memcpy(acc, src, count * sizeof(s32));
	le32_to_cpu_array((u32 *)acc, count);
}

/**
 * ina_sum_s32_emit() - dst = acc
 * @dst: where the little-endian elements go
 * @acc: sums, in host byte order
 * @count: elements
 *
 * Context: any; the caller holds what keeps @acc from changing.
 */
void ina_sum_s32_emit(void *dst, const s32 *acc, unsigned int count)
{
	memcpy(dst, acc, count * sizeof(s32));
	cpu_to_le32_array(dst, count);
}
