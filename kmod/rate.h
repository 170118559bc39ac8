/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic of rates, in bytes per second; 0 is unknown, or unlimited.
 */
#ifndef _INA_RATE_H
#define _INA_RATE_H

#include <linux/types.h>

#define INA_RATE_MIN		65536ULL	/* nobody is granted less */
#define INA_RATE_MAX		1000000000000ULL	/* nor asks for more */
#define INA_RATE_LOSS_LIMIT	10	/* of 1000 packets: more is congestion, unless set */
#define INA_RATE_LOSS_PACKETS	16	/* so many are judged at least */
#define INA_RATE_LOST		5	/* fewer that are lost of few say nothing */
#define INA_RATE_PERIOD_NS	10000000ULL	/* and over such a time */
#define INA_RATE_STEPS		64	/* a step up is such a part of what it was cut to */

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
 * struct ina_heard - what a neighbour tells of packets that were sent to it
 * @epoch: in which they were sent
 * @seq: number of the first
 * @packets: how many these are
 * @lost: how many of them have not come
 * @marked: how many have, with a mark of congestion
 * @bytes: of all of them
 * @busy: nanoseconds it took to send them, without pauses
 * @rtt: nanoseconds from the last of them until now; 0: unknown, a group tells
 */
struct ina_heard {
	u32 epoch;
	u32 seq;
	u32 packets;
	u32 lost;
	u32 marked;
	u64 bytes;
	u64 busy;
	u64 rtt;
};

/**
 * struct ina_loss - what a sender hears of loss on its way
 * @most: what it is granted
 * @limit: what the way takes, 0 while that is not known to be less
 * @heard: when it heard last, in nanoseconds
 * @since: when the period began
 * @bytes: of packets of which was heard in it
 * @busy: nanoseconds it took to send them
 * @packets: how many these are
 * @lost: how many of them were lost; two that were marked count as one
 * @marked: those that were marked and are not counted yet
 * @epoch: to which numbers belong
 * @after: number of the first packet sent at this rate
 * @changed: packets with lower numbers were sent at another rate
 * @rtt: nanoseconds there and back, as heard last
 * @near: the least that was heard lately
 * @step: by which @limit rises in a period
 * @steps: how often it has, since the rate was cut or @step was less
 * @waits: steps up to now of which most were left out
 * @cuts: how often the rate was cut lately
 * @first: lost of 1000 when that began
 * @before: at which rate it was sent before that
 * @usual: lost of 1000 however slow it was sent
 * @rate: at which it was sent, as known last
 * @sent: bytes, ever, when it heard last
 * @took: nanoseconds that took
 */
struct ina_loss {
	u64 most;
	u64 limit;
	u64 heard;
	u64 since;
	u64 bytes;
	u64 busy;
	u32 packets;
	u32 lost;
	u32 marked;
	u32 epoch;
	u32 after;
	bool changed;
	u64 rtt;
	u64 near;
	u64 step;
	u32 steps;
	u32 waits;
	u32 cuts;
	u32 first;
	u64 before;
	u32 usual;
	u64 rate;
	u64 sent;
	u64 took;
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
void ina_rate_heard(struct ina_loss *loss, const struct ina_heard *heard, u64 now);
void ina_rate_limit(struct ina_loss *loss, u64 rate);
bool ina_rate_judge(struct ina_loss *loss, u32 limit, u32 next, u64 now);

#endif /* _INA_RATE_H */
