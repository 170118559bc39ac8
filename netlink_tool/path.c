// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf path: the ways to a parent or child. A path is a device, two
 * addresses and a source port; number 0 is the one every peer has. How paths
 * are found is in path_auto.c.
 */
#include <net/if.h>
#include <string.h>

#include "inaconf.h"

static const char path_help[] =
	"Usage: inaconf path add job ID [peer ADDR] [dev IFNAME] [src ADDR] [dst ADDR] [sport N]\n"
	"                        [weight N|auto]\n"
	"       inaconf path del job ID [peer ADDR] id N\n"
	"       inaconf path set job ID [peer ADDR] id N weight N|auto\n"
	"       inaconf path set job ID [chunk BYTES] [timeout MS] [loss-limit PERCENT]\n"
	"       inaconf path show [job ID] [peer ADDR] [id N]\n"
	"       inaconf path auto job ID [peer ADDR] [paths N] [replace] [dry-run]\n"
	"       inaconf path auto job ID [peer ADDR] hash xor|crc16|linux[:SEED] paths N\n"
	"                         [replace] [dry-run]\n"
	"\n"
	"peer       address of a parent or child as in the tree; the parent if absent\n"
	"dev        device it leaves by; the route decides if absent\n"
	"src, dst   addresses; those of this node and of the peer if absent\n"
	"sport      UDP source port; that of the job if absent\n"
	"weight     share of what is sent, relative to the others; auto: as measured\n"
	"id         number of the path\n"
	"chunk      most bytes of a super-packet; k, M, Ki, Mi may follow\n"
	"timeout    milliseconds without an answer until a path is silent\n"
	"loss-limit packets lost above which the rate is cut\n"
	"paths      paths wanted; as many as the fabric has, at most 8, if absent\n"
	"hash       how routers choose; they are probed if absent\n"
	"replace    delete paths that are not wanted any more\n"
	"dry-run    only print what would be done\n";

static const struct param path_add_table[] = {
	{ "job", PARAM_U32, INA_A_PATH_JOB, PARAM_REQUIRED, NULL },
	{ "peer", PARAM_ADDR, INA_A_PATH_PEER, 0, NULL },
	{ "dev", PARAM_DEV, INA_A_PATH_IFINDEX, 0, NULL },
	{ "src", PARAM_ADDR, INA_A_PATH_SRC, 0, NULL },
	{ "dst", PARAM_ADDR, INA_A_PATH_DST, 0, NULL },
	{ "sport", PARAM_U16, INA_A_PATH_SPORT, 0, NULL },
	{ "weight", PARAM_U32, INA_A_PATH_WEIGHT, 0, &auto_words },
};

static const struct param path_del_table[] = {
	{ "job", PARAM_U32, INA_A_PATH_JOB, PARAM_REQUIRED, NULL },
	{ "peer", PARAM_ADDR, INA_A_PATH_PEER, 0, NULL },
	{ "id", PARAM_U32, INA_A_PATH_ID, PARAM_REQUIRED, NULL },
};

static const struct param path_set_table[] = {
	{ "job", PARAM_U32, INA_A_PATH_JOB, PARAM_REQUIRED, NULL },
	{ "peer", PARAM_ADDR, INA_A_PATH_PEER, 0, NULL },
	{ "id", PARAM_U32, INA_A_PATH_ID, 0, NULL },
	{ "weight", PARAM_U32, INA_A_PATH_WEIGHT, 0, &auto_words },
	{ "chunk", PARAM_SIZE, INA_A_PATH_CHUNK, 0, NULL },
	{ "timeout", PARAM_U32, INA_A_PATH_TIMEOUT, 0, NULL },
	{ "loss-limit", PARAM_PERCENT, INA_A_PATH_LOSS_LIMIT, 0, NULL },
};

enum {
	PATH_SHOW_JOB,
	PATH_SHOW_PEER,
	PATH_SHOW_ID,
};

static const struct param path_show_table[] = {
	[PATH_SHOW_JOB] = { "job", PARAM_U32, INA_A_PATH_JOB, 0, NULL },
	[PATH_SHOW_PEER] = { "peer", PARAM_ADDR, INA_A_PATH_PEER, 0, NULL },
	[PATH_SHOW_ID] = { "id", PARAM_U32, INA_A_PATH_ID, 0, NULL },
};

const struct words path_add_params = WORDS(path_add_table);
const struct words path_del_params = WORDS(path_del_table);
static const struct words path_set_params = WORDS(path_set_table);
static const struct words path_show_params = WORDS(path_show_table);

static int path_change(struct inaconf *ctx, int argc, char **argv, uint8_t command,
		       const struct words *params)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, command);
	int ret = args_parse(params, argc, argv, request, NULL);

	return ret ? ret : nl_query(&ctx->nl, request, params);
}

static int path_add(struct inaconf *ctx, int argc, char **argv)
{
	return path_change(ctx, argc, argv, INA_CMD_PATH_ADD, &path_add_params);
}

static int path_del(struct inaconf *ctx, int argc, char **argv)
{
	return path_change(ctx, argc, argv, INA_CMD_PATH_DEL, &path_del_params);
}

static int path_set(struct inaconf *ctx, int argc, char **argv)
{
	return path_change(ctx, argc, argv, INA_CMD_PATH_SET, &path_set_params);
}

/**
 * struct path_view - what is shown
 * @want: attributes a path must have, by number; those that are absent are any
 * @job: job of the last path, in text shown once
 * @peer: its peer
 * @any: a path was shown
 */
struct path_view {
	struct attrs want;
	uint64_t job;
	char peer[ADDR_SIZE];
	bool any;
};

static bool path_is_wanted(const struct attrs *path, const struct attrs *want)
{
	for (size_t i = 0; i < path_show_params.count; i++) {
		const struct nlattr *a = want->attr[path_show_table[i].attr];
		const struct nlattr *b = path->attr[path_show_table[i].attr];

		if (a && (!b || mnl_attr_get_payload_len(a) != mnl_attr_get_payload_len(b) ||
			  memcmp(mnl_attr_get_payload(a), mnl_attr_get_payload(b),
				 mnl_attr_get_payload_len(a))))
			return false;
	}
	return true;
}

static const struct field path_all_fields[] = {
	{ INA_A_PATH_CHUNK, FIELD_UINT, "chunk", " chunk ", NULL },
	{ INA_A_PATH_TIMEOUT, FIELD_UINT, "timeout", " timeout ", NULL },
	{ INA_A_PATH_LOSS_LIMIT, FIELD_PERCENT, "loss_limit_ppm", " loss-limit ", NULL },
};

/* Job, peer and what holds for all paths: in text a line before the first path. */
static void path_print_head(struct print *p, const struct attrs *attrs, struct path_view *view)
{
	uint64_t job = attr_uint(attrs->attr[INA_A_PATH_JOB]);
	char text[ADDR_SIZE];
	const char *peer = attr_addr(attrs->attr[INA_A_PATH_PEER], text);
	bool again = view->any && job == view->job && !strcmp(peer, view->peer);

	view->any = true;
	view->job = job;
	snprintf(view->peer, sizeof(view->peer), "%s", peer);
	if (again && !p->json)
		return;
	print_uint(p, "job", "job ", job);
	print_string(p, "peer", " peer ", peer);
	fields_print(p, path_all_fields, ARRAY_SIZE(path_all_fields), attrs);
	print_text(p, "\n    %2s %-9s %6s %6s %9s %11s %11s %8s %10s %8s %5s %s\n", "id", "state",
		   "share", "weight", "rtt ms", "goodput", "rate", "loss", "sent", "lost", "sport",
		   "dev, src, dst");
}

/**
 * enum path_form - how a column is shown in text
 * @PATH_NUMBER: as it is
 * @PATH_TENTH: a thousandth, in percent
 * @PATH_MILLION: a millionth, in percent
 * @PATH_TIME: nanoseconds, in milliseconds
 * @PATH_RATE: as tc(8) writes it
 */
enum path_form {
	PATH_NUMBER,
	PATH_TENTH,
	PATH_MILLION,
	PATH_TIME,
	PATH_RATE,
};

/* Text of a column; @text has RATE_SIZE bytes. */
static const char *path_text(enum path_form form, uint64_t value, char *text)
{
	switch (form) {
	case PATH_NUMBER:
		snprintf(text, RATE_SIZE, "%llu", (unsigned long long)value);
		break;
	case PATH_TENTH:
		snprintf(text, RATE_SIZE, "%.1f%%", (double)value / 10);
		break;
	case PATH_MILLION:
		snprintf(text, RATE_SIZE, "%.4g%%", (double)value / 1e4);
		break;
	case PATH_TIME:
		snprintf(text, RATE_SIZE, "%.3f", (double)value / 1e6);
		break;
	case PATH_RATE:
		return rate_text(text, value);
	}
	return text;
}

static void path_print_columns(struct print *p, const struct attrs *attrs)
{
	static const struct {
		uint16_t attr;
		enum path_form form;
		int width;
		const char *key;
		const char *zero;
	} columns[] = {
		{ INA_A_PATH_SHARE, PATH_TENTH, 6, "share", NULL },
		{ INA_A_PATH_WEIGHT, PATH_NUMBER, 6, "weight", "auto" },
		{ INA_A_PATH_RTT, PATH_TIME, 9, "rtt_ns", NULL },
		{ INA_A_PATH_GOODPUT, PATH_RATE, 11, "goodput", NULL },
		{ INA_A_PATH_RATE, PATH_RATE, 11, "rate", NULL },
		{ INA_A_PATH_LOSS, PATH_MILLION, 8, "loss_ppm", NULL },
		{ INA_A_PATH_SENT, PATH_NUMBER, 10, "sent", NULL },
		{ INA_A_PATH_LOST, PATH_NUMBER, 8, "lost", NULL },
		{ INA_A_PATH_SPORT, PATH_NUMBER, 5, "sport", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		const struct nlattr *attr = attrs->attr[columns[i].attr];
		uint64_t value = attr_uint(attr);
		char text[RATE_SIZE];
		const char *shown = path_text(columns[i].form, value, text);

		if (attr && p->json)
			print_uint(p, columns[i].key, "", value);
		if (!value && columns[i].zero)
			shown = columns[i].zero;
		print_text(p, " %*s", columns[i].width, attr ? shown : "-");
	}
}

static void path_print_ends(struct print *p, const struct attrs *attrs)
{
	static const struct field ends[] = {
		{ INA_A_PATH_SRC, FIELD_ADDR, "src", " ", NULL },
		{ INA_A_PATH_DST, FIELD_ADDR, "dst", " ", NULL },
	};
	uint32_t ifindex = (uint32_t)attr_uint(attrs->attr[INA_A_PATH_IFINDEX]);
	char name[IF_NAMESIZE];

	if (ifindex && if_indextoname(ifindex, name))
		print_string(p, "dev", " ", name);
	else
		print_text(p, " -");
	if (ifindex && p->json)
		print_uint(p, "ifindex", "", ifindex);
	fields_print(p, ends, ARRAY_SIZE(ends), attrs);
}

static void path_print(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	struct path_view *view = *(struct path_view *const *)arg;
	const char *state;
	struct attrs attrs;

	attrs_parse(&attrs, reply);
	if (!path_is_wanted(&attrs, &view->want))
		return;
	print_object_open(p, NULL);
	path_print_head(p, &attrs, view);
	print_text(p, "    %2u", (unsigned int)attr_uint(attrs.attr[INA_A_PATH_ID]));
	if (p->json)
		print_uint(p, "id", "", attr_uint(attrs.attr[INA_A_PATH_ID]));
	state = words_get(&path_state_words, attr_uint(attrs.attr[INA_A_PATH_STATE]));
	if (p->json)
		print_string(p, "state", "", state ? state : "?");
	print_text(p, " %-9s", state ? state : "?");
	path_print_columns(p, &attrs);
	path_print_ends(p, &attrs);
	print_object_close(p);
	print_text(p, "\n");
}

/* Has the job a tree here? */
static int path_check_job(struct inaconf *ctx, const struct nlattr *job)
{
	static const struct param table[] = { { "job", PARAM_U32, INA_A_TREE_JOB, 0, NULL } };
	static const struct words params = WORDS(table);
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_TREE_GET);

	if (!job)
		return INACONF_OK;
	mnl_attr_put_u32(request, INA_A_TREE_JOB, (uint32_t)attr_uint(job));
	return nl_query(&ctx->nl, request, &params);
}

/* One is asked for; or all, and those that are not wanted left out. */
static int path_show(struct inaconf *ctx, int argc, char **argv)
{
	struct path_view view = { .any = false }, *arg = &view;
	char words[256] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_PATH_GET);
	unsigned int seen;
	int ret;

	ret = args_parse(&path_show_params, argc, argv, request, &seen);
	if (ret)
		return ret;
	if (seen & 1U << PATH_SHOW_ID)
		return nl_show(ctx, request, &path_show_params, path_print, &arg);
	memcpy(words, request, request->nlmsg_len);
	attrs_parse(&view.want, (const struct nlmsghdr *)words);
	ret = path_check_job(ctx, view.want.attr[INA_A_PATH_JOB]);
	if (ret)
		return ret;
	request = nl_request(&ctx->nl, INA_CMD_PATH_GET);
	request->nlmsg_flags = NLM_F_DUMP;
	return nl_show(ctx, request, &path_show_params, path_print, &arg);
}

static const struct command path_commands[] = {
	{ "add", path_add },
	{ "del", path_del },
	{ "set", path_set },
	{ "show", path_show },
	{ "auto", path_auto },
	{ "help", NULL },
};

static const struct object path_object = {
	.commands = WORDS(path_commands),
	.fallback = path_show,
	.help = path_help,
};

int path_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&path_object, ctx, argc, argv);
}
