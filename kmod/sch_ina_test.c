// SPDX-License-Identifier: GPL-2.0
/*
 * In which order packets leave the queueing discipline, when, and what it counts. It
 * belongs to the loopback, but is not installed there.
 */
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "sch_ina.h"

#define SCH_TEST_NOW	(1000 * NSEC_PER_SEC)	/* where a case says what time it is */
#define SCH_TEST_LEN	100

static int sch_test_init(struct kunit *test)
{
	struct netdev_queue *queue = netdev_get_tx_queue(init_net.loopback_dev, 0);

	rtnl_lock();
	test->priv = qdisc_create_dflt(queue, &ina_sch_ops, TC_H_ROOT, NULL);
	rtnl_unlock();
	return test->priv ? 0 : -ENOMEM;
}

static void sch_test_exit(struct kunit *test)
{
	rtnl_lock();
	if (test->priv)
		qdisc_put(test->priv);
	rtnl_unlock();
}

static struct ina_sch *sch_test_q(struct kunit *test)
{
	struct Qdisc *sch = test->priv;

	return qdisc_priv(sch);
}

/* Packet @id of a path, @ms after @from; 0: it has no departure time. */
static struct sk_buff *sch_test_skb(struct kunit *test, u32 path, u32 id,
				    ktime_t from, int ms)
{
	struct sk_buff *skb = alloc_skb(SCH_TEST_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put(skb, SCH_TEST_LEN);
	qdisc_skb_cb(skb)->pkt_len = SCH_TEST_LEN;
	skb_set_hash(skb, path, PKT_HASH_TYPE_L4);
	skb->mark = id;
	if (ms)
		skb->tstamp = ktime_add_ms(from, ms);
	return skb;
}

static void sch_test_push(struct kunit *test, u32 path, u32 id, int ms)
{
	ina_sch_push(sch_test_q(test),
		     sch_test_skb(test, path, id, SCH_TEST_NOW, ms),
		     SCH_TEST_NOW);
}

/* Which packet leaves @ms after the beginning; 0: none. */
static u32 sch_test_pop(struct kunit *test, int ms)
{
	struct sk_buff *skb = ina_sch_pop(sch_test_q(test),
					  ktime_add_ms(SCH_TEST_NOW, ms));
	u32 id = skb ? skb->mark : 0;

	kfree_skb(skb);
	return id;
}

static int sch_test_enqueue(struct kunit *test, u32 id, int ms)
{
	struct Qdisc *sch = test->priv;
	struct sk_buff *to_free = NULL;
	int ret;

	ret = sch->enqueue(sch_test_skb(test, id, id, ktime_get(), ms), sch,
			   &to_free);
	kfree_skb_list(to_free);
	return ret;
}

/* Which packet leaves now; 0: none. */
static u32 sch_test_dequeue(struct kunit *test)
{
	struct Qdisc *sch = test->priv;
	struct sk_buff *skb = sch->dequeue(sch);
	u32 id = skb ? skb->mark : 0;

	kfree_skb(skb);
	return id;
}

/* Set an option. */
static int sch_test_change(struct kunit *test, int attr, u32 value)
{
	struct {
		struct nlattr nest;
		struct nlattr attr;
		u32 value;
	} opt = {
		.nest = { sizeof(opt), TCA_OPTIONS | NLA_F_NESTED },
		.attr = { sizeof(opt) - sizeof(opt.nest), attr },
		.value = value,
	};
	struct Qdisc *sch = test->priv;
	int err;

	rtnl_lock();
	err = sch->ops->change(sch, &opt.nest, NULL);
	rtnl_unlock();
	return err;
}

static void pop__earliest_first(struct kunit *test)
{
	static const int ms[] = { 5, 2, 9, 1, 7, 3 };
	u32 i, last = 0, id;

	for (i = 0; i < ARRAY_SIZE(ms); i++)
		sch_test_push(test, i, ms[i], ms[i]);
	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		id = sch_test_pop(test, 10);
		KUNIT_EXPECT_GT(test, id, last);
		last = id;
	}
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 10), 0);
}

static void pop__not_before_its_time(struct kunit *test)
{
	struct ina_sch *q = sch_test_q(test);

	KUNIT_EXPECT_EQ(test, ina_sch_next(q), KTIME_MAX);
	sch_test_push(test, 1, 1, 4);
	sch_test_push(test, 2, 2, 2);
	KUNIT_EXPECT_EQ(test, ina_sch_next(q), ktime_add_ms(SCH_TEST_NOW, 2));
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 1), 0);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 2), 2);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 3), 0);
	KUNIT_EXPECT_EQ(test, ina_sch_next(q), ktime_add_ms(SCH_TEST_NOW, 4));
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 4), 1);
}

static void pop__paths_keep_their_order(struct kunit *test)
{
	u32 i;

	/* The same time, and then an earlier one. */
	for (i = 1; i <= 3; i++)
		sch_test_push(test, 1, i, 5);
	sch_test_push(test, 1, 4, 1);
	sch_test_push(test, 2, 5, 4);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 4), 5);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 4), 0);
	for (i = 1; i <= 4; i++)
		KUNIT_EXPECT_EQ(test, sch_test_pop(test, 5), i);
}

static void pop__no_time_goes_first(struct kunit *test)
{
	sch_test_push(test, 1, 1, 1);
	sch_test_push(test, 1, 2, 0);
	sch_test_push(test, 2, 3, 0);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 5), 2);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 5), 3);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, 5), 1);
}

static void pop__random(struct kunit *test)
{
	struct ina_sch *q = sch_test_q(test);
	u32 i, random = 1, last[8] = {}, left = 0;
	struct sk_buff *skb;
	ktime_t at = 0;

	for (i = 1; i <= 500; i++) {
		random = random * 1664525 + 1013904223;
		/* Times of a path rise. */
		last[random >> 29] += 1 + (random >> 8) % 50;
		sch_test_push(test, random >> 29, i, last[random >> 29]);
	}
	KUNIT_EXPECT_EQ(test, q->stats.paths, 8);
	while ((skb = ina_sch_pop(q, KTIME_MAX))) {
		KUNIT_EXPECT_GE(test, skb->tstamp, at);
		at = skb->tstamp;
		left++;
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, left, 500);
	KUNIT_EXPECT_EQ(test, q->stats.paths, 0);
}

static void push__cap(struct kunit *test)
{
	struct ina_sch *q = sch_test_q(test);

	sch_test_push(test, 1, 1, q->stats.horizon);
	KUNIT_EXPECT_EQ(test, q->stats.capped, 0);
	sch_test_push(test, 2, 2, q->stats.horizon + 1);
	sch_test_push(test, 3, 3, INT_MAX);
	KUNIT_EXPECT_EQ(test, q->stats.capped, 2);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, q->stats.horizon), 1);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, q->stats.horizon), 2);
	KUNIT_EXPECT_EQ(test, sch_test_pop(test, q->stats.horizon), 3);
}

static void enqueue__limit(struct kunit *test)
{
	struct Qdisc *sch = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, sch_test_change(test, INA_QDISC_LIMIT, 3), 0);
	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, sch_test_enqueue(test, i, 900),
				NET_XMIT_SUCCESS);
	KUNIT_EXPECT_EQ(test, sch_test_enqueue(test, 4, 0), NET_XMIT_DROP);
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 3);
	KUNIT_EXPECT_EQ(test, sch->qstats.drops, 1);
	KUNIT_EXPECT_EQ(test, sch->qstats.backlog, 3 * SCH_TEST_LEN);
}

static void dequeue__counts(struct kunit *test)
{
	struct ina_sch *q = sch_test_q(test);
	struct Qdisc *sch = test->priv;

	/* One stays, however long the test takes. */
	KUNIT_EXPECT_EQ(test, sch_test_change(test, INA_QDISC_HORIZON, 60000), 0);
	sch_test_enqueue(test, 1, 50000);
	sch_test_enqueue(test, 2, -5);
	sch_test_enqueue(test, 3, 0);
	KUNIT_EXPECT_PTR_EQ(test, sch->ops->peek(sch), sch->ops->peek(sch));
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 3);
	kfree_skb(qdisc_dequeue_peeked(sch));
	KUNIT_EXPECT_EQ(test, sch_test_dequeue(test), 2);
	KUNIT_EXPECT_EQ(test, sch_test_dequeue(test), 0);
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 1);
	KUNIT_EXPECT_EQ(test, sch->qstats.backlog, SCH_TEST_LEN);
	KUNIT_EXPECT_EQ(test, q->stats.paced, 1);
	KUNIT_EXPECT_EQ(test, q->stats.unpaced, 1);
	KUNIT_EXPECT_EQ(test, q->stats.late, 1);
	KUNIT_EXPECT_GE(test, q->stats.late_max, 5 * NSEC_PER_MSEC);
}

static void change__options(struct kunit *test)
{
	struct ina_sch *q = sch_test_q(test);
	struct Qdisc *sch = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, sch_test_change(test, INA_QDISC_LIMIT, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, sch_test_change(test, INA_QDISC_HORIZON, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, sch_test_change(test, INA_QDISC_HORIZON, 60001),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sch_test_change(test, INA_QDISC_MAX + 1, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, sch_test_change(test, INA_QDISC_HORIZON, 60000), 0);
	KUNIT_EXPECT_EQ(test, q->stats.horizon, 60000);
	for (i = 1; i <= 5; i++)
		sch_test_enqueue(test, i, 50000 + i);
	KUNIT_EXPECT_EQ(test, sch_test_change(test, INA_QDISC_LIMIT, 2), 0);
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 2);
	KUNIT_EXPECT_EQ(test, sch->qstats.drops, 3);
	KUNIT_EXPECT_EQ(test, sch->qstats.backlog, 2 * SCH_TEST_LEN);
	KUNIT_EXPECT_EQ(test, q->stats.paths, 2);
}

static void reset__empty(struct kunit *test)
{
	struct ina_sch *q = sch_test_q(test);
	struct Qdisc *sch = test->priv;
	u32 i;

	for (i = 1; i <= 5; i++)
		sch_test_enqueue(test, i, 900 * (i % 3));
	rtnl_lock();
	qdisc_reset(sch);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 0);
	KUNIT_EXPECT_EQ(test, q->stats.paths, 0);
	KUNIT_EXPECT_EQ(test, ina_sch_next(q), KTIME_MAX);
	sch_test_enqueue(test, 6, 0);
	KUNIT_EXPECT_EQ(test, sch_test_dequeue(test), 6);
}

static struct kunit_case sch_test_cases[] = {
	KUNIT_CASE(push__cap),
	KUNIT_CASE(pop__earliest_first),
	KUNIT_CASE(pop__not_before_its_time),
	KUNIT_CASE(pop__paths_keep_their_order),
	KUNIT_CASE(pop__no_time_goes_first),
	KUNIT_CASE(pop__random),
	KUNIT_CASE(enqueue__limit),
	KUNIT_CASE(dequeue__counts),
	KUNIT_CASE(reset__empty),
	KUNIT_CASE(change__options),
	{}
};

static struct kunit_suite sch_test_suite = {
	.name = "ina_sch",
	.init = sch_test_init,
	.exit = sch_test_exit,
	.test_cases = sch_test_cases,
};

kunit_test_suite(sch_test_suite);
