// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf plan diff: what each machine would have to be told to be as the plan says. In which
 * order this is safe is for plan apply.
 */
#include "apply.h"

/* The commands of one machine, those of all its jobs. */
static int diff_host(const struct target *target, struct print *out, int host, bool *differs)
{
	const struct ina_host *h = &target->now->hosts[host];
	struct ina_commands commands;
	bool any = false;

	for (int j = 0; j < target->now->n_jobs; j++) {
		if (ina_place_commands(target->now->jobs[j],
				       ina_cluster_place(target->now, j, host),
				       ina_cluster_place(target->goal, j, host), &commands))
			return error_print("out of memory");
		if (commands.n && !any) {
			print_object_open(out, NULL);
			print_string(out, "host", "", h->name);
			print_string(out, "where", " at ", h->where);
			print_text(out, "\n");
			print_array_open(out, "commands");
			any = true;
		}
		for (int i = 0; i < commands.n; i++) {
			print_string(out, NULL, "    ", commands.words[i]);
			print_text(out, "\n");
		}
		ina_commands_clear(&commands);
	}
	if (any) {
		print_array_close(out);
		print_object_close(out);
	}
	*differs |= any;
	return INACONF_OK;
}

static int diff_print(const struct target *target, struct print *out)
{
	bool differs = false;
	int ret = INACONF_OK;

	print_array_open(out, NULL);
	for (int h = 0; !ret && h < target->now->n_hosts; h++)
		ret = diff_host(target, out, h, &differs);
	print_array_close(out);
	if (!ret && !differs)
		print_text(out, "nothing differs\n");
	return ret;
}

int plan_diff(struct inaconf *ctx, int argc, char **argv)
{
	struct target target = { 0 };
	const struct keyword words[] = {
		{ "prune", KEYWORD_FLAG, &target.prune, 0, 0 },
	};
	int ret = target_parse(ctx, &target, words, ARRAY_SIZE(words), argc, argv);

	if (!ret)
		ret = target_survey(&target, target.plan);
	if (!ret)
		ret = diff_print(&target, &ctx->out);
	target_clear(&target);
	return ret;
}
