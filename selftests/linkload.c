// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes that devices have sent, over time, in any network namespaces.
 *
 *   linkload MS NETNS/DEVICE...
 *
 * A line of microseconds of CLOCK_MONOTONIC and a count for each device, that often, until
 * SIGTERM or SIGINT. One read of /proc/net/dev tells of all devices of a namespace.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEVICES_MAX	32
#define TEXT_MAX	16384
#define MOMENT_US	5000
#define TRIES_MAX	4

/**
 * struct device - one column
 * @fd: of /proc/net/dev in its namespace
 * @first: no device before has the same @fd
 * @name: its name and a colon
 * @sent: its bytes as they were read last
 */
struct device {
	int fd;
	bool first;
	char name[24];
	uint64_t sent;
};

static struct device device[DEVICES_MAX];
static int devices;
static volatile sig_atomic_t ended;

static void on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

/* It stays the file of this namespace, wherever we go then. */
static int netns_open(const char *netns)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
	fd = open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "/proc/thread-self/net/dev");
	return fd;
}

/* @word: NETNS/DEVICE; those of a namespace follow each other */
static void device_add(char *word)
{
	static char *last = "";
	struct device *d = &device[devices];
	char *slash = strchr(word, '/');

	if (!slash || devices == DEVICES_MAX)
		errx(2, "%s: NETNS/DEVICE, at most %d", word, DEVICES_MAX);
	*slash = 0;
	snprintf(d->name, sizeof(d->name), "%s:", slash + 1);
	d->first = strcmp(word, last);
	d->fd = d->first ? netns_open(word) : device[devices - 1].fd;
	last = word;
	devices++;
}

/* Eight fields of what was received are before what was sent. */
static void device_take(struct device *d, const char *text)
{
	const char *skip = "%*u %*u %*u %*u %*u %*u %*u %*u %lu", *at = text;

	while ((at = strstr(at, d->name)) && at[-1] != ' ' && at[-1] != '\n')
		at++;
	if (!at || sscanf(at + strlen(d->name), skip, &d->sent) != 1)
		errx(1, "no device %s", d->name);
}

static void devices_read(void)
{
	static char text[TEXT_MAX];
	ssize_t n;
	int i;

	for (i = 0; i < devices; i++) {
		if (device[i].first) {
			n = pread(device[i].fd, text, sizeof(text) - 1, 0);
			if (n < 0)
				err(1, "read");
			text[n] = 0;
		}
		device_take(&device[i], text);
	}
}

static long long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

/* What took longer than a moment, because others ran meanwhile, is read again. */
static void devices_print(void)
{
	int i, tries = TRIES_MAX;
	long long at;

	do {
		at = now_us();
		devices_read();
	} while (now_us() - at > MOMENT_US && --tries);
	printf("%lld", at);
	for (i = 0; i < devices; i++)
		printf(" %lu", device[i].sent);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct timespec next;
	long ms = argc > 2 ? atol(argv[1]) : 0;
	int i;

	if (ms < 1)
		errx(2, "usage: linkload MS NETNS/DEVICE...");
	for (i = 2; i < argc; i++)
		device_add(argv[i]);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!ended) {
		devices_print();
		next.tv_nsec += ms * 1000000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	devices_print();
	return 0;
}
