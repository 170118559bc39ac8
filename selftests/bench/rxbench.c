// SPDX-License-Identifier: GPL-2.0
/*
 * Nanoseconds to receive a fragment of 256 elements: the module's own receive
 * path from ina_rx() on, compiled for user space. Super-packets of up to 32
 * packets in page fragments, from four children to a root: the header is checked,
 * job, child, epoch and window are looked up, the slot is locked, claimed and
 * marked, elements are stored (one child of four) or added, the number is
 * accounted for on its hop, arrival and counters are noted; with the last child
 * the sum is finished and published. After each round the window moves.
 *
 * Not in it: what comes before ina_rx(), freeing skbs, sending what is complete
 * (ina_tx_queue(), ina_tx_run()), answers of hops, and what the kernel takes to
 * make vector registers usable, once for a super-packet.
 *
 * Four ways to reach packets and slots, as in sumbench: few of each; 512 of each
 * in turn; more than the caches hold, in turn; the same, but slots in random
 * order. Each child's contributions to a round come in one go, so that slots are
 * as far away as packets. "b += a" goes over the same elements in the same order.
 * Printed is the least of many short measurements, as others may use the machine,
 * too; of long ones, what the thread itself took.
 *
 * Then one CPU with all four children, and two with two each, half a round apart
 * ("2 CPUs") or at the same slots at the same time ("in step"); "b += a" on two
 * CPUs over the same memory tells what the machine allows. A wrong sum or a packet
 * that was not taken fails all of it.
 *
 * usage: rxbench [MEGABYTES of packets, and as much of slots [DTYPE, this one only]]
 */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "net.h"
#include "round.h"
#include "rx.h"
#include "rxbench.h"
#include "stats.h"
#include "wire.h"

#define COUNT		256
#define CHILDREN	4
#define SUPER		32	/* packets in an skb */
#define PIECE		16	/* of them in a page fragment */
#define FEW		16
#define REPEATS		3	/* at least */
#define NS		2000000		/* of one measurement: mostly undisturbed */
#define NS_ALL		400000000	/* of all of them */
#define EPOCH		1

static const struct row {
	const char *name;
	u8 dtype;
} rows[] = {
	{ "int32 receive", INA_DTYPE_INT32 },
	{ "fp32 receive", INA_DTYPE_FP32 },
	{ "bf16 receive", INA_DTYPE_BF16 },
	{ "fixed receive", INA_DTYPE_FIXED },
};

static const char * const ways[] = { "hot", "512", "memory", "scattered" };

/* A CPU and the packets it gets. */
struct feeder {
	u32 cpu;
	u8 *packets;
};

static struct feeder feeders[2];
static struct ina_net inet;
static struct ina_job job;
static struct ina_node *node;
static u32 total, slots, *order;
static u32 seqs[CHILDREN];
static bool scattered;
static u64 sent;	/* packets since setup() */

static void die(const char *why)
{
	fprintf(stderr, "rxbench: %s\n", why);
	exit(1);
}

/* In huge pages where there are any, as memory of the kernel is. */
static void *memory(size_t size)
{
	void *p = mmap(NULL, size + (2 << 20), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("no memory");
	madvise(p, size + (2 << 20), MADV_HUGEPAGE);
	p = (void *)ALIGN((uintptr_t)p, 2 << 20);
	memset(p, 0, size);
	return p;
}

static void region(struct ina_region *region, size_t size)
{
	if (region->addr)
		munmap(region->addr, region->size);
	region->size = PAGE_ALIGN(size);
	region->addr = memory(region->size);
}

static struct in6_addr child_addr(u32 child)
{
	struct in6_addr addr = { .s6_addr = { 0xfd, [15] = 10 + child } };

	return addr;
}

static void setup_hops(void)
{
	size_t got = ina_hop_got_size(job.config.group);
	size_t size = got + ina_queue_size(slots);
	u32 i;

	region(&node->hops, CHILDREN * size);
	for (i = 0; i < CHILDREN; i++) {
		struct ina_child *child = &node->children[i];

		child->peer.addr = child_addr(i);
		child->workers = 1;
		child->token = i + 1;
		child->acked = 0;
		ina_queue_init(&child->peer.queue, slots);
		ina_hop_init(&child->peer.path[0].hop, &child->peer.queue,
			     job.config.group);
		child->peer.path[0].hop.got = node->hops.addr + i * size;
		child->peer.queue.pending = node->hops.addr + i * size + got;
		ina_hop_reset(&child->peer.path[0].hop, EPOCH);
		seqs[i] = 0;
	}
}

/* The root of a job with as many fragments in a round, one round in flight. */
static void setup(u8 dtype, u32 count)
{
	struct ina_child *children = node->children;
	struct ina_region sums = node->sums, states = node->slots, hops = node->hops;
	u32 i;

	slots = count;
	sent = 0;
	free(job.stats);
	memset(node, 0, sizeof(*node));
	memset(children, 0, CHILDREN * sizeof(*children));
	job.config = (struct ina_job_config){
		.id = 7, .dtype = dtype, .fragment = COUNT, .depth = 1,
		.capacity = slots * COUNT, .group = 256,
		.exponent = dtype == INA_DTYPE_FIXED ? -30 : 0,
	};
	job.stats = alloc_percpu(struct ina_stats);
	job.node = node;
	inet.jobs.entry = &job;
	node->job = &job;
	node->inet = &inet;
	node->local.s6_addr[15] = 1;
	node->root = true;
	node->children = children;
	node->nchildren = CHILDREN;
	node->contributors = CHILDREN;
	node->members = CHILDREN;
	node->token = CHILDREN * (CHILDREN + 1) / 2;
	node->type = (struct ina_sum_type){ dtype, job.config.exponent };
	node->frags = slots;
	node->stride = PAGE_ALIGN((size_t)slots * COUNT * ina_sum_narrow(dtype));
	node->sum_stride = PAGE_ALIGN((size_t)slots * COUNT * ina_sum_wide(dtype));
	node->slot_size = ina_node_slot_size(CHILDREN);
	node->sums = sums;
	node->slots = states;
	node->hops = hops;
	region(&node->sums, node->sum_stride);
	region(&node->slots, (size_t)slots * node->slot_size);
	for (i = 0; i < slots; i++)
		ina_slot_init(ina_node_slot(node, i));
	setup_hops();
	node->era = 1;
	node->epoch_era = (u64)EPOCH << 32 | node->era;
}

/* Element @i of what every child gives to a fragment, @times. */
static u32 element(u32 frag, u32 i, s32 times)
{
	s32 value = (s32)((frag * 7 + i) % 127 - 63) * times;
	float real = value;
	u32 bits;

	if (job.config.dtype == INA_DTYPE_INT32)
		return value;
	memcpy(&bits, &real, sizeof(bits));
	return job.config.dtype == INA_DTYPE_BF16 ? bits >> 16 : bits;
}

static size_t packet_size(void)
{
	return sizeof(struct ina_hdr) + COUNT * ina_sum_narrow(job.config.dtype);
}

static u32 frag_of(u32 i)
{
	return scattered ? order[i] : i;
}

static void fill(const struct feeder *f)
{
	u32 size = ina_sum_narrow(job.config.dtype), i, j, value;
	u8 *to = f->packets;

	for (i = 0; i < slots; i++) {
		to += sizeof(struct ina_hdr);
		for (j = 0; j < COUNT; j++, to += size) {
			value = element(frag_of(i), j, 1);
			__builtin_memcpy(to, &value, size);
		}
	}
}

/* The headers of all of a child's packets of this round. */
static void head(const struct feeder *f, u32 child)
{
	struct ina_pkt pkt = {
		.type = INA_TYPE_DATA, .job = job.config.id, .epoch = EPOCH,
		.round = node->base, .length = job.config.capacity,
		.index = child, .count = COUNT, .workers = 1,
		.token = child + 1,
	};
	size_t size = packet_size();
	u32 i;

	for (i = 0; i < slots; i++) {
		pkt.seq = seqs[child]++;
		pkt.frag = frag_of(i);
		ina_wire_build((struct ina_hdr *)(f->packets + i * size), &pkt);
	}
}

/* Receive those from @at on, up to @end. */
static void feed(const struct feeder *f, u32 child, u32 at, u32 end)
{
	struct ina_rx_info info = { child_addr(child), node->local };
	u32 size = packet_size(), piece = PIECE * size, i;
	struct skb_shared_info shared;
	struct sk_buff skb;

	for (; at < end; at += i * PIECE) {
		shared = (struct skb_shared_info){
			.gso_size = size, .gso_type = SKB_GSO_UDP_L4,
			.nr_frags = min(end - at, SUPER) / PIECE,
		};
		for (i = 0; i < shared.nr_frags; i++)
			shared.frags[i] = (skb_frag_t){
				(void *)(f->packets + (size_t)at * size),
				i * piece, piece };
		skb = (struct sk_buff){
			.len = i * piece, .data_len = i * piece, .shared = &shared,
		};
		ina_rx(&inet, &skb, &info);
	}
}

/* Answers are sent, all acknowledge the round. */
static void next_round(void)
{
	struct ina_hop_answer answer;
	u32 i, epoch;

	for (i = 0; i < CHILDREN; i++)
		while (ina_hop_next_answer(&node->children[i].peer.path[0].hop, &epoch,
					   &answer))
			if (answer.lost)
				die("a packet was not accounted for");
	sent += CHILDREN * slots;
	spin_lock_bh(&node->lock);
	for (i = 0; i < CHILDREN; i++)
		node->children[i].acked = node->base + 1;
	ina_round_advance(node);
	spin_unlock_bh(&node->lock);
	node->tx.busy = 0;
}

/* Slots whose result is not four times what each child gave. */
static u64 wrong_sums(void)
{
	u32 size = ina_sum_narrow(job.config.dtype), i, j, want;
	u64 wrong = 0;

	for (i = 0; i < slots; i++) {
		const u8 *at = ina_node_results(node, i);

		for (j = 0; j < COUNT; j++, at += size) {
			want = element(i, j, CHILDREN);
			if (memcmp(at, &want, size))
				break;
		}
		wrong += j < COUNT;
	}
	return wrong;
}

/* All that was sent was taken, all rounds ended, all sums are right. */
static void verify(void)
{
	if (ina_stats_sum(job.stats, INA_STAT_RX_DATA) != sent ||
	    ina_stats_sum(job.stats, INA_STAT_ROUNDS_DONE) != node->base ||
	    ina_stats_sum(inet.stats, INA_STAT_DROP_SHORT) || rx_failed)
		die("packets were refused");
	if (wrong_sums())
		die("a sum is wrong");
}

static u64 now(void)
{
	struct timespec t;

	clock_gettime(slots > 4096 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* What two looks at the clock take. */
static u64 clock_cost(void)
{
	u64 start, ns, least = ~0ULL;
	int i;

	for (i = 0; i < 100; i++) {
		start = now();
		ns = now() - start;
		least = min(least, ns);
	}
	return least;
}

__attribute__((noinline, optimize("O3"), INA_SHIM_VECTOR))
static void plain(u32 *restrict b, const u32 *restrict a)
{
	for (int i = 0; i < COUNT; i++)
		b[i] += a[i];
}

/* What memory allows, in place of feed(). */
static void add(const struct feeder *f, u32 child, u32 at, u32 end)
{
	size_t size = packet_size();

	for (; at < end; at++)
		plain(ina_node_sums_at(node, 0, frag_of(at)),
		      (u32 *)(f->packets + at * size + sizeof(struct ina_hdr)));
}

static double measure_plain(const struct feeder *f)
{
	u64 start = now(), ns, done = 0;

	do {
		add(f, 0, 0, slots);
		done += slots;
		ns = done % 512 ? 0 : now() - start;
	} while (ns < NS);
	return (double)ns / done;
}

static double measure(const struct feeder *f)
{
	u64 start, ns = 0, done = 0, cost = clock_cost();
	u32 child;

	do {
		for (child = 0; child < CHILDREN; child++) {
			head(f, child);
			start = now();
			feed(f, child, 0, slots);
			ns += now() - start - cost;
			done += slots;
		}
		next_round();
	} while (ns < NS);
	return (double)ns / done;
}

static void report(const struct row *row, bool simd, bool is_plain)
{
	const u32 counts[] = { FEW, 512, total, total };
	double ns, least;
	u64 start;
	u32 way, i;

	ina_shim_simd = simd;
	printf("%-16s %-8s", is_plain ? "b += a" : row->name, is_plain ? "compiler" :
	       simd ? INA_SIMD_NAME : "integer");
	for (way = 0; way < ARRAY_SIZE(ways); way++) {
		scattered = way == 3;
		setup(row->dtype, counts[way]);
		fill(&feeders[0]);
		start = ktime_get_ns();
		for (i = 0, least = 0; i < REPEATS ||
		     ktime_get_ns() - start < NS_ALL; i++) {
			ns = is_plain ? measure_plain(&feeders[0]) :
					measure(&feeders[0]);
			least = !i || ns < least ? ns : least;
		}
		if (!is_plain)
			verify();
		printf(" %9.1f", least);
		fflush(stdout);
	}
	putchar('\n');
}

/* Rounds of all CPUs at once. */
static struct {
	u32 cpus, rounds;
	bool check, apart;
	void (*work)(const struct feeder *f, u32 child, u32 at, u32 end);
	u64 *ns;	/* of each round */
	u64 wrong;	/* slots, if checked */
	u32 waiting, turn;
} run;

static void meet(void)
{
	u32 turn = __atomic_load_n(&run.turn, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&run.waiting, 1, __ATOMIC_ACQ_REL) == run.cpus) {
		run.waiting = 0;
		__atomic_store_n(&run.turn, turn + 1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&run.turn, __ATOMIC_ACQUIRE) == turn)
		sched_yield();
}

static void *run_cpu(void *arg)
{
	const struct feeder *f = arg;
	u32 children = CHILDREN / run.cpus, round, i, child, from;
	cpu_set_t cpus;
	u64 start;

	CPU_ZERO(&cpus);
	CPU_SET(f->cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	ina_shim_cpu = f->cpu * INA_SHIM_PERCPU;
	from = run.apart ? f->cpu * slots / 2 / SUPER * SUPER : 0;
	for (round = 0; round < run.rounds; round++) {
		for (i = 0; i < children; i++) {
			child = f->cpu * children + i;
			meet();
			head(f, child);
			meet();
			start = ktime_get_ns();
			run.work(f, child, from, slots);
			run.work(f, child, 0, from);
			meet();
			if (!f->cpu)
				run.ns[round] += ktime_get_ns() - start;
		}
		if (f->cpu)
			continue;
		run.wrong += run.check ? wrong_sums() : 0;
		if (run.work == feed)
			next_round();
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Return: fragments in a nanosecond, in the better rounds. */
static double run_cpus(u32 cpus, u32 count, u32 rounds)
{
	pthread_t threads[ARRAY_SIZE(feeders)];
	double rate;
	u32 i;

	setup(INA_DTYPE_INT32, count);
	run.cpus = cpus;
	run.rounds = rounds;
	run.wrong = 0;
	run.ns = calloc(rounds, sizeof(*run.ns));
	for (i = 0; i < cpus; i++) {
		fill(&feeders[i]);
		if (pthread_create(&threads[i], NULL, run_cpu, &feeders[i]))
			die("no thread");
	}
	for (i = 0; i < cpus; i++)
		pthread_join(threads[i], NULL);
	if (run.work == feed && !run.check)
		verify();
	qsort(run.ns, rounds, sizeof(*run.ns), compare);
	rate = (double)CHILDREN * slots / run.ns[rounds / 4];
	free(run.ns);
	return rate;
}

/* Both CPUs add to the same few slots at the same time. */
static void report_lost(const char *how)
{
	run.work = feed;
	run.apart = false;
	run.check = true;
	run_cpus(ARRAY_SIZE(feeders), FEW, 20000);
	printf("lost updates: %llu of %llu sums, %s\n", run.wrong, sent / CHILDREN,
	       how);
}

static void report_cpus(const char *name, const char *where, u32 count, u32 rounds)
{
	double one, apart, step;

	run.work = strcmp(name, "b += a") ? feed : add;
	one = run_cpus(1, count, rounds);
	run.apart = true;
	apart = run_cpus(2, count, rounds);
	run.apart = false;
	step = run_cpus(2, count, rounds);
	printf("%s %s 1 CPU %.2f, 2 CPUs %.2f million fragments/s, %.2f times; in step %.2f times\n",
	       name, where, one * 1000, apart * 1000, apart / one, step / one);
}

static void shuffle(void)
{
	u32 i, j;

	for (i = 0; i < total; i++) {
		j = rand() % (i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

static void init(size_t bytes)
{
	size_t size = sizeof(struct ina_hdr) + COUNT * sizeof(u32);
	u32 i;

	total = bytes / size / SUPER * SUPER;
	order = malloc(total * sizeof(*order));
	node = aligned_alloc(64, ALIGN(sizeof(*node), 64));
	if (!order || !node || total < 512 || ina_rx_init() || ina_sum_init())
		die("no memory");
	memset(node, 0, sizeof(*node));
	node->children = calloc(CHILDREN, sizeof(*node->children));
	inet.stats = alloc_percpu(struct ina_stats);
	for (i = 0; i < ARRAY_SIZE(feeders); i++)
		feeders[i] = (struct feeder){ i, memory(total * size) };
	shuffle();
}

int main(int argc, char **argv)
{
	u32 i;

	init((argc > 1 ? atol(argv[1]) : 256) << 20);
	ina_shim_simd = ina_simd_present();
#ifdef INA_SHIM_NO_LOCK
	report_lost("without the lock of the slot");
	return !run.wrong;
#endif
	printf("%-25s", "ns per 256 elements");
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		printf(" %9s", ways[i]);
	putchar('\n');
	report(&rows[0], false, true);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (argc > 2 && strncmp(rows[i].name, argv[2], strlen(argv[2])))
			continue;
		report(&rows[i], false, false);
		if (ina_simd_present())
			report(&rows[i], true, false);
	}
	scattered = false;
	report_cpus("b += a", "512", 512, 1000);
	report_cpus("int32", "512", 512, 1000);
	report_cpus("b += a", "memory", total, 8);
	report_cpus("int32", "memory", total, 8);
	report_lost("with the lock of the slot");
	verify();
	return 0;
}
