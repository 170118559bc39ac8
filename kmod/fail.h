/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds that fail.
 */
#ifndef _INA_FAIL_H
#define _INA_FAIL_H

#include "node.h"

bool ina_fail_round(struct ina_node *node, const struct ina_tag *tag,
		    const struct ina_blame *blame);
const struct ina_blame *ina_fail_left(struct ina_node *node,
				      const struct ina_blame *blame);
void ina_fail_round_from(struct ina_node *node, const struct ina_tag *tag,
			 const struct ina_blame *blame);
bool ina_fail_round_locked(struct ina_node *node, const struct ina_tag *tag,
			   const struct ina_blame *blame);
void ina_fail_entry(struct ina_node *node, struct ina_round *entry,
		    const struct ina_blame *blame);
void ina_fail_all(struct ina_node *node, const struct ina_blame *blame);
void ina_fail_gone(struct ina_node *node, const struct ina_blame *blame);
void ina_fail_incomplete(struct ina_node *node, const struct ina_blame *blame);
void ina_fail_report(struct ina_node *node, const struct ina_tag *tag,
		     const struct ina_blame *blame);
void ina_fail_repeat(struct ina_node *node);
bool ina_fail_untold(const struct ina_node *node,
		     const struct ina_round *entry);

#endif /* _INA_FAIL_H */
