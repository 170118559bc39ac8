// SPDX-License-Identifier: GPL-2.0
/*
 * Contributions whose sum every worker knows without asking the others. Rank i
 * contributes f * (i + 1) + i, with f drawn from the seed, the round and the
 * element; the sum over n ranks whose sum is s is f * (s + n) + s. A rank that is
 * missing or counted twice shows in (almost) every element.
 */
#include "perf.h"

/* The finalizer of splitmix64: every bit of the key reaches every bit. */
static uint64_t perf_pattern_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static uint32_t perf_pattern_key(uint64_t seed, uint64_t round)
{
	return (uint32_t)perf_pattern_mix(perf_pattern_mix(seed) + round);
}

/* f: -1024 to 1023, so that 2,000 ranks stay inside 32 bits. */
static inline int32_t perf_pattern_factor(uint32_t key, size_t element)
{
	uint32_t x = key ^ ((uint32_t)element * 0x9e3779b1U);

	x ^= x >> 15;
	x *= 0x85ebca6bU;
	return (int32_t)(x >> 21) - 1024;
}

void perf_pattern_fill(const struct perf_options *o, uint32_t rank, uint64_t round, int32_t *buf,
		       size_t count)
{
	uint32_t key = perf_pattern_key(o->seed, round);
	int32_t i = (int32_t)rank;
	size_t e;

	if (o->pattern == PERF_PATTERN_OVERFLOW) {
		for (e = 0; e < count; e++)
			buf[e] = INT32_MAX;
		return;
	}
	for (e = 0; e < count; e++)
		buf[e] = perf_pattern_factor(key, e) * (i + 1) + i;
}

int32_t perf_pattern_expected(const struct perf_options *o, const struct perf_ranks *in,
			      uint64_t round, size_t element)
{
	uint32_t key = perf_pattern_key(o->seed, round);

	if (o->pattern == PERF_PATTERN_OVERFLOW)
		return INT32_MAX;
	return perf_pattern_factor(key, element) * (in->sum + in->count) + in->sum;
}

static size_t perf_pattern_first(const struct perf_options *o, const struct perf_ranks *in,
				 uint64_t round, const int32_t *sum)
{
	size_t e = 0;

	while (sum[e] == perf_pattern_expected(o, in, round, e))
		e++;
	return e;
}

/* How many elements are wrong, and the first of them. */
size_t perf_pattern_check(const struct perf_options *o, const struct perf_ranks *in,
			  uint64_t round, const int32_t *sum, size_t count, size_t *first)
{
	uint32_t key = perf_pattern_key(o->seed, round);
	int32_t factor = in->sum + in->count, offset = in->sum;
	size_t e, wrong = 0;

	if (o->pattern == PERF_PATTERN_OVERFLOW) {
		for (e = 0; e < count; e++)
			wrong += sum[e] != INT32_MAX;
	} else {
		for (e = 0; e < count; e++)
			wrong += sum[e] != perf_pattern_factor(key, e) * factor + offset;
	}
	if (wrong)
		*first = perf_pattern_first(o, in, round, sum);
	return wrong;
}
