// SPDX-License-Identifier: GPL-2.0
/*
 * What happens by the clock: unanswered control is repeated, rounds past
 * their deadline fail and name who is missing, a blocked sender tries again.
 * Context of all functions: process, the node's delayed work.
 */
#include <linux/jiffies.h>

#include "member.h"
#include "net.h"
#include "node.h"
#include "round.h"
#include "timer.h"

#define INA_TIMER_BUSY_MS	50	/* while something is outstanding */
#define INA_TIMER_IDLE_MS	1000	/* a sign of life to the parent */

/* Who has not contributed to a round? Sets the culprit, if it is a child. */
static bool ina_timer_missing(struct ina_node *node, const struct ina_tag *tag,
			      u32 frags, struct ina_blame *blame)
{
	int who = -1;
	u32 frag, id;

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
	expired = tag->era == node->era && tag->round >= node->base &&
		  !entry->failed && !entry->complete &&
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
	ina_round_fail(node, &tag, &blame);
}

/* Is a round running? */
static bool ina_timer_running(const struct ina_node *node)
{
	const struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (entry->tag.era == node->era && !entry->failed &&
		    !entry->complete && entry->tag.round >= node->base)
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
	bool busy;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++)
		ina_timer_deadline(node, i);
	spin_lock_bh(&node->lock);
	ina_member_repeat(node);
	busy = ina_member_waiting(node) || ina_timer_running(node) ||
	       READ_ONCE(node->tx.head) != READ_ONCE(node->tx.tail);
	spin_unlock_bh(&node->lock);
	ina_node_kick(node);
	if (busy || !node->root)
		ina_node_tick_in(node, busy ? INA_TIMER_BUSY_MS :
					      INA_TIMER_IDLE_MS);
}
