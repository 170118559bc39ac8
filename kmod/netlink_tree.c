// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink requests on trees: the place of a node is parsed, validated and
 * applied as a whole. Context: process, inet->lock held to apply and to show.
 */
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "event.h"
#include "job.h"
#include "net.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "node.h"
#include "round.h"
#include "tree.h"

/* Count and collect the children of a request. */
static int ina_nl_children(struct genl_info *info, struct ina_tree *tree)
{
	struct nlattr *attr;
	unsigned int count = 0;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		count += nla_type(attr) == INA_A_TREE_CHILD;
	if (count > INA_NODE_CHILDREN_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[INA_A_TREE_CHILD],
				    "Too many children: a node takes 1024, add a level to the tree");
		return -E2BIG;
	}
	tree->children = kvcalloc(max(count, 1u), sizeof(*tree->children),
				  GFP_KERNEL);
	if (!tree->children)
		return -ENOMEM;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(attr) == INA_A_TREE_CHILD)
			tree->children[tree->nchildren++].attr = attr;
	return 0;
}

static bool ina_nl_is_host(const struct in6_addr *addr)
{
	__be32 v4 = addr->s6_addr32[3];

	if (ipv6_addr_v4mapped(addr))
		return !ipv4_is_zeronet(v4) && !ipv4_is_multicast(v4) &&
		       !ipv4_is_lbcast(v4);
	return !ipv6_addr_any(addr) && !ipv6_addr_is_multicast(addr);
}

/**
 * ina_nl_host() - the address of a request that can be a peer's
 * @info: the request
 * @attr: the address
 * @addr: where it goes
 *
 * Context: process.
 * Return: 0 or a negative errno with a text.
 */
int ina_nl_host(struct genl_info *info, const struct nlattr *attr,
		struct in6_addr *addr)
{
	*addr = nla_get_in6_addr(attr);
	if (ina_nl_is_host(addr))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "Not the address of a host: give a unicast address");
	return -EINVAL;
}

/* An address that can be a peer, or none. */
static int ina_nl_address(struct genl_info *info, const struct nlattr *attr,
			  struct ina_tree_addr *addr)
{
	if (!attr)
		return 0;
	addr->attr = attr;
	return ina_nl_host(info, attr, &addr->addr);
}

static int ina_nl_child(struct genl_info *info, struct ina_tree *tree,
			u16 index)
{
	struct ina_tree_addr *child = &tree->children[index];
	int err;
	u16 i;

	err = ina_nl_address(info, child->attr, child);
	if (err)
		return err;
	if (ipv6_addr_equal(&child->addr, &tree->parent.addr)) {
		NL_SET_ERR_MSG_ATTR(info->extack, child->attr,
				    "The parent is also a child: name it as one of the two");
		return -EINVAL;
	}
	for (i = 0; i < index; i++) {
		if (!ipv6_addr_equal(&child->addr, &tree->children[i].addr))
			continue;
		NL_SET_ERR_MSG_ATTR(info->extack, child->attr,
				    "A child is named twice: name it once");
		return -EINVAL;
	}
	return 0;
}

/* Parse the place of a node. The caller frees tree->children. */
static int ina_nl_tree_parse(struct genl_info *info, struct ina_tree *tree)
{
	u32 workers;
	int err;
	u16 i;

	err = ina_nl_address(info, info->attrs[INA_A_TREE_LOCAL], &tree->local);
	if (!err)
		err = ina_nl_address(info, info->attrs[INA_A_TREE_PARENT],
				     &tree->parent);
	if (!err)
		err = ina_nl_children(info, tree);
	for (i = 0; !err && i < tree->nchildren; i++)
		err = ina_nl_child(info, tree, i);
	if (err)
		return err;
	workers = ina_nl_u32(info, INA_A_TREE_WORKERS, !tree->nchildren);
	if (workers > INA_NODE_WORKERS_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[INA_A_TREE_WORKERS],
				    "Too many workers: a node takes 64, use fewer");
		return -E2BIG;
	}
	tree->nworkers = workers;
	if (!workers && !tree->nchildren) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[INA_A_TREE_WORKERS],
				    "The node would sum nothing: give children or workers");
		return -EINVAL;
	}
	return 0;
}

/* A node for a job, in place of the one it has. Context: inet->lock is held. */
static int ina_nl_tree_replace(struct ina_job *job, struct ina_node *old,
			       const struct ina_tree *tree,
			       struct netlink_ext_ack *extack)
{
	struct ina_node *node;

	if (old && READ_ONCE(old->attached)) {
		NL_SET_ERR_MSG(extack,
			       "Workers are attached: end them before the node gets another role or address");
		return -EBUSY;
	}
	node = ina_node_create(job, tree, extack);
	if (IS_ERR(node))
		return PTR_ERR(node);
	/* The old one says farewell before the new one can be heard. */
	RCU_INIT_POINTER(job->node, NULL);
	if (old)
		ina_node_destroy(old);
	rcu_assign_pointer(job->node, node);
	return 0;
}

/* Set the place of a job's node. Context: inet->lock is held. */
static int ina_nl_tree_apply(struct ina_net *inet, struct ina_job *job,
			     const struct ina_tree *tree,
			     struct netlink_ext_ack *extack)
{
	struct ina_node *node;
	int err;

	node = rcu_dereference_protected(job->node,
					 lockdep_is_held(&inet->lock));
	if (node && ina_tree_fits(node, tree))
		err = ina_tree_change(node, tree, extack);
	else
		err = ina_nl_tree_replace(job, node, tree, extack);
	if (err)
		return err;
	ina_event_send(inet->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_TREE_SET,
			.job = job->config.id, .addr = tree->parent.addr },
		       "job %u tree set: %s, %u children, %u local workers",
		       job->config.id,
		       ipv6_addr_any(&tree->parent.addr) ? "root" : "has a parent",
		       tree->nchildren, tree->nworkers);
	return 0;
}

int ina_nl_tree_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct ina_tree tree = {};
	struct ina_job *job;
	int err;

	err = ina_nl_tree_parse(info, &tree);
	if (err)
		goto free;
	mutex_lock(&inet->lock);
	job = ina_nl_job(inet, info, INA_A_TREE_JOB);
	err = PTR_ERR_OR_ZERO(job);
	if (!err)
		err = ina_nl_tree_apply(inet, job, &tree, info->extack);
	mutex_unlock(&inet->lock);
free:
	kvfree(tree.children);
	return ina_nl_end(info, 0, err);
}

/* Let rounds that run end, and no others begin. Context: inet->lock is held. */
static int ina_nl_tree_stay(struct ina_net *inet, const struct ina_job *job,
			    struct genl_info *info)
{
	struct ina_node *node;

	node = rcu_dereference_protected(job->node,
					 lockdep_is_held(&inet->lock));
	if (!node || !node->root) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[INA_A_TREE_JOB],
				    "Rounds are held back by the root: ask there");
		return -EINVAL;
	}
	if (GENL_REQ_ATTR_CHECK(info, INA_A_TREE_HOLD)) {
		NL_SET_ERR_MSG(info->extack,
			       "No time is given: give milliseconds, 0 to go on");
		return -EINVAL;
	}
	spin_lock_bh(&node->lock);
	ina_round_stay(node, nla_get_u32(info->attrs[INA_A_TREE_HOLD]));
	spin_unlock_bh(&node->lock);
	return 0;
}

int ina_nl_tree_hold_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct ina_job *job;
	int err;

	mutex_lock(&inet->lock);
	job = ina_nl_job(inet, info, INA_A_TREE_JOB);
	err = PTR_ERR_OR_ZERO(job);
	if (!err)
		err = ina_nl_tree_stay(inet, job, info);
	mutex_unlock(&inet->lock);
	return ina_nl_end(info, 0, err);
}

/* When the contributions of a child come. Context: the node's lock is held. */
static int ina_nl_arrivals_fill(struct sk_buff *skb,
				const struct ina_child *child)
{
	const struct ina_arrivals *a = &child->arrivals;

	if (!a->rounds)
		return 0;
	return nla_put_u64_64bit(skb, INA_A_MEMBER_ROUND, a->round - 1,
				 INA_A_MEMBER_PAD) ||
	       nla_put_u64_64bit(skb, INA_A_MEMBER_FIRST, a->first,
				 INA_A_MEMBER_PAD) ||
	       nla_put_u64_64bit(skb, INA_A_MEMBER_LAST, a->last,
				 INA_A_MEMBER_PAD) ||
	       nla_put_u64_64bit(skb, INA_A_MEMBER_LATE,
				 div64_u64(a->late, a->rounds),
				 INA_A_MEMBER_PAD) ||
	       nla_put_u64_64bit(skb, INA_A_MEMBER_LOST,
				 ina_path_lost(&child->peer),
				 INA_A_MEMBER_PAD) ||
	       nla_put_u64_64bit(skb, INA_A_MEMBER_LOST_ROUND, a->lost_round,
				 INA_A_MEMBER_PAD);
}

/* What a child asks for and gets. Context: the node's lock is held. */
static int ina_nl_ask_fill(struct sk_buff *skb, const struct ina_ask *ask)
{
	return (ask->send && nla_put_u64_64bit(skb, INA_A_MEMBER_REQUEST,
					       ask->send, INA_A_MEMBER_PAD)) ||
	       (ask->sending && ask->granted && ask->rate &&
		nla_put_u64_64bit(skb, INA_A_MEMBER_RATE, ask->rate,
				  INA_A_MEMBER_PAD));
}

/* What a node asks for and gets. Context: its lock is held. */
static int ina_nl_grant_fill(struct sk_buff *skb, const struct ina_grant *grant)
{
	return (grant->send && nla_put_u64_64bit(skb, INA_A_TREE_REQUEST,
						 grant->send, INA_A_TREE_PAD)) ||
	       (grant->known && grant->rate &&
		nla_put_u64_64bit(skb, INA_A_TREE_RATE, grant->rate,
				  INA_A_TREE_PAD));
}

static int ina_nl_member_fill(struct sk_buff *skb, const struct ina_child *child,
			      u32 index)
{
	struct nlattr *nest = nla_nest_start(skb, INA_A_TREE_MEMBER);

	if (!nest || nla_put_in6_addr(skb, INA_A_MEMBER_ADDR, &child->peer.addr) ||
	    nla_put_u32(skb, INA_A_MEMBER_INDEX, index) ||
	    (child->workers && nla_put_flag(skb, INA_A_MEMBER_JOINED)) ||
	    nla_put_u32(skb, INA_A_MEMBER_WORKERS, child->workers) ||
	    (child->acked != U64_MAX &&
	     nla_put_u64_64bit(skb, INA_A_MEMBER_ACKED, child->acked,
			       INA_A_MEMBER_PAD)) ||
	    ina_nl_arrivals_fill(skb, child) ||
	    ina_nl_ask_fill(skb, &child->ask))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Attributes of a node. Context: its lock is held. */
static int ina_nl_node_fill(struct sk_buff *skb, const struct ina_node *node)
{
	u32 state = node->open ? INA_NODE_STATE_OPEN :
		    node->subtree ? INA_NODE_STATE_JOINING :
				    INA_NODE_STATE_IDLE;
	u16 i;

	if ((!ipv6_addr_any(&node->local) &&
	     nla_put_in6_addr(skb, INA_A_TREE_LOCAL, &node->local)) ||
	    (!node->root &&
	     nla_put_in6_addr(skb, INA_A_TREE_PARENT, &node->parent.addr)) ||
	    nla_put_u32(skb, INA_A_TREE_WORKERS, node->nworkers) ||
	    nla_put_u32(skb, INA_A_TREE_STATE, state) ||
	    nla_put_u32(skb, INA_A_TREE_EPOCH, node->epoch) ||
	    nla_put_u64_64bit(skb, INA_A_TREE_BASE, node->base,
			      INA_A_TREE_PAD) ||
	    nla_put_u32(skb, INA_A_TREE_MEMBERS,
			node->open ? node->members : 0) ||
	    nla_put_u32(skb, INA_A_TREE_ATTACHED, node->attached) ||
	    nla_put_u32(skb, INA_A_TREE_REASON, node->refused) ||
	    (node->stay &&
	     nla_put_u32(skb, INA_A_TREE_LEFT, node->base +
			 node->job->config.depth - node->acked)) ||
	    ina_nl_grant_fill(skb, &node->grant))
		return -EMSGSIZE;
	for (i = 0; i < node->nchildren; i++)
		if (ina_nl_member_fill(skb, &node->children[i], i))
			return -EMSGSIZE;
	return 0;
}

static int ina_nl_tree_fill(struct sk_buff *skb, u32 portid, u32 seq, int flags,
			    struct ina_net *inet, struct ina_job *job)
{
	struct ina_node *node;
	void *hdr;
	int err;

	node = rcu_dereference_protected(job->node,
					 lockdep_is_held(&inet->lock));
	if (!node)
		return 0;
	hdr = genlmsg_put(skb, portid, seq, &ina_nl_family, flags,
			  INA_CMD_TREE_GET);
	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, INA_A_TREE_JOB, job->config.id);
	if (!err) {
		spin_lock_bh(&node->lock);
		err = ina_nl_node_fill(skb, node);
		spin_unlock_bh(&node->lock);
	}
	if (err) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* Bytes of a node with as many children as there can be. */
static size_t ina_nl_tree_size(void)
{
	size_t member = nla_total_size(0) + nla_total_size(16) +
			2 * nla_total_size(4) + nla_total_size(0) +
			9 * nla_total_size_64bit(8);

	return NLMSG_DEFAULT_SIZE + INA_NODE_CHILDREN_MAX * member;
}

/**
 * ina_nl_tree_get_start() - a dump of trees begins
 * @cb: the dump; each of its messages has room for a whole node
 *
 * Return: 0.
 */
int ina_nl_tree_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = ina_nl_tree_size();
	return 0;
}

int ina_nl_tree_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct sk_buff *msg = genlmsg_new(ina_nl_tree_size(), GFP_KERNEL);
	struct ina_job *job;
	int err;

	if (!msg)
		return ina_nl_end(info, 0, -ENOMEM);
	mutex_lock(&inet->lock);
	job = ina_nl_job(inet, info, INA_A_TREE_JOB);
	err = PTR_ERR_OR_ZERO(job);
	if (!err && !rcu_access_pointer(job->node)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[INA_A_TREE_JOB],
				    "The job has no tree here: use 'inaconf tree set'");
		err = -ENOENT;
	}
	if (!err)
		err = ina_nl_tree_fill(msg, info->snd_portid, info->snd_seq, 0,
				       inet, job);
	mutex_unlock(&inet->lock);
	return ina_nl_reply(info, msg, err);
}

int ina_nl_tree_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ina_nl_dump(skb, cb, ina_nl_tree_fill);
}
