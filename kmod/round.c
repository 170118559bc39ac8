// SPDX-License-Identifier: GPL-2.0
/*
 * A round lives in entry round % depth of its node while it is in the window
 * [base, base + depth). Contributions and results meet here, from softirq and
 * from the workers' submits; the slow transitions (claim, complete, fail,
 * window) take the node's lock, a fragment only its slot's.
 */
#include <linux/jiffies.h>

#include "event.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"
#include "wire.h"
#include "worker.h"

/*
 * ina_round.progress: who the entry belongs to and how far it is, in one
 * word, so that a straggling CPU can never count a fragment of one round for
 * another that took over the entry:
 *   63..56 era   55..32 round   31 overflow   30 failed   29..0 results held
 */
#define INA_PROGRESS_OVERFLOW	BIT_ULL(31)
#define INA_PROGRESS_FAILED	BIT_ULL(30)
#define INA_PROGRESS_HELD	GENMASK_ULL(29, 0)

static u64 ina_round_key(const struct ina_tag *tag)
{
	return (u64)(tag->era & 0xff) << 56 | (tag->round & 0xffffff) << 32;
}

static bool ina_round_key_match(u64 progress, const struct ina_tag *tag)
{
	return (progress & GENMASK_ULL(63, 32)) == ina_round_key(tag);
}

static struct ina_round *ina_round_entry(struct ina_node *node, u64 round)
{
	return &node->rounds[round % node->job->config.depth];
}

/**
 * ina_round_tag() - under which tag a round is summed or kept
 * @node: the node
 * @era: of the epoch that is published
 * @round: the round
 *
 * Context: any; one without the lock looks afterwards whether the epoch is
 * still published.
 * Return: the tag.
 */
struct ina_tag ina_round_tag(const struct ina_node *node, u32 era, u64 round)
{
	u64 kept = READ_ONCE(node->rounds[round % node->job->config.depth].kept);

	if (kept && (u32)kept == (u32)round)
		era = kept >> 32;
	return (struct ina_tag){ .era = era, .round = round };
}

/**
 * ina_round_is_kept() - is a round final, and this its tag
 * @node: the node
 * @tag: the tag
 *
 * Context: as ina_round_tag().
 * Return: true if so.
 */
bool ina_round_is_kept(const struct ina_node *node, const struct ina_tag *tag)
{
	u64 kept = READ_ONCE(node->rounds[tag->round %
					  node->job->config.depth].kept);

	return kept == ((u64)tag->era << 32 | (u32)tag->round);
}

/**
 * ina_round_is_live() - does an entry count in this epoch
 * @node: the node; its lock is held
 * @entry: the entry
 *
 * Return: true if so.
 */
bool ina_round_is_live(const struct ina_node *node,
		       const struct ina_round *entry)
{
	return entry->tag.round >= node->base && entry->tag.era &&
	       (entry->tag.era == node->era ||
		ina_round_is_kept(node, &entry->tag));
}

/**
 * ina_round_held() - fragments whose result this node holds
 * @round: the round
 *
 * Return: how many.
 */
u32 ina_round_held(const struct ina_round *round)
{
	return atomic64_read(&round->progress) & INA_PROGRESS_HELD;
}

/**
 * ina_round_overflow() - was an element saturated
 * @round: the round
 *
 * Return: true if so.
 */
bool ina_round_overflow(const struct ina_round *round)
{
	return atomic64_read(&round->progress) & INA_PROGRESS_OVERFLOW;
}

/* Is the entry another round's, or has it failed? */
static bool ina_round_gone(struct ina_round *entry, const struct ina_tag *tag)
{
	/* Acquire: who reads the length afterwards reads that of this round. */
	u64 progress = atomic64_read_acquire(&entry->progress);

	return !ina_round_key_match(progress, tag) ||
	       (progress & INA_PROGRESS_FAILED);
}

/**
 * ina_round_length() - elements of a round that is worth sending for
 * @node: the node
 * @tag: the round
 * @length: where the number goes
 *
 * Context: any.
 * Return: false if it failed or is not in the window any more.
 */
bool ina_round_length(struct ina_node *node, const struct ina_tag *tag,
		      u32 *length)
{
	struct ina_round *entry = ina_round_entry(node, tag->round);

	if (ina_round_gone(entry, tag))
		return false;
	*length = READ_ONCE(entry->length);
	/* Still its length? */
	return !ina_round_gone(entry, tag);
}

/**
 * ina_round_claim() - the entry of a round, taken over if it is new
 * @node: the node; its lock is held
 * @tag: the round
 * @length: elements, 0 if not known
 *
 * Return: the entry, which may have failed, or ERR_PTR(-ESTALE) if the round
 * is not in the window, or ERR_PTR(-EMSGSIZE) if it has another length.
 */
struct ina_round *ina_round_claim(struct ina_node *node,
				  const struct ina_tag *tag, u32 length)
{
	struct ina_round *entry = ina_round_entry(node, tag->round);
	const struct ina_job_config *config = &node->job->config;
	u32 ms = config->deadline_ms;

	lockdep_assert_held(&node->lock);
	if (tag->round < node->base ||
	    tag->round - node->base >= config->depth ||
	    tag->era != ina_round_tag(node, node->era, tag->round).era)
		return ERR_PTR(-ESTALE);
	if (ina_tag_equal(&entry->tag, tag)) {
		if (entry->length && length && entry->length != length)
			return ERR_PTR(-EMSGSIZE);
		if (!entry->length && length) {
			entry->frags = ina_wire_frags(length, config->fragment);
			WRITE_ONCE(entry->length, length);
		}
		return entry;
	}
	WRITE_ONCE(entry->length, 0);
	if (!ina_round_is_kept(node, tag))
		WRITE_ONCE(entry->kept, 0);
	/* Leave those above, who know more, the time to name the culprit. */
	if (!node->nchildren && !node->root)
		ms += ms / 4 + 1;
	if (!entry->again || entry->tag.round != tag->round)
		entry->deadline = jiffies + msecs_to_jiffies(ms);
	entry->tag = *tag;
	entry->members = node->members;
	entry->token = node->token;
	entry->frags = ina_wire_frags(length, config->fragment);
	entry->failed = false;
	entry->heard = false;
	entry->reported = false;
	entry->again = false;
	entry->complete = false;
	entry->tell_up = false;
	entry->tell_down = false;
	/*
	 * Who sees the word of this round sees no length of an earlier one.
	 * Pairs with the acquire in ina_round_enter().
	 */
	atomic64_set_release(&entry->progress, ina_round_key(tag));
	WRITE_ONCE(entry->length, length);
	ina_node_tick(node);
	return entry;
}

/* Slow path of ina_round_enter(). */
static int ina_round_enter_locked(struct ina_node *node,
				  const struct ina_tag *tag, u32 length,
				  const struct in6_addr *from)
{
	struct ina_blame blame = { .reason = INA_REASON_LENGTH };
	struct ina_round *entry;
	int ret = 0;

	spin_lock_bh(&node->lock);
	entry = ina_round_claim(node, tag, length);
	if (IS_ERR(entry) && PTR_ERR(entry) == -EMSGSIZE) {
		blame.detail[0] = length;
		blame.detail[1] = ina_round_entry(node, tag->round)->length;
		blame.culprit = *from;
		ina_round_fail_locked(node, tag, &blame);
		ret = INA_STAT_DROP_LENGTH;
	} else if (IS_ERR(entry)) {
		ret = INA_STAT_DROP_WINDOW;
	} else if (entry->failed) {
		ret = INA_STAT_DROP_FAILED;
	}
	spin_unlock_bh(&node->lock);
	return ret;
}

/* May a fragment of @tag with @length go into its slot? 0 or a counter. */
static int ina_round_enter(struct ina_node *node, const struct ina_tag *tag,
			   u32 length, const struct in6_addr *from)
{
	struct ina_round *entry = ina_round_entry(node, tag->round);
	/* Pairs with the release in ina_round_claim(): the word, then the length. */
	u64 progress = atomic64_read_acquire(&entry->progress);

	if (ina_round_key_match(progress, tag) &&
	    READ_ONCE(entry->length) == length)
		return progress & INA_PROGRESS_FAILED ?
		       INA_STAT_DROP_FAILED : 0;
	return ina_round_enter_locked(node, tag, length, from);
}

/* All results are held: tell the workers. */
static void ina_round_complete(struct ina_node *node, const struct ina_tag *tag)
{
	struct ina_round *entry = ina_round_entry(node, tag->round);
	bool overflow;
	int i;

	spin_lock_bh(&node->lock);
	if (!ina_tag_equal(&entry->tag, tag) || entry->failed)
		goto unlock;
	entry->complete = true;
	ina_arrival_settle(node, tag->round);
	trace_ina_round_end(node, tag->round, 0);
	overflow = ina_round_overflow(entry);
	ina_stats_inc(node->job->stats, INA_STAT_ROUNDS_DONE);
	if (overflow)
		ina_stats_inc(node->job->stats, INA_STAT_ROUNDS_OVERFLOW);
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_round_end(node->workers[i], entry, overflow);
	ina_round_advance(node);
	if (overflow)
		ina_event_send(node->net, &(struct ina_event){
				.type = INA_EVENT_TYPE_OVERFLOW,
				.job = node->job->config.id,
				.has_round = true, .round = tag->round },
			       "job %u round %llu saturated: scale the gradient down",
			       node->job->config.id, tag->round);
unlock:
	spin_unlock_bh(&node->lock);
}

/* One more result is held. Return: whether it is the last. */
static bool ina_round_hold(struct ina_node *node, const struct ina_part *part,
			   u32 length)
{
	struct ina_round *entry = ina_round_entry(node, part->tag.round);
	u64 old = atomic64_read(&entry->progress);
	u64 new;

	do {
		if (!ina_round_key_match(old, &part->tag) ||
		    (old & INA_PROGRESS_FAILED))
			return false;
		new = old + 1;
		if (part->flags & INA_F_OVERFLOW)
			new |= INA_PROGRESS_OVERFLOW;
	} while (!atomic64_try_cmpxchg(&entry->progress, (s64 *)&old, new));

	return (new & INA_PROGRESS_HELD) ==
	       ina_wire_frags(length, node->job->config.fragment);
}

/* The root has a sum over its whole tree: publish it if it counts right. */
static void ina_round_publish(struct ina_node *node,
			      const struct ina_part *part, u32 id, u32 length)
{
	struct ina_slot *slot = ina_node_slot(node, id);
	struct ina_blame blame = {
		.reason = INA_REASON_COUNT,
		.detail = { part->workers, READ_ONCE(node->members) },
	};
	bool last;

	if (part->workers != READ_ONCE(node->members) ||
	    part->token != READ_ONCE(node->token)) {
		ina_stats_inc(node->job->stats, INA_STAT_COUNT_WRONG);
		ina_round_fail(node, &part->tag, &blame);
		return;
	}
	/* Held before it can be sent: a round nobody lacks a part of is final. */
	last = ina_round_hold(node, part, length);
	if (!ina_slot_publish(slot, &part->tag))
		return;
	ina_tx_queue(node, id, INA_SLOT_DOWN);
	if (last)
		ina_round_complete(node, &part->tag);
}

/**
 * ina_round_contribute() - a child's or worker's sum of a fragment has come
 * @node: the node
 * @part: what it says of itself
 * @frag: which fragment
 * @length: elements of the round
 * @src: its elements, as many as the fragment has
 * @from: whose it is, to blame
 *
 * Context: process or softirq, no lock held. The caller runs the sender.
 * Return: 0, or the counter that says why it was refused.
 */
int ina_round_contribute(struct ina_node *node, struct ina_part *part,
			 u32 frag, u32 length, const void *src,
			 const struct in6_addr *from)
{
	u32 id = ina_node_slot_id(node, part->tag.round, frag);
	u32 fragment = node->job->config.fragment;
	int err;

	err = ina_round_enter(node, &part->tag, length, from);
	if (err)
		return err;
	switch (ina_slot_add(ina_node_slot(node, id), part, node->contributors,
			     ina_node_sums(node, id), src,
			     ina_wire_count(length, fragment, frag))) {
	case INA_SLOT_ADDED:
		return 0;
	case INA_SLOT_FULL:
		if (node->root)
			ina_round_publish(node, part, id, length);
		else
			ina_tx_queue(node, id, INA_SLOT_UP);
		return 0;
	case INA_SLOT_DUPLICATE:
		return INA_STAT_DROP_DUPLICATE;
	default:
		return INA_STAT_DROP_STALE;
	}
}

/*
 * A result of a final round. Local workers take it if their contribution is in:
 * if it is of the members it was made under. Otherwise the round was completed
 * without them.
 */
static void ina_round_admit(struct ina_node *node, const struct ina_part *part)
{
	struct ina_round *entry = ina_round_entry(node, part->tag.round);
	struct ina_blame blame = {
		.reason = INA_REASON_EXCLUDED, .culprit = node->parent.addr,
	};
	int i;

	spin_lock_bh(&node->lock);
	if (!ina_tag_equal(&entry->tag, &part->tag) ||
	    (entry->members == part->workers && entry->token == part->token))
		goto unlock;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_give_up(node->workers[i], part->tag.round,
					   part->tag.round + 1, &blame);
	entry->members = part->workers;
	entry->token = part->token;
	ina_round_advance(node);
unlock:
	spin_unlock_bh(&node->lock);
}

/**
 * ina_round_result() - the root's sum of a fragment has come down
 * @node: the node
 * @part: what it says of itself
 * @frag: which fragment
 * @length: elements of the round
 * @src: its elements
 *
 * Context: process or softirq, no lock held. The caller runs the sender.
 * Return: 0, or the counter that says why it was refused.
 */
int ina_round_result(struct ina_node *node, const struct ina_part *part,
		     u32 frag, u32 length, const void *src)
{
	u32 id = ina_node_slot_id(node, part->tag.round, frag);
	u32 fragment = node->job->config.fragment;
	int err;

	/* A final round may be of earlier members. */
	if (!part->final && (part->workers != READ_ONCE(node->members) ||
			     part->token != READ_ONCE(node->token)))
		return INA_STAT_DROP_MEMBERS;
	err = ina_round_enter(node, &part->tag, length, &node->parent.addr);
	if (err)
		return err;
	if (part->final)
		ina_round_admit(node, part);
	switch (ina_slot_result(ina_node_slot(node, id), part,
				node->contributors, ina_node_sums(node, id),
				src, ina_wire_count(length, fragment, frag))) {
	case INA_SLOT_FULL:
		ina_tx_queue(node, id, INA_SLOT_DOWN);
		if (ina_round_hold(node, part, length))
			ina_round_complete(node, &part->tag);
		return 0;
	case INA_SLOT_DUPLICATE:
		return INA_STAT_DROP_DUPLICATE;
	case INA_SLOT_EARLY:
		return INA_STAT_DROP_EARLY;
	default:
		return INA_STAT_DROP_STALE;
	}
}

/* Is some worker of this node waiting for the round? */
static bool ina_round_awaited(const struct ina_node *node, u64 round)
{
	int i;

	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] && node->workers[i]->next > round)
			return true;
	return false;
}

/* Mark an entry failed and tell whoever waits here. */
static void ina_round_fail_entry(struct ina_node *node,
				 struct ina_round *entry,
				 const struct ina_blame *blame)
{
	int i;

	lockdep_assert_held(&node->lock);
	atomic64_or(INA_PROGRESS_FAILED, &entry->progress);
	entry->failed = true;
	entry->blame = *blame;
	trace_ina_round_end(node, entry->tag.round, blame->reason);
	if (entry->length || entry->again ||
	    ina_round_awaited(node, entry->tag.round)) {
		ina_stats_inc(node->job->stats, INA_STAT_ROUNDS_FAILED);
		ina_event_round_failed(node, entry->tag.round, blame);
	}
	for (i = 0; i < node->nworkers; i++) {
		if (!node->workers[i])
			continue;
		ina_worker_round_end(node->workers[i], entry, false);
		ina_worker_skip(node->workers[i], false);
	}
	ina_round_advance(node);
}

/**
 * ina_round_fail_locked() - a round cannot complete here
 * @node: the node; its lock is held
 * @tag: the round
 * @blame: why
 *
 * The root tells its children; any other node tells its parent, so that the
 * root can. A round that is complete or has failed stays as it is.
 */
void ina_round_fail_locked(struct ina_node *node, const struct ina_tag *tag,
			   const struct ina_blame *blame)
{
	struct ina_round *entry = ina_round_claim(node, tag, 0);

	if (IS_ERR(entry) || entry->failed || entry->complete)
		return;
	entry->tell_down = node->root && node->nchildren;
	entry->tell_up = !node->root;
	ina_round_fail_entry(node, entry, blame);
	ina_node_kick(node);
}

/**
 * ina_round_fail() - a round cannot complete here
 * @node: the node
 * @tag: the round
 * @blame: why
 *
 * Context: process or softirq, no lock held.
 */
void ina_round_fail(struct ina_node *node, const struct ina_tag *tag,
		    const struct ina_blame *blame)
{
	spin_lock_bh(&node->lock);
	ina_round_fail_locked(node, tag, blame);
	spin_unlock_bh(&node->lock);
}

/**
 * ina_round_fail_from() - a neighbour says a round cannot complete
 * @node: the root, or a node that heard it from its parent
 * @tag: the round
 * @blame: why
 *
 * Context: softirq, no lock held.
 */
void ina_round_fail_from(struct ina_node *node, const struct ina_tag *tag,
			 const struct ina_blame *blame)
{
	struct ina_round *entry;

	spin_lock_bh(&node->lock);
	entry = ina_round_claim(node, tag, 0);
	if (IS_ERR(entry) || entry->complete)
		goto unlock;
	entry->heard = !node->root;
	if (entry->failed)
		goto unlock;
	entry->tell_down = node->nchildren;
	ina_round_fail_entry(node, entry, blame);
	ina_node_kick(node);
unlock:
	spin_unlock_bh(&node->lock);
}

/**
 * ina_round_fail_all() - the parent is gone: nothing of this era can complete
 * @node: the node; its lock is held
 * @blame: why
 */
void ina_round_fail_all(struct ina_node *node, const struct ina_blame *blame)
{
	struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (!ina_round_is_live(node, entry) || entry->failed ||
		    entry->complete)
			continue;
		entry->tell_down = node->nchildren;
		ina_round_fail_entry(node, entry, blame);
	}
}

/**
 * ina_round_fail_incomplete() - the members changed: no sum can be completed
 * @node: the root; its lock is held
 * @blame: why
 *
 * Fails every round of the window that is not complete here, also those only
 * the workers know of. Complete ones are still being distributed.
 */
void ina_round_fail_incomplete(struct ina_node *node,
			       const struct ina_blame *blame)
{
	u64 round = node->base, end = round + node->job->config.depth;
	struct ina_tag tag;

	/* The base may move on as rounds fail, so the end is taken before. */
	for (; round < end; round++) {
		tag = ina_round_tag(node, node->era, round);
		ina_round_fail_locked(node, &tag, blame);
	}
}

/**
 * ina_round_report() - a round should fail, as far as this node can tell
 * @node: one with children and without workers, not the root
 * @tag: the round
 * @blame: why
 *
 * The root decides. Until it has, results are still passed on.
 * Context: process or softirq, no lock held.
 */
void ina_round_report(struct ina_node *node, const struct ina_tag *tag,
		      const struct ina_blame *blame)
{
	struct ina_round *entry = ina_round_entry(node, tag->round);

	spin_lock_bh(&node->lock);
	if (ina_tag_equal(&entry->tag, tag) && !entry->failed &&
	    !entry->complete && !entry->reported) {
		entry->reported = true;
		entry->tell_up = true;
		entry->blame = *blame;
		ina_node_kick(node);
	}
	spin_unlock_bh(&node->lock);
}

/* All results are held, though this may not have been noted yet. */
static bool ina_round_is_whole(const struct ina_round *entry)
{
	return !entry->failed && entry->length &&
	       ina_round_held(entry) == entry->frags;
}

/**
 * ina_round_over() - which rounds of the window are not summed any more
 * @node: the node; its lock is held
 * @kept: of the complete ones only those that were so when the epoch opened;
 *	otherwise the node is the root and no epoch is published
 *
 * Return: them.
 */
struct ina_over ina_round_over(struct ina_node *node, bool kept)
{
	struct ina_over over = {};
	struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = ina_round_entry(node, node->base + i);
		if (entry->tag.round != node->base + i ||
		    !ina_round_is_live(node, entry))
			continue;
		if (entry->failed)
			over.failed |= BIT(i);
		if (entry->failed && entry->blame.reason == INA_REASON_LEFT)
			over.left |= BIT(i);
		if (!entry->failed && (kept ? ina_round_is_kept(node, &entry->tag) :
				ina_round_is_whole(entry)))
			over.final |= BIT(i);
	}
	return over;
}

/**
 * ina_round_forget() - another root: its rounds have nothing to do with ours
 * @node: the node; its lock is held and no epoch is published
 */
void ina_round_forget(struct ina_node *node)
{
	struct ina_round *entry;
	u32 i;

	lockdep_assert_held(&node->lock);
	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		WRITE_ONCE(entry->kept, 0);
		entry->tag = (struct ina_tag){};
		entry->again = false;
		atomic64_set(&entry->progress, 0);
	}
}

/* A round that is not final is summed again; one that failed stays failed. */
static void ina_round_again(struct ina_node *node, struct ina_round *entry,
			    u64 round)
{
	struct ina_tag tag = { .era = node->era, .round = round };
	int i;
	bool mine = entry->tag.round == round && entry->tag.era;

	WRITE_ONCE(entry->kept, 0);
	if (mine && entry->failed) {
		entry->tag.era = node->era;
		entry->heard = false;
		atomic64_set(&entry->progress,
			     ina_round_key(&entry->tag) | INA_PROGRESS_FAILED);
		return;
	}
	entry->again |= mine;
	entry->tell_up = false;
	entry->tell_down = false;
	entry->reported = false;
	entry->tag = (struct ina_tag){ .round = round };
	atomic64_set(&entry->progress, 0);
	/* Whoever waits for it has its deadline. */
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] &&
		    ina_worker_is_active(node->workers[i], round))
			ina_round_claim(node, &tag, 0);
}

/* A final round: keep what is surely its result, else wait for all of it. */
static void ina_round_keep(struct ina_node *node, struct ina_round *entry,
			   u64 round, bool seamless)
{
	struct ina_tag tag = { .era = node->era, .round = round };
	bool same = entry->tag.round == round, mine = same && entry->tag.era;
	u32 members = same ? entry->members : 0, token = same ? entry->token : 0;

	entry->tell_up = false;
	entry->tell_down = false;
	entry->reported = false;
	if (mine && (entry->complete || ina_round_is_kept(node, &entry->tag) ||
		     (seamless && entry->tag.era == node->era - 1))) {
		WRITE_ONCE(entry->kept, (u64)entry->tag.era << 32 | (u32)round);
		return;
	}
	entry->again |= mine;
	entry->tag = (struct ina_tag){ .round = round };
	WRITE_ONCE(entry->kept, (u64)tag.era << 32 | (u32)round);
	ina_round_claim(node, &tag, 0);
	/* Of the epoch in which the workers here contributed to it. */
	entry->members = members;
	entry->token = token;
}

/* A round that had failed before the epoch, whether this node knew or not. */
static void ina_round_stay_failed(struct ina_node *node,
				  struct ina_round *entry, u64 round, bool left)
{
	struct ina_blame blame = {
		.reason = left ? INA_REASON_LEFT : INA_REASON_EXCLUDED,
	};
	struct ina_tag tag = { .era = node->era, .round = round };

	ina_round_again(node, entry, round);
	entry = ina_round_claim(node, &tag, 0);
	entry->heard = !node->root;
	if (!entry->failed)
		ina_round_fail_entry(node, entry, &blame);
}

/**
 * ina_round_epoch() - a new epoch of the same root: sort the rounds
 * @node: the node; its lock is held, era and base are those of the new epoch,
 *	which is not published yet
 * @over: rounds that are not summed again
 * @seamless: the node was in the epoch before
 */
void ina_round_epoch(struct ina_node *node, const struct ina_over *over,
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
			ina_round_keep(node, entry, round, seamless);
		else if (over->failed & BIT(i))
			ina_round_stay_failed(node, entry, round,
					      over->left & BIT(i));
		else
			ina_round_again(node, entry, round);
	}
}

/**
 * ina_round_redistribute() - a child has heard a new epoch: send it the results
 *	of final rounds it lacks
 * @node: the node; its lock is held
 * @index: of the child
 */
void ina_round_redistribute(struct ina_node *node, u16 index)
{
	struct ina_child *child = &node->children[index];
	struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (!ina_round_is_kept(node, &entry->tag) || entry->failed ||
		    entry->tag.round < child->acked)
			continue;
		ina_hop_queue_range(&child->peer.hop, i * node->frags,
				    entry->frags);
		ina_tx_ready(node, index);
	}
}

/**
 * ina_round_repeat() - say again which rounds have failed, to who may not know
 * @node: the node; its lock is held
 *
 * A child knows when it acknowledges the round, the parent when it says so
 * itself.
 */
void ina_round_repeat(struct ina_node *node)
{
	struct ina_round *entry;
	u32 i;

	lockdep_assert_held(&node->lock);
	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (!ina_round_is_live(node, entry) || entry->complete)
			continue;
		entry->tell_up = (entry->failed || entry->reported) &&
				 !node->root && !entry->heard;
		entry->tell_down = entry->failed && node->nchildren &&
				   (node->root || entry->heard);
	}
}

/**
 * ina_round_lowest() - lowest round somebody below still needs
 * @node: the node; its lock is held
 *
 * Return: its number, U64_MAX if nobody needs any.
 */
u64 ina_round_lowest(const struct ina_node *node)
{
	u64 lowest = U64_MAX;
	int i;

	for (i = 0; i < node->nchildren; i++)
		lowest = min(lowest, node->children[i].acked);
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			lowest = min(lowest, node->workers[i]->acked);
	return lowest;
}

/* The first round that is not acknowledged and has not failed. */
static u64 ina_round_unfailed(struct ina_node *node)
{
	const struct ina_round *entry;
	u64 round;

	for (round = node->acked;; round++) {
		entry = ina_round_entry(node, round);
		if (entry->tag.round != round || !entry->failed ||
		    !ina_round_is_live(node, entry))
			return round;
	}
}

/**
 * ina_round_untold() - is there a failed round of which somebody does not know
 * @node: the node; its lock is held
 * @entry: a round
 *
 * Return: true if so.
 */
bool ina_round_untold(const struct ina_node *node,
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

/**
 * ina_round_advance() - somebody acknowledged: move the window if all have
 * @node: the node; its lock is held
 */
void ina_round_advance(struct ina_node *node)
{
	u64 lowest = ina_round_lowest(node);
	int i;

	lockdep_assert_held(&node->lock);
	/*
	 * Between epochs somebody may be on its way to another parent who needs a
	 * round: only what has failed is passed.
	 */
	if (!node->open)
		lowest = min(lowest, ina_round_unfailed(node));
	if (lowest == U64_MAX || lowest <= node->acked)
		return;
	node->acked = lowest;
	if (!node->root) {
		node->send_ack = true;
		ina_node_kick(node);
		return;
	}
	WRITE_ONCE(node->base, lowest);
	for (i = 0; i < node->nchildren; i++)
		node->children[i].announce = true;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_base(node->workers[i]);
	ina_node_kick(node);
}
