// SPDX-License-Identifier: GPL-2.0
/*
 * Claim, add, complete. Every contributor counts once under a tag, whatever
 * the order of arrival and whichever CPU it arrives on: tag, bitmap and
 * elements change together under the slot's lock.
 * Context of all functions: process or softirq; they disable bottom halves.
 */
#include <linux/bitmap.h>

#include "slot.h"
#include "sum.h"
#include "wire.h"

/**
 * ina_slot_init() - make a zeroed slot usable
 * @slot: it; era 0 is older than any
 */
void ina_slot_init(struct ina_slot *slot)
{
	spin_lock_init(&slot->lock);
}

/* The first contribution under a newer tag: forget the former owner. */
static void ina_slot_claim(struct ina_slot *slot, const struct ina_part *part,
			   u16 contributors)
{
	lockdep_assert_held(&slot->lock);
	slot->tag = part->tag;
	slot->state = INA_SLOT_SUMMING;
	slot->flags = 0;
	slot->missing = part->expected ?: contributors;
	slot->workers = 0;
	slot->token = 0;
	bitmap_zero(slot->seen, contributors);
}

static bool ina_slot_owns(struct ina_slot *slot, const struct ina_part *part,
			  u16 contributors)
{
	if (ina_tag_equal(&slot->tag, &part->tag))
		return true;
	/* Era 0 marks a slot never used. */
	if (slot->tag.era && !ina_tag_newer(&part->tag, &slot->tag))
		return false;
	ina_slot_claim(slot, part, contributors);
	return true;
}

/* Store or add the elements and count the contributor. */
static void ina_slot_take(struct ina_slot *slot, const struct ina_part *part,
			  bool first, s32 *acc, const void *src,
			  unsigned int count)
{
	slot->flags |= part->flags & INA_F_OVERFLOW;
	if (first)
		ina_sum_s32_store(acc, src, count);
	else if (ina_sum_s32_add(acc, src, count))
		slot->flags |= INA_F_OVERFLOW;
	__set_bit(part->contributor, slot->seen);
	slot->workers += part->workers;
	slot->token += part->token;
	slot->missing--;
}

/**
 * ina_slot_add() - add a contribution
 * @slot: the slot
 * @part: what the contribution says of itself; if it was the last, the counts
 *	and flags of the whole sum are returned here
 * @contributors: how many there are; @part->contributor is below
 * @acc: elements of the slot
 * @src: elements of the contribution, little-endian
 * @count: elements
 *
 * Return: ADDED, FULL, DUPLICATE or STALE.
 */
enum ina_slot_verdict ina_slot_add(struct ina_slot *slot, struct ina_part *part,
				   u16 contributors, s32 *acc, const void *src,
				   unsigned int count)
{
	enum ina_slot_verdict verdict = INA_SLOT_ADDED;

	spin_lock_bh(&slot->lock);
	if (!ina_slot_owns(slot, part, contributors)) {
		verdict = INA_SLOT_STALE;
	} else if (slot->state != INA_SLOT_SUMMING ||
		   test_bit(part->contributor, slot->seen)) {
		verdict = INA_SLOT_DUPLICATE;
	} else {
		ina_slot_take(slot, part,
			      bitmap_empty(slot->seen, contributors), acc, src,
			      count);
		if (!slot->missing) {
			slot->state = INA_SLOT_COMPLETE;
			part->workers = slot->workers;
			part->token = slot->token;
			part->flags = slot->flags;
			verdict = INA_SLOT_FULL;
		}
	}
	spin_unlock_bh(&slot->lock);
	return verdict;
}

/**
 * ina_slot_result() - store the result of the root
 * @slot: the slot
 * @part: what the result says of itself
 * @contributors: how many there are
 * @acc: elements of the slot
 * @src: elements of the result, little-endian
 * @count: elements
 *
 * The partial sum is overwritten: it is dead once the root has counted it.
 * Return: FULL when stored, DUPLICATE, STALE, or EARLY if this node has not
 * sent its own sum up and the round is not final, so the result cannot contain
 * it.
 */
enum ina_slot_verdict ina_slot_result(struct ina_slot *slot,
				      const struct ina_part *part,
				      u16 contributors, s32 *acc,
				      const void *src, unsigned int count)
{
	enum ina_slot_verdict verdict = INA_SLOT_FULL;

	spin_lock_bh(&slot->lock);
	if (!ina_tag_equal(&slot->tag, &part->tag) &&
	    !(part->final && ina_slot_owns(slot, part, contributors))) {
		verdict = ina_tag_newer(&part->tag, &slot->tag) ?
			  INA_SLOT_EARLY : INA_SLOT_STALE;
	} else if (slot->state == INA_SLOT_RESULT) {
		verdict = INA_SLOT_DUPLICATE;
	} else if (slot->state != INA_SLOT_COMPLETE && !part->final) {
		verdict = INA_SLOT_EARLY;
	} else {
		ina_sum_s32_store(acc, src, count);
		slot->state = INA_SLOT_RESULT;
		slot->flags = part->flags & INA_F_OVERFLOW;
		slot->workers = part->workers;
		slot->token = part->token;
	}
	spin_unlock_bh(&slot->lock);
	return verdict;
}

/**
 * ina_slot_publish() - at the root, the complete sum is the result
 * @slot: the slot
 * @tag: whose sum
 *
 * Return: false if the slot has gone to another tag meanwhile.
 */
bool ina_slot_publish(struct ina_slot *slot, const struct ina_tag *tag)
{
	bool ok;

	spin_lock_bh(&slot->lock);
	ok = ina_tag_equal(&slot->tag, tag) &&
	     slot->state == INA_SLOT_COMPLETE;
	if (ok)
		slot->state = INA_SLOT_RESULT;
	spin_unlock_bh(&slot->lock);
	return ok;
}

/* Has the slot something to send this way? */
static bool ina_slot_ready(const struct ina_slot *slot, u8 way)
{
	return slot->state == (way == INA_SLOT_UP ? INA_SLOT_COMPLETE :
			       INA_SLOT_RESULT);
}

/**
 * ina_slot_peek() - whose sum would be sent
 * @slot: the slot
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 * @tag: where the tag goes
 *
 * Return: false if there is nothing to send this way.
 */
bool ina_slot_peek(struct ina_slot *slot, u8 way, struct ina_tag *tag)
{
	bool ready;

	spin_lock_bh(&slot->lock);
	ready = ina_slot_ready(slot, way);
	*tag = slot->tag;
	spin_unlock_bh(&slot->lock);
	return ready;
}

/**
 * ina_slot_emit() - copy a sum into a packet
 * @slot: the slot
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 * @part: in: the tag expected; out: counts and flags of the sum
 * @dst: where the little-endian elements go
 * @acc: elements of the slot
 * @count: elements
 *
 * Return: false if the slot has gone to another tag or state meanwhile.
 */
bool ina_slot_emit(struct ina_slot *slot, u8 way, struct ina_part *part,
		   void *dst, const s32 *acc, unsigned int count)
{
	bool ok;

	spin_lock_bh(&slot->lock);
	ok = ina_tag_equal(&slot->tag, &part->tag) && ina_slot_ready(slot, way);
	if (ok) {
		part->workers = slot->workers;
		part->token = slot->token;
		part->flags = slot->flags;
		ina_sum_s32_emit(dst, acc, count);
	}
	spin_unlock_bh(&slot->lock);
	return ok;
}

/**
 * ina_slot_common() - who has contributed to this sum, too
 * @slot: the slot
 * @tag: whose sum
 * @seen: a bit for each contributor; cleared if it has not
 * @contributors: how many there are
 */
void ina_slot_common(struct ina_slot *slot, const struct ina_tag *tag,
		     unsigned long *seen, u16 contributors)
{
	spin_lock_bh(&slot->lock);
	if (!ina_tag_equal(&slot->tag, tag))
		bitmap_zero(seen, contributors);
	else if (slot->state == INA_SLOT_SUMMING)
		bitmap_and(seen, seen, slot->seen, contributors);
	spin_unlock_bh(&slot->lock);
}

/**
 * ina_slot_has() - has this one contributed
 * @slot: the slot
 * @tag: whose sum
 * @contributor: who
 *
 * Return: true if so.
 */
bool ina_slot_has(struct ina_slot *slot, const struct ina_tag *tag,
		  u16 contributor)
{
	bool has;

	spin_lock_bh(&slot->lock);
	has = ina_tag_equal(&slot->tag, tag) &&
	      test_bit(contributor, slot->seen);
	spin_unlock_bh(&slot->lock);
	return has;
}
