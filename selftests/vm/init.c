// SPDX-License-Identifier: GPL-2.0
/*
 * The only program of a small initramfs: says that the guest is alive, loads the
 * module if there is one, whose KUnit suites print to the console, and powers off. Used to
 * find out whether an accelerator really boots a guest, and for the other architecture.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#define MODULE "/ina_agg.ko"

static void init_mount(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL))
		perror(where);
}

/* The initramfs has no device nodes, so the kernel gave us no console. */
static void init_console(void)
{
	int fd = open("/dev/console", O_RDWR);

	if (fd < 0)
		return;
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
}

static void init_load_module(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (syscall(SYS_finit_module, fd, "", 0))
		perror("init: insmod");
	else
		puts("init: module loaded");
	close(fd);
}

int main(void)
{
	init_mount("devtmpfs", "/dev");
	init_console();
	puts("init: alive");
	fflush(stdout);
	/* The kernel does not wait for our output before it prints its own. */
	tcdrain(1);
	init_load_module();
	puts("init: end");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
