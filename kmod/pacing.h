/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who holds packets back until they may leave a device.
 */
#ifndef _INA_PACING_H
#define _INA_PACING_H

#include <uapi/linux/ina.h>

struct net_device;

enum ina_pacing ina_pacing_of(const struct net_device *dev);

#endif /* _INA_PACING_H */
