/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a worker of any system does around an all-reduce: contributions that are
 * known in advance, sums that are checked, time and CPU that are measured. So all
 * systems do the same work and differ only in how the sums come about.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_INFLIGHT_MAX	8
#define BENCH_WORKERS_MAX	64
#define BENCH_TIMEOUT_MS	60000	/* without any progress: something was lost */

/**
 * struct bench - one worker, one workload
 * @rank: of this worker
 * @workers: how many there are
 * @elements: int32 in a round
 * @rounds: measured ones; some more before them warm up
 * @inflight: rounds that may be under way at once
 * @warm: rounds that are not measured
 * @next: the round to fill next, from 0
 * @done: the round to take next
 * @in: contributions, one for each round in flight, if bench_alloc() made them
 * @out: sums, likewise
 * @filled: contributions that hold the pattern
 * @since: when each round in flight was filled, ns
 * @latency: of each measured round, ns
 * @begin: when the measured rounds began, ns
 * @end: when they ended
 * @busy: CPU seconds of the whole machine, then and before
 */
struct bench {
	uint32_t rank;
	uint32_t workers;
	size_t elements;
	uint64_t rounds;
	uint64_t inflight;
	uint64_t warm;
	uint64_t next;
	uint64_t done;
	int32_t *in[BENCH_INFLIGHT_MAX];
	int32_t *out[BENCH_INFLIGHT_MAX];
	const int32_t *filled[BENCH_INFLIGHT_MAX];
	uint64_t since[BENCH_INFLIGHT_MAX];
	uint64_t *latency;
	uint64_t begin;
	uint64_t end;
	double busy;
};

/* A workload is written ELEMENTS:ROUNDS:INFLIGHT. */
void bench_init(struct bench *b, uint32_t rank, uint32_t workers, const char *workload);
void bench_alloc(struct bench *b);
bool bench_more(const struct bench *b);
bool bench_may_fill(const struct bench *b);
void bench_fill(struct bench *b, int32_t *buf);
void bench_take(struct bench *b, const int32_t *sum);
void bench_report(const struct bench *b);
void bench_free(struct bench *b);

uint64_t bench_now(void);
uint32_t bench_number(const char *word, uint32_t min, uint32_t max);

/* acc += src; with the widest registers there are */
void bench_add(int32_t *acc, const int32_t *src, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_H */
