// SPDX-License-Identifier: GPL-2.0
/*
 * Loss recovery on a hop. The sender numbers its packets; a group of numbers
 * is answered once, OK or with a bitmap of what is missing, and what is missing
 * is sent again under new numbers. No packet is acknowledged by itself. The
 * sender has at most INA_HOP_CREDIT groups without an answer, so the receiver
 * still knows every group it can be asked about. Up and down use the same code.
 * Context of all functions: process or softirq; they disable bottom halves.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/log2.h>

#include "hop.h"

#define INA_HOP_NONE	U32_MAX	/* a number that was not used */
#define INA_HOP_ALL	GENMASK(INA_HOP_CREDIT - 1, 0)

static u32 ina_hop_span(const struct ina_hop *hop)
{
	return hop->group * INA_HOP_CREDIT;
}

/* Number of the first packet of a group. */
static u32 ina_hop_first(const struct ina_hop *hop, u32 seq)
{
	return seq & ~(hop->group - 1);
}

/* Bit of a group in @answer, @late and @checked; its place in @count. */
static u32 ina_hop_place(const struct ina_hop *hop, u32 seq)
{
	return seq >> __ffs(hop->group) & (INA_HOP_CREDIT - 1);
}

/**
 * ina_hop_got_size() - memory a hop needs to receive
 * @group: numbers in a group
 *
 * Return: bytes.
 */
size_t ina_hop_got_size(u32 group)
{
	return BITS_TO_LONGS(group * INA_HOP_CREDIT) * sizeof(long);
}

/**
 * ina_hop_log_size() - memory a hop needs to send
 * @group: numbers in a group
 *
 * Return: bytes.
 */
size_t ina_hop_log_size(u32 group)
{
	return group * INA_HOP_CREDIT * sizeof(u32);
}

/**
 * ina_hop_init() - make a zeroed hop, which gets its memory later
 * @hop: it
 * @queue: of the neighbour
 * @group: numbers in a group, a power of two
 */
void ina_hop_init(struct ina_hop *hop, struct ina_queue *queue, u32 group)
{
	spin_lock_init(&hop->lock);
	hop->queue = queue;
	hop->group = group;
}

/**
 * ina_hop_reset() - a new epoch: count from 0 in both directions
 * @hop: the hop
 * @epoch: number of the epoch
 */
void ina_hop_reset(struct ina_hop *hop, u32 epoch)
{
	spin_lock_bh(&hop->lock);
	hop->epoch = epoch;
	hop->next = 0;
	hop->end = 0;
	hop->una = 0;
	hop->answered = 0;
	hop->asked = 0;
	hop->ask = false;
	hop->hurried = INA_HOP_NONE;
	hop->timed = 0;
	hop->delay = 0;
	hop->top = 0;
	hop->answer = 0;
	hop->late = 0;
	hop->checked = INA_HOP_ALL;
	spin_unlock_bh(&hop->lock);
}

static u32 ina_hop_room(const struct ina_hop *hop)
{
	if (!hop->log)
		return 0;
	return ina_hop_first(hop, hop->una) + ina_hop_span(hop) - hop->next;
}

/**
 * ina_hop_credit() - how much may be sent before an answer comes
 * @hop: the hop
 *
 * Return: packets.
 */
u32 ina_hop_credit(struct ina_hop *hop)
{
	u32 room;

	spin_lock_bh(&hop->lock);
	room = ina_hop_room(hop);
	spin_unlock_bh(&hop->lock);
	return room;
}

/**
 * ina_hop_stamp() - number packets that are about to be sent
 * @hop: the hop
 * @epoch: epoch of the packets
 * @slots: what they hold
 * @count: how many
 * @seq: where the number of the first goes
 *
 * Return: false if the epoch is over or there is not credit for all.
 */
bool ina_hop_stamp(struct ina_hop *hop, u32 epoch, const u32 *slots, u32 count,
		   u32 *seq)
{
	u32 i;
	bool ok;

	spin_lock_bh(&hop->lock);
	ok = hop->epoch == epoch && ina_hop_room(hop) >= count;
	*seq = hop->next;
	for (i = 0; ok && i < count; i++, hop->next++) {
		hop->log[hop->next % ina_hop_span(hop)] = slots[i];
		hop->sent[ina_hop_place(hop, hop->next)] = jiffies;
		hop->timed |= BIT(ina_hop_place(hop, hop->next));
	}
	if (ok) {
		hop->end = hop->next;
		hop->active = jiffies;
	}
	spin_unlock_bh(&hop->lock);
	return ok;
}

/* Groups that are answered or need no answer are done with. */
static void ina_hop_settle(struct ina_hop *hop, u32 una)
{
	u32 groups = (una - ina_hop_first(hop, hop->una)) / hop->group;

	hop->una = una;
	hop->answered = groups < INA_HOP_CREDIT ? hop->answered >> groups : 0;
	while (hop->answered & 1) {
		hop->answered >>= 1;
		hop->una = ina_hop_first(hop, hop->una) + hop->group;
	}
}

/*
 * Does an answer speak of all that was sent of its group? The receiver may have
 * been asked when the last packets of it were still to be sent.
 */
static bool ina_hop_is_full(const struct ina_hop *hop, u32 first, u32 count)
{
	u32 i;

	for (i = count; i < hop->group; i++)
		if ((s32)(first + i - hop->una) >= 0 &&
		    hop->log[(first + i) % ina_hop_span(hop)] != INA_HOP_NONE)
			return false;
	return true;
}

/* Send what is missing of a group again, if anything is. */
static void ina_hop_again(struct ina_hop *hop, u32 first, u32 count,
			  const u8 *missing, struct ina_hop_news *news)
{
	u32 i, slot;

	for (i = 0; i < count; i++) {
		slot = hop->log[(first + i) % ina_hop_span(hop)];
		if (slot == INA_HOP_NONE || (s32)(first + i - hop->una) < 0)
			continue;
		news->packets++;
		if (!missing || !(missing[i / 8] & BIT(i % 8)))
			continue;
		news->lost++;
		ina_queue_add_lost(hop->queue, slot);
	}
}

/* How long an answer takes, on average. */
static void ina_hop_learn(struct ina_hop *hop, u32 first)
{
	u32 place = ina_hop_place(hop, first);
	int ms = min_t(unsigned int, jiffies_to_msecs(jiffies - hop->sent[place]),
		       INA_HOP_DELAY_MS);

	if (hop->timed & BIT(place))
		hop->delay += (ms - hop->delay) / 8;
}

/* Answers to earlier groups may have been lost: this one speaks of them, too. */
static void ina_hop_earlier(struct ina_hop *hop, u32 first, u32 earlier)
{
	u32 i, group = (first - ina_hop_first(hop, hop->una)) / hop->group;

	for (i = 0; i < group; i++)
		if (earlier & BIT(i))
			hop->answered |= BIT(group - i - 1);
}

/* A later group was answered, this one not: do not wait for the clock to ask. */
static void ina_hop_hurry(struct ina_hop *hop, u32 first)
{
	if ((s32)(first - hop->una) <= 0 || hop->hurried == hop->una)
		return;
	hop->hurried = hop->una;
	hop->timed = 0;
	hop->ask = true;
	hop->ask_end = first;
}

/**
 * ina_hop_answered() - the receiver says what it has of a group
 * @hop: the hop
 * @epoch: epoch of the answer
 * @first: number of the group's first packet
 * @count: numbers it speaks of
 * @missing: bit per number that is missing, NULL if none is
 * @earlier: bit i: all of the group i + 1 before it came
 * @news: where what it tells goes
 *
 * An answer that came before, or to nothing that was asked, or to a part of the
 * group only, is ignored.
 * Return: true if the sender can go on.
 */
bool ina_hop_answered(struct ina_hop *hop, u32 epoch, u32 first, u32 count,
		      const u8 *missing, u32 earlier,
		      struct ina_hop_news *news)
{
	u32 group;
	bool ok;

	spin_lock_bh(&hop->lock);
	group = (first - ina_hop_first(hop, hop->una)) / hop->group;
	ok = hop->epoch == epoch && first == ina_hop_first(hop, first) &&
	     group < INA_HOP_CREDIT && count <= hop->group &&
	     (s32)(hop->next - first) >= (s32)hop->group &&
	     !(hop->answered & BIT(group)) &&
	     ina_hop_is_full(hop, first, count);
	*news = (struct ina_hop_news){};
	if (ok)
		ina_hop_again(hop, first, count, missing, news);
	if (ok) {
		ina_hop_learn(hop, first);
		hop->answered |= BIT(group);
		ina_hop_earlier(hop, first, earlier);
		ina_hop_settle(hop, hop->una);
		hop->active = jiffies;
		hop->asked = 0;
		hop->ask = false;
		ina_hop_hurry(hop, first);
	}
	spin_unlock_bh(&hop->lock);
	return ok;
}

/* Does the receiver have all that was sent, as others know? */
static bool ina_hop_moot(const struct ina_hop *hop,
			 bool (*needed)(void *arg, u32 slot), void *arg)
{
	u32 seq, slot;

	for (seq = hop->una; seq != hop->next; seq++) {
		slot = hop->log[seq % ina_hop_span(hop)];
		if (slot != INA_HOP_NONE && needed(arg, slot))
			return false;
	}
	return true;
}

/* That is all for now: what follows belongs to the next group. */
static void ina_hop_close(struct ina_hop *hop)
{
	while (hop->next % hop->group)
		hop->log[hop->next++ % ina_hop_span(hop)] = INA_HOP_NONE;
}

/**
 * ina_hop_abandon() - the path leads nowhere: let what it has no answer to take another
 * @hop: the hop
 *
 * What comes later on this path belongs to the next group.
 * Return: true if there is something to send again.
 */
bool ina_hop_abandon(struct ina_hop *hop)
{
	bool any = false;
	u32 seq, slot, group;

	spin_lock_bh(&hop->lock);
	if (!hop->log)
		goto unlock;
	for (seq = hop->una; seq != hop->next; seq++) {
		slot = hop->log[seq % ina_hop_span(hop)];
		group = (seq - ina_hop_first(hop, hop->una)) / hop->group;
		if (slot == INA_HOP_NONE || hop->answered & BIT(group))
			continue;
		ina_queue_add_lost(hop->queue, slot);
		any = true;
	}
	ina_hop_close(hop);
	ina_hop_settle(hop, hop->next);
	hop->asked = 0;
	hop->ask = false;
	hop->timed = 0;
unlock:
	spin_unlock_bh(&hop->lock);
	return any;
}

/*
 * Has there been silence for too long? The answer may be under way, and at first what is still
 * to be sent shows as well what is missing.
 */
static bool ina_hop_is_silent(const struct ina_hop *hop)
{
	unsigned int ms = INA_HOP_ASK_MS << min_t(u32, hop->asked, INA_HOP_ASK_SHIFT);

	ms += hop->delay;
	if (!time_after_eq(jiffies, hop->active + msecs_to_jiffies(ms)))
		return false;
	return hop->asked || !ina_hop_room(hop) || ina_queue_is_empty(hop->queue) ||
	       time_after_eq(jiffies, hop->active + msecs_to_jiffies(ms + INA_HOP_MORE_MS));
}

/**
 * ina_hop_ask() - by the clock: is it time to ask for an answer
 * @hop: the hop
 * @needed: does the receiver still need what was sent of a slot
 * @arg: for @needed
 * @silent: whether the peer has left too many questions unanswered, and one more just now
 * @credit: whether the sender can go on, as no answer is needed any more
 *
 * If so, ina_hop_done() has something to say.
 * Return: true if answers are outstanding.
 */
bool ina_hop_ask(struct ina_hop *hop, bool (*needed)(void *arg, u32 slot),
		 void *arg, bool *silent, bool *credit)
{
	bool waiting;
	u32 place;

	*silent = false;
	*credit = false;
	spin_lock_bh(&hop->lock);
	waiting = hop->una != hop->next;
	if (waiting && ina_hop_is_silent(hop)) {
		if (ina_hop_moot(hop, needed, arg)) {
			ina_hop_settle(hop, hop->next);
			hop->asked = 0;
			*credit = true;
			waiting = false;
		} else {
			ina_hop_close(hop);
			/* How long it takes counts from here; others may have waited for it. */
			place = ina_hop_place(hop, hop->next - 1);
			hop->sent[place] = jiffies;
			hop->timed = BIT(place);
			hop->ask = true;
			hop->ask_end = hop->end;
			hop->active = jiffies;
			*silent = ++hop->asked >= INA_HOP_SILENT;
		}
	}
	spin_unlock_bh(&hop->lock);
	return waiting;
}

/**
 * ina_hop_done() - the question to send, if there is one
 * @hop: the hop
 * @epoch: where its epoch goes
 * @una: where the first number without an answer goes
 * @end: where the number behind the last goes, as of ina_hop_ask()
 *
 * Return: true if there is one.
 */
bool ina_hop_done(struct ina_hop *hop, u32 *epoch, u32 *una, u32 *end)
{
	bool ask;

	spin_lock_bh(&hop->lock);
	ask = hop->ask;
	hop->ask = false;
	*epoch = hop->epoch;
	*una = hop->una;
	*end = hop->ask_end;
	spin_unlock_bh(&hop->lock);
	return ask;
}

/* Answer a group that is complete, or late. */
static void ina_hop_answer(struct ina_hop *hop, u32 bit)
{
	hop->answer |= bit;
	hop->checked |= bit;
	hop->late &= ~bit;
}

/* Check these groups once the late have had their time. */
static void ina_hop_defer(struct ina_hop *hop, u32 bits)
{
	bits &= ~hop->checked;
	if (bits && !hop->late)
		hop->late_at = jiffies + msecs_to_jiffies(INA_HOP_LATE_MS);
	hop->late |= bits;
}

/*
 * All below @top were sent. A group that is begun is made ready, those before
 * it are to be checked. Return: false if the sender cannot have sent that.
 */
static bool ina_hop_raise(struct ina_hop *hop, u32 top)
{
	u32 first, place;

	if ((s32)(top - hop->top) <= 0)
		return true;
	if (top - hop->top > ina_hop_span(hop))
		return false;
	first = round_up(hop->top, hop->group);
	for (; (s32)(top - first) > 0; first += hop->group) {
		place = ina_hop_place(hop, first);
		bitmap_clear(hop->got, first % ina_hop_span(hop), hop->group);
		hop->count[place] = 0;
		hop->size[place] = hop->group;
		hop->checked &= ~BIT(place);
		hop->answer &= ~BIT(place);
		hop->late &= ~BIT(place);
		/* All others are earlier. */
		ina_hop_defer(hop, INA_HOP_ALL & ~BIT(place));
	}
	hop->top = top;
	return true;
}

/* Does the receiver still remember the group of a number? */
static bool ina_hop_known(const struct ina_hop *hop, u32 seq)
{
	return (s32)(hop->top - seq) > 0 &&
	       ina_hop_first(hop, hop->top - 1) - ina_hop_first(hop, seq) <
	       ina_hop_span(hop);
}

static enum ina_hop_todo ina_hop_todo(const struct ina_hop *hop)
{
	if (hop->answer)
		return INA_HOP_ANSWER;
	return hop->late ? INA_HOP_CHECK : INA_HOP_NOTHING;
}

/* How much of a group is known to have been sent. */
static u32 ina_hop_size(const struct ina_hop *hop, u32 first)
{
	return min(hop->size[ina_hop_place(hop, first)], hop->top - first);
}

/* Is all of that there? */
static bool ina_hop_is_whole(const struct ina_hop *hop, u32 first)
{
	return hop->count[ina_hop_place(hop, first)] == ina_hop_size(hop, first);
}

/* @count numbers of one group. Return: false if one was known, or cannot be. */
static bool ina_hop_take(struct ina_hop *hop, u32 seq, u32 count)
{
	u32 place = ina_hop_place(hop, seq);
	u32 bit = seq & (ina_hop_span(hop) - 1);

	lockdep_assert_held(&hop->lock);
	if (!ina_hop_raise(hop, seq + count) || !ina_hop_known(hop, seq) ||
	    find_next_bit(hop->got, bit + count, bit) < bit + count)
		return false;
	bitmap_set(hop->got, bit, count);
	hop->count[place] += count;
	/* Who said that it had closed the group has not. */
	if ((seq & (hop->group - 1)) + count > hop->size[place])
		hop->size[place] = hop->group;
	if (hop->count[place] == hop->group && !(hop->checked & BIT(place)))
		ina_hop_answer(hop, BIT(place));
	else if (hop->late & BIT(place) &&
		 ina_hop_is_whole(hop, ina_hop_first(hop, seq)))
		ina_hop_answer(hop, BIT(place));
	else if (!((seq + count) & (hop->group - 1)))
		ina_hop_defer(hop, BIT(place));
	return true;
}

/* Numbers in a row: mostly none of them is known. Return: whether one was not. */
static bool ina_hop_take_row(struct ina_hop *hop, u32 seq, u32 count)
{
	bool any = false;
	u32 n;

	for (; count; seq += n, count -= n) {
		n = min(count, hop->group - (seq & (hop->group - 1)));
		if (ina_hop_take(hop, seq, n)) {
			any = true;
		} else if (n > 1) {
			n = 1;
			any |= ina_hop_take(hop, seq, n);
		}
	}
	return any;
}

/**
 * ina_hop_received() - packets have come and are accounted for
 * @hop: the hop
 * @epoch: their epoch
 * @seq: number of the first
 * @count: how many, in a row
 *
 * Return: what is to be done.
 */
enum ina_hop_todo ina_hop_received(struct ina_hop *hop, u32 epoch, u32 seq,
				   u32 count)
{
	enum ina_hop_todo todo = INA_HOP_NOTHING;

	spin_lock_bh(&hop->lock);
	WRITE_ONCE(hop->received, hop->received + count);
	if (hop->epoch == epoch && ina_hop_take_row(hop, seq, count))
		todo = ina_hop_todo(hop);
	spin_unlock_bh(&hop->lock);
	return todo;
}

/**
 * ina_hop_refused() - a packet has come, but is to come again
 * @hop: the hop
 */
void ina_hop_refused(struct ina_hop *hop)
{
	spin_lock_bh(&hop->lock);
	WRITE_ONCE(hop->received, hop->received + 1);
	spin_unlock_bh(&hop->lock);
}

/* Who asks sends no more of the group in which it ends, unless more of it has come. */
static void ina_hop_end(struct ina_hop *hop, u32 end)
{
	u32 size = end & (hop->group - 1), place = ina_hop_place(hop, end);
	u32 bit = end & (ina_hop_span(hop) - 1), next = bit - size + hop->group;

	if (size && ina_hop_known(hop, end - 1) &&
	    find_next_bit(hop->got, next, bit) == next)
		hop->size[place] = size;
}

/**
 * ina_hop_asked() - the sender says what it has sent, and waits
 * @hop: the hop
 * @epoch: its epoch
 * @una: first number without an answer
 * @end: behind the last
 *
 * The question may have overtaken what it asks about.
 * Return: what is to be done.
 */
enum ina_hop_todo ina_hop_asked(struct ina_hop *hop, u32 epoch, u32 una,
				u32 end)
{
	enum ina_hop_todo todo = INA_HOP_NOTHING;
	u32 first, bit;

	spin_lock_bh(&hop->lock);
	if (hop->epoch != epoch || end - una > ina_hop_span(hop))
		goto unlock;
	/* What is below needs no answer, though it may never have come. */
	if ((s32)(ina_hop_first(hop, una) - hop->top) > 0) {
		hop->top = ina_hop_first(hop, una);
		hop->answer = 0;
		hop->late = 0;
		hop->checked = INA_HOP_ALL;
	}
	if (!ina_hop_raise(hop, end))
		goto unlock;
	ina_hop_end(hop, end);
	for (first = ina_hop_first(hop, una); (s32)(end - first) > 0;
	     first += hop->group) {
		if (!ina_hop_known(hop, first))
			continue;
		bit = BIT(ina_hop_place(hop, first));
		if (hop->checked & bit || ina_hop_is_whole(hop, first))
			ina_hop_answer(hop, bit);
		else
			ina_hop_defer(hop, bit);
	}
	todo = ina_hop_todo(hop);
unlock:
	spin_unlock_bh(&hop->lock);
	return todo;
}

/**
 * ina_hop_check() - by the clock: have the late had their time
 * @hop: the hop
 * @answer: whether an answer is to be sent
 *
 * Return: true if groups are waiting for it.
 */
bool ina_hop_check(struct ina_hop *hop, bool *answer)
{
	bool waiting;

	spin_lock_bh(&hop->lock);
	*answer = hop->late && time_after_eq(jiffies, hop->late_at);
	if (*answer)
		ina_hop_answer(hop, hop->late);
	waiting = hop->late;
	spin_unlock_bh(&hop->lock);
	return waiting;
}

/* What is there of a group, up to the highest number known. */
static void ina_hop_fill(const struct ina_hop *hop, u32 first,
			 struct ina_hop_answer *answer)
{
	u32 i, before, place = first % ina_hop_span(hop);

	answer->first = first;
	answer->count = ina_hop_size(hop, first);
	answer->lost = 0;
	answer->earlier = 0;
	for (i = 1; i < INA_HOP_CREDIT; i++) {
		before = first - i * hop->group;
		if (ina_hop_known(hop, before) && ina_hop_is_whole(hop, before))
			answer->earlier |= BIT(i - 1);
	}
	memset(answer->missing, 0, sizeof(answer->missing));
	for (i = 0; i < answer->count; i++) {
		if (test_bit(place + i, hop->got))
			continue;
		answer->missing[i / 8] |= BIT(i % 8);
		answer->lost++;
	}
}

/**
 * ina_hop_next_answer() - the next answer to send
 * @hop: the hop
 * @epoch: where its epoch goes
 * @answer: where it goes
 *
 * Return: false if there is none.
 */
bool ina_hop_next_answer(struct ina_hop *hop, u32 *epoch,
			 struct ina_hop_answer *answer)
{
	u32 last, place, back;
	bool any;

	spin_lock_bh(&hop->lock);
	any = hop->answer;
	if (any) {
		place = __ffs(hop->answer);
		hop->answer &= ~BIT(place);
		last = ina_hop_first(hop, hop->top - 1);
		back = (ina_hop_place(hop, last) - place) % INA_HOP_CREDIT;
		*epoch = hop->epoch;
		ina_hop_fill(hop, last - back * hop->group, answer);
		hop->lost += answer->lost;
	}
	spin_unlock_bh(&hop->lock);
	return any;
}
