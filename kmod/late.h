/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds that wait for somebody.
 */
#ifndef _INA_LATE_H
#define _INA_LATE_H

#include "node.h"

/**
 * ina_late_limit_ms() - age at which the root ends a round that waits for somebody
 * @node: the node
 *
 * Nodes with workers wait a quarter longer for what it says: with some time to spare all are
 * told by the job's deadline. A job that degrades waits as long for who is late, and then
 * once more.
 * Return: milliseconds.
 */
static inline u32 ina_late_limit_ms(const struct ina_node *node)
{
	u32 ms = node->job->config.deadline_ms;

	return ina_node_degrades(node) ? ms : max(ms * 3 / 4, 1U);
}

bool ina_late_waits(const struct ina_node *node, const struct ina_round *entry);
unsigned int ina_late_tick(struct ina_node *node);
u32 ina_late_running(struct ina_node *node);
void ina_late_told(struct ina_node *node, u64 base, u32 running);
void ina_late_named(struct ina_node *node, struct ina_child *child,
		    const struct ina_tag *tag, const struct ina_blame *blame);
void ina_late_order(struct ina_node *node, const struct ina_tag *tag);

#endif /* _INA_LATE_H */
