// SPDX-License-Identifier: GPL-2.0
/*
 * Membership. A node whose subtree is complete says so to its parent (JOIN);
 * a root whose tree is complete opens an epoch and announces it down (EPOCH).
 * Any change closes the epoch. All messages tell state and may be lost or
 * repeated: whoever waits for an answer repeats.
 * Context: softirq (receive) or the node's work; state under the node's lock,
 * packets are sent after it is dropped.
 */
#include <linux/jiffies.h>
#include <net/ipv6.h>

#include "epoch.h"
#include "event.h"
#include "fail.h"
#include "late.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "stats.h"
#include "watch.h"
#include "worker.h"
#include "xmit.h"

#define INA_MEMBER_ANSWER	(3 * HZ / 4)	/* a child that is told nothing has an answer */

/*
 * Nobody is left, nor late, which may come back: a new start, for which everybody
 * is waited for.
 */
static void ina_member_forgive(struct ina_node *node)
{
	int i;

	if (node->attached)
		return;
	for (i = 0; i < node->nchildren; i++)
		if (node->children[i].out == INA_REASON_EXCLUDED)
			return;
	node->absent = 0;
	for (i = 0; i < node->nchildren; i++)
		node->children[i].out = 0;
}

/*
 * Count the subtree: workers, tokens and ranks, 0 unless everybody is there whom
 * the others do not go on without.
 */
static void ina_member_count(struct ina_node *node)
{
	struct ina_ranks *ranks = &node->subtree_ranks;
	bool complete = node->attached + node->absent == node->nworkers;
	const struct ina_worker *worker;
	const struct ina_child *child;
	u32 workers = 0, token = 0;
	bool apart = true;
	int i;

	ina_ranks_clear(ranks);
	node->height = 0;
	for (i = 0; i < node->nworkers; i++) {
		worker = node->workers[i];
		if (!worker || worker->out)
			continue;
		workers++;
		token += worker->token;
		apart &= worker->rank == INA_RANK_NONE ||
			 ina_ranks_add(ranks, worker->rank);
	}
	for (i = 0; i < node->nchildren; i++) {
		child = &node->children[i];
		complete &= child->workers || child->out;
		workers += child->workers;
		token += child->token;
		apart &= ina_ranks_merge(ranks, &child->ranks);
		node->height = max_t(u16, node->height, child->height + 1);
	}
	if (!workers)
		ina_member_forgive(node);
	if (!apart)
		ina_event_send(node->net, &(struct ina_event){
				.type = INA_EVENT_TYPE_RANK_TWICE,
				.job = node->job->config.id },
			       "job %u waits: two workers have the same rank",
			       node->job->config.id);
	complete &= apart;
	node->subtree = complete ? workers : 0;
	node->subtree_token = complete ? token : 0;
	if (!complete)
		ina_ranks_clear(ranks);
}

/**
 * ina_member_floor() - rounds below may have been used in the subtree
 * @node: the node; its lock is held
 *
 * Nobody is further than the window, and a new epoch starts above all.
 * Return: the first round nobody can have used.
 */
u64 ina_member_floor(const struct ina_node *node)
{
	u64 floor = node->epoch ? node->base + node->job->config.depth : 0;
	int i;

	for (i = 0; i < node->nchildren; i++)
		floor = max(floor, node->children[i].floor);
	return floor;
}

/**
 * ina_member_last_epoch() - highest epoch the subtree has seen
 * @node: the node; its lock is held
 *
 * Return: its number, 0 if none.
 */
u32 ina_member_last_epoch(const struct ina_node *node)
{
	u32 epoch = node->epoch;
	int i;

	for (i = 0; i < node->nchildren; i++)
		epoch = max(epoch, node->children[i].last_epoch);
	return epoch;
}

/* Tell the operator that rounds go on without somebody. */
static void ina_member_degraded(struct ina_node *node,
				const struct ina_blame *blame)
{
	char worker[24] = "";

	if (!ina_node_degrades(node) || !node->epoch || !node->subtree ||
	    (blame->reason != INA_REASON_LEFT &&
	     blame->reason != INA_REASON_EXCLUDED))
		return;
	if (blame->worker)
		snprintf(worker, sizeof(worker), " worker %u",
			 blame->worker - 1);
	ina_event_send(node->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_DEGRADED,
			.job = node->job->config.id,
			.addr = blame->culprit, .workers = node->subtree,
			.has_round = true, .round = node->base,
			.reason = blame->reason, .blame = blame },
		       "job %u round %llu goes on without %pI6c%s: %u workers here and below",
		       node->job->config.id, node->base, &blame->culprit,
		       worker, node->subtree);
}

/**
 * ina_member_changed() - a child or worker came or went
 * @node: the node; its lock is held
 * @blame: why, if somebody went
 */
void ina_member_changed(struct ina_node *node, const struct ina_blame *blame)
{
	bool failed = node->root && blame->reason == INA_REASON_LEFT &&
		      !ina_node_degrades(node);
	bool asked = node->subtree;

	lockdep_assert_held(&node->lock);
	if (failed)
		blame = ina_fail_left(node, blame);
	ina_epoch_close(node, blame);
	node->held = false;
	node->changed = true;
	/* The result would lack somebody. */
	if (failed)
		ina_fail_incomplete(node, blame);
	ina_member_count(node);
	ina_member_degraded(node, blame);
	node->generation++;
	/* That a worker left is not forgotten until the parent has heard it. */
	if (node->welcomed || node->change.reason != INA_REASON_LEFT)
		node->change = *blame;
	node->welcomed = false;
	node->send_join = !node->root;
	/* From now on an answer is waited for. */
	if (!asked && !node->parent.silent)
		node->parent.alive = jiffies;
	/* Who went needs nothing any more. */
	ina_round_advance(node);
	ina_epoch_open_try(node);
	ina_node_kick(node);
	ina_node_tick(node);
}

/* Why the JOIN of a configured child cannot be accepted, or 0. */
static u32 ina_member_refusal(const struct ina_node *node,
			      const struct ina_join_hdr *join)
{
	/* First: then its packets may have another size, and another hash. */
	if (be16_to_cpu(join->mtu) <
	    ina_xmit_size(node, be32_to_cpu(join->workers) > 1))
		return INA_REASON_MTU;
	if (be64_to_cpu(join->hash) != node->job->hash)
		return INA_REASON_HASH;
	return 0;
}

/* Tell the operator, once, that a child is refused. */
static void ina_member_refuse(struct ina_node *node, struct ina_child *child,
			      u32 reason)
{
	if (child->refused == reason)
		return;
	child->refused = reason;
	if (!reason)
		return;
	ina_stats_inc(node->job->stats, INA_STAT_JOINS_REFUSED);
	ina_event_send(node->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_CHILD_REFUSED,
			.job = node->job->config.id,
			.addr = child->peer.addr, .reason = reason },
		       "job %u refuses child %pI6c: %s", node->job->config.id,
		       &child->peer.addr, ina_event_reason(reason));
}

/* Do the others go on without a child that has no workers any more? */
static void ina_member_out(const struct ina_node *node, struct ina_child *child,
			   bool was, u32 reason)
{
	if (child->workers) {
		child->out = 0;
	} else if (ina_node_degrades(node) && (was || child->out) &&
		   (reason == INA_REASON_LEFT ||
		    reason == INA_REASON_EXCLUDED)) {
		child->out = reason;
	}
}

/* Take over what a child says of its subtree. */
static void ina_member_update(struct ina_node *node, struct ina_child *child,
			      const struct ina_join_hdr *join, u32 epoch,
			      u16 nranks)
{
	u64 instance = be64_to_cpu(join->instance);
	u32 generation = be32_to_cpu(join->generation);
	struct ina_blame blame = { .culprit = child->peer.addr };
	bool restarted = child->instance && child->instance != instance;
	u32 workers = be32_to_cpu(join->workers);
	bool was = child->workers;

	/* Repeated, or overtaken by a later one. */
	if (child->instance == instance &&
	    (s32)(generation - child->generation) <= 0)
		return;
	if (child->instance != instance)
		child->ask = (struct ina_ask){};
	child->instance = instance;
	child->generation = generation;
	child->workers = child->refused ? 0 : workers;
	child->token = child->workers ? be32_to_cpu(join->token) : 0;
	child->height = min_t(u16, be16_to_cpu(join->height), S16_MAX);
	ina_ranks_set(&child->ranks, (const u8 *)(join + 1),
		      child->workers ? nranks : 0);
	child->dropped = false;
	child->floor = be64_to_cpu(join->floor);
	child->last_epoch = epoch;
	child->epoch_heard = 0;
	child->heard_open = false;
	child->announce = false;
	blame.reason = restarted || !join->reason ? INA_REASON_CHILD_LOST :
		       be16_to_cpu(join->reason);
	if (!restarted && memchr_inv(join->culprit, 0, sizeof(join->culprit)))
		memcpy(&blame.culprit, join->culprit, sizeof(join->culprit));
	blame.worker = be32_to_cpu(join->worker);
	blame.last = be32_to_cpu(join->last);
	/* Back after a restart: the same workers, or have some gone with it? */
	child->restarted |= restarted;
	if (child->restarted && child->workers) {
		if (child->token != child->epoch_token)
			blame.reason = INA_REASON_LEFT;
		child->restarted = false;
	}
	/* A host that is back without its workers. */
	if (restarted && !child->workers && !child->height &&
	    ina_node_degrades(node))
		blame.reason = INA_REASON_LEFT;
	ina_member_out(node, child, was, blame.reason);
	if (!was && !child->workers && blame.reason != INA_REASON_LEFT)
		return;
	ina_event_send(node->net, &(struct ina_event){
			.type = child->workers ? INA_EVENT_TYPE_CHILD_JOINED :
						 INA_EVENT_TYPE_CHILD_LEFT,
			.job = node->job->config.id,
			.addr = child->peer.addr, .workers = child->workers,
			.reason = child->workers ? 0 : blame.reason },
		       "job %u child %pI6c %s: %u workers",
		       node->job->config.id, &child->peer.addr,
		       child->workers ? "joined" : "left", child->workers);
	ina_member_changed(node, &blame);
}

/**
 * ina_member_rx_join() - a node wants to be, or to stop being, a child
 * @node: the node
 * @pkt: its JOIN
 * @from: its address
 */
void ina_member_rx_join(struct ina_node *node, const struct ina_pkt *pkt,
			const struct in6_addr *from)
{
	const struct ina_join_hdr *join = pkt->body;
	int index = ina_node_child_from(node, from);
	struct ina_child *child;

	/* Numbers no node has. */
	if (!join->instance || be64_to_cpu(join->floor) > S64_MAX) {
		ina_stats_inc(node->job->stats, INA_STAT_DROP_INSTANCE);
		return;
	}
	if (index < 0) {
		ina_stats_inc(node->job->stats, INA_STAT_JOINS_REFUSED);
		ina_xmit_stranger(node, from, join);
		return;
	}
	child = &node->children[index];
	spin_lock_bh(&node->lock);
	ina_watch_alive(node, &child->peer);
	ina_member_refuse(node, child, ina_member_refusal(node, join));
	ina_member_update(node, child, join, pkt->epoch, pkt->count);
	child->welcome = true;
	ina_node_kick(node);
	spin_unlock_bh(&node->lock);
}

/**
 * ina_member_stranger() - a child that has not joined sends as if it had
 * @node: the node
 * @child: the child
 *
 * It does not know that this node restarted: ask it to join again.
 */
void ina_member_stranger(struct ina_node *node, struct ina_child *child)
{
	spin_lock_bh(&node->lock);
	child->welcome = true;
	ina_node_kick(node);
	spin_unlock_bh(&node->lock);
}

/* The parent has lost this node: start over. */
static void ina_member_rejoin(struct ina_node *node)
{
	struct ina_blame blame = {
		.reason = INA_REASON_PARENT_LOST,
		.culprit = node->parent.addr,
	};

	ina_epoch_close(node, &blame);
	ina_member_changed(node, &(struct ina_blame){});
}

/*
 * Is this meant for us as we are? If not, the parent knows something else of
 * us than we told it last: tell it again.
 */
static bool ina_member_for_us(struct ina_node *node, __be64 instance,
			      __be32 generation)
{
	if (be64_to_cpu(instance) == node->instance &&
	    be32_to_cpu(generation) == node->generation)
		return true;
	ina_stats_inc(node->job->stats, INA_STAT_DROP_INSTANCE);
	if (node->welcomed) {
		node->welcomed = false;
		/* A parent that was set anew counts its EPOCHs anew. */
		node->heard_generation = node->generation - 1;
		node->send_join = true;
		ina_node_kick(node);
		ina_node_tick(node);
	}
	return false;
}

/*
 * The others went on without this node. Not yet while a contribution is being read, as its
 * process may write there as soon as it has heard of it: the parent says it again.
 */
static void ina_member_left_out(struct ina_node *node)
{
	int i;

	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] && node->workers[i]->pushing)
			return;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_leave_out(node->workers[i]);
	ina_member_changed(node, &(struct ina_blame){
			.reason = INA_REASON_EXCLUDED,
			.culprit = node->local });
}

/**
 * ina_member_rx_welcome() - the parent answers a JOIN
 * @node: the node
 * @pkt: the WELCOME
 */
void ina_member_rx_welcome(struct ina_node *node, const struct ina_pkt *pkt)
{
	const struct ina_welcome_hdr *welcome = pkt->body;
	u32 reason = be32_to_cpu(welcome->reason);

	spin_lock_bh(&node->lock);
	ina_watch_alive(node, &node->parent);
	if (reason == INA_REASON_CHILD_LOST) {
		/* One sent before the parent heard our JOIN may come late. */
		if (node->welcomed && node->subtree &&
		    time_after(jiffies, node->welcomed_at + HZ / 20))
			ina_member_rejoin(node);
		goto unlock;
	}
	if (!ina_member_for_us(node, welcome->instance, welcome->generation))
		goto unlock;
	if (reason == INA_REASON_EXCLUDED && ina_node_degrades(node)) {
		ina_member_left_out(node);
		goto unlock;
	}
	if (reason != node->refused && reason)
		ina_event_send(node->net, &(struct ina_event){
				.type = INA_EVENT_TYPE_REFUSED,
				.job = node->job->config.id,
				.addr = node->parent.addr, .reason = reason },
			       "job %u is refused by parent %pI6c: %s",
			       node->job->config.id, &node->parent.addr,
			       ina_event_reason(reason));
	node->refused = reason;
	if (!node->welcomed) {
		/* Perhaps of a new parent, which counts its EPOCHs anew. */
		node->heard_generation = node->generation - 1;
		node->welcomed_at = jiffies;
	}
	node->welcomed = !reason;
	node->index = pkt->index;
	ina_worker_refused(node);
unlock:
	spin_unlock_bh(&node->lock);
}

/* The window moved on in the epoch we are in. */
static void ina_member_base(struct ina_node *node, u64 base)
{
	int i;

	if (base <= node->base)
		return;
	WRITE_ONCE(node->base, base);
	ina_epoch_announce(node);
	for (i = 0; i < node->nworkers; i++) {
		if (!node->workers[i])
			continue;
		ina_worker_base(node->workers[i]);
		if (node->cut_off && !node->workers[i]->out)
			ina_worker_state(node->workers[i], INA_CTL_OPEN);
	}
	node->cut_off = false;
}

/*
 * The window of an epoch that is closed had moved on, which was not heard. Whatever a
 * worker still waits for below has failed while nobody counted this node.
 */
static void ina_member_closed_base(struct ina_node *node, u64 base,
				   const struct ina_blame *blame)
{
	int i;

	if (base <= node->base)
		return;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_give_up(node->workers[i], 0, base, blame);
	ina_member_base(node, base);
	node->acked = max(node->acked, base);
}

/*
 * Does an EPOCH tell of a state that is over? A root never opens a number again, nor
 * goes back to a lower one; which of its EPOCHs is the latest may have been forgotten.
 */
static bool ina_member_is_past(const struct ina_node *node, u32 number,
			       const struct ina_epoch_hdr *epoch)
{
	return be64_to_cpu(epoch->root) == node->root_id &&
	       (number < node->epoch ||
		(number == node->epoch && epoch->workers && !node->open));
}

/**
 * ina_member_rx_epoch() - the parent announces membership and window
 * @node: the node
 * @pkt: the EPOCH
 */
void ina_member_rx_epoch(struct ina_node *node, const struct ina_pkt *pkt)
{
	const struct ina_epoch_hdr *epoch = pkt->body;
	struct ina_blame blame = {
		.reason = be32_to_cpu(epoch->reason) ?: INA_REASON_PARENT_LOST,
		.culprit = node->parent.addr,
		.worker = be32_to_cpu(epoch->worker),
		.last = be32_to_cpu(epoch->last),
	};
	struct ina_epoch e = {
		.number = pkt->epoch,
		.members = be32_to_cpu(epoch->workers),
		.token = be32_to_cpu(epoch->token),
		.ranks = (const u8 *)(epoch + 1),
		.nranks = pkt->count,
		.base = be64_to_cpu(epoch->base),
		.over.final = be32_to_cpu(epoch->final),
		.over.failed = be32_to_cpu(epoch->failed),
		.over.left = be32_to_cpu(epoch->left),
	};

	spin_lock_bh(&node->lock);
	ina_watch_alive(node, &node->parent);
	if (!ina_member_for_us(node, epoch->instance, epoch->generation))
		goto unlock;
	/* It tells the whole state: only the latest counts. */
	if (!pkt->epoch || ina_member_is_past(node, pkt->epoch, epoch) ||
	    (node->heard_generation == node->generation &&
	     (s32)(pkt->seq - node->heard_seq) <= 0)) {
		ina_stats_inc(node->job->stats, INA_STAT_DROP_STALE);
		goto unlock;
	}
	node->heard_generation = node->generation;
	node->heard_seq = pkt->seq;
	if (epoch->workers && node->open && pkt->epoch == node->epoch) {
		/* The next ACK tells that the window was seen to move. */
		node->send_ack |= e.base <= node->base;
		ina_member_base(node, e.base);
		ina_late_told(node, e.base, be32_to_cpu(epoch->running));
		goto kick;
	}
	if (memchr_inv(epoch->culprit, 0, sizeof(epoch->culprit)))
		memcpy(&blame.culprit, epoch->culprit, sizeof(epoch->culprit));
	/* Closed, or another one: then the closing of ours was lost. */
	ina_epoch_close(node, &blame);
	e.root = be64_to_cpu(epoch->root);
	/* All may wait for us to hear that the rounds of this window have failed. */
	if (e.number == node->epoch && e.root == node->root_id)
		ina_member_closed_base(node, e.base, &blame);
	if (e.members && node->subtree)
		ina_epoch_follow(node, &e);
	node->send_ack = true;
kick:
	ina_node_kick(node);
unlock:
	spin_unlock_bh(&node->lock);
}

/* Has the child heard the epoch as it is? */
static bool ina_member_heard(const struct ina_node *node,
			     const struct ina_child *child)
{
	if (!node->open)
		return !child->heard_open &&
		       (child->epoch_heard != node->epoch ||
			child->heard_base >= node->base);
	return child->heard_open && child->epoch_heard == node->epoch;
}

/**
 * ina_member_rx_ack() - a child has heard an epoch and holds some rounds
 * @node: the node
 * @child: the child; it has joined
 * @pkt: the ACK
 */
void ina_member_rx_ack(struct ina_node *node, struct ina_child *child,
		       const struct ina_pkt *pkt)
{
	const struct ina_ack_hdr *ack = pkt->body;
	u64 acked = be64_to_cpu(ack->acked);
	bool news;

	spin_lock_bh(&node->lock);
	ina_watch_alive(node, &child->peer);
	news = pkt->workers && node->open && pkt->epoch == node->epoch &&
	       !ina_member_heard(node, child);
	child->epoch_heard = pkt->epoch;
	child->heard_open = pkt->workers;
	child->heard_base = be64_to_cpu(ack->base);
	if (pkt->epoch == node->epoch && child->acked != U64_MAX &&
	    acked > child->acked &&
	    acked <= node->base + node->job->config.depth) {
		child->acked = acked;
		ina_round_advance(node);
	}
	/* It missed the epoch that is held for it, and can enter only another. */
	if (node->held && child->workers && pkt->epoch != node->epoch)
		ina_member_changed(node, &(struct ina_blame){});
	/*
	 * It may believe to be complete: another state would make it join. Else the answer
	 * tells that this node lives.
	 */
	if (!child->workers ||
	    time_after_eq(jiffies, child->told_at + INA_MEMBER_ANSWER)) {
		child->welcome = true;
		ina_node_kick(node);
	}
	if (news) {
		ina_epoch_redistribute(node, child - node->children);
		ina_node_kick(node);
	}
	/* One that did not take the epoch is told again, in its time. */
	if (node->epoch && !ina_member_heard(node, child)) {
		ina_node_tick(node);
	} else if (node->open && child->heard_base < node->base &&
		   time_after(jiffies, child->told_at + 1)) {
		/* Not one for each ACK that was sent before it had heard. */
		child->announce = true;
		ina_node_kick(node);
	}
	spin_unlock_bh(&node->lock);
}

/**
 * ina_member_waiting() - is an answer outstanding that must be asked for again
 * @node: the node; its lock is held
 *
 * Return: whether the clock has to tick fast.
 */
bool ina_member_waiting(const struct ina_node *node)
{
	int i;

	if (!node->root && (!node->welcomed || node->acked > node->base))
		return true;
	if (node->root && node->subtree && !node->open)
		return true;
	for (i = 0; i < node->nchildren; i++)
		if (node->epoch && node->children[i].workers &&
		    !ina_member_heard(node, &node->children[i]))
			return true;
	return false;
}

/**
 * ina_member_repeat() - ask again for what is outstanding
 * @node: the node; its lock is held
 */
void ina_member_repeat(struct ina_node *node)
{
	int i;

	lockdep_assert_held(&node->lock);
	ina_epoch_open_try(node);
	if (!node->root) {
		node->send_join |= !node->welcomed;
		/* Also in peace: a parent that restarted asks us to join. */
		if (node->acked > node->base ||
		    time_after_eq(jiffies, node->acked_at + HZ - HZ / 8))
			node->send_ack |= node->welcomed && node->subtree;
	}
	for (i = 0; i < node->nchildren; i++)
		if (node->epoch && node->children[i].workers &&
		    !ina_member_heard(node, &node->children[i]))
			node->children[i].announce = true;
}
