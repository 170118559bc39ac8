// SPDX-License-Identifier: GPL-2.0
/*
 * From a plan to what every machine is to be given. A node with nobody below it and no workers
 * would sum nothing: its machine gives the job up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

/* Does the setting @now of an option do for @wanted? */
static bool goal_option_matches(const char *key, const char *wanted, const char *now)
{
	double a, b;

	if (!strcmp(wanted, now))
		return true;
	if (!strcmp(wanted, "auto"))
		a = 0;
	else if (!strncmp(wanted, "0x", 2))
		a = (double)strtoull(wanted, NULL, 16);
	else if (!ina_doc_number(wanted, &a))
		return false;
	/* Decided by the first tree, and shown as the number it became. */
	if (!strcmp(key, "fragment") && !a)
		return true;
	return ina_doc_number(now, &b) && a == b;
}

/* The value of @key in options that are one text; false if it is not there. */
static bool goal_option_find(const char *options, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);
	const char *at = options;

	while (at) {
		const char *next = strchr(at, ' ');

		if (next && (size_t)(next - at) == length && !strncmp(at, key, length)) {
			snprintf(value, size, "%.*s", (int)strcspn(next + 1, " "), next + 1);
			return true;
		}
		/* Behind the keyword and its value. */
		at = next ? strchr(next + 1, ' ') : NULL;
		at += !!at;
	}
	return false;
}

/* Is everything that the plan says of a job so in @options? */
static bool goal_options_match(char *const *wanted, const char *options)
{
	char value[64];

	for (int i = 0; wanted[i] && wanted[i + 1]; i += 2) {
		if (!goal_option_find(options, wanted[i], value, sizeof(value)) ||
		    !goal_option_matches(wanted[i], wanted[i + 1], value))
			return false;
	}
	return true;
}

static char *goal_options_text(char *const *words)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (int i = 0; words[i]; i++)
		fprintf(file, "%s%s", i ? " " : "", words[i]);
	if (!fclose(file))
		return text;
	free(text);
	return NULL;
}

/*
 * Options for all machines of a job: those it has, if they are the same everywhere and do for
 * the plan, so that machines that come get what the others have; else those of the plan.
 */
static char *goal_options(const struct ina_cluster *now, int job, char *const *wanted)
{
	const char *first = NULL;

	for (int h = 0; h < now->n_hosts; h++) {
		const char *options = ina_cluster_place(now, job, h)->options;

		if (!options)
			continue;
		if (first ? strcmp(first, options) != 0 : !goal_options_match(wanted, options))
			return goal_options_text(wanted);
		first = options;
	}
	return first ? strdup(first) : goal_options_text(wanted);
}

static struct ina_addr goal_addr(const char *text)
{
	struct ina_addr addr = { "" };

	snprintf(addr.text, sizeof(addr.text), "%s", text);
	return addr;
}

static int goal_place(struct ina_place *place, const struct ina_plan_job *job, int node,
		      const char *options)
{
	const struct ina_plan_node *n = &job->nodes[node];

	place->options = strdup(options);
	place->tree = true;
	place->workers = n->workers;
	place->local = goal_addr(n->addr);
	if (n->parent >= 0)
		place->parent = goal_addr(job->nodes[n->parent].addr);
	return place->options ? 0 : -ENOMEM;
}

/* Children by their parents: one pass over the nodes, as their own order is the list's. */
static int goal_children(struct ina_cluster *goal, int j, const struct ina_plan_job *job,
			 const bool *used, const int *hosts)
{
	int ret = 0;

	for (int i = 0; !ret && i < job->n_nodes; i++) {
		const struct ina_plan_node *node = &job->nodes[i];
		struct ina_addr addr = goal_addr(node->addr);

		if (used[i] && node->parent >= 0)
			ret = ina_place_add_child(ina_cluster_place(goal, j, hosts[node->parent]),
						  &addr);
	}
	return ret;
}

static int goal_tree(struct ina_cluster *goal, int j, const struct ina_plan_job *job,
		     const char *options)
{
	bool *used = calloc((size_t)job->n_nodes, sizeof(*used));
	int *hosts = calloc((size_t)job->n_nodes, sizeof(*hosts));
	int ret = used && hosts ? 0 : -ENOMEM;

	if (!ret)
		ina_plan_used(job, used);
	for (int i = 0; !ret && i < job->n_nodes; i++) {
		hosts[i] = ina_cluster_find(goal, job->nodes[i].host);
		if (hosts[i] < 0)
			ret = -EINVAL;
		else if (used[i])
			ret = goal_place(ina_cluster_place(goal, j, hosts[i]), job, i, options);
	}
	if (!ret)
		ret = goal_children(goal, j, job, used, hosts);
	free(used);
	free(hosts);
	return ret;
}

/* Paths to neighbours that stay, or leave and come back, are the operator's. */
static int goal_paths(struct ina_cluster *goal, const struct ina_cluster *now, int j)
{
	int ret = 0;

	for (int h = 0; !ret && h < goal->n_hosts; h++) {
		const struct ina_place *from = ina_cluster_place(now, j, h);
		struct ina_place *to = ina_cluster_place(goal, j, h);

		if (from->tree && to->tree && !strcmp(from->options, to->options))
			ret = ina_place_copy_paths(to, from);
	}
	return ret;
}

static int goal_job(struct ina_cluster *goal, const struct ina_cluster *now,
		    const struct ina_plan_job *job)
{
	int ret, j = ina_cluster_job(goal, job->id);
	char *options = j < 0 ? NULL : goal_options(now, j, job->options);

	if (!options)
		return -ENOMEM;
	for (int h = 0; h < goal->n_hosts; h++)
		ina_place_clear(ina_cluster_place(goal, j, h));
	ret = goal_tree(goal, j, job, options);
	free(options);
	return ret ? ret : goal_paths(goal, now, j);
}

static void goal_prune(struct ina_cluster *goal, const struct ina_plan *plan)
{
	for (int j = 0; j < goal->n_jobs; j++) {
		int i = 0;

		while (i < plan->n_jobs && plan->jobs[i].id != goal->jobs[j])
			i++;
		for (int h = 0; i == plan->n_jobs && h < goal->n_hosts; h++)
			ina_place_clear(ina_cluster_place(goal, j, h));
	}
}

struct ina_cluster *ina_cluster_goal(const struct ina_cluster *now, const struct ina_plan *plan,
				     bool prune)
{
	struct ina_cluster *goal = ina_cluster_copy(now);
	int ret = goal ? 0 : -ENOMEM;

	for (int i = 0; !ret && i < plan->n_jobs; i++)
		ret = goal_job(goal, now, &plan->jobs[i]);
	if (!ret && prune)
		goal_prune(goal, plan);
	if (!ret)
		return goal;
	ina_cluster_destroy(goal);
	return NULL;
}
