/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When packets leave, so that their rate is the one that was granted.
 */
#ifndef _INA_PACE_H
#define _INA_PACE_H

#include <linux/types.h>

#define INA_PACE_AHEAD	1000000ULL	/* nanoseconds a packet may be handed down too early */
#define INA_PACE_LATE	4000000ULL	/* of being late, by a clock that was, are made up for */
#define INA_PACE_IDLE	40000000ULL	/* who is so late had nothing to send */

#define INA_PACE_PAUSE	2000000ULL	/* a longer gap is a pause */

/**
 * struct ina_pace - departures to a neighbour
 * @rate: bytes per second, 0: unlimited; written by whoever learns of another
 * @depart: nanoseconds of CLOCK_MONOTONIC at which the next packet may leave; the sender's
 * @bytes: that have been sent, ever; the sender's
 * @busy: nanoseconds it took, without pauses
 * @last: when the last of them were
 */
struct ina_pace {
	u64 rate;
	u64 depart;
	u64 bytes;
	u64 busy;
	u64 last;
};

bool ina_pace_may(const struct ina_pace *pace, u64 now);
u64 ina_pace_wake(const struct ina_pace *pace);
unsigned int ina_pace_segs(const struct ina_pace *pace, unsigned int bytes,
			   unsigned int most);
u64 ina_pace_charge(struct ina_pace *pace, unsigned int bytes, u64 now);

#endif /* _INA_PACE_H */
