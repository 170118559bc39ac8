// SPDX-License-Identifier: GPL-2.0
/*
 * Slots: every contributor counts once under a tag, in any order, however
 * often it comes and from whichever CPU; nothing of another tag gets in.
 */
#include <linux/workqueue.h>

#include "slot.h"
#include "test.h"
#include "wire.h"

#define SLOT_TEST_COUNT	8	/* elements */
#define SLOT_TEST_MAX	300	/* contributors */

/**
 * struct slot_test - a slot and its elements
 * @slot: the slot, with room for SLOT_TEST_MAX contributors
 * @acc: its elements
 * @sums: where they are; of int32 unless a test says otherwise
 * @part: as the last call left it
 */
struct slot_test {
	struct ina_slot *slot;
	s32 acc[SLOT_TEST_COUNT];
	struct ina_sums sums;
	struct ina_part part;
};

static const struct ina_sum_type slot_test_int32 = {
	.dtype = INA_DTYPE_INT32,
};

static const struct ina_tag slot_test_tag = { .era = 5, .round = 9 };

static struct ina_slot *slot_test_alloc(struct kunit *test)
{
	struct ina_slot *slot;

	slot = kunit_kzalloc(test, sizeof(*slot) +
			     BITS_TO_LONGS(SLOT_TEST_MAX) * sizeof(long),
			     GFP_KERNEL);
	if (slot)
		ina_slot_init(slot);
	return slot;
}

static void slot_test_sums(struct slot_test *t)
{
	t->sums = (struct ina_sums){
		.type = &slot_test_int32, .acc = t->acc, .result = t->acc,
		.count = SLOT_TEST_COUNT,
	};
}

static void slot_test_elements(__le32 *src, s32 value)
{
	int i;

	for (i = 0; i < SLOT_TEST_COUNT; i++)
		src[i] = cpu_to_le32(value + i);
}

/* Token of a contributor: large, so that sums of tokens wrap. */
static u32 slot_test_token(u16 contributor)
{
	return 0x70000001 * (contributor + 1);
}

/* Contributor @who adds @value, @value + 1, ... and counts two workers. */
static enum ina_slot_verdict slot_test_add(struct slot_test *t,
					   struct ina_tag tag, u16 who,
					   u16 contributors, s32 value)
{
	__le32 src[SLOT_TEST_COUNT];

	slot_test_elements(src, value);
	t->part = (struct ina_part){
		.tag = tag, .contributor = who, .workers = 2,
		.token = slot_test_token(who),
	};
	return ina_slot_add(t->slot, &ina_test_ctx, &t->part, contributors,
			    &t->sums, src);
}

static enum ina_slot_verdict slot_test_result(struct slot_test *t,
					      struct ina_tag tag, s32 value,
					      u16 flags)
{
	__le32 src[SLOT_TEST_COUNT];

	slot_test_elements(src, value);
	t->part = (struct ina_part){
		.tag = tag, .workers = 50, .token = 60, .flags = flags,
	};
	return ina_slot_result(t->slot, &t->part, 2, &t->sums, src);
}

/* Are the elements @first, @first + @step, ...? */
static void slot_test_expect(struct kunit *test, const struct slot_test *t,
			     s32 first, s32 step)
{
	int i;

	for (i = 0; i < SLOT_TEST_COUNT; i++)
		KUNIT_EXPECT_EQ(test, t->acc[i], first + i * step);
}

/* A slot with both of its two contributors in: 30, 32, 34, ... */
static void slot_test_complete(struct kunit *test, struct ina_tag tag)
{
	struct slot_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, slot_test_add(t, tag, 0, 2, 10), INA_SLOT_ADDED);
	KUNIT_ASSERT_EQ(test, slot_test_add(t, tag, 1, 2, 20), INA_SLOT_FULL);
}

/* The first under a tag stores: what was there before does not matter. */
static void add__first_stores(struct kunit *test)
{
	struct slot_test *t = test->priv;

	memset(t->acc, 0x55, sizeof(t->acc));
	KUNIT_EXPECT_EQ(test, slot_test_add(t, slot_test_tag, 1, 2, 10),
			INA_SLOT_ADDED);
	slot_test_expect(test, t, 10, 1);
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_SUMMING);
}

static void add__completes(struct kunit *test)
{
	struct slot_test *t = test->priv;

	slot_test_complete(test, slot_test_tag);
	slot_test_expect(test, t, 30, 2);
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_COMPLETE);
	KUNIT_EXPECT_EQ(test, t->part.workers, 4);
	KUNIT_EXPECT_EQ(test, t->part.token,
			slot_test_token(0) + slot_test_token(1));
	KUNIT_EXPECT_EQ(test, t->part.flags, 0);
}

static void add__duplicate(struct kunit *test)
{
	struct slot_test *t = test->priv;

	slot_test_add(t, slot_test_tag, 0, 2, 10);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, slot_test_tag, 0, 2, 999),
			INA_SLOT_DUPLICATE);
	slot_test_expect(test, t, 10, 1);
	KUNIT_EXPECT_EQ(test, t->slot->missing, 1);
	KUNIT_EXPECT_EQ(test, t->slot->workers, 2);
	slot_test_add(t, slot_test_tag, 1, 2, 20);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, slot_test_tag, 1, 2, 999),
			INA_SLOT_DUPLICATE);
	slot_test_expect(test, t, 30, 2);
	KUNIT_EXPECT_EQ(test, t->slot->workers, 4);
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_COMPLETE);
}

/* A late contribution does not touch a result. */
static void add__after_result(struct kunit *test)
{
	struct slot_test *t = test->priv;

	slot_test_complete(test, slot_test_tag);
	slot_test_result(t, slot_test_tag, 70, 0);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, slot_test_tag, 0, 2, 999),
			INA_SLOT_DUPLICATE);
	slot_test_expect(test, t, 70, 1);
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_RESULT);
}

static void add__stale(struct kunit *test)
{
	struct slot_test *t = test->priv;

	slot_test_add(t, slot_test_tag, 0, 2, 10);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, (struct ina_tag){
			.era = 5, .round = 8 }, 1, 2, 999), INA_SLOT_STALE);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, (struct ina_tag){
			.era = 4, .round = 100 }, 1, 2, 999), INA_SLOT_STALE);
	slot_test_expect(test, t, 10, 1);
	KUNIT_EXPECT_EQ(test, t->slot->missing, 1);
	KUNIT_EXPECT_TRUE(test, ina_tag_equal(&t->slot->tag, &slot_test_tag));
}

static void add__newer_round(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_tag tag = { .era = 5, .round = 1ULL << 40 };

	slot_test_complete(test, slot_test_tag);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, tag, 1, 2, 7), INA_SLOT_ADDED);
	slot_test_expect(test, t, 7, 1);
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_SUMMING);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, tag, 0, 2, 8), INA_SLOT_FULL);
	slot_test_expect(test, t, 15, 2);
	KUNIT_EXPECT_EQ(test, t->part.workers, 4);
}

/* A newer era takes over whatever its round; half a sum is forgotten. */
static void add__newer_era(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_tag tag = { .era = 6, .round = 1 };

	slot_test_add(t, slot_test_tag, 0, 2, 999);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, tag, 0, 2, 10), INA_SLOT_ADDED);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, slot_test_tag, 1, 2, 999),
			INA_SLOT_STALE);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, tag, 1, 2, 20), INA_SLOT_FULL);
	slot_test_expect(test, t, 30, 2);
	KUNIT_EXPECT_EQ(test, t->part.workers, 4);
}

static void add__era_wrap(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_tag last = { .era = U32_MAX, .round = 9 };
	struct ina_tag first = { .era = 1, .round = 9 };

	KUNIT_EXPECT_EQ(test, slot_test_add(t, last, 0, 2, 1), INA_SLOT_ADDED);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, first, 0, 2, 5), INA_SLOT_ADDED);
	slot_test_expect(test, t, 5, 1);
	KUNIT_EXPECT_EQ(test, slot_test_add(t, last, 1, 2, 1), INA_SLOT_STALE);
}

/* A slot never used is older than any tag, also one of the upper half. */
static void add__unused(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_tag tag = { .era = 0x80000001 };

	KUNIT_EXPECT_EQ(test, slot_test_add(t, tag, 0, 1, 3), INA_SLOT_FULL);
	slot_test_expect(test, t, 3, 1);
}

/* Random order, random duplicates. */
static void slot_test_crowd(struct kunit *test, struct rnd_state *rnd,
			    struct ina_tag tag, u16 contributors)
{
	struct slot_test *t = test->priv;
	u32 sum = 0, token = 0;
	u16 *order;
	u16 i, who;

	order = kunit_kcalloc(test, contributors, sizeof(*order), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, order);
	ina_test_shuffle(rnd, order, contributors);
	for (i = 0; i < contributors; i++) {
		who = order[ina_test_below(rnd, i + 1)];
		if (who != order[i])
			KUNIT_ASSERT_EQ(test, slot_test_add(t, tag, who,
							    contributors, 1),
					INA_SLOT_DUPLICATE);
		KUNIT_ASSERT_EQ(test, slot_test_add(t, tag, order[i],
						    contributors, order[i] * 3),
				i + 1 == contributors ? INA_SLOT_FULL :
							INA_SLOT_ADDED);
		sum += order[i] * 3;
		token += slot_test_token(order[i]);
	}
	slot_test_expect(test, t, sum, contributors);
	KUNIT_EXPECT_EQ(test, t->part.workers, 2 * contributors);
	KUNIT_EXPECT_EQ(test, t->part.token, token);
}

static void add__contributors(struct kunit *test)
{
	static const u16 sizes[] = { 300, 65, 64, 63, 2, 1, 63, 64, 65, 300 };
	struct ina_tag tag = slot_test_tag;
	struct rnd_state rnd;
	unsigned int i;

	ina_test_random(test, &rnd);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		tag.round++;
		slot_test_crowd(test, &rnd, tag, sizes[i]);
	}
}

static void add__saturates(struct kunit *test)
{
	struct slot_test *t = test->priv;

	slot_test_add(t, slot_test_tag, 0, 3, S32_MAX - 10);
	slot_test_add(t, slot_test_tag, 1, 3, 5);
	/* Back in range, but the flag stays. */
	KUNIT_EXPECT_EQ(test, slot_test_add(t, slot_test_tag, 2, 3, -100),
			INA_SLOT_FULL);
	KUNIT_EXPECT_EQ(test, t->part.flags, INA_F_OVERFLOW);
}

/* The flag of a contribution is the sum's, and gone with the next tag. */
static void add__overflow_sticky(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_tag next = { .era = 5, .round = 10 };
	__le32 src[SLOT_TEST_COUNT] = {};
	struct ina_part part = {
		.tag = slot_test_tag, .flags = INA_F_OVERFLOW | INA_F_CRC,
	};

	ina_slot_add(t->slot, &ina_test_ctx, &part, 2, &t->sums, src);
	slot_test_add(t, slot_test_tag, 1, 2, 1);
	KUNIT_EXPECT_EQ(test, t->part.flags, INA_F_OVERFLOW);
	slot_test_complete(test, next);
	KUNIT_EXPECT_EQ(test, t->part.flags, 0);
}

#define SLOT_TEST_THREADS	4
#define SLOT_TEST_SLOTS		24
#define SLOT_TEST_CROWD		65

/**
 * struct slot_test_thread - one of several that feed the same slots
 * @work: runs it
 * @slots: the slots
 * @contributed: elements of each contributor
 * @rnd: its own random numbers
 * @order: scratch
 * @verdicts: how often each was returned
 */
struct slot_test_thread {
	struct work_struct work;
	struct slot_test *slots;
	__le32 (*contributed)[SLOT_TEST_COUNT];
	struct rnd_state rnd;
	u16 order[SLOT_TEST_CROWD];
	unsigned int verdicts[INA_SLOT_EARLY + 1];
};

/* All contributions to one slot, in an order of this thread's own. */
static void slot_test_feed(struct slot_test_thread *thread,
			   struct slot_test *t)
{
	struct ina_part part;
	unsigned int i;
	u16 who;

	ina_test_shuffle(&thread->rnd, thread->order, SLOT_TEST_CROWD);
	for (i = 0; i < SLOT_TEST_CROWD; i++) {
		who = thread->order[i];
		part = (struct ina_part){
			.tag = slot_test_tag, .contributor = who,
			.workers = 1, .token = slot_test_token(who),
		};
		thread->verdicts[ina_slot_add(t->slot, &ina_test_ctx, &part,
					      SLOT_TEST_CROWD, &t->sums,
					      thread->contributed[who])]++;
		/* On one CPU, too, threads are to meet in the middle. */
		if (!ina_test_below(&thread->rnd, 16))
			cond_resched();
	}
}

static void slot_test_work(struct work_struct *work)
{
	struct slot_test_thread *thread =
		container_of(work, struct slot_test_thread, work);
	int i;

	for (i = 0; i < SLOT_TEST_SLOTS; i++)
		slot_test_feed(thread, &thread->slots[i]);
}

/* Run the threads. Return: how often each verdict was returned by all. */
static void slot_test_run(struct kunit *test, struct slot_test_thread *threads,
			  unsigned int *verdicts)
{
	struct workqueue_struct *wq;
	int i, j;

	wq = alloc_workqueue("ina_slot_test", WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, wq);
	for (i = 0; i < SLOT_TEST_THREADS; i++)
		queue_work(wq, &threads[i].work);
	destroy_workqueue(wq);
	for (i = 0; i < SLOT_TEST_THREADS; i++)
		for (j = 0; j <= INA_SLOT_EARLY; j++)
			verdicts[j] += threads[i].verdicts[j];
}

/* Slots, contributions and their sum for the threads. */
static struct slot_test_thread *slot_test_threads(struct kunit *test, s32 *sum)
{
	struct slot_test_thread *threads;
	struct rnd_state rnd;
	struct slot_test *slots;
	__le32 (*src)[SLOT_TEST_COUNT];
	s32 value;
	int i, j;

	threads = kunit_kcalloc(test, SLOT_TEST_THREADS, sizeof(*threads),
				GFP_KERNEL);
	slots = kunit_kcalloc(test, SLOT_TEST_SLOTS, sizeof(*slots), GFP_KERNEL);
	src = kunit_kcalloc(test, SLOT_TEST_CROWD, sizeof(*src), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, threads && slots && src);
	for (i = 0; i < SLOT_TEST_SLOTS; i++) {
		slots[i].slot = slot_test_alloc(test);
		KUNIT_ASSERT_NOT_NULL(test, slots[i].slot);
		slot_test_sums(&slots[i]);
	}
	ina_test_random(test, &rnd);
	for (i = 0; i < SLOT_TEST_CROWD; i++) {
		for (j = 0; j < SLOT_TEST_COUNT; j++) {
			value = (s32)prandom_u32_state(&rnd) >> 8;
			src[i][j] = cpu_to_le32(value);
			sum[j] += value;
		}
	}
	for (i = 0; i < SLOT_TEST_THREADS; i++) {
		INIT_WORK(&threads[i].work, slot_test_work);
		threads[i].slots = slots;
		threads[i].contributed = src;
		prandom_seed_state(&threads[i].rnd, prandom_u32_state(&rnd));
	}
	return threads;
}

/* Every thread brings every contribution to every slot: one of each counts. */
static void add__concurrent(struct kunit *test)
{
	unsigned int verdicts[INA_SLOT_EARLY + 1] = {};
	s32 sum[SLOT_TEST_COUNT] = {};
	struct slot_test_thread *threads = slot_test_threads(test, sum);
	struct slot_test *t;
	int i;

	slot_test_run(test, threads, verdicts);
	for (i = 0; i < SLOT_TEST_SLOTS; i++) {
		t = &threads->slots[i];
		KUNIT_EXPECT_EQ(test, memcmp(t->acc, sum, sizeof(sum)), 0);
		KUNIT_EXPECT_EQ(test, t->slot->workers, SLOT_TEST_CROWD);
		KUNIT_EXPECT_EQ(test, t->slot->missing, 0);
		KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_COMPLETE);
	}
	KUNIT_EXPECT_EQ(test, verdicts[INA_SLOT_FULL], SLOT_TEST_SLOTS);
	KUNIT_EXPECT_EQ(test, verdicts[INA_SLOT_ADDED],
			SLOT_TEST_SLOTS * (SLOT_TEST_CROWD - 1));
	KUNIT_EXPECT_EQ(test, verdicts[INA_SLOT_DUPLICATE],
			SLOT_TEST_SLOTS * SLOT_TEST_CROWD *
			(SLOT_TEST_THREADS - 1));
	KUNIT_EXPECT_EQ(test, verdicts[INA_SLOT_STALE], 0);
}

static void result__stored(struct kunit *test)
{
	struct slot_test *t = test->priv;

	slot_test_complete(test, slot_test_tag);
	KUNIT_EXPECT_EQ(test, slot_test_result(t, slot_test_tag, 70,
					       INA_F_OVERFLOW | INA_F_CRC),
			INA_SLOT_FULL);
	slot_test_expect(test, t, 70, 1);
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_RESULT);
	KUNIT_EXPECT_EQ(test, t->slot->flags, INA_F_OVERFLOW);
	KUNIT_EXPECT_EQ(test, t->slot->workers, 50);
	KUNIT_EXPECT_EQ(test, t->slot->token, 60);
}

static void result__early(struct kunit *test)
{
	struct slot_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, slot_test_result(t, slot_test_tag, 70, 0),
			INA_SLOT_EARLY);
	slot_test_add(t, slot_test_tag, 0, 2, 10);
	KUNIT_EXPECT_EQ(test, slot_test_result(t, slot_test_tag, 70, 0),
			INA_SLOT_EARLY);
	KUNIT_EXPECT_EQ(test, slot_test_result(t, (struct ina_tag){
			.era = 5, .round = 10 }, 70, 0), INA_SLOT_EARLY);
	slot_test_expect(test, t, 10, 1);
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_SUMMING);
}

static void result__duplicate(struct kunit *test)
{
	struct slot_test *t = test->priv;

	slot_test_complete(test, slot_test_tag);
	slot_test_result(t, slot_test_tag, 70, 0);
	KUNIT_EXPECT_EQ(test, slot_test_result(t, slot_test_tag, 80, 0),
			INA_SLOT_DUPLICATE);
	slot_test_expect(test, t, 70, 1);
}

static void result__stale(struct kunit *test)
{
	struct slot_test *t = test->priv;

	slot_test_complete(test, slot_test_tag);
	KUNIT_EXPECT_EQ(test, slot_test_result(t, (struct ina_tag){
			.era = 5, .round = 8 }, 70, 0), INA_SLOT_STALE);
	KUNIT_EXPECT_EQ(test, slot_test_result(t, (struct ina_tag){
			.era = 4, .round = 9 }, 70, 0), INA_SLOT_STALE);
	slot_test_expect(test, t, 30, 2);
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_COMPLETE);
}

/* Only a complete sum of this very tag, and only once. */
static void publish__once(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_tag other = { .era = 5, .round = 10 };

	slot_test_add(t, slot_test_tag, 0, 2, 10);
	KUNIT_EXPECT_FALSE(test, ina_slot_publish(t->slot, &slot_test_tag));
	slot_test_add(t, slot_test_tag, 1, 2, 20);
	KUNIT_EXPECT_FALSE(test, ina_slot_publish(t->slot, &other));
	KUNIT_EXPECT_TRUE(test, ina_slot_publish(t->slot, &slot_test_tag));
	KUNIT_EXPECT_EQ(test, t->slot->state, INA_SLOT_RESULT);
	KUNIT_EXPECT_FALSE(test, ina_slot_publish(t->slot, &slot_test_tag));
	slot_test_expect(test, t, 30, 2);
}

/* Up goes a complete sum, down a result. */
static void peek__ways(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_part part;

	KUNIT_EXPECT_FALSE(test, ina_slot_peek(t->slot, INA_SLOT_UP, &part));
	KUNIT_EXPECT_FALSE(test, ina_slot_peek(t->slot, INA_SLOT_DOWN, &part));
	slot_test_complete(test, slot_test_tag);
	KUNIT_EXPECT_TRUE(test, ina_slot_peek(t->slot, INA_SLOT_UP, &part));
	KUNIT_EXPECT_TRUE(test, ina_tag_equal(&part.tag, &slot_test_tag));
	KUNIT_EXPECT_TRUE(test, part.wide);
	KUNIT_EXPECT_FALSE(test, ina_slot_peek(t->slot, INA_SLOT_DOWN, &part));
	slot_test_result(t, slot_test_tag, 70, 0);
	KUNIT_EXPECT_FALSE(test, ina_slot_peek(t->slot, INA_SLOT_UP, &part));
	KUNIT_EXPECT_TRUE(test, ina_slot_peek(t->slot, INA_SLOT_DOWN, &part));
	KUNIT_EXPECT_FALSE(test, part.wide);
}

static void emit__sum(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_part part = { .tag = slot_test_tag, .wide = true };
	__le32 dst[SLOT_TEST_COUNT];
	int i;

	slot_test_complete(test, slot_test_tag);
	KUNIT_EXPECT_TRUE(test, ina_slot_emit(t->slot, INA_SLOT_UP, &part, dst,
					      &t->sums));
	for (i = 0; i < SLOT_TEST_COUNT; i++)
		KUNIT_EXPECT_EQ(test, le32_to_cpu(dst[i]), 30 + 2 * i);
	KUNIT_EXPECT_EQ(test, part.workers, 4);
	KUNIT_EXPECT_EQ(test, part.token,
			slot_test_token(0) + slot_test_token(1));
}

/* Neither another tag's bytes nor those of another state leave the slot. */
static void emit__moved_on(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct ina_part part = { .tag = slot_test_tag };
	__le32 dst[SLOT_TEST_COUNT] = {};

	slot_test_complete(test, slot_test_tag);
	KUNIT_EXPECT_FALSE(test, ina_slot_emit(t->slot, INA_SLOT_DOWN, &part,
					       dst, &t->sums));
	slot_test_complete(test, (struct ina_tag){ .era = 5, .round = 10 });
	KUNIT_EXPECT_FALSE(test, ina_slot_emit(t->slot, INA_SLOT_UP, &part,
					       dst, &t->sums));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dst[0]), 0);
	KUNIT_EXPECT_EQ(test, part.workers, 0);
}

static void common__who(struct kunit *test)
{
	struct ina_tag other = { .era = 5, .round = 10 };
	struct slot_test *t = test->priv;
	DECLARE_BITMAP(seen, 66);
	u16 who;

	for (who = 0; who < 66; who++) {
		bitmap_fill(seen, 66);
		ina_slot_common(t->slot, &slot_test_tag, seen, 66);
		KUNIT_EXPECT_EQ(test, bitmap_weight(seen, 66), who);
		KUNIT_EXPECT_FALSE(test, ina_slot_has(t->slot, &slot_test_tag,
						      who));
		slot_test_add(t, slot_test_tag, who, 66, 1);
		KUNIT_EXPECT_TRUE(test, ina_slot_has(t->slot, &slot_test_tag,
						     who));
	}
	bitmap_fill(seen, 66);
	ina_slot_common(t->slot, &slot_test_tag, seen, 66);
	KUNIT_EXPECT_TRUE(test, bitmap_full(seen, 66));
	/* Nobody has come under another tag. */
	ina_slot_common(t->slot, &other, seen, 66);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(seen, 66));
	KUNIT_EXPECT_FALSE(test, ina_slot_has(t->slot, &other, 0));
}

/* Two of three are in the epoch: they make the sum, the third is refused. */
static void expected__fewer(struct kunit *test)
{
	struct ina_part part = {
		.tag = slot_test_tag, .contributor = 2, .workers = 1,
		.expected = 2,
	};
	struct slot_test *t = test->priv;
	__le32 src[SLOT_TEST_COUNT] = { cpu_to_le32(5) };

	KUNIT_EXPECT_EQ(test, ina_slot_add(t->slot, &ina_test_ctx, &part, 3,
					   &t->sums, src), INA_SLOT_ADDED);
	part.contributor = 0;
	KUNIT_EXPECT_EQ(test, ina_slot_add(t->slot, &ina_test_ctx, &part, 3,
					   &t->sums, src), INA_SLOT_FULL);
	KUNIT_EXPECT_EQ(test, part.workers, 2);
	part.contributor = 1;
	KUNIT_EXPECT_EQ(test, ina_slot_add(t->slot, &ina_test_ctx, &part, 3,
					   &t->sums, src), INA_SLOT_DUPLICATE);
	KUNIT_EXPECT_EQ(test, t->acc[0], 10);
}

#define SLOT_TEST_BELOW	0x2e800000	/* 2^-34, below the unit */
#define SLOT_TEST_ONE	0x3f800000

static const struct ina_sum_type slot_test_fixed = {
	.dtype = INA_DTYPE_FIXED, .exponent = -30,
};

static const struct ina_sum_type slot_test_bf16 = {
	.dtype = INA_DTYPE_BF16,
};

/* Contributor @who of two adds one element. */
static enum ina_slot_verdict slot_test_one(struct slot_test *t, u16 who,
					   u16 contributors, bool wide,
					   u64 value)
{
	__le64 src = cpu_to_le64(value);

	t->part = (struct ina_part){
		.tag = slot_test_tag, .contributor = who, .workers = 1 + wide,
		.wide = wide,
	};
	t->sums.count = 1;
	return ina_slot_add(t->slot, &ina_test_ctx, &t->part, contributors,
			    &t->sums, &src);
}

/* What leaves upwards, and whether it is wide. */
static u64 slot_test_up(struct kunit *test, bool *wide)
{
	struct slot_test *t = test->priv;
	struct ina_part part;
	__le64 dst = 0;

	KUNIT_ASSERT_TRUE(test, ina_slot_peek(t->slot, INA_SLOT_UP, &part));
	KUNIT_ASSERT_TRUE(test, ina_slot_emit(t->slot, INA_SLOT_UP, &part,
					      &dst, &t->sums));
	*wide = part.wide;
	t->part = part;
	return le64_to_cpu(dst);
}

/* What one worker gave goes on as it is: rounding is for who adds. */
static void fixed__alone(struct kunit *test)
{
	struct slot_test *t = test->priv;
	bool wide;

	t->sums.type = &slot_test_fixed;
	t->sums.result = t->acc + 2;
	KUNIT_EXPECT_EQ(test, slot_test_one(t, 0, 1, false, SLOT_TEST_BELOW),
			INA_SLOT_FULL);
	KUNIT_EXPECT_EQ(test, slot_test_up(test, &wide), SLOT_TEST_BELOW);
	KUNIT_EXPECT_FALSE(test, wide);
	KUNIT_EXPECT_EQ(test, t->part.flags, 0);
	KUNIT_EXPECT_EQ(test, t->acc[2], SLOT_TEST_BELOW);
}

/* A sum goes on alone, too, but it stays wide. */
static void fixed__alone_wide(struct kunit *test)
{
	struct slot_test *t = test->priv;
	bool wide;

	t->sums.type = &slot_test_fixed;
	slot_test_one(t, 0, 1, true, 0x123456789abcdefULL);
	KUNIT_EXPECT_EQ(test, slot_test_up(test, &wide), 0x123456789abcdefULL);
	KUNIT_EXPECT_TRUE(test, wide);
}

/* Of two: units of 2^-30, and the bits that were lost are told of. */
static void fixed__partial(struct kunit *test)
{
	struct slot_test *t = test->priv;
	bool wide;

	t->sums.type = &slot_test_fixed;
	slot_test_one(t, 0, 2, false, SLOT_TEST_BELOW);
	slot_test_one(t, 1, 2, false, SLOT_TEST_ONE);
	KUNIT_EXPECT_EQ(test, slot_test_up(test, &wide), 1ULL << 30);
	KUNIT_EXPECT_TRUE(test, wide);
	KUNIT_EXPECT_EQ(test, t->part.flags, INA_F_INEXACT);
}

/* The root makes the result, beside the sum or in its place. */
static void fixed__root(struct kunit *test)
{
	struct slot_test *t = test->priv;
	int at;

	t->sums.type = &slot_test_fixed;
	t->sums.root = true;
	for (at = 0; at <= 2; at += 2) {
		t->sums.result = t->acc + at;
		memset(t->slot, 0, sizeof(*t->slot) + sizeof(long));
		ina_slot_init(t->slot);
		slot_test_one(t, 1, 2, true, 5ULL << 30);
		KUNIT_EXPECT_EQ(test, slot_test_one(t, 0, 2, false,
						    SLOT_TEST_ONE),
				INA_SLOT_FULL);
		KUNIT_EXPECT_EQ(test, t->acc[at], 0x40c00000);	/* 6.0 */
	}
}

/* One worker at the root is rounded as any other. */
static void fixed__root_alone(struct kunit *test)
{
	struct slot_test *t = test->priv;

	t->sums.type = &slot_test_fixed;
	t->sums.root = true;
	slot_test_one(t, 0, 1, false, SLOT_TEST_BELOW);
	KUNIT_EXPECT_EQ(test, t->part.flags, INA_F_INEXACT);
	KUNIT_EXPECT_EQ(test, t->acc[0], 0);
}

/* Sums of bf16 are fp32 on their way: 1 + 2^-8 is no bf16. */
static void bf16__partial(struct kunit *test)
{
	struct slot_test *t = test->priv;
	bool wide;

	t->sums.type = &slot_test_bf16;
	slot_test_one(t, 0, 2, false, 0x3f80);
	slot_test_one(t, 1, 2, false, 0x3b80);
	KUNIT_EXPECT_EQ(test, slot_test_up(test, &wide), 0x3f808000);
	KUNIT_EXPECT_TRUE(test, wide);
}

static int slot_test_init(struct kunit *test)
{
	struct slot_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	test->priv = t;
	if (t) {
		t->slot = slot_test_alloc(test);
		slot_test_sums(t);
	}
	return t && t->slot ? 0 : -ENOMEM;
}

static struct kunit_case slot_test_cases[] = {
	KUNIT_CASE(add__first_stores),
	KUNIT_CASE(add__completes),
	KUNIT_CASE(add__duplicate),
	KUNIT_CASE(add__after_result),
	KUNIT_CASE(add__stale),
	KUNIT_CASE(add__newer_round),
	KUNIT_CASE(add__newer_era),
	KUNIT_CASE(add__era_wrap),
	KUNIT_CASE(add__unused),
	KUNIT_CASE(add__contributors),
	KUNIT_CASE(add__saturates),
	KUNIT_CASE(add__overflow_sticky),
	KUNIT_CASE(add__concurrent),
	KUNIT_CASE(result__stored),
	KUNIT_CASE(result__early),
	KUNIT_CASE(result__duplicate),
	KUNIT_CASE(result__stale),
	KUNIT_CASE(publish__once),
	KUNIT_CASE(peek__ways),
	KUNIT_CASE(emit__sum),
	KUNIT_CASE(emit__moved_on),
	KUNIT_CASE(common__who),
	KUNIT_CASE(expected__fewer),
	KUNIT_CASE(fixed__alone),
	KUNIT_CASE(fixed__alone_wide),
	KUNIT_CASE(fixed__partial),
	KUNIT_CASE(fixed__root),
	KUNIT_CASE(fixed__root_alone),
	KUNIT_CASE(bf16__partial),
	{}
};

static struct kunit_suite slot_test_suite = {
	.name = "ina_slot",
	.init = slot_test_init,
	.test_cases = slot_test_cases,
};

kunit_test_suite(slot_test_suite);
