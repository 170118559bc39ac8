// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink requests on paths. Context: process, inet->lock held to apply and to show.
 */
#include <linux/netdevice.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "event.h"
#include "job.h"
#include "net.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "node.h"
#include "place.h"
#include "xmit.h"

#define INA_NL_TIMEOUT_MIN	20	/* milliseconds; a busy host is late by some */
#define INA_NL_TIMEOUT_MAX	10000
#define INA_NL_CHUNK_MAX	65535
#define INA_NL_WEIGHT_MAX	1000000

/* The node of the job a request names. */
static struct ina_node *ina_nl_node(struct ina_net *inet,
				    struct genl_info *info)
{
	struct ina_job *job = ina_nl_job(inet, info, INA_A_PATH_JOB);
	struct ina_node *node;

	if (IS_ERR(job))
		return ERR_CAST(job);
	node = rcu_dereference_protected(job->node,
					 lockdep_is_held(&inet->lock));
	if (node)
		return node;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[INA_A_PATH_JOB],
			    "The job has no tree here: use 'inaconf tree set'");
	return ERR_PTR(-ENOENT);
}

/* The peer a request names, or the parent. */
static struct ina_peer *ina_nl_peer(struct ina_node *node,
				    struct genl_info *info)
{
	struct nlattr *attr = info->attrs[INA_A_PATH_PEER];
	struct in6_addr addr;
	int index;

	if (!attr && node->root) {
		NL_SET_ERR_MSG(info->extack,
			       "The root has no parent: name a child as the peer");
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, INA_A_PATH_PEER);
		return ERR_PTR(-EINVAL);
	}
	if (!attr)
		return &node->parent;
	addr = nla_get_in6_addr(attr);
	if (!node->root && ipv6_addr_equal(&addr, &node->parent.addr))
		return &node->parent;
	index = ina_node_child_find(node, &addr);
	if (index >= 0)
		return &node->children[index].peer;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "Neither the parent nor a child: see 'inaconf tree show'");
	return ERR_PTR(-ENOENT);
}

/* The path a request names. */
static struct ina_path *ina_nl_path(struct ina_peer *peer,
				    struct genl_info *info)
{
	u32 number = ina_nl_u32(info, INA_A_PATH_ID, INA_PATHS_MAX);

	if (number < INA_PATHS_MAX &&
	    rcu_access_pointer(peer->path[number].route))
		return &peer->path[number];
	NL_SET_ERR_MSG(info->extack, "No such path: see 'inaconf path show'");
	if (info->attrs[INA_A_PATH_ID])
		NL_SET_BAD_ATTR(info->extack, info->attrs[INA_A_PATH_ID]);
	else
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, INA_A_PATH_ID);
	return ERR_PTR(-ENOENT);
}

static bool ina_nl_has_dev(struct net *net, u32 ifindex)
{
	bool has;

	rcu_read_lock();
	has = dev_get_by_index_rcu(net, ifindex);
	rcu_read_unlock();
	return has;
}

/* Where a path is to go. */
static int ina_nl_path_parse(struct ina_node *node, const struct ina_peer *peer,
			     struct genl_info *info, struct ina_route *route)
{
	struct nlattr **attrs = info->attrs;
	int err;

	route->dst = peer->addr;
	route->ifindex = ina_nl_u32(info, INA_A_PATH_IFINDEX, 0);
	if (attrs[INA_A_PATH_SRC])
		route->src = nla_get_in6_addr(attrs[INA_A_PATH_SRC]);
	if (attrs[INA_A_PATH_DST]) {
		err = ina_nl_host(info, attrs[INA_A_PATH_DST], &route->dst);
		if (err)
			return err;
	}
	if (attrs[INA_A_PATH_SPORT])
		route->sport = htons(nla_get_u16(attrs[INA_A_PATH_SPORT]));
	if (attrs[INA_A_PATH_IFINDEX] &&
	    !ina_nl_has_dev(node->net, route->ifindex)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[INA_A_PATH_IFINDEX],
				    "No such device: see 'ip link'");
		return -ENODEV;
	}
	if (attrs[INA_A_PATH_SPORT] && !ina_xmit_is_udp(node)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[INA_A_PATH_SPORT],
				    "The job does not use UDP: leave the source port out");
		return -EINVAL;
	}
	if (attrs[INA_A_PATH_SPORT] && !route->sport) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[INA_A_PATH_SPORT],
				    "A source port is a number from 1 to 65535");
		return -EINVAL;
	}
	if (attrs[INA_A_PATH_SRC] && !ina_place_is_local(node->net, &route->src)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[INA_A_PATH_SRC],
				    "The source address is not configured here: add it to a device first");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

/* Does it lead to the peer, and do fragments fit? */
static int ina_nl_path_reaches(struct ina_node *node,
			       const struct ina_peer *peer,
			       struct genl_info *info,
			       const struct ina_route *route)
{
	struct nlattr *attr = info->attrs[INA_A_PATH_DST];
	struct in6_addr src = ipv6_addr_any(&route->src) ? node->local : route->src;
	bool wide = peer == &node->parent && node->contributors > 1;
	unsigned int mtu;
	int err;

	if (ipv6_addr_v4mapped(&src) != ipv6_addr_v4mapped(&route->dst)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "IPv4 and IPv6 are mixed: use addresses of one family");
		return -EAFNOSUPPORT;
	}
	err = ina_xmit_source(node->net, &route->dst, route->ifindex, &src, &mtu);
	if (ina_nl_nomem(err))
		return err;
	if (err || ipv6_addr_equal(&src, &route->dst)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "No route to the peer this way: check addresses, device and routes");
		return -EHOSTUNREACH;
	}
	if (mtu < ina_xmit_size(node, wide)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "A fragment does not fit the path MTU: raise it or add the job with a smaller fragment");
		return -EMSGSIZE;
	}
	return 0;
}

static const struct in6_addr *ina_nl_path_src(const struct ina_node *node,
					      const struct ina_route *route)
{
	return ipv6_addr_any(&route->src) ? &node->local : &route->src;
}

static __be16 ina_nl_path_sport(const struct ina_node *node,
				const struct ina_route *route)
{
	return route->sport ?: htons(node->job->config.port);
}

/* Do two paths go the same way? Without a device they take that of the route. */
static bool ina_nl_path_is_same(struct ina_node *node, struct ina_route *a,
				struct ina_route *b)
{
	u32 dev;

	if (ina_nl_path_sport(node, a) != ina_nl_path_sport(node, b) ||
	    !ipv6_addr_equal(&a->dst, &b->dst) ||
	    !ipv6_addr_equal(ina_nl_path_src(node, a), ina_nl_path_src(node, b)))
		return false;
	if (a->ifindex == b->ifindex)
		return true;
	/* Two that lead nowhere need not be the same. */
	dev = ina_xmit_dev(node, a);
	return dev && dev == ina_xmit_dev(node, b);
}

/* Is there room for a path that is not there yet? Context: inet->lock is held. */
static int ina_nl_path_is_new(struct ina_node *node, const struct ina_peer *peer,
			      struct ina_route *route,
			      struct netlink_ext_ack *extack)
{
	struct ina_route *other;
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++) {
		other = rcu_access_pointer(peer->path[i].route);
		if (!other || !ina_nl_path_is_same(node, other, route))
			continue;
		NL_SET_ERR_MSG(extack,
			       "There is such a path already: see 'inaconf path show'");
		return -EEXIST;
	}
	if (peer->npaths < INA_PATHS_MAX)
		return 0;
	NL_SET_ERR_MSG(extack, "A peer takes 8 paths: delete one first");
	return -ENOSPC;
}

static int ina_nl_path_weight(struct genl_info *info, u32 *weight)
{
	*weight = ina_nl_u32(info, INA_A_PATH_WEIGHT, 0);
	if (*weight <= INA_NL_WEIGHT_MAX)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[INA_A_PATH_WEIGHT],
			    "A weight is at most 1000000, 0 to measure it");
	return -ERANGE;
}

/* Context: inet->lock is held. */
static int ina_nl_path_add(struct ina_net *inet, struct genl_info *info)
{
	struct ina_node *node = ina_nl_node(inet, info);
	struct ina_route route = {};
	struct ina_peer *peer;
	u32 weight;
	int err;

	if (IS_ERR(node))
		return PTR_ERR(node);
	peer = ina_nl_peer(node, info);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	err = ina_nl_path_weight(info, &weight);
	if (err)
		return err;
	err = ina_nl_path_parse(node, peer, info, &route);
	if (!err)
		err = ina_nl_path_reaches(node, peer, info, &route);
	if (!err)
		err = ina_nl_path_is_new(node, peer, &route, info->extack);
	if (!err)
		err = ina_path_add(node, peer, &route, weight);
	if (err == -ENOMEM)
		NL_SET_ERR_MSG(info->extack,
			       "Not enough memory for the path: raise max_job_mb, max_total_mb or the limit of the cgroup");
	return min(err, 0);
}

int ina_nl_path_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	int err;

	mutex_lock(&inet->lock);
	err = ina_nl_path_add(inet, info);
	mutex_unlock(&inet->lock);
	return ina_nl_end(info, 0, err);
}

/* The path a request names, and whose. Context: inet->lock is held. */
static struct ina_path *ina_nl_path_find(struct ina_net *inet,
					 struct genl_info *info,
					 struct ina_node **node,
					 struct ina_peer **peer)
{
	*node = ina_nl_node(inet, info);
	if (IS_ERR(*node))
		return ERR_CAST(*node);
	*peer = ina_nl_peer(*node, info);
	if (IS_ERR(*peer))
		return ERR_CAST(*peer);
	return ina_nl_path(*peer, info);
}

/* Context: inet->lock is held. */
static int ina_nl_path_del(struct ina_net *inet, struct genl_info *info)
{
	struct ina_node *node;
	struct ina_peer *peer;
	struct ina_path *path = ina_nl_path_find(inet, info, &node, &peer);

	if (IS_ERR(path))
		return PTR_ERR(path);
	if (peer->npaths == 1) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[INA_A_PATH_ID],
				    "It is the last path to the peer: add another one first, or delete the job");
		return -EBUSY;
	}
	if (READ_ONCE(node->open) && ina_path_is_last(peer, path)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[INA_A_PATH_ID],
				    "The job runs and no other path to the peer is up: wait until one is, or delete the job");
		return -EBUSY;
	}
	ina_path_del(node, peer, path);
	return 0;
}

int ina_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	int err;

	mutex_lock(&inet->lock);
	err = ina_nl_path_del(inet, info);
	mutex_unlock(&inet->lock);
	return ina_nl_end(info, 0, err);
}

/* A number of a request within its limits, or what is there if it is absent. */
static int ina_nl_within(struct genl_info *info, int attr, u32 min, u32 max,
			 const char *text, u32 *value)
{
	*value = ina_nl_u32(info, attr, *value);
	if (*value >= min && *value <= max)
		return 0;
	info->extack->_msg = text;
	NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
	return -ERANGE;
}

/* What holds for all paths of a node. Context: inet->lock is held. */
static int ina_nl_path_set_all(struct ina_net *inet, struct genl_info *info)
{
	struct ina_node *node = ina_nl_node(inet, info);
	u32 chunk, timeout, limit;
	int err;

	if (IS_ERR(node))
		return PTR_ERR(node);
	if (info->attrs[INA_A_PATH_WEIGHT]) {
		NL_SET_ERR_MSG(info->extack,
			       "A weight belongs to one path: name it");
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, INA_A_PATH_ID);
		return -EINVAL;
	}
	chunk = node->chunk;
	timeout = node->timeout;
	limit = node->loss_limit;
	err = ina_nl_within(info, INA_A_PATH_CHUNK,
			    ina_xmit_packet(node, true), INA_NL_CHUNK_MAX,
			    "A chunk has room for a fragment, and at most 65535 bytes",
			    &chunk);
	if (!err)
		err = ina_nl_within(info, INA_A_PATH_TIMEOUT, INA_NL_TIMEOUT_MIN,
				    INA_NL_TIMEOUT_MAX,
				    "The timeout of a path is from 20 to 10000 milliseconds",
				    &timeout);
	if (!err)
		err = ina_nl_within(info, INA_A_PATH_LOSS_LIMIT, 1000, 500000,
				    "The limit of loss is from 0.1 to 50 per cent",
				    &limit);
	if (err)
		return err;
	WRITE_ONCE(node->chunk, chunk);
	WRITE_ONCE(node->timeout, timeout);
	WRITE_ONCE(node->loss_limit, limit);
	return 0;
}

/* Context: inet->lock is held. */
static int ina_nl_path_set(struct ina_net *inet, struct genl_info *info)
{
	struct ina_node *node;
	struct ina_peer *peer;
	struct ina_path *path;
	u32 weight;
	int err;

	if (!info->attrs[INA_A_PATH_ID])
		return ina_nl_path_set_all(inet, info);
	path = ina_nl_path_find(inet, info, &node, &peer);
	if (IS_ERR(path))
		return PTR_ERR(path);
	if (!info->attrs[INA_A_PATH_WEIGHT] || info->attrs[INA_A_PATH_CHUNK] ||
	    info->attrs[INA_A_PATH_TIMEOUT] ||
	    info->attrs[INA_A_PATH_LOSS_LIMIT]) {
		NL_SET_ERR_MSG(info->extack,
			       "Of one path the weight is set, all else for the whole node: leave the path out");
		return -EINVAL;
	}
	err = ina_nl_path_weight(info, &weight);
	if (err)
		return err;
	ina_path_set_weight(peer, path, weight);
	return 0;
}

int ina_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	int err;

	mutex_lock(&inet->lock);
	err = ina_nl_path_set(inet, info);
	mutex_unlock(&inet->lock);
	return ina_nl_end(info, 0, err);
}

/* Of a thousand super-packets, how many take a path. */
static u32 ina_nl_path_share(const struct ina_peer *peer,
			     const struct ina_path *path)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < INA_PATHS_MAX; i++)
		if (rcu_access_pointer(peer->path[i].route))
			sum += READ_ONCE(peer->path[i].recent);
	return sum ? div64_u64(READ_ONCE(path->recent) * 1000, sum) : 0;
}

static int ina_nl_path_put(struct sk_buff *skb, int attr, u64 value)
{
	return value ? nla_put_u64_64bit(skb, attr, value, INA_A_PATH_PAD) : 0;
}

/* What is known of a path. Context: its hop is locked. */
static int ina_nl_path_figures(struct sk_buff *skb, const struct ina_node *node,
			       const struct ina_peer *peer,
			       const struct ina_path *path)
{
	return nla_put_u32(skb, INA_A_PATH_STATE, path->state) ||
	       ina_nl_path_put(skb, INA_A_PATH_RTT, path->rtt) ||
	       ina_nl_path_put(skb, INA_A_PATH_GOODPUT, path->goodput) ||
	       nla_put_u32(skb, INA_A_PATH_LOSS, path->lossy) ||
	       ina_nl_path_put(skb, INA_A_PATH_RATE, READ_ONCE(path->pace.rate)) ||
	       nla_put_u64_64bit(skb, INA_A_PATH_SENT, path->sent,
				 INA_A_PATH_PAD) ||
	       nla_put_u64_64bit(skb, INA_A_PATH_LOST, path->lost,
				 INA_A_PATH_PAD) ||
	       nla_put_u32(skb, INA_A_PATH_SHARE,
			   ina_nl_path_share(peer, path)) ||
	       nla_put_u32(skb, INA_A_PATH_CHUNK, node->chunk) ||
	       nla_put_u32(skb, INA_A_PATH_TIMEOUT, node->timeout) ||
	       nla_put_u32(skb, INA_A_PATH_LOSS_LIMIT, node->loss_limit);
}

static int ina_nl_path_fill(struct sk_buff *skb, u32 portid, u32 seq, int flags,
			    const struct ina_node *node, struct ina_peer *peer,
			    struct ina_path *path)
{
	const struct ina_route *route = rcu_access_pointer(path->route);
	void *hdr = genlmsg_put(skb, portid, seq, &ina_nl_family, flags,
				INA_CMD_PATH_GET);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, INA_A_PATH_JOB, node->job->config.id) ||
	      nla_put_in6_addr(skb, INA_A_PATH_PEER, &peer->addr) ||
	      nla_put_u32(skb, INA_A_PATH_ID, path - peer->path) ||
	      (route->ifindex &&
	       nla_put_u32(skb, INA_A_PATH_IFINDEX, route->ifindex)) ||
	      nla_put_in6_addr(skb, INA_A_PATH_SRC,
			       ina_nl_path_src(node, route)) ||
	      nla_put_in6_addr(skb, INA_A_PATH_DST, &route->dst) ||
	      (ina_xmit_is_udp(node) &&
	       nla_put_u16(skb, INA_A_PATH_SPORT,
			   ntohs(ina_nl_path_sport(node, route)))) ||
	      nla_put_u32(skb, INA_A_PATH_WEIGHT, path->weight);
	if (!err) {
		spin_lock_bh(&path->hop.lock);
		err = ina_nl_path_figures(skb, node, peer, path);
		spin_unlock_bh(&path->hop.lock);
	}
	if (err) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int ina_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct ina_node *node;
	struct ina_peer *peer;
	struct ina_path *path;
	int err;

	if (!msg)
		return ina_nl_end(info, 0, -ENOMEM);
	mutex_lock(&inet->lock);
	path = ina_nl_path_find(inet, info, &node, &peer);
	err = PTR_ERR_OR_ZERO(path);
	if (!err)
		err = ina_nl_path_fill(msg, info->snd_portid, info->snd_seq, 0,
				       node, peer, path);
	mutex_unlock(&inet->lock);
	return ina_nl_reply(info, msg, err);
}

/*
 * The paths of a peer from the @cb->args[1]-th on, all peers counted in a row. @at: how
 * many were passed before.
 */
static int ina_nl_path_dump_peer(struct sk_buff *skb, struct netlink_callback *cb,
				 const struct ina_node *node,
				 struct ina_peer *peer, long *at)
{
	int i, err;

	for (i = 0; i < INA_PATHS_MAX; i++) {
		if (!rcu_access_pointer(peer->path[i].route))
			continue;
		if ((*at)++ < cb->args[1])
			continue;
		err = ina_nl_path_fill(skb, NETLINK_CB(cb->skb).portid,
				       cb->nlh->nlmsg_seq, NLM_F_MULTI, node,
				       peer, &peer->path[i]);
		if (err)
			return err;
		cb->args[1] = *at;
	}
	return 0;
}

static int ina_nl_path_dump_node(struct sk_buff *skb, struct netlink_callback *cb,
				 struct ina_node *node)
{
	long at = 0;
	int err = 0;
	u16 i;

	if (!node->root)
		err = ina_nl_path_dump_peer(skb, cb, node, &node->parent, &at);
	for (i = 0; i < node->nchildren && !err; i++)
		err = ina_nl_path_dump_peer(skb, cb, node,
					    &node->children[i].peer, &at);
	return err;
}

int ina_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ina_net *inet = ina_net(sock_net(skb->sk));
	unsigned long id = cb->args[0];
	struct ina_node *node;
	struct ina_job *job;
	int err = 0;

	mutex_lock(&inet->lock);
	xa_for_each_start(&inet->jobs, id, job, cb->args[0]) {
		if (id != cb->args[0]) {
			cb->args[0] = id;
			cb->args[1] = 0;
		}
		node = rcu_dereference_protected(job->node,
						 lockdep_is_held(&inet->lock));
		if (node)
			err = ina_nl_path_dump_node(skb, cb, node);
		if (err)
			break;
		cb->args[0] = id + 1;
		cb->args[1] = 0;
	}
	mutex_unlock(&inet->lock);
	return err && !skb->len ? err : skb->len;
}
