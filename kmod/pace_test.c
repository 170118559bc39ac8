// SPDX-License-Identifier: GPL-2.0
/* Departure times: gaps, bursts, and the end of a pause. */
#include <kunit/test.h>

#include "pace.h"

#define PACE_TEST_NOW	5000000000ULL

static void may__ahead(struct kunit *test)
{
	struct ina_pace pace = { .rate = 1000000 };

	KUNIT_EXPECT_TRUE(test, ina_pace_may(&pace, PACE_TEST_NOW));
	pace.depart = PACE_TEST_NOW + INA_PACE_AHEAD;
	KUNIT_EXPECT_TRUE(test, ina_pace_may(&pace, PACE_TEST_NOW));
	pace.depart++;
	KUNIT_EXPECT_FALSE(test, ina_pace_may(&pace, PACE_TEST_NOW));
	KUNIT_EXPECT_TRUE(test, ina_pace_may(&pace, ina_pace_wake(&pace)));
}

static void segs__time(struct kunit *test)
{
	struct ina_pace pace = {};

	KUNIT_EXPECT_EQ(test, ina_pace_segs(&pace, 1000, 64), 64);
	pace.rate = 10000000;	/* 10 packets a millisecond */
	KUNIT_EXPECT_EQ(test, ina_pace_segs(&pace, 1000, 64), 10);
	KUNIT_EXPECT_EQ(test, ina_pace_segs(&pace, 1000, 8), 8);
	pace.rate = 1000;
	KUNIT_EXPECT_EQ(test, ina_pace_segs(&pace, 1000, 64), 1);
}

static void charge__gaps(struct kunit *test)
{
	struct ina_pace pace = { .rate = 10000000 };
	u64 depart;
	int i;

	for (i = 0; i < 10; i++) {
		depart = ina_pace_charge(&pace, 1000, PACE_TEST_NOW);
		KUNIT_EXPECT_EQ(test, depart, PACE_TEST_NOW + i * 100000);
	}
	KUNIT_EXPECT_EQ(test, pace.bytes, 10000);
	KUNIT_EXPECT_EQ(test, pace.busy, INA_PACE_PAUSE);
	/* Another rate holds from the next on. */
	pace.rate = 1000000;
	ina_pace_charge(&pace, 1000, PACE_TEST_NOW);
	KUNIT_EXPECT_EQ(test, pace.depart, PACE_TEST_NOW + 2000000);
}

/* A clock that is late does not make the rate lower. */
static void charge__late(struct kunit *test)
{
	struct ina_pace pace = { .rate = 1000000 };	/* a packet a millisecond */
	u64 now = PACE_TEST_NOW;
	int i;

	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_TRUE(test, ina_pace_may(&pace, now));
		KUNIT_EXPECT_GE(test, ina_pace_charge(&pace, 1000, now), now);
		if (!ina_pace_may(&pace, now))
			now = ina_pace_wake(&pace) + 3000000;
	}
	KUNIT_EXPECT_EQ(test, pace.depart, PACE_TEST_NOW + 10000000);
}

/* Time that was not used is lost. */
static void charge__pause(struct kunit *test)
{
	struct ina_pace pace = { .rate = 10000000 };
	u64 later = PACE_TEST_NOW + 50000000;

	ina_pace_charge(&pace, 1000, PACE_TEST_NOW);
	KUNIT_EXPECT_EQ(test, ina_pace_charge(&pace, 1000, later), later);
	KUNIT_EXPECT_EQ(test, pace.depart, later + 100000);
}

static void charge__unlimited(struct kunit *test)
{
	struct ina_pace pace = {};

	KUNIT_EXPECT_EQ(test, ina_pace_charge(&pace, 1000, PACE_TEST_NOW), 0);
	KUNIT_EXPECT_EQ(test, pace.depart, 0);
	KUNIT_EXPECT_EQ(test, pace.bytes, 1000);
}

static struct kunit_case pace_test_cases[] = {
	KUNIT_CASE(may__ahead),
	KUNIT_CASE(segs__time),
	KUNIT_CASE(charge__gaps),
	KUNIT_CASE(charge__late),
	KUNIT_CASE(charge__pause),
	KUNIT_CASE(charge__unlimited),
	{}
};

static struct kunit_suite pace_test_suite = {
	.name = "ina_pace",
	.test_cases = pace_test_cases,
};

kunit_test_suite(pace_test_suite);
