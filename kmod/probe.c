// SPDX-License-Identifier: GPL-2.0
/*
 * Every path of a peer that has several is asked by the clock, PROBE, and the peer
 * answers, ECHO, by the fastest path it has. So the time there and back is known, and
 * a path that swallows packets without a word is found.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>

#include "job.h"
#include "net.h"
#include "node.h"
#include "probe.h"
#include "wire.h"
#include "xmit.h"

#define INA_PROBE_OFTEN		5	/* times within the timeout, while something is sent */
#define INA_PROBE_MISSED	3	/* at least so many have no answer */
#define INA_PROBE_PATIENCE	4	/* times there and back */
#define INA_PROBE_IDLE_MS	100

/* Is something on its way to a peer, or about to be? */
static bool ina_probe_busy(const struct ina_peer *peer)
{
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++)
		if (READ_ONCE(peer->path[i].hop.next) !=
		    READ_ONCE(peer->path[i].hop.una))
			return true;
	return peer->queue.pending && !ina_queue_is_empty(&peer->queue);
}

/* Ask on one path. Context: softirq, under RCU. */
static void ina_probe_send(struct ina_node *node, const struct ina_peer *peer,
			   struct ina_path *path, struct ina_route *route)
{
	struct ina_pkt pkt = {
		.type = INA_TYPE_PROBE,
		.path = path - peer->path,
		.job = node->job->config.id,
		.index = peer == &node->parent ? READ_ONCE(node->index) :
			 container_of(peer, struct ina_child, peer) -
			 node->children,
	};
	struct ina_probe_hdr probe = {
		.time = cpu_to_be64(ktime_get_ns()),
		.number = cpu_to_be32(++path->probed),
	};

	WRITE_ONCE(path->unheard, path->unheard + 1);
	ina_xmit_control_by(node, route, &pkt, &probe);
}

/* Where queues are full, answers take their time, and some are lost. */
static bool ina_probe_is_silent(const struct ina_node *node,
				const struct ina_path *path)
{
	unsigned long wait = max(msecs_to_jiffies(READ_ONCE(node->timeout)),
				 nsecs_to_jiffies(INA_PROBE_PATIENCE *
						  READ_ONCE(path->rtt)));

	return READ_ONCE(path->unheard) >= INA_PROBE_MISSED &&
	       time_after(jiffies, READ_ONCE(path->heard) + wait);
}

/* Ask on all paths of a peer. Return: false if there is nothing to choose from. */
static bool ina_probe_peer(struct ina_node *node, struct ina_peer *peer,
			   bool *busy)
{
	struct ina_route *route;
	struct ina_path *path;

	if (READ_ONCE(peer->npaths) < 2)
		return false;
	*busy |= ina_probe_busy(peer);
	for (path = peer->path; path < peer->path + INA_PATHS_MAX; path++) {
		route = rcu_dereference(path->route);
		if (!route)
			continue;
		if (ina_probe_is_silent(node, path))
			ina_path_down(node, peer, path, INA_PATH_STATE_SILENT);
		path->recent += div_s64((s64)(path->sent - path->looked -
					      path->recent), 8);
		path->looked = path->sent;
		ina_probe_send(node, peer, path, route);
	}
	return true;
}

/**
 * ina_probe_tick() - ask on all paths there are to choose from
 * @timer: in the node
 *
 * Context: softirq.
 */
void ina_probe_tick(struct timer_list *timer)
{
	struct ina_node *node = container_of(timer, struct ina_node, probe);
	unsigned int ms = INA_PROBE_IDLE_MS;
	bool any = false, busy = false;
	u16 i;

	rcu_read_lock();
	if (READ_ONCE(node->dead) || READ_ONCE(node->paused))
		goto unlock;
	if (!node->root)
		any |= ina_probe_peer(node, &node->parent, &busy);
	for (i = 0; i < node->nchildren; i++)
		any |= ina_probe_peer(node, &node->children[i].peer, &busy);
	if (busy)
		ms = min(ms, READ_ONCE(node->timeout) / INA_PROBE_OFTEN);
	if (any)
		mod_timer(timer, jiffies + max(msecs_to_jiffies(ms), 1UL));
unlock:
	rcu_read_unlock();
}

/**
 * ina_probe_start() - there may be paths to choose from, or something to send
 * @node: the node
 *
 * Context: any.
 */
void ina_probe_start(struct ina_node *node)
{
	unsigned long next = jiffies + 1;

	rcu_read_lock();
	if (!READ_ONCE(node->dead) && !READ_ONCE(node->paused) &&
	    (!timer_pending(&node->probe) ||
	     time_after(node->probe.expires, next)))
		mod_timer(&node->probe, next);
	rcu_read_unlock();
}

/**
 * ina_probe_hurry() - something was sent: paths are asked more often
 * @node: the node
 *
 * Context: any.
 */
void ina_probe_hurry(struct ina_node *node)
{
	if (timer_pending(&node->probe) &&
	    time_after(node->probe.expires, jiffies +
		       msecs_to_jiffies(READ_ONCE(node->timeout))))
		ina_probe_start(node);
}

/* The peer asks: answer. */
static void ina_probe_echo(struct ina_node *node, struct ina_peer *peer,
			   const struct ina_pkt *probe)
{
	struct ina_pkt pkt = *probe;

	pkt.type = INA_TYPE_ECHO;
	pkt.flags = 0;
	pkt.index = peer == &node->parent ? READ_ONCE(node->index) : probe->index;
	ina_xmit_control(node, peer, &pkt, probe->body);
}

/**
 * ina_probe_rx() - a PROBE or an ECHO of a peer
 * @node: the node
 * @peer: the peer
 * @pkt: the packet
 *
 * Context: softirq, under RCU.
 */
void ina_probe_rx(struct ina_node *node, struct ina_peer *peer,
		  const struct ina_pkt *pkt)
{
	const struct ina_probe_hdr *hdr = pkt->body;
	struct ina_path *path = &peer->path[pkt->path];
	s64 rtt;

	if (pkt->type == INA_TYPE_PROBE) {
		ina_probe_echo(node, peer, pkt);
		return;
	}
	rtt = ktime_get_ns() - be64_to_cpu(hdr->time);
	if (!rcu_access_pointer(path->route) || rtt <= 0 ||
	    rtt > NSEC_PER_SEC ||
	    READ_ONCE(path->probed) - be32_to_cpu(hdr->number) > U8_MAX)
		return;
	WRITE_ONCE(path->rtt, path->rtt ? path->rtt + div_s64(rtt - (s64)path->rtt, 8) :
					  rtt);
	WRITE_ONCE(path->heard, jiffies);
	WRITE_ONCE(path->unheard, 0);
	if (READ_ONCE(path->state) != INA_PATH_STATE_UP)
		ina_path_up(node, peer, path);
}

/* The device of a path has lost its link. Context: process, under RCU. */
static void ina_probe_unlink(struct ina_node *node, struct ina_peer *peer,
			     u32 ifindex)
{
	struct ina_route *route;
	int i;

	if (READ_ONCE(peer->npaths) < 2)
		return;
	for (i = 0; i < INA_PATHS_MAX; i++) {
		route = rcu_dereference(peer->path[i].route);
		if (route && (route->ifindex ?: READ_ONCE(route->used)) == ifindex)
			ina_path_down(node, peer, &peer->path[i],
				      INA_PATH_STATE_LINK_DOWN);
	}
}

/**
 * ina_probe_link() - the link of a device has gone or come
 * @dev: the device
 * @link: it has come: ask at once
 *
 * Context: process, RTNL is held.
 */
void ina_probe_link(struct net_device *dev, bool link)
{
	struct ina_net *inet = ina_net(dev_net(dev));
	struct ina_node *node;
	struct ina_job *job;
	unsigned long id;
	u16 i;

	rcu_read_lock();
	xa_for_each(&inet->jobs, id, job) {
		node = rcu_dereference(job->node);
		if (!node || READ_ONCE(node->dead) || READ_ONCE(node->paused))
			continue;
		if (link) {
			ina_probe_start(node);
			continue;
		}
		if (!node->root)
			ina_probe_unlink(node, &node->parent, dev->ifindex);
		for (i = 0; i < node->nchildren; i++)
			ina_probe_unlink(node, &node->children[i].peer,
					 dev->ifindex);
	}
	rcu_read_unlock();
}
