/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of one network namespace.
 */
#ifndef _INA_NET_H
#define _INA_NET_H

#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

struct ina_stats;

/**
 * struct ina_net - state of one network namespace
 * @net: the namespace; this lives inside it
 * @lock: serialises changes of jobs, nodes, ports and attachments
 * @jobs: struct ina_job by id; read under RCU, changed under @lock
 * @ports: struct ina_port; read under RCU, changed under @lock
 * @devs: struct ina_dev; read under RCU, changed under RTNL
 * @stats: per-CPU counters of what belongs to no job
 */
struct ina_net {
	struct net *net;
	struct mutex lock;	/* jobs, nodes, ports, attachments */
	struct xarray jobs;
	struct list_head ports;
	struct list_head devs;
	struct ina_stats __percpu *stats;
};

extern unsigned int ina_net_id;

/**
 * ina_net() - our state of a namespace
 * @net: the namespace
 *
 * Return: the state.
 */
static inline struct ina_net *ina_net(const struct net *net)
{
	return net_generic(net, ina_net_id);
}

/**
 * ina_net_errno() - one errno for all that the network stack says without memory
 * @err: what a function of its sockets or routes returned
 *
 * Return: -ENOMEM, or @err if it means something else.
 */
static inline int ina_net_errno(int err)
{
	return err == -ENFILE || err == -ENOBUFS ? -ENOMEM : err;
}

#endif /* _INA_NET_H */
