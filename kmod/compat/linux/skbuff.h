/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.11 an skb only knew whether its departure time was of CLOCK_MONOTONIC. */
#ifndef _INA_COMPAT_LINUX_SKBUFF_H
#define _INA_COMPAT_LINUX_SKBUFF_H

#include_next <linux/skbuff.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 11, 0) > LINUX_VERSION_CODE
static inline void skb_set_delivery_type_by_clockid(struct sk_buff *skb,
						    ktime_t kt,
						    clockid_t clockid)
{
	skb_set_delivery_time(skb, kt, clockid == CLOCK_MONOTONIC);
}
#endif

#endif /* _INA_COMPAT_LINUX_SKBUFF_H */
