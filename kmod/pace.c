// SPDX-License-Identifier: GPL-2.0
/*
 * Departure times. A packet leaves when all before it have had their time at the rate that
 * is granted. Who was late by a little, as the clock was, catches up; who had nothing to send
 * does not. What is handed down is at most INA_PACE_AHEAD and one super-packet ahead
 * of its time, and a queueing discipline that knows departure times holds it for the rest.
 * Context: the sender's, unless said otherwise.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/compiler.h>
#include <linux/time64.h>

#include "pace.h"

/**
 * ina_pace_may() - may the next packet be handed down
 * @pace: departures
 * @now: nanoseconds
 *
 * Return: true if so.
 */
bool ina_pace_may(const struct ina_pace *pace, u64 now)
{
	return READ_ONCE(pace->depart) <= now + INA_PACE_AHEAD;
}

/**
 * ina_pace_wake() - when to look again, if it may not
 * @pace: departures
 *
 * A bit later than it could be, so that it is worth it, and a bit earlier than it has
 * to be, for a clock that is late.
 * Return: nanoseconds.
 */
u64 ina_pace_wake(const struct ina_pace *pace)
{
	u64 depart = READ_ONCE(pace->depart);

	return depart - min(depart, INA_PACE_AHEAD / 2);
}

/**
 * ina_pace_segs() - packets of a super-packet, so that it takes no longer than
 *	INA_PACE_AHEAD
 * @pace: departures
 * @bytes: of a packet
 * @most: that it holds
 *
 * Return: how many, at least one.
 */
unsigned int ina_pace_segs(const struct ina_pace *pace, unsigned int bytes,
			   unsigned int most)
{
	u64 rate = READ_ONCE(pace->rate);

	if (!rate)
		return most;
	return clamp_t(u64, div_u64(div_u64(rate * INA_PACE_AHEAD, NSEC_PER_SEC),
				    bytes), 1, most);
}

/**
 * ina_pace_charge() - packets leave
 * @pace: departures
 * @bytes: of all of them
 * @now: nanoseconds
 *
 * Return: when, or 0 for at once.
 */
u64 ina_pace_charge(struct ina_pace *pace, unsigned int bytes, u64 now)
{
	u64 rate = READ_ONCE(pace->rate), depart = pace->depart;

	WRITE_ONCE(pace->bytes, pace->bytes + bytes);
	WRITE_ONCE(pace->busy, pace->busy + min(now - pace->last, INA_PACE_PAUSE));
	pace->last = now;
	if (!rate)
		return 0;
	depart = depart + INA_PACE_IDLE < now ? now : max(depart, now - INA_PACE_LATE);
	WRITE_ONCE(pace->depart, depart + div64_u64((u64)bytes * NSEC_PER_SEC, rate));
	return max(depart, now);
}
