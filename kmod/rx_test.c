// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of elements as they arrive, alone and in super-packets: which are taken,
 * and whose numbers are accounted for, so that they are not sent again.
 */
#include <asm/simd.h>
#include <linux/unaligned.h>

#include "fail.h"
#include "round.h"
#include "rx.h"
#include "test.h"
#include "wire.h"

#define RX_TEST_BASE	4	/* first round of the window */
#define RX_TEST_LENGTH	INA_TEST_FRAGMENT
#define RX_TEST_FRAGS	(INA_TEST_CAPACITY / INA_TEST_FRAGMENT)
#define RX_TEST_SIZE	(sizeof(struct ina_hdr) + \
			 INA_TEST_FRAGMENT * sizeof(s32))
#define RX_TEST_SUPER	(RX_TEST_FRAGS * RX_TEST_SIZE)
#define RX_TEST_ODD	13	/* where bytes begin in a page */

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
	return test_bit(0, node->children[0].peer.path[0].hop.got);
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
	KUNIT_EXPECT_FALSE(test, test_bit(0, node->parent.path[0].hop.got));
}

/* Numbers of another epoch are none of this one's. */
static void data__other_epoch(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);

	rx_test_data(test, node, node->epoch - 1, RX_TEST_BASE);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_EPOCH), 1ULL);
	KUNIT_EXPECT_FALSE(test, rx_test_accounted(node));
}

/* Packet @i of a super-packet of child 0: fragment @i of a round. */
static struct ina_hdr *rx_test_packet(const struct ina_node *node, u64 round,
				      u8 *data, u32 i)
{
	struct ina_pkt pkt = {
		.type = INA_TYPE_DATA, .job = node->job->config.id,
		.epoch = node->epoch, .round = round, .seq = i, .frag = i,
		.workers = 3, .token = 1, .length = INA_TEST_CAPACITY,
		.count = INA_TEST_FRAGMENT,
	};
	u32 j;

	data += i * RX_TEST_SIZE;
	ina_wire_build((struct ina_hdr *)data, &pkt);
	for (j = 0; j < INA_TEST_FRAGMENT; j++)
		put_unaligned_le32(i * INA_TEST_FRAGMENT + j + 1,
				   data + sizeof(struct ina_hdr) +
				   j * sizeof(s32));
	return (struct ina_hdr *)data;
}

/* All fragments of a round. */
static u8 *rx_test_round(struct kunit *test, const struct ina_node *node,
			 u64 round)
{
	u8 *data = kunit_kzalloc(test, RX_TEST_SUPER, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, data);
	for (i = 0; i < RX_TEST_FRAGS; i++)
		rx_test_packet(node, round, data, i);
	return data;
}

/* How many fragments of a round hold what child 0 sent. */
static u32 rx_test_held(const struct ina_node *node, u64 round)
{
	struct ina_tag tag = { .era = node->era, .round = round };
	u32 i, j, id, held = 0;
	const s32 *sums;

	for (i = 0; i < RX_TEST_FRAGS; i++) {
		id = ina_node_slot_id(node, round, i);
		sums = ina_node_sums(node, id);
		for (j = 0; j < INA_TEST_FRAGMENT; j++)
			if (sums[j] != (s32)(i * INA_TEST_FRAGMENT + j + 1))
				break;
		held += j == INA_TEST_FRAGMENT &&
			ina_slot_has(ina_node_slot(node, id), &tag, 0);
	}
	return held;
}

static struct sk_buff *rx_test_linear(struct kunit *test, const u8 *data,
				      unsigned int len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, data, len);
	return skb;
}

/* A page fragment more. */
static void rx_test_page(struct kunit *test, struct sk_buff *skb,
			 const u8 *data, unsigned int len)
{
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page) + RX_TEST_ODD, data, len);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, RX_TEST_ODD, len,
			PAGE_SIZE);
}

/* One skb behind all others of the list. */
static void rx_test_chain(struct sk_buff *skb, struct sk_buff *part)
{
	struct sk_buff **next = &skb_shinfo(skb)->frag_list;

	while (*next)
		next = &(*next)->next;
	*next = part;
	skb->len += part->len;
	skb->data_len += part->len;
	skb->truesize += part->truesize;
}

/* In page fragments of @piece bytes. */
static struct sk_buff *rx_test_pages(struct kunit *test, const u8 *data,
				     unsigned int len, unsigned int piece)
{
	struct sk_buff *skb = rx_test_linear(test, data, 0);
	unsigned int at;

	for (at = 0; at < len; at += piece)
		rx_test_page(test, skb, data + at, min(piece, len - at));
	return skb;
}

/* In a list of skbs of @piece bytes, each with a linear part and a page. */
static struct sk_buff *rx_test_list(struct kunit *test, const u8 *data,
				    unsigned int len, unsigned int piece)
{
	struct sk_buff *part, *skb = NULL;
	unsigned int at, now, head;

	for (at = 0; at < len; at += piece) {
		now = min(piece, len - at);
		head = now / 3;
		part = rx_test_linear(test, data + at, head);
		rx_test_page(test, part, data + at + head, now - head);
		if (skb)
			rx_test_chain(skb, part);
		else
			skb = part;
	}
	return skb;
}

/* A super-packet from a child. */
static void rx_test_super_from(struct kunit *test, const struct ina_node *node,
			       u8 child, struct sk_buff *skb, u16 size)
{
	struct ina_rx_info info = {
		.saddr = ina_test_addr(INA_TEST_CHILD + child),
		.daddr = node->local,
	};

	skb_shinfo(skb)->gso_size = size;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	ina_rx(test->priv, skb, &info);
}

static void rx_test_super(struct kunit *test, const struct ina_node *node,
			  struct sk_buff *skb, u16 size)
{
	rx_test_super_from(test, node, 0, skb, size);
}

static u64 rx_test_stat(struct kunit *test, enum ina_stat stat)
{
	const struct ina_net *inet = test->priv;

	return ina_stats_sum(inet->stats, stat);
}

static void super__linear(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);

	rx_test_super(test, node, rx_test_linear(test, data, RX_TEST_SUPER),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE), RX_TEST_FRAGS);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_DATA),
			(u64)RX_TEST_FRAGS);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_RX_COPIED), 0ULL);
}

/* Pieces that end within a header, behind one, with a packet, within elements. */
static const unsigned int rx_test_pieces[INA_TEST_DEPTH] = { 57, 104, 120, 353 };

static void super__pages(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u64 round;
	u8 *data;
	u32 i;

	for (i = 0; i < INA_TEST_DEPTH; i++) {
		round = RX_TEST_BASE + i;
		data = rx_test_round(test, node, round);
		rx_test_super(test, node,
			      rx_test_pages(test, data, RX_TEST_SUPER,
					    rx_test_pieces[i]), RX_TEST_SIZE);
		KUNIT_EXPECT_EQ_MSG(test, rx_test_held(node, round),
				    RX_TEST_FRAGS, "pieces of %u",
				    rx_test_pieces[i]);
	}
}

static void super__list(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u64 round;
	u8 *data;
	u32 i;

	for (i = 0; i < INA_TEST_DEPTH; i++) {
		round = RX_TEST_BASE + i;
		data = rx_test_round(test, node, round);
		rx_test_super(test, node,
			      rx_test_list(test, data, RX_TEST_SUPER,
					   rx_test_pieces[i]), RX_TEST_SIZE);
		KUNIT_EXPECT_EQ_MSG(test, rx_test_held(node, round),
				    RX_TEST_FRAGS, "pieces of %u",
				    rx_test_pieces[i]);
	}
}

/* Nobody makes a list in a list, but its bytes count. */
static void super__nested(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);
	struct sk_buff *skb;
	unsigned int piece = RX_TEST_SUPER / 4;

	skb = rx_test_linear(test, data, piece);
	rx_test_chain(skb, rx_test_list(test, data + piece, 2 * piece, 100));
	rx_test_chain(skb, rx_test_linear(test, data + 3 * piece, piece));
	rx_test_super(test, node, skb, RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE), RX_TEST_FRAGS);
}

/* Every other packet is of another job. */
static void super__two_jobs(struct kunit *test)
{
	struct ina_job_config config = ina_test_config();
	struct ina_node *node = rx_test_root(test), *other;
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);
	u32 i;

	config.id++;
	other = ina_test_node_of(test, test->priv, &config, true, 2);
	ina_test_join_all(other, 3);
	KUNIT_ASSERT_TRUE(test, other->open);
	for (i = 1; i < RX_TEST_FRAGS; i += 2)
		rx_test_packet(other, 0, data, i);
	rx_test_super(test, node, rx_test_pages(test, data, RX_TEST_SUPER, 97),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE),
			RX_TEST_FRAGS / 2);
	KUNIT_EXPECT_EQ(test, rx_test_held(other, 0), RX_TEST_FRAGS / 2);
}

static void super__two_rounds(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);
	u32 i;

	for (i = RX_TEST_FRAGS / 2; i < RX_TEST_FRAGS; i++)
		rx_test_packet(node, RX_TEST_BASE + 1, data, i);
	rx_test_super(test, node, rx_test_pages(test, data, RX_TEST_SUPER, 97),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE),
			RX_TEST_FRAGS / 2);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE + 1),
			RX_TEST_FRAGS / 2);
}

/* An ACK of the first round, in place of packet @i. */
static void rx_test_ack(struct ina_node *node, u8 *data, u32 i)
{
	struct ina_ack_hdr ack = {
		.acked = cpu_to_be64(RX_TEST_BASE + 1),
		.base = cpu_to_be64(RX_TEST_BASE),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_ACK, .job = node->job->config.id,
		.epoch = node->epoch, .workers = node->members,
	};
	u8 *at = data + i * RX_TEST_SIZE;

	BUILD_BUG_ON(sizeof(struct ina_hdr) + sizeof(ack) != RX_TEST_SIZE);
	ina_wire_build((struct ina_hdr *)at, &pkt);
	memcpy(at + sizeof(struct ina_hdr), &ack, sizeof(ack));
}

/* An ACK of the same size is in the middle, in two pieces. */
static void super__control(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE + 1);

	rx_test_ack(node, data, 5);
	rx_test_super(test, node,
		      rx_test_pages(test, data, RX_TEST_SUPER,
				    5 * RX_TEST_SIZE + sizeof(struct ina_hdr)),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, node->children[0].acked, RX_TEST_BASE + 1ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_CONTROL), 1ULL);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE + 1),
			RX_TEST_FRAGS - 1);
}

/* The window moves in the middle: what was in it is not any more. */
static void super__window(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);

	rx_test_super(test, node, rx_test_linear(test, data, RX_TEST_SUPER),
		      RX_TEST_SIZE);
	ina_test_ack(node, 1, node->epoch, RX_TEST_BASE + 1);
	rx_test_ack(node, data, 5);
	rx_test_super(test, node, rx_test_linear(test, data, RX_TEST_SUPER),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, node->base, RX_TEST_BASE + 1ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_DUPLICATE), 5ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_WINDOW),
			RX_TEST_FRAGS - 6ULL);
}

/* One of a round that was entered has another length: the round fails. */
static void super__length(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);
	struct ina_hdr *hdr = rx_test_packet(node, RX_TEST_BASE, data, 5);

	hdr->length = htonl(ntohl(hdr->length) - 1);
	rx_test_super(test, node, rx_test_linear(test, data, RX_TEST_SUPER),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_DATA), 5ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_LENGTH), 1ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_FAILED),
			RX_TEST_FRAGS - 6ULL);
}

/* Alike but for one field: what was found out about those before is not true of it. */
static void super__unlike(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);
	struct ina_slot *slot[RX_TEST_FRAGS];
	u32 i;

	for (i = 0; i < RX_TEST_FRAGS; i++)
		slot[i] = ina_node_slot(node, ina_node_slot_id(node, RX_TEST_BASE, i));
	rx_test_packet(node, RX_TEST_BASE, data, 3)->epoch = htonl(node->epoch + 1);
	rx_test_packet(node, RX_TEST_BASE, data, 6)->flags = INA_F_OVERFLOW;
	rx_test_packet(node, RX_TEST_BASE, data, 9)->token = htonl(5);
	rx_test_packet(node, RX_TEST_BASE, data, 12)->workers = htonl(7);
	rx_test_super(test, node, rx_test_linear(test, data, RX_TEST_SUPER),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_EPOCH), 1ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_DATA),
			RX_TEST_FRAGS - 1ULL);
	for (i = 0; i < RX_TEST_FRAGS; i++) {
		KUNIT_EXPECT_EQ(test, slot[i]->flags, i == 6 ? INA_F_OVERFLOW : 0);
		KUNIT_EXPECT_EQ(test, slot[i]->token, i == 3 ? 0 : i == 9 ? 5 : 1);
		KUNIT_EXPECT_EQ(test, slot[i]->workers, i == 3 ? 0 : i == 12 ? 7 : 3);
	}
}

/* The last contributions, in rows of any length: all are told of, each once. */
static void super__rows(struct kunit *test)
{
	static const u8 frags[RX_TEST_FRAGS] = {
		8, 9, 10, 11, 7, 6, 0, 1, 2, 15, 3, 4, 5, 12, 13, 14,
	};
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE), *other;
	const struct ina_round *entry = ina_round_entry(node, RX_TEST_BASE);
	const struct ina_slot *slot;
	struct ina_hdr *hdr;
	u32 i;

	rx_test_super(test, node, rx_test_linear(test, data, RX_TEST_SUPER),
		      RX_TEST_SIZE);
	other = rx_test_round(test, node, RX_TEST_BASE);
	for (i = 0; i < RX_TEST_FRAGS; i++) {
		hdr = rx_test_packet(node, RX_TEST_BASE, other, i);
		hdr->frag = htonl(frags[i]);
		hdr->index = htons(1);
		hdr->token = htonl(2);
	}
	rx_test_super_from(test, node, 1,
			   rx_test_linear(test, other, RX_TEST_SUPER - RX_TEST_SIZE),
			   RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, ina_round_held(entry), RX_TEST_FRAGS - 1);
	KUNIT_EXPECT_FALSE(test, entry->complete);
	rx_test_super_from(test, node, 1,
			   rx_test_linear(test, other, RX_TEST_SUPER), RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, ina_round_held(entry), RX_TEST_FRAGS);
	KUNIT_EXPECT_TRUE(test, entry->complete);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_DUPLICATE),
			RX_TEST_FRAGS - 1ULL);
	for (i = 0; i < RX_TEST_FRAGS; i++) {
		slot = ina_node_slot(node, ina_node_slot_id(node, RX_TEST_BASE, i));
		KUNIT_EXPECT_EQ(test, slot->state, INA_SLOT_RESULT);
	}
}

/* Headers and elements in turn, as of results that go to several children. */
static void super__apart(struct kunit *test)
{
	const unsigned int hdr = sizeof(struct ina_hdr), half = (RX_TEST_SIZE - hdr) / 2;
	struct ina_node *node = rx_test_root(test);
	u8 *at = rx_test_round(test, node, RX_TEST_BASE);
	struct sk_buff *skb = rx_test_linear(test, at, 0);
	u32 i;

	/* One says to have a crc, which is of all of it in a row. */
	rx_test_packet(node, RX_TEST_BASE, at, 1)->flags = INA_F_CRC;
	for (i = 0; i < 5; i++, at += RX_TEST_SIZE) {
		rx_test_page(test, skb, at, hdr);
		/* The elements of one are in two pieces. */
		if (i == 3)
			rx_test_page(test, skb, at + hdr, half);
		rx_test_page(test, skb, at + hdr + (i == 3 ? half : 0),
			     RX_TEST_SIZE - hdr - (i == 3 ? half : 0));
	}
	rx_test_super(test, node, skb, RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE), 4);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_RX_DATA), 4ULL);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_CRC), 1ULL);
	/* The others were added from where they are. */
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_RX_COPIED), 2ULL);
}

/* Each to its counter, and those around them are taken. */
static void super__bad_ones(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	struct ina_hop *hop = &node->children[0].peer.path[0].hop;
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);

	rx_test_packet(node, RX_TEST_BASE, data, 1)->version = 0;
	rx_test_packet(node, RX_TEST_BASE, data, 3)->type = INA_TYPE_MAX;
	rx_test_packet(node, RX_TEST_BASE, data, 5)->count = htons(3);
	rx_test_packet(node, RX_TEST_BASE, data, 7)->count = htons(2048);
	rx_test_packet(node, RX_TEST_BASE, data, 9)->job = htonl(99);
	rx_test_packet(node, RX_TEST_BASE, data, 11)->frag = htonl(99);
	rx_test_packet(node, RX_TEST_BASE, data, 13)->index = htons(1);
	rx_test_super(test, node, rx_test_pages(test, data, RX_TEST_SUPER, 97),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_VERSION), 1ULL);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_TYPE), 1ULL);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_SIZE), 2ULL);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_JOB), 1ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_FRAGMENT), 1ULL);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_SOURCE), 1ULL);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE),
			RX_TEST_FRAGS - 7);
	KUNIT_EXPECT_FALSE(test, test_bit(1, hop->got));
	KUNIT_EXPECT_TRUE(test, test_bit(2, hop->got));
	/* They come again, alone, and are taken. */
	data = rx_test_round(test, node, RX_TEST_BASE);
	rx_test_super(test, node, rx_test_linear(test, data, RX_TEST_SUPER),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, ina_test_stat(node, INA_STAT_DROP_DUPLICATE),
			RX_TEST_FRAGS - 7ULL);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE), RX_TEST_FRAGS);
}

/* The last one ends within its elements, or within its header. */
static void super__short_end(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);

	rx_test_super(test, node,
		      rx_test_pages(test, data, 3 * RX_TEST_SIZE - 4, 97),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_SIZE), 1ULL);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE), 2);
	rx_test_super(test, node,
		      rx_test_pages(test, data, 4 * RX_TEST_SIZE - 30, 97),
		      RX_TEST_SIZE);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_SHORT), 1ULL);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE), 3);
}

/* No header fits: not looked at piece by piece. */
static void super__tiny(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);

	rx_test_super(test, node, rx_test_linear(test, data, RX_TEST_SUPER),
		      sizeof(struct ina_hdr) - 1);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_SHORT), 1ULL);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE), 0);
}

/* Another kind of GSO: the bytes are one packet, and not of ours. */
static void super__one_datagram(struct kunit *test)
{
	struct ina_node *node = rx_test_root(test);
	u8 *data = rx_test_round(test, node, RX_TEST_BASE);
	struct ina_rx_info info = {
		.saddr = ina_test_addr(INA_TEST_CHILD), .daddr = node->local,
	};
	struct sk_buff *skb = rx_test_linear(test, data, RX_TEST_SUPER);

	skb_shinfo(skb)->gso_size = RX_TEST_SIZE;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP;
	ina_rx(test->priv, skb, &info);
	KUNIT_EXPECT_EQ(test, rx_test_stat(test, INA_STAT_DROP_SIZE), 1ULL);
	KUNIT_EXPECT_EQ(test, rx_test_held(node, RX_TEST_BASE), 0);
}

static int rx_test_init(struct kunit *test)
{
	struct ina_net *inet = ina_test_inet_create(test);

	test->priv = inet;
	inet->stats = alloc_percpu(struct ina_stats);
	return inet->stats ? ina_rx_init() : -ENOMEM;
}

static void rx_test_exit(struct kunit *test)
{
	struct ina_net *inet = test->priv;

	if (!inet)
		return;
	ina_test_inet_destroy(inet);
	free_percpu(inet->stats);
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
	KUNIT_CASE(super__linear),
	KUNIT_CASE(super__pages),
	KUNIT_CASE(super__list),
	KUNIT_CASE(super__nested),
	KUNIT_CASE(super__two_jobs),
	KUNIT_CASE(super__two_rounds),
	KUNIT_CASE(super__control),
	KUNIT_CASE(super__window),
	KUNIT_CASE(super__length),
	KUNIT_CASE(super__unlike),
	KUNIT_CASE(super__rows),
	KUNIT_CASE(super__apart),
	KUNIT_CASE(super__bad_ones),
	KUNIT_CASE(super__short_end),
	KUNIT_CASE(super__tiny),
	KUNIT_CASE(super__one_datagram),
	{}
};

static struct kunit_suite rx_test_suite = {
	.name = "ina_rx",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_test_cases,
};

kunit_test_suite(rx_test_suite);
