// SPDX-License-Identifier: GPL-2.0
/*
 * One packet on its way: source and route, the UDP and IP headers in front of it, and
 * what is sent at once and alone: control packets and answers to strangers.
 * With bottom halves disabled, under RCU, but for what says otherwise.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/timekeeping.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/sock.h>
#include <net/udp.h>

#include "net.h"
#include "pacing.h"
#include "stats.h"
#include "xmit.h"

#define INA_XMIT_WEIGHT	2048	/* a packet takes of the send buffer, and an skb as well */
/* etf takes what is to leave so much later: more than the time it wakes up before. */
#define INA_XMIT_AHEAD	NSEC_PER_MSEC

/* Bytes of the IP and UDP headers. */
static unsigned int ina_xmit_outer(const struct ina_node *node)
{
	return (ina_xmit_is_udp(node) ? sizeof(struct udphdr) : 0) +
	       (ipv6_addr_v4mapped(&node->local) ?
		sizeof(struct iphdr) : sizeof(struct ipv6hdr));
}

/**
 * ina_xmit_size() - bytes of a full fragment as an IP packet
 * @node: the node
 * @wide: of partial sums
 *
 * Return: bytes.
 */
unsigned int ina_xmit_size(const struct ina_node *node, bool wide)
{
	return ina_xmit_packet(node, wide) + ina_xmit_outer(node);
}

/**
 * ina_xmit_headers() - bytes that each packet has on the wire in front of ours
 * @node: the node
 *
 * Return: bytes, of an Ethernet device.
 */
unsigned int ina_xmit_headers(const struct ina_node *node)
{
	return ina_xmit_outer(node) + ETH_HLEN;
}

static const struct in6_addr *ina_xmit_src(const struct ina_node *node,
					   const struct ina_route *route)
{
	return ipv6_addr_any(&route->src) ? &node->local : &route->src;
}

static __be16 ina_xmit_sport(const struct ina_node *node,
			     const struct ina_route *route)
{
	return route->sport ?: htons(node->job->config.port);
}

/* Route to an IPv4 peer, cached. Bottom halves are disabled. */
static struct dst_entry *ina_xmit_route4(struct ina_node *node,
					 struct ina_route *route)
{
	struct flowi4 fl4 = {
		.saddr = ina_xmit_src(node, route)->s6_addr32[3],
		.daddr = route->dst.s6_addr32[3],
		.flowi4_oif = route->ifindex,
		.flowi4_proto = ina_xmit_is_udp(node) ? IPPROTO_UDP : INA_IPPROTO,
		.fl4_sport = ina_xmit_sport(node, route),
		.fl4_dport = htons(node->job->config.port),
	};
	struct rtable *rt;
	__be32 saddr;

	rt = dst_cache_get_ip4(&route->cache, &saddr);
	if (rt)
		return &rt->dst;
	rt = ip_route_output_key(node->net, &fl4);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	dst_cache_set_ip4(&route->cache, &rt->dst, fl4.saddr);
	return &rt->dst;
}

/* Route to an IPv6 peer, cached. Bottom halves are disabled. */
static struct dst_entry *ina_xmit_route6(struct ina_node *node,
					 struct ina_route *route)
{
	struct flowi6 fl6 = {
		.saddr = *ina_xmit_src(node, route),
		.daddr = route->dst,
		.flowi6_oif = route->ifindex,
		.flowi6_proto = ina_xmit_is_udp(node) ? IPPROTO_UDP : INA_IPPROTO,
		.fl6_sport = ina_xmit_sport(node, route),
		.fl6_dport = htons(node->job->config.port),
	};
	struct dst_entry *dst;
	struct in6_addr saddr;

	dst = dst_cache_get_ip6(&route->cache, &saddr);
	if (dst)
		return dst;
	if (ipv6_addr_is_multicast(&route->dst))
		return ERR_PTR(-EACCES);
	dst = ip6_route_output(node->net, NULL, &fl6);
	if (dst->error) {
		int err = dst->error;

		dst_release(dst);
		return ERR_PTR(err);
	}
	dst_cache_set_ip6(&route->cache, dst, &fl6.saddr);
	return dst;
}

/* Where a route leads. Bottom halves are disabled. */
static struct dst_entry *ina_xmit_dst(struct ina_node *node,
				      struct ina_route *route)
{
	return ipv6_addr_v4mapped(&route->dst) ? ina_xmit_route4(node, route) :
						 ina_xmit_route6(node, route);
}

/**
 * ina_xmit_segs() - packets that the device of a route takes in a super-packet
 * @node: the node
 * @route: the route
 *
 * Context: bottom halves disabled, under RCU, no lock held.
 * Return: at least 1.
 */
unsigned int ina_xmit_segs(struct ina_node *node, struct ina_route *route)
{
	struct dst_entry *dst = ina_xmit_dst(node, route);
	const struct net_device *dev;
	unsigned int segs, room, head;

	if (IS_ERR(dst))
		return node->tx.segs;
	dev = dst->dev;
	segs = min_t(unsigned int, node->tx.segs, READ_ONCE(dev->gso_max_segs));
	room = ina_gso_max_size(dev, ipv6_addr_v4mapped(&route->dst));
	head = dev->hard_header_len + sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	dst_release(dst);
	/* What is as large as the limit is too large. */
	room = room > head ? room - head - 1 : 0;
	return max(min(segs, room / ina_xmit_packet(node, true)), 1U);
}

/**
 * ina_xmit_depart() - a packet is not to leave before a certain time
 * @node: who sends it
 * @skb: it
 * @ns: the time, CLOCK_MONOTONIC
 *
 * Context: any.
 */
void ina_xmit_depart(struct ina_node *node, struct sk_buff *skb, u64 ns)
{
	skb_set_delivery_type_by_clockid(skb, ns_to_ktime(ns), CLOCK_MONOTONIC);
}

/*
 * Whatever leaves by etf needs a departure time of its clock that is not over when it
 * gets there, and a socket that says so. Without etf it must not: taprio would expect
 * such times. Nobody tells of other queueing disciplines: look now and then. Bottom halves
 * are disabled.
 */
static void ina_xmit_clock(struct ina_route *route, struct sk_buff *skb)
{
	struct sock *sk = skb->sk;
	ktime_t at;

	if (time_after_eq(jiffies, route->look_at)) {
		route->look_at = jiffies + HZ / 10;
		route->etf = ina_pacing_of(skb_dst(skb)->dev) == INA_PACING_ETF;
	}
	if (!route->etf)
		return;
	/* Nobody else writes to the flags. */
	if (!sock_flag(sk, SOCK_TXTIME)) {
		sk->sk_clockid = CLOCK_TAI;
		sock_set_flag(sk, SOCK_TXTIME);
	}
	at = max(skb->tstamp, ktime_add_ns(ktime_get(), INA_XMIT_AHEAD));
	skb_set_delivery_type_by_clockid(skb, ktime_mono_to_any(at, TK_OFFS_TAI),
					 CLOCK_TAI);
}

/* Put the UDP header in front. */
static void ina_xmit_push_udp(struct ina_node *node,
			      const struct ina_route *route,
			      struct sk_buff *skb)
{
	const struct in6_addr *src = ina_xmit_src(node, route);
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = ina_xmit_sport(node, route);
	uh->dest = htons(node->job->config.port);
	uh->len = htons(skb->len);
	uh->check = 0;
	if (skb_is_gso(skb)) {
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_transport_header(skb) - skb->head;
		skb->csum_offset = offsetof(struct udphdr, check);
	}
	if (ipv6_addr_v4mapped(&route->dst))
		udp_set_csum(false, skb, src->s6_addr32[3],
			     route->dst.s6_addr32[3], skb->len);
	else
		udp6_set_csum(false, skb, src, &route->dst, skb->len);
}

static int ina_xmit_v4(struct ina_node *node, const struct ina_route *route,
		       struct sk_buff *skb, u8 proto, u8 tos)
{
	struct iphdr *iph = skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	skb->protocol = htons(ETH_P_IP);
	*iph = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = tos,
		.frag_off = htons(IP_DF),
		.ttl = ip4_dst_hoplimit(skb_dst(skb)),
		.protocol = proto,
		.saddr = ina_xmit_src(node, route)->s6_addr32[3],
		.daddr = route->dst.s6_addr32[3],
	};
	return ip_local_out(node->net, skb->sk, skb);
}

static int ina_xmit_v6(struct ina_node *node, const struct ina_route *route,
		       struct sk_buff *skb, u8 proto, u8 tos)
{
	struct ipv6hdr *ip6 = skb_push(skb, sizeof(*ip6));

	skb_reset_network_header(skb);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	skb->protocol = htons(ETH_P_IPV6);
	ip6_flow_hdr(ip6, tos, 0);
	ip6->payload_len = htons(skb->len - sizeof(*ip6));
	ip6->nexthdr = proto;
	ip6->hop_limit = ip6_dst_hoplimit(skb_dst(skb));
	ip6->saddr = *ina_xmit_src(node, route);
	ip6->daddr = route->dst;
	return ip6_local_out(node->net, skb->sk, skb);
}

/* Packets of elements may be marked instead of lost: only they are slowed down. */
static u8 ina_xmit_tos(const struct sk_buff *skb)
{
	const struct ina_hdr *hdr = (void *)skb->data;

	return !skb_headlen(skb) || ina_wire_is_elements(hdr->type) ?
	       INET_ECN_ECT_0 : INET_ECN_NOT_ECT;
}

/**
 * ina_xmit_dev() - the device of a route
 * @node: the node
 * @route: the route; its cache may be empty memory
 *
 * Context: any but hard interrupts, under RCU or inet->lock.
 * Return: its index, or 0 if it leads nowhere.
 */
u32 ina_xmit_dev(struct ina_node *node, struct ina_route *route)
{
	struct dst_entry *dst;
	u32 ifindex = 0;

	local_bh_disable();
	dst = ina_xmit_dst(node, route);
	if (!IS_ERR(dst)) {
		ifindex = dst->dev->ifindex;
		dst_release(dst);
	}
	local_bh_enable();
	return ifindex;
}

/**
 * ina_xmit_devs() - the devices through which a peer is reached
 * @node: the node
 * @peer: the peer
 * @ifindex: where their indexes go, INA_PATHS_MAX of them; 0: none
 *
 * Those of all paths that are up; if none is, that of one.
 * Context: process or softirq.
 */
void ina_xmit_devs(struct ina_node *node, struct ina_peer *peer, u32 *ifindex)
{
	const struct ina_path *fastest;
	struct ina_route *route;
	int i;

	rcu_read_lock();
	fastest = ina_path_fastest(peer);
	for (i = 0; i < INA_PATHS_MAX; i++) {
		route = rcu_dereference(peer->path[i].route);
		if (route && &peer->path[i] != fastest &&
		    !ina_path_is_up(&peer->path[i]))
			route = NULL;
		ifindex[i] = route ? ina_xmit_dev(node, route) : 0;
	}
	rcu_read_unlock();
}

/**
 * ina_xmit_send() - address a packet, or a super-packet, and send it
 * @node: the node
 * @route: where to
 * @skb: it; consumed
 *
 * Context: bottom halves disabled, under RCU, no lock held.
 * Return: 0, -EHOSTUNREACH without a route, -ENOBUFS if it was dropped below.
 */
int ina_xmit_send(struct ina_node *node, struct ina_route *route,
		  struct sk_buff *skb)
{
	bool v4 = ipv6_addr_v4mapped(&route->dst);
	unsigned int segs = skb_shinfo(skb)->gso_segs ?: 1;
	bool udp = ina_xmit_is_udp(node);
	u8 tos = ina_xmit_tos(skb);
	struct dst_entry *dst;
	int err;

	dst = ina_xmit_dst(node, route);
	if (IS_ERR(dst)) {
		ina_stats_add(node->job->stats, INA_STAT_TX_ROUTE, segs);
		kfree_skb(skb);
		return -EHOSTUNREACH;
	}
	skb_dst_set(skb, dst);
	WRITE_ONCE(route->used, dst->dev->ifindex);
	ina_xmit_clock(route, skb);
	if (udp)
		ina_xmit_push_udp(node, route, skb);
	else
		ina_wire_seal((struct ina_hdr *)skb->data, skb->len);
	err = v4 ? ina_xmit_v4(node, route, skb, udp ? IPPROTO_UDP : INA_IPPROTO, tos) :
		   ina_xmit_v6(node, route, skb, udp ? IPPROTO_UDP : INA_IPPROTO, tos);
	if (net_xmit_eval(err)) {
		ina_stats_add(node->job->stats, INA_STAT_TX_DROP, segs);
		return -ENOBUFS;
	}
	return 0;
}

/**
 * ina_xmit_alloc() - an skb with room for all headers
 * @node: the node
 * @len: bytes behind them
 *
 * Context: any.
 * Return: it, or NULL, which is counted.
 */
struct sk_buff *ina_xmit_alloc(struct ina_node *node, unsigned int len)
{
	unsigned int head = LL_MAX_HEADER + sizeof(struct ipv6hdr) +
			    sizeof(struct udphdr);
	struct sk_buff *skb = alloc_skb(head + len, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_reserve(skb, head);
	else
		ina_stats_inc(node->job->stats, INA_STAT_TX_NOMEM);
	return skb;
}

/**
 * ina_xmit_own() - the node's socket owns an skb until it is sent
 * @node: the node
 * @skb: it
 * @segs: packets in it
 *
 * Context: any.
 */
void ina_xmit_own(struct ina_node *node, struct sk_buff *skb,
		  unsigned int segs)
{
	/* Queues on the way count skbs, or packets: let small ones weigh as much. */
	skb->truesize = max_t(unsigned int, skb->truesize,
			      (segs + 1) * INA_XMIT_WEIGHT);
	skb_set_owner_w(skb, node->tx.sock->sk);
}

/**
 * ina_xmit_control_by() - send a control packet by a route
 * @node: the node
 * @route: where to
 * @pkt: header
 * @body: the header of the type
 * @depart: nanoseconds of CLOCK_MONOTONIC before which it is not to leave, 0 for at once
 *
 * It does not wait for room in the send buffer: who sends to many does, ina_tx_wait().
 * Context: process or softirq, under RCU, no lock held.
 * Return: 0 or a negative errno; whoever waits for an answer repeats.
 */
int ina_xmit_control_by(struct ina_node *node, struct ina_route *route,
			const struct ina_pkt *pkt, const void *body, u64 depart)
{
	unsigned int size = ina_wire_body_size(pkt);
	struct sk_buff *skb;
	int err;

	skb = ina_xmit_alloc(node, sizeof(struct ina_hdr) + size);
	if (!skb)
		return -ENOMEM;
	ina_wire_build(skb_put(skb, sizeof(struct ina_hdr)), pkt);
	skb_put_data(skb, body, size);
	ina_xmit_own(node, skb, 1);
	if (depart)
		ina_xmit_depart(node, skb, depart);
	local_bh_disable();
	err = ina_xmit_send(node, route, skb);
	local_bh_enable();
	if (!err)
		ina_stats_inc(node->job->stats, INA_STAT_TX_CONTROL);
	return err;
}

/*
 * The path of a control packet: the fastest, but JOIN introduces the node by the addresses
 * of the tree. Context: under RCU.
 */
static struct ina_path *ina_xmit_path(const struct ina_node *node,
				      struct ina_peer *peer, u8 type)
{
	struct ina_path *path, *best = ina_path_fastest(peer);
	const struct ina_route *route;

	if (type != INA_TYPE_JOIN || likely(READ_ONCE(peer->npaths) <= 1))
		return best;
	for (path = peer->path; path < peer->path + INA_PATHS_MAX; path++) {
		route = rcu_dereference(path->route);
		if (!route || !ipv6_addr_equal(&route->dst, &peer->addr) ||
		    !ipv6_addr_equal(ina_xmit_src(node, route), &node->local))
			continue;
		best = path;
		if (READ_ONCE(path->state) == INA_PATH_STATE_UP)
			break;
	}
	return best;
}

/**
 * ina_xmit_control() - send a control packet by the fastest path
 * @node: the node
 * @peer: to whom
 * @pkt: header
 * @body: the header of the type
 *
 * Context: process or softirq, no lock held.
 * Return: 0 or a negative errno; whoever waits for an answer repeats.
 */
int ina_xmit_control(struct ina_node *node, struct ina_peer *peer,
		     const struct ina_pkt *pkt, const void *body)
{
	struct ina_route *route;
	int err = -EHOSTUNREACH;

	rcu_read_lock();
	route = rcu_dereference(ina_xmit_path(node, peer, pkt->type)->route);
	if (route)
		err = ina_xmit_control_by(node, route, pkt, body, 0);
	rcu_read_unlock();
	return err;
}

/**
 * ina_xmit_stranger() - answer a node that is not a child
 * @node: the node
 * @to: the stranger
 * @join: its JOIN, which is refused, or NULL if it believes to have joined
 *
 * Context: softirq, under RCU, no lock held. One small answer per packet.
 */
void ina_xmit_stranger(struct ina_node *node, const struct in6_addr *to,
		       const struct ina_join_hdr *join)
{
	struct ina_route route = { .dst = *to, .look_at = jiffies };
	struct ina_pkt pkt = {
		.type = INA_TYPE_WELCOME,
		.job = node->job->config.id,
		.index = INA_INDEX_NONE,
	};
	struct ina_welcome_hdr welcome = {
		.instance = join ? join->instance : 0,
		.generation = join ? join->generation : 0,
		.reason = cpu_to_be32(join ? INA_REASON_UNKNOWN_CHILD :
					     INA_REASON_CHILD_LOST),
	};

	if (dst_cache_init(&route.cache, GFP_ATOMIC))
		return;
	ina_xmit_control_by(node, &route, &pkt, &welcome, 0);
	dst_cache_destroy(&route.cache);
}

/**
 * ina_xmit_source() - the source address and MTU towards a peer
 * @net: the namespace
 * @to: the peer
 * @ifindex: device, 0 for any
 * @source: in: wanted, or ::; out: address to use
 * @mtu: where the path MTU goes
 *
 * Context: process.
 * Return: 0, -ENOMEM, or another negative errno if there is no route.
 */
int ina_xmit_source(struct net *net, const struct in6_addr *to, u32 ifindex,
		    struct in6_addr *source, unsigned int *mtu)
{
	struct dst_entry *dst;

	if (ipv6_addr_v4mapped(to)) {
		struct flowi4 fl4 = {
			.daddr = to->s6_addr32[3],
			.saddr = source->s6_addr32[3],
			.flowi4_oif = ifindex,
		};
		struct rtable *rt = ip_route_output_key(net, &fl4);

		if (IS_ERR(rt))
			return ina_net_errno(PTR_ERR(rt));
		ipv6_addr_set_v4mapped(fl4.saddr, source);
		dst = &rt->dst;
	} else {
		struct flowi6 fl6 = {
			.daddr = *to, .saddr = *source, .flowi6_oif = ifindex,
		};

		dst = ip6_route_output(net, NULL, &fl6);
		if (!dst->error && ipv6_addr_any(source))
			ipv6_dev_get_saddr(net, dst->dev, to, 0, source);
		if (dst->error || ipv6_addr_any(source)) {
			int err = dst->error ?: -EADDRNOTAVAIL;

			dst_release(dst);
			return err;
		}
	}
	*mtu = dst_mtu(dst);
	dst_release(dst);
	return 0;
}
