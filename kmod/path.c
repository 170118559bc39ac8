// SPDX-License-Identifier: GPL-2.0
/*
 * Paths to a neighbour. A super-packet takes the path with the least under way, or
 * the one whose turn it is if the operator gave them weights; a round that fits one
 * super-packet, and control, the fastest. What a path that leads nowhere has no
 * answer to takes another: whatever comes twice is added once.
 * Paths are chosen by the sender, under RCU; what is under way is under the lock of their hop.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "event.h"
#include "node.h"
#include "path.h"
#include "tx.h"
#include "xmit.h"

#define INA_PATH_WINDOW_NS	(50 * NSEC_PER_MSEC)	/* figures are of about that */
#define INA_PATH_TURN_SHIFT	10

/**
 * ina_path_route() - a route that goes nowhere yet
 * @gfp: for memory
 *
 * Context: process.
 * Return: it, or NULL.
 */
struct ina_route *ina_path_route(gfp_t gfp)
{
	struct ina_route *route = kzalloc(sizeof(*route), gfp);

	if (route && dst_cache_init(&route->cache, gfp)) {
		kfree(route);
		route = NULL;
	}
	return route;
}

/**
 * ina_path_init() - make a zeroed peer, which has one path
 * @peer: it
 * @addr: its address
 * @slots: slots of the node
 * @group: numbers in a group, a power of two
 * @gfp: for memory
 *
 * Context: process.
 * Return: 0 or -ENOMEM; ina_path_exit() is right after both.
 */
int ina_path_init(struct ina_peer *peer, const struct in6_addr *addr, u32 slots,
		  u32 group, gfp_t gfp)
{
	struct ina_route *route = ina_path_route(gfp);
	int i;

	peer->addr = *addr;
	peer->alive = jiffies;
	peer->path[0].heard = jiffies;
	ina_queue_init(&peer->queue, slots);
	for (i = 0; i < INA_PATHS_MAX; i++)
		ina_hop_init(&peer->path[i].hop, &peer->queue, group);
	if (!route)
		return -ENOMEM;
	route->dst = *addr;
	route->look_at = jiffies;
	RCU_INIT_POINTER(peer->path[0].route, route);
	peer->npaths = 1;
	return 0;
}

/* Nobody uses the path any more. Context: process. */
static void ina_path_free(struct ina_path *path)
{
	struct ina_route *route = rcu_access_pointer(path->route);

	RCU_INIT_POINTER(path->route, NULL);
	if (route)
		dst_cache_destroy(&route->cache);
	kfree(route);
	path->hop.log = NULL;
	ina_region_free(&path->log);
}

/**
 * ina_path_exit() - undo ina_path_init(), whatever has been added
 * @peer: the peer; nobody uses it any more
 *
 * Context: process.
 */
void ina_path_exit(struct ina_peer *peer)
{
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++)
		ina_path_free(&peer->path[i]);
	peer->npaths = 0;
}

/**
 * ina_path_size() - memory of a peer besides that of added paths
 * @slots: slots of the node
 * @group: numbers in a group
 *
 * Return: bytes.
 */
size_t ina_path_size(u32 slots, u32 group)
{
	return ina_queue_size(slots) + INA_PATHS_MAX * ina_hop_got_size(group) +
	       ina_hop_log_size(group);
}

/**
 * ina_path_memory() - give a peer what it needs for its first epoch
 * @peer: it
 * @memory: zeroed, ina_path_size() bytes
 */
void ina_path_memory(struct ina_peer *peer, void *memory)
{
	struct ina_path *path = peer->path;
	size_t size = ina_hop_got_size(path->hop.group);
	int i;

	peer->queue.pending = memory;
	memory += ina_queue_size(peer->queue.slots);
	for (i = 0; i < INA_PATHS_MAX; i++, memory += size)
		path[i].hop.got = memory;
	if (rcu_access_pointer(path->route) && !path->log.addr)
		path->hop.log = memory;
}

/**
 * ina_path_reset() - a new epoch: count from 0 on all paths, in both directions
 * @peer: the peer
 * @epoch: number of the epoch
 *
 * What is pending stays: it is looked at when its turn comes.
 * Context: process or softirq.
 */
void ina_path_reset(struct ina_peer *peer, u32 epoch)
{
	struct ina_path *path;

	for (path = peer->path; path < peer->path + INA_PATHS_MAX; path++) {
		ina_hop_reset(&path->hop, epoch);
		/* Who had no epoch to answer in is asked again soon. */
		WRITE_ONCE(path->settled, READ_ONCE(path->probed));
	}
}

/**
 * ina_path_take_over() - a child stays when others come or go
 * @peer: its new entry
 * @old: its old one, which keeps nothing
 *
 * Context: process, the node is paused and its lock is held.
 */
void ina_path_take_over(struct ina_peer *peer, struct ina_peer *old)
{
	struct ina_path *to, *from;
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++) {
		to = &peer->path[i];
		from = &old->path[i];
		/* The first is freed with the old entry. */
		swap(to->route, from->route);
		swap(to->log, from->log);
		to->hop.log = to->log.addr;
		to->hop.lost = from->hop.lost;
		to->hop.received = from->hop.received;
		to->state = from->state;
		to->weight = from->weight;
		to->sent = from->sent;
		to->pace = from->pace;
		to->loss = from->loss;
		to->rtt = from->rtt;
		/* Answers to what was asked before are none. */
		to->probed = from->probed + U8_MAX + 1;
		to->settled = to->probed;
		to->lost = from->lost;
		to->heard = jiffies;
		to->fed = from->fed;
		to->grouped = from->grouped;
	}
	peer->silent_at = old->silent_at;
	peer->alive = old->alive;
	peer->npaths = old->npaths;
	peer->first = old->first;
	peer->weighted = old->weighted;
	peer->heard = old->heard;
	peer->silent = old->silent;
}

/**
 * ina_path_lead_to() - the peer will be another one: the paths to the old one are gone
 * @peer: it
 * @addr: its new address
 *
 * Context: process, inet->lock held, the node is paused.
 */
void ina_path_lead_to(struct ina_peer *peer, const struct in6_addr *addr)
{
	struct ina_path *path = peer->path;
	struct ina_route *route;
	int i;

	/* One of them stays as the first. */
	swap(path[0].route, path[peer->first].route);
	for (i = 1; i < INA_PATHS_MAX; i++)
		ina_path_free(&path[i]);
	route = rcu_access_pointer(path->route);
	route->src = in6addr_any;
	route->dst = *addr;
	route->ifindex = 0;
	route->sport = 0;
	dst_cache_reset(&route->cache);
	peer->silent = false;
	peer->alive = jiffies;
	path->state = INA_PATH_STATE_UP;
	path->weight = 0;
	path->rtt = 0;
	path->pace = (struct ina_pace){};
	path->loss = (struct ina_loss){};
	path->echoed = 0;
	/* Answers to what was asked before are none. */
	path->probed += U8_MAX + 1;
	path->settled = path->probed;
	peer->npaths = 1;
	peer->first = 0;
	peer->weighted = false;
}

/**
 * ina_path_end() - paths that have anything to do
 * @peer: the peer
 *
 * Context: any.
 * Return: their numbers are below.
 */
u8 ina_path_end(const struct ina_peer *peer)
{
	u8 end = READ_ONCE(peer->first) + 1;

	if (READ_ONCE(peer->npaths) > 1)
		for (end = INA_PATHS_MAX; end > 1; end--)
			if (rcu_access_pointer(peer->path[end - 1].route))
				break;
	return max(end, READ_ONCE(peer->heard));
}

/**
 * ina_path_lost() - packets of a peer that were found missing
 * @peer: it
 *
 * Context: any.
 * Return: how many, on all its paths.
 */
u64 ina_path_lost(const struct ina_peer *peer)
{
	u8 i, end = ina_path_end(peer);
	u64 lost = 0;

	for (i = 0; i < end; i++)
		lost += READ_ONCE(peer->path[i].hop.lost);
	return lost;
}

/**
 * ina_path_is_added() - is an address that of a path to a peer
 * @peer: the peer
 * @addr: the address
 *
 * Context: softirq, under RCU.
 * Return: true if so.
 */
bool ina_path_is_added(const struct ina_peer *peer, const struct in6_addr *addr)
{
	const struct ina_route *route;
	int i;

	if (READ_ONCE(peer->npaths) <= 1 && !READ_ONCE(peer->first))
		return false;
	for (i = 0; i < INA_PATHS_MAX; i++) {
		route = rcu_dereference(peer->path[i].route);
		if (route && ipv6_addr_equal(&route->dst, addr))
			return true;
	}
	return false;
}

/**
 * ina_path_is_extra() - is an address that of a path from a node
 * @node: the node
 * @addr: the address
 *
 * Context: any, under RCU.
 * Return: true if so.
 */
bool ina_path_is_extra(const struct ina_node *node, const struct in6_addr *addr)
{
	const struct ina_addrs *extra = rcu_dereference(node->extra);
	u32 i;

	for (i = 0; extra && i < extra->count; i++)
		if (ipv6_addr_equal(&extra->addr[i], addr))
			return true;
	return false;
}

/* There and back. One that was never asked is as good as those that do not answer. */
static u64 ina_path_rtt(const struct ina_path *path)
{
	return READ_ONCE(path->rtt) ?: U64_MAX - 1;
}

/**
 * ina_path_fastest() - the path with the shortest way there and back
 * @peer: the peer
 *
 * Context: any, under RCU.
 * Return: it; if none is up, one that has a route.
 */
struct ina_path *ina_path_fastest(struct ina_peer *peer)
{
	struct ina_path *path, *best = &peer->path[READ_ONCE(peer->first)];
	u64 rtt, least = U64_MAX;

	if (likely(READ_ONCE(peer->npaths) <= 1))
		return best;
	for (path = peer->path; path < peer->path + INA_PATHS_MAX; path++) {
		if (!ina_path_is_up(path))
			continue;
		rtt = ina_path_rtt(path);
		if (rtt < least) {
			least = rtt;
			best = path;
		}
	}
	return best;
}

/* Is the round that has the next slot so small that it fits a super-packet? */
static bool ina_path_is_small(const struct ina_node *node,
			      const struct ina_peer *peer)
{
	int slot = ina_queue_peek(&peer->queue);

	if (slot < 0)
		return false;
	return (u64)READ_ONCE(node->rounds[slot / node->frags].frags) *
	       ina_xmit_packet(node, false) <= READ_ONCE(node->chunk);
}

/* The less, the sooner a path has its turn. */
static u64 ina_path_rank(const struct ina_peer *peer,
			 const struct ina_path *path, bool small)
{
	const struct ina_hop *hop = &path->hop;

	if (small)
		return ina_path_rtt(path);
	if (READ_ONCE(peer->weighted))
		return path->turn;
	return READ_ONCE(hop->next) - READ_ONCE(hop->una);
}

/* May a path be taken now? If it is only too early, @wake is when to look again. */
static bool ina_path_may(struct ina_path *path, u64 now, u64 *wake)
{
	if (!ina_hop_credit(&path->hop))
		return false;
	if (!READ_ONCE(path->pace.rate) || ina_pace_may(&path->pace, now))
		return true;
	*wake = min(*wake, ina_pace_wake(&path->pace));
	return false;
}

/**
 * ina_path_choose() - the path of the next super-packet
 * @node: the node
 * @peer: to whom
 * @now: nanoseconds
 * @wake: set to when to look again, if it is too early for all
 *
 * Context: the sender's, under RCU.
 * Return: it, or NULL if none has credit, or has not yet.
 */
struct ina_path *ina_path_choose(struct ina_node *node, struct ina_peer *peer,
				 u64 now, u64 *wake)
{
	struct ina_path *path = &peer->path[READ_ONCE(peer->first)], *best = NULL;
	u64 rank, least = U64_MAX;
	bool small, up = false;

	*wake = U64_MAX;
	if (likely(READ_ONCE(peer->npaths) <= 1))
		return ina_path_may(path, now, wake) ? path : NULL;
	small = ina_path_is_small(node, peer);
	for (path = peer->path; path < peer->path + INA_PATHS_MAX; path++) {
		if (!ina_path_is_up(path))
			continue;
		up = true;
		rank = ina_path_rank(peer, path, small);
		if (rank < least && ina_path_may(path, now, wake)) {
			least = rank;
			best = path;
		}
	}
	return up ? best : ina_path_fastest(peer);
}

/**
 * ina_path_has_credit() - may something be sent before an answer comes
 * @peer: to whom
 *
 * Context: the sender's.
 * Return: true if so, on any path.
 */
bool ina_path_has_credit(struct ina_peer *peer)
{
	struct ina_path *path;
	bool up = false;

	if (likely(READ_ONCE(peer->npaths) <= 1))
		return ina_hop_credit(&peer->path[READ_ONCE(peer->first)].hop);
	for (path = peer->path; path < peer->path + INA_PATHS_MAX; path++) {
		if (!ina_path_is_up(path))
			continue;
		up = true;
		if (ina_hop_credit(&path->hop))
			return true;
	}
	return !up && ina_hop_credit(&ina_path_fastest(peer)->hop);
}

/**
 * ina_path_charge() - something is sent on a path
 * @path: the path
 * @bytes: of it
 * @packets: of it
 *
 * Context: the sender's.
 */
void ina_path_charge(struct ina_path *path, unsigned int bytes,
		     unsigned int packets)
{
	WRITE_ONCE(path->packets, path->packets + packets);
	path->sent += bytes;
	path->turn += ((u64)bytes << INA_PATH_TURN_SHIFT) /
		      (READ_ONCE(path->weight) ?: 1);
}

/**
 * ina_path_heard() - when was a peer heard last, on any path in use
 * @peer: the peer
 *
 * Context: any.
 * Return: jiffies.
 */
unsigned long ina_path_heard(const struct ina_peer *peer)
{
	unsigned long newest = READ_ONCE(peer->path[READ_ONCE(peer->first)].heard);
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++)
		if (rcu_access_pointer(peer->path[i].route) &&
		    time_after(READ_ONCE(peer->path[i].heard), newest))
			newest = READ_ONCE(peer->path[i].heard);
	return newest;
}

/**
 * ina_path_answered() - the peer said what it has of a group
 * @node: the node
 * @path: on which it was sent
 * @count: packets it speaks of
 * @lost: of these, are missing
 *
 * Context: softirq, no lock held.
 */
void ina_path_answered(struct ina_node *node, struct ina_path *path, u32 count,
		       u32 lost)
{
	u64 now = ktime_get_ns(), time;

	/* An answer that all is lost has taken another path, as has the question. */
	if (lost < count) {
		WRITE_ONCE(path->grouped, jiffies);
		WRITE_ONCE(path->heard, jiffies);
		WRITE_ONCE(path->unheard, 0);
	}
	spin_lock_bh(&path->hop.lock);
	path->answered += count;
	path->missing += lost;
	path->lost += lost;
	time = now - path->since;
	if (time >= INA_PATH_WINDOW_NS && path->answered) {
		/* After a pause the pause is not counted. */
		if (time < NSEC_PER_SEC)
			path->goodput = div64_u64((u64)(path->answered - path->missing) *
						  ina_xmit_size(node, false) *
						  NSEC_PER_SEC, time);
		path->lossy = div_u64((u64)path->missing * 1000000,
				      path->answered);
		path->answered = 0;
		path->missing = 0;
		path->since = now;
	}
	spin_unlock_bh(&path->hop.lock);
}

static void ina_path_event(const struct ina_node *node,
			   const struct ina_peer *peer,
			   const struct ina_path *path, u8 state)
{
	static const char * const texts[] = {
		[INA_PATH_STATE_UP] = "is used again",
		[INA_PATH_STATE_LINK_DOWN] = "has no link",
		[INA_PATH_STATE_SILENT] = "does not answer",
	};

	ina_event_send(node->net, &(struct ina_event){
			.type = state == INA_PATH_STATE_UP ?
				INA_EVENT_TYPE_PATH_UP :
				INA_EVENT_TYPE_PATH_DOWN,
			.job = node->job->config.id, .addr = peer->addr },
		       "job %u path %d to %pI6c %s", node->job->config.id,
		       (int)(path - peer->path), &peer->addr, texts[state]);
}

/* Return: the state it had. */
static u8 ina_path_set_state(struct ina_path *path, u8 state)
{
	u8 old;

	spin_lock_bh(&path->hop.lock);
	old = path->state;
	WRITE_ONCE(path->state, state);
	spin_unlock_bh(&path->hop.lock);
	return old;
}

/**
 * ina_path_ready() - something may be sent to a peer again
 * @node: the node
 * @peer: the peer
 *
 * Context: any.
 */
void ina_path_ready(struct ina_node *node, const struct ina_peer *peer)
{
	u16 index = INA_INDEX_NONE;

	if (peer != &node->parent)
		index = container_of(peer, struct ina_child, peer) -
			node->children;
	ina_tx_ready(node, index);
	ina_node_kick(node);
}

/**
 * ina_path_down() - a path leads nowhere: let what is under way on it take another
 * @node: the node
 * @peer: to whom
 * @path: it
 * @state: why
 *
 * Context: process or softirq, under RCU, no lock held.
 */
void ina_path_down(struct ina_node *node, struct ina_peer *peer,
		   struct ina_path *path, u8 state)
{
	if (ina_path_set_state(path, state) != INA_PATH_STATE_UP)
		return;
	ina_path_event(node, peer, path, state);
	if (ina_hop_abandon(&path->hop))
		ina_path_ready(node, peer);
}

/**
 * ina_path_up() - a path leads to the peer, perhaps again
 * @node: the node
 * @peer: to whom
 * @path: it
 *
 * Context: process or softirq, under RCU, no lock held.
 */
void ina_path_up(struct ina_node *node, struct ina_peer *peer,
		 struct ina_path *path)
{
	u64 turn = U64_MAX, limit = 0;
	int i;

	/* It takes its turn with the others, but does not make up for its absence. */
	for (i = 0; i < INA_PATHS_MAX; i++)
		if (&peer->path[i] != path && ina_path_is_up(&peer->path[i])) {
			turn = min(turn, READ_ONCE(peer->path[i].turn));
			limit = ina_rate_min(limit, READ_ONCE(peer->path[i].pace.rate));
		}
	if (turn != U64_MAX)
		WRITE_ONCE(path->turn, turn);
	/* What the others take is a better guess than all that is granted, or what was cut. */
	spin_lock_bh(&node->lock);
	ina_rate_limit(&path->loss, limit);
	/* From now on groups tell: ECHOs come seldom. */
	if (path->pace.rate && !path->loss.limit)
		WRITE_ONCE(path->fed, jiffies - INA_PATH_FED - 1);
	WRITE_ONCE(path->pace.rate, path->loss.limit);
	spin_unlock_bh(&node->lock);
	if (ina_path_set_state(path, INA_PATH_STATE_UP) == INA_PATH_STATE_UP)
		return;
	ina_path_event(node, peer, path, INA_PATH_STATE_UP);
	/* What had to take one that leads nowhere has a choice now. */
	for (i = 0; i < INA_PATHS_MAX; i++)
		if (!ina_path_is_up(&peer->path[i]))
			ina_hop_abandon(&peer->path[i].hop);
	ina_path_ready(node, peer);
}
