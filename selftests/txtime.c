// SPDX-License-Identifier: GPL-2.0
/*
 * Send UDP super-packets, each with a departure time, all at once: whoever holds them
 * back on their way spreads them.
 *
 *   txtime CLOCK ADDRESS COUNT AHEAD_US GAP_US [SIZE [SEGMENT]]
 *
 * CLOCK is monotonic, tai, or none for no departure times. The first is to leave AHEAD_US
 * after the start, each other GAP_US after the one before. SIZE bytes (16000) go to the
 * discard port in packets of SEGMENT bytes (1000).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/net_tstamp.h>
#include <linux/udp.h>

#define DISCARD	9
#define SNDBUF	(16 << 20)

static __attribute__((noreturn)) void fail(const char *what)
{
	fprintf(stderr, "txtime: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_socket(const struct sock_txtime *clock, int segment)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), sndbuf = SNDBUF;

	if (fd < 0)
		fail("socket");
	if (clock && setsockopt(fd, SOL_SOCKET, SO_TXTIME, clock, sizeof(*clock)))
		fail("SO_TXTIME");
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof(sndbuf)))
		fail("SO_SNDBUFFORCE");
	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		fail("UDP_SEGMENT");
	return fd;
}

/* The socket is not connected: it would rather tell that nobody listens than send. */
static void send_one(int fd, struct sockaddr_in *to, void *data, size_t size, const uint64_t *at)
{
	char control[CMSG_SPACE(sizeof(*at))] __attribute__((aligned(8))) = { 0 };
	struct iovec iov = { data, size };
	struct msghdr msg = {
		.msg_name = to, .msg_namelen = sizeof(*to), .msg_iov = &iov, .msg_iovlen = 1,
	};

	if (at) {
		struct cmsghdr *cmsg;

		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_TXTIME;
		cmsg->cmsg_len = CMSG_LEN(sizeof(*at));
		memcpy(CMSG_DATA(cmsg), at, sizeof(*at));
	}
	/* Queues may drop. */
	if (sendmsg(fd, &msg, 0) < 0 && errno != ENOBUFS)
		fail("sendmsg");
}

int main(int argc, char **argv)
{
	static char data[65536];
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(DISCARD) };
	struct sock_txtime clock = { .clockid = CLOCK_MONOTONIC };
	struct timespec now;
	uint64_t at;
	int fd, timed;
	long i;

	if (argc < 6) {
		fputs("usage: txtime CLOCK ADDRESS COUNT AHEAD_US GAP_US [SIZE [SEGMENT]]\n", stderr);
		return 2;
	}
	timed = strcmp(argv[1], "none");
	if (!strcmp(argv[1], "tai"))
		clock.clockid = CLOCK_TAI;
	if (inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		fail(argv[2]);
	fd = open_socket(timed ? &clock : NULL, argc > 7 ? atoi(argv[7]) : 1000);
	clock_gettime(clock.clockid, &now);
	at = now.tv_sec * 1000000000ULL + now.tv_nsec + atol(argv[4]) * 1000ULL;
	for (i = 0; i < atol(argv[3]); i++) {
		send_one(fd, &to, data, argc > 6 ? atol(argv[6]) : 16000, timed ? &at : NULL);
		at += atol(argv[5]) * 1000ULL;
	}
	return 0;
}
