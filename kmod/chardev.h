/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/ina
 */
#ifndef _INA_CHARDEV_H
#define _INA_CHARDEV_H

int ina_chardev_init(void);
void ina_chardev_exit(void);

#endif /* _INA_CHARDEV_H */
