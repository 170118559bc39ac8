// SPDX-License-Identifier: GPL-2.0
/*
 * Rounds that wait: who is named, who is left out, who comes back.
 */
#include <linux/jiffies.h>

#include "epoch.h"
#include "late.h"
#include "round.h"
#include "test.h"

#define LATE_TEST_LENGTH	(2 * INA_TEST_FRAGMENT)

/* A node with two children of three workers each. */
static struct ina_node *late_test_node(struct kunit *test, bool root,
				       enum ina_on_loss on_loss)
{
	struct ina_node *node = ina_test_node_create(test, test->priv, root, 2);

	node->job->config.on_loss = on_loss;
	ina_test_join_all(node, 3);
	if (!root)
		ina_test_epoch(node, 10, 0, 6, 3);
	KUNIT_ASSERT_TRUE(test, node->open);
	return node;
}

static int late_test_add_to(struct ina_node *node, u64 round, u32 frag, u16 who)
{
	struct in6_addr from = ina_test_addr(INA_TEST_CHILD + who);
	__le32 src[INA_TEST_FRAGMENT] = {};
	struct ina_part part = {
		.tag = { .era = node->era, .round = round },
		.length = LATE_TEST_LENGTH, .contributor = who,
		.workers = 3, .token = who + 1,
	};

	return ina_test_contribute(node, &part, frag, src, &from);
}

static int late_test_add(struct ina_node *node, u32 frag, u16 who)
{
	return late_test_add_to(node, 0, frag, who);
}

/* All that a child contributes to a round. */
static void late_test_round(struct ina_node *node, u64 round, u16 who)
{
	late_test_add_to(node, round, 0, who);
	late_test_add_to(node, round, 1, who);
}

/* Child 0 contributes all of round 0, child 1 its first @frags fragments. */
static void late_test_wait(struct kunit *test, struct ina_node *node, u32 frags)
{
	u32 frag;

	for (frag = 0; frag < 2; frag++) {
		KUNIT_ASSERT_EQ(test, late_test_add(node, frag, 0), 0);
		if (frag < frags)
			KUNIT_ASSERT_EQ(test, late_test_add(node, frag, 1), 0);
	}
}

/* It is @percent of the root's time later. */
static void late_test_tick(struct ina_node *node, u32 percent)
{
	u32 ms = ina_late_limit_ms(node) * percent / 100;
	u32 i;

	for (i = 0; i < INA_TEST_DEPTH; i++) {
		node->rounds[i].started = jiffies - msecs_to_jiffies(ms);
		node->rounds[i].since = node->rounds[i].started;
		/* Who is to be left out was, as soon as that could be. */
		if (node->rounds[i].ordered)
			node->rounds[i].ordered = (node->rounds[i].started +
						   msecs_to_jiffies(ina_late_limit_ms(node))) | 1;
	}
	node->over_at = jiffies - msecs_to_jiffies(ms);
	node->opened_at = node->over_at;
	ina_late_tick(node);
}

static void late_test_named(struct ina_node *node, u32 worker, u32 last)
{
	struct ina_tag tag = { .era = node->era };
	struct ina_blame blame = {
		.reason = INA_REASON_DEADLINE, .culprit = ina_test_addr(99),
		.worker = worker, .last = last,
	};

	ina_late_named(node, &node->children[1], &tag, &blame);
}

static void fail__names_child(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_FAIL);
	struct in6_addr child = ina_test_addr(INA_TEST_CHILD + 1);
	struct ina_round *entry = &node->rounds[0];

	late_test_wait(test, node, 1);
	late_test_tick(node, 99);
	KUNIT_EXPECT_FALSE(test, entry->failed);
	late_test_tick(node, 100);
	KUNIT_ASSERT_TRUE(test, entry->failed);
	KUNIT_EXPECT_EQ(test, entry->blame.reason, INA_REASON_DEADLINE);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&entry->blame.culprit, &child));
	KUNIT_EXPECT_EQ(test, entry->blame.last, 1);
	/* Which of its three workers, nobody said. */
	KUNIT_EXPECT_EQ(test, entry->blame.worker, 0);
}

static void fail__names_worker(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_FAIL);
	struct in6_addr culprit = ina_test_addr(99);
	struct ina_round *entry = &node->rounds[0];

	late_test_wait(test, node, 0);
	late_test_named(node, 2, 7);
	late_test_tick(node, 100);
	KUNIT_ASSERT_TRUE(test, entry->failed);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&entry->blame.culprit,
						&culprit));
	KUNIT_EXPECT_EQ(test, entry->blame.worker, 2);
	KUNIT_EXPECT_EQ(test, entry->blame.last, 7);
}

/* Nobody contributed here, the parent says that the round runs. */
static void inner__is_told(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, false, INA_ON_LOSS_FAIL);
	struct in6_addr child = ina_test_addr(INA_TEST_CHILD);
	struct ina_round *entry = &node->rounds[0];

	spin_lock_bh(&node->lock);
	ina_late_told(node, 0, BIT(0));
	KUNIT_EXPECT_EQ(test, ina_late_running(node), BIT(0));
	spin_unlock_bh(&node->lock);
	KUNIT_ASSERT_EQ(test, entry->tag.era, node->era);
	late_test_tick(node, 80);
	KUNIT_EXPECT_FALSE(test, entry->reported);
	late_test_tick(node, 90);
	KUNIT_EXPECT_TRUE(test, entry->reported);
	KUNIT_EXPECT_FALSE(test, entry->failed);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&entry->blame.culprit, &child));
	KUNIT_EXPECT_EQ(test, entry->blame.last, 0);
}

static void degrade__leaves_out(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_DEGRADE);
	struct ina_join_hdr join;
	u32 era = node->era;

	late_test_wait(test, node, 1);
	late_test_tick(node, 100);
	/* First all are told, */
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].tell_down);
	/* then it goes on without. */
	late_test_tick(node, 101);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
	KUNIT_EXPECT_TRUE(test, node->children[1].out);
	KUNIT_EXPECT_TRUE(test, node->children[1].dropped);
	KUNIT_ASSERT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->era, era + 1);
	KUNIT_EXPECT_EQ(test, node->members, 3);
	late_test_wait(test, node, 0);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].complete);
	KUNIT_EXPECT_EQ(test, node->rounds[0].members, 3);
	/* It is taken in again when it joins again. */
	join = ina_test_join_hdr(node, 101, 2, 3, 2);
	ina_test_join(node, 1, &join);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	KUNIT_EXPECT_EQ(test, node->members, 6);
}

/* A child that speaks, or has children, decides on its own whom to leave out. */
static void degrade__spares_aggregator(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_DEGRADE);

	late_test_wait(test, node, 0);
	node->children[1].height = 1;
	late_test_tick(node, 100);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].excluding);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].tell_down);
	node->children[1].height = 0;
	late_test_named(node, 1, 0);
	late_test_tick(node, 110);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
	/* It did not. */
	late_test_tick(node, 113);
	KUNIT_EXPECT_TRUE(test, node->children[1].out);
}

/* A silent aggregator is not left out: the round fails after all. */
static void degrade__fails(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_DEGRADE);

	late_test_wait(test, node, 0);
	node->children[1].height = 1;
	late_test_tick(node, 124);
	late_test_tick(node, 124);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
	late_test_tick(node, 126);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].failed);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
}

/* There is time again once somebody is left out, not each time that one is. */
static void degrade__bounded(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_DEGRADE);
	struct ina_join_hdr join = ina_test_join_hdr(node, 101, 2, 3, 2);
	struct ina_round *entry = &node->rounds[0];
	unsigned long start = jiffies;

	/* An aggregator that stays silent. */
	node->children[0].height = 1;
	late_test_add(node, 0, 0);
	late_test_tick(node, 100);
	late_test_tick(node, 101);
	KUNIT_ASSERT_TRUE(test, node->children[1].out);
	late_test_add(node, 0, 0);
	KUNIT_EXPECT_TRUE(test, time_after_eq(entry->started, start));

	start = jiffies - msecs_to_jiffies(ina_late_limit_ms(node));
	entry->started = start;
	ina_test_join(node, 1, &join);
	KUNIT_ASSERT_EQ(test, node->members, 6);
	late_test_add(node, 0, 0);
	KUNIT_EXPECT_EQ(test, entry->started, start);
	/* It can send what it has. */
	ina_late_tick(node);
	ina_late_tick(node);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	entry->since = start;
	ina_late_tick(node);
	ina_late_tick(node);
	KUNIT_ASSERT_TRUE(test, node->children[1].out);
	late_test_add(node, 0, 0);
	KUNIT_EXPECT_EQ(test, entry->started, start);
	KUNIT_EXPECT_FALSE(test, entry->failed);
	entry->started -= msecs_to_jiffies(ina_late_limit_ms(node));
	ina_late_tick(node);
	KUNIT_EXPECT_TRUE(test, entry->failed);
}

/* Who waits for a round is not late with the next. */
static void degrade__oldest(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_DEGRADE);

	/* Round 0 waits for an aggregator, round 1 for child 1, too. */
	node->children[0].height = 1;
	late_test_round(node, 0, 1);
	late_test_add_to(node, 1, 0, 0);
	late_test_tick(node, 100);
	late_test_tick(node, 101);
	KUNIT_EXPECT_TRUE(test, node->rounds[0].excluding);
	KUNIT_EXPECT_FALSE(test, node->rounds[1].excluding);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	late_test_round(node, 0, 0);
	KUNIT_ASSERT_TRUE(test, node->rounds[0].complete);
	late_test_tick(node, 102);
	late_test_tick(node, 103);
	KUNIT_EXPECT_TRUE(test, node->children[1].out);
}

/* A node nobody tells of a round while somebody is left out has the time of the others. */
static void degrade__renews(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, false, INA_ON_LOSS_DEGRADE);
	struct ina_round *entry = &node->rounds[0];
	unsigned long start = jiffies;

	late_test_add(node, 0, 0);
	entry->started = jiffies - msecs_to_jiffies(ina_late_limit_ms(node));
	ina_test_epoch(node, 11, 0, 5, 3);
	ina_test_epoch(node, 12, 0, 6, 3);
	late_test_add(node, 0, 0);
	KUNIT_EXPECT_TRUE(test, time_after_eq(entry->started, start));
	start = jiffies - HZ;
	entry->started = start;
	ina_test_epoch(node, 13, 0, 5, 3);
	ina_test_epoch(node, 14, 0, 6, 3);
	late_test_add(node, 0, 0);
	KUNIT_EXPECT_EQ(test, entry->started, start);
	/* One has been missed. */
	ina_test_epoch(node, 16, 0, 6, 3);
	late_test_add(node, 0, 0);
	KUNIT_EXPECT_TRUE(test, time_after(entry->started, start));
}

static void degrade__follows_order(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, false,
					       INA_ON_LOSS_DEGRADE);
	struct ina_tag tag = { .era = node->era };
	u32 generation = node->generation;

	late_test_wait(test, node, 0);
	late_test_tick(node, 100);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	ina_late_order(node, &tag);
	/* Who has yet to send it again has an eighth of the time. The order is kept. */
	late_test_tick(node, 12);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	late_test_tick(node, 101);
	KUNIT_EXPECT_TRUE(test, node->children[1].out);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->subtree, 3);
	KUNIT_EXPECT_EQ(test, node->generation, generation + 1);
	KUNIT_EXPECT_TRUE(test, node->send_join);
}

/* One that leaves is not waited for; when all have left, all are. */
static void degrade__left(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_DEGRADE);
	struct ina_join_hdr join = ina_test_join_hdr(node, 101, 2, 0, 0);

	late_test_wait(test, node, 0);
	join.reason = cpu_to_be16(INA_REASON_LEFT);
	ina_test_join(node, 1, &join);
	KUNIT_ASSERT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->members, 3);
	KUNIT_EXPECT_FALSE(test, node->rounds[0].failed);
	join = ina_test_join_hdr(node, 100, 2, 0, 0);
	join.reason = cpu_to_be16(INA_REASON_LEFT);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_FALSE(test, node->children[1].out);
	join = ina_test_join_hdr(node, 100, 3, 3, 1);
	ina_test_join(node, 0, &join);
	KUNIT_EXPECT_FALSE(test, node->open);
}

/* All is complete, but one does not acknowledge: nobody can go on. */
static void held__closes(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_FAIL);
	struct in6_addr child = ina_test_addr(INA_TEST_CHILD + 1);
	u64 round;

	for (round = 0; round < INA_TEST_DEPTH; round++) {
		late_test_round(node, round, 0);
		late_test_round(node, round, 1);
		KUNIT_ASSERT_TRUE(test, node->rounds[round].complete);
		late_test_tick(node, 100);
		KUNIT_EXPECT_EQ(test, node->open, round < INA_TEST_DEPTH - 1);
		ina_test_ack(node, 0, node->epoch, round + 1);
	}
	KUNIT_EXPECT_EQ(test, node->closed.reason, INA_REASON_DEADLINE);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&node->closed.culprit, &child));
	spin_lock_bh(&node->lock);
	ina_epoch_open_try(node);
	KUNIT_EXPECT_FALSE(test, node->open);
	spin_unlock_bh(&node->lock);
	ina_test_ack(node, 1, node->epoch, 1);
	spin_lock_bh(&node->lock);
	ina_epoch_open_try(node);
	KUNIT_EXPECT_TRUE(test, node->open);
	spin_unlock_bh(&node->lock);
}

/* Another epoch of the same window: there is time again. */
static void held__again(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_FAIL);
	struct ina_join_hdr join = ina_test_join_hdr(node, 100, 2, 3, 1);
	u64 round;

	for (round = 0; round < INA_TEST_DEPTH; round++) {
		late_test_round(node, round, 0);
		late_test_round(node, round, 1);
	}
	late_test_tick(node, 100);
	KUNIT_ASSERT_FALSE(test, node->open);
	ina_test_join(node, 0, &join);
	KUNIT_ASSERT_TRUE(test, node->open);
	ina_late_tick(node);
	KUNIT_EXPECT_TRUE(test, node->open);
	late_test_tick(node, 100);
	KUNIT_EXPECT_FALSE(test, node->open);
}

/* All has failed, and who was named does not acknowledge that: nobody can go on. */
static void held__failed(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_FAIL);
	struct in6_addr child = ina_test_addr(INA_TEST_CHILD + 1);
	u64 round;

	for (round = 0; round < INA_TEST_DEPTH; round++)
		late_test_round(node, round, 0);
	late_test_tick(node, 100);
	for (round = 0; round < INA_TEST_DEPTH; round++)
		KUNIT_ASSERT_TRUE(test, node->rounds[round].failed);
	ina_test_ack(node, 0, node->epoch, INA_TEST_DEPTH);
	/* It has time for that. */
	ina_late_tick(node);
	KUNIT_EXPECT_TRUE(test, node->open);
	late_test_tick(node, 99);
	KUNIT_EXPECT_TRUE(test, node->open);
	late_test_tick(node, 100);
	KUNIT_EXPECT_FALSE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->closed.reason, INA_REASON_DEADLINE);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&node->closed.culprit, &child));
	/* It is back. */
	ina_test_ack(node, 1, node->epoch, INA_TEST_DEPTH);
	spin_lock_bh(&node->lock);
	ina_epoch_open_try(node);
	KUNIT_EXPECT_TRUE(test, node->open);
	spin_unlock_bh(&node->lock);
}

/* What one who has children says comes later than what a leaf says. */
static void named__age(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, true, INA_ON_LOSS_FAIL);
	u32 ms = ina_late_limit_ms(node);
	struct ina_round *entry = &node->rounds[0];

	late_test_named(node, 1, 0);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - entry->started), ms - ms / 4);
	node->children[1].height = 2;
	late_test_named(node, 1, 0);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - entry->started), ms - ms / 12);
}

/* A leaf hears nothing of anybody: its workers are told, until the window moves. */
static void cut_off__tells(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, false, INA_ON_LOSS_FAIL);

	/* A worker that is not attached is told nothing, but counts. */
	node->nworkers = 1;
	ina_test_ack(node, 0, node->epoch, INA_TEST_DEPTH);
	ina_test_ack(node, 1, node->epoch, INA_TEST_DEPTH - 1);
	late_test_tick(node, 200);
	KUNIT_EXPECT_FALSE(test, node->cut_off);
	ina_test_ack(node, 1, node->epoch, INA_TEST_DEPTH);
	late_test_tick(node, 120);
	KUNIT_EXPECT_FALSE(test, node->cut_off);
	late_test_tick(node, 130);
	KUNIT_EXPECT_TRUE(test, node->cut_off);
	ina_test_epoch(node, node->epoch, 1, 6, 3);
	KUNIT_EXPECT_FALSE(test, node->cut_off);
	late_test_tick(node, 200);
	KUNIT_EXPECT_FALSE(test, node->cut_off);
	node->nworkers = 0;
}

/* Nobody is missing below: the parent is. */
static void cut_off__names_parent(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, false, INA_ON_LOSS_FAIL);
	struct in6_addr parent = ina_test_addr(INA_TEST_PARENT);
	struct ina_round *entry = &node->rounds[0];

	node->nworkers = 1;
	late_test_wait(test, node, 2);
	late_test_tick(node, 130);
	node->nworkers = 0;
	KUNIT_ASSERT_TRUE(test, entry->failed);
	KUNIT_EXPECT_EQ(test, entry->blame.reason, INA_REASON_DEADLINE);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&entry->blame.culprit, &parent));
}

/* Who hears nothing fails a round before the deadline, but after the root would have. */
static void cut_off__by_deadline(struct kunit *test)
{
	struct ina_node *node = late_test_node(test, false, INA_ON_LOSS_FAIL);
	struct ina_round *entry = &node->rounds[0];
	u32 ms = node->job->config.deadline_ms;

	node->nworkers = 1;
	late_test_wait(test, node, 2);
	late_test_tick(node, 101);
	KUNIT_EXPECT_FALSE(test, entry->failed);
	entry->started = jiffies - msecs_to_jiffies(ms - ms / 20);
	ina_late_tick(node);
	KUNIT_EXPECT_TRUE(test, entry->failed);
	node->nworkers = 0;
}

static void ranks__twice(struct kunit *test)
{
	struct ina_node *node = ina_test_node_create(test, test->priv, true, 2);
	struct {
		struct ina_join_hdr join;
		u8 ranks[1];
	} body;
	struct ina_pkt pkt = {
		.type = INA_TYPE_JOIN, .job = node->job->config.id,
		.index = INA_INDEX_NONE, .count = 4, .body = &body,
	};
	struct in6_addr from;
	u16 i;

	for (i = 0; i < 2; i++) {
		body.join = ina_test_join_hdr(node, 100 + i, 1, 1, 1);
		/* What is behind the count is not looked at. */
		body.ranks[0] = 0xf8;
		from = ina_test_addr(INA_TEST_CHILD + i);
		ina_member_rx_join(node, &pkt, &from);
	}
	KUNIT_EXPECT_FALSE(test, node->open);
	body.join.generation = cpu_to_be32(2);
	body.ranks[0] = 0x14;
	ina_member_rx_join(node, &pkt, &from);
	KUNIT_EXPECT_TRUE(test, node->open);
	KUNIT_EXPECT_EQ(test, node->ranks.count, 4);
	KUNIT_EXPECT_EQ(test, node->ranks.bits[0], 0x0c);
}

static struct kunit_case late_test_cases[] = {
	KUNIT_CASE(fail__names_child),
	KUNIT_CASE(fail__names_worker),
	KUNIT_CASE(inner__is_told),
	KUNIT_CASE(degrade__leaves_out),
	KUNIT_CASE(degrade__spares_aggregator),
	KUNIT_CASE(degrade__fails),
	KUNIT_CASE(degrade__bounded),
	KUNIT_CASE(degrade__oldest),
	KUNIT_CASE(degrade__renews),
	KUNIT_CASE(degrade__follows_order),
	KUNIT_CASE(degrade__left),
	KUNIT_CASE(held__closes),
	KUNIT_CASE(held__again),
	KUNIT_CASE(held__failed),
	KUNIT_CASE(named__age),
	KUNIT_CASE(cut_off__tells),
	KUNIT_CASE(cut_off__names_parent),
	KUNIT_CASE(cut_off__by_deadline),
	KUNIT_CASE(ranks__twice),
	{}
};

static int late_test_init(struct kunit *test)
{
	test->priv = ina_test_inet_create(test);
	return 0;
}

static void late_test_exit(struct kunit *test)
{
	ina_test_inet_destroy(test->priv);
}

static struct kunit_suite late_test_suite = {
	.name = "ina_late",
	.init = late_test_init,
	.exit = late_test_exit,
	.test_cases = late_test_cases,
};

kunit_test_suite(late_test_suite);
