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
#include "pieces.h"
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

/*
 * The header of elements in words: packets of one round that come from one
 * neighbour, one after the other, differ in number and fragment only.
 */
struct ina_rx_words {
	u64 job;	/* and version, type, path, flags */
	u64 round;	/* and epoch */
	__be32 seq;
	__be32 frag;
	u64 length;	/* and index, count */
	u64 workers;	/* and token */
	__be32 crc;
} __packed;

static_assert(sizeof(struct ina_rx_words) == sizeof(struct ina_hdr) &&
	      offsetof(struct ina_rx_words, seq) == offsetof(struct ina_hdr, seq) &&
	      offsetof(struct ina_rx_words, length) == offsetof(struct ina_hdr, length) &&
	      offsetof(struct ina_rx_words, workers) == offsetof(struct ina_hdr, workers));

/**
 * struct ina_rx_walk - state of the walk over one skb
 * @inet: the namespace
 * @info: what the entry knows
 * @job: job of the last packet
 * @stats: where it is counted if it is refused
 * @node: node of the last packet: its sums are sent when the node changes or
 *	the walk ends
 * @pieces: what is walked over
 * @now: when the walk began
 * @pkt: the last packet
 * @len: its bytes
 * @whole: if what was found out about it holds for others like it: fragments
 *	they may have
 * @hdr: its header then
 * @scattered: its fragment is not the one behind that of the packet before
 * @child: whose elements they are, NULL: the parent's
 * @epoch_era: what was published when the last packet of elements had its round
 *	looked up; 0: none had
 * @round: what it says of its round
 * @length: elements of that round, 0 before it was entered
 * @base: where the window began
 * @elements: what it says of its elements
 * @row: slots that are complete
 * @hop: path with numbers that are not accounted for yet
 * @epoch: their epoch
 * @seq: the first of them
 * @count: how many, in a row
 * @taken: of them, those whose elements were taken
 * @summing: @ctx has begun
 * @ctx: of the contributions
 */
struct ina_rx_walk {
	struct ina_net *inet;
	const struct ina_rx_info *info;
	struct ina_job *job;
	struct ina_stats __percpu *stats;
	struct ina_node *node;
	struct ina_pieces pieces;
	u64 now;
	struct ina_pkt pkt;
	unsigned int len;
	u32 whole;
	struct ina_hdr hdr;
	bool scattered;
	struct ina_child *child;
	u64 epoch_era;
	u32 round;
	u32 length;
	u64 base;
	struct ina_part elements;
	struct ina_row row;
	struct ina_hop *hop;
	u32 epoch;
	u32 seq;
	u32 count;
	u32 taken;
	bool summing;
	struct ina_sum_ctx ctx;
};

/* Are epoch and window as they were when the last packet had its round looked up? */
static bool ina_rx_same(const struct ina_rx_walk *walk)
{
	const struct ina_node *node = walk->node;

	return READ_ONCE(node->epoch_era) == walk->epoch_era &&
	       READ_ONCE(node->base) == walk->base;
}

/* Epoch and window of a packet of elements, once for all that follow it. */
static int ina_rx_round(struct ina_rx_walk *walk)
{
	const struct ina_pkt *pkt = &walk->pkt;
	struct ina_node *node = walk->node;
	struct ina_part *part = &walk->elements;
	u64 epoch_era = ina_epoch_published(node);

	walk->epoch_era = 0;
	walk->length = 0;
	if (!epoch_era || pkt->epoch != epoch_era >> 32)
		return INA_STAT_DROP_EPOCH;
	walk->base = READ_ONCE(node->base);
	walk->round = pkt->round;
	part->tag.round = ina_wire_round(pkt->round, walk->base);
	part->tag.era = (u32)epoch_era;
	part->at = ina_node_at(node, part->tag.round);
	part->final = ina_round_look(node, part->at, &part->tag);
	/* Rounds change after the epoch is withdrawn: see ina_epoch_open(). */
	smp_rmb();
	if (READ_ONCE(node->epoch_era) != epoch_era)
		return INA_STAT_DROP_EPOCH;
	walk->epoch_era = epoch_era;
	return 0;
}

/* Epoch, window, fragment and size of a packet of elements. */
static int ina_rx_place(struct ina_rx_walk *walk)
{
	const struct ina_pkt *pkt = &walk->pkt;
	struct ina_node *node = walk->node;
	const struct ina_job_config *config = &node->job->config;
	struct ina_part *part = &walk->elements;
	int err = 0;

	if (!walk->epoch_era || walk->round != pkt->round ||
	    walk->epoch_era >> 32 != pkt->epoch || !ina_rx_same(walk))
		err = ina_rx_round(walk);
	if (err)
		return err;
	part->length = pkt->length;
	part->contributor = pkt->index;
	part->expected = 0;
	part->workers = pkt->workers;
	part->token = pkt->token;
	part->flags = pkt->flags;
	part->wide = pkt->elem != ina_node_elem(node, false);
	part->entered = walk->length == pkt->length;
	if (part->tag.round < walk->base ||
	    part->tag.round - walk->base >= config->depth)
		return INA_STAT_DROP_WINDOW;
	/* Only sums on their way up are wide. */
	if (part->wide && (pkt->type != INA_TYPE_DATA ||
			   pkt->elem != ina_node_elem(node, true)))
		return INA_STAT_DROP_SIZE;
	if (pkt->length > config->capacity ||
	    (u64)pkt->frag * config->fragment >= pkt->length ||
	    pkt->count != ina_wire_count(pkt->length, config->fragment,
					 pkt->frag))
		return INA_STAT_DROP_FRAGMENT;
	/* A final round needs no more contributions. */
	return part->final && pkt->type == INA_TYPE_DATA ?
	       INA_STAT_DROP_STALE : 0;
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
	struct ina_node *node = walk->node;

	if (!walk->count)
		return;
	if (walk->info->marked)
		ina_rx_marked(walk);
	ina_rx_todo(node, ina_hop_received(walk->hop, walk->epoch, walk->seq,
					   walk->count));
	ina_stats_add(node->job->stats, walk->child ? INA_STAT_RX_DATA :
		      INA_STAT_RX_RESULT, walk->taken);
	walk->count = 0;
	walk->taken = 0;
}

/* A packet of elements was taken, or is of no use: its number is accounted for. */
static void ina_rx_account(struct ina_rx_walk *walk, int err)
{
	const struct ina_pkt *pkt = &walk->pkt;

	if (ina_rx_again(walk->node, &walk->elements, err)) {
		ina_hop_refused(walk->hop);
		return;
	}
	if (!walk->count || walk->seq + walk->count != pkt->seq) {
		ina_rx_settle(walk);
		walk->epoch = pkt->epoch;
		walk->seq = pkt->seq;
	}
	walk->count++;
	walk->taken += !err;
}

/* Elements that have their place. */
static int ina_rx_take(struct ina_rx_walk *walk)
{
	const struct ina_pkt *pkt = &walk->pkt;
	struct ina_part *part = &walk->elements;
	int err;

	err = walk->child ?
	      ina_round_contribute(walk->node, &walk->ctx, &walk->row, part,
				   pkt->frag, pkt->body, &walk->info->saddr) :
	      ina_round_result(walk->node, &walk->row, part, pkt->frag,
			       pkt->body);
	/* If it was the last, it tells of the whole sum. */
	part->workers = pkt->workers;
	part->token = pkt->token;
	part->flags = pkt->flags;
	ina_rx_account(walk, err);
	return err;
}

/* Whose elements they are, and the hop they came on; what came on another is settled. */
static int ina_rx_sender(struct ina_rx_walk *walk)
{
	const struct ina_pkt *pkt = &walk->pkt;
	struct ina_node *node = walk->node;
	struct ina_child *child = NULL;
	struct ina_hop *hop;
	int err = 0;

	if (pkt->type == INA_TYPE_DATA)
		err = ina_rx_child(node, pkt, walk->info, &child);
	else if (!ina_rx_from_parent(node, walk->info))
		err = INA_STAT_DROP_SOURCE;
	if (err)
		return err;
	hop = ina_path_of(child ? &child->peer : &node->parent, pkt->path);
	if (walk->hop != hop || walk->epoch != pkt->epoch)
		ina_rx_settle(walk);
	walk->hop = hop;
	walk->child = child;
	return 0;
}

/* Others like it may follow: not with a crc, and not the short one at the end. */
static void ina_rx_predict(struct ina_rx_walk *walk)
{
	const struct ina_pkt *pkt = &walk->pkt;
	u32 fragment = walk->node->job->config.fragment;

	walk->length = pkt->length;
	if (pkt->count != fragment || pkt->flags & INA_F_CRC)
		return;
	walk->elements.entered = true;
	walk->whole = pkt->length / fragment;
	/* Not what is in the skb, which may have changed since it was looked at. */
	ina_wire_build(&walk->hdr, pkt);
}

/*
 * Is this one like the last, but for number and fragment? Then all that was
 * found out holds: its size, the job, the sender, and if nothing has changed
 * since, epoch and window.
 */
static bool ina_rx_follows(struct ina_rx_walk *walk, const void *data,
			   unsigned int len)
{
	const struct ina_rx_words *words = data, *last = (void *)&walk->hdr;
	u32 frag;

	if (!walk->whole || len != walk->len ||
	    ((words->job ^ last->job) | (words->round ^ last->round) |
	     (words->length ^ last->length) |
	     (words->workers ^ last->workers)))
		return false;
	walk->pkt.seq = get_unaligned_be32(&words->seq);
	frag = get_unaligned_be32(&words->frag);
	walk->scattered = frag != walk->pkt.frag + 1;
	walk->pkt.frag = frag;
	walk->pkt.body = walk->pieces.body ?: data + sizeof(*words);
	/* As in ina_wire_parse(): no second look. */
	barrier();
	return walk->pkt.frag < walk->whole &&
	       !READ_ONCE(walk->node->paused) && ina_rx_same(walk);
}

static int ina_rx_elements(struct ina_rx_walk *walk)
{
	const struct ina_part *part = &walk->elements;
	int err = ina_rx_sender(walk);

	if (err)
		return err;
	err = ina_rx_place(walk);
	if (err) {
		ina_rx_account(walk, err);
		return err;
	}
	err = ina_rx_take(walk);
	if (err)
		return err;
	if (walk->child)
		ina_arrival_note(&walk->child->arrivals, part->at,
				 part->tag.round, walk->now);
	ina_rx_predict(walk);
	return 0;
}

/* Dispatch by type. Return: 0 or the counter that says why not. */
static int ina_rx_dispatch(struct ina_rx_walk *walk)
{
	struct ina_node *node = walk->node;
	int err;

	if (!ina_node_is_here(node, &walk->info->daddr))
		return INA_STAT_DROP_LOCAL;
	if (ina_wire_is_elements(walk->pkt.type))
		return ina_rx_elements(walk);
	ina_round_settle(node, &walk->row);
	ina_rx_settle(walk);
	err = ina_rx_control(node, &walk->pkt, walk->info);
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
		ina_round_settle(walk->node, &walk->row);
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

/* The job of a packet, and its node. Return: 0 or the counter that says why not. */
static int ina_rx_find(struct ina_rx_walk *walk)
{
	const struct ina_pkt *pkt = &walk->pkt;
	struct ina_job *job = walk->job;
	struct ina_node *node;

	if (!job || job->config.id != pkt->job)
		job = ina_job_find(walk->inet, pkt->job);
	walk->job = job;
	node = job ? rcu_dereference(job->node) : NULL;
	if (!node)
		return INA_STAT_DROP_JOB;
	walk->stats = job->stats;
	if (READ_ONCE(node->paused))
		return INA_STAT_DROP_EPOCH;
	ina_rx_turn(walk, node);
	return 0;
}

/* A packet that is not like the last. Return: 0 or the counter that says why not. */
static int ina_rx_other(struct ina_rx_walk *walk, const void *data,
			unsigned int len)
{
	struct ina_pkt *pkt = &walk->pkt;
	int err;

	walk->whole = 0;
	walk->scattered = false;
	walk->len = len;
	walk->stats = walk->inet->stats;
	err = ina_wire_parse(data, len, walk->info->need_crc, pkt);
	if (err)
		return err;
	if (pkt->flags & INA_F_CRC) {
		ina_rx_sum(walk, false);
		err = walk->pieces.body ? INA_STAT_DROP_CRC :
				   ina_wire_verify(data, len, pkt);
		if (err)
			return err;
	}
	if (walk->pieces.body)
		pkt->body = walk->pieces.body;
	if (!ina_wire_is_elements(pkt->type)) {
		pkt->body = ina_rx_copy(pkt->body, len - sizeof(struct ina_hdr));
		err = ina_wire_reserved(pkt);
		if (err)
			return err;
	}
	err = ina_rx_find(walk);
	if (err)
		return err;
	ina_rx_sum(walk, pkt->type == INA_TYPE_DATA);
	return ina_rx_dispatch(walk);
}

/* One packet. Return: true if it was accepted. */
static bool ina_rx_packet(struct ina_rx_walk *walk, const void *data,
			  unsigned int len)
{
	int err = ina_rx_follows(walk, data, len) ?
		  ina_rx_take(walk) : ina_rx_other(walk, data, len);

	if (err)
		ina_stats_inc(walk->stats, err);
	return !err;
}

/*
 * While a packet is added, the slot of the one behind it, from @offset on, is
 * fetched: a guess, as long as nobody has looked whether that is one. Slots in a
 * row are fetched by the processor itself, sooner if nothing else is.
 */
static void ina_rx_ahead(const struct ina_rx_walk *walk, unsigned int offset,
			 unsigned int len)
{
	const struct ina_node *node = walk->node;
	u32 frag, at = walk->elements.at;
	const struct ina_hdr *next;

	if (!walk->scattered || !walk->summing)
		return;
	next = ina_pieces_here(&walk->pieces, offset, len);
	if (!next)
		return;
	frag = get_unaligned_be32(&next->frag);
	if (frag >= node->frags)
		return;
	prefetchw(ina_node_slot(node, at * node->frags + frag));
	ina_sum_prefetch(&node->type, ina_node_sums_at(node, at, frag),
			 node->job->config.fragment);
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
	const struct sk_buff *skb = walk->pieces.skb;
	unsigned int offset = walk->info->offset, end = skb->len;
	unsigned int size = ina_rx_size(skb, offset);
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
		data = ina_pieces_look(&walk->pieces, offset, len,
				       this_cpu_ptr(ina_rx_buffers));
		ina_rx_ahead(walk, offset + len, len);
		if (data)
			accepted += ina_rx_packet(walk, data, len);
		else
			ina_stats_inc(walk->inet->stats, INA_STAT_DROP_SHORT);
	}
	ina_rx_turn(walk, NULL);
	if (walk->pieces.copied)
		ina_stats_add(walk->inet->stats, INA_STAT_RX_COPIED,
			      walk->pieces.copied);
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
		.inet = inet, .info = info, .now = ktime_get_ns(),
	};
	unsigned int accepted;

	ina_pieces_begin(&walk.pieces, skb);
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
