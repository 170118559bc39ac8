// SPDX-License-Identifier: GPL-2.0
/*
 * A node's life: created by `tree set`, fed by the receive path and the local
 * workers, destroyed when its tree is replaced, its job deleted or its
 * namespace goes. Context: process, inet->lock held, unless said otherwise.
 */
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "control.h"
#include "epoch.h"
#include "event.h"
#include "fail.h"
#include "main.h"
#include "net.h"
#include "node.h"
#include "place.h"
#include "probe.h"
#include "round.h"
#include "timer.h"
#include "tx.h"
#include "wire.h"
#include "worker.h"

#define INA_NODE_TICK_MS	50
/* Who asks is told of a failure, the log is not: per-CPU memory dumps the stack. */
#define INA_NODE_GFP		(GFP_KERNEL_ACCOUNT | __GFP_NOWARN)

/**
 * ina_node_kick() - let the node's work run
 * @node: the node
 *
 * Context: any.
 */
void ina_node_kick(struct ina_node *node)
{
	/* Under RCU, so that destroying can wait for those who saw it alive. */
	rcu_read_lock();
	if (!READ_ONCE(node->dead) && !READ_ONCE(node->paused))
		queue_work(ina_workqueue, &node->work);
	rcu_read_unlock();
}

/**
 * ina_node_restart() - let the workers' contributions be sent again
 * @node: the node
 *
 * Context: any.
 */
void ina_node_restart(struct ina_node *node)
{
	rcu_read_lock();
	if (node->nworkers && !READ_ONCE(node->dead) &&
	    !READ_ONCE(node->paused))
		queue_work(ina_workqueue, &node->restart);
	rcu_read_unlock();
}

/**
 * ina_node_tick_in() - let the node's clock tick no later than this
 * @node: the node
 * @ms: milliseconds from now
 *
 * Context: any.
 */
void ina_node_tick_in(struct ina_node *node, unsigned int ms)
{
	unsigned long delay = msecs_to_jiffies(ms);

	rcu_read_lock();
	if (!READ_ONCE(node->dead) && !READ_ONCE(node->paused) &&
	    (!delayed_work_pending(&node->tick) ||
	     time_after(node->tick.timer.expires, jiffies + delay)))
		mod_delayed_work(ina_workqueue, &node->tick, delay);
	rcu_read_unlock();
}

/**
 * ina_node_tick() - something has become outstanding
 * @node: the node
 *
 * Context: any.
 */
void ina_node_tick(struct ina_node *node)
{
	ina_node_tick_in(node, INA_NODE_TICK_MS);
}

/* The node's work: control packets, then sums. */
static void ina_node_work(struct work_struct *work)
{
	struct ina_node *node = container_of(work, struct ina_node, work);

	ina_control_flush(node);
	ina_grant_flush(node);
	/* Pairs with the release in ina_node_alloc(). */
	if (smp_load_acquire(&node->usable))
		ina_tx_run(node, INA_TX_BUDGET);
}

/**
 * ina_node_child_find() - the child with an address
 * @node: the node
 * @addr: the address
 *
 * Context: any; the addresses do not change.
 * Return: its index or -ENOENT.
 */
int ina_node_child_find(const struct ina_node *node,
			const struct in6_addr *addr)
{
	int i;

	for (i = 0; i < node->nchildren; i++)
		if (ipv6_addr_equal(&node->children[i].peer.addr, addr))
			return i;
	return -ENOENT;
}

/**
 * ina_node_child_from() - the child that sends from an address
 * @node: the node
 * @addr: the address: of a child, or of a path to it
 *
 * Context: softirq, under RCU.
 * Return: its index or -ENOENT.
 */
int ina_node_child_from(const struct ina_node *node,
			const struct in6_addr *addr)
{
	int i = ina_node_child_find(node, addr);

	if (i >= 0)
		return i;
	for (i = 0; i < node->nchildren; i++)
		if (ina_path_is_added(&node->children[i].peer, addr))
			return i;
	return -ENOENT;
}

/**
 * ina_node_peer() - a neighbour
 * @node: the node
 * @index: of a child, or INA_INDEX_NONE for the parent
 *
 * Return: the neighbour.
 */
struct ina_peer *ina_node_peer(struct ina_node *node, u16 index)
{
	return index == INA_INDEX_NONE ? &node->parent :
					 &node->children[index].peer;
}

static u32 ina_node_slots(const struct ina_node *node)
{
	return node->frags * node->job->config.depth;
}

/**
 * ina_node_hops_size() - memory of the paths
 * @node: the node
 * @nchildren: children it has or is to have
 *
 * Return: bytes.
 */
u64 ina_node_hops_size(const struct ina_node *node, u16 nchildren)
{
	return (u64)ina_path_size(ina_node_slots(node),
				  node->job->config.group) * (nchildren + 1);
}

/**
 * ina_node_sums_size() - memory of the sums
 * @node: the node
 * @nchildren: children it has or is to have
 *
 * Return: bytes; 0 if nothing is added here and there are results besides.
 */
u64 ina_node_sums_size(const struct ina_node *node, u16 nchildren)
{
	if (ina_node_results_size(node) && !node->root && !nchildren &&
	    node->nworkers == 1)
		return 0;
	return (u64)node->sum_stride * node->job->config.depth;
}

/**
 * ina_node_memory() - memory of a node, with what its workers will need
 * @node: the node
 * @nchildren: how many it has, or will have
 *
 * Return: bytes.
 */
u64 ina_node_memory(const struct ina_node *node, u16 nchildren)
{
	u64 worker = ina_region_size((u64)node->stride * node->job->config.depth) +
		     ina_region_size(sizeof(struct ina_ctl));

	return ina_region_size(ina_node_sums_size(node, nchildren)) +
	       ina_region_size(ina_node_results_size(node)) +
	       ina_region_size((u64)ina_node_slots(node) * node->slot_size) +
	       ina_region_size(ina_node_hops_size(node, nchildren)) +
	       node->nworkers * worker;
}

/**
 * ina_node_unalloc() - undo ina_node_alloc()
 * @node: the node; it has had no epoch since, so nobody has used them
 */
void ina_node_unalloc(struct ina_node *node)
{
	WRITE_ONCE(node->usable, false);
	/* The sender, receivers and the clock of paths look at that. */
	if (!node->dead)
		synchronize_rcu();
	ina_region_free(&node->sums);
	ina_region_free(&node->results);
	ina_region_free(&node->hops);
	ina_region_free(&node->slots);
}

/**
 * ina_node_spread() - hand the memory of the paths out
 * @node: the node; nobody uses them
 */
void ina_node_spread(struct ina_node *node)
{
	size_t size = ina_node_hops_size(node, 0);
	u16 i;

	ina_path_memory(&node->parent, node->hops.addr);
	for (i = 0; i < node->nchildren; i++)
		ina_path_memory(&node->children[i].peer,
				node->hops.addr + (i + 1) * size);
}

/**
 * ina_node_alloc() - allocate sums, results, slots and hops
 * @node: the node; may have them already
 *
 * Charged to the caller: the operator for a pure aggregator, the first worker
 * elsewhere.
 * Return: 0, or -ENOMEM with nothing allocated.
 */
int ina_node_alloc(struct ina_node *node)
{
	u32 i;
	int err;

	if (node->slots.addr)
		return 0;
	err = ina_region_alloc(&node->slots, node->job,
			       (u64)ina_node_slots(node) * node->slot_size);
	if (err)
		return err;
	err = ina_region_alloc(&node->hops, node->job,
			       ina_node_hops_size(node, node->nchildren));
	if (err)
		goto free;
	if (ina_node_results_size(node))
		err = ina_region_alloc(&node->results, node->job,
				       ina_node_results_size(node));
	if (err)
		goto free;
	if (ina_node_sums_size(node, node->nchildren))
		err = ina_region_alloc(&node->sums, node->job,
				       ina_node_sums_size(node,
							  node->nchildren));
	if (err)
		goto free;
	for (i = 0; i < ina_node_slots(node); i++) {
		ina_slot_init(ina_node_slot(node, i));
		cond_resched();
	}
	ina_node_spread(node);
	/* Pairs with the acquire in ina_node_work(). */
	smp_store_release(&node->usable, true);
	return 0;
free:
	ina_region_free(&node->results);
	ina_region_free(&node->hops);
	ina_region_free(&node->slots);
	return err;
}

/**
 * ina_node_children_free() - free the children of a node
 * @children: them, or NULL
 * @count: how many
 */
void ina_node_children_free(struct ina_child *children, u16 count)
{
	u16 i;

	for (i = 0; children && i < count; i++)
		ina_path_exit(&children[i].peer);
	kvfree(children);
}

/**
 * ina_node_children() - children of whom nothing is known yet
 * @node: whose they are to be
 * @tree: their addresses
 *
 * Return: them, or NULL if there is no memory.
 */
struct ina_child *ina_node_children(const struct ina_node *node,
				    const struct ina_tree *tree)
{
	struct ina_child *children;
	int err = 0;
	u16 i;

	children = kvcalloc(max_t(u16, tree->nchildren, 1), sizeof(*children),
			    GFP_KERNEL_ACCOUNT);
	for (i = 0; children && i < tree->nchildren && !err; i++) {
		children[i].acked = U64_MAX;
		err = ina_path_init(&children[i].peer, &tree->children[i].addr,
				    ina_node_slots(node),
				    node->job->config.group, INA_NODE_GFP);
	}
	if (!err)
		return children;
	ina_node_children_free(children, tree->nchildren);
	return NULL;
}

/* Routes belong to the namespace, so they go with it. */
static void ina_node_free_peers(struct ina_node *node)
{
	ina_path_exit(&node->parent);
	ina_node_children_free(node->children, node->nchildren);
	node->children = NULL;
	node->nchildren = 0;
}

/* Last reference gone. Context: process. */
static void ina_node_free(struct ina_node *node)
{
	ina_node_unalloc(node);
	ina_job_put(node->job);
	kfree(rcu_access_pointer(node->extra));
	kfree_rcu(node, rcu);
}

/**
 * ina_node_put() - drop a reference
 * @node: the node
 *
 * Context: process.
 */
void ina_node_put(struct ina_node *node)
{
	if (refcount_dec_and_test(&node->refs))
		ina_node_free(node);
}

static int ina_node_init_peers(struct ina_node *node,
			       const struct ina_tree *tree)
{
	node->children = ina_node_children(node, tree);
	if (!node->children)
		return -ENOMEM;
	node->nchildren = tree->nchildren;
	return ina_path_init(&node->parent, &tree->parent.addr,
			     ina_node_slots(node), node->job->config.group,
			     INA_NODE_GFP);
}

static void ina_node_init(struct ina_node *node, struct ina_job *job,
			  const struct ina_tree *tree)
{
	const struct ina_job_config *config = &job->config;

	node->job = ina_job_get(job);
	node->inet = job->inet;
	node->net = job->inet->net;
	refcount_set(&node->refs, 1);
	spin_lock_init(&node->lock);
	init_waitqueue_head(&node->wait);
	init_rwsem(&node->submitting);
	INIT_WORK(&node->work, ina_node_work);
	INIT_DELAYED_WORK(&node->tick, ina_timer_tick);
	INIT_WORK(&node->restart, ina_worker_restart);
	timer_setup(&node->probe, ina_probe_tick, 0);
	node->chunk = INA_PATH_CHUNK;
	node->timeout = INA_PATH_TIMEOUT_MS;
	node->loss_limit = INA_RATE_LOSS_LIMIT * 1000;
	node->root = ipv6_addr_any(&tree->parent.addr);
	node->nworkers = tree->nworkers;
	node->contributors = tree->nchildren + tree->nworkers;
	node->index = INA_INDEX_NONE;
	node->era = 1;	/* 0: never used */
	node->frags = ina_wire_frags(config->capacity, config->fragment);
	node->type.dtype = config->dtype;
	node->type.exponent = config->exponent;
	node->stride = PAGE_ALIGN((size_t)config->capacity *
				  ina_sum_narrow(config->dtype));
	node->sum_stride = PAGE_ALIGN((size_t)config->capacity *
				      ina_sum_wide(config->dtype));
	node->slot_size = ina_node_slot_size(node->contributors);
	do {
		node->instance = get_random_u64();
	} while (!node->instance);
}

/* Memory the node will need, before anything is half set up. */
static int ina_node_reserve(struct ina_node *node,
			    struct netlink_ext_ack *extack)
{
	int err = ina_region_check(node->job,
				   ina_node_memory(node, node->nchildren));

	/* A pure aggregator needs its memory before the first child joins. */
	if (!err && !node->nworkers)
		err = ina_node_alloc(node);
	if (err)
		NL_SET_ERR_MSG(extack,
			       "Not enough memory for the sums: lower capacity or depth, or raise max_job_mb, max_total_mb or the limit of the cgroup");
	return err;
}

/* A node of a job whose fragments are known. */
static struct ina_node *ina_node_build(struct ina_job *job,
				       const struct ina_tree *tree,
				       struct netlink_ext_ack *extack)
{
	struct ina_node *node;
	int err;

	node = kzalloc(sizeof(*node), GFP_KERNEL_ACCOUNT);
	if (!node)
		return ERR_PTR(-ENOMEM);
	ina_node_init(node, job, tree);
	err = ina_node_init_peers(node, tree);
	node->local = tree->local.addr;
	if (!err)
		err = ina_place_check(node, tree, &node->mtu, extack);
	if (!err)
		err = ina_node_reserve(node, extack);
	if (!err)
		err = ina_tx_init(node);
	if (err) {
		ina_node_free_peers(node);
		ina_node_put(node);
		return ERR_PTR(err);
	}
	return node;
}

/**
 * ina_node_create() - give a job its place in the tree
 * @job: the job; inet->lock is held
 * @tree: the place, checked for what needs no namespace
 * @extack: says what is wrong
 *
 * Return: the node, not yet visible, or ERR_PTR.
 */
struct ina_node *ina_node_create(struct ina_job *job,
				 const struct ina_tree *tree,
				 struct netlink_ext_ack *extack)
{
	bool undecided = !job->config.fragment;
	struct ina_node *node;
	int err = 0;

	if (undecided)
		err = ina_place_settle(job, tree, extack);
	node = err ? ERR_PTR(err) : ina_node_build(job, tree, extack);
	if (undecided && IS_ERR(node))
		ina_job_settle(job, 0);
	return node;
}

/* Nobody here can go on; told while packets can still be sent. */
static void ina_node_farewell(struct ina_node *node)
{
	struct ina_blame blame = {
		.reason = INA_REASON_TREE, .culprit = node->local,
	};
	int i;

	spin_lock_bh(&node->lock);
	ina_round_go(node);
	/* What all have acknowledged, the root alone knows. */
	if (node->root) {
		blame.detail[0] = node->base;
		blame.detail[1] = node->base >> 32;
	}
	ina_fail_gone(node, &blame);
	ina_epoch_close(node, &blame);
	/* Its workers are lost to everybody. */
	if (node->attached)
		blame.reason = INA_REASON_LEFT;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i])
			ina_worker_state(node->workers[i], INA_CTL_GONE);
	memset(node->workers, 0, sizeof(node->workers));
	node->attached = 0;
	for (i = 0; i < node->nchildren; i++)
		node->children[i].workers = 0;
	node->nworkers = 0;
	node->subtree = 0;
	node->subtree_token = 0;
	node->generation++;
	node->change = blame;
	node->send_join = !node->root;
	WRITE_ONCE(node->dead, true);
	spin_unlock_bh(&node->lock);
	wake_up_interruptible_all(&node->wait);
	ina_control_flush(node);
}

/**
 * ina_node_destroy() - take a node out of its job
 * @node: the node; readers may still see it, new ones do not
 *
 * The rounds of its workers fail, a root's all, its workers get ENODEV, its peers
 * are told.
 */
void ina_node_destroy(struct ina_node *node)
{
	/* Submits that saw it alive end first, new ones are refused. */
	down_write(&node->submitting);
	ina_node_farewell(node);
	up_write(&node->submitting);
	/* Receivers and those who queue work have seen that it is dead. */
	synchronize_rcu();
	cancel_delayed_work_sync(&node->tick);
	cancel_work_sync(&node->work);
	cancel_work_sync(&node->restart);
	timer_shutdown_sync(&node->probe);
	ina_tx_exit(node);
	/* Now, not with the last reference: routes belong to the namespace. */
	ina_node_free_peers(node);
	ina_node_put(node);
}
