// SPDX-License-Identifier: GPL-2.0
/*
 * How a process becomes a worker of a node and ceases to be one. Memory is
 * charged to it, members and peers are told. Context: process.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "event.h"
#include "fail.h"
#include "member.h"
#include "net.h"
#include "round.h"
#include "worker.h"

/* Allocate a worker and its memory; charged to the caller. */
static struct ina_worker *ina_worker_alloc(struct ina_node *node, u32 rank)
{
	struct ina_job *job = node->job;
	struct ina_worker *worker;
	int err;

	worker = kzalloc(sizeof(*worker), GFP_KERNEL_ACCOUNT);
	if (!worker)
		return ERR_PTR(-ENOMEM);
	mutex_init(&worker->submit_lock);
	worker->node = node;
	worker->rank = rank;
	do {
		worker->token = get_random_u32();
	} while (!worker->token);
	err = ina_region_alloc(&worker->contrib, job,
			       (u64)node->stride * job->config.depth);
	if (err)
		goto free;
	err = ina_region_alloc(&worker->ctl_page, job, sizeof(*worker->ctl));
	if (err)
		goto free;
	worker->ctl = worker->ctl_page.addr;
	worker->ctl->abi = INA_DEV_ABI;
	refcount_inc(&node->refs);
	return worker;
free:
	ina_region_free(&worker->contrib);
	kfree(worker);
	return ERR_PTR(err);
}

/* Has a worker of this node the rank? */
static bool ina_worker_has_rank(const struct ina_node *node, u32 rank)
{
	u16 i;

	for (i = 0; i < node->nworkers && rank != INA_RANK_NONE; i++)
		if (node->workers[i] && node->workers[i]->rank == rank)
			return true;
	return false;
}

/* Make it a member. Context: process, inet->lock is held. */
static int ina_worker_enter(struct ina_node *node, struct ina_worker *worker)
{
	int err = -EBUSY;
	u16 i;

	spin_lock_bh(&node->lock);
	if (ina_worker_has_rank(node, worker->rank)) {
		spin_unlock_bh(&node->lock);
		return -EEXIST;
	}
	for (i = 0; i < node->nworkers; i++) {
		if (node->workers[i])
			continue;
		worker->index = i;
		worker->acked = U64_MAX;
		node->workers[i] = worker;
		node->attached++;
		worker->returned = node->absent;
		node->absent -= worker->returned;
		worker->ctl->refused = node->refused;
		ina_event_send(node->net, &(struct ina_event){
				.type = INA_EVENT_TYPE_WORKER_ATTACHED,
				.job = node->job->config.id,
				.workers = node->attached },
			       "job %u worker %u attached: %u of %u",
			       node->job->config.id, i, node->attached,
			       node->nworkers);
		ina_member_changed(node, &(struct ina_blame){
				.reason = INA_REASON_CHILD_LOST,
				.culprit = node->local, .worker = i + 1 });
		err = 0;
		break;
	}
	spin_unlock_bh(&node->lock);
	return err;
}

static void ina_worker_describe(struct ina_worker *worker,
				struct ina_attach *attach)
{
	const struct ina_job_config *config = &worker->node->job->config;

	attach->index = worker->index;
	attach->dtype = config->dtype;
	attach->fragment = config->fragment;
	attach->depth = config->depth;
	attach->capacity = config->capacity;
	attach->elem_size = ina_sum_narrow(config->dtype);
	attach->on_loss = config->on_loss;
	attach->exponent = config->exponent;
	attach->pad = 0;
	attach->stride = worker->node->stride;
	attach->ctl_size = worker->ctl_page.size;
	attach->array_size = worker->contrib.size;
}

/**
 * ina_worker_attach() - take part in a job
 * @inet: the caller's namespace
 * @attach: in: the job; out: its numbers
 *
 * Context: process.
 * Return: the worker, or ERR_PTR: -ENOENT no such job, -ENOTCONN it has no
 * tree here, -EBUSY all its workers are attached, -EEXIST the rank is taken,
 * -ERANGE there is no such rank, -ENOMEM.
 */
struct ina_worker *ina_worker_attach(struct ina_net *inet,
				     struct ina_attach *attach)
{
	struct ina_worker *worker;
	struct ina_node *node;
	struct ina_job *job;
	bool fresh;
	int err;

	if (attach->rank > INA_RANK_MAX && attach->rank != INA_RANK_NONE)
		return ERR_PTR(-ERANGE);
	mutex_lock(&inet->lock);
	job = ina_job_find(inet, attach->job);
	err = -ENOENT;
	if (!job)
		goto fail;
	node = rcu_dereference_protected(job->node,
					 lockdep_is_held(&inet->lock));
	err = -ENOTCONN;
	if (!node)
		goto fail;
	err = -EBUSY;
	if (READ_ONCE(node->attached) == node->nworkers)
		goto fail;
	fresh = !node->slots.addr;
	err = ina_node_alloc(node);
	if (err)
		goto fail;
	worker = ina_worker_alloc(node, attach->rank);
	err = PTR_ERR_OR_ZERO(worker);
	if (err) {
		if (fresh)
			ina_node_unalloc(node);
		goto fail;
	}
	err = ina_worker_enter(node, worker);
	mutex_unlock(&inet->lock);
	if (err) {
		worker->detached = true;
		ina_worker_free(worker);
		return ERR_PTR(err);
	}
	ina_worker_describe(worker, attach);
	return worker;
fail:
	mutex_unlock(&inet->lock);
	return ERR_PTR(err);
}

static struct ina_blame ina_worker_gone(const struct ina_worker *worker)
{
	return (struct ina_blame){
		.reason = INA_REASON_LEFT, .culprit = worker->node->local,
		.worker = worker->index + 1,
	};
}

/*
 * Rounds it leaves open cannot complete, unless they are at the root: the
 * root decides and tells everybody.
 */
static void ina_worker_abandon(struct ina_worker *worker)
{
	struct ina_node *node = worker->node;
	struct ina_blame blame = ina_worker_gone(worker);
	struct ina_round *entry;
	u64 round;

	for (round = worker->acked; round < worker->next; round++) {
		entry = &node->rounds[round % node->job->config.depth];
		if (!ina_worker_is_active(worker, round) ||
		    entry->tag.round != round || entry->failed ||
		    !ina_round_is_live(node, entry))
			continue;
		blame.last = round + 1 == worker->next ? worker->last :
							 entry->frags;
		if (node->root) {
			ina_fail_round_locked(node, &entry->tag, &blame);
		} else {
			entry->blame = blame;
			entry->tell_up = true;
		}
	}
}

/**
 * ina_worker_detach() - leave the job; the peers are told at once
 * @worker: who; may have left already
 *
 * Context: process.
 */
void ina_worker_detach(struct ina_worker *worker)
{
	struct ina_blame blame = ina_worker_gone(worker);
	struct ina_node *node = worker->node;

	spin_lock_bh(&node->lock);
	if (worker->detached)
		goto unlock;
	worker->detached = true;
	wake_up_interruptible_all(&node->wait);
	if (node->dead)
		goto unlock;
	if (ina_node_degrades(node))
		/* Whoever took part is not waited for. */
		node->absent += worker->acked != U64_MAX || worker->out ||
				worker->returned;
	else
		ina_worker_abandon(worker);
	if (worker->next && ina_worker_is_active(worker, worker->next - 1))
		blame.last = worker->last;
	node->workers[worker->index] = NULL;
	node->attached--;
	ina_event_send(node->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_WORKER_LEFT,
			.job = node->job->config.id,
			.workers = node->attached },
		       "job %u worker %u left: %u of %u",
		       node->job->config.id, worker->index, node->attached,
		       node->nworkers);
	ina_member_changed(node, &blame);
unlock:
	spin_unlock_bh(&node->lock);
}

/**
 * ina_worker_free() - free a worker that has left
 * @worker: who; nobody uses it any more
 *
 * Context: process.
 */
void ina_worker_free(struct ina_worker *worker)
{
	/* It may be contributing for us. */
	flush_work(&worker->node->restart);
	ina_region_free(&worker->ctl_page);
	ina_region_free(&worker->contrib);
	ina_node_put(worker->node);
	kfree(worker);
}
