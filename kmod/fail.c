// SPDX-License-Identifier: GPL-2.0
/*
 * A round that cannot complete: who is told, and until when it is repeated. Any
 * node may find that a round cannot complete; the root decides and tells all.
 * From softirq and process context; what is told is under the node's lock.
 */
#include <linux/ktime.h>

#include "event.h"
#include "fail.h"
#include "late.h"
#include "net.h"
#include "round.h"
#include "stats.h"
#include "trace.h"
#include "worker.h"

/* Is some worker of this node waiting for the round? */
static bool ina_fail_awaited(const struct ina_node *node, u64 round)
{
	int i;

	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] && node->workers[i]->next > round)
			return true;
	return false;
}

/*
 * Its results count no more from here on. Not of a round that is whole: they may be
 * on their way, though nobody here was told yet. The word decides, as who counts
 * results holds no lock; the node's is held here. Return: whether it can fail.
 */
static bool ina_fail_stop(struct ina_round *entry)
{
	u64 progress = atomic64_read(&entry->progress);

	do {
		if (entry->complete ||
		    (entry->length &&
		     (progress & INA_PROGRESS_HELD) == entry->frags))
			return false;
	} while (!atomic64_try_cmpxchg(&entry->progress, (s64 *)&progress,
				       progress | INA_PROGRESS_FAILED));
	return true;
}

/**
 * ina_fail_entry() - mark an entry failed and tell whoever waits here
 * @node: the node; its lock is held
 * @entry: the round
 * @blame: why
 */
void ina_fail_entry(struct ina_node *node, struct ina_round *entry,
		    const struct ina_blame *blame)
{
	int i;

	lockdep_assert_held(&node->lock);
	atomic64_or(INA_PROGRESS_FAILED, &entry->progress);
	entry->failed = true;
	entry->started = jiffies;
	entry->blame = *blame;
	/* Only then is who has not come late until now. */
	ina_arrival_settle(node, entry->tag.round,
			   blame->reason == INA_REASON_DEADLINE ?
			   ktime_get_ns() : 0);
	trace_ina_round_end(node, entry->tag.round, blame->reason);
	if (entry->length || (entry->again && !entry->doomed) ||
	    ina_fail_awaited(node, entry->tag.round)) {
		ina_stats_inc(node->job->stats, INA_STAT_ROUNDS_FAILED);
		ina_event_round_failed(node, entry->tag.round, blame);
	}
	for (i = 0; i < node->nworkers; i++) {
		if (!node->workers[i])
			continue;
		ina_worker_round_end(node->workers[i], entry, 0);
		ina_worker_skip(node->workers[i], false);
	}
	/* Who waits for an epoch has no part in it, and is to pass it. */
	wake_up_interruptible_all(&node->wait);
	ina_round_advance(node);
}

/* What the parent says of a round that failed here is what those below are told. */
static void ina_fail_blame(struct ina_node *node, struct ina_round *entry,
			   const struct ina_blame *blame)
{
	int i;

	entry->blame = *blame;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_skip(node->workers[i], false);
	ina_round_advance(node);
}

/**
 * ina_fail_round_locked() - a round cannot complete here
 * @node: the node; its lock is held
 * @tag: the round
 * @blame: why
 *
 * The root tells its children; any other node tells its parent, so that the
 * root can. A round that is complete or has failed stays as it is.
 * Return: true if it failed by this.
 */
bool ina_fail_round_locked(struct ina_node *node, const struct ina_tag *tag,
			   const struct ina_blame *blame)
{
	struct ina_round *entry = ina_round_claim(node, tag, 0);

	if (IS_ERR(entry) || entry->failed || !ina_fail_stop(entry))
		return false;
	entry->tell_down = node->root && node->nchildren;
	entry->tell_up = !node->root;
	ina_fail_entry(node, entry, blame);
	ina_node_kick(node);
	return true;
}

/**
 * ina_fail_round() - a round cannot complete here
 * @node: the node
 * @tag: the round
 * @blame: why
 *
 * Context: process or softirq, no lock held.
 * Return: true if it failed by this.
 */
bool ina_fail_round(struct ina_node *node, const struct ina_tag *tag,
		    const struct ina_blame *blame)
{
	bool failed;

	spin_lock_bh(&node->lock);
	failed = ina_fail_round_locked(node, tag, blame);
	spin_unlock_bh(&node->lock);
	return failed;
}

/**
 * ina_fail_left() - a worker left
 * @node: the root; its lock is held
 * @blame: which
 *
 * Those who are told of it leave as well, and the root may hear of that first.
 * Return: who was the first of this epoch.
 */
const struct ina_blame *ina_fail_left(struct ina_node *node,
				      const struct ina_blame *blame)
{
	lockdep_assert_held(&node->lock);
	if (!node->left.reason)
		node->left = *blame;
	return &node->left;
}

/**
 * ina_fail_round_from() - a neighbour says a round cannot complete
 * @node: the root, or a node that heard it from its parent
 * @tag: the round
 * @blame: why
 *
 * Context: softirq, no lock held.
 */
void ina_fail_round_from(struct ina_node *node, const struct ina_tag *tag,
			 const struct ina_blame *blame)
{
	struct ina_round *entry;

	spin_lock_bh(&node->lock);
	entry = ina_round_claim(node, tag, 0);
	if (IS_ERR(entry) || (!entry->failed && !ina_fail_stop(entry)))
		goto unlock;
	if (node->root && blame->reason == INA_REASON_LEFT)
		ina_fail_left(node, blame);
	if (entry->failed &&
	    (node->root || (entry->heard && !entry->doomed)))
		goto unlock;
	entry->heard = !node->root;
	entry->doomed = 0;
	entry->tell_down = node->nchildren;
	if (entry->failed)
		ina_fail_blame(node, entry, blame);
	else
		ina_fail_entry(node, entry, blame);
	ina_node_kick(node);
unlock:
	spin_unlock_bh(&node->lock);
}

/**
 * ina_fail_all() - the parent is gone: nothing of this era can complete
 * @node: the node; its lock is held
 * @blame: why
 */
void ina_fail_all(struct ina_node *node, const struct ina_blame *blame)
{
	struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (!ina_round_is_live(node, entry) || entry->failed ||
		    !ina_fail_stop(entry))
			continue;
		entry->tell_down = node->nchildren;
		ina_fail_entry(node, entry, blame);
	}
}

/**
 * ina_fail_gone() - this node goes
 * @node: the node; its lock is held
 * @blame: why
 *
 * The rounds of its own workers fail. Those below go on with another parent, unless
 * this is the root: nothing is said of their rounds.
 */
void ina_fail_gone(struct ina_node *node, const struct ina_blame *blame)
{
	int i;

	lockdep_assert_held(&node->lock);
	if (node->root)
		ina_fail_all(node, blame);
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_give_up(node->workers[i], 0, U64_MAX, blame);
}

/**
 * ina_fail_incomplete() - the members changed: no sum can be completed
 * @node: the root; its lock is held
 * @blame: why
 *
 * Fails every round of the window that is not complete here, also those only
 * the workers know of. Complete ones are still being distributed.
 */
void ina_fail_incomplete(struct ina_node *node, const struct ina_blame *blame)
{
	u64 round = node->base, end = round + node->job->config.depth;
	struct ina_tag tag;

	/* The base may move on as rounds fail, so the end is taken before. */
	for (; round < end; round++) {
		tag = ina_round_tag(node, node->era, round);
		ina_fail_round_locked(node, &tag, blame);
	}
}

/**
 * ina_fail_report() - tell the parent whom a round waits for
 * @node: the node, not the root
 * @tag: the round
 * @blame: whom
 *
 * The root decides what becomes of it.
 * Context: process or softirq, no lock held.
 */
void ina_fail_report(struct ina_node *node, const struct ina_tag *tag,
		     const struct ina_blame *blame)
{
	struct ina_round *entry = ina_round_entry(node, tag->round);

	spin_lock_bh(&node->lock);
	if (ina_tag_equal(&entry->tag, tag) && ina_late_waits(node, entry)) {
		entry->tell_up |= !entry->reported;
		entry->reported = true;
		entry->blame = *blame;
		ina_node_kick(node);
	}
	spin_unlock_bh(&node->lock);
}

/**
 * ina_fail_repeat() - say again which rounds have failed, to who may not know
 * @node: the node; its lock is held
 *
 * A child knows when it acknowledges the round, the parent when it says so
 * itself.
 */
void ina_fail_repeat(struct ina_node *node)
{
	struct ina_round *entry;
	u32 i;

	lockdep_assert_held(&node->lock);
	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (!ina_round_is_live(node, entry) ||
		    (entry->complete && !ina_late_waits(node, entry)))
			continue;
		entry->tell_up = (entry->failed || entry->reported) &&
				 !node->root && !entry->heard;
		entry->tell_down = entry->failed ? node->nchildren &&
				   !entry->doomed &&
				   (node->root || entry->heard) :
				   entry->excluding;
	}
}

/**
 * ina_fail_untold() - is there a failed round of which somebody does not know
 * @node: the node; its lock is held
 * @entry: a round
 *
 * Return: true if so.
 */
bool ina_fail_untold(const struct ina_node *node,
		     const struct ina_round *entry)
{
	u16 i;

	if (!ina_round_is_live(node, entry) || entry->complete ||
	    !(entry->failed || entry->reported))
		return false;
	if (!node->root && !entry->heard)
		return true;
	for (i = 0; i < node->nchildren; i++)
		if (node->children[i].acked <= entry->tag.round)
			return true;
	return false;
}
