/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entry 1 of the receive path: the ingress hook of configured devices.
 */
#ifndef _INA_INGRESS_H
#define _INA_INGRESS_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>

struct ina_net;
struct netlink_ext_ack;

/**
 * struct ina_dev - a device with our hook
 * @list: in ina_net.devs; changed under RTNL, read under RCU
 * @dev: the device; gone from the list before it is
 * @link: it is up and has a carrier
 * @rate: bytes per second the operator lets us use, 0: all
 * @speed: bytes per second of the link, 0 if unknown
 * @ops: the hook
 */
struct ina_dev {
	struct list_head list;
	struct net_device *dev;
	bool link;
	u64 rate;
	u64 speed;
	struct nf_hook_ops ops;
};

struct ina_dev *ina_ingress_find(struct ina_net *inet, u32 ifindex);
int ina_ingress_init(void);
void ina_ingress_exit(void);
int ina_ingress_add(struct ina_net *inet, u32 ifindex,
		    struct netlink_ext_ack *extack);
int ina_ingress_del(struct ina_net *inet, u32 ifindex,
		    struct netlink_ext_ack *extack);
int ina_ingress_set(struct ina_net *inet, u32 ifindex, u64 rate,
		    struct netlink_ext_ack *extack);
u64 ina_ingress_rate(struct ina_net *inet, u32 ifindex);
void ina_ingress_flush(struct ina_net *inet);

#endif /* _INA_INGRESS_H */
