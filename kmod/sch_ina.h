/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queueing discipline "ina": packets wait per path until their time has come.
 */
#ifndef _INA_SCH_INA_H
#define _INA_SCH_INA_H

#include <linux/rbtree.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <uapi/linux/ina_qdisc.h>

#define INA_SCH_ID	"ina"
#define INA_SCH_PATHS	256	/* a power of two; paths that share one wait for each other */

/**
 * struct ina_sch_path - packets of a path, in the order they came
 * @queue: they
 * @node: in struct ina_sch's @waiting if there are any
 */
struct ina_sch_path {
	struct qdisc_skb_head queue;
	struct rb_node node;
};

/**
 * struct ina_sch - the packets of a queueing discipline; under its lock
 * @unpaced: those that may leave at once
 * @waiting: paths with packets, by departure time of the first
 * @paths: by hash of the packet
 * @watchdog: wakes the device when the next packet may leave
 * @stats: options and counters
 */
struct ina_sch {
	struct qdisc_skb_head unpaced;
	struct rb_root_cached waiting;
	struct ina_sch_path *paths;
	struct qdisc_watchdog watchdog;
	struct ina_qdisc_stats stats;
};

extern struct Qdisc_ops ina_sch_ops;

void ina_sch_push(struct ina_sch *q, struct sk_buff *skb, ktime_t now);
struct sk_buff *ina_sch_pop(struct ina_sch *q, ktime_t now);
ktime_t ina_sch_next(const struct ina_sch *q);
int ina_sch_init(void);
void ina_sch_exit(void);

#endif /* _INA_SCH_INA_H */
