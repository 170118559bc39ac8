// SPDX-License-Identifier: GPL-2.0
/*
 * Greedy sharing: whoever finds its tree free takes it, to the end of an all-reduce. Or none: a job
 * without a tree of its own never aggregates in the network.
 */
#include "sim.h"

static bool ina_sim_greedy_ask(void *state, const struct ina_sim_run *run, bool is_free,
			       double now)
{
	(void)state;
	(void)run;
	(void)now;
	return is_free;
}

const struct ina_sim_share ina_sim_greedy = {
	.name = "greedy",
	.ask = ina_sim_greedy_ask,
};

static bool ina_sim_unshared_ask(void *state, const struct ina_sim_run *run, bool is_free,
				 double now)
{
	(void)state;
	(void)now;
	return is_free && run->tree.kind == INA_FOREST_OWN;
}

const struct ina_sim_share ina_sim_unshared = {
	.name = "none",
	.ask = ina_sim_unshared_ask,
};
