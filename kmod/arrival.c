// SPDX-License-Identifier: GPL-2.0
/*
 * Stragglers: the arrival of each child's contributions, compared when a round
 * ends. Nothing acts on it; it is shown.
 * Noted in softirq without a lock, compared under the node's lock.
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

	WRITE_ONCE(arrival->last, now);
	if (READ_ONCE(arrival->round) != round || !READ_ONCE(arrival->first)) {
		WRITE_ONCE(arrival->first, now);
		WRITE_ONCE(arrival->round, round);
	}
}

/*
 * When the contributions of a child came; if none did, @absent. Return: false if
 * the child has no part in the round.
 */
static bool ina_arrival_get(const struct ina_child *child, u32 at, u64 round,
			    u64 absent, u64 *first, u64 *last)
{
	const struct ina_arrival *arrival = &child->arrivals.window[at];
	bool came = READ_ONCE(arrival->round) == round &&
		    READ_ONCE(arrival->first);

	*first = came ? READ_ONCE(arrival->first) : absent;
	*last = came ? READ_ONCE(arrival->last) : absent;
	return came || (absent && child->workers);
}

/**
 * ina_arrival_settle() - a round has ended: who was late
 * @node: the node; its lock is held
 * @round: which
 * @absent: if it has failed, now: when nothing of some members had come yet;
 *	0 if it is complete
 *
 * Of a round to which nobody contributed there is nothing to say.
 */
void ina_arrival_settle(struct ina_node *node, u64 round, u64 absent)
{
	u32 at = round % node->job->config.depth;
	u64 start = U64_MAX, earliest = U64_MAX, first, last, ever;
	struct ina_arrivals *arrivals;
	u16 i;

	lockdep_assert_held(&node->lock);
	for (i = 0; i < node->nchildren; i++) {
		if (!ina_arrival_get(&node->children[i], at, round, absent,
				     &first, &last))
			continue;
		start = min(start, first);
		earliest = min(earliest, last);
	}
	if (start == U64_MAX || start == absent)
		return;
	for (i = 0; i < node->nchildren; i++) {
		if (!ina_arrival_get(&node->children[i], at, round, absent,
				     &first, &last))
			continue;
		/* One may have come meanwhile. */
		first = max(first, start);
		last = max(last, earliest);
		arrivals = &node->children[i].arrivals;
		ever = ina_path_lost(&node->children[i].peer);
		arrivals->round = round + 1;
		arrivals->first = first - start;
		arrivals->last = last - start;
		arrivals->late += last - earliest;
		arrivals->rounds++;
		arrivals->lost_round = ever - arrivals->lost;
		arrivals->lost = ever;
		trace_ina_child_round(node, i, round, last - earliest);
	}
}
