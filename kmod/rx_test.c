// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of elements as they arrive: which are taken, and whose numbers are
 * accounted for, so that they are not sent again.
 */
#include <asm/simd.h>

#include "fail.h"
#include "round.h"
#include "rx.h"
#include "test.h"
#include "wire.h"

#define RX_TEST_BASE	4	/* first round of the window */
#define RX_TEST_LENGTH	INA_TEST_FRAGMENT

/* A root with two children, whose window has moved. */
static struct ina_node *rx_test_root(struct kunit *test)
{
	struct ina_node *node = ina_test_node_create(test, test->priv, true, 2);

	ina_test_join_all(node, 3);
	KUNIT_ASSERT_TRUE(test, node->open);
	ina_test_ack(node, 0, node->epoch, RX_TEST_BASE);
	ina_test_ack(node, 1, node->epoch, RX_TEST_BASE);
	KUNIT_ASSERT_EQ(test, node->base, (u64)RX_TEST_BASE);
	return node;
}

/* Number 0 from a neighbour: all elements of a round, of @elem bytes. */
static void rx_test_send(struct kunit *test, struct ina_node *node, u8 type,
			 u32 from, u32 epoch, u64 round, u8 elem)
{
	struct ina_rx_info info = {
		.saddr = ina_test_addr(from), .daddr = node->local,
	};
	struct ina_pkt pkt = {
		.type = type, .job = node->job->config.id,
		.epoch = epoch, .round = round, .workers = 3, .token = 1,
		.length = RX_TEST_LENGTH, .count = RX_TEST_LENGTH,
		.elem = elem,
	};
	unsigned int size = sizeof(struct ina_hdr) + ina_wire_body_size(&pkt);
	struct sk_buff *skb = alloc_skb(size, GFP_KERNEL);
	struct ina_hdr *hdr;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	hdr = skb_put_zero(skb, size);
	ina_wire_build(hdr, &pkt);
	ina_rx(test->priv, skb, &info);
}

/* From child 0. */
static void rx_test_data(struct kunit *test, struct ina_node *node, u32 epoch,
			 u64 round)
{
	rx_test_send(test, node, INA_TYPE_DATA, INA_TEST_CHILD, epoch, round,
		     sizeof(s32));
}

/* Is number 0 of child 0 accounted for? */
static bool rx_test_accounted(const struct ina_node *node)
{
	return test_bit(0, node->children[0].peer.hop.got);
}

static void data__taken(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);

	rx_test_data(test, node, node->epoch, RX_TEST_BASE);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_DATA), 1ULL);
	KUNIT_EXPECT_TRUE(test, rx_test_accounted(node));
}

/* Elements of a size the job does not have. */
static void data__elem(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);

	rx_test_send(test, node, INA_TYPE_DATA, INA_TEST_CHILD, node->epoch,
		     RX_TEST_BASE, sizeof(s64));
	rx_test_send(test, node, INA_TYPE_DATA, INA_TEST_CHILD, node->epoch,
		     RX_TEST_BASE, sizeof(s16));
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_SIZE), 2ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_DATA), 0ULL);
	KUNIT_EXPECT_FALSE(test, rx_test_accounted(node));
}

/*
 * Contributions, control and a crc in one skb: vector registers are taken and
 * given back in between, never twice, and free in the end.
 */
static void data__between(struct kunit *test)
{
	const unsigned int size = sizeof(struct ina_hdr) +
				  RX_TEST_LENGTH * sizeof(s32);
	struct ina_node *node = rx_test_root(test);
	struct ina_rx_info info = {
		.saddr = ina_test_addr(INA_TEST_CHILD), .daddr = node->local,
	};
	struct ina_pkt data = {
		.type = INA_TYPE_DATA, .job = node->job->config.id,
		.epoch = node->epoch, .round = RX_TEST_BASE, .workers = 3,
		.token = 1, .length = 3 * RX_TEST_LENGTH,
		.count = RX_TEST_LENGTH, .elem = sizeof(s32),
	};
	struct ina_pkt ack = {
		.type = INA_TYPE_ACK, .job = node->job->config.id,
		.epoch = node->epoch, .workers = node->members,
	};
	struct sk_buff *skb = alloc_skb(4 * size, GFP_KERNEL);
	u8 *at;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	BUILD_BUG_ON(sizeof(struct ina_ack_hdr) !=
		     RX_TEST_LENGTH * sizeof(s32));
	at = skb_put_zero(skb, 4 * size);
	skb_shinfo(skb)->gso_size = size;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	for (; data.frag < 3; data.frag++, data.seq++, at += size) {
		ina_wire_build((struct ina_hdr *)at, &data);
		if (data.frag == 1)
			ina_wire_seal((struct ina_hdr *)at, size);
		if (data.frag)
			continue;
		at += size;
		ina_wire_build((struct ina_hdr *)at, &ack);
	}
	ina_rx(test->priv, skb, &info);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_DATA), 3ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_CONTROL), 1ULL);
	KUNIT_EXPECT_TRUE(test, may_use_simd());
}

/* It came late, everybody has the result: nobody needs it again. */
static void data__below_window(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);

	rx_test_data(test, node, node->epoch, RX_TEST_BASE - 1);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_WINDOW), 1ULL);
	KUNIT_EXPECT_TRUE(test, rx_test_accounted(node));
}

/* The sender knows a window this node does not: it is to come again. */
static void data__above_window(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);

	rx_test_data(test, node, node->epoch, RX_TEST_BASE + INA_TEST_DEPTH);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_WINDOW), 1ULL);
	KUNIT_EXPECT_FALSE(test, rx_test_accounted(node));
}

/* A round that failed needs nothing any more. */
static void data__failed(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	struct ina_tag tag = { .era = node->era, .round = RX_TEST_BASE };
	struct ina_blame blame = { .reason = INA_REASON_LENGTH };

	ina_fail_round(node, &tag, &blame);
	rx_test_data(test, node, node->epoch, RX_TEST_BASE);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_FAILED), 1ULL);
	KUNIT_EXPECT_TRUE(test, rx_test_accounted(node));
}

/* The result cannot be there before all contributions: it is to come again. */
static void result__early(struct kunit *test)
{
	struct ina_node *node = ina_test_node_create(test, test->priv, false, 1);

	ina_test_join_all(node, 3);
	ina_test_epoch(node, 10, RX_TEST_BASE, 3, 1);
	KUNIT_ASSERT_TRUE(test, node->open);
	rx_test_send(test, node, INA_TYPE_RESULT, INA_TEST_PARENT, node->epoch,
		     RX_TEST_BASE, sizeof(s32));
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_EARLY), 1ULL);
	KUNIT_EXPECT_FALSE(test, test_bit(0, node->parent.hop.got));
}

/* Numbers of another epoch are none of this one's. */
static void data__other_epoch(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);

	rx_test_data(test, node, node->epoch - 1, RX_TEST_BASE);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_EPOCH), 1ULL);
	KUNIT_EXPECT_FALSE(test, rx_test_accounted(node));
}

static int rx_test_init(struct kunit *test)
{
	test->priv = ina_test_inet_create(test);
	return 0;
}

static void rx_test_exit(struct kunit *test)
{
	if (test->priv)
		ina_test_inet_destroy(test->priv);
}

static struct kunit_case rx_test_cases[] = {
	KUNIT_CASE(data__taken),
	KUNIT_CASE(data__elem),
	KUNIT_CASE(data__between),
	KUNIT_CASE(data__below_window),
	KUNIT_CASE(data__above_window),
	KUNIT_CASE(data__failed),
	KUNIT_CASE(data__other_epoch),
	KUNIT_CASE(result__early),
	{}
};

static struct kunit_suite rx_test_suite = {
	.name = "ina_rx",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_test_cases,
};

kunit_test_suite(rx_test_suite);
