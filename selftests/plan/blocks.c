// SPDX-License-Identifier: GPL-2.0
/*
 * A clock for ina-sim that tells how much the planner has done, not for how long: a nanosecond is
 * a basic block of it, which the compiler reports. The same on any machine, however busy.
 */
#include <stdint.h>
#include <time.h>

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = (time_t)(blocks / 1000000000);
	t->tv_nsec = (long)(blocks % 1000000000);
	return 0;
}
