/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family.
 */
#ifndef _INA_NETLINK_H
#define _INA_NETLINK_H

int ina_netlink_init(void);
void ina_netlink_exit(void);

#endif /* _INA_NETLINK_H */
