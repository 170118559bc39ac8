// SPDX-License-Identifier: GPL-2.0
/*
 * Saturating sums against a 64-bit reference, element by element, from
 * sources of any alignment.
 */
#include <linux/minmax.h>
#include <linux/unaligned.h>

#include "sum.h"
#include "test.h"
#include "wire.h"

#define SUM_TEST_GUARD	0x5a5a5a5a

/**
 * struct sum_test - one addition
 * @acc: sums, with one element behind them that must not change
 * @want: what they should become
 * @src: source, with room for any alignment
 */
struct sum_test {
	s32 acc[INA_FRAGMENT_MAX + 1];
	s32 want[INA_FRAGMENT_MAX];
	u8 src[INA_FRAGMENT_MAX * sizeof(s32) + 8];
};

static const s32 sum_test_edges[] = {
	0, 1, -1, 2, -2, S32_MAX, S32_MAX - 1, S32_MIN, S32_MIN + 1,
	S32_MAX / 2, S32_MAX / 2 + 1, S32_MIN / 2, S32_MIN / 2 - 1,
};

/* Reference. Return: true if it saturates. */
static bool sum_test_reference(s32 a, s32 b, s32 *sum)
{
	s64 exact = (s64)a + b;

	*sum = clamp_t(s64, exact, S32_MIN, S32_MAX);
	return *sum != exact;
}

/* Mostly small numbers, so that sums with and without saturation occur. */
static s32 sum_test_number(struct rnd_state *rnd, unsigned int shift)
{
	if (!ina_test_below(rnd, 64))
		return sum_test_edges[ina_test_below(rnd,
						     ARRAY_SIZE(sum_test_edges))];
	return (s32)prandom_u32_state(rnd) >> shift;
}

/* Fill in random elements. Return: true if one saturates. */
static bool sum_test_fill(struct sum_test *t, struct rnd_state *rnd,
			  unsigned int count, u8 *src)
{
	bool saturated = false, exact = ina_test_below(rnd, 2);
	unsigned int shift = exact ? 2 : ina_test_below(rnd, 4);
	unsigned int i;
	s32 value;

	for (i = 0; i < count; i++) {
		value = exact ? (s32)prandom_u32_state(rnd) >> shift :
				sum_test_number(rnd, shift);
		t->acc[i] = (s32)prandom_u32_state(rnd) >> (shift ?: 1);
		put_unaligned_le32(value, src + i * sizeof(s32));
		saturated |= sum_test_reference(t->acc[i], value, &t->want[i]);
	}
	t->acc[count] = SUM_TEST_GUARD;
	return saturated;
}

static void add__edges(struct kunit *test)
{
	const s32 *edges = sum_test_edges;
	unsigned int i, j;
	bool saturated;
	s32 acc, want;
	__le32 src;

	for (i = 0; i < ARRAY_SIZE(sum_test_edges); i++) {
		for (j = 0; j < ARRAY_SIZE(sum_test_edges); j++) {
			acc = edges[i];
			src = cpu_to_le32(edges[j]);
			saturated = sum_test_reference(acc, edges[j], &want);
			KUNIT_EXPECT_EQ_MSG(test,
					    ina_sum_s32_add(&acc, &src, 1),
					    saturated, "%d + %d", edges[i],
					    edges[j]);
			KUNIT_EXPECT_EQ(test, acc, want);
		}
	}
}

/* One saturated element is told wherever it is; the others are exact. */
static void add__saturated_once(struct kunit *test)
{
	struct sum_test *t = test->priv;
	const unsigned int count = 100;
	unsigned int i, at;

	for (at = 0; at < count; at++) {
		for (i = 0; i < count; i++) {
			t->acc[i] = i == at ? S32_MIN : i;
			put_unaligned_le32(-1, t->src + i * sizeof(s32));
		}
		KUNIT_EXPECT_TRUE(test, ina_sum_s32_add(t->acc, t->src, count));
		for (i = 0; i < count; i++)
			KUNIT_EXPECT_EQ(test, t->acc[i],
					i == at ? S32_MIN : (s32)i - 1);
	}
}

static void add__random(struct kunit *test)
{
	struct sum_test *t = test->priv;
	unsigned int i, count, seen[2] = {};
	struct rnd_state rnd;
	bool saturated;
	u8 *src;

	ina_test_random(test, &rnd);
	for (i = 0; i < 400; i++) {
		count = i < 40 ? i + 1 :
			1 + ina_test_below(&rnd, INA_FRAGMENT_MAX);
		if (i == 399)
			count = INA_FRAGMENT_MAX;
		src = t->src + i % 8;
		saturated = sum_test_fill(t, &rnd, count, src);
		seen[saturated]++;
		KUNIT_ASSERT_EQ(test, ina_sum_s32_add(t->acc, src, count),
				saturated);
		KUNIT_ASSERT_EQ(test, memcmp(t->acc, t->want,
					     count * sizeof(s32)), 0);
		KUNIT_ASSERT_EQ(test, t->acc[count], SUM_TEST_GUARD);
	}
	/* Both kinds have been tried. */
	KUNIT_EXPECT_GT(test, seen[0], 20);
	KUNIT_EXPECT_GT(test, seen[1], 20);
}

static void add__none(struct kunit *test)
{
	s32 acc = 5;

	KUNIT_EXPECT_FALSE(test, ina_sum_s32_add(&acc, "", 0));
	KUNIT_EXPECT_EQ(test, acc, 5);
}

static void store__unaligned(struct kunit *test)
{
	struct sum_test *t = test->priv;
	unsigned int i, offset;

	for (offset = 0; offset < 8; offset++) {
		t->acc[17] = SUM_TEST_GUARD;
		for (i = 0; i < 17; i++)
			put_unaligned_le32(0x01020304 * (i + 1) + offset,
					   t->src + offset + i * sizeof(s32));
		ina_sum_s32_store(t->acc, t->src + offset, 17);
		for (i = 0; i < 17; i++)
			KUNIT_EXPECT_EQ(test, t->acc[i],
					(s32)(0x01020304 * (i + 1) + offset));
		KUNIT_EXPECT_EQ(test, t->acc[17], SUM_TEST_GUARD);
	}
}

static void emit__little_endian(struct kunit *test)
{
	static const u8 want[] = { 4, 3, 2, 1, 0xfe, 0xff, 0xff, 0xff, 0x77 };
	static const s32 acc[] = { 0x01020304, -2 };
	__le32 out[3];

	memset(out, 0x77, sizeof(out));
	ina_sum_s32_emit(out, acc, 2);
	KUNIT_EXPECT_EQ(test, memcmp(out, want, sizeof(want)), 0);
}

static int sum_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct sum_test), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static struct kunit_case sum_test_cases[] = {
	KUNIT_CASE(add__edges),
	KUNIT_CASE(add__saturated_once),
	KUNIT_CASE(add__random),
	KUNIT_CASE(add__none),
	KUNIT_CASE(store__unaligned),
	KUNIT_CASE(emit__little_endian),
	{}
};

static struct kunit_suite sum_test_suite = {
	.name = "ina_sum_s32",
	.init = sum_test_init,
	.test_cases = sum_test_cases,
};

kunit_test_suite(sum_test_suite);
