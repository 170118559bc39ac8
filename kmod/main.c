// SPDX-License-Identifier: GPL-2.0
/*
 * Ordered init and unwind: of the module, and of each network namespace.
 * Process context.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "chardev.h"
#include "encap.h"
#include "ingress.h"
#include "job.h"
#include "main.h"
#include "net.h"
#include "netlink.h"
#include "rx.h"
#include "sch_ina.h"
#include "stats.h"
#include "sum.h"

struct workqueue_struct *ina_workqueue;
unsigned int ina_net_id;

static int __net_init ina_main_net_init(struct net *net)
{
	struct ina_net *inet = ina_net(net);

	inet->net = net;
	mutex_init(&inet->lock);
	xa_init(&inet->jobs);
	INIT_LIST_HEAD(&inet->ports);
	INIT_LIST_HEAD(&inet->devs);
	inet->stats = alloc_percpu(struct ina_stats);
	return inet->stats ? 0 : -ENOMEM;
}

static void __net_exit ina_main_net_exit(struct net *net)
{
	free_percpu(ina_net(net)->stats);
}

/* Exits when the devices are gone and no packet comes any more. */
static struct pernet_operations ina_main_net_ops = {
	.init = ina_main_net_init,
	.exit = ina_main_net_exit,
	.id = &ina_net_id,
	.size = sizeof(struct ina_net),
};

static void __net_exit ina_main_jobs_exit(struct net *net)
{
	struct ina_net *inet = ina_net(net);
	struct ina_job *job;
	unsigned long id;

	mutex_lock(&inet->lock);
	xa_for_each(&inet->jobs, id, job)
		ina_job_destroy(job);
	mutex_unlock(&inet->lock);
	rtnl_lock();
	ina_ingress_flush(inet);
	rtnl_unlock();
	xa_destroy(&inet->jobs);
	/* Receivers that found a socket before it was released. */
	synchronize_net();
}

/* Exits while there are still devices, so that peers can be told. */
static struct pernet_operations ina_main_jobs_ops = {
	.exit = ina_main_jobs_exit,
};

static int __init ina_main_init(void)
{
	int err = ina_sum_init();

	if (err)
		return err;
	ina_workqueue = alloc_workqueue("ina", WQ_UNBOUND, 0);
	if (!ina_workqueue)
		return -ENOMEM;
	err = ina_rx_init();
	if (err)
		goto workqueue;
	err = register_pernet_subsys(&ina_main_net_ops);
	if (err)
		goto rx;
	err = register_pernet_device(&ina_main_jobs_ops);
	if (err)
		goto net;
	err = ina_ingress_init();
	if (err)
		goto jobs;
	err = ina_encap_init();
	if (err)
		goto ingress;
	err = ina_netlink_init();
	if (err)
		goto encap;
	err = ina_chardev_init();
	if (err)
		goto netlink;
	err = ina_sch_init();
	if (err)
		goto chardev;
	return 0;

chardev:
	ina_chardev_exit();
netlink:
	ina_netlink_exit();
encap:
	ina_encap_exit();
ingress:
	ina_ingress_exit();
jobs:
	unregister_pernet_device(&ina_main_jobs_ops);
net:
	unregister_pernet_subsys(&ina_main_net_ops);
rx:
	ina_rx_exit();
workqueue:
	destroy_workqueue(ina_workqueue);
	rcu_barrier();
	return err;
}

static void __exit ina_main_exit(void)
{
	ina_sch_exit();
	ina_chardev_exit();
	ina_netlink_exit();
	ina_encap_exit();
	ina_ingress_exit();
	unregister_pernet_device(&ina_main_jobs_ops);
	unregister_pernet_subsys(&ina_main_net_ops);
	ina_rx_exit();
	destroy_workqueue(ina_workqueue);
	/* Jobs are freed by a callback of ours. */
	rcu_barrier();
}

module_init(ina_main_init);
module_exit(ina_main_exit);

MODULE_DESCRIPTION("In-network gradient aggregation");
MODULE_AUTHOR("The ina authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_GENL_FAMILY("ina");
