/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Let one allocation of the kernel fail: the Nth that this thread asks for from
 * fail_nth_begin() to fail_nth_end(). See fault-injection.rst of the kernel.
 */
#ifndef FAILNTH_H
#define FAILNTH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int fail_nth_fd = -1;

static inline void fail_nth_set(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fail_nth_fd, text, (size_t)length, 0) == length)
		return;
	perror("/proc/thread-self/fail-nth");
	exit(2);
}

static inline void fail_nth_begin(unsigned int n)
{
	if (fail_nth_fd < 0) {
		fail_nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
		/* A page of ours that is not there yet would need memory as well. */
		if (mlockall(MCL_CURRENT | MCL_FUTURE))
			perror("mlockall");
	}
	fail_nth_set(n);
}

/* Has it come to that? */
static inline bool fail_nth_end(void)
{
	char left = 0;
	ssize_t length = pread(fail_nth_fd, &left, 1, 0);

	fail_nth_set(0);
	return length == 1 && left == '0';
}

#endif /* FAILNTH_H */
