// SPDX-License-Identifier: GPL-2.0
/*
 * Contributions whose sum every worker knows without asking the others.
 *
 * sum: rank i contributes f * (i + 1) + i, with f drawn from the seed, the round
 * and the element; the sum over n ranks whose sum is s is f * (s + n) + s. A rank
 * that is missing or counted twice shows in (almost) every element. All numbers are
 * small enough to be exact in the type of the job.
 * overflow: each contribution is more than half of what there is room for.
 * cancel: 1e8, 1, -1e8, 1, by rank: an order in which the ones are lost shows.
 * random: of any size, as many bits as there are. For sums of fixed, all is added
 * up here once more.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static inline uint32_t perf_pattern_draw(uint32_t key, size_t element)
{
	uint32_t x = key ^ ((uint32_t)element * 0x9e3779b1U);

	x ^= x >> 15;
	return x * 0x85ebca6bU;
}

/* f: -1024 to 1023, so that 2,000 ranks stay inside 32 bits; bf16: -4 to 3. */
static inline int32_t perf_pattern_factor(uint32_t key, size_t element, bool small)
{
	uint32_t x = perf_pattern_draw(key, element);

	return small ? (int32_t)(x >> 29) - 4 : (int32_t)(x >> 21) - 1024;
}

/* 2^-20 to 2^20, of either sign, with a full fraction. */
static float perf_pattern_random(uint32_t key, uint32_t rank, size_t element)
{
	uint64_t x = perf_pattern_mix(((uint64_t)key << 32 | rank) * 0x9e3779b97f4a7c15ULL + element);
	float value = ldexpf((float)(0x800000 + (x & 0x7fffff)), (int)(x >> 32 & 0xffff) % 40 - 43);

	return x >> 63 ? -value : value;
}

/* What a rank contributes. */
static float perf_pattern_value(const struct perf_options *o, const struct ina_info *info,
				uint32_t rank, uint64_t round, size_t element)
{
	static const float cancel[] = { 1e8f, 1, -1e8f, 1 };
	uint32_t key = perf_pattern_key(o->seed, round);
	int32_t i = (int32_t)rank;

	switch (o->pattern) {
	case PERF_PATTERN_OVERFLOW:
		return ldexpf(1, 62 + info->exponent);
	case PERF_PATTERN_CANCEL:
		return cancel[rank % 4];
	case PERF_PATTERN_RANDOM:
		return perf_pattern_random(key, rank, element);
	default:
		return (float)(perf_pattern_factor(key, element, info->dtype == INA_DTYPE_BF16) *
			       (i + 1) + i);
	}
}

static void perf_pattern_fill_int(const struct perf_options *o, uint32_t rank, uint64_t round,
				  int32_t *buf, size_t count)
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
		buf[e] = perf_pattern_factor(key, e, false) * (i + 1) + i;
}

void perf_pattern_fill(const struct perf_options *o, const struct ina_info *info, uint32_t rank,
		       uint64_t round, void *buf, size_t count)
{
	float value;
	size_t e;

	if (info->dtype == INA_DTYPE_INT32) {
		perf_pattern_fill_int(o, rank, round, buf, count);
		return;
	}
	for (e = 0; e < count; e++) {
		value = perf_pattern_value(o, info, rank, round, e);
		ina_from_float(info->dtype, (char *)buf + e * info->elem_size, &value, 1, 1);
	}
}

static bool perf_pattern_has(const struct perf_ranks *in, uint32_t rank)
{
	return in->ranks ? in->ranks[rank / 8] >> (rank % 8) & 1 : rank < (uint32_t)in->count;
}

/* The exact sum in units of fixed, rounded once. */
static float perf_pattern_fixed(const struct perf_options *o, const struct ina_info *info,
				const struct perf_ranks *in, uint64_t round, size_t element)
{
	int32_t left = in->count;
	int64_t sum = 0;
	uint32_t rank;
	double units;

	for (rank = 0; left && rank < PERF_WORKERS_MAX; rank++) {
		if (!perf_pattern_has(in, rank))
			continue;
		units = ldexp(perf_pattern_value(o, info, rank, round, element), -info->exponent);
		sum += llrint(units);
		left--;
	}
	return ldexpf((float)sum, info->exponent);
}

/* An element of the result, as a number. */
static double perf_pattern_want(const struct perf_options *o, const struct ina_info *info,
				const struct perf_ranks *in, uint64_t round, size_t element)
{
	uint32_t key = perf_pattern_key(o->seed, round);
	bool small = info->dtype == INA_DTYPE_BF16;

	if (o->pattern == PERF_PATTERN_OVERFLOW)
		return info->dtype == INA_DTYPE_INT32 ? INT32_MAX : ldexp(1, 63 + info->exponent);
	if (o->pattern != PERF_PATTERN_SUM)
		return perf_pattern_fixed(o, info, in, round, element);
	return perf_pattern_factor(key, element, small) * (in->sum + in->count) + in->sum;
}

static double perf_pattern_got(const struct ina_info *info, const void *sum, size_t element)
{
	float value;

	if (info->dtype == INA_DTYPE_INT32)
		return ((const int32_t *)sum)[element];
	ina_to_float(info->dtype, &value, (const char *)sum + element * info->elem_size, 1, 1);
	return value;
}

/* Rounded as an element is; its bits are then those of the number. */
static double perf_pattern_round(const struct ina_info *info, double want)
{
	float value = (float)want;
	uint16_t bf16;

	if (info->dtype == INA_DTYPE_INT32)
		return want;
	if (info->dtype == INA_DTYPE_BF16) {
		ina_from_float(info->dtype, &bf16, &value, 1, 1);
		ina_to_float(info->dtype, &value, &bf16, 1, 1);
	}
	return value;
}

static bool perf_pattern_right(const struct perf_options *o, const struct ina_info *info,
			       const struct perf_ranks *in, uint64_t round, const void *sum,
			       size_t element)
{
	return perf_pattern_got(info, sum, element) ==
	       perf_pattern_round(info, perf_pattern_want(o, info, in, round, element));
}

/* The one that is checked fast. */
static size_t perf_pattern_wrong_int(const struct perf_options *o, const struct perf_ranks *in,
				     uint64_t round, const int32_t *sum, size_t count)
{
	uint32_t key = perf_pattern_key(o->seed, round);
	int32_t factor = in->sum + in->count, offset = in->sum;
	size_t e, wrong = 0;

	for (e = 0; e < count; e++)
		wrong += sum[e] != perf_pattern_factor(key, e, false) * factor + offset;
	return wrong;
}

size_t perf_pattern_check(const struct perf_options *o, const struct ina_info *info,
			  const struct perf_ranks *in, uint64_t round, const void *sum,
			  size_t count, size_t *first)
{
	size_t e, wrong = 0;

	if (info->dtype == INA_DTYPE_INT32 && o->pattern == PERF_PATTERN_SUM &&
	    !perf_pattern_wrong_int(o, in, round, sum, count))
		return 0;
	for (e = count; e-- > 0;) {
		if (perf_pattern_right(o, info, in, round, sum, e))
			continue;
		wrong++;
		*first = e;
	}
	return wrong;
}

void perf_pattern_explain(const struct perf_options *o, const struct ina_info *info,
			  const struct perf_ranks *in, uint64_t round, const void *sum,
			  size_t element, char *text, size_t size)
{
	snprintf(text, size, "expected %.10g, got %.10g",
		 perf_pattern_round(info, perf_pattern_want(o, info, in, round, element)),
		 perf_pattern_got(info, sum, element));
}
