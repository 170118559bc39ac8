/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control packets that wait to be sent.
 */
#ifndef _INA_CONTROL_H
#define _INA_CONTROL_H

#include "node.h"

void ina_control_flush(struct ina_node *node);
void ina_control_goodbye(struct ina_node *node);

#endif /* _INA_CONTROL_H */
