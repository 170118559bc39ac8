// SPDX-License-Identifier: GPL-2.0
/*
 * One worker on the shared libina, told what to do line by line:
 *
 *   libtest RANK WORKERS STEPS      STEPS is a file or a fifo
 *
 * Each step is answered by a line "ERRNO RIGHT TEXT": the name of the error or 0, how many
 * elements hold the sum over all workers, and ina_error(), or "-" after a success.
 *
 *   open JOB MS [RANK]
 *   allreduce COUNT MS [HOW]        HOW: see enum how
 *   resume MS
 *   submit COUNT                    one round by hand,
 *   poll MS [asleep]                poll() until a round ends: "0 0 [in] [out] [hup]"; with asleep,
 *                                   before it "0 0 waits" if none has ended yet
 *   collect MS                      and its end
 *   close
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ina.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define COUNT_MAX	(1UL << 24)	/* above, an array is never touched */
#define UNTOUCHED	0xa5

enum how { PLAIN, IN_PLACE, OVERFLOW, BUFFER, NOT_BUFFER, NO_IN, NO_OUT };

static const char *const hows[] = {
	[PLAIN] = "plain",		/* two arrays */
	[IN_PLACE] = "in-place",	/* the sum goes where the contribution is */
	[OVERFLOW] = "overflow",	/* the last element of all is beyond the type */
	[BUFFER] = "buffer",		/* the contribution is in ina_buffer()'s array */
	[NOT_BUFFER] = "not-buffer",	/* it is in that area, but not at the right place */
	[NO_IN] = "no-in",
	[NO_OUT] = "no-out",
};

static struct ina_session *session;
static bool floats;
static uint32_t rank, workers;
static uint64_t round_by_hand;

static __attribute__((noreturn)) void usage(const char *what, const char *word)
{
	fprintf(stderr, "libtest: %s \"%s\"\n", what, word ? word : "");
	exit(2);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value;

	if (!text)
		usage("a number is missing", text);
	value = strtoull(text, &end, 0);
	if (end == text || *end)
		usage("not a number", text);
	return value;
}

static enum how how_find(const char *word)
{
	for (size_t i = 0; word && i < ARRAY_SIZE(hows); i++) {
		if (!strcmp(hows[i], word))
			return (enum how)i;
	}
	if (word)
		usage("no such way", word);
	return PLAIN;
}

/* Rank k contributes k + 1 times the same, exact in both types. */
static uint32_t element(size_t i, uint32_t times)
{
	int32_t value = ((int32_t)(i % 1000) - 500) * (int32_t)times;
	float real = (float)value * 0.25f;
	uint32_t bits;

	memcpy(&bits, floats ? (void *)&real : (void *)&value, sizeof(bits));
	return bits;
}

static void fill(uint32_t *in, size_t count, enum how how)
{
	for (size_t i = 0; i < count; i++)
		in[i] = element(i, rank + 1);
	if (how == OVERFLOW)
		in[count - 1] = INT32_MAX;
}

static size_t right(const uint32_t *out, size_t count, enum how how)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t sum = element(i, workers * (workers + 1) / 2);

		if (how == OVERFLOW && i == count - 1)
			sum = INT32_MAX;
		n += out[i] == sum;
	}
	return n;
}

static void answer(int err, size_t sums)
{
	printf("%s %zu %s\n", err ? strerrorname_np(-err) : "0", sums,
	       err ? ina_error(session) : "-");
	fflush(stdout);
}

static void step_open(char **word)
{
	uint32_t as = word[3] ? (uint32_t)number(word[3]) : rank;
	int err = ina_open_rank(&session, (uint32_t)number(word[1]), as, (int)number(word[2]));
	struct ina_info info;

	if (!err) {
		ina_info(session, &info);
		floats = info.dtype == INA_DTYPE_FP32;
	}
	answer(err, 0);
}

static void step_close(char **word)
{
	(void)word;
	ina_close(session);
	session = NULL;
	answer(0, 0);
}

/* The array to hand over: our own, or libina's with as much of it as there is room. */
static uint32_t *contribution(uint32_t *in, size_t count, enum how how)
{
	struct ina_info info;
	uint32_t *buffer;

	if (how == NO_IN)
		return NULL;
	if (how != BUFFER && how != NOT_BUFFER)
		return in;
	buffer = ina_buffer(session);
	if (!buffer)
		return in;
	ina_info(session, &info);
	memcpy(buffer, in, (count < info.capacity ? count : info.capacity) * sizeof(*in));
	return how == BUFFER ? buffer : buffer + 1;
}

static void step_allreduce(char **word)
{
	size_t count = number(word[1]), size = count > COUNT_MAX ? 0 : count;
	enum how how = how_find(word[3]);
	uint32_t *in = calloc(size + 1, sizeof(*in)), *out = calloc(size + 1, sizeof(*out));
	uint32_t *to = how == IN_PLACE ? in : out;
	int err;

	if (!in || !out)
		abort();
	fill(in, size, how);
	memset(out, UNTOUCHED, size * sizeof(*out));
	err = ina_allreduce(session, contribution(in, size, how), how == NO_OUT ? NULL : to,
			    count, (int)number(word[2]));
	answer(err, right(to, size, how));
	free(in);
	free(out);
}

static void step_resume(char **word)
{
	answer(ina_resume(session, (int)number(word[1])), 0);
}

/* Workers in the sums of the last call: fewest and most. */
static void step_workers(char **word)
{
	struct ina_info info;

	(void)word;
	ina_info(session, &info);
	printf("0 %u %u\n", info.least, info.most);
	fflush(stdout);
}

static void step_submit(char **word)
{
	size_t count = number(word[1]);
	uint32_t *buffer = ina_buffer(session);

	if (!buffer) {
		answer(-errno, 0);
		return;
	}
	fill(buffer, count, PLAIN);
	answer(ina_submit(session, count, &round_by_hand), 0);
}

static void step_poll(char **word)
{
	struct pollfd fd = { .fd = ina_fd(session), .events = POLLIN };
	int timeout = (int)number(word[1]);

	if (word[2] && !poll(&fd, 1, 0)) {
		puts("0 0 waits");
		fflush(stdout);
	}
	if (poll(&fd, 1, timeout) < 0)
		usage("poll", strerror(errno));
	/* What else there is. */
	fd.events = POLLIN | POLLOUT;
	poll(&fd, 1, 0);
	printf("0 0%s%s%s\n", fd.revents & POLLIN ? " in" : "", fd.revents & POLLOUT ? " out" : "",
	       fd.revents & POLLHUP ? " hup" : "");
	fflush(stdout);
}

static void step_collect(char **word)
{
	int err = ina_wait(session, round_by_hand, (int)number(word[1]));
	struct ina_status status = { 0 };
	size_t sums = 0;
	int release;

	if (!err) {
		ina_status(session, round_by_hand, &status);
		sums = right(ina_result(session, round_by_hand), status.length, PLAIN);
	}
	release = ina_release(session, round_by_hand);
	answer(err ? err : release, sums);
}

/* A signal with a handler interrupts what sleeps. */
static void on_signal(int signal)
{
	(void)signal;
}

static const struct {
	const char *name;
	void (*run)(char **word);
} steps[] = {
	{ "open", step_open }, { "close", step_close }, { "allreduce", step_allreduce },
	{ "resume", step_resume }, { "workers", step_workers }, { "submit", step_submit },
	{ "poll", step_poll }, { "collect", step_collect },
};

static void step(char *line)
{
	char *word[5] = { NULL };
	size_t n = 0;

	for (char *w = strtok(line, " \n"); w && n < ARRAY_SIZE(word) - 1; w = strtok(NULL, " \n"))
		word[n++] = w;
	for (size_t i = 0; n && i < ARRAY_SIZE(steps); i++) {
		if (!strcmp(steps[i].name, word[0])) {
			steps[i].run(word);
			return;
		}
	}
	usage("no such step", word[0]);
}

int main(int argc, char **argv)
{
	char line[256];
	FILE *from;

	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	if (argc != 4)
		usage("usage: libtest RANK WORKERS STEPS, not", argv[1]);
	rank = (uint32_t)number(argv[1]);
	workers = (uint32_t)number(argv[2]);
	from = fopen(argv[3], "r");
	if (!from)
		usage(strerror(errno), argv[3]);
	while (fgets(line, sizeof(line), from))
		step(line);
	fclose(from);
	return 0;
}
