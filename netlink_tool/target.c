// SPDX-License-Identifier: GPL-2.0
/*
 * What a plan is held against: the words that say which plan and which machines, the plan
 * checked before any machine is asked, and all machines asked before any is changed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"

#define TARGET_NUMBER_MAX	1e6

static int word_take(const struct plan_word *word, int argc, char **argv)
{
	double number;

	if (word->flag) {
		*word->flag = true;
		return INACONF_OK;
	}
	if (argc < 2)
		return error_usage("%s needs a value", word->keyword);
	if (word->text) {
		*word->text = argv[1];
		return INACONF_OK;
	}
	if (!ina_doc_number(argv[1], &number) || number <= 0 || number > TARGET_NUMBER_MAX)
		return error_usage("%s: \"%s\" is not a number above 0", word->keyword, argv[1]);
	*word->number = number;
	return INACONF_OK;
}

static int words_take(const struct words *words, int argc, char **argv)
{
	const struct plan_word *table = words->table;
	unsigned int seen = 0;

	for (int n = 0; n < argc;) {
		int ret, i = words_find(words, argv[n]);

		if (i < 0)
			return words_unknown(words, "word", argv[n]);
		if (seen & 1U << i)
			return error_usage("%s is given twice", argv[n]);
		seen |= 1U << i;
		ret = word_take(&table[i], argc - n, argv + n);
		if (ret)
			return ret;
		n += table[i].flag ? 1 : 2;
	}
	return INACONF_OK;
}

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
	struct ina_doc_error err;

	*plan = ina_plan_read(path, &err);
	return *plan ? INACONF_OK : error_usage("%s", err.text);
}

static int target_check(const struct ina_plan *plan)
{
	int ret = INACONF_OK;

	for (int i = 0; !ret && i < plan->n_jobs; i++)
		ret = job_check(plan->jobs[i].id, plan->jobs[i].options);
	return ret;
}

int target_parse(struct target *target, const struct plan_word *more, size_t n_more, int argc,
		 char **argv)
{
	const char *hook = NULL;
	const struct plan_word common[] = {
		{ "hook", &hook, NULL, NULL },
		{ "timeout", NULL, &target->reach.timeout, NULL },
		{ "from", &target->from, NULL, NULL },
	};
	struct plan_word table[16];
	struct words words = { table, ARRAY_SIZE(common) + n_more, sizeof(table[0]) };
	int ret;

	memcpy(table, common, sizeof(common));
	memcpy(table + ARRAY_SIZE(common), more, n_more * sizeof(*more));
	target->reach.timeout = TARGET_TIMEOUT;
	if (!argc)
		return error_usage("PLAN is required: a file, or - for standard input");
	target->path = argv[0];
	ret = words_take(&words, argc - 1, argv + 1);
	if (!ret && hook)
		ret = target_hook(target, hook);
	if (!ret)
		ret = target_read(target->path, &target->plan);
	if (!ret && target->from)
		ret = target_read(target->from, &target->former);
	return ret ? ret : target_check(target->plan);
}

/* A child that is no machine of the plan is let go, but keeps what it has: say so. */
static void target_strangers(const struct target *target, int job, int host)
{
	const struct ina_cluster *now = target->now;
	const struct ina_place *place = ina_cluster_place(now, job, host);

	for (int i = 0; i < place->n_children; i++) {
		int h = 0;

		while (h < now->n_hosts && !ina_addr_equal(&ina_cluster_place(now, job, h)->local,
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
	struct ina_doc_error err;

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
	struct ina_doc_error err;

	ina_cluster_destroy(target->now);
	ina_cluster_destroy(target->goal);
	target->goal = NULL;
	target->now = ina_cluster_create(plan, target->former, &err);
	if (!target->now)
		return error_usage("%s: %s", target->path, err.text);
	for (int h = 0; h < target->now->n_hosts; h++) {
		if (survey_host(&target->reach, target->now, h, target->prune, &err))
			return error_print("%s", err.text);
	}
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
