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
#include "stats.h"
#include "tx.h"
#include "xmit.h"

#define INA_TX_SNDBUF	(256 * 1024)
#define INA_TX_BUSY	0
#define INA_TX_STOPPED	1
/* Its bytes behind the longest headers. */
#define INA_TX_BYTES	(U16_MAX - sizeof(struct ipv6hdr) - \
			 sizeof(struct udphdr))

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
	init_waitqueue_func_entry(&tx->room, ina_tx_room);
	add_wait_queue(sk_sleep(tx->sock->sk), &tx->room);
	return 0;
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
	tasklet_kill(&tx->again);
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
	/* After what made it ready: pairs with ina_tx_idle(). */
	smp_mb__before_atomic();
	set_bit((u16)(index + 1), node->tx.ready);
}

/* One slot is to be sent on the hop of a ready bit, which is mostly set. */
static void ina_tx_queue_one(struct ina_node *node, struct ina_hop *hop,
			     u32 slot, u16 bit)
{
	/* Who takes the bit sees the slot: pairs with ina_hop_pick(). */
	smp_mb__before_atomic();
	ina_hop_queue(hop, slot);
	/* As in ina_tx_ready(). */
	smp_mb__after_atomic();
	if (!test_bit(bit, node->tx.ready))
		set_bit(bit, node->tx.ready);
}

/**
 * ina_tx_queue() - a slot has something to send
 * @node: the node
 * @slot: its number
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 *
 * Context: process or softirq. The caller runs the sender when its batch is
 * done.
 */
void ina_tx_queue(struct ina_node *node, u32 slot, u8 way)
{
	u16 i;

	if (way == INA_SLOT_UP) {
		ina_tx_queue_one(node, &node->parent.hop, slot, 0);
		return;
	}
	for (i = 0; i < node->nchildren; i++) {
		/* Not in this epoch. One that is leaving may still need it. */
		if (READ_ONCE(node->children[i].acked) != U64_MAX)
			ina_tx_queue_one(node, &node->children[i].peer.hop,
					 slot, i + 1);
	}
}

static bool ina_tx_full(const struct ina_node *node)
{
	const struct sock *sk = node->tx.sock->sk;

	return refcount_read(&sk->sk_wmem_alloc) >= READ_ONCE(sk->sk_sndbuf);
}

enum ina_tx_stop {
	INA_TX_EMPTY,		/* nothing can be sent */
	INA_TX_SPENT,		/* the budget is spent */
	INA_TX_FULL,		/* until the send buffer drains */
	INA_TX_LATER,		/* until the next tick: no memory, or dropped */
};

/* The next bit of @ready, those after the last one first. */
static u16 ina_tx_turn(struct ina_node *node)
{
	struct ina_tx *tx = &node->tx;
	u16 end = node->nchildren + 1;
	u16 bit = find_next_bit(tx->ready, end, tx->turn);

	return bit < end ? bit : find_first_bit(tx->ready, end);
}

/* Nothing can be sent on a hop now, unless that has just changed. */
static void ina_tx_idle(struct ina_node *node, u16 bit, struct ina_hop *hop)
{
	clear_bit(bit, node->tx.ready);
	/* Pairs with ina_tx_ready(): the bit, then what it stands for. */
	smp_mb__after_atomic();
	if (ina_hop_credit(hop) && !ina_hop_is_empty(hop))
		set_bit(bit, node->tx.ready);
}

/*
 * Send one super-packet on the hop of a ready bit. What was dropped below is lost
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
	struct ina_hop *hop = &b.peer->hop;
	u32 credit = ina_hop_credit(hop);
	int id, picks, err = 0, lost = 0;

	node->tx.turn = bit + 1;
	b.most = ina_xmit_segs(node, b.peer);
	/* Moot ones count as well. */
	for (picks = 0; picks < INA_TX_SEGS && !b.whole; picks++) {
		id = b.segs < credit ? ina_hop_pick(hop) : -1;
		if (id < 0) {
			ina_tx_idle(node, bit, hop);
			break;
		}
		err = ina_batch_append(&b, id);
	}
	*budget -= picks;
	if (b.skb)
		lost = ina_batch_send(&b);
	return err ?: lost;
}

/* Send what waits. Bottom halves are disabled, the busy bit is held. */
static enum ina_tx_stop ina_tx_drain(struct ina_node *node, int *budget)
{
	u16 bit;

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
	ina_batch_forget(&node->tx);
	return INA_TX_EMPTY;
}

/**
 * ina_tx_waits() - is there something to send
 * @node: the node
 *
 * Context: any.
 * Return: true if so.
 */
bool ina_tx_waits(const struct ina_node *node)
{
	return !bitmap_empty(node->tx.ready, node->nchildren + 1);
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
		stop = ina_tx_drain(node, &budget);
		clear_bit_unlock(INA_TX_BUSY, &tx->busy);
		local_bh_enable();
		/* Who found the bit set gave up: look again for its sake. */
		smp_mb__after_atomic();
	} while (ina_tx_again(node, stop));
	if (stop == INA_TX_SPENT)
		ina_tx_later(node);
	/* Somebody has to look whether it arrives. */
	if (budget != before)
		ina_node_tick_in(node, INA_HOP_ASK_MS);
}
