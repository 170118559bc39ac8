// SPDX-License-Identifier: GPL-2.0
/*
 * What a plan is held against: the words that say which plan and which machines, the plan
 * checked before any machine is asked, and all machines asked before any is changed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"

#define TARGET_SECONDS_MAX	1e6
#define TARGET_WORDS_MAX	16

/* The words of the hook; like those of a shell, but nothing in them is special. */
static int target_hook(struct target *target, const char *text)
{
	char *copy = strdup(text), *rest = NULL, *word;
	size_t n = 0;

	target->reach.hook = calloc(strlen(text) / 2 + 2, sizeof(char *));
	if (!copy || !target->reach.hook) {
		free(copy);
		return error_print("out of memory");
	}
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		target->reach.hook[n] = strdup(word);
		if (!target->reach.hook[n++])
			break;
	}
	free(copy);
	return n ? INACONF_OK : error_usage("hook: no command");
}

static int target_read(const char *path, struct ina_plan **plan)
{
	struct ina_doc_error err = { "" };

	*plan = ina_plan_read(path, &err);
	return *plan ? INACONF_OK : error_usage("%s", err.text);
}

/* Would `job add` take the options of all jobs? Nobody is asked. */
static int target_check(struct inaconf *ctx, const struct ina_plan *plan)
{
	int ret = INACONF_OK;

	for (int i = 0; !ret && i < plan->n_jobs; i++) {
		const struct ina_plan_job *job = &plan->jobs[i];
		char id[16], *argv[2 * TARGET_WORDS_MAX] = { id };
		int argc = 1;

		snprintf(id, sizeof(id), "%" PRIu32, job->id);
		for (; job->options[argc - 1] && (size_t)argc < ARRAY_SIZE(argv); argc++)
			argv[argc] = job->options[argc - 1];
		if (args_parse(&job_add_params, argc, argv,
			       nl_request(&ctx->nl, INA_CMD_JOB_ADD), NULL))
			ret = error_usage("job %" PRIu32 " of the plan has wrong options", job->id);
	}
	return ret;
}

int target_parse(struct inaconf *ctx, struct target *target, const struct keyword *more,
		 size_t n_more, int argc, char **argv)
{
	const char *hook = NULL;
	const struct keyword common[] = {
		{ "hook", KEYWORD_TEXT, &hook, 0, 0 },
		{ "timeout", KEYWORD_NUMBER, &target->reach.timeout, 0.001, TARGET_SECONDS_MAX },
		{ "from", KEYWORD_TEXT, &target->from, 0, 0 },
	};
	struct keyword table[TARGET_WORDS_MAX];
	struct words words = { table, ARRAY_SIZE(common) + n_more, sizeof(table[0]) };
	int ret;

	memcpy(table, common, sizeof(common));
	memcpy(table + ARRAY_SIZE(common), more, n_more * sizeof(*more));
	target->reach.timeout = TARGET_TIMEOUT;
	if (!argc)
		return error_usage("PLAN is required: a file, or - for standard input");
	target->path = argv[0];
	ret = keywords_parse(&words, argc - 1, argv + 1);
	if (!ret && hook)
		ret = target_hook(target, hook);
	if (!ret)
		ret = target_read(target->path, &target->plan);
	if (!ret && target->from)
		ret = target_read(target->from, &target->former);
	return ret ? ret : target_check(ctx, target->plan);
}

int target_reread(struct inaconf *ctx, struct target *target)
{
	struct ina_plan *plan;
	int ret = target_read(target->path, &plan);

	if (!ret)
		ret = target_check(ctx, plan);
	if (ret) {
		ina_plan_destroy(plan);
		return ret;
	}
	ina_plan_destroy(target->plan);
	target->plan = plan;
	return INACONF_OK;
}

/* A child that is no machine of the plan is let go, but keeps what it has: say so. */
static void target_strangers(const struct target *target, int job, int host)
{
	const struct ina_cluster *now = target->now;
	const struct ina_place *place = ina_cluster_place(now, job, host);

	for (int i = 0; i < place->n_children; i++) {
		int h = 0;

		while (h < now->n_hosts &&
		       !ina_addr_equal(&ina_cluster_place(now, job, h)->local,
				       &place->children[i]) &&
		       !ina_addr_equal(&ina_cluster_place(target->goal, job, h)->local,
				       &place->children[i]))
			h++;
		if (h == now->n_hosts &&
		    !ina_place_has_child(ina_cluster_place(target->goal, job, host),
					 &place->children[i]))
			fprintf(stderr, "Warning: job %" PRIu32 ": %s, a child of %s, is no machine "
				"of the plan: its own configuration stays\n", now->jobs[job],
				place->children[i].text, now->hosts[host].name);
	}
}

static int target_goal(struct target *target, const struct ina_plan *plan)
{
	struct ina_doc_error err = { "" };

	target->goal = ina_cluster_goal(target->now, plan, target->prune);
	if (!target->goal)
		return error_print("out of memory");
	for (int j = 0; j < target->now->n_jobs; j++) {
		for (int h = 0; h < target->now->n_hosts; h++)
			target_strangers(target, j, h);
	}
	if (ina_steps_check(target->now, target->goal, &err))
		return error_print("%s", err.text);
	return INACONF_OK;
}

int target_survey(struct target *target, const struct ina_plan *plan)
{
	struct ina_doc_error err = { "" };

	ina_cluster_destroy(target->now);
	ina_cluster_destroy(target->goal);
	target->goal = NULL;
	target->now = ina_cluster_create(plan, target->former, &err);
	if (!target->now)
		return error_usage("%s: %s", target->path, err.text);
	if (survey_all(&target->reach, target->now, target->prune, &err))
		return error_print("%s", err.text);
	return target_goal(target, plan);
}

void target_clear(struct target *target)
{
	for (int i = 0; target->reach.hook && target->reach.hook[i]; i++)
		free(target->reach.hook[i]);
	free(target->reach.hook);
	ina_plan_destroy(target->plan);
	ina_plan_destroy(target->former);
	ina_cluster_destroy(target->now);
	ina_cluster_destroy(target->goal);
}
