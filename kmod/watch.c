// SPDX-License-Identifier: GPL-2.0
/*
 * Neighbours that fall silent, and come back: the operator is told. Whether one answers what
 * it was sent, the hops know; while nothing is sent, each child that has joined sends an ACK
 * at least each second, and its parent answers. Signs of life come in softirq, silence is found by
 * the node's work; state is under the node's lock.
 */
#include <linux/jiffies.h>

#include "event.h"
#include "node.h"
#include "watch.h"

#define INA_WATCH_SILENT	(7 * HZ / 2)	/* three signs of life have not come */
#define INA_WATCH_DEAF		(HZ / 2)	/* without an answer on any of several paths */

static void ina_watch_tell(struct ina_node *node, struct ina_peer *peer, bool silent)
{
	lockdep_assert_held(&node->lock);
	if (peer->silent == silent)
		return;
	WRITE_ONCE(peer->silent, silent);
	peer->silent_at = jiffies;
	ina_event_peer(node, peer, silent ? INA_EVENT_TYPE_PEER_SILENT :
					    INA_EVENT_TYPE_PEER_BACK);
}

/**
 * ina_watch_deaf() - a path to a neighbour has no answer
 * @node: the node
 * @peer: the neighbour
 *
 * One path among others is left long before, and told of then: it is the neighbour only
 * if none of them has an answer.
 * Context: process, no lock held.
 */
void ina_watch_deaf(struct ina_node *node, struct ina_peer *peer)
{
	spin_lock_bh(&node->lock);
	if (READ_ONCE(peer->npaths) == 1 ||
	    time_after(jiffies, ina_path_heard(peer) + INA_WATCH_DEAF))
		ina_watch_tell(node, peer, true);
	spin_unlock_bh(&node->lock);
}

/**
 * ina_watch_answers() - a neighbour answers what it was sent
 * @node: the node
 * @peer: the neighbour
 *
 * Context: softirq, no lock held.
 */
void ina_watch_answers(struct ina_node *node, struct ina_peer *peer)
{
	spin_lock_bh(&node->lock);
	ina_watch_tell(node, peer, false);
	spin_unlock_bh(&node->lock);
}

/**
 * ina_watch_alive() - a neighbour says something of itself
 * @node: the node; its lock is held
 * @peer: the neighbour
 */
void ina_watch_alive(struct ina_node *node, struct ina_peer *peer)
{
	lockdep_assert_held(&node->lock);
	peer->alive = jiffies;
}

/* Does it leave what it was sent without an answer? */
static bool ina_watch_is_asked(const struct ina_peer *peer)
{
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++)
		if (READ_ONCE(peer->path[i].hop.asked))
			return true;
	return false;
}

/*
 * One that neither speaks nor answers is silent. It is back when it speaks again, unless it
 * does not get what it is sent.
 */
static void ina_watch_peer(struct ina_node *node, struct ina_peer *peer)
{
	if (peer->silent && time_after(peer->alive, peer->silent_at) &&
	    !ina_watch_is_asked(peer))
		ina_watch_tell(node, peer, false);
	else if (time_after(jiffies, peer->alive + INA_WATCH_SILENT) &&
		 time_after(jiffies, ina_path_heard(peer) + INA_WATCH_SILENT))
		ina_watch_tell(node, peer, true);
}

/**
 * ina_watch_tick() - look after the neighbours, now and then
 * @node: the node; its lock is held
 */
void ina_watch_tick(struct ina_node *node)
{
	int i;

	if (!node->root && node->subtree)
		ina_watch_peer(node, &node->parent);
	for (i = 0; i < node->nchildren; i++)
		if (node->children[i].workers)
			ina_watch_peer(node, &node->children[i].peer);
}
