// SPDX-License-Identifier: GPL-2.0
/*
 * A worker of a job of the module, through libina.
 *
 *   bench-ina JOB RANK WORKERS WORKLOAD...
 */
#include <err.h>
#include <errno.h>
#include <ina.h>
#include <stdlib.h>

#include "bench.h"

static struct ina_session *session;
static uint64_t flight[BENCH_INFLIGHT_MAX];	/* the kernel's numbers of rounds */

static void submit(struct bench *b)
{
	uint64_t *round = &flight[b->next % b->inflight];
	int32_t *buf;
	int rc;

	while (!(buf = ina_buffer(session)))
		if (errno != EAGAIN || ina_wait_room(session, BENCH_TIMEOUT_MS))
			errx(1, "%s", ina_error(session));
	bench_fill(b, buf);
	while ((rc = ina_submit(session, b->elements, round)))
		if (rc != -EAGAIN || ina_wait_room(session, BENCH_TIMEOUT_MS))
			errx(1, "%s", ina_error(session));
}

static void collect(struct bench *b)
{
	uint64_t round = flight[b->done % b->inflight];
	const int32_t *sum;

	if (ina_wait(session, round, BENCH_TIMEOUT_MS))
		errx(1, "%s", ina_error(session));
	sum = ina_result(session, round);
	if (!sum)
		errx(1, "%s", ina_error(session));
	bench_take(b, sum);
	if (ina_release(session, round))
		errx(1, "%s", ina_error(session));
}

static void run(struct bench *b)
{
	while (bench_more(b)) {
		while (bench_may_fill(b))
			submit(b);
		collect(b);
	}
	bench_report(b);
	bench_free(b);
}

int main(int argc, char **argv)
{
	uint32_t rank, workers;
	struct ina_info info;
	struct bench b;
	int i;

	if (argc < 5)
		errx(2, "usage: bench-ina JOB RANK WORKERS WORKLOAD...");
	workers = bench_number(argv[3], 1, BENCH_WORKERS_MAX);
	rank = bench_number(argv[2], 0, workers - 1);
	if (ina_open_rank(&session, bench_number(argv[1], 0, UINT32_MAX), rank, BENCH_TIMEOUT_MS))
		errx(1, "%s", ina_error(NULL));
	ina_info(session, &info);
	if (info.workers != workers)
		errx(1, "the job has %u workers, not %u", info.workers, workers);
	for (i = 4; i < argc; i++) {
		bench_init(&b, rank, workers, argv[i]);
		run(&b);
	}
	ina_close(session);
	return 0;
}
