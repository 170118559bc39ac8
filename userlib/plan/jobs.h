/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All jobs of a cluster at once: machines for the one that comes (place.c), trees for all
 * (forest.c), as a plan that can be applied. What a switch aggregates, a machine does for it.
 */
#ifndef INA_PLAN_JOBS_H
#define INA_PLAN_JOBS_H

#include "forest.h"
#include "plan.h"

#define INA_JOBS_ALPHA	0.5	/* weight of a fragment left free, if nothing else is said */

/**
 * struct ina_jobs_new - a job that comes
 * @id: its number
 * @hosts: machines it needs; 0: no job comes
 * @workers: on each of them
 * @alpha: weight of a fragment left free
 * @options: words of `inaconf job add` behind `id ID`; NULL-ended
 */
struct ina_jobs_new {
	uint32_t id;
	int hosts;
	uint32_t workers;
	double alpha;
	char *const *options;
};

/**
 * struct ina_jobs_tree - what a job of the plan has
 * @kind: own: a tree of aggregators; shared: one would fit if it took turns with others;
 *	none: no tree is possible. Without a tree of its own its root sums alone
 * @fixed: its tree is not one that is found here; it stays, and @kind says nothing
 * @moved: it had a tree of aggregators, and another one
 * @root: switch on top of its own tree, INA_TOPO_NONE without one
 * @group: jobs of the same number would take turns
 */
struct ina_jobs_tree {
	enum ina_forest_kind kind;
	bool fixed;
	bool moved;
	int root;
	int group;
};

/**
 * struct ina_jobs - what came out
 * @trees: one for each job of the plan
 * @score: of the machines of the job that came
 * @own: jobs with a tree of their own, without the fixed ones
 * @bound: they cannot be more
 * @optimal: proven: not more of them, nor fewer moves
 */
struct ina_jobs {
	struct ina_jobs_tree *trees;
	double score;
	int own;
	int bound;
	bool optimal;
};

/*
 * @plan has the running jobs; the new one is added and trees are changed in it. 0, or a
 * negative errno with the reason in @err. @jobs->trees is to be freed in any case.
 */
int ina_jobs_plan(const struct ina_topo *topo, struct ina_plan *plan,
		  const struct ina_jobs_new *new, struct ina_jobs *jobs,
		  struct ina_doc_error *err);

/* Take what running jobs but @except aggregate off the capacities of the machines. */
void ina_jobs_occupy(struct ina_topo *topo, const struct ina_plan *running, uint32_t except);

#endif
