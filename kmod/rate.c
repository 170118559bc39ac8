// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic of rates: a capacity is shared max-min fairly between those who ask, and
 * a sender slows down as much as it hears of loss. Pure functions, no lock: the
 * caller's. Context: any.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "rate.h"

#define INA_RATE_PASSES	16	/* then the level is low enough, though it could be higher */
#define INA_RATE_CUT	750	/* of 1000: never less than a quarter is left at once */
#define INA_RATE_CUTS	8	/* that help nothing: the loss is not ours */
#define INA_RATE_GAP	4	/* steps that are made at once, however long ago the last was */
#define INA_RATE_QUEUE	10000000ULL	/* nanoseconds that packets may wait on the way */
#define INA_RATE_WAITS	8	/* of so many steps one is made then */

/**
 * ina_rate_begin() - share a capacity
 * @share: how
 * @capacity: it; 0: unlimited
 *
 * All who ask are named with ina_rate_ask(), again and again while
 * ina_rate_again() says so; then ina_rate_of() tells what each gets.
 */
void ina_rate_begin(struct ina_rate_share *share, u64 capacity)
{
	*share = (struct ina_rate_share){ .capacity = capacity };
}

/**
 * ina_rate_ask() - somebody asks for a rate
 * @share: of what
 * @ask: the most it can use; 0: all
 */
void ina_rate_ask(struct ina_rate_share *share, u64 ask)
{
	if (ask && ask <= share->level)
		share->below += ask;
	else
		share->above++;
}

/**
 * ina_rate_again() - all have asked: raise the level to what is left
 * @share: of what
 *
 * The level starts at nothing and only rises. Whatever it is, what all get in
 * sum is within the capacity, so the number of passes can be bounded.
 * Return: true if all are to ask once more; who has asked already may.
 */
bool ina_rate_again(struct ina_rate_share *share)
{
	u64 level = share->capacity;

	if (share->above)
		level = div_u64(share->capacity - share->below, share->above);
	share->below = 0;
	share->above = 0;
	if (level == share->level || share->passes == INA_RATE_PASSES)
		return false;
	share->level = level;
	share->passes++;
	return true;
}

/**
 * ina_rate_of() - what somebody gets
 * @share: of what
 * @ask: what it asked for
 *
 * Return: the rate, 0 if it is unlimited.
 */
u64 ina_rate_of(const struct ina_rate_share *share, u64 ask)
{
	if (share->capacity)
		ask = ina_rate_min(ask, max(share->level, INA_RATE_MIN));
	return ask ? max(ask, INA_RATE_MIN) : 0;
}

/**
 * ina_rate_idle() - what a node may use of a device that it has not alone
 * @rate: of the device; 0: unlimited
 * @used: by others
 * @others: how many these are
 *
 * Who comes later takes its part, which the others then lose.
 * Return: the rate.
 */
u64 ina_rate_idle(u64 rate, u64 used, u32 others)
{
	if (!rate)
		return 0;
	return max3(rate - min(rate, used), div_u64(rate, others + 1), 1ULL);
}

/**
 * ina_rate_speed() - rate of a link
 * @mbit: millions of bits per second
 *
 * Return: bytes per second.
 */
u64 ina_rate_speed(u32 mbit)
{
	return mbit * 125000ULL;
}

/**
 * ina_rate_now() - at which rate to send
 * @loss: what is granted, and what was heard
 *
 * Return: the rate, 0 if it is unlimited.
 */
u64 ina_rate_now(const struct ina_loss *loss)
{
	return ina_rate_min(loss->most, loss->limit);
}

/**
 * ina_rate_heard() - the receiver answers
 * @loss: what the sender knows
 * @heard: what it tells
 * @now: nanoseconds
 */
void ina_rate_heard(struct ina_loss *loss, const struct ina_heard *heard, u64 now)
{
	u64 last = loss->heard;
	/* It tells of a rate that is not used any more. */
	bool before = loss->changed && loss->epoch == heard->epoch &&
		      (s32)(heard->seq - loss->after) < 0;

	/* Of marks alone: another answer tells of the packets. */
	if (!heard->packets && !heard->rtt) {
		loss->marked += before ? 0 : heard->marked;
		return;
	}
	loss->heard = now;
	if (before)
		return;
	if (loss->changed || !loss->since)
		loss->since = last ?: now;
	loss->changed = false;
	loss->epoch = heard->epoch;
	/* A pause is no part of a period. */
	if (!heard->packets && !loss->packets)
		loss->since = now;
	loss->packets += heard->packets;
	loss->marked += heard->marked;
	/* Else they count with what is heard of next. */
	if (loss->packets) {
		loss->lost = min(loss->packets,
				 loss->lost + heard->lost + loss->marked / 2);
		loss->marked %= 2;
	}
	loss->bytes += heard->bytes;
	loss->busy += heard->busy;
	if (!heard->rtt)
		return;
	loss->rtt = heard->rtt;
	/* The way may get longer. */
	loss->near = loss->near ? min(heard->rtt, loss->near + loss->near / 4096) :
				  heard->rtt;
}

/* A period is over. */
static void ina_rate_restart(struct ina_loss *loss, u64 now)
{
	loss->since = now;
	loss->packets = 0;
	loss->lost = 0;
	loss->bytes = 0;
	loss->busy = 0;
}

/* Wait for news of what is sent from now on. */
static void ina_rate_change(struct ina_loss *loss, u32 next)
{
	loss->changed = true;
	loss->after = next;
}

/* Slower did not help, time and again: that much is lost for another reason. */
static void ina_rate_uncut(struct ina_loss *loss, u32 permille)
{
	loss->limit = loss->before;
	loss->step = loss->limit / INA_RATE_STEPS;
	loss->steps = 0;
	loss->usual = permille;
	loss->cuts = 0;
}

/*
 * More is lost than may be: send only what has arrived. Where next to nothing has, it was
 * not the rate alone.
 */
static void ina_rate_cut(struct ina_loss *loss, u64 rate, u32 permille)
{
	rate = min(ina_rate_now(loss) ?: INA_RATE_MAX, rate);
	if (!loss->cuts++) {
		loss->first = permille;
		loss->before = max(rate, INA_RATE_MIN);
	}
	/* Much slower, so that what was queued before has left. */
	if (loss->cuts > INA_RATE_CUTS && 4 * rate < 3 * loss->before &&
	    2 * permille > loss->first) {
		ina_rate_uncut(loss, permille);
		return;
	}
	permille -= loss->usual;
	if (loss->packets - loss->lost < INA_RATE_LOSS_PACKETS)
		permille = min_t(u32, permille, INA_RATE_CUT);
	loss->limit = max(div_u64(rate * (1000 - permille), 1000),
			  INA_RATE_MIN);
	loss->step = loss->limit / INA_RATE_STEPS;
	loss->steps = 0;
}

/*
 * Who does not use what it may does not see whether the way takes it, and where packets
 * queue up already more will be lost soon: then most steps are left out. Not all, as what
 * queues up may be of others, who do not care.
 */
static bool ina_rate_may_rise(struct ina_loss *loss, u64 time)
{
	u64 used = mul_u64_u64_div_u64(loss->bytes, NSEC_PER_SEC, time);

	if (4 * used >= 3 * loss->limit &&
	    loss->rtt <= 2 * loss->near + INA_RATE_QUEUE)
		return true;
	return !(++loss->waits % INA_RATE_WAITS);
}

/* Little is lost: a step up, in time a larger one, until all that is granted is used. */
static void ina_rate_recover(struct ina_loss *loss, u64 time)
{
	u32 steps = min_t(u64, div64_u64(time, INA_RATE_PERIOD_NS), INA_RATE_GAP);

	if (loss->cuts)
		loss->cuts--;
	if (!ina_rate_may_rise(loss, time))
		return;
	loss->limit += loss->step * steps;
	loss->steps += steps;
	if (loss->steps >= INA_RATE_STEPS / 4) {
		loss->steps -= INA_RATE_STEPS / 4;
		loss->step *= 2;
	}
	if (loss->limit >= (loss->most ?: INA_RATE_MAX)) {
		loss->limit = 0;
		/* What comes next is another story. */
		loss->cuts = 0;
	}
}

/**
 * ina_rate_limit() - a way leads to the receiver, perhaps again
 * @loss: what the sender knows
 * @rate: what others like it take; 0: unlimited
 *
 * What was lost while it led nowhere tells nothing of how much it takes.
 */
void ina_rate_limit(struct ina_loss *loss, u64 rate)
{
	*loss = (struct ina_loss){
		.limit = rate ? max3(loss->limit, rate, INA_RATE_MIN) : 0,
		.near = loss->near, .sent = loss->sent, .took = loss->took,
	};
	loss->step = loss->limit / INA_RATE_STEPS;
}

/**
 * ina_rate_judge() - is it time to change the rate, after an answer
 * @loss: what the sender knows
 * @limit: of a thousand packets, so many may be lost
 * @next: number of the next packet
 * @now: nanoseconds
 *
 * Return: true if it was cut.
 */
bool ina_rate_judge(struct ina_loss *loss, u32 limit, u32 next, u64 now)
{
	u64 time = now - loss->since, before = loss->limit;
	bool cut = false;
	u32 permille;

	if (!loss->since || time < INA_RATE_PERIOD_NS ||
	    loss->packets < INA_RATE_LOSS_PACKETS)
		return false;
	permille = div_u64(loss->lost * 1000ULL, loss->packets);
	/* So few may be lost by chance: wait for more to be heard of. */
	if (permille > limit && loss->lost < INA_RATE_LOST &&
	    loss->packets < INA_RATE_LOST * 1000 / limit)
		return false;
	/* It may be less than it was, but by chance. */
	if (permille < loss->usual)
		loss->usual -= (loss->usual - permille + 3) / 4;
	/* It may have sent slower than it was allowed to, or all before this period. */
	if (loss->bytes)
		loss->rate = mul_u64_u64_div_u64(loss->bytes, NSEC_PER_SEC,
						 max_t(u64, loss->busy, NSEC_PER_USEC));
	if (permille > limit + loss->usual * 3 / 2) {
		ina_rate_cut(loss, loss->rate, permille);
		cut = loss->cuts && loss->limit != before;
	} else if (loss->limit) {
		ina_rate_recover(loss, time);
	}
	ina_rate_restart(loss, now);
	if (loss->limit != before)
		ina_rate_change(loss, next);
	return cut;
}
