// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path behind its three entries: walk an skb packet by packet (a
 * super-packet holds many of gso_size bytes), validate, look the job up and
 * dispatch by type. Every refusal ends at one place with one counter.
 * Context: softirq, under RCU.
 */
#include <linux/percpu.h>
#include <net/ipv6.h>

#include "epoch.h"
#include "event.h"
#include "fail.h"
#include "job.h"
#include "late.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "rx.h"
#include "stats.h"
#include "tx.h"
#include "wire.h"

/* A packet that is not in one piece, or control, is copied here. */
struct ina_rx_buffer {
	u8 data[sizeof(struct ina_hdr) + INA_FRAGMENT_BYTES]
		__aligned(sizeof(u64));
};

static struct ina_rx_buffer __percpu *ina_rx_buffers;

/**
 * ina_rx_init() - allocate what the receive path needs
 *
 * Return: 0 or -ENOMEM.
 */
int ina_rx_init(void)
{
	/* The KUnit suites may come first. */
	if (!ina_rx_buffers)
		ina_rx_buffers = alloc_percpu(struct ina_rx_buffer);
	return ina_rx_buffers ? 0 : -ENOMEM;
}

/**
 * ina_rx_exit() - free it; no entry is registered any more
 */
void ina_rx_exit(void)
{
	free_percpu(ina_rx_buffers);
}

/*
 * The sender is not the child with its index. It may be one with another, if
 * the tree was set anew, or none any more: it has to join again to find out.
 */
static void ina_rx_misplaced(struct ina_node *node, const struct ina_pkt *pkt,
			     const struct ina_rx_info *info)
{
	int index = ina_node_child_find(node, &info->saddr);

	if (index >= 0)
		ina_member_stranger(node, &node->children[index]);
	else if (pkt->type == INA_TYPE_ACK)
		ina_tx_stranger(node, &info->saddr, NULL);
}

/* The child with the packet's index, if it is the sender and has joined. */
static int ina_rx_child(struct ina_node *node, const struct ina_pkt *pkt,
			const struct ina_rx_info *info,
			struct ina_child **child)
{
	if (pkt->index >= node->nchildren ||
	    !ipv6_addr_equal(&node->children[pkt->index].peer.addr,
			     &info->saddr)) {
		ina_rx_misplaced(node, pkt, info);
		return INA_STAT_DROP_SOURCE;
	}
	*child = &node->children[pkt->index];
	if (READ_ONCE((*child)->workers))
		return 0;
	/* Who is leaving may still tell what it holds, */
	if (pkt->type == INA_TYPE_ACK && READ_ONCE((*child)->instance))
		return 0;
	/* and what it lacks: others below may need the results of this epoch. */
	if (ina_wire_is_hop(pkt->type) && READ_ONCE((*child)->acked) != U64_MAX)
		return 0;
	ina_member_stranger(node, *child);
	return INA_STAT_DROP_EPOCH;
}

static bool ina_rx_from_parent(const struct ina_node *node,
			       const struct ina_rx_info *info)
{
	return !node->root &&
	       ipv6_addr_equal(&node->parent.addr, &info->saddr);
}

/* Epoch, window, fragment and size of a packet of elements; fills the tag. */
static int ina_rx_place(struct ina_node *node, const struct ina_pkt *pkt,
			struct ina_part *part)
{
	const struct ina_job_config *config = &node->job->config;
	u64 epoch_era = ina_epoch_published(node);
	u64 base = READ_ONCE(node->base);
	bool wide = pkt->elem != ina_node_elem(node, false);
	u64 round;

	if (!epoch_era || pkt->epoch != epoch_era >> 32)
		return INA_STAT_DROP_EPOCH;
	round = ina_wire_round(pkt->round, base);
	*part = (struct ina_part){
		.tag = ina_round_tag(node, (u32)epoch_era, round),
		.contributor = pkt->index,
		.workers = pkt->workers,
		.token = pkt->token,
		.flags = pkt->flags,
		.wide = wide,
	};
	part->final = ina_round_is_kept(node, &part->tag);
	/* Rounds change after the epoch is withdrawn: see ina_epoch_open(). */
	smp_rmb();
	if (READ_ONCE(node->epoch_era) != epoch_era)
		return INA_STAT_DROP_EPOCH;
	if (round < base || round - base >= config->depth)
		return INA_STAT_DROP_WINDOW;
	/* Only sums on their way up are wide. */
	if (wide && (pkt->type != INA_TYPE_DATA ||
		     pkt->elem != ina_node_elem(node, true)))
		return INA_STAT_DROP_SIZE;
	if (pkt->length > config->capacity ||
	    pkt->frag >= ina_wire_frags(pkt->length, config->fragment) ||
	    pkt->count != ina_wire_count(pkt->length, config->fragment,
					 pkt->frag))
		return INA_STAT_DROP_FRAGMENT;
	return 0;
}

/* What a packet leaves to do on its hop. */
static void ina_rx_todo(struct ina_node *node, enum ina_hop_todo todo)
{
	if (todo == INA_HOP_ANSWER)
		ina_node_kick(node);
	else if (todo == INA_HOP_CHECK)
		ina_node_tick_in(node, INA_HOP_LATE_MS);
}

/* Is a refused packet of elements to come again, as it may be of use yet? */
static bool ina_rx_again(const struct ina_node *node,
			 const struct ina_part *part, int err)
{
	switch (err) {
	case INA_STAT_DROP_EARLY:
	case INA_STAT_DROP_EPOCH:
	case INA_STAT_DROP_FRAGMENT:
	case INA_STAT_DROP_SIZE:
		return true;
	case INA_STAT_DROP_WINDOW:
		return part->tag.round >= READ_ONCE(node->base);
	}
	return false;
}

/* A packet of elements was taken, or is of no use: its number is accounted for. */
static void ina_rx_account(struct ina_node *node, struct ina_peer *peer,
			   const struct ina_pkt *pkt,
			   const struct ina_part *part, int err)
{
	if (!ina_rx_again(node, part, err))
		ina_rx_todo(node, ina_hop_received(&peer->hop, pkt->epoch,
						   pkt->seq));
}

static int ina_rx_data(struct ina_node *node, const struct ina_pkt *pkt,
		       const struct ina_rx_info *info,
		       const struct ina_sum_ctx *ctx)
{
	struct ina_part part = {};
	struct ina_child *child;
	int err;

	err = ina_rx_child(node, pkt, info, &child);
	if (err)
		return err;
	err = ina_rx_place(node, pkt, &part);
	/* A final round needs no more contributions. */
	if (!err)
		err = part.final ? INA_STAT_DROP_STALE :
		      ina_round_contribute(node, ctx, &part, pkt->frag,
					   pkt->length, pkt->body,
					   &info->saddr);
	ina_rx_account(node, &child->peer, pkt, &part, err);
	if (err)
		return err;
	ina_arrival_note(&child->arrivals, node->job->config.depth,
			 part.tag.round);
	ina_stats_inc(node->job->stats, INA_STAT_RX_DATA);
	return 0;
}

static int ina_rx_result(struct ina_node *node, const struct ina_pkt *pkt,
			 const struct ina_rx_info *info)
{
	struct ina_part part = {};
	int err;

	if (!ina_rx_from_parent(node, info))
		return INA_STAT_DROP_SOURCE;
	err = ina_rx_place(node, pkt, &part);
	if (!err)
		err = ina_round_result(node, &part, pkt->frag, pkt->length,
				       pkt->body);
	ina_rx_account(node, &node->parent, pkt, &part, err);
	if (!err)
		ina_stats_inc(node->job->stats, INA_STAT_RX_RESULT);
	return err;
}

/* Which round a packet is about. */
static int ina_rx_tag(struct ina_node *node, const struct ina_pkt *pkt,
		      struct ina_tag *tag)
{
	u64 epoch_era = ina_epoch_published(node);

	if (!epoch_era || pkt->epoch != epoch_era >> 32)
		return INA_STAT_DROP_EPOCH;
	*tag = ina_round_tag(node, (u32)epoch_era,
			     ina_wire_round(pkt->round, READ_ONCE(node->base)));
	return 0;
}

static struct ina_blame ina_rx_blame(const struct ina_fail_hdr *fail)
{
	struct ina_blame blame = {
		.reason = be32_to_cpu(fail->reason),
		.detail = { be32_to_cpu(fail->detail[0]),
			    be32_to_cpu(fail->detail[1]) },
		.worker = be32_to_cpu(fail->worker),
		.last = be32_to_cpu(fail->last),
	};

	memcpy(&blame.culprit, fail->culprit, sizeof(fail->culprit));
	return blame;
}

/* A round waits, says a child; or it is to end, says the parent. */
static int ina_rx_late(struct ina_node *node, const struct ina_pkt *pkt,
		       const struct ina_rx_info *info)
{
	bool order = pkt->type == INA_TYPE_EXCLUDE;
	struct ina_child *child;
	struct ina_blame blame;
	struct ina_tag tag;
	int err;

	if (order)
		err = ina_rx_from_parent(node, info) ? 0 : INA_STAT_DROP_SOURCE;
	else
		err = ina_rx_child(node, pkt, info, &child);
	if (!err)
		err = ina_rx_tag(node, pkt, &tag);
	if (err)
		return err;
	if (order) {
		ina_late_order(node, &tag);
		return 0;
	}
	blame = ina_rx_blame(pkt->body);
	ina_late_named(node, child, &tag, &blame);
	return 0;
}

/* A child's failure goes up to the root, the root's comes down to all. */
static int ina_rx_fail(struct ina_node *node, struct ina_pkt *pkt,
		       const struct ina_rx_info *info)
{
	bool down = ina_rx_from_parent(node, info);
	struct ina_child *child;
	struct ina_blame blame;
	struct ina_tag tag;
	int err = down ? 0 : ina_rx_child(node, pkt, info, &child);

	if (!err)
		err = ina_rx_tag(node, pkt, &tag);
	if (err)
		return err;
	blame = ina_rx_blame(pkt->body);
	if (down || node->root) {
		ina_fail_round_from(node, &tag, &blame);
	} else {
		pkt->index = READ_ONCE(node->index);
		pkt->flags &= ~INA_F_CRC;
		ina_tx_control(node, &node->parent, pkt, pkt->body);
	}
	return 0;
}

/* The neighbour answers what was sent to it. */
static void ina_rx_group(struct ina_node *node, struct ina_peer *peer,
			 const struct ina_pkt *pkt)
{
	const u8 *missing = pkt->type == INA_TYPE_GROUP_NACK ? pkt->body : NULL;
	u16 index = peer == &node->parent ? INA_INDEX_NONE : pkt->index;
	bool back;

	if (!ina_hop_answered(&peer->hop, pkt->epoch, pkt->seq, pkt->count,
			      missing, pkt->frag, &back))
		return;
	ina_tx_ready(node, index);
	if (READ_ONCE(peer->hop.ask))
		ina_node_kick(node);
	if (back)
		ina_event_peer(node, peer, INA_EVENT_TYPE_PEER_BACK);
}

/* Loss recovery, the same in both directions. Return: 0 or a counter. */
static int ina_rx_hop(struct ina_node *node, const struct ina_pkt *pkt,
		      const struct ina_rx_info *info)
{
	bool down = ina_rx_from_parent(node, info);
	const struct ina_done_hdr *done = pkt->body;
	u64 epoch_era = ina_epoch_published(node);
	struct ina_child *child;
	struct ina_peer *peer;
	int err = down ? 0 : ina_rx_child(node, pkt, info, &child);

	if (err)
		return err;
	if (!epoch_era || pkt->epoch != epoch_era >> 32)
		return INA_STAT_DROP_EPOCH;
	peer = down ? &node->parent : &child->peer;
	if (pkt->type != INA_TYPE_DONE)
		ina_rx_group(node, peer, pkt);
	else
		ina_rx_todo(node, ina_hop_asked(&peer->hop, pkt->epoch,
						pkt->seq,
						be32_to_cpu(done->end)));
	return 0;
}

/* All but packets of elements. Return: 0 or a counter. */
static int ina_rx_control(struct ina_node *node, struct ina_pkt *pkt,
			  const struct ina_rx_info *info)
{
	struct ina_child *child;
	int err;

	switch (pkt->type) {
	case INA_TYPE_JOIN:
		ina_member_rx_join(node, pkt, &info->saddr);
		return 0;
	case INA_TYPE_ACK:
		err = ina_rx_child(node, pkt, info, &child);
		if (!err)
			ina_member_rx_ack(node, child, pkt);
		return err;
	case INA_TYPE_FAIL:
		return ina_rx_fail(node, pkt, info);
	case INA_TYPE_LATE:
	case INA_TYPE_EXCLUDE:
		return ina_rx_late(node, pkt, info);
	case INA_TYPE_DONE:
	case INA_TYPE_GROUP_OK:
	case INA_TYPE_GROUP_NACK:
		return ina_rx_hop(node, pkt, info);
	}
	if (!ina_rx_from_parent(node, info))
		return INA_STAT_DROP_SOURCE;
	if (pkt->type == INA_TYPE_WELCOME)
		ina_member_rx_welcome(node, pkt);
	else
		ina_member_rx_epoch(node, pkt);
	return 0;
}

/* Dispatch by type. Return: 0 or the counter that says why not. */
static int ina_rx_dispatch(struct ina_node *node, struct ina_pkt *pkt,
			   const struct ina_rx_info *info,
			   const struct ina_sum_ctx *ctx)
{
	int err;

	if (!ipv6_addr_equal(&node->local, &info->daddr))
		return INA_STAT_DROP_LOCAL;
	if (pkt->type == INA_TYPE_DATA)
		return ina_rx_data(node, pkt, info, ctx);
	if (pkt->type == INA_TYPE_RESULT)
		return ina_rx_result(node, pkt, info);
	err = ina_rx_control(node, pkt, info);
	if (!err)
		ina_stats_inc(node->job->stats, INA_STAT_RX_CONTROL);
	return err;
}

/**
 * struct ina_rx_walk - state of the walk over one skb
 * @inet: the namespace
 * @info: what the entry knows
 * @node: node of the last packet: its sums are sent when the node changes or
 *	the walk ends
 * @skb: what is walked over
 * @part: @skb, or the one of its list the walk has come to; NULL: copy the rest
 * @frag: of @part: 0 its linear bytes, i + 1 its page fragment i
 * @start: offset of that piece from the data of @skb
 * @summing: @ctx has begun
 * @ctx: of the contributions
 */
struct ina_rx_walk {
	struct ina_net *inet;
	const struct ina_rx_info *info;
	struct ina_node *node;
	struct sk_buff *skb;
	struct sk_buff *part;
	unsigned int frag;
	unsigned int start;
	bool summing;
	struct ina_sum_ctx ctx;
};

/*
 * One begin for all contributions of an skb, but it ends before anything that
 * may use vector registers by itself: a crc, control packets, sending.
 */
static void ina_rx_sum(struct ina_rx_walk *walk, bool on)
{
	if (walk->summing == on)
		return;
	walk->summing = on;
	if (on)
		ina_sum_begin(&walk->ctx);
	else
		ina_sum_end(&walk->ctx);
}

/* Packets of one skb mostly belong to one node: send once per batch. */
static void ina_rx_turn(struct ina_rx_walk *walk, struct ina_node *node)
{
	if (walk->node && walk->node != node) {
		ina_rx_sum(walk, false);
		ina_tx_run(walk->node, INA_TX_BUDGET);
	}
	walk->node = node;
}

/* What follows the header of control, where its sender cannot change it. */
static const void *ina_rx_copy(const void *body, unsigned int len)
{
	struct ina_rx_buffer *buffer = this_cpu_ptr(ina_rx_buffers);

	/* It may be in there already. */
	return memmove(buffer->data, body, len);
}

/* One packet. Return: true if it was accepted. */
static bool ina_rx_packet(struct ina_rx_walk *walk, const void *data,
			  unsigned int len)
{
	struct ina_stats __percpu *stats = walk->inet->stats;
	struct ina_node *node;
	struct ina_job *job;
	struct ina_pkt pkt;
	int err;

	err = ina_wire_parse(data, len, walk->info->need_crc, &pkt);
	if (err)
		goto drop;
	if (pkt.flags & INA_F_CRC) {
		ina_rx_sum(walk, false);
		err = ina_wire_verify(data, len, &pkt);
		if (err)
			goto drop;
	}
	if (!ina_wire_is_elements(pkt.type))
		pkt.body = ina_rx_copy(pkt.body, len - sizeof(struct ina_hdr));
	job = ina_job_find(walk->inet, pkt.job);
	node = job ? rcu_dereference(job->node) : NULL;
	err = INA_STAT_DROP_JOB;
	if (!node)
		goto drop;
	stats = job->stats;
	err = INA_STAT_DROP_EPOCH;
	if (READ_ONCE(node->paused))
		goto drop;
	ina_rx_turn(walk, node);
	ina_rx_sum(walk, pkt.type == INA_TYPE_DATA);
	err = ina_rx_dispatch(node, &pkt, walk->info, &walk->ctx);
	if (err)
		goto drop;
	return true;
drop:
	ina_stats_inc(stats, err);
	return false;
}

/* Bytes of the piece the walk has come to. */
static unsigned int ina_rx_piece(const struct ina_rx_walk *walk)
{
	const struct skb_shared_info *info = skb_shinfo(walk->part);

	return walk->frag ? skb_frag_size(&info->frags[walk->frag - 1]) :
			    skb_headlen(walk->part);
}

/* Go on to the next piece: page fragments, then the list. */
static void ina_rx_next(struct ina_rx_walk *walk)
{
	const struct skb_shared_info *info = skb_shinfo(walk->part);

	walk->start += ina_rx_piece(walk);
	if (walk->frag++ < info->nr_frags)
		return;
	walk->frag = 0;
	if (walk->part == walk->skb)
		walk->part = info->frag_list;
	else
		/* A list in a list is not walked. */
		walk->part = info->frag_list ? NULL : walk->part->next;
}

/* The bytes of the piece the walk has come to, NULL if they are not mapped. */
static const void *ina_rx_bytes(const struct ina_rx_walk *walk)
{
	const skb_frag_t *frag;
	struct page *page;

	if (!walk->frag)
		return walk->part->data;
	frag = &skb_shinfo(walk->part)->frags[walk->frag - 1];
	page = skb_frag_page(frag);
	return page && !PageHighMem(page) ? skb_frag_address(frag) : NULL;
}

/* The next packet, where it is if it is in one piece, else a copy of it. */
static const void *ina_rx_look(struct ina_rx_walk *walk, unsigned int offset,
			       unsigned int len)
{
	struct ina_rx_buffer *buffer = this_cpu_ptr(ina_rx_buffers);
	const void *bytes = NULL;

	while (walk->part && offset >= walk->start + ina_rx_piece(walk))
		ina_rx_next(walk);
	if (walk->part && offset + len <= walk->start + ina_rx_piece(walk))
		bytes = ina_rx_bytes(walk);
	if (bytes)
		return bytes + (offset - walk->start);
	return skb_copy_bits(walk->skb, offset, buffer->data, len) ? NULL :
	       buffer->data;
}

/* Bytes of each packet of an skb but the last; what else is GSO is one packet. */
static unsigned int ina_rx_size(const struct sk_buff *skb, unsigned int offset)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	return skb_is_gso(skb) && info->gso_type & SKB_GSO_UDP_L4 ?
	       info->gso_size : skb->len - offset;
}

/* All packets of an skb. Return: how many were accepted. */
static unsigned int ina_rx_walk(struct ina_rx_walk *walk)
{
	unsigned int offset = walk->info->offset, end = walk->skb->len;
	unsigned int size = ina_rx_size(walk->skb, offset);
	unsigned int len, accepted = 0;
	const void *data;

	/* So small ones are not worth the walk, so large ones not ours. */
	if (size < sizeof(struct ina_hdr) || size > sizeof(struct ina_rx_buffer)) {
		ina_stats_inc(walk->inet->stats, size < sizeof(struct ina_hdr) ?
			      INA_STAT_DROP_SHORT : INA_STAT_DROP_SIZE);
		return 0;
	}
	for (; offset < end; offset += len) {
		len = min(size, end - offset);
		data = ina_rx_look(walk, offset, len);
		if (data)
			accepted += ina_rx_packet(walk, data, len);
		else
			ina_stats_inc(walk->inet->stats, INA_STAT_DROP_SHORT);
	}
	ina_rx_turn(walk, NULL);
	return accepted;
}

/**
 * ina_rx() - receive an skb
 * @inet: the namespace
 * @skb: it; consumed
 * @info: what the entry knows of it
 *
 * Context: softirq (or process with it disabled here), under RCU.
 */
void ina_rx(struct ina_net *inet, struct sk_buff *skb,
	    const struct ina_rx_info *info)
{
	struct ina_rx_walk walk = {
		.inet = inet, .info = info, .skb = skb, .part = skb,
	};
	unsigned int accepted;

	local_bh_disable();
	rcu_read_lock();
	accepted = ina_rx_walk(&walk);
	rcu_read_unlock();
	local_bh_enable();
	if (accepted)
		consume_skb(skb);
	else
		kfree_skb(skb);
}
