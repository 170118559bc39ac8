// SPDX-License-Identifier: GPL-2.0
/*
 * All-reduce over TCP, for comparison: the same tree, elements and rounds as a job
 * of ina, with user-space nodes that add what their children stream to them.
 *
 *   tcpsum worker PARENT RANK WORKERS ELEMENTS ROUNDS INFLIGHT [CC|- [HOLD]]
 *   tcpsum node CHILDREN ELEMENTS [PARENT|-] [CC]
 *
 * A worker checks every element of every sum and prints the seconds it took. A node
 * adds and passes on pieces as they come, and ends when its children do. CC is the
 * congestion control, the system's if absent. HOLD is how many seconds a worker sleeps
 * before it sends. Up and down are a thread each, so both directions of all links work at
 * once. Any failure ends the program with status 1.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PORT		4254
#define BUFFER		(8 << 20)	/* of a socket: all rounds in flight, with overhead */
#define PIECE		2048		/* elements added and passed on at once */
#define CHILDREN_MAX	64

static int parent = -1;
static int child[CHILDREN_MAX];
static int children;
static size_t elements;
static const char *cc;

/* What a worker alone needs. */
static uint32_t rank, workers;
static unsigned int rounds;
static double hold;
static sem_t room;

static int socket_new(void)
{
	int one = 1, size = BUFFER, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		err(1, "socket");
	if (cc && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		err(1, "congestion control %s", cc);
	return fd;
}

/* The next @size bytes. Return: false if the peer has ended instead. */
static bool get(int fd, void *buf, size_t size)
{
	ssize_t n = recv(fd, buf, size, MSG_WAITALL);

	if (n && n != (ssize_t)size)
		err(1, "receive: %zd of %zu bytes", n, size);
	return n;
}

/* @more: MSG_MORE if more follows at once, so that all segments are full; or 0 */
static void put(int fd, const void *buf, size_t size, int more)
{
	const char *p = buf;
	ssize_t n;

	for (; size; p += n, size -= n) {
		n = send(fd, p, size, MSG_NOSIGNAL | more);
		if (n < 0)
			err(1, "send");
	}
}

/* Connect to the parent, who may not be there yet, and wait for its go. */
static void join(const char *addr)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int tries = 0;
	char go;

	if (inet_pton(AF_INET, addr, &sin.sin_addr) != 1)
		errx(1, "not an address: %s", addr);
	parent = socket_new();
	while (connect(parent, (struct sockaddr *)&sin, sizeof(sin))) {
		if (errno != ECONNREFUSED || ++tries == 100)
			err(1, "connect to %s", addr);
		usleep(100000);
	}
	if (!get(parent, &go, 1))
		errx(1, "the parent has ended");
}

static void accept_children(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int i, fd = socket_new();

	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) || listen(fd, children))
		err(1, "listen");
	for (i = 0; i < children; i++) {
		child[i] = accept(fd, NULL, NULL);
		if (child[i] < 0)
			err(1, "accept");
	}
	close(fd);
}

static void put_children(const void *buf, size_t size, int more)
{
	int i;

	for (i = 0; i < children; i++)
		put(child[i], buf, size, more);
}

/* The size of the piece of a round that begins with element @at. */
static size_t piece(size_t at)
{
	return elements - at < PIECE ? elements - at : PIECE;
}

static int more_after(size_t end)
{
	return end < elements ? MSG_MORE : 0;
}

/* Sums up, or back down at the root, piece by piece. */
static void *node_up(void *arg)
{
	static int32_t sum[PIECE], more[PIECE];
	size_t e, at = 0, count;
	int i;

	for (;; at = (at + count) % elements) {
		count = piece(at);
		if (!get(child[0], sum, count * sizeof(*sum)))
			break;
		for (i = 1; i < children; i++) {
			if (!get(child[i], more, count * sizeof(*more)))
				errx(1, "child %d has ended before the others", i);
			for (e = 0; e < count; e++)
				sum[e] += more[e];
		}
		if (parent < 0)
			put_children(sum, count * sizeof(*sum), more_after(at + count));
		else
			put(parent, sum, count * sizeof(*sum), more_after(at + count));
	}
	if (parent >= 0)
		shutdown(parent, SHUT_WR);
	return arg;
}

/* Results on to the children, as they come. */
static void node_down(void)
{
	static int32_t buf[PIECE];
	size_t at = 0, count;

	for (;; at = (at + count) % elements) {
		count = piece(at);
		if (!get(parent, buf, count * sizeof(*buf)))
			break;
		put_children(buf, count * sizeof(*buf), more_after(at + count));
	}
}

static void node(const char *addr)
{
	pthread_t up;

	accept_children();
	if (addr)
		join(addr);
	put_children("", 1, 0);
	if (pthread_create(&up, NULL, node_up, NULL))
		errx(1, "no thread");
	if (addr)
		node_down();
	pthread_join(up, NULL);
}

/* Rank i contributes f(i + 1) + i, so that who is left out or counted twice shows. */
static int32_t factor(unsigned int round, size_t element)
{
	return ((round + 1) * 2654435761u + element * 40503u) >> 12 & 0xffff;
}

static void *worker_up(void *arg)
{
	int32_t *buf = arg;
	unsigned int round;
	size_t e;

	usleep(hold * 1e6);
	for (round = 0; round < rounds; round++) {
		sem_wait(&room);
		for (e = 0; e < elements; e++)
			buf[e] = factor(round, e) * (rank + 1) + rank;
		put(parent, buf, elements * sizeof(*buf), 0);
	}
	shutdown(parent, SHUT_WR);
	return NULL;
}

static void worker_down(int32_t *buf)
{
	int32_t f = workers * (workers + 1) / 2, offset = workers * (workers - 1) / 2;
	unsigned int round;
	size_t e;

	for (round = 0; round < rounds; round++) {
		if (!get(parent, buf, elements * sizeof(*buf)))
			errx(1, "the parent has ended");
		for (e = 0; e < elements; e++)
			if (buf[e] != factor(round, e) * f + offset)
				errx(1, "round %u: element %zu is wrong", round, e);
		sem_post(&room);
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void worker(const char *addr, unsigned int inflight)
{
	int32_t *up_buf = calloc(elements, sizeof(*up_buf));
	int32_t *down_buf = calloc(elements, sizeof(*down_buf));
	pthread_t up;
	double start;

	if (!up_buf || !down_buf || sem_init(&room, 0, inflight))
		err(1, "no memory");
	join(addr);
	start = now();
	if (pthread_create(&up, NULL, worker_up, up_buf))
		errx(1, "no thread");
	worker_down(down_buf);
	printf("%.6f\n", now() - start);
	pthread_join(up, NULL);
	free(up_buf);
	free(down_buf);
}

int main(int argc, char **argv)
{
	if (argc >= 8 && !strcmp(argv[1], "worker")) {
		rank = atoi(argv[3]);
		workers = atoi(argv[4]);
		elements = atoi(argv[5]);
		rounds = atoi(argv[6]);
		cc = argc > 8 && strcmp(argv[8], "-") ? argv[8] : NULL;
		hold = argc > 9 ? atof(argv[9]) : 0;
		worker(argv[2], atoi(argv[7]));
	} else if (argc >= 4 && !strcmp(argv[1], "node")) {
		children = atoi(argv[2]);
		elements = atoi(argv[3]);
		if (children < 1 || children > CHILDREN_MAX || !elements)
			errx(1, "1 to %d children, 1 element or more", CHILDREN_MAX);
		cc = argc > 5 ? argv[5] : NULL;
		node(argc > 4 && strcmp(argv[4], "-") ? argv[4] : NULL);
	} else {
		fputs("usage: tcpsum worker PARENT RANK WORKERS ELEMENTS ROUNDS INFLIGHT [CC|- [HOLD]]\n"
		      "       tcpsum node CHILDREN ELEMENTS [PARENT|-] [CC]\n", stderr);
		return 2;
	}
	return 0;
}
