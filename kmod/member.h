/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Membership: who is in, under which epoch.
 */
#ifndef _INA_MEMBER_H
#define _INA_MEMBER_H

#include "node.h"
#include "wire.h"

void ina_member_rx_join(struct ina_node *node, const struct ina_pkt *pkt,
			const struct in6_addr *from);
void ina_member_rx_welcome(struct ina_node *node, const struct ina_pkt *pkt);
void ina_member_rx_epoch(struct ina_node *node, const struct ina_pkt *pkt);
void ina_member_rx_ack(struct ina_node *node, struct ina_child *child,
		       const struct ina_pkt *pkt);
u64 ina_member_floor(const struct ina_node *node);
u32 ina_member_last_epoch(const struct ina_node *node);
void ina_member_changed(struct ina_node *node, const struct ina_blame *blame);
void ina_member_stranger(struct ina_node *node, struct ina_child *child);
void ina_member_repeat(struct ina_node *node);
bool ina_member_waiting(const struct ina_node *node);

#endif /* _INA_MEMBER_H */
