// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and grants of a node on the loopback, whose rate the test says. The node is
 * dead, so what it would send stays to be seen.
 */
#include <linux/ip.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/netfilter_ipv4.h>

#include "ingress.h"
#include "test.h"
#include "wire.h"

#define GRANT_TEST_MB		1000000ULL
#define GRANT_TEST_CHILDREN	3
#define GRANT_TEST_SENT		4
#define GRANT_TEST_SECOND	7777	/* index of a device that is not there */

/**
 * struct grant_test - what a case needs
 * @inet: state of a namespace
 * @dev: the loopback
 * @second: another
 * @ops: the hook that takes what is sent
 * @sent: how many packets it took
 * @type: of the first of them
 * @to: last byte of the address to which they were sent
 */
struct grant_test {
	struct ina_net *inet;
	struct ina_dev dev;
	struct ina_dev second;
	struct nf_hook_ops ops;
	unsigned int sent;
	u8 type[GRANT_TEST_SENT];
	u8 to[GRANT_TEST_SENT];
};

static struct ina_node *grant_test_node(struct kunit *test, bool root, u64 rate)
{
	struct grant_test *t = test->priv;
	struct ina_node *node = ina_test_node_create(test, t->inet, root,
						     GRANT_TEST_CHILDREN);

	ina_test_join_all(node, 1);
	t->dev.rate = rate;
	return node;
}

/* The second device of a node has this rate. */
static void grant_test_second(struct kunit *test, struct ina_node *node, u64 rate)
{
	struct grant_test *t = test->priv;

	if (!t->second.dev) {
		t->second.dev = kunit_kzalloc(test, sizeof(struct net_device),
					      GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, t->second.dev);
		t->second.dev->ifindex = GRANT_TEST_SECOND;
		list_add(&t->second.list, &t->inet->devs);
	}
	t->second.rate = rate;
	node->grant.devs[0].ifindex = t->dev.dev->ifindex;
	node->grant.devs[1].ifindex = GRANT_TEST_SECOND;
}

/* Something has changed. */
static void grant_test_update(struct ina_node *node)
{
	spin_lock_bh(&node->lock);
	ina_share_update(node);
	spin_unlock_bh(&node->lock);
}

/* Child @index sends a READY. Return: as ina_grant_rx_ready(). */
static int grant_test_ready(struct ina_node *node, u16 index, u32 number,
			    u64 send, bool sending)
{
	struct ina_ready_hdr ready = {
		.send = cpu_to_be64(send), .sending = cpu_to_be32(sending),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_READY, .seq = number, .index = index,
		.body = &ready,
	};
	int err = ina_grant_rx_ready(node, &node->children[index], &pkt);

	/* It holds, however long the test takes. */
	node->children[index].ask.at += 100 * HZ;
	return err;
}

/* The parent sends a GRANT. Return: as ina_grant_rx_grant(). */
static int grant_test_grant(struct ina_node *node, u32 ready, u32 number,
			    u64 rate)
{
	struct ina_grant_hdr grant = {
		.rate = cpu_to_be64(rate), .ready = cpu_to_be32(ready),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_GRANT, .seq = number, .body = &grant,
	};

	return ina_grant_rx_grant(node, &pkt);
}

/* Who is told what, and is told no more. */
static void grant_test_told(struct kunit *test, struct ina_node *node, u16 index,
			    bool told, u64 rate)
{
	struct ina_ask *ask = &node->children[index].ask;

	KUNIT_EXPECT_EQ(test, ask->tell, told);
	KUNIT_EXPECT_EQ(test, ask->rate, rate);
	ask->granted |= ask->tell;
	ask->tell = false;
}

/* Who starts takes its part, and all are told. */
static void rx_ready__shares(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 30 * GRANT_TEST_MB);

	KUNIT_EXPECT_EQ(test, grant_test_ready(node, 0, 1, 0, true), 0);
	grant_test_told(test, node, 0, true, 30 * GRANT_TEST_MB);
	grant_test_told(test, node, 1, false, 0);
	grant_test_ready(node, 1, 1, 0, true);
	grant_test_told(test, node, 0, true, 15 * GRANT_TEST_MB);
	grant_test_told(test, node, 1, true, 15 * GRANT_TEST_MB);
	grant_test_ready(node, 2, 1, 4 * GRANT_TEST_MB, true);
	grant_test_told(test, node, 0, true, 13 * GRANT_TEST_MB);
	grant_test_told(test, node, 1, true, 13 * GRANT_TEST_MB);
	grant_test_told(test, node, 2, true, 4 * GRANT_TEST_MB);
	/* Results go to all three. */
	KUNIT_EXPECT_EQ(test, node->children[0].peer.pace.rate,
			10 * GRANT_TEST_MB);
}

/*
 * Who is reached through two devices has a part of each. Neither is given away twice, nor
 * both together.
 */
static void rx_ready__devices(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 30 * GRANT_TEST_MB);
	struct ina_child *child = node->children;

	grant_test_second(test, node, 10 * GRANT_TEST_MB);
	grant_test_ready(node, 0, 1, 0, true);
	grant_test_told(test, node, 0, true, 30 * GRANT_TEST_MB);
	child[0].ask.devs |= BIT(1);
	grant_test_ready(node, 1, 1, 0, true);
	grant_test_told(test, node, 0, true, 25 * GRANT_TEST_MB);
	grant_test_told(test, node, 1, true, 15 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, child[0].peer.pace.rate, 25 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, child[1].peer.pace.rate, 15 * GRANT_TEST_MB);
	/* The second is the only one of another. */
	grant_test_ready(node, 2, 1, 0, true);
	child[2].ask.devs = BIT(1);
	ina_grant_tick(node);
	grant_test_told(test, node, 0, true, 20 * GRANT_TEST_MB);
	grant_test_told(test, node, 1, true, 15 * GRANT_TEST_MB);
	grant_test_told(test, node, 2, true, 5 * GRANT_TEST_MB);
	/* No more than it asks for. */
	child[0].ask.send = 12 * GRANT_TEST_MB;
	ina_grant_tick(node);
	grant_test_told(test, node, 0, true, 12 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, node->grant.devs[1].used_in, 10 * GRANT_TEST_MB);
}

/* Two devices lead to the parent: the node asks for what both can send. */
static void start__devices(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;

	grant_test_second(test, node, 10 * GRANT_TEST_MB);
	ina_grant_start(node);
	KUNIT_EXPECT_EQ(test, grant->send, 30 * GRANT_TEST_MB);
	grant->up |= BIT(1);
	grant_test_update(node);
	KUNIT_EXPECT_EQ(test, grant->send, 40 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, grant->receive, 40 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, node->parent.pace.rate, 40 * GRANT_TEST_MB);
	/* Of one nothing is known. */
	grant_test_second(test, node, 0);
	grant_test_update(node);
	KUNIT_EXPECT_EQ(test, grant->send, 0);
	/* It leads there no more. */
	ina_grant_tick(node);
	KUNIT_EXPECT_EQ(test, grant->up, BIT(0));
	KUNIT_EXPECT_EQ(test, grant->send, 30 * GRANT_TEST_MB);
}

/* More devices than there are places come and go: those that lead to nobody are forgotten. */
static void start__places(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;
	u32 ifindex[INA_PATHS_MAX] = {};
	u32 i, none = 0, taken = 0;
	u16 devs;

	ina_grant_start(node);
	KUNIT_ASSERT_EQ(test, grant->up, BIT(0));
	spin_lock_bh(&node->lock);
	for (i = 1; i < 3 * INA_GRANT_DEVS; i++) {
		ifindex[0] = GRANT_TEST_SECOND + i;
		devs = ina_share_devs(node, ifindex);
		none += !devs;
		taken += devs == grant->up;
	}
	/* All are in use. */
	node->children[0].ask.devs = (u16)~BIT(0);
	ifindex[0] = GRANT_TEST_SECOND + i;
	devs = ina_share_devs(node, ifindex);
	spin_unlock_bh(&node->lock);
	KUNIT_EXPECT_EQ(test, none, 0);
	KUNIT_EXPECT_EQ(test, taken, 0);
	KUNIT_EXPECT_EQ(test, devs, 0);
	KUNIT_EXPECT_EQ(test, grant->devs[0].ifindex, LOOPBACK_IFINDEX);
}

/* A child without workers takes nothing. */
static void rx_ready__empty(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 30 * GRANT_TEST_MB);

	grant_test_ready(node, 0, 1, 0, true);
	grant_test_ready(node, 1, 1, 0, true);
	grant_test_told(test, node, 0, true, 15 * GRANT_TEST_MB);
	node->children[1].workers = 0;
	ina_grant_tick(node);
	grant_test_told(test, node, 0, true, 30 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, node->grant.devs[0].used_in, 30 * GRANT_TEST_MB);
	/* Its workers come back, and it sends still. */
	node->children[1].workers = 1;
	ina_grant_tick(node);
	grant_test_told(test, node, 0, true, 15 * GRANT_TEST_MB);
}

/* Who ends leaves its part to the others, and keeps its grant for the next time. */
static void rx_ready__ends(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 30 * GRANT_TEST_MB);

	grant_test_ready(node, 0, 1, 0, true);
	grant_test_ready(node, 1, 1, 0, true);
	grant_test_told(test, node, 0, true, 15 * GRANT_TEST_MB);
	grant_test_told(test, node, 1, true, 15 * GRANT_TEST_MB);
	grant_test_ready(node, 0, 2, 0, false);
	grant_test_told(test, node, 0, true, 15 * GRANT_TEST_MB);
	grant_test_told(test, node, 1, true, 30 * GRANT_TEST_MB);
	/* Nothing heard for long: it has ended, too. */
	node->children[1].ask.at = jiffies - 10 * HZ;
	grant_test_ready(node, 0, 3, 0, true);
	grant_test_told(test, node, 0, true, 30 * GRANT_TEST_MB);
}

static void rx_ready__stale(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 30 * GRANT_TEST_MB);

	grant_test_ready(node, 0, 5, 7 * GRANT_TEST_MB, true);
	grant_test_told(test, node, 0, true, 7 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, grant_test_ready(node, 0, 4, 0, true),
			INA_STAT_DROP_STALE);
	grant_test_told(test, node, 0, false, 7 * GRANT_TEST_MB);
	/* One that is repeated is answered again. */
	KUNIT_EXPECT_EQ(test, grant_test_ready(node, 0, 5, 7 * GRANT_TEST_MB,
					       true), 0);
	grant_test_told(test, node, 0, true, 7 * GRANT_TEST_MB);
}

/* A device of which nothing is known limits nobody. */
static void rx_ready__unknown(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 0);

	grant_test_ready(node, 0, 1, 0, true);
	grant_test_told(test, node, 0, true, 0);
	grant_test_ready(node, 1, 1, 5 * GRANT_TEST_MB, true);
	grant_test_told(test, node, 1, true, 5 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, node->children[0].peer.pace.rate, 0);
}

/* What is absurd is taken for the most there is. */
static void rx_ready__absurd(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 30 * GRANT_TEST_MB);

	grant_test_ready(node, 0, 1, U64_MAX, true);
	grant_test_ready(node, 1, 1, U64_MAX, true);
	grant_test_told(test, node, 0, true, 15 * GRANT_TEST_MB);
	grant_test_ready(node, 1, 2, 1, true);
	grant_test_told(test, node, 1, true, INA_RATE_MIN);
}

/* A request goes up, and nobody gets more than the node does. */
static void rx_ready__travels(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;

	grant_test_ready(node, 0, 1, 20 * GRANT_TEST_MB, true);
	KUNIT_EXPECT_TRUE(test, grant->tell);
	KUNIT_EXPECT_FALSE(test, grant->sending);
	KUNIT_EXPECT_EQ(test, grant->send, 20 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, grant->receive, 30 * GRANT_TEST_MB);
	grant->tell = false;
	KUNIT_EXPECT_EQ(test, grant_test_grant(node, grant->number, 1,
					       8 * GRANT_TEST_MB), 0);
	grant_test_told(test, node, 0, true, 8 * GRANT_TEST_MB);
	/* The same request is not made again, */
	grant_test_ready(node, 1, 1, 10 * GRANT_TEST_MB, true);
	KUNIT_EXPECT_FALSE(test, grant->tell);
	grant_test_told(test, node, 1, true, 8 * GRANT_TEST_MB);
	/* another is. */
	grant_test_ready(node, 1, 2, 0, true);
	KUNIT_EXPECT_TRUE(test, grant->tell);
	KUNIT_EXPECT_EQ(test, grant->send, 30 * GRANT_TEST_MB);
}

static unsigned int grant_test_hook(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	struct grant_test *t = priv;

	if (iph->protocol != INA_IPPROTO)
		return NF_ACCEPT;
	if (t->sent < GRANT_TEST_SENT) {
		skb_copy_bits(skb, sizeof(*iph) + offsetof(struct ina_hdr, type),
			      &t->type[t->sent], 1);
		t->to[t->sent] = ntohl(iph->daddr);
	}
	t->sent++;
	kfree_skb(skb);
	return NF_STOLEN;
}

/* What waits is sent. Return: packets. */
static unsigned int grant_test_flush(struct kunit *test, struct ina_node *node)
{
	struct grant_test *t = test->priv;

	t->sent = 0;
	node->dead = false;
	ina_grant_flush(node);
	node->dead = true;
	return t->sent;
}

static void grant_test_sent(struct kunit *test, unsigned int n, u8 type, u8 to)
{
	struct grant_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, t->type[n], type);
	KUNIT_EXPECT_EQ(test, t->to[n], to);
}

/* The root decides first; then the first child is answered before the parent is asked. */
static void flush__order(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct grant_test *t = test->priv;

	t->ops = (struct nf_hook_ops){
		.hook = grant_test_hook, .priv = t, .pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
	};
	KUNIT_ASSERT_EQ(test, nf_register_net_hook(&init_net, &t->ops), 0);
	node->index = 0;
	grant_test_ready(node, 0, 1, 20 * GRANT_TEST_MB, true);
	KUNIT_EXPECT_EQ(test, grant_test_flush(test, node), 1);
	grant_test_sent(test, 0, INA_TYPE_READY, INA_TEST_PARENT);

	grant_test_grant(node, node->grant.number, 1, 8 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, grant_test_flush(test, node), 1);
	grant_test_sent(test, 0, INA_TYPE_GRANT, INA_TEST_CHILD);

	grant_test_ready(node, 1, 1, 25 * GRANT_TEST_MB, true);
	grant_test_ready(node, 0, 2, 20 * GRANT_TEST_MB, true);
	KUNIT_EXPECT_EQ(test, grant_test_flush(test, node), 3);
	grant_test_sent(test, 0, INA_TYPE_GRANT, INA_TEST_CHILD);
	grant_test_sent(test, 1, INA_TYPE_READY, INA_TEST_PARENT);
	grant_test_sent(test, 2, INA_TYPE_GRANT, INA_TEST_CHILD + 1);
	KUNIT_EXPECT_EQ(test, grant_test_flush(test, node), 0);
	nf_unregister_net_hook(&init_net, &t->ops);
}

/* The later one counts, whichever comes last. */
static void rx_grant__stale(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;
	u32 first;

	KUNIT_EXPECT_EQ(test, grant_test_grant(node, 0, 1, 1),
			INA_STAT_DROP_STALE);
	grant_test_ready(node, 0, 1, 20 * GRANT_TEST_MB, true);
	first = grant->number;
	KUNIT_EXPECT_EQ(test, grant_test_grant(node, first + 1, 1, 1),
			INA_STAT_DROP_STALE);
	KUNIT_EXPECT_EQ(test, grant_test_grant(node, first, 7,
					       8 * GRANT_TEST_MB), 0);
	KUNIT_EXPECT_EQ(test, grant_test_grant(node, first, 6, 1),
			INA_STAT_DROP_STALE);
	KUNIT_EXPECT_EQ(test, grant_test_grant(node, first, 7, 1),
			INA_STAT_DROP_STALE);
	KUNIT_EXPECT_EQ(test, grant->rate, 8 * GRANT_TEST_MB);
	/* A parent that has restarted counts from the start. */
	grant_test_ready(node, 0, 2, 10 * GRANT_TEST_MB, true);
	KUNIT_EXPECT_EQ(test, grant_test_grant(node, grant->number, 1,
					       9 * GRANT_TEST_MB), 0);
	KUNIT_EXPECT_EQ(test, grant_test_grant(node, first, 8, 1),
			INA_STAT_DROP_STALE);
	KUNIT_EXPECT_EQ(test, grant->rate, 9 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_GRANTS), 2);
	KUNIT_EXPECT_GT(test, ina_test_stat(node, INA_STAT_GRANT_NS), 0);
}

/* The first time it is waited for a GRANT, later not. */
static void start__waits(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;
	struct ina_pace *pace = &node->parent.pace;
	u64 before = ktime_get_ns();

	ina_grant_start(node);
	KUNIT_EXPECT_TRUE(test, grant->sending && grant->tell);
	KUNIT_EXPECT_FALSE(test, ina_pace_may(pace, before));
	KUNIT_EXPECT_TRUE(test, ina_pace_may(pace, ktime_get_ns() +
					     20 * NSEC_PER_MSEC));
	KUNIT_EXPECT_EQ(test, pace->rate, 30 * GRANT_TEST_MB);
	grant_test_grant(node, grant->number, 1, 8 * GRANT_TEST_MB);
	KUNIT_EXPECT_TRUE(test, ina_pace_may(pace, ktime_get_ns()));
	KUNIT_EXPECT_EQ(test, pace->rate, 8 * GRANT_TEST_MB);
	grant->sending = false;
	grant->tell = false;
	ina_grant_start(node);
	KUNIT_EXPECT_TRUE(test, grant->sending && grant->tell);
	KUNIT_EXPECT_TRUE(test, ina_pace_may(pace, ktime_get_ns()));
	KUNIT_EXPECT_EQ(test, pace->rate, 8 * GRANT_TEST_MB);
}

/* No GRANT comes: children get what the node can send, and READY is repeated. */
static void tick__alone(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;
	u32 number;

	grant_test_ready(node, 0, 1, 20 * GRANT_TEST_MB, true);
	number = grant->number;
	grant->tell = false;
	grant->again = true;
	grant->asked = ktime_get_ns();
	KUNIT_EXPECT_NE(test, ina_grant_tick(node), UINT_MAX);
	/* Not before, however long the test takes. */
	KUNIT_EXPECT_TRUE(test, !grant->alone ||
			  ktime_get_ns() - grant->asked >= 20 * NSEC_PER_MSEC);
	grant->asked -= 20 * NSEC_PER_MSEC;
	grant->repeat_at = jiffies - 1;
	KUNIT_EXPECT_NE(test, ina_grant_tick(node), UINT_MAX);
	KUNIT_EXPECT_TRUE(test, grant->alone && grant->tell);
	KUNIT_EXPECT_EQ(test, grant->number, number);
	grant_test_told(test, node, 0, true, 20 * GRANT_TEST_MB);
}

/* Where GRANTs take long READY is repeated later; another parent starts anew. */
static void tick__delay(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;
	unsigned long before;

	ina_grant_start(node);
	grant->asked = ktime_get_ns() - 200 * NSEC_PER_MSEC;
	grant_test_grant(node, grant->number, 1, 8 * GRANT_TEST_MB);
	spin_lock_bh(&node->lock);
	before = jiffies;
	ina_grant_ask(grant);
	KUNIT_EXPECT_TRUE(test, time_after(grant->repeat_at, before + msecs_to_jiffies(150)));
	grant->asked = 0;
	spin_unlock_bh(&node->lock);
	grant_test_grant(node, grant->number, 2, 8 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, grant->delay, 250);
	spin_lock_bh(&node->lock);
	ina_grant_forget(node);
	ina_grant_ask(grant);
	KUNIT_EXPECT_TRUE(test, time_before(grant->repeat_at, jiffies + msecs_to_jiffies(150)));
	spin_unlock_bh(&node->lock);
}

/* Nothing was sent for a while: the parent is told, and again until it answers. */
static void tick__ends(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;
	int i;

	ina_grant_start(node);
	grant_test_grant(node, grant->number, 1, 8 * GRANT_TEST_MB);
	grant->tell = false;
	grant->active = jiffies + 100 * HZ;
	KUNIT_EXPECT_NE(test, ina_grant_tick(node), UINT_MAX);
	KUNIT_EXPECT_TRUE(test, grant->sending);
	ina_queue_add(&node->parent.queue, 0);
	grant->active = jiffies - HZ;
	ina_grant_tick(node);
	KUNIT_EXPECT_TRUE(test, grant->sending);
	ina_queue_pick(&node->parent.queue);
	ina_grant_tick(node);
	KUNIT_EXPECT_FALSE(test, grant->sending);
	KUNIT_EXPECT_TRUE(test, grant->tell);
	for (i = 0; i < 20 && grant->answered != grant->number; i++) {
		grant->repeat_at = jiffies - 1;
		ina_grant_tick(node);
	}
	KUNIT_EXPECT_GT(test, i, 1);
	KUNIT_EXPECT_EQ(test, ina_grant_tick(node), UINT_MAX);
}

/* While it sends, a node says so from time to time, under new numbers. */
static void tick__refreshes(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, false, 30 * GRANT_TEST_MB);
	struct ina_grant *grant = &node->grant;
	u32 number;

	ina_grant_start(node);
	number = grant->number;
	grant_test_grant(node, number, 1, 8 * GRANT_TEST_MB);
	grant->tell = false;
	grant->repeat_at = jiffies - 1;
	ina_grant_start(node);
	ina_grant_tick(node);
	KUNIT_EXPECT_TRUE(test, grant->tell);
	KUNIT_EXPECT_EQ(test, grant->number, number + 1);
}

/* The operator changes the rate of the device. */
static void tick__device(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 30 * GRANT_TEST_MB);
	struct grant_test *t = test->priv;

	grant_test_ready(node, 0, 1, 0, true);
	grant_test_told(test, node, 0, true, 30 * GRANT_TEST_MB);
	t->dev.speed = 10 * GRANT_TEST_MB;
	ina_grant_tick(node);
	grant_test_told(test, node, 0, true, 10 * GRANT_TEST_MB);
}

/* The receiver lacks a third of what came to it: send two thirds. */
static void loss__cuts(struct kunit *test)
{
	struct ina_node *node = grant_test_node(test, true, 30 * GRANT_TEST_MB);
	struct ina_peer *peer = &node->children[0].peer;
	struct ina_path *path = peer->path;
	struct ina_heard heard = { .packets = 96, .lost = 32 };

	peer->pace.rate = 30 * GRANT_TEST_MB;
	path->loss.since = ktime_get_ns() - NSEC_PER_SEC;
	path->loss.heard = path->loss.since;
	path->pace.bytes = 60 * GRANT_TEST_MB;
	path->pace.busy = NSEC_PER_SEC;
	ina_grant_loss(node, peer, path, &heard);
	KUNIT_EXPECT_EQ(test, path->pace.rate, 20010000);
	KUNIT_EXPECT_EQ(test, peer->pace.rate, 30 * GRANT_TEST_MB);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RATE_CUTS), 1);

	/* When it is as granted again, nobody waits for an ECHO. */
	path->fed = jiffies;
	path->loss.since = ktime_get_ns() - NSEC_PER_SEC;
	path->loss.changed = false;
	path->loss.step = 30 * GRANT_TEST_MB;
	path->loss.bytes = 60 * GRANT_TEST_MB;
	heard.lost = 0;
	ina_grant_loss(node, peer, path, &heard);
	KUNIT_EXPECT_EQ(test, path->pace.rate, 0);
	KUNIT_EXPECT_TRUE(test, time_after(jiffies, path->fed + INA_PATH_FED));
}

static int grant_test_init(struct kunit *test)
{
	struct grant_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->inet = ina_test_inet_create(test);
	t->dev.dev = init_net.loopback_dev;
	list_add(&t->dev.list, &t->inet->devs);
	test->priv = t;
	return 0;
}

static void grant_test_exit(struct kunit *test)
{
	struct grant_test *t = test->priv;

	if (t)
		ina_test_inet_destroy(t->inet);
}

static struct kunit_case grant_test_cases[] = {
	KUNIT_CASE(rx_ready__shares),
	KUNIT_CASE(rx_ready__devices),
	KUNIT_CASE(start__devices),
	KUNIT_CASE(start__places),
	KUNIT_CASE(rx_ready__empty),
	KUNIT_CASE(rx_ready__ends),
	KUNIT_CASE(rx_ready__stale),
	KUNIT_CASE(rx_ready__unknown),
	KUNIT_CASE(rx_ready__absurd),
	KUNIT_CASE(rx_ready__travels),
	KUNIT_CASE(flush__order),
	KUNIT_CASE(rx_grant__stale),
	KUNIT_CASE(start__waits),
	KUNIT_CASE(tick__alone),
	KUNIT_CASE(tick__delay),
	KUNIT_CASE(tick__ends),
	KUNIT_CASE(tick__refreshes),
	KUNIT_CASE(tick__device),
	KUNIT_CASE(loss__cuts),
	{}
};

static struct kunit_suite grant_test_suite = {
	.name = "ina_grant",
	.init = grant_test_init,
	.exit = grant_test_exit,
	.test_cases = grant_test_cases,
};

kunit_test_suite(grant_test_suite);
