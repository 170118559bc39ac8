// SPDX-License-Identifier: GPL-2.0
/*
 * Packets in and out: a UDP or an IP protocol socket per address.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "raw.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

void raw_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(1);
}

bool raw_addr_parse(union raw_addr *addr, const char *text)
{
	memset(addr, 0, sizeof(*addr));
	addr->sa.sa_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (addr->sa.sa_family == AF_INET6)
		return inet_pton(AF_INET6, text, &addr->in6.sin6_addr) == 1;
	return inet_pton(AF_INET, text, &addr->in.sin_addr) == 1;
}

/* IPv4 addresses are mapped into IPv6 on the wire. */
void raw_addr_print(const uint8_t addr[16], char *text, size_t size)
{
	struct in6_addr in6;

	memcpy(&in6, addr, sizeof(in6));
	if (IN6_IS_ADDR_V4MAPPED(&in6))
		inet_ntop(AF_INET, addr + 12, text, size);
	else
		inet_ntop(AF_INET6, addr, text, size);
}

static union raw_addr raw_addr_add(const union raw_addr *addr, uint32_t add, uint16_t port)
{
	union raw_addr sum = *addr;
	uint32_t *low = sum.sa.sa_family == AF_INET ? &sum.in.sin_addr.s_addr :
						      &sum.in6.sin6_addr.s6_addr32[3];

	*low = htonl(ntohl(*low) + add);
	/* The port is at the same place in both. */
	sum.in.sin_port = htons(port);
	return sum;
}

/* A socket from address @from + @add to the parent. */
int raw_socket(const struct raw *raw, const union raw_addr *from, uint32_t add)
{
	const struct raw_options *o = &raw->o;
	uint16_t port = o->ip ? 0 : o->port;
	union raw_addr local = raw_addr_add(from, add, port);
	union raw_addr peer = raw_addr_add(&o->parent, 0, port);
	socklen_t len = local.sa.sa_family == AF_INET ? sizeof(local.in) : sizeof(local.in6);
	int one = 1, size = 4 << 20;
	int fd = socket(local.sa.sa_family, o->ip ? SOCK_RAW : SOCK_DGRAM,
			o->ip ? INA_IPPROTO : 0);

	if (fd < 0)
		raw_die("error socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if ((o->lies & RAW_ZERO_CHECKSUM) &&
	    setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &one, sizeof(one)))
		raw_die("error SO_NO_CHECK: %s", strerror(errno));
	if (bind(fd, &local.sa, len) || connect(fd, &peer.sa, len))
		raw_die("error address %u: %s", add, strerror(errno));
	return fd;
}

/* Does the packet need the header's own checksum? */
static bool raw_needs_crc(const struct raw *raw)
{
	return raw->o.ip || (raw->o.lies & RAW_ZERO_CHECKSUM);
}

/* ICMP errors of an earlier packet come back here: not ours to judge. */
void raw_send_as_is(int fd, const void *packet, size_t len)
{
	int tries = 1000;

	while (send(fd, packet, len, 0) < 0 && tries--) {
		if (errno == ENOBUFS || errno == EAGAIN)
			usleep(1000);
		else if (errno != ECONNREFUSED && errno != EPROTO && errno != EHOSTUNREACH)
			raw_die("error send %zu: %s", len, strerror(errno));
	}
}

void raw_send(const struct raw *raw, int fd, void *packet, size_t len)
{
	if (raw_needs_crc(raw))
		raw_seal(packet, len);
	raw_send_as_is(fd, packet, len);
}

static void raw_send_each(const struct raw *raw, int fd, char *packets, size_t len, size_t size)
{
	size_t at;

	for (at = 0; at < len; at += size)
		raw_send(raw, fd, packets + at, len - at < size ? len - at : size);
}

/* Packets of @size bytes each, the last may be smaller, in one system call. */
void raw_send_batch(const struct raw *raw, int fd, void *packets, size_t len, size_t size)
{
	char control[CMSG_SPACE(sizeof(uint16_t))] = { 0 };
	struct iovec iov = { .iov_base = packets, .iov_len = len };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	uint16_t segment = size;

	if (!(raw->o.lies & RAW_GSO) || len <= size) {
		raw_send_each(raw, fd, packets, len, size);
		return;
	}
	cmsg->cmsg_level = SOL_UDP;
	cmsg->cmsg_type = UDP_SEGMENT;
	cmsg->cmsg_len = CMSG_LEN(sizeof(segment));
	memcpy(CMSG_DATA(cmsg), &segment, sizeof(segment));
	if (sendmsg(fd, &msg, 0) < 0)
		raw_die("error super-packet of %zu: %s", len, strerror(errno));
}

/* Return: bytes of the packet, 0 if none waits. */
size_t raw_recv(const struct raw *raw, int fd, const void **packet)
{
	static uint8_t buffer[65536];
	ssize_t len = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	size_t skip = 0;

	if (len <= 0)
		return 0;
	if (raw->o.ip && raw->o.parent.sa.sa_family == AF_INET)
		skip = ((struct iphdr *)buffer)->ihl * 4;
	*packet = buffer + skip;
	return (size_t)len > skip ? len - skip : 0;
}
