// SPDX-License-Identifier: GPL-2.0
/*
 * The queueing discipline "ina" lets each packet leave at its departure time
 * (CLOCK_MONOTONIC). The times of a path rise, so each path is a plain queue, and the
 * paths are sorted by the time of their first packet. What has no departure time goes
 * first. Context: softirq or process, under the lock of the queueing discipline; setting
 * it up, under RTNL.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/netlink.h>

#include "sch_ina.h"

#define INA_SCH_LIMIT		10000
#define INA_SCH_HORIZON		1000	/* ms */
#define INA_SCH_HORIZON_MAX	60000
#define INA_SCH_LATE		NSEC_PER_MSEC

/* Of the first packet of a path that has one. */
static ktime_t ina_sch_depart(const struct rb_node *node)
{
	return rb_entry(node, struct ina_sch_path, node)->queue.head->tstamp;
}

static bool ina_sch_is_before(struct rb_node *node, const struct rb_node *other)
{
	return ktime_before(ina_sch_depart(node), ina_sch_depart(other));
}

/**
 * ina_sch_push() - a packet waits
 * @q: where
 * @skb: it
 * @now: CLOCK_MONOTONIC
 */
void ina_sch_push(struct ina_sch *q, struct sk_buff *skb, ktime_t now)
{
	ktime_t end = ktime_add_ms(now, q->stats.horizon);
	struct ina_sch_path *path;

	if (!skb->tstamp) {
		__qdisc_enqueue_tail(skb, &q->unpaced);
		return;
	}
	if (ktime_after(skb->tstamp, end)) {
		skb->tstamp = end;
		q->stats.capped++;
	}
	path = &q->paths[skb_get_hash(skb) % INA_SCH_PATHS];
	__qdisc_enqueue_tail(skb, &path->queue);
	if (path->queue.qlen > 1)
		return;
	rb_add_cached(&path->node, &q->waiting, ina_sch_is_before);
	q->stats.paths++;
}

/* The next packet of the path that comes first. */
static struct sk_buff *ina_sch_pop_path(struct ina_sch *q, struct rb_node *node)
{
	struct ina_sch_path *path = rb_entry(node, struct ina_sch_path, node);
	struct sk_buff *skb;

	rb_erase_cached(node, &q->waiting);
	skb = __qdisc_dequeue_head(&path->queue);
	if (path->queue.qlen)
		rb_add_cached(node, &q->waiting, ina_sch_is_before);
	else
		q->stats.paths--;
	return skb;
}

/**
 * ina_sch_pop() - the next packet that may leave
 * @q: where it waits
 * @now: CLOCK_MONOTONIC
 *
 * Return: it, or NULL if there is none.
 */
struct sk_buff *ina_sch_pop(struct ina_sch *q, ktime_t now)
{
	struct rb_node *node;

	if (q->unpaced.qlen)
		return __qdisc_dequeue_head(&q->unpaced);
	node = rb_first_cached(&q->waiting);
	if (!node || ktime_after(ina_sch_depart(node), now))
		return NULL;
	return ina_sch_pop_path(q, node);
}

/**
 * ina_sch_next() - when the next packet may leave that has a departure time
 * @q: where it waits
 *
 * Return: the time, or KTIME_MAX if there is none.
 */
ktime_t ina_sch_next(const struct ina_sch *q)
{
	struct rb_node *node = rb_first_cached(&q->waiting);

	return node ? ina_sch_depart(node) : KTIME_MAX;
}

static int ina_sch_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			   struct sk_buff **to_free)
{
	if (unlikely(sch->q.qlen >= sch->limit))
		return qdisc_drop(skb, sch, to_free);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	ina_sch_push(qdisc_priv(sch), skb, ktime_get());
	return NET_XMIT_SUCCESS;
}

/* A packet leaves: how late? */
static void ina_sch_count(struct ina_qdisc_stats *stats,
			  const struct sk_buff *skb, ktime_t now)
{
	u64 late = ktime_sub(now, skb->tstamp);

	if (!skb->tstamp) {
		stats->unpaced++;
		return;
	}
	stats->paced++;
	stats->late += late > INA_SCH_LATE;
	stats->late_max = max(stats->late_max, late);
}

static struct sk_buff *ina_sch_dequeue(struct Qdisc *sch)
{
	struct ina_sch *q = qdisc_priv(sch);
	ktime_t now = ktime_get();
	struct sk_buff *skb;

	skb = ina_sch_pop(q, now);
	if (!skb) {
		if (sch->q.qlen)
			qdisc_watchdog_schedule_ns(&q->watchdog,
						   ina_sch_next(q));
		return NULL;
	}
	ina_sch_count(&q->stats, skb, now);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void ina_sch_reset(struct Qdisc *sch)
{
	struct ina_sch *q = qdisc_priv(sch);
	struct sk_buff *skb;

	qdisc_watchdog_cancel(&q->watchdog);
	while ((skb = ina_sch_pop(q, KTIME_MAX)))
		rtnl_kfree_skbs(skb, skb);
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

/* A lower limit: those go that would leave first. */
static void ina_sch_shrink(struct Qdisc *sch)
{
	unsigned int packets = 0, bytes = 0;
	struct sk_buff *skb;

	while (sch->q.qlen > sch->limit) {
		skb = ina_sch_pop(qdisc_priv(sch), KTIME_MAX);
		if (!skb)
			break;
		packets++;
		bytes += qdisc_pkt_len(skb);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
		rtnl_qdisc_drop(skb, sch);
	}
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}

static const struct nla_policy ina_sch_policy[INA_QDISC_MAX + 1] = {
	[INA_QDISC_LIMIT] = { .type = NLA_U32 },
	[INA_QDISC_HORIZON] = { .type = NLA_U32 },
};

/* Options of a request; those that are absent stay. */
static int ina_sch_parse(struct nlattr *opt, u32 *limit, u32 *horizon,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[INA_QDISC_MAX + 1];
	int err;

	err = nla_parse_nested(tb, INA_QDISC_MAX, opt, ina_sch_policy, extack);
	if (err)
		return err;
	if (tb[INA_QDISC_LIMIT])
		*limit = nla_get_u32(tb[INA_QDISC_LIMIT]);
	if (tb[INA_QDISC_HORIZON])
		*horizon = nla_get_u32(tb[INA_QDISC_HORIZON]);
	if (!*limit) {
		NL_SET_ERR_MSG_ATTR(extack, tb[INA_QDISC_LIMIT],
				    "With a limit of 0 nothing would leave: give at least 1 packet");
		return -EINVAL;
	}
	if (!*horizon || *horizon > INA_SCH_HORIZON_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[INA_QDISC_HORIZON],
				    "The horizon is out of range: give 1 to 60000 milliseconds");
		return -EINVAL;
	}
	return 0;
}

static int ina_sch_change(struct Qdisc *sch, struct nlattr *opt,
			  struct netlink_ext_ack *extack)
{
	struct ina_sch *q = qdisc_priv(sch);
	u32 limit = sch->limit, horizon = q->stats.horizon;
	int err;

	if (!opt)
		return 0;
	err = ina_sch_parse(opt, &limit, &horizon, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	sch->limit = limit;
	q->stats.horizon = horizon;
	ina_sch_shrink(sch);
	sch_tree_unlock(sch);
	return 0;
}

/* Called by the core as well if ->init fails. */
static void ina_sch_destroy(struct Qdisc *sch)
{
	struct ina_sch *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	kvfree(q->paths);
}

static int ina_sch_create(struct Qdisc *sch, struct nlattr *opt,
			  struct netlink_ext_ack *extack)
{
	struct ina_sch *q = qdisc_priv(sch);

	qdisc_watchdog_init(&q->watchdog, sch);
	q->waiting = RB_ROOT_CACHED;
	q->stats.horizon = INA_SCH_HORIZON;
	sch->limit = INA_SCH_LIMIT;
	q->paths = kvcalloc(INA_SCH_PATHS, sizeof(*q->paths),
			    GFP_KERNEL_ACCOUNT);
	if (!q->paths) {
		NL_SET_ERR_MSG(extack,
			       "Out of memory: free some or raise the limit of the memory cgroup, then try again");
		return -ENOMEM;
	}
	return ina_sch_change(sch, opt, extack);
}

static int ina_sch_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ina_sch *q = qdisc_priv(sch);
	struct ina_qdisc_stats stats;

	sch_tree_lock(sch);
	stats = q->stats;
	stats.limit = sch->limit;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &stats, sizeof(stats));
}

struct Qdisc_ops ina_sch_ops __read_mostly = {
	.id = INA_SCH_ID,
	.priv_size = sizeof(struct ina_sch),
	.enqueue = ina_sch_enqueue,
	.dequeue = ina_sch_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = ina_sch_create,
	.reset = ina_sch_reset,
	.destroy = ina_sch_destroy,
	.change = ina_sch_change,
	.dump_stats = ina_sch_dump_stats,
	.owner = THIS_MODULE,
};

/**
 * ina_sch_init() - make it known
 *
 * Return: 0 or a negative errno.
 */
int __init ina_sch_init(void)
{
	return register_qdisc(&ina_sch_ops);
}

/**
 * ina_sch_exit() - nobody has it any more: each holds the module
 */
void ina_sch_exit(void)
{
	unregister_qdisc(&ina_sch_ops);
}

/* As the core asks for it, before and since 6.8. */
MODULE_ALIAS("sch_" INA_SCH_ID);
MODULE_ALIAS("net-sch-" INA_SCH_ID);
