// SPDX-License-Identifier: GPL-2.0
/*
 * Which queueing disciplines of a device know departure times.
 * Under RTNL, or with bottom halves disabled.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/sch_generic.h>

#include "pacing.h"
#include "sch_ina.h"

/* See ina_pacing_of(). */
#define ina_pacing_qdisc(qdisc)						\
	rcu_dereference_bh_check(qdisc, lockdep_rtnl_is_held())

static enum ina_pacing ina_pacing_by(const struct Qdisc *qdisc)
{
	static const char * const ids[] = {
		[INA_PACING_FQ] = "fq",
		[INA_PACING_ETF] = "etf",
		[INA_PACING_INA] = INA_SCH_ID,
	};
	int i;

	for (i = INA_PACING_FQ; i < ARRAY_SIZE(ids); i++)
		if (!strcmp(qdisc->ops->id, ids[i]))
			return i;
	return INA_PACING_SENDER;
}

/*
 * By those of the queues: all have to be the same, except that one with etf is enough.
 * Others take what is not to leave at a certain time, and are told which by a filter.
 */
static enum ina_pacing ina_pacing_by_queues(const struct net_device *dev)
{
	enum ina_pacing all = INA_PACING_SENDER, one;
	const struct netdev_queue *queue;
	unsigned int i;

	for (i = 0; i < dev->real_num_tx_queues; i++) {
		queue = netdev_get_tx_queue(dev, i);
		one = ina_pacing_by(ina_pacing_qdisc(queue->qdisc_sleeping));
		if (one == INA_PACING_ETF)
			return one;
		if (i && one != all)
			one = INA_PACING_SENDER;
		all = one;
	}
	return all;
}

/**
 * ina_pacing_of() - who holds packets back
 * @dev: that leave here
 *
 * Context: RTNL held, or bottom halves disabled.
 * Return: INA_PACING_SENDER if it has no queueing discipline that does.
 */
enum ina_pacing ina_pacing_of(const struct net_device *dev)
{
	const struct Qdisc *root = ina_pacing_qdisc(dev->qdisc);

	if (root->flags & TCQ_F_MQROOT)
		return ina_pacing_by_queues(dev);
	return ina_pacing_by(root);
}
