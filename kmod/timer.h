/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens by the clock.
 */
#ifndef _INA_TIMER_H
#define _INA_TIMER_H

#include <linux/workqueue.h>

void ina_timer_tick(struct work_struct *work);

#endif /* _INA_TIMER_H */
