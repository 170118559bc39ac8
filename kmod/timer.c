// SPDX-License-Identifier: GPL-2.0
/*
 * What happens by the clock: unanswered control is repeated, rounds that wait
 * are looked after, a blocked sender tries again.
 * Context of all functions: process, the node's delayed work.
 */
#include <linux/jiffies.h>

#include "epoch.h"
#include "fail.h"
#include "late.h"
#include "member.h"
#include "net.h"
#include "node.h"
#include "round.h"
#include "timer.h"
#include "tx.h"
#include "watch.h"

#define INA_TIMER_HOP_MS	8	/* while packets are under way */
#define INA_TIMER_BUSY_MS	50	/* while something is outstanding */
#define INA_TIMER_IDLE_MS	1000	/* signs of life */

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
	struct ina_part part;
	u32 length;

	if (!ina_slot_peek(slot, hop->child ? INA_SLOT_DOWN : INA_SLOT_UP,
			   &part))
		return false;
	return ina_round_length(hop->node, &part.tag, &length) &&
	       (!hop->child || READ_ONCE(hop->child->acked) <= part.tag.round);
}

/* Loss recovery of all paths to one neighbour. Return: true if packets are under way. */
static bool ina_timer_hop(struct ina_node *node, struct ina_child *child)
{
	struct ina_timer_hop arg = { .node = node, .child = child };
	struct ina_peer *peer = child ? &child->peer : &node->parent;
	bool answer, silent, credit, busy = false;
	struct ina_hop *hop;
	u8 i, end = ina_path_end(peer);

	for (i = 0; i < end; i++) {
		hop = &peer->path[i].hop;
		busy |= ina_hop_ask(hop, ina_timer_needed, &arg, &silent,
				    &credit);
		busy |= ina_hop_check(hop, &answer);
		if (silent)
			ina_watch_deaf(node, peer);
		if (credit)
			ina_tx_ready(node, child ? child - node->children :
						   INA_INDEX_NONE);
	}
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
		if (ina_late_waits(node, entry) || ina_fail_untold(node, entry))
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
	unsigned int late = min(ina_late_tick(node), ina_grant_tick(node));

	spin_lock_bh(&node->lock);
	if (node->stay && time_after_eq(jiffies, node->stay))
		ina_round_go(node);
	if (time_after_eq(jiffies, node->repeat_at)) {
		node->repeat_at = jiffies + msecs_to_jiffies(INA_TIMER_BUSY_MS);
		ina_member_repeat(node);
		ina_watch_tick(node);
		ina_fail_repeat(node);
	}
	if (ina_member_waiting(node) || ina_timer_running(node) ||
	    ina_tx_waits(node) || node->stay)
		ms = INA_TIMER_BUSY_MS;
	spin_unlock_bh(&node->lock);
	ina_node_kick(node);
	if (hops)
		ms = INA_TIMER_HOP_MS;
	ms = min(ms, late);
	if (ms != INA_TIMER_IDLE_MS || !node->root || node->nchildren)
		ina_node_tick_in(node, ms);
}
