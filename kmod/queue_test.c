// SPDX-License-Identifier: GPL-2.0
/* What waits to be sent: which is picked next. */
#include "test.h"

/* A row of slots over three words: these, each once, and no others. */
static void add__range(struct kunit *test)
{
	unsigned long pending[BITS_TO_LONGS(192)] = {};
	struct ina_queue queue = { .pending = pending };
	int slot;

	ina_queue_init(&queue, 192);
	ina_queue_add_range(&queue, 0, 60, 70);
	ina_queue_add_range(&queue, 0, 128, 64);
	for (slot = 60; slot < 192; slot++)
		KUNIT_EXPECT_EQ(test, ina_queue_pick(&queue), slot);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(&queue), -1);
}

static void queue_test_picks(struct kunit *test, struct ina_queue *queue,
			     const int *slots, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		KUNIT_EXPECT_EQ(test, ina_queue_peek(queue), slots[i]);
		KUNIT_EXPECT_EQ(test, ina_queue_pick(queue), slots[i]);
	}
}

/* What is complete late goes before newer rounds, wherever the window begins. */
static void pick__late_first(struct kunit *test)
{
	static const int before[] = { 70, 90, 91, 5 };
	static const int after[] = { 66, 67, 69, 6, 8, 9, -1 };
	unsigned long pending[BITS_TO_LONGS(128)] = {};
	struct ina_queue queue = { .pending = pending };

	ina_queue_init(&queue, 128);
	ina_queue_add_range(&queue, 64, 70, 1);
	ina_queue_add_range(&queue, 64, 90, 2);
	ina_queue_add_range(&queue, 64, 5, 2);
	queue_test_picks(test, &queue, before, ARRAY_SIZE(before));
	ina_queue_add_lost(&queue, 69);
	ina_queue_add_range(&queue, 64, 66, 2);
	ina_queue_add_range(&queue, 64, 8, 2);
	queue_test_picks(test, &queue, after, ARRAY_SIZE(after));
}

/* What cannot be sent after all goes first again, the oldest before the others. */
static void unpick__oldest(struct kunit *test)
{
	static const int picked[] = { 100, 101, 50, 51 };
	static const int again[] = { 50, 51, 60, 100, 101, -1 };
	unsigned long pending[BITS_TO_LONGS(128)] = {};
	struct ina_queue queue = { .pending = pending };
	int i;

	ina_queue_init(&queue, 128);
	ina_queue_add_range(&queue, 0, 100, 2);
	queue_test_picks(test, &queue, picked, 2);
	ina_queue_add_range(&queue, 0, 50, 2);
	queue_test_picks(test, &queue, picked + 2, 2);
	/* Lost before they are back. */
	ina_queue_add_lost(&queue, 60);
	for (i = ARRAY_SIZE(picked) - 1; i >= 0; i--)
		ina_queue_unpick(&queue, picked[i]);
	queue_test_picks(test, &queue, again, ARRAY_SIZE(again));
}

static struct kunit_case queue_test_cases[] = {
	KUNIT_CASE(add__range),
	KUNIT_CASE(pick__late_first),
	KUNIT_CASE(unpick__oldest),
	{}
};

static struct kunit_suite queue_test_suite = {
	.name = "ina_queue",
	.test_cases = queue_test_cases,
};

kunit_test_suite(queue_test_suite);
