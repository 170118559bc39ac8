// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf tree: the place of this machine in the tree of a job. A node knows
 * its parent and its children, so that is what is drawn, as text or for
 * graphviz.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "inaconf.h"

#define TREE_ADDR_WIDTH	15

static const char tree_help[] =
	"Usage: inaconf tree set job ID [local ADDR] [parent ADDR] [child ADDR]...\n"
	"                        [workers N]\n"
	"       inaconf tree hold job ID ms MS\n"
	"       inaconf tree show [job ID] [--dot]\n"
	"\n"
	"local      address of this node, found by routing if absent\n"
	"parent     address of the parent, absent at the root\n"
	"child      address of a child, may be repeated\n"
	"workers    workers on this machine; 1 without children, else 0, if absent\n"
	"ms         at the root: rounds that run end and no others begin, for so long at most; 0 ends it\n"
	"--dot      a graph for graphviz\n";

static const struct param tree_set_table[] = {
	{ "job", PARAM_U32, INA_A_TREE_JOB, PARAM_REQUIRED, NULL },
	{ "local", PARAM_ADDR, INA_A_TREE_LOCAL, 0, NULL },
	{ "parent", PARAM_ADDR, INA_A_TREE_PARENT, 0, NULL },
	{ "child", PARAM_ADDR, INA_A_TREE_CHILD, PARAM_MULTI, NULL },
	{ "workers", PARAM_U32, INA_A_TREE_WORKERS, 0, NULL },
};

static const struct param tree_hold_table[] = {
	{ "job", PARAM_U32, INA_A_TREE_JOB, PARAM_REQUIRED, NULL },
	{ "ms", PARAM_U32, INA_A_TREE_HOLD, PARAM_REQUIRED, NULL },
};

enum {
	TREE_SHOW_JOB,
	TREE_SHOW_DOT,
};

static const struct param tree_show_table[] = {
	[TREE_SHOW_JOB] = { "job", PARAM_U32, INA_A_TREE_JOB, 0, NULL },
	[TREE_SHOW_DOT] = { "--dot", PARAM_FLAG, 0, 0, NULL },
};

static const struct words tree_set_params = WORDS(tree_set_table);
static const struct words tree_hold_params = WORDS(tree_hold_table);
static const struct words tree_show_params = WORDS(tree_show_table);

static const struct field tree_fields[] = {
	{ INA_A_TREE_JOB, FIELD_UINT, "job", "job ", NULL },
	{ INA_A_TREE_STATE, FIELD_WORD, "state", " state ", &state_words },
	{ INA_A_TREE_EPOCH, FIELD_UINT, "epoch", " epoch ", NULL },
	{ INA_A_TREE_BASE, FIELD_UINT, "base", " base ", NULL },
	{ INA_A_TREE_MEMBERS, FIELD_UINT, "members", " members ", NULL },
	{ INA_A_TREE_LEFT, FIELD_UINT, "left", " left ", NULL },
};

static const struct field tree_local_fields[] = {
	{ INA_A_TREE_ATTACHED, FIELD_UINT, "attached", ", workers attached ", NULL },
	{ INA_A_TREE_WORKERS, FIELD_UINT, "workers", " of ", NULL },
	{ INA_A_TREE_REQUEST, FIELD_RATE, "request", ", requests ", NULL },
	{ INA_A_TREE_RATE, FIELD_RATE, "rate", ", granted ", NULL },
};

static const struct field tree_member_fields[] = {
	{ INA_A_MEMBER_INDEX, FIELD_UINT, "index", ", index ", NULL },
	{ INA_A_MEMBER_WORKERS, FIELD_UINT, "workers", ", workers ", NULL },
	{ INA_A_MEMBER_ACKED, FIELD_UINT, "acked", ", acked ", NULL },
	{ INA_A_MEMBER_REQUEST, FIELD_RATE, "request", ", requests ", NULL },
	{ INA_A_MEMBER_RATE, FIELD_RATE, "rate", ", granted ", NULL },
};

static int tree_set(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_TREE_SET);
	int ret = args_parse(&tree_set_params, argc, argv, request, NULL);

	return ret ? ret : nl_query(&ctx->nl, request, &tree_set_params);
}

/* Rounds that run and are waited for. */
static void tree_take_left(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	uint64_t *const *left = arg;
	struct attrs attrs;

	(void)p;
	attrs_parse(&attrs, reply);
	**left = attrs.attr[INA_A_TREE_LEFT] ? attr_uint(attrs.attr[INA_A_TREE_LEFT]) : 0;
}

static int tree_ask_left(struct inaconf *ctx, uint32_t job, uint64_t *left)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_TREE_GET);
	int ret;

	mnl_attr_put_u32(request, INA_A_TREE_JOB, job);
	ret = nl_query(&ctx->nl, request, &tree_show_params);
	if (!ret)
		nl_each(&ctx->nl, &ctx->out, tree_take_left, &left);
	return ret;
}

/* Until nothing runs, or it is over: by its time, or as the epoch is. */
static int tree_hold(struct inaconf *ctx, int argc, char **argv)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_TREE_HOLD);
	int ret = args_parse(&tree_hold_params, argc, argv, request, NULL);
	struct attrs attrs;
	uint64_t left = 1;
	uint32_t job;

	if (ret)
		return ret;
	attrs_parse(&attrs, request);
	job = (uint32_t)attr_uint(attrs.attr[INA_A_TREE_JOB]);
	ret = nl_query(&ctx->nl, request, &tree_hold_params);
	while (!ret && left) {
		ret = tree_ask_left(ctx, job, &left);
		if (!ret && left)
			nanosleep(&moment, NULL);
	}
	return ret;
}

static bool tree_is_member(const struct nlattr *attr)
{
	return mnl_attr_get_type(attr) == INA_A_TREE_MEMBER;
}

static size_t tree_count_members(const struct nlmsghdr *reply)
{
	const struct nlattr *attr;
	size_t count = 0;

	mnl_attr_for_each(attr, reply, GENL_HDRLEN)
		count += tree_is_member(attr);
	return count;
}

static void tree_print_local(struct print *p, const struct attrs *attrs)
{
	const struct nlattr *parent = attrs->attr[INA_A_TREE_PARENT];
	char text[ADDR_SIZE];

	if (parent) {
		print_string(p, "parent", "    ", attr_addr(parent, text));
		print_text(p, " parent\n");
	}
	if (attrs->attr[INA_A_TREE_LOCAL])
		print_string(p, "local", parent ? "    `-- " : "    ",
			     attr_addr(attrs->attr[INA_A_TREE_LOCAL], text));
	else
		print_text(p, parent ? "    `-- -" : "    -");
	print_text(p, parent ? " this node" : " this node, the root");
	fields_print(p, tree_local_fields, ARRAY_SIZE(tree_local_fields), attrs);
	print_text(p, "\n");
}

static void tree_print_member(struct print *p, const struct nlattr *nest, const char *prefix)
{
	char text[ADDR_SIZE];
	struct attrs attrs;
	const char *addr;

	attrs_parse_nested(&attrs, nest);
	addr = attr_addr(attrs.attr[INA_A_MEMBER_ADDR], text);
	print_object_open(p, NULL);
	print_string(p, "addr", prefix, addr);
	print_text(p, "%*s ", (int)(strlen(addr) < TREE_ADDR_WIDTH ?
				    TREE_ADDR_WIDTH - strlen(addr) : 0), "");
	print_bool(p, "joined", "joined", "missing", attrs.attr[INA_A_MEMBER_JOINED]);
	fields_print(p, tree_member_fields, ARRAY_SIZE(tree_member_fields), &attrs);
	print_object_close(p);
	print_text(p, "\n");
}

static void tree_print_members(struct print *p, const struct nlmsghdr *reply, bool has_parent)
{
	size_t left = tree_count_members(reply);
	const char *indent = has_parent ? "    " : "";
	const struct nlattr *attr;
	char prefix[16];

	print_array_open(p, "children");
	mnl_attr_for_each(attr, reply, GENL_HDRLEN) {
		if (!tree_is_member(attr))
			continue;
		left--;
		snprintf(prefix, sizeof(prefix), "    %s%s-- ", indent, left ? "|" : "`");
		tree_print_member(p, attr, prefix);
	}
	print_array_close(p);
}

static void tree_print_reason(struct print *p, const struct nlattr *attr)
{
	static const struct field field = {
		INA_A_TREE_REASON, FIELD_WORD, "reason", "    the parent refuses: ", &reason_words
	};
	struct attrs attrs = { .attr = { [INA_A_TREE_REASON] = attr } };
	uint64_t reason = attr_uint(attr);
	const char *text = words_get(&reason_texts, reason);

	if (reason == INA_REASON_NONE)
		return;
	fields_print(p, &field, 1, &attrs);
	print_text(p, "%s%s\n", text ? ", " : "", text ? text : "");
}

static void tree_print(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	struct attrs attrs;

	(void)arg;
	attrs_parse(&attrs, reply);
	print_object_open(p, NULL);
	fields_print(p, tree_fields, ARRAY_SIZE(tree_fields), &attrs);
	print_text(p, "\n");
	tree_print_reason(p, attrs.attr[INA_A_TREE_REASON]);
	tree_print_local(p, &attrs);
	tree_print_members(p, reply, attrs.attr[INA_A_TREE_PARENT]);
	print_object_close(p);
}

static void tree_dot_edge(struct print *p, uint64_t job, const char *from, const char *to,
			  bool joined)
{
	print_text(p, "\t\t\"%" PRIu64 "/%s\" -> \"%" PRIu64 "/%s\"%s;\n", job, from, job, to,
		   joined ? "" : " [style=dashed]");
}

static void tree_dot_node(struct print *p, uint64_t job, const char *addr, const char *role,
			  bool present)
{
	print_text(p, "\t\t\"%" PRIu64 "/%s\" [label=\"%s\\n%s\"%s];\n", job, addr, addr, role,
		   present ? "" : ", style=dashed");
}

static void tree_dot_member(struct print *p, const struct nlattr *nest, uint64_t job,
			    const char *local)
{
	char text[ADDR_SIZE], role[64];
	struct attrs attrs;
	const char *addr;
	bool joined;

	attrs_parse_nested(&attrs, nest);
	addr = attr_addr(attrs.attr[INA_A_MEMBER_ADDR], text);
	joined = attrs.attr[INA_A_MEMBER_JOINED];
	snprintf(role, sizeof(role), "%s, workers %" PRIu64, joined ? "joined" : "missing",
		 attr_uint(attrs.attr[INA_A_MEMBER_WORKERS]));
	tree_dot_node(p, job, addr, role, joined);
	tree_dot_edge(p, job, local, addr, joined);
}

static void tree_dot_local(struct print *p, const struct attrs *attrs, uint64_t job,
			   const char *local)
{
	bool open = attr_uint(attrs->attr[INA_A_TREE_STATE]) == INA_NODE_STATE_OPEN;
	const struct nlattr *parent = attrs->attr[INA_A_TREE_PARENT];
	char text[ADDR_SIZE], role[80];

	snprintf(role, sizeof(role), "this node%s, workers %" PRIu64 " of %" PRIu64,
		 parent ? "" : ", the root", attr_uint(attrs->attr[INA_A_TREE_ATTACHED]),
		 attr_uint(attrs->attr[INA_A_TREE_WORKERS]));
	tree_dot_node(p, job, local, role, true);
	if (!parent)
		return;
	attr_addr(parent, text);
	tree_dot_node(p, job, text, "parent", true);
	tree_dot_edge(p, job, text, local, open);
}

static void tree_dot(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	const struct nlattr *attr;
	char text[ADDR_SIZE];
	struct attrs attrs;
	const char *local, *state;
	uint64_t job;

	(void)arg;
	attrs_parse(&attrs, reply);
	job = attr_uint(attrs.attr[INA_A_TREE_JOB]);
	local = attr_addr(attrs.attr[INA_A_TREE_LOCAL], text);
	state = words_get(&state_words, attr_uint(attrs.attr[INA_A_TREE_STATE]));
	print_text(p, "\tsubgraph cluster_%" PRIu64 " {\n\t\tlabel=\"job %" PRIu64
		   ", %s, epoch %" PRIu64 "\";\n", job, job, state ? state : "?",
		   attr_uint(attrs.attr[INA_A_TREE_EPOCH]));
	tree_dot_local(p, &attrs, job, local);
	mnl_attr_for_each(attr, reply, GENL_HDRLEN) {
		if (tree_is_member(attr))
			tree_dot_member(p, attr, job, local);
	}
	print_text(p, "\t}\n");
}

static int tree_show_dot(struct inaconf *ctx, struct nlmsghdr *request)
{
	int ret;

	if (ctx->out.json)
		return error_usage("--dot and -j exclude each other");
	ret = nl_query(&ctx->nl, request, &tree_show_params);
	if (ret)
		return ret;
	print_text(&ctx->out, "digraph ina {\n\tnode [shape=box];\n");
	nl_each(&ctx->nl, &ctx->out, tree_dot, NULL);
	print_text(&ctx->out, "}\n");
	return INACONF_OK;
}

static int tree_show(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_TREE_GET);
	unsigned int seen;
	int ret;

	ret = args_parse(&tree_show_params, argc, argv, request, &seen);
	if (ret)
		return ret;
	request->nlmsg_flags = (seen & 1U << TREE_SHOW_JOB) ? 0 : NLM_F_DUMP;
	if (seen & 1U << TREE_SHOW_DOT)
		return tree_show_dot(ctx, request);
	return nl_show(ctx, request, &tree_show_params, tree_print, NULL);
}

static const struct command tree_commands[] = {
	{ "set", tree_set },
	{ "hold", tree_hold },
	{ "show", tree_show },
	{ "help", NULL },
};

static const struct object tree_object = {
	.commands = WORDS(tree_commands),
	.fallback = tree_show,
	.help = tree_help,
};

int tree_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&tree_object, ctx, argc, argv);
}
