// SPDX-License-Identifier: GPL-2.0
/*
 * What is there and who gets it: the devices of a node, shared between its children and
 * with the nodes of other jobs. What each gets is written down and marked to be told; grant.c
 * tells it. Who is reached through several devices has a part of each, and gets their sum:
 * how much of it takes which path follows from what each carries (path.c).
 * Context: the node's lock is held.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>

#include "grant.h"
#include "ingress.h"
#include "net.h"
#include "node.h"

#define INA_SHARE_STALE_MS	3000	/* who has not said for so long that it sends has ended */
#define INA_SHARE_NUDGE_MS	8	/* until others look again */
#define INA_SHARE_JOBS		64	/* others that are looked at */

/* A place in @grant->devs that leads to nobody any more; INA_GRANT_DEVS if there is none. */
static unsigned int ina_share_unused(const struct ina_node *node, u16 devs)
{
	unsigned long used = node->grant.up | devs;
	u16 i;

	for (i = 0; i < node->nchildren; i++)
		used |= node->children[i].ask.devs;
	return find_first_zero_bit(&used, INA_GRANT_DEVS);
}

/* The bit of a device in @grant->devs, or 0 if there are too many; @devs are in use, too. */
static u16 ina_share_dev(struct ina_node *node, u32 ifindex, u16 devs)
{
	struct ina_grant_dev *dev = node->grant.devs;
	unsigned int i;

	for (i = 0; i < INA_GRANT_DEVS && dev[i].ifindex; i++)
		if (dev[i].ifindex == ifindex)
			return BIT(i);
	if (i == INA_GRANT_DEVS)
		i = ina_share_unused(node, devs);
	if (i == INA_GRANT_DEVS)
		return 0;
	WRITE_ONCE(dev[i].used_in, 0);
	WRITE_ONCE(dev[i].used_out, 0);
	WRITE_ONCE(dev[i].ifindex, ifindex);
	return BIT(i);
}

/**
 * ina_share_devs() - the devices through which a neighbour is reached
 * @node: the node; its lock is held
 * @ifindex: INA_PATHS_MAX of them, perhaps the same; 0: none
 *
 * Return: their bits in the devs of its grant.
 */
u16 ina_share_devs(struct ina_node *node, const u32 *ifindex)
{
	u16 devs = 0;
	u8 i;

	for (i = 0; i < INA_PATHS_MAX; i++)
		if (ifindex[i])
			devs |= ina_share_dev(node, ifindex[i], devs);
	return devs;
}

/* What another node uses of a device. Return: whether it does. */
static bool ina_share_used(const struct ina_node *other, u32 ifindex, u64 *in,
			   u64 *out)
{
	const struct ina_grant_dev *dev = other->grant.devs;
	const struct ina_grant_dev *end = dev + INA_GRANT_DEVS;

	while (dev < end && READ_ONCE(dev->ifindex) != ifindex)
		dev++;
	if (dev == end)
		return false;
	*in += READ_ONCE(dev->used_in);
	*out += READ_ONCE(dev->used_out);
	return READ_ONCE(dev->used_in) || READ_ONCE(dev->used_out);
}

/* What is left of a device by the nodes of other jobs is to be shared. */
static void ina_share_idle(struct ina_node *node, struct ina_grant_dev *dev)
{
	u64 rate, in = 0, out = 0;
	struct ina_node *other;
	struct ina_job *job;
	u32 count = 0, others = 0;
	unsigned long id;

	rcu_read_lock();
	rate = ina_ingress_rate(node->inet, dev->ifindex);
	xa_for_each(&node->inet->jobs, id, job) {
		other = rcu_dereference(job->node);
		if (other && other != node)
			others += ina_share_used(other, dev->ifindex, &in, &out);
		if (++count == INA_SHARE_JOBS)
			break;
	}
	rcu_read_unlock();
	ina_rate_begin(&dev->in, ina_rate_idle(rate, in, others));
	ina_rate_begin(&dev->out, ina_rate_idle(rate, out, others));
}

/* Is a child sending? One that has not said so for long has ended. */
static bool ina_share_sends(struct ina_child *child)
{
	struct ina_ask *ask = &child->ask;

	if (!child->workers ||
	    time_after(jiffies, ask->at + msecs_to_jiffies(INA_SHARE_STALE_MS)))
		ask->sending = false;
	return ask->sending;
}

/* A child asks for its part of each device through which it is reached. */
static void ina_share_ask(struct ina_grant *grant, struct ina_child *child)
{
	unsigned long devs = child->ask.devs;
	unsigned int i;
	bool sends;

	if (!child->workers)
		return;
	sends = ina_share_sends(child);
	for_each_set_bit(i, &devs, INA_GRANT_DEVS) {
		ina_rate_ask(&grant->devs[i].out, child->ask.receive);
		if (sends)
			ina_rate_ask(&grant->devs[i].in, child->ask.send);
	}
}

/* Share the devices between the children. */
static void ina_share_all(struct ina_node *node)
{
	struct ina_grant *grant = &node->grant;
	struct ina_grant_dev *dev, *end = grant->devs;
	bool again;
	u16 i;

	while (end < grant->devs + INA_GRANT_DEVS && end->ifindex)
		ina_share_idle(node, end++);
	do {
		again = false;
		for (i = 0; i < node->nchildren; i++)
			ina_share_ask(grant, &node->children[i]);
		for (dev = grant->devs; dev < end; dev++) {
			again |= ina_rate_again(&dev->in);
			again |= ina_rate_again(&dev->out);
		}
	} while (again);
}

/* What can come to be sent to the parent; while nothing does, what last could. */
static u64 ina_share_demand(struct ina_node *node)
{
	u64 demand = 0;
	bool any = false;
	u16 i;

	if (node->nworkers)
		return 0;
	for (i = 0; i < node->nchildren; i++) {
		if (!ina_share_sends(&node->children[i]))
			continue;
		if (!node->children[i].ask.send)
			return 0;
		any = true;
		demand = max(demand, node->children[i].ask.send);
	}
	return any ? demand : node->grant.demand;
}

/* What all devices to the parent can send and receive; 0: one of them is unlimited. */
static void ina_share_up(struct ina_grant *grant, u64 *send, u64 *receive)
{
	unsigned long devs = grant->up;
	bool in = true, out = true;
	unsigned int i;

	*send = 0;
	*receive = 0;
	for_each_set_bit(i, &devs, INA_GRANT_DEVS) {
		out &= !!grant->devs[i].out.capacity;
		in &= !!grant->devs[i].in.capacity;
		*send += grant->devs[i].out.capacity;
		*receive += grant->devs[i].in.capacity;
	}
	*send = out ? *send : 0;
	*receive = in ? *receive : 0;
}

/* What the node asks of its parent; READY if that is another than before. */
static void ina_share_request(struct ina_node *node)
{
	struct ina_grant *grant = &node->grant;
	struct ina_peer *parent = &node->parent;
	u64 send, receive;

	grant->demand = ina_share_demand(node);
	ina_share_up(grant, &send, &receive);
	send = ina_rate_min(grant->demand, send);
	if (!grant->number || send != grant->send ||
	    receive != grant->receive) {
		grant->send = send;
		grant->receive = receive;
		ina_grant_ask(grant);
	}
	WRITE_ONCE(parent->pace.rate, grant->known ?
		   ina_rate_min(grant->rate, send) : send);
}

/* The parts of all devices to a child together, but no more than it asks for. */
static u64 ina_share_of(const struct ina_grant *grant, unsigned long devs,
			bool in, u64 ask)
{
	static const struct ina_rate_share unlimited;
	u64 most = ina_rate_of(&unlimited, ask), sum = 0, rate;
	unsigned int i;

	for_each_set_bit(i, &devs, INA_GRANT_DEVS) {
		rate = ina_rate_of(in ? &grant->devs[i].in : &grant->devs[i].out,
				   ask);
		if (!rate)
			return 0;
		sum += rate;
	}
	return ina_rate_min(sum, most);
}

/* What a child may send and is sent; GRANT if it may send another rate. */
static void ina_share_give(struct ina_node *node, struct ina_child *child)
{
	struct ina_grant *grant = &node->grant;
	struct ina_ask *ask = &child->ask;
	u64 rate;

	WRITE_ONCE(child->peer.pace.rate,
		   ina_share_of(grant, ask->devs, false, ask->receive));
	if (!ask->heard || (!ask->sending && ask->granted))
		return;
	/* More than the node can pass on would only wait here. */
	rate = ina_share_of(grant, ask->devs, true, ask->send);
	if (!node->root)
		rate = ina_rate_min(rate, node->parent.pace.rate);
	if (rate != ask->rate)
		ask->tell = true;
	ask->rate = rate;
}

/* Nodes of other jobs that use a device, too, get more or less of it. */
static void ina_share_nudge(struct ina_node *node)
{
	struct ina_node *other;
	struct ina_job *job;
	unsigned long id;
	u32 count = 0;

	rcu_read_lock();
	xa_for_each(&node->inet->jobs, id, job) {
		other = rcu_dereference(job->node);
		if (other && other != node)
			ina_node_tick_in(other, INA_SHARE_NUDGE_MS);
		if (++count == INA_SHARE_JOBS)
			break;
	}
	rcu_read_unlock();
}

/*
 * What a neighbour's packets use of each device. Of several each may be used for all of
 * them, up to its part.
 */
static void ina_share_used_by(const struct ina_grant *grant,
			      const struct ina_child *child, u64 *in, u64 *out)
{
	const struct ina_ask *ask = &child->ask;
	unsigned long devs = ask->devs;
	unsigned int i;

	if (!child->workers || !ask->sending)
		return;
	for_each_set_bit(i, &devs, INA_GRANT_DEVS) {
		in[i] += ina_rate_min(ask->rate,
				      ina_rate_of(&grant->devs[i].in, ask->send));
		out[i] += ina_rate_min(child->peer.pace.rate,
				       ina_rate_of(&grant->devs[i].out,
						   ask->receive));
	}
}

/* What the node uses of its devices, for others to see. */
static void ina_share_use(struct ina_node *node)
{
	u64 in[INA_GRANT_DEVS] = {}, out[INA_GRANT_DEVS] = {};
	struct ina_grant *grant = &node->grant;
	unsigned long up = grant->sending ? grant->up : 0;
	struct ina_grant_dev *dev;
	bool changed = false;
	unsigned int bit;
	u16 i;

	for_each_set_bit(bit, &up, INA_GRANT_DEVS)
		out[bit] = ina_rate_min(node->parent.pace.rate,
					grant->devs[bit].out.capacity);
	for (i = 0; i < node->nchildren; i++)
		ina_share_used_by(grant, &node->children[i], in, out);
	for (i = 0; i < INA_GRANT_DEVS; i++) {
		dev = &grant->devs[i];
		changed |= !dev->used_in != !in[i] || !dev->used_out != !out[i];
		WRITE_ONCE(dev->used_in, in[i]);
		WRITE_ONCE(dev->used_out, out[i]);
	}
	if (changed)
		ina_share_nudge(node);
}

/**
 * ina_share_update() - something has changed: look at all rates again
 * @node: the node; its lock is held
 *
 * What has to be told is marked.
 */
void ina_share_update(struct ina_node *node)
{
	u16 i;

	lockdep_assert_held(&node->lock);
	ina_share_all(node);
	if (!node->root)
		ina_share_request(node);
	for (i = 0; i < node->nchildren; i++)
		ina_share_give(node, &node->children[i]);
	ina_share_use(node);
}
