// SPDX-License-Identifier: GPL-2.0
/*
 * Neighbours of which nothing is heard, though no round runs.
 */
#include <linux/jiffies.h>

#include "test.h"
#include "watch.h"

#define WATCH_TEST_LONG		(100 * HZ)

/* Nothing was heard of a neighbour for a while. */
static void watch_test_quiet(struct ina_peer *peer, unsigned long time)
{
	peer->alive = jiffies - time;
	peer->path[0].heard = jiffies - time;
}

/* A node in an epoch, with two children. */
static struct ina_node *watch_test_node(struct kunit *test)
{
	struct ina_node *node = ina_test_node_create(test, test->priv, false, 2);

	ina_test_join_all(node, 1);
	ina_test_epoch(node, 10, 0, 2, 3);
	KUNIT_ASSERT_TRUE(test, node->open);
	/* Nobody is silent yet, however long the test takes. */
	watch_test_quiet(&node->parent, -WATCH_TEST_LONG);
	watch_test_quiet(&node->children[0].peer, -WATCH_TEST_LONG);
	watch_test_quiet(&node->children[1].peer, -WATCH_TEST_LONG);
	return node;
}

static void watch_test_tick(struct ina_node *node)
{
	spin_lock_bh(&node->lock);
	ina_watch_tick(node);
	spin_unlock_bh(&node->lock);
}

static void tick__parent(struct kunit *test)
{
	struct ina_node *node = watch_test_node(test);

	watch_test_tick(node);
	KUNIT_EXPECT_FALSE(test, node->parent.silent);
	watch_test_quiet(&node->parent, WATCH_TEST_LONG);
	watch_test_tick(node);
	KUNIT_EXPECT_TRUE(test, node->parent.silent);
	watch_test_tick(node);
	KUNIT_EXPECT_TRUE(test, node->parent.silent);
	node->parent.silent_at -= WATCH_TEST_LONG;
	ina_test_epoch(node, 10, 1, 2, 3);
	watch_test_tick(node);
	KUNIT_EXPECT_FALSE(test, node->parent.silent);
}

static void tick__child(struct kunit *test)
{
	struct ina_node *node = watch_test_node(test);
	struct ina_peer *peer = &node->children[1].peer;

	watch_test_quiet(peer, WATCH_TEST_LONG);
	watch_test_tick(node);
	KUNIT_EXPECT_TRUE(test, peer->silent);
	KUNIT_EXPECT_FALSE(test, node->children[0].peer.silent);
	peer->silent_at -= WATCH_TEST_LONG;
	ina_test_ack(node, 1, node->epoch, 0);
	watch_test_tick(node);
	KUNIT_EXPECT_FALSE(test, peer->silent);
}

/* It answers what it is sent, or says something of itself. */
static void tick__one_of_both(struct kunit *test)
{
	struct ina_node *node = watch_test_node(test);
	struct ina_peer *peer = &node->children[1].peer;

	watch_test_quiet(peer, WATCH_TEST_LONG);
	peer->alive = jiffies + WATCH_TEST_LONG;
	watch_test_tick(node);
	KUNIT_EXPECT_FALSE(test, peer->silent);
	watch_test_quiet(peer, WATCH_TEST_LONG);
	peer->path[0].heard = jiffies + WATCH_TEST_LONG;
	watch_test_tick(node);
	KUNIT_EXPECT_FALSE(test, peer->silent);
}

/* Who has left says nothing any more. */
static void tick__left(struct kunit *test)
{
	struct ina_node *node = watch_test_node(test);
	struct ina_join_hdr join = ina_test_join_hdr(node, 101, 2, 0, 0);

	ina_test_join(node, 1, &join);
	watch_test_quiet(&node->children[1].peer, WATCH_TEST_LONG);
	watch_test_quiet(&node->parent, WATCH_TEST_LONG);
	watch_test_tick(node);
	KUNIT_EXPECT_FALSE(test, node->children[1].peer.silent);
	/* Nor is the parent asked by a node that is not complete. */
	KUNIT_EXPECT_FALSE(test, node->parent.silent);
	join = ina_test_join_hdr(node, 101, 3, 1, 2);
	ina_test_join(node, 1, &join);
	watch_test_tick(node);
	KUNIT_EXPECT_FALSE(test, node->children[1].peer.silent);
	KUNIT_EXPECT_FALSE(test, node->parent.silent);
}

/* One that speaks of itself, but does not get what it is sent, is not back by that. */
static void alive__deaf(struct kunit *test)
{
	struct ina_node *node = watch_test_node(test);
	struct ina_peer *peer = &node->children[0].peer;

	ina_watch_deaf(node, peer);
	KUNIT_EXPECT_TRUE(test, peer->silent);
	peer->path[0].hop.asked = 8;
	peer->silent_at -= WATCH_TEST_LONG;
	ina_test_ack(node, 0, node->epoch, 0);
	watch_test_tick(node);
	KUNIT_EXPECT_TRUE(test, peer->silent);
	ina_watch_answers(node, peer);
	KUNIT_EXPECT_FALSE(test, peer->silent);

	/* Nothing is asked any more: then it is. */
	ina_watch_deaf(node, peer);
	peer->path[0].hop.asked = 0;
	watch_test_tick(node);
	KUNIT_EXPECT_TRUE(test, peer->silent);
	peer->silent_at -= WATCH_TEST_LONG;
	ina_test_ack(node, 0, node->epoch, 0);
	watch_test_tick(node);
	KUNIT_EXPECT_FALSE(test, peer->silent);
}

/* A sign of life is answered, but not each of many. */
static void ack__answered(struct kunit *test)
{
	struct ina_node *node = watch_test_node(test);
	struct ina_child *child = &node->children[0];

	child->welcome = false;
	child->told_at = jiffies + 100 * HZ;
	ina_test_ack(node, 0, node->epoch, 0);
	KUNIT_EXPECT_FALSE(test, child->welcome);
	child->told_at = jiffies - HZ;
	ina_test_ack(node, 0, node->epoch, 0);
	KUNIT_EXPECT_TRUE(test, child->welcome);
}

static struct kunit_case watch_test_cases[] = {
	KUNIT_CASE(tick__parent),
	KUNIT_CASE(tick__child),
	KUNIT_CASE(tick__one_of_both),
	KUNIT_CASE(tick__left),
	KUNIT_CASE(alive__deaf),
	KUNIT_CASE(ack__answered),
	{}
};

static int watch_test_init(struct kunit *test)
{
	test->priv = ina_test_inet_create(test);
	return 0;
}

static void watch_test_exit(struct kunit *test)
{
	ina_test_inet_destroy(test->priv);
}

static struct kunit_suite watch_test_suite = {
	.name = "ina_watch",
	.init = watch_test_init,
	.exit = watch_test_exit,
	.test_cases = watch_test_cases,
};

kunit_test_suite(watch_test_suite);
