/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Another place for a node that goes on.
 */
#ifndef _INA_TREE_H
#define _INA_TREE_H

#include "node.h"

bool ina_tree_fits(const struct ina_node *node, const struct ina_tree *tree);
int ina_tree_change(struct ina_node *node, const struct ina_tree *tree,
		    struct netlink_ext_ack *extack);

#endif /* _INA_TREE_H */
