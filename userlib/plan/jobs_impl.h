/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What jobs.c, which plans, shape.c, which knows trees as plans have them, and running.c, which
 * finds out what runs, share.
 */
#ifndef INA_PLAN_JOBS_IMPL_H
#define INA_PLAN_JOBS_IMPL_H

#include "candidate.h"
#include "jobs.h"

#define INA_JOBS_CANDIDATES	64	/* of a job */

/**
 * struct ina_jobs_shape - a tree as it would be in a plan
 * @n: machines
 * @host: their indices in the topology; the root is first, then come the others with workers
 * @parent: position of the parent of each, -1 at the root
 */
struct ina_jobs_shape {
	int n;
	int *host;
	int *parent;
};

/**
 * struct ina_jobs_run - a job of the plan
 * @number: in the forest, INA_TOPO_NONE if it is fixed
 * @tree: candidate it runs with, INA_TOPO_NONE if none
 * @hosts: its machines: the root, then the others, ascending
 * @n: how many
 */
struct ina_jobs_run {
	int number;
	int tree;
	int *hosts;
	int n;
};

/**
 * struct ina_jobs_work - all of it
 * @topo: the cluster
 * @usable: a copy of its nodes: only switches with an aggregator that the job looked at can
 *	have have a capacity
 * @families: address family of each node of the topology, 0: it has no address
 * @family: the first of them that is not 0
 * @plan: the jobs
 * @runs: one a job
 * @n_runs: how many
 * @graph: to find candidates
 * @forest: their trees
 * @ends: its links by node; not there if none has a limit
 * @taken: room for a mark a link
 * @switch_of: for which switch a node aggregates, INA_TOPO_NONE if for none
 * @node_of: place of a machine in the job looked at last, INA_TOPO_NONE elsewhere
 * @up: room for the parents of a tree
 * @children: room for a number a node
 * @shape: room for a tree
 * @err: where the reason of a refusal goes
 */
struct ina_jobs_work {
	const struct ina_topo *topo;
	struct ina_topo usable;
	int *families;
	int family;
	struct ina_plan *plan;
	struct ina_jobs_run *runs;
	int n_runs;
	struct ina_candidate_graph *graph;
	struct ina_forest *forest;
	struct ina_topo_ends ends;
	bool *taken;
	int *switch_of;
	int *node_of;
	int *up;
	int *children;
	struct ina_jobs_shape shape;
	struct ina_doc_error *err;
};

/* The reason of a refusal is memory; -ENOMEM. */
int ina_jobs_fail_memory(const struct ina_jobs_work *work);

/* shape.c: the machines a tree joins: all but the root, if there are others. */
const int *ina_jobs_leaves(const struct ina_jobs_run *run, int *n);

/* work->shape without aggregators: the root sums for the others. */
void ina_jobs_shape_direct(struct ina_jobs_work *work, const struct ina_jobs_run *run);

/* work->shape under switch @top: where branches join, the aggregator of the switch adds up. */
void ina_jobs_shape_tree(struct ina_jobs_work *work, const struct ina_jobs_run *run, int top);

/* Whether the job runs with work->shape. */
bool ina_jobs_matches(struct ina_jobs_work *work, const struct ina_plan_job *job);

/* A node that takes part: others give the job up. */
bool ina_jobs_used(const struct ina_plan_job *job, int node);

/*
 * running.c: fill work->runs from the plan. Trees that are candidates are given to the forest,
 * what others take is reserved there. 0 or -ENOMEM.
 */
int ina_jobs_read(struct ina_jobs_work *work);

#endif
