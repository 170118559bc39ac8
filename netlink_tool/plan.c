// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf plan: trees for many machines at once. A plan is a file; what is done with it is one
 * file each.
 */
#include "apply.h"

static const char plan_help[] =
	"Usage: inaconf plan diff PLAN [from PLAN] [hook CMD] [timeout S] [prune]\n"
	"       inaconf plan apply PLAN [from PLAN] [hook CMD] [timeout S] [prune] [--dry-run]\n"
	"       inaconf plan load\n"
	"       inaconf plan watch PLAN [hook CMD] [timeout S] [interval S] [hold S]\n"
	"                          [high PERCENT] [low PERCENT] [count N]\n"
	"\n"
	"diff       what differs between a plan and what is configured\n"
	"apply      configure all machines as the plan says, or none\n"
	"load       how busy this machine is, as plan watch reads it\n"
	"watch      apply the plan, without aggregators that are under pressure, again and again\n"
	"\n"
	"PLAN       a file, - for standard input\n"
	"from       the plan until now: machines that are only in it end their part\n"
	"hook       runs CMD WHERE inaconf ... for machines that are no network namespace here\n"
	"timeout    seconds a machine has for an answer\n"
	"prune      jobs on these machines that are not in the plan end\n"
	"--dry-run  only print the steps\n"
	"interval   seconds between two looks\n"
	"hold       seconds that pressure, or its absence, must last\n"
	"high, low  percent of waiting for a processor at which pressure begins and ends\n"
	"count      looks, then end\n";

static int plan_usage(struct inaconf *ctx, int argc, char **argv)
{
	(void)ctx;
	(void)argc;
	(void)argv;
	fputs(plan_help, stderr);
	return INACONF_USAGE;
}

static const struct command plan_commands[] = {
	{ "diff", plan_diff },
	{ "apply", plan_apply },
	{ "load", plan_load },
	{ "watch", plan_watch },
	{ "help", NULL },
};

static const struct object plan_object = {
	.commands = WORDS(plan_commands),
	.fallback = plan_usage,
	.help = plan_help,
};

int plan_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&plan_object, ctx, argc, argv);
}
