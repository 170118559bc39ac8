// SPDX-License-Identifier: GPL-2.0
/*
 * Contributions and sums. A gradient is written once for each buffer, as a device
 * would have; only the first of 256 elements is new in each round, so that no
 * fragment of an earlier round passes for one of this. These are checked in every
 * round, all elements in the first round and the last. What fills and checks is not
 * what is to be measured, and must not drown it.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define LIVE	256	/* of so many elements one is new in each round */

uint64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint32_t bench_number(const char *word, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	if (end == word || *end || n < min || n > max)
		errx(2, "'%s': expected a number from %u to %u", word, min, max);
	return n;
}

/* Seconds that all CPUs were not idle since boot. */
static double busy_seconds(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
			 &idle, &iowait, &irq, &softirq) != 7)
		err(1, "/proc/stat");
	fclose(f);
	return (double)(user + nice + system + irq + softirq) / sysconf(_SC_CLK_TCK);
}

void bench_init(struct bench *b, uint32_t rank, uint32_t workers, const char *workload)
{
	unsigned long long rounds, inflight;
	char end;

	memset(b, 0, sizeof(*b));
	if (sscanf(workload, "%zu:%llu:%llu%c", &b->elements, &rounds, &inflight, &end) != 3 ||
	    !b->elements || !rounds || !inflight || inflight > BENCH_INFLIGHT_MAX)
		errx(2, "'%s': expected ELEMENTS:ROUNDS:INFLIGHT, at most %d in flight", workload,
		     BENCH_INFLIGHT_MAX);
	b->rank = rank;
	b->workers = workers;
	b->rounds = rounds;
	b->inflight = inflight;
	b->warm = inflight + rounds / 10;
	b->latency = calloc(rounds, sizeof(*b->latency));
	if (!b->latency)
		errx(1, "no memory");
}

void bench_alloc(struct bench *b)
{
	uint64_t i;

	for (i = 0; i < b->inflight; i++) {
		b->in[i] = calloc(b->elements, sizeof(int32_t));
		b->out[i] = calloc(b->elements, sizeof(int32_t));
		if (!b->in[i] || !b->out[i])
			errx(1, "no memory");
	}
}

void bench_free(struct bench *b)
{
	uint64_t i;

	for (i = 0; i < b->inflight; i++) {
		free(b->in[i]);
		free(b->out[i]);
	}
	free(b->latency);
}

bool bench_more(const struct bench *b)
{
	return b->done < b->warm + b->rounds;
}

bool bench_may_fill(const struct bench *b)
{
	return b->next < b->warm + b->rounds && b->next < b->done + b->inflight;
}

/* Rank i contributes f(i + 1) + i, so that who is left out or counted twice shows. */
static int32_t factor(uint64_t round, size_t element)
{
	uint32_t e = element % LIVE ? element : element + round * 7919;

	return e * 40503u >> 8 & 0xffff;
}

static bool is_filled(struct bench *b, const int32_t *buf)
{
	int i;

	for (i = 0; i < BENCH_INFLIGHT_MAX; i++) {
		if (b->filled[i] == buf)
			return true;
		if (!b->filled[i]) {
			b->filled[i] = buf;
			return false;
		}
	}
	errx(1, "more than %d buffers", i);
}

/* The contribution to the next round, which may be under way from now on. */
void bench_fill(struct bench *b, int32_t *buf)
{
	size_t e, step = is_filled(b, buf) ? LIVE : 1;

	for (e = 0; e < b->elements; e += step)
		buf[e] = factor(b->next, e) * (b->rank + 1) + b->rank;
	b->since[b->next % b->inflight] = bench_now();
	b->next++;
}

static void check(const struct bench *b, const int32_t *sum, size_t step)
{
	int32_t f = b->workers * (b->workers + 1) / 2, offset = b->workers * (b->workers - 1) / 2;
	size_t e;

	for (e = 0; e < b->elements; e += step)
		if (sum[e] != factor(b->done, e) * f + offset)
			errx(3, "rank %u, round %llu: element %zu is %d, not %d", b->rank,
			     (unsigned long long)b->done, e, sum[e],
			     factor(b->done, e) * f + offset);
}

/* The sum of the oldest round. */
void bench_take(struct bench *b, const int32_t *sum)
{
	uint64_t now = bench_now(), last = b->warm + b->rounds - 1;

	if (b->done >= b->warm)
		b->latency[b->done - b->warm] = now - b->since[b->done % b->inflight];
	if (b->done == last) {
		b->end = now;
		b->busy = busy_seconds() - b->busy;
	}
	check(b, sum, !b->done || b->done == last ? 1 : LIVE);
	if (++b->done == b->warm) {
		b->begin = bench_now();
		b->busy = busy_seconds();
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void bench_report(const struct bench *b)
{
	uint64_t n = b->rounds;

	qsort(b->latency, n, sizeof(*b->latency), compare);
	printf("{\"rank\":%u,\"workers\":%u,\"elements\":%zu,\"rounds\":%llu,\"inflight\":%llu,",
	       b->rank, b->workers, b->elements, (unsigned long long)n,
	       (unsigned long long)b->inflight);
	printf("\"seconds\":%.6f,\"cpu_seconds\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
	       (b->end - b->begin) / 1e9, b->busy,
	       b->latency[(n - 1) / 2] / 1e3, b->latency[(n * 99 + 99) / 100 - 1] / 1e3);
	fflush(stdout);
}
