/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one receive function behind the three entries.
 */
#ifndef _INA_RX_H
#define _INA_RX_H

#include <linux/in6.h>
#include <linux/skbuff.h>

struct ina_net;

/**
 * struct ina_rx_info - what an entry knows of a packet
 * @saddr: sender, IPv4 mapped into IPv6
 * @daddr: destination
 * @offset: of the first ina header from skb->data
 * @need_crc: nothing below has verified a checksum
 */
struct ina_rx_info {
	struct in6_addr saddr;
	struct in6_addr daddr;
	unsigned int offset;
	bool need_crc;
};

int ina_rx_init(void);
void ina_rx_exit(void);
void ina_rx(struct ina_net *inet, struct sk_buff *skb,
	    const struct ina_rx_info *info);

#endif /* _INA_RX_H */
