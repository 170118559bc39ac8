/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A node is the place of a job in this namespace: its parent, its children,
 * its local workers, and the sums of the rounds in flight.
 */
#ifndef _INA_NODE_H
#define _INA_NODE_H

#include <linux/align.h>
#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/interrupt.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/ina.h>
#include <uapi/linux/ina_dev.h>

#include "arrival.h"
#include "grant.h"
#include "hop.h"
#include "job.h"
#include "pace.h"
#include "path.h"
#include "ranks.h"
#include "region.h"
#include "slot.h"

struct ina_worker;
struct socket;

#define INA_NODE_CHILDREN_MAX	1024
#define INA_NODE_WORKERS_MAX	64

/**
 * struct ina_blame - why something failed
 * @reason: enum ina_reason
 * @detail: numbers that belong to it
 * @culprit: who, :: if unknown
 * @worker: number of the worker there, counted from 1, 0 if unknown
 * @last: last fragment seen of it, counted from 1, 0 if none
 */
struct ina_blame {
	u32 reason;
	u32 detail[2];
	struct in6_addr culprit;
	u32 worker;
	u32 last;
};

/**
 * struct ina_child - a child, all under the node's lock but @peer
 * @peer: where it is
 * @instance: its incarnation, 0 before the first JOIN
 * @generation: its last change
 * @workers: workers of its subtree, 0 unless complete
 * @token: sum of their tokens
 * @ranks: their ranks
 * @height: levels below it
 * @out: enum ina_reason, why the others go on without it until it joins again:
 *	LEFT, EXCLUDED as it says itself, DEADLINE if it was silent; 0: they do not
 * @dropped: it does not know that yet
 * @late_round: last round it is said to be late with, plus 1
 * @late: who is, as the child says
 * @floor: rounds below may have been used by its subtree
 * @last_epoch: highest epoch its subtree has seen
 * @epoch_token: @token in the last epoch
 * @restarted: it has another instance than in the last epoch
 * @announced: EPOCHs sent to it
 * @epoch_heard: epoch it last acknowledged
 * @heard_open: it took that epoch as open
 * @heard_base: first round of its window then
 * @acked: its subtree holds all rounds below
 * @welcome: a WELCOME is to be sent
 * @announce: an EPOCH is to be sent
 * @told_at: jiffies at which the last of both was
 * @refused: enum ina_reason, why its JOIN is refused
 * @arrivals: when its contributions come
 * @ask: the rate it asks for and gets
 */
struct ina_child {
	struct ina_peer peer;
	u64 instance;
	u32 generation;
	u32 workers;
	u32 token;
	struct ina_ranks ranks;
	u16 height;
	u32 out;
	bool dropped;
	u64 late_round;
	struct ina_blame late;
	u64 floor;
	u32 last_epoch;
	u32 epoch_token;
	bool restarted;
	u32 announced;
	u32 epoch_heard;
	bool heard_open;
	u64 heard_base;
	u64 acked;
	bool welcome;
	bool announce;
	unsigned long told_at;
	u32 refused;
	struct ina_arrivals arrivals;
	struct ina_ask ask;
};

/**
 * struct ina_over - rounds of the window that are not summed any more
 * @final: bit i: round base + i is complete at the root
 * @failed: bit i: round base + i has failed
 * @left: bit i: it has because a worker left
 */
struct ina_over {
	u32 final;
	u32 failed;
	u32 left;
};

/**
 * struct ina_round - one round of the window
 * @progress: era, round, overflow and number of results held in one word, see
 *	round.c; it alone is written without the lock
 * @kept: era << 32 | low 32 bits of the round, if it is final: complete at the
 *	root since that era and only distributed now; 0 if it is not; written
 *	under the lock while no epoch is published
 * @tag: whose entry this is; era 0: nobody's, or to be summed again
 * @members: workers of the epoch in which it was contributed to, or in the
 *	result
 * @token: sum of their tokens
 * @ranks: their ranks
 * @length: elements, 0 if not known yet
 * @frags: fragments of @length
 * @started: jiffies at which somebody contributed first, as far as is known
 * @ask_at: jiffies at which the children are told that it waits
 * @failed: it did; then @blame says why
 * @heard: the parent said that it failed
 * @doomed: the epoch said so, and what the reason is, but not because of whom
 * @reported: whom it waits for, the parent is told
 * @exclude: it is to end without whom it waits for
 * @excluding: the children are told so
 * @ordered: jiffies at which that was decided, 0 if it was not
 * @again: it is summed again; the deadline stays, unless fewer workers are left than ever
 * @least: fewest workers it was summed with
 * @since: jiffies at which that began in this epoch
 * @complete: all results are held
 * @tell_up: the parent is to be told of the failure
 * @tell_down: the children are to be told of the failure
 * @blame: why it failed
 */
struct ina_round {
	atomic64_t progress;
	u64 kept;
	struct ina_tag tag;
	u32 members;
	u32 token;
	struct ina_ranks ranks;
	u32 length;
	u32 frags;
	unsigned long started;
	unsigned long ask_at;
	bool failed;
	bool heard;
	u8 doomed;
	bool reported;
	bool exclude;
	bool excluding;
	unsigned long ordered;
	bool again;
	u32 least;
	unsigned long since;
	bool complete;
	bool tell_up;
	bool tell_down;
	struct ina_blame blame;
};

#define INA_TX_SEGS	64	/* most packets in a super-packet */
#define INA_TX_COPIES	16	/* of results, a power of two */

/**
 * struct ina_tx_copy - elements of a result in a packet to one child
 * @slot: whose
 * @tag: and of which round
 * @page: where they are, never written again; NULL if nowhere
 * @offset: in it
 */
struct ina_tx_copy {
	u32 slot;
	struct ina_tag tag;
	struct page *page;
	unsigned int offset;
};

/**
 * struct ina_tx - the sender
 * @sock: owns the skbs in flight, so that its send buffer bounds them
 * @room: wakes the sender when the buffer drains
 * @again: lets it go on
 * @busy: bit 0: somebody is sending; bit 1: the buffer was full
 * @ready: bit 0: the parent's hop may have something to send; bit i + 1: that
 *	of child i
 * @held: bit per hop as in @ready: it is not its time yet
 * @wake: lets the sender look whether it is
 * @turn: bit of @ready at which the search for the next goes on
 * @page: where the next packets are written; the sender's
 * @segs: full fragments that a super-packet holds
 * @slots: those in the super-packet that is being filled; the sender's
 * @hdrs: headers of their packets
 * @share: results of at least so many bytes are copied once for all children
 * @copies: the last of these, by slot, while some child waits; the sender's
 * @copied: how many there are
 */
struct ina_tx {
	struct socket *sock;
	struct wait_queue_entry room;
	struct tasklet_struct again;
	unsigned long busy;
	DECLARE_BITMAP(ready, INA_NODE_CHILDREN_MAX + 1);
	DECLARE_BITMAP(held, INA_NODE_CHILDREN_MAX + 1);
	struct hrtimer wake;
	u16 turn;
	struct page_frag page;
	u16 segs;
	u32 slots[INA_TX_SEGS];
	struct ina_hdr *hdrs[INA_TX_SEGS];
	unsigned int share;
	struct ina_tx_copy copies[INA_TX_COPIES];
	u16 copied;
};

/**
 * struct ina_node - a job's place in this namespace
 * @job: what is summed; a reference is held
 * @inet: the namespace's state, valid until destroyed
 * @net: the namespace, valid until destroyed
 * @refs: the job's, one per attached worker
 * @rcu: frees after readers
 * @local: its own address
 * @parent: the parent; unused at the root
 * @root: there is no parent
 * @dead: destroyed: nothing more is queued; written once, read under RCU
 * @paused: its tree is being changed; read under RCU
 * @usable: the memory is there; read with acquire
 * @children: indexed by contributor index
 * @nchildren: how many
 * @nworkers: local workers expected
 * @contributors: children + local workers, the bits of a slot
 * @instance: random number of this incarnation
 * @mtu: of the path to the parent, 0 at the root
 * @type: of the elements
 * @sums: wide elements: depth arrays of @sum_stride bytes; none where the only
 *	contributor is a worker whose elements are not converted here
 * @results: narrow elements: depth arrays of @stride bytes, if local workers
 *	could not read them in @sums
 * @slots: depth * @frags slots of @slot_size bytes
 * @hops: memory of the paths
 * @extra: more addresses of this node, of its paths; RCU, changed under inet->lock
 * @chunk: most bytes of a super-packet, if there are paths to choose from
 * @timeout: milliseconds without an answer until a path is silent
 * @loss_limit: packets lost of a million above which a path is sent less
 * @probe: asks on all paths
 * @probe_at: the child it has come to; its, as the next two
 * @probe_busy: something is under way to one before
 * @probe_any: one before is to be asked again
 * @stride: bytes of one round's narrow elements
 * @sum_stride: bytes of one round's wide elements
 * @frags: fragments of a full round
 * @slot_size: bytes of one slot
 * @tx: the sender
 * @work: sends control packets and what waits in @tx
 * @tick: repeats and deadlines
 * @restart: contributes again to the rounds of the last epoch
 * @wait: attached workers sleep here
 * @submitting: read by those who submit, written to wait for them
 * @lock: protects all below
 * @epoch_era: wire epoch << 32 | era, in one word for readers without the
 *	lock
 * @open: rounds can be submitted
 * @era: counts epochs, see struct ina_tag
 * @epoch: number of the last epoch, open or closed
 * @root_id: instance of its root
 * @members: workers of the epoch, in the whole tree
 * @token: sum of their tokens
 * @ranks: their ranks
 * @expected: children and local workers that contribute in the epoch
 * @base: first round not acknowledged by all; read without the lock
 * @acked: the subtree holds all rounds below
 * @generation: counts changes of the subtree
 * @heard_generation: generation to which the last EPOCH was addressed
 * @heard_seq: its number; older ones are ignored
 * @subtree: workers in the subtree, 0 unless complete
 * @subtree_token: sum of their tokens
 * @subtree_ranks: their ranks
 * @height: levels below
 * @absent: local workers that the others go on without until they are back
 * @change: why the subtree last became incomplete
 * @closed: why the epoch is closed, told to the children
 * @opened: why the one before was
 * @opened_at: jiffies at which it opened here
 * @left: the first worker that left since the epoch opened, at the root
 * @held: it is, by a deadline, until all acknowledge the round at @base, or somebody
 *	turns out to have missed the epoch
 * @stay: jiffies until which the root does not move the window, 0: it does
 * @over_at: jiffies when all of the window was over here and below
 * @cut_off: that is long ago; the workers here were told
 * @changed: the subtree is not the one that entered the epoch
 * @index: contributor index at the parent
 * @welcomed: the parent has heard @generation
 * @welcomed_at: jiffies at which it had
 * @refused: enum ina_reason, why the parent refuses
 * @send_join: a JOIN is to be sent
 * @send_ack: an ACK is to be sent
 * @acked_at: jiffies at which the last one was
 * @workers: attached local workers
 * @attached: how many
 * @repeat_at: jiffies at which what has no answer is said again
 * @grant: the rate it asks for and gets
 * @rounds: round r is at r % depth
 */
struct ina_node {
	struct ina_job *job;
	struct ina_net *inet;
	struct net *net;
	refcount_t refs;
	struct rcu_head rcu;
	struct in6_addr local;
	struct ina_peer parent;
	bool root;
	bool dead;
	bool paused;
	bool usable;
	struct ina_child *children;
	u16 nchildren;
	u16 nworkers;
	u16 contributors;
	u64 instance;
	u16 mtu;
	struct ina_sum_type type;
	struct ina_region sums;
	struct ina_region results;
	struct ina_region slots;
	struct ina_region hops;
	struct ina_addrs __rcu *extra;
	u32 chunk;
	u32 timeout;
	u32 loss_limit;
	struct timer_list probe;
	u16 probe_at;
	bool probe_busy;
	bool probe_any;
	size_t stride;
	size_t sum_stride;
	u32 frags;
	u32 slot_size;
	struct ina_tx tx;
	struct work_struct work;
	struct delayed_work tick;
	struct work_struct restart;
	wait_queue_head_t wait;
	struct rw_semaphore submitting;

	spinlock_t lock ____cacheline_aligned;
	u64 epoch_era;
	bool open;
	u32 era;
	u32 epoch;
	u64 root_id;
	u32 members;
	u32 token;
	struct ina_ranks ranks;
	u16 expected;
	u64 base;
	u64 acked;
	u32 generation;
	u32 heard_generation;
	u32 heard_seq;
	u32 subtree;
	u32 subtree_token;
	struct ina_ranks subtree_ranks;
	u16 height;
	u16 absent;
	struct ina_blame change;
	struct ina_blame closed;
	struct ina_blame opened;
	unsigned long opened_at;
	struct ina_blame left;
	bool held;
	unsigned long stay;
	unsigned long over_at;
	bool cut_off;
	bool changed;
	u16 index;
	bool welcomed;
	unsigned long welcomed_at;
	u32 refused;
	bool send_join;
	bool send_ack;
	unsigned long acked_at;
	struct ina_worker *workers[INA_NODE_WORKERS_MAX];
	u16 attached;
	unsigned long repeat_at;
	struct ina_grant grant;
	struct ina_round rounds[INA_DEPTH_MAX];
};

/**
 * struct ina_tree_addr - an address of a place
 * @addr: it
 * @attr: the attribute of the request that gave it, to be blamed; may be NULL
 */
struct ina_tree_addr {
	struct in6_addr addr;
	const struct nlattr *attr;
};

/**
 * struct ina_tree - a node's place, as configured
 * @local: own address, :: to find it by routing
 * @parent: :: for the root
 * @children: addresses
 * @nchildren: how many
 * @nworkers: local workers
 */
struct ina_tree {
	struct ina_tree_addr local;
	struct ina_tree_addr parent;
	struct ina_tree_addr *children;
	u16 nchildren;
	u16 nworkers;
};

struct ina_node *ina_node_create(struct ina_job *job,
				 const struct ina_tree *tree,
				 struct netlink_ext_ack *extack);
void ina_node_destroy(struct ina_node *node);
void ina_node_put(struct ina_node *node);
void ina_node_kick(struct ina_node *node);
void ina_node_restart(struct ina_node *node);
void ina_node_tick(struct ina_node *node);
void ina_node_tick_in(struct ina_node *node, unsigned int ms);
int ina_node_alloc(struct ina_node *node);
void ina_node_unalloc(struct ina_node *node);
u64 ina_node_hops_size(const struct ina_node *node, u16 nchildren);
u64 ina_node_sums_size(const struct ina_node *node, u16 nchildren);
u64 ina_node_memory(const struct ina_node *node, u16 nchildren);
void ina_node_spread(struct ina_node *node);
struct ina_child *ina_node_children(const struct ina_node *node,
				    const struct ina_tree *tree);
void ina_node_children_free(struct ina_child *children, u16 count);
struct ina_peer *ina_node_peer(struct ina_node *node, u16 index);
int ina_node_child_from(const struct ina_node *node,
			const struct in6_addr *addr);
int ina_node_child_find(const struct ina_node *node,
			const struct in6_addr *addr);

/* Is an address one of the node's? Context: any, under RCU. */
static inline bool ina_node_is_here(const struct ina_node *node,
				    const struct in6_addr *addr)
{
	return likely(ipv6_addr_equal(&node->local, addr)) ||
	       ina_path_is_extra(node, addr);
}

/* Do rounds end without the workers they lack? */
static inline bool ina_node_degrades(const struct ina_node *node)
{
	return node->job->config.on_loss == INA_ON_LOSS_DEGRADE;
}

/* Bytes of a slot. */
static inline u32 ina_node_slot_size(u16 contributors)
{
	return ALIGN(sizeof(struct ina_slot) +
		     BITS_TO_LONGS(contributors) * sizeof(long),
		     __alignof__(struct ina_slot));
}

/* Place of a round in the window. */
static inline u32 ina_node_at(const struct ina_node *node, u64 round)
{
	return round % node->job->config.depth;
}

/* First slot of the oldest round of the window. */
static inline u32 ina_node_oldest(const struct ina_node *node)
{
	return ina_node_at(node, READ_ONCE(node->base)) * node->frags;
}

/* Number, state and elements of the slot of a fragment. */
static inline u32 ina_node_slot_id(const struct ina_node *node, u64 round,
				   u32 frag)
{
	return ina_node_at(node, round) * node->frags + frag;
}

static inline struct ina_slot *ina_node_slot(const struct ina_node *node,
					     u32 id)
{
	return node->slots.addr + (size_t)id * node->slot_size;
}

/* Bytes of an element of a packet. */
static inline unsigned int ina_node_elem(const struct ina_node *node, bool wide)
{
	return wide ? ina_sum_wide(node->type.dtype) :
		      ina_sum_narrow(node->type.dtype);
}

/* Where partial sums are: fragment @frag of the round at @at. */
static inline void *ina_node_sums_at(const struct ina_node *node, u32 at,
				     u32 frag)
{
	return node->sums.addr + at * node->sum_stride +
	       (size_t)frag * node->job->config.fragment *
	       ina_sum_wide(node->type.dtype);
}

/* Where results are: in the place of the sums, unless workers read them. */
static inline void *ina_node_results_at(const struct ina_node *node, u32 at,
					u32 frag)
{
	if (!node->results.addr)
		return ina_node_sums_at(node, at, frag);
	return node->results.addr + at * node->stride +
	       (size_t)frag * node->job->config.fragment *
	       ina_sum_narrow(node->type.dtype);
}

/* The same by the number of the slot. */
static inline void *ina_node_sums(const struct ina_node *node, u32 id)
{
	return ina_node_sums_at(node, id / node->frags, id % node->frags);
}

static inline void *ina_node_results(const struct ina_node *node, u32 id)
{
	return ina_node_results_at(node, id / node->frags, id % node->frags);
}

static inline struct ina_sums ina_node_elements(const struct ina_node *node,
						u32 at, u32 frag,
						unsigned int count)
{
	return (struct ina_sums){
		.type = &node->type,
		.acc = ina_node_sums_at(node, at, frag),
		.result = ina_node_results_at(node, at, frag),
		.count = count,
		.root = node->root,
	};
}

/* Bytes of the results if they need memory of their own. */
static inline u64 ina_node_results_size(const struct ina_node *node)
{
	if (!node->nworkers || ina_sum_is_same(node->type.dtype))
		return 0;
	return (u64)node->stride * node->job->config.depth;
}

#endif /* _INA_NODE_H */
