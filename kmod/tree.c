// SPDX-License-Identifier: GPL-2.0
/*
 * Give a node another parent or other children while it runs. Its workers,
 * rounds and results stay; the members change, so a new epoch follows, and
 * what is not finished is summed again in the new tree.
 * Context: process, inet->lock held.
 */
#include <linux/slab.h>
#include <net/ipv6.h>

#include "control.h"
#include "event.h"
#include "member.h"
#include "net.h"
#include "place.h"
#include "probe.h"
#include "round.h"
#include "tree.h"
#include "tx.h"

/**
 * ina_tree_fits() - can a node take this place without being replaced
 * @node: the node
 * @tree: the place
 *
 * Return: false if it becomes or ceases to be the root, has other workers or
 * another address, or more children than its slots have bits.
 */
bool ina_tree_fits(const struct ina_node *node, const struct ina_tree *tree)
{
	return node->root == ipv6_addr_any(&tree->parent.addr) &&
	       node->nworkers == tree->nworkers &&
	       (ipv6_addr_any(&tree->local.addr) ||
		ipv6_addr_equal(&tree->local.addr, &node->local)) &&
	       ina_node_slot_size(tree->nchildren + tree->nworkers) <=
	       node->slot_size;
}

/* Nobody receives, sends or submits any more when this returns. */
static void ina_tree_pause(struct ina_node *node)
{
	WRITE_ONCE(node->paused, true);
	/* Receivers and those who queue work have seen it. */
	synchronize_rcu();
	cancel_delayed_work_sync(&node->tick);
	cancel_work_sync(&node->work);
	cancel_work_sync(&node->restart);
	timer_delete_sync(&node->probe);
	ina_tx_quiet(node);
	down_write(&node->submitting);
}

static void ina_tree_resume(struct ina_node *node)
{
	up_write(&node->submitting);
	WRITE_ONCE(node->paused, false);
	ina_node_restart(node);
	ina_node_kick(node);
	ina_node_tick(node);
	ina_probe_start(node);
}

/* What the node knows of a child that it keeps. */
static void ina_tree_take_over(const struct ina_node *node,
			       struct ina_child *child)
{
	int index = ina_node_child_find(node, &child->peer.addr);
	struct ina_child *old;

	if (index < 0)
		return;
	old = &node->children[index];
	child->instance = old->instance;
	child->generation = old->generation;
	child->workers = old->workers;
	child->token = old->token;
	ina_ranks_copy(&child->ranks, &old->ranks);
	child->height = old->height;
	child->out = old->out;
	child->dropped = old->dropped;
	child->floor = old->floor;
	child->last_epoch = old->last_epoch;
	child->epoch_token = old->epoch_token;
	child->restarted = old->restarted;
	child->announced = old->announced;
	child->acked = old->acked;
	child->refused = old->refused;
	child->arrivals = old->arrivals;
	child->ask = old->ask;
	ina_path_take_over(&child->peer, &old->peer);
}

static void ina_tree_set_parent(struct ina_node *node,
				const struct in6_addr *parent, u16 mtu)
{
	node->mtu = mtu;
	if (ipv6_addr_equal(&node->parent.addr, parent))
		return;
	node->parent.addr = *parent;
	ina_grant_forget(node);
	node->index = INA_INDEX_NONE;
	node->refused = 0;
	ina_event_send(node->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_PARENT_CHANGED,
			.job = node->job->config.id, .addr = *parent },
		       "job %u has another parent: %pI6c",
		       node->job->config.id, parent);
}

/*
 * Exchange the neighbours. @children and @hops are the new ones and on return
 * the old ones. @sums: if a node has not needed any so far.
 */
static void ina_tree_swap(struct ina_node *node, const struct ina_tree *tree,
			  struct ina_child **children, struct ina_region *hops,
			  const struct ina_region *sums, u16 mtu)
{
	struct ina_blame blame = {
		.reason = INA_REASON_TREE, .culprit = node->local,
	};
	u16 i;

	spin_lock_bh(&node->lock);
	/* Contributors get other numbers: no epoch until all have joined. */
	WRITE_ONCE(node->epoch_era, 0);
	for (i = 0; i < tree->nchildren; i++)
		ina_tree_take_over(node, &(*children)[i]);
	swap(node->children, *children);
	node->nchildren = tree->nchildren;
	node->contributors = tree->nchildren + node->nworkers;
	swap(node->hops, *hops);
	if (sums->addr)
		node->sums = *sums;
	if (node->usable)
		ina_node_spread(node);
	bitmap_zero(node->tx.ready, INA_NODE_CHILDREN_MAX + 1);
	bitmap_zero(node->tx.held, INA_NODE_CHILDREN_MAX + 1);
	node->tx.turn = 0;
	node->probe_at = 0;
	ina_path_reset(&node->parent, 0);
	if (!node->root)
		ina_tree_set_parent(node, &tree->parent.addr, mtu);
	ina_member_changed(node, &blame);
	spin_unlock_bh(&node->lock);
}

/* Memory for new neighbours; of a node that has none yet, whether it may have it. */
static int ina_tree_alloc(struct ina_node *node, u16 nchildren,
			  struct ina_region *hops, struct ina_region *sums)
{
	int err;

	if (!node->usable)
		return ina_region_check(node->job,
					ina_node_memory(node, nchildren));
	err = ina_region_alloc(hops, node->job,
			       ina_node_hops_size(node, nchildren));
	if (err || node->sums.addr || !ina_node_sums_size(node, nchildren))
		return err;
	err = ina_region_alloc(sums, node->job,
			       ina_node_sums_size(node, nchildren));
	if (err)
		ina_region_free(hops);
	return err;
}

/**
 * ina_tree_change() - give a node another place
 * @node: the node, for which the place fits
 * @tree: the place
 * @extack: says what is wrong
 *
 * Return: 0, or a negative errno and nothing has changed.
 */
int ina_tree_change(struct ina_node *node, const struct ina_tree *tree,
		    struct netlink_ext_ack *extack)
{
	struct ina_region hops = {}, sums = {};
	u16 nchildren = node->nchildren;
	struct ina_child *children;
	u16 mtu = 0;
	int err;

	err = ina_place_check(node, tree, &mtu, extack);
	if (err)
		return err;
	children = ina_node_children(node, tree);
	if (!children)
		return -ENOMEM;
	err = ina_tree_alloc(node, tree->nchildren, &hops, &sums);
	if (err) {
		NL_SET_ERR_MSG(extack,
			       "Not enough memory for the sums: lower capacity or depth, or raise max_job_mb, max_total_mb or the limit of the cgroup");
		ina_node_children_free(children, tree->nchildren);
		return err;
	}
	if (!node->root &&
	    !ipv6_addr_equal(&node->parent.addr, &tree->parent.addr))
		ina_control_goodbye(node);
	ina_tree_pause(node);
	if (!node->root &&
	    !ipv6_addr_equal(&node->parent.addr, &tree->parent.addr))
		ina_path_lead_to(&node->parent, &tree->parent.addr);
	ina_tree_swap(node, tree, &children, &hops, &sums, mtu);
	ina_tree_resume(node);
	ina_region_free(&hops);
	ina_node_children_free(children, nchildren);
	return 0;
}
