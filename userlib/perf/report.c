// SPDX-License-Identifier: GPL-2.0
/*
 * What ina-perf tells: a bar or lines while it runs (on stderr), a summary as
 * text or one JSON object at the end (on stdout).
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "perf.h"

#define PERF_BAR_WIDTH	30
#define PERF_BAR_NS	100000000ULL

uint64_t perf_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

int perf_report_latency(struct perf_result *r, uint64_t ns)
{
	if (r->completed >= r->latency_size) {
		size_t size = r->latency_size ? r->latency_size * 2 : 1024;
		uint64_t *p = realloc(r->latency, size * sizeof(*p));

		if (!p)
			return -1;
		r->latency = p;
		r->latency_size = size;
	}
	r->latency[r->completed] = ns;
	return 0;
}

static double perf_report_seconds(const struct perf_result *r)
{
	return r->end_ns > r->start_ns ? (double)(r->end_ns - r->start_ns) / 1e9 : 0;
}

static double perf_report_rate(const struct perf_result *r)
{
	double seconds = perf_report_seconds(r);

	return seconds > 0 ? (double)r->completed * (double)r->elements / seconds : 0;
}

static double perf_report_gbit(const struct perf_result *r)
{
	return perf_report_rate(r) * r->info.elem_size * 8 / 1e9;
}

void perf_report_start(const struct perf_options *o, const struct perf_result *r)
{
	if (o->quiet || o->json)
		return;
	printf("job %u: rank %u of %u workers, %zu elements in a round, %u in flight, from round %llu\n",
	       r->info.job, r->rank, r->info.workers, r->elements, r->inflight,
	       (unsigned long long)r->first);
	fflush(stdout);
}

static void perf_report_bar(const struct perf_result *r, bool last)
{
	uint64_t all = r->end - r->first, ended = r->completed + r->failed + r->missed;
	int fill = all ? (int)((double)ended / (double)all * PERF_BAR_WIDTH) : 0;
	int i;

	if (fill > PERF_BAR_WIDTH)
		fill = PERF_BAR_WIDTH;
	fputs("\r[", stderr);
	for (i = 0; i < PERF_BAR_WIDTH; i++)
		fputc(i < fill ? '#' : '.', stderr);
	fprintf(stderr, "] %llu/%llu rounds  %.2f Gbit/s \033[K", (unsigned long long)ended,
		(unsigned long long)all, perf_report_gbit(r));
	if (last)
		fputc('\n', stderr);
}

static void perf_report_line(const struct perf_result *r)
{
	fprintf(stderr, "%8.1f s  %llu completed, %llu failed of %llu rounds, %.2f Gbit/s\n",
		perf_report_seconds(r), (unsigned long long)r->completed,
		(unsigned long long)(r->failed + r->missed),
		(unsigned long long)(r->end - r->first), perf_report_gbit(r));
}

/* Lines if they were asked for, else a bar on a terminal. */
void perf_report_progress(const struct perf_options *o, const struct perf_result *r)
{
	static uint64_t next;
	uint64_t every = o->interval > 0 ? (uint64_t)(o->interval * 1e9) : PERF_BAR_NS;

	if (o->quiet || (o->interval <= 0 && !isatty(STDERR_FILENO)))
		return;
	if (!next)
		next = r->start_ns + every;
	if (r->end_ns < next)
		return;
	next = r->end_ns + every;
	if (o->interval > 0)
		perf_report_line(r);
	else
		perf_report_bar(r, false);
}

void perf_report_failure(const char *text)
{
	fprintf(stderr, "%sina-perf: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", text);
}

static int perf_report_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The latencies must be sorted. */
static double perf_report_percentile(const struct perf_result *r, unsigned int percent)
{
	uint64_t at;

	if (!r->completed)
		return 0;
	at = (r->completed * percent + 99) / 100;
	return (double)r->latency[at ? at - 1 : 0] / 1e3;
}

static void perf_report_text(const struct perf_options *o, const struct perf_result *r)
{
	printf("rounds      %llu completed, %llu failed, %llu missed, %llu overflowed, %llu degraded, %llu inexact\n",
	       (unsigned long long)r->completed, (unsigned long long)r->failed,
	       (unsigned long long)r->missed, (unsigned long long)r->overflowed,
	       (unsigned long long)r->degraded, (unsigned long long)r->inexact);
	if (o->hash)
		printf("hash        %016llx\n", (unsigned long long)r->hash);
	if (o->verify)
		printf("verified    %llu elements, %llu wrong\n", (unsigned long long)r->verified,
		       (unsigned long long)r->wrong);
	printf("throughput  %.0f elements/s, %.3f Gbit/s of gradient, %.3f s\n",
	       perf_report_rate(r), perf_report_gbit(r), perf_report_seconds(r));
	printf("latency     p50 %.1f us, p90 %.1f us, p99 %.1f us, max %.1f us\n",
	       perf_report_percentile(r, 50), perf_report_percentile(r, 90),
	       perf_report_percentile(r, 99), perf_report_percentile(r, 100));
}

static void perf_report_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		putchar((unsigned char)*s < ' ' ? ' ' : *s);
	}
	putchar('"');
}

static void perf_report_json(const struct perf_options *o, const struct perf_result *r, int status)
{
	printf("{\"job\":%u,\"dtype\":\"%s\",\"rank\":%u,\"workers\":%u,\"elements\":%zu,\"inflight\":%u,",
	       r->info.job, perf_dtypes[r->info.dtype], r->rank, r->info.workers, r->elements,
	       r->inflight);
	printf("\"first_round\":%llu,\"completed\":%llu,\"failed\":%llu,\"missed\":%llu,",
	       (unsigned long long)r->first, (unsigned long long)r->completed,
	       (unsigned long long)r->failed, (unsigned long long)r->missed);
	if (o->hash)
		printf("\"hash\":\"%016llx\",", (unsigned long long)r->hash);
	printf("\"inexact\":%llu,", (unsigned long long)r->inexact);
	printf("\"overflowed\":%llu,\"degraded\":%llu,\"verify\":%s,\"verified_elements\":%llu,\"wrong_elements\":%llu,",
	       (unsigned long long)r->overflowed, (unsigned long long)r->degraded, o->verify ? "true" : "false",
	       (unsigned long long)r->verified, (unsigned long long)r->wrong);
	printf("\"seconds\":%.6f,\"elements_per_second\":%.0f,\"gbit_per_second\":%.6f,",
	       perf_report_seconds(r), perf_report_rate(r), perf_report_gbit(r));
	printf("\"latency_us\":{\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"max\":%.1f},",
	       perf_report_percentile(r, 50), perf_report_percentile(r, 90),
	       perf_report_percentile(r, 99), perf_report_percentile(r, 100));
	fputs("\"error\":", stdout);
	perf_report_string(r->text);
	printf(",\"exit\":%d}\n", status);
}

void perf_report_end(const struct perf_options *o, struct perf_result *r, int status)
{
	if (r->completed)
		qsort(r->latency, r->completed, sizeof(*r->latency), perf_report_compare);
	if (!o->quiet && o->interval <= 0 && r->end > r->first && isatty(STDERR_FILENO))
		perf_report_bar(r, true);
	if (o->json)
		perf_report_json(o, r, status);
	else if (!o->quiet && r->start_ns)
		perf_report_text(o, r);
	fflush(stdout);
}
