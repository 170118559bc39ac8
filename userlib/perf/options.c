// SPDX-License-Identifier: GPL-2.0
/*
 * The command line: every bad word is an error that names it and what is known.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"

enum perf_opt {
	OPT_HELP = 'h',
	OPT_JOB = 'j',
	OPT_ELEMENTS = 'n',
	OPT_ROUNDS = 'r',
	OPT_INFLIGHT = 'd',
	OPT_TIMEOUT = 't',
	OPT_SEED = 's',
	OPT_RANK = 'i',
	OPT_QUIET = 'q',
	OPT_UNTIL_ROUND = 256,
	OPT_WORKERS,
	OPT_DTYPE,
	OPT_PATTERN,
	OPT_HASH,
	OPT_INTERVAL,
	OPT_DELAY,
	OPT_HOLD,
	OPT_HOLD_RESULT,
	OPT_EXIT_AFTER,
	OPT_CONTINUE,
	OPT_JSON,
	OPT_NO_VERIFY,
};

static const struct option perf_long[] = {
	{ "help", no_argument, NULL, OPT_HELP },
	{ "job", required_argument, NULL, OPT_JOB },
	{ "elements", required_argument, NULL, OPT_ELEMENTS },
	{ "rounds", required_argument, NULL, OPT_ROUNDS },
	{ "until-round", required_argument, NULL, OPT_UNTIL_ROUND },
	{ "inflight", required_argument, NULL, OPT_INFLIGHT },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "workers-expected", required_argument, NULL, OPT_WORKERS },
	{ "rank", required_argument, NULL, OPT_RANK },
	{ "dtype", required_argument, NULL, OPT_DTYPE },
	{ "hash", no_argument, NULL, OPT_HASH },
	{ "pattern", required_argument, NULL, OPT_PATTERN },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "hold-before-round", required_argument, NULL, OPT_HOLD },
	{ "hold-result", required_argument, NULL, OPT_HOLD_RESULT },
	{ "exit-after", required_argument, NULL, OPT_EXIT_AFTER },
	{ "continue-on-failure", no_argument, NULL, OPT_CONTINUE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "quiet", no_argument, NULL, OPT_QUIET },
	{ "no-verify", no_argument, NULL, OPT_NO_VERIFY },
	{ NULL, 0, NULL, 0 },
};

static const char perf_help[] =
	"usage: ina-perf --job ID [OPTION...]\n"
	"All-reduce arrays as one worker of a job and check every element.\n"
	"\n"
	"  -j, --job ID               number of the job\n"
	"  -i, --rank I               rank of this worker, 0 to workers - 1, each once\n"
	"                             (default: its number on the node)\n"
	"  -n, --elements N[k|M|G]    elements in a round (default: capacity of the job)\n"
	"  -r, --rounds N[k|M|G]      rounds (default: 10)\n"
	"      --until-round N        stop before round N instead\n"
	"  -d, --inflight D           rounds in flight (default: depth of the job)\n"
	"  -t, --timeout MS           longest wait for members or a round, -1 for ever\n"
	"                             (default: 60000)\n"
	"  -s, --seed S               of the pattern, the same on all workers (default: 1)\n"
	"      --workers-expected N   fail unless the job has N workers\n"
	"      --dtype TYPE           fail unless the elements of the job are of this type:\n"
	"                             int32, fp32, bf16 or fixed\n"
	"      --pattern P            what to contribute: sum; overflow: every round must\n"
	"                             report it and every element must be saturated; cancel:\n"
	"                             1e8, 1, -1e8, 1; random: floats with all their bits\n"
	"      --hash                 print a hash of all results\n"
	"      --no-verify            do not check the elements\n"
	"      --continue-on-failure  count and print a failed round and go on\n"
	"      --interval SECONDS     print a line of progress that often\n"
	"      --json                 print one JSON object at the end\n"
	"  -q, --quiet                print failures only\n"
	"\n"
	"for tests:\n"
	"      --delay MS             sleep before each submit\n"
	"      --hold-before-round K:SECONDS  sleep before the submit number K, from 0\n"
	"      --hold-result K:SECONDS  sleep before the result number K is looked at\n"
	"      --exit-after N         end without a clean close after N submits\n"
	"\n"
	"exit status: 0 all sums right; 1 a failure; 2 wrong usage; 3 a wrong sum\n";

static int perf_options_bad(const char *name, const char *word, const char *wanted)
{
	fprintf(stderr, "ina-perf: --%s: '%s': expected %s\n", name, word, wanted);
	return PERF_USAGE;
}

static uint64_t perf_options_suffix(const char *s)
{
	if (!strcmp(s, ""))
		return 1;
	if (!strcmp(s, "k"))
		return 1000;
	if (!strcmp(s, "M"))
		return 1000000;
	if (!strcmp(s, "G"))
		return 1000000000;
	return 0;
}

static int perf_options_number(const char *name, const char *word, uint64_t min, uint64_t max,
			       uint64_t *value)
{
	char wanted[80], *end;
	uint64_t unit, v;

	snprintf(wanted, sizeof(wanted), "a number from %llu to %llu, with k, M or G for thousands",
		 (unsigned long long)min, (unsigned long long)max);
	errno = 0;
	v = strtoull(word, &end, 0);
	unit = perf_options_suffix(end);
	if (errno || end == word || word[0] == '-' || !unit || v > UINT64_MAX / unit)
		return perf_options_bad(name, word, wanted);
	v *= unit;
	if (v < min || v > max)
		return perf_options_bad(name, word, wanted);
	*value = v;
	return PERF_OK;
}

static int perf_options_seconds(const char *name, const char *word, double *value)
{
	char *end;

	*value = strtod(word, &end);
	if (end == word || *end || !(*value >= 0 && *value <= 86400))
		return perf_options_bad(name, word, "seconds, 0 to 86400");
	return PERF_OK;
}

static int perf_options_hold(struct perf_hold *hold, const char *name, const char *word)
{
	const char *colon = strchr(word, ':');
	char number[24] = "";

	if (!colon || (size_t)(colon - word) >= sizeof(number))
		return perf_options_bad(name, word, "K:SECONDS");
	memcpy(number, word, (size_t)(colon - word));
	if (perf_options_number(name, number, 0, UINT64_MAX, &hold->number))
		return PERF_USAGE;
	return perf_options_seconds(name, colon + 1, &hold->seconds);
}

const char *const perf_dtypes[] = {
	[INA_DTYPE_INT32] = "int32",
	[INA_DTYPE_FP32] = "fp32",
	[INA_DTYPE_BF16] = "bf16",
	[INA_DTYPE_FIXED] = "fixed",
};

static int perf_options_dtype(struct perf_options *o, const char *name, const char *word)
{
	for (o->dtype = INA_DTYPE_INT32; o->dtype <= INA_DTYPE_FIXED; o->dtype++)
		if (!strcmp(word, perf_dtypes[o->dtype]))
			return PERF_OK;
	return perf_options_bad(name, word, "int32, fp32, bf16 or fixed");
}

static int perf_options_pattern(struct perf_options *o, const char *name, const char *word)
{
	if (!strcmp(word, "sum"))
		o->pattern = PERF_PATTERN_SUM;
	else if (!strcmp(word, "overflow"))
		o->pattern = PERF_PATTERN_OVERFLOW;
	else if (!strcmp(word, "cancel"))
		o->pattern = PERF_PATTERN_CANCEL;
	else if (!strcmp(word, "random"))
		o->pattern = PERF_PATTERN_RANDOM;
	else
		return perf_options_bad(name, word, "sum, overflow, cancel or random");
	return PERF_OK;
}

static int perf_options_timeout(struct perf_options *o, const char *name, const char *word)
{
	uint64_t v = 0;
	int err;

	if (!strcmp(word, "-1")) {
		o->timeout_ms = -1;
		return PERF_OK;
	}
	err = perf_options_number(name, word, 1, INT_MAX, &v);
	o->timeout_ms = (int)v;
	return err;
}

/* Options without a value. */
static int perf_options_flag(struct perf_options *o, int opt)
{
	switch (opt) {
	case OPT_CONTINUE:
		o->go_on = true;
		return PERF_OK;
	case OPT_JSON:
		o->json = true;
		return PERF_OK;
	case OPT_QUIET:
		o->quiet = true;
		return PERF_OK;
	case OPT_HASH:
		o->hash = true;
		return PERF_OK;
	case OPT_NO_VERIFY:
		o->verify = false;
		return PERF_OK;
	default:
		fputs("ina-perf: ina-perf --help lists the options\n", stderr);
		return PERF_USAGE;
	}
}

/* Options that are a number and no more. */
static int perf_options_value(struct perf_options *o, int opt, const char *name, const char *word)
{
	uint64_t v = 0, min = 1, max = UINT32_MAX;
	int err;

	if (opt == OPT_JOB || opt == OPT_RANK || opt == OPT_DELAY || opt == OPT_SEED)
		min = 0;
	if (opt == OPT_ROUNDS || opt == OPT_UNTIL_ROUND || opt == OPT_EXIT_AFTER || opt == OPT_SEED)
		max = INT64_MAX;
	err = perf_options_number(name, word, min, max, &v);
	if (err)
		return err;
	switch (opt) {
	case OPT_JOB:
		o->job = (uint32_t)v;
		break;
	case OPT_ELEMENTS:
		o->elements = v;
		break;
	case OPT_ROUNDS:
		o->rounds = v;
		break;
	case OPT_UNTIL_ROUND:
		o->until_round = v;
		break;
	case OPT_INFLIGHT:
		o->inflight = (uint32_t)v;
		break;
	case OPT_SEED:
		o->seed = v;
		break;
	case OPT_WORKERS:
		o->workers = (uint32_t)v;
		break;
	case OPT_RANK:
		o->rank = (int64_t)v;
		break;
	case OPT_DELAY:
		o->delay_ms = (unsigned int)v;
		break;
	default:
		o->exit_after = v;
		break;
	}
	return PERF_OK;
}

static int perf_options_set(struct perf_options *o, int opt, const char *name, const char *word)
{
	switch (opt) {
	case OPT_TIMEOUT:
		return perf_options_timeout(o, name, word);
	case OPT_DTYPE:
		return perf_options_dtype(o, name, word);
	case OPT_PATTERN:
		return perf_options_pattern(o, name, word);
	case OPT_INTERVAL:
		return perf_options_seconds(name, word, &o->interval);
	case OPT_HOLD:
		return perf_options_hold(&o->hold, name, word);
	case OPT_HOLD_RESULT:
		return perf_options_hold(&o->hold_result, name, word);
	default:
		return perf_options_value(o, opt, name, word);
	}
}

static const char *perf_options_name(int opt)
{
	const struct option *l = perf_long;

	while (l->name && l->val != opt)
		l++;
	return l->name;
}

int perf_options_parse(struct perf_options *o, int argc, char **argv)
{
	bool job = false;
	int opt, err = PERF_OK;

	*o = (struct perf_options) {
		.rounds = 10, .timeout_ms = 60000, .seed = 1, .rank = -1, .dtype = -1, .verify = true,
	};
	while (!err && (opt = getopt_long(argc, argv, "hj:n:r:d:t:s:i:q", perf_long, NULL)) != -1) {
		if (opt == OPT_HELP) {
			fputs(perf_help, stdout);
			exit(PERF_OK);
		}
		job |= opt == OPT_JOB;
		if (optarg)
			err = perf_options_set(o, opt, perf_options_name(opt), optarg);
		else
			err = perf_options_flag(o, opt);
	}
	if (!err && optind < argc) {
		fprintf(stderr, "ina-perf: '%s': not an option\n", argv[optind]);
		return PERF_USAGE;
	}
	if (!err && !job) {
		fputs("ina-perf: --job is missing; ina-perf --help lists the options\n", stderr);
		return PERF_USAGE;
	}
	return err;
}
