// SPDX-License-Identifier: GPL-2.0
/* The addition of the servers in user space; NEON on arm64 needs no choice. */
#include "bench.h"

#ifdef __x86_64__
__attribute__((target_clones("avx2", "default")))
#endif
void bench_add(int32_t *restrict acc, const int32_t *restrict src, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		acc[i] = (uint32_t)acc[i] + (uint32_t)src[i];
}
