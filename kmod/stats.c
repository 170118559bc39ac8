// SPDX-License-Identifier: GPL-2.0
/*
 * Names and sums of the counters. Counting itself is one per-CPU increment,
 * in stats.h.
 * Any context.
 */
#include <linux/cpumask.h>

#include "stats.h"

static const char * const ina_stats_names[INA_STAT_MAX] = {
	[INA_STAT_RX_HOOK] = "rx_hook",
	[INA_STAT_RX_UDP] = "rx_udp",
	[INA_STAT_RX_IP] = "rx_ip",
	[INA_STAT_RX_CONTROL] = "rx_control",
	[INA_STAT_RX_DATA] = "rx_data",
	[INA_STAT_RX_RESULT] = "rx_result",
	[INA_STAT_TX_CONTROL] = "tx_control",
	[INA_STAT_TX_DATA] = "tx_data",
	[INA_STAT_TX_RESULT] = "tx_result",
	[INA_STAT_TX_BLOCKED] = "tx_blocked",
	[INA_STAT_TX_NOMEM] = "tx_nomem",
	[INA_STAT_TX_ROUTE] = "tx_route",
	[INA_STAT_TX_DROP] = "tx_drop",
	[INA_STAT_DROP_SHORT] = "drop_short",
	[INA_STAT_DROP_VERSION] = "drop_version",
	[INA_STAT_DROP_TYPE] = "drop_type",
	[INA_STAT_DROP_FLAGS] = "drop_flags",
	[INA_STAT_DROP_SIZE] = "drop_size",
	[INA_STAT_DROP_CRC] = "drop_crc",
	[INA_STAT_DROP_NOCSUM] = "drop_nocsum",
	[INA_STAT_DROP_JOB] = "drop_job",
	[INA_STAT_DROP_LOCAL] = "drop_local",
	[INA_STAT_DROP_SOURCE] = "drop_source",
	[INA_STAT_DROP_EPOCH] = "drop_epoch",
	[INA_STAT_DROP_WINDOW] = "drop_window",
	[INA_STAT_DROP_FRAGMENT] = "drop_fragment",
	[INA_STAT_DROP_LENGTH] = "drop_length",
	[INA_STAT_DROP_MEMBERS] = "drop_members",
	[INA_STAT_DROP_DUPLICATE] = "drop_duplicate",
	[INA_STAT_DROP_STALE] = "drop_stale",
	[INA_STAT_DROP_EARLY] = "drop_early",
	[INA_STAT_DROP_FAILED] = "drop_failed",
	[INA_STAT_DROP_INSTANCE] = "drop_instance",
	[INA_STAT_DROP_OVER] = "drop_over",
	[INA_STAT_ROUNDS_DONE] = "rounds_done",
	[INA_STAT_ROUNDS_FAILED] = "rounds_failed",
	[INA_STAT_ROUNDS_OVERFLOW] = "rounds_overflow",
	[INA_STAT_ROUNDS_INEXACT] = "rounds_inexact",
	[INA_STAT_COUNT_WRONG] = "count_wrong",
	[INA_STAT_JOINS_REFUSED] = "joins_refused",
	[INA_STAT_GRANTS] = "grants",
	[INA_STAT_GRANT_NS] = "grant_ns",
	[INA_STAT_RATE_CUTS] = "rate_cuts",
	[INA_STAT_RX_MARKED] = "rx_marked",
	[INA_STAT_RX_COPIED] = "rx_copied",
};

/**
 * ina_stats_name() - name of a counter, as users see it
 * @stat: which
 *
 * Return: the name.
 */
const char *ina_stats_name(enum ina_stat stat)
{
	return ina_stats_names[stat];
}

/**
 * ina_stats_sum() - value of a counter over all CPUs
 * @stats: per-CPU counters
 * @stat: which
 *
 * Context: any; a snapshot, other CPUs go on counting.
 * Return: the sum.
 */
u64 ina_stats_sum(const struct ina_stats __percpu *stats, enum ina_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->value[stat]);
	return sum;
}
