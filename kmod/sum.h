/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic on arrays of elements. Knows nothing of packets or rounds.
 */
#ifndef _INA_SUM_H
#define _INA_SUM_H

#include <linux/types.h>

bool ina_sum_s32_add(s32 *acc, const void *src, unsigned int count);
void ina_sum_s32_store(s32 *acc, const void *src, unsigned int count);
void ina_sum_s32_emit(void *dst, const s32 *acc, unsigned int count);

#endif /* _INA_SUM_H */
