/* SPDX-License-Identifier: GPL-2.0 */
/* hrtimer_setup() came with 6.13. */
#ifndef _INA_COMPAT_LINUX_HRTIMER_H
#define _INA_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* _INA_COMPAT_LINUX_HRTIMER_H */
