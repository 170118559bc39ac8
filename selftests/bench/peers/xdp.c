// SPDX-License-Identifier: GPL-2.0
/*
 * Loads the XDP programs into the namespaces of a tree and is all its workers.
 *
 *   bench-xdp plain|lock sockets|frames FRAGMENT AGGREGATOR ROOT|- WORKER... WORKLOAD...
 *
 * Workers are threads that send from UDP sockets, as XAgg's do, in super-packets that
 * veth takes apart; or one thread for all that has frames made by a program, which
 * BPF_PROG_RUN starts: less than any worker can do that is not in XDP itself. Results end
 * in a mapped array.
 *
 * Namespaces are named as for ip(8). The aggregator has eth1 to eth4 to the workers
 * and eth0 to the root, all others have eth0. Without a lock everything runs on one
 * CPU, as it must; with one, on all. A window is less than a device's
 * ring, so no frame is ever dropped; one that is, ends the run as a failure.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "xdp.h"

#define WINDOW		192	/* fragments; a ring of veth has 256 */
#define SEGMENTS	60	/* fragments of a super-packet at most */
#define SUPER		65000	/* and bytes */
#define BUFFER		(4 << 20)

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

static struct bpf_object *obj;
static struct xdp_flow *flow;		/* the programs' own */
static int32_t *contributions, *results;
static uint32_t fragment, stride;
static bool locked, sockets;
static uint64_t first;			/* number of the workload's first fragment */

/**
 * struct worker - one of four
 * @b: its workload
 * @fd: the program that sends, or the socket
 * @ring: tells of results
 * @index: its number
 * @expected: results of each round in flight that make it complete
 */
struct worker {
	struct bench b;
	int fd;
	struct ring_buffer *ring;
	uint32_t index;
	uint64_t expected[XDP_INFLIGHT];
};

static struct worker worker[XDP_WORKERS];
static uint8_t frame[4096];

static void enter(const char *ns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "namespace %s", ns);
	close(fd);
}

static int program(const char *name, int n)
{
	struct bpf_program *prog;
	char full[32];

	snprintf(full, sizeof(full), n < 0 ? "%s" : "%s%d", name, n);
	prog = bpf_object__find_program_by_name(obj, full);
	if (!prog)
		errx(1, "no program %s", full);
	return bpf_program__fd(prog);
}

static struct bpf_map *map(const char *name)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, name);

	if (!m)
		errx(1, "no map %s", name);
	return m;
}

/* That something has come is all there is to know. */
static int ring_read(void *ctx, void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	return 0;
}

static struct ring_buffer *ring_open(int n)
{
	struct ring_buffer *ring;
	char name[8];

	snprintf(name, sizeof(name), "ring%d", n);
	ring = ring_buffer__new(bpf_map__fd(map(name)), ring_read, NULL, NULL);
	if (!ring)
		err(1, "%s", name);
	return ring;
}

/* @prog on @dev of this namespace for as long as we live. Return: the index of @dev. */
static uint32_t attach_as(const char *dev, int prog, uint32_t flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
	uint32_t ifindex = if_nametoindex(dev);

	if (!ifindex || bpf_link_create(prog, ifindex, BPF_XDP, &opts) < 0)
		err(1, "XDP on %s", dev);
	return ifindex;
}

/* The same in the driver, and @dev as entry @key of a map of devices. */
static void attach(const char *dev, int prog, const char *ports, uint32_t key)
{
	uint32_t ifindex = attach_as(dev, prog, XDP_FLAGS_DRV_MODE);

	if (ports && bpf_map_update_elem(bpf_map__fd(map(ports)), &key, &ifindex, 0))
		err(1, "map %s", ports);
}

static void *map_memory(const char *name, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map(name)), 0);

	if (p == MAP_FAILED)
		err(1, "mmap of %s", name);
	return p;
}

static void load(const char *self, bool has_root)
{
	struct xdp_choice choice = { .locked = locked, .has_root = has_root, .stride = stride };
	char path[4096], *dir = strdup(self);
	size_t all = (size_t)stride * XDP_WORKERS;

	snprintf(path, sizeof(path), "%s/xdp-%u.bpf.o", dirname(dir), fragment);
	free(dir);
	obj = bpf_object__open_file(path, NULL);
	if (!obj)
		err(1, "%s", path);
	bpf_map__set_max_entries(map("agg_slots"), stride);
	bpf_map__set_max_entries(map("root_slots"), stride);
	bpf_map__set_max_entries(map("contributions"), all);
	bpf_map__set_max_entries(map("results"), all);
	if (bpf_map__set_initial_value(map(".rodata"), &choice, sizeof(choice)) ||
	    bpf_object__load(obj))
		errx(1, "the programs were not loaded");
	contributions = map_memory("contributions", all * fragment * sizeof(int32_t));
	results = map_memory("results", all * fragment * sizeof(int32_t));
	flow = ((struct xdp_state *)map_memory(".bss", sizeof(struct xdp_state)))->flow;
}

/* A socket in this namespace whose packets go to the aggregator as fragments. */
static int socket_open(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(XDP_PORT),
				   .sin_addr.s_addr = inet_addr("10.0.0.2") };
	int size = sizeof(struct xagg_head) + fragment * sizeof(int32_t), buffer = BUFFER;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) ||
	    connect(fd, (struct sockaddr *)&sin, sizeof(sin)))
		err(1, "socket");
	return fd;
}

static void build(const char *agg, const char *root, char **names)
{
	char dev[8];
	int i;

	enter(agg);
	for (i = 0; i < XDP_WORKERS; i++) {
		snprintf(dev, sizeof(dev), "eth%d", i + 1);
		attach(dev, program("xdp_agg", -1), "children", i);
	}
	if (root) {
		attach("eth0", program("xdp_down", -1), "parent", 0);
		enter(root);
		attach("eth0", program("xdp_root", -1), NULL, 0);
	}
	for (i = 0; i < XDP_WORKERS; i++) {
		enter(names[i]);
		attach("eth0", program("xdp_result", i), "workers", i);
		worker[i].index = i;
		worker[i].ring = ring_open(i);
		if (sockets) {
			worker[i].fd = socket_open();
			continue;
		}
		worker[i].fd = program("xdp_send", i);
		/*
		 * The kernel takes a program into its dispatcher when it is attached, else
		 * each time that it is run, which waits for all CPUs.
		 */
		attach_as("lo", worker[i].fd, XDP_FLAGS_SKB_MODE);
	}
}

/* The headers that the programs look at; they come from no stack and go to none. */
static void frame_init(void)
{
	frame[12] = 0x08; /* IPv4 */
	frame[14 + 9] = IPPROTO_UDP;
	frame[14 + 20 + 2] = XDP_PORT >> 8;
	frame[14 + 20 + 3] = XDP_PORT & 0xff;
}

static void worker_send_frames(const struct worker *w, uint32_t count)
{
	uint32_t size = XDP_HEADERS + sizeof(struct xagg_head) + fragment * sizeof(int32_t);
	LIBBPF_OPTS(bpf_test_run_opts, opts,
		    .data_in = frame,
		    .data_size_in = size,
		    .repeat = count,
		    .batch_size = count < 64 ? count : 64,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	if (bpf_prog_test_run_opts(w->fd, &opts))
		err(1, "BPF_PROG_RUN");
}

/* The next fragment, with @head; where it was found is the contribution itself. */
static void worker_fragment(const struct worker *w, struct xagg_head *head, struct iovec *iov)
{
	struct xdp_flow *f = &flow[w->index];
	size_t idx = f->sent % (f->per_round * f->inflight);

	*head = (struct xagg_head) { .id = 1 << w->index, .idx = idx, .seq = f->first + f->sent };
	iov[0] = (struct iovec) { head, sizeof(*head) };
	iov[1] = (struct iovec) { contributions + ((size_t)w->index * stride + idx) * fragment,
				  fragment * sizeof(int32_t) };
	f->sent++;
}

static void worker_send_socket(const struct worker *w, uint32_t count)
{
	size_t size = sizeof(struct xagg_head) + fragment * sizeof(int32_t);
	uint32_t i, n, most = SUPER / size < SEGMENTS ? SUPER / size : SEGMENTS;
	struct xagg_head head[SEGMENTS];
	struct iovec iov[2 * SEGMENTS];
	struct msghdr m = { .msg_iov = iov };

	for (; count; count -= n) {
		n = count < most ? count : most;
		for (i = 0; i < n; i++)
			worker_fragment(w, &head[i], &iov[2 * i]);
		m.msg_iovlen = 2 * n;
		if (sendmsg(w->fd, &m, 0) != (ssize_t)(n * size))
			err(1, "send");
	}
}

static void worker_send(const struct worker *w, uint32_t count)
{
	if (sockets)
		worker_send_socket(w, count);
	else
		worker_send_frames(w, count);
}

/* What a program counts. */
static uint64_t count_of(const __u64 *count)
{
	return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

/* The array of round @round of a worker in a map. */
static int32_t *array(int32_t *map, const struct worker *w, uint64_t round)
{
	size_t slot = round % w->b.inflight * flow[w->index].per_round;

	return map + ((size_t)w->index * stride + slot) * fragment;
}

static bool worker_take(struct worker *w)
{
	struct bench *b = &w->b;
	uint64_t slot = b->done % b->inflight;
	bool taken = false;

	while (b->done < b->next &&
	       count_of(&flow[w->index].got[slot]) == w->expected[slot]) {
		bench_take(b, array(results, w, b->done));
		slot = b->done % b->inflight;
		taken = true;
	}
	return taken;
}

/* Fill, send and take as far as it goes. Return: whether it went. */
static bool worker_step(struct worker *w)
{
	struct xdp_flow *f = &flow[w->index];
	struct bench *b = &w->b;
	uint64_t left, room;

	while (bench_may_fill(b)) {
		w->expected[b->next % b->inflight] += f->per_round;
		bench_fill(b, array(contributions, w, b->next));
	}
	left = b->next * f->per_round - f->sent;
	room = WINDOW - (f->sent - count_of(&f->taken));
	if (left && (left <= room || room >= WINDOW / 2)) {
		worker_send(w, left < room ? left : room);
		worker_take(w);
		return true;
	}
	return worker_take(w);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}

/**
 * struct share - the workers of a thread
 * @cpu: where it runs
 * @from: its first worker
 * @to: the one behind its last
 */
struct share {
	int cpu;
	int from;
	int to;
};

/* Nothing moves: who has a socket sleeps until told, frames need no one to wait for. */
static void share_wait(const struct share *s, uint64_t since)
{
	if (bench_now() - since > BENCH_TIMEOUT_MS * 1000000ull)
		errx(1, "a frame was lost");
	if (!sockets)
		sched_yield();
	else if (ring_buffer__poll(worker[s->from].ring, BENCH_TIMEOUT_MS) < 0)
		err(1, "ring");
}

static void *share_run(void *arg)
{
	const struct share *s = arg;
	uint64_t last = bench_now();
	bool more = true;
	int i;

	pin(s->cpu);
	while (more) {
		bool moved = false;

		for (i = s->from, more = false; i < s->to; i++) {
			if (!bench_more(&worker[i].b))
				continue;
			more = true;
			moved |= worker_step(&worker[i]);
		}
		if (moved)
			last = bench_now();
		else if (more)
			share_wait(s, last);
	}
	return NULL;
}

static void run_shares(void)
{
	int i, cpus = locked ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	int n = sockets ? XDP_WORKERS : cpus < 2 ? 1 : 2;
	struct share share[XDP_WORKERS];
	pthread_t thread[XDP_WORKERS];

	for (i = 0; i < n; i++) {
		share[i] = (struct share) { i % cpus, i * XDP_WORKERS / n,
					    (i + 1) * XDP_WORKERS / n };
		if (pthread_create(&thread[i], NULL, share_run, &share[i]))
			errx(1, "no thread");
	}
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void workload(const char *word)
{
	struct bench *b = NULL;
	uint32_t per_round;
	int i;

	for (i = 0; i < XDP_WORKERS; i++) {
		b = &worker[i].b;
		bench_init(b, i, XDP_WORKERS, word);
		per_round = (b->elements + fragment - 1) / fragment;
		flow[i] = (struct xdp_flow) { .first = first, .per_round = per_round,
					      .inflight = b->inflight };
		memset(worker[i].expected, 0, sizeof(worker[i].expected));
	}
	run_shares();
	first += (b->warm + b->rounds) * per_round;
	for (i = 0; i < XDP_WORKERS; i++) {
		bench_report(&worker[i].b);
		bench_free(&worker[i].b);
	}
}

/* Fragments that the largest workload has in flight. */
static uint32_t largest(char **words, int n)
{
	uint32_t most = 0;
	struct bench b;

	while (n--) {
		uint32_t now;

		bench_init(&b, 0, XDP_WORKERS, words[n]);
		now = (b.elements + fragment - 1) / fragment * b.inflight;
		most = now > most ? now : most;
		bench_free(&b);
	}
	return most;
}

int main(int argc, char **argv)
{
	char **words = argv + 6 + XDP_WORKERS;
	int i, n = argc - 6 - XDP_WORKERS;

	if (n < 1 || (strcmp(argv[1], "plain") && strcmp(argv[1], "lock")) ||
	    (strcmp(argv[2], "sockets") && strcmp(argv[2], "frames")))
		errx(2, "usage: bench-xdp plain|lock sockets|frames FRAGMENT AGGREGATOR ROOT|- %s",
		     "W1 W2 W3 W4 WORKLOAD...");
	locked = !strcmp(argv[1], "lock");
	sockets = !strcmp(argv[2], "sockets");
	fragment = bench_number(argv[3], 8, 768);
	stride = largest(words, n);
	frame_init();
	first = 1; /* a new slot has number 0 */
	load(argv[0], strcmp(argv[5], "-"));
	build(argv[4], strcmp(argv[5], "-") ? argv[5] : NULL, argv + 6);
	for (i = 0; i < n; i++)
		workload(words[i]);
	return 0;
}
