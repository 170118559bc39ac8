/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Can a node have a place in the tree.
 */
#ifndef _INA_PLACE_H
#define _INA_PLACE_H

#include "node.h"

bool ina_place_is_local(struct net *net, const struct in6_addr *addr);
int ina_place_settle(struct ina_job *job, const struct ina_tree *tree,
		     struct netlink_ext_ack *extack);
int ina_place_check(struct ina_node *node, const struct ina_tree *tree,
		    u16 *mtu, struct netlink_ext_ack *extack);

#endif /* _INA_PLACE_H */
