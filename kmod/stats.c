// SPDX-License-Identifier: GPL-2.0
/*
 * Names and sums of the counters. Counting itself is one per-CPU increment,
 * in stats.h.
 */
#include <linux/cpumask.h>

#include "stats.h"

#define INA_STAT_NAME(id, name) [INA_STAT_##id] = name,
static const char * const ina_stats_names[INA_STAT_MAX] = {
	INA_STATS(INA_STAT_NAME)
};

/**
 * ina_stats_name() - name of a counter, as users see it
 * @stat: which
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
 */
u64 ina_stats_sum(const struct ina_stats __percpu *stats, enum ina_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->value[stat]);
	return sum;
}
