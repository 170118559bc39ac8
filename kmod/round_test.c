// SPDX-License-Identifier: GPL-2.0
/*
 * Rounds: the window, sums that count everybody, and failures that name
 * somebody. Contributions are handed in one by one; see test.h for the node.
 */
#include "fail.h"
#include "round.h"
#include "test.h"

#define ROUND_TEST_LENGTH	(2 * INA_TEST_FRAGMENT + 1)	/* 3 fragments */
#define ROUND_TEST_FRAGS	3

/* A root with two children of three workers each, tokens 1 and 2. */
static struct ina_node *round_test_root(struct kunit *test)
{
	struct ina_node *node;

	node = ina_test_node_create(test, test->priv, true, 2);
	ina_test_join_all(node, 3);
	KUNIT_ASSERT_TRUE(test, node->open);
	return node;
}

/* A node with a parent and one child, in an epoch of eight workers. */
static struct ina_node *round_test_inner(struct kunit *test)
{
	struct ina_node *node;

	node = ina_test_node_create(test, test->priv, false, 1);
	ina_test_join_all(node, 3);
	ina_test_epoch(node, 40, 0, 8, 99);
	KUNIT_ASSERT_TRUE(test, node->open);
	return node;
}

static struct ina_tag round_test_tag(const struct ina_node *node, u64 round)
{
	return (struct ina_tag){ .era = node->era, .round = round };
}

static struct ina_part round_test_part(const struct ina_node *node, u64 round,
				       u16 child)
{
	return (struct ina_part){
		.tag = round_test_tag(node, round),
		.length = ROUND_TEST_LENGTH, .contributor = child,
		.workers = 3, .token = child + 1,
	};
}

static int round_test_put(struct ina_node *node, struct ina_part *part,
			  u32 frag, u32 length, s32 value)
{
	struct in6_addr from = ina_test_addr(INA_TEST_CHILD +
					     part->contributor);
	__le32 src[INA_TEST_FRAGMENT];
	int i;

	for (i = 0; i < INA_TEST_FRAGMENT; i++)
		src[i] = cpu_to_le32(value);
	part->length = length;
	return ina_test_contribute(node, part, frag, src, &from);
}

/* A fragment of child @child, all its elements @value. */
static int round_test_add(struct ina_node *node, u64 round, u16 child, u32 frag,
			  s32 value)
{
	struct ina_part part = round_test_part(node, round, child);

	return round_test_put(node, &part, frag, ROUND_TEST_LENGTH, value);
}

static int round_test_result(struct ina_node *node, u64 round, u32 frag,
			     u32 workers, u32 token, s32 value)
{
	__le32 src[INA_TEST_FRAGMENT];
	struct ina_part part = {
		.tag = round_test_tag(node, round),
		.length = ROUND_TEST_LENGTH, .workers = workers,
		.token = token,
	};
	int i;

	for (i = 0; i < INA_TEST_FRAGMENT; i++)
		src[i] = cpu_to_le32(value);
	return ina_test_result(node, &part, frag, src);
}

static struct ina_round *round_test_claim(struct ina_node *node, u32 era,
					  u64 round, u32 length)
{
	struct ina_tag tag = { .era = era, .round = round };
	struct ina_round *entry;

	spin_lock_bh(&node->lock);
	entry = ina_round_claim(node, &tag, length);
	spin_unlock_bh(&node->lock);
	return entry;
}

/* Return: why a round cannot be claimed, or 0. */
static int round_test_refused(struct ina_node *node, u32 era, u64 round,
			      u32 length)
{
	return PTR_ERR_OR_ZERO(round_test_claim(node, era, round, length));
}

static bool round_test_failed(struct ina_node *node, u64 round)
{
	struct ina_tag tag = round_test_tag(node, round);
	u32 length;

	return !ina_round_length(node, &tag, &length);
}

static void claim__window(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	u32 era = node->era;
	u64 base = INA_TEST_DEPTH;

	ina_test_ack(node, 0, node->epoch, base);
	ina_test_ack(node, 1, node->epoch, base);
	KUNIT_ASSERT_EQ(test, node->base, base);
	KUNIT_EXPECT_EQ(test, round_test_refused(node, era, base - 1,
						 1), -ESTALE);
	KUNIT_EXPECT_EQ(test, round_test_refused(node, era, base + INA_TEST_DEPTH,
						 1), -ESTALE);
	KUNIT_EXPECT_EQ(test, round_test_refused(node, era, U64_MAX,
						 1), -ESTALE);
	KUNIT_EXPECT_EQ(test, round_test_refused(node, era - 1, base,
						 1), -ESTALE);
	KUNIT_EXPECT_EQ(test, round_test_refused(node, era + 1, base,
						 1), -ESTALE);
	KUNIT_EXPECT_PTR_EQ(test, round_test_claim(node, era, base, 1),
			    &node->rounds[base % INA_TEST_DEPTH]);
	base += INA_TEST_DEPTH - 1;
	KUNIT_EXPECT_PTR_EQ(test, round_test_claim(node, era, base, 1),
			    &node->rounds[base % INA_TEST_DEPTH]);
}

static void claim__length(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_round *entry = round_test_claim(node, node->era, 1, 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, entry);
	KUNIT_EXPECT_EQ(test, entry->length, 0);
	KUNIT_EXPECT_PTR_EQ(test, round_test_claim(node, node->era, 1, 9),
			    entry);
	KUNIT_EXPECT_EQ(test, entry->length, 9);
	KUNIT_EXPECT_EQ(test, entry->frags, 3);
	KUNIT_EXPECT_PTR_EQ(test, round_test_claim(node, node->era, 1, 0),
			    entry);
	KUNIT_EXPECT_EQ(test, round_test_refused(node, node->era, 1,
						 10), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, entry->length, 9);
}

/* The next owner of an entry inherits nothing. */
static void claim__reused(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_tag tag = round_test_tag(node, 0);
	struct ina_round *entry;

	round_test_add(node, 0, 0, 0, 1);
	ina_fail_round(node, &tag, &(struct ina_blame){
			.reason = INA_REASON_LENGTH });
	ina_test_ack(node, 0, node->epoch, 1);
	ina_test_ack(node, 1, node->epoch, 1);
	entry = round_test_claim(node, node->era, INA_TEST_DEPTH, 5);
	KUNIT_ASSERT_PTR_EQ(test, entry, &node->rounds[0]);
	KUNIT_EXPECT_FALSE(test, entry->failed);
	KUNIT_EXPECT_FALSE(test, entry->complete);
	KUNIT_EXPECT_FALSE(test, entry->tell_down);
	KUNIT_EXPECT_EQ(test, entry->length, 5);
	KUNIT_EXPECT_EQ(test, ina_round_held(entry), 0);
	KUNIT_EXPECT_FALSE(test, round_test_failed(node, INA_TEST_DEPTH));
	KUNIT_EXPECT_TRUE(test, round_test_failed(node, 0));
}

static void contribute__completes(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_round *entry = &node->rounds[1];
	const s32 *sums;
	u32 frag;
	int i;

	for (frag = 0; frag < ROUND_TEST_FRAGS; frag++) {
		KUNIT_EXPECT_FALSE(test, entry->complete);
		KUNIT_EXPECT_EQ(test, round_test_add(node, 1, 1, frag, 5), 0);
		KUNIT_EXPECT_EQ(test, ina_round_held(entry), frag);
		KUNIT_EXPECT_EQ(test, round_test_add(node, 1, 0, frag, -7), 0);
		KUNIT_EXPECT_EQ(test, ina_round_held(entry), frag + 1);
	}
	KUNIT_EXPECT_TRUE(test, entry->complete);
	KUNIT_EXPECT_FALSE(test, entry->failed);
	sums = ina_node_sums(node, ina_node_slot_id(node, 1, 0));
	for (i = 0; i < ROUND_TEST_LENGTH; i++)
		KUNIT_EXPECT_EQ(test, sums[i], -2);
	/* The last fragment is short: nothing is written behind it. */
	KUNIT_EXPECT_EQ(test, sums[ROUND_TEST_LENGTH], 0);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_ROUNDS_DONE), 1ULL);
}

static void contribute__duplicate(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	const s32 *sums = ina_node_sums(node, ina_node_slot_id(node, 0, 1));

	round_test_add(node, 0, 0, 1, 5);
	KUNIT_EXPECT_EQ(test, round_test_add(node, 0, 0, 1, 5),
			(int)INA_STAT_DROP_DUPLICATE);
	KUNIT_EXPECT_EQ(test, sums[0], 5);
	round_test_add(node, 0, 1, 1, 6);
	KUNIT_EXPECT_EQ(test, round_test_add(node, 0, 1, 1, 6),
			(int)INA_STAT_DROP_DUPLICATE);
	KUNIT_EXPECT_EQ(test, sums[0], 11);
	KUNIT_EXPECT_EQ(test, ina_round_held(&node->rounds[0]), 1);
}

static void contribute__window(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_part part = round_test_part(node, 0, 0);

	KUNIT_EXPECT_EQ(test, round_test_add(node, INA_TEST_DEPTH, 0, 0, 5),
			(int)INA_STAT_DROP_WINDOW);
	part.tag.era--;
	KUNIT_EXPECT_EQ(test, round_test_put(node, &part, 0, 9, 5),
			(int)INA_STAT_DROP_WINDOW);
}

/* Children that disagree on the length: the later one is named. */
static void contribute__length(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct in6_addr culprit = ina_test_addr(INA_TEST_CHILD + 1);
	struct ina_part part = round_test_part(node, 0, 1);
	struct ina_round *entry = &node->rounds[0];

	round_test_add(node, 0, 0, 0, 5);
	KUNIT_EXPECT_EQ(test, round_test_put(node, &part, 0, 10, 5),
			(int)INA_STAT_DROP_LENGTH);
	KUNIT_EXPECT_TRUE(test, entry->failed);
	KUNIT_EXPECT_EQ(test, entry->blame.reason, INA_REASON_LENGTH);
	KUNIT_EXPECT_EQ(test, entry->blame.detail[0], 10);
	KUNIT_EXPECT_EQ(test, entry->blame.detail[1], ROUND_TEST_LENGTH);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&entry->blame.culprit,
						&culprit));
	KUNIT_EXPECT_TRUE(test, entry->tell_down);
	KUNIT_EXPECT_EQ(test, round_test_add(node, 0, 0, 1, 5),
			(int)INA_STAT_DROP_FAILED);
	KUNIT_EXPECT_FALSE(test, round_test_failed(node, 1) &&
			   node->rounds[1].failed);
}

/* A sum that counts @workers and @token of child 1 must not be published. */
static void round_test_miscount(struct kunit *test, u32 workers, u32 token)
{
	struct ina_node *node = round_test_root(test);
	struct ina_part part = round_test_part(node, 0, 1);
	struct ina_round *entry = &node->rounds[0];
	struct ina_slot *slot = ina_node_slot(node, 0);

	part.workers = workers;
	part.token = token;
	KUNIT_EXPECT_EQ(test, round_test_add(node, 0, 0, 0, 5), 0);
	KUNIT_EXPECT_EQ(test, round_test_put(node, &part, 0, ROUND_TEST_LENGTH,
					     5), 0);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_COUNT_WRONG), 1ULL);
	KUNIT_EXPECT_TRUE(test, entry->failed);
	KUNIT_EXPECT_EQ(test, entry->blame.reason, INA_REASON_COUNT);
	KUNIT_EXPECT_EQ(test, entry->blame.detail[0], 3 + workers);
	KUNIT_EXPECT_EQ(test, entry->blame.detail[1], 6);
	KUNIT_EXPECT_NE(test, slot->state, INA_SLOT_RESULT);
	KUNIT_EXPECT_EQ(test, ina_round_held(entry), 0);
	KUNIT_EXPECT_TRUE(test, round_test_failed(node, 0));
	KUNIT_EXPECT_EQ(test, round_test_add(node, 0, 0, 1, 5),
			(int)INA_STAT_DROP_FAILED);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_ROUNDS_FAILED), 1ULL);
}

static void contribute__too_many(struct kunit *test)
{
	round_test_miscount(test, 4, 2);
}

static void contribute__too_few(struct kunit *test)
{
	round_test_miscount(test, 2, 2);
}

static void contribute__token(struct kunit *test)
{
	round_test_miscount(test, 3, 3);
}

static void contribute__overflow(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_round *entry = &node->rounds[0];
	u32 frag;

	for (frag = 0; frag < ROUND_TEST_FRAGS; frag++) {
		round_test_add(node, 0, 0, frag, frag == 1 ? S32_MIN : 0);
		round_test_add(node, 0, 1, frag, -1);
		KUNIT_EXPECT_EQ(test, ina_round_flags(entry),
				frag >= 1 ? INA_F_OVERFLOW : 0);
	}
	KUNIT_EXPECT_TRUE(test, entry->complete);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_ROUNDS_OVERFLOW),
			1ULL);
}

/* A sum that came in before the epoch changed is not part of the next. */
static void contribute__next_epoch(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_part late = round_test_part(node, 0, 1);
	struct ina_join_hdr join = ina_test_join_hdr(node, 1000, 1, 3, 1);
	u64 round;

	round_test_add(node, 0, 0, 0, 1000);
	ina_test_join(node, 0, &join);
	KUNIT_ASSERT_TRUE(test, node->open);
	round = node->base;
	KUNIT_ASSERT_EQ(test, round % INA_TEST_DEPTH, 0ULL);
	KUNIT_EXPECT_EQ(test, round_test_add(node, round, 0, 0, 5), 0);
	KUNIT_EXPECT_EQ(test, round_test_put(node, &late, 0, ROUND_TEST_LENGTH,
					     1000), (int)INA_STAT_DROP_WINDOW);
	KUNIT_EXPECT_EQ(test, round_test_add(node, round, 1, 0, 6), 0);
	KUNIT_EXPECT_EQ(test, *(s32 *)ina_node_sums(node, 0), 11);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_COUNT_WRONG), 0ULL);
}

static void result__stored(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);
	struct ina_round *entry = &node->rounds[0];
	const s32 *sums = ina_node_sums(node, 0);
	u32 frag;

	for (frag = 0; frag < ROUND_TEST_FRAGS; frag++) {
		KUNIT_EXPECT_EQ(test, round_test_add(node, 0, 0, frag, 5), 0);
		KUNIT_EXPECT_EQ(test, ina_round_held(entry), frag);
		KUNIT_EXPECT_EQ(test, round_test_result(node, 0, frag, 8, 99,
							70), 0);
		KUNIT_EXPECT_EQ(test, ina_round_held(entry), frag + 1);
		KUNIT_EXPECT_EQ(test, sums[frag * INA_TEST_FRAGMENT], 70);
	}
	KUNIT_EXPECT_TRUE(test, entry->complete);
	KUNIT_EXPECT_EQ(test, round_test_result(node, 0, 0, 8, 99, 80),
			(int)INA_STAT_DROP_DUPLICATE);
	KUNIT_EXPECT_EQ(test, sums[0], 70);
}

static void result__early(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);

	KUNIT_EXPECT_EQ(test, round_test_result(node, 0, 0, 8, 99, 70),
			(int)INA_STAT_DROP_EARLY);
	KUNIT_EXPECT_EQ(test, ina_round_held(&node->rounds[0]), 0);
}

static void result__members(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);

	round_test_add(node, 0, 0, 0, 5);
	KUNIT_EXPECT_EQ(test, round_test_result(node, 0, 0, 7, 99, 70),
			(int)INA_STAT_DROP_MEMBERS);
	KUNIT_EXPECT_EQ(test, round_test_result(node, 0, 0, 8, 98, 70),
			(int)INA_STAT_DROP_MEMBERS);
	KUNIT_EXPECT_EQ(test, *(s32 *)ina_node_sums(node, 0), 5);
}

/* A node with a parent tells it, and leaves telling the others to the root. */
static void fail__tells(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);
	struct ina_tag tag = round_test_tag(node, 2);
	struct ina_blame blame = { .reason = INA_REASON_LENGTH };
	struct ina_round *entry = &node->rounds[2];

	ina_fail_round(node, &tag, &blame);
	KUNIT_EXPECT_TRUE(test, entry->failed);
	KUNIT_EXPECT_TRUE(test, entry->tell_up);
	KUNIT_EXPECT_FALSE(test, entry->tell_down);
	/* The first reason stands. */
	blame.reason = INA_REASON_DEADLINE;
	ina_fail_round(node, &tag, &blame);
	KUNIT_EXPECT_EQ(test, entry->blame.reason, INA_REASON_LENGTH);
}

static int round_test_woken(struct wait_queue_entry *wait, unsigned int mode,
			    int sync, void *key)
{
	wait->private = wait;
	return 1;
}

/* Also who has no part in it is woken: it may wait for the next epoch, which waits for it. */
static void fail__wakes(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);
	struct ina_tag tag = round_test_tag(node, 2);
	struct wait_queue_entry wait;

	init_waitqueue_func_entry(&wait, round_test_woken);
	add_wait_queue(&node->wait, &wait);
	ina_fail_round(node, &tag, &(struct ina_blame){
			.reason = INA_REASON_DEADLINE });
	remove_wait_queue(&node->wait, &wait);
	KUNIT_EXPECT_PTR_EQ(test, wait.private, (void *)&wait);
}

/* A round that is complete, or outside the window, cannot fail. */
static void fail__too_late(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_blame blame = { .reason = INA_REASON_LENGTH };
	struct ina_tag tag = round_test_tag(node, 0);
	u32 frag;

	for (frag = 0; frag < ROUND_TEST_FRAGS; frag++) {
		round_test_add(node, 0, 0, frag, 1);
		round_test_add(node, 0, 1, frag, 1);
	}
	ina_fail_round(node, &tag, &blame);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].complete);
	tag.round = INA_TEST_DEPTH;
	ina_fail_round(node, &tag, &blame);
	KUNIT_EXPECT_EQ(test, node->rounds[0].tag.round, 0ULL);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
}

/* Nor one that is whole, though nobody was told yet. */
static void fail__whole(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_blame blame = { .reason = INA_REASON_LENGTH };
	struct ina_tag tag = round_test_tag(node, 0);
	struct ina_round *entry = &node->rounds[0];

	round_test_add(node, 0, 0, 0, 1);
	atomic64_add(ROUND_TEST_FRAGS, &entry->progress);
	KUNIT_EXPECT_FALSE(test, ina_fail_round(node, &tag, &blame));
	ina_fail_round_from(node, &tag, &blame);
	KUNIT_EXPECT_FALSE(test, entry->failed);
	atomic64_dec(&entry->progress);
	KUNIT_EXPECT_TRUE(test, ina_fail_round(node, &tag, &blame));
}

/* A round fails before its row is told of: nothing of it is sent. */
static void fail__row(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_blame blame = { .reason = INA_REASON_LENGTH };
	struct ina_tag tag = round_test_tag(node, 0);
	__le32 src[INA_TEST_FRAGMENT] = {};
	struct ina_row row = {};
	struct ina_part part;
	u16 i;

	for (i = 0; i < node->nchildren; i++) {
		part = round_test_part(node, 0, i);
		KUNIT_EXPECT_EQ(test, ina_round_contribute(node, &ina_test_ctx, &row, &part, 0,
							   src, &node->local), 0);
	}
	KUNIT_EXPECT_EQ(test, row.count, 1);
	KUNIT_EXPECT_TRUE(test, ina_fail_round(node, &tag, &blame));
	ina_round_settle(node, &row);
	KUNIT_EXPECT_EQ(test, row.count, 0);
	KUNIT_EXPECT_EQ(test, ina_round_held(&node->rounds[0]), 0);
	KUNIT_EXPECT_EQ(test, ina_node_slot(node, 0)->state, INA_SLOT_COMPLETE);
	KUNIT_EXPECT_TRUE(test, ina_queue_is_empty(&node->children[0].peer.queue));
}

/* What the parent says is passed on. */
static void fail_from__passed_on(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);
	struct ina_tag tag = round_test_tag(node, 1);
	struct ina_blame blame = {
		.reason = INA_REASON_COUNT, .detail = { 9, 8 },
		.culprit = ina_test_addr(77),
	};
	struct ina_round *entry = &node->rounds[1];

	ina_fail_round_from(node, &tag, &blame);
	KUNIT_EXPECT_TRUE(test, entry->failed);
	KUNIT_EXPECT_TRUE(test, entry->tell_down);
	KUNIT_EXPECT_FALSE(test, entry->tell_up);
	KUNIT_EXPECT_EQ(test, memcmp(&entry->blame, &blame, sizeof(blame)), 0);
	KUNIT_EXPECT_EQ(test, round_test_add(node, 1, 0, 0, 5),
			(int)INA_STAT_DROP_FAILED);
}

/* Only what runs; later rounds are not touched. */
static void fail_all__running(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);
	struct ina_blame blame = { .reason = INA_REASON_PARENT_LOST };

	round_test_add(node, 0, 0, 0, 5);
	round_test_add(node, 2, 0, 0, 5);
	spin_lock_bh(&node->lock);
	ina_fail_all(node, &blame);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].failed);
	KUNIT_EXPECT_TRUE(test, node->rounds[2].failed);
	KUNIT_EXPECT_FALSE(test, node->rounds[1].failed);
	KUNIT_EXPECT_FALSE(test, node->rounds[3].failed);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_ROUNDS_FAILED), 2ULL);
}

/* A node that goes says nothing of rounds that go on with another parent, ever. */
static void fail_gone__inner(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);
	struct ina_blame blame = { .reason = INA_REASON_TREE };

	round_test_add(node, 0, 0, 0, 5);
	spin_lock_bh(&node->lock);
	ina_fail_gone(node, &blame);
	ina_fail_repeat(node);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].tell_up);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].tell_down);
}

/* With the root all rounds are lost. */
static void fail_gone__root(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	struct ina_blame blame = { .reason = INA_REASON_TREE };

	round_test_add(node, 0, 0, 0, 5);
	spin_lock_bh(&node->lock);
	ina_fail_gone(node, &blame);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].failed);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].tell_down);
}

/* Below the root an ACK goes up; the base comes from above. */
static void advance__inner(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);

	node->send_ack = false;
	ina_test_ack(node, 0, node->epoch, 2);
	KUNIT_EXPECT_EQ(test, node->acked, 2ULL);
	KUNIT_EXPECT_EQ(test, node->base, 0ULL);
	KUNIT_EXPECT_TRUE(test, node->send_ack);
}

/* The root waits for what is acknowledged though its epoch is closed. */
static void advance__closed(struct kunit *test)
{
	struct ina_node *node = round_test_inner(test);
	struct ina_join_hdr join;

	ina_test_epoch(node, node->epoch, 0, 0, 0);
	KUNIT_ASSERT_FALSE(test, node->open);
	ina_test_ack(node, 0, node->epoch, 2);
	KUNIT_EXPECT_EQ(test, node->acked, 2ULL);
	join = ina_test_join_hdr(node, 100, 2, 0, 0);
	ina_test_join(node, 0, &join);
	ina_test_ack(node, 0, node->epoch, 3);
	KUNIT_EXPECT_EQ(test, node->acked, 2ULL);
}

/* A window that is kept: rounds end and are acknowledged, but no others begin. */
static void stay__window(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	u64 base = node->base;

	spin_lock_bh(&node->lock);
	ina_round_stay(node, 1000);
	spin_unlock_bh(&node->lock);
	ina_test_ack(node, 0, node->epoch, base + 1);
	ina_test_ack(node, 1, node->epoch, base + 1);
	KUNIT_EXPECT_EQ(test, node->acked, base + 1);
	KUNIT_EXPECT_EQ(test, node->base, base);
	spin_lock_bh(&node->lock);
	ina_round_go(node);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_EQ(test, node->base, base + 1);
	ina_test_ack(node, 0, node->epoch, base + 2);
	ina_test_ack(node, 1, node->epoch, base + 2);
	KUNIT_EXPECT_EQ(test, node->base, base + 2);
}

/* It ends with the epoch, and what was acknowledged meanwhile is passed. */
static void stay__closed(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	u64 base = node->base;
	struct ina_join_hdr join;

	spin_lock_bh(&node->lock);
	ina_round_stay(node, 1000);
	spin_unlock_bh(&node->lock);
	ina_test_ack(node, 0, node->epoch, base + 1);
	ina_test_ack(node, 1, node->epoch, base + 1);
	join = ina_test_join_hdr(node, 100, 2, 0, 0);
	ina_test_join(node, 0, &join);
	KUNIT_ASSERT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->stay, 0UL);
	KUNIT_EXPECT_EQ(test, node->base, base + 1);
	spin_lock_bh(&node->lock);
	ina_round_stay(node, 1000);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_EQ(test, node->stay, 0UL);
}

/* Nobody is late because of it. */
static void stay__deadline(struct kunit *test)
{
	struct ina_node *node = round_test_root(test);
	u32 half = node->job->config.deadline_ms / 2;
	unsigned long now = jiffies;

	spin_lock_bh(&node->lock);
	ina_round_stay(node, U32_MAX);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_FALSE(test, time_after(node->stay, jiffies +
					    msecs_to_jiffies(half) + 1));
	KUNIT_EXPECT_FALSE(test, time_before(node->stay, now +
					     msecs_to_jiffies(half)));
}

static int round_test_init(struct kunit *test)
{
	test->priv = ina_test_inet_create(test);
	return 0;
}

static void round_test_exit(struct kunit *test)
{
	if (test->priv)
		ina_test_inet_destroy(test->priv);
}

static struct kunit_case round_test_cases[] = {
	KUNIT_CASE(claim__window),
	KUNIT_CASE(claim__length),
	KUNIT_CASE(claim__reused),
	KUNIT_CASE(contribute__completes),
	KUNIT_CASE(contribute__duplicate),
	KUNIT_CASE(contribute__window),
	KUNIT_CASE(contribute__length),
	KUNIT_CASE(contribute__too_many),
	KUNIT_CASE(contribute__too_few),
	KUNIT_CASE(contribute__token),
	KUNIT_CASE(contribute__overflow),
	KUNIT_CASE(contribute__next_epoch),
	KUNIT_CASE(result__stored),
	KUNIT_CASE(result__early),
	KUNIT_CASE(result__members),
	KUNIT_CASE(fail__tells),
	KUNIT_CASE(fail__wakes),
	KUNIT_CASE(fail__too_late),
	KUNIT_CASE(fail__whole),
	KUNIT_CASE(fail__row),
	KUNIT_CASE(fail_from__passed_on),
	KUNIT_CASE(fail_all__running),
	KUNIT_CASE(fail_gone__inner),
	KUNIT_CASE(fail_gone__root),
	KUNIT_CASE(advance__inner),
	KUNIT_CASE(advance__closed),
	KUNIT_CASE(stay__window),
	KUNIT_CASE(stay__closed),
	KUNIT_CASE(stay__deadline),
	{}
};

static struct kunit_suite round_test_suite = {
	.name = "ina_round",
	.init = round_test_init,
	.exit = round_test_exit,
	.test_cases = round_test_cases,
};

kunit_test_suite(round_test_suite);
