// SPDX-License-Identifier: GPL-2.0
/*
 * How good can a forest be? Branch and bound gives the answer for few jobs; for many, a
 * bound does: jobs that all need a unit of one group of switches cannot be more than the
 * group has units.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "forest_impl.h"

#define INA_EXACT_WORK	1000000000L

/**
 * struct ina_exact - a search under way
 * @forest: whose trees, changed while searching
 * @order: numbers of the jobs, those with the fewest candidates first
 * @before: tree of each of them that is to be kept
 * @pick: candidate of each of them, INA_TOPO_NONE for none of its own
 * @best: the same in the best solution so far
 * @n: how many
 * @value: of @best: jobs with a tree of their own times (n + 1), and one for each tree kept
 * @bound: no solution has more trees of their own
 * @steps: left
 */
struct ina_exact {
	struct ina_forest *forest;
	int *order;
	int *before;
	int *pick;
	int *best;
	int n;
	long value;
	int bound;
	long steps;
};

static void ina_exact_units(struct ina_exact *exact, int i, int t, int by)
{
	const struct ina_forest_job *job = &exact->forest->jobs[exact->order[i]];
	int k;

	for (k = ina_forest_count(job, t) - 1; k >= 0; k--)
		exact->forest->resources[ina_forest_at(job, t, k)].own += by;
}

/* Jobs from the @i-th on that could still get a tree of their own, each by itself. */
static int ina_exact_hope(const struct ina_exact *exact, int i)
{
	int hope = 0, t;

	for (; i < exact->n; i++) {
		int trees = exact->forest->jobs[exact->order[i]].candidates.n;

		for (t = 0; t < trees && !ina_forest_fits(exact->forest, exact->order[i], t); t++)
			;
		hope += t < trees;
	}
	return hope;
}

static void ina_exact_search(struct ina_exact *exact, int i, int own, long value)
{
	int trees, hope, k;

	if (value > exact->value) {
		exact->value = value;
		memcpy(exact->best, exact->pick, (size_t)exact->n * sizeof(int));
	}
	if (i == exact->n || exact->steps-- <= 0)
		return;
	hope = ina_exact_hope(exact, i);
	if (hope > exact->bound - own)
		hope = exact->bound - own;
	if (value + hope * (exact->n + 2L) <= exact->value)
		return;
	/* The tree it has comes first: no change. */
	trees = exact->forest->jobs[exact->order[i]].candidates.n;
	for (k = exact->before[i] >= 0 ? -1 : 0; k < trees; k++) {
		int t = k < 0 ? exact->before[i] : k;

		if ((k >= 0 && t == exact->before[i]) ||
		    !ina_forest_fits(exact->forest, exact->order[i], t))
			continue;
		ina_exact_units(exact, i, t, 1);
		exact->pick[i] = t;
		ina_exact_search(exact, i + 1, own + 1,
				 value + exact->n + 1 + (t == exact->before[i]));
		exact->pick[i] = INA_TOPO_NONE;
		ina_exact_units(exact, i, t, -1);
	}
	ina_exact_search(exact, i + 1, own, value);
}

static int ina_exact_compare(const void *a, const void *b, void *forest)
{
	const struct ina_forest_job *jobs = ((const struct ina_forest *)forest)->jobs;
	int x = *(const int *)a, y = *(const int *)b;

	return jobs[x].candidates.n != jobs[y].candidates.n ?
		jobs[x].candidates.n - jobs[y].candidates.n : x - y;
}

/* All jobs that have candidates; what they have now is the first solution. */
static bool ina_exact_start(struct ina_exact *exact)
{
	struct ina_forest *forest = exact->forest;
	size_t room = (size_t)forest->n_jobs + 1;
	int i, n = 0;

	exact->order = calloc(4 * room, sizeof(int));
	if (!exact->order)
		return false;
	exact->before = exact->order + room;
	exact->pick = exact->before + room;
	exact->best = exact->pick + room;
	for (i = 0; i < forest->n_jobs; i++)
		if (forest->jobs[i].used && forest->jobs[i].candidates.n)
			exact->order[n++] = i;
	exact->n = n;
	qsort_r(exact->order, (size_t)n, sizeof(int), ina_exact_compare, forest);
	for (i = 0; i < n; i++) {
		const struct ina_forest_job *job = &forest->jobs[exact->order[i]];

		exact->before[i] = job->home;
		exact->pick[i] = INA_TOPO_NONE;
		exact->best[i] = job->kind == INA_FOREST_OWN ? job->tree : INA_TOPO_NONE;
		exact->value += exact->best[i] < 0 ? 0 :
				n + 1L + (job->home == job->tree);
		ina_forest_set(forest, exact->order[i], INA_TOPO_NONE, INA_FOREST_NONE);
	}
	return true;
}

/* The best solution becomes the forest; who shares keeps the tree it had if it can. */
static void ina_exact_end(struct ina_exact *exact)
{
	int i;

	for (i = 0; i < exact->n; i++)
		if (exact->best[i] >= 0)
			ina_forest_set(exact->forest, exact->order[i], exact->best[i],
				       INA_FOREST_OWN);
	for (i = 0; i < exact->n; i++)
		if (exact->best[i] < 0 && exact->before[i] >= 0)
			ina_forest_set(exact->forest, exact->order[i], exact->before[i],
				       INA_FOREST_SHARED);
	ina_forest_rest(exact->forest);
	ina_forest_commit(exact->forest);
}

/* Steps that take about a second: each looks at every candidate. */
static long ina_exact_steps(const struct ina_forest *forest)
{
	long work = 1;
	int i, t;

	for (i = 0; i < forest->n_jobs; i++)
		for (t = 0; t < forest->jobs[i].candidates.n; t++)
			work += 1 + ina_forest_count(&forest->jobs[i], t);
	return 1 + INA_EXACT_WORK / work;
}

int ina_forest_solve(struct ina_forest *forest, long steps)
{
	struct ina_exact exact = {
		.forest = forest, .steps = steps ? steps : ina_exact_steps(forest),
	};
	int i;

	for (i = 0; forest->plan != INA_FOREST_FIRST && i < forest->n_jobs; i++) {
		if (forest->jobs[i].kind == INA_FOREST_OWN || !forest->jobs[i].candidates.n)
			continue;
		ina_forest_arrange(forest, i);
		forest->n_log = 0;
	}
	exact.bound = ina_forest_bound(forest);
	if (exact.bound < 0 || !ina_exact_start(&exact))
		return -ENOMEM;
	ina_exact_search(&exact, 0, 0, 0);
	ina_exact_end(&exact);
	free(exact.order);
	return exact.steps > 0;
}

/**
 * struct ina_exact_class - switches, or links up from switches, of the same level and place
 * @capacity: units of all
 * @need: jobs left that need a unit of it in every candidate
 */
struct ina_exact_class {
	long capacity;
	int need;
};

static const struct ina_topo_node *ina_exact_node(const struct ina_forest *forest, int resource)
{
	const struct ina_topo *topo = forest->topo;

	return &topo->nodes[resource < topo->n_nodes ? resource :
			    topo->links[resource - topo->n_nodes].a];
}

static int ina_exact_class_compare(const void *a, const void *b, void *data)
{
	const struct ina_forest *forest = data;
	int x = *(const int *)a, y = *(const int *)b;
	const struct ina_topo_node *p = ina_exact_node(forest, x), *q = ina_exact_node(forest, y);

	if ((x < forest->topo->n_nodes) != (y < forest->topo->n_nodes))
		return x - y;
	if (p->level != q->level)
		return p->level - q->level;
	if (p->pod != q->pod)
		return p->pod - q->pod;
	return p->rack - q->rack;
}

/* Find the class of every resource, once. 0 or -ENOMEM. */
static int ina_exact_classes(struct ina_forest *forest)
{
	int *order, n = 0, i;

	if (forest->class_of)
		return 0;
	forest->class_of = calloc((size_t)forest->n_resources + 1, sizeof(int));
	order = calloc((size_t)forest->n_resources + 1, sizeof(int));
	if (!order || !forest->class_of) {
		free(order);
		free(forest->class_of);
		forest->class_of = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < forest->n_resources; i++)
		order[i] = i;
	qsort_r(order, (size_t)forest->n_resources, sizeof(int), ina_exact_class_compare, forest);
	for (i = 0; i < forest->n_resources; i++) {
		if (i && ina_exact_class_compare(&order[i - 1], &order[i], forest))
			n++;
		forest->class_of[order[i]] = n;
	}
	forest->n_classes = n + 1;
	free(order);
	return 0;
}

/*
 * Classes that all candidates of a job need a unit of, to @list; their number. @times has
 * an entry per class, 0 before and after.
 */
static int ina_exact_needs(const struct ina_forest_job *job, const int *class_of, int *times,
			   int *list)
{
	int t, i, n = 0, trees = job->candidates.n;

	for (t = 0; t < trees; t++)
		for (i = ina_forest_count(job, t) - 1; i >= 0; i--) {
			int c = class_of[ina_forest_at(job, t, i)];

			if (times[c] != t)
				continue;
			times[c] = t + 1;
			if (t == trees - 1)
				list[n++] = c;
		}
	for (t = 0; t < trees; t++)
		for (i = ina_forest_count(job, t) - 1; i >= 0; i--)
			times[class_of[ina_forest_at(job, t, i)]] = 0;
	return n;
}

/*
 * Cover the jobs by classes, each job by one: a class of c units lets at most c of its jobs
 * in. The class with the largest surplus comes first.
 */
static int ina_exact_cover(const struct ina_forest *forest, struct ina_exact_class *classes,
			   int **needs, int *n_needs)
{
	int n = forest->n_classes, bound = 0, i, k, c, worst;

	for (i = 0; i < forest->n_jobs; i++)
		bound += n_needs[i] >= 0;
	for (;;) {
		for (worst = -1, c = 0; c < n; c++)
			if (classes[c].need > classes[c].capacity &&
			    (worst < 0 || classes[c].need - classes[c].capacity >
			     classes[worst].need - classes[worst].capacity))
				worst = c;
		if (worst < 0)
			return bound;
		bound -= classes[worst].need - (int)classes[worst].capacity;
		for (i = 0; i < forest->n_jobs; i++) {
			for (k = 0; k < n_needs[i] && needs[i][k] != worst; k++)
				;
			if (k >= n_needs[i])
				continue;
			for (k = 0; k < n_needs[i]; k++)
				classes[needs[i][k]].need--;
			n_needs[i] = 0;
		}
	}
}

/* Which classes every job needs, and how many need each class. 0 or -ENOMEM. */
static int ina_exact_count(struct ina_forest *forest, struct ina_exact_class *classes,
			   int *scratch, int **needs, int *n_needs)
{
	int *list = scratch + forest->n_classes, i, k;

	for (i = 0; i < forest->n_resources; i++)
		classes[forest->class_of[i]].capacity += forest->resources[i].capacity;
	for (i = 0; i < forest->n_jobs; i++) {
		const struct ina_forest_job *job = &forest->jobs[i];

		n_needs[i] = -1;
		if (!job->used || !job->candidates.n)
			continue;
		n_needs[i] = ina_exact_needs(job, forest->class_of, scratch, list);
		needs[i] = calloc((size_t)n_needs[i] + 1, sizeof(int));
		if (!needs[i])
			return -ENOMEM;
		memcpy(needs[i], list, (size_t)n_needs[i] * sizeof(int));
		for (k = 0; k < n_needs[i]; k++)
			classes[list[k]].need++;
	}
	return 0;
}

int ina_forest_bound(struct ina_forest *forest)
{
	int **needs = calloc((size_t)forest->n_jobs + 1, sizeof(*needs));
	int *n_needs = calloc((size_t)forest->n_jobs + 1, sizeof(int));
	int err = ina_exact_classes(forest), bound = -ENOMEM, i;
	struct ina_exact_class *classes;
	int *scratch;

	classes = calloc((size_t)forest->n_classes + 1, sizeof(*classes));
	scratch = calloc(2 * (size_t)forest->n_classes + 1, sizeof(int));
	if (!err && needs && n_needs && classes && scratch &&
	    !ina_exact_count(forest, classes, scratch, needs, n_needs))
		bound = ina_exact_cover(forest, classes, needs, n_needs);
	for (i = 0; needs && i < forest->n_jobs; i++)
		free(needs[i]);
	free(scratch);
	free(classes);
	free(n_needs);
	free(needs);
	return bound;
}
