// SPDX-License-Identifier: GPL-2.0
/*
 * Plain traffic: what fills links beside a job, and what a job is compared with.
 *
 *   flow udp ADDRESS PORT SOURCE_PORT MBIT SECONDS	one flow, that many Mbit/s of packets
 *   flow tcp ADDRESS PORT STREAMS SECONDS		as many connections, as fast as they go
 *   flow sink PORT SECONDS				takes both; tells what came
 *
 * A sink prints the bytes of data that came in SECONDS from the first on, and the streams they
 * came by, and ends. SECONDS 0: until it is killed. SOURCE_PORT 0: any.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PACKET		1400	/* bytes of data in a UDP packet */
#define HEADERS		42	/* of Ethernet, IP and UDP before it */
#define TICK_NS		2000000	/* what is due goes as one super-packet */
#define STREAMS_MAX	16

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

static char data[64 << 10];

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static struct sockaddr_in address(const char *addr, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };

	if (inet_pton(AF_INET, addr, &sin.sin_addr) != 1)
		errx(2, "not an address: %s", addr);
	return sin;
}

static int socket_at(int type, const char *port)
{
	struct sockaddr_in sin = address("0.0.0.0", port);
	int one = 1, fd = socket(AF_INET, type, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&sin, sizeof(sin)))
		err(1, "socket at port %s", port);
	return fd;
}

static int connected(int type, const char *addr, const char *port, const char *from)
{
	struct sockaddr_in sin = address(addr, port);
	int tries = 0, fd = socket_at(type, from);

	while (connect(fd, (struct sockaddr *)&sin, sizeof(sin))) {
		if (errno != ECONNREFUSED || ++tries == 100)
			err(1, "connect to %s", addr);
		usleep(50000);
	}
	return fd;
}

/* A queue of this machine that is full drops, as one of the fabric does. */
static void udp(int fd, double mbit, double seconds)
{
	uint64_t start = now(), end = start + seconds * 1e9, t;
	int size = PACKET;
	double sent = 0;

	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
		err(1, "segments");
	for (t = start; t < end; t = now()) {
		long due = (mbit / 8e3 * (t - start) - sent) / (PACKET + HEADERS);

		if (due > 40)
			due = 40;
		if (due > 0 && send(fd, data, due * PACKET, 0) < 0 &&
		    errno != ECONNREFUSED && errno != ENOBUFS)
			err(1, "send");
		if (due > 0)
			sent += due * (PACKET + HEADERS);
		usleep(TICK_NS / 1000);
	}
}

static void tcp(struct pollfd *p, int streams, double seconds)
{
	int i, flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	uint64_t end = now() + seconds * 1e9;

	while (now() < end) {
		if (poll(p, streams, 100) < 0)
			err(1, "poll");
		for (i = 0; i < streams; i++)
			if (p[i].revents && send(p[i].fd, data, sizeof(data), flags) < 0 &&
			    errno != EAGAIN)
				return; /* the sink has enough */
	}
}

/* The sockets that listen, for UDP and for TCP, are the first two. */
static void sink(const char *port, double seconds)
{
	struct pollfd p[2 + STREAMS_MAX] = {
		{ .fd = socket_at(SOCK_DGRAM, port), .events = POLLIN },
		{ .fd = socket_at(SOCK_STREAM, port), .events = POLLIN },
	};
	uint64_t bytes = 0, end = 0;
	int i, size = 4 << 20, used = 2;
	ssize_t n;

	if (listen(p[1].fd, STREAMS_MAX) ||
	    setsockopt(p[0].fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		err(1, "listen");
	while (!end || seconds == 0 || now() < end) {
		if (poll(p, used, 100) < 0)
			err(1, "poll");
		if (p[1].revents && used < 2 + STREAMS_MAX) {
			p[used].fd = accept(p[1].fd, NULL, NULL);
			p[used++].events = POLLIN;
		}
		for (i = 0; i < used; i++) {
			if (i == 1 || !p[i].revents)
				continue;
			n = recv(p[i].fd, data, sizeof(data), MSG_DONTWAIT);
			if (!n)
				p[i].fd = -1;
			if (n > 0 && !end)
				end = now() + seconds * 1e9;
			bytes += n > 0 ? n : 0;
		}
	}
	printf("%llu bytes %.3f seconds %d streams\n", (unsigned long long)bytes,
	       seconds + (now() - end) / 1e9, used > 2 ? used - 2 : 1);
}

int main(int argc, char **argv)
{
	struct pollfd p[STREAMS_MAX];
	int i, streams;

	if (argc == 7 && !strcmp(argv[1], "udp")) {
		udp(connected(SOCK_DGRAM, argv[2], argv[3], argv[4]), atof(argv[5]), atof(argv[6]));
	} else if (argc == 6 && !strcmp(argv[1], "tcp")) {
		streams = atoi(argv[4]);
		if (streams < 1 || streams > STREAMS_MAX)
			errx(2, "1 to %d streams", STREAMS_MAX);
		for (i = 0; i < streams; i++)
			p[i] = (struct pollfd) {
				.fd = connected(SOCK_STREAM, argv[2], argv[3], "0"), .events = POLLOUT
			};
		tcp(p, streams, atof(argv[5]));
	} else if (argc == 4 && !strcmp(argv[1], "sink")) {
		sink(argv[2], atof(argv[3]));
	} else {
		errx(2, "usage: flow udp ADDRESS PORT SOURCE_PORT MBIT SECONDS\n"
		     "       flow tcp ADDRESS PORT STREAMS SECONDS\n"
		     "       flow sink PORT SECONDS");
	}
	return 0;
}
