// SPDX-License-Identifier: GPL-2.0
/*
 * Leaf nodes of a job in user space, for the tests. It prints one line:
 *   ok ...                                       all sums were right
 *   refused REASON                               the parent does not take it
 *   failed ROUND REASON DETAIL DETAIL CULPRIT    a round failed
 *   closed REASON                                the epoch was closed in a round
 *   wrong ... | timeout ... | error ...
 * and returns 0 for the first only, 2 for wrong usage.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw/raw.h"

static const char raw_help[] =
	"usage: rawnode [OPTION...] [fuzz PACKETS SEED | craft KIND...]\n"
	"  --job ID --parent ADDR --first ADDR --count N   leaves at ADDR, ADDR + 1, ...\n"
	"  --elements N --rounds N --rank I                what to sum\n"
	"  --fragment N --capacity N --depth N --group N --deadline MS --port N --encap udp|ip\n"
	"                                                  the job, as the parent has it\n"
	"  --window N      fragments under way\n"
	"  --timeout S     longest wait\n"
	"  --gso           send super-packets\n"
	"  --zero-checksum no UDP checksum, crc32c instead\n"
	"  --reorder, --duplicate PERCENT, --mtu N, --hash X\n"
	"  --token-lie, --workers-lie N, --length-lie, --bad-fragments, --old-epoch,\n"
	"  --window-lie, --from-stranger ADDR, --leave\n"
	"kinds: sound short empty version type type0 flags reserved size crc nocsum job result\n"
	"       options whole udpsum udplen fragments padded otherhost\n";

static _Noreturn void raw_usage(const char *what)
{
	fprintf(stderr, "rawnode: %s\n%s", what, raw_help);
	exit(2);
}

enum {
	OPT_PARENT = 1, OPT_FIRST, OPT_ENCAP, OPT_HASH, OPT_STRANGER,
	OPT_NUMBER = 0x100,	/* + index in raw_numbers */
	OPT_LIE = 0x10000,	/* + RAW_* bit */
};

/* Options that are a number and where it goes. */
static const struct raw_number {
	const char *name;
	size_t at;
	uint32_t value;
} raw_numbers[] = {
	{ "job", offsetof(struct raw_options, job), 7 },
	{ "count", offsetof(struct raw_options, count), 1 },
	{ "rank", offsetof(struct raw_options, rank), 0 },
	{ "elements", offsetof(struct raw_options, elements), 1000 },
	{ "fragment", offsetof(struct raw_options, fragment), 256 },
	{ "capacity", offsetof(struct raw_options, capacity), 0 },
	{ "depth", offsetof(struct raw_options, depth), 2 },
	{ "group", offsetof(struct raw_options, group), 1024 },
	{ "deadline", offsetof(struct raw_options, deadline), 10000 },
	{ "floor", offsetof(struct raw_options, floor), 0 },
	{ "rounds", offsetof(struct raw_options, rounds), 1 },
	{ "port", offsetof(struct raw_options, port), INA_UDP_PORT },
	{ "mtu", offsetof(struct raw_options, mtu), 1500 },
	{ "window", offsetof(struct raw_options, window), 0 },
	{ "timeout", offsetof(struct raw_options, timeout), 30 },
	{ "workers-lie", offsetof(struct raw_options, workers_lie), 0 },
	{ "duplicate", offsetof(struct raw_options, duplicate), 0 },
};

#define RAW_NUMBERS	(sizeof(raw_numbers) / sizeof(raw_numbers[0]))

static const struct option raw_words[] = {
	{ "parent", required_argument, NULL, OPT_PARENT },
	{ "first", required_argument, NULL, OPT_FIRST },
	{ "encap", required_argument, NULL, OPT_ENCAP },
	{ "hash", required_argument, NULL, OPT_HASH },
	{ "from-stranger", required_argument, NULL, OPT_STRANGER },
	{ "token-lie", no_argument, NULL, OPT_LIE + RAW_LIE_TOKEN },
	{ "length-lie", no_argument, NULL, OPT_LIE + RAW_LIE_LENGTH },
	{ "bad-fragments", no_argument, NULL, OPT_LIE + RAW_LIE_FRAGMENTS },
	{ "old-epoch", no_argument, NULL, OPT_LIE + RAW_LIE_EPOCH },
	{ "window-lie", no_argument, NULL, OPT_LIE + RAW_LIE_WINDOW },
	{ "reorder", no_argument, NULL, OPT_LIE + RAW_REORDER },
	{ "gso", no_argument, NULL, OPT_LIE + RAW_GSO },
	{ "zero-checksum", no_argument, NULL, OPT_LIE + RAW_ZERO_CHECKSUM },
	{ "leave", no_argument, NULL, OPT_LIE + RAW_LEAVE },
};

#define RAW_WORDS	(sizeof(raw_words) / sizeof(raw_words[0]))

static void raw_set_number(struct raw_options *o, const struct raw_number *number,
			   uint32_t value)
{
	memcpy((char *)o + number->at, &value, sizeof(value));
}

static void raw_take(struct raw_options *o, int option)
{
	char *end = "";

	if (option >= OPT_LIE) {
		o->lies |= option - OPT_LIE;
	} else if (option >= OPT_NUMBER && option - OPT_NUMBER < (int)RAW_NUMBERS) {
		raw_set_number(o, &raw_numbers[option - OPT_NUMBER], strtoul(optarg, &end, 0));
	} else if (option == OPT_HASH) {
		o->hash = strtoull(optarg, &end, 0);
		o->lies |= RAW_LIE_HASH;
	} else if (option == OPT_ENCAP) {
		o->ip = !strcmp(optarg, "ip");
	} else if (option == OPT_STRANGER) {
		o->lies |= RAW_LIE_STRANGER;
		end = raw_addr_parse(&o->stranger, optarg) ? "" : optarg;
	} else if (option == OPT_PARENT || option == OPT_FIRST) {
		end = raw_addr_parse(option == OPT_PARENT ? &o->parent : &o->first, optarg) ? "" :
		      optarg;
	} else {
		raw_usage("unknown option");
	}
	if (*end)
		raw_usage(optarg);
}

/* What was not said follows from the rest. */
static void raw_complete(struct raw_options *o)
{
	if (!o->parent.sa.sa_family || o->first.sa.sa_family != o->parent.sa.sa_family)
		raw_usage("--parent and --first are needed, of one family");
	if (!o->count || !o->elements || !o->fragment || o->fragment > INA_FRAGMENT_MAX ||
	    !o->depth || !o->group)
		raw_usage("a number is out of range");
	if (!o->capacity)
		o->capacity = o->elements;
	if (!o->window)
		o->window = o->count < 16 ? 32 : (511 + o->count) / o->count;
	if (!(o->lies & RAW_LIE_HASH))
		o->hash = raw_hash(o);
	if (o->workers_lie)
		o->lies |= RAW_LIE_WORKERS;
}

static void raw_mode(struct raw_options *o, int argc, char **argv)
{
	if (!argc)
		return;
	o->mode = argv[0];
	if (!strcmp(o->mode, "fuzz") && argc == 3) {
		o->packets = strtoul(argv[1], NULL, 0);
		o->seed = strtoul(argv[2], NULL, 0);
	} else if (!strcmp(o->mode, "craft") && argc > 1) {
		o->kinds = argv + 1;
	} else {
		raw_usage(o->mode);
	}
}

static void raw_parse(struct raw_options *o, int argc, char **argv)
{
	struct option words[RAW_NUMBERS + RAW_WORDS + 1] = { 0 };
	int option;
	size_t i;

	for (i = 0; i < RAW_NUMBERS; i++) {
		raw_set_number(o, &raw_numbers[i], raw_numbers[i].value);
		words[i] = (struct option){ raw_numbers[i].name, required_argument, NULL,
					    OPT_NUMBER + i };
	}
	memcpy(words + RAW_NUMBERS, raw_words, sizeof(raw_words));
	while ((option = getopt_long(argc, argv, "", words, NULL)) != -1)
		raw_take(o, option);
	raw_mode(o, argc - optind, argv + optind);
	raw_complete(o);
}

static int raw_run(struct raw *raw)
{
	uint32_t i;

	raw->first = raw->child[0].acked;
	for (i = 0; i < raw->o.rounds; i++)
		raw_round_run(raw, raw->first + i);
	if (raw->o.lies & RAW_LEAVE)
		raw_leave(raw);
	printf("ok %u children, %u rounds of %u elements\n", raw->o.count, raw->o.rounds,
	       raw->o.elements);
	return 0;
}

int main(int argc, char **argv)
{
	static struct raw raw;

	raw_parse(&raw.o, argc, argv);
	if (raw.o.mode && !strcmp(raw.o.mode, "craft"))
		return raw_craft(&raw);
	raw_open(&raw);
	raw_join_all(&raw);
	return raw.o.mode ? raw_fuzz(&raw) : raw_run(&raw);
}
