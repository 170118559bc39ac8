// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf stats: the counters of a job or, without one, of the network
 * namespace. Counters that are zero are left out unless asked for.
 */
#include "inaconf.h"

#define STATS_NAME_WIDTH	32

static const char stats_help[] =
	"Usage: inaconf stats [show] [job ID] [all | -a]\n"
	"\n"
	"job ID     counters of this job, else those of the network namespace\n"
	"all, -a    also counters that are zero\n";

enum {
	STATS_JOB,
	STATS_ALL,
	STATS_ALL_SHORT,
};

static const struct param stats_show_table[] = {
	[STATS_JOB] = { "job", PARAM_U32, INA_A_STATS_JOB, 0, NULL },
	[STATS_ALL] = { "all", PARAM_FLAG, 0, 0, NULL },
	[STATS_ALL_SHORT] = { "-a", PARAM_FLAG, 0, 0, NULL },
};

static const struct words stats_show_params = WORDS(stats_show_table);

static const struct field stats_fields[] = {
	{ INA_A_STATS_JOB, FIELD_UINT, "job", "job ", NULL },
};

static void stats_print_counter(struct print *p, const struct nlattr *nest, bool all)
{
	char prefix[2 * STATS_NAME_WIDTH];
	struct attrs attrs;
	const char *name;
	uint64_t value;

	attrs_parse_nested(&attrs, nest);
	name = attr_string(attrs.attr[INA_A_COUNTER_NAME]);
	value = attr_uint(attrs.attr[INA_A_COUNTER_VALUE]);
	if (!value && !all)
		return;
	snprintf(prefix, sizeof(prefix), "    %-*s ", STATS_NAME_WIDTH, name);
	print_uint(p, name, prefix, value);
	print_text(p, "\n");
}

static void stats_print(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	const bool *all = arg;
	const struct nlattr *attr;
	struct attrs attrs;

	attrs_parse(&attrs, reply);
	print_object_open(p, NULL);
	fields_print(p, stats_fields, ARRAY_SIZE(stats_fields), &attrs);
	print_text(p, attrs.attr[INA_A_STATS_JOB] ? "\n" : "namespace\n");
	print_object_open(p, "counters");
	mnl_attr_for_each(attr, reply, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == INA_A_STATS_COUNTER)
			stats_print_counter(p, attr, *all);
	}
	print_object_close(p);
	print_object_close(p);
}

static int stats_show(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_STATS_GET);
	unsigned int seen;
	bool all;
	int ret;

	ret = args_parse(&stats_show_params, argc, argv, request, &seen);
	if (ret)
		return ret;
	all = seen & (1U << STATS_ALL | 1U << STATS_ALL_SHORT);
	return nl_show(ctx, request, &stats_show_params, stats_print, &all);
}

static const struct command stats_commands[] = {
	{ "show", stats_show },
	{ "help", NULL },
};

static const struct object stats_object = {
	.commands = WORDS(stats_commands),
	.fallback = stats_show,
	.any = true,
	.help = stats_help,
};

int stats_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&stats_object, ctx, argc, argv);
}
