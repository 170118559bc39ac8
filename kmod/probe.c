// SPDX-License-Identifier: GPL-2.0
/*
 * Every path of a peer that has several, or takes less than is granted, is asked, by the
 * clock if there are several, PROBE, and the peer answers, ECHO, by its path of the same
 * number. So the time there and back is known, how much of what was sent has come, and a
 * path that swallows packets without a word is found.
 * Timer and packets run in softirq, under RCU; what is known of a path is under its hop's lock.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>

#include "job.h"
#include "net.h"
#include "node.h"
#include "probe.h"
#include "stats.h"
#include "wire.h"
#include "xmit.h"

#define INA_PROBE_OFTEN		6	/* looks within the timeout, while something is sent */
#define INA_PROBE_MISSED	3	/* at least so many have no answer */
#define INA_PROBE_PATIENCE	4	/* times there and back */
#define INA_PROBE_IDLE_MS	100U
#define INA_PROBE_PACKETS	256	/* of the only path tell enough to be asked for, */
#define INA_PROBE_FEW_MS	250	/* fewer after such a time; */
#define INA_PROBE_SOON		2	/* halved so often when its rate was just cut */
#define INA_PROBE_ASKED		8	/* on their way; the next waits as if idle, */
#define INA_PROBE_LONGER	3	/* each twice as long, so many times */
#define INA_PROBE_SLOW		(100 * NSEC_PER_MSEC)	/* no network is: who answers is */
#define INA_PROBE_LATEST	(10LL * NSEC_PER_SEC)	/* what takes longer is no answer */
#define INA_PROBE_PEERS		32	/* asked at once */
#define INA_PROBE_PAST		(2 * HZ)	/* then what was asked before counts no more, */
#define INA_PROBE_KNOWN		(2LL * NSEC_PER_SEC)	/* nor does what was so long ago */

/* Is something on its way to a peer, or about to be? */
static bool ina_probe_busy(const struct ina_node *node,
			   const struct ina_peer *peer)
{
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++)
		if (READ_ONCE(peer->path[i].hop.next) !=
		    READ_ONCE(peer->path[i].hop.una))
			return true;
	/* Pairs with the release in ina_node_alloc(). */
	return smp_load_acquire(&node->usable) &&
	       !ina_queue_is_empty(&peer->queue);
}

/*
 * In how many nanoseconds a PROBE leaves: behind what was handed down before and waits for
 * its time. While the sender waits for its first GRANT nothing does.
 */
static u64 ina_probe_ahead(const struct ina_node *node,
			   const struct ina_peer *peer,
			   const struct ina_path *path, u64 now)
{
	u64 depart = max(READ_ONCE(peer->pace.depart),
			 READ_ONCE(path->pace.depart));

	return READ_ONCE(node->grant.waits) || depart < now ? 0 : depart - now;
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
	u64 now = ktime_get_ns(), ahead = ina_probe_ahead(node, peer, path, now);
	struct ina_probe_hdr probe = {
		.time = cpu_to_be64(now),
		.number = cpu_to_be32(++path->probed),
	};

	path->marks[path->probed % INA_PATH_MARKS] = (struct ina_path_mark){
		.packets = READ_ONCE(path->packets),
		.next = READ_ONCE(path->hop.next),
		.bytes = READ_ONCE(path->pace.bytes),
		.busy = READ_ONCE(path->pace.busy),
		.ahead = min_t(u64, ahead, U32_MAX),
	};
	path->probed_at = jiffies;
	WRITE_ONCE(path->unheard, path->unheard + 1);
	ina_xmit_control_by(node, route, &pkt, &probe, ahead ? now + ahead : 0);
}

/* Jiffies between two looks. */
static unsigned long ina_probe_period(const struct ina_node *node)
{
	return max(msecs_to_jiffies(READ_ONCE(node->timeout)) / INA_PROBE_OFTEN, 1UL);
}

/*
 * Where queues are full, answers take their time, and some are lost. If none has come on
 * any path, it is not the path. The first PROBE without an answer leaves at the third look
 * after the last sign of life, two more at the next, and at the sixth the path is left.
 */
static bool ina_probe_is_silent(const struct ina_node *node,
				const struct ina_path *path,
				unsigned long newest)
{
	u64 rtt = READ_ONCE(path->rtt);
	unsigned long wait = rtt ? max(2 * ina_probe_period(node),
				       nsecs_to_jiffies(INA_PROBE_PATIENCE *
							min_t(u64, rtt, NSEC_PER_SEC))) :
				   msecs_to_jiffies(READ_ONCE(node->timeout));

	return READ_ONCE(path->unheard) >= INA_PROBE_MISSED &&
	       time_after(newest, READ_ONCE(path->heard) + wait);
}

/* Is a path to be asked on: there is a choice, or it takes less than is granted? */
static bool ina_probe_wanted(const struct ina_peer *peer)
{
	return READ_ONCE(peer->npaths) > 1 ||
	       READ_ONCE(peer->path[READ_ONCE(peer->first)].pace.rate);
}

/**
 * ina_probe_wait() - how long the next PROBE waits behind the last
 * @asked: how many have no answer yet
 * @rtt: nanoseconds that one takes
 *
 * Where answers take long, or do not come, to ask more makes it worse: what is slow would
 * answer nothing else.
 * Return: milliseconds.
 */
unsigned int ina_probe_wait(u32 asked, u64 rtt)
{
	unsigned int wait = 0;

	if (rtt > INA_PROBE_SLOW)
		wait = div_u64(2 * min_t(u64, rtt, NSEC_PER_SEC / 2), NSEC_PER_MSEC);
	if (asked < INA_PROBE_ASKED)
		return wait;
	return max(wait, INA_PROBE_IDLE_MS << min_t(u32, asked - INA_PROBE_ASKED,
						    INA_PROBE_LONGER));
}

/*
 * Is it time to ask on a path? If there is a @choice one that takes all it is given is, if
 * nothing tells that it lives, and now and then how long it takes; else only what came of
 * enough packets.
 */
static bool ina_probe_is_due(const struct ina_node *node,
			     const struct ina_path *path, bool choice)
{
	u32 asked = path->probed - READ_ONCE(path->settled);
	u32 more = READ_ONCE(path->packets) -
		   path->marks[path->probed % INA_PATH_MARKS].packets;
	unsigned int soon = READ_ONCE(path->loss.cuts) ? INA_PROBE_SOON : 0;

	if (time_before(jiffies, path->probed_at +
				 msecs_to_jiffies(ina_probe_wait(asked, READ_ONCE(path->rtt)))))
		return false;
	if (!choice)
		return more >= INA_PROBE_PACKETS >> soon ||
		       (more && time_after_eq(jiffies, path->probed_at +
					      msecs_to_jiffies(INA_PROBE_FEW_MS >> soon)));
	return READ_ONCE(path->pace.rate) || READ_ONCE(path->unheard) ||
	       READ_ONCE(path->state) != INA_PATH_STATE_UP ||
	       time_after(jiffies, READ_ONCE(path->heard) +
				   2 * ina_probe_period(node)) ||
	       time_after_eq(jiffies, path->probed_at +
			     msecs_to_jiffies(INA_PROBE_IDLE_MS));
}

/* Ask on all paths of a peer. Return: false if there is no need to. */
static bool ina_probe_peer(struct ina_node *node, struct ina_peer *peer,
			   bool *busy)
{
	bool choice = READ_ONCE(peer->npaths) > 1;
	struct ina_route *route;
	struct ina_path *path;
	unsigned long newest;

	if (!ina_probe_wanted(peer))
		return false;
	*busy |= ina_probe_busy(node, peer);
	newest = ina_path_heard(peer);
	for (path = peer->path; path < peer->path + INA_PATHS_MAX; path++) {
		route = rcu_dereference(path->route);
		if (!route)
			continue;
		if (choice && READ_ONCE(path->state) == INA_PATH_STATE_UP &&
		    ina_probe_is_silent(node, path, newest))
			ina_path_down(node, peer, path, INA_PATH_STATE_SILENT);
		path->recent += div_s64((s64)(path->sent - path->looked -
					      path->recent), 8);
		path->looked = path->sent;
		if (ina_probe_is_due(node, path, choice))
			ina_probe_send(node, peer, path, route);
	}
	return true;
}

/**
 * ina_probe_tick() - ask on all paths there are to choose from
 * @timer: in the node
 *
 * Context: softirq. A node with many children asks some at a time.
 */
void ina_probe_tick(struct timer_list *timer)
{
	struct ina_node *node = container_of(timer, struct ina_node, probe);
	unsigned long wait = ina_probe_period(node), behind;
	u16 end;

	rcu_read_lock();
	if (READ_ONCE(node->dead) || READ_ONCE(node->paused))
		goto unlock;
	if (!node->probe_at) {
		node->probe_busy = false;
		node->probe_any = !node->root &&
				  ina_probe_peer(node, &node->parent,
						 &node->probe_busy);
	}
	end = min_t(u16, node->nchildren, node->probe_at + INA_PROBE_PEERS);
	for (; node->probe_at < end; node->probe_at++)
		node->probe_any |=
			ina_probe_peer(node, &node->children[node->probe_at].peer,
				       &node->probe_busy);
	/* A timer ends a jiffy late, so that it never ends early. */
	if (end < node->nchildren) {
		mod_timer(timer, jiffies);
		goto unlock;
	}
	node->probe_at = 0;
	/* Jiffies since it came to the first. */
	behind = (max_t(u16, end, 1) - 1) / INA_PROBE_PEERS;
	wait -= min(wait - 1, behind);
	if (!node->probe_busy)
		wait = max(wait, msecs_to_jiffies(INA_PROBE_IDLE_MS));
	if (node->probe_any)
		mod_timer(timer, jiffies + wait - 1);
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
 * ina_probe_hurry() - something was sent: paths are looked at more often
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

/*
 * Where an answer goes: back on the path with the number of the question, so that what is
 * dead both ways keeps no other answer from coming; or, if there is none, in turns. Context:
 * under RCU.
 */
static struct ina_route *ina_probe_back(struct ina_peer *peer, u8 number,
					u32 turn)
{
	struct ina_route *route = rcu_dereference(peer->path[number].route);
	int i;

	for (i = 0; !route && i < INA_PATHS_MAX; i++)
		route = rcu_dereference(peer->path[(turn + i) %
						   INA_PATHS_MAX].route);
	return route;
}

/* The peer asks: answer, and tell what has come. */
static void ina_probe_echo(struct ina_node *node, struct ina_peer *peer,
			   const struct ina_pkt *probe)
{
	struct ina_probe_hdr hdr = *(const struct ina_probe_hdr *)probe->body;
	struct ina_path *path = &peer->path[probe->path];
	struct ina_pkt pkt = *probe;
	struct ina_route *route;

	pkt.type = INA_TYPE_ECHO;
	pkt.flags = 0;
	pkt.length = atomic_xchg(&path->marked, 0);
	pkt.index = peer == &node->parent ? READ_ONCE(node->index) : probe->index;
	hdr.received = cpu_to_be32(READ_ONCE(path->hop.received));
	route = ina_probe_back(peer, probe->path, be32_to_cpu(hdr.number));
	if (route)
		ina_xmit_control_by(node, route, &pkt, &hdr, 0);
}

/*
 * All that was sent before a PROBE has come before it, or is lost: what was of what is
 * between this one and the last one that was answered. Return: false if nobody knows.
 */
static bool ina_probe_learn(struct ina_path *path, u32 number, u32 received,
			    struct ina_heard *heard)
{
	const struct ina_path_mark *mark = &path->marks[number % INA_PATH_MARKS];
	const struct ina_path_mark *last;
	u32 come = received - path->told;
	bool known;

	lockdep_assert_held(&path->hop.lock);
	/* A later one was there first. */
	if (path->echoed && (s32)(number - path->echoed) <= 0)
		return false;
	WRITE_ONCE(path->settled, number);
	last = &path->marks[path->echoed % INA_PATH_MARKS];
	heard->epoch = path->hop.epoch;
	heard->seq = last->next;
	heard->packets = mark->packets - last->packets;
	heard->bytes = mark->bytes - last->bytes;
	heard->busy = mark->busy - last->busy;
	/* Or it has begun to count anew, or there was nothing to ask for a while. */
	known = path->echoed && (s32)come >= 0 &&
		time_before(jiffies, path->echoed_at + INA_PROBE_PAST) &&
		heard->rtt < INA_PROBE_KNOWN &&
		number - path->echoed < INA_PATH_MARKS &&
		path->probed - number < INA_PATH_MARKS &&
		heard->packets <= S32_MAX;
	path->echoed = number;
	path->told = received;
	path->echoed_at = jiffies;
	if (!known)
		return false;
	/* It may have overtaken what was before it: then more comes before the next. */
	if (come > heard->packets) {
		path->told -= come - heard->packets;
		come = heard->packets;
	}
	heard->lost = heard->packets - come;
	/* At the full rate groups tell, if there are any: it was asked long ago. */
	if (!READ_ONCE(path->pace.rate) &&
	    time_before(jiffies, READ_ONCE(path->grouped) + INA_PATH_FED))
		*heard = (struct ina_heard){
			.epoch = heard->epoch, .seq = heard->seq,
			.marked = heard->marked, .rtt = heard->rtt,
		};
	else
		WRITE_ONCE(path->fed, jiffies);
	return true;
}

/* Can something leave by the device of a path? Context: under RCU. */
static bool ina_probe_has_link(const struct ina_node *node,
			       const struct ina_route *route)
{
	struct net_device *dev;

	dev = dev_get_by_index_rcu(node->net, route->ifindex ?:
						  READ_ONCE(route->used));
	return dev && netif_running(dev) && netif_carrier_ok(dev);
}

/* Nanoseconds there and back, without what a PROBE waited before it left. */
static s64 ina_probe_took(const struct ina_path *path,
			  const struct ina_probe_hdr *hdr)
{
	s64 rtt = ktime_get_ns() - be64_to_cpu(hdr->time);
	u32 number = be32_to_cpu(hdr->number), ahead = 0;

	if (READ_ONCE(path->probed) - number < INA_PATH_MARKS)
		ahead = READ_ONCE(path->marks[number % INA_PATH_MARKS].ahead);
	/* It did not wait where nobody knows departure times. */
	return rtt > ahead ? rtt - ahead : rtt;
}

/*
 * What an answer that took @took makes of the time before. A quick one tells how long the
 * way is; a slow one may have met a busy host.
 */
static u64 ina_probe_average(u64 rtt, s64 took)
{
	return rtt ? rtt + div_s64(took - (s64)rtt, took < (s64)rtt ? 2 : 8) : took;
}

/**
 * ina_probe_rx() - a PROBE or an ECHO of a peer
 * @node: the node
 * @peer: the peer
 * @pkt: the packet
 *
 * Context: softirq, under RCU.
 * Return: 0 or a counter.
 */
int ina_probe_rx(struct ina_node *node, struct ina_peer *peer,
		 const struct ina_pkt *pkt)
{
	const struct ina_probe_hdr *hdr = pkt->body;
	struct ina_path *path = &peer->path[pkt->path];
	struct ina_heard heard = { .marked = pkt->length };
	const struct ina_route *route;
	bool known;
	s64 rtt;

	if (pkt->type == INA_TYPE_PROBE) {
		ina_probe_echo(node, peer, pkt);
		return 0;
	}
	rtt = ina_probe_took(path, hdr);
	route = rcu_dereference(path->route);
	if (!route || rtt <= 0 ||
	    rtt > INA_PROBE_LATEST ||
	    READ_ONCE(path->probed) - be32_to_cpu(hdr->number) > U8_MAX)
		return INA_STAT_DROP_OVER;
	WRITE_ONCE(path->rtt, ina_probe_average(READ_ONCE(path->rtt), rtt));
	WRITE_ONCE(path->heard, jiffies);
	WRITE_ONCE(path->unheard, 0);
	heard.rtt = rtt;
	spin_lock_bh(&path->hop.lock);
	known = ina_probe_learn(path, be32_to_cpu(hdr->number),
				be32_to_cpu(hdr->received), &heard);
	spin_unlock_bh(&path->hop.lock);
	if (known)
		ina_grant_loss(node, peer, path, &heard);
	/* What was under way when the link went still comes. */
	if (READ_ONCE(path->state) != INA_PATH_STATE_UP &&
	    ina_probe_has_link(node, route))
		ina_path_up(node, peer, path);
	return 0;
}

/*
 * The device of a path has lost its link, and the path is left if there is another; or has it
 * again, and there is no reason to wait with the next question. Context: process, under RCU.
 */
static void ina_probe_relink(struct ina_node *node, struct ina_peer *peer,
			     u32 ifindex, bool link)
{
	struct ina_route *route;
	struct ina_path *path;

	for (path = peer->path; path < peer->path + INA_PATHS_MAX; path++) {
		route = rcu_dereference(path->route);
		if (!route || (route->ifindex ?: READ_ONCE(route->used)) != ifindex)
			continue;
		if (link)
			WRITE_ONCE(path->settled, READ_ONCE(path->probed));
		else if (READ_ONCE(peer->npaths) > 1)
			ina_path_down(node, peer, path, INA_PATH_STATE_LINK_DOWN);
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
		if (!node->root)
			ina_probe_relink(node, &node->parent, dev->ifindex, link);
		for (i = 0; i < node->nchildren; i++)
			ina_probe_relink(node, &node->children[i].peer,
					 dev->ifindex, link);
		if (link)
			ina_probe_start(node);
	}
	rcu_read_unlock();
}
