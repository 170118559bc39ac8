/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seeded random numbers for the KUnit suites.
 */
#ifndef _INA_TEST_RANDOM_H
#define _INA_TEST_RANDOM_H

#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/random.h>

/* Seed of all random tests, 0 for a new one each time; see wire_test.c. */
extern unsigned int ina_test_seed;

/* Random numbers that can be had again: the seed is in the log. */
static inline void ina_test_random(struct kunit *test, struct rnd_state *rnd)
{
	u32 seed = ina_test_seed ?: get_random_u32();

	kunit_info(test, "test_seed=%u", seed);
	prandom_seed_state(rnd, seed);
}

/* A random number below @end; the bias does not matter here. */
static inline u32 ina_test_below(struct rnd_state *rnd, u32 end)
{
	return prandom_u32_state(rnd) % end;
}

/* A random order of 0..@count - 1. */
static inline void ina_test_shuffle(struct rnd_state *rnd, u16 *order,
				    unsigned int count)
{
	unsigned int i, j;

	for (i = 0; i < count; i++) {
		j = ina_test_below(rnd, i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

#endif /* _INA_TEST_RANDOM_H */
