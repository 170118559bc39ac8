// SPDX-License-Identifier: GPL-2.0
/*
 * What an attached worker does: submit, wait, release. Its contribution takes
 * the way of any other, into the slots of its node, from its own process
 * context. Its control page is the only thing it needs to look at.
 */
#include <linux/sched/signal.h>
#include <linux/ktime.h>

#include "epoch.h"
#include "event.h"
#include "fail.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "stats.h"
#include "tx.h"
#include "worker.h"

#define INA_WORKER_BATCH	64	/* fragments between two sends */

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

static struct ina_ctl_round *ina_worker_round(struct ina_worker *worker,
					      u64 round)
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

/*
 * Which rounds are over for this worker? Where the results share their memory
 * with the sums of later rounds, only those that have been read.
 */
static void ina_worker_ack(struct ina_worker *worker)
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
 * @overflow: elements were saturated
 *
 * Context: any, the node's lock is held; the caller moves the window.
 */
void ina_worker_round_end(struct ina_worker *worker,
			  const struct ina_round *round, bool overflow)
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
		c->error = overflow ? -EOVERFLOW : 0;
		c->workers = round->members;
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
		ina_worker_round_end(worker, &gone, false);
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
		worker->acked = node->base;
		worker->released = node->base;
		worker->revoked = 0;
	}
	worker->acked = max(worker->acked, node->base);
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

/*
 * Put a new round on the control page. A process may be looking: it reads the
 * state, the rest, and the state again.
 */
static void ina_worker_show(struct ina_worker *worker, u64 round, u32 length)
{
	struct ina_ctl_round *c = ina_worker_round(worker, round);

	WRITE_ONCE(c->state, INA_ROUND_IDLE);
	/* Idle before anything else changes. */
	smp_wmb();
	c->round = round;
	c->error = 0;
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

/* Take the next round: the window has room and the buffer is ours. */
static int ina_worker_start(struct ina_worker *worker,
			    const struct ina_submit *submit,
			    struct ina_tag *tag)
{
	struct ina_node *node = worker->node;
	struct ina_blame blame = {
		.reason = INA_REASON_LENGTH, .culprit = node->local,
		.detail = { submit->length },
	};
	struct ina_round *entry;

	lockdep_assert_held(&node->lock);
	if (node->dead || worker->detached)
		return -ENODEV;
	if (!node->open || worker->out)
		return -ENOTCONN;
	if (submit->round != worker->next)
		return -ESTALE;
	if (worker->next - node->base >= node->job->config.depth)
		return -EAGAIN;
	*tag = ina_round_tag(node, node->era, worker->next);
	entry = ina_round_claim(node, tag, submit->length);
	if (IS_ERR(entry)) {
		entry = &node->rounds[tag->round % node->job->config.depth];
		blame.detail[1] = entry->length;
		ina_fail_round_locked(node, tag, &blame);
	}
	worker->next++;
	if (tag->round >= node->job->config.depth)
		worker->released = max(worker->released, tag->round + 1 -
				       node->job->config.depth);
	ina_worker_show(worker, tag->round, submit->length);
	ina_worker_skip(worker, false);
	if (entry->failed) {
		ina_worker_round_end(worker, entry, false);
		ina_round_advance(node);
	}
	return 0;
}

/*
 * Put the contribution into the node's slots, fragment by fragment. The caller has
 * counted it in worker->pushing, so that the buffer stays ours.
 */
static void ina_worker_push(struct ina_worker *worker,
			    const struct ina_tag *tag, u32 length)
{
	struct ina_node *node = worker->node;
	const struct ina_job_config *config = &node->job->config;
	const void *src = worker->contrib.addr +
			  (tag->round % config->depth) * node->stride;
	u32 frags = ina_wire_frags(length, config->fragment);
	struct ina_part part;
	u32 frag;

	WRITE_ONCE(worker->last, 0);
	/* While the tree changes, contributors have no numbers. */
	if ((u32)ina_epoch_published(node) != tag->era)
		frags = 0;
	for (frag = 0; frag < frags; frag++) {
		part = (struct ina_part){
			.tag = *tag,
			.contributor = node->nchildren + worker->index,
			.workers = 1,
			.token = worker->token,
		};
		if (ina_round_contribute(node, &part, frag, length, src,
					 &node->local))
			break;
		WRITE_ONCE(worker->last, frag + 1);
		src += config->fragment * sizeof(s32);
		if (frag % INA_WORKER_BATCH != INA_WORKER_BATCH - 1)
			continue;
		ina_tx_run(node, INA_WORKER_BATCH);
		cond_resched();
		if (fatal_signal_pending(current))
			break;
	}
	ina_tx_run(node, INA_WORKER_BATCH);
	spin_lock_bh(&node->lock);
	worker->pushing--;
	spin_unlock_bh(&node->lock);
}

/**
 * ina_worker_submit() - contribute to the next round
 * @worker: who
 * @submit: which round and how much
 *
 * Context: process.
 * Return: 0 or a negative errno, see struct ina_submit.
 */
int ina_worker_submit(struct ina_worker *worker,
		      const struct ina_submit *submit)
{
	struct ina_node *node = worker->node;
	struct ina_tag tag;
	int err;

	if (submit->flags)
		return -EINVAL;
	if (!submit->length || submit->length > node->job->config.capacity)
		return -EMSGSIZE;
	err = mutex_lock_interruptible(&worker->submit_lock);
	if (err)
		return err;
	/* Held off only by a node that is being destroyed. */
	down_read(&node->submitting);
	spin_lock_bh(&node->lock);
	err = ina_worker_start(worker, submit, &tag);
	worker->pushing += !err;
	spin_unlock_bh(&node->lock);
	if (!err)
		ina_worker_push(worker, &tag, submit->length);
	up_read(&node->submitting);
	mutex_unlock(&worker->submit_lock);
	return err;
}

/* A round that is to be contributed to again, and its tag. */
static bool ina_worker_again(struct ina_worker *worker, u64 round,
			     struct ina_tag *tag, u32 *length)
{
	struct ina_node *node = worker->node;
	struct ina_blame blame = {
		.reason = INA_REASON_LENGTH, .culprit = node->local,
	};
	struct ina_round *entry;

	lockdep_assert_held(&node->lock);
	if (!node->open || !ina_worker_is_active(worker, round))
		return false;
	*tag = (struct ina_tag){ .era = node->era, .round = round };
	if (ina_round_is_kept(node, tag))
		return false;
	*length = ina_worker_round(worker, round)->length;
	entry = ina_round_claim(node, tag, *length);
	if (PTR_ERR_OR_ZERO(entry) == -EMSGSIZE) {
		blame.detail[0] = *length;
		blame.detail[1] = node->rounds[round %
					       node->job->config.depth].length;
		ina_fail_round_locked(node, tag, &blame);
	}
	return !IS_ERR(entry) && !entry->failed;
}

/* Contribute again to the rounds of one worker. */
static void ina_worker_restart_one(struct ina_node *node, u16 index)
{
	struct ina_worker *worker;
	struct ina_tag tag;
	u64 round, end;
	u32 length;
	bool again;

	spin_lock_bh(&node->lock);
	round = node->base;
	end = round + node->job->config.depth;
	spin_unlock_bh(&node->lock);
	for (; round < end; round++) {
		spin_lock_bh(&node->lock);
		worker = node->workers[index];
		again = worker && ina_worker_again(worker, round, &tag,
						   &length);
		if (again)
			worker->pushing++;
		spin_unlock_bh(&node->lock);
		/* Who frees a worker waits for this work. */
		if (again)
			ina_worker_push(worker, &tag, length);
	}
}

/**
 * ina_worker_restart() - a new epoch: contribute again to unfinished rounds
 * @work: in the node
 *
 * Context: process, the node's restart work.
 */
void ina_worker_restart(struct work_struct *work)
{
	struct ina_node *node = container_of(work, struct ina_node, restart);
	u16 i;

	down_read(&node->submitting);
	for (i = 0; i < node->nworkers; i++)
		ina_worker_restart_one(node, i);
	up_read(&node->submitting);
}

/* Is an epoch open? Who waits for the next has read the results of the last. */
static bool ina_worker_opened(struct ina_worker *worker)
{
	struct ina_node *node = worker->node;

	if (worker->out) {
		worker->out = false;
		ina_member_changed(node, &(struct ina_blame){
				.reason = INA_REASON_CHILD_LOST,
				.culprit = node->local,
				.worker = worker->index + 1 });
	}

	if (!node->open) {
		while (worker->released < worker->next &&
		       !ina_worker_is_active(worker, worker->released))
			worker->released++;
		ina_worker_ack(worker);
		ina_round_advance(node);
	}
	return node->open;
}

/* Was this round submitted, and is it still on the control page? */
static bool ina_worker_knows(struct ina_worker *worker, u64 round)
{
	struct ina_ctl_round *c = ina_worker_round(worker, round);

	return round < worker->next && c->round == round &&
	       c->state != INA_ROUND_IDLE;
}

/* Has what the process waits for come? 0 no, 1 yes, or a negative errno. */
static int ina_worker_ended(struct ina_worker *worker, u64 round)
{
	struct ina_node *node = worker->node;
	int ret = 1;

	spin_lock_bh(&node->lock);
	if (node->dead || worker->detached)
		ret = -ENODEV;
	else if (round == INA_WAIT_OPEN)
		ret = ina_worker_opened(worker);
	else if (!ina_worker_knows(worker, round))
		ret = -EINVAL;
	else
		ret = !ina_worker_is_active(worker, round);
	spin_unlock_bh(&node->lock);
	return ret;
}

/**
 * ina_worker_wait() - sleep until a round has ended or an epoch is open
 * @worker: who
 * @wait: what for
 *
 * Context: process.
 * Return: 0, -ETIMEDOUT, -ERESTARTSYS, -EINVAL if the round was not submitted
 * or is long over, -ENODEV if the node is gone.
 */
int ina_worker_wait(struct ina_worker *worker, const struct ina_wait *wait)
{
	struct ina_node *node = worker->node;
	long timeout = wait->timeout_ms < 0 ? MAX_SCHEDULE_TIMEOUT :
		       msecs_to_jiffies(wait->timeout_ms);
	long left;
	int ret;

	if (wait->flags)
		return -EINVAL;
	left = wait_event_interruptible_timeout(node->wait,
						(ret = ina_worker_ended(worker, wait->round)),
						timeout);
	if (left < 0)
		return left;
	if (!ret)
		return -ETIMEDOUT;
	return min(ret, 0);
}

/**
 * ina_worker_release() - results up to a round have been read
 * @worker: who
 * @round: the last of them
 *
 * Context: process.
 * Return: 0, -EINVAL for a round not submitted, -EBUSY for one not ended, -ESTALE
 * if results were taken away while they may have been read.
 */
int ina_worker_release(struct ina_worker *worker, u64 round)
{
	struct ina_node *node = worker->node;
	int err = 0;

	spin_lock_bh(&node->lock);
	if (round >= worker->next ||
	    ina_worker_round(worker, round)->state == INA_ROUND_IDLE) {
		err = -EINVAL;
	} else if (ina_worker_is_active(worker, round)) {
		err = -EBUSY;
	} else if (!node->dead && !worker->detached) {
		if (worker->released < worker->revoked)
			err = -ESTALE;
		worker->released = max(worker->released, round + 1);
		ina_worker_ack(worker);
		ina_round_advance(node);
	}
	spin_unlock_bh(&node->lock);
	return err;
}

/* Is there an ended round that has not been released? */
static bool ina_worker_unread(struct ina_worker *worker)
{
	u64 round;

	for (round = worker->released; round < worker->next; round++)
		if (!ina_worker_is_active(worker, round))
			return true;
	return false;
}

/**
 * ina_worker_poll() - what poll() is to say
 * @worker: who; it has been put on the wait queue
 *
 * Context: process.
 * Return: EPOLL* bits.
 */
__poll_t ina_worker_poll(struct ina_worker *worker)
{
	struct ina_node *node = worker->node;
	__poll_t mask = 0;

	spin_lock_bh(&node->lock);
	if (node->dead || worker->detached) {
		mask = EPOLLHUP | EPOLLERR;
	} else {
		if (ina_worker_unread(worker))
			mask |= EPOLLIN | EPOLLRDNORM;
		if (node->open && !worker->out && worker->next - node->base <
				  node->job->config.depth)
			mask |= EPOLLOUT | EPOLLWRNORM;
	}
	spin_unlock_bh(&node->lock);
	return mask;
}
