// SPDX-License-Identifier: GPL-2.0
/*
 * Rounds that wait for somebody. After half its time a node tells its
 * children that the round waits, as those who lack everybody do not know of it.
 * Later, the lower the sooner, each tells its parent whom it waits for, so that
 * the root can name a worker when the time is over. Then the round fails, or
 * ends without those who are missing: the root says so, and whoever misses a
 * worker of its own, or a silent child without children, goes on without it.
 * Somebody who does not acknowledge a complete round is missing as well, once
 * that keeps all others out.
 * Packets come in softirq; the clock is the node's delayed work. State is under the node's lock.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>

#include "epoch.h"
#include "event.h"
#include "fail.h"
#include "late.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "worker.h"

#define INA_LATE_CONTRIBUTORS	(INA_NODE_CHILDREN_MAX + INA_NODE_WORKERS_MAX)

/**
 * struct ina_late - a round that waits
 * @tag: which
 * @frags: its fragments, 1 if nothing has come yet
 * @age: milliseconds since it started, or since the whole window was over
 * @held: it is over, but not acknowledged, and keeps others out
 * @may: somebody can be left out: no older one waits, and all had time to contribute in
 *	this epoch
 * @tried: that was decided so long ago that all who hear of it have done so, or cannot be
 * @missing: a bit for each contributor it waits for
 */
struct ina_late {
	struct ina_tag tag;
	u32 frags;
	u32 age;
	bool held;
	bool may;
	bool tried;
	DECLARE_BITMAP(missing, INA_LATE_CONTRIBUTORS);
};

/* Age at which a node of this height tells its parent whom a round waits for. */
static u32 ina_late_tell_ms(const struct ina_node *node, u16 height)
{
	u32 ms = ina_late_limit_ms(node);

	return ms - ms / (4 * (height + 1));
}

/* Age at which the parent is told; the root acts. */
static u32 ina_late_report_ms(const struct ina_node *node)
{
	return node->root ? ina_late_limit_ms(node) :
			    ina_late_tell_ms(node, node->height);
}

/*
 * Age at which a round fails here, U32_MAX if that is left to others. Those
 * below leave the root, who knows more, the time to name the culprit, or to go
 * on without it.
 */
static u32 ina_late_fail_ms(const struct ina_node *node)
{
	u32 ms = ina_late_limit_ms(node);
	u32 more = max(ms / 4, 1U);

	if (!node->root && !node->nworkers)
		return U32_MAX;
	return ms + (node->root ? 0 : more) +
	       (ina_node_degrades(node) ? more : 0);
}

/*
 * Is this the round that keeps all others out? It is over, as is the whole window, but
 * somebody below does not acknowledge it. If it has failed, the root knows whom it waited
 * for, and has nothing to hear from others.
 */
static bool ina_late_held(const struct ina_node *node,
			  const struct ina_round *entry)
{
	const struct ina_round *other;
	u32 i;

	if (!node->open || entry->tag.round != node->acked ||
	    (entry->failed && !node->root))
		return false;
	for (i = 0; i < node->job->config.depth; i++) {
		other = &node->rounds[i];
		if (!(other->complete || other->failed) ||
		    !ina_round_is_live(node, other))
			return false;
	}
	return true;
}

/**
 * ina_late_waits() - does a round wait for somebody
 * @node: the node; its lock is held
 * @entry: the round
 *
 * Return: true if so.
 */
bool ina_late_waits(const struct ina_node *node, const struct ina_round *entry)
{
	if (!ina_round_is_live(node, entry))
		return false;
	if (entry->complete || entry->failed)
		return ina_late_held(node, entry);
	return !(entry->tag.round < node->acked &&
		 ina_round_is_kept(node, &entry->tag));
}

static u32 ina_late_age(const struct ina_round *entry)
{
	return jiffies_to_msecs(jiffies - entry->started);
}

/* For how long has the whole window been over? */
static u32 ina_late_over(const struct ina_node *node)
{
	u32 i, age = U32_MAX;

	for (i = 0; i < node->job->config.depth; i++)
		age = min(age, ina_late_age(&node->rounds[i]));
	return age;
}

/* The entry of a round that waits for @ms already, as a neighbour says. */
static struct ina_round *ina_late_claim(struct ina_node *node,
					const struct ina_tag *tag, u32 ms)
{
	struct ina_round *entry = ina_round_claim(node, tag, 0);

	lockdep_assert_held(&node->lock);
	if (IS_ERR(entry) || entry->failed)
		return NULL;
	if (ina_late_age(entry) < ms) {
		entry->started = jiffies - msecs_to_jiffies(ms);
		ina_node_tick(node);
	}
	return entry;
}

/**
 * ina_late_running() - rounds that have waited for half their time
 * @node: the node; its lock is held
 *
 * Return: a bit for each round of the window.
 */
u32 ina_late_running(struct ina_node *node)
{
	u32 half = ina_late_limit_ms(node) / 2;
	struct ina_round *entry;
	u32 i, running = 0;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = ina_round_entry(node, node->base + i);
		if (entry->tag.round == node->base + i &&
		    entry->tag.era == node->era && !entry->complete &&
		    !entry->failed && ina_late_waits(node, entry) &&
		    ina_late_age(entry) >= half)
			running |= BIT(i);
	}
	return running;
}

/**
 * ina_late_told() - the parent says which rounds wait
 * @node: the node; its lock is held
 * @base: first round of its window
 * @running: a bit for each round
 */
void ina_late_told(struct ina_node *node, u64 base, u32 running)
{
	struct ina_tag tag = { .era = node->era };
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		tag.round = base + i;
		if ((running & BIT(i)) && !ina_round_is_kept(node, &tag))
			ina_late_claim(node, &tag,
				       ina_late_limit_ms(node) / 2);
	}
}

/**
 * ina_late_named() - a child says whom a round waits for
 * @node: the node
 * @child: the child
 * @tag: the round
 * @blame: whom
 *
 * Context: softirq, no lock held.
 */
void ina_late_named(struct ina_node *node, struct ina_child *child,
		    const struct ina_tag *tag, const struct ina_blame *blame)
{
	spin_lock_bh(&node->lock);
	if (ina_late_claim(node, tag, ina_late_tell_ms(node, child->height))) {
		child->late = *blame;
		child->late_round = tag->round + 1;
	}
	spin_unlock_bh(&node->lock);
}

/**
 * ina_late_order() - the root wants a round to end without whom it waits for
 * @node: the node, not the root
 * @tag: the round
 *
 * Context: softirq, no lock held.
 */
void ina_late_order(struct ina_node *node, const struct ina_tag *tag)
{
	struct ina_round *entry;

	spin_lock_bh(&node->lock);
	entry = ina_late_claim(node, tag, ina_late_limit_ms(node));
	if (entry && ina_node_degrades(node)) {
		entry->exclude = true;
		if (!entry->ordered)
			entry->ordered = jiffies | 1;
		entry->excluding = node->nchildren;
		entry->tell_down = node->nchildren;
		ina_node_kick(node);
		ina_node_tick_in(node, 1);
	}
	spin_unlock_bh(&node->lock);
}

/* Is this contributor in the epoch? */
static bool ina_late_expected(const struct ina_node *node, u16 who)
{
	const struct ina_worker *worker;

	if (who < node->nchildren)
		return node->children[who].workers;
	worker = node->workers[who - node->nchildren];
	return worker && !worker->out;
}

/* What has this contributor acknowledged? */
static u64 ina_late_acked(const struct ina_node *node, u16 who)
{
	return who < node->nchildren ? node->children[who].acked :
	       node->workers[who - node->nchildren]->acked;
}

/*
 * Who has not contributed to all of a round, or not acknowledged it?
 * Context: process, no lock held.
 */
static void ina_late_search(struct ina_node *node, struct ina_late *late)
{
	DECLARE_BITMAP(seen, INA_LATE_CONTRIBUTORS);
	u32 frag, id;
	u16 who;

	bitmap_fill(seen, node->contributors);
	for (frag = 0; frag < late->frags && !late->held; frag++) {
		id = ina_node_slot_id(node, late->tag.round, frag);
		ina_slot_common(ina_node_slot(node, id), &late->tag, seen,
				node->contributors);
		cond_resched();
	}
	bitmap_zero(late->missing, INA_LATE_CONTRIBUTORS);
	spin_lock_bh(&node->lock);
	for (who = 0; who < node->contributors; who++)
		if (ina_late_expected(node, who) &&
		    (late->held ? ina_late_acked(node, who) <= late->tag.round :
				  !test_bit(who, seen)))
			__set_bit(who, late->missing);
	spin_unlock_bh(&node->lock);
}

/* The last fragment seen of a contributor, counted from 1. */
static u32 ina_late_last(struct ina_node *node, const struct ina_late *late,
			 u16 who)
{
	u32 frag, id;

	for (frag = late->frags; frag; frag--) {
		id = ina_node_slot_id(node, late->tag.round, frag - 1);
		if (ina_slot_has(ina_node_slot(node, id), &late->tag, who))
			return frag;
		cond_resched();
	}
	return 0;
}

/* Put a name to a contributor that is missing. */
static void ina_late_name(struct ina_node *node, const struct ina_late *late,
			  u16 who, struct ina_blame *blame)
{
	const struct ina_child *child;

	if (who >= node->nchildren) {
		blame->culprit = node->local;
		blame->worker = who - node->nchildren + 1;
		blame->last = ina_late_last(node, late, who);
		return;
	}
	child = &node->children[who];
	spin_lock_bh(&node->lock);
	if (child->late_round == late->tag.round + 1) {
		blame->culprit = child->late.culprit;
		blame->worker = child->late.worker;
		blame->last = child->late.last;
		spin_unlock_bh(&node->lock);
		return;
	}
	blame->culprit = child->peer.addr;
	/* The only worker of a host. */
	blame->worker = !child->height && child->workers == 1;
	spin_unlock_bh(&node->lock);
	blame->last = ina_late_last(node, late, who);
}

/* An aggregator is missing that has not said yet whom it waits for itself. */
static bool ina_late_unnamed(struct ina_node *node, const struct ina_late *late)
{
	u16 who = find_first_bit(late->missing, INA_LATE_CONTRIBUTORS);
	bool unnamed;

	if (who >= node->nchildren)
		return false;
	spin_lock_bh(&node->lock);
	unnamed = node->children[who].height &&
		  node->children[who].late_round != late->tag.round + 1;
	spin_unlock_bh(&node->lock);
	return unnamed;
}

/* Nobody below is missing: somebody who is not there any more, else the parent. */
static void ina_late_name_above(struct ina_node *node, struct ina_blame *blame)
{
	spin_lock_bh(&node->lock);
	if (!node->open && node->closed.reason) {
		blame->culprit = node->closed.culprit;
		blame->worker = node->closed.worker;
		blame->last = node->closed.last;
	} else if (!node->root) {
		blame->culprit = node->parent.addr;
	}
	spin_unlock_bh(&node->lock);
}

/* Whom does the round wait for? The first of them, if there are several. */
static struct ina_blame ina_late_blame(struct ina_node *node,
				       const struct ina_late *late)
{
	struct ina_round *entry = ina_round_entry(node, late->tag.round);
	struct ina_blame blame = {
		.reason = INA_REASON_DEADLINE,
		.detail = { late->frags - min(late->frags, ina_round_held(entry)),
			    late->frags },
	};
	u16 who = find_first_bit(late->missing, INA_LATE_CONTRIBUTORS);

	/* Of a final round only results are missing. */
	if (!late->held && ina_round_is_kept(node, &late->tag))
		blame.culprit = node->parent.addr;
	else if (who < INA_LATE_CONTRIBUTORS)
		ina_late_name(node, late, who, &blame);
	else
		ina_late_name_above(node, &blame);
	return blame;
}

/*
 * Go on without a contributor, if that can be decided here. A child that has
 * children itself, or said whom it waits for, decides on its own; the latter has
 * not much time for it.
 */
static bool ina_late_part(struct ina_node *node, const struct ina_late *late,
			  u16 who)
{
	struct ina_worker *worker;
	struct ina_child *child;

	if (who < node->nchildren) {
		child = &node->children[who];
		if (child->height ||
		    (child->late_round == late->tag.round + 1 && !late->tried))
			return false;
		child->out = INA_REASON_DEADLINE;
		child->dropped = true;
		child->workers = 0;
		child->token = 0;
		ina_ranks_clear(&child->ranks);
		return true;
	}
	worker = node->workers[who - node->nchildren];
	/* It is not late, or its buffer is being read. */
	if (ina_worker_is_active(worker, late->tag.round) || worker->pushing)
		return false;
	ina_worker_leave_out(worker);
	return true;
}

/*
 * End a round without those it waits for.
 * Context: process, no lock held.
 */
static void ina_late_exclude(struct ina_node *node, const struct ina_late *late)
{
	struct ina_round *entry = ina_round_entry(node, late->tag.round);
	struct ina_blame blame = ina_late_blame(node, late);
	bool changed = false;
	u16 who;

	blame.reason = INA_REASON_EXCLUDED;
	spin_lock_bh(&node->lock);
	if (!ina_tag_equal(&entry->tag, &late->tag) || !node->open ||
	    !ina_late_waits(node, entry))
		goto unlock;
	entry->exclude = false;
	if (!entry->ordered)
		entry->ordered = jiffies | 1;
	/* All are told before anybody's parting opens the next epoch. */
	if (node->root && node->nchildren && !entry->excluding) {
		entry->excluding = true;
		entry->tell_down = true;
		ina_node_kick(node);
		goto unlock;
	}
	for_each_set_bit(who, late->missing, node->contributors)
		if (ina_late_expected(node, who))
			changed |= ina_late_part(node, late, who);
	if (changed)
		ina_member_changed(node, &blame);
unlock:
	spin_unlock_bh(&node->lock);
}

/*
 * Nobody can go on, and no round is left to fail: say so by closing the epoch, because of
 * whom the round had waited for, if it has failed by that.
 */
static void ina_late_close(struct ina_node *node, const struct ina_late *late,
			   const struct ina_blame *blame)
{
	struct ina_round *entry = ina_round_entry(node, late->tag.round);

	spin_lock_bh(&node->lock);
	if (node->root && ina_tag_equal(&entry->tag, &late->tag) &&
	    ina_late_waits(node, entry) &&
	    ina_late_over(node) >= ina_late_limit_ms(node))
		ina_epoch_close(node, entry->failed && entry->blame.reason ==
				INA_REASON_DEADLINE ? &entry->blame : blame);
	spin_unlock_bh(&node->lock);
}

/*
 * May somebody be left out because of a round? Who waits for an older one is not late with
 * it, nor who has yet to send it again.
 */
static bool ina_late_may(const struct ina_node *node, const struct ina_round *entry)
{
	u32 grace = ina_late_limit_ms(node) / 8;
	const struct ina_round *other;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		other = &node->rounds[i];
		if (other->tag.round < entry->tag.round &&
		    ina_late_waits(node, other))
			return false;
	}
	return time_after_eq(jiffies, entry->since + msecs_to_jiffies(grace));
}

/* A copy of what is known of a round; false if it waits for nobody. */
static bool ina_late_copy(struct ina_node *node, u32 i, struct ina_late *late,
			  bool *ask, bool *exclude)
{
	struct ina_round *entry = &node->rounds[i];
	u32 limit = ina_late_limit_ms(node);
	bool waits;

	spin_lock_bh(&node->lock);
	waits = ina_late_waits(node, entry);
	late->tag = entry->tag;
	late->frags = max(entry->frags, 1U);
	late->held = entry->complete || entry->failed;
	late->may = ina_late_may(node, entry);
	late->tried = !node->open ||
		      (entry->ordered && time_after_eq(jiffies, entry->ordered +
						       msecs_to_jiffies(limit / 8)));
	late->age = late->held ? ina_late_over(node) : ina_late_age(entry);
	/* Who has just entered the epoch has yet to hear of those below. */
	*exclude = entry->exclude &&
		   time_after_eq(jiffies, node->opened_at + msecs_to_jiffies(limit / 8));
	*ask = waits && !late->held && node->nchildren &&
	       late->age >= limit / 2 && late->age < limit &&
	       time_after_eq(jiffies, entry->ask_at);
	if (*ask)
		entry->ask_at = jiffies + msecs_to_jiffies(limit / 16);
	spin_unlock_bh(&node->lock);
	return waits;
}

/* What is due for one round. Return: milliseconds until something else is. */
static u32 ina_late_round(struct ina_node *node, u32 i)
{
	u32 limit = ina_late_limit_ms(node);
	u32 report = ina_late_report_ms(node), fail = ina_late_fail_ms(node);
	bool degrades = node->root && ina_node_degrades(node);
	struct ina_blame blame;
	struct ina_late late;
	bool ask, exclude;

	if (!ina_late_copy(node, i, &late, &ask, &exclude))
		return U32_MAX;
	if (ask) {
		spin_lock_bh(&node->lock);
		ina_epoch_announce(node);
		spin_unlock_bh(&node->lock);
		ina_node_kick(node);
	}
	exclude |= degrades && late.age >= limit && late.may;
	if (late.age < min(report, fail) && !exclude)
		return late.age < limit / 2 ? limit / 2 - late.age :
		       min(report, fail) - late.age;
	ina_late_search(node, &late);
	if (exclude)
		ina_late_exclude(node, &late);
	/* It gets an eighth more for that. */
	if (late.age < limit + limit / 8 && ina_late_unnamed(node, &late))
		fail = max(fail, limit + limit / 8);
	/* Not before it was tried, but before those below do so by themselves. */
	if (degrades && !late.tried)
		fail += limit / 8;
	blame = ina_late_blame(node, &late);
	if (late.age >= fail && late.held)
		ina_late_close(node, &late, &blame);
	else if (late.age >= fail)
		ina_fail_round(node, &late.tag, &blame);
	else if (!node->root && !bitmap_empty(late.missing, INA_LATE_CONTRIBUTORS))
		ina_fail_report(node, &late.tag, &blame);
	return late.age < limit ? limit - late.age :
	       late.age < fail ? fail - late.age : U32_MAX;
}

/*
 * The whole window is over here, and nothing is heard of the others: then the parent
 * is out of reach, as the root would have closed the epoch. The workers here are told,
 * until the window moves. Return: milliseconds until that is due.
 */
static u32 ina_late_cut_off(struct ina_node *node)
{
	struct ina_blame blame = {
		.reason = INA_REASON_DEADLINE, .culprit = node->parent.addr,
	};
	u32 fail = ina_late_fail_ms(node), age = U32_MAX, i;

	spin_lock_bh(&node->lock);
	if (!node->root && node->open && !node->cut_off &&
	    node->acked - node->base == node->job->config.depth)
		age = jiffies_to_msecs(jiffies - node->over_at);
	if (age >= fail && age != U32_MAX) {
		node->cut_off = true;
		for (i = 0; i < node->nworkers; i++)
			if (node->workers[i])
				ina_worker_closed(node->workers[i], &blame);
	}
	spin_unlock_bh(&node->lock);
	return age < fail ? fail - age : U32_MAX;
}

/**
 * ina_late_tick() - do what is due for the rounds that wait
 * @node: the node
 *
 * Context: process, the node's delayed work.
 * Return: milliseconds until something else is due, U32_MAX if nothing is.
 */
unsigned int ina_late_tick(struct ina_node *node)
{
	u32 i, ms = ina_late_cut_off(node);

	for (i = 0; i < node->job->config.depth; i++)
		ms = min(ms, ina_late_round(node, i));
	return ms;
}
