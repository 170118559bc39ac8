// SPDX-License-Identifier: GPL-2.0
/*
 * What runs. A tree that could have been found here is a candidate of the forest and may
 * move; any other tree stays, and what it takes is taken off first.
 */
#include <errno.h>
#include <stdlib.h>

#include "jobs_impl.h"

/* Append a machine; the root goes first. */
static void running_host_add(struct ina_jobs_run *run, int host, bool root)
{
	run->hosts[run->n++] = root ? run->hosts[0] : host;
	if (root)
		run->hosts[0] = host;
}

static int running_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Machines with workers, the root first; *@known is false if one is unknown or aggregates for a
 * switch, or if the root is none of them.
 */
static int running_hosts(const struct ina_jobs_work *work, const struct ina_plan_job *job,
			 struct ina_jobs_run *run, bool *known)
{
	run->hosts = calloc((size_t)job->n_nodes + 1, sizeof(int));
	if (!run->hosts)
		return ina_jobs_fail_memory(work);
	*known = true;
	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_topo_find(work->topo, job->nodes[i].host);

		if (!job->nodes[i].workers) {
			*known = *known && job->nodes[i].parent >= 0;
			continue;
		}
		if (host < 0 || work->topo->nodes[host].kind != INA_TOPO_HOST ||
		    work->switch_of[host] >= 0)
			*known = false;
		else
			running_host_add(run, host, job->nodes[i].parent < 0);
	}
	if (*known)
		qsort(run->hosts + 1, (size_t)run->n - 1, sizeof(int), running_compare);
	return 0;
}

/* Which candidate the job runs with; INA_TOPO_NONE if it waits, -EINVAL if with another tree. */
static int running_recognise(struct ina_jobs_work *work, const struct ina_plan_job *job,
			     const struct ina_jobs_run *run)
{
	struct ina_candidates candidates;
	int err, n, found = -EINVAL;
	const int *leaves = ina_jobs_leaves(run, &n);

	ina_jobs_shape_direct(work, run);
	if (ina_jobs_matches(work, job))
		return INA_TOPO_NONE;
	err = ina_candidate_build(work->graph, leaves, n, INA_JOBS_CANDIDATES, &candidates);
	if (err)
		return err;
	for (int t = 0; t < candidates.n && found < 0; t++) {
		ina_jobs_shape_tree(work, run, candidates.roots[t]);
		if (ina_jobs_matches(work, job))
			found = t;
	}
	ina_candidate_clear(&candidates);
	return found;
}

/* A tree that stays: the switches it aggregates for have a unit less. */
static void running_reserve(struct ina_jobs_work *work, const struct ina_plan_job *job)
{
	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_plan_adds(job, i) ?
			   ina_topo_find(work->topo, job->nodes[i].host) : INA_TOPO_NONE;

		if (host >= 0 && work->switch_of[host] >= 0)
			ina_forest_reserve(work->forest, work->switch_of[host]);
	}
}

/* Find out what a job has; what is not ours takes its units. */
static int running_read(struct ina_jobs_work *work, const struct ina_plan_job *job,
			struct ina_jobs_run *run)
{
	bool known;
	int err = running_hosts(work, job, run, &known);

	if (err)
		return err;
	run->number = INA_TOPO_NONE;
	run->tree = known ? running_recognise(work, job, run) : -EINVAL;
	if (run->tree == -ENOMEM)
		return ina_jobs_fail_memory(work);
	if (run->tree == -EINVAL)
		running_reserve(work, job);
	return 0;
}

int ina_jobs_read(struct ina_jobs_work *work)
{
	int err = 0;

	work->runs = calloc((size_t)work->plan->n_jobs + 1, sizeof(*work->runs));
	if (!work->runs)
		return ina_jobs_fail_memory(work);
	for (work->n_runs = 0; !err && work->n_runs < work->plan->n_jobs; work->n_runs++)
		err = running_read(work, &work->plan->jobs[work->n_runs],
				   &work->runs[work->n_runs]);
	for (int j = 0; !err && j < work->n_runs; j++) {
		struct ina_jobs_run *run = &work->runs[j];
		const int *leaves;
		int n;

		if (run->tree == -EINVAL)
			continue;
		leaves = ina_jobs_leaves(run, &n);
		run->number = ina_forest_enlist(work->forest, leaves, n);
		if (run->number < 0)
			err = ina_jobs_fail_memory(work);
		else if (run->tree >= 0)
			ina_forest_give(work->forest, run->number, run->tree);
	}
	return err;
}
