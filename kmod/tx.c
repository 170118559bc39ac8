// SPDX-License-Identifier: GPL-2.0
/*
 * Sending. Sums wait as a bit of their hop, not as packets, so nothing is
 * allocated before there is room in the send buffer of the node's socket; its
 * write-space wake-up lets the sender go on. One sender at a time per node, in
 * softirq after a receive or later, or in the node's work; neighbours take turns.
 */
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "batch.h"
#include "net.h"
#include "probe.h"
#include "stats.h"
#include "tx.h"
#include "xmit.h"

#define INA_TX_SNDBUF	(256 * 1024)
#define INA_TX_STUCK_MS	100	/* a super-packet leaves within */
#define INA_TX_BUSY	0
#define INA_TX_STOPPED	1
/* Its bytes behind the longest headers. */
#define INA_TX_BYTES	(U16_MAX - sizeof(struct ipv6hdr) - \
			 sizeof(struct udphdr))

/**
 * ina_tx_unhold() - let the sender look at all hops, whose time may have come
 * @node: the node
 *
 * Context: any. The caller runs the sender.
 */
void ina_tx_unhold(struct ina_node *node)
{
	/* After what was armed or granted: pairs with ina_tx_hold(). */
	smp_mb();
	bitmap_zero(node->tx.held, node->nchildren + 1);
}

/* It is the time of a hop that was held. Context: softirq. */
static enum hrtimer_restart ina_tx_wake(struct hrtimer *timer)
{
	struct ina_node *node = container_of(timer, struct ina_node, tx.wake);

	ina_tx_unhold(node);
	ina_tx_run(node, INA_TX_BUDGET);
	return HRTIMER_NORESTART;
}

/* Go on in a softirq of its own. */
static void ina_tx_go_on(struct tasklet_struct *again)
{
	ina_tx_run(container_of(again, struct ina_node, tx.again),
		   INA_TX_BUDGET);
}

static void ina_tx_later(struct ina_node *node)
{
	/* Under RCU, as in ina_node_kick(). */
	rcu_read_lock();
	if (!READ_ONCE(node->dead) && !READ_ONCE(node->paused))
		tasklet_schedule(&node->tx.again);
	rcu_read_unlock();
}

/* The send buffer has drained: let the sender go on. Lock of the queue held. */
static int ina_tx_room(struct wait_queue_entry *entry, unsigned int mode,
		       int flags, void *key)
{
	struct ina_node *node = container_of(entry, struct ina_node, tx.room);

	/* After the room was made: pairs with ina_tx_again(). */
	if (test_and_clear_bit(INA_TX_STOPPED, &node->tx.busy))
		ina_tx_later(node);
	return 0;
}

/**
 * ina_tx_init() - give a node its socket
 * @node: the node
 *
 * The socket is bound to nothing; it only owns the skbs in flight.
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ina_tx_init(struct ina_node *node)
{
	struct ina_tx *tx = &node->tx;
	int err;

	err = sock_create_kern(node->net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
			       &tx->sock);
	if (err)
		return ina_net_errno(err);
	tx->sock->sk->sk_sndbuf = INA_TX_SNDBUF;
	tx->segs = min_t(u32, INA_TX_SEGS,
			 INA_TX_BYTES / ina_xmit_packet(node, true));
	tx->share = INA_BATCH_SHARE;
	tasklet_setup(&tx->again, ina_tx_go_on);
	hrtimer_setup(&tx->wake, ina_tx_wake, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	init_waitqueue_func_entry(&tx->room, ina_tx_room);
	add_wait_queue(sk_sleep(tx->sock->sk), &tx->room);
	return 0;
}

/**
 * ina_tx_quiet() - the sender does not go on by itself any more
 * @node: the node; it is dead or paused, and readers know it
 *
 * Context: process.
 */
void ina_tx_quiet(struct ina_node *node)
{
	hrtimer_cancel(&node->tx.wake);
	tasklet_kill(&node->tx.again);
}

/**
 * ina_tx_exit() - take the socket away
 * @node: the node; nobody sends any more
 *
 * Packets still in flight keep the socket alive, not the node.
 * Context: process.
 */
void ina_tx_exit(struct ina_node *node)
{
	struct ina_tx *tx = &node->tx;

	remove_wait_queue(sk_sleep(tx->sock->sk), &tx->room);
	ina_tx_quiet(node);
	sock_release(tx->sock);
	tx->sock = NULL;
	if (tx->page.page)
		put_page(tx->page.page);
	tx->page.page = NULL;
	ina_batch_forget(tx);
}

/**
 * ina_tx_ready() - a hop may have something to send
 * @node: the node
 * @index: of the child, INA_INDEX_NONE for the parent
 *
 * Context: any. The caller runs the sender when its batch is done.
 */
void ina_tx_ready(struct ina_node *node, u16 index)
{
	u16 bit = index + 1;

	/* After what made it ready: pairs with ina_tx_idle(). */
	smp_mb__before_atomic();
	set_bit(bit, node->tx.ready);
	/* Another path than the one it waits for may have got credit. */
	if (test_bit(bit, node->tx.held))
		clear_bit(bit, node->tx.held);
}

/* Slots are to be sent on the hop of a ready bit, which is mostly set. */
static void ina_tx_queue_one(struct ina_node *node, struct ina_queue *queue,
			     u32 slot, u32 count, u16 bit, u32 oldest)
{
	/* Who takes a bit sees the slot: pairs with ina_queue_pick(). */
	smp_mb__before_atomic();
	ina_queue_add_range(queue, oldest, slot, count);
	/* As in ina_tx_ready(). */
	smp_mb__after_atomic();
	if (!test_bit(bit, node->tx.ready))
		set_bit(bit, node->tx.ready);
}

/**
 * ina_tx_queue() - slots have something to send
 * @node: the node
 * @slot: number of the first
 * @count: how many
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 *
 * Context: process or softirq. The caller runs the sender when its batch is
 * done.
 */
void ina_tx_queue(struct ina_node *node, u32 slot, u32 count, u8 way)
{
	u32 oldest = ina_node_oldest(node);
	u16 i;

	if (way == INA_SLOT_UP) {
		ina_tx_queue_one(node, &node->parent.queue, slot, count, 0, oldest);
		return;
	}
	for (i = 0; i < node->nchildren; i++) {
		/* Not in this epoch. One that is leaving may still need it. */
		if (READ_ONCE(node->children[i].acked) != U64_MAX)
			ina_tx_queue_one(node, &node->children[i].peer.queue,
					 slot, count, i + 1, oldest);
	}
}

static bool ina_tx_full(const struct ina_node *node)
{
	const struct sock *sk = node->tx.sock->sk;

	return refcount_read(&sk->sk_wmem_alloc) >= READ_ONCE(sk->sk_sndbuf);
}

/**
 * ina_tx_crowded() - has control to wait?
 * @node: the node
 *
 * It has as much of the send buffer again as sums, which do not keep it waiting.
 * Context: any.
 * Return: true if so.
 */
bool ina_tx_crowded(const struct ina_node *node)
{
	const struct sock *sk = node->tx.sock->sk;

	return refcount_read(&sk->sk_wmem_alloc) / 2 >= READ_ONCE(sk->sk_sndbuf);
}

/**
 * ina_tx_wait() - wait until control may be sent
 * @node: the node
 *
 * Context: process, no lock held.
 * Return: false if nothing leaves any more: then it is sent all the same.
 */
bool ina_tx_wait(struct ina_node *node)
{
	const struct sock *sk = node->tx.sock->sk;
	unsigned int least = UINT_MAX, now;
	unsigned long end = jiffies;

	/* The socket wakes only when it has half of its room again, which may take long. */
	while (ina_tx_crowded(node)) {
		now = refcount_read(&sk->sk_wmem_alloc);
		if (now < least) {
			least = now;
			end = jiffies + msecs_to_jiffies(INA_TX_STUCK_MS);
		}
		if (time_after(jiffies, end))
			return false;
		usleep_range(500, 2000);
	}
	return true;
}

enum ina_tx_stop {
	INA_TX_EMPTY,		/* nothing can be sent */
	INA_TX_SPENT,		/* the budget is spent */
	INA_TX_FULL,		/* until the send buffer drains */
	INA_TX_LATER,		/* until the next tick: no memory, or dropped */
};

/* The next bit of @ready that is not held, those after the last one first. */
static u16 ina_tx_turn(struct ina_node *node)
{
	struct ina_tx *tx = &node->tx;
	u16 end = node->nchildren + 1;
	u16 bit = find_next_andnot_bit(tx->ready, tx->held, end, tx->turn);

	return bit < end ? bit :
	       find_next_andnot_bit(tx->ready, tx->held, end, 0);
}

/* It is too early for a hop: come back when it is time. */
static void ina_tx_hold(struct ina_node *node, u16 bit, u64 wake)
{
	struct hrtimer *timer = &node->tx.wake;

	set_bit(bit, node->tx.held);
	/* Then is there a clock that clears it? Pairs with ina_tx_unhold(). */
	smp_mb__after_atomic();
	/* Under RCU, as in ina_node_kick(). */
	rcu_read_lock();
	if (!READ_ONCE(node->dead) && !READ_ONCE(node->paused) &&
	    (!hrtimer_is_queued(timer) ||
	     ktime_to_ns(hrtimer_get_expires(timer)) > wake))
		hrtimer_start(timer, ns_to_ktime(wake), HRTIMER_MODE_ABS_SOFT);
	rcu_read_unlock();
}

/* By which path may something be sent to a neighbour now? */
static struct ina_path *ina_tx_path(struct ina_node *node, u16 bit,
				    struct ina_peer *peer)
{
	struct ina_path *path = NULL;
	u64 now, wake;

	if (!bit)
		ina_grant_start(node);
	now = ktime_get_ns();
	wake = ina_pace_wake(&peer->pace);
	if (ina_pace_may(&peer->pace, now))
		path = ina_path_choose(node, peer, now, &wake);
	if (!path && wake != U64_MAX)
		ina_tx_hold(node, bit, wake);
	return path;
}

/* Nothing can be sent to a neighbour now, unless that has just changed. */
static void ina_tx_idle(struct ina_node *node, u16 bit, struct ina_peer *peer)
{
	clear_bit(bit, node->tx.ready);
	/* Pairs with ina_tx_ready(): the bit, then what it stands for. */
	smp_mb__after_atomic();
	if (ina_path_has_credit(peer) && !ina_queue_is_empty(&peer->queue))
		set_bit(bit, node->tx.ready);
}

/*
 * Packets of a super-packet: no more than the device takes, than leave within
 * INA_PACE_AHEAD, and where there is a choice of paths, than a chunk.
 */
static u16 ina_tx_most(struct ina_node *node, const struct ina_peer *peer,
		       const struct ina_path *path, struct ina_route *route)
{
	unsigned int size = ina_xmit_size(node, true);
	unsigned int most = ina_xmit_segs(node, route);

	if (READ_ONCE(peer->npaths) > 1)
		most = clamp_t(u32, READ_ONCE(node->chunk) / ina_xmit_packet(node, true),
			       1, most);
	most = ina_pace_segs(&peer->pace, size, most);
	return ina_pace_segs(&path->pace, size, most);
}

/*
 * Send one super-packet to the neighbour of a ready bit. What was dropped below is lost
 * like any other. Return: 0, -ENOMEM or -ENOBUFS.
 */
static int ina_tx_step(struct ina_node *node, u16 bit, int *budget)
{
	bool up = !bit;
	u16 index = up ? READ_ONCE(node->index) : bit - 1;
	struct ina_batch b = {
		.node = node,
		.peer = ina_node_peer(node, up ? INA_INDEX_NONE : index),
		.index = index,
		.way = up ? INA_SLOT_UP : INA_SLOT_DOWN,
	};
	struct ina_peer *peer = b.peer;
	int id, picks, err = 0, lost = 0;
	u32 credit;

	node->tx.turn = bit + 1;
	b.path = ina_tx_path(node, bit, peer);
	if (!b.path) {
		/* Held, or without credit. */
		if (!test_bit(bit, node->tx.held))
			ina_tx_idle(node, bit, peer);
		return 0;
	}
	b.route = rcu_dereference(b.path->route);
	/* It is being deleted: let that go on. */
	if (!b.route) {
		*budget = 0;
		return 0;
	}
	b.most = ina_tx_most(node, peer, b.path, b.route);
	credit = ina_hop_credit(&b.path->hop);
	/* Moot ones count as well. */
	for (picks = 0; picks < INA_TX_SEGS && b.segs < b.most && !b.whole; picks++) {
		id = b.segs < credit ? ina_queue_pick(&peer->queue) : -1;
		if (id < 0) {
			ina_tx_idle(node, bit, peer);
			break;
		}
		err = ina_batch_append(&b, id);
	}
	*budget -= picks;
	if (b.skb)
		lost = ina_batch_send(&b);
	return err ?: lost;
}

/* Send what waits. Bottom halves are disabled, under RCU, the busy bit is held. */
static enum ina_tx_stop ina_tx_drain(struct ina_node *node, int *budget)
{
	u16 bit;

	/* Nothing to send yet, and no memory that could say so. */
	if (!smp_load_acquire(&node->usable))
		return INA_TX_LATER;
	while ((bit = ina_tx_turn(node)) <= node->nchildren) {
		if (*budget <= 0)
			return INA_TX_SPENT;
		if (ina_tx_full(node)) {
			ina_stats_inc(node->job->stats, INA_STAT_TX_BLOCKED);
			return INA_TX_FULL;
		}
		if (ina_tx_step(node, bit, budget))
			return INA_TX_LATER;
	}
	if (bitmap_empty(node->tx.ready, node->nchildren + 1))
		ina_batch_forget(&node->tx);
	return INA_TX_EMPTY;
}

/**
 * ina_tx_waits() - is there something to send, and is it the time
 * @node: the node
 *
 * Context: any.
 * Return: true if so.
 */
bool ina_tx_waits(const struct ina_node *node)
{
	return !bitmap_subset(node->tx.ready, node->tx.held,
			      node->nchildren + 1);
}

/* Has what stopped the sender changed while it still held the busy bit? */
static bool ina_tx_again(struct ina_node *node, enum ina_tx_stop stop)
{
	if (stop == INA_TX_EMPTY)
		return ina_tx_waits(node);
	if (stop != INA_TX_FULL)
		return false;
	set_bit(INA_TX_STOPPED, &node->tx.busy);
	/* Then a last look: pairs with ina_tx_room(). */
	smp_mb__after_atomic();
	return !ina_tx_full(node);
}

/**
 * ina_tx_run() - send what waits
 * @node: the node
 * @budget: packets at most; a super-packet that is begun is filled
 *
 * Context: process or softirq, no lock held. What the budget leaves is sent in
 * another softirq. If somebody else is sending, it takes what was queued
 * before this call along.
 */
void ina_tx_run(struct ina_node *node, int budget)
{
	struct ina_tx *tx = &node->tx;
	enum ina_tx_stop stop;
	int before = budget;

	do {
		local_bh_disable();
		/* Queued before the bit is read: pairs with that below. */
		smp_mb();
		if (test_and_set_bit_lock(INA_TX_BUSY, &tx->busy)) {
			local_bh_enable();
			return;
		}
		rcu_read_lock();
		stop = ina_tx_drain(node, &budget);
		rcu_read_unlock();
		clear_bit_unlock(INA_TX_BUSY, &tx->busy);
		local_bh_enable();
		/* Who found the bit set gave up: look again for its sake. */
		smp_mb__after_atomic();
	} while (ina_tx_again(node, stop));
	if (stop == INA_TX_SPENT)
		ina_tx_later(node);
	/* Somebody has to look whether it arrives. */
	if (budget != before) {
		ina_node_tick_in(node, INA_HOP_ASK_MS);
		ina_probe_hurry(node);
	}
}
