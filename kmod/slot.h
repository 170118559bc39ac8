/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A slot sums one fragment of one round. Its tag (era, round) says whose
 * sum it holds; the first contribution under a newer tag takes it over.
 */
#ifndef _INA_SLOT_H
#define _INA_SLOT_H

#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "sum.h"

/**
 * enum ina_slot_state - how far a slot is
 * @INA_SLOT_SUMMING: contributors are missing
 * @INA_SLOT_COMPLETE: all are in; the result of the root is awaited
 * @INA_SLOT_RESULT: holds the sum over all workers
 */
enum ina_slot_state {
	INA_SLOT_SUMMING,
	INA_SLOT_COMPLETE,
	INA_SLOT_RESULT,
};

/**
 * struct ina_tag - whose sum it is
 * @round: full round number
 * @era: this node's own count of epochs, never 0; unlike the epoch's number
 *	it only grows, whoever the root is
 */
struct ina_tag {
	u64 round;
	u32 era;
};

/**
 * struct ina_part - what a contribution or result says of itself
 * @tag: era and round
 * @at: place of the round in the window
 * @length: elements of the round
 * @contributor: bit of the contributor; unused in a result
 * @workers: workers it counts
 * @token: sum of their tokens
 * @flags: INA_F_STICKY, those that are set
 * @wide: its elements are a partial sum and not those of one worker
 * @final: the round is complete at the root: a result needs no sum here
 * @entered: the round is known to have the length it says
 * @expected: contributors that are in the epoch, 0 for all
 */
struct ina_part {
	struct ina_tag tag;
	u32 at;
	u32 length;
	u16 contributor;
	u32 workers;
	u32 token;
	u16 flags;
	bool wide;
	bool final;
	bool entered;
	u16 expected;
};

/**
 * struct ina_sums - the elements of a slot
 * @type: of the elements
 * @acc: partial sums, wide
 * @result: what one worker gave, or the result, narrow; may be at @acc
 * @count: how many
 * @root: the complete sum is the result
 */
struct ina_sums {
	const struct ina_sum_type *type;
	void *acc;
	void *result;
	unsigned int count;
	bool root;
};

/**
 * struct ina_slot - sum of one fragment
 * @lock: protects everything below and the elements
 * @state: enum ina_slot_state
 * @empty: nobody is in
 * @narrow: the elements are those of one worker, and were not converted
 * @flags: INA_F_STICKY, those that any contribution or addition has set
 * @missing: contributors still to come
 * @tag: whose sum
 * @workers: workers counted so far
 * @token: sum of their tokens
 * @seen: bit per contributor that is in
 */
struct ina_slot {
	spinlock_t lock;	/* slot and elements */
	u8 state;
	bool empty;
	bool narrow;
	u16 flags;
	u16 missing;
	struct ina_tag tag;
	u32 workers;
	u32 token;
	unsigned long seen[];
} ____cacheline_aligned;

#define INA_SLOT_UP	BIT(0)
#define INA_SLOT_DOWN	BIT(1)

/**
 * enum ina_slot_verdict - what became of a contribution
 * @INA_SLOT_ADDED: counted, others are missing
 * @INA_SLOT_FULL: counted, it was the last
 * @INA_SLOT_DUPLICATE: this contributor was in already; nothing changed
 * @INA_SLOT_STALE: the slot belongs to a newer tag; nothing changed
 * @INA_SLOT_EARLY: a result for a slot that is not complete
 */
enum ina_slot_verdict {
	INA_SLOT_ADDED,
	INA_SLOT_FULL,
	INA_SLOT_DUPLICATE,
	INA_SLOT_STALE,
	INA_SLOT_EARLY,
};

void ina_slot_init(struct ina_slot *slot);
enum ina_slot_verdict ina_slot_add(struct ina_slot *slot,
				   const struct ina_sum_ctx *ctx,
				   struct ina_part *part, u16 contributors,
				   const struct ina_sums *sums,
				   const void *src);
enum ina_slot_verdict ina_slot_result(struct ina_slot *slot,
				      const struct ina_part *part,
				      u16 contributors,
				      const struct ina_sums *sums,
				      const void *src);
bool ina_slot_publish(struct ina_slot *slot, const struct ina_tag *tag);
bool ina_slot_emit(struct ina_slot *slot, u8 way, struct ina_part *part,
		   void *dst, const struct ina_sums *sums);
bool ina_slot_peek(const struct ina_slot *slot, u8 way, struct ina_part *part);
void ina_slot_common(struct ina_slot *slot, const struct ina_tag *tag,
		     unsigned long *seen, u16 contributors);
bool ina_slot_has(struct ina_slot *slot, const struct ina_tag *tag,
		  u16 contributor);

/**
 * ina_tag_newer() - does a tag come after another
 * @a: one
 * @b: the other
 *
 * Return: true if @a comes after @b.
 */
static inline bool ina_tag_newer(const struct ina_tag *a,
				 const struct ina_tag *b)
{
	if (a->era != b->era)
		return (s32)(a->era - b->era) > 0;
	return a->round > b->round;
}

/**
 * ina_tag_equal() - are two tags the same
 * @a: one
 * @b: the other
 *
 * Return: true if they are.
 */
static inline bool ina_tag_equal(const struct ina_tag *a,
				 const struct ina_tag *b)
{
	return a->era == b->era && a->round == b->round;
}

#endif /* _INA_SLOT_H */
