// SPDX-License-Identifier: GPL-2.0
/*
 * A worker that measures and proves: it keeps a number of rounds in flight,
 * checks every element of every sum, and tells how fast it was. The pattern of a
 * round follows from the kernel's round number, on which all workers agree.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf.h"

static volatile sig_atomic_t perf_signals;

/**
 * struct perf_run - a run under way
 * @s: the session
 * @o: command line
 * @r: what happened so far
 * @next: the round this worker is to contribute to next
 * @flight: the rounds in flight, oldest first
 * @flying: how many
 */
struct perf_run {
	struct ina_session *s;
	const struct perf_options *o;
	struct perf_result *r;
	uint64_t next;
	uint64_t *flight;
	uint32_t flying;
};

/* One that comes right before a wait does not end it: the alarm after it does. */
static void perf_on_signal(int sig)
{
	if (sig == SIGALRM)
		return;
	if (++perf_signals > 1)
		_exit(PERF_FAILED);
	alarm(1);
}

/* No SA_RESTART: a wait returns and the run winds up. A second one ends it. */
static void perf_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = perf_on_signal };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
}

static int perf_fail(struct perf_run *p, int status, const char *text)
{
	snprintf(p->r->text, sizeof(p->r->text), "%s", text);
	perf_report_failure(text);
	return status;
}

static void perf_sleep(double seconds)
{
	struct timespec ts = { .tv_sec = (time_t)seconds };

	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	while (ts.tv_sec + ts.tv_nsec > 0 && nanosleep(&ts, &ts) && !perf_signals)
		;
}

static void perf_hold(const struct perf_hold *hold, uint64_t number)
{
	if (hold->seconds > 0 && hold->number == number)
		perf_sleep(hold->seconds);
}

/* What tests ask for before a submit: stragglers and stops. */
static void perf_before_submit(const struct perf_run *p)
{
	const struct perf_options *o = p->o;

	if (o->delay_ms)
		perf_sleep(o->delay_ms / 1e3);
	perf_hold(&o->hold, p->r->submits);
}

/* Rounds between two contributions were over before we could take part. */
static int perf_missed(struct perf_run *p, uint64_t round)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "rounds %llu to %llu were over before this worker contributed: the membership changed",
		 (unsigned long long)p->next, (unsigned long long)round - 1);
	p->r->missed += round - p->next;
	if (!p->o->go_on)
		return perf_fail(p, -ECANCELED, text);
	perf_report_failure(text);
	return 0;
}

static int perf_take_round(struct perf_run *p, uint64_t round)
{
	int err = round > p->next ? perf_missed(p, round) : 0;

	p->next = round;
	return err;
}

static int perf_submit_one(struct perf_run *p)
{
	void *buf = ina_buffer(p->s);
	uint64_t round = ina_next_round(p->s);
	int err;

	if (!buf)
		return -errno;
	err = perf_take_round(p, round);
	if (err || round >= p->r->end)
		return err;
	perf_pattern_fill(p->o, &p->r->info, p->r->rank, round, buf, p->r->elements);
	perf_before_submit(p);
	err = ina_submit(p->s, p->r->elements, &round);
	if (err)
		return err;
	p->flight[p->flying++] = round;
	p->next = round + 1;
	if (++p->r->submits == p->o->exit_after)
		_exit(PERF_OK);
	return 0;
}

static bool perf_more(const struct perf_run *p)
{
	return p->next < p->r->end && !perf_signals;
}

/* Nothing is in flight: wait for what @why says is in the way. */
static int perf_wait_for(struct perf_run *p, int why)
{
	struct ina_info info;
	int err;

	/* One that came before is heard late while waiting. */
	if (perf_signals)
		return PERF_OK;
	ina_info(p->s, &info);
	if (why == -ENOTCONN && info.lost && !p->o->go_on)
		return perf_fail(p, PERF_FAILED, ina_error(p->s));
	if (why == -ENOTCONN && info.lost)
		perf_report_failure(ina_error(p->s));
	if (why == -ENOTCONN)
		err = ina_wait_open(p->s, p->o->timeout_ms);
	else
		err = ina_wait_room(p->s, p->o->timeout_ms);
	if (!err || err == -EINTR || err == -ENOTCONN)
		return PERF_OK;
	return perf_fail(p, PERF_FAILED, ina_error(p->s));
}

/* Fill the flight as far as the window lets us. */
static int perf_submit(struct perf_run *p)
{
	int err = 0;

	while (!err && perf_more(p) && p->flying < p->r->inflight)
		err = perf_submit_one(p);
	if (!err || err == -ESTALE || err == -EINTR)
		return PERF_OK;
	if (err == -ECANCELED)
		return PERF_FAILED;
	if (err != -EAGAIN && err != -ENOTCONN && err != -EBUSY)
		return perf_fail(p, PERF_FAILED, ina_error(p->s));
	return p->flying ? PERF_OK : perf_wait_for(p, err);
}

/* Who is in a result: the ranks it names, if it names all, else the first. */
static struct perf_ranks perf_in(struct perf_run *p, const struct ina_status *st)
{
	const uint8_t *ranks = ina_ranks(p->s, st->round);
	int32_t n = (int32_t)st->workers;
	struct perf_ranks in = { .count = 0, .ranks = ranks };

	for (int32_t rank = 0; ranks && rank < PERF_WORKERS_MAX; rank++) {
		if (ranks[rank / 8] >> (rank % 8) & 1) {
			in.count++;
			in.sum += rank;
		}
	}
	if (in.count != n)
		in = (struct perf_ranks) { .count = n, .sum = n * (n - 1) / 2, .ranks = NULL };
	return in;
}

static int perf_wrong(struct perf_run *p, uint64_t round, size_t wrong, size_t first,
		      const char *how)
{
	char text[256];

	p->r->wrong += wrong;
	snprintf(text, sizeof(text), "round %llu: %zu of %zu elements are wrong, first element %zu: %s",
		 (unsigned long long)round, wrong, p->r->elements, first, how);
	return perf_fail(p, PERF_WRONG, text);
}

/* A round has ended without a result. */
static int perf_failed(struct perf_run *p, uint64_t round)
{
	int err;

	p->r->failed++;
	if (!p->o->go_on)
		return perf_fail(p, PERF_FAILED, ina_error(p->s));
	perf_report_failure(ina_error(p->s));
	err = ina_release(p->s, round);
	if (err && err != -ESTALE)
		return perf_fail(p, PERF_FAILED, ina_error(p->s));
	return PERF_OK;
}

static int perf_count(struct perf_run *p, const struct ina_status *st)
{
	bool expected = p->o->pattern == PERF_PATTERN_OVERFLOW;

	if (expected != (st->error == -EOVERFLOW))
		return perf_fail(p, PERF_WRONG, expected ? "a round did not report the overflow" :
				 "a round reported an overflow where there is none");
	if (st->inexact && p->o->pattern != PERF_PATTERN_RANDOM)
		return perf_fail(p, PERF_WRONG, "a round reported lost bits where there are none");
	p->r->inexact += st->inexact;
	if (perf_report_latency(p->r, st->latency_ns))
		return perf_fail(p, PERF_FAILED, "no memory");
	p->r->completed++;
	p->r->overflowed += expected;
	return PERF_OK;
}

/* FNV-1a over 32 bits at a time. */
static uint64_t perf_hash(uint64_t hash, const unsigned char *p, size_t size)
{
	uint32_t word;

	for (; size; size -= size < 4 ? size : 4, p += 4) {
		word = 0;
		memcpy(&word, p, size < 4 ? size : 4);
		hash = (hash ^ word) * 0x100000001b3ULL;
	}
	return hash;
}

/* A round has ended with a result. What we read counts if the release says so. */
static int perf_completed(struct perf_run *p, const struct ina_status *st)
{
	const void *sum = ina_result(p->s, st->round);
	struct perf_ranks in = perf_in(p, st);
	const struct ina_info *info = &p->r->info;
	size_t wrong = 0, first = 0;
	uint64_t hash = p->r->hash;
	char how[64];
	int err;

	if (!sum)
		return perf_fail(p, PERF_FAILED, ina_error(p->s));
	perf_hold(&p->o->hold_result, p->r->completed);
	if (p->o->verify)
		wrong = perf_pattern_check(p->o, info, &in, st->round, sum, p->r->elements, &first);
	if (wrong)
		perf_pattern_explain(p->o, info, &in, st->round, sum, first, how, sizeof(how));
	if (p->o->hash)
		hash = perf_hash(hash, sum, p->r->elements * info->elem_size);
	err = ina_release(p->s, st->round);
	if (err == -ESTALE)
		return perf_failed(p, st->round);
	if (err)
		return perf_fail(p, PERF_FAILED, ina_error(p->s));
	if (p->o->verify)
		p->r->verified += p->r->elements;
	p->r->hash = hash;
	p->r->degraded += st->workers < p->r->info.workers;
	return wrong ? perf_wrong(p, st->round, wrong, first, how) : perf_count(p, st);
}

static int perf_ended(struct perf_run *p, int err)
{
	uint64_t round = p->flight[0];
	struct ina_status st;
	int status;

	if (ina_status(p->s, round, &st) || st.error == -EINPROGRESS)
		return perf_fail(p, PERF_FAILED, ina_error(p->s));
	if (!err || err == -EOVERFLOW)
		status = perf_completed(p, &st);
	else
		status = perf_failed(p, round);
	memmove(p->flight, p->flight + 1, --p->flying * sizeof(*p->flight));
	return status;
}

/* Wait for the oldest round in flight. */
static int perf_collect(struct perf_run *p)
{
	int status, err = ina_wait(p->s, p->flight[0], p->o->timeout_ms);

	if (err == -EINTR)
		return PERF_OK;
	status = perf_ended(p, err);
	p->r->end_ns = perf_now_ns();
	perf_report_progress(p->o, p->r);
	return status;
}

static int perf_loop(struct perf_run *p)
{
	int status = PERF_OK;

	while (!status && (p->flying || perf_more(p))) {
		status = perf_submit(p);
		if (!status && p->flying)
			status = perf_collect(p);
	}
	return status;
}

/*
 * Can every worker know the sum? Of floats only if each addition is exact, of
 * fixed if it counts from 1 down to 2^-30.
 */
static int perf_fit_type(struct perf_run *p)
{
	static const uint32_t most[] = {
		[INA_DTYPE_INT32] = PERF_WORKERS_MAX, [INA_DTYPE_FP32] = 128,
		[INA_DTYPE_BF16] = 32, [INA_DTYPE_FIXED] = 128,
	};
	const struct perf_options *o = p->o;
	const struct ina_info *info = &p->r->info;
	bool fixed = info->dtype == INA_DTYPE_FIXED;

	if (info->dtype > INA_DTYPE_FIXED ||
	    (o->dtype >= 0 && (uint32_t)o->dtype != info->dtype))
		return perf_fail(p, PERF_FAILED, "the elements of the job are of another type");
	if (o->pattern > PERF_PATTERN_OVERFLOW && info->dtype == INA_DTYPE_INT32)
		return perf_fail(p, PERF_USAGE, "--pattern: the elements of the job are no floats");
	if (!o->verify)
		return PERF_OK;
	if (info->workers > most[info->dtype])
		return perf_fail(p, PERF_FAILED, "the job has too many workers for exact sums of its type");
	if (fixed && (info->exponent > 0 || info->exponent < -30))
		return perf_fail(p, PERF_USAGE, "the exponent of the job is not from -30 to 0: use --no-verify");
	if (o->pattern == PERF_PATTERN_OVERFLOW && !fixed && info->dtype != INA_DTYPE_INT32)
		return perf_fail(p, PERF_USAGE, "--pattern overflow: only int32 and fixed overflow");
	if (o->pattern > PERF_PATTERN_OVERFLOW && !fixed)
		return perf_fail(p, PERF_USAGE, "--pattern: the sums depend on the order: use --no-verify");
	return PERF_OK;
}

/* What the command line leaves open, and whether it fits the job. */
static int perf_fit(struct perf_run *p)
{
	const struct perf_options *o = p->o;
	struct perf_result *r = p->r;
	const struct ina_info *info = &r->info;

	r->rank = o->rank < 0 ? info->index : (uint32_t)o->rank;
	r->elements = o->elements ? o->elements : info->capacity;
	r->inflight = o->inflight ? o->inflight : info->depth;
	r->first = info->next_round;
	r->end = o->until_round ? o->until_round : r->first + o->rounds;
	if (o->workers && o->workers != info->workers)
		return perf_fail(p, PERF_FAILED, "the job has another number of workers");
	if (r->elements > info->capacity)
		return perf_fail(p, PERF_USAGE, "--elements: more than the capacity of the job");
	if (r->inflight > info->depth)
		return perf_fail(p, PERF_USAGE, "--inflight: more than the depth of the job");
	if (info->workers > PERF_WORKERS_MAX)
		return perf_fail(p, PERF_FAILED, "the job has more than 2000 workers");
	if (r->rank >= PERF_WORKERS_MAX)
		return perf_fail(p, PERF_USAGE, "--rank: above 1999");
	if (o->pattern == PERF_PATTERN_OVERFLOW && info->workers < 2)
		return perf_fail(p, PERF_USAGE, "--pattern overflow: needs two workers");
	return perf_fit_type(p);
}

static int perf_run(struct perf_run *p)
{
	int status;

	if (ina_open_rank(&p->s, p->o->job, p->o->rank < 0 ? INA_RANK_NONE : (uint32_t)p->o->rank,
			  p->o->timeout_ms))
		return perf_fail(p, PERF_FAILED, ina_error(NULL));
	ina_info(p->s, &p->r->info);
	status = perf_fit(p);
	p->flight = calloc(p->r->inflight, sizeof(*p->flight));
	if (!status && !p->flight)
		status = perf_fail(p, PERF_FAILED, "no memory");
	if (!status) {
		perf_report_start(p->o, p->r);
		p->next = p->r->first;
		p->r->start_ns = perf_now_ns();
		p->r->end_ns = p->r->start_ns;
		status = perf_loop(p);
	}
	free(p->flight);
	ina_close(p->s);
	return status;
}

int main(int argc, char **argv)
{
	struct perf_result result = { .info = { 0 } };
	struct perf_options options;
	struct perf_run run = { .o = &options, .r = &result };
	int status = perf_options_parse(&options, argc, argv);

	if (status)
		return status;
	result.info.job = options.job;
	perf_catch_signals();
	status = perf_run(&run);
	alarm(0);
	perf_report_end(&options, &result, status);
	free(result.latency);
	return status;
}
