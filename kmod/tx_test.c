// SPDX-License-Identifier: GPL-2.0
/*
 * What leaves a node for its children: which packets share a super-packet, and that
 * their bytes stay as they were until the last one has read them. A hook takes them
 * before they leave.
 */
#include <linux/ip.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>

#include "round.h"
#include "test.h"
#include "tx.h"
#include "wire.h"

#define TX_TEST_PORT	4999
#define TX_TEST_FRAGS	(INA_TEST_CAPACITY / INA_TEST_FRAGMENT)
#define TX_TEST_SHORT	(3 * INA_TEST_FRAGMENT + 2)	/* 4 fragments */
#define TX_TEST_SIZE	(sizeof(struct ina_hdr) + \
			 INA_TEST_FRAGMENT * sizeof(s32))

/**
 * struct tx_test - what a case needs
 * @inet: state of a namespace
 * @ops: the hook
 * @sent: what would have left
 */
struct tx_test {
	struct ina_net *inet;
	struct nf_hook_ops ops;
	struct sk_buff_head sent;
};

/* Of the first ina header. */
static unsigned int tx_test_offset(const struct sk_buff *skb)
{
	return sizeof(struct iphdr) + (ip_hdr(skb)->protocol == IPPROTO_UDP ?
				       sizeof(struct udphdr) : 0);
}

/* Keep packets of elements; control goes nowhere, either. */
static unsigned int tx_test_hook(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	struct tx_test *t = priv;
	u8 type = 0;

	if (iph->protocol != INA_IPPROTO &&
	    (iph->protocol != IPPROTO_UDP ||
	     udp_hdr(skb)->dest != htons(TX_TEST_PORT)))
		return NF_ACCEPT;
	skb_copy_bits(skb, tx_test_offset(skb) + offsetof(struct ina_hdr, type),
		      &type, sizeof(type));
	if (ina_wire_is_elements(type))
		skb_queue_tail(&t->sent, skb);
	else
		kfree_skb(skb);
	return NF_STOLEN;
}

/* A root with children of three workers each. */
static struct ina_node *tx_test_root(struct kunit *test, u16 children, u8 encap)
{
	struct ina_job_config config = ina_test_config();
	struct tx_test *t = test->priv;
	struct ina_node *node;

	config.encap = encap;
	config.port = TX_TEST_PORT;
	node = ina_test_node_of(test, t->inet, &config, true, children);
	ina_test_join_all(node, 3);
	KUNIT_ASSERT_TRUE(test, node->open);
	return node;
}

/* Element @i of the contribution of every child to a round. */
static s32 tx_test_value(u64 round, u32 i)
{
	return round * 1000 + i;
}

/* A fragment of a contribution. Return: as ina_round_contribute(). */
static int tx_test_add(struct ina_node *node, u64 round, u32 length, u16 child,
		       u32 frag)
{
	struct in6_addr from = ina_test_addr(INA_TEST_CHILD + child);
	struct ina_part part = {
		.tag = { .era = node->era, .round = round },
		.length = length, .contributor = child, .workers = 3,
		.token = child + 1,
	};
	u32 i, first = frag * INA_TEST_FRAGMENT;
	__le32 src[INA_TEST_FRAGMENT];

	for (i = 0; i < INA_TEST_FRAGMENT; i++)
		src[i] = cpu_to_le32(tx_test_value(round, first + i));
	return ina_test_contribute(node, &part, frag, src, &from);
}

/* All children contribute: the results wait to be sent. */
static void tx_test_round(struct kunit *test, struct ina_node *node, u64 round,
			  u32 length)
{
	u32 frag, frags = ina_wire_frags(length, INA_TEST_FRAGMENT);
	u16 child;

	for (child = 0; child < node->nchildren; child++)
		for (frag = 0; frag < frags; frag++)
			KUNIT_ASSERT_EQ(test, 0, tx_test_add(node, round, length,
							     child, frag));
}

/*
 * One skb: @segs packets of fragments from @frag on of a round, the first numbered
 * @seq, every byte right.
 */
static void tx_test_check(struct kunit *test, const struct ina_node *node,
			  const struct sk_buff *skb, u64 round, u32 frag,
			  u32 seq, u16 segs)
{
	bool udp = node->job->config.encap == INA_ENCAP_UDP;
	u32 offset = tx_test_offset(skb), len, i, j;
	u8 data[TX_TEST_SIZE] __aligned(4);
	struct ina_pkt pkt;

	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_size,
			segs > 1 ? TX_TEST_SIZE : 0);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, segs > 1 ? segs : 0);
	for (i = 0; i < segs; i++, offset += len) {
		KUNIT_ASSERT_GT(test, skb->len, offset);
		len = min_t(u32, TX_TEST_SIZE, skb->len - offset);
		KUNIT_ASSERT_EQ(test, 0, skb_copy_bits(skb, offset, data, len));
		KUNIT_ASSERT_EQ(test, 0, ina_wire_parse(data, len, !udp, &pkt));
		KUNIT_EXPECT_EQ(test, pkt.type, INA_TYPE_RESULT);
		KUNIT_EXPECT_EQ(test, pkt.round, (u32)round);
		KUNIT_EXPECT_EQ(test, pkt.frag, frag + i);
		KUNIT_EXPECT_EQ(test, pkt.seq, seq + i);
		for (j = 0; j < pkt.count; j++)
			KUNIT_EXPECT_EQ(test, node->nchildren *
					tx_test_value(round, pkt.frag *
						      INA_TEST_FRAGMENT + j),
					le32_to_cpu(((__le32 *)pkt.body)[j]));
	}
	KUNIT_EXPECT_EQ(test, skb->len, offset);
}

/* The next skb, as above. */
static void tx_test_next(struct kunit *test, const struct ina_node *node,
			 u64 round, u32 frag, u32 seq, u16 segs)
{
	struct tx_test *t = test->priv;
	struct sk_buff *skb = skb_dequeue(&t->sent);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	tx_test_check(test, node, skb, round, frag, seq, segs);
	kfree_skb(skb);
}

static void run__one_each(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 2, INA_ENCAP_UDP);
	struct tx_test *t = test->priv;

	tx_test_round(test, node, 0, INA_TEST_CAPACITY);
	ina_tx_run(node, INA_TX_BUDGET);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&t->sent), 2);
	tx_test_next(test, node, 0, 0, 0, TX_TEST_FRAGS);
	tx_test_next(test, node, 0, 0, 0, TX_TEST_FRAGS);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_TX_RESULT),
			2ULL * TX_TEST_FRAGS);
}

/* A shorter packet is the last of a super-packet, wherever the search begins. */
static void run__short(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 1, INA_ENCAP_UDP);
	struct tx_test *t = test->priv;

	tx_test_round(test, node, 0, TX_TEST_SHORT);
	tx_test_round(test, node, 1, TX_TEST_SHORT);
	node->children[0].peer.queue.cursor = 3;
	ina_tx_run(node, INA_TX_BUDGET);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&t->sent), 3);
	tx_test_next(test, node, 0, 3, 0, 1);
	tx_test_next(test, node, 1, 0, 1, 4);
	tx_test_next(test, node, 0, 0, 5, 3);
}

/* No more than the device takes. */
static void run__device(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 1, INA_ENCAP_UDP);
	struct net_device *dev = init_net.loopback_dev;
	unsigned int segs = dev->gso_max_segs;

	WRITE_ONCE(dev->gso_max_segs, 3);
	tx_test_round(test, node, 0, TX_TEST_SHORT);
	ina_tx_run(node, INA_TX_BUDGET);
	WRITE_ONCE(dev->gso_max_segs, 1);
	tx_test_round(test, node, 1, TX_TEST_SHORT);
	ina_tx_run(node, INA_TX_BUDGET);
	WRITE_ONCE(dev->gso_max_segs, segs);
	tx_test_next(test, node, 0, 0, 0, 3);
	tx_test_next(test, node, 0, 3, 3, 1);
	tx_test_next(test, node, 1, 0, 4, 1);
	tx_test_next(test, node, 1, 1, 5, 1);
}

/* It waits for the time of one path: another may have got credit. */
static void ready__held(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 2, INA_ENCAP_UDP);

	bitmap_fill(node->tx.held, node->nchildren + 1);
	ina_tx_ready(node, 0);
	KUNIT_EXPECT_TRUE(test, ina_tx_waits(node));
	/* That of the other does not. */
	KUNIT_EXPECT_TRUE(test, test_bit(2, node->tx.held));
}

/* No more than the receiver owes answers for. */
static void run__credit(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 1, INA_ENCAP_UDP);
	struct tx_test *t = test->priv;
	u64 round;

	for (round = 0; round < 3; round++)
		tx_test_round(test, node, round, INA_TEST_CAPACITY);
	ina_tx_run(node, INA_TX_BUDGET);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&t->sent), 1);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_TX_RESULT),
			(u64)INA_TEST_GROUP * INA_HOP_CREDIT);
	KUNIT_EXPECT_FALSE(test, ina_queue_is_empty(&node->children[0].peer.queue));
	KUNIT_EXPECT_FALSE(test, ina_tx_waits(node));
}

/* There is a page, but it is too small: alone, and the next gets another. */
static void run__small_page(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 1, INA_ENCAP_UDP);
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	node->tx.page = (struct page_frag){ .page = page, .size = 32 };
	tx_test_round(test, node, 0, TX_TEST_SHORT);
	ina_tx_run(node, INA_TX_BUDGET);
	tx_test_next(test, node, 0, 0, 0, 1);
	tx_test_next(test, node, 0, 1, 1, 3);
}

/* Of a page fragment. */
static void *tx_test_bytes(const struct sk_buff *skb, int i)
{
	return skb_frag_address(&skb_shinfo(skb)->frags[i]);
}

/* Large ones are written once: all but the first child get references to them. */
static void run__shared(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 3, INA_ENCAP_UDP);
	const u16 segs[] = { TX_TEST_FRAGS, 8, 8, 8, 8 };
	struct sk_buff *skb[ARRAY_SIZE(segs)];
	struct tx_test *t = test->priv;
	u32 i, j;

	node->tx.share = 1;
	tx_test_round(test, node, 0, INA_TEST_CAPACITY);
	ina_tx_run(node, INA_TX_BUDGET);
	KUNIT_ASSERT_EQ(test, skb_queue_len(&t->sent), (u32)ARRAY_SIZE(segs));
	for (i = 0; i < ARRAY_SIZE(segs); i++) {
		skb[i] = skb_dequeue(&t->sent);
		tx_test_check(test, node, skb[i], 0, i < 3 ? 0 : 8, i < 3 ? 0 : 8,
			      segs[i]);
		KUNIT_EXPECT_TRUE(test, skb_has_shared_frag(skb[i]));
		for (j = 0; i && j < segs[i]; j++)
			KUNIT_EXPECT_PTR_EQ(test, tx_test_bytes(skb[i], 2 * j + 1),
					    tx_test_bytes(skb[0], 0) +
					    (i < 3 ? j : j + 8) * TX_TEST_SIZE +
					    sizeof(struct ina_hdr));
	}
	/* Now only they hold the page, and the sender. */
	KUNIT_EXPECT_EQ(test, node->tx.copied, 0);
	for (i = 0; i < ARRAY_SIZE(segs); i++)
		kfree_skb(skb[i]);
	KUNIT_EXPECT_EQ(test, page_count(node->tx.page.page), 1);
}

/* A copy of another round of the same slot is not taken. */
static void run__shared_stale(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 2, INA_ENCAP_UDP);
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	node->tx.share = 1;
	node->tx.copies[0] = (struct ina_tx_copy){
		.tag = { .era = node->era, .round = 1 }, .page = page,
	};
	node->tx.copied = 1;
	tx_test_round(test, node, 0, TX_TEST_SHORT);
	ina_tx_run(node, INA_TX_BUDGET);
	tx_test_next(test, node, 0, 0, 0, 4);
	tx_test_next(test, node, 0, 0, 0, 4);
	KUNIT_EXPECT_EQ(test, node->tx.copied, 0);
}

/* Directly in IP: one by one, each with its crc. */
static void run__ip(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 1, INA_ENCAP_IP);
	u32 frag;

	tx_test_round(test, node, 0, TX_TEST_SHORT);
	ina_tx_run(node, INA_TX_BUDGET);
	for (frag = 0; frag < 4; frag++)
		tx_test_next(test, node, 0, frag, frag, 1);
}

/* What is in a queue stays as it is, however much is sent behind it. */
static void run__bytes_stay(struct kunit *test)
{
	struct ina_node *node = tx_test_root(test, 1, INA_ENCAP_UDP);
	struct ina_hop *hop = &node->children[0].peer.path[0].hop;
	struct tx_test *t = test->priv;
	struct sk_buff *first = NULL;
	u32 seq = 0, i;
	u64 round;
	struct ina_hop_news news;

	for (round = 0; round < 100; round++) {
		tx_test_round(test, node, round, INA_TEST_CAPACITY);
		ina_tx_run(node, INA_TX_BUDGET);
		if (first)
			tx_test_next(test, node, round, 0, seq, TX_TEST_FRAGS);
		else
			first = skb_dequeue(&t->sent);
		KUNIT_ASSERT_NOT_NULL(test, first);
		for (i = 0; i < TX_TEST_FRAGS; i += INA_TEST_GROUP)
			ina_hop_answered(hop, node->epoch, seq + i,
					 INA_TEST_GROUP, NULL, 0, &news);
		seq += TX_TEST_FRAGS;
		ina_test_ack(node, 0, node->epoch, round + 1);
	}
	tx_test_check(test, node, first, 0, 0, 0, TX_TEST_FRAGS);
	kfree_skb(first);
}

static int tx_test_init(struct kunit *test)
{
	struct tx_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int err;

	if (!t)
		return -ENOMEM;
	skb_queue_head_init(&t->sent);
	t->ops = (struct nf_hook_ops){
		.hook = tx_test_hook, .priv = t, .pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT, .priority = NF_IP_PRI_LAST,
	};
	t->inet = ina_test_inet_create(test);
	err = nf_register_net_hook(&init_net, &t->ops);
	if (!err)
		test->priv = t;
	return err;
}

/* Jobs first: they say good-bye. */
static void tx_test_exit(struct kunit *test)
{
	struct tx_test *t = test->priv;

	if (!t)
		return;
	ina_test_inet_destroy(t->inet);
	nf_unregister_net_hook(&init_net, &t->ops);
	skb_queue_purge(&t->sent);
}

static struct kunit_case tx_test_cases[] = {
	KUNIT_CASE(ready__held),
	KUNIT_CASE(run__one_each),
	KUNIT_CASE(run__short),
	KUNIT_CASE(run__device),
	KUNIT_CASE(run__credit),
	KUNIT_CASE(run__small_page),
	KUNIT_CASE(run__shared),
	KUNIT_CASE(run__shared_stale),
	KUNIT_CASE(run__ip),
	KUNIT_CASE(run__bytes_stay),
	{}
};

static struct kunit_suite tx_test_suite = {
	.name = "ina_tx",
	.init = tx_test_init,
	.exit = tx_test_exit,
	.test_cases = tx_test_cases,
};

kunit_test_suite(tx_test_suite);
