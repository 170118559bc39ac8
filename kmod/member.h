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
void ina_member_changed(struct ina_node *node, const struct ina_blame *blame);
void ina_member_stranger(struct ina_node *node, struct ina_child *child);
void ina_member_open_try(struct ina_node *node);
void ina_member_close(struct ina_node *node, const struct ina_blame *blame);
void ina_member_repeat(struct ina_node *node);
bool ina_member_waiting(const struct ina_node *node);
void ina_member_flush(struct ina_node *node);
bool ina_member_is_open(const struct ina_node *node);

#endif /* _INA_MEMBER_H */
