/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What rxbench.c and rxstub.c share.
 */
#ifndef _INA_RXBENCH_H
#define _INA_RXBENCH_H

extern unsigned long rx_failed;	/* rounds that failed: none may */

#endif /* _INA_RXBENCH_H */
