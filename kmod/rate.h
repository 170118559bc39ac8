/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic of rates, in bytes per second; 0 is unknown, or unlimited.
 */
#ifndef _INA_RATE_H
#define _INA_RATE_H

#include <linux/types.h>

#define INA_RATE_MIN		65536ULL	/* nobody is granted less */
#define INA_RATE_MAX		1000000000000ULL	/* nor asks for more */
#define INA_RATE_LOSS_LIMIT	10000	/* of a million packets: more is congestion, unless set */
#define INA_RATE_LOSS_PACKETS	32	/* so many are judged at least */
#define INA_RATE_PERIOD_NS	10000000ULL	/* and over such a time */
#define INA_RATE_STEPS		32	/* periods until twice as much is sent */

/**
 * struct ina_rate_share - a capacity that is shared
 * @capacity: it
 * @level: nobody gets more
 * @below: what those get in all who ask for no more than @level
 * @above: how many ask for more
 * @passes: over all who ask
 */
struct ina_rate_share {
	u64 capacity;
	u64 level;
	u64 below;
	u32 above;
	u32 passes;
};

/**
 * struct ina_loss - what a sender hears of loss on its way
 * @most: what it is granted
 * @limit: what the way takes, 0 while that is not known to be less
 * @base: @limit when it was cut, or has doubled since
 * @since: when the period began, in nanoseconds
 * @bytes: sent until then
 * @packets: of which was heard in it
 * @lost: how many of them were lost; two that were marked count as one
 * @after: number of the first packet sent since the rate was cut
 * @cut: packets with lower numbers were sent at another rate
 */
struct ina_loss {
	u64 most;
	u64 limit;
	u64 base;
	u64 since;
	u64 bytes;
	u32 packets;
	u32 lost;
	u32 after;
	bool cut;
};

/**
 * ina_rate_min() - the lower of two rates
 * @a: one
 * @b: the other
 *
 * Return: it; 0 if both are unlimited.
 */
static inline u64 ina_rate_min(u64 a, u64 b)
{
	if (!a || !b)
		return a | b;
	return a < b ? a : b;
}

void ina_rate_begin(struct ina_rate_share *share, u64 capacity);
void ina_rate_ask(struct ina_rate_share *share, u64 ask);
bool ina_rate_again(struct ina_rate_share *share);
u64 ina_rate_of(const struct ina_rate_share *share, u64 ask);
u64 ina_rate_idle(u64 rate, u64 used, u32 others);
u64 ina_rate_speed(u32 mbit);
u64 ina_rate_now(const struct ina_loss *loss);
void ina_rate_heard(struct ina_loss *loss, u32 seq, u32 packets, u32 lost,
		    u32 marked);
bool ina_rate_judge(struct ina_loss *loss, u32 limit, u64 bytes, u32 next,
		    u64 now);

#endif /* _INA_RATE_H */
