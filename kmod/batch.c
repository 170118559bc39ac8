// SPDX-License-Identifier: GPL-2.0
/*
 * What waits for one neighbour leaves in one super-packet, which the device cuts into
 * packets, or takes as it is. Large results are copied once for all children.
 * Context of all functions: the sender's; bottom halves are disabled, the busy bit of the
 * node's sender is held.
 */
#include <linux/skbuff.h>

#include "batch.h"
#include "epoch.h"
#include "round.h"
#include "stats.h"
#include "tx.h"
#include "xmit.h"

/* Is there room for a packet in the sender's page, or a new one? */
static bool ina_batch_page(struct page_frag *page, unsigned int len)
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
static void *ina_batch_space(struct ina_batch *b, unsigned int len, int pages)
{
	struct page_frag *page = &b->node->tx.page;
	bool room = ina_xmit_is_udp(b->node) && ina_batch_page(page, len);

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
static void ina_batch_attach(struct sk_buff *skb, struct page_frag *page,
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
static struct ina_tx_copy *ina_batch_copy(const struct ina_batch *b, u32 id)
{
	struct ina_tx *tx = &b->node->tx;

	if (b->way != INA_SLOT_DOWN || b->node->nchildren < 2 ||
	    b->pkt.count * b->pkt.elem < tx->share)
		return NULL;
	return &tx->copies[id % INA_TX_COPIES];
}

static bool ina_batch_copy_is(const struct ina_tx_copy *copy, u32 id,
			      const struct ina_part *part)
{
	return copy && copy->page && copy->slot == id &&
	       ina_tag_equal(&copy->tag, &part->tag);
}

/* The elements of the packet at the page's offset are those of a slot, for others, too. */
static void ina_batch_keep(struct ina_batch *b, u32 id, struct ina_tx_copy *copy)
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
 * The space is filled: it is a packet of the batch. Its elements are in @copy if they were
 * @there, else from now on, if there is one. What is shared may not be changed on its way.
 */
static void ina_batch_claim(struct ina_batch *b, u32 id, struct ina_hdr *hdr,
			    unsigned int len, struct ina_tx_copy *copy,
			    bool there)
{
	struct ina_tx *tx = &b->node->tx;

	if (b->linear) {
		skb_put(b->skb, len);
	} else if (there) {
		struct page_frag page = {
			.page = copy->page, .offset = copy->offset,
		};

		ina_batch_attach(b->skb, &tx->page, sizeof(*hdr));
		ina_batch_attach(b->skb, &page, len - sizeof(*hdr));
	} else {
		if (copy)
			ina_batch_keep(b, id, copy);
		ina_batch_attach(b->skb, &tx->page, len);
	}
	if (copy && !b->linear)
		skb_shinfo(b->skb)->flags |= SKBFL_SHARED_FRAG;
	tx->slots[b->segs] = id;
	tx->hdrs[b->segs] = hdr;
	b->size = max(b->size, len);
	b->segs++;
	b->whole = b->linear || len < b->size || b->segs >= b->most;
}

/* The round of a slot, for all its packets of a batch. Return: false if it is moot. */
static bool ina_batch_look_round(struct ina_batch *b, u32 id,
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
	b->pkt.path = b->path - b->peer->path;
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
static bool ina_batch_look(struct ina_batch *b, u32 id, struct ina_part *part,
			   struct ina_sums *sums)
{
	struct ina_node *node = b->node;
	size_t fragment = node->job->config.fragment;
	u32 frag;

	if (!ina_slot_peek(ina_node_slot(node, id), b->way, part) ||
	    (!(b->frags && part->wide == b->wide &&
	       ina_tag_equal(&part->tag, &b->tag)) &&
	     !ina_batch_look_round(b, id, part)))
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

/**
 * ina_batch_append() - add the sum of a slot, unless it is moot
 * @b: the batch
 * @id: the slot
 *
 * One that does not fit waits for the next batch.
 * Return: 0, or -ENOMEM if not even one packet could be built.
 */
int ina_batch_append(struct ina_batch *b, u32 id)
{
	struct ina_slot *slot = ina_node_slot(b->node, id);
	struct ina_tx_copy *copy;
	struct ina_sums sums;
	struct ina_part part;
	unsigned int len;
	bool there;
	void *data;

	if (!ina_batch_look(b, id, &part, &sums))
		return 0;
	copy = ina_batch_copy(b, id);
	there = ina_batch_copy_is(copy, id, &part) && !b->linear;
	len = sizeof(struct ina_hdr) + b->pkt.count * b->pkt.elem;
	if (!b->segs)
		b->epoch = b->pkt.epoch;
	data = b->segs && (len > b->size || b->pkt.epoch != b->epoch) ? NULL :
	       ina_batch_space(b, there ? sizeof(struct ina_hdr) : len, there);
	if (!data) {
		ina_queue_unpick(&b->peer->queue, id);
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
	ina_batch_claim(b, id, data, len, copy, there);
	return 0;
}

/*
 * Number the packets of a batch. Return: false if they are not to be sent: the
 * clock has taken the credit, or the epoch is over.
 */
static bool ina_batch_stamp(const struct ina_batch *b)
{
	const struct ina_tx *tx = &b->node->tx;
	unsigned int i;
	u32 seq;

	if (!ina_hop_stamp(&b->path->hop, b->epoch, tx->slots, b->segs, &seq)) {
		for (i = b->segs; i; i--)
			ina_queue_unpick(&b->peer->queue, tx->slots[i - 1]);
		ina_tx_ready(b->node, b->way == INA_SLOT_UP ? INA_INDEX_NONE :
							      b->index);
		return false;
	}
	for (i = 0; i < b->segs; i++)
		tx->hdrs[i]->seq = cpu_to_be32(seq + i);
	return true;
}

/* The skb leaves when those before it have had their time. */
static void ina_batch_depart(const struct ina_batch *b)
{
	unsigned int bytes = b->skb->len + b->segs * ina_xmit_headers(b->node);
	u64 now = ktime_get_ns();
	u64 depart = max(ina_pace_charge(&b->peer->pace, bytes, now),
			 ina_pace_charge(&b->path->pace, bytes, now));

	ina_path_charge(b->path, bytes, b->segs);
	if (depart)
		ina_xmit_depart(b->node, b->skb, depart);
}

/**
 * ina_batch_send() - send a batch that has an skb, which is gone afterwards
 * @b: the batch
 *
 * Return: 0, or -ENOBUFS if it was dropped below.
 */
int ina_batch_send(struct ina_batch *b)
{
	struct skb_shared_info *info = skb_shinfo(b->skb);
	struct ina_node *node = b->node;
	int err;

	if (!b->segs || !ina_batch_stamp(b)) {
		kfree_skb(b->skb);
		return 0;
	}
	if (b->segs > 1) {
		info->gso_type = SKB_GSO_UDP_L4;
		info->gso_size = b->size;
		info->gso_segs = b->segs;
	}
	ina_batch_depart(b);
	ina_xmit_own(node, b->skb, b->segs);
	err = ina_xmit_send(node, b->route, b->skb);
	if (!err)
		ina_stats_add(node->job->stats, b->way == INA_SLOT_UP ?
			      INA_STAT_TX_DATA : INA_STAT_TX_RESULT, b->segs);
	return err == -ENOBUFS ? err : 0;
}

/**
 * ina_batch_forget() - nobody waits for results that were copied any more
 * @tx: the sender; at its end nobody else is there
 */
void ina_batch_forget(struct ina_tx *tx)
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
