/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What waits to be sent to a neighbour: slots, a bit each, whichever path they
 * will take. One sender at a time picks, anybody adds.
 */
#ifndef _INA_QUEUE_H
#define _INA_QUEUE_H

#include <linux/bitops.h>
#include <linux/types.h>

#define INA_QUEUE_NONE	U32_MAX	/* no slot */

/**
 * struct ina_queue - what waits to be sent to a neighbour
 * @pending: bit per slot that is to be sent; atomic
 * @slots: bits in @pending
 * @oldest: the window begins there; whoever adds slots tells
 * @cursor: where the search in @pending goes on; written by the sender
 * @again: the oldest slot that came after the search had passed, which goes on from
 *	there; atomic
 */
struct ina_queue {
	unsigned long *pending;
	u32 slots;
	u32 oldest;
	u32 cursor;
	u32 again;
};

size_t ina_queue_size(u32 slots);
void ina_queue_init(struct ina_queue *queue, u32 slots);
void ina_queue_add_range(struct ina_queue *queue, u32 oldest, u32 first, u32 count);
void ina_queue_add_lost(struct ina_queue *queue, u32 slot);
int ina_queue_peek(const struct ina_queue *queue);
int ina_queue_pick(struct ina_queue *queue);
void ina_queue_unpick(struct ina_queue *queue, u32 slot);

/**
 * ina_queue_add() - a slot is to be sent
 * @queue: the queue
 * @slot: its number
 *
 * Context: any.
 */
static inline void ina_queue_add(struct ina_queue *queue, u32 slot)
{
	set_bit(slot, queue->pending);
}

/**
 * ina_queue_is_empty() - is nothing pending
 * @queue: the queue
 *
 * Context: any.
 * Return: true if so.
 */
static inline bool ina_queue_is_empty(const struct ina_queue *queue)
{
	return find_first_bit(queue->pending, queue->slots) >= queue->slots;
}

#endif /* _INA_QUEUE_H */
