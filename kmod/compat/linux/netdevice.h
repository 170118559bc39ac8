/* SPDX-License-Identifier: GPL-2.0 */
/* From 6.3 on, devices have another limit for super-packets of IPv4. */
#ifndef _INA_COMPAT_LINUX_NETDEVICE_H
#define _INA_COMPAT_LINUX_NETDEVICE_H

#include_next <linux/netdevice.h>
#include <linux/version.h>

static inline unsigned int ina_gso_max_size(const struct net_device *dev,
					    bool v4)
{
#if KERNEL_VERSION(6, 3, 0) <= LINUX_VERSION_CODE
	if (v4)
		return READ_ONCE(dev->gso_ipv4_max_size);
#endif
	return READ_ONCE(dev->gso_max_size);
}

#endif /* _INA_COMPAT_LINUX_NETDEVICE_H */
