// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: parse, validate, apply. Operations and policies
 * are generated from Documentation/netlink/specs/ina.yaml. Context: process;
 * changes of jobs and trees hold inet->lock, of devices RTNL.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "event.h"
#include "ingress.h"
#include "job.h"
#include "net.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "node.h"
#include "stats.h"
#include "tx.h"
#include "wire.h"

static u32 ina_nl_u32(struct genl_info *info, int attr, u32 fallback)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : fallback;
}

/* The job an attribute names. Context: inet->lock is held. */
static struct ina_job *ina_nl_job(struct ina_net *inet, struct genl_info *info,
				  int attr)
{
	struct ina_job *job;

	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		NL_SET_ERR_MSG(info->extack, "No job is named: give its number");
		return ERR_PTR(-EINVAL);
	}
	job = ina_job_find(inet, nla_get_u32(info->attrs[attr]));
	if (job)
		return job;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
			    "No such job: see 'inaconf job show'");
	return ERR_PTR(-ENOENT);
}

/* Send the reply a fill function writes. */
static int ina_nl_reply(struct genl_info *info, struct sk_buff *skb, int err)
{
	if (!err)
		return genlmsg_reply(skb, info);
	nlmsg_free(skb);
	return err;
}

int ina_nl_job_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct nlattr **attrs = info->attrs;
	struct ina_job_config config = {
		.id = ina_nl_u32(info, INA_A_JOB_ID, 0),
		.dtype = ina_nl_u32(info, INA_A_JOB_DTYPE, INA_DTYPE_INT32),
		.fragment = ina_nl_u32(info, INA_A_JOB_FRAGMENT, 256),
		.capacity = ina_nl_u32(info, INA_A_JOB_CAPACITY, 0),
		.depth = ina_nl_u32(info, INA_A_JOB_DEPTH, 2),
		.deadline_ms = ina_nl_u32(info, INA_A_JOB_DEADLINE, 10000),
		.encap = ina_nl_u32(info, INA_A_JOB_ENCAP, INA_ENCAP_UDP),
		.port = attrs[INA_A_JOB_PORT] ?
			nla_get_u16(attrs[INA_A_JOB_PORT]) : INA_UDP_PORT,
	};
	struct ina_job *job;
	int err;

	err = ina_job_check(&config, info->extack);
	if (err)
		return err;
	mutex_lock(&inet->lock);
	job = ina_job_create(inet, &config, info->extack);
	mutex_unlock(&inet->lock);
	if (IS_ERR(job))
		return PTR_ERR(job);
	ina_event_send(inet->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_JOB_ADDED, .job = config.id },
		       "job %u added", config.id);
	return 0;
}

int ina_nl_job_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct ina_job *job;
	int err;

	mutex_lock(&inet->lock);
	job = ina_nl_job(inet, info, INA_A_JOB_ID);
	err = PTR_ERR_OR_ZERO(job);
	if (!err)
		ina_job_destroy(job);
	mutex_unlock(&inet->lock);
	if (!err)
		ina_event_send(inet->net, &(struct ina_event){
				.type = INA_EVENT_TYPE_JOB_DELETED,
				.job = nla_get_u32(info->attrs[INA_A_JOB_ID]) },
			       "job %u deleted",
			       nla_get_u32(info->attrs[INA_A_JOB_ID]));
	return err;
}

static int ina_nl_job_fill(struct sk_buff *skb, u32 portid, u32 seq, int flags,
			   struct ina_net *inet, struct ina_job *job)
{
	const struct ina_job_config *config = &job->config;
	struct ina_node *node;
	void *hdr;

	node = rcu_dereference_protected(job->node,
					 lockdep_is_held(&inet->lock));
	hdr = genlmsg_put(skb, portid, seq, &ina_nl_family, flags,
			  INA_CMD_JOB_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, INA_A_JOB_ID, config->id) ||
	    nla_put_u32(skb, INA_A_JOB_DTYPE, config->dtype) ||
	    nla_put_u32(skb, INA_A_JOB_FRAGMENT, config->fragment) ||
	    nla_put_u32(skb, INA_A_JOB_CAPACITY, config->capacity) ||
	    nla_put_u32(skb, INA_A_JOB_DEPTH, config->depth) ||
	    nla_put_u32(skb, INA_A_JOB_DEADLINE, config->deadline_ms) ||
	    nla_put_u32(skb, INA_A_JOB_ENCAP, config->encap) ||
	    nla_put_u16(skb, INA_A_JOB_PORT, config->port) ||
	    nla_put_u64_64bit(skb, INA_A_JOB_HASH, job->hash, INA_A_JOB_PAD) ||
	    nla_put_u64_64bit(skb, INA_A_JOB_MEMORY,
			      atomic64_read(&job->memory), INA_A_JOB_PAD) ||
	    nla_put_u32(skb, INA_A_JOB_ATTACHED,
			node ? READ_ONCE(node->attached) : 0)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int ina_nl_job_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct sk_buff *msg;
	struct ina_job *job;
	int err;

	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	mutex_lock(&inet->lock);
	job = ina_nl_job(inet, info, INA_A_JOB_ID);
	err = PTR_ERR_OR_ZERO(job);
	if (!err)
		err = ina_nl_job_fill(msg, info->snd_portid, info->snd_seq, 0,
				      inet, job);
	mutex_unlock(&inet->lock);
	return ina_nl_reply(info, msg, err);
}

/* Writes one job or node into a dump. */
typedef int (*ina_nl_fill_t)(struct sk_buff *skb, u32 portid, u32 seq,
			     int flags, struct ina_net *inet,
			     struct ina_job *job);

/* Dump all jobs from cb->args[0] on. */
static int ina_nl_dump(struct sk_buff *skb, struct netlink_callback *cb,
		       ina_nl_fill_t fill)
{
	struct ina_net *inet = ina_net(sock_net(skb->sk));
	unsigned long id = cb->args[0];
	struct ina_job *job;
	int err = 0;

	mutex_lock(&inet->lock);
	xa_for_each_start(&inet->jobs, id, job, cb->args[0]) {
		err = fill(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   NLM_F_MULTI, inet, job);
		if (err)
			break;
	}
	mutex_unlock(&inet->lock);
	cb->args[0] = err ? id : ULONG_MAX;
	return err && !skb->len ? err : skb->len;
}

int ina_nl_job_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ina_nl_dump(skb, cb, ina_nl_job_fill);
}

/* Count and collect the children of a request. */
static int ina_nl_children(struct genl_info *info, struct ina_tree *tree)
{
	struct nlattr *attr;
	unsigned int count = 0;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		count += nla_type(attr) == INA_A_TREE_CHILD;
	if (count > INA_NODE_CHILDREN_MAX) {
		NL_SET_ERR_MSG(info->extack,
			       "Too many children: a node takes 1024, add a level to the tree");
		return -E2BIG;
	}
	tree->children = kvcalloc(max(count, 1u), sizeof(*tree->children),
				  GFP_KERNEL);
	if (!tree->children)
		return -ENOMEM;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(attr) == INA_A_TREE_CHILD)
			tree->children[tree->nchildren++] =
				nla_get_in6_addr(attr);
	return 0;
}

/* An address that can be a peer, or none. */
static int ina_nl_address(struct genl_info *info, int attr,
			  struct in6_addr *addr)
{
	if (!info->attrs[attr])
		return 0;
	*addr = nla_get_in6_addr(info->attrs[attr]);
	if (!ipv6_addr_any(addr) && !ipv6_addr_is_multicast(addr))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
			    "Not the address of a host: give a unicast address");
	return -EINVAL;
}

static int ina_nl_child_check(const struct ina_tree *tree, u16 index,
			      struct netlink_ext_ack *extack)
{
	const struct in6_addr *addr = &tree->children[index];
	u16 i;

	if (ipv6_addr_any(addr) || ipv6_addr_is_multicast(addr)) {
		NL_SET_ERR_MSG(extack,
			       "A child is not a host: give unicast addresses");
		return -EINVAL;
	}
	if (ipv6_addr_equal(addr, &tree->parent)) {
		NL_SET_ERR_MSG(extack,
			       "The parent is also a child: a tree has no cycles");
		return -EINVAL;
	}
	for (i = 0; i < index; i++) {
		if (!ipv6_addr_equal(addr, &tree->children[i]))
			continue;
		NL_SET_ERR_MSG(extack, "A child is named twice");
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

	err = ina_nl_address(info, INA_A_TREE_LOCAL, &tree->local);
	if (!err)
		err = ina_nl_address(info, INA_A_TREE_PARENT, &tree->parent);
	if (!err)
		err = ina_nl_children(info, tree);
	for (i = 0; !err && i < tree->nchildren; i++)
		err = ina_nl_child_check(tree, i, info->extack);
	if (err)
		return err;
	workers = ina_nl_u32(info, INA_A_TREE_WORKERS, !tree->nchildren);
	if (workers > INA_NODE_WORKERS_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[INA_A_TREE_WORKERS],
				    "Too many workers: a node takes 64");
		return -E2BIG;
	}
	tree->nworkers = workers;
	if (!workers && !tree->nchildren) {
		NL_SET_ERR_MSG(info->extack,
			       "The node would sum nothing: give children or workers");
		return -EINVAL;
	}
	return 0;
}

/* Replace the node of a job. Context: inet->lock is held. */
static int ina_nl_tree_apply(struct ina_net *inet, struct ina_job *job,
			     const struct ina_tree *tree,
			     struct netlink_ext_ack *extack)
{
	struct ina_node *old, *node;

	old = rcu_dereference_protected(job->node,
					lockdep_is_held(&inet->lock));
	if (old && READ_ONCE(old->attached)) {
		NL_SET_ERR_MSG(extack,
			       "Workers are attached: end them before the tree is replaced");
		return -EBUSY;
	}
	node = ina_node_create(job, tree, extack);
	if (IS_ERR(node))
		return PTR_ERR(node);
	rcu_assign_pointer(job->node, node);
	if (old)
		ina_node_destroy(old);
	ina_event_send(inet->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_TREE_SET,
			.job = job->config.id, .addr = tree->parent },
		       "job %u tree set: %s, %u children, %u local workers",
		       job->config.id, node->root ? "root" : "has a parent",
		       node->nchildren, node->nworkers);
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
	return err;
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
			       INA_A_MEMBER_PAD)))
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
	    nla_put_u32(skb, INA_A_TREE_REASON, node->refused))
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

/* An skb large enough for a node with all its children. */
static struct sk_buff *ina_nl_tree_alloc(void)
{
	size_t member = nla_total_size(0) + nla_total_size(16) +
			2 * nla_total_size(4) + nla_total_size(0) +
			nla_total_size_64bit(8);

	return genlmsg_new(NLMSG_DEFAULT_SIZE + INA_NODE_CHILDREN_MAX * member,
			   GFP_KERNEL);
}

int ina_nl_tree_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct sk_buff *msg = ina_nl_tree_alloc();
	struct ina_job *job;
	int err;

	if (!msg)
		return -ENOMEM;
	mutex_lock(&inet->lock);
	job = ina_nl_job(inet, info, INA_A_TREE_JOB);
	err = PTR_ERR_OR_ZERO(job);
	if (!err && !rcu_access_pointer(job->node)) {
		NL_SET_ERR_MSG(info->extack,
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

/* The ifindex of a request. */
static int ina_nl_ifindex(struct genl_info *info, u32 *ifindex)
{
	if (GENL_REQ_ATTR_CHECK(info, INA_A_DEV_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "No device is named: give one");
		return -EINVAL;
	}
	*ifindex = nla_get_u32(info->attrs[INA_A_DEV_IFINDEX]);
	return 0;
}

int ina_nl_dev_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	u32 ifindex;
	int err;

	err = ina_nl_ifindex(info, &ifindex);
	if (err)
		return err;
	rtnl_lock();
	err = ina_ingress_add(inet, ifindex, info->extack);
	rtnl_unlock();
	return err;
}

int ina_nl_dev_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	u32 ifindex;
	int err;

	err = ina_nl_ifindex(info, &ifindex);
	if (err)
		return err;
	rtnl_lock();
	err = ina_ingress_del(inet, ifindex, info->extack);
	rtnl_unlock();
	return err;
}

static int ina_nl_dev_fill(struct sk_buff *skb, u32 portid, u32 seq, int flags,
			   const struct ina_dev *entry)
{
	void *hdr = genlmsg_put(skb, portid, seq, &ina_nl_family, flags,
				INA_CMD_DEV_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, INA_A_DEV_IFINDEX, entry->dev->ifindex) ||
	    nla_put_string(skb, INA_A_DEV_NAME, entry->dev->name)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int ina_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct ina_dev *entry;
	struct sk_buff *msg;
	u32 ifindex;
	int err;

	err = ina_nl_ifindex(info, &ifindex);
	if (err)
		return err;
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	rtnl_lock();
	entry = ina_ingress_find(inet, ifindex);
	if (entry)
		err = ina_nl_dev_fill(msg, info->snd_portid, info->snd_seq, 0,
				      entry);
	rtnl_unlock();
	if (!entry) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[INA_A_DEV_IFINDEX],
				    "The device is not added: see 'inaconf dev show'");
		err = -ENOENT;
	}
	return ina_nl_reply(info, msg, err);
}

int ina_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ina_net *inet = ina_net(sock_net(skb->sk));
	struct ina_dev *entry;
	long index = 0;
	int err = 0;

	rtnl_lock();
	list_for_each_entry(entry, &inet->devs, list) {
		if (index >= cb->args[0])
			err = ina_nl_dev_fill(skb, NETLINK_CB(cb->skb).portid,
					      cb->nlh->nlmsg_seq, NLM_F_MULTI,
					      entry);
		if (err)
			break;
		index++;
	}
	rtnl_unlock();
	cb->args[0] = index;
	return skb->len;
}

static int ina_nl_counter_fill(struct sk_buff *skb,
			       const struct ina_stats __percpu *stats,
			       enum ina_stat stat)
{
	struct nlattr *nest = nla_nest_start(skb, INA_A_STATS_COUNTER);

	if (!nest ||
	    nla_put_string(skb, INA_A_COUNTER_NAME, ina_stats_name(stat)) ||
	    nla_put_u64_64bit(skb, INA_A_COUNTER_VALUE,
			      ina_stats_sum(stats, stat), INA_A_COUNTER_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int ina_nl_stats_fill(struct sk_buff *skb, struct genl_info *info,
			     const struct ina_job *job,
			     const struct ina_stats __percpu *stats)
{
	void *hdr = genlmsg_put_reply(skb, info, &ina_nl_family, 0,
				      INA_CMD_STATS_GET);
	int stat;

	if (!hdr ||
	    (job && nla_put_u32(skb, INA_A_STATS_JOB, job->config.id)))
		return -EMSGSIZE;
	for (stat = 0; stat < INA_STAT_MAX; stat++)
		if (ina_nl_counter_fill(skb, stats, stat))
			return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return 0;
}

int ina_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct ina_job *job = NULL;
	struct sk_buff *msg;
	int err = 0;

	msg = genlmsg_new(NLMSG_DEFAULT_SIZE + INA_STAT_MAX * 64, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	mutex_lock(&inet->lock);
	if (info->attrs[INA_A_STATS_JOB]) {
		job = ina_nl_job(inet, info, INA_A_STATS_JOB);
		err = PTR_ERR_OR_ZERO(job);
	}
	if (!err)
		err = ina_nl_stats_fill(msg, info, job,
					job ? job->stats : inet->stats);
	mutex_unlock(&inet->lock);
	return ina_nl_reply(info, msg, err);
}

static const struct genl_multicast_group ina_nl_groups[] = {
	[INA_NLGRP_EVENTS] = { .name = INA_MCGRP_EVENTS, },
};

struct genl_family ina_nl_family __ro_after_init = {
	.name = INA_FAMILY_NAME,
	.version = INA_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = ina_nl_ops,
	.n_ops = ARRAY_SIZE(ina_nl_ops),
	.resv_start_op = INA_CMD_JOB_ADD,
	.mcgrps = ina_nl_groups,
	.n_mcgrps = ARRAY_SIZE(ina_nl_groups),
};

/**
 * ina_netlink_init() - register the family
 *
 * Return: 0 or a negative errno.
 */
int ina_netlink_init(void)
{
	return genl_register_family(&ina_nl_family);
}

/**
 * ina_netlink_exit() - unregister the family; waits for requests
 */
void ina_netlink_exit(void)
{
	genl_unregister_family(&ina_nl_family);
}
