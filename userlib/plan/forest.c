// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the trees of all running jobs: who takes units of what. Which tree a job gets is
 * found in settle.c; every change it makes is logged here and can be taken back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forest_impl.h"

static int ina_forest_fill(struct ina_forest *forest, bool every)
{
	const struct ina_topo *topo = forest->topo;
	int i;

	forest->graph = ina_candidate_create(topo, every);
	forest->n_resources = topo->n_nodes + topo->n_links;
	forest->resources = calloc((size_t)forest->n_resources + 1, sizeof(*forest->resources));
	if (!forest->graph || !forest->resources)
		return -ENOMEM;
	for (i = 0; i < topo->n_nodes; i++)
		forest->resources[i].capacity = topo->nodes[i].capacity;
	for (i = 0; i < topo->n_links; i++)
		forest->resources[topo->n_nodes + i].capacity = topo->links[i].capacity;
	return 0;
}

struct ina_forest *ina_forest_create(const struct ina_topo *topo, enum ina_forest_plan plan,
				     bool every, int candidates)
{
	struct ina_forest *forest;

	if (candidates < 1) {
		errno = EINVAL;
		return NULL;
	}
	forest = calloc(1, sizeof(*forest));
	if (!forest)
		return NULL;
	forest->topo = topo;
	forest->plan = plan;
	forest->limit = candidates;
	if (!ina_forest_fill(forest, every))
		return forest;
	ina_forest_destroy(forest);
	errno = ENOMEM;
	return NULL;
}

static void ina_forest_free_job(struct ina_forest_job *job)
{
	free(job->hosts);
	ina_candidate_clear(&job->candidates);
	memset(job, 0, sizeof(*job));
}

void ina_forest_destroy(struct ina_forest *forest)
{
	int i;

	if (!forest)
		return;
	for (i = 0; i < forest->n_jobs; i++)
		ina_forest_free_job(&forest->jobs[i]);
	for (i = 0; forest->resources && i < forest->n_resources; i++)
		free(forest->resources[i].jobs);
	ina_candidate_destroy(forest->graph);
	free(forest->resources);
	free(forest->jobs);
	free(forest->log);
	free(forest->class_of);
	free(forest);
}

static void ina_forest_leave(struct ina_forest *forest, int number)
{
	struct ina_forest_job *job = &forest->jobs[number];
	int i, k;

	if (job->kind == INA_FOREST_NONE)
		return;
	for (i = ina_forest_count(job, job->tree) - 1; i >= 0; i--) {
		struct ina_forest_resource *r =
			&forest->resources[ina_forest_at(job, job->tree, i)];

		r->own -= job->kind == INA_FOREST_OWN;
		for (k = 0; r->jobs[k] != number; k++)
			;
		r->jobs[k] = r->jobs[--r->n];
	}
	forest->n_own -= job->kind == INA_FOREST_OWN;
	job->kind = INA_FOREST_NONE;
	job->tree = INA_TOPO_NONE;
}

static void ina_forest_enter(struct ina_forest *forest, int number, int tree,
			     enum ina_forest_kind kind)
{
	struct ina_forest_job *job = &forest->jobs[number];
	int i;

	ina_forest_leave(forest, number);
	if (kind == INA_FOREST_NONE)
		return;
	for (i = ina_forest_count(job, tree) - 1; i >= 0; i--) {
		struct ina_forest_resource *r = &forest->resources[ina_forest_at(job, tree, i)];

		r->own += kind == INA_FOREST_OWN;
		r->jobs[r->n++] = number;
	}
	forest->n_own += kind == INA_FOREST_OWN;
	job->kind = kind;
	job->tree = tree;
}

void ina_forest_set(struct ina_forest *forest, int number, int tree, enum ina_forest_kind kind)
{
	struct ina_forest_job *job = &forest->jobs[number];

	if (job->tree == tree && job->kind == kind)
		return;
	forest->log[forest->n_log++] = (struct ina_forest_change){ number, job->tree, job->kind };
	ina_forest_enter(forest, number, tree, kind);
}

void ina_forest_undo(struct ina_forest *forest, int mark)
{
	while (forest->n_log > mark) {
		const struct ina_forest_change *change = &forest->log[--forest->n_log];

		ina_forest_enter(forest, change->job, change->tree, change->kind);
	}
}

/* The tree it had before, if that fits again. */
static bool ina_forest_return(struct ina_forest *forest, int number)
{
	struct ina_forest_job *job = &forest->jobs[number];
	int tree = job->tree;

	if (job->kind != INA_FOREST_OWN || job->home < 0 || job->home == tree)
		return false;
	ina_forest_leave(forest, number);
	if (ina_forest_fits(forest, number, job->home))
		tree = job->home;
	ina_forest_enter(forest, number, tree, INA_FOREST_OWN);
	return tree == job->home;
}

void ina_forest_commit(struct ina_forest *forest)
{
	bool again;
	int i;

	do {
		for (again = false, i = 0; i < forest->n_jobs; i++)
			again |= ina_forest_return(forest, i);
	} while (again);
	for (i = 0; i < forest->n_jobs; i++) {
		struct ina_forest_job *job = &forest->jobs[i];

		job->moves += job->home >= 0 && job->tree >= 0 && job->home != job->tree;
		job->home = job->tree;
	}
	forest->n_log = 0;
}

/* Every resource of the job has room for one more in its list. 0 or -ENOMEM. */
static int ina_forest_want(struct ina_forest *forest, const struct ina_forest_job *job, int by)
{
	const struct ina_candidates *c = &job->candidates;
	int end = c->n_common + (c->n ? c->start[c->n] : 0), i;

	for (i = 0; i < end; i++) {
		int at = i < c->n_common ? c->common[i] : c->rest[i - c->n_common];
		struct ina_forest_resource *r = &forest->resources[at];

		r->wanted += by;
		if (r->wanted > r->room) {
			int *jobs = reallocarray(r->jobs, 2 * (size_t)r->wanted, sizeof(int));

			if (!jobs)
				break;
			r->jobs = jobs;
			r->room = 2 * r->wanted;
		}
	}
	if (i == end)
		return 0;
	for (; i >= 0; i--)
		forest->resources[i < c->n_common ? c->common[i] :
				  c->rest[i - c->n_common]].wanted -= by;
	return -ENOMEM;
}

/* A free number, with room for the changes a search can make. Or -ENOMEM. */
static int ina_forest_number(struct ina_forest *forest)
{
	struct ina_forest_change *log;
	struct ina_forest_job *jobs;
	int i, room, room_log;

	for (i = 0; i < forest->n_jobs && forest->jobs[i].used; i++)
		;
	if (i < forest->room_jobs)
		return i;
	room = forest->room_jobs ? 2 * forest->room_jobs : 64;
	jobs = reallocarray(forest->jobs, (size_t)room, sizeof(*jobs));
	if (!jobs)
		return -ENOMEM;
	forest->jobs = jobs;
	room_log = 5 * room + 4 * INA_FOREST_STEPS + 64;
	log = reallocarray(forest->log, (size_t)room_log, sizeof(*log));
	if (!log)
		return -ENOMEM;
	forest->log = log;
	forest->room_log = room_log;
	forest->room_jobs = room;
	return i;
}

int ina_forest_enlist(struct ina_forest *forest, const int *hosts, int n)
{
	struct ina_forest_job job = { .used = true, .tree = INA_TOPO_NONE, .home = INA_TOPO_NONE,
				      .n_hosts = n };
	int number = ina_forest_number(forest), err;

	if (number < 0)
		return number;
	err = ina_candidate_build(forest->graph, hosts, n, forest->limit, &job.candidates);
	if (err)
		return err;
	job.hosts = calloc((size_t)n, sizeof(int));
	if (!job.hosts || ina_forest_want(forest, &job, 1)) {
		ina_forest_free_job(&job);
		return -ENOMEM;
	}
	memcpy(job.hosts, hosts, (size_t)n * sizeof(int));
	ina_forest_first(forest, &job);
	forest->jobs[number] = job;
	if (number == forest->n_jobs)
		forest->n_jobs++;
	return number;
}

int ina_forest_add(struct ina_forest *forest, const int *hosts, int n)
{
	int number = ina_forest_enlist(forest, hosts, n);

	if (number < 0)
		return number;
	ina_forest_arrange(forest, number);
	ina_forest_commit(forest);
	return number;
}

void ina_forest_give(struct ina_forest *forest, int number, int index)
{
	ina_forest_enter(forest, number, index, ina_forest_fits(forest, number, index) ?
			 INA_FOREST_OWN : INA_FOREST_SHARED);
	forest->jobs[number].home = index;
}

void ina_forest_reserve(struct ina_forest *forest, int resource)
{
	if (forest->resources[resource].capacity > 0)
		forest->resources[resource].capacity--;
}

int ina_forest_remove(struct ina_forest *forest, int number)
{
	struct ina_forest_job *job;

	if (number < 0 || number >= forest->n_jobs || !forest->jobs[number].used)
		return -EINVAL;
	job = &forest->jobs[number];
	ina_forest_first_units(forest, job, -1);
	ina_forest_leave(forest, number);
	ina_forest_want(forest, job, -1);
	ina_forest_free_job(job);
	job->tree = job->home = INA_TOPO_NONE;
	if (forest->plan != INA_FOREST_FIRST) {
		ina_forest_settle_rest(forest);
		ina_forest_commit(forest);
	}
	return 0;
}

int ina_forest_own(const struct ina_forest *forest)
{
	return forest->n_own;
}

int ina_forest_capacity(const struct ina_forest *forest, int resource)
{
	return forest->resources[resource].capacity;
}

int ina_forest_candidates(const struct ina_forest *forest, int job)
{
	return forest->jobs[job].candidates.n;
}

int ina_forest_resources(const struct ina_forest *forest, int number, int index, int **list)
{
	const struct ina_forest_job *job = &forest->jobs[number];
	int count = ina_forest_count(job, index), i;

	*list = calloc((size_t)count + 1, sizeof(int));
	if (!*list)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		(*list)[i] = ina_forest_at(job, index, i);
	return count;
}

void ina_forest_parents(const struct ina_forest *forest, int number, int index, int *parent)
{
	const struct ina_forest_job *job = &forest->jobs[number];

	ina_candidate_parents(forest->graph, job->hosts, job->n_hosts,
			      job->candidates.roots[index], parent);
}

void ina_forest_get(const struct ina_forest *forest, int number, struct ina_forest_tree *tree)
{
	const struct ina_forest_job *job = &forest->jobs[number];
	int i;

	*tree = (struct ina_forest_tree){
		.kind = job->kind, .root = INA_TOPO_NONE, .index = job->tree, .moves = job->moves,
	};
	if (job->kind == INA_FOREST_NONE)
		return;
	tree->root = job->candidates.roots[job->tree];
	for (i = ina_forest_count(job, job->tree) - 1; i >= 0 && !tree->crowded; i--) {
		const struct ina_forest_resource *r =
			&forest->resources[ina_forest_at(job, job->tree, i)];

		tree->crowded = r->n > r->capacity;
	}
}

static int ina_forest_group_of(int *group, int i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

int ina_forest_groups(const struct ina_forest *forest, int *group, int n)
{
	int i, k, a, b;

	if (n < forest->n_jobs)
		return -EINVAL;
	for (i = 0; i < n; i++)
		group[i] = i;
	for (i = 0; i < forest->n_resources; i++) {
		const struct ina_forest_resource *r = &forest->resources[i];

		for (k = 1; r->n > r->capacity && k < r->n; k++) {
			a = ina_forest_group_of(group, r->jobs[0]);
			b = ina_forest_group_of(group, r->jobs[k]);
			group[a > b ? a : b] = a > b ? b : a;
		}
	}
	for (i = 0; i < n; i++)
		group[i] = ina_forest_group_of(group, i);
	for (i = 0; i < n; i++)
		if (i >= forest->n_jobs || forest->jobs[i].kind == INA_FOREST_NONE)
			group[i] = INA_TOPO_NONE;
	return 0;
}
