// SPDX-License-Identifier: GPL-2.0
/*
 * Claim, add, complete. Every contributor counts once under a tag, whatever
 * the order of arrival and whichever CPU it arrives on: tag, bitmap and
 * elements change together under the slot's lock.
 * Context of all functions: process or softirq; they disable bottom halves.
 */
#include <linux/bitmap.h>
#include <linux/string.h>

#include "slot.h"
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
	slot->empty = true;
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

static void ina_slot_copy(const struct ina_sums *sums, void *dst,
			  const void *src)
{
	memcpy(dst, src, sums->count * ina_sum_narrow(sums->type->dtype));
}

/* Store the elements if they are the first, else add them. Return: INA_F_*. */
static u16 ina_slot_sum(const struct ina_sum_ctx *ctx, bool first, bool wide,
			const struct ina_sums *sums, const void *src)
{
	if (first)
		return wide ? ina_sum_store_wide(ctx, sums->type, sums->acc,
						 src, sums->count) :
			      ina_sum_store(ctx, sums->type, sums->acc, src,
					    sums->count);
	return wide ? ina_sum_add_wide(ctx, sums->type, sums->acc, src,
				       sums->count) :
		      ina_sum_add(ctx, sums->type, sums->acc, src, sums->count);
}

/*
 * Take the elements and count the contributor. What one worker alone gave goes
 * on as it is. At the root the last one makes the result, before anybody counts
 * it as held.
 */
static void ina_slot_take(struct ina_slot *slot, const struct ina_sum_ctx *ctx,
			  const struct ina_part *part,
			  const struct ina_sums *sums, const void *src)
{
	bool first = slot->empty, last = slot->missing == 1;

	slot->flags |= part->flags & INA_F_STICKY;
	slot->narrow = first && last && !part->wide && !sums->root;
	if (slot->narrow)
		ina_slot_copy(sums, sums->result, src);
	else
		slot->flags |= ina_slot_sum(ctx, first, part->wide, sums, src);
	if (last && sums->root)
		ina_sum_finish(ctx, sums->type, sums->result, sums->acc,
			       sums->count);
	__set_bit(part->contributor, slot->seen);
	slot->empty = false;
	slot->workers += part->workers;
	slot->token += part->token;
	slot->missing--;
}

/**
 * ina_slot_add() - add a contribution
 * @slot: the slot
 * @ctx: of ina_sum_begin()
 * @part: what the contribution says of itself; if it was the last, the counts
 *	and flags of the whole sum are returned here
 * @contributors: how many there are; @part->contributor is below
 * @sums: elements of the slot
 * @src: elements of the contribution, little-endian
 *
 * Return: ADDED, FULL, DUPLICATE or STALE.
 */
enum ina_slot_verdict ina_slot_add(struct ina_slot *slot,
				   const struct ina_sum_ctx *ctx,
				   struct ina_part *part, u16 contributors,
				   const struct ina_sums *sums, const void *src)
{
	enum ina_slot_verdict verdict = INA_SLOT_ADDED;

	spin_lock_bh(&slot->lock);
	if (!ina_slot_owns(slot, part, contributors)) {
		verdict = INA_SLOT_STALE;
	} else if (slot->state != INA_SLOT_SUMMING ||
		   test_bit(part->contributor, slot->seen)) {
		verdict = INA_SLOT_DUPLICATE;
	} else {
		ina_slot_take(slot, ctx, part, sums, src);
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
 * @sums: elements of the slot
 * @src: elements of the result, narrow, little-endian
 *
 * The partial sum is overwritten: it is dead once the root has counted it.
 * Return: FULL when stored, DUPLICATE, STALE, or EARLY if this node has not
 * sent its own sum up and the round is not final, so the result cannot contain
 * it.
 */
enum ina_slot_verdict ina_slot_result(struct ina_slot *slot,
				      const struct ina_part *part,
				      u16 contributors,
				      const struct ina_sums *sums,
				      const void *src)
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
		ina_slot_copy(sums, sums->result, src);
		slot->state = INA_SLOT_RESULT;
		slot->flags = part->flags & INA_F_STICKY;
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
	return READ_ONCE(slot->state) == (way == INA_SLOT_UP ?
					  INA_SLOT_COMPLETE : INA_SLOT_RESULT);
}

/* Sums of several workers go up wide, all else is as a worker has it. */
static bool ina_slot_wide(const struct ina_slot *slot, u8 way)
{
	return way == INA_SLOT_UP && !READ_ONCE(slot->narrow);
}

/**
 * ina_slot_peek() - whose sum would be sent
 * @slot: the slot
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 * @part: out: the tag, and whether it is wide
 *
 * Without its lock: a slot that changes meanwhile has nothing to send any more, or
 * will be queued anew. ina_slot_emit() looks again.
 * Return: false if there is nothing to send this way.
 */
bool ina_slot_peek(const struct ina_slot *slot, u8 way, struct ina_part *part)
{
	part->tag.era = READ_ONCE(slot->tag.era);
	part->tag.round = READ_ONCE(slot->tag.round);
	part->wide = ina_slot_wide(slot, way);
	return ina_slot_ready(slot, way);
}

/**
 * ina_slot_emit() - copy a sum into a packet
 * @slot: the slot
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 * @part: in: what ina_slot_peek() found; out: counts and flags of the sum
 * @dst: where the little-endian elements go, or NULL if they are there already
 * @sums: elements of the slot
 *
 * Return: false if the slot has gone to another tag or state meanwhile.
 */
bool ina_slot_emit(struct ina_slot *slot, u8 way, struct ina_part *part,
		   void *dst, const struct ina_sums *sums)
{
	bool ok;

	spin_lock_bh(&slot->lock);
	ok = ina_tag_equal(&slot->tag, &part->tag) &&
	     ina_slot_ready(slot, way) &&
	     ina_slot_wide(slot, way) == part->wide;
	if (ok) {
		part->workers = slot->workers;
		part->token = slot->token;
		part->flags = slot->flags;
		if (dst && part->wide)
			memcpy(dst, sums->acc, sums->count *
			       ina_sum_wide(sums->type->dtype));
		else if (dst)
			ina_slot_copy(sums, dst, sums->result);
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
