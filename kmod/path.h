/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paths to a neighbour. What is sent is spread over them by what they carry; one
 * that leads nowhere is left until it answers again.
 */
#ifndef _INA_PATH_H
#define _INA_PATH_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <linux/rcupdate.h>
#include <net/dst_cache.h>
#include <net/ipv6.h>
#include <uapi/linux/ina.h>

#include "hop.h"
#include "pace.h"
#include "rate.h"
#include "region.h"

struct ina_node;

#define INA_PATH_CHUNK		65535	/* bytes of a super-packet, unless set: all it takes */
#define INA_PATH_TIMEOUT_MS	50	/* silence after which a path is left, unless set */

/**
 * struct ina_route - where packets of a path go
 * @src: source address, :: for that of the node
 * @dst: destination address
 * @ifindex: device, 0 for that of the route
 * @sport: source port, 0 for that of the job
 * @used: device that was used last
 * @etf: its device takes what has a departure time of the clock of etf only
 * @look_at: jiffies at which that is looked at again
 * @cache: the route; used with bottom halves disabled
 */
struct ina_route {
	struct in6_addr src;
	struct in6_addr dst;
	u32 ifindex;
	__be16 sport;
	u32 used;
	bool etf;
	unsigned long look_at;
	struct dst_cache cache;
};

#define INA_PATH_FED		(HZ / 5)	/* so long either ECHOs or groups tell of loss */
#define INA_PATH_MARKS		32	/* PROBEs under way, a power of two */

/**
 * struct ina_path_mark - what was sent on a path before a PROBE
 * @packets: ever
 * @next: number of the next
 * @bytes: ever; its lower half, as of what follows
 * @busy: nanoseconds that took, without pauses
 * @ahead: nanoseconds the PROBE was to wait behind that
 */
struct ina_path_mark {
	u32 packets;
	u32 next;
	u32 bytes;
	u32 busy;
	u32 ahead;
};

/**
 * struct ina_path - a path to a peer, and the peer's of the same number back
 * @route: where it goes, NULL if nothing is sent on it; RCU, changed under inet->lock
 * @hop: what is under way on it
 * @log: memory of @hop to send; the first path has it with the node
 * @pace: departures, if it takes less than is granted
 * @loss: what the peer tells of what was lost; under the node's lock
 * @marked: packets that came on it with a mark of congestion, not told yet
 * @state: enum ina_path_state; written under the lock of @hop
 * @weight: set by the operator, 0: by what is under way
 * @turn: bytes sent, divided by the weight; the sender's
 * @sent: bytes, ever; the sender's
 * @looked: @sent when the clock looked last
 * @recent: bytes sent between two looks, on average
 * @packets: ever; the sender's
 * @probed: number of the last PROBE
 * @probed_at: jiffies at which it was sent
 * @marks: what was sent before it, by its number
 * @echoed: number of the last one that was answered; 0: none
 * @told: packets that had come when it was
 * @echoed_at: jiffies at which it was
 * @fed: jiffies at which that told how much was lost
 * @grouped: jiffies at which an answer to a group told that some of it came
 * @settled: number of the last PROBE that is not waited for any more
 * @unheard: PROBEs since an answer to anything came
 * @heard: jiffies at which it did
 * @rtt: nanoseconds to the peer and back, on average, quick ones count more, 0: unknown
 * @since: when the count below began, in nanoseconds; all below: of the receiver
 * @answered: packets the peer spoke of since then
 * @missing: of these, were lost
 * @goodput: bytes per second that arrived, lately
 * @lossy: packets lost of a million, lately
 * @lost: packets lost, ever
 */
struct ina_path {
	struct ina_route __rcu *route;
	struct ina_hop hop;
	struct ina_region log;
	struct ina_pace pace;
	struct ina_loss loss;
	atomic_t marked;
	u8 state;
	u32 weight;
	u64 turn;
	u64 sent;
	u64 looked;
	u64 recent;
	u32 packets;
	u32 probed;
	unsigned long probed_at;
	struct ina_path_mark marks[INA_PATH_MARKS];
	u32 echoed;
	u32 told;
	unsigned long echoed_at;
	unsigned long fed;
	unsigned long grouped;
	u32 settled;
	u32 unheard;
	unsigned long heard;
	u64 rtt;
	u64 since;
	u32 answered;
	u32 missing;
	u64 goodput;
	u32 lossy;
	u64 lost;
};

/**
 * struct ina_peer - the other end of a hop
 * @addr: its address, IPv4 mapped into IPv6
 * @queue: what waits to be sent to it
 * @pace: departures to it, whatever path, at the rate that is granted
 * @path: paths to it, by number
 * @npaths: those with a route; changed under inet->lock, as the next two
 * @first: number of the first of them
 * @weighted: the operator gave one of them a weight
 * @heard: numbers of paths it has used are below
 * @silent: it was reported as silent, and has not answered since; under the node's lock,
 *	as the next two
 * @silent_at: jiffies at which @silent changed
 * @alive: jiffies at which it last said something of itself
 */
struct ina_peer {
	struct in6_addr addr;
	struct ina_queue queue;
	struct ina_pace pace;
	struct ina_path path[INA_PATHS_MAX];
	u8 npaths;
	u8 first;
	bool weighted;
	u8 heard;
	bool silent;
	unsigned long silent_at;
	unsigned long alive;
};

/**
 * struct ina_addrs - addresses
 * @rcu: frees after readers
 * @count: how many
 * @addr: them
 */
struct ina_addrs {
	struct rcu_head rcu;
	u32 count;
	struct in6_addr addr[];
};

/**
 * ina_path_of() - the hop of a number, whoever sends on it
 * @peer: the peer
 * @number: of the path, checked
 *
 * Return: it.
 */
static inline struct ina_hop *ina_path_of(struct ina_peer *peer, u8 number)
{
	u8 heard = READ_ONCE(peer->heard);

	/* So that the clock looks after what comes on it. */
	while (unlikely(number >= heard) &&
	       !try_cmpxchg(&peer->heard, &heard, number + 1))
		;
	return &peer->path[number].hop;
}

/* Does a path lead to the peer, as far as is known? Context: any. */
static inline bool ina_path_is_up(const struct ina_path *path)
{
	return rcu_access_pointer(path->route) &&
	       READ_ONCE(path->state) == INA_PATH_STATE_UP;
}

struct ina_route *ina_path_route(gfp_t gfp);
int ina_path_init(struct ina_peer *peer, const struct in6_addr *addr, u32 slots,
		  u32 group, gfp_t gfp);
void ina_path_exit(struct ina_peer *peer);
size_t ina_path_size(u32 slots, u32 group);
void ina_path_memory(struct ina_peer *peer, void *memory);
void ina_path_reset(struct ina_peer *peer, u32 epoch);
void ina_path_take_over(struct ina_peer *peer, struct ina_peer *old);
void ina_path_lead_to(struct ina_peer *peer, const struct in6_addr *addr);
u64 ina_path_lost(const struct ina_peer *peer);
u8 ina_path_end(const struct ina_peer *peer);
bool ina_path_is_added(const struct ina_peer *peer, const struct in6_addr *addr);
bool ina_path_is_extra(const struct ina_node *node, const struct in6_addr *addr);
struct ina_path *ina_path_choose(struct ina_node *node, struct ina_peer *peer,
				 u64 now, u64 *wake);
struct ina_path *ina_path_fastest(struct ina_peer *peer);
bool ina_path_has_credit(struct ina_peer *peer);
void ina_path_charge(struct ina_path *path, unsigned int bytes,
		     unsigned int packets);
unsigned long ina_path_heard(const struct ina_peer *peer);
void ina_path_answered(struct ina_node *node, struct ina_path *path, u32 count,
		       u32 lost);
void ina_path_ready(struct ina_node *node, const struct ina_peer *peer);
void ina_path_down(struct ina_node *node, struct ina_peer *peer,
		   struct ina_path *path, u8 state);
void ina_path_up(struct ina_node *node, struct ina_peer *peer,
		 struct ina_path *path);

/* path_change.c */
int ina_path_add(struct ina_node *node, struct ina_peer *peer,
		 const struct ina_route *want, u32 weight);
bool ina_path_is_last(const struct ina_peer *peer, const struct ina_path *path);
void ina_path_del(struct ina_node *node, struct ina_peer *peer,
		  struct ina_path *path);
void ina_path_set_weight(struct ina_peer *peer, struct ina_path *path,
			 u32 weight);

/**
 * ina_path_is_from() - is a peer the sender
 * @peer: the peer
 * @addr: address of the sender
 *
 * Context: softirq, under RCU.
 * Return: true if it is that of the tree, or of a path that was added here.
 */
static inline bool ina_path_is_from(const struct ina_peer *peer,
				    const struct in6_addr *addr)
{
	return likely(ipv6_addr_equal(&peer->addr, addr)) ||
	       ina_path_is_added(peer, addr);
}

#endif /* _INA_PATH_H */
