/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What forest.c, which keeps trees, settle.c, which finds them, and exact.c, which proves how
 * far that got, share.
 */
#ifndef INA_PLAN_FOREST_IMPL_H
#define INA_PLAN_FOREST_IMPL_H

#include "candidate.h"
#include "forest.h"

#define INA_FOREST_STEPS	400	/* candidates tried for a job before giving up */

/**
 * struct ina_forest_resource - a switch or a link with a limit
 * @capacity: units
 * @own: units taken by trees of kind own
 * @first: units taken in the plan of first fits
 * @wanted: jobs that have it in any candidate
 * @jobs: jobs whose tree takes it, own or shared
 * @n: how many
 * @room: entries of @jobs, never below @wanted
 */
struct ina_forest_resource {
	int capacity;
	int own;
	int first;
	int wanted;
	int *jobs;
	int n;
	int room;
};

/**
 * struct ina_forest_job - a job
 * @used: this entry is a job
 * @hosts: its machines
 * @n_hosts: how many
 * @candidates: its possible trees
 * @tree: the one it has, INA_TOPO_NONE if none
 * @kind: what it has
 * @home: the tree it had when changes were final the last time: kept if possible
 * @first: its tree in the plan of first fits, INA_TOPO_NONE if none
 * @moves: times its tree was changed
 * @locked: is being moved further up the chain
 * @stamp: serial of the last search that came by
 */
struct ina_forest_job {
	bool used;
	int *hosts;
	int n_hosts;
	struct ina_candidates candidates;
	int tree;
	enum ina_forest_kind kind;
	int home;
	int first;
	int moves;
	bool locked;
	int stamp;
};

/**
 * struct ina_forest_change - a change that may be taken back
 * @job: whose
 * @tree: it had before
 * @kind: it had before
 */
struct ina_forest_change {
	int job;
	int tree;
	enum ina_forest_kind kind;
};

/**
 * struct ina_forest - all of it
 * @topo: the topology
 * @graph: to find candidates
 * @plan: how trees are found
 * @limit: candidates per job
 * @resources: nodes, then links
 * @n_resources: how many
 * @jobs: by number
 * @n_jobs: entries, used or not
 * @room_jobs: entries there is memory for
 * @n_own: jobs with a tree of their own
 * @n_first: of the plan of first fits
 * @log: changes of the search under way
 * @n_log: how many
 * @room_log: entries there is memory for
 * @steps: left in this search
 * @stamp: serial of the last search
 * @class_of: class of each resource, for the bound; NULL before it is first asked for
 * @n_classes: how many
 */
struct ina_forest {
	const struct ina_topo *topo;
	struct ina_candidate_graph *graph;
	enum ina_forest_plan plan;
	int limit;
	struct ina_forest_resource *resources;
	int n_resources;
	struct ina_forest_job *jobs;
	int n_jobs;
	int room_jobs;
	int n_own;
	int n_first;
	struct ina_forest_change *log;
	int n_log;
	int room_log;
	int steps;
	int stamp;
	int *class_of;
	int n_classes;
};

/* Resources of candidate @t of @job: the common ones first. */
static inline int ina_forest_count(const struct ina_forest_job *job, int t)
{
	const struct ina_candidates *c = &job->candidates;

	return c->n_common + c->start[t + 1] - c->start[t];
}

static inline int ina_forest_at(const struct ina_forest_job *job, int t, int i)
{
	const struct ina_candidates *c = &job->candidates;

	return i < c->n_common ? c->common[i] : c->rest[c->start[t] + i - c->n_common];
}

/* Give @job this tree, and remember what it had. Never fails. */
void ina_forest_set(struct ina_forest *forest, int job, int tree, enum ina_forest_kind kind);

/* Take back what was changed since the log had @mark entries. */
void ina_forest_undo(struct ina_forest *forest, int mark);

/* Whether candidate @t of @job fits beside all trees of their own. */
bool ina_forest_fits(const struct ina_forest *forest, int job, int t);

/* Who has no tree of its own gets one if it fits, else shares. */
void ina_forest_rest(struct ina_forest *forest);

/* The same, and the plan of first fits is not better. */
void ina_forest_settle_rest(struct ina_forest *forest);

/* Find a tree for a job that has none. */
void ina_forest_arrange(struct ina_forest *forest, int job);

/* Plan of first fits: choose for a job that comes; add @by to the units it takes there. */
void ina_forest_first(struct ina_forest *forest, struct ina_forest_job *job);
void ina_forest_first_units(struct ina_forest *forest, const struct ina_forest_job *job, int by);

/*
 * What was changed is final: whoever can have the tree back that it had before does, the
 * other moves are counted.
 */
void ina_forest_commit(struct ina_forest *forest);

#endif
