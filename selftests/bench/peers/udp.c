// SPDX-License-Identifier: GPL-2.0
/*
 * All-reduce over UDP sockets through servers that add, with super-packets both
 * ways (UDP_SEGMENT, UDP_GRO).
 *
 *   bench-udp node FRAGMENT CHILDREN [INDEX PARENT]
 *   bench-udp worker FRAGMENT PARENT RANK WORKERS WORKLOAD...
 *
 * Fragments are numbered over all rounds. A worker has no more than WINDOW bytes of
 * them without a result, so nothing is ever lost that the socket buffers hold, a few
 * slots in the cache are enough for a node, and there is no retransmission: a loss
 * ends the run as a failure. A node sends what became complete when it has read all
 * there was, or has a super-packet full. It is ended from outside.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define PORT		4256
#define WINDOW		(512u << 10)
#define SUPER		65000	/* bytes of a super-packet at most */
#define SEGMENTS	60	/* and fragments */
#define MESSAGES	16	/* received at once */
#define BUFFER		(64 << 20)

#ifndef UDP_GRO
#define UDP_SEGMENT	103
#define UDP_GRO		104
#endif

/* Says that a child is there; answered when all are. */
#define HELLO	UINT64_MAX

/**
 * struct head - of a fragment on the wire
 * @seq: number of the fragment, or HELLO
 * @child: of the receiver, who sent it
 * @count: elements that follow
 */
struct head {
	uint64_t seq;
	uint32_t child;
	uint32_t count;
};

/**
 * struct slot - a sum under way
 * @seen: children that are in it
 * @head: as it will be sent, with the elements behind it
 */
struct slot {
	uint64_t seen;
	struct head head;
	int32_t sum[];
};

/**
 * struct super - fragments of one size to be sent as one packet
 * @iov: the fragments
 * @count: entries of @iov
 * @segments: fragments
 * @bytes: of all of them
 */
struct super {
	struct iovec iov[2 * SEGMENTS];
	size_t count;
	size_t segments;
	size_t bytes;
};

static int fd;
static uint32_t fragment;	/* elements */
static size_t segment;		/* bytes of a full fragment */
static struct sockaddr_in parent;
static struct super super;

/* What a node alone needs. */
static struct sockaddr_in child[BENCH_WORKERS_MAX];
static uint32_t children, index_up;
static bool has_parent;
static char *slots;
static uint64_t slots_count;	/* a power of two, and above a window */

static struct mmsghdr msg[MESSAGES];
static struct sockaddr_in from[MESSAGES];
static struct iovec msg_iov[MESSAGES];
static char control[MESSAGES][CMSG_SPACE(sizeof(int))];

static void socket_open(bool bound)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(bound ? PORT : 0) };
	int i, one = 1, size = BUFFER;

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sin, sizeof(sin)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)))
		err(1, "socket");
	for (i = 0; i < MESSAGES; i++) {
		msg_iov[i].iov_base = malloc(65536);
		if (!msg_iov[i].iov_base)
			errx(1, "no memory");
	}
}

static void parent_set(const char *addr)
{
	parent.sin_family = AF_INET;
	parent.sin_port = htons(PORT);
	if (inet_pton(AF_INET, addr, &parent.sin_addr) != 1)
		errx(2, "not an address: %s", addr);
}

/* Send packets of @size bytes each, the last may be shorter. */
static void put(const struct sockaddr_in *to, struct iovec *iov, size_t count, uint16_t size)
{
	char buf[CMSG_SPACE(sizeof(size))] = { 0 };
	struct msghdr m = {
		.msg_name = (void *)to, .msg_namelen = sizeof(*to),
		.msg_iov = iov, .msg_iovlen = count,
		.msg_control = buf, .msg_controllen = sizeof(buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = IPPROTO_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(c), &size, sizeof(size));
	if (sendmsg(fd, &m, 0) < 0)
		err(1, "send");
}

static void put_hello(const struct sockaddr_in *to, uint32_t as)
{
	struct head head = { .seq = HELLO, .child = as };
	struct iovec iov = { &head, sizeof(head) };

	put(to, &iov, 1, sizeof(head));
}

static void put_children(struct iovec *iov, size_t count, uint16_t size)
{
	uint32_t i;

	for (i = 0; i < children; i++)
		put(&child[i], iov, count, size);
}

static void super_send(void)
{
	if (!super.count)
		return;
	if (!children || has_parent)
		put(&parent, super.iov, super.count, segment);
	else
		put_children(super.iov, super.count, segment);
	super.count = 0;
	super.segments = 0;
	super.bytes = 0;
}

/* A fragment whose head and elements stay where they are until it is sent. */
static void super_add(struct head *head, int32_t *elements)
{
	size_t size = head->count * sizeof(int32_t);

	super.iov[super.count++] = (struct iovec) { head, sizeof(*head) };
	super.iov[super.count++] = (struct iovec) { elements, size };
	super.bytes += sizeof(*head) + size;
	if (++super.segments == SEGMENTS || super.bytes + segment > SUPER ||
	    head->count < fragment)
		super_send();
}

/* Return: packets that were waiting, at least one unless @wait_ms passed. */
static int get(int wait_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int i, n;

	for (i = 0; i < MESSAGES; i++) {
		msg_iov[i].iov_len = 65536;
		msg[i].msg_hdr = (struct msghdr) {
			.msg_name = &from[i], .msg_namelen = sizeof(from[i]),
			.msg_iov = &msg_iov[i], .msg_iovlen = 1,
			.msg_control = control[i], .msg_controllen = sizeof(control[i]),
		};
	}
	n = recvmmsg(fd, msg, MESSAGES, MSG_DONTWAIT, NULL);
	if (n < 0 && errno == EAGAIN && wait_ms) {
		if (poll(&p, 1, wait_ms) < 0)
			err(1, "poll");
		n = recvmmsg(fd, msg, MESSAGES, MSG_DONTWAIT, NULL);
	}
	if (n < 0 && errno != EAGAIN)
		err(1, "receive");
	return n < 0 ? 0 : n;
}

/* The size of the fragments of a super-packet; all of it if it is none. */
static size_t get_size(int i)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg[i].msg_hdr);
	int size;

	if (!c || c->cmsg_type != UDP_GRO)
		return msg[i].msg_len;
	memcpy(&size, CMSG_DATA(c), sizeof(size));
	return size;
}

/* Call @each with the fragments of a received packet. */
static void get_each(int i, void (*each)(const struct head *head, void *arg), void *arg)
{
	const char *p = msg_iov[i].iov_base, *end = p + msg[i].msg_len;
	size_t size = get_size(i);

	for (; p < end; p += size) {
		const struct head *head = (const void *)p;

		if (end - p < (ssize_t)sizeof(*head) || head->count > fragment ||
		    end - p < (ssize_t)(sizeof(*head) + head->count * sizeof(int32_t)))
			errx(1, "a packet that is too short");
		if (head->seq != HELLO)
			each(head, arg);
	}
}

static struct slot *slot_of(uint64_t seq)
{
	size_t size = (sizeof(struct slot) + fragment * sizeof(int32_t) + 63) / 64 * 64;

	return (struct slot *)(slots + (seq & (slots_count - 1)) * size);
}

/* A contribution: the first one stores, the last one makes it leave. */
static void node_add(const struct head *head, void *arg)
{
	struct slot *slot = slot_of(head->seq);
	const int32_t *elements = (const int32_t *)(head + 1);

	(void)arg;
	if (!slot->seen || slot->head.seq != head->seq) {
		if (slot->seen)
			errx(1, "fragment %llu comes before %llu is complete",
			     (unsigned long long)head->seq, (unsigned long long)slot->head.seq);
		slot->head = *head;
		slot->head.child = index_up;
		memcpy(slot->sum, elements, head->count * sizeof(int32_t));
	} else {
		if (slot->seen >> head->child & 1 || slot->head.count != head->count)
			errx(1, "fragment %llu again", (unsigned long long)head->seq);
		bench_add(slot->sum, elements, head->count);
	}
	slot->seen |= 1ull << head->child;
	if (slot->seen != ~0ull >> (64 - children))
		return;
	slot->seen = 0;
	super_add(&slot->head, slot->sum);
}

/* One packet: of the parent, passed on as it is, or of a child. */
static void node_packet(int i)
{
	struct iovec iov = { msg_iov[i].iov_base, msg[i].msg_len };
	const struct head *head = iov.iov_base;

	if (has_parent && from[i].sin_addr.s_addr == parent.sin_addr.s_addr) {
		if (head->seq != HELLO)
			put_children(&iov, 1, get_size(i));
	} else if (head->seq == HELLO) {
		put_hello(&from[i], 0); /* again: the first answer may have come too early */
	} else {
		get_each(i, node_add, NULL);
	}
}

/* Wait until the parent has answered and all children are there, then answer them. */
static void node_join(void)
{
	uint64_t here = 0;
	bool answered = !has_parent;
	uint32_t c;

	while (!answered || here != ~0ull >> (64 - children)) {
		int i, n;

		if (!answered)
			put_hello(&parent, index_up);
		n = get(20);
		for (i = 0; i < n; i++) {
			const struct head *head = msg_iov[i].iov_base;

			if (has_parent && from[i].sin_addr.s_addr == parent.sin_addr.s_addr) {
				answered = true;
			} else if (head->child < children) {
				child[head->child] = from[i];
				here |= 1ull << head->child;
			}
		}
	}
	for (c = 0; c < children; c++)
		put_hello(&child[c], 0);
}

static void node(void)
{
	int i;

	for (slots_count = 1; slots_count <= WINDOW / segment;)
		slots_count *= 2;
	slots = calloc(slots_count + 1, sizeof(struct slot) + segment + 64);
	if (!slots)
		errx(1, "no memory");
	socket_open(true);
	node_join();
	for (;;) {
		int n = get(-1);

		for (i = 0; i < n; i++)
			node_packet(i);
		if (n < MESSAGES)
			super_send();
	}
}

/**
 * struct flow - a worker's workload under way
 * @b: the workload
 * @first: number of its first fragment
 * @sent: fragments sent
 * @got: results received
 * @per_round: fragments
 * @left: fragments that each round in flight still needs
 * @head: of the fragments of a super-packet
 */
struct flow {
	struct bench *b;
	uint64_t first;
	uint64_t sent;
	uint64_t got;
	uint64_t per_round;
	uint64_t left[BENCH_INFLIGHT_MAX];
	struct head head[SEGMENTS];
};

static void flow_send(struct flow *f)
{
	struct bench *b = f->b;
	uint64_t at = f->sent % f->per_round * fragment;
	struct head *head = &f->head[super.segments];

	head->seq = f->first + f->sent;
	head->child = b->rank;
	head->count = b->elements - at < fragment ? b->elements - at : fragment;
	super_add(head, b->in[f->sent / f->per_round % b->inflight] + at);
	f->sent++;
}

static void flow_result(const struct head *head, void *arg)
{
	struct flow *f = arg;
	struct bench *b = f->b;
	uint64_t n = head->seq - f->first, slot = n / f->per_round % b->inflight;

	if (n >= f->sent || n / f->per_round < b->done || !f->left[slot])
		errx(1, "the result of fragment %llu is not expected", (unsigned long long)n);
	memcpy(b->out[slot] + n % f->per_round * fragment, head + 1,
	       head->count * sizeof(int32_t));
	f->left[slot]--;
	f->got++;
}

/* Send what the window lets, and take what has come. */
static void flow_move(struct flow *f)
{
	uint64_t end = f->b->next * f->per_round;
	int i, n;

	while (f->sent < end && f->sent - f->got < WINDOW / segment)
		flow_send(f);
	super_send();
	n = get(BENCH_TIMEOUT_MS);
	if (!n)
		errx(1, "rank %u: a packet was lost", f->b->rank);
	for (i = 0; i < n; i++)
		get_each(i, flow_result, f);
}

static void worker(struct bench *b, uint64_t *first)
{
	struct flow f = { .b = b, .first = *first };

	f.per_round = (b->elements + fragment - 1) / fragment;
	bench_alloc(b);
	while (bench_more(b)) {
		while (bench_may_fill(b)) {
			f.left[b->next % b->inflight] = f.per_round;
			bench_fill(b, b->in[b->next % b->inflight]);
		}
		flow_move(&f);
		while (b->done < b->next && !f.left[b->done % b->inflight])
			bench_take(b, b->out[b->done % b->inflight]);
	}
	*first += f.sent;
	bench_report(b);
	bench_free(b);
}

static void worker_join(uint32_t rank)
{
	uint64_t end = bench_now() + BENCH_TIMEOUT_MS * 1000000ull;

	do {
		if (bench_now() > end)
			errx(1, "the parent does not answer");
		put_hello(&parent, rank);
	} while (!get(20));
	while (get(50)) /* more answers */
		;
}

int main(int argc, char **argv)
{
	uint32_t rank, workers;
	uint64_t first = 0;
	struct bench b;
	int i;

	if (argc < 4)
		errx(2, "usage: bench-udp node FRAGMENT CHILDREN [INDEX PARENT]\n"
		     "       bench-udp worker FRAGMENT PARENT RANK WORKERS WORKLOAD...");
	fragment = bench_number(argv[2], 1, 2048);
	segment = sizeof(struct head) + fragment * sizeof(int32_t);
	if (!strcmp(argv[1], "node")) {
		children = bench_number(argv[3], 1, BENCH_WORKERS_MAX);
		has_parent = argc > 5;
		if (has_parent) {
			index_up = bench_number(argv[4], 0, BENCH_WORKERS_MAX - 1);
			parent_set(argv[5]);
		}
		node();
	}
	if (strcmp(argv[1], "worker") || argc < 7)
		errx(2, "neither a node nor a worker with a workload");
	parent_set(argv[3]);
	workers = bench_number(argv[5], 1, BENCH_WORKERS_MAX);
	rank = bench_number(argv[4], 0, workers - 1);
	socket_open(false);
	worker_join(rank);
	for (i = 6; i < argc; i++) {
		bench_init(&b, rank, workers, argv[i]);
		worker(&b, &first);
	}
	return 0;
}
