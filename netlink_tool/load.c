// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf plan load: one report of how busy this machine is, from what the kernel counts. Figures
 * that grow are given as they are: who asks twice knows the difference.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "apply.h"

static int load_missing(const char *path)
{
	return error_print("cannot read %s: %s", path, errno ? strerror(errno) : "not as expected");
}

static void load_time(struct print *out)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	print_uint(out, "time-ms", "time-ms ",
		   (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}

/* Left out where the kernel does not tell. */
static void load_pressure(struct print *out)
{
	FILE *file = fopen("/proc/pressure/cpu", "re");
	double percent;

	if (!file)
		return;
	if (fscanf(file, "some avg10=%lf", &percent) == 1 && percent >= 0)
		print_uint(out, "cpu-pressure", "\ncpu-pressure ", (uint64_t)(percent + 0.5));
	fclose(file);
}

static int load_cpu(struct print *out)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t t[8], total = 0, tick = (uint64_t)sysconf(_SC_CLK_TCK);
	int n = 0;

	if (file) {
		n = fscanf(file, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 " %" SCNu64, &t[0], &t[1], &t[2], &t[3], &t[4],
			   &t[5], &t[6], &t[7]);
		fclose(file);
	}
	if (n != 8)
		return load_missing("/proc/stat");
	for (int i = 0; i < 8; i++)
		total += t[i];
	print_uint(out, "cpu-ms", "\ncpu-ms ", total * 1000 / tick);
	/* Waiting for a disk is idleness, too. */
	print_uint(out, "cpu-idle-ms", "\ncpu-idle-ms ", (t[3] + t[4]) * 1000 / tick);
	return INACONF_OK;
}

static int load_memory(struct print *out)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t total = 0, available = 0, number;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemTotal: %" SCNu64, &number) == 1)
			total = number;
		else if (sscanf(line, "MemAvailable: %" SCNu64, &number) == 1)
			available = number;
	}
	if (file)
		fclose(file);
	if (!total || available > total)
		return load_missing("/proc/meminfo");
	print_uint(out, "memory", "\nmemory ", total * 1024);
	print_uint(out, "memory-used", "\nmemory-used ", (total - available) * 1024);
	return INACONF_OK;
}

/* Whatever ethtool(8) would ask. */
static bool load_ask(int fd, const char *name, void *what)
{
	struct ifreq request = { .ifr_data = what };

	memcpy(request.ifr_name, name, strnlen(name, sizeof(request.ifr_name) - 1));
	return fd >= 0 && !ioctl(fd, SIOCETHTOOL, &request);
}

/*
 * Bit/s, 0 if the device does not tell. As /sys/class/net has it, but of this namespace. Some
 * virtual devices tell a rate that nothing has.
 */
static uint64_t load_rate(int fd, const char *name)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ethtool_cmd settings = { .cmd = ETHTOOL_GSET };
	uint32_t speed;

	if (load_ask(fd, name, &info) && (!strcmp(info.driver, "veth") || !strcmp(info.driver, "tun")))
		return 0;
	if (!load_ask(fd, name, &settings))
		return 0;
	/* ethtool_cmd_speed() shifts what is unknown out of an int. */
	speed = (uint32_t)settings.speed_hi << 16 | settings.speed;
	return speed == (uint32_t)SPEED_UNKNOWN ? 0 : (uint64_t)speed * 1000000;
}

static void load_device(struct print *out, const char *name, uint64_t rate, const uint64_t *t)
{
	print_object_open(out, NULL);
	print_string(out, "name", "\ndevice ", name);
	if (rate)
		print_uint(out, "rate", " rate ", rate);
	print_uint(out, "rx-bytes", " rx-bytes ", t[0]);
	print_uint(out, "rx-packets", " rx-packets ", t[1]);
	print_uint(out, "rx-dropped", " rx-dropped ", t[3]);
	print_uint(out, "tx-bytes", " tx-bytes ", t[8]);
	print_object_close(out);
}

/* Those of the network namespace this program is in. */
static int load_devices(struct print *out)
{
	FILE *file = fopen("/proc/self/net/dev", "re");
	char line[512], name[IFNAMSIZ];
	uint64_t t[9];
	int fd;

	if (!file)
		return load_missing("/proc/self/net/dev");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	print_array_open(out, "devices");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %15[^:]: %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, name, &t[0], &t[1], &t[2],
			   &t[3], &t[4], &t[5], &t[6], &t[7], &t[8]) == 10 && strcmp(name, "lo"))
			load_device(out, name, load_rate(fd, name), t);
	}
	print_array_close(out);
	if (fd >= 0)
		close(fd);
	fclose(file);
	return INACONF_OK;
}

int plan_load(struct inaconf *ctx, int argc, char **argv)
{
	int ret;

	if (argc)
		return error_usage("unknown word \"%s\": plan load takes none", argv[0]);
	print_object_open(&ctx->out, NULL);
	load_time(&ctx->out);
	load_pressure(&ctx->out);
	ret = load_cpu(&ctx->out);
	if (!ret)
		ret = load_memory(&ctx->out);
	if (!ret)
		ret = load_devices(&ctx->out);
	print_object_close(&ctx->out);
	print_text(&ctx->out, "\n");
	return ret;
}
