// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf dev: the devices on which packets are taken in the ingress hook,
 * before the network stack sees them.
 */
#include "inaconf.h"

static const char dev_help[] =
	"Usage: inaconf dev add [dev] IFNAME\n"
	"       inaconf dev del [dev] IFNAME\n"
	"       inaconf dev show [[dev] IFNAME]\n";

static const struct param dev_set_table[] = {
	{ "dev", PARAM_DEV, INA_A_DEV_IFINDEX, PARAM_REQUIRED | PARAM_BARE, NULL },
};

static const struct param dev_show_table[] = {
	{ "dev", PARAM_DEV, INA_A_DEV_IFINDEX, PARAM_BARE, NULL },
};

static const struct words dev_set_params = WORDS(dev_set_table);
static const struct words dev_show_params = WORDS(dev_show_table);

static const struct field dev_fields[] = {
	{ INA_A_DEV_NAME, FIELD_STRING, "name", "dev ", NULL },
	{ INA_A_DEV_IFINDEX, FIELD_UINT, "ifindex", " ifindex ", NULL },
};

static int dev_set(struct inaconf *ctx, int argc, char **argv, uint8_t command)
{
	struct nlmsghdr *request = nl_request(&ctx->nl, command);
	int ret = args_parse(&dev_set_params, argc, argv, request, NULL);

	return ret ? ret : nl_query(&ctx->nl, request, &dev_set_params);
}

static int dev_add(struct inaconf *ctx, int argc, char **argv)
{
	return dev_set(ctx, argc, argv, INA_CMD_DEV_ADD);
}

static int dev_del(struct inaconf *ctx, int argc, char **argv)
{
	return dev_set(ctx, argc, argv, INA_CMD_DEV_DEL);
}

static void dev_print(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	struct attrs attrs;

	(void)arg;
	attrs_parse(&attrs, reply);
	print_object_open(p, NULL);
	fields_print(p, dev_fields, ARRAY_SIZE(dev_fields), &attrs);
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
