/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds that wait for somebody.
 */
#ifndef _INA_LATE_H
#define _INA_LATE_H

#include "node.h"

bool ina_late_waits(const struct ina_node *node, const struct ina_round *entry);
unsigned int ina_late_tick(struct ina_node *node);
u32 ina_late_running(struct ina_node *node);
void ina_late_told(struct ina_node *node, u64 base, u32 running);
void ina_late_named(struct ina_node *node, struct ina_child *child,
		    const struct ina_tag *tag, const struct ina_blame *blame);
void ina_late_order(struct ina_node *node, const struct ina_tag *tag);

#endif /* _INA_LATE_H */
