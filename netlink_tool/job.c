// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf job: what is summed. A job has the same number and the same settings
 * on every node of its tree.
 */
#include "inaconf.h"

static const char job_help[] =
	"Usage: inaconf job add [id] ID capacity N [dtype int32|fp32|bf16|fixed] [exponent N]\n"
	"                       [fragment N|auto] [depth N] [group N] [deadline MS] [on-loss fail|degrade]\n"
	"                       [encap udp|ip] [port N]\n"
	"       inaconf job del [id] ID\n"
	"       inaconf job show [[id] ID]\n"
	"\n"
	"capacity   most elements of a round; k, M, G, Ki, Mi, Gi may follow\n"
	"dtype      type of an element\n"
	"exponent   sums of fixed are multiples of 2 to this power, -149 to 64\n"
	"fragment   elements in a packet; auto: what fits the path to the neighbours\n"
	"depth      rounds in flight\n"
	"group      packets of a hop answered together, a power of two\n"
	"deadline   milliseconds after which an unfinished round has failed on all workers\n"
	"on-loss    a round that lacks a worker fails, or ends without it\n"
	"encap      how packets are carried\n"
	"port       UDP port of all nodes of the job\n";

static const struct param job_add_table[] = {
	{ "id", PARAM_U32, INA_A_JOB_ID, PARAM_REQUIRED | PARAM_BARE, NULL },
	{ "capacity", PARAM_SIZE, INA_A_JOB_CAPACITY, PARAM_REQUIRED, NULL },
	{ "dtype", PARAM_WORD, INA_A_JOB_DTYPE, 0, &dtype_words },
	{ "exponent", PARAM_S32, INA_A_JOB_EXPONENT, 0, NULL },
	{ "fragment", PARAM_U32, INA_A_JOB_FRAGMENT, 0, &auto_words },
	{ "depth", PARAM_U32, INA_A_JOB_DEPTH, 0, NULL },
	{ "group", PARAM_U32, INA_A_JOB_GROUP, 0, NULL },
	{ "deadline", PARAM_U32, INA_A_JOB_DEADLINE, 0, NULL },
	{ "on-loss", PARAM_WORD, INA_A_JOB_ON_LOSS, 0, &on_loss_words },
	{ "encap", PARAM_WORD, INA_A_JOB_ENCAP, 0, &encap_words },
	{ "port", PARAM_U16, INA_A_JOB_PORT, 0, NULL },
};

static const struct param job_del_table[] = {
	{ "id", PARAM_U32, INA_A_JOB_ID, PARAM_REQUIRED | PARAM_BARE, NULL },
};

static const struct param job_show_table[] = {
	{ "id", PARAM_U32, INA_A_JOB_ID, PARAM_BARE, NULL },
};

const struct words job_add_params = WORDS(job_add_table);
static const struct words job_del_params = WORDS(job_del_table);
static const struct words job_show_params = WORDS(job_show_table);

static const struct field job_fields[] = {
	{ INA_A_JOB_ID, FIELD_UINT, "id", "job ", NULL },
	{ INA_A_JOB_DTYPE, FIELD_WORD, "dtype", " dtype ", &dtype_words },
	{ INA_A_JOB_EXPONENT, FIELD_INT, "exponent", " exponent ", NULL },
	{ INA_A_JOB_CAPACITY, FIELD_UINT, "capacity", " capacity ", NULL },
	{ INA_A_JOB_FRAGMENT, FIELD_WORD, "fragment", " fragment ", &auto_words },
	{ INA_A_JOB_DEPTH, FIELD_UINT, "depth", " depth ", NULL },
	{ INA_A_JOB_GROUP, FIELD_UINT, "group", " group ", NULL },
	{ INA_A_JOB_DEADLINE, FIELD_UINT, "deadline", " deadline ", NULL },
	{ INA_A_JOB_ON_LOSS, FIELD_WORD, "on-loss", " on-loss ", &on_loss_words },
	{ INA_A_JOB_ENCAP, FIELD_WORD, "encap", " encap ", &encap_words },
	{ INA_A_JOB_PORT, FIELD_UINT, "port", " port ", NULL },
	{ INA_A_JOB_HASH, FIELD_HEX, "hash", "\n    hash ", NULL },
	{ INA_A_JOB_MEMORY, FIELD_BYTES, "memory", " memory ", NULL },
	{ INA_A_JOB_ATTACHED, FIELD_UINT, "attached", " attached ", NULL },
};

static int job_add(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_JOB_ADD);
	int ret = args_parse(&job_add_params, argc, argv, request, NULL);

	return ret ? ret : nl_query(&ctx->nl, request, &job_add_params);
}

static int job_del(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_JOB_DEL);
	int ret = args_parse(&job_del_params, argc, argv, request, NULL);

	return ret ? ret : nl_query(&ctx->nl, request, &job_del_params);
}

static void job_print(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	struct attrs attrs;

	(void)arg;
	attrs_parse(&attrs, reply);
	print_object_open(p, NULL);
	fields_print(p, job_fields, ARRAY_SIZE(job_fields), &attrs);
	print_object_close(p);
	print_text(p, "\n");
}

static int job_show(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_JOB_GET);
	unsigned int seen;
	int ret;

	ret = args_parse(&job_show_params, argc, argv, request, &seen);
	if (ret)
		return ret;
	request->nlmsg_flags = seen ? 0 : NLM_F_DUMP;
	return nl_show(ctx, request, &job_show_params, job_print, NULL);
}

static const struct command job_commands[] = {
	{ "add", job_add },
	{ "del", job_del },
	{ "show", job_show },
	{ "help", NULL },
};

static const struct object job_object = {
	.commands = WORDS(job_commands),
	.fallback = job_show,
	.help = job_help,
};

int job_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&job_object, ctx, argc, argv);
}
