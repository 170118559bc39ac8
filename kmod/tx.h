/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending: control packets at once, sums from a queue that respects the send
 * buffer.
 */
#ifndef _INA_TX_H
#define _INA_TX_H

#include "node.h"
#include "wire.h"

#define INA_TX_BUDGET	256	/* packets sent in one go */

int ina_tx_init(struct ina_node *node);
void ina_tx_exit(struct ina_node *node);
void ina_tx_queue(struct ina_node *node, u32 slot, u8 way);
void ina_tx_ready(struct ina_node *node, u16 index);
bool ina_tx_waits(const struct ina_node *node);
void ina_tx_run(struct ina_node *node, int budget);
int ina_tx_control(struct ina_node *node, struct ina_peer *peer,
		   const struct ina_pkt *pkt, const void *body);
void ina_tx_stranger(struct ina_node *node, const struct in6_addr *to,
		     const struct ina_join_hdr *join);
unsigned int ina_tx_size(const struct ina_node *node, bool wide);
int ina_tx_source(struct net *net, const struct in6_addr *to,
		  struct in6_addr *source, unsigned int *mtu);

#endif /* _INA_TX_H */
