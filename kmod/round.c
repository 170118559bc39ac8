// SPDX-License-Identifier: GPL-2.0
/*
 * A round lives in entry round % depth of its node while it is in the window
 * [base, base + depth). Contributions and results meet here, from softirq and
 * from the workers' submits; the slow transitions (claim, complete, fail,
 * window) take the node's lock, a fragment only its slot's.
 */
#include <linux/jiffies.h>

#include "event.h"
#include "fail.h"
#include "net.h"
#include "round.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"
#include "wire.h"
#include "worker.h"

static bool ina_round_key_match(u64 progress, const struct ina_tag *tag)
{
	return (progress & GENMASK_ULL(63, 32)) == ina_round_key(tag);
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
	struct ina_tag tag = { .era = era, .round = round };

	ina_round_look(node, ina_node_at(node, round), &tag);
	return tag;
}

/**
 * ina_round_look() - is a round final, and under which tag
 * @node: the node
 * @at: its place in the window
 * @tag: the round, and the era of the epoch that is published; if it is final,
 *	the era since which it is goes here
 *
 * Context: as ina_round_tag().
 * Return: true if so.
 */
bool ina_round_look(const struct ina_node *node, u32 at, struct ina_tag *tag)
{
	u64 kept = READ_ONCE(node->rounds[at].kept);

	if (!kept || (u32)kept != (u32)tag->round)
		return false;
	tag->era = kept >> 32;
	return true;
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
	u64 kept = READ_ONCE(node->rounds[ina_node_at(node, tag->round)].kept);

	return tag->era && kept == ((u64)tag->era << 32 | (u32)tag->round);
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
 * ina_round_flags() - was an element saturated, or has one lost bits
 * @round: the round
 *
 * Return: INA_F_OVERFLOW, INA_F_INEXACT.
 */
u16 ina_round_flags(const struct ina_round *round)
{
	u64 progress = atomic64_read(&round->progress);

	return (progress & INA_PROGRESS_OVERFLOW ? INA_F_OVERFLOW : 0) |
	       (progress & INA_PROGRESS_INEXACT ? INA_F_INEXACT : 0);
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
	smp_rmb();
	return !ina_round_gone(entry, tag);
}

/**
 * ina_round_start() - the time of a round begins
 * @node: the node; its lock is held
 * @entry: the round
 */
void ina_round_start(const struct ina_node *node, struct ina_round *entry)
{
	entry->started = jiffies;
	entry->ask_at = jiffies;
	entry->least = node->members;
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
	bool again = entry->again && entry->tag.round == tag->round;

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
	/* A final round may be of earlier members. */
	if (!ina_round_is_kept(node, tag)) {
		WRITE_ONCE(entry->kept, 0);
		entry->members = node->members;
		entry->token = node->token;
		ina_ranks_copy(&entry->ranks, &node->ranks);
	}
	if (!again)
		ina_round_start(node, entry);
	entry->since = jiffies;
	entry->tag = *tag;
	entry->frags = ina_wire_frags(length, config->fragment);
	entry->failed = false;
	entry->heard = false;
	entry->doomed = 0;
	entry->reported = false;
	entry->exclude = false;
	entry->excluding = false;
	entry->ordered = 0;
	entry->again = again;
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
				  const struct ina_part *part,
				  const struct in6_addr *from)
{
	struct ina_blame blame = { .reason = INA_REASON_LENGTH };
	struct ina_round *entry;
	int ret = 0;

	spin_lock_bh(&node->lock);
	entry = ina_round_claim(node, &part->tag, part->length);
	if (IS_ERR(entry) && PTR_ERR(entry) == -EMSGSIZE) {
		blame.detail[0] = part->length;
		blame.detail[1] = node->rounds[part->at].length;
		blame.culprit = *from;
		ina_fail_round_locked(node, &part->tag, &blame);
		ret = INA_STAT_DROP_LENGTH;
	} else if (IS_ERR(entry)) {
		ret = INA_STAT_DROP_WINDOW;
	} else if (entry->failed) {
		ret = INA_STAT_DROP_FAILED;
	}
	spin_unlock_bh(&node->lock);
	return ret;
}

/* May a fragment of a round go into its slot? 0 or a counter. */
static int ina_round_enter(struct ina_node *node, const struct ina_part *part,
			   const struct in6_addr *from)
{
	struct ina_round *entry = &node->rounds[part->at];
	/* Pairs with the release in ina_round_claim(): the word, then the length. */
	u64 progress = part->entered ? atomic64_read(&entry->progress) :
				       atomic64_read_acquire(&entry->progress);

	if (ina_round_key_match(progress, &part->tag) &&
	    (part->entered || READ_ONCE(entry->length) == part->length))
		return progress & INA_PROGRESS_FAILED ?
		       INA_STAT_DROP_FAILED : 0;
	return ina_round_enter_locked(node, part, from);
}

/* All results are held: tell the workers. */
static void ina_round_complete(struct ina_node *node, const struct ina_tag *tag)
{
	struct ina_round *entry = ina_round_entry(node, tag->round);
	u16 flags;
	int i;

	spin_lock_bh(&node->lock);
	if (!ina_tag_equal(&entry->tag, tag) || entry->failed)
		goto unlock;
	entry->complete = true;
	entry->started = jiffies;
	ina_arrival_settle(node, tag->round, 0);
	trace_ina_round_end(node, tag->round, 0);
	flags = ina_round_flags(entry);
	ina_stats_inc(node->job->stats, INA_STAT_ROUNDS_DONE);
	if (flags & INA_F_OVERFLOW)
		ina_stats_inc(node->job->stats, INA_STAT_ROUNDS_OVERFLOW);
	if (flags & INA_F_INEXACT)
		ina_stats_inc(node->job->stats, INA_STAT_ROUNDS_INEXACT);
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_round_end(node->workers[i], entry, flags);
	ina_round_advance(node);
	if (flags & INA_F_OVERFLOW)
		ina_event_send(node->net, &(struct ina_event){
				.type = INA_EVENT_TYPE_OVERFLOW,
				.job = node->job->config.id,
				.has_round = true, .round = tag->round },
			       "job %u round %llu saturated: scale the gradient down",
			       node->job->config.id, tag->round);
unlock:
	spin_unlock_bh(&node->lock);
}

/* More results are held. Return: false if they do not count any more. */
static bool ina_round_hold(struct ina_node *node, const struct ina_row *row,
			   bool *last)
{
	struct ina_round *entry = ina_round_entry(node, row->tag.round);
	u64 old = atomic64_read(&entry->progress);
	u64 new;

	do {
		if (!ina_round_key_match(old, &row->tag) ||
		    (old & INA_PROGRESS_FAILED))
			return false;
		new = old + row->count;
		if (row->flags & INA_F_OVERFLOW)
			new |= INA_PROGRESS_OVERFLOW;
		if (row->flags & INA_F_INEXACT)
			new |= INA_PROGRESS_INEXACT;
	} while (!atomic64_try_cmpxchg(&entry->progress, (s64 *)&old, new));

	*last = (new & INA_PROGRESS_HELD) ==
		ina_wire_frags(row->length, node->job->config.fragment);
	return true;
}

/**
 * ina_round_settle() - tell of the slots that have become complete
 * @node: the node
 * @row: they; none are left there
 *
 * Once for many, as this writes where all CPUs do.
 * Context: process or softirq, no lock held.
 */
void ina_round_settle(struct ina_node *node, struct ina_row *row)
{
	bool down = row->way == INA_SLOT_DOWN, last = false;
	u32 i;

	/* Held before it can be sent: a round nobody lacks a part of is final. */
	if (!row->count || (down && !ina_round_hold(node, row, &last)))
		goto out;
	for (i = 0; down && node->root && i < row->count; i++)
		ina_slot_publish(ina_node_slot(node, row->id + i), &row->tag);
	/* One that has gone to another tag meanwhile has nothing to send. */
	ina_tx_queue(node, row->id, row->count, row->way);
	if (last)
		ina_round_complete(node, &row->tag);
out:
	row->count = 0;
}

/* A slot has become complete, or has its result. No lock is held. */
static void ina_round_full(struct ina_node *node, struct ina_row *row,
			   const struct ina_part *part, u32 id, u8 way)
{
	if (row->id + row->count != id || row->way != way ||
	    !ina_tag_equal(&row->tag, &part->tag))
		ina_round_settle(node, row);
	if (!row->count)
		*row = (struct ina_row){
			.tag = part->tag, .length = part->length, .id = id,
			.way = way,
		};
	row->count++;
	row->flags |= part->flags & INA_F_STICKY;
}

/* The root has a sum over its whole tree; no lock is held. Return: whether it counts right. */
static bool ina_round_counts(struct ina_node *node, const struct ina_part *part)
{
	struct ina_blame blame = {
		.reason = INA_REASON_COUNT,
		.detail = { part->workers, READ_ONCE(node->members) },
	};

	if (part->workers == READ_ONCE(node->members) &&
	    part->token == READ_ONCE(node->token))
		return true;
	/* Of a round that counts: the epoch may have changed meanwhile. */
	if (ina_fail_round(node, &part->tag, &blame))
		ina_stats_inc(node->job->stats, INA_STAT_COUNT_WRONG);
	return false;
}

/**
 * ina_round_contribute() - a child's or worker's sum of a fragment has come
 * @node: the node
 * @ctx: of ina_sum_begin()
 * @row: where its slot goes if it was the last
 * @part: what it says of itself
 * @frag: which fragment
 * @src: its elements, as many as the fragment has
 * @from: whose it is, to blame
 *
 * Context: process or softirq, no lock held. The caller settles the row, and
 * after ina_sum_end() runs the sender.
 * Return: 0, or the counter that says why it was refused.
 */
int ina_round_contribute(struct ina_node *node, const struct ina_sum_ctx *ctx,
			 struct ina_row *row, struct ina_part *part, u32 frag,
			 const void *src, const struct in6_addr *from)
{
	u32 id = part->at * node->frags + frag;
	u32 count = ina_wire_count(part->length, node->job->config.fragment,
				   frag);
	struct ina_sums sums = ina_node_elements(node, part->at, frag, count);
	int err;

	err = ina_round_enter(node, part, from);
	if (err)
		return err;
	/* Who knows the era knows how many: see ina_epoch_open(). */
	part->expected = READ_ONCE(node->expected);
	switch (ina_slot_add(ina_node_slot(node, id), ctx, part,
			     node->contributors, &sums, src)) {
	case INA_SLOT_ADDED:
		return 0;
	case INA_SLOT_FULL:
		if (!node->root)
			ina_round_full(node, row, part, id, INA_SLOT_UP);
		else if (ina_round_counts(node, part))
			ina_round_full(node, row, part, id, INA_SLOT_DOWN);
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
	ina_ranks_clear(&entry->ranks);
	ina_round_advance(node);
unlock:
	spin_unlock_bh(&node->lock);
}

/**
 * ina_round_result() - the root's sum of a fragment has come down
 * @node: the node
 * @row: where its slot goes
 * @part: what it says of itself
 * @frag: which fragment
 * @src: its elements
 *
 * Context: process or softirq, no lock held. The caller settles the row and runs
 * the sender.
 * Return: 0, or the counter that says why it was refused.
 */
int ina_round_result(struct ina_node *node, struct ina_row *row,
		     const struct ina_part *part, u32 frag, const void *src)
{
	u32 id = part->at * node->frags + frag;
	u32 count = ina_wire_count(part->length, node->job->config.fragment,
				   frag);
	struct ina_sums sums = ina_node_elements(node, part->at, frag, count);
	int err;

	/* A final round may be of earlier members. */
	if (!part->final && (part->workers != READ_ONCE(node->members) ||
			     part->token != READ_ONCE(node->token)))
		return INA_STAT_DROP_MEMBERS;
	err = ina_round_enter(node, part, &node->parent.addr);
	if (err)
		return err;
	if (part->final)
		ina_round_admit(node, part);
	switch (ina_slot_result(ina_node_slot(node, id), part,
				node->contributors, &sums, src)) {
	case INA_SLOT_FULL:
		ina_round_full(node, row, part, id, INA_SLOT_DOWN);
		return 0;
	case INA_SLOT_DUPLICATE:
		return INA_STAT_DROP_DUPLICATE;
	case INA_SLOT_EARLY:
		return INA_STAT_DROP_EARLY;
	default:
		return INA_STAT_DROP_STALE;
	}
}

/* Lowest round somebody below still needs, U64_MAX if nobody needs any. */
static u64 ina_round_lowest(const struct ina_node *node)
{
	u64 lowest = U64_MAX;
	int i;

	for (i = 0; i < node->nchildren; i++)
		lowest = min(lowest, node->children[i].acked);
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] && !node->workers[i]->out)
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

/* The root moves the window to what all have acknowledged. */
static void ina_round_move(struct ina_node *node)
{
	int i;

	WRITE_ONCE(node->base, node->acked);
	node->held = false;
	for (i = 0; i < node->nchildren; i++)
		node->children[i].announce = true;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_base(node->workers[i]);
	ina_node_kick(node);
}

/**
 * ina_round_stay() - keep the window where it is, so that its rounds end and no others begin
 * @node: the root; its lock is held
 * @ms: for how long; half the deadline at most, as then it looks as if somebody were late
 *
 * While no epoch is open nothing begins: then there is nothing to keep.
 */
void ina_round_stay(struct ina_node *node, u32 ms)
{
	lockdep_assert_held(&node->lock);
	ina_round_go(node);
	ms = min(ms, node->job->config.deadline_ms / 2);
	if (!ms || !node->open)
		return;
	node->stay = (jiffies + msecs_to_jiffies(ms)) | 1;
	ina_node_tick_in(node, ms);
}

/**
 * ina_round_go() - the window is kept no longer
 * @node: the node; its lock is held
 */
void ina_round_go(struct ina_node *node)
{
	lockdep_assert_held(&node->lock);
	if (!node->stay)
		return;
	node->stay = 0;
	if (node->acked > node->base)
		ina_round_move(node);
}

/**
 * ina_round_advance() - somebody acknowledged: move the window if all have
 * @node: the node; its lock is held
 */
void ina_round_advance(struct ina_node *node)
{
	u64 lowest = ina_round_lowest(node);

	lockdep_assert_held(&node->lock);
	/*
	 * Who is not here any more may need a round, on its way to another
	 * parent: only what has failed is passed.
	 */
	if (node->changed)
		lowest = min(lowest, ina_round_unfailed(node));
	if (lowest == U64_MAX || lowest <= node->acked)
		return;
	node->acked = lowest;
	if (!node->root) {
		node->over_at = jiffies;
		node->send_ack = true;
		ina_node_kick(node);
	} else if (!node->stay) {
		ina_round_move(node);
	}
}
