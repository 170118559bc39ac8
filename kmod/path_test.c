// SPDX-License-Identifier: GPL-2.0
/* Paths to a peer: which one is taken, what becomes of one that leads nowhere. */
#include "path.h"
#include "test.h"

#define PATH_TEST_EPOCH	3

struct path_test {
	struct ina_net *inet;
	struct ina_node *node;
	struct ina_peer *peer;
};

/* Another path, which answers. Return: its number. */
static int path_test_add(struct kunit *test, u64 rtt, u32 weight)
{
	struct path_test *t = test->priv;
	struct ina_route route = {
		.dst = ina_test_addr(INA_TEST_PARENT), .ifindex = 1,
	};
	struct ina_path *path;
	int number;

	mutex_lock(&t->inet->lock);
	number = ina_path_add(t->node, t->peer, &route, weight);
	mutex_unlock(&t->inet->lock);
	KUNIT_ASSERT_GT(test, number, 0);
	path = &t->peer->path[number];
	KUNIT_EXPECT_EQ(test, path->state, INA_PATH_STATE_SILENT);
	path->rtt = rtt;
	path->hop.epoch = PATH_TEST_EPOCH;
	ina_path_up(t->node, t->peer, path);
	return number;
}

static int path_test_choose(struct kunit *test)
{
	struct path_test *t = test->priv;
	struct ina_path *path;
	u64 wake;

	rcu_read_lock();
	path = ina_path_choose(t->node, t->peer, 1, &wake);
	rcu_read_unlock();
	return path ? path - t->peer->path : wake == U64_MAX ? -1 : -2;
}

/* Send slot after slot on a path. */
static void path_test_send(struct kunit *test, int number, u32 slot, u32 count)
{
	struct path_test *t = test->priv;
	u32 seq;

	for (; count; count--, slot++)
		KUNIT_ASSERT_TRUE(test,
				  ina_hop_stamp(&t->peer->path[number].hop,
						PATH_TEST_EPOCH, &slot, 1, &seq));
}

/* A round is so large that it is spread. */
static void path_test_large(struct path_test *t)
{
	t->node->rounds[0].frags = t->node->frags;
	t->node->chunk = 1;
	ina_queue_add(&t->peer->queue, 0);
}

/* One path is taken as long as it has credit. */
static void choose__one(struct kunit *test)
{
	struct path_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, path_test_choose(test), 0);
	path_test_send(test, 0, 0, INA_TEST_GROUP * INA_HOP_CREDIT);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), -1);
	KUNIT_EXPECT_FALSE(test, ina_path_has_credit(t->peer));
}

/* The one with the least under way. */
static void choose__least(struct kunit *test)
{
	struct path_test *t = test->priv;
	int second = path_test_add(test, 9, 0);

	path_test_large(t);
	path_test_send(test, 0, 0, 3);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), second);
	path_test_send(test, second, 3, 4);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), 0);
	path_test_send(test, 0, 7, INA_TEST_GROUP * INA_HOP_CREDIT - 3);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), second);
	KUNIT_EXPECT_TRUE(test, ina_path_has_credit(t->peer));
}

/* A round that fits one super-packet, and control, take the fastest. */
static void choose__small(struct kunit *test)
{
	struct path_test *t = test->priv;
	int second = path_test_add(test, 20, 0), third = path_test_add(test, 10, 0);

	/* Of which nothing is known. */
	path_test_add(test, 0, 0);
	t->peer->path[0].rtt = 30;
	t->node->rounds[0].frags = 1;
	ina_queue_add(&t->peer->queue, 0);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), third);
	KUNIT_EXPECT_PTR_EQ(test, ina_path_fastest(t->peer),
			    &t->peer->path[third]);
	ina_path_down(t->node, t->peer, &t->peer->path[third],
		      INA_PATH_STATE_SILENT);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), second);
	KUNIT_EXPECT_PTR_EQ(test, ina_path_fastest(t->peer),
			    &t->peer->path[second]);
}

/* By weight, three to one. */
static void choose__weight(struct kunit *test)
{
	struct path_test *t = test->priv;
	int second = path_test_add(test, 9, 3), chosen, i, count = 0;

	path_test_large(t);
	for (i = 0; i < 400; i++) {
		chosen = path_test_choose(test);
		KUNIT_ASSERT_GE(test, chosen, 0);
		count += chosen == second;
		ina_path_charge(&t->peer->path[chosen], 1000, 1);
	}
	KUNIT_EXPECT_GE(test, count, 299);
	KUNIT_EXPECT_LE(test, count, 301);
}

/* Too early on one: the other. Too early on all: when to look again. */
static void choose__paced(struct kunit *test)
{
	struct path_test *t = test->priv;
	int second = path_test_add(test, 9, 0);

	path_test_large(t);
	t->peer->path[0].pace = (struct ina_pace){
		.rate = 1000000, .depart = 10 * INA_PACE_AHEAD,
	};
	KUNIT_EXPECT_EQ(test, path_test_choose(test), second);
	t->peer->path[second].pace = t->peer->path[0].pace;
	KUNIT_EXPECT_EQ(test, path_test_choose(test), -2);
}

/* What had no answer is to be sent again, what had is not. */
static void down__abandons(struct kunit *test)
{
	struct path_test *t = test->priv;
	int second = path_test_add(test, 9, 0), i;
	struct ina_hop_news news;

	path_test_send(test, second, 0, INA_TEST_GROUP + 2);
	KUNIT_ASSERT_TRUE(test, ina_hop_answered(&t->peer->path[second].hop,
						 PATH_TEST_EPOCH, 0,
						 INA_TEST_GROUP, NULL, 0,
						 &news));
	KUNIT_EXPECT_TRUE(test, ina_queue_is_empty(&t->peer->queue));
	ina_path_down(t->node, t->peer, &t->peer->path[second],
		      INA_PATH_STATE_LINK_DOWN);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, ina_queue_pick(&t->peer->queue),
				INA_TEST_GROUP + i);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(&t->peer->queue), -1);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), 0);
}

/* None leads anywhere: one is taken all the same, and left when another is back. */
static void down__all(struct kunit *test)
{
	struct path_test *t = test->priv;
	int second = path_test_add(test, 9, 0);

	ina_path_down(t->node, t->peer, t->peer->path, INA_PATH_STATE_SILENT);
	ina_path_down(t->node, t->peer, &t->peer->path[second],
		      INA_PATH_STATE_SILENT);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), 0);
	path_test_send(test, 0, 5, 1);
	ina_path_up(t->node, t->peer, &t->peer->path[second]);
	KUNIT_EXPECT_EQ(test, path_test_choose(test), second);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(&t->peer->queue), 5);
}

/* A path that was silent: what it took before, if it was cut to @limit; the first has @rate. */
static u64 path_test_again(struct path_test *t, struct ina_path *path, u64 limit, u64 rate)
{
	ina_path_down(t->node, t->peer, path, INA_PATH_STATE_SILENT);
	t->peer->path[0].pace.rate = rate;
	path->loss.limit = limit;
	path->loss.usual = 900;
	path->loss.lost = 100;
	path->loss.packets = 100;
	path->pace.rate = limit;
	ina_path_up(t->node, t->peer, path);
	return path->pace.rate;
}

/* What was lost in silence does not slow a path down, what it took before counts. */
static void up__again(struct kunit *test)
{
	struct path_test *t = test->priv;
	struct ina_path *path = &t->peer->path[path_test_add(test, 9, 0)];

	KUNIT_EXPECT_EQ(test, path_test_again(t, path, INA_RATE_MIN, 1000000), 1000000);
	KUNIT_EXPECT_EQ(test, path->loss.limit, 1000000);
	KUNIT_EXPECT_EQ(test, path->loss.step, 1000000 / INA_RATE_STEPS);
	KUNIT_EXPECT_EQ(test, path->loss.usual, 0);
	KUNIT_EXPECT_EQ(test, path->loss.packets, 0);
	KUNIT_EXPECT_EQ(test, path->loss.lost, 0);
	KUNIT_EXPECT_EQ(test, path_test_again(t, path, 2000000, 1000000), 2000000);
	KUNIT_EXPECT_EQ(test, path_test_again(t, path, 0, 1000000), 1000000);
	KUNIT_EXPECT_EQ(test, path_test_again(t, path, INA_RATE_MIN, 0), 0);
}

/* One of two that are up may go, the only one that is may not. */
static void is_last__up(struct kunit *test)
{
	struct path_test *t = test->priv;
	struct ina_path *first = t->peer->path;
	struct ina_path *second = &t->peer->path[path_test_add(test, 9, 0)];

	KUNIT_EXPECT_FALSE(test, ina_path_is_last(t->peer, first));
	KUNIT_EXPECT_FALSE(test, ina_path_is_last(t->peer, second));
	ina_path_down(t->node, t->peer, second, INA_PATH_STATE_SILENT);
	KUNIT_EXPECT_TRUE(test, ina_path_is_last(t->peer, first));
	KUNIT_EXPECT_FALSE(test, ina_path_is_last(t->peer, second));
	ina_path_down(t->node, t->peer, first, INA_PATH_STATE_LINK_DOWN);
	KUNIT_EXPECT_FALSE(test, ina_path_is_last(t->peer, first));
}

/* Numbers that are free do not hide those behind them, nor does one path that is not the first. */
static void end__gaps(struct kunit *test)
{
	struct path_test *t = test->priv;
	int second = path_test_add(test, 9, 0), third = path_test_add(test, 9, 0);

	KUNIT_EXPECT_EQ(test, ina_path_end(t->peer), third + 1);
	mutex_lock(&t->inet->lock);
	ina_path_del(t->node, t->peer, &t->peer->path[second]);
	KUNIT_EXPECT_EQ(test, ina_path_end(t->peer), third + 1);
	ina_path_del(t->node, t->peer, t->peer->path);
	mutex_unlock(&t->inet->lock);
	KUNIT_EXPECT_EQ(test, t->peer->first, third);
	KUNIT_EXPECT_EQ(test, ina_path_end(t->peer), third + 1);
	/* The peer may use more. */
	ina_path_of(t->peer, INA_PATHS_MAX - 1);
	KUNIT_EXPECT_EQ(test, ina_path_end(t->peer), INA_PATHS_MAX);
}

/* The only path is not asked: it has been silent for no longer than there is another. */
static void add__heard(struct kunit *test)
{
	struct path_test *t = test->priv;
	unsigned long start = jiffies;

	t->peer->path[0].heard = start - 100 * HZ;
	path_test_add(test, 9, 0);
	KUNIT_EXPECT_TRUE(test, time_after_eq(t->peer->path[0].heard, start));
	/* Of two, both are. */
	t->peer->path[0].heard = start - 100 * HZ;
	path_test_add(test, 9, 0);
	KUNIT_EXPECT_EQ(test, t->peer->path[0].heard, start - 100 * HZ);
}

/* A number is free again, and its packets go on where they were. */
static void del__again(struct kunit *test)
{
	struct path_test *t = test->priv;
	int second = path_test_add(test, 9, 0);
	struct ina_path *path = &t->peer->path[second];

	path_test_send(test, second, 0, 3);
	mutex_lock(&t->inet->lock);
	ina_path_del(t->node, t->peer, path);
	mutex_unlock(&t->inet->lock);
	KUNIT_EXPECT_EQ(test, t->peer->npaths, 1);
	KUNIT_EXPECT_EQ(test, ina_hop_credit(&path->hop), 0);
	KUNIT_EXPECT_EQ(test, ina_queue_pick(&t->peer->queue), 0);
	KUNIT_EXPECT_EQ(test, path_test_add(test, 9, 0), second);
	KUNIT_EXPECT_EQ(test, path->hop.next, INA_TEST_GROUP);
	KUNIT_EXPECT_EQ(test, ina_hop_credit(&path->hop),
			INA_TEST_GROUP * INA_HOP_CREDIT);
}

static int path_test_init(struct kunit *test)
{
	struct path_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->inet = ina_test_inet_create(test);
	t->node = ina_test_node_create(test, t->inet, false, 1);
	t->peer = &t->node->parent;
	KUNIT_ASSERT_EQ(test, ina_node_alloc(t->node), 0);
	ina_path_reset(t->peer, PATH_TEST_EPOCH);
	return 0;
}

static void path_test_exit(struct kunit *test)
{
	struct path_test *t = test->priv;

	if (t)
		ina_test_inet_destroy(t->inet);
}

static struct kunit_case path_test_cases[] = {
	KUNIT_CASE(choose__one),
	KUNIT_CASE(choose__least),
	KUNIT_CASE(choose__small),
	KUNIT_CASE(choose__weight),
	KUNIT_CASE(choose__paced),
	KUNIT_CASE(down__abandons),
	KUNIT_CASE(down__all),
	KUNIT_CASE(up__again),
	KUNIT_CASE(is_last__up),
	KUNIT_CASE(end__gaps),
	KUNIT_CASE(add__heard),
	KUNIT_CASE(del__again),
	{}
};

static struct kunit_suite path_test_suite = {
	.name = "ina_path",
	.init = path_test_init,
	.exit = path_test_exit,
	.test_cases = path_test_cases,
};

kunit_test_suite(path_test_suite);
