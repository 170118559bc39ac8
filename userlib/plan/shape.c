// SPDX-License-Identifier: GPL-2.0
/*
 * The tree of a job as a plan has it: a tree of switches becomes one of the machines that
 * aggregate for them, below the root of the job.
 */
#include <string.h>

#include "jobs_impl.h"

const int *ina_jobs_leaves(const struct ina_jobs_run *run, int *n)
{
	*n = run->n > 1 ? run->n - 1 : run->n;
	return run->hosts + run->n - *n;
}

void ina_jobs_shape_direct(struct ina_jobs_work *work, const struct ina_jobs_run *run)
{
	work->shape.n = run->n;
	for (int i = 0; i < run->n; i++) {
		work->shape.host[i] = run->hosts[i];
		work->shape.parent[i] = i ? 0 : -1;
	}
}

/* The lowest switch above @node that joins branches, as a position; above all is the root. */
static int shape_above(const struct ina_jobs_work *work, const int *place, int node)
{
	do
		node = work->up[node];
	while (node >= 0 && work->children[node] < 2);
	return node < 0 ? 0 : place[node];
}

void ina_jobs_shape_tree(struct ina_jobs_work *work, const struct ina_jobs_run *run, int top)
{
	struct ina_jobs_shape *shape = &work->shape;
	int n_nodes = work->topo->n_nodes, *place = work->node_of, n;
	const int *leaves = ina_jobs_leaves(run, &n);

	ina_candidate_parents(work->graph, leaves, n, top, work->up);
	memset(work->children, 0, (size_t)n_nodes * sizeof(int));
	for (int i = 0; i < n_nodes; i++) {
		if (work->up[i] >= 0)
			work->children[work->up[i]]++;
	}
	shape->n = run->n;
	memcpy(shape->host, run->hosts, (size_t)run->n * sizeof(int));
	for (int i = 0; i < n_nodes; i++) {
		if (work->children[i] < 2)
			continue;
		place[i] = shape->n;
		shape->host[shape->n++] = i;
	}
	shape->parent[0] = -1;
	for (int i = 1; i < shape->n; i++)
		shape->parent[i] = shape_above(work, place, shape->host[i]);
	for (int i = run->n; i < shape->n; i++)
		shape->host[i] = ina_topo_find(work->topo,
					       work->topo->nodes[shape->host[i]].aggregator);
}

bool ina_jobs_used(const struct ina_plan_job *job, int node)
{
	return job->nodes[node].workers || ina_plan_adds(job, node);
}

bool ina_jobs_matches(struct ina_jobs_work *work, const struct ina_plan_job *job)
{
	const struct ina_jobs_shape *shape = &work->shape;
	int *node_of = work->node_of, used = 0;

	for (int i = 0; i < job->n_nodes; i++)
		used += ina_jobs_used(job, i);
	if (shape->n != used)
		return false;
	for (int i = 0; i < work->topo->n_nodes; i++)
		node_of[i] = INA_TOPO_NONE;
	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_topo_find(work->topo, job->nodes[i].host);

		if (host >= 0 && ina_jobs_used(job, i))
			node_of[host] = i;
	}
	for (int i = 0; i < shape->n; i++) {
		int node = node_of[shape->host[i]], parent = shape->parent[i];

		if (node < 0 || job->nodes[node].parent !=
				(parent < 0 ? -1 : node_of[shape->host[parent]]))
			return false;
	}
	return true;
}
