/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the contributions of a child arrive, round by round: who is late.
 */
#ifndef _INA_ARRIVAL_H
#define _INA_ARRIVAL_H

#include <linux/types.h>
#include <uapi/linux/ina_dev.h>

struct ina_node;

/**
 * struct ina_arrival - the contributions of one child to one round
 * @round: which
 * @first: CLOCK_MONOTONIC of the first, in nanoseconds
 * @last: of the last so far
 *
 * Written without a lock: two CPUs may disagree by a packet.
 */
struct ina_arrival {
	u64 round;
	u64 first;
	u64 last;
};

/**
 * struct ina_arrivals - a child's punctuality; all but @window under the
 *	node's lock
 * @window: round r is at r % depth
 * @round: the last round that ended, plus 1; 0 before
 * @first: its first contribution came that long after the first of any child
 * @last: its last contribution came that long after the first of any child
 * @late: sum over all rounds of how much later than the earliest child it was
 * @rounds: how many these are
 * @lost: ina_hop.lost at the end of @round
 * @lost_round: by how much it had grown since the end of the round before
 */
struct ina_arrivals {
	struct ina_arrival window[INA_DEPTH_MAX];
	u64 round;
	u64 first;
	u64 last;
	u64 late;
	u64 rounds;
	u64 lost;
	u64 lost_round;
};

void ina_arrival_note(struct ina_arrivals *arrivals, u32 at, u64 round, u64 now);
void ina_arrival_settle(struct ina_node *node, u64 round, u64 absent);

#endif /* _INA_ARRIVAL_H */
