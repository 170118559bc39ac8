/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trees a job could have: one for each of the closest switches that are above all
 * its machines.
 */
#ifndef INA_PLAN_CANDIDATE_H
#define INA_PLAN_CANDIDATE_H

#include "topo.h"

/**
 * struct ina_candidates - candidate trees of one job
 * @n: how many
 * @roots: top switch of each
 * @common: limited resources all of them take: node i is i, link i is n_nodes + i
 * @n_common: how many
 * @rest: what each takes besides, one after the other
 * @start: where in @rest each begins; @n + 1 entries
 */
struct ina_candidates {
	int n;
	int *roots;
	int *common;
	int n_common;
	int *rest;
	int *start;
};

struct ina_candidate_graph;

/* @every: a tree takes a unit also of switches that have one child in it. */
struct ina_candidate_graph *ina_candidate_create(const struct ina_topo *topo, bool every);
void ina_candidate_destroy(struct ina_candidate_graph *graph);

/*
 * At most @max candidates for these machines, evenly spread over the roots; none for a
 * single machine. 0, -EINVAL if these are no different machines, -ENOMEM.
 */
int ina_candidate_build(struct ina_candidate_graph *graph, const int *hosts, int n, int max,
			struct ina_candidates *out);
void ina_candidate_clear(struct ina_candidates *candidates);

/* The tree under @root: parent of each node, INA_TOPO_NONE outside and at the root. */
void ina_candidate_parents(struct ina_candidate_graph *graph, const int *hosts, int n, int root,
			   int *parent);

#endif
