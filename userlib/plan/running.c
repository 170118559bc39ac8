// SPDX-License-Identifier: GPL-2.0
/*
 * What runs. A tree that could have been found here is a candidate of the forest and may
 * move; any other tree stays, and what it takes is taken off first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Address family of a job: by its plan, else by the topology; 0 if neither has any address. */
static int running_family(const struct ina_jobs_work *work, const struct ina_plan_job *job)
{
	int family = 0;

	for (int i = 0; !family && i < job->n_nodes; i++)
		family = ina_plan_family(job->nodes[i].addr);
	for (int i = 0; !family && i < job->n_nodes; i++) {
		int host = ina_topo_find(work->topo, job->nodes[i].host);

		family = host < 0 ? 0 : work->families[host];
	}
	return family;
}

/* Only switches whose aggregator can be in a tree with the machines of @job have units for it. */
static void running_admit(struct ina_jobs_work *work, const struct ina_plan_job *job)
{
	int family = running_family(work, job), other = family ? 0 : work->family;
	const struct ina_topo_node *nodes = work->topo->nodes;

	for (int i = 0; i < work->topo->n_nodes; i++) {
		int at = work->switch_of[i], has = work->families[i];
		bool fits = family ? has == family : !has || has == other;

		if (at >= 0)
			work->usable.nodes[at].capacity = fits ? nodes[at].capacity : 0;
	}
	/* The plan knows better. */
	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_topo_find(work->topo, job->nodes[i].host);
		int at = host < 0 ? INA_TOPO_NONE : work->switch_of[host];

		if (at >= 0 && job->nodes[i].addr)
			work->usable.nodes[at].capacity = nodes[at].capacity;
	}
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
	running_admit(work, job);
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

/* Where a node is in the fabric: a machine that aggregates for a switch is that switch. */
static int running_site(const struct ina_jobs_work *work, const struct ina_plan_node *node)
{
	int host = ina_topo_find(work->topo, node->host);

	return host >= 0 && work->switch_of[host] >= 0 ? work->switch_of[host] : host;
}

/* How far all nodes are from @to through switches, in work->node_of. */
static void running_walk(struct ina_jobs_work *work, int to)
{
	const struct ina_topo *topo = work->topo;
	int *steps = work->node_of, *queue = work->up, head = 0, tail = 0;

	for (int i = 0; i < topo->n_nodes; i++)
		steps[i] = INA_TOPO_NONE;
	steps[to] = 0;
	queue[tail++] = to;
	while (head < tail) {
		int node = queue[head++];

		for (int i = work->ends.first[node]; i < work->ends.first[node + 1]; i++) {
			int other = ina_topo_other(topo, work->ends.link[i], node);

			if (steps[other] >= 0)
				continue;
			steps[other] = steps[node] + 1;
			if (topo->nodes[other].kind == INA_TOPO_SWITCH)
				queue[tail++] = other;
		}
	}
}

/*
 * Mark the links of all shortest ways through switches from the children of @parent to it, that
 * is to @to: packets may take any of them.
 */
static void running_mark(struct ina_jobs_work *work, const struct ina_plan_job *job,
			 const bool *used, int parent, int to)
{
	int *steps = work->node_of, *seen = work->children, *queue = work->up, head = 0, tail = 0;
	const struct ina_topo *topo = work->topo;

	running_walk(work, to);
	memset(seen, 0, (size_t)topo->n_nodes * sizeof(int));
	seen[to] = 1;
	for (int i = 0; i < job->n_nodes; i++) {
		int from = used[i] && job->nodes[i].parent == parent ?
			   running_site(work, &job->nodes[i]) : INA_TOPO_NONE;

		if (from >= 0 && steps[from] > 0 && !seen[from]++)
			queue[tail++] = from;
	}
	while (head < tail) {
		int node = queue[head++];

		for (int i = work->ends.first[node]; i < work->ends.first[node + 1]; i++) {
			int link = work->ends.link[i], other = ina_topo_other(topo, link, node);

			if (steps[other] != steps[node] - 1 ||
			    (other != to && topo->nodes[other].kind == INA_TOPO_HOST))
				continue;
			work->taken[link] = true;
			if (!seen[other]++)
				queue[tail++] = other;
		}
	}
}

/*
 * The links on which sums of @job go to an aggregator have a unit less. What goes to a root that
 * stands for no switch does not count, as in trees that are found here.
 */
static void running_reserve_links(struct ina_jobs_work *work, const struct ina_plan_job *job,
				  const bool *used, const bool *adds)
{
	const struct ina_topo *topo = work->topo;

	memset(work->taken, 0, (size_t)topo->n_links * sizeof(*work->taken));
	for (int i = 0; i < job->n_nodes; i++) {
		int to = adds[i] ? running_site(work, &job->nodes[i]) : INA_TOPO_NONE;

		if (to >= 0 && (job->nodes[i].parent >= 0 ||
				topo->nodes[to].kind == INA_TOPO_SWITCH))
			running_mark(work, job, used, i, to);
	}
	for (int i = 0; i < topo->n_links; i++) {
		if (work->taken[i])
			ina_forest_reserve(work->forest, topo->n_nodes + i);
	}
}

/* A tree that stays: what it takes of switches and links others cannot have. 0 or -ENOMEM. */
static int running_reserve(struct ina_jobs_work *work, const struct ina_plan_job *job)
{
	bool *used = calloc(2 * (size_t)job->n_nodes, sizeof(*used)), *adds;

	if (!used)
		return ina_jobs_fail_memory(work);
	adds = used + job->n_nodes;
	ina_plan_used(job, used);
	for (int i = 0; i < job->n_nodes; i++) {
		if (used[i] && job->nodes[i].parent >= 0)
			adds[job->nodes[i].parent] = true;
	}
	for (int i = 0; i < job->n_nodes; i++) {
		int site = adds[i] ? running_site(work, &job->nodes[i]) : INA_TOPO_NONE;

		if (site >= 0 && work->topo->nodes[site].kind == INA_TOPO_SWITCH)
			ina_forest_reserve(work->forest, site);
	}
	if (work->taken)
		running_reserve_links(work, job, used, adds);
	free(used);
	return 0;
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
	return run->tree == -EINVAL ? running_reserve(work, job) : 0;
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
		running_admit(work, &work->plan->jobs[j]);
		run->number = ina_forest_enlist(work->forest, leaves, n);
		if (run->number < 0)
			err = ina_jobs_fail_memory(work);
		else if (run->tree >= 0)
			ina_forest_give(work->forest, run->number, run->tree);
	}
	return err;
}
