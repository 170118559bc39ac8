// SPDX-License-Identifier: GPL-2.0
/*
 * Membership: who is let in, when an epoch opens and closes, and that late
 * and repeated messages do no harm. The messages are handed in one by one;
 * see test.h for the node.
 */
#include <net/sock.h>

#include "control.h"
#include "epoch.h"
#include "fail.h"
#include "member.h"
#include "round.h"
#include "test.h"
#include "tx.h"
#include "xmit.h"

/* A root with two children. */
static struct ina_node *member_test_root(struct kunit *test)
{
	return ina_test_node_create(test, test->priv, true, 2);
}

/* One with two children of three workers each and an epoch. */
static struct ina_node *member_test_open(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);

	ina_test_join_all(node, 3);
	KUNIT_ASSERT_TRUE(test, node->open);
	return node;
}

/* A node with a parent, whose only child has joined. */
static struct ina_node *member_test_inner(struct kunit *test)
{
	struct ina_node *node;

	node = ina_test_node_create(test, test->priv, false, 1);
	ina_test_join_all(node, 3);
	KUNIT_ASSERT_EQ(test, node->subtree, 3);
	return node;
}

static void member_test_welcome(struct ina_node *node, u64 instance,
				u32 generation, u32 reason)
{
	struct ina_welcome_hdr welcome = {
		.instance = cpu_to_be64(instance),
		.generation = cpu_to_be32(generation),
		.reason = cpu_to_be32(reason),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_WELCOME, .index = 6, .body = &welcome,
	};

	ina_member_rx_welcome(node, &pkt);
}

/* Child 0 starts anew and joins. */
static void member_test_restart(struct ina_node *node, u64 instance)
{
	struct ina_join_hdr join = ina_test_join_hdr(node, instance, 1, 3, 1);

	ina_test_join(node, 0, &join);
}

/* Both children contribute all of a round. */
static void member_test_complete(struct kunit *test, struct ina_node *node,
				 u64 round)
{
	struct in6_addr from = ina_test_addr(INA_TEST_CHILD);
	__le32 src[INA_TEST_FRAGMENT] = {};
	struct ina_part part;
	int err = 0;
	u16 i;

	for (i = 0; i < node->nchildren; i++) {
		part = (struct ina_part){
			.tag = { .era = node->era, .round = round },
			.length = INA_TEST_FRAGMENT, .contributor = i,
			.workers = 3, .token = i + 1,
		};
		err |= ina_test_contribute(node, &part, 0, src, &from);
	}
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_TRUE(test, node->rounds[round % INA_TEST_DEPTH].complete);
}

/* A worker left: what is not complete would lack it. */
static void changed__left_fails_rounds(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);
	struct ina_blame blame = { .reason = INA_REASON_LEFT };
	int i;

	member_test_complete(test, node, node->base);
	node->children[0].workers = 0;
	spin_lock_bh(&node->lock);
	ina_member_changed(node, &blame);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
	for (i = 1; i < INA_TEST_DEPTH; i++) {
		KUNIT_EXPECT_TRUE(test, node->rounds[i].failed);
		KUNIT_EXPECT_EQ(test, node->rounds[i].blame.reason,
				INA_REASON_LEFT);
	}
	KUNIT_EXPECT_EQ(test, node->closed.reason, INA_REASON_LEFT);
	KUNIT_EXPECT_TRUE(test, node->children[0].announce);
}

/* An epoch needs everybody; workers and tokens are summed. */
static void open_try__all_children(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);
	struct ina_join_hdr join;

	join = ina_test_join_hdr(node, 100, 1, 3, U32_MAX);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->subtree, 0);
	/* Not complete itself: it does not count. */
	join = ina_test_join_hdr(node, 101, 1, 0, 0);
	ina_test_join(node, 1, &join);
	KUNIT_EXPECT_FALSE(test, node->open);
	join = ina_test_join_hdr(node, 101, 2, 4, 6);
	ina_test_join(node, 1, &join);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->members, 7);
	KUNIT_EXPECT_EQ(test, node->token, 5);
	KUNIT_EXPECT_NE(test, node->epoch, 0);
	KUNIT_EXPECT_EQ(test, node->base, 0ULL);
	KUNIT_EXPECT_EQ(test, node->epoch_era,
			(u64)node->epoch << 32 | node->era);
	KUNIT_EXPECT_TRUE(test, node->children[1].announce);
}

/* Each epoch has a larger number; its rounds are those of the last. */
static void open_try__grows(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);
	u32 epoch = node->epoch, era = node->era;
	unsigned int i;

	for (i = 1; i < 600; i++) {
		member_test_restart(node, 1000 + i);
		KUNIT_ASSERT_TRUE(test, node->open);
		KUNIT_ASSERT_EQ(test, node->epoch, epoch + i);
		KUNIT_ASSERT_GT(test, node->era, era);
		/* Its last byte is never 0: no word of a round is. */
		KUNIT_ASSERT_NE(test, node->era & 0xff, 0);
		era = node->era;
		KUNIT_ASSERT_EQ(test, node->base, 0ULL);
		KUNIT_ASSERT_EQ(test, node->acked, node->base);
		KUNIT_ASSERT_EQ(test, node->children[1].acked, node->base);
	}
}

/* Nor has anybody used its rounds under a root that is no more. */
static void open_try__floor(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);
	struct ina_join_hdr join = ina_test_join_hdr(node, 100, 1, 3, 1);

	join.floor = cpu_to_be64(1000);
	ina_test_join(node, 0, &join);
	join = ina_test_join_hdr(node, 101, 1, 3, 1);
	join.floor = cpu_to_be64(1ULL << 40);
	ina_test_join(node, 1, &join);
	KUNIT_ASSERT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->base, 1ULL << 40);
	KUNIT_EXPECT_EQ(test, ina_member_floor(node),
			(1ULL << 40) + INA_TEST_DEPTH);
}

static void changed__inner_joins(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);
	u32 generation = node->generation;

	member_test_welcome(node, node->instance, generation, 0);
	node->send_join = false;
	spin_lock_bh(&node->lock);
	ina_member_changed(node, &(struct ina_blame){
			.reason = INA_REASON_LEFT });
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_EQ(test, node->generation, generation + 1);
	KUNIT_EXPECT_TRUE(test, node->send_join);
	KUNIT_EXPECT_FALSE(test, node->welcomed);
	KUNIT_EXPECT_EQ(test, node->change.reason, INA_REASON_LEFT);
	/* Only a root opens epochs. */
	KUNIT_EXPECT_FALSE(test, node->open);
}

static void rx_join__accepted(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);
	struct ina_join_hdr join = ina_test_join_hdr(node, 55, 8, 3, 17);
	struct ina_child *child = &node->children[1];

	ina_test_join(node, 1, &join);
	KUNIT_EXPECT_EQ(test, child->instance, 55ULL);
	KUNIT_EXPECT_EQ(test, child->generation, 8);
	KUNIT_EXPECT_EQ(test, child->workers, 3);
	KUNIT_EXPECT_EQ(test, child->token, 17);
	KUNIT_EXPECT_EQ(test, child->refused, 0);
	KUNIT_EXPECT_TRUE(test, child->welcome);
	KUNIT_EXPECT_EQ(test, node->children[0].workers, 0);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_JOINS_REFUSED), 0ULL);
}

/* Refused once however often it asks, and let in when it has changed. */
static void rx_join__hash(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);
	struct ina_join_hdr join = ina_test_join_hdr(node, 55, 1, 3, 17);
	struct ina_child *child = &node->children[0];

	join.hash ^= cpu_to_be64(1);
	ina_test_join(node, 0, &join);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_EQ(test, child->refused, INA_REASON_HASH);
	KUNIT_EXPECT_EQ(test, child->workers, 0);
	KUNIT_EXPECT_EQ(test, child->token, 0);
	KUNIT_EXPECT_TRUE(test, child->welcome);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_JOINS_REFUSED), 1ULL);
	join = ina_test_join_hdr(node, 56, 1, 3, 17);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_EQ(test, child->refused, 0);
	KUNIT_EXPECT_EQ(test, child->workers, 3);
}

static void rx_join__mtu(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);
	struct ina_join_hdr join = ina_test_join_hdr(node, 55, 1, 3, 17);
	struct ina_child *child = &node->children[0];

	/* Its packets are smaller, too, if it has chosen them itself. */
	join.mtu = cpu_to_be16(ina_xmit_size(node, true) - 1);
	join.hash = 0;
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_EQ(test, child->refused, INA_REASON_MTU);
	KUNIT_EXPECT_EQ(test, child->workers, 0);
	join.hash = cpu_to_be64(node->job->hash);
	join.mtu = cpu_to_be16(ina_xmit_size(node, true));
	join.instance = cpu_to_be64(56);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_EQ(test, child->refused, 0);
	KUNIT_EXPECT_EQ(test, child->workers, 3);
}

static void rx_join__stranger(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);
	struct ina_join_hdr join = ina_test_join_hdr(node, 55, 1, 3, 17);

	ina_test_join(node, 9, &join);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_JOINS_REFUSED), 1ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_TX_CONTROL), 1ULL);
	KUNIT_EXPECT_EQ(test, node->generation, 0);
	KUNIT_EXPECT_EQ(test, node->children[0].instance, 0ULL);
	KUNIT_EXPECT_EQ(test, node->children[1].instance, 0ULL);
}

/* A JOIN that comes again is answered again, but nothing has changed. */
static void rx_join__repeated(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);
	u32 epoch = node->epoch, generation = node->generation;
	struct ina_join_hdr join = ina_test_join_hdr(node, 100, 1, 3, 1);

	node->children[0].welcome = false;
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_TRUE(test, node->children[0].welcome);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->epoch, epoch);
	KUNIT_EXPECT_EQ(test, node->generation, generation);
}

/* The network delivers an older JOIN of the same child late. */
static void rx_join__late(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);
	struct ina_join_hdr old = ina_test_join_hdr(node, 100, 1, 0, 0);
	struct ina_join_hdr new = ina_test_join_hdr(node, 100, 2, 3, 1);
	struct ina_join_hdr other = ina_test_join_hdr(node, 101, 1, 3, 2);

	ina_test_join(node, 0, &old);
	ina_test_join(node, 0, &new);
	ina_test_join(node, 1, &other);
	KUNIT_ASSERT_TRUE(test, node->open);
	ina_test_join(node, 0, &old);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->children[0].generation, 2);
	KUNIT_EXPECT_EQ(test, node->children[0].workers, 3);
}

static void rx_join__generation_wrap(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);
	struct ina_join_hdr join;

	join = ina_test_join_hdr(node, 100, U32_MAX, 3, 1);
	ina_test_join(node, 0, &join);
	join = ina_test_join_hdr(node, 100, 0, 4, 1);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_EQ(test, node->children[0].workers, 4);
}

/* A child restarts: rounds wait. It comes back with other workers: they fail. */
static void rx_join__restart(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);
	struct in6_addr culprit = ina_test_addr(INA_TEST_CHILD);
	struct ina_join_hdr join = ina_test_join_hdr(node, 1000, 1, 0, 0);

	join.reason = cpu_to_be16(INA_REASON_LEFT);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->closed.reason, INA_REASON_CHILD_LOST);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&node->closed.culprit,
						&culprit));
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
	join = ina_test_join_hdr(node, 1000, 2, 3, 77);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].failed);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&node->rounds[0].blame.culprit,
						&culprit));
}

/* The child knows better whose fault it is. */
static void rx_join__left(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);
	struct in6_addr culprit = ina_test_addr(77);
	struct ina_join_hdr join = ina_test_join_hdr(node, 100, 2, 0, 0);

	join.reason = cpu_to_be16(INA_REASON_LEFT);
	memcpy(join.culprit, &culprit, sizeof(join.culprit));
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->subtree, 0);
	KUNIT_EXPECT_EQ(test, node->closed.reason, INA_REASON_LEFT);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&node->closed.culprit,
						&culprit));
}

/* Who left first is told, though the root hears last of its leaving. */
static void rx_join__left_later(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);
	struct in6_addr culprit = ina_test_addr(77);
	struct ina_tag tag = ina_round_tag(node, node->era, node->base);
	struct ina_blame blame = {
		.reason = INA_REASON_LEFT, .culprit = culprit,
	};
	struct ina_join_hdr join = ina_test_join_hdr(node, 101, 2, 0, 0);

	ina_fail_round_from(node, &tag, &blame);
	KUNIT_EXPECT_TRUE(test, node->open);
	join.reason = cpu_to_be16(INA_REASON_LEFT);
	ina_test_join(node, 1, &join);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&node->closed.culprit,
						&culprit));
	/* It is back: whoever leaves now is the first again. */
	join = ina_test_join_hdr(node, 101, 3, 4, 6);
	ina_test_join(node, 1, &join);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->left.reason, 0);
}

static void stranger__asked(struct kunit *test)
{
	struct ina_node *node = member_test_root(test);

	ina_member_stranger(node, &node->children[1]);
	KUNIT_EXPECT_TRUE(test, node->children[1].welcome);
	KUNIT_EXPECT_FALSE(test, node->children[0].welcome);
}

static void rx_welcome__accepted(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);

	member_test_welcome(node, node->instance, node->generation, 0);
	KUNIT_EXPECT_TRUE(test, node->welcomed);
	KUNIT_EXPECT_EQ(test, node->index, 6);
	KUNIT_EXPECT_EQ(test, node->refused, 0);
}

static void rx_welcome__refused(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);

	member_test_welcome(node, node->instance, node->generation,
			    INA_REASON_HASH);
	KUNIT_EXPECT_FALSE(test, node->welcomed);
	KUNIT_EXPECT_EQ(test, node->refused, INA_REASON_HASH);
	member_test_welcome(node, node->instance, node->generation, 0);
	KUNIT_EXPECT_TRUE(test, node->welcomed);
	KUNIT_EXPECT_EQ(test, node->refused, 0);
}

static void rx_welcome__other(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);

	member_test_welcome(node, node->instance + 1, node->generation, 0);
	member_test_welcome(node, node->instance, node->generation - 1, 0);
	KUNIT_EXPECT_FALSE(test, node->welcomed);
	KUNIT_EXPECT_EQ(test, node->index, INA_INDEX_NONE);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_INSTANCE), 2ULL);
	/* Once welcome, this says that the parent has it wrong: tell it. */
	member_test_welcome(node, node->instance, node->generation, 0);
	node->send_join = false;
	member_test_welcome(node, node->instance, node->generation - 1, 0);
	KUNIT_EXPECT_TRUE(test, node->send_join);
	KUNIT_EXPECT_FALSE(test, node->welcomed);
}

/* The parent restarted: its epoch is over, join it again. */
static void rx_welcome__lost(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);
	u32 generation = node->generation;

	member_test_welcome(node, node->instance, generation, 0);
	ina_test_epoch(node, 40, 0, 3, 1);
	KUNIT_ASSERT_TRUE(test, node->open);
	node->send_join = false;
	/* Right after the welcome it is a late answer to what came before. */
	node->welcomed_at = jiffies + 100 * HZ;
	member_test_welcome(node, 0, 0, INA_REASON_CHILD_LOST);
	KUNIT_EXPECT_TRUE(test, node->open);
	node->welcomed_at = jiffies - HZ;
	member_test_welcome(node, 0, 0, INA_REASON_CHILD_LOST);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->closed.reason, INA_REASON_PARENT_LOST);
	KUNIT_EXPECT_TRUE(test, node->send_join);
	KUNIT_EXPECT_EQ(test, node->generation, generation + 1);
	/* Asked again before it is welcome, it has nothing to add. */
	member_test_welcome(node, 0, 0, INA_REASON_CHILD_LOST);
	KUNIT_EXPECT_EQ(test, node->generation, generation + 1);
}

static void rx_epoch__opens(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);
	u32 era = node->era;

	ina_test_epoch(node, 40, 12, 8, 99);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->epoch, 40);
	KUNIT_EXPECT_EQ(test, node->era, era + 1);
	KUNIT_EXPECT_EQ(test, node->base, 12ULL);
	KUNIT_EXPECT_EQ(test, node->members, 8);
	KUNIT_EXPECT_EQ(test, node->token, 99);
	KUNIT_EXPECT_TRUE(test, node->send_ack);
	KUNIT_EXPECT_TRUE(test, node->children[0].announce);
}

/* Addressed to what this node was before: the parent is told what it is. */
static void rx_epoch__other(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);
	struct ina_epoch_hdr hdr = {
		.instance = cpu_to_be64(node->instance),
		.generation = cpu_to_be32(node->generation - 1),
		.workers = cpu_to_be32(8),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_EPOCH, .seq = 1, .epoch = 40, .body = &hdr,
	};

	member_test_welcome(node, node->instance, node->generation, 0);
	node->send_join = false;
	ina_member_rx_epoch(node, &pkt);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_FALSE(test, node->send_ack);
	KUNIT_EXPECT_TRUE(test, node->send_join);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_INSTANCE), 1ULL);
}

static void rx_epoch__zero(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);

	ina_test_epoch(node, 0, 12, 8, 99);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_STALE), 1ULL);
}

static void rx_epoch__base(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);
	u32 era;

	ina_test_epoch(node, 40, 12, 8, 99);
	era = node->era;
	node->send_ack = false;
	ina_test_epoch(node, 40, 14, 8, 99);
	KUNIT_EXPECT_EQ(test, node->base, 14ULL);
	KUNIT_EXPECT_FALSE(test, node->send_ack);
	/* The window does not go back; who says so waits for an answer. */
	ina_test_epoch(node, 40, 13, 8, 99);
	KUNIT_EXPECT_EQ(test, node->base, 14ULL);
	KUNIT_EXPECT_TRUE(test, node->send_ack);
	KUNIT_EXPECT_EQ(test, node->era, era);
}

/* The next epoch takes over at once; the former has no say any more. */
static void rx_epoch__next(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);

	ina_test_epoch_seq(node, U32_MAX, 40, 12, 8, 99);
	ina_test_epoch_seq(node, 0, 41, 20, 9, 98);
	KUNIT_EXPECT_EQ(test, node->epoch, 41);
	KUNIT_EXPECT_EQ(test, node->base, 20ULL);
	KUNIT_EXPECT_EQ(test, node->members, 9);
	ina_test_epoch_seq(node, U32_MAX, 40, 30, 8, 99);
	KUNIT_EXPECT_EQ(test, node->epoch, 41);
	KUNIT_EXPECT_EQ(test, node->base, 20ULL);
	KUNIT_EXPECT_EQ(test, node->members, 9);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_STALE), 1ULL);
}

static void rx_epoch__closes(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);

	ina_test_epoch_seq(node, 5, 40, 12, 8, 99);
	ina_test_epoch_seq(node, 6, 40, 12, 0, 0);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->closed.reason, INA_REASON_LEFT);
	/* Late: what is closed stays closed, */
	ina_test_epoch_seq(node, 5, 40, 12, 8, 99);
	KUNIT_EXPECT_FALSE(test, node->open);
	/* until the next. */
	ina_test_epoch_seq(node, 7, 41, 16, 8, 99);
	KUNIT_EXPECT_TRUE(test, node->open);
}

/* The window moved on, which was not heard, before the epoch was closed. */
static void rx_epoch__closed_base(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);

	ina_test_epoch_seq(node, 5, 40, 12, 8, 99);
	ina_test_epoch_seq(node, 6, 40, 14, 0, 0);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->base, 14ULL);
	KUNIT_EXPECT_EQ(test, node->acked, 14ULL);
	/* That of an epoch we are not in says nothing. */
	ina_test_epoch_seq(node, 7, 41, 20, 0, 0);
	KUNIT_EXPECT_EQ(test, node->base, 14ULL);
}

/* The end of an epoch comes late, after the next has been opened. */
static void rx_epoch__late_close(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);

	ina_test_epoch_seq(node, 5, 40, 12, 8, 99);
	ina_test_epoch_seq(node, 6, 40, 12, 0, 0);
	ina_test_epoch_seq(node, 7, 41, 16, 8, 99);
	ina_test_epoch_seq(node, 6, 40, 12, 0, 0);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->epoch, 41);
}

/* The same, when it was forgotten which EPOCH was the last. */
static void rx_epoch__past(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);
	u32 era;

	ina_test_epoch_seq(node, 6, 40, 12, 0, 0);
	ina_test_epoch_seq(node, 7, 41, 16, 8, 99);
	era = node->era;
	node->heard_generation = node->generation - 1;
	ina_test_epoch_seq(node, 6, 40, 12, 0, 0);
	KUNIT_EXPECT_TRUE(test, node->open);
	/* Nor is one entered again that was closed. */
	ina_test_epoch_seq(node, 8, 41, 16, 0, 0);
	node->heard_generation = node->generation - 1;
	ina_test_epoch_seq(node, 7, 41, 16, 8, 99);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->era, era);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_STALE), 2ULL);
}

/* The window moves when all children have acknowledged. */
static void rx_ack__advances(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);

	ina_test_ack(node, 0, node->epoch, 2);
	KUNIT_EXPECT_EQ(test, node->children[0].acked, 2ULL);
	KUNIT_EXPECT_EQ(test, node->base, 0ULL);
	ina_test_ack(node, 1, node->epoch, 1);
	KUNIT_EXPECT_EQ(test, node->base, 1ULL);
	ina_test_ack(node, 1, node->epoch, INA_TEST_DEPTH);
	KUNIT_EXPECT_EQ(test, node->base, 2ULL);
	KUNIT_EXPECT_TRUE(test, node->children[0].announce);
	/* Late: nothing is taken back. */
	ina_test_ack(node, 1, node->epoch, 1);
	KUNIT_EXPECT_EQ(test, node->children[1].acked, (u64)INA_TEST_DEPTH);
	KUNIT_EXPECT_EQ(test, node->base, 2ULL);
}

static void rx_ack__beyond(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);

	ina_test_ack(node, 0, node->epoch, INA_TEST_DEPTH + 1);
	ina_test_ack(node, 1, node->epoch, U64_MAX);
	KUNIT_EXPECT_EQ(test, node->children[0].acked, 0ULL);
	KUNIT_EXPECT_EQ(test, node->children[1].acked, 0ULL);
	KUNIT_EXPECT_EQ(test, node->base, 0ULL);
	ina_test_ack(node, 0, node->epoch, INA_TEST_DEPTH);
	ina_test_ack(node, 1, node->epoch, INA_TEST_DEPTH);
	KUNIT_EXPECT_EQ(test, node->base, (u64)INA_TEST_DEPTH);
}

/* It acknowledges another epoch: it is told this one, in its time. */
static void rx_ack__epoch(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);

	node->children[0].announce = false;
	ina_test_ack(node, 0, node->epoch - 1, 2);
	KUNIT_EXPECT_EQ(test, node->children[0].acked, 0ULL);
	KUNIT_EXPECT_FALSE(test, node->children[0].announce);
	spin_lock_bh(&node->lock);
	ina_member_repeat(node);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_TRUE(test, node->children[0].announce);
	node->children[0].announce = false;
	ina_test_ack(node, 0, node->epoch, 0);
	KUNIT_EXPECT_FALSE(test, node->children[0].announce);
}

/* Is child 0 told again by the clock? */
static bool member_test_repeats(struct ina_node *node)
{
	node->children[0].announce = false;
	spin_lock_bh(&node->lock);
	ina_member_repeat(node);
	spin_unlock_bh(&node->lock);
	return node->children[0].announce;
}

/* The root's deadline: nobody can go on. */
static void member_test_hold(struct ina_node *node)
{
	spin_lock_bh(&node->lock);
	ina_epoch_close(node, &(struct ina_blame){ .reason = INA_REASON_DEADLINE });
	spin_unlock_bh(&node->lock);
}

/*
 * The window of a child is behind: it is told at once, if it was not just now, or by the clock if
 * the epoch is closed.
 */
static void rx_ack__base(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);

	ina_test_ack(node, 0, node->epoch, 2);
	ina_test_ack(node, 1, node->epoch, 2);
	KUNIT_ASSERT_EQ(test, node->base, 2ULL);
	node->children[0].announce = false;
	node->children[0].told_at = jiffies + 100 * HZ;
	ina_test_ack_base(node, 0, node->epoch, 2, 0, true);
	KUNIT_EXPECT_FALSE(test, node->children[0].announce);
	node->children[0].told_at = jiffies - 2;
	ina_test_ack_base(node, 0, node->epoch, 2, 0, true);
	KUNIT_EXPECT_TRUE(test, node->children[0].announce);
	node->children[0].announce = false;
	/* As if this node were behind: there is nothing to tell. */
	ina_test_ack_base(node, 0, node->epoch, 2, 3, true);
	KUNIT_EXPECT_FALSE(test, node->children[0].announce);
	member_test_hold(node);
	ina_test_ack_base(node, 0, node->epoch, 2, 0, false);
	KUNIT_EXPECT_TRUE(test, member_test_repeats(node));
	ina_test_ack_base(node, 0, node->epoch, 2, 2, false);
	KUNIT_EXPECT_FALSE(test, member_test_repeats(node));
	ina_test_ack_base(node, 0, node->epoch, 2, 3, false);
	KUNIT_EXPECT_FALSE(test, member_test_repeats(node));
}

/* An epoch that is held for who missed it: that one can enter the next. */
static void rx_ack__missed(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);
	u32 epoch = node->epoch;

	member_test_hold(node);
	ina_test_ack_base(node, 0, epoch, 0, 0, false);
	KUNIT_EXPECT_FALSE(test, node->open);
	ina_test_ack_base(node, 0, epoch - 1, 0, 0, false);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->epoch, epoch + 1);
	KUNIT_EXPECT_FALSE(test, node->held);
}

/* Likewise below the root, which is told, once. */
static void rx_ack__missed_below(struct kunit *test)
{
	struct ina_node *node = member_test_inner(test);
	u32 generation = node->generation;

	ina_test_epoch_seq(node, 5, 40, 12, 8, 99);
	/* Closed for another reason: the next will come. */
	ina_test_epoch_seq(node, 6, 40, 12, 0, 0);
	ina_test_ack_base(node, 0, 39, 0, 0, false);
	KUNIT_EXPECT_EQ(test, node->generation, generation);
	KUNIT_EXPECT_FALSE(test, member_test_repeats(node));
	ina_test_epoch_seq(node, 7, 41, 12, 8, 99);
	member_test_hold(node);
	node->send_join = false;
	ina_test_ack_base(node, 0, 39, 0, 0, false);
	ina_test_ack_base(node, 0, 39, 0, 0, false);
	KUNIT_EXPECT_EQ(test, node->generation, generation + 1);
	KUNIT_EXPECT_TRUE(test, node->send_join);
	/* The next is not held. */
	ina_test_epoch_seq(node, 1, 42, 12, 8, 99);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_FALSE(test, node->held);
}

static void waiting__until_heard(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);

	KUNIT_EXPECT_TRUE(test, ina_member_waiting(node));
	ina_test_ack(node, 0, node->epoch, 0);
	KUNIT_EXPECT_TRUE(test, ina_member_waiting(node));
	ina_test_ack(node, 1, node->epoch, 0);
	KUNIT_EXPECT_FALSE(test, ina_member_waiting(node));
}

static void repeat__unheard(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);

	ina_test_ack(node, 0, node->epoch, 0);
	node->children[0].announce = false;
	node->children[1].announce = false;
	spin_lock_bh(&node->lock);
	ina_member_repeat(node);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_FALSE(test, node->children[0].announce);
	KUNIT_EXPECT_TRUE(test, node->children[1].announce);
}

/* A WELCOME and an EPOCH to each of two children, once. */
static void control_flush__sends(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);

	ina_control_flush(node);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_TX_CONTROL), 4ULL);
	KUNIT_EXPECT_FALSE(test, node->children[0].welcome);
	KUNIT_EXPECT_FALSE(test, node->children[1].announce);
	ina_control_flush(node);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_TX_CONTROL), 4ULL);
}

/* It waits for room in the send buffer, and if nothing leaves it is sent all the same. */
static void control_flush__stuck(struct kunit *test)
{
	struct ina_node *node = member_test_open(test);
	struct sock *sk = node->tx.sock->sk;
	int much = 2 * sk->sk_sndbuf;
	unsigned long before = jiffies;

	KUNIT_EXPECT_FALSE(test, ina_tx_crowded(node));
	refcount_add(much, &sk->sk_wmem_alloc);
	KUNIT_EXPECT_TRUE(test, ina_tx_crowded(node));
	ina_control_flush(node);
	KUNIT_EXPECT_GE(test, jiffies - before, msecs_to_jiffies(100));
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_TX_CONTROL), 4ULL);
	KUNIT_EXPECT_FALSE(test, refcount_sub_and_test(much, &sk->sk_wmem_alloc));
}

static int member_test_init(struct kunit *test)
{
	test->priv = ina_test_inet_create(test);
	return 0;
}

static void member_test_exit(struct kunit *test)
{
	if (test->priv)
		ina_test_inet_destroy(test->priv);
}

static struct kunit_case member_test_cases[] = {
	KUNIT_CASE(changed__left_fails_rounds),
	KUNIT_CASE(open_try__all_children),
	KUNIT_CASE(open_try__grows),
	KUNIT_CASE(open_try__floor),
	KUNIT_CASE(changed__inner_joins),
	KUNIT_CASE(rx_join__accepted),
	KUNIT_CASE(rx_join__hash),
	KUNIT_CASE(rx_join__mtu),
	KUNIT_CASE(rx_join__stranger),
	KUNIT_CASE(rx_join__repeated),
	KUNIT_CASE(rx_join__late),
	KUNIT_CASE(rx_join__generation_wrap),
	KUNIT_CASE(rx_join__restart),
	KUNIT_CASE(rx_join__left),
	KUNIT_CASE(rx_join__left_later),
	KUNIT_CASE(stranger__asked),
	KUNIT_CASE(rx_welcome__accepted),
	KUNIT_CASE(rx_welcome__refused),
	KUNIT_CASE(rx_welcome__other),
	KUNIT_CASE(rx_welcome__lost),
	KUNIT_CASE(rx_epoch__opens),
	KUNIT_CASE(rx_epoch__other),
	KUNIT_CASE(rx_epoch__zero),
	KUNIT_CASE(rx_epoch__base),
	KUNIT_CASE(rx_epoch__next),
	KUNIT_CASE(rx_epoch__closes),
	KUNIT_CASE(rx_epoch__closed_base),
	KUNIT_CASE(rx_epoch__late_close),
	KUNIT_CASE(rx_epoch__past),
	KUNIT_CASE(rx_ack__advances),
	KUNIT_CASE(rx_ack__beyond),
	KUNIT_CASE(rx_ack__epoch),
	KUNIT_CASE(rx_ack__base),
	KUNIT_CASE(rx_ack__missed),
	KUNIT_CASE(rx_ack__missed_below),
	KUNIT_CASE(waiting__until_heard),
	KUNIT_CASE(repeat__unheard),
	KUNIT_CASE(control_flush__sends),
	KUNIT_CASE(control_flush__stuck),
	{}
};

static struct kunit_suite member_test_suite = {
	.name = "ina_member",
	.init = member_test_init,
	.exit = member_test_exit,
	.test_cases = member_test_cases,
};

kunit_test_suite(member_test_suite);
