/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ina-perf: what its files share. options.c reads the command line, pattern.c
 * knows every element in advance, report.c prints, ina-perf.c runs the rounds.
 */
#ifndef INA_PERF_H
#define INA_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ina.h>

/* Exit codes. */
enum perf_exit {
	PERF_OK = 0,
	PERF_FAILED = 1,	/* a round failed, or the job could not be joined */
	PERF_USAGE = 2,
	PERF_WRONG = 3,		/* a sum was wrong */
};

enum perf_pattern {
	PERF_PATTERN_SUM,
	PERF_PATTERN_OVERFLOW,
	PERF_PATTERN_CANCEL,
	PERF_PATTERN_RANDOM,
};

#define PERF_WORKERS_MAX	2000	/* above, the pattern could overflow */

/**
 * struct perf_hold - when to sleep, for tests
 * @number: of many, from 0
 * @seconds: for how long, 0 for not
 */
struct perf_hold {
	uint64_t number;
	double seconds;
};

/**
 * struct perf_options - the command line
 * @job: number of the job
 * @elements: elements in a round, 0 for the capacity
 * @rounds: rounds to run, counted by their numbers from the first
 * @until_round: round to stop before; overrides @rounds if not 0
 * @inflight: rounds in flight, 0 for the depth of the job
 * @timeout_ms: longest wait for anything, -1 for ever
 * @seed: of the pattern, the same on all workers
 * @workers: workers to insist on, 0 for any
 * @rank: of this worker, -1 for its number on the node
 * @dtype: enum ina_dtype to insist on, -1 for any
 * @pattern: what to contribute
 * @interval: seconds between progress lines, 0 for none
 * @delay_ms: sleep before each submit
 * @hold: before which submit of this process to sleep
 * @hold_result: before which of its results is looked at
 * @exit_after: end without a clean close after that many submits, 0 for not
 * @json: print JSON
 * @quiet: print failures only
 * @verify: check each element
 * @hash: tell a hash of all results
 * @go_on: a failed round does not end the run
 */
struct perf_options {
	uint32_t job;
	size_t elements;
	uint64_t rounds;
	uint64_t until_round;
	uint32_t inflight;
	int timeout_ms;
	uint64_t seed;
	uint32_t workers;
	int64_t rank;
	int dtype;
	enum perf_pattern pattern;
	double interval;
	unsigned int delay_ms;
	struct perf_hold hold;
	struct perf_hold hold_result;
	uint64_t exit_after;
	bool json;
	bool quiet;
	bool verify;
	bool hash;
	bool go_on;
};

/**
 * struct perf_result - what happened
 * @info: the job
 * @rank: of this worker
 * @elements: in a round
 * @inflight: rounds in flight
 * @first: the first round
 * @end: the round to stop before
 * @submits: rounds submitted
 * @completed: rounds with a result
 * @failed: rounds that failed
 * @missed: rounds that were over before this worker contributed
 * @overflowed: completed rounds with saturated elements
 * @inexact: completed rounds in which bits were lost below the unit
 * @degraded: completed rounds with fewer workers than at the start
 * @verified: elements checked
 * @wrong: elements that were not as expected
 * @hash: of all results, in the order of the rounds
 * @latency: nanoseconds of each completed round
 * @latency_size: entries allocated
 * @start_ns: when the first round was prepared
 * @end_ns: when the last one ended
 * @text: the failure that ended the run, if any
 */
struct perf_result {
	struct ina_info info;
	uint32_t rank;
	size_t elements;
	uint32_t inflight;
	uint64_t first;
	uint64_t end;
	uint64_t submits;
	uint64_t completed;
	uint64_t failed;
	uint64_t missed;
	uint64_t overflowed;
	uint64_t inexact;
	uint64_t degraded;
	uint64_t verified;
	uint64_t wrong;
	uint64_t hash;
	uint64_t *latency;
	size_t latency_size;
	uint64_t start_ns;
	uint64_t end_ns;
	char text[256];
};

/**
 * struct perf_ranks - who is in a result
 * @count: how many
 * @sum: of their ranks
 * @ranks: a bit for each; NULL: the first ones
 */
struct perf_ranks {
	int32_t count;
	int32_t sum;
	const uint8_t *ranks;
};

/* options.c */
extern const char *const perf_dtypes[];
int perf_options_parse(struct perf_options *o, int argc, char **argv);

/* pattern.c */
void perf_pattern_fill(const struct perf_options *o, const struct ina_info *info, uint32_t rank,
		       uint64_t round, void *buf, size_t count);
size_t perf_pattern_check(const struct perf_options *o, const struct ina_info *info,
			  const struct perf_ranks *in, uint64_t round, const void *sum,
			  size_t count, size_t *first);
void perf_pattern_explain(const struct perf_options *o, const struct ina_info *info,
			  const struct perf_ranks *in, uint64_t round, const void *sum,
			  size_t element, char *text, size_t size);

/* report.c */
uint64_t perf_now_ns(void);
void perf_report_start(const struct perf_options *o, const struct perf_result *r);
void perf_report_progress(const struct perf_options *o, const struct perf_result *r);
void perf_report_failure(const char *text);
void perf_report_end(const struct perf_options *o, struct perf_result *r, int status);
int perf_report_latency(struct perf_result *r, uint64_t ns);

#endif /* INA_PERF_H */
