/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hop is a path from this node to a neighbour, and the other's path of the same
 * number back. What is sent on it is numbered; the receiver answers by groups of
 * numbers, and what it misses is sent again.
 */
#ifndef _INA_HOP_H
#define _INA_HOP_H

#include <linux/bitops.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <uapi/linux/ina_wire.h>

#include "queue.h"

#define INA_HOP_CREDIT		4	/* groups sent without an answer */
#define INA_HOP_ASK_MS		16	/* silence beyond the delay after which is asked */
#define INA_HOP_MORE_MS		48	/* longer while there is more to send, which tells, too */
#define INA_HOP_DELAY_MS	250	/* the longest delay that is believed */
#define INA_HOP_ASK_SHIFT	4	/* most doublings of it */
#define INA_HOP_LATE_MS		8	/* what is later was lost */
#define INA_HOP_SILENT		8	/* questions until the peer is reported */

/**
 * struct ina_hop - what is under way on a path to a neighbour, and back
 * @queue: where what is lost waits to be sent again
 * @group: numbers in a group, a power of two
 * @lock: protects all below
 * @epoch: to which the numbers belong
 * @next: number of the next packet
 * @end: number behind the last one that was sent
 * @una: all below need no answer any more
 * @answered: bit i: group i, counted from that of @una, is answered
 * @log: slot sent under a number, at number % (group * credit); NULL: nothing is
 *	sent on it
 * @sent: jiffies at which the last packet of a group was sent, or it was asked for
 * @timed: bit per group: nothing was asked since then
 * @delay: milliseconds from then to the answer, on average, of such groups
 * @active: jiffies at which something was sent, asked or answered
 * @asked: questions since the last answer
 * @ask: a DONE is to be sent
 * @ask_end: up to this number; what was sent since is of a later group
 * @hurried: @una for which it was asked because a later group was answered
 * @top: number behind the highest one received or told of
 * @got: bit per number received, at number % (group * credit)
 * @count: bits set in @got, per group
 * @size: numbers of a group, as far as is known: the sender may have closed it
 * @answer: groups to answer; bit group % credit, as in the next two
 * @late: groups to check when the late have had their time
 * @checked: groups that had their answer
 * @late_at: jiffies at which that is
 * @received: packets that have come, ever
 * @lost: numbers reported as missing, ever
 */
struct ina_hop {
	struct ina_queue *queue;
	u32 group;
	spinlock_t lock;	/* numbers, in both directions */
	u32 epoch;
	u32 next;
	u32 end;
	u32 una;
	u32 answered;
	u32 *log;
	unsigned long sent[INA_HOP_CREDIT];
	u32 timed;
	int delay;
	unsigned long active;
	unsigned int asked;
	bool ask;
	u32 ask_end;
	u32 hurried;
	u32 top;
	unsigned long *got;
	u32 count[INA_HOP_CREDIT];
	u32 size[INA_HOP_CREDIT];
	u32 answer;
	u32 late;
	u32 checked;
	unsigned long late_at;
	u32 received;
	u64 lost;
};

/**
 * struct ina_hop_answer - what the receiver says of a group
 * @first: number of its first packet
 * @count: numbers it speaks of
 * @lost: how many of them are missing
 * @earlier: bit i: all of the group i + 1 before it came
 * @missing: bit per number, little-endian
 */
struct ina_hop_answer {
	u32 first;
	u16 count;
	u16 lost;
	u32 earlier;
	u8 missing[INA_GROUP_MAX / 8];
};

/**
 * struct ina_hop_news - what an answer tells the sender
 * @packets: of which it speaks; numbers that were not used are none
 * @lost: of these, are missing
 */
struct ina_hop_news {
	u32 packets;
	u32 lost;
};

/**
 * enum ina_hop_todo - what a packet leaves to do
 * @INA_HOP_NOTHING: nothing
 * @INA_HOP_ANSWER: an answer is to be sent
 * @INA_HOP_CHECK: a group is to be checked by the clock
 */
enum ina_hop_todo {
	INA_HOP_NOTHING,
	INA_HOP_ANSWER,
	INA_HOP_CHECK,
};

size_t ina_hop_got_size(u32 group);
size_t ina_hop_log_size(u32 group);
void ina_hop_init(struct ina_hop *hop, struct ina_queue *queue, u32 group);
void ina_hop_reset(struct ina_hop *hop, u32 epoch);
u32 ina_hop_credit(struct ina_hop *hop);
bool ina_hop_stamp(struct ina_hop *hop, u32 epoch, const u32 *slots, u32 count,
		   u32 *seq);
bool ina_hop_answered(struct ina_hop *hop, u32 epoch, u32 first, u32 count,
		      const u8 *missing, u32 earlier,
		      struct ina_hop_news *news);
bool ina_hop_ask(struct ina_hop *hop, bool (*needed)(void *arg, u32 slot),
		 void *arg, bool *silent, bool *credit);
bool ina_hop_done(struct ina_hop *hop, u32 *epoch, u32 *una, u32 *end);
enum ina_hop_todo ina_hop_received(struct ina_hop *hop, u32 epoch, u32 seq,
				   u32 count);
void ina_hop_refused(struct ina_hop *hop);
enum ina_hop_todo ina_hop_asked(struct ina_hop *hop, u32 epoch, u32 una,
				u32 end);
bool ina_hop_check(struct ina_hop *hop, bool *answer);
bool ina_hop_abandon(struct ina_hop *hop);
bool ina_hop_next_answer(struct ina_hop *hop, u32 *epoch,
			 struct ina_hop_answer *answer);

#endif /* _INA_HOP_H */
