/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters: one line here is one enum entry, one name and one comment. Each
 * namespace has a set for what belongs to no job, each job a set of its own.
 */
#ifndef _INA_STATS_H
#define _INA_STATS_H

#include <linux/percpu.h>

/* The name of a counter, in stats.c, is its own in small letters. */
enum ina_stat {
	/* entries of the receive path */
	INA_STAT_RX_HOOK,	/* skbs taken by the ingress hook */
	INA_STAT_RX_UDP,	/* skbs through the UDP socket */
	INA_STAT_RX_IP,		/* skbs through IP protocol 253 */
	/* accepted and sent packets */
	INA_STAT_RX_CONTROL,	/* control packets accepted */
	INA_STAT_RX_DATA,	/* contributions added */
	INA_STAT_RX_RESULT,	/* results stored */
	INA_STAT_TX_CONTROL,	/* control packets sent */
	INA_STAT_TX_DATA,	/* partial sums sent up */
	INA_STAT_TX_RESULT,	/* results sent down */
	INA_STAT_TX_BLOCKED,	/* waits for the send buffer */
	INA_STAT_TX_NOMEM,	/* waits for memory */
	INA_STAT_TX_ROUTE,	/* packets lost: no route */
	INA_STAT_TX_DROP,	/* packets lost: refused below */
	/* refusals before the job is known */
	INA_STAT_DROP_SHORT,	/* no room for a header */
	INA_STAT_DROP_VERSION,	/* unknown version */
	INA_STAT_DROP_TYPE,	/* unknown type */
	INA_STAT_DROP_FLAGS,	/* unknown flag or path, unused field not 0 */
	INA_STAT_DROP_SIZE,	/* size does not fit the type */
	INA_STAT_DROP_CRC,	/* crc32c is wrong */
	INA_STAT_DROP_NOCSUM,	/* no checksum at all */
	INA_STAT_DROP_JOB,	/* no such job or no tree */
	/* refusals by a job */
	INA_STAT_DROP_LOCAL,	/* not for the node's address */
	INA_STAT_DROP_SOURCE,	/* sender is not parent or child */
	INA_STAT_DROP_EPOCH,	/* another epoch, or closed */
	INA_STAT_DROP_WINDOW,	/* round outside the window */
	INA_STAT_DROP_FRAGMENT,	/* fragment or count impossible */
	INA_STAT_DROP_LENGTH,	/* other length than the round's */
	INA_STAT_DROP_MEMBERS,	/* result of other members */
	INA_STAT_DROP_DUPLICATE,	/* contribution already added */
	INA_STAT_DROP_STALE,	/* slot or state is of a later packet */
	INA_STAT_DROP_EARLY,	/* result before the contribution */
	INA_STAT_DROP_FAILED,	/* round has failed */
	INA_STAT_DROP_INSTANCE,	/* control of another incarnation */
	INA_STAT_DROP_OVER,	/* control about what is over */
	/* rounds and members */
	INA_STAT_ROUNDS_DONE,	/* complete at this node */
	INA_STAT_ROUNDS_FAILED,	/* failed at this node */
	INA_STAT_ROUNDS_OVERFLOW,	/* complete, saturated */
	INA_STAT_ROUNDS_INEXACT,	/* complete, with bits lost below the unit */
	INA_STAT_COUNT_WRONG,	/* sums that miscount workers */
	INA_STAT_JOINS_REFUSED,	/* children refused */
	/* rates */
	INA_STAT_GRANTS,	/* READYs that were answered */
	INA_STAT_GRANT_NS,	/* nanoseconds that took, in all */
	INA_STAT_RATE_CUTS,	/* rates lowered because of loss or marks */
	INA_STAT_RX_MARKED,	/* packets of elements with a mark of congestion */
	/* what should not be */
	INA_STAT_RX_COPIED,	/* packets in several pieces, copied before they were looked at */
	INA_STAT_MAX,
};

/**
 * struct ina_stats - counters of one CPU
 * @value: indexed by enum ina_stat
 */
struct ina_stats {
	u64 value[INA_STAT_MAX];
};

/**
 * ina_stats_inc() - count one
 * @stats: per-CPU counters
 * @stat: which
 *
 * Context: any.
 */
static inline void ina_stats_inc(struct ina_stats __percpu *stats,
				 enum ina_stat stat)
{
	this_cpu_inc(stats->value[stat]);
}

/**
 * ina_stats_add() - count some
 * @stats: per-CPU counters
 * @stat: which
 * @count: how many
 *
 * Context: any.
 */
static inline void ina_stats_add(struct ina_stats __percpu *stats,
				 enum ina_stat stat, unsigned int count)
{
	this_cpu_add(stats->value[stat], count);
}

const char *ina_stats_name(enum ina_stat stat);
u64 ina_stats_sum(const struct ina_stats __percpu *stats, enum ina_stat stat);

#endif /* _INA_STATS_H */
