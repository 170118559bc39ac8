// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf dev: the devices on which packets are taken in the ingress hook,
 * before the network stack sees them; how much of each may be used, and who
 * keeps packets to that.
 */
#include <time.h>

#include "inaconf.h"

#define DEV_ETF_AHEAD	1000000	/* nanoseconds before their time at which packets come to etf */

static const char dev_help[] =
	"Usage: inaconf dev add [dev] IFNAME\n"
	"       inaconf dev del [dev] IFNAME\n"
	"       inaconf dev set [dev] IFNAME rate RATE|auto\n"
	"       inaconf dev show [[dev] IFNAME]\n"
	"\n"
	"rate       of the device that may be used each way: 10gbit, 800mbit, 100mbps (bytes), at\n"
	"           least 65536bps; auto: that of its link\n";

static const struct param dev_add_table[] = {
	{ "dev", PARAM_DEV, INA_A_DEV_IFINDEX, PARAM_REQUIRED | PARAM_BARE, NULL },
};

static const struct param dev_set_table[] = {
	{ "dev", PARAM_DEV, INA_A_DEV_IFINDEX, PARAM_REQUIRED | PARAM_BARE, NULL },
	{ "rate", PARAM_RATE, INA_A_DEV_RATE, PARAM_REQUIRED, NULL },
};

static const struct param dev_show_table[] = {
	{ "dev", PARAM_DEV, INA_A_DEV_IFINDEX, PARAM_BARE, NULL },
};

static const struct words dev_add_params = WORDS(dev_add_table);
static const struct words dev_set_params = WORDS(dev_set_table);
static const struct words dev_show_params = WORDS(dev_show_table);

static const struct field dev_fields[] = {
	{ INA_A_DEV_NAME, FIELD_STRING, "name", "dev ", NULL },
	{ INA_A_DEV_IFINDEX, FIELD_UINT, "ifindex", " ifindex ", NULL },
	{ INA_A_DEV_RATE, FIELD_RATE, "rate", " rate ", NULL },
};

static const struct field dev_link_fields[] = {
	{ INA_A_DEV_SPEED, FIELD_RATE, "speed", " speed ", NULL },
	{ INA_A_DEV_PACING, FIELD_WORD, "pacing", " pacing ", &pacing_words },
};

static int dev_change(struct inaconf *ctx, int argc, char **argv, uint8_t command,
		      const struct words *params)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, command);
	int ret = args_parse(params, argc, argv, request, NULL);

	return ret ? ret : nl_query(&ctx->nl, request, params);
}

static int dev_add(struct inaconf *ctx, int argc, char **argv)
{
	return dev_change(ctx, argc, argv, INA_CMD_DEV_ADD, &dev_add_params);
}

static int dev_del(struct inaconf *ctx, int argc, char **argv)
{
	return dev_change(ctx, argc, argv, INA_CMD_DEV_DEL, &dev_add_params);
}

static int dev_set(struct inaconf *ctx, int argc, char **argv)
{
	return dev_change(ctx, argc, argv, INA_CMD_DEV_SET, &dev_set_params);
}

/* In JSON part of the device, else to stderr. */
static void dev_warn(struct print *p, const char *text)
{
	if (p->json)
		print_string(p, "warning", "", text);
	else
		fprintf(stderr, "Warning: %s\n", text);
}

/* Nothing but the sender keeps to the rate. */
static void dev_warn_sender(struct print *p, const char *name)
{
	char text[200];

	snprintf(text, sizeof(text),
		 "no queueing discipline of %s paces packets, they leave in bursts: "
		 "use 'tc qdisc replace dev %s root fq' or 'inaconf qdisc add %s'", name, name,
		 name);
	dev_warn(p, text);
}

/* It may be set so that it drops what the module sends. */
static void dev_print_etf(struct print *p, const char *name, int ifindex)
{
	struct qdisc_etf etf = { .ifindex = ifindex };
	const char *change = NULL;
	char text[200];

	if (qdisc_etf(&etf) || !etf.found)
		return;
	print_uint(p, "etf_delta_ns", " delta ", (uint64_t)etf.delta);
	print_string(p, "etf_clock", " clock ", etf.clock == CLOCK_TAI ? "TAI" : "other");
	print_bool(p, "etf_deadline_mode", " deadline_mode", "", etf.deadline_mode);
	print_bool(p, "etf_offload", " offload", "", etf.offload);
	if (etf.clock != CLOCK_TAI)
		change = "set its clockid to CLOCK_TAI";
	else if (etf.deadline_mode)
		change = "turn its deadline_mode off";
	else if (etf.delta >= DEV_ETF_AHEAD)
		change = "set its delta below 1000000";
	if (!change)
		return;
	snprintf(text, sizeof(text), "etf of %s does not fit and drops packets: %s", name, change);
	dev_warn(p, text);
}

static void dev_print(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	const char *name;
	struct attrs attrs;
	uint64_t pacing;

	(void)arg;
	attrs_parse(&attrs, reply);
	name = attr_string(attrs.attr[INA_A_DEV_NAME]);
	pacing = attr_uint(attrs.attr[INA_A_DEV_PACING]);
	print_object_open(p, NULL);
	fields_print(p, dev_fields, ARRAY_SIZE(dev_fields), &attrs);
	if (attrs.attr[INA_A_DEV_RATE] || attrs.attr[INA_A_DEV_AUTO])
		print_bool(p, "auto", " auto", "", attrs.attr[INA_A_DEV_AUTO]);
	fields_print(p, dev_link_fields, ARRAY_SIZE(dev_link_fields), &attrs);
	if (attrs.attr[INA_A_DEV_PACING] && pacing == INA_PACING_SENDER)
		dev_warn_sender(p, name);
	else if (pacing == INA_PACING_ETF)
		dev_print_etf(p, name, (int)attr_uint(attrs.attr[INA_A_DEV_IFINDEX]));
	print_object_close(p);
	print_text(p, "\n");
}

static int dev_show(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, INA_CMD_DEV_GET);
	unsigned int seen;
	int ret;

	ret = args_parse(&dev_show_params, argc, argv, request, &seen);
	if (ret)
		return ret;
	request->nlmsg_flags = seen ? 0 : NLM_F_DUMP;
	return nl_show(ctx, request, &dev_show_params, dev_print, NULL);
}

static const struct command dev_commands[] = {
	{ "add", dev_add },
	{ "del", dev_del },
	{ "set", dev_set },
	{ "show", dev_show },
	{ "help", NULL },
};

static const struct object dev_object = {
	.commands = WORDS(dev_commands),
	.fallback = dev_show,
	.help = dev_help,
};

int dev_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&dev_object, ctx, argc, argv);
}
