// SPDX-License-Identifier: GPL-2.0
/*
 * Sending. Sums wait as a bit of their hop, not as packets, so nothing is
 * allocated before there is room in the send buffer of the node's socket; its
 * write-space wake-up lets the sender go on. What waits for one neighbour leaves
 * in one super-packet, which the device cuts into packets, or takes as it is. One
 * sender at a time per node, in softirq after a receive or later, or in the node's work;
 * neighbours take turns.
 */
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "epoch.h"
#include "net.h"
#include "round.h"
#include "stats.h"
#include "tx.h"
#include "xmit.h"

#define INA_TX_SNDBUF	(256 * 1024)
/*
 * From here on a second page fragment takes less than a copy, and so few fit a
 * super-packet that two for each do not make them fewer.
 */
#define INA_TX_SHARE	8192
#define INA_TX_BUSY	0
#define INA_TX_STOPPED	1
/* Its bytes behind the longest headers. */
#define INA_TX_BYTES	(U16_MAX - sizeof(struct ipv6hdr) - \
			 sizeof(struct udphdr))

/**
 * struct ina_tx_batch - a super-packet that is being filled
 * @node: who sends it
 * @peer: to whom
 * @index: in its packets
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 * @skb: it, NULL before the first packet
 * @linear: it takes one packet, and no pages
 * @size: bytes of each packet, but the last may be shorter
 * @segs: packets
 * @epoch: of all of them
 * @tag: round of the last
 * @wide: it was of wide elements
 * @first: first slot of that round
 * @frags: its fragments, 0 if there is none
 * @sums: elements of its first fragment
 * @pkt: header of the last packet
 * @whole: no other fits
 */
struct ina_tx_batch {
	struct ina_node *node;
	struct ina_peer *peer;
	u16 index;
	u8 way;
	struct sk_buff *skb;
	bool linear;
	unsigned int size;
	unsigned int segs;
	u32 epoch;
	struct ina_tag tag;
	bool wide;
	u32 first;
	u32 frags;
	struct ina_sums sums;
	struct ina_pkt pkt;
	bool whole;
};

/* Go on in a softirq of its own. */
static void ina_tx_go_on(struct tasklet_struct *again)
{
	ina_tx_run(container_of(again, struct ina_node, tx.again),
		   INA_TX_BUDGET);
}

static void ina_tx_later(struct ina_node *node)
{
	/* Under RCU, as in ina_node_kick(). */
	rcu_read_lock();
	if (!READ_ONCE(node->dead) && !READ_ONCE(node->paused))
		tasklet_schedule(&node->tx.again);
	rcu_read_unlock();
}

/* The send buffer has drained: let the sender go on. Lock of the queue held. */
static int ina_tx_room(struct wait_queue_entry *entry, unsigned int mode,
		       int flags, void *key)
{
	struct ina_node *node = container_of(entry, struct ina_node, tx.room);

	/* After the room was made: pairs with ina_tx_again(). */
	if (test_and_clear_bit(INA_TX_STOPPED, &node->tx.busy))
		ina_tx_later(node);
	return 0;
}

/**
 * ina_tx_init() - give a node its socket
 * @node: the node
 *
 * The socket is bound to nothing; it only owns the skbs in flight.
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ina_tx_init(struct ina_node *node)
{
	struct ina_tx *tx = &node->tx;
	int err;

	err = sock_create_kern(node->net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
			       &tx->sock);
	if (err)
		return err;
	tx->sock->sk->sk_sndbuf = INA_TX_SNDBUF;
	tx->segs = min_t(u32, INA_TX_SEGS,
			 INA_TX_BYTES / ina_xmit_packet(node, true));
	tx->share = INA_TX_SHARE;
	tasklet_setup(&tx->again, ina_tx_go_on);
	init_waitqueue_func_entry(&tx->room, ina_tx_room);
	add_wait_queue(sk_sleep(tx->sock->sk), &tx->room);
	return 0;
}

/* Nobody waits for results that were copied any more. */
static void ina_tx_forget(struct ina_tx *tx)
{
	struct ina_tx_copy *copy;

	for (copy = tx->copies; tx->copied; copy++) {
		if (!copy->page)
			continue;
		put_page(copy->page);
		copy->page = NULL;
		tx->copied--;
	}
}

/**
 * ina_tx_exit() - take the socket away
 * @node: the node; nobody sends any more
 *
 * Packets still in flight keep the socket alive, not the node.
 * Context: process.
 */
void ina_tx_exit(struct ina_node *node)
{
	struct ina_tx *tx = &node->tx;

	remove_wait_queue(sk_sleep(tx->sock->sk), &tx->room);
	tasklet_kill(&tx->again);
	sock_release(tx->sock);
	tx->sock = NULL;
	if (tx->page.page)
		put_page(tx->page.page);
	tx->page.page = NULL;
	ina_tx_forget(tx);
}

/**
 * ina_tx_ready() - a hop may have something to send
 * @node: the node
 * @index: of the child, INA_INDEX_NONE for the parent
 *
 * Context: any. The caller runs the sender when its batch is done.
 */
void ina_tx_ready(struct ina_node *node, u16 index)
{
	/* After what made it ready: pairs with ina_tx_idle(). */
	smp_mb__before_atomic();
	set_bit((u16)(index + 1), node->tx.ready);
}

/* One slot is to be sent on the hop of a ready bit, which is mostly set. */
static void ina_tx_queue_one(struct ina_node *node, struct ina_hop *hop,
			     u32 slot, u16 bit)
{
	/* Who takes the bit sees the slot: pairs with ina_hop_pick(). */
	smp_mb__before_atomic();
	ina_hop_queue(hop, slot);
	/* As in ina_tx_ready(). */
	smp_mb__after_atomic();
	if (!test_bit(bit, node->tx.ready))
		set_bit(bit, node->tx.ready);
}

/**
 * ina_tx_queue() - a slot has something to send
 * @node: the node
 * @slot: its number
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 *
 * Context: process or softirq. The caller runs the sender when its batch is
 * done.
 */
void ina_tx_queue(struct ina_node *node, u32 slot, u8 way)
{
	u16 i;

	if (way == INA_SLOT_UP) {
		ina_tx_queue_one(node, &node->parent.hop, slot, 0);
		return;
	}
	for (i = 0; i < node->nchildren; i++) {
		/* Not in this epoch. One that is leaving may still need it. */
		if (READ_ONCE(node->children[i].acked) != U64_MAX)
			ina_tx_queue_one(node, &node->children[i].peer.hop,
					 slot, i + 1);
	}
}

static bool ina_tx_full(const struct ina_node *node)
{
	const struct sock *sk = node->tx.sock->sk;

	return refcount_read(&sk->sk_wmem_alloc) >= READ_ONCE(sk->sk_sndbuf);
}

/* Is there room for a packet in the sender's page, or a new one? */
static bool ina_tx_page(struct page_frag *page, unsigned int len)
{
	if (!skb_page_frag_refill(len, page, GFP_ATOMIC | __GFP_NOWARN))
		return false;
	if (page->size - page->offset >= len)
		return true;
	/* One page, where many in a row are rare: it would be kept for ever. */
	put_page(page->page);
	page->page = NULL;
	return false;
}

/*
 * Where the next packet of a batch goes, or its header if its elements are in @pages
 * others; nothing is claimed yet. Those of protocol 253 are linear and alone, and those
 * that are too long for the pages there are.
 * Return: NULL if there is no memory or no room.
 */
static void *ina_tx_space(struct ina_tx_batch *b, unsigned int len, int pages)
{
	struct page_frag *page = &b->node->tx.page;
	bool room = ina_xmit_is_udp(b->node) && ina_tx_page(page, len);

	if (!b->skb) {
		b->linear = !room;
		b->skb = ina_xmit_alloc(b->node, room ? 0 :
					     ina_xmit_packet(b->node, true));
	}
	if (!b->skb)
		return NULL;
	if (b->linear)
		return skb_tail_pointer(b->skb);
	if (room &&
	    (skb_shinfo(b->skb)->nr_frags + pages < MAX_SKB_FRAGS ||
	     (!pages && skb_can_coalesce(b->skb, MAX_SKB_FRAGS, page->page,
					 page->offset))))
		return page_address(page->page) + page->offset;
	if (!b->segs)
		ina_stats_inc(b->node->job->stats, INA_STAT_TX_NOMEM);
	return NULL;
}

/* The bytes at the page's offset belong to the skb, too. */
static void ina_tx_attach(struct sk_buff *skb, struct page_frag *page,
			  unsigned int len)
{
	int frags = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, frags, page->page, page->offset)) {
		skb_coalesce_rx_frag(skb, frags - 1, len, len);
	} else {
		get_page(page->page);
		skb_add_rx_frag(skb, frags, page->page, page->offset, len, len);
	}
	page->offset += len;
}

/* Where a result may be that is the same for all children; NULL if each gets its own. */
static struct ina_tx_copy *ina_tx_copy(const struct ina_tx_batch *b, u32 id)
{
	struct ina_tx *tx = &b->node->tx;

	if (b->way != INA_SLOT_DOWN || b->node->nchildren < 2 ||
	    b->pkt.count * b->pkt.elem < tx->share)
		return NULL;
	return &tx->copies[id % INA_TX_COPIES];
}

static bool ina_tx_copy_is(const struct ina_tx_copy *copy, u32 id,
			   const struct ina_part *part)
{
	return copy && copy->page && copy->slot == id &&
	       ina_tag_equal(&copy->tag, &part->tag);
}

/* The elements of the packet at the page's offset are those of a slot, for others, too. */
static void ina_tx_keep(struct ina_tx_batch *b, u32 id, struct ina_tx_copy *copy)
{
	struct ina_tx *tx = &b->node->tx;

	if (copy->page)
		put_page(copy->page);
	else
		tx->copied++;
	get_page(tx->page.page);
	*copy = (struct ina_tx_copy){
		.slot = id, .tag = b->tag, .page = tx->page.page,
		.offset = tx->page.offset + sizeof(struct ina_hdr),
	};
}

/*
 * The space is filled: it is a packet of the batch. Its elements are in @from, or from
 * now on in @to, if there is one. What is shared may not be changed on its way.
 */
static void ina_tx_claim(struct ina_tx_batch *b, u32 id, struct ina_hdr *hdr,
			 unsigned int len, const struct ina_tx_copy *from,
			 struct ina_tx_copy *to)
{
	struct ina_tx *tx = &b->node->tx;

	if (b->linear) {
		skb_put(b->skb, len);
	} else if (from) {
		struct page_frag page = {
			.page = from->page, .offset = from->offset,
		};

		ina_tx_attach(b->skb, &tx->page, sizeof(*hdr));
		ina_tx_attach(b->skb, &page, len - sizeof(*hdr));
	} else {
		if (to)
			ina_tx_keep(b, id, to);
		ina_tx_attach(b->skb, &tx->page, len);
	}
	if (to && !b->linear)
		skb_shinfo(b->skb)->flags |= SKBFL_SHARED_FRAG;
	tx->slots[b->segs] = id;
	tx->hdrs[b->segs] = hdr;
	b->size = max(b->size, len);
	b->segs++;
	b->whole = b->linear || len < b->size || b->segs == tx->segs;
}

/* The round of a slot, for all its packets of a batch. Return: false if it is moot. */
static bool ina_tx_look_round(struct ina_tx_batch *b, u32 id,
			      const struct ina_part *part)
{
	struct ina_node *node = b->node;
	const struct ina_job_config *config = &node->job->config;
	/* After the slot: if that is of a new epoch, so is this. */
	u64 epoch_era = ina_epoch_published(node);

	b->frags = 0;
	if ((part->tag.era != (u32)epoch_era &&
	     !ina_round_is_kept(node, &part->tag)) ||
	    !ina_round_length(node, &part->tag, &b->pkt.length))
		return false;
	b->tag = part->tag;
	b->wide = part->wide;
	b->first = id - id % node->frags;
	b->frags = ina_wire_frags(b->pkt.length, config->fragment);
	b->sums = ina_node_elements(node, id / node->frags, 0, 0);
	b->pkt.type = b->way == INA_SLOT_UP ? INA_TYPE_DATA : INA_TYPE_RESULT;
	b->pkt.job = config->id;
	b->pkt.epoch = epoch_era >> 32;
	b->pkt.round = part->tag.round;
	b->pkt.index = b->index;
	b->pkt.elem = ina_node_elem(node, part->wide);
	return true;
}

/*
 * Which sum of a slot is to be sent, its header but for the number and the counts,
 * and where its elements are. Return: false if it is moot.
 */
static bool ina_tx_look(struct ina_tx_batch *b, u32 id, struct ina_part *part,
			struct ina_sums *sums)
{
	struct ina_node *node = b->node;
	size_t fragment = node->job->config.fragment;
	u32 frag;

	if (!ina_slot_peek(ina_node_slot(node, id), b->way, part) ||
	    (!(b->frags && part->wide == b->wide &&
	       ina_tag_equal(&part->tag, &b->tag)) &&
	     !ina_tx_look_round(b, id, part)))
		return false;
	frag = id - b->first;
	if (frag >= b->frags)
		return false;
	b->pkt.frag = frag;
	b->pkt.count = frag + 1 < b->frags ? fragment :
		       b->pkt.length - frag * fragment;
	*sums = b->sums;
	sums->acc += frag * fragment * ina_node_elem(node, true);
	sums->result += frag * fragment *
			ina_node_elem(node, !node->results.addr);
	sums->count = b->pkt.count;
	return true;
}

/*
 * Add the sum of a slot to a batch, unless it is moot. One that does not fit waits
 * for the next. Return: 0, or -ENOMEM if not even one packet could be built.
 */
static int ina_tx_append(struct ina_tx_batch *b, u32 id)
{
	struct ina_slot *slot = ina_node_slot(b->node, id);
	struct ina_tx_copy *copy;
	struct ina_sums sums;
	struct ina_part part;
	unsigned int len;
	bool there;
	void *data;

	if (!ina_tx_look(b, id, &part, &sums))
		return 0;
	copy = ina_tx_copy(b, id);
	there = ina_tx_copy_is(copy, id, &part) && !b->linear;
	len = sizeof(struct ina_hdr) + b->pkt.count * b->pkt.elem;
	if (!b->segs)
		b->epoch = b->pkt.epoch;
	data = b->segs && (len > b->size || b->pkt.epoch != b->epoch) ? NULL :
	       ina_tx_space(b, there ? sizeof(struct ina_hdr) : len, there);
	if (!data) {
		ina_hop_unpick(&b->peer->hop, id);
		b->whole = true;
		return b->segs ? 0 : -ENOMEM;
	}
	/* It may have become so just now. */
	there &= !b->linear;
	if (!ina_slot_emit(slot, b->way, &part, there ? NULL :
			   data + sizeof(struct ina_hdr), &sums))
		return 0;
	b->pkt.workers = part.workers;
	b->pkt.token = part.token;
	b->pkt.flags = part.flags;
	ina_wire_build(data, &b->pkt);
	ina_tx_claim(b, id, data, len, there ? copy : NULL, copy);
	return 0;
}

/*
 * Number the packets of a batch. Return: false if they are not to be sent: the
 * clock has taken the credit, or the epoch is over.
 */
static bool ina_tx_stamp(const struct ina_tx_batch *b)
{
	const struct ina_tx *tx = &b->node->tx;
	unsigned int i;
	u32 seq;

	if (!ina_hop_stamp(&b->peer->hop, b->epoch, tx->slots, b->segs, &seq)) {
		for (i = b->segs; i; i--)
			ina_hop_unpick(&b->peer->hop, tx->slots[i - 1]);
		ina_tx_ready(b->node, b->way == INA_SLOT_UP ? INA_INDEX_NONE :
							      b->index);
		return false;
	}
	for (i = 0; i < b->segs; i++)
		tx->hdrs[i]->seq = cpu_to_be32(seq + i);
	return true;
}

/* Send a batch. Return: 0, or -ENOBUFS if it was dropped below. */
static int ina_tx_send(struct ina_tx_batch *b)
{
	struct skb_shared_info *info = skb_shinfo(b->skb);
	struct ina_node *node = b->node;
	int err;

	if (!b->segs || !ina_tx_stamp(b)) {
		kfree_skb(b->skb);
		return 0;
	}
	if (b->segs > 1) {
		info->gso_type = SKB_GSO_UDP_L4;
		info->gso_size = b->size;
		info->gso_segs = b->segs;
	}
	ina_xmit_own(node, b->skb, b->segs);
	err = ina_xmit_send(node, b->peer, b->skb);
	if (!err)
		ina_stats_add(node->job->stats, b->way == INA_SLOT_UP ?
			      INA_STAT_TX_DATA : INA_STAT_TX_RESULT, b->segs);
	return err == -ENOBUFS ? err : 0;
}

enum ina_tx_stop {
	INA_TX_EMPTY,		/* nothing can be sent */
	INA_TX_SPENT,		/* the budget is spent */
	INA_TX_FULL,		/* until the send buffer drains */
	INA_TX_LATER,		/* until the next tick: no memory, or dropped */
};

/* The next bit of @ready, those after the last one first. */
static u16 ina_tx_turn(struct ina_node *node)
{
	struct ina_tx *tx = &node->tx;
	u16 end = node->nchildren + 1;
	u16 bit = find_next_bit(tx->ready, end, tx->turn);

	return bit < end ? bit : find_first_bit(tx->ready, end);
}

/* Nothing can be sent on a hop now, unless that has just changed. */
static void ina_tx_idle(struct ina_node *node, u16 bit, struct ina_hop *hop)
{
	clear_bit(bit, node->tx.ready);
	/* Pairs with ina_tx_ready(): the bit, then what it stands for. */
	smp_mb__after_atomic();
	if (ina_hop_credit(hop) && !ina_hop_is_empty(hop))
		set_bit(bit, node->tx.ready);
}

/*
 * Send one super-packet on the hop of a ready bit. What was dropped below is lost
 * like any other. Return: 0, -ENOMEM or -ENOBUFS.
 */
static int ina_tx_step(struct ina_node *node, u16 bit, int *budget)
{
	bool up = !bit;
	u16 index = up ? READ_ONCE(node->index) : bit - 1;
	struct ina_tx_batch b = {
		.node = node,
		.peer = ina_node_peer(node, up ? INA_INDEX_NONE : index),
		.index = index,
		.way = up ? INA_SLOT_UP : INA_SLOT_DOWN,
	};
	struct ina_hop *hop = &b.peer->hop;
	u32 credit = ina_hop_credit(hop);
	int id, picks, err = 0, lost = 0;

	node->tx.turn = bit + 1;
	/* Moot ones count as well. */
	for (picks = 0; picks < INA_TX_SEGS && !b.whole; picks++) {
		id = b.segs < credit ? ina_hop_pick(hop) : -1;
		if (id < 0) {
			ina_tx_idle(node, bit, hop);
			break;
		}
		err = ina_tx_append(&b, id);
	}
	*budget -= picks;
	if (b.skb)
		lost = ina_tx_send(&b);
	return err ?: lost;
}

/* Send what waits. Bottom halves are disabled, the busy bit is held. */
static enum ina_tx_stop ina_tx_drain(struct ina_node *node, int *budget)
{
	u16 bit;

	while ((bit = ina_tx_turn(node)) <= node->nchildren) {
		if (*budget <= 0)
			return INA_TX_SPENT;
		if (ina_tx_full(node)) {
			ina_stats_inc(node->job->stats, INA_STAT_TX_BLOCKED);
			return INA_TX_FULL;
		}
		if (ina_tx_step(node, bit, budget))
			return INA_TX_LATER;
	}
	ina_tx_forget(&node->tx);
	return INA_TX_EMPTY;
}

/**
 * ina_tx_waits() - is there something to send
 * @node: the node
 *
 * Context: any.
 * Return: true if so.
 */
bool ina_tx_waits(const struct ina_node *node)
{
	return !bitmap_empty(node->tx.ready, node->nchildren + 1);
}

/* Has what stopped the sender changed while it still held the busy bit? */
static bool ina_tx_again(struct ina_node *node, enum ina_tx_stop stop)
{
	if (stop == INA_TX_EMPTY)
		return ina_tx_waits(node);
	if (stop != INA_TX_FULL)
		return false;
	set_bit(INA_TX_STOPPED, &node->tx.busy);
	/* Then a last look: pairs with ina_tx_room(). */
	smp_mb__after_atomic();
	return !ina_tx_full(node);
}

/**
 * ina_tx_run() - send what waits
 * @node: the node
 * @budget: packets at most; a super-packet that is begun is filled
 *
 * Context: process or softirq, no lock held. What the budget leaves is sent in
 * another softirq. If somebody else is sending, it takes what was queued
 * before this call along.
 */
void ina_tx_run(struct ina_node *node, int budget)
{
	struct ina_tx *tx = &node->tx;
	enum ina_tx_stop stop;
	int before = budget;

	do {
		local_bh_disable();
		/* Queued before the bit is read: pairs with that below. */
		smp_mb();
		if (test_and_set_bit_lock(INA_TX_BUSY, &tx->busy)) {
			local_bh_enable();
			return;
		}
		stop = ina_tx_drain(node, &budget);
		clear_bit_unlock(INA_TX_BUSY, &tx->busy);
		local_bh_enable();
		/* Who found the bit set gave up: look again for its sake. */
		smp_mb__after_atomic();
	} while (ina_tx_again(node, stop));
	if (stop == INA_TX_SPENT)
		ina_tx_later(node);
	/* Somebody has to look whether it arrives. */
	if (budget != before)
		ina_node_tick_in(node, INA_HOP_ASK_MS);
}
