// SPDX-License-Identifier: GPL-2.0
/*
 * What happens by the clock: unanswered control is repeated, rounds past
 * their deadline fail and name who is missing, a blocked sender tries again.
 * Context of all functions: process, the node's delayed work.
 */
#include <linux/jiffies.h>

#include "epoch.h"
#include "event.h"
#include "fail.h"
#include "member.h"
#include "net.h"
#include "node.h"
#include "round.h"
#include "timer.h"
#include "tx.h"

#define INA_TIMER_HOP_MS	8	/* while packets are under way */
#define INA_TIMER_BUSY_MS	50	/* while something is outstanding */
#define INA_TIMER_IDLE_MS	1000	/* a sign of life to the parent */

/* Who has not contributed to a round? Sets the culprit, if it is a child. */
static bool ina_timer_missing(struct ina_node *node, const struct ina_tag *tag,
			      u32 frags, struct ina_blame *blame)
{
	int who = -1;
	u32 frag, id;

	/* Of a final round only results are missing. */
	if (ina_round_is_kept(node, tag)) {
		blame->culprit = node->parent.addr;
		return true;
	}
	for (frag = 0; frag < frags && who < 0; frag++) {
		id = ina_node_slot_id(node, tag->round, frag);
		who = ina_slot_missing(ina_node_slot(node, id), tag,
				       node->contributors);
		cond_resched();
	}
	if (who < 0)
		return false;
	blame->culprit = who < node->nchildren ?
			 node->children[who].peer.addr : node->local;
	return true;
}

/* A copy of an entry whose deadline has passed; false if it has not. */
static bool ina_timer_expired(struct ina_node *node, u32 i,
			      struct ina_tag *tag, u32 *frags)
{
	const struct ina_round *entry = &node->rounds[i];
	bool expired;

	spin_lock_bh(&node->lock);
	*tag = entry->tag;
	*frags = entry->frags;
	expired = ina_round_is_live(node, entry) &&
		  !entry->failed && !entry->complete &&
		  !(tag->round < node->acked && ina_round_is_kept(node, tag)) &&
		  time_after_eq(jiffies, entry->deadline);
	spin_unlock_bh(&node->lock);
	return expired;
}

/*
 * Fail one round past its deadline. A node all of whose contributors are in
 * leaves it to its workers, if it has any: it waits for others itself.
 */
static void ina_timer_deadline(struct ina_node *node, u32 i)
{
	struct ina_blame blame = { .reason = INA_REASON_DEADLINE };
	struct ina_tag tag;
	u32 frags;

	if (!ina_timer_expired(node, i, &tag, &frags))
		return;
	if (!ina_timer_missing(node, &tag, frags, &blame) &&
	    !node->root && !node->nworkers)
		return;
	blame.detail[0] = frags - min(frags, ina_round_held(&node->rounds[i]));
	blame.detail[1] = frags;
	/* Results of a round that is complete above are still to be passed on. */
	if (!node->root && !node->nworkers)
		ina_fail_report(node, &tag, &blame);
	else
		ina_fail_round(node, &tag, &blame);
}

/**
 * struct ina_timer_hop - a hop, for ina_timer_needed()
 * @node: the node
 * @child: the neighbour, NULL for the parent
 */
struct ina_timer_hop {
	struct ina_node *node;
	const struct ina_child *child;
};

/* Does the neighbour still need what was sent of a slot? Its hop is locked. */
static bool ina_timer_needed(void *arg, u32 id)
{
	const struct ina_timer_hop *hop = arg;
	struct ina_slot *slot = ina_node_slot(hop->node, id);
	struct ina_tag tag;
	u32 length;

	if (!ina_slot_peek(slot, hop->child ? INA_SLOT_DOWN : INA_SLOT_UP,
			   &tag))
		return false;
	return ina_round_length(hop->node, &tag, &length) &&
	       (!hop->child || READ_ONCE(hop->child->acked) <= tag.round);
}

/* Loss recovery of one hop. Return: true if packets are under way on it. */
static bool ina_timer_hop(struct ina_node *node, struct ina_child *child)
{
	struct ina_timer_hop arg = { .node = node, .child = child };
	struct ina_peer *peer = child ? &child->peer : &node->parent;
	bool answer, silent, credit, busy;

	busy = ina_hop_ask(&peer->hop, ina_timer_needed, &arg, &silent,
			   &credit);
	busy |= ina_hop_check(&peer->hop, &answer);
	if (silent)
		ina_event_peer(node, peer, INA_EVENT_TYPE_PEER_SILENT);
	if (credit)
		ina_tx_ready(node, child ? child - node->children :
					   INA_INDEX_NONE);
	return busy;
}

/* Loss recovery of all hops. */
static bool ina_timer_hops(struct ina_node *node)
{
	bool busy = false;
	u16 i;

	/* The memory of the hops stays from the first epoch on. */
	if (!ina_epoch_published(node))
		return false;
	if (!node->root)
		busy |= ina_timer_hop(node, NULL);
	for (i = 0; i < node->nchildren; i++) {
		busy |= ina_timer_hop(node, &node->children[i]);
		cond_resched();
	}
	return busy;
}

/* Is a round running, or has one failed that somebody does not know of? */
static bool ina_timer_running(const struct ina_node *node)
{
	const struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if ((ina_round_is_live(node, entry) && !entry->failed &&
		     !entry->complete) || ina_fail_untold(node, entry))
			return true;
	}
	return false;
}

/**
 * ina_timer_tick() - the node's delayed work
 * @work: in the node
 */
void ina_timer_tick(struct work_struct *work)
{
	struct ina_node *node = container_of(to_delayed_work(work),
					     struct ina_node, tick);
	unsigned int ms = INA_TIMER_IDLE_MS;
	bool hops = ina_timer_hops(node);
	u32 i;

	for (i = 0; i < node->job->config.depth; i++)
		ina_timer_deadline(node, i);
	spin_lock_bh(&node->lock);
	if (time_after_eq(jiffies, node->repeat_at)) {
		node->repeat_at = jiffies + msecs_to_jiffies(INA_TIMER_BUSY_MS);
		ina_member_repeat(node);
		ina_fail_repeat(node);
	}
	if (ina_member_waiting(node) || ina_timer_running(node) ||
	    ina_tx_waits(node))
		ms = INA_TIMER_BUSY_MS;
	spin_unlock_bh(&node->lock);
	ina_node_kick(node);
	if (hops)
		ms = INA_TIMER_HOP_MS;
	if (ms != INA_TIMER_IDLE_MS || !node->root)
		ina_node_tick_in(node, ms);
}
