/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the planner's tests share about plans: read from a text, written and read again, and
 * looked at.
 */
#ifndef INA_SELFTESTS_PLAN_PLANS_H
#define INA_SELFTESTS_PLAN_PLANS_H

#include "ktap.h"
#include "plan.h"

__attribute__((unused))
static struct ina_plan *plan_parse(const char *text, size_t size, struct ina_doc_error *err)
{
	struct ina_doc *doc = ina_doc_parse("f", text, size, err);
	struct ina_plan *plan = doc ? ina_plan_from(doc, err) : NULL;

	ina_doc_destroy(doc);
	return plan;
}

/* A plan of the test itself. */
__attribute__((unused))
static struct ina_plan *plan_of(const char *text)
{
	struct ina_doc_error err;
	struct ina_plan *plan = plan_parse(text, strlen(text), &err);

	if (!plan) {
		printf("# %s\n", err.text);
		abort();
	}
	return plan;
}

__attribute__((unused))
static char *plan_written(const struct ina_plan *plan, size_t *size)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, size);

	if (!file || ina_plan_write(plan, file) || fclose(file))
		abort();
	return text;
}

/* Written and read again; the reader refuses what is no tree. NULL if it does. */
__attribute__((unused))
static struct ina_plan *plan_again(const struct ina_plan *plan)
{
	struct ina_doc_error err;
	size_t size;
	char *text = plan_written(plan, &size);
	struct ina_plan *again = plan_parse(text, size, &err);

	if (!again)
		printf("# %s\n", err.text);
	free(text);
	return again;
}

__attribute__((unused))
static int plan_children(const struct ina_plan_job *job, int node)
{
	int n = 0;

	for (int i = 0; i < job->n_nodes; i++)
		n += job->nodes[i].parent == node;
	return n;
}

#endif
