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
#include "pacing.h"
#include "stats.h"
#include "tx.h"
#include "wire.h"

/**
 * ina_nl_u32() - a number of a request
 * @info: the request
 * @attr: the attribute
 * @fallback: value if it is absent
 *
 * Return: the number.
 */
u32 ina_nl_u32(struct genl_info *info, int attr, u32 fallback)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : fallback;
}

/**
 * ina_nl_job() - the job a request names
 * @inet: the namespace; its lock is held
 * @info: the request
 * @attr: the attribute with the number
 *
 * Return: the job without a reference, or ERR_PTR with an extack text.
 */
struct ina_job *ina_nl_job(struct ina_net *inet, struct genl_info *info,
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

/**
 * ina_nl_end() - a request ends; no refusal without a reason
 * @info: the request
 * @attr: the attribute at which a reason points; 0: the reason is complete
 * @err: how it ends
 *
 * Whatever has a cause of the module's own has its reason already.
 * Return: @err.
 */
int ina_nl_end(struct genl_info *info, int attr, int err)
{
	struct netlink_ext_ack *extack = info->extack;

	if (!err)
		return 0;
	if (!extack->_msg) {
		if (ina_nl_nomem(err))
			NL_SET_ERR_MSG(extack,
				       "Out of memory: free some or raise the limit of the memory cgroup, then try again");
		else
			NL_SET_ERR_MSG(extack,
				       "The kernel refuses it, and says no more than the error number");
	} else if (attr && info->attrs[attr]) {
		NL_SET_BAD_ATTR(extack, info->attrs[attr]);
	} else if (attr) {
		NL_SET_ERR_ATTR_MISS(extack, NULL, attr);
	}
	return err;
}

/**
 * ina_nl_reply() - send a reply, or free it if it could not be written
 * @info: the request
 * @skb: the reply; consumed
 * @err: of writing it
 *
 * Return: @err or that of sending.
 */
int ina_nl_reply(struct genl_info *info, struct sk_buff *skb, int err)
{
	if (err)
		nlmsg_free(skb);
	else
		err = genlmsg_reply(skb, info);
	return ina_nl_end(info, 0, err);
}

/* Units of 2^-30, and partial sums of 1 KiB, unless the user says otherwise. */
static struct ina_job_config ina_nl_job_config(struct genl_info *info)
{
	u32 dtype = ina_nl_u32(info, INA_A_JOB_DTYPE, INA_DTYPE_INT32);
	struct nlattr **attrs = info->attrs;

	return (struct ina_job_config){
		.id = ina_nl_u32(info, INA_A_JOB_ID, 0),
		.dtype = dtype,
		.exponent = attrs[INA_A_JOB_EXPONENT] ?
			    nla_get_s32(attrs[INA_A_JOB_EXPONENT]) :
			    dtype == INA_DTYPE_FIXED ? -30 : 0,
		.fragment = ina_nl_u32(info, INA_A_JOB_FRAGMENT,
				       1024 / ina_sum_wide(dtype)),
		.capacity = ina_nl_u32(info, INA_A_JOB_CAPACITY, 0),
		.depth = ina_nl_u32(info, INA_A_JOB_DEPTH, 2),
		.group = ina_nl_u32(info, INA_A_JOB_GROUP, 1024),
		.deadline_ms = ina_nl_u32(info, INA_A_JOB_DEADLINE, 10000),
		.encap = ina_nl_u32(info, INA_A_JOB_ENCAP, INA_ENCAP_UDP),
		.port = attrs[INA_A_JOB_PORT] ?
			nla_get_u16(attrs[INA_A_JOB_PORT]) : INA_UDP_PORT,
		.on_loss = ina_nl_u32(info, INA_A_JOB_ON_LOSS, INA_ON_LOSS_FAIL),
	};
}

int ina_nl_job_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	struct ina_job_config config = ina_nl_job_config(info);
	struct ina_job *job;
	int err, attr;

	err = ina_job_check(&config, &attr, info->extack);
	if (err)
		return ina_nl_end(info, attr, err);
	mutex_lock(&inet->lock);
	job = ina_job_create(inet, &config, &attr, info->extack);
	mutex_unlock(&inet->lock);
	if (IS_ERR(job))
		return ina_nl_end(info, attr, PTR_ERR(job));
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
	    nla_put_u32(skb, INA_A_JOB_GROUP, config->group) ||
	    nla_put_u32(skb, INA_A_JOB_DEADLINE, config->deadline_ms) ||
	    nla_put_u32(skb, INA_A_JOB_ENCAP, config->encap) ||
	    nla_put_u16(skb, INA_A_JOB_PORT, config->port) ||
	    nla_put_u64_64bit(skb, INA_A_JOB_HASH, job->hash, INA_A_JOB_PAD) ||
	    nla_put_u64_64bit(skb, INA_A_JOB_MEMORY,
			      atomic64_read(&job->memory), INA_A_JOB_PAD) ||
	    nla_put_u32(skb, INA_A_JOB_ATTACHED,
			node ? READ_ONCE(node->attached) : 0) ||
	    nla_put_u32(skb, INA_A_JOB_ON_LOSS, config->on_loss) ||
	    (config->dtype == INA_DTYPE_FIXED &&
	     nla_put_s32(skb, INA_A_JOB_EXPONENT, config->exponent))) {
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
		return ina_nl_end(info, 0, -ENOMEM);
	mutex_lock(&inet->lock);
	job = ina_nl_job(inet, info, INA_A_JOB_ID);
	err = PTR_ERR_OR_ZERO(job);
	if (!err)
		err = ina_nl_job_fill(msg, info->snd_portid, info->snd_seq, 0,
				      inet, job);
	mutex_unlock(&inet->lock);
	return ina_nl_reply(info, msg, err);
}

/**
 * ina_nl_dump() - dump all jobs from cb->args[0] on
 * @skb: where to
 * @cb: the dump
 * @fill: writes one job
 *
 * Return: bytes written or a negative errno.
 */
int ina_nl_dump(struct sk_buff *skb, struct netlink_callback *cb,
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

/* The ifindex of a request. */
static int ina_nl_ifindex(struct genl_info *info, u32 *ifindex)
{
	if (!info->attrs[INA_A_DEV_IFINDEX]) {
		NL_SET_ERR_MSG(info->extack, "No device is named: give one");
		return ina_nl_end(info, INA_A_DEV_IFINDEX, -EINVAL);
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
	return ina_nl_end(info, INA_A_DEV_IFINDEX, err);
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
	return ina_nl_end(info, INA_A_DEV_IFINDEX, err);
}

/* Rates of a device, those that are known. */
static int ina_nl_dev_rates_fill(struct sk_buff *skb,
				 const struct ina_dev *entry)
{
	u64 rate = ina_rate_min(entry->rate, entry->speed);

	return (rate && nla_put_u64_64bit(skb, INA_A_DEV_RATE, rate,
					  INA_A_DEV_PAD)) ||
	       (entry->speed && nla_put_u64_64bit(skb, INA_A_DEV_SPEED,
						  entry->speed,
						  INA_A_DEV_PAD)) ||
	       (!entry->rate && nla_put_flag(skb, INA_A_DEV_AUTO));
}

static int ina_nl_dev_fill(struct sk_buff *skb, u32 portid, u32 seq, int flags,
			   const struct ina_dev *entry)
{
	void *hdr = genlmsg_put(skb, portid, seq, &ina_nl_family, flags,
				INA_CMD_DEV_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, INA_A_DEV_IFINDEX, entry->dev->ifindex) ||
	    nla_put_string(skb, INA_A_DEV_NAME, entry->dev->name) ||
	    nla_put_u32(skb, INA_A_DEV_PACING, ina_pacing_of(entry->dev)) ||
	    ina_nl_dev_rates_fill(skb, entry)) {
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
		return ina_nl_end(info, 0, -ENOMEM);
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

/* The rate of a request, 0: that of the link. */
static int ina_nl_dev_rate(struct genl_info *info, u64 *rate)
{
	const struct nlattr *attr = info->attrs[INA_A_DEV_RATE];

	if (!attr == !info->attrs[INA_A_DEV_AUTO]) {
		NL_SET_ERR_MSG(info->extack,
			       "Either a rate or 'auto' is needed: give one of them");
		return ina_nl_end(info, INA_A_DEV_RATE, -EINVAL);
	}
	if (!attr)
		return 0;
	*rate = nla_get_u64(attr);
	if (*rate >= INA_RATE_MIN)
		return 0;
	NL_SET_ERR_MSG(info->extack,
		       "A rate below 65536 bytes per second is too low: give more, or 'auto'");
	return ina_nl_end(info, INA_A_DEV_RATE, -EINVAL);
}

int ina_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ina_net *inet = ina_net(genl_info_net(info));
	u64 rate = 0;
	u32 ifindex;
	int err;

	err = ina_nl_ifindex(info, &ifindex);
	if (!err)
		err = ina_nl_dev_rate(info, &rate);
	if (err)
		return err;
	rtnl_lock();
	err = ina_ingress_set(inet, ifindex, rate, info->extack);
	rtnl_unlock();
	return ina_nl_end(info, err == -ERANGE ? INA_A_DEV_RATE :
						 INA_A_DEV_IFINDEX, err);
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
		return ina_nl_end(info, 0, -ENOMEM);
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

/* As generated, with what the generator cannot say. */
static struct genl_ops ina_nl_family_ops[ARRAY_SIZE(ina_nl_ops)] __ro_after_init;

struct genl_family ina_nl_family __ro_after_init = {
	.name = INA_FAMILY_NAME,
	.version = INA_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = ina_nl_family_ops,
	.n_ops = ARRAY_SIZE(ina_nl_family_ops),
	.resv_start_op = INA_CMD_JOB_ADD,
	.mcgrps = ina_nl_groups,
	.n_mcgrps = ARRAY_SIZE(ina_nl_groups),
};

/**
 * ina_netlink_init() - register the family
 *
 * Return: 0 or a negative errno.
 */
int __init ina_netlink_init(void)
{
	int i;

	memcpy(ina_nl_family_ops, ina_nl_ops, sizeof(ina_nl_ops));
	for (i = 0; i < ARRAY_SIZE(ina_nl_ops); i++)
		if (ina_nl_ops[i].cmd == INA_CMD_TREE_GET)
			ina_nl_family_ops[i].start = ina_nl_tree_get_start;
	return genl_register_family(&ina_nl_family);
}

/**
 * ina_netlink_exit() - unregister the family; waits for requests
 */
void ina_netlink_exit(void)
{
	genl_unregister_family(&ina_nl_family);
}
