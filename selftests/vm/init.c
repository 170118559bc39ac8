// SPDX-License-Identifier: GPL-2.0
/*
 * The only program of a small initramfs: says that the guest is alive, loads the
 * module if there is one, prints the KUnit results and powers off. Used to find
 * out whether an accelerator really boots a guest, and for the other architecture.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULE "/ina_agg.ko"
#define SUITES "/sys/kernel/debug/kunit"

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

static void init_print_results(const char *suite)
{
	char path[512], line[1024];
	FILE *file;

	snprintf(path, sizeof(path), SUITES "/%s/results", suite);
	file = fopen(path, "re");
	if (!file)
		return;
	printf("init: suite %s\n", suite);
	while (fgets(line, sizeof(line), file))
		fputs(line, stdout);
	fclose(file);
}

static void init_print_suites(void)
{
	struct dirent *entry;
	DIR *dir = opendir(SUITES);

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			init_print_results(entry->d_name);
	closedir(dir);
}

int main(void)
{
	init_mount("devtmpfs", "/dev");
	init_console();
	init_mount("proc", "/proc");
	init_mount("sysfs", "/sys");
	init_mount("debugfs", "/sys/kernel/debug");
	puts("init: alive");
	init_load_module();
	init_print_suites();
	puts("init: end");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
