// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf configures in-network gradient aggregation in this or another
 * network namespace. Here: the options before the object, and which file the
 * rest of the line goes to.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "inaconf.h"

#ifndef INACONF_VERSION
#define INACONF_VERSION	"unknown"
#endif

#define NETNS_DIR	"/var/run/netns"

static const char inaconf_usage[] =
	"Usage: inaconf [OPTIONS] OBJECT [COMMAND] [ARGUMENTS]\n"
	"       inaconf OBJECT help\n"
	"\n"
	"OBJECT     job      what is summed\n"
	"           tree     the place of this machine in the tree of a job\n"
	"           dev      devices whose packets are taken at ingress, and their rates\n"
	"           path     the ways to a parent or child\n"
	"           qdisc    the queueing discipline that lets packets leave at their time\n"
	"           stats    counters\n"
	"           monitor  events as they happen\n"
	"           topo     the machines, switches and links of a cluster\n"
	"           plan     who aggregates for whom\n"
	"\n"
	"OPTIONS    -j, --json         JSON instead of text\n"
	"           -p, --pretty       JSON with line breaks\n"
	"           -n, --netns NETNS  in this network namespace (name or path)\n"
	"           -V, --version      print the version\n"
	"           -h, --help         print this\n";

static int inaconf_help(struct inaconf *ctx, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs(inaconf_usage, ctx->out.file);
	return INACONF_OK;
}

static const struct command objects[] = {
	{ "job", job_run },
	{ "tree", tree_run },
	{ "dev", dev_run },
	{ "path", path_run },
	{ "qdisc", qdisc_run },
	{ "stats", stats_run },
	{ "monitor", monitor_run },
	{ "topo", topo_run },
	{ "plan", plan_run },
	{ "help", inaconf_help },
};

static const struct words object_words = WORDS(objects);

static int inaconf_version(struct inaconf *ctx, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs("inaconf " INACONF_VERSION "\n", ctx->out.file);
	return INACONF_OK;
}

/* A name is looked up where ip-netns(8) keeps them, a path taken as it is. */
static int netns_enter(const char *netns)
{
	char path[4096];
	int fd, len, ret = INACONF_OK;

	len = snprintf(path, sizeof(path), "%s%s%s", strchr(netns, '/') ? "" : NETNS_DIR,
		       strchr(netns, '/') ? "" : "/", netns);
	if (!*netns || len < 0 || (size_t)len >= sizeof(path))
		return error_usage("\"%s\" is not the name of a network namespace", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_print("cannot open the network namespace \"%s\": %s", netns,
				   strerror(errno));
	if (setns(fd, CLONE_NEWNET) < 0)
		ret = error_print("cannot enter the network namespace \"%s\": %s", netns,
				  strerror(errno));
	close(fd);
	return ret;
}

static int inaconf_run(struct inaconf *ctx, int argc, char **argv)
{
	int i;

	if (!argc) {
		fputs(inaconf_usage, stderr);
		return INACONF_USAGE;
	}
	i = words_find(&object_words, argv[0]);
	if (i < 0)
		return words_unknown(&object_words, "object", argv[0]);
	return objects[i].run(ctx, argc - 1, argv + 1);
}

/* Read the options; *run is what they ask for, *netns where. */
static int inaconf_options(struct inaconf *ctx, int argc, char **argv, const char **netns,
			   int (**run)(struct inaconf *ctx, int argc, char **argv))
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "netns", required_argument, NULL, 'n' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "+jpn:Vh", options, NULL)) != -1) {
		switch (option) {
		case 'j':
			ctx->out.json = true;
			break;
		case 'p':
			ctx->out.pretty = true;
			break;
		case 'n':
			*netns = optarg;
			break;
		case 'V':
			*run = inaconf_version;
			break;
		case 'h':
			*run = inaconf_help;
			break;
		default:
			fputs(inaconf_usage, stderr);
			return INACONF_USAGE;
		}
	}
	return INACONF_OK;
}

int main(int argc, char **argv)
{
	struct inaconf ctx = { .out.file = stdout };
	int (*run)(struct inaconf *ctx, int argc, char **argv) = inaconf_run;
	const char *netns = NULL;
	int ret;

	ret = inaconf_options(&ctx, argc, argv, &netns, &run);
	if (!ret && netns)
		ret = netns_enter(netns);
	if (!ret)
		ret = nl_init(&ctx.nl);
	if (!ret)
		ret = run(&ctx, argc - optind, argv + optind);
	nl_exit(&ctx.nl);
	return ret ? ret : print_flush(&ctx.out);
}
