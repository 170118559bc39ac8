// SPDX-License-Identifier: GPL-2.0
/* Loss recovery on a hop: numbers, groups, answers, questions. */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "test.h"

#define HOP_TEST_SLOTS	100
#define HOP_TEST_GROUP	8
#define HOP_TEST_SPAN	(HOP_TEST_GROUP * INA_HOP_CREDIT)
#define HOP_TEST_EPOCH	3

/* Two ends of a hop, of which one sends; @has are the slots that came over. */
struct hop_test {
	struct ina_hop tx;
	struct ina_hop rx;
	DECLARE_BITMAP(has, HOP_TEST_SLOTS);
	bool credit;
};

static bool hop_test_all(void *arg, u32 slot)
{
	return true;
}

static bool hop_test_none(void *arg, u32 slot)
{
	return false;
}

static bool hop_test_missing(void *arg, u32 slot)
{
	struct hop_test *t = arg;

	return !test_bit(slot, t->has);
}

/* Number the next pending slot. Return: false if there is none or no credit. */
static bool hop_test_send(struct hop_test *t, u32 *slot, u32 *seq)
{
	int id = ina_hop_credit(&t->tx) ? ina_queue_pick(t->tx.queue) : -1;

	if (id < 0)
		return false;
	*slot = id;
	return ina_hop_stamp(&t->tx, HOP_TEST_EPOCH, slot, 1, seq);
}

/* Queue and number @count slots, none of which has come over. */
static void hop_test_sent(struct kunit *test, u32 count)
{
	struct hop_test *t = test->priv;
	u32 i, slot, seq;

	for (i = 0; i < count; i++) {
		ina_queue_add(t->tx.queue, i % HOP_TEST_SLOTS);
		KUNIT_ASSERT_TRUE(test, hop_test_send(t, &slot, &seq));
		KUNIT_ASSERT_EQ(test, seq, i);
	}
}

/* Let the clock of both ends strike, as if much time had passed. */
static void hop_test_later(struct hop_test *t)
{
	t->tx.active = jiffies - 10 * HZ;
	t->rx.late_at = jiffies - 1;
}

static bool hop_test_answer(struct hop_test *t,
			    const struct ina_hop_answer *answer)
{
	struct ina_hop_news news;

	return ina_hop_answered(&t->tx, HOP_TEST_EPOCH, answer->first,
				answer->count,
				answer->lost ? answer->missing : NULL,
				answer->earlier, &news);
}

static void stamp__credit(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 slot = 0, seq, epoch;

	hop_test_sent(test, HOP_TEST_SPAN);
	KUNIT_EXPECT_EQ(test, ina_hop_credit(&t->tx), 0);
	KUNIT_EXPECT_FALSE(test, ina_hop_stamp(&t->tx, HOP_TEST_EPOCH, &slot, 1,
					       &seq));
	/* The second group is answered: the first still holds all up. */
	for (seq = HOP_TEST_GROUP; seq < 2 * HOP_TEST_GROUP; seq++)
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.first, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, answer.lost, 0);
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_FALSE(test, ina_hop_credit(&t->tx));
	for (seq = 0; seq < HOP_TEST_GROUP; seq++)
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	/* Both are paid back at once. */
	hop_test_sent(test, 0);
	ina_queue_add(t->tx.queue, 50);
	KUNIT_EXPECT_TRUE(test, hop_test_send(t, &slot, &seq));
	KUNIT_EXPECT_EQ(test, slot, 50);
	KUNIT_EXPECT_EQ(test, seq, HOP_TEST_SPAN);
	KUNIT_EXPECT_EQ(test, t->tx.una, 2 * HOP_TEST_GROUP);
}

/* The answer to the first group is lost: that to the second pays for both. */
static void answered__earlier(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 seq, epoch;

	hop_test_sent(test, HOP_TEST_SPAN);
	for (seq = 0; seq < 2 * HOP_TEST_GROUP; seq++) {
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
		if ((seq + 1) % HOP_TEST_GROUP == 0)
			KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch,
								    &answer));
	}
	KUNIT_EXPECT_EQ(test, answer.first, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, answer.earlier & 1, 1);
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_EQ(test, t->tx.una, 2 * HOP_TEST_GROUP);
	KUNIT_EXPECT_FALSE(test, t->tx.ask);
}

/* A group with a gap whose answer is lost is asked for at once, and only once. */
static void answered__hurry(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 seq, epoch, una, end;

	hop_test_sent(test, HOP_TEST_SPAN);
	for (seq = 1; seq < 2 * HOP_TEST_GROUP; seq++)
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.first, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, answer.earlier & 1, 0);
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_EQ(test, t->tx.una, 0);
	KUNIT_ASSERT_TRUE(test, ina_hop_done(&t->tx, &epoch, &una, &end));
	KUNIT_EXPECT_EQ(test, una, 0);
	KUNIT_EXPECT_EQ(test, end, HOP_TEST_GROUP);
	for (; seq < 3 * HOP_TEST_GROUP; seq++)
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_FALSE(test, t->tx.ask);
}

/* More than answers may be said to take that came at once, however long the test takes. */
static int hop_test_slow(unsigned long start)
{
	return INA_HOP_DELAY_MS / 8 + jiffies_to_msecs(jiffies - start);
}

/* Tails that are lost again and again do not make the sender wait longer. */
static void learn__closed(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 i, slot, seq, epoch, una, end;
	unsigned long start = jiffies;
	bool silent;

	for (i = 0; i < 20; i++) {
		ina_queue_add(t->tx.queue, i);
		KUNIT_ASSERT_TRUE(test, hop_test_send(t, &slot, &seq));
		t->tx.sent[seq / HOP_TEST_GROUP % INA_HOP_CREDIT] -= HZ;
		hop_test_later(t);
		ina_hop_ask(&t->tx, hop_test_all, t, &silent, &t->credit);
		KUNIT_ASSERT_TRUE(test, ina_hop_done(&t->tx, &epoch, &una, &end));
		ina_hop_asked(&t->rx, epoch, una, end);
		hop_test_later(t);
		ina_hop_check(&t->rx, &t->credit);
		KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch,
							    &answer));
		KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
		KUNIT_EXPECT_LT(test, t->tx.delay, hop_test_slow(start));
		/* It is sent again, and lost again. */
		KUNIT_ASSERT_EQ(test, ina_queue_pick(t->tx.queue), i);
	}
}

/* A full group tells how long an answer takes. */
static void learn__full(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 seq, epoch;

	hop_test_sent(test, HOP_TEST_GROUP);
	t->tx.sent[0] -= msecs_to_jiffies(100);
	for (seq = 0; seq < HOP_TEST_GROUP; seq++)
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_GE(test, t->tx.delay, 100 / 8);
	ina_hop_reset(&t->tx, HOP_TEST_EPOCH + 1);
	KUNIT_EXPECT_EQ(test, t->tx.delay, 0);
}

/* Groups 0 and 2 came, group 1 has a gap: the answer to group 2 pays for group 0 only. */
static void answered__gap_between(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 seq, epoch;

	hop_test_sent(test, 3 * HOP_TEST_GROUP);
	for (seq = 0; seq < 3 * HOP_TEST_GROUP; seq++) {
		if (seq == HOP_TEST_GROUP)
			continue;
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
		/* The answer to group 0 is lost. */
		if (seq == HOP_TEST_GROUP - 1)
			ina_hop_next_answer(&t->rx, &epoch, &answer);
	}
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.first, 2 * HOP_TEST_GROUP);
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_EQ(test, t->tx.una, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, t->tx.answered, BIT(1));
}

/* After a silence answers tell nothing but how long the question took. */
static void learn__asked(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	unsigned long start = jiffies;
	u32 seq, epoch, i;
	bool silent;

	hop_test_sent(test, HOP_TEST_SPAN);
	for (i = 0; i < INA_HOP_CREDIT; i++)
		t->tx.sent[i] -= HZ;
	hop_test_later(t);
	ina_hop_ask(&t->tx, hop_test_all, t, &silent, &t->credit);
	for (seq = 0; seq < HOP_TEST_SPAN; seq++) {
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
		if ((seq + 1) % HOP_TEST_GROUP)
			continue;
		KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch,
							    &answer));
		KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	}
	KUNIT_EXPECT_LT(test, t->tx.delay, hop_test_slow(start));
}

/* Is asked after this many milliseconds of silence? */
static bool hop_test_asks_after(struct hop_test *t, unsigned int ms)
{
	const struct ina_hop before = t->tx;
	unsigned long now;
	u32 epoch, una, end;
	bool silent;

	/* Once more if the clock went on meanwhile. */
	do {
		t->tx = before;
		now = jiffies;
		t->tx.active = now - msecs_to_jiffies(ms);
		ina_hop_ask(&t->tx, hop_test_all, t, &silent, &t->credit);
	} while (time_after(jiffies, now));
	return ina_hop_done(&t->tx, &epoch, &una, &end);
}

/* Each question waits as long as answers take. */
static void ask__delay(struct kunit *test)
{
	struct hop_test *t = test->priv;

	hop_test_sent(test, 1);
	t->tx.delay = 200;
	KUNIT_EXPECT_FALSE(test, hop_test_asks_after(t, 150));
	KUNIT_EXPECT_TRUE(test, hop_test_asks_after(t, 250));
	KUNIT_EXPECT_FALSE(test, hop_test_asks_after(t, 200));
	KUNIT_EXPECT_TRUE(test, hop_test_asks_after(t, 250));
	/* At most so often. */
	t->tx.asked = 20;
	KUNIT_EXPECT_TRUE(test, hop_test_asks_after(t, 500));
}

/* What still waits behind it, and may be sent, shows as well what is missing. */
static void ask__more(struct kunit *test)
{
	struct hop_test *t = test->priv;

	hop_test_sent(test, HOP_TEST_SPAN);
	ina_queue_add(t->tx.queue, 50);
	KUNIT_EXPECT_TRUE(test, hop_test_asks_after(t, INA_HOP_ASK_MS + 4));
	ina_hop_reset(&t->tx, HOP_TEST_EPOCH);
	KUNIT_ASSERT_EQ(test, ina_queue_pick(t->tx.queue), 50);
	hop_test_sent(test, 1);
	ina_queue_add(t->tx.queue, 50);
	KUNIT_EXPECT_FALSE(test, hop_test_asks_after(t, INA_HOP_ASK_MS + 10));
	KUNIT_EXPECT_TRUE(test, hop_test_asks_after(t, INA_HOP_ASK_MS +
						    INA_HOP_MORE_MS + 10));
	/* Once it has asked, it waits no longer for that. */
	KUNIT_EXPECT_TRUE(test, hop_test_asks_after(t, 2 * INA_HOP_ASK_MS + 10));
}

/* So does the answer to a question, counted from the last one. */
static void learn__question(struct kunit *test)
{
	struct hop_test *t = test->priv;
	unsigned long start = jiffies;
	struct ina_hop_news news;

	hop_test_sent(test, 1);
	KUNIT_ASSERT_TRUE(test, hop_test_asks_after(t, 100));
	t->tx.sent[0] -= 10 * HZ;
	KUNIT_ASSERT_TRUE(test, hop_test_asks_after(t, 100));
	t->tx.sent[0] -= msecs_to_jiffies(80);
	KUNIT_EXPECT_TRUE(test, ina_hop_answered(&t->tx, HOP_TEST_EPOCH, 0, 1,
						 NULL, 0, &news));
	KUNIT_EXPECT_GE(test, t->tx.delay, 80 / 8);
	KUNIT_EXPECT_LT(test, t->tx.delay, hop_test_slow(start));
}

/* What was lost is sent before what still waits behind it. */
static void pick__lost_first(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 i, slot, seq, epoch;

	hop_test_sent(test, HOP_TEST_GROUP);
	for (i = 0; i < 3; i++)
		ina_queue_add(t->tx.queue, HOP_TEST_GROUP + i);
	for (seq = 0; seq < HOP_TEST_GROUP; seq++)
		if (seq != 2)
			ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	hop_test_later(t);
	ina_hop_check(&t->rx, &t->credit);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.lost, 1);
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_ASSERT_TRUE(test, hop_test_send(t, &slot, &seq));
	KUNIT_EXPECT_EQ(test, slot, 2);
	KUNIT_ASSERT_TRUE(test, hop_test_send(t, &slot, &seq));
	KUNIT_EXPECT_EQ(test, slot, HOP_TEST_GROUP);
}

/* It is the next again, but for what was lost meanwhile. */
static void unpick__next(struct kunit *test)
{
	struct ina_hop *hop = &((struct hop_test *)test->priv)->tx;
	u32 i;

	for (i = 3; i < 7; i++)
		ina_queue_add(hop->queue, i);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), 3);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), 4);
	ina_queue_unpick(hop->queue, 4);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), 4);
	ina_queue_unpick(hop->queue, 4);
	ina_queue_add_lost(hop->queue, 1);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), 1);
	for (i = 4; i < 7; i++)
		KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), (int)i);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), -1);
}

/* Numbers for all of a batch, or for none. */
static void stamp__many(struct kunit *test)
{
	struct hop_test *t = test->priv;
	u32 slots[] = { 3, 1, 2 }, seq;

	hop_test_sent(test, HOP_TEST_SPAN - 3);
	KUNIT_EXPECT_EQ(test, ina_hop_credit(&t->tx), 3);
	KUNIT_EXPECT_TRUE(test, ina_hop_stamp(&t->tx, HOP_TEST_EPOCH, slots, 2,
					      &seq));
	KUNIT_EXPECT_EQ(test, seq, HOP_TEST_SPAN - 3);
	KUNIT_EXPECT_EQ(test, t->tx.log[HOP_TEST_SPAN - 3], 3);
	KUNIT_EXPECT_EQ(test, t->tx.log[HOP_TEST_SPAN - 2], 1);
	KUNIT_EXPECT_FALSE(test, ina_hop_stamp(&t->tx, HOP_TEST_EPOCH, slots, 2,
					       &seq));
	KUNIT_EXPECT_EQ(test, t->tx.next, HOP_TEST_SPAN - 1);
}

static void stamp__other_epoch(struct kunit *test)
{
	struct hop_test *t = test->priv;
	u32 slot = 0, seq;

	KUNIT_EXPECT_FALSE(test, ina_hop_stamp(&t->tx, HOP_TEST_EPOCH + 1, &slot,
					       1, &seq));
	KUNIT_EXPECT_EQ(test, ina_hop_received(&t->rx, HOP_TEST_EPOCH + 1, 0, 1),
			INA_HOP_NOTHING);
	KUNIT_EXPECT_EQ(test, t->rx.top, 0);
	KUNIT_EXPECT_EQ(test, ina_hop_asked(&t->rx, HOP_TEST_EPOCH + 1, 0, 1),
			INA_HOP_NOTHING);
}

/* The end of a group came, one of it did not: checked when it is late. */
static void received__gap(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 seq, epoch;
	bool now;

	hop_test_sent(test, HOP_TEST_GROUP);
	for (seq = 0; seq < HOP_TEST_GROUP - 1; seq++)
		if (seq != 2)
			KUNIT_EXPECT_EQ(test, ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1),
					INA_HOP_NOTHING);
	KUNIT_EXPECT_EQ(test, ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1),
			INA_HOP_CHECK);
	KUNIT_EXPECT_FALSE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	/* However long the test takes. */
	t->rx.late_at += 100 * HZ;
	KUNIT_EXPECT_TRUE(test, ina_hop_check(&t->rx, &now));
	KUNIT_EXPECT_FALSE(test, now);
	hop_test_later(t);
	KUNIT_EXPECT_FALSE(test, ina_hop_check(&t->rx, &now));
	KUNIT_EXPECT_TRUE(test, now);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, epoch, HOP_TEST_EPOCH);
	KUNIT_EXPECT_EQ(test, answer.first, 0);
	KUNIT_EXPECT_EQ(test, answer.count, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, answer.lost, 1);
	KUNIT_EXPECT_EQ(test, answer.missing[0], BIT(2));
	KUNIT_EXPECT_FALSE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	/* The late one comes after all: that was the one answer. */
	KUNIT_EXPECT_EQ(test, ina_hop_received(&t->rx, HOP_TEST_EPOCH, 2, 1),
			INA_HOP_NOTHING);
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_EQ(test, ina_queue_pick(t->tx.queue), 2);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(t->tx.queue), -1);
	/* The same answer again changes nothing. */
	KUNIT_EXPECT_FALSE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_EQ(test, ina_queue_pick(t->tx.queue), -1);
}

/* A whole group was lost: one of a later group tells. */
static void received__later_group(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 epoch;
	bool now;

	ina_hop_received(&t->rx, HOP_TEST_EPOCH, 2 * HOP_TEST_GROUP, 1);
	hop_test_later(t);
	ina_hop_check(&t->rx, &now);
	KUNIT_EXPECT_TRUE(test, now);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.lost, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, answer.first, 0);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.first, HOP_TEST_GROUP);
	KUNIT_EXPECT_FALSE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
}

/* Numbers no sender can have used, and those long answered. */
static void received__impossible(struct kunit *test)
{
	struct hop_test *t = test->priv;

	ina_hop_received(&t->rx, HOP_TEST_EPOCH, HOP_TEST_SPAN, 1);
	KUNIT_EXPECT_EQ(test, t->rx.top, 0);
	ina_hop_received(&t->rx, HOP_TEST_EPOCH, HOP_TEST_SPAN - 1, 1);
	ina_hop_received(&t->rx, HOP_TEST_EPOCH, HOP_TEST_SPAN, 1);
	KUNIT_EXPECT_EQ(test, t->rx.top, HOP_TEST_SPAN + 1);
	ina_hop_received(&t->rx, HOP_TEST_EPOCH, 0, 1);
	KUNIT_EXPECT_EQ(test, t->rx.count[0], 1);
	t->rx.late = 0;
	KUNIT_EXPECT_EQ(test, ina_hop_asked(&t->rx, HOP_TEST_EPOCH, 0,
					    HOP_TEST_SPAN + 1),
			INA_HOP_NOTHING);
}

/* Many in a row are as many one by one: known ones count once, groups end. */
static void received__run(struct kunit *test)
{
	struct hop_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, ina_hop_received(&t->rx, HOP_TEST_EPOCH, 0, 3),
			INA_HOP_NOTHING);
	KUNIT_EXPECT_EQ(test, ina_hop_received(&t->rx, HOP_TEST_EPOCH, 1, 2),
			INA_HOP_NOTHING);
	KUNIT_EXPECT_EQ(test, t->rx.count[0], 3U);
	KUNIT_EXPECT_EQ(test, ina_hop_received(&t->rx, HOP_TEST_EPOCH, 2,
					       HOP_TEST_GROUP),
			INA_HOP_ANSWER);
	KUNIT_EXPECT_EQ(test, t->rx.count[0], (u32)HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, t->rx.count[1], 2U);
	KUNIT_EXPECT_EQ(test, t->rx.top, (u32)HOP_TEST_GROUP + 2);
}

/* Not enough for a group: the sender asks, and goes on with a new one. */
static void ask__tail(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 epoch, una, end, seq, slot;
	bool silent;

	hop_test_sent(test, 3);
	ina_hop_received(&t->rx, HOP_TEST_EPOCH, 0, 1);
	/* However long the test takes. */
	t->tx.active = jiffies + 100 * HZ;
	KUNIT_EXPECT_TRUE(test, ina_hop_ask(&t->tx, hop_test_all, t, &silent, &t->credit));
	KUNIT_EXPECT_FALSE(test, ina_hop_done(&t->tx, &epoch, &una, &end));
	hop_test_later(t);
	KUNIT_EXPECT_TRUE(test, ina_hop_ask(&t->tx, hop_test_all, t, &silent, &t->credit));
	KUNIT_ASSERT_TRUE(test, ina_hop_done(&t->tx, &epoch, &una, &end));
	KUNIT_EXPECT_EQ(test, una, 0);
	KUNIT_EXPECT_EQ(test, end, 3);
	/* It may have overtaken what it asks about. */
	KUNIT_EXPECT_EQ(test, ina_hop_asked(&t->rx, epoch, una, end),
			INA_HOP_CHECK);
	hop_test_later(t);
	ina_hop_check(&t->rx, &silent);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.count, 3);
	KUNIT_EXPECT_EQ(test, answer.missing[0], BIT(1) | BIT(2));
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_EQ(test, t->tx.una, HOP_TEST_GROUP);
	KUNIT_ASSERT_TRUE(test, hop_test_send(t, &slot, &seq));
	KUNIT_EXPECT_EQ(test, seq, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, slot, 1);
}

/* What is sent before the question goes out is not asked about. */
static void ask__sent_since(struct kunit *test)
{
	struct hop_test *t = test->priv;
	u32 i, slot, seq, epoch, una, end;
	struct ina_hop_news news;
	bool silent;

	hop_test_sent(test, 3);
	hop_test_later(t);
	KUNIT_ASSERT_TRUE(test, ina_hop_ask(&t->tx, hop_test_all, NULL,
					    &silent, &t->credit));
	for (i = 0; i < HOP_TEST_GROUP; i++) {
		ina_queue_add(t->tx.queue, 50 + i);
		KUNIT_ASSERT_TRUE(test, hop_test_send(t, &slot, &seq));
		KUNIT_ASSERT_EQ(test, seq, HOP_TEST_GROUP + i);
	}
	KUNIT_ASSERT_TRUE(test, ina_hop_done(&t->tx, &epoch, &una, &end));
	KUNIT_EXPECT_EQ(test, una, 0);
	KUNIT_EXPECT_EQ(test, end, 3);
	KUNIT_EXPECT_TRUE(test, ina_hop_answered(&t->tx, HOP_TEST_EPOCH, 0, 3,
						 NULL, 0, &news));
	/* An answer to a part of a group leaves the rest open. */
	KUNIT_EXPECT_FALSE(test, ina_hop_answered(&t->tx, HOP_TEST_EPOCH,
						  HOP_TEST_GROUP, 1, NULL,
						  0, &news));
	KUNIT_EXPECT_EQ(test, t->tx.una, HOP_TEST_GROUP);
}

/* Overtaken, but all of it came before it was late: no check is needed. */
static void asked__overtaking(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 epoch;

	ina_hop_received(&t->rx, HOP_TEST_EPOCH, 0, 1);
	KUNIT_EXPECT_EQ(test, ina_hop_asked(&t->rx, HOP_TEST_EPOCH, 0, 2),
			INA_HOP_CHECK);
	KUNIT_EXPECT_EQ(test, ina_hop_received(&t->rx, HOP_TEST_EPOCH, 1, 1),
			INA_HOP_ANSWER);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.count, 2);
	KUNIT_EXPECT_EQ(test, answer.lost, 0);
	/* The answer was lost: asked again, it is there at once. */
	KUNIT_EXPECT_EQ(test, ina_hop_asked(&t->rx, HOP_TEST_EPOCH, 0, 2),
			INA_HOP_ANSWER);
}

/* A group that was closed by a question has no more numbers, which is known from then on. */
static void asked__closed(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 seq, epoch;

	for (seq = 0; seq < 3; seq++)
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	ina_hop_asked(&t->rx, HOP_TEST_EPOCH, 0, 3);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.count, 3);
	/* The answer is lost, the next group full: its answer speaks for both. */
	for (seq = 0; seq < HOP_TEST_GROUP; seq++)
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, HOP_TEST_GROUP + seq, 1);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.first, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, answer.earlier & 1, 1);
	/* Nor is anything reported as lost when it is asked for once more. */
	ina_hop_asked(&t->rx, HOP_TEST_EPOCH, 0, HOP_TEST_GROUP);
	KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch, &answer));
	KUNIT_EXPECT_EQ(test, answer.first, 0);
	KUNIT_EXPECT_EQ(test, answer.count, 3);
	KUNIT_EXPECT_EQ(test, answer.lost, 0);
	KUNIT_EXPECT_EQ(test, t->rx.lost, 0);
	/* A new group in its place has all its numbers. */
	ina_hop_received(&t->rx, HOP_TEST_EPOCH, HOP_TEST_SPAN, HOP_TEST_GROUP);
	while (ina_hop_next_answer(&t->rx, &epoch, &answer))
		if (answer.first == HOP_TEST_SPAN)
			break;
	KUNIT_EXPECT_EQ(test, answer.first, HOP_TEST_SPAN);
	KUNIT_EXPECT_EQ(test, answer.count, HOP_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, answer.lost, 0);
}

/* What is said of the end of a group does not hold if it is not true, nor of another group. */
static void asked__not_closed(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 seq, epoch;

	ina_hop_received(&t->rx, HOP_TEST_EPOCH, 0, 5);
	ina_hop_asked(&t->rx, HOP_TEST_EPOCH, 0, 3);
	KUNIT_EXPECT_EQ(test, t->rx.size[0], HOP_TEST_GROUP);
	ina_hop_asked(&t->rx, HOP_TEST_EPOCH, 0, 5);
	KUNIT_EXPECT_EQ(test, t->rx.size[0], 5);
	while (ina_hop_next_answer(&t->rx, &epoch, &answer))
		;
	ina_hop_received(&t->rx, HOP_TEST_EPOCH, 5, 3);
	KUNIT_EXPECT_EQ(test, t->rx.size[0], HOP_TEST_GROUP);
	for (seq = HOP_TEST_GROUP; seq < HOP_TEST_SPAN + HOP_TEST_GROUP; seq++)
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	/* An old question, of the group that was at this place before. */
	ina_hop_asked(&t->rx, HOP_TEST_EPOCH, 0, 5);
	KUNIT_EXPECT_EQ(test, t->rx.size[0], HOP_TEST_GROUP);
}

/* An answer that speaks of numbers never used, as the question was lost. */
static void answered__unused_numbers(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer = { .count = HOP_TEST_GROUP, .lost = 8 };
	bool silent;

	answer.missing[0] = 0xff;
	hop_test_sent(test, 2);
	/* The group is not closed: nobody can have answered it. */
	KUNIT_EXPECT_FALSE(test, hop_test_answer(t, &answer));
	hop_test_later(t);
	ina_hop_ask(&t->tx, hop_test_all, t, &silent, &t->credit);
	KUNIT_EXPECT_TRUE(test, hop_test_answer(t, &answer));
	KUNIT_EXPECT_EQ(test, ina_queue_pick(t->tx.queue), 0);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(t->tx.queue), 1);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(t->tx.queue), -1);
}

/* What others know to have come over is not asked for. */
static void ask__not_needed(struct kunit *test)
{
	struct hop_test *t = test->priv;
	u32 epoch, una, end;
	bool silent;

	hop_test_sent(test, HOP_TEST_SPAN - 1);
	hop_test_later(t);
	KUNIT_EXPECT_FALSE(test, ina_hop_ask(&t->tx, hop_test_none, t, &silent, &t->credit));
	KUNIT_EXPECT_FALSE(test, ina_hop_done(&t->tx, &epoch, &una, &end));
	KUNIT_EXPECT_EQ(test, t->tx.una, HOP_TEST_SPAN - 1);
	KUNIT_EXPECT_TRUE(test, ina_hop_credit(&t->tx));
}

static void ask__silent(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer = { .count = 1 };
	struct ina_hop_news news;
	u32 slot, seq;
	bool silent;
	int i;

	hop_test_sent(test, 1);
	for (i = 1; i <= INA_HOP_SILENT + 2; i++) {
		hop_test_later(t);
		ina_hop_ask(&t->tx, hop_test_all, t, &silent, &t->credit);
		KUNIT_EXPECT_EQ(test, silent, i >= INA_HOP_SILENT);
	}
	KUNIT_EXPECT_TRUE(test, ina_hop_answered(&t->tx, HOP_TEST_EPOCH, 0,
						 answer.count, NULL, 0, &news));
	ina_queue_add(t->tx.queue, 1);
	KUNIT_ASSERT_TRUE(test, hop_test_send(t, &slot, &seq));
	hop_test_later(t);
	ina_hop_ask(&t->tx, hop_test_all, t, &silent, &t->credit);
	KUNIT_EXPECT_FALSE(test, silent);
}

static void numbers__wrap(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct ina_hop_answer answer;
	u32 start = -2 * HOP_TEST_GROUP;
	u32 i, slot, seq, epoch;

	t->tx.next = start;
	t->tx.end = start;
	t->tx.una = start;
	t->rx.top = start;
	for (i = 0; i < HOP_TEST_SPAN; i++) {
		ina_queue_add(t->tx.queue, i);
		KUNIT_ASSERT_TRUE(test, hop_test_send(t, &slot, &seq));
		KUNIT_EXPECT_EQ(test, seq, start + i);
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	}
	KUNIT_EXPECT_FALSE(test, ina_hop_credit(&t->tx));
	for (i = 0; i < INA_HOP_CREDIT; i++) {
		KUNIT_ASSERT_TRUE(test, ina_hop_next_answer(&t->rx, &epoch,
							    &answer));
		KUNIT_EXPECT_EQ(test, answer.lost, 0);
		/* One may have spoken of all others, too. */
		hop_test_answer(t, &answer);
	}
	KUNIT_EXPECT_EQ(test, t->tx.una, start + HOP_TEST_SPAN);
	KUNIT_EXPECT_EQ(test, t->tx.answered, 0);
}

/* Send what there is, of which a third is lost. */
static void hop_test_flood(struct hop_test *t, struct rnd_state *rnd)
{
	u32 slot, seq;

	while (hop_test_send(t, &slot, &seq)) {
		if (!ina_test_below(rnd, 3))
			continue;
		set_bit(slot, t->has);
		ina_hop_received(&t->rx, HOP_TEST_EPOCH, seq, 1);
	}
}

/* Questions and answers, of which a third is lost and some come twice. */
static void hop_test_talk(struct hop_test *t, struct rnd_state *rnd)
{
	struct ina_hop_answer answer;
	u32 epoch, una, end;
	bool flag;

	hop_test_later(t);
	ina_hop_ask(&t->tx, hop_test_missing, t, &flag, &t->credit);
	ina_hop_check(&t->rx, &flag);
	if (ina_hop_done(&t->tx, &epoch, &una, &end) && ina_test_below(rnd, 3))
		ina_hop_asked(&t->rx, epoch, una, end);
	while (ina_hop_next_answer(&t->rx, &epoch, &answer)) {
		if (!ina_test_below(rnd, 3))
			continue;
		hop_test_answer(t, &answer);
		if (!ina_test_below(rnd, 3))
			hop_test_answer(t, &answer);
	}
}

/* Whatever is lost, in the end all have come over. */
static void random__all_arrive(struct kunit *test)
{
	struct hop_test *t = test->priv;
	struct rnd_state rnd;
	u32 i, turns = 0;

	ina_test_random(test, &rnd);
	for (i = 0; i < HOP_TEST_SLOTS; i++)
		ina_queue_add(t->tx.queue, i);
	while (!bitmap_full(t->has, HOP_TEST_SLOTS) && turns++ < 1000) {
		hop_test_flood(t, &rnd);
		hop_test_talk(t, &rnd);
	}
	KUNIT_EXPECT_TRUE(test, bitmap_full(t->has, HOP_TEST_SLOTS));
}

static int hop_test_init_one(struct kunit *test, struct ina_hop *hop)
{
	struct ina_queue *queue;

	queue = kunit_kzalloc(test, sizeof(*queue) +
			      ina_queue_size(HOP_TEST_SLOTS), GFP_KERNEL);
	if (!queue)
		return -ENOMEM;
	ina_queue_init(queue, HOP_TEST_SLOTS);
	queue->pending = (void *)(queue + 1);
	ina_hop_init(hop, queue, HOP_TEST_GROUP);
	hop->got = kunit_kzalloc(test, ina_hop_got_size(HOP_TEST_GROUP),
				 GFP_KERNEL);
	hop->log = kunit_kzalloc(test, ina_hop_log_size(HOP_TEST_GROUP),
				 GFP_KERNEL);
	if (!hop->got || !hop->log)
		return -ENOMEM;
	ina_hop_reset(hop, HOP_TEST_EPOCH);
	return 0;
}

static int hop_test_init(struct kunit *test)
{
	struct hop_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	return hop_test_init_one(test, &t->tx) ?:
	       hop_test_init_one(test, &t->rx);
}

static struct kunit_case hop_test_cases[] = {
	KUNIT_CASE(answered__earlier),
	KUNIT_CASE(answered__hurry),
	KUNIT_CASE(answered__gap_between),
	KUNIT_CASE(learn__asked),
	KUNIT_CASE(ask__delay),
	KUNIT_CASE(ask__more),
	KUNIT_CASE(learn__question),
	KUNIT_CASE(learn__closed),
	KUNIT_CASE(learn__full),
	KUNIT_CASE(pick__lost_first),
	KUNIT_CASE(unpick__next),
	KUNIT_CASE(stamp__credit),
	KUNIT_CASE(stamp__many),
	KUNIT_CASE(stamp__other_epoch),
	KUNIT_CASE(received__gap),
	KUNIT_CASE(received__later_group),
	KUNIT_CASE(received__impossible),
	KUNIT_CASE(received__run),
	KUNIT_CASE(ask__tail),
	KUNIT_CASE(ask__sent_since),
	KUNIT_CASE(asked__overtaking),
	KUNIT_CASE(asked__closed),
	KUNIT_CASE(asked__not_closed),
	KUNIT_CASE(answered__unused_numbers),
	KUNIT_CASE(ask__not_needed),
	KUNIT_CASE(ask__silent),
	KUNIT_CASE(numbers__wrap),
	KUNIT_CASE(random__all_arrive),
	{}
};

static struct kunit_suite hop_test_suite = {
	.name = "ina_hop",
	.init = hop_test_init,
	.test_cases = hop_test_cases,
};

kunit_test_suite(hop_test_suite);
