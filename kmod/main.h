/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What belongs to the module as a whole.
 */
#ifndef _INA_MAIN_H
#define _INA_MAIN_H

struct workqueue_struct;

/* Runs the work of all nodes. */
extern struct workqueue_struct *ina_workqueue;

#endif /* _INA_MAIN_H */
