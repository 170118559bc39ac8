// SPDX-License-Identifier: GPL-2.0
/*
 * enter NETNS PROGRAM [ARGUMENT]...: run it in a network namespace, as `ip netns exec` does, but
 * without a mount namespace and linked statically: on an emulated debug kernel that is a
 * second less for each.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[256];
	int fd;

	if (argc < 3) {
		fprintf(stderr, "usage: enter NETNS PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	snprintf(path, sizeof(path), "/run/netns/%s", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
