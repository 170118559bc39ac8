/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A plan without some of its aggregators, planned anew where that is worth it.
 */
#ifndef INA_PLAN_REPLAN_H
#define INA_PLAN_REPLAN_H

#include "load.h"
#include "tree.h"

#define INA_REPLAN_SLACK	0.05	/* a step may be longer by this part if fewer machines move */

/**
 * struct ina_replan - what is known beyond the plan
 * @topo: the cluster; capacities are changed while planning, and put back
 * @measure: when gradients are there, for jobs that have workers on just its machines; NULL, and for
 *	others: all at once
 * @per_core: bit/s one core adds up
 */
struct ina_replan {
	struct ina_topo *topo;
	const struct ina_measure *measure;
	double per_core;
};

/*
 * A copy of @plan in which machines for which @out says so do not aggregate for others. Of three
 * trees the first is taken that is predicted to be no more than the slack above the best:
 * their children below the next machine above (ina_load_plan()); their children below others,
 * which may be new to the job; the tree that is searched from scratch. A machine that is not
 * needed any more is a leaf without workers. If a job could not be planned @why says so, and
 * it has the first of them. NULL if there is no memory.
 */
struct ina_plan *ina_replan(const struct ina_plan *plan, const struct ina_replan *how,
			    bool (*out)(const void *ctx, const char *host), const void *ctx,
			    struct ina_doc_error *why);

#endif
