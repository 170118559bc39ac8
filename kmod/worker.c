// SPDX-License-Identifier: GPL-2.0
/*
 * What an attached worker does: submit, wait, release. Its contribution takes
 * the way of any other, into the slots of its node, from its own process
 * context. Its control page is the only thing it needs to look at.
 */
#include <linux/sched/signal.h>

#include "epoch.h"
#include "fail.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "tx.h"
#include "worker.h"
#include "xmit.h"

#define INA_WORKER_BYTES	65536	/* of elements: bottom halves have to wait */

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
		ina_worker_round_end(worker, entry, 0);
		ina_round_advance(node);
	}
	return 0;
}

/* Put fragments [@frag, @end) into the node's slots. Return: whether all went. */
static bool ina_worker_batch(struct ina_worker *worker,
			     const struct ina_tag *tag, u32 length, u32 frag,
			     u32 end)
{
	struct ina_node *node = worker->node;
	const struct ina_job_config *config = &node->job->config;
	size_t size = config->fragment * ina_node_elem(node, false);
	u32 at = ina_node_at(node, tag->round);
	const void *src = worker->contrib.addr + at * node->stride;
	struct ina_row row = {};
	struct ina_sum_ctx ctx;
	struct ina_part part;

	local_bh_disable();
	ina_sum_begin(&ctx);
	for (; frag < end; frag++) {
		part = (struct ina_part){
			.tag = *tag,
			.at = at,
			.length = length,
			.contributor = node->nchildren + worker->index,
			.workers = 1,
			.token = worker->token,
		};
		if (ina_round_contribute(node, &ctx, &row, &part, frag,
					 src + frag * size, &node->local))
			break;
		WRITE_ONCE(worker->last, frag + 1);
	}
	ina_round_settle(node, &row);
	ina_sum_end(&ctx);
	local_bh_enable();
	return frag == end;
}

/*
 * Put the contribution into the node's slots, batch by batch. The caller has
 * counted it in worker->pushing, so that the buffer stays ours.
 */
static void ina_worker_push(struct ina_worker *worker,
			    const struct ina_tag *tag, u32 length)
{
	struct ina_node *node = worker->node;
	u32 fragment = node->job->config.fragment;
	/* One super-packet at a time: what is left over would be a small one. */
	u32 most = READ_ONCE(node->parent.npaths) <= 1 ? node->tx.segs :
		   min_t(u32, READ_ONCE(node->chunk) / ina_xmit_packet(node, true),
			 node->tx.segs);
	u32 batch = clamp_t(u32, INA_WORKER_BYTES /
			    (fragment * ina_node_elem(node, false)), 1,
			    max(most, 1U));
	u32 frags = ina_wire_frags(length, fragment);
	u32 frag, end;

	WRITE_ONCE(worker->last, 0);
	ina_grant_start(node);
	/* While the tree changes, contributors have no numbers. */
	if ((u32)ina_epoch_published(node) != tag->era)
		frags = 0;
	for (frag = 0; frag < frags; frag = end) {
		end = min(frag + batch, frags);
		if (!ina_worker_batch(worker, tag, length, frag, end))
			break;
		ina_tx_run(node, INA_TX_BUDGET);
		cond_resched();
		if (fatal_signal_pending(current))
			break;
	}
	ina_tx_run(node, INA_TX_BUDGET);
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
		worker->returned = true;
		/* As a new one: a round it gave up that still runs cannot end without it. */
		if (worker->released >= worker->next)
			worker->acked = U64_MAX;
		ina_member_changed(node, &(struct ina_blame){
				.reason = INA_REASON_CHILD_LOST,
				.culprit = node->local,
				.worker = worker->index + 1 });
	}

	if (!node->open) {
		/* It cannot submit what has failed, to learn why. */
		ina_worker_skip(worker, true);
		while (worker->released < worker->next &&
		       !ina_worker_is_active(worker, worker->released))
			worker->released++;
		ina_worker_ack(worker);
		ina_round_advance(node);
	}
	return node->open && !node->cut_off;
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
 * Return: 0, -ETIMEDOUT, -ERESTARTSYS or, of a wait with a timeout, -ERESTARTNOHAND,
 * -EINVAL if the round was not submitted or is long over, -ENODEV if the node is gone.
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
	/* A handler ends it: restarted it would wait for the whole time again. */
	if (left < 0)
		return wait->timeout_ms < 0 ? left : -ERESTARTNOHAND;
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
