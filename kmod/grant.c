// SPDX-License-Identifier: GPL-2.0
/*
 * Who asks whom for which rate, and when. A node tells its parent with READY what it can
 * send and receive and whether it is sending; what changes travels on to the root. A
 * parent shares the ingress of each device between the children that send through it, none
 * of which gets more than the node itself was granted, and tells each with GRANT. Both are
 * sent at once by whoever finds that they have to be, as delay is what counts; any may
 * be lost: what has no answer is repeated by the clock, and nobody waits for long.
 * Packets come in softirq, under RCU; the clock is the node's tick, in process context. State
 * is under the node's lock.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "grant.h"
#include "node.h"
#include "probe.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"
#include "wire.h"
#include "worker.h"
#include "xmit.h"

#define INA_GRANT_WAIT_MS	20	/* the first round waits no longer for a GRANT */
#define INA_GRANT_TICK_MS	8	/* beyond the delay until READY is repeated, first */
#define INA_GRANT_DELAY_MS	250	/* the longest delay that is believed */
#define INA_GRANT_END_MS	32	/* silence that ends sending */
#define INA_GRANT_SHIFT		5	/* most doublings of the first */
#define INA_GRANT_TRIES		8	/* to tell that nothing is sent any more */
#define INA_GRANT_FRESH_MS	1000	/* READY is repeated while sending */
#define INA_GRANT_NOW		8	/* packets sent in a softirq, the rest by the node's work */

/* Until READY is repeated: an answer may be under way. */
static void ina_grant_wait(struct ina_grant *grant)
{
	unsigned int ms = INA_GRANT_TICK_MS << min_t(unsigned int, grant->tries, INA_GRANT_SHIFT);

	grant->repeat_at = jiffies + msecs_to_jiffies(ms + grant->delay);
}

/**
 * ina_grant_ask() - a READY with another number is to be sent
 * @grant: of the node; its lock is held
 */
void ina_grant_ask(struct ina_grant *grant)
{
	grant->number++;
	grant->tell = true;
	grant->again = false;
	grant->tries = 0;
	ina_grant_wait(grant);
}

/**
 * struct ina_grant_pkt - a packet to be sent
 * @peer: to whom
 * @pkt: header
 * @ready: what follows a READY
 * @grant: what follows a GRANT
 */
struct ina_grant_pkt {
	struct ina_peer *peer;
	struct ina_pkt pkt;
	union {
		struct ina_ready_hdr ready;
		struct ina_grant_hdr grant;
	};
};

static void ina_grant_fill_ready(struct ina_node *node, struct ina_grant_pkt *p)
{
	struct ina_grant *grant = &node->grant;

	grant->tell = false;
	if (!grant->again)
		grant->asked = ktime_get_ns();
	grant->again = true;
	p->peer = &node->parent;
	p->pkt.type = INA_TYPE_READY;
	p->pkt.seq = grant->number;
	p->pkt.index = node->index;
	p->ready = (struct ina_ready_hdr){
		.send = cpu_to_be64(grant->send),
		.receive = cpu_to_be64(grant->receive),
		.sending = cpu_to_be32(grant->sending),
	};
}

static void ina_grant_fill_grant(struct ina_node *node, u16 index,
				 struct ina_grant_pkt *p)
{
	struct ina_ask *ask = &node->children[index].ask;

	ask->tell = false;
	ask->granted = true;
	p->peer = &node->children[index].peer;
	p->pkt.type = INA_TYPE_GRANT;
	p->pkt.seq = ++ask->grants;
	p->pkt.index = index;
	p->grant = (struct ina_grant_hdr){
		.rate = cpu_to_be64(ask->rate),
		.ready = cpu_to_be32(ask->number),
	};
}

/* Whom to send the next GRANT: @first, then from @at on. */
static u16 ina_grant_whom(const struct ina_node *node, u16 first, u16 *at)
{
	if (first < node->nchildren && node->children[first].ask.tell)
		return first;
	while (*at < node->nchildren && !node->children[*at].ask.tell)
		++*at;
	return *at;
}

/* The next packet; @first is answered before the parent is asked. Return: false if none. */
static bool ina_grant_next(struct ina_node *node, u16 first, u16 *at,
			   struct ina_grant_pkt *p)
{
	const struct ina_grant *grant = &node->grant;
	/* Else the root decides first. */
	bool may = node->root || grant->known || grant->alone;
	bool waits = may && first < node->nchildren && node->children[first].ask.tell;
	u16 index;

	if (!waits && grant->tell && node->index != INA_INDEX_NONE) {
		ina_grant_fill_ready(node, p);
		return true;
	}
	if (!may)
		return false;
	index = ina_grant_whom(node, first, at);
	if (index == node->nchildren)
		return false;
	ina_grant_fill_grant(node, index, p);
	return true;
}

/*
 * Send what is to be sent, at most @most packets, to child @first before others, which begin at
 * @at. One that is dead sends nothing, and one that is paused not yet. Return: false if there
 * may be more.
 */
static bool ina_grant_send(struct ina_node *node, u16 first, u16 *at, unsigned int most)
{
	struct ina_grant_pkt p;
	bool more;

	while (!READ_ONCE(node->dead) && !READ_ONCE(node->paused)) {
		if (!most--)
			return false;
		p = (struct ina_grant_pkt){ .pkt.job = node->job->config.id };
		/* Softirqs that wait would add gradients before it leaves. */
		local_bh_disable();
		spin_lock(&node->lock);
		more = ina_grant_next(node, first, at, &p);
		spin_unlock(&node->lock);
		if (more)
			ina_xmit_control(node, p.peer, &p.pkt, &p.ready);
		local_bh_enable();
		if (!more)
			break;
	}
	return true;
}

/* The same from a softirq or a process that has better things to do. */
static void ina_grant_send_now(struct ina_node *node, u16 first)
{
	u16 at = 0;

	if (ina_tx_crowded(node) || !ina_grant_send(node, first, &at, INA_GRANT_NOW))
		ina_node_kick(node);
}

/**
 * ina_grant_flush() - send all that is to be sent
 * @node: the node
 *
 * Context: process, the node's work, no lock held.
 */
void ina_grant_flush(struct ina_node *node)
{
	unsigned int most = INA_GRANT_NOW;
	u16 at = 0;

	while (!ina_grant_send(node, 0, &at, most))
		if (!ina_tx_wait(node))
			most = UINT_MAX;
}

/**
 * ina_grant_start() - something is to be sent to the parent
 * @node: the node
 *
 * The first time the sender waits a moment for the GRANT; later it starts with the
 * last one.
 * Context: process or softirq, no lock held; the sender may be busy.
 */
void ina_grant_start(struct ina_node *node)
{
	struct ina_grant *grant = &node->grant;
	u32 ifindex[INA_PATHS_MAX];

	WRITE_ONCE(grant->active, jiffies);
	if (node->root || READ_ONCE(grant->sending))
		return;
	ina_xmit_devs(node, &node->parent, ifindex);
	spin_lock_bh(&node->lock);
	if (!grant->sending) {
		WRITE_ONCE(grant->sending, true);
		grant->up = ina_share_devs(node, ifindex);
		ina_grant_ask(grant);
		if (!grant->known && !grant->alone && !grant->waits) {
			grant->waits = true;
			WRITE_ONCE(node->parent.pace.depart, ktime_get_ns() +
				   INA_GRANT_WAIT_MS * NSEC_PER_MSEC);
		}
		ina_share_update(node);
	}
	spin_unlock_bh(&node->lock);
	ina_grant_send_now(node, 0);
	ina_node_tick_in(node, INA_GRANT_TICK_MS);
}

/**
 * ina_grant_forget() - the node gets another parent, which knows nothing of it
 * @node: the node; its lock is held, nobody sends
 */
void ina_grant_forget(struct ina_node *node)
{
	struct ina_grant *grant = &node->grant;

	lockdep_assert_held(&node->lock);
	grant->known = false;
	grant->alone = false;
	grant->waits = false;
	grant->sending = false;
	grant->tell = false;
	grant->up = 0;
	grant->send = 0;
	grant->receive = 0;
	grant->answered = grant->number;
	grant->delay = 0;
	node->parent.pace = (struct ina_pace){};
}

/* Nothing was sent to the parent for a while, and nothing is to be. */
static bool ina_grant_ended(const struct ina_node *node)
{
	unsigned long active = READ_ONCE(node->grant.active);
	u16 i;

	if (time_before(jiffies, active + msecs_to_jiffies(INA_GRANT_END_MS)) ||
	    !ina_queue_is_empty(&node->parent.queue))
		return false;
	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i] && node->workers[i]->pushing)
			return false;
	return true;
}

/* By the clock: has READY to be sent again, or another one? */
static void ina_grant_repeat(struct ina_grant *grant)
{
	if (time_before(jiffies, grant->repeat_at))
		return;
	if (grant->answered == grant->number) {
		if (grant->sending)
			ina_grant_ask(grant);
		return;
	}
	/* The parent finds out by itself that nothing more comes. */
	if (++grant->tries > INA_GRANT_TRIES && !grant->sending) {
		grant->answered = grant->number;
		return;
	}
	grant->tell = true;
	ina_grant_wait(grant);
}

/* What the clock changes of what is asked of the parent. Return: as ina_grant_tick(). */
static unsigned int ina_grant_clock(struct ina_node *node)
{
	struct ina_grant *grant = &node->grant;

	if (node->root || !grant->number)
		return UINT_MAX;
	if (!grant->known && grant->again &&
	    ktime_get_ns() - grant->asked >= INA_GRANT_WAIT_MS * NSEC_PER_MSEC)
		grant->alone = true;
	if (grant->sending && ina_grant_ended(node)) {
		WRITE_ONCE(grant->sending, false);
		ina_grant_ask(grant);
	}
	ina_grant_repeat(grant);
	if (grant->answered != grant->number)
		return INA_GRANT_TICK_MS;
	return grant->sending ? INA_GRANT_END_MS / 2 : UINT_MAX;
}

/**
 * ina_grant_tick() - by the clock
 * @node: the node
 *
 * Context: process, the node's tick, no lock held.
 * Return: milliseconds until the next, UINT_MAX if there need not be one.
 */
unsigned int ina_grant_tick(struct ina_node *node)
{
	struct ina_grant *grant = &node->grant;
	bool sending = !node->root && READ_ONCE(grant->sending);
	u32 up[INA_PATHS_MAX];
	unsigned int ms;
	u16 devs;

	if (sending)
		ina_xmit_devs(node, &node->parent, up);
	spin_lock_bh(&node->lock);
	/* Paths may have come and gone meanwhile. For a moment there may be no way. */
	devs = sending ? ina_share_devs(node, up) : 0;
	if (devs)
		grant->up = devs;
	ms = ina_grant_clock(node);
	if (grant->devs[0].ifindex)
		ina_share_update(node);
	spin_unlock_bh(&node->lock);
	ina_grant_send_now(node, 0);
	return ms;
}

/* Take over what a child says. Return: whether it is another than before. */
static bool ina_grant_take(struct ina_node *node, struct ina_ask *ask,
			   const struct ina_pkt *pkt, const u32 *ifindex)
{
	const struct ina_ready_hdr *ready = pkt->body;
	struct ina_ask old = *ask;

	ask->heard = true;
	ask->number = pkt->seq;
	ask->at = jiffies;
	ask->devs = ina_share_devs(node, ifindex);
	ask->send = min(be64_to_cpu(ready->send), INA_RATE_MAX);
	ask->receive = min(be64_to_cpu(ready->receive), INA_RATE_MAX);
	ask->sending = ready->sending;
	ask->tell = true;
	return !old.heard || ask->devs != old.devs || ask->send != old.send ||
	       ask->receive != old.receive || ask->sending != old.sending;
}

/**
 * ina_grant_rx_ready() - a child asks for a rate
 * @node: the node
 * @child: the child
 * @pkt: the READY
 *
 * Context: softirq, under RCU, no lock held.
 * Return: 0, or INA_STAT_DROP_STALE if a later one has come before it.
 */
int ina_grant_rx_ready(struct ina_node *node, struct ina_child *child,
		       const struct ina_pkt *pkt)
{
	u32 up[INA_PATHS_MAX] = {}, down[INA_PATHS_MAX];
	struct ina_ask *ask = &child->ask;
	int err = 0;
	u16 was;

	if (!node->root)
		ina_xmit_devs(node, &node->parent, up);
	ina_xmit_devs(node, &child->peer, down);
	spin_lock_bh(&node->lock);
	if (ask->heard && (s32)(pkt->seq - ask->number) < 0) {
		err = INA_STAT_DROP_STALE;
	} else {
		was = node->grant.up;
		node->grant.up = ina_share_devs(node, up);
		/* All children are looked at only if it asks for something else. */
		if (ina_grant_take(node, ask, pkt, down) || node->grant.up != was)
			ina_share_update(node);
	}
	spin_unlock_bh(&node->lock);
	if (err)
		return err;
	ina_grant_send_now(node, child - node->children);
	/* Its own READY may be lost. */
	if (!node->root && READ_ONCE(node->grant.number) !=
			   READ_ONCE(node->grant.answered))
		ina_node_tick_in(node, INA_GRANT_TICK_MS);
	return 0;
}

/* Is a GRANT newer than the last? Another READY counts more than another GRANT. */
static bool ina_grant_is_new(const struct ina_grant *grant, u32 ready, u32 seq)
{
	s32 newer = ready - grant->answered;

	if (!grant->number || (s32)(grant->number - ready) < 0)
		return false;
	if (!grant->known)
		return true;
	return newer > 0 || (!newer && (s32)(seq - grant->grants) > 0);
}

/* The answer to the last READY: how long did it take? */
static void ina_grant_measure(struct ina_node *node, u64 rate)
{
	u64 ns = ktime_get_ns() - node->grant.asked;

	node->grant.delay = min_t(u64, div_u64(ns, NSEC_PER_MSEC), INA_GRANT_DELAY_MS);
	ina_stats_inc(node->job->stats, INA_STAT_GRANTS);
	ina_stats_add(node->job->stats, INA_STAT_GRANT_NS,
		      min_t(u64, ns, UINT_MAX));
	trace_ina_grant(node, node->grant.number, rate, ns);
}

/* What the parent grants holds from now on. */
static void ina_grant_accept(struct ina_node *node, u32 ready, u32 seq, u64 rate)
{
	struct ina_grant *grant = &node->grant;

	if (ready == grant->number && (!grant->known || grant->answered != ready))
		ina_grant_measure(node, rate);
	grant->known = true;
	grant->answered = ready;
	grant->grants = seq;
	grant->rate = rate ? clamp_t(u64, rate, INA_RATE_MIN, INA_RATE_MAX) : 0;
	if (ready == grant->number)
		grant->repeat_at = jiffies + msecs_to_jiffies(INA_GRANT_FRESH_MS);
	if (grant->waits)
		WRITE_ONCE(node->parent.pace.depart, 0);
	grant->waits = false;
	ina_share_update(node);
}

/**
 * ina_grant_rx_grant() - the parent grants a rate
 * @node: the node
 * @pkt: the GRANT
 *
 * Context: softirq, under RCU, no lock held. The caller runs the sender.
 * Return: 0, or INA_STAT_DROP_STALE if a later one has come before it.
 */
int ina_grant_rx_grant(struct ina_node *node, const struct ina_pkt *pkt)
{
	const struct ina_grant_hdr *hdr = pkt->body;
	u32 ready = be32_to_cpu(hdr->ready);
	bool new;

	spin_lock_bh(&node->lock);
	new = ina_grant_is_new(&node->grant, ready, pkt->seq);
	if (new)
		ina_grant_accept(node, ready, pkt->seq, be64_to_cpu(hdr->rate));
	spin_unlock_bh(&node->lock);
	if (!new)
		return INA_STAT_DROP_STALE;
	ina_tx_unhold(node);
	ina_grant_send_now(node, 0);
	return 0;
}

/* The rate of a path may have changed. Return: whether it was cut. */
static bool ina_grant_judge(struct ina_node *node, struct ina_path *path, u64 now)
{
	bool cut = ina_rate_judge(&path->loss, node->loss_limit / 1000,
				  READ_ONCE(path->hop.next), now);

	/* From now on groups tell: ECHOs come seldom. */
	if (path->pace.rate && !path->loss.limit)
		WRITE_ONCE(path->fed, jiffies - INA_PATH_FED - 1);
	WRITE_ONCE(path->pace.rate, path->loss.limit);
	if (cut)
		ina_stats_inc(node->job->stats, INA_STAT_RATE_CUTS);
	return cut;
}

/*
 * A group does not tell how fast it was sent: take what was sent since the last answer, and
 * how long that took.
 */
static void ina_grant_since(struct ina_path *path, struct ina_heard *heard)
{
	u64 sent = READ_ONCE(path->pace.bytes), took = READ_ONCE(path->pace.busy);

	if (!heard->packets)
		return;
	/* The path may just be another one, which starts from 0. */
	if (!heard->rtt) {
		heard->bytes = sent - min(sent, path->loss.sent);
		heard->busy = took - min(took, path->loss.took);
	}
	path->loss.sent = sent;
	path->loss.took = took;
}

/**
 * ina_grant_loss() - a neighbour tells what has come
 * @node: the node
 * @peer: the neighbour
 * @path: on which it was sent
 * @heard: what it tells
 *
 * Context: softirq, no lock held.
 */
void ina_grant_loss(struct ina_node *node, struct ina_peer *peer,
		    struct ina_path *path, struct ina_heard *heard)
{
	bool cut;
	u64 now;

	spin_lock_bh(&node->lock);
	now = ktime_get_ns();
	path->loss.most = READ_ONCE(peer->pace.rate);
	ina_grant_since(path, heard);
	ina_rate_heard(&path->loss, heard, now);
	cut = ina_grant_judge(node, path, now);
	spin_unlock_bh(&node->lock);
	/* Now it is worth while to hear more often. */
	if (cut)
		ina_probe_start(node);
}
