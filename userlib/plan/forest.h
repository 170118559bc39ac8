/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trees of all running jobs. A tree joins the machines of a job at one of their
 * closest common switches and takes one unit of every switch on it and of every link. As many jobs as possible have a tree of their own; the others share
 * switches with somebody and must take turns.
 */
#ifndef INA_PLAN_FOREST_H
#define INA_PLAN_FOREST_H

#include "topo.h"

/**
 * enum ina_forest_kind - what a job has
 * @INA_FOREST_NONE: no tree: it does not aggregate in the network
 * @INA_FOREST_OWN: a tree that fits beside all others of this kind
 * @INA_FOREST_SHARED: a tree on switches or links that are full: takes turns
 */
enum ina_forest_kind {
	INA_FOREST_NONE,
	INA_FOREST_OWN,
	INA_FOREST_SHARED,
};

/**
 * enum ina_forest_plan - how trees are found
 * @INA_FOREST_FIRST: the first tree that fits when the job comes, or none, for ever
 * @INA_FOREST_BEST: moves trees to make room and shares what does not fit
 */
enum ina_forest_plan {
	INA_FOREST_FIRST,
	INA_FOREST_BEST,
};

struct ina_forest;

/*
 * For @topo, which must outlive it: capacities are those of its switches and links. A switch
 * with one child in a tree only forwards, so the tree takes no unit of it unless @every. At
 * most @candidates trees are looked at per job. NULL with errno set.
 */
struct ina_forest *ina_forest_create(const struct ina_topo *topo, enum ina_forest_plan plan,
				     bool every, int candidates);
void ina_forest_destroy(struct ina_forest *forest);

/*
 * A job on these machines comes; its number from 0 (free ones are used again), or
 * -EINVAL or -ENOMEM with nothing changed. A job goes.
 */
int ina_forest_add(struct ina_forest *forest, const int *hosts, int n);
int ina_forest_remove(struct ina_forest *forest, int job);

/*
 * The same for jobs that run already: it comes and waits for a tree; candidate @index is the
 * tree it has. Before the first job: somebody else has a unit of @resource. Then
 * ina_forest_solve().
 */
int ina_forest_enlist(struct ina_forest *forest, const int *hosts, int n);
void ina_forest_give(struct ina_forest *forest, int job, int index);
void ina_forest_reserve(struct ina_forest *forest, int resource);

/*
 * Most trees of their own, and among these solutions the fewest trees changed: those who wait
 * are settled as in ina_forest_add(), then branch and bound over all candidates; what is left
 * shares. 1 if it is proven best, 0 if @steps (0: a number fit for the size of the problem)
 * were not enough (nothing gets worse then), or -ENOMEM.
 */
int ina_forest_solve(struct ina_forest *forest, long steps);

/* Trees of their own now, and a number no set of candidates can exceed. */
int ina_forest_own(const struct ina_forest *forest);
int ina_forest_bound(struct ina_forest *forest);

/**
 * struct ina_forest_tree - what a job has now
 * @kind: none, own or shared
 * @root: the switch on top, INA_TOPO_NONE without a tree or for a job on one machine
 * @index: which candidate it is, INA_TOPO_NONE without one
 * @moves: times the tree of the job was changed so far
 * @crowded: another job needs a full switch or link of it at the same time
 */
struct ina_forest_tree {
	enum ina_forest_kind kind;
	int root;
	int index;
	int moves;
	bool crowded;
};

void ina_forest_get(const struct ina_forest *forest, int job, struct ina_forest_tree *tree);

/*
 * Candidates of @job, and the limited resources candidate @index takes a unit of: node
 * i is i, link i is n_nodes + i. Number, or -ENOMEM; *list is to be freed.
 */
int ina_forest_candidates(const struct ina_forest *forest, int job);
int ina_forest_resources(const struct ina_forest *forest, int job, int index, int **list);

/* Units of a resource. */
int ina_forest_capacity(const struct ina_forest *forest, int resource);

/*
 * Parent in candidate @index of every node of it, INA_TOPO_NONE for the root and for nodes
 * that are not in it: @parent has an entry per node.
 */
void ina_forest_parents(const struct ina_forest *forest, int job, int index, int *parent);

/*
 * Sharing groups: jobs that need a unit of the same overcrowded resource are in one group,
 * and whoever shares with them. @group has @n entries, one for every number given out; it
 * gets the smallest number of the group, INA_TOPO_NONE without a tree. 0, or -EINVAL if @n
 * is too small.
 */
int ina_forest_groups(const struct ina_forest *forest, int *group, int n);

#endif
