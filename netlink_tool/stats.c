// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf stats: the counters of a job or, without one, of the network
 * namespace, where those that are zero are left out unless asked for; and which
 * child is late.
 */
#include <stdlib.h>
#include <string.h>

#include "inaconf.h"

#define STATS_NAME_WIDTH	32
#define STATS_CHILDREN_MAX	1024

static const char stats_help[] =
	"Usage: inaconf stats [show] [job ID] [all | -a]\n"
	"       inaconf stats child [job ID]\n"
	"\n"
	"job ID     counters of this job, else those of the network namespace\n"
	"all, -a    also counters that are zero\n"
	"child      when the contributions of each child come, the latest child first, and its rate\n";

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

static const struct param stats_child_table[] = {
	{ "job", PARAM_U32, INA_A_TREE_JOB, 0, NULL },
};

static const struct words stats_child_params = WORDS(stats_child_table);

/* Latest first; those of whom nothing is known last. */
static int stats_later(const void *a, const void *b)
{
	const struct attrs *one = a, *other = b;
	uint64_t mine = attr_uint(one->attr[INA_A_MEMBER_LATE]);
	uint64_t its = attr_uint(other->attr[INA_A_MEMBER_LATE]);
	bool known = one->attr[INA_A_MEMBER_LATE];

	if (known != !!other->attr[INA_A_MEMBER_LATE])
		return known ? -1 : 1;
	return mine < its ? 1 : mine > its ? -1 : 0;
}

/* In text a column. */
static void stats_print_rate(struct print *p, const char *key, const struct nlattr *attr)
{
	char text[RATE_SIZE];

	if (attr && p->json)
		print_rate(p, key, "", attr_uint(attr));
	print_text(p, " %11s", attr ? rate_text(text, attr_uint(attr)) : "-");
}

/* Nanoseconds, in text as milliseconds. */
static void stats_print_time(struct print *p, const char *key, const struct nlattr *attr)
{
	uint64_t ns = attr_uint(attr);

	if (!attr)
		print_text(p, " %11s", "-");
	else if (p->json)
		print_uint(p, key, "", ns);
	else
		print_text(p, " %11.3f", (double)ns / 1e6);
}

static void stats_print_child(struct print *p, const struct attrs *child)
{
	char text[ADDR_SIZE];
	const char *addr = attr_addr(child->attr[INA_A_MEMBER_ADDR], text);

	print_object_open(p, NULL);
	print_string(p, "addr", "    ", addr);
	print_text(p, "%*s", (int)(strlen(addr) < 15 ? 15 - strlen(addr) : 0), "");
	stats_print_time(p, "late_ns", child->attr[INA_A_MEMBER_LATE]);
	stats_print_time(p, "first_ns", child->attr[INA_A_MEMBER_FIRST]);
	stats_print_time(p, "last_ns", child->attr[INA_A_MEMBER_LAST]);
	stats_print_rate(p, "request", child->attr[INA_A_MEMBER_REQUEST]);
	stats_print_rate(p, "rate", child->attr[INA_A_MEMBER_RATE]);
	if (child->attr[INA_A_MEMBER_LOST]) {
		print_uint(p, "lost", " ", attr_uint(child->attr[INA_A_MEMBER_LOST]));
		print_uint(p, "lost_round", " ", attr_uint(child->attr[INA_A_MEMBER_LOST_ROUND]));
		print_uint(p, "round", " ", attr_uint(child->attr[INA_A_MEMBER_ROUND]));
	}
	print_object_close(p);
	print_text(p, "\n");
}

static void stats_print_children(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	static struct attrs children[STATS_CHILDREN_MAX];
	const struct nlattr *attr;
	struct attrs attrs;
	size_t count = 0;

	(void)arg;
	attrs_parse(&attrs, reply);
	mnl_attr_for_each(attr, reply, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == INA_A_TREE_MEMBER && count < STATS_CHILDREN_MAX)
			attrs_parse_nested(&children[count++], attr);
	}
	qsort(children, count, sizeof(children[0]), stats_later);
	print_object_open(p, NULL);
	print_uint(p, "job", "job ", attr_uint(attrs.attr[INA_A_TREE_JOB]));
	print_text(p, "\n    %-15s %11s %11s %11s %11s %11s %s\n", "child", "late ms", "first ms",
		   "last ms", "requests", "granted", "lost, last, round");
	print_array_open(p, "children");
	for (size_t i = 0; i < count; i++)
		stats_print_child(p, &children[i]);
	print_array_close(p);
	print_object_close(p);
}

static int stats_child(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_TREE_GET);
	int ret = args_parse(&stats_child_params, argc, argv, request, NULL);

	return ret ? ret : nl_show(ctx, request, &stats_child_params, stats_print_children, NULL);
}

static const struct command stats_commands[] = {
	{ "show", stats_show },
	{ "child", stats_child },
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
