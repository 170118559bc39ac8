// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of rounds at a new epoch: final ones are kept, failed ones stay
 * failed, the others are summed again; another root knows of none.
 */
#include "epoch.h"
#include "fail.h"
#include "round.h"
#include "test.h"

#define EPOCH_TEST_FRAGS	2
#define EPOCH_TEST_LENGTH	(EPOCH_TEST_FRAGS * INA_TEST_FRAGMENT)

/* A root with two children, open. */
static struct ina_node *epoch_test_root(struct kunit *test)
{
	struct ina_node *node = ina_test_node_create(test, test->priv, true, 2);

	ina_test_join_all(node, 3);
	KUNIT_ASSERT_TRUE(test, node->open);
	return node;
}

/* A node below, in epoch 10, whose only child has joined. */
static struct ina_node *epoch_test_inner(struct kunit *test)
{
	struct ina_node *node = ina_test_node_create(test, test->priv, false, 1);

	ina_test_join_all(node, 3);
	ina_test_epoch(node, 10, 0, 3, 1);
	KUNIT_ASSERT_TRUE(test, node->open);
	return node;
}

/* Child @who contributes a fragment. */
static int epoch_test_add(struct ina_node *node, u64 round, u32 frag, u16 who,
			  u32 era)
{
	struct in6_addr from = ina_test_addr(INA_TEST_CHILD + who);
	__le32 src[INA_TEST_FRAGMENT] = {};
	struct ina_part part = {
		.tag = { .era = era, .round = round },
		.length = EPOCH_TEST_LENGTH, .contributor = who,
		.workers = 3, .token = who + 1,
	};

	return ina_test_contribute(node, &part, frag, src, &from);
}

/* All children contribute the first @frags fragments. */
static void epoch_test_sum(struct kunit *test, struct ina_node *node, u64 round,
			   u32 frags)
{
	u32 frag;
	u16 i;

	for (frag = 0; frag < frags; frag++)
		for (i = 0; i < node->nchildren; i++)
			KUNIT_ASSERT_EQ(test, epoch_test_add(node, round, frag, i,
							     node->era), 0);
}

/* A result under the tag the node gives it. */
static int epoch_test_result(struct ina_node *node, u64 round, u32 frag,
			     u32 workers)
{
	__le32 src[INA_TEST_FRAGMENT] = { cpu_to_le32(frag + 5) };
	struct ina_part part = {
		.tag = ina_round_tag(node, node->era, round),
		.length = EPOCH_TEST_LENGTH, .workers = workers, .token = 1,
	};

	part.final = ina_round_is_kept(node, &part.tag);
	return ina_test_result(node, &part, frag, src);
}

/* Child 0 starts anew, with the same workers. */
static void epoch_test_restart(struct ina_node *node, u64 instance)
{
	struct ina_join_hdr join = ina_test_join_hdr(node, instance, 1, 3, 1);

	ina_test_join(node, 0, &join);
}

static struct ina_round *epoch_test_entry(struct ina_node *node, u64 round)
{
	return &node->rounds[round % INA_TEST_DEPTH];
}

/* An announcement with rounds that are over. */
static void epoch_test_announce(struct ina_node *node, u32 number, u64 root,
				u64 base, u32 final, u32 failed)
{
	struct ina_epoch_hdr hdr = {
		.instance = cpu_to_be64(node->instance),
		.generation = cpu_to_be32(node->generation),
		.base = cpu_to_be64(base), .root = cpu_to_be64(root),
		.workers = cpu_to_be32(3), .token = cpu_to_be32(1),
		.final = cpu_to_be32(final), .failed = cpu_to_be32(failed),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_EPOCH, .job = node->job->config.id,
		.seq = node->heard_seq + 1, .epoch = number, .body = &hdr,
	};

	ina_member_rx_epoch(node, &pkt);
}

/* Final, half summed, failed: at the root. */
static void root__sorts(struct kunit *test)
{
	struct ina_node *node = epoch_test_root(test);
	struct ina_blame blame = { .reason = INA_REASON_LENGTH };
	struct ina_tag tag = { .era = node->era, .round = 2 };
	u32 era = node->era;
	struct ina_over over;

	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	epoch_test_sum(test, node, 1, 1);
	ina_fail_round(node, &tag, &blame);
	epoch_test_restart(node, 1000);
	KUNIT_ASSERT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->era, era + 1);
	over = ina_epoch_over(node, true);
	KUNIT_EXPECT_EQ(test, over.final, BIT(0));
	KUNIT_EXPECT_EQ(test, over.failed, BIT(2));
	KUNIT_EXPECT_EQ(test, ina_round_tag(node, node->era, 0).era, era);
	KUNIT_EXPECT_EQ(test, ina_round_tag(node, node->era, 1).era, era + 1);
	KUNIT_EXPECT_EQ(test, epoch_test_entry(node, 2)->blame.reason,
			INA_REASON_LENGTH);
	/* What was added before does not count any more. */
	KUNIT_EXPECT_NE(test, epoch_test_add(node, 1, 1, 0, era), 0);
	epoch_test_sum(test, node, 1, EPOCH_TEST_FRAGS);
	KUNIT_EXPECT_TRUE(test, epoch_test_entry(node, 1)->complete);
	/* Nor can what is over be contributed to. */
	KUNIT_EXPECT_NE(test, epoch_test_add(node, 0, 0, 0, node->era), 0);
	KUNIT_EXPECT_NE(test, epoch_test_add(node, 2, 0, 0, node->era), 0);
}

/* A final round stays so over many epochs, until all have it. */
static void root__keeps(struct kunit *test)
{
	struct ina_node *node = epoch_test_root(test);
	u32 era = node->era;
	int i;

	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	for (i = 0; i < 5; i++) {
		epoch_test_restart(node, 1000 + i);
		KUNIT_EXPECT_EQ(test, ina_epoch_over(node, true).final, BIT(0));
		KUNIT_EXPECT_EQ(test, ina_round_tag(node, node->era, 0).era,
				era);
	}
	ina_test_ack(node, 0, node->epoch, 1);
	ina_test_ack(node, 1, node->epoch, 1);
	KUNIT_EXPECT_EQ(test, node->base, 1ULL);
	KUNIT_EXPECT_EQ(test, ina_epoch_over(node, true).final, 0);
}

/* The entry of a kept round goes to another one, which is not kept. */
static void root__reuses(struct kunit *test)
{
	struct ina_node *node = epoch_test_root(test);

	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	epoch_test_restart(node, 1000);
	ina_test_ack(node, 0, node->epoch, 1);
	ina_test_ack(node, 1, node->epoch, 1);
	KUNIT_ASSERT_EQ(test, node->base, 1ULL);
	epoch_test_sum(test, node, INA_TEST_DEPTH, 1);
	KUNIT_EXPECT_EQ(test, epoch_test_entry(node, 0)->kept, 0ULL);
	KUNIT_EXPECT_EQ(test, ina_epoch_over(node, true).final, 0);
}

/* A result is not overwritten by a contribution that comes after it. */
static void inner__result_stays(struct kunit *test)
{
	struct ina_node *node = epoch_test_inner(test);
	u32 id;

	epoch_test_announce(node, 12, INA_TEST_ROOT, 0, BIT(0), 0);
	KUNIT_ASSERT_EQ(test, epoch_test_result(node, 0, 1, 3), 0);
	id = ina_node_slot_id(node, 0, 1);
	KUNIT_EXPECT_EQ(test, epoch_test_add(node, 0, 1, 0, node->era),
			INA_STAT_DROP_DUPLICATE);
	KUNIT_EXPECT_EQ(test, *(s32 *)ina_node_sums(node, id), 6);
}

/* Who has heard the epoch is sent what it lacks of final rounds. */
static void root__redistributes(struct kunit *test)
{
	struct ina_node *node = epoch_test_root(test);
	struct ina_hop *hop = &node->children[1].peer.path[0].hop;

	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	epoch_test_sum(test, node, 1, EPOCH_TEST_FRAGS);
	while (ina_queue_pick(hop->queue) >= 0)
		;
	epoch_test_restart(node, 1000);
	KUNIT_EXPECT_TRUE(test, ina_queue_is_empty(hop->queue));
	/* It has the first one. */
	ina_test_ack(node, 1, node->epoch, 1);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), (int)node->frags);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), (int)node->frags + 1);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(hop->queue), -1);
	/* Once. */
	ina_test_ack(node, 1, node->epoch, 1);
	KUNIT_EXPECT_TRUE(test, ina_queue_is_empty(hop->queue));
}

/* Half the results of a round came before it was known to be final. */
static void inner__keeps_part(struct kunit *test)
{
	struct ina_node *node = epoch_test_inner(test);

	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	KUNIT_ASSERT_EQ(test, epoch_test_result(node, 0, 0, 3), 0);
	epoch_test_announce(node, 11, INA_TEST_ROOT, 0, BIT(0), 0);
	KUNIT_EXPECT_EQ(test, ina_round_held(epoch_test_entry(node, 0)), 1);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 0, 0, 3),
			INA_STAT_DROP_DUPLICATE);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 0, 1, 3), 0);
	KUNIT_EXPECT_TRUE(test, epoch_test_entry(node, 0)->complete);
}

/* One epoch was missed: what it has may not be what became final. */
static void inner__missed_an_epoch(struct kunit *test)
{
	struct ina_node *node = epoch_test_inner(test);

	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	KUNIT_ASSERT_EQ(test, epoch_test_result(node, 0, 0, 3), 0);
	epoch_test_announce(node, 12, INA_TEST_ROOT, 0, BIT(0), 0);
	KUNIT_EXPECT_EQ(test, ina_round_held(epoch_test_entry(node, 0)), 0);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 0, 0, 3), 0);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 0, 1, 3), 0);
	KUNIT_EXPECT_TRUE(test, epoch_test_entry(node, 0)->complete);
}

/* A node that knew nothing of a final round; its members may be others. */
static void inner__final_is_news(struct kunit *test)
{
	struct ina_node *node = epoch_test_inner(test);

	epoch_test_announce(node, 11, INA_TEST_ROOT, 4, BIT(1), 0);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 5, 1, 7), 0);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 5, 0, 7), 0);
	KUNIT_EXPECT_TRUE(test, epoch_test_entry(node, 5)->complete);
	KUNIT_EXPECT_EQ(test, epoch_test_entry(node, 5)->members, 7);
	/* Others must be of the members, and after the contributions. */
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 4, 0, 7),
			INA_STAT_DROP_MEMBERS);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 4, 0, 3),
			INA_STAT_DROP_EARLY);
}

static void inner__failed_is_news(struct kunit *test)
{
	struct ina_node *node = epoch_test_inner(test);

	epoch_test_sum(test, node, 1, 1);
	epoch_test_announce(node, 11, INA_TEST_ROOT, 0, 0, BIT(1));
	KUNIT_EXPECT_TRUE(test, epoch_test_entry(node, 1)->failed);
	KUNIT_EXPECT_NE(test, epoch_test_add(node, 1, 0, 0, node->era), 0);
	KUNIT_EXPECT_EQ(test, ina_epoch_over(node, true).failed, BIT(1));
}

/* Because of whom, the parent says: until then nobody is told, neither up nor down. */
static void inner__failed_is_named(struct kunit *test)
{
	struct ina_node *node = epoch_test_inner(test);
	struct ina_round *entry = epoch_test_entry(node, 1);
	struct ina_blame blame = {
		.reason = INA_REASON_DEADLINE, .culprit = ina_test_addr(99),
	};

	epoch_test_sum(test, node, 1, 1);
	epoch_test_announce(node, 11, INA_TEST_ROOT, 0, 0, BIT(1));
	spin_lock_bh(&node->lock);
	ina_fail_repeat(node);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_FALSE(test, entry->tell_up);
	KUNIT_EXPECT_FALSE(test, entry->tell_down);
	ina_fail_round_from(node, &entry->tag, &blame);
	KUNIT_EXPECT_TRUE(test, entry->tell_down);
	KUNIT_EXPECT_EQ(test, entry->blame.reason, INA_REASON_DEADLINE);
	/* A second time it is no news. */
	blame.reason = INA_REASON_COUNT;
	ina_fail_round_from(node, &entry->tag, &blame);
	KUNIT_EXPECT_EQ(test, entry->blame.reason, INA_REASON_DEADLINE);
}

/* The root is another: nothing it says of rounds is of ours. */
static void inner__other_root(struct kunit *test)
{
	struct ina_node *node = epoch_test_inner(test);

	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	epoch_test_announce(node, 11, INA_TEST_ROOT + 1, 0, 0, 0);
	KUNIT_ASSERT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_ROUNDS_FAILED), 1);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 0, 0, 3),
			INA_STAT_DROP_EARLY);
	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 0, 0, 3), 0);
}

/* What another root has completed before is of no use, and not summed. */
static void inner__other_root_final(struct kunit *test)
{
	struct ina_node *node = epoch_test_inner(test);

	epoch_test_sum(test, node, 0, EPOCH_TEST_FRAGS);
	epoch_test_announce(node, 11, INA_TEST_ROOT + 1, 4, BIT(0), BIT(1));
	KUNIT_ASSERT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, ina_epoch_over(node, true).final, BIT(0));
	KUNIT_EXPECT_EQ(test, ina_epoch_over(node, true).failed, BIT(1));
	KUNIT_EXPECT_EQ(test, epoch_test_result(node, 4, 0, 7), 0);
	KUNIT_EXPECT_NE(test, epoch_test_add(node, 5, 0, 0, node->era), 0);
	epoch_test_sum(test, node, 6, EPOCH_TEST_FRAGS);
}

static int epoch_test_init(struct kunit *test)
{
	test->priv = ina_test_inet_create(test);
	return 0;
}

static void epoch_test_exit(struct kunit *test)
{
	ina_test_inet_destroy(test->priv);
}

static struct kunit_case epoch_test_cases[] = {
	KUNIT_CASE(root__sorts),
	KUNIT_CASE(root__keeps),
	KUNIT_CASE(root__reuses),
	KUNIT_CASE(root__redistributes),
	KUNIT_CASE(inner__keeps_part),
	KUNIT_CASE(inner__missed_an_epoch),
	KUNIT_CASE(inner__final_is_news),
	KUNIT_CASE(inner__result_stays),
	KUNIT_CASE(inner__failed_is_news),
	KUNIT_CASE(inner__failed_is_named),
	KUNIT_CASE(inner__other_root),
	KUNIT_CASE(inner__other_root_final),
	{}
};

static struct kunit_suite epoch_test_suite = {
	.name = "ina_epoch",
	.init = epoch_test_init,
	.exit = epoch_test_exit,
	.test_cases = epoch_test_cases,
};

kunit_test_suite(epoch_test_suite);
