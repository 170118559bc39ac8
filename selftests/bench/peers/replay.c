// SPDX-License-Identifier: GPL-2.0
/*
 * Nanoseconds for a fragment of 256 elements: XAgg's aggregator under BPF_PROG_RUN, and
 * what memory allows.
 *
 *   bench-replay MEGABYTES
 *
 * Four ways to reach the slots, as in sumbench: always the same one; 512 in turn; that
 * many megabytes in turn; the same, scattered. The packet of XDP is always the same one
 * and in the cache. One contribution in four stores, two add, one adds and emits. What
 * BPF_PROG_RUN takes itself is subtracted. "b += a" reads each contribution from
 * where its slot is in another array. Printed is the least of several measurements, as
 * others may use the machine, too.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <libgen.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "xdp.h"

#define COUNT	256
#define REPEATS	7
#define WAYS	4
#define NS	60000000ull	/* of one measurement */

static uint32_t all_bits;	/* of the slots */

/* How a way goes from slot to slot. */
static struct xdp_replay way_of(int way)
{
	static const uint32_t few[] = { 0, 9 };

	return (struct xdp_replay) {
		.bits = way < 2 ? few[way] : all_bits,
		.step = way == 3 ? 2654435761u : 1,
	};
}

static struct bpf_object *load(const char *self, bool locked)
{
	struct xdp_choice choice = { .locked = locked, .stride = 1 };
	char path[4096], *dir = strdup(self);
	struct bpf_object *obj;
	struct bpf_map *map;

	snprintf(path, sizeof(path), "%s/xdp-%d.bpf.o", dirname(dir), COUNT);
	free(dir);
	obj = bpf_object__open_file(path, NULL);
	if (!obj)
		err(1, "%s", path);
	map = bpf_object__find_map_by_name(obj, "agg_slots");
	bpf_map__set_max_entries(map, 1u << all_bits);
	map = bpf_object__find_map_by_name(obj, ".rodata");
	if (bpf_map__set_initial_value(map, &choice, sizeof(choice)) || bpf_object__load(obj))
		errx(1, "the programs were not loaded");
	return obj;
}

#define SIZE	(XDP_HEADERS + sizeof(struct xagg_head) + COUNT * sizeof(int32_t))

/*
 * Nanoseconds of a run of a program, on average. @out: the packet after the last run,
 * whose elements were 1, 2, ... before the first one.
 */
static double run(struct bpf_object *obj, const char *name, uint32_t repeat, uint8_t out[SIZE])
{
	uint8_t frame[SIZE] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = SIZE,
		    .data_out = out, .data_size_out = SIZE, .repeat = repeat);
	int32_t i;

	frame[12] = 0x08; /* IPv4 */
	frame[14 + 9] = IPPROTO_UDP;
	frame[14 + 20 + 2] = XDP_PORT >> 8;
	frame[14 + 20 + 3] = XDP_PORT & 0xff;
	for (i = 1; i <= COUNT; i++)
		memcpy(frame + SIZE - (COUNT + 1 - i) * sizeof(i), &i, sizeof(i));
	if (bpf_prog_test_run_opts(bpf_program__fd(bpf_object__find_program_by_name(obj, name)),
				   &opts))
		err(1, "BPF_PROG_RUN");
	return opts.duration;
}

/* After four contributions the packet holds their sum. */
static void verify(struct bpf_object *obj)
{
	uint8_t out[SIZE];
	int32_t i, sum;

	run(obj, "xdp_replay", XDP_WORKERS, out);
	for (i = 1; i <= COUNT; i++) {
		memcpy(&sum, out + SIZE - (COUNT + 1 - i) * sizeof(i), sizeof(i));
		if (sum != XDP_WORKERS * i)
			errx(3, "element %d is %d", i - 1, sum);
	}
}

static double least_run(struct bpf_object *obj, const char *name)
{
	uint8_t out[SIZE];
	double least = 0;
	uint32_t repeat;
	int i;

	run(obj, name, 1u << all_bits, out); /* all slots are there */
	repeat = NS / (run(obj, name, 10000, out) + 1);
	for (i = 0; i < REPEATS; i++) {
		double ns = run(obj, name, repeat, out);

		least = !i || ns < least ? ns : least;
	}
	return least;
}

static void report_xdp(const char *self, bool locked)
{
	struct bpf_object *obj = load(self, locked);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".bss");
	struct xdp_state *state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED,
				   bpf_map__fd(map), 0);
	double nothing = least_run(obj, "xdp_nothing");
	int way;

	if (state == MAP_FAILED)
		err(1, "mmap");
	state->replay = way_of(0);
	verify(obj);
	printf("%-16s %-8s", "XDP", locked ? "locked" : "unlocked");
	for (way = 0; way < WAYS; way++) {
		state->replay = way_of(way);
		printf(" %9.1f", least_run(obj, "xdp_replay") - nothing);
		fflush(stdout);
	}
	putchar('\n');
	bpf_object__close(obj);
}

static double add_all(int32_t *slots, const int32_t *in, int way)
{
	struct xdp_replay r = way_of(way);
	uint64_t start = bench_now(), now;
	size_t at;

	do {
		for (int i = 0; i < 512; i++, r.packets++) {
			at = (r.packets * r.step & ((1u << r.bits) - 1)) * (size_t)COUNT;
			bench_add(slots + at, in + at, COUNT);
		}
		now = bench_now();
	} while (now - start < NS);
	return (double)(now - start) / r.packets;
}

/* In huge pages where there are any, as memory of the kernel is. */
static int32_t *array_new(size_t size)
{
	int32_t *array = aligned_alloc(2 << 20, size);

	if (!array)
		errx(1, "no memory");
	madvise(array, size, MADV_HUGEPAGE);
	memset(array, 1, size);
	return array;
}

static void report_memory(void)
{
	size_t size = ((size_t)COUNT * sizeof(int32_t)) << all_bits;
	int32_t *slots = array_new(size), *in = array_new(size);
	double ns, least = 0;
	int way, i;

	printf("%-16s %-8s", "b += a", "compiler");
	for (way = 0; way < WAYS; way++) {
		for (i = 0; i < REPEATS; i++) {
			ns = add_all(slots, in, way);
			least = !i || ns < least ? ns : least;
		}
		printf(" %9.1f", least);
		fflush(stdout);
	}
	putchar('\n');
	free(slots);
	free(in);
}

int main(int argc, char **argv)
{
	uint32_t slots;

	if (argc != 2)
		errx(2, "usage: bench-replay MEGABYTES");
	slots = bench_number(argv[1], 2, 4096) << 10;
	while (2u << all_bits <= slots)
		all_bits++;
	printf("%-25s %9s %9s %9s %9s\n", "ns per 256 elements", "hot", "512", "memory",
	       "scattered");
	report_memory();
	report_xdp(argv[0], false);
	report_xdp(argv[0], true);
	return 0;
}
