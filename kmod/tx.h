/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending sums from a queue that respects the send buffer; room in it for control.
 */
#ifndef _INA_TX_H
#define _INA_TX_H

#include "node.h"

#define INA_TX_BUDGET	256	/* packets sent in one go */

int ina_tx_init(struct ina_node *node);
void ina_tx_quiet(struct ina_node *node);
void ina_tx_unhold(struct ina_node *node);
void ina_tx_exit(struct ina_node *node);
void ina_tx_queue(struct ina_node *node, u32 slot, u32 count, u8 way);
void ina_tx_ready(struct ina_node *node, u16 index);
bool ina_tx_crowded(const struct ina_node *node);
bool ina_tx_wait(struct ina_node *node);
bool ina_tx_waits(const struct ina_node *node);
void ina_tx_run(struct ina_node *node, int budget);

#endif /* _INA_TX_H */
