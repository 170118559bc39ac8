// SPDX-License-Identifier: GPL-2.0
/*
 * What a worker is told: its control page, and with it which rounds are over for
 * it and which memory is its own. All functions run under the node's lock.
 */
#include <linux/ktime.h>

#include "event.h"
#include "net.h"
#include "round.h"
#include "stats.h"
#include "worker.h"

/* errno of a failed round. */
static int ina_worker_errno(u32 reason)
{
	switch (reason) {
	case INA_REASON_DEADLINE:
		return -ETIMEDOUT;
	case INA_REASON_COUNT:
		return -EBADMSG;
	case INA_REASON_LENGTH:
		return -EMSGSIZE;
	case INA_REASON_TREE:
		return -ECANCELED;
	}
	return -ECONNRESET;
}

/**
 * ina_worker_round() - a round on the control page
 * @worker: whose
 * @round: which
 *
 * Return: where it is, or another one that has the place.
 */
struct ina_ctl_round *ina_worker_round(struct ina_worker *worker, u64 round)
{
	return &worker->ctl->rounds[round % worker->node->job->config.depth];
}

/**
 * ina_worker_is_active() - has it submitted a round that has not ended
 * @worker: who; the node's lock is held
 * @round: which
 *
 * Return: true if so.
 */
bool ina_worker_is_active(struct ina_worker *worker, u64 round)
{
	struct ina_ctl_round *c = ina_worker_round(worker, round);

	return c->round == round && c->state == INA_ROUND_ACTIVE;
}

/**
 * ina_worker_ack() - which rounds are over for a worker
 * @worker: who; the node's lock is held
 *
 * Where the results share their memory with the sums of later rounds, only those
 * that have been read.
 */
void ina_worker_ack(struct ina_worker *worker)
{
	bool shared = worker->node->contributors > 1;
	struct ina_ctl_round *c;

	for (; worker->acked < worker->next; worker->acked++) {
		c = ina_worker_round(worker, worker->acked);
		/* Skipped. */
		if (c->round != worker->acked)
			continue;
		if (c->state == INA_ROUND_ACTIVE)
			return;
		if (shared && c->state == INA_ROUND_DONE &&
		    worker->released <= worker->acked)
			return;
	}
}

/**
 * ina_worker_skip() - pass rounds the worker has no part in
 * @worker: who; the node's lock is held
 * @fresh: it was in no epoch of this root before
 *
 * Rounds that were complete or given up before it came to them. A round that
 * failed while it was late it submits all the same, to learn why.
 */
void ina_worker_skip(struct ina_worker *worker, bool fresh)
{
	const struct ina_node *node = worker->node;
	u32 depth = node->job->config.depth;
	const struct ina_round *entry;

	for (; worker->next - node->base < depth; worker->next++) {
		entry = &node->rounds[worker->next % depth];
		if (entry->tag.round != worker->next ||
		    !ina_round_is_live(node, entry))
			break;
		if (!ina_round_is_kept(node, &entry->tag) &&
		    !(entry->failed &&
		      (fresh || entry->blame.reason == INA_REASON_LEFT)))
			break;
	}
	ina_worker_ack(worker);
	WRITE_ONCE(worker->ctl->next_round, worker->next);
}

/**
 * ina_worker_settled() - may the memory of its results be used again
 * @worker: who; the node's lock is held
 * @below: of the rounds below this one, U64_MAX for an epoch of another root
 * @base: first round of the epoch
 * @final: bit i: the result of round base + i may come though the worker did not
 *	submit it
 *
 * Return: true if so: nobody else writes there, or they have been read.
 */
bool ina_worker_settled(const struct ina_worker *worker, u64 below, u64 base,
			u32 final)
{
	const struct ina_ctl_round *c = worker->ctl->rounds;
	u32 depth = worker->node->job->config.depth;
	bool shared = worker->node->contributors > 1;
	u32 i, at;

	for (i = 0; i < depth; i++) {
		at = (base + i) % depth;
		if (c[at].state != INA_ROUND_DONE ||
		    c[at].round < worker->released)
			continue;
		if (shared && c[at].round < below)
			return false;
		if ((final & BIT(i)) &&
		    (c[at].round != base + i || below == U64_MAX))
			return false;
	}
	return true;
}

/**
 * ina_worker_round_end() - a round of the node is complete or failed
 * @worker: one that may wait for it
 * @round: the round
 * @flags: INA_F_OVERFLOW, INA_F_INEXACT of its elements
 *
 * Context: any, the node's lock is held; the caller moves the window.
 */
void ina_worker_round_end(struct ina_worker *worker,
			  const struct ina_round *round, u16 flags)
{
	struct ina_ctl_round *c = ina_worker_round(worker, round->tag.round);

	lockdep_assert_held(&worker->node->lock);
	if (!ina_worker_is_active(worker, round->tag.round))
		return;
	c->end_ns = ktime_get_ns();
	if (round->failed) {
		c->error = ina_worker_errno(round->blame.reason);
		c->reason = round->blame.reason;
		c->detail[0] = round->blame.detail[0];
		c->detail[1] = round->blame.detail[1];
		memcpy(c->culprit, &round->blame.culprit, sizeof(c->culprit));
		c->worker = round->blame.worker;
		c->last = round->blame.last;
	} else {
		c->error = flags & INA_F_OVERFLOW ? -EOVERFLOW : 0;
		c->flags = flags & INA_F_INEXACT ? INA_ROUND_INEXACT : 0;
		c->workers = round->members;
		BUILD_BUG_ON(sizeof(worker->ctl->ranks[0]) !=
			     sizeof(round->ranks.bits));
		memcpy(worker->ctl->ranks[c - worker->ctl->rounds],
		       round->ranks.bits, sizeof(round->ranks.bits));
	}
	/* The process reads the state first, then the rest and the result. */
	smp_store_release(&c->state, round->failed ? INA_ROUND_FAILED :
						     INA_ROUND_DONE);
	ina_worker_ack(worker);
	wake_up_interruptible_all(&worker->node->wait);
}

/**
 * ina_worker_give_up() - rounds that nobody will complete any more
 * @worker: who waits for them; the node's lock is held
 * @first: the first of them
 * @below: all below this one
 * @blame: why
 */
void ina_worker_give_up(struct ina_worker *worker, u64 first, u64 below,
			const struct ina_blame *blame)
{
	struct ina_node *node = worker->node;
	struct ina_round gone = { .failed = true, .blame = *blame };
	u64 *round = &gone.tag.round;

	for (*round = max(first, worker->acked);
	     *round < min(worker->next, below); (*round)++) {
		if (!ina_worker_is_active(worker, *round))
			continue;
		ina_stats_inc(node->job->stats, INA_STAT_ROUNDS_FAILED);
		ina_event_round_failed(node, *round, blame);
		ina_worker_round_end(worker, &gone, 0);
	}
}

/**
 * ina_worker_leave_out() - go on without a worker until it wants to be back
 * @worker: who; the node's lock is held
 *
 * Results that it has not released are taken away if their memory is used again.
 */
void ina_worker_leave_out(struct ina_worker *worker)
{
	struct ina_blame blame = {
		.reason = INA_REASON_EXCLUDED, .culprit = worker->node->local,
		.worker = worker->index + 1,
	};
	struct ina_ctl_round *c = worker->ctl->rounds;
	u32 i;

	worker->out = true;
	ina_worker_give_up(worker, 0, U64_MAX, &blame);
	wake_up_interruptible_all(&worker->node->wait);
	if (ina_worker_settled(worker, U64_MAX, 0, 0))
		return;
	worker->revoked = worker->next;
	for (i = 0; i < worker->node->job->config.depth; i++) {
		if (c[i].state != INA_ROUND_DONE ||
		    c[i].round < worker->released)
			continue;
		c[i].error = ina_worker_errno(blame.reason);
		c[i].reason = blame.reason;
		/* Before its memory is used again; who reads it asks at release. */
		smp_store_release(&c[i].state, INA_ROUND_FAILED);
	}
}

/**
 * ina_worker_state() - the node's state changed
 * @worker: one to be told
 * @state: enum ina_ctl_state
 *
 * Context: any, the node's lock is held.
 */
void ina_worker_state(struct ina_worker *worker, enum ina_ctl_state state)
{
	/* The process reads the state first, then the rest. */
	smp_store_release(&worker->ctl->state, state);
	wake_up_interruptible_all(&worker->node->wait);
}

/**
 * ina_worker_closed() - the epoch is closed
 * @worker: one to be told
 * @blame: why
 *
 * Context: any, the node's lock is held.
 */
void ina_worker_closed(struct ina_worker *worker, const struct ina_blame *blame)
{
	struct ina_ctl *ctl = worker->ctl;

	ctl->closed = blame->reason;
	memcpy(ctl->culprit, &blame->culprit, sizeof(ctl->culprit));
	ctl->worker = blame->worker;
	ctl->last = blame->last;
	ina_worker_state(worker, INA_CTL_WAITING);
}

/**
 * ina_worker_base() - the window moved
 * @worker: one to be told
 *
 * Context: any, the node's lock is held.
 */
void ina_worker_base(struct ina_worker *worker)
{
	WRITE_ONCE(worker->ctl->base, worker->node->base);
	wake_up_interruptible_all(&worker->node->wait);
}

/**
 * ina_worker_epoch() - a new epoch is open
 * @worker: one to be told; it has no part in any round if acked is U64_MAX
 *
 * Context: any, the node's lock is held.
 */
void ina_worker_epoch(struct ina_worker *worker)
{
	struct ina_node *node = worker->node;
	bool fresh = worker->acked == U64_MAX;

	if (fresh || worker->next < node->base) {
		worker->next = node->base;
		worker->released = node->base;
		worker->revoked = 0;
	}
	/* Who shares the memory of its results now has to have read them. */
	worker->acked = node->base;
	ina_worker_skip(worker, fresh);
	/* It has no part in what it passed; the page may tell of another root's. */
	if (fresh) {
		worker->acked = worker->next;
		worker->released = worker->next;
	}
	worker->ctl->epoch = node->epoch;
	worker->ctl->workers = node->members;
	WRITE_ONCE(worker->ctl->base, node->base);
	ina_worker_state(worker, INA_CTL_OPEN);
}

/**
 * ina_worker_refused() - the parent refuses the node, or does so no more
 * @node: whose workers are to be told; its lock is held
 */
void ina_worker_refused(struct ina_node *node)
{
	int i;

	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			WRITE_ONCE(node->workers[i]->ctl->refused,
				   node->refused);
}

/**
 * ina_worker_show() - put a new round on the control page
 * @worker: whose; the node's lock is held
 * @round: which
 * @length: elements
 *
 * A process may be looking: it reads the state, the rest, and the state again.
 */
void ina_worker_show(struct ina_worker *worker, u64 round, u32 length)
{
	struct ina_ctl_round *c = ina_worker_round(worker, round);

	WRITE_ONCE(c->state, INA_ROUND_IDLE);
	/* Idle before anything else changes. */
	smp_wmb();
	c->round = round;
	c->error = 0;
	c->flags = 0;
	c->reason = 0;
	c->length = length;
	c->workers = 0;
	c->epoch = worker->node->epoch;
	memset(c->detail, 0, sizeof(c->detail));
	memset(c->culprit, 0, sizeof(c->culprit));
	c->worker = 0;
	c->last = 0;
	c->submit_ns = ktime_get_ns();
	c->end_ns = 0;
	/* Active when all is written. */
	smp_store_release(&c->state, INA_ROUND_ACTIVE);
	/* The process may name the next round. */
	smp_store_release(&worker->ctl->next_round, worker->next);
}
