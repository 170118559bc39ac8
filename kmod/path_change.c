// SPDX-License-Identifier: GPL-2.0
/*
 * Add and delete paths to a neighbour, and weigh them, while a job runs.
 * Context: process, inet->lock is held.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "net.h"
#include "node.h"
#include "path.h"
#include "probe.h"

/* How many there are, which is the first, and whether one has a weight. */
static void ina_path_count(struct ina_peer *peer)
{
	u8 i, count = 0, first = 0;
	bool weighted = false;

	for (i = INA_PATHS_MAX; i--; ) {
		if (!rcu_access_pointer(peer->path[i].route))
			continue;
		count++;
		first = i;
		weighted |= peer->path[i].weight;
	}
	WRITE_ONCE(peer->weighted, weighted);
	WRITE_ONCE(peer->first, first);
	WRITE_ONCE(peer->npaths, count);
}

/* Source addresses of the paths to a peer. Context: inet->lock is held. */
static void ina_path_collect(struct ina_peer *peer, struct ina_addrs *addrs,
			     u32 *count)
{
	const struct ina_route *route;
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++) {
		route = rcu_access_pointer(peer->path[i].route);
		if (!route || ipv6_addr_any(&route->src))
			continue;
		if (addrs)
			addrs->addr[*count] = route->src;
		++*count;
	}
}

static u32 ina_path_collect_all(struct ina_node *node, struct ina_addrs *addrs)
{
	u32 count = 0;
	u16 i;

	ina_path_collect(&node->parent, addrs, &count);
	for (i = 0; i < node->nchildren; i++)
		ina_path_collect(&node->children[i].peer, addrs, &count);
	return count;
}

/* The addresses of all paths are the node's, and @more of one that will be. */
static int ina_path_publish(struct ina_node *node, const struct in6_addr *more)
{
	u32 count = ina_path_collect_all(node, NULL);
	struct ina_addrs *addrs, *old;

	addrs = kzalloc(struct_size(addrs, addr, count + 1), GFP_KERNEL_ACCOUNT);
	if (!addrs)
		return -ENOMEM;
	addrs->count = ina_path_collect_all(node, addrs);
	if (more && !ipv6_addr_any(more))
		addrs->addr[addrs->count++] = *more;
	old = rcu_replace_pointer(node->extra, addrs,
				  lockdep_is_held(&node->inet->lock));
	kfree_rcu(old, rcu);
	return 0;
}

/* Memory to send on a path. */
static int ina_path_alloc(struct ina_node *node, struct ina_path *path)
{
	int err = ina_region_alloc(&path->log, node->job,
				   ina_hop_log_size(path->hop.group));

	if (err)
		return err;
	spin_lock_bh(&path->hop.lock);
	path->hop.log = path->log.addr;
	spin_unlock_bh(&path->hop.lock);
	return 0;
}

/**
 * ina_path_add() - add a path to a peer
 * @node: the node
 * @peer: the peer; it has a number left
 * @want: where it goes; its route is not used
 * @weight: 0: measured
 *
 * It is used when the peer has answered on it.
 * Context: process, inet->lock is held.
 * Return: its number, or -ENOMEM.
 */
int ina_path_add(struct ina_node *node, struct ina_peer *peer,
		 const struct ina_route *want, u32 weight)
{
	struct ina_route *route;
	struct ina_path *path;
	int err, i;

	for (i = 0; rcu_access_pointer(peer->path[i].route); i++)
		;
	path = &peer->path[i];
	route = ina_path_route(GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!route)
		return -ENOMEM;
	err = ina_path_alloc(node, path);
	if (!err)
		err = ina_path_publish(node, &want->src);
	if (err) {
		dst_cache_destroy(&route->cache);
		kfree(route);
		path->hop.log = NULL;
		ina_region_free(&path->log);
		return err;
	}
	route->src = want->src;
	route->dst = want->dst;
	route->ifindex = want->ifindex;
	route->sport = want->sport;
	route->look_at = jiffies;
	path->state = INA_PATH_STATE_SILENT;
	path->weight = weight;
	path->sent = 0;
	path->looked = 0;
	path->recent = 0;
	path->rtt = 0;
	path->goodput = 0;
	path->lossy = 0;
	path->loss = (struct ina_loss){};
	path->pace = (struct ina_pace){};
	path->lost = 0;
	path->heard = jiffies;
	path->fed = jiffies - INA_PATH_FED - 1;
	path->grouped = path->fed;
	path->echoed = 0;
	/* Answers to what was asked on one before it are none. */
	path->probed += U8_MAX + 1;
	path->settled = path->probed;
	/* The only one was not asked until now. */
	if (READ_ONCE(peer->npaths) == 1)
		WRITE_ONCE(peer->path[peer->first].heard, jiffies);
	rcu_assign_pointer(path->route, route);
	ina_path_count(peer);
	ina_probe_start(node);
	return i;
}

/**
 * ina_path_is_last() - is it the only path that leads to a peer
 * @peer: the peer
 * @path: one of its paths
 *
 * Context: process, inet->lock is held.
 * Return: true if it is up and no other is.
 */
bool ina_path_is_last(const struct ina_peer *peer, const struct ina_path *path)
{
	const struct ina_path *other;

	for (other = peer->path; other < peer->path + INA_PATHS_MAX; other++)
		if (other != path && ina_path_is_up(other))
			return false;
	return ina_path_is_up(path);
}

/**
 * ina_path_del() - delete a path to a peer
 * @node: the node
 * @peer: the peer
 * @path: it, not the last
 *
 * Context: process, inet->lock is held.
 */
void ina_path_del(struct ina_node *node, struct ina_peer *peer,
		  struct ina_path *path)
{
	struct ina_route *route;

	route = rcu_replace_pointer(path->route, NULL,
				    lockdep_is_held(&node->inet->lock));
	ina_path_count(peer);
	/* Senders that saw it have sent. */
	synchronize_rcu();
	if (ina_hop_abandon(&path->hop))
		ina_path_ready(node, peer);
	spin_lock_bh(&path->hop.lock);
	path->hop.log = NULL;
	spin_unlock_bh(&path->hop.lock);
	dst_cache_destroy(&route->cache);
	kfree(route);
	ina_region_free(&path->log);
	/* Without memory the node keeps an address too many. */
	ina_path_publish(node, NULL);
}

/**
 * ina_path_set_weight() - give a path another weight
 * @peer: the peer
 * @path: one of its paths
 * @weight: 0: measured
 *
 * Context: process, inet->lock is held.
 */
void ina_path_set_weight(struct ina_peer *peer, struct ina_path *path,
			 u32 weight)
{
	int i;

	WRITE_ONCE(path->weight, weight);
	for (i = 0; i < INA_PATHS_MAX; i++)
		WRITE_ONCE(peer->path[i].turn, 0);
	ina_path_count(peer);
}
