// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path behind its three entries: walk an skb packet by packet (a
 * super-packet holds many of gso_size bytes), validate, look the job up and
 * dispatch by type. Every refusal ends at one place with one counter.
 * Context: softirq, under RCU.
 */
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/prefetch.h>
#include <linux/unaligned.h>
#include <net/ipv6.h>

#include "epoch.h"
#include "job.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "rx.h"
#include "stats.h"
#include "tx.h"
#include "wire.h"
#include "xmit.h"

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
	int index = ina_node_child_from(node, &info->saddr);

	if (index >= 0)
		ina_member_stranger(node, &node->children[index]);
	else if (pkt->type == INA_TYPE_ACK)
		ina_xmit_stranger(node, &info->saddr, NULL);
}

/**
 * ina_rx_child() - the child with the packet's index
 * @node: the node
 * @pkt: the packet
 * @info: what the entry knows
 * @child: where the child goes
 *
 * Context: softirq, under RCU.
 * Return: 0 if it is the sender and has joined, else a counter.
 */
int ina_rx_child(struct ina_node *node, const struct ina_pkt *pkt,
		 const struct ina_rx_info *info, struct ina_child **child)
{
	if (pkt->index >= node->nchildren ||
	    !ina_path_is_from(&node->children[pkt->index].peer, &info->saddr)) {
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

/**
 * ina_rx_from_parent() - is the parent the sender
 * @node: the node
 * @info: what the entry knows
 *
 * Context: softirq, under RCU.
 * Return: true if so.
 */
bool ina_rx_from_parent(const struct ina_node *node,
			const struct ina_rx_info *info)
{
	return !node->root && ina_path_is_from(&node->parent, &info->saddr);
}

/**
 * struct ina_rx_walk - state of the walk over one skb
 * @inet: the namespace
 * @info: what the entry knows
 * @job: job of the last packet
 * @node: node of the last packet: its sums are sent when the node changes or
 *	the walk ends
 * @skb: what is walked over
 * @part: @skb, or the one of its list the walk has come to; NULL: copy the rest
 * @frag: of @part: 0 its linear bytes, i + 1 its page fragment i
 * @start: offset of that piece from the data of @skb
 * @body: elements of the packet, if they are not behind its header
 * @now: when the walk began
 * @epoch_era: what was published when the last packet of elements had its round
 *	looked up; 0: none had
 * @round: what it says of its round
 * @length: elements of that round, 0 before it was entered
 * @base: where the window began
 * @tag: of that round
 * @final: it is final
 * @at: place of that round in the window
 * @hop: path with numbers that are not accounted for yet
 * @epoch: their epoch
 * @seq: the first of them
 * @count: how many, in a row
 * @summing: @ctx has begun
 * @ctx: of the contributions
 */
struct ina_rx_walk {
	struct ina_net *inet;
	const struct ina_rx_info *info;
	struct ina_job *job;
	struct ina_node *node;
	struct sk_buff *skb;
	struct sk_buff *part;
	unsigned int frag;
	unsigned int start;
	const void *body;
	u64 now;
	u64 epoch_era;
	u32 round;
	u32 length;
	u64 base;
	struct ina_tag tag;
	bool final;
	u32 at;
	struct ina_hop *hop;
	u32 epoch;
	u32 seq;
	u32 count;
	bool summing;
	struct ina_sum_ctx ctx;
};

/* Is the round of a packet that of the last one? Then all that was found out holds. */
static bool ina_rx_same(const struct ina_rx_walk *walk,
			const struct ina_pkt *pkt)
{
	const struct ina_node *node = walk->node;

	return walk->epoch_era && walk->round == pkt->round &&
	       walk->epoch_era >> 32 == pkt->epoch &&
	       READ_ONCE(node->epoch_era) == walk->epoch_era &&
	       READ_ONCE(node->base) == walk->base;
}

/* Epoch and window of a packet of elements, once for all that follow it. */
static int ina_rx_round(struct ina_rx_walk *walk, const struct ina_pkt *pkt)
{
	struct ina_node *node = walk->node;
	u64 epoch_era = ina_epoch_published(node);

	walk->epoch_era = 0;
	walk->length = 0;
	if (!epoch_era || pkt->epoch != epoch_era >> 32)
		return INA_STAT_DROP_EPOCH;
	walk->base = READ_ONCE(node->base);
	walk->round = pkt->round;
	walk->tag.round = ina_wire_round(pkt->round, walk->base);
	walk->tag.era = (u32)epoch_era;
	walk->at = ina_node_at(node, walk->tag.round);
	walk->final = ina_round_look(node, walk->at, &walk->tag);
	/* Rounds change after the epoch is withdrawn: see ina_epoch_open(). */
	smp_rmb();
	if (READ_ONCE(node->epoch_era) != epoch_era)
		return INA_STAT_DROP_EPOCH;
	walk->epoch_era = epoch_era;
	return 0;
}

/* Epoch, window, fragment and size of a packet of elements; fills the part. */
static int ina_rx_place(struct ina_rx_walk *walk, const struct ina_pkt *pkt,
			struct ina_part *part)
{
	struct ina_node *node = walk->node;
	const struct ina_job_config *config = &node->job->config;
	bool wide = pkt->elem != ina_node_elem(node, false);
	int err = ina_rx_same(walk, pkt) ? 0 : ina_rx_round(walk, pkt);

	if (err)
		return err;
	*part = (struct ina_part){
		.tag = walk->tag,
		.contributor = pkt->index,
		.workers = pkt->workers,
		.token = pkt->token,
		.flags = pkt->flags,
		.wide = wide,
		.final = walk->final,
		.entered = walk->length == pkt->length,
		.expected = 0,
	};
	if (part->tag.round < walk->base ||
	    part->tag.round - walk->base >= config->depth)
		return INA_STAT_DROP_WINDOW;
	/* Only sums on their way up are wide. */
	if (wide && (pkt->type != INA_TYPE_DATA ||
		     pkt->elem != ina_node_elem(node, true)))
		return INA_STAT_DROP_SIZE;
	if (pkt->length > config->capacity ||
	    (u64)pkt->frag * config->fragment >= pkt->length ||
	    pkt->count != ina_wire_count(pkt->length, config->fragment,
					 pkt->frag))
		return INA_STAT_DROP_FRAGMENT;
	return 0;
}

/**
 * ina_rx_todo() - what a packet leaves to do on its hop
 * @node: the node
 * @todo: it
 *
 * Context: softirq, under RCU.
 */
void ina_rx_todo(struct ina_node *node, enum ina_hop_todo todo)
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

/* They have met congestion: the neighbour is told with the next answer. */
static void ina_rx_marked(struct ina_rx_walk *walk)
{
	atomic_add(walk->count,
		   &container_of(walk->hop, struct ina_path, hop)->marked);
	ina_stats_add(walk->node->job->stats, INA_STAT_RX_MARKED, walk->count);
}

/* Account for the numbers that have come in a row. */
static void ina_rx_settle(struct ina_rx_walk *walk)
{
	if (walk->count && walk->info->marked)
		ina_rx_marked(walk);
	if (walk->count)
		ina_rx_todo(walk->node,
			    ina_hop_received(walk->hop, walk->epoch, walk->seq,
					     walk->count));
	walk->count = 0;
}

/* A packet of elements was taken, or is of no use: its number is accounted for. */
static void ina_rx_account(struct ina_rx_walk *walk, struct ina_peer *peer,
			   const struct ina_pkt *pkt,
			   const struct ina_part *part, int err)
{
	struct ina_hop *hop = ina_path_of(peer, pkt->path);

	if (ina_rx_again(walk->node, part, err)) {
		ina_hop_refused(hop);
		return;
	}
	if (walk->hop != hop || walk->epoch != pkt->epoch ||
	    walk->seq + walk->count != pkt->seq) {
		ina_rx_settle(walk);
		walk->hop = hop;
		walk->epoch = pkt->epoch;
		walk->seq = pkt->seq;
	}
	walk->count++;
}

static int ina_rx_data(struct ina_rx_walk *walk, const struct ina_pkt *pkt)
{
	const struct ina_rx_info *info = walk->info;
	struct ina_node *node = walk->node;
	struct ina_part part __uninitialized;
	struct ina_child *child;
	int err;

	err = ina_rx_child(node, pkt, info, &child);
	if (err)
		return err;
	err = ina_rx_place(walk, pkt, &part);
	/* A final round needs no more contributions. */
	if (!err)
		err = part.final ? INA_STAT_DROP_STALE :
		      ina_round_contribute(node, &walk->ctx, &part, pkt->frag,
					   pkt->length, pkt->body,
					   &info->saddr);
	ina_rx_account(walk, &child->peer, pkt, &part, err);
	if (err)
		return err;
	walk->length = pkt->length;
	ina_arrival_note(&child->arrivals, walk->at, part.tag.round, walk->now);
	ina_stats_inc(node->job->stats, INA_STAT_RX_DATA);
	return 0;
}

static int ina_rx_result(struct ina_rx_walk *walk, const struct ina_pkt *pkt)
{
	struct ina_node *node = walk->node;
	struct ina_part part __uninitialized;
	int err;

	if (!ina_rx_from_parent(node, walk->info))
		return INA_STAT_DROP_SOURCE;
	err = ina_rx_place(walk, pkt, &part);
	if (!err)
		err = ina_round_result(node, &part, pkt->frag, pkt->length,
				       pkt->body);
	ina_rx_account(walk, &node->parent, pkt, &part, err);
	if (err)
		return err;
	walk->length = pkt->length;
	ina_stats_inc(node->job->stats, INA_STAT_RX_RESULT);
	return 0;
}

/* Dispatch by type. Return: 0 or the counter that says why not. */
static int ina_rx_dispatch(struct ina_rx_walk *walk, struct ina_pkt *pkt)
{
	struct ina_node *node = walk->node;
	int err;

	if (!ina_node_is_here(node, &walk->info->daddr))
		return INA_STAT_DROP_LOCAL;
	if (pkt->type == INA_TYPE_DATA)
		return ina_rx_data(walk, pkt);
	if (pkt->type == INA_TYPE_RESULT)
		return ina_rx_result(walk, pkt);
	ina_rx_settle(walk);
	err = ina_rx_control(node, pkt, walk->info);
	if (!err)
		ina_stats_inc(node->job->stats, INA_STAT_RX_CONTROL);
	return err;
}

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
		ina_rx_settle(walk);
		ina_tx_run(walk->node, INA_TX_BUDGET);
		walk->epoch_era = 0;
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
	struct ina_pkt pkt __uninitialized;
	int err;

	err = ina_wire_parse(data, len, walk->info->need_crc, &pkt);
	if (err)
		goto drop;
	if (pkt.flags & INA_F_CRC) {
		ina_rx_sum(walk, false);
		err = walk->body ? INA_STAT_DROP_CRC :
				   ina_wire_verify(data, len, &pkt);
		if (err)
			goto drop;
	}
	if (walk->body)
		pkt.body = walk->body;
	if (!ina_wire_is_elements(pkt.type))
		pkt.body = ina_rx_copy(pkt.body, len - sizeof(struct ina_hdr));
	job = walk->job;
	if (!job || job->config.id != pkt.job)
		job = ina_job_find(walk->inet, pkt.job);
	walk->job = job;
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
	err = ina_rx_dispatch(walk, &pkt);
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

/*
 * While a packet is added, the slot of the next one is fetched: a guess, as long
 * as nobody has looked whether that is one.
 */
static void ina_rx_ahead(const struct ina_rx_walk *walk,
			 const struct ina_hdr *next)
{
	const struct ina_node *node = walk->node;
	u32 frag = get_unaligned_be32(&next->frag), at = walk->at;

	if (frag >= node->frags)
		return;
	prefetchw(ina_node_slot(node, at * node->frags + frag));
	ina_sum_prefetch(&node->type, ina_node_sums_at(node, at, frag),
			 node->job->config.fragment);
}

/*
 * A packet that ends one piece with its header and has its elements in the next, as a
 * result has that goes to several children. Type and flags are looked at again later: if
 * they have changed by then, the packet is another, or one with a crc, which is refused.
 * Return: its header, or NULL.
 */
static const void *ina_rx_apart(struct ina_rx_walk *walk, unsigned int offset,
				unsigned int len)
{
	const struct ina_hdr *hdr;

	if (!walk->part || len <= sizeof(*hdr) ||
	    offset + sizeof(*hdr) != walk->start + ina_rx_piece(walk))
		return NULL;
	hdr = ina_rx_bytes(walk);
	if (!hdr)
		return NULL;
	hdr = (const void *)hdr + (offset - walk->start);
	if (!ina_wire_is_elements(hdr->type) ||
	    hdr->flags & INA_F_CRC)
		return NULL;
	ina_rx_next(walk);
	if (walk->part && ina_rx_piece(walk) >= len - sizeof(*hdr))
		walk->body = ina_rx_bytes(walk);
	return walk->body ? hdr : NULL;
}

/* The next packet, where it is if it is in one piece, else a copy of it. */
static const void *ina_rx_look(struct ina_rx_walk *walk, unsigned int offset,
			       unsigned int len)
{
	struct ina_rx_buffer *buffer = this_cpu_ptr(ina_rx_buffers);
	const void *bytes = NULL;

	walk->body = NULL;
	while (walk->part && offset >= walk->start + ina_rx_piece(walk))
		ina_rx_next(walk);
	if (walk->part && offset + len <= walk->start + ina_rx_piece(walk))
		bytes = ina_rx_bytes(walk);
	if (bytes && walk->summing &&
	    offset + 2 * len <= walk->start + ina_rx_piece(walk))
		ina_rx_ahead(walk, bytes + (offset + len - walk->start));
	if (bytes)
		return bytes + (offset - walk->start);
	bytes = ina_rx_apart(walk, offset, len);
	if (bytes)
		return bytes;
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
		.now = ktime_get_ns(),
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
