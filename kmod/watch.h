/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Neighbours that fall silent, and come back.
 */
#ifndef _INA_WATCH_H
#define _INA_WATCH_H

struct ina_node;
struct ina_peer;

void ina_watch_deaf(struct ina_node *node, struct ina_peer *peer);
void ina_watch_answers(struct ina_node *node, struct ina_peer *peer);
void ina_watch_alive(struct ina_node *node, struct ina_peer *peer);
void ina_watch_tick(struct ina_node *node);

#endif /* _INA_WATCH_H */
