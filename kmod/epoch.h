/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Epochs: one membership after the other.
 */
#ifndef _INA_EPOCH_H
#define _INA_EPOCH_H

#include "node.h"

/**
 * struct ina_epoch - a membership, as the root announces it
 * @number: of the epoch
 * @members: workers
 * @token: sum of their tokens
 * @ranks: a bit for each of their ranks
 * @nranks: bits in @ranks
 * @base: first round not acknowledged by all
 * @root: instance of the root
 * @over: rounds that are not summed again
 */
struct ina_epoch {
	u32 number;
	u32 members;
	u32 token;
	const u8 *ranks;
	u16 nranks;
	u64 base;
	u64 root;
	struct ina_over over;
};

void ina_epoch_open_try(struct ina_node *node);
void ina_epoch_close(struct ina_node *node, const struct ina_blame *blame);
void ina_epoch_follow(struct ina_node *node, const struct ina_epoch *e);
void ina_epoch_announce(struct ina_node *node);
void ina_epoch_redistribute(struct ina_node *node, u16 index);
struct ina_over ina_epoch_over(struct ina_node *node, bool kept);

/**
 * ina_epoch_published() - epoch << 32 | era, 0 before the first epoch
 * @node: the node
 *
 * Context: any; who sees an epoch sees its members and base.
 * Return: both numbers in one word.
 */
static inline u64 ina_epoch_published(const struct ina_node *node)
{
	/* Pairs with the release in ina_epoch_open(). */
	return smp_load_acquire(&node->epoch_era);
}

#endif /* _INA_EPOCH_H */
