// SPDX-License-Identifier: GPL-2.0
/*
 * All-reduce over TCP through servers that add: one thread, epoll, sockets that do not
 * block.
 *
 *   bench-tcp node CHILDREN [PARENT]
 *   bench-tcp worker PARENT RANK WORKERS WORKLOAD...
 *
 * A node sees streams of int32, no rounds: what all children have sent up to a
 * position is summed up to there and goes on, up to the parent or, at the root, back
 * down. The first to reach a position is received straight into the sum. Sums live in a
 * ring that stays in the cache. It ends when its children do.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define PORT	4255
#define RING	(256u << 10)	/* bytes */
#define WORD	sizeof(int32_t)

/**
 * struct child - of a node
 * @fd: its socket
 * @in: bytes of its stream that are in the sum
 * @out: bytes of results sent to it
 * @rest: bytes received of the next word, at the start of @buf
 * @ended: it will send no more
 * @buf: what is received where another child was first
 */
struct child {
	int fd;
	uint64_t in;
	uint64_t out;
	unsigned int rest;
	bool ended;
	char buf[RING];
};

static struct child *child;
static unsigned int children;
static int parent = -1;

static char up[RING];		/* sums of the children */
static char down[RING];		/* results of the parent */
static uint64_t sent;		/* bytes of sums sent to the parent */
static uint64_t got;		/* bytes of results received from it */

static int socket_new(void)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err(1, "socket");
	return fd;
}

/* Connect to the parent, who may not be there yet, and wait for its go. */
static int join(const char *addr)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	uint64_t end = bench_now() + BENCH_TIMEOUT_MS * 1000000ull;
	int fd = socket_new();
	char go;

	if (inet_pton(AF_INET, addr, &sin.sin_addr) != 1)
		errx(2, "not an address: %s", addr);
	while (connect(fd, (struct sockaddr *)&sin, sizeof(sin))) {
		if (errno != ECONNREFUSED || bench_now() > end)
			err(1, "connect to %s", addr);
		usleep(20000);
	}
	if (recv(fd, &go, 1, 0) != 1)
		errx(1, "the parent has ended");
	return fd;
}

static void accept_children(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int one = 1, fd = socket_new();
	unsigned int i;

	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) || listen(fd, children))
		err(1, "listen");
	for (i = 0; i < children; i++) {
		child[i].fd = accept(fd, NULL, NULL);
		if (child[i].fd < 0 ||
		    setsockopt(child[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
			err(1, "accept");
	}
	close(fd);
}

/* As much as there is, or room for. Return: bytes, 0 if none now, -1 at the end. */
static ssize_t get(int fd, void *buf, size_t size)
{
	ssize_t n = size ? recv(fd, buf, size, MSG_DONTWAIT) : 0;

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		err(1, "receive");
	return size && !n ? -1 : n;
}

static size_t put(int fd, const void *buf, size_t size)
{
	ssize_t n = size ? send(fd, buf, size, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		err(1, "send");
	return n;
}

/* Bytes from @from to @to that lie together in a ring. */
static size_t span(uint64_t from, uint64_t to)
{
	size_t left = RING - from % RING;

	return to - from < left ? to - from : left;
}

static uint64_t least_out(void)
{
	uint64_t least = child[0].out;
	unsigned int i;

	for (i = 1; i < children; i++)
		if (child[i].out < least)
			least = child[i].out;
	return least;
}

/* Whole words that all children have sent. */
static uint64_t summed(void)
{
	uint64_t least = child[0].in;
	unsigned int i;

	for (i = 1; i < children; i++)
		if (child[i].in < least)
			least = child[i].in;
	return least / WORD * WORD;
}

static uint64_t farthest(void)
{
	uint64_t most = child[0].in;
	unsigned int i;

	for (i = 1; i < children; i++)
		if (child[i].in > most)
			most = child[i].in;
	return most;
}

/* Where another child was first: received aside, and added by whole words. */
static ssize_t child_add(struct child *c, uint64_t to)
{
	size_t room = span(c->in, to / WORD * WORD), words;
	ssize_t n = get(c->fd, c->buf + c->rest, room ? room - c->rest : 0);

	if (n <= 0)
		return n;
	words = (c->rest + n) / WORD;
	bench_add((int32_t *)(up + c->in % RING), (int32_t *)c->buf, words);
	c->in += words * WORD;
	c->rest = (c->rest + n) % WORD;
	memmove(c->buf, c->buf + words * WORD, c->rest);
	return n;
}

/* Return: whether anything was received. */
static bool child_get(struct child *c)
{
	uint64_t most = farthest(), end = (parent < 0 ? least_out() : sent) + RING;
	ssize_t n;

	if (c->ended)
		return false;
	if (c->in < most) {
		n = child_add(c, most);
	} else {
		n = get(c->fd, up + c->in % RING, span(c->in, end));
		c->in += n > 0 ? n : 0;
	}
	c->ended = n < 0;
	return n;
}

static bool child_put(struct child *c)
{
	const char *ring = parent < 0 ? up : down;
	size_t n = put(c->fd, ring + c->out % RING, span(c->out, parent < 0 ? summed() : got));

	c->out += n;
	return n;
}

static bool parent_move(void)
{
	ssize_t n = get(parent, down + got % RING, span(got, least_out() + RING));
	size_t m = put(parent, up + sent % RING, span(sent, summed()));

	if (n < 0)
		errx(1, "the parent has ended");
	got += n;
	sent += m;
	return n || m;
}

/* Until nothing moves any more. Return: whether all children have ended. */
static bool move(void)
{
	bool moved, ended;
	unsigned int i;

	do {
		moved = false;
		ended = true;
		for (i = 0; i < children; i++) {
			moved |= child_get(&child[i]);
			ended &= child[i].ended;
		}
		if (parent >= 0)
			moved |= parent_move();
		for (i = 0; i < children; i++)
			if (!child[i].ended)
				moved |= child_put(&child[i]);
	} while (moved && !ended);
	return ended;
}

static void watch(int epoll, int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
		err(1, "epoll");
}

static void node(const char *addr)
{
	struct epoll_event events[BENCH_WORKERS_MAX];
	int epoll = epoll_create1(0);
	unsigned int i;

	child = calloc(children, sizeof(*child));
	if (!child)
		errx(1, "no memory");
	accept_children();
	if (addr)
		parent = join(addr);
	for (i = 0; i < children; i++) {
		put(child[i].fd, "", 1);
		watch(epoll, child[i].fd);
	}
	if (addr)
		watch(epoll, parent);
	while (!move())
		if (epoll_wait(epoll, events, BENCH_WORKERS_MAX, -1) < 0)
			err(1, "epoll");
}

/* What is filled and not yet sent, and what is not yet received, of a workload. */
static void worker_move(struct bench *b, uint64_t *out, uint64_t *in)
{
	uint64_t size = b->elements * WORD, end = b->next * size;
	struct pollfd p = { .fd = parent, .events = POLLIN | (*out < end ? POLLOUT : 0) };
	ssize_t n;

	if (poll(&p, 1, BENCH_TIMEOUT_MS) < 1)
		errx(1, "rank %u waits for nothing", b->rank);
	if (p.revents & POLLOUT)
		*out += put(parent, (char *)b->in[*out / size % b->inflight] + *out % size,
			    size - *out % size);
	if (!(p.revents & ~POLLOUT))
		return;
	n = get(parent, (char *)b->out[*in / size % b->inflight] + *in % size, size - *in % size);
	if (n < 0)
		errx(1, "the parent has ended");
	*in += n;
	if (n && !(*in % size))
		bench_take(b, b->out[b->done % b->inflight]);
}

static void worker(struct bench *b)
{
	uint64_t out = 0, in = 0;

	bench_alloc(b);
	while (bench_more(b)) {
		while (bench_may_fill(b))
			bench_fill(b, b->in[b->next % b->inflight]);
		worker_move(b, &out, &in);
	}
	bench_report(b);
	bench_free(b);
}

int main(int argc, char **argv)
{
	uint32_t rank, workers;
	struct bench b;
	int i;

	if (argc >= 3 && argc <= 4 && !strcmp(argv[1], "node")) {
		children = bench_number(argv[2], 1, BENCH_WORKERS_MAX);
		node(argv[3]);
		return 0;
	}
	if (argc < 6 || strcmp(argv[1], "worker"))
		errx(2, "usage: bench-tcp node CHILDREN [PARENT]\n"
		     "       bench-tcp worker PARENT RANK WORKERS WORKLOAD...");
	workers = bench_number(argv[4], 1, BENCH_WORKERS_MAX);
	rank = bench_number(argv[3], 0, workers - 1);
	parent = join(argv[2]);
	for (i = 5; i < argc; i++) {
		bench_init(&b, rank, workers, argv[i]);
		worker(&b);
	}
	return 0;
}
