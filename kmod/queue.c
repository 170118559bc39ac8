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

/**
 * ina_queue_add_range() - many slots are to be sent
 * @queue: the queue
 * @first: number of the first
 * @count: how many
 */
void ina_queue_add_range(struct ina_queue *queue, u32 first, u32 count)
{
	u32 slot = first, end = first + count, n;

	for (; slot < end; slot += n) {
		n = min_t(u32, end - slot, BITS_PER_LONG - slot % BITS_PER_LONG);
		atomic_long_or(GENMASK(n - 1, 0) << slot % BITS_PER_LONG,
			       (atomic_long_t *)&queue->pending[BIT_WORD(slot)]);
	}
}

/**
 * ina_queue_add_lost() - a slot is to be sent again, before others
 * @queue: the queue
 * @slot: its number
 */
void ina_queue_add_lost(struct ina_queue *queue, u32 slot)
{
	ina_queue_add(queue, slot);
	/* Others are mostly behind the first; those that are not have their turn. */
	cmpxchg(&queue->again, INA_QUEUE_NONE, slot);
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
	u32 slot = ina_queue_next(queue, queue->cursor);

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

	/* Others wait for what was lost, and all behind it for them. */
	if (READ_ONCE(queue->again) != INA_QUEUE_NONE)
		queue->cursor = xchg(&queue->again, INA_QUEUE_NONE);
	do {
		slot = ina_queue_next(queue, queue->cursor);
		if (slot >= queue->slots)
			return -1;
	} while (!test_and_clear_bit(slot, queue->pending));
	queue->cursor = slot + 1;
	return slot;
}

/**
 * ina_queue_unpick() - a slot that was picked is the next again
 * @queue: the queue; one sender at a time
 * @slot: its number
 */
void ina_queue_unpick(struct ina_queue *queue, u32 slot)
{
	ina_queue_add(queue, slot);
	queue->cursor = slot;
}
