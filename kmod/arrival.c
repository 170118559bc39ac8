// SPDX-License-Identifier: GPL-2.0
/*
 * Stragglers: the arrival of each child's contributions, compared when a round
 * is complete. Nothing acts on it; it is shown.
 */
#include "arrival.h"
#include "node.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * ina_arrival_note() - a contribution of a child has come
 * @arrivals: the child's
 * @at: place of the round in the window
 * @round: to which round
 * @now: when
 *
 * Context: softirq, no lock held.
 */
void ina_arrival_note(struct ina_arrivals *arrivals, u32 at, u64 round, u64 now)
{
	struct ina_arrival *arrival = &arrivals->window[at];

	if (READ_ONCE(arrival->round) != round || !READ_ONCE(arrival->first)) {
		WRITE_ONCE(arrival->first, now);
		WRITE_ONCE(arrival->round, round);
	}
	WRITE_ONCE(arrival->last, now);
}

/**
 * ina_arrival_settle() - a round is complete: who was late
 * @node: the node; its lock is held
 * @round: which
 */
void ina_arrival_settle(struct ina_node *node, u64 round)
{
	u32 at = round % node->job->config.depth;
	u64 first = U64_MAX, earliest = U64_MAX, late;
	struct ina_arrivals *arrivals;
	u16 i;

	lockdep_assert_held(&node->lock);
	for (i = 0; i < node->nchildren; i++) {
		arrivals = &node->children[i].arrivals;
		if (READ_ONCE(arrivals->window[at].round) != round ||
		    !arrivals->window[at].first)
			continue;
		first = min(first, READ_ONCE(arrivals->window[at].first));
		earliest = min(earliest, READ_ONCE(arrivals->window[at].last));
	}
	for (i = 0; i < node->nchildren; i++) {
		arrivals = &node->children[i].arrivals;
		if (READ_ONCE(arrivals->window[at].round) != round ||
		    !arrivals->window[at].first)
			continue;
		late = READ_ONCE(arrivals->window[at].last) - earliest;
		arrivals->round = round + 1;
		arrivals->first = READ_ONCE(arrivals->window[at].first) - first;
		arrivals->last = READ_ONCE(arrivals->window[at].last) - first;
		arrivals->late += late;
		arrivals->rounds++;
		trace_ina_child_round(node, i, round, late);
	}
}
