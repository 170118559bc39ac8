// SPDX-License-Identifier: GPL-2.0
/*
 * Epochs: under which membership rounds are summed, and what becomes of them
 * when it changes. Final rounds are only distributed, failed ones stay failed,
 * all others are summed again. All functions run under the node's lock.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "epoch.h"
#include "event.h"
#include "fail.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "tx.h"
#include "worker.h"

/* All results are held, though this may not have been noted yet. */
static bool ina_epoch_is_whole(const struct ina_round *entry)
{
	return !entry->failed && entry->length &&
	       ina_round_held(entry) == entry->frags;
}

/**
 * ina_epoch_over() - which rounds of the window are not summed any more
 * @node: the node; its lock is held
 * @kept: of the complete ones only those that were so when the epoch opened;
 *	otherwise the node is the root and no epoch is published
 *
 * Return: them.
 */
struct ina_over ina_epoch_over(struct ina_node *node, bool kept)
{
	struct ina_over over = {};
	struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = ina_round_entry(node, node->base + i);
		if (entry->tag.round != node->base + i ||
		    !ina_round_is_live(node, entry))
			continue;
		if (entry->failed || entry->doomed)
			over.failed |= BIT(i);
		if (entry->doomed == INA_REASON_LEFT ||
		    (entry->failed && entry->blame.reason == INA_REASON_LEFT))
			over.left |= BIT(i);
		if (!entry->failed && !entry->doomed &&
		    (kept ? ina_round_is_kept(node, &entry->tag) :
			    ina_epoch_is_whole(entry)))
			over.final |= BIT(i);
	}
	return over;
}

/*
 * Another root: its rounds have nothing to do with ours, and our workers have no
 * part in them yet.
 */
static void ina_epoch_forget(struct ina_node *node)
{
	struct ina_round *entry;
	u32 i;

	lockdep_assert_held(&node->lock);
	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		WRITE_ONCE(entry->kept, 0);
		entry->tag = (struct ina_tag){};
		entry->members = 0;
		entry->token = 0;
		entry->again = false;
		atomic64_set(&entry->progress, 0);
	}
	for (i = 0; i < node->nworkers; i++) {
		if (!node->workers[i])
			continue;
		node->workers[i]->next = 0;
		node->workers[i]->acked = U64_MAX;
	}
}

/*
 * A round to be claimed anew. Its deadline stays; after somebody was left out the others have
 * time again, if fewer are left than ever. Who has missed an epoch may have missed that, and
 * leaves it to the root.
 */
static void ina_epoch_renew(const struct ina_node *node, struct ina_round *entry,
			    u64 round, bool seamless)
{
	bool same = entry->tag.round == round;

	entry->again = same && (entry->again || entry->tag.era);
	if (entry->again && ina_node_degrades(node) &&
	    (node->members < entry->least || !(seamless || node->root)))
		ina_round_start(node, entry);
	entry->tell_up = false;
	entry->tell_down = false;
	entry->reported = false;
	entry->tag = (struct ina_tag){ .round = round };
}

/* A round that is not final is summed again; one that failed stays failed. */
static void ina_epoch_again(struct ina_node *node, struct ina_round *entry,
			    u64 round, bool seamless)
{
	bool mine = entry->tag.round == round && entry->tag.era;
	struct ina_tag tag = { .era = node->era, .round = round };
	int i;

	WRITE_ONCE(entry->kept, 0);
	if (mine && entry->failed) {
		entry->tag.era = node->era;
		entry->heard = false;
		/* There is time again to acknowledge it. */
		entry->started = jiffies;
		atomic64_set(&entry->progress,
			     ina_round_key(&entry->tag) | INA_PROGRESS_FAILED);
		return;
	}
	ina_epoch_renew(node, entry, round, seamless);
	atomic64_set(&entry->progress, 0);
	/* Whoever waits for it has its deadline. */
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] &&
		    ina_worker_is_active(node->workers[i], round))
			ina_round_claim(node, &tag, 0);
}

/* A final round: keep what is surely its result, else wait for all of it. */
static void ina_epoch_keep(struct ina_node *node, struct ina_round *entry,
			   u64 round, bool seamless)
{
	struct ina_tag tag = { .era = node->era, .round = round };
	bool same = entry->tag.round == round, mine = same && entry->tag.era;

	entry->tell_up = false;
	entry->tell_down = false;
	entry->reported = false;
	if (mine && (entry->complete || ina_epoch_is_whole(entry) ||
		     ina_round_is_kept(node, &entry->tag) ||
		     (seamless && entry->tag.era == node->era - 1))) {
		WRITE_ONCE(entry->kept, (u64)entry->tag.era << 32 | (u32)round);
		/* There is time again to acknowledge it. */
		if (entry->complete)
			entry->started = jiffies;
		return;
	}
	ina_epoch_renew(node, entry, round, seamless);
	WRITE_ONCE(entry->kept, (u64)tag.era << 32 | (u32)round);
	/* Else of the epoch in which the workers here contributed to it. */
	if (!same) {
		entry->members = 0;
		entry->token = 0;
		ina_ranks_clear(&entry->ranks);
	}
	ina_round_claim(node, &tag, 0);
}

/* Does a worker here wait for a round? */
static bool ina_epoch_awaits(const struct ina_node *node, u64 round)
{
	int i;

	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] &&
		    ina_worker_is_active(node->workers[i], round))
			return true;
	return false;
}

/*
 * A round that had failed before the epoch, whether this node knew or not. Why, the
 * parent says again until the round is acknowledged: a worker that waits is told then.
 */
static void ina_epoch_stay_failed(struct ina_node *node,
				  struct ina_round *entry, u64 round, bool seamless,
				  bool left)
{
	struct ina_blame blame = {
		.reason = left ? INA_REASON_LEFT : INA_REASON_EXCLUDED,
	};
	struct ina_tag tag = { .era = node->era, .round = round };

	ina_epoch_again(node, entry, round, seamless);
	entry = ina_round_claim(node, &tag, 0);
	entry->heard = !node->root;
	if (entry->failed)
		return;
	entry->doomed = blame.reason;
	if (!ina_epoch_awaits(node, round))
		ina_fail_entry(node, entry, &blame);
}

/*
 * A new epoch: sort the rounds. Era and base are those of the
 * new one, which is not published yet. @seamless: the node was in the one before.
 */
static void ina_epoch_sort(struct ina_node *node, const struct ina_over *over,
			   bool seamless)
{
	u64 base = node->base, round;
	struct ina_round *entry;
	u32 i;

	lockdep_assert_held(&node->lock);
	for (i = 0; i < node->job->config.depth; i++) {
		round = base + i;
		entry = ina_round_entry(node, round);
		if (over->final & BIT(i))
			ina_epoch_keep(node, entry, round, seamless);
		else if (over->failed & BIT(i))
			ina_epoch_stay_failed(node, entry, round, seamless,
					      over->left & BIT(i));
		else
			ina_epoch_again(node, entry, round, seamless);
	}
}

/**
 * ina_epoch_redistribute() - a child has heard a new epoch: send it the results
 *	of final rounds it lacks
 * @node: the node; its lock is held
 * @index: of the child
 */
void ina_epoch_redistribute(struct ina_node *node, u16 index)
{
	struct ina_child *child = &node->children[index];
	struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (!ina_round_is_kept(node, &entry->tag) || entry->failed ||
		    entry->tag.round < child->acked)
			continue;
		ina_queue_add_range(&child->peer.queue, ina_node_oldest(node),
				    i * node->frags, entry->frags);
		ina_tx_ready(node, index);
	}
}

/**
 * ina_epoch_announce() - tell all children of epoch and window
 * @node: the node; its lock is held
 */
void ina_epoch_announce(struct ina_node *node)
{
	int i;

	for (i = 0; i < node->nchildren; i++)
		node->children[i].announce = true;
}

/* Numbers on all hops start again. */
static void ina_epoch_reset_hops(struct ina_node *node, u32 epoch)
{
	int i;

	ina_path_reset(&node->parent, epoch);
	for (i = 0; i < node->nchildren; i++)
		ina_path_reset(&node->children[i].peer, epoch);
}

/* A child is in a new epoch, if its subtree is there. */
static void ina_epoch_enter(struct ina_child *child, u64 base)
{
	child->acked = child->workers ? base : U64_MAX;
	child->epoch_token = child->token;
	child->late_round = 0;
}

/* How many contribute, of those who could. */
static u16 ina_epoch_expected(const struct ina_node *node)
{
	u16 i, expected = 0;

	for (i = 0; i < node->nchildren; i++)
		expected += !!node->children[i].workers;
	for (i = 0; i < node->nworkers; i++)
		expected += node->workers[i] && !node->workers[i]->out;
	return expected;
}

/*
 * A new epoch under a new era; none is published. Final rounds are kept and the
 * others summed again; of another root, only what it says counts.
 */
static void ina_epoch_open(struct ina_node *node, const struct ina_epoch *e)
{
	bool fresh = node->root_id != e->root;
	bool seamless = !fresh && e->number == node->epoch + 1;
	u32 reason;
	int i;

	lockdep_assert_held(&node->lock);
	if (fresh)
		ina_epoch_forget(node);
	/* No word of a round is 0: see ina_round.progress. */
	if (!(++node->era & 0xff))
		node->era++;
	node->epoch = e->number;
	node->root_id = e->root;
	WRITE_ONCE(node->base, e->base);
	node->acked = e->base;
	WRITE_ONCE(node->members, e->members);
	WRITE_ONCE(node->token, e->token);
	ina_ranks_set(&node->ranks, e->ranks, e->nranks);
	WRITE_ONCE(node->expected, ina_epoch_expected(node));
	node->open = true;
	node->opened_at = jiffies;
	node->held = false;
	node->cut_off = false;
	node->changed = false;
	reason = node->closed.reason;
	node->opened = node->closed;
	node->closed = (struct ina_blame){};
	node->left = (struct ina_blame){};
	for (i = 0; i < node->nchildren; i++)
		ina_epoch_enter(&node->children[i], e->base);
	ina_epoch_sort(node, &e->over, seamless);
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] && !node->workers[i]->out)
			ina_worker_epoch(node->workers[i]);
	/* After all the above: who sees the epoch sees its members. */
	smp_store_release(&node->epoch_era, (u64)e->number << 32 | node->era);
	ina_epoch_announce(node);
	ina_event_send(node->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_EPOCH_OPENED,
			.job = node->job->config.id,
			.epoch = e->number, .workers = e->members,
			.has_round = true, .round = e->base,
			.reason = reason },
		       "job %u epoch %u opened: %u workers, from round %llu%s%s",
		       node->job->config.id, e->number, e->members, e->base,
		       reason ? ", after " : "",
		       reason ? ina_event_reason(reason) : "");
	ina_node_restart(node);
	ina_node_kick(node);
	/* Nobody below may be left to need anything. */
	ina_round_advance(node);
}

/*
 * No epoch is published from here on until ina_epoch_open() has sorted the
 * rounds: packets of the last one find neither a tag nor a number.
 */
static void ina_epoch_withdraw(struct ina_node *node, u32 epoch)
{
	lockdep_assert_held(&node->lock);
	WRITE_ONCE(node->epoch_era, 0);
	/* Withdrawn before a round changes: pairs with ina_rx_round(). */
	smp_wmb();
	/* What was sent under the last epoch was sent; nothing more will be. */
	ina_epoch_reset_hops(node, epoch);
}

/**
 * ina_epoch_close() - stop taking new rounds
 * @node: the node; its lock is held
 * @blame: why
 *
 * Rounds that run wait for the next epoch.
 */
void ina_epoch_close(struct ina_node *node, const struct ina_blame *blame)
{
	int i;

	lockdep_assert_held(&node->lock);
	if (!node->open)
		return;
	ina_round_go(node);
	/* Members and epoch stay: what is under way may still complete. */
	node->open = false;
	node->held = blame->reason == INA_REASON_DEADLINE;
	node->cut_off = false;
	node->closed = *blame;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_closed(node->workers[i], blame);
	ina_epoch_announce(node);
	ina_event_send(node->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_EPOCH_CLOSED,
			.job = node->job->config.id, .epoch = node->epoch,
			.reason = blame->reason, .addr = blame->culprit,
			.blame = blame },
		       "job %u epoch %u closed: %s (%pI6c)",
		       node->job->config.id, node->epoch,
		       ina_event_reason(blame->reason), &blame->culprit);
	ina_node_kick(node);
}

/* Have the results of local workers been read whose memory is used again? */
static bool ina_epoch_settled(const struct ina_node *node,
			      const struct ina_epoch *e, u64 below)
{
	int i;

	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] &&
		    !ina_worker_settled(node->workers[i], below, e->base,
					e->over.final))
			return false;
	return true;
}

/**
 * ina_epoch_open_try() - open an epoch if the tree is complete
 * @node: the node, of which only a root opens epochs; its lock is held
 */
void ina_epoch_open_try(struct ina_node *node)
{
	struct ina_epoch e = {
		.number = ina_member_last_epoch(node) + 1,
		.members = node->subtree,
		.token = node->subtree_token,
		.ranks = node->subtree_ranks.bits,
		.nranks = node->subtree_ranks.count,
		.base = node->epoch ? node->base : ina_member_floor(node),
		.root = node->instance,
	};

	lockdep_assert_held(&node->lock);
	if (!node->root || node->open || !node->subtree ||
	    !ina_epoch_settled(node, &e, e.base) || node->held)
		return;
	/* A root that restarts should not repeat its former numbers. */
	if (!node->epoch)
		e.number = max_t(u32, ktime_get_real_seconds(), e.number);
	ina_epoch_withdraw(node, e.number);
	e.over = ina_epoch_over(node, false);
	ina_epoch_open(node, &e);
}

/*
 * Another root knows nothing of our rounds, and the same one may have gone on
 * without us: what we have not finished is lost then, and the rounds to come may
 * use the memory of our results. Return: whether those have all been read.
 */
static bool ina_epoch_catch_up(struct ina_node *node,
			       const struct ina_epoch *e)
{
	bool other = node->root_id && node->root_id != e->root;
	u64 below = other ? U64_MAX : e->base;
	struct ina_blame blame = {
		.reason = other ? INA_REASON_ROOT_LOST : INA_REASON_EXCLUDED,
		.detail = { node->base, node->base >> 32 },
	};
	int i;

	if (other)
		ina_fail_all(node, &blame);
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_give_up(node->workers[i], 0, below, &blame);
	return ina_epoch_settled(node, e, below);
}

/**
 * ina_epoch_follow() - enter an epoch of the root
 * @node: the node, not the root, its epoch is closed; its lock is held
 * @e: the epoch
 *
 * Not yet while results have not been read whose memory is used again; the
 * parent repeats its announcement.
 */
void ina_epoch_follow(struct ina_node *node, const struct ina_epoch *e)
{
	lockdep_assert_held(&node->lock);
	if (!ina_epoch_catch_up(node, e))
		return;
	ina_epoch_withdraw(node, e->number);
	ina_epoch_open(node, e);
}
