/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tree of one job: who may take part (sites.c), what was measured (measure.c), how long a
 * round of a tree would take (predict.c), XAgg's tree (xagg.c) and a better one (search.c).
 *
 * A tree is an array of parents, one a site. Site 0 is the root.
 */
#ifndef INA_PLAN_TREE_H
#define INA_PLAN_TREE_H

#include "plan.h"
#include "topo.h"

#define INA_TREE_ROOT		(-1)	/* parent of the root */
#define INA_TREE_UNUSED		(-2)	/* parent of a site that is not in the tree */

#define INA_TREE_PER_CORE	10e9	/* bit/s one core adds up, if nothing else is said */
#define INA_TREE_MEMORY		0.8	/* part of the memory that may be in use */
#define INA_TREE_COMMUNICATION	0.1	/* part of the step below which a tree is not worth it */

/**
 * struct ina_measure_worker - what a machine with workers did in a round
 * @host: index of the machine
 * @workers: workers on it
 * @t1: seconds of the step until its gradient was there
 * @t2: seconds until all of it had been sent
 */
struct ina_measure_worker {
	int host;
	uint32_t workers;
	double t1;
	double t2;
};

/**
 * struct ina_measure - a measured round
 * @workers: the machines, in the order of the file
 * @n_workers: how many
 * @size: bytes of the gradient, 0 if the file does not say
 */
struct ina_measure {
	struct ina_measure_worker *workers;
	int n_workers;
	double size;
};

/*
 * measure.c: a measurement file, or what `inaconf -j stats child` of the root printed; then
 * @step is how many seconds a step takes, 0 if not known. NULL with the reason in @err.
 */
struct ina_measure *ina_measure_read(const char *path, const struct ina_topo *topo, double step,
				     struct ina_doc_error *err);
struct ina_measure *ina_measure_from(const struct ina_doc *doc, const struct ina_topo *topo,
				     double step, struct ina_doc_error *err);
void ina_measure_destroy(struct ina_measure *measure);

/* Part of the time of all workers that is communication, 0 to 1. */
double ina_measure_communication(const struct ina_measure *measure);

/**
 * struct ina_tree_site - a machine that is or may be in the tree
 * @host: its index in the topology
 * @workers: workers on it
 * @idle: idle bit/s of its links, in each direction
 * @adds: bit/s it can add up
 * @ready: seconds into the step when its gradients are there
 * @step: t1 + t2 of its workers
 * @candidate: it may aggregate
 */
struct ina_tree_site {
	int host;
	uint32_t workers;
	double idle;
	double adds;
	double ready;
	double step;
	bool candidate;
};

/**
 * struct ina_tree_problem - what a tree is to be built for
 * @topo: the cluster
 * @sites: the root, then the other machines with workers, slowest last (in the order of
 *	   t1 + t2), then machines without workers that may aggregate, best first
 * @n_sites: how many
 * @n_workers: of them, machines with workers behind the root
 * @bits: size of the gradient
 * @latency: seconds from site i to site j at [i * n_sites + j]
 */
struct ina_tree_problem {
	const struct ina_topo *topo;
	struct ina_tree_site *sites;
	int n_sites;
	int n_workers;
	double bits;
	float *latency;
};

/*
 * sites.c. @root is a machine, @size bytes, @per_core bit/s. NULL with the reason in @err,
 * which begins with the name of the machine it is about.
 */
struct ina_tree_problem *ina_tree_problem_create(const struct ina_topo *topo,
						 const struct ina_measure *measure, int root,
						 double size, double per_core,
						 struct ina_doc_error *err);
void ina_tree_problem_destroy(struct ina_tree_problem *problem);

/* The tree as a plan of one job with @id; @options are copied. NULL: no memory. */
struct ina_plan *ina_tree_plan(const struct ina_tree_problem *problem, const int *parent,
			       uint32_t id, char *const *options);

/**
 * struct ina_predict_time - a site in a predicted round; seconds into the step
 * @start: what it sends up begins
 * @end: all it needs to finish sending up has come (the last contribution of its children)
 * @rate: bit/s at which it sends to its parent, all the time from @start until the parent's @end
 * @children: of it in the tree
 */
struct ina_predict_time {
	double start;
	double end;
	double rate;
	int children;
};

/**
 * struct ina_predict - room to predict trees of one problem again and again
 * @problem: the problem
 * @times: one a site, of the tree predicted last; only sites in the tree count
 * @critical: site that limits the round of the tree predicted last
 * @n: private: sites in the tree
 * @order: private: these, parents before children
 * @first: private: where the children of each begin in @child
 * @child: private: children
 * @way: private: seconds from the root to each
 */
struct ina_predict {
	const struct ina_tree_problem *problem;
	struct ina_predict_time *times;
	int critical;
	int n;
	int *order;
	int *first;
	int *child;
	double *way;
};

struct ina_predict *ina_predict_create(const struct ina_tree_problem *problem);
void ina_predict_destroy(struct ina_predict *predict);

/* Seconds of a step with this tree, until every worker has the sums. Infinite if it is no tree. */
double ina_predict_run(struct ina_predict *predict, const int *parent);

/* Every machine with workers right below the root. */
void ina_tree_direct(const struct ina_tree_problem *problem, int *parent);

/* Take servers with fewer than two children out of the tree. 0 or -ENOMEM. */
int ina_tree_prune(const struct ina_tree_problem *problem, int *parent);

/* xagg.c: XAgg's tree of at most @k children a node; 0 or -ENOMEM. */
int ina_xagg_build(const struct ina_tree_problem *problem, int k, int *parent);

#define INA_XAGG_K_MIN	2
#define INA_XAGG_K_MAX	5

/* The k of the shortest predicted round, whose tree is in @parent; or a negative errno. */
int ina_xagg_best(struct ina_predict *predict, int *parent);

/*
 * search.c: the best tree found from several starts, among them direct and XAgg's, in about @tries
 * predictions (0: a number fit for the size of the problem). The same for the same @seed. 0 or -ENOMEM.
 */
int ina_search(struct ina_predict *predict, uint64_t seed, long tries, int *parent);

#endif
