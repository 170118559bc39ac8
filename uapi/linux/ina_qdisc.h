/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The queueing discipline "ina": the attributes below TCA_OPTIONS that set its options,
 * and what it tells in TCA_STATS_APP.
 */
#ifndef _UAPI_LINUX_INA_QDISC_H
#define _UAPI_LINUX_INA_QDISC_H

#include <linux/types.h>

/**
 * enum ina_qdisc_attr - options, all of 32 bits
 *
 * @INA_QDISC_UNSPEC: none
 * @INA_QDISC_LIMIT: packets, or super-packets, that may wait
 * @INA_QDISC_HORIZON: milliseconds; who is to leave later than that leaves then
 * @__INA_QDISC_MAX: one more than there are
 * @INA_QDISC_MAX: the last
 */
enum ina_qdisc_attr {
	INA_QDISC_UNSPEC,
	INA_QDISC_LIMIT,
	INA_QDISC_HORIZON,

	__INA_QDISC_MAX,
	INA_QDISC_MAX = (__INA_QDISC_MAX - 1)
};

/**
 * struct ina_qdisc_stats - options and statistics
 *
 * The options are here and not in TCA_OPTIONS, since tc(8), which does not know them,
 * would put a remark into the middle of its JSON. Packets are skbs: a super-packet is one.
 *
 * @paced: packets that left at their departure time or later
 * @unpaced: packets that left and had none
 * @capped: packets whose time was beyond the horizon
 * @late: packets that left more than a millisecond late
 * @late_max: nanoseconds that the latest was late
 * @limit: packets that may wait
 * @horizon: milliseconds
 * @paths: paths of which packets wait now
 * @pad: 0
 */
struct ina_qdisc_stats {
	__u64 paced;
	__u64 unpaced;
	__u64 capped;
	__u64 late;
	__u64 late_max;
	__u32 limit;
	__u32 horizon;
	__u32 paths;
	__u32 pad;
};

#endif /* _UAPI_LINUX_INA_QDISC_H */
