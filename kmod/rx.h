/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one receive function behind the three entries, and what its files share.
 */
#ifndef _INA_RX_H
#define _INA_RX_H

#include <linux/in6.h>
#include <linux/skbuff.h>

#include "hop.h"

struct ina_child;
struct ina_net;
struct ina_node;
struct ina_pkt;

/**
 * struct ina_rx_info - what an entry knows of a packet
 * @saddr: sender, IPv4 mapped into IPv6
 * @daddr: destination
 * @offset: of the first ina header from skb->data
 * @need_crc: nothing below has verified a checksum
 * @marked: it has met congestion on its way
 */
struct ina_rx_info {
	struct in6_addr saddr;
	struct in6_addr daddr;
	unsigned int offset;
	bool need_crc;
	bool marked;
};

int ina_rx_init(void);
void ina_rx_exit(void);
void ina_rx(struct ina_net *inet, struct sk_buff *skb,
	    const struct ina_rx_info *info);
int ina_rx_child(struct ina_node *node, const struct ina_pkt *pkt,
		 const struct ina_rx_info *info, struct ina_child **child);
bool ina_rx_from_parent(const struct ina_node *node,
			const struct ina_rx_info *info);
void ina_rx_todo(struct ina_node *node, enum ina_hop_todo todo);
int ina_rx_control(struct ina_node *node, struct ina_pkt *pkt,
		   const struct ina_rx_info *info);

#endif /* _INA_RX_H */
