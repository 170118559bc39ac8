// SPDX-License-Identifier: GPL-2.0
/*
 * The command line: every bad word is an error that names it and what is known.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <plan/doc.h>

#include "options.h"

enum ina_sim_opt {
	OPT_HELP = 'h',
	OPT_JOBS = 'n',
	OPT_SEED = 's',
	OPT_TOPOLOGY = 256,
	OPT_FAT_TREE,
	OPT_TRACES,
	OPT_TRACE,
	OPT_PLACE,
	OPT_TREES,
	OPT_SWITCHES,
	OPT_SHARE,
	OPT_LIMIT,
	OPT_CAPACITY,
	OPT_ALPHA,
	OPT_CANDIDATES,
	OPT_RATE,
	OPT_SPEEDUP,
	OPT_LATENCY,
	OPT_ROUND,
	OPT_GROWTH,
	OPT_CSV,
	OPT_JSON,
	OPT_MARKDOWN,
	OPT_SVG,
};

static const struct option ina_sim_long[] = {
	{ "help", no_argument, NULL, OPT_HELP },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "fat-tree", required_argument, NULL, OPT_FAT_TREE },
	{ "traces", required_argument, NULL, OPT_TRACES },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "place", required_argument, NULL, OPT_PLACE },
	{ "trees", required_argument, NULL, OPT_TREES },
	{ "switches", required_argument, NULL, OPT_SWITCHES },
	{ "share", required_argument, NULL, OPT_SHARE },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "capacity", required_argument, NULL, OPT_CAPACITY },
	{ "alpha", required_argument, NULL, OPT_ALPHA },
	{ "candidates", required_argument, NULL, OPT_CANDIDATES },
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "speedup", required_argument, NULL, OPT_SPEEDUP },
	{ "latency", required_argument, NULL, OPT_LATENCY },
	{ "round", required_argument, NULL, OPT_ROUND },
	{ "growth", optional_argument, NULL, OPT_GROWTH },
	{ "csv", required_argument, NULL, OPT_CSV },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "markdown", required_argument, NULL, OPT_MARKDOWN },
	{ "svg", required_argument, NULL, OPT_SVG },
	{ NULL, 0, NULL, 0 },
};

static const char ina_sim_help[] =
	"usage: ina-sim [OPTION...]\n"
	"Run jobs of training on a simulated fabric and tell what placement and trees gain.\n"
	"\n"
	"  -n, --jobs N             jobs in a run (default: 2000)\n"
	"  -s, --seed S             of the draw (default: 1)\n"
	"      --fat-tree K         fabric of even degree K (default: 16)\n"
	"      --topology FILE      fabric from a file instead\n"
	"      --traces DIR         folder of hosts.json and the models\n"
	"      --trace NAME         only this histogram of hosts (default: all)\n"
	"      --limit switch|link  what has a limit (default: switch; with --topology: as there)\n"
	"      --capacity C         trees at once on each of them (default: 1)\n"
	"      --rate R             bytes/s of an all-reduce without aggregation in the network;\n"
	"                           may be given again (default: 12.5G; with --topology: what the\n"
	"                           slowest machine of a job has left)\n"
	"      --speedup X          of aggregation in the network (default: 2)\n"
	"      --latency SECONDS    of each all-reduce (default: 50e-6)\n"
	"      --round BYTES        an all-reduce that found its tree taken asks again after so\n"
	"                           many; 0: not before its end (default: 4M)\n"
	"      --place first|best   only this placement (default: both)\n"
	"      --trees first|best   only these trees (default: both)\n"
	"      --switches every|joining  trees take every switch on their way, or only those\n"
	"                           that join two branches (default: both)\n"
	"      --share none|greedy  jobs without a tree of their own never aggregate in the\n"
	"                           network, or whenever their tree is free (default: both)\n"
	"      --alpha A            weight of fragments left free (default: 0.5)\n"
	"      --candidates N       trees looked at for a job (default: 64)\n"
	"      --growth[=K]         time the planner on fat-trees up to degree K, too (default:\n"
	"                           42, which has 18,522 hosts)\n"
	"      --csv FILE, --json FILE, --markdown FILE, --svg FILE  write these as well\n"
	"\n"
	"exit status: 0 done; 1 a failure; 2 wrong usage or input\n";

static int ina_sim_bad(const char *name, const char *word, const char *wanted)
{
	fprintf(stderr, "ina-sim: --%s: '%s': expected %s\n", name, word, wanted);
	return 2;
}

static int ina_sim_number(const char *name, const char *word, double min, double max,
			  double *number)
{
	char wanted[80];

	if (ina_doc_number(word, number) && *number >= min && *number <= max)
		return 0;
	snprintf(wanted, sizeof(wanted), "a number from %g to %g", min, max);
	return ina_sim_bad(name, word, wanted);
}

static int ina_sim_integer(const char *name, const char *word, long min, long max, long *number)
{
	char wanted[80], *end;

	*number = strtol(word, &end, 10);
	if (end != word && !*end && *number >= min && *number <= max)
		return 0;
	snprintf(wanted, sizeof(wanted), "an integer from %ld to %ld", min, max);
	return ina_sim_bad(name, word, wanted);
}

static int ina_sim_choice(const char *name, const char *word, const char *off, const char *on,
			  enum ina_sim_which *which)
{
	char wanted[80];

	*which = strcmp(word, on) ? INA_SIM_OFF : INA_SIM_ON;
	if (*which == INA_SIM_ON || !strcmp(word, off))
		return 0;
	snprintf(wanted, sizeof(wanted), "%s or %s", off, on);
	return ina_sim_bad(name, word, wanted);
}

static int ina_sim_rate(struct ina_sim_options *o, const char *name, const char *word)
{
	if (o->n_rates == INA_SIM_RATES)
		return ina_sim_bad(name, word, "no more rates");
	return ina_sim_number(name, word, 1e3, 1e15, &o->rates[o->n_rates++]);
}

/* Options that are words or files. */
static int ina_sim_option_word(struct ina_sim_options *o, int c, const char *name, const char *word)
{
	enum ina_sim_which links;
	const char **const texts[] = {
		[0] = &o->topology,
		[OPT_TRACES - OPT_TOPOLOGY] = &o->traces,
		[OPT_TRACE - OPT_TOPOLOGY] = &o->trace,
		[OPT_CSV - OPT_TOPOLOGY] = &o->csv,
		[OPT_JSON - OPT_TOPOLOGY] = &o->json,
		[OPT_MARKDOWN - OPT_TOPOLOGY] = &o->markdown,
		[OPT_SVG - OPT_TOPOLOGY] = &o->svg,
	};

	switch (c) {
	case OPT_PLACE:
		return ina_sim_choice(name, word, "first", "best", &o->place);
	case OPT_TREES:
		return ina_sim_choice(name, word, "first", "best", &o->trees);
	case OPT_SWITCHES:
		return ina_sim_choice(name, word, "every", "joining", &o->joining);
	case OPT_SHARE:
		return ina_sim_choice(name, word, "none", "greedy", &o->share);
	case OPT_LIMIT:
		if (ina_sim_choice(name, word, "switch", "link", &links))
			return 2;
		o->links = links == INA_SIM_ON;
		o->capacity = o->capacity ? o->capacity : 1;
		return 0;
	}
	*texts[c - OPT_TOPOLOGY] = word;
	return 0;
}

static int ina_sim_option(struct ina_sim_options *o, int c, const char *name, const char *word)
{
	long number = 0;
	int bad;

	switch (c) {
	case OPT_GROWTH:
		bad = word ? ina_sim_integer(name, word, 8, 42, &number) : 0;
		o->growth = word ? (int)number : 42;
		return bad;
	case OPT_RATE:
		return ina_sim_rate(o, name, word);
	case OPT_SPEEDUP:
		return ina_sim_number(name, word, 1, 1e6, &o->speedup);
	case OPT_LATENCY:
		return ina_sim_number(name, word, 0, 1e3, &o->latency);
	case OPT_ROUND:
		return ina_sim_number(name, word, 0, 1e15, &o->round);
	case OPT_ALPHA:
		return ina_sim_number(name, word, 0, 1e3, &o->alpha);
	case OPT_JOBS:
		bad = ina_sim_integer(name, word, 1, 1000000, &number);
		o->jobs = (int)number;
		return bad;
	case OPT_SEED:
		bad = ina_sim_integer(name, word, 0, 0x7fffffffffffffff, &number);
		o->seed = (uint64_t)number;
		return bad;
	case OPT_FAT_TREE:
		bad = ina_sim_integer(name, word, 2, 128, &number);
		o->degree = (int)number;
		return bad ? bad : number % 2 ? ina_sim_bad(name, word, "an even number") : 0;
	case OPT_CAPACITY:
		bad = ina_sim_integer(name, word, 1, 1000000, &number);
		o->capacity = (int)number;
		return bad;
	case OPT_CANDIDATES:
		bad = ina_sim_integer(name, word, 1, 100000, &number);
		o->candidates = (int)number;
		return bad;
	}
	return ina_sim_option_word(o, c, name, word);
}

int ina_sim_options_parse(struct ina_sim_options *o, int argc, char **argv)
{
	int c, index = -1, i;

	while ((c = getopt_long(argc, argv, "hn:s:", ina_sim_long, &index)) != -1) {
		int bad;

		if (c == '?')
			return 2;
		if (c == OPT_HELP) {
			fputs(ina_sim_help, stdout);
			return 1;
		}
		for (i = 0; ina_sim_long[i].val != c; i++)
			;
		bad = ina_sim_option(o, c, ina_sim_long[i].name, optarg);
		if (bad)
			return bad;
	}
	if (optind < argc) {
		fprintf(stderr, "ina-sim: '%s': no such word; see ina-sim --help\n", argv[optind]);
		return 2;
	}
	if (!o->topology && !o->capacity)
		o->capacity = 1;
	if (!o->topology && !o->n_rates)
		o->rates[o->n_rates++] = 12.5e9;
	if (!o->n_rates)
		o->n_rates = 1;
	return 0;
}
