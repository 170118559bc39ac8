/* SPDX-License-Identifier: GPL-2.0 */
/* Programs are preempted anyhow. */
#ifndef _INA_SHIM_SCHED_H
#define _INA_SHIM_SCHED_H

static inline void cond_resched(void)
{
}

#endif
