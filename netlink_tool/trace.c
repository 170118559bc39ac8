// SPDX-License-Identifier: GPL-2.0
/*
 * Ask routers where they send the packets of a flow: UDP packets of one byte
 * whose hop limit ends underway, and the errors that come back. Those of a flow
 * end before its destination; how far that is, packets to another port tell.
 * Routers answer few packets a second, so that what is missing is asked again,
 * slowly and not for ever.
 */
#include <errno.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>

#include "inaconf.h"
#include "route.h"

#define TRACE_PORT	33434	/* nobody listens there */
#define TRACE_SILENT	3	/* hops without an answer after which there are no more */
#define TRACE_TRIES	3	/* packets until a hop is silent */
#define TRACE_ROUNDS	12	/* times that hops which do not answer are asked again */
#define TRACE_GAP_MS	5	/* between two packets */
#define TRACE_WAIT_MS	400	/* for an answer */
#define TRACE_AGAIN_MS	700	/* more, before hops are asked again */

/**
 * struct probe - a flow that is followed
 * @fd: socket, -1 if it cannot be followed
 * @raw: the packets bring their own UDP header, as somebody else has the port
 * @v4: IPv4
 * @flow: the flow
 */
struct probe {
	int fd;
	bool raw;
	bool v4;
	const struct flow *flow;
};

/**
 * struct answer - what came back
 * @ttl: hop limit of the packet it answers, 0 not known
 * @exceeded: the hop limit ended
 * @arrived: the packet did
 * @from: who says so
 */
struct answer {
	unsigned int ttl;
	bool exceeded;
	bool arrived;
	struct in6_addr from;
};

int64_t trace_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void sleep_ms(unsigned int ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

/* An address as the system wants it; returns its size. */
static socklen_t sockaddr_from(const struct in6_addr *addr, uint16_t port, bool v4,
			       struct sockaddr_storage *to)
{
	struct sockaddr_in6 *six = (void *)to;
	struct sockaddr_in *four = (void *)to;

	memset(to, 0, sizeof(*to));
	if (v4) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		memcpy(&four->sin_addr, &addr->s6_addr[12], sizeof(four->sin_addr));
		return sizeof(*four);
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	six->sin6_addr = *addr;
	return sizeof(*six);
}

static void sockaddr_to(const struct sockaddr *from, struct in6_addr *addr)
{
	const struct sockaddr_in6 *six = (const void *)from;
	const struct sockaddr_in *four = (const void *)from;

	memset(addr, 0, sizeof(*addr));
	if (from->sa_family == AF_INET6) {
		*addr = six->sin6_addr;
	} else if (from->sa_family == AF_INET) {
		memset(&addr->s6_addr[10], 0xff, 2);
		memcpy(&addr->s6_addr[12], &four->sin_addr, sizeof(four->sin_addr));
	}
}

/* A raw socket would also get what others receive: none of that. */
static int probe_set_raw(const struct probe *probe)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { .len = 1, .filter = &nothing };
	int checksum = 6;

	if (setsockopt(probe->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0)
		return -1;
	return probe->v4 ? 0 : setsockopt(probe->fd, IPPROTO_IPV6, IPV6_CHECKSUM, &checksum,
					  sizeof(checksum));
}

static int probe_set(const struct probe *probe, unsigned int ifindex)
{
	char name[IF_NAMESIZE];
	int on = 1;

	if (probe->raw && probe_set_raw(probe) < 0)
		return -1;
	if (ifindex && (!if_indextoname(ifindex, name) ||
			setsockopt(probe->fd, SOL_SOCKET, SO_BINDTODEVICE, name, sizeof(name)) < 0))
		return -1;
	if (probe->v4)
		return setsockopt(probe->fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
	return setsockopt(probe->fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
}

static int probe_try(struct probe *probe, unsigned int ifindex)
{
	const struct flow *flow = probe->flow;
	struct sockaddr_storage src;
	socklen_t size = sockaddr_from(&flow->src, probe->raw ? 0 : flow->sport, probe->v4, &src);
	int error;

	probe->fd = socket(probe->v4 ? AF_INET : AF_INET6,
			   (probe->raw ? SOCK_RAW : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK,
			   IPPROTO_UDP);
	if (probe->fd < 0)
		return -1;
	if (!probe_set(probe, ifindex) && !bind(probe->fd, (struct sockaddr *)&src, size))
		return 0;
	error = errno;
	close(probe->fd);
	probe->fd = -1;
	errno = error;
	return -1;
}

/* Open the flow for packets; the port may be somebody else's, the module's most likely. */
static int probe_open(struct probe *probe, const struct flow *flow, unsigned int ifindex)
{
	probe->flow = flow;
	probe->v4 = IN6_IS_ADDR_V4MAPPED(&flow->src);
	probe->raw = false;
	if (!probe_try(probe, ifindex))
		return 0;
	probe->raw = errno == EADDRINUSE;
	return probe->raw ? probe_try(probe, ifindex) : -1;
}

/* One byte behind the UDP header: the hop limit. */
static int probe_write(const struct probe *probe, unsigned int ttl)
{
	const struct flow *flow = probe->flow;
	const uint8_t packet[] = { flow->sport >> 8, flow->sport & 0xff, flow->dport >> 8,
				   flow->dport & 0xff, 0, 9, 0, 0, (uint8_t)ttl };
	size_t skip = probe->raw ? 0 : sizeof(packet) - 1;
	struct sockaddr_storage dst;
	socklen_t size = sockaddr_from(&flow->dst, probe->raw ? 0 : flow->dport, probe->v4, &dst);
	int hops = (int)ttl, ret;

	if (probe->v4)
		ret = setsockopt(probe->fd, IPPROTO_IP, IP_TTL, &hops, sizeof(hops));
	else
		ret = setsockopt(probe->fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, &hops, sizeof(hops));
	if (ret < 0)
		return ret;
	return (int)sendto(probe->fd, packet + skip, sizeof(packet) - skip, 0,
			   (struct sockaddr *)&dst, size);
}

static int probe_send(const struct probe *probe, unsigned int ttl)
{
	/* The first error may be an answer to an earlier packet. */
	return probe_write(probe, ttl) >= 0 || probe_write(probe, ttl) >= 0 ? 0 : -1;
}

static int probe_refused(const struct probe *probe)
{
	const char *why = strerror(errno);
	char src[ADDR_SIZE], dst[ADDR_SIZE];

	return error_print("cannot send from %s to %s: %s", addr_text(&probe->flow->src, src),
			   addr_text(&probe->flow->dst, dst), why);
}

static void answer_read(const struct sock_extended_err *err, struct answer *answer)
{
	bool six = err->ee_origin == SO_EE_ORIGIN_ICMP6;

	if (!six && err->ee_origin != SO_EE_ORIGIN_ICMP)
		return;
	answer->exceeded = err->ee_type == (six ? ICMP6_TIME_EXCEEDED : ICMP_TIME_EXCEEDED);
	answer->arrived = six ? err->ee_type == ICMP6_DST_UNREACH &&
				err->ee_code == ICMP6_DST_UNREACH_NOPORT :
				err->ee_type == ICMP_DEST_UNREACH &&
				err->ee_code == ICMP_PORT_UNREACH;
	sockaddr_to(SO_EE_OFFENDER(err), &answer->from);
}

/* Which packet is answered: routers return its first bytes. */
static bool answer_fits(const struct probe *probe, const uint8_t *packet, size_t size,
			struct answer *answer)
{
	const struct flow *flow = probe->flow;
	const uint8_t head[] = { flow->sport >> 8, flow->sport & 0xff, flow->dport >> 8,
				 flow->dport & 0xff };

	if (probe->raw && (size < 8 || memcmp(packet, head, sizeof(head))))
		return false;
	packet += probe->raw ? 8 : 0;
	size -= probe->raw ? 8 : 0;
	answer->ttl = size ? packet[0] : 0;
	return true;
}

/* Take the next answer, if there is one. */
static bool probe_receive(const struct probe *probe, struct answer *answer)
{
	char control[512] __attribute__((aligned(sizeof(size_t))));
	uint8_t packet[128];
	struct iovec iov = { packet, sizeof(packet) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	ssize_t size = recvmsg(probe->fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT);
	const struct cmsghdr *cmsg;

	memset(answer, 0, sizeof(*answer));
	if (size < 0)
		return false;
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, (struct cmsghdr *)cmsg)) {
		if ((cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_RECVERR) ||
		    (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_RECVERR))
			answer_read((const void *)CMSG_DATA(cmsg), answer);
	}
	if (!answer_fits(probe, packet, (size_t)size, answer))
		answer->exceeded = answer->arrived = false;
	return true;
}

/* Wait for the answer to the packet with this hop limit. */
static bool probe_await(const struct probe *probe, unsigned int ttl, struct answer *answer)
{
	struct pollfd fd = { .fd = probe->fd };
	int64_t left, end = trace_clock() + TRACE_WAIT_MS;

	while ((left = end - trace_clock()) > 0) {
		if (poll(&fd, 1, (int)left) <= 0)
			continue;
		while (probe_receive(probe, answer)) {
			if ((!answer->ttl || answer->ttl == ttl) &&
			    (answer->exceeded || answer->arrived))
				return true;
		}
	}
	return false;
}

/* Send up to three packets with this hop limit; 1 if one is answered, -INACONF_* on failure. */
static int distance_ask(const struct probe *probe, unsigned int ttl, struct answer *answer)
{
	for (int try = 0; try < TRACE_TRIES; try++) {
		if (probe_send(probe, ttl) < 0)
			return -probe_refused(probe);
		if (probe_await(probe, ttl, answer))
			return 1;
	}
	return 0;
}

/* Hop limits one after the other until a packet arrives or nobody answers any more. */
static int distance_find(const struct probe *probe)
{
	unsigned int known = 0;

	for (unsigned int ttl = 1; ttl <= ROUTE_HOPS && ttl <= known + TRACE_SILENT; ttl++) {
		struct answer answer;
		int ret = distance_ask(probe, ttl, &answer);

		if (ret < 0)
			return ret;
		if (ret && answer.arrived)
			return (int)ttl - 1;
		if (ret)
			known = ttl;
	}
	return known ? (int)known : -error_print("no router on the way answers, nor who is at its end");
}

int trace_distance(const struct flow *flow, unsigned int ifindex)
{
	struct flow other = *flow;
	struct probe probe;
	int ret;

	other.sport = 0;
	other.dport = TRACE_PORT;
	if (probe_open(&probe, &other, ifindex) < 0)
		return -probe_refused(&probe);
	ret = distance_find(&probe);
	close(probe.fd);
	return ret;
}

/**
 * struct trace - flows that are followed
 * @routes: what is known of them
 * @probes: one each
 * @n: how many
 * @end: when to stop, in milliseconds
 */
struct trace {
	struct route *routes;
	struct probe probes[ROUTE_MAX];
	size_t n;
	int64_t end;
};

/* Is there nothing to ask of this flow any more? */
static bool trace_done(const struct trace *trace, size_t i, unsigned int ttl)
{
	return trace->probes[i].fd < 0 ||
	       !IN6_IS_ADDR_UNSPECIFIED(&trace->routes[i].hop[ttl - 1]);
}

/* A path that is there need not work: what is not known of it is left so. */
static int trace_refused(struct trace *trace, size_t i)
{
	if (trace->routes[i].id <= 0)
		return probe_refused(&trace->probes[i]);
	fprintf(stderr, "Warning: path %d cannot be followed: %s\n", trace->routes[i].id,
		strerror(errno));
	if (trace->probes[i].fd >= 0)
		close(trace->probes[i].fd);
	trace->probes[i].fd = -1;
	return INACONF_OK;
}

/* Take all answers that are there. */
static void trace_collect(struct trace *trace, unsigned int ttl)
{
	for (size_t i = 0; i < trace->n; i++) {
		struct answer answer;

		while (probe_receive(&trace->probes[i], &answer)) {
			unsigned int at = answer.ttl ? answer.ttl : ttl;

			if (answer.exceeded && at <= ROUTE_HOPS)
				trace->routes[i].hop[at - 1] = answer.from;
		}
	}
}

/* Ask every router at this distance that is not known; *@asked counts them. */
static int trace_ask(struct trace *trace, unsigned int ttl, size_t *asked)
{
	int ret = INACONF_OK;

	*asked = 0;
	for (size_t i = 0; !ret && i < trace->n; i++) {
		if (trace_done(trace, i, ttl))
			continue;
		++*asked;
		if (probe_send(&trace->probes[i], ttl) < 0)
			ret = trace_refused(trace, i);
		sleep_ms(TRACE_GAP_MS);
		trace_collect(trace, ttl);
	}
	return ret;
}

static size_t trace_count(const struct trace *trace, unsigned int ttl)
{
	size_t known = 0;

	for (size_t i = 0; i < trace->n; i++)
		known += trace_done(trace, i, ttl);
	return known;
}

/* Until all answers are there or it takes too long. */
static void trace_wait(struct trace *trace, unsigned int ttl)
{
	int64_t end = trace_clock() + TRACE_WAIT_MS;

	do {
		sleep_ms(TRACE_GAP_MS);
		trace_collect(trace, ttl);
	} while (trace_count(trace, ttl) < trace->n && trace_clock() < end);
}

/*
 * Ask again as long as somebody answers: a router that has said enough for now
 * says more a second later. One that never answered is silent.
 */
static int trace_hop(struct trace *trace, unsigned int ttl)
{
	unsigned int round = 0, silent = 0;
	size_t asked, known = trace_count(trace, ttl);
	int ret;

	do {
		if (round)
			sleep_ms(TRACE_AGAIN_MS);
		ret = trace_ask(trace, ttl, &asked);
		if (!ret && asked)
			trace_wait(trace, ttl);
		silent = trace_count(trace, ttl) > known ? 0 : silent + 1;
		known = trace_count(trace, ttl);
		fprintf(stderr, "hop %u: the router is known for %zu of %zu ports\n", ttl, known,
			trace->n);
	} while (!ret && known < trace->n && silent < TRACE_TRIES && ++round < TRACE_ROUNDS &&
		 trace_clock() < trace->end);
	return ret;
}

int trace_routes(struct route *routes, size_t n, unsigned int n_hops, int64_t end)
{
	static struct trace trace;
	int ret = INACONF_OK;

	trace.routes = routes;
	trace.end = end;
	for (trace.n = 0; !ret && trace.n < n; trace.n++) {
		if (probe_open(&trace.probes[trace.n], &routes[trace.n].flow,
			       routes[trace.n].ifindex) < 0)
			ret = trace_refused(&trace, trace.n);
	}
	for (unsigned int ttl = 1; !ret && ttl <= n_hops; ttl++) {
		if (disjoint_counts(ttl - 1, n_hops))
			ret = trace_hop(&trace, ttl);
	}
	for (size_t i = 0; i < trace.n; i++) {
		if (trace.probes[i].fd >= 0)
			close(trace.probes[i].fd);
	}
	return ret;
}
