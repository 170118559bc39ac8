/* SPDX-License-Identifier: GPL-2.0 */
/* In 7.2 a notifier may hold a lock that __ethtool_get_link_ksettings() takes. */
#ifndef _INA_COMPAT_LINUX_ETHTOOL_H
#define _INA_COMPAT_LINUX_ETHTOOL_H

#include_next <linux/ethtool.h>
#include <linux/version.h>

#if KERNEL_VERSION(7, 2, 0) > LINUX_VERSION_CODE
static inline int
netif_get_link_ksettings(struct net_device *dev,
			 struct ethtool_link_ksettings *settings)
{
	return __ethtool_get_link_ksettings(dev, settings);
}
#endif

#endif /* _INA_COMPAT_LINUX_ETHTOOL_H */
