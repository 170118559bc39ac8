/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a path lead to the peer, and how long does it take?
 */
#ifndef _INA_PROBE_H
#define _INA_PROBE_H

#include <linux/types.h>

struct ina_node;
struct ina_peer;
struct ina_pkt;
struct net_device;
struct timer_list;

void ina_probe_start(struct ina_node *node);
void ina_probe_hurry(struct ina_node *node);
unsigned int ina_probe_wait(u32 asked, u64 rtt);
void ina_probe_tick(struct timer_list *timer);
int ina_probe_rx(struct ina_node *node, struct ina_peer *peer,
		 const struct ina_pkt *pkt);
void ina_probe_link(struct net_device *dev, bool link);

#endif /* _INA_PROBE_H */
