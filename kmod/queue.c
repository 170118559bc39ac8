// SPDX-License-Identifier: GPL-2.0
/*
 * What waits to be sent to a neighbour. Context of all functions: any; but one
 * sender at a time picks.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/minmax.h>

#include "queue.h"

/**
 * ina_queue_size() - memory a queue needs
 * @slots: slots of the node
 *
 * Return: bytes.
 */
size_t ina_queue_size(u32 slots)
{
	return BITS_TO_LONGS(slots) * sizeof(long);
}

/**
 * ina_queue_init() - make a zeroed queue, which gets its memory later
 * @queue: it
 * @slots: slots of the node
 */
void ina_queue_init(struct ina_queue *queue, u32 slots)
{
	queue->slots = slots;
	queue->again = INA_QUEUE_NONE;
}

/* The less, the older is the round a slot is of. */
static u32 ina_queue_order(const struct ina_queue *queue, u32 slot)
{
	u32 oldest = READ_ONCE(queue->oldest);

	return slot - oldest + (slot < oldest ? queue->slots : 0);
}

/*
 * A slot that the search has passed: it goes on from there. Who looks just when it passes
 * may be late; then the slot has its turn after the others.
 */
static void ina_queue_rewind(struct ina_queue *queue, u32 slot)
{
	u32 order = ina_queue_order(queue, slot);
	u32 again = READ_ONCE(queue->again);

	if (order >= ina_queue_order(queue, READ_ONCE(queue->cursor)))
		return;
	do {
		if (again != INA_QUEUE_NONE &&
		    ina_queue_order(queue, again) <= order)
			return;
	} while (!try_cmpxchg(&queue->again, &again, slot));
}

/* Where the search goes on, if what is late is at @again. */
static u32 ina_queue_from(const struct ina_queue *queue, u32 again)
{
	return again != INA_QUEUE_NONE && ina_queue_order(queue, again) <
	       ina_queue_order(queue, queue->cursor) ? again : queue->cursor;
}

/**
 * ina_queue_add_range() - many slots are to be sent, before those of newer rounds
 * @queue: the queue
 * @oldest: the window begins there; if it has moved meanwhile only their order may be another
 * @first: number of the first
 * @count: how many
 */
void ina_queue_add_range(struct ina_queue *queue, u32 oldest, u32 first, u32 count)
{
	u32 slot = first, end = first + count, n;

	for (; slot < end; slot += n) {
		n = min_t(u32, end - slot, BITS_PER_LONG - slot % BITS_PER_LONG);
		atomic_long_or(GENMASK(n - 1, 0) << slot % BITS_PER_LONG,
			       (atomic_long_t *)&queue->pending[BIT_WORD(slot)]);
	}
	if (READ_ONCE(queue->oldest) != oldest)
		WRITE_ONCE(queue->oldest, oldest);
	ina_queue_rewind(queue, first);
}

/**
 * ina_queue_add_lost() - a slot is to be sent again, before those of newer rounds
 * @queue: the queue
 * @slot: its number
 */
void ina_queue_add_lost(struct ina_queue *queue, u32 slot)
{
	ina_queue_add(queue, slot);
	ina_queue_rewind(queue, slot);
}

static u32 ina_queue_next(const struct ina_queue *queue, u32 from)
{
	u32 slot = find_next_bit(queue->pending, queue->slots, from);

	return slot < queue->slots ? slot :
	       find_next_bit(queue->pending, queue->slots, 0);
}

/**
 * ina_queue_peek() - a slot that may be the next
 * @queue: the queue
 *
 * Return: its number, or -1 if nothing is pending.
 */
int ina_queue_peek(const struct ina_queue *queue)
{
	u32 from = ina_queue_from(queue, READ_ONCE(queue->again));
	u32 slot = ina_queue_next(queue, from);

	return slot < queue->slots ? slot : -1;
}

/**
 * ina_queue_pick() - the next slot to send, taken out of the queue
 * @queue: the queue; one sender at a time
 *
 * Return: its number, or -1 if nothing is pending.
 */
int ina_queue_pick(struct ina_queue *queue)
{
	u32 slot;

	/* Others wait for what is late, and the whole window for them. */
	if (READ_ONCE(queue->again) != INA_QUEUE_NONE)
		WRITE_ONCE(queue->cursor,
			   ina_queue_from(queue, xchg(&queue->again, INA_QUEUE_NONE)));
	do {
		slot = ina_queue_next(queue, queue->cursor);
		if (slot >= queue->slots)
			return -1;
	} while (!test_and_clear_bit(slot, queue->pending));
	WRITE_ONCE(queue->cursor, slot + 1 < queue->slots ? slot + 1 : 0);
	return slot;
}

/**
 * ina_queue_unpick() - a slot that was picked is the next again, but for older ones
 * @queue: the queue; one sender at a time
 * @slot: its number
 */
void ina_queue_unpick(struct ina_queue *queue, u32 slot)
{
	ina_queue_add(queue, slot);
	WRITE_ONCE(queue->cursor, ina_queue_from(queue, slot));
}
