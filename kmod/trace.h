/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: /sys/kernel/tracing/events/ina/.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ina

#if !defined(_INA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _INA_TRACE_H

#include <linux/tracepoint.h>

#include "node.h"

/*
 * A round has ended at a node: when the contributions of a child came, and how
 * many of its packets were found missing since the round before ended.
 */
TRACE_EVENT(ina_child_round,
	TP_PROTO(const struct ina_node *node, u16 index, u64 round, u64 late),
	TP_ARGS(node, index, round, late),
	TP_STRUCT__entry(
		__field(u32, job)
		__field(u16, index)
		__array(u8, addr, 16)
		__field(u64, round)
		__field(u64, first)
		__field(u64, last)
		__field(u64, late)
		__field(u64, lost)
	),
	TP_fast_assign(
		__entry->job = node->job->config.id;
		__entry->index = index;
		memcpy(__entry->addr, &node->children[index].peer.addr, 16);
		__entry->round = round;
		__entry->first = node->children[index].arrivals.first;
		__entry->last = node->children[index].arrivals.last;
		__entry->late = late;
		__entry->lost = node->children[index].arrivals.lost_round;
	),
	TP_printk("job=%u index=%u child=%pI6c round=%llu first_ns=%llu last_ns=%llu late_ns=%llu lost=%llu",
		  __entry->job, __entry->index, __entry->addr, __entry->round,
		  __entry->first, __entry->last, __entry->late, __entry->lost)
);

/* A round has ended at a node. */
TRACE_EVENT(ina_round_end,
	TP_PROTO(const struct ina_node *node, u64 round, u32 reason),
	TP_ARGS(node, round, reason),
	TP_STRUCT__entry(
		__field(u32, job)
		__field(u32, epoch)
		__field(u64, round)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->job = node->job->config.id;
		__entry->epoch = node->epoch;
		__entry->round = round;
		__entry->reason = reason;
	),
	TP_printk("job=%u epoch=%u round=%llu reason=%u", __entry->job,
		  __entry->epoch, __entry->round, __entry->reason)
);

/* The parent has answered a READY. */
TRACE_EVENT(ina_grant,
	TP_PROTO(const struct ina_node *node, u32 number, u64 rate, u64 ns),
	TP_ARGS(node, number, rate, ns),
	TP_STRUCT__entry(
		__field(u32, job)
		__field(u32, number)
		__field(u64, rate)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->job = node->job->config.id;
		__entry->number = number;
		__entry->rate = rate;
		__entry->ns = ns;
	),
	TP_printk("job=%u number=%u rate=%llu ns=%llu", __entry->job,
		  __entry->number, __entry->rate, __entry->ns)
);

#endif /* _INA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
