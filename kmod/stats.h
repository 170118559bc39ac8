/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters: one line here is one enum entry, one name and one comment. Each
 * namespace has a set for what belongs to no job, each job a set of its own.
 */
#ifndef _INA_STATS_H
#define _INA_STATS_H

#include <linux/percpu.h>

#define INA_STATS(X)							\
	/* entries of the receive path */				\
	X(RX_HOOK,	"rx_hook")	/* skbs taken by the ingress hook */ \
	X(RX_UDP,	"rx_udp")	/* skbs through the UDP socket */ \
	X(RX_IP,	"rx_ip")	/* skbs through IP protocol 253 */ \
	/* accepted packets */						\
	X(RX_CONTROL,	"rx_control")	/* JOIN, WELCOME, EPOCH, ACK, FAIL */ \
	X(RX_DATA,	"rx_data")	/* contributions added */	\
	X(RX_RESULT,	"rx_result")	/* results stored */		\
	X(TX_CONTROL,	"tx_control")	/* control packets sent */	\
	X(TX_DATA,	"tx_data")	/* partial sums sent up */	\
	X(TX_RESULT,	"tx_result")	/* results sent down */		\
	X(TX_BLOCKED,	"tx_blocked")	/* waits for the send buffer */	\
	X(TX_NOMEM,	"tx_nomem")	/* waits for memory */		\
	X(TX_ROUTE,	"tx_route")	/* packets lost: no route */	\
	X(TX_DROP,	"tx_drop")	/* packets lost: refused below */ \
	/* refusals before the job is known */				\
	X(DROP_SHORT,	"drop_short")	/* no room for a header */	\
	X(DROP_VERSION,	"drop_version")	/* unknown version */		\
	X(DROP_TYPE,	"drop_type")	/* unknown type */		\
	X(DROP_FLAGS,	"drop_flags")	/* unknown flag */		\
	X(DROP_SIZE,	"drop_size")	/* size does not fit the type */ \
	X(DROP_CRC,	"drop_crc")	/* crc32c is wrong */		\
	X(DROP_NOCSUM,	"drop_nocsum")	/* no checksum at all */	\
	X(DROP_JOB,	"drop_job")	/* no such job or no tree */	\
	/* refusals by a job */						\
	X(DROP_LOCAL,	"drop_local")	/* not for the node's address */ \
	X(DROP_SOURCE,	"drop_source")	/* sender is not parent or child */ \
	X(DROP_EPOCH,	"drop_epoch")	/* another epoch, or closed */	\
	X(DROP_WINDOW,	"drop_window")	/* round outside the window */	\
	X(DROP_FRAGMENT, "drop_fragment") /* fragment or count impossible */ \
	X(DROP_LENGTH,	"drop_length")	/* other length than the round's */ \
	X(DROP_MEMBERS,	"drop_members")	/* result of other members */	\
	X(DROP_DUPLICATE, "drop_duplicate") /* contribution already added */ \
	X(DROP_STALE,	"drop_stale")	/* slot belongs to a later round */ \
	X(DROP_EARLY,	"drop_early")	/* result before the contribution */ \
	X(DROP_FAILED,	"drop_failed")	/* round has failed */		\
	X(DROP_INSTANCE, "drop_instance") /* control of another incarnation */ \
	/* rounds */							\
	X(ROUNDS_DONE,	"rounds_done")	/* complete at this node */	\
	X(ROUNDS_FAILED, "rounds_failed") /* failed at this node */	\
	X(ROUNDS_OVERFLOW, "rounds_overflow") /* complete, saturated */	\
	X(COUNT_WRONG,	"count_wrong")	/* sums that miscount workers */ \
	X(JOINS_REFUSED, "joins_refused") /* children refused */

#define INA_STAT_ENUM(id, name) INA_STAT_##id,
enum ina_stat {
	INA_STATS(INA_STAT_ENUM)
	INA_STAT_MAX,
};
#undef INA_STAT_ENUM

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

const char *ina_stats_name(enum ina_stat stat);
u64 ina_stats_sum(const struct ina_stats __percpu *stats, enum ina_stat stat);

#endif /* _INA_STATS_H */
