// SPDX-License-Identifier: GPL-2.0
/* Rates: max-min shares of a capacity, and what loss makes of a rate. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/math64.h>

#include "rate.h"

#define RATE_TEST_MB	1000000ULL
#define RATE_TEST_MS	1000000ULL	/* nanoseconds */

/* Share @capacity between those who @asks. */
static void rate_test_share(struct ina_rate_share *share, u64 capacity,
			    const u64 *asks, u32 count)
{
	u32 i;

	ina_rate_begin(share, capacity);
	do {
		for (i = 0; i < count; i++)
			ina_rate_ask(share, asks[i]);
	} while (ina_rate_again(share));
}

static void min__unlimited(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_rate_min(0, 0), 0);
	KUNIT_EXPECT_EQ(test, ina_rate_min(0, 5), 5);
	KUNIT_EXPECT_EQ(test, ina_rate_min(5, 0), 5);
	KUNIT_EXPECT_EQ(test, ina_rate_min(7, 5), 5);
}

/* Who asks for less than its part gets it, the others share the rest. */
static void share__max_min(struct kunit *test)
{
	static const u64 asks[] = {
		2 * RATE_TEST_MB, 0, 20 * RATE_TEST_MB, 5 * RATE_TEST_MB,
	};
	struct ina_rate_share share;

	rate_test_share(&share, 20 * RATE_TEST_MB, asks, 4);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, asks[0]), 2 * RATE_TEST_MB);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, asks[1]), 6500000);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, asks[2]), 6500000);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, asks[3]), 5 * RATE_TEST_MB);
}

/* There is enough for all. */
static void share__enough(struct kunit *test)
{
	static const u64 asks[] = { 2 * RATE_TEST_MB, 3 * RATE_TEST_MB };
	struct ina_rate_share share;

	rate_test_share(&share, 20 * RATE_TEST_MB, asks, 2);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, asks[0]), asks[0]);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, asks[1]), asks[1]);
	/* One more could have all of it. */
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, 0), 20 * RATE_TEST_MB);
}

static void share__unlimited(struct kunit *test)
{
	static const u64 asks[] = { 0, 3 * RATE_TEST_MB };
	struct ina_rate_share share;

	rate_test_share(&share, 0, asks, 2);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, asks[0]), 0);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, asks[1]), asks[1]);
}

static void share__nobody(struct kunit *test)
{
	struct ina_rate_share share;

	rate_test_share(&share, 20 * RATE_TEST_MB, NULL, 0);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, 0), 20 * RATE_TEST_MB);
}

/* However many there are, what they get is within the capacity, and nearly all of it. */
static void share__many(struct kunit *test)
{
	struct ina_rate_share share;
	static u64 asks[1024];
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(asks); i++)
		asks[i] = (i + 1) * RATE_TEST_MB;
	rate_test_share(&share, 10000 * RATE_TEST_MB, asks, ARRAY_SIZE(asks));
	for (i = 0; i < ARRAY_SIZE(asks); i++)
		sum += ina_rate_of(&share, asks[i]);
	KUNIT_EXPECT_LE(test, sum, 10000 * RATE_TEST_MB);
	KUNIT_EXPECT_GE(test, sum, 9900 * RATE_TEST_MB);
}

/* Nobody is granted nothing, which would be unlimited. */
static void share__least(struct kunit *test)
{
	static const u64 asks[] = { 0, 0, 1 };
	struct ina_rate_share share;

	rate_test_share(&share, 2, asks, 3);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, 0), INA_RATE_MIN);
	KUNIT_EXPECT_EQ(test, ina_rate_of(&share, 1), INA_RATE_MIN);
}

static void idle__others(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_rate_idle(0, 0, 3), 0);
	KUNIT_EXPECT_EQ(test, ina_rate_idle(90, 0, 0), 90);
	KUNIT_EXPECT_EQ(test, ina_rate_idle(90, 20, 1), 70);
	KUNIT_EXPECT_EQ(test, ina_rate_idle(90, 90, 1), 45);
	KUNIT_EXPECT_EQ(test, ina_rate_idle(90, 200, 2), 30);
}

/* A sender that has been judged once, at 60 units. */
static struct ina_loss rate_test_loss(void)
{
	return (struct ina_loss){
		.most = 60 * RATE_TEST_MB, .since = RATE_TEST_MS,
		.heard = RATE_TEST_MS,
	};
}

/* What is heard of @packets of 600 bytes, sent in 10 ms, @ms after the last. */
static bool rate_test_judge(struct ina_loss *loss, struct ina_heard *heard, u32 ms)
{
	u64 now = loss->heard + ms * RATE_TEST_MS;

	heard->epoch = 1;
	/* An ECHO tells that there was nothing. */
	heard->rtt = heard->packets ? heard->rtt : 1;
	heard->bytes = heard->packets * 600;
	heard->busy = heard->packets ? 10 * RATE_TEST_MS : 0;
	ina_rate_heard(loss, heard, now);
	return ina_rate_judge(loss, INA_RATE_LOSS_LIMIT, heard->seq + 2000, now);
}

static bool rate_test_hear(struct ina_loss *loss, u32 seq, u32 packets, u32 lost,
			   u32 marked)
{
	struct ina_heard heard = {
		.seq = seq, .packets = packets, .lost = lost, .marked = marked,
	};

	return rate_test_judge(loss, &heard, 10);
}

/* Of 60 units. */
static bool rate_test_answer(struct ina_loss *loss, u32 seq, u32 lost,
			     u32 marked)
{
	return rate_test_hear(loss, seq, 1000, lost, marked);
}

static void judge__limit(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();

	KUNIT_EXPECT_FALSE(test, rate_test_answer(&loss, 0, 10, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 60 * RATE_TEST_MB);
}

static void judge__proportion(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();

	KUNIT_EXPECT_TRUE(test, rate_test_answer(&loss, 0, 600, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 24 * RATE_TEST_MB);
}

/* What was sent before the cut does not cut once more. */
static void judge__once(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();

	rate_test_answer(&loss, 0, 600, 0);
	KUNIT_EXPECT_FALSE(test, rate_test_answer(&loss, 1000, 600, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 24 * RATE_TEST_MB);
	KUNIT_EXPECT_TRUE(test, rate_test_answer(&loss, 2000, 100, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 21600000);
	/* Numbers start again with an epoch. */
	ina_rate_heard(&loss, &(struct ina_heard){
			.epoch = 2, .packets = 1000, .lost = 500,
		}, loss.heard + RATE_TEST_MS);
	KUNIT_EXPECT_EQ(test, loss.lost, 500);
}

/* Step by step, up to what is granted. */
static void judge__recovers(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();
	u64 before;
	u32 i;

	rate_test_answer(&loss, 0, 600, 0);
	loss.cuts = 1000;
	for (i = 1; ina_rate_now(&loss) < 60 * RATE_TEST_MB; i++) {
		before = ina_rate_now(&loss);
		KUNIT_EXPECT_FALSE(test, rate_test_answer(&loss, i * 2000, 0, 0));
		KUNIT_ASSERT_GT(test, ina_rate_now(&loss), before);
		KUNIT_EXPECT_LE(test, ina_rate_now(&loss) - before,
				4 * 24 * RATE_TEST_MB / INA_RATE_STEPS);
		/* What was sent before says nothing of it. */
		before = ina_rate_now(&loss);
		rate_test_answer(&loss, i * 2000 + 1000, 0, 0);
		KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), before);
	}
	KUNIT_EXPECT_EQ(test, loss.limit, 0);
	KUNIT_EXPECT_EQ(test, loss.cuts, 0);
	KUNIT_EXPECT_LE(test, i, INA_RATE_STEPS);
}

/* However long it takes to hear of it, a way is not flooded at once. */
static void judge__seldom(struct kunit *test)
{
	struct ina_heard heard = { .seq = 2000, .packets = 1000 };
	struct ina_loss loss = rate_test_loss();
	u64 cut;

	rate_test_answer(&loss, 0, 600, 0);
	cut = ina_rate_now(&loss);
	/* At the rate it may have, all the time. */
	heard.packets = cut / 600 / 4;
	rate_test_judge(&loss, &heard, 250);
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), cut + cut / 16);
	KUNIT_EXPECT_EQ(test, loss.steps, 4);
}

/* Little of the rate is used, or packets queue up on the way: it rises slower. */
static void judge__rises_slower(struct kunit *test)
{
	struct ina_heard heard = { .packets = 1000, .rtt = 10 * RATE_TEST_MS };
	struct ina_loss loss = rate_test_loss(), other;
	u64 cut;
	u32 i;

	rate_test_judge(&loss, &heard, 10);
	rate_test_answer(&loss, 2000, 600, 0);
	cut = ina_rate_now(&loss);
	other = loss;
	for (i = 2; ina_rate_now(&loss) == cut; i++)
		rate_test_hear(&loss, i * 2000, 100, 0, 0);
	KUNIT_EXPECT_EQ(test, i, 10);
	heard.rtt = 40 * RATE_TEST_MS;
	for (i = 2; ina_rate_now(&other) == cut; i++) {
		heard.seq = i * 2000;
		rate_test_judge(&other, &heard, 10);
	}
	KUNIT_EXPECT_EQ(test, i, 10);
	heard.rtt = 20 * RATE_TEST_MS;
	heard.seq = i * 2000;
	cut = ina_rate_now(&other);
	rate_test_judge(&other, &heard, 10);
	KUNIT_EXPECT_GT(test, ina_rate_now(&other), cut);
}

/* A pause between two bursts is no time in which the rate was not used. */
static void judge__pause(struct kunit *test)
{
	struct ina_heard none = { .seq = 2000 };
	struct ina_loss loss = rate_test_loss();
	u64 cut;

	rate_test_answer(&loss, 0, 600, 0);
	cut = ina_rate_now(&loss);
	rate_test_judge(&loss, &none, 1000);
	rate_test_answer(&loss, 2000, 0, 0);
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), cut + cut / INA_RATE_STEPS);
}

/* All was sent before: what is cut is the rate at which it was. */
static void judge__sent_before(struct kunit *test)
{
	struct ina_heard heard = { .epoch = 1, .packets = 1000, .lost = 500 };
	struct ina_loss loss = rate_test_loss();

	rate_test_answer(&loss, 0, 0, 0);
	ina_rate_heard(&loss, &heard, loss.heard + 10 * RATE_TEST_MS);
	KUNIT_EXPECT_TRUE(test, ina_rate_judge(&loss, INA_RATE_LOSS_LIMIT, 0,
					       loss.heard));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 30 * RATE_TEST_MB);
}

/* A packet that was marked has come: it counts half. */
static void judge__marks(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();

	KUNIT_EXPECT_FALSE(test, rate_test_answer(&loss, 0, 0, 20));
	KUNIT_EXPECT_TRUE(test, rate_test_answer(&loss, 1000, 0, 1000));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 30 * RATE_TEST_MB);
}

/* Some come with answers that tell nothing else. */
static void judge__marks_alone(struct kunit *test)
{
	struct ina_heard marks = { .epoch = 1, .seq = 1000, .marked = 1000 };
	struct ina_loss loss = rate_test_loss();

	rate_test_answer(&loss, 0, 0, 0);
	ina_rate_heard(&loss, &marks, loss.heard + RATE_TEST_MS);
	KUNIT_EXPECT_TRUE(test, rate_test_answer(&loss, 1000, 0, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 30 * RATE_TEST_MB);

	/* Of what was sent before that. */
	ina_rate_heard(&loss, &marks, loss.heard + RATE_TEST_MS);
	KUNIT_EXPECT_FALSE(test, rate_test_answer(&loss, 3000, 0, 0));
}

/* One mark in an answer is half a packet, too. */
static void judge__one_mark(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();
	bool cut = false;
	u32 i;

	for (i = 0; i < 1000 && !cut; i++)
		cut = rate_test_hear(&loss, i * 32, 32, 0, 1);
	KUNIT_EXPECT_TRUE(test, cut);
}

/* All is lost: a quarter is left each time, and never nothing. */
static void judge__all(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();
	u32 i;

	rate_test_answer(&loss, 0, 1000, 1000);
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 15 * RATE_TEST_MB);
	for (i = 1; i < 8; i++)
		rate_test_answer(&loss, i * 2000, 1000, 0);
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), INA_RATE_MIN);
}

/* Far too fast, but some have come: as many as the way takes. */
static void judge__most(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();

	KUNIT_EXPECT_TRUE(test, rate_test_answer(&loss, 0, 980, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 1200000);
}

/* What is lost however slow it is sent does not slow it down for ever, other loss does. */
static void judge__usual(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();
	u32 i;

	for (i = 0; i < 8; i++)
		rate_test_answer(&loss, i * 2000, 80, 0);
	KUNIT_EXPECT_LT(test, ina_rate_now(&loss), 40 * RATE_TEST_MB);
	KUNIT_EXPECT_FALSE(test, rate_test_answer(&loss, i++ * 2000, 80, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 60 * RATE_TEST_MB);
	KUNIT_EXPECT_FALSE(test, rate_test_answer(&loss, i++ * 2000, 80, 0));
	KUNIT_EXPECT_TRUE(test, rate_test_answer(&loss, i++ * 2000, 580, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 30 * RATE_TEST_MB);
	/* It is forgotten when it is over. */
	for (; loss.usual; i++)
		rate_test_answer(&loss, i * 2000, 0, 0);
	KUNIT_EXPECT_LE(test, i, 40);
}

/* Now and then a packet too many: the rate finds its place and stays near it. */
static void judge__capacity(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();
	u64 rate, capacity = 20 * RATE_TEST_MB;
	u32 i, packets;

	for (i = 0; i < 500; i++) {
		rate = ina_rate_now(&loss);
		packets = div_u64(rate, 100 * 600);
		rate_test_hear(&loss, i * 2000, packets, rate > capacity ?
			       div64_u64((rate - capacity) * packets, rate) : 0, 0);
		if (i < 3)
			continue;
		KUNIT_ASSERT_GT(test, ina_rate_now(&loss), 19 * RATE_TEST_MB);
		KUNIT_ASSERT_LT(test, ina_rate_now(&loss), 22 * RATE_TEST_MB);
	}
}

/* Without a grant, what was sent is what is cut, and the limit goes in the end. */
static void judge__unlimited(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();
	u32 i;

	loss.most = 0;
	KUNIT_EXPECT_TRUE(test, rate_test_answer(&loss, 0, 500, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 30 * RATE_TEST_MB);
	for (i = 1; ina_rate_now(&loss) && i < 5000; i++)
		rate_test_answer(&loss, i * 2000, 0, 0);
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), 0);
}

/* Few packets, or a short time, say nothing yet. */
static void judge__little(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();

	KUNIT_EXPECT_FALSE(test, rate_test_hear(&loss, 0, INA_RATE_LOSS_PACKETS - 1,
						10, 0));
	loss.since = loss.heard + 9 * RATE_TEST_MS;
	KUNIT_EXPECT_FALSE(test, rate_test_hear(&loss, 0, 1, 0, 0));
	KUNIT_EXPECT_TRUE(test, rate_test_hear(&loss, 0, 0, 0, 0));
}

/* A few may be lost by chance, of one in a thousand. */
static void judge__chance(struct kunit *test)
{
	struct ina_loss loss = rate_test_loss();
	u64 rate = ina_rate_now(&loss);

	KUNIT_EXPECT_FALSE(test, rate_test_hear(&loss, 0, 100, INA_RATE_LOST - 1, 0));
	KUNIT_EXPECT_EQ(test, loss.lost, INA_RATE_LOST - 1);
	KUNIT_EXPECT_FALSE(test, rate_test_hear(&loss, 100, 400, 0, 0));
	KUNIT_EXPECT_EQ(test, ina_rate_now(&loss), rate);
	KUNIT_EXPECT_EQ(test, loss.lost, 0);
	KUNIT_EXPECT_TRUE(test, rate_test_hear(&loss, 500, 100, INA_RATE_LOST, 0));
}

static struct kunit_case rate_test_cases[] = {
	KUNIT_CASE(min__unlimited),
	KUNIT_CASE(share__max_min),
	KUNIT_CASE(share__enough),
	KUNIT_CASE(share__unlimited),
	KUNIT_CASE(share__nobody),
	KUNIT_CASE(share__many),
	KUNIT_CASE(share__least),
	KUNIT_CASE(idle__others),
	KUNIT_CASE(judge__limit),
	KUNIT_CASE(judge__proportion),
	KUNIT_CASE(judge__once),
	KUNIT_CASE(judge__recovers),
	KUNIT_CASE(judge__seldom),
	KUNIT_CASE(judge__rises_slower),
	KUNIT_CASE(judge__pause),
	KUNIT_CASE(judge__sent_before),
	KUNIT_CASE(judge__marks),
	KUNIT_CASE(judge__marks_alone),
	KUNIT_CASE(judge__one_mark),
	KUNIT_CASE(judge__all),
	KUNIT_CASE(judge__most),
	KUNIT_CASE(judge__usual),
	KUNIT_CASE(judge__capacity),
	KUNIT_CASE(judge__unlimited),
	KUNIT_CASE(judge__little),
	KUNIT_CASE(judge__chance),
	{}
};

static struct kunit_suite rate_test_suite = {
	.name = "ina_rate",
	.test_cases = rate_test_cases,
};

kunit_test_suite(rate_test_suite);
